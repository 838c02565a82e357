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

use super::repath::Repath;
use super::standing::{NoticeKey, Standing};

/// What a host does about a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coming {
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
enum Place {
    /// The notice has not been received.
    Ahead,
    /// The notice with this number was received last.
    Last,
    Behind,
}

#[derive(Clone, Debug)]
struct Remembered {
    standing: Standing,
    moved: u16,
    /// Order of receipt: later notices have a higher number.
    order: u64,
    /// The filter forgets the notice at this time.
    until: Duration,
}

/// The notices that one host received.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    known: BTreeMap<NoticeKey, Remembered>,
    next: u64,
}

impl Heard {
    /// How long a notice is remembered.
    pub const KNOWN_FOR: Duration = Duration::from_secs(600);
    /// Most notices that are remembered.
    pub const KNOWN_MOST: usize = 1024;

    /// Returns what the host at a LID has to do about a notice that arrives. The caller records a new one separately.
    pub fn comes(&mut self, told: &Repath, own: Option<Lid>, now: Duration) -> Coming {
        if own.is_none_or(|own| !told.names(own)) {
            return Coming::NotMeant;
        }
        match self.place(&told.key(), now) {
            Place::Ahead => return Coming::New,
            Place::Behind => return Coming::Late,
            Place::Last => {}
        }
        match self.known.get_mut(&told.key()).filter(|known| known.until > now) {
            Some(known) if !matches!(known.standing, Standing::Dropped | Standing::Failed) => {
                known.until = now + Self::KNOWN_FOR;
                Coming::Known
            }
            _ => Coming::New,
        }
    }

    /// Records a notice as the last of its flow.
    pub fn hear(&mut self, told: &Repath, standing: Standing, moved: u16, now: Duration) {
        self.remember(told.key(), (standing, moved), now, now + Self::KNOWN_FOR);
    }

    /// Records the result of a received notice. The order of receipt does not change.
    pub fn conclude(&mut self, told: &Repath, standing: Standing, moved: u16, now: Duration) {
        if let Some(known) = self.known.get_mut(&told.key()) {
            (known.standing, known.moved, known.until) = (standing, moved, now + Self::KNOWN_FOR);
        }
    }

    /// Restores a notice from disk as the last of its flow, unless it is too old.
    pub fn recall(&mut self, key: NoticeKey, came: (Standing, u16), age: Duration, now: Duration) {
        if let Some(left) = Self::KNOWN_FOR.checked_sub(age).filter(|left| !left.is_zero()) {
            self.remember(key, came, now, now + left);
        }
    }

    fn remember(
        &mut self,
        key: NoticeKey,
        (standing, moved): (Standing, u16),
        now: Duration,
        until: Duration,
    ) {
        self.known.retain(|_, known| known.until > now);
        if self.known.len() >= Self::KNOWN_MOST {
            let first = self.known.iter().min_by_key(|(_, known)| known.order).map(|(key, _)| *key);
            first.and_then(|key| self.known.remove(&key));
        }
        self.known.insert(key, Remembered { standing, moved, order: self.next, until });
        self.next += 1;
    }

    /// How far the host has followed the notice in a question.
    pub fn standing(&self, asked: NoticeKey, now: Duration) -> (Standing, u16) {
        match self.place(&asked, now) {
            Place::Ahead => (Standing::Unheard, 0),
            Place::Behind => (Standing::Superseded, 0),
            Place::Last => {
                let known = self.known.get(&asked).filter(|known| known.until > now);
                known.map_or((Standing::Unheard, 0), |known| (known.standing, known.moved))
            }
        }
    }

