//! The notices of dFtree (section III-C of its paper): which flows leave the fast lane, and which return to it.
//! Updates in five phases (dissertation 5.2.3) use them too: all flows leave the base LIDs, and return to them.
//!
//! The paper sends private traps. fabdeck sends generic traps of the manager's class, which a stock subnet manager
//! forwards to subscribers:
//!
//! ```text
//! details  0  1  LID of the hot-spot; 0: flows to all LIDs are meant, and it is base LIDs that they leave or come back to
//!          2     the service level that flows to it are on from now on
//!          3     how many hosts are named; 0: every host with flows to that LID is meant
//!          4 ..  a number of the change, which the hosts' answers repeat (4)
//!          8 ..  the LIDs of the hosts that are named, 23 at the most
//! ```
//!
//! Trap 68 says that paths are not to be used, and 69 that they are again. So a move to the slow lane is 69 and the
//! return 68; a move to high LIDs is 68 and the return to base LIDs 69. The last byte of the number counts the rounds
//! of notices of a change, which identifies a late notice. The other bytes identify the change, and two changes hardly
//! ever share them. A host that took a new change for an old one would answer "followed" and not move.

use fabdeck_fabric::{Lid, ServiceLevel};

use super::notice::{Notice, trap};

/// A notice to hosts: flows to a LID are on another service level from now on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathNotice {
    /// `None`: flows to all LIDs move to the high LIDs of the same ports.
    pub hot_spot: Option<Lid>,
    pub level: ServiceLevel,
    /// Whether flows return to the fast lane, or to base LIDs.
    pub back: bool,
    /// Identifies the change and the round of the notice.
    pub number: u32,
    /// The hosts that the notice names; empty: all hosts with flows to that LID.
    pub hosts: Vec<Lid>,
}

impl PathNotice {
    /// Most hosts that one notice can name.
    pub const MAX_HOSTS: usize = 23;
    const HOSTS_AT: usize = 8;
    /// Number of rounds of one change that numbers distinguish.
    const ROUNDS: u32 = 256;

    /// The number of the notices of one round of a change.
    pub fn notice_number(change: u32, round: u64) -> u32 {
        change & !(Self::ROUNDS - 1) | (round % u64::from(Self::ROUNDS)) as u32
    }

    /// Whether two numbers are of one change.
    pub fn is_same_change(one: u32, other: u32) -> bool {
        one / Self::ROUNDS == other / Self::ROUNDS
    }

    /// Whether a number belongs to an earlier round of the same change.
    pub fn is_older_round(number: u32, latest: u32) -> bool {
        let ahead = latest.wrapping_sub(number) % Self::ROUNDS;
        Self::is_same_change(number, latest) && (1..Self::ROUNDS / 2).contains(&ahead)
    }

    /// Whether a notice replaces an earlier one: both are of the same flow. Notices with the same number are for flows
    /// of several levels.
    pub fn is_superseding(&self, before: &Self) -> bool {
        self.wire_lid() == before.wire_lid() && self.number != before.number
    }

    /// The LID of the hot-spot in wire format; 0 for all LIDs.
    pub fn wire_lid(&self) -> u16 {
        self.hot_spot.map_or(0, Lid::value)
    }

    /// The notice that the port at a LID issues; hosts beyond the 23 that fit are left out.
    pub fn notice(&self, issuer: u16) -> Notice {
        let number = if self.back == self.hot_spot.is_some() { trap::UNPATH } else { trap::REPATH };
        let mut notice = Notice::generic(Notice::INFORMATIONAL, Notice::MANAGER, number, issuer);
        let hosts = &self.hosts[..self.hosts.len().min(Self::MAX_HOSTS)];
        notice.details[..2].copy_from_slice(&self.wire_lid().to_be_bytes());
        (notice.details[2], notice.details[3]) = (self.level.value(), hosts.len() as u8);
        notice.details[4..8].copy_from_slice(&self.number.to_be_bytes());
        for (place, host) in notice.details[Self::HOSTS_AT..].as_chunks_mut::<2>().0.iter_mut().zip(hosts) {
            *place = host.value().to_be_bytes();
        }
        notice
    }

    /// Reads a notice; `None` for one with another trap number or with invalid content.
    pub fn from_notice(notice: &Notice) -> Option<Self> {
        let number = notice.trap_number.get();
        let known = matches!(number, trap::REPATH | trap::UNPATH) && notice.is_generic();
        let details = known.then_some(&notice.details)?;
        let count = usize::from(details[3]);
        let lid = |bytes: &[u8; 2]| Lid::new(u16::from_be_bytes(*bytes).into());
        let hosts: Option<Vec<Lid>> =
            details[Self::HOSTS_AT..].as_chunks::<2>().0.iter().take(count).map(lid).collect();
        let all = details[..2] == [0, 0];
        let hot_spot = lid(&[details[0], details[1]]);
        Some(Self {
            hot_spot: if all { None } else { Some(hot_spot?) },
            level: ServiceLevel::new(details[2].into())?,
            back: (number == trap::UNPATH) != all,
            number: u32::from_be_bytes([details[4], details[5], details[6], details[7]]),
            hosts: hosts.filter(|hosts| hosts.len() == count)?,
        })
    }

