//! The flows that a plan of dFtree moves to the slow lane or back, and which of their hosts follow.

use serde::{Deserialize, Serialize};

use fabdeck_fabric::{Lid, ServiceLevel};
use fabdeck_mad::PathNotice;

/// A port of an adapter in a plan.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PlanPort {
    /// The GUID of the port.
    pub guid: String,
    pub name: String,
    pub lid: u16,
}

impl PlanPort {
    /// Whether both are one destination: a port may have several LIDs, and each counts on its own.
    pub(super) fn is_of_flows_to(&self, other: &Self) -> bool {
        (&self.guid, self.lid) == (&other.guid, other.lid)
    }
}

/// The lane that flows move to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MigrationDirection {
    Slow,
    Fast,
}

/// What makes a host follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FollowMode {
    /// The host's agent is subscribed: open connections move too, as far as its hook moves them.
    Agent,
    /// No agent is subscribed. Through OpenSM, new path queries get the other level, and open connections stay. With
    /// direct writes nothing moves.
    Queries,
    /// Whether there is an agent is unknown.
    Unknown,
}

/// The flows of one host to a hot-spot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanFlow {
    #[serde(flatten)]
    pub host: PlanPort,
    pub follows: FollowMode,
}

/// The flows to one LID of a hot-spot that change their service level.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Migration {
    pub towards: MigrationDirection,
    pub hot_spot: PlanPort,
    /// The service levels of the two lanes.
    pub fast: u8,
    pub slow: u8,
    /// The hosts whose flows move, by LID.
    pub flows: Vec<PlanFlow>,
}

impl Migration {
    /// What is wrong with the migration.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let lid = |port: &PlanPort| Lid::new(port.lid.into()).is_some();
        let level = |level: u8| ServiceLevel::new(level.into()).is_some();
        if !lid(&self.hot_spot) || !self.flows.iter().all(|flow| lid(&flow.host)) {
            return Some("a LID is not valid");
        }
        if !level(self.fast) || !level(self.slow) || self.fast == self.slow {
            return Some("its service levels are not two different numbers from 0 to 15");
        }
        self.flows.is_empty().then_some("it moves no flow")
    }

    /// The notices to the hosts when the change is applied, or rolled back. Each host is listed: a notice without hosts
    /// would also move flows that the plan leaves alone, to a level that is not theirs.
    pub fn notices(&self, number: u32, undo: bool) -> Vec<PathNotice> {
        let back = (self.towards == MigrationDirection::Fast) != undo;
        let level = ServiceLevel::new(if back { self.fast } else { self.slow }.into());
        let (Some(hot_spot), Some(level)) = (Lid::new(self.hot_spot.lid.into()), level) else {
            return Vec::new();
        };
        let of = |hosts: Vec<Lid>| PathNotice { hot_spot: Some(hot_spot), level, back, number, hosts };
        let hosts: Vec<Lid> = self.flows.iter().filter_map(|flow| Lid::new(flow.host.lid.into())).collect();
        hosts.chunks(PathNotice::MAX_HOSTS).map(|hosts| of(hosts.to_vec())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migration(hosts: u16) -> Migration {
        let port = |lid: u16| PlanPort { guid: format!("0x{lid:016x}"), name: format!("h{lid}"), lid };
        let flows =
            (0..hosts).map(|at| PlanFlow { host: port(100 + at), follows: FollowMode::Agent }).collect();
        Migration { towards: MigrationDirection::Slow, hot_spot: port(9), fast: 0, slow: 1, flows }
    }

    #[test]
    fn every_host_is_named_however_many_there_are() {
        let cases: [(u16, &[usize]); 5] =
            [(0, &[]), (3, &[3]), (24, &[23, 1]), (92, &[23, 23, 23, 23]), (93, &[23, 23, 23, 23, 1])];
        for (hosts, wanted) in cases {
            let told = migration(hosts).notices(3, false);
            let found: Vec<usize> = told.iter().map(|told| told.hosts.len()).collect();
            assert_eq!(found, wanted, "{hosts}");
            let named: Vec<u16> = told.iter().flat_map(|told| &told.hosts).map(|host| host.value()).collect();
            assert_eq!(named, (100..100 + hosts).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_way_back_is_the_other_notice_with_the_other_level() {
        let there = migration(1);
        let back = Migration { towards: MigrationDirection::Fast, ..there.clone() };
        let said = |migration: &Migration, undo| {
            let told = &migration.notices(3, undo)[0];
            (told.back, told.level.value())
        };
        assert_eq!((said(&there, false), said(&there, true)), ((false, 1), (true, 0)));
        assert_eq!((said(&back, false), said(&back, true)), ((true, 0), (false, 1)));
        assert_eq!((there.fault(), Migration { slow: 0, ..there.clone() }.fault().is_some()), (None, true));
        assert!(migration(0).fault().is_some());
    }

    #[test]
    fn each_wrong_number_is_a_fault() {
        let right = migration(2);
        let host =
            |lid| PlanFlow { host: PlanPort { lid, ..right.hot_spot.clone() }, follows: FollowMode::Agent };
        let lids = [
            Migration { hot_spot: host(0).host, ..right.clone() },
            Migration { flows: vec![host(7), host(0)], ..right.clone() },
        ];
        for wrong in lids {
            assert_eq!(wrong.fault(), Some("a LID is not valid"));
        }
        for (fast, slow) in [(16, 1), (0, 16), (3, 3)] {
            let fault = Migration { fast, slow, ..right.clone() }.fault();
            assert!(fault.is_some_and(|fault| fault.contains("service levels")), "{fast} {slow}");
        }
        assert_eq!(Migration { fast: 15, slow: 0, ..right }.fault(), None);
    }
}