    /// The place of a notice among those of its flow.
    fn place(&self, (number, hot_spot, ..): &NoticeKey, now: Duration) -> Place {
        let of_flow = |key: &NoticeKey| key.1 == *hot_spot;
        let of_change = |key: &NoticeKey| of_flow(key) && Repath::are_of_one_change(key.0, *number);
        match self.latest(now, of_change) {
            Some(latest) if latest == *number && self.latest(now, of_flow) == Some(latest) => Place::Last,
            Some(latest) if latest == *number || Repath::comes_behind(*number, latest) => Place::Behind,
            _ => Place::Ahead,
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

    fn of(hot_spot: u32, number: u32, back: bool) -> Repath {
        let level = ServiceLevel::default();
        Repath { hot_spot: Lid::new(hot_spot), level, back, number, hosts: Vec::new() }
    }

    /// Acts as an agent that follows a notice at once.
    fn comes(heard: &mut Heard, told: &Repath, now: Duration) -> Coming {
        let coming = heard.comes(told, Lid::new(4), now);
        if coming == Coming::New {
            heard.hear(told, Standing::UnderWay, 0, now);
            heard.conclude(told, Standing::Followed, 3, now);
        }
        coming
    }

    fn stands(heard: &Heard, told: &Repath, now: Duration) -> Standing {
        heard.standing(told.key(), now).0
    }

    #[test]
    fn a_notice_is_followed_once_and_forgotten_in_time() {
        let (mut heard, told, zero) = (Heard::default(), of(9, 32, false), Duration::ZERO);
        assert_eq!(stands(&heard, &told, zero), Standing::Unheard);
        assert_eq!(heard.comes(&told, None, zero), Coming::NotMeant);
        assert_eq!(
            heard.comes(&Repath { hosts: vec![Lid::new(5).unwrap()], ..told.clone() }, Lid::new(4), zero),
            Coming::NotMeant
        );
        assert_eq!([zero, MINUTE].map(|now| comes(&mut heard, &told, now)), [Coming::New, Coming::Known]);
        // Ten minutes count from the last arrival.
        assert_eq!(heard.standing(told.key(), MINUTE * 10), (Standing::Followed, 3));
        assert_eq!(heard.standing(told.key(), MINUTE * 11), (Standing::Unheard, 0));
        assert_eq!(heard.comes(&told, Lid::new(4), MINUTE * 11), Coming::New);
    }

    #[test]
    fn what_failed_or_was_dropped_may_come_again_while_it_is_the_last() {
        for standing in [Standing::Failed, Standing::Dropped] {
            let (mut heard, told) = (Heard::default(), of(9, 32, false));
            heard.hear(&told, standing, 0, MINUTE);
            assert_eq!(stands(&heard, &told, MINUTE), standing);
            assert_eq!(heard.comes(&told, Lid::new(4), MINUTE), Coming::New);
            assert_eq!(comes(&mut heard, &of(9, 6400, false), MINUTE), Coming::New, "of another change");
            assert_eq!(heard.comes(&told, Lid::new(4), MINUTE), Coming::Late);
            assert_eq!(stands(&heard, &told, MINUTE), Standing::Superseded);
        }
    }

    #[test]
    fn only_the_last_of_a_flow_counts() {
        for spot in [0, 9] {
            let mut heard = Heard::default();
            let (first, second, other) = (of(spot, 33, false), of(spot, 34, true), of(spot, 6400, false));
            let elsewhere = of(8, 33, false);
            assert_eq!(comes(&mut heard, &elsewhere, MINUTE), Coming::New);
            assert_eq!(comes(&mut heard, &second, MINUTE), Coming::New);
            assert_eq!(comes(&mut heard, &first, MINUTE), Coming::Late, "it was overtaken on the way");
            assert_eq!(stands(&heard, &first, MINUTE), Standing::Superseded);
            assert_eq!(stands(&heard, &second, MINUTE), Standing::Followed);
            assert_eq!(
                stands(&heard, &other, MINUTE),
                Standing::Unheard,
                "the answer is not that of a change before"
            );
            assert_eq!(comes(&mut heard, &other, MINUTE), Coming::New);
            assert_eq!([&first, &second].map(|told| comes(&mut heard, told, MINUTE)), [Coming::Late; 2]);
            assert_eq!(stands(&heard, &second, MINUTE), Standing::Superseded);
            // A repeated notice, as a rollback may send it, has another number.
            let again = of(spot, 35, true);
            assert_eq!(stands(&heard, &again, MINUTE), Standing::Unheard);
            assert_eq!(comes(&mut heard, &again, MINUTE), Coming::New);
            assert_eq!(stands(&heard, &other, MINUTE), Standing::Superseded);
            assert_eq!(stands(&heard, &elsewhere, MINUTE), Standing::Followed);
        }
    }

    /// The round of a notice is its number modulo 256: a notice of 256 rounds ago must not answer for a new one.
    #[test]
    fn the_same_number_of_rounds_ago_is_another_notice() {
        let mut heard = Heard::default();
        let round = |round: u64| of(0, Repath::number_of(0xABCD_EF00, round), round % 2 == 1);
        for at in 1..=300 {
            assert_eq!(stands(&heard, &round(at), MINUTE), Standing::Unheard, "{at}");
            assert_eq!(comes(&mut heard, &round(at), MINUTE), Coming::New, "{at}");
            assert_eq!(stands(&heard, &round(at), MINUTE), Standing::Followed, "{at}");
        }
        assert_eq!(comes(&mut heard, &round(299), MINUTE), Coming::Late);
    }

    #[test]
    fn what_was_written_down_is_as_old_as_it_is() {
        let told = of(9, 33, false);
        let mut heard = Heard::default();
        heard.recall(told.key(), (Standing::Followed, 2), MINUTE * 9, MINUTE);
        assert_eq!(heard.standing(told.key(), MINUTE), (Standing::Followed, 2));
        assert_eq!(stands(&heard, &told, MINUTE * 2), Standing::Unheard);
        heard.recall(told.key(), (Standing::Followed, 2), MINUTE * 10, MINUTE * 2);
        assert_eq!(stands(&heard, &told, MINUTE * 2), Standing::Unheard);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let mut heard = Heard::default();
        let told = |at: u32| of(9, at * 256, false);
        (0..2000).rev().for_each(|at| heard.hear(&told(at), Standing::Followed, 1, MINUTE));
        assert_eq!(heard.known.len(), Heard::KNOWN_MOST);
        let kept = |at: u32| heard.known.contains_key(&told(at).key());
        assert_eq!([0, 1023, 1024].map(kept), [true, true, false], "the oldest go first");
    }
}
