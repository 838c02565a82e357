//! Filter of notices on a host: which notices it has received, what to do about the next one, and how to answer
//! questions about one. Agents on hosts and hosts of a simulated fabric share these rules.
//!
//! Notices about the same LID belong to one flow, as do notices about all LIDs. Only the last received notice of a
//! flow counts:
//!
//! - The host follows a notice that is new. It does not follow a repeated one, unless that failed or was dropped.
//! - A notice is late if a later round of its change came before it, or a notice of another change came after it.
//! - A question about a notice that is not the last of its flow is answered with "superseded".
//! - The filter forgets a notice ten minutes after it last came or was done.
//!
//! The filter cannot detect that a new notice belongs to a change older than that of the last received one.

use std::collections::BTreeMap;
use std::time::Duration;

use fabdeck_fabric::Lid;

use super::follow_status::{FollowStatus, NoticeKey};
use super::path_notice::PathNotice;

/// What a host does about a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoticeAction {
    /// The notice is for other hosts.
    NotMeant,
    /// The host should follow the notice.
    New,
    /// The notice came before.
    Known,
    /// A newer notice of its flow came before.
    Late,
}

/// The place of a notice among the received notices of its flow.
enum NoticePosition {
    /// The notice has not been received.
    Ahead,
    /// The notice with this number was received last.
    Last,
    Behind,
}

#[derive(Clone, Debug)]
struct RememberedNotice {
    standing: FollowStatus,
    moved: u16,
    /// Order of receipt: later notices have a higher number.
    order: u64,
    /// The filter forgets the notice at this time.
    until: Duration,
}

/// The notices that one host received.
#[derive(Clone, Debug, Default)]
pub struct NoticeFilter {
    known: BTreeMap<NoticeKey, RememberedNotice>,
    next: u64,
}

impl NoticeFilter {
    /// How long a notice is remembered.
    pub const MEMORY_TIME: Duration = Duration::from_secs(600);
    /// Most notices that are remembered.
    pub const MEMORY_SIZE: usize = 1024;

    /// Returns what the host at a LID has to do about a notice that arrives. The caller records a new one separately.
    pub fn check(&mut self, told: &PathNotice, own: Option<Lid>, now: Duration) -> NoticeAction {
        if own.is_none_or(|own| !told.is_named(own)) {
            return NoticeAction::NotMeant;
        }
        match self.position(&told.key(), now) {
            NoticePosition::Ahead => return NoticeAction::New,
            NoticePosition::Behind => return NoticeAction::Late,
            NoticePosition::Last => {}
        }
        match self.known.get_mut(&told.key()).filter(|known| known.until > now) {
            Some(known) if !matches!(known.standing, FollowStatus::Dropped | FollowStatus::Failed) => {
                known.until = now + Self::MEMORY_TIME;
                NoticeAction::Known
            }
            _ => NoticeAction::New,
        }
    }

    /// Records a notice as the last of its flow.
    pub fn record(&mut self, told: &PathNotice, standing: FollowStatus, moved: u16, now: Duration) {
        self.store(told.key(), (standing, moved), now, now + Self::MEMORY_TIME);
    }

    /// Records the result of a received notice. The order of receipt does not change.
    pub fn record_outcome(&mut self, told: &PathNotice, standing: FollowStatus, moved: u16, now: Duration) {
        if let Some(known) = self.known.get_mut(&told.key()) {
            (known.standing, known.moved, known.until) = (standing, moved, now + Self::MEMORY_TIME);
        }
    }

    /// Restores a notice from disk as the last of its flow, unless it is too old.
    pub fn restore(&mut self, key: NoticeKey, came: (FollowStatus, u16), age: Duration, now: Duration) {
        if let Some(left) = Self::MEMORY_TIME.checked_sub(age).filter(|left| !left.is_zero()) {
            self.store(key, came, now, now + left);
        }
    }

    fn store(
        &mut self,
        key: NoticeKey,
        (standing, moved): (FollowStatus, u16),
        now: Duration,
        until: Duration,
    ) {
        self.known.retain(|_, known| known.until > now);
        if self.known.len() >= Self::MEMORY_SIZE {
            let first = self.known.iter().min_by_key(|(_, known)| known.order).map(|(key, _)| *key);
            first.and_then(|key| self.known.remove(&key));
        }
        self.known.insert(key, RememberedNotice { standing, moved, order: self.next, until });
        self.next += 1;
    }