    /// Whether the notice is for the host at this LID, as far as its list of hosts says.
    pub fn is_named(&self, host: Lid) -> bool {
        self.hosts.is_empty() || self.hosts.contains(&host)
    }

    /// Whether a host moves its flows: the notice is for it, and it has flows to the hot-spot or does not know its
    /// flows.
    pub fn is_addressed(&self, host: Lid, has_flows: Option<bool>) -> bool {
        self.is_named(host) && has_flows != Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lid(value: u32) -> Lid {
        Lid::new(value).unwrap()
    }

    #[test]
    fn a_notice_reads_back() {
        let spot = Some(lid(0xBEEF));
        let all = [(spot, false, 0), (spot, true, 1), (spot, false, 23), (None, false, 0), (None, true, 2)];
        for (hot_spot, back, count) in all {
            let hosts: Vec<Lid> = (0..count).map(|at| lid(0x100 + at)).collect();
            let level = ServiceLevel::new(3).unwrap();
            let told = PathNotice { hot_spot, level, back, number: 0x8765_4321, hosts };
            let notice = told.notice(7);
            let number = if back == hot_spot.is_some() { 68 } else { 69 };
            assert_eq!((notice.issuer_lid.get(), notice.trap_number.get()), (7, number));
            assert_eq!(PathNotice::from_notice(&notice), Some(told));
        }
    }

    #[test]
    fn a_notice_of_an_earlier_round_is_late() {
        let number = |round| PathNotice::notice_number(0x1234_ABFF, round);
        assert_eq!((number(0), number(1), number(257)), (0x1234_AB00, 0x1234_AB01, 0x1234_AB01));
        let behind = |round, latest| PathNotice::is_older_round(number(round), number(latest));
        assert!(behind(1, 2) && behind(1, 128) && behind(255, 256) && behind(250, 260));
        assert!(!behind(1, 1) && !behind(2, 1) && !behind(257, 256) && !behind(1, 130));
        for other in [0x2002, 0x1001_0002, 0x0001_1102, 0x0001_1002 + 0x10_0000] {
            assert!(!PathNotice::is_older_round(0x0001_1001, other), "of another change");
        }
    }

    #[test]
    fn a_notice_replaces_those_of_the_same_flow_with_another_number() {
        let notice = |hot_spot, number| PathNotice {
            hot_spot,
            level: ServiceLevel::default(),
            back: false,
            number,
            hosts: Vec::new(),
        };
        let latest = notice(Some(lid(9)), 2);
        assert!(latest.is_superseding(&notice(Some(lid(9)), 1)));
        for other in [notice(Some(lid(9)), 2), notice(Some(lid(8)), 1), notice(None, 1)] {
            assert!(!latest.is_superseding(&other), "{other:?}");
        }
        assert!(notice(None, 2).is_superseding(&notice(None, 1)));
    }

    #[test]
    fn impossible_details_are_no_notice() {
        let level = ServiceLevel::default();
        let told = PathNotice { hot_spot: Some(lid(9)), level, back: false, number: 0, hosts: vec![lid(4)] };
        let broken = |at: usize, byte: u8| {
            let mut notice = told.notice(1);
            notice.details[at] = byte;
            PathNotice::from_notice(&notice)
        };
        assert_eq!(broken(1, 9), Some(told.clone()));
        assert_eq!((broken(0, 0xC0), broken(2, 16), broken(3, 25), broken(3, 2)), (None, None, None, None));
        assert_eq!((broken(9, 0), broken(8, 0xC0)), (None, None));
        let mut other = told.notice(1);
        other.trap_number = trap::LOCAL_CHANGES.into();
        assert_eq!(PathNotice::from_notice(&other), None);
        assert!(told.is_named(lid(4)) && !told.is_named(lid(5)));
        let asks = |told: &PathNotice, host| {
            [None, Some(true), Some(false)].map(|flows| told.is_addressed(lid(host), flows))
        };
        assert_eq!((asks(&told, 4), asks(&told, 5)), ([true, true, false], [false; 3]));
        let all = PathNotice { hosts: Vec::new(), ..told };
        assert_eq!(asks(&all, 5), [true, true, false]);
    }
}