    /// How far the host has followed the notice in a question.
    pub fn follow_status(&self, asked: NoticeKey, now: Duration) -> (FollowStatus, u16) {
        match self.position(&asked, now) {
            NoticePosition::Ahead => (FollowStatus::Unheard, 0),
            NoticePosition::Behind => (FollowStatus::Superseded, 0),
            NoticePosition::Last => {
                let known = self.known.get(&asked).filter(|known| known.until > now);
                known.map_or((FollowStatus::Unheard, 0), |known| (known.standing, known.moved))
            }
        }
    }

    /// The place of a notice among those of its flow.
    fn position(&self, (number, hot_spot, ..): &NoticeKey, now: Duration) -> NoticePosition {
        let of_flow = |key: &NoticeKey| key.1 == *hot_spot;
        let of_change = |key: &NoticeKey| of_flow(key) && PathNotice::is_same_change(key.0, *number);
        match self.latest(now, of_change) {
            Some(latest) if latest == *number && self.latest(now, of_flow) == Some(latest) => {
                NoticePosition::Last
            }
            Some(latest) if latest == *number || PathNotice::is_older_round(*number, latest) => {
                NoticePosition::Behind
            }
            _ => NoticePosition::Ahead,
        }
    }

    /// The number of the last received notice among those that a predicate selects.
    fn latest(&self, now: Duration, among: impl Fn(&NoticeKey) -> bool) -> Option<u32> {
        let fresh = self.known.iter().filter(|(key, known)| known.until > now && among(key));
        fresh.max_by_key(|(_, known)| known.order).map(|(key, _)| key.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::ServiceLevel;

    const MINUTE: Duration = Duration::from_secs(60);

    fn of(hot_spot: u32, number: u32, back: bool) -> PathNotice {
        let level = ServiceLevel::default();
        PathNotice { hot_spot: Lid::new(hot_spot), level, back, number, hosts: Vec::new() }
    }

    /// Acts as an agent that follows a notice at once.
    fn comes(heard: &mut NoticeFilter, told: &PathNotice, now: Duration) -> NoticeAction {
        let coming = heard.check(told, Lid::new(4), now);
        if coming == NoticeAction::New {
            heard.record(told, FollowStatus::UnderWay, 0, now);
            heard.record_outcome(told, FollowStatus::Followed, 3, now);
        }
        coming
    }

    fn stands(heard: &NoticeFilter, told: &PathNotice, now: Duration) -> FollowStatus {
        heard.follow_status(told.key(), now).0
    }

    #[test]
    fn a_notice_is_followed_once_and_forgotten_in_time() {
        let (mut heard, told, zero) = (NoticeFilter::default(), of(9, 32, false), Duration::ZERO);
        assert_eq!(stands(&heard, &told, zero), FollowStatus::Unheard);
        assert_eq!(heard.check(&told, None, zero), NoticeAction::NotMeant);
        assert_eq!(
            heard.check(&PathNotice { hosts: vec![Lid::new(5).unwrap()], ..told.clone() }, Lid::new(4), zero),
            NoticeAction::NotMeant
        );
        assert_eq!(
            [zero, MINUTE].map(|now| comes(&mut heard, &told, now)),
            [NoticeAction::New, NoticeAction::Known]
        );
        // Ten minutes count from the last arrival.
        assert_eq!(heard.follow_status(told.key(), MINUTE * 10), (FollowStatus::Followed, 3));
        assert_eq!(heard.follow_status(told.key(), MINUTE * 11), (FollowStatus::Unheard, 0));
        assert_eq!(heard.check(&told, Lid::new(4), MINUTE * 11), NoticeAction::New);
    }

    #[test]
    fn what_failed_or_was_dropped_may_come_again_while_it_is_the_last() {
        for standing in [FollowStatus::Failed, FollowStatus::Dropped] {
            let (mut heard, told) = (NoticeFilter::default(), of(9, 32, false));
            heard.record(&told, standing, 0, MINUTE);
            assert_eq!(stands(&heard, &told, MINUTE), standing);
            assert_eq!(heard.check(&told, Lid::new(4), MINUTE), NoticeAction::New);
            assert_eq!(
                comes(&mut heard, &of(9, 6400, false), MINUTE),
                NoticeAction::New,
                "of another change"
            );
            assert_eq!(heard.check(&told, Lid::new(4), MINUTE), NoticeAction::Late);
            assert_eq!(stands(&heard, &told, MINUTE), FollowStatus::Superseded);
        }
    }

    #[test]
    fn only_the_last_of_a_flow_counts() {
        for spot in [0, 9] {
            let mut heard = NoticeFilter::default();
            let (first, second, other) = (of(spot, 33, false), of(spot, 34, true), of(spot, 6400, false));
            let elsewhere = of(8, 33, false);
            assert_eq!(comes(&mut heard, &elsewhere, MINUTE), NoticeAction::New);
            assert_eq!(comes(&mut heard, &second, MINUTE), NoticeAction::New);
            assert_eq!(comes(&mut heard, &first, MINUTE), NoticeAction::Late, "it was overtaken on the way");
            assert_eq!(stands(&heard, &first, MINUTE), FollowStatus::Superseded);
            assert_eq!(stands(&heard, &second, MINUTE), FollowStatus::Followed);
            assert_eq!(
                stands(&heard, &other, MINUTE),
                FollowStatus::Unheard,
                "the answer is not that of a change before"
            );
            assert_eq!(comes(&mut heard, &other, MINUTE), NoticeAction::New);
            assert_eq!(
                [&first, &second].map(|told| comes(&mut heard, told, MINUTE)),
                [NoticeAction::Late; 2]
            );
            assert_eq!(stands(&heard, &second, MINUTE), FollowStatus::Superseded);
            // A repeated notice, as a rollback may send it, has another number.
            let again = of(spot, 35, true);
            assert_eq!(stands(&heard, &again, MINUTE), FollowStatus::Unheard);
            assert_eq!(comes(&mut heard, &again, MINUTE), NoticeAction::New);
            assert_eq!(stands(&heard, &other, MINUTE), FollowStatus::Superseded);
            assert_eq!(stands(&heard, &elsewhere, MINUTE), FollowStatus::Followed);
        }
    }

    /// The round of a notice is its number modulo 256: a notice of 256 rounds ago must not answer for a new one.
    #[test]
    fn the_same_number_of_rounds_ago_is_another_notice() {
        let mut heard = NoticeFilter::default();
        let round = |round: u64| of(0, PathNotice::notice_number(0xABCD_EF00, round), round % 2 == 1);
        for at in 1..=300 {
            assert_eq!(stands(&heard, &round(at), MINUTE), FollowStatus::Unheard, "{at}");
            assert_eq!(comes(&mut heard, &round(at), MINUTE), NoticeAction::New, "{at}");
            assert_eq!(stands(&heard, &round(at), MINUTE), FollowStatus::Followed, "{at}");
        }
        assert_eq!(comes(&mut heard, &round(299), MINUTE), NoticeAction::Late);
    }

    #[test]
    fn what_was_written_down_is_as_old_as_it_is() {
        let told = of(9, 33, false);
        let mut heard = NoticeFilter::default();
        heard.restore(told.key(), (FollowStatus::Followed, 2), MINUTE * 9, MINUTE);
        assert_eq!(heard.follow_status(told.key(), MINUTE), (FollowStatus::Followed, 2));
        assert_eq!(stands(&heard, &told, MINUTE * 2), FollowStatus::Unheard);
        heard.restore(told.key(), (FollowStatus::Followed, 2), MINUTE * 10, MINUTE * 2);
        assert_eq!(stands(&heard, &told, MINUTE * 2), FollowStatus::Unheard);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let mut heard = NoticeFilter::default();
        let told = |at: u32| of(9, at * 256, false);
        (0..2000).rev().for_each(|at| heard.record(&told(at), FollowStatus::Followed, 1, MINUTE));
        assert_eq!(heard.known.len(), NoticeFilter::MEMORY_SIZE);
        let kept = |at: u32| heard.known.contains_key(&told(at).key());
        assert_eq!([0, 1023, 1024].map(kept), [true, true, false], "the oldest go first");
    }
}
