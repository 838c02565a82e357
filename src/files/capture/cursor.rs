//! Steps through moments. The end, a gap in the recording, and an unreadable moment are three different answers. The
//! kind of moments does not matter here: the tests use four numbers.

/// Moments in the order of recording. Their times usually rise; a clock that was set back makes times fall but keeps
/// the order.
pub trait Store {
    type Moment;
    type Damage;

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn time(&self, at: usize) -> i64;

    /// Whether this moment has an event.
    fn eventful(&self, at: usize) -> bool;

    /// The longest time between two moments that is no gap.
    fn longest_step(&self) -> i64;

    fn read(&mut self, at: usize) -> Result<Self::Moment, Self::Damage>;
}

/// The result of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer<M, D> {
    Moment(M),
    /// Nothing was recorded between these times.
    Gap {
        from: i64,
        to: i64,
    },
    /// The moment exists but cannot be read.
    Damage(D),
    /// The cursor stays at the first moment.
    Beginning,
    /// The cursor stays at the last moment.
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Position {
    At(usize),
    /// In the gap after this moment.
    Behind(usize),
}

#[derive(Clone, Debug)]
pub struct Cursor<S> {
    store: S,
    position: Position,
}

impl<S: Store> Cursor<S> {
    /// Starts at the first moment.
    pub fn new(store: S) -> Self {
        Self { store, position: Position::At(0) }
    }

    pub fn store(&self) -> &S {
        &self.store
    }

    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    pub fn into_store(self) -> S {
        self.store
    }

    /// Moves to a moment by its index, at most to the last.
    pub fn to_place(&mut self, at: usize) -> Answer<S::Moment, S::Damage> {
        self.go(Position::At(at.min(self.store.len().saturating_sub(1))))
    }

    /// The index of the moment that the cursor is at, or in the gap after.
    pub fn place(&self) -> usize {
        match self.position {
            Position::At(at) | Position::Behind(at) => at,
        }
    }

    pub fn here(&mut self) -> Answer<S::Moment, S::Damage> {
        if self.store.is_empty() {
            return Answer::End;
        }
        match self.position {
            Position::At(at) => match self.store.read(at) {
                Ok(moment) => Answer::Moment(moment),
                Err(damage) => Answer::Damage(damage),
            },
            Position::Behind(at) => Answer::Gap { from: self.store.time(at), to: self.store.time(at + 1) },
        }
    }

    fn go(&mut self, position: Position) -> Answer<S::Moment, S::Damage> {
        self.position = position;
        self.here()
    }

    /// Whether the moment is followed by a gap.
    pub fn gap_behind(&self, at: usize) -> bool {
        at + 1 < self.store.len()
            && self.store.time(at + 1).saturating_sub(self.store.time(at)) > self.store.longest_step()
    }

    pub fn forward(&mut self) -> Answer<S::Moment, S::Damage> {
        match self.position {
            Position::At(at) if at + 1 >= self.store.len() => Answer::End,
            Position::At(at) if self.gap_behind(at) => self.go(Position::Behind(at)),
            Position::At(at) | Position::Behind(at) => self.go(Position::At(at + 1)),
        }
    }

    pub fn back(&mut self) -> Answer<S::Moment, S::Damage> {
        match self.position {
            Position::Behind(at) => self.go(Position::At(at)),
            Position::At(0) => Answer::Beginning,
            Position::At(at) if self.gap_behind(at - 1) => self.go(Position::Behind(at - 1)),
            Position::At(at) => self.go(Position::At(at - 1)),
        }
    }

    pub fn last(&mut self) -> Answer<S::Moment, S::Damage> {
        self.go(Position::At(self.store.len().saturating_sub(1)))
    }

    /// Moves to the moment with the latest time up to this one; of several with that time, the one recorded last.
    pub fn to(&mut self, time: i64) -> Answer<S::Moment, S::Damage> {
        let times = || (0..self.store.len()).map(|at| (self.store.time(at), at));
        let Some((found, at)) = times().filter(|(one, _)| *one <= time).max() else {
            self.position = Position::At(0);
            return if self.store.is_empty() { Answer::End } else { Answer::Beginning };
        };
        let late = time.saturating_sub(found) > self.store.longest_step();
        let later = times().any(|(one, _)| one > time);
        match (late, later) {
            (true, false) => {
                self.position = Position::At(at);
                Answer::End
            }
            (true, true) if self.gap_behind(at) => self.go(Position::Behind(at)),
            _ => self.go(Position::At(at)),
        }
    }

    pub fn next_event(&mut self) -> Answer<S::Moment, S::Damage> {
        let from = self.place() + 1;
        match (from..self.store.len()).find(|at| self.store.eventful(*at)) {
            Some(at) => self.go(Position::At(at)),
            None => Answer::End,
        }
    }

    pub fn previous_event(&mut self) -> Answer<S::Moment, S::Damage> {
        // From within a gap, the moment before the gap is a previous one too.
        let below = match self.position {
            Position::At(at) => at,
            Position::Behind(at) => at + 1,
        };
        match (0..below).rev().find(|at| self.store.eventful(*at)) {
            Some(at) => self.go(Position::At(at)),
            None => Answer::Beginning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four moments at 10, 11, 20 and 21; the one at 20 is an event.
    struct Four {
        times: [i64; 4],
        damaged: Option<usize>,
    }

    impl Store for Four {
        type Moment = i64;
        type Damage = &'static str;

        fn len(&self) -> usize {
            self.times.len()
        }

        fn time(&self, at: usize) -> i64 {
            self.times[at]
        }

        fn eventful(&self, at: usize) -> bool {
            at == 2
        }

        fn longest_step(&self) -> i64 {
            3
        }

        fn read(&mut self, at: usize) -> Result<i64, &'static str> {
            if self.damaged == Some(at) { Err("damaged") } else { Ok(self.times[at]) }
        }
    }

    fn four() -> Cursor<Four> {
        Cursor::new(Four { times: [10, 11, 20, 21], damaged: None })
    }

    const GAP: Answer<i64, &str> = Answer::Gap { from: 11, to: 20 };

    #[test]
    fn forward_and_back_pass_the_gap_and_stop_at_both_ends() {
        use Answer::{Beginning, End, Moment};
        let mut cursor = four();
        assert_eq!(cursor.here(), Moment(10));
        assert_eq!(cursor.back(), Beginning);
        let forward: Vec<_> = (0..6).map(|_| cursor.forward()).collect();
        assert_eq!(forward, [Moment(11), GAP, Moment(20), Moment(21), End, End]);
        assert_eq!(cursor.here(), Moment(21));
        let back: Vec<_> = (0..6).map(|_| cursor.back()).collect();
        assert_eq!(back, [Moment(20), GAP, Moment(11), Moment(10), Beginning, Beginning]);
    }

    #[test]
    fn times_are_found_between_before_and_behind() {
        use Answer::{Beginning, End, Moment};
        let mut cursor = four();
        for (time, answer) in [
            (9, Beginning),
            (10, Moment(10)),
            (11, Moment(11)),
            (13, Moment(11)),
            (15, GAP),
            (20, Moment(20)),
            (24, Moment(21)),
            (25, End),
            (i64::MAX, End),
            (i64::MIN, Beginning),
        ] {
            assert_eq!(cursor.to(time), answer, "{time}");
        }
        assert_eq!(cursor.to(15), GAP);
        assert_eq!(cursor.forward(), Moment(20));
        assert_eq!(cursor.last(), Moment(21));
    }

    #[test]
    fn events_are_found_from_moments_and_from_gaps() {
        use Answer::{Beginning, End, Moment};
        let mut cursor = four();
        assert_eq!(cursor.next_event(), Moment(20));
        assert_eq!(cursor.next_event(), End);
        assert_eq!(cursor.previous_event(), Beginning);
        assert_eq!(cursor.place(), 2);
        cursor.to(15);
        assert_eq!(cursor.previous_event(), Beginning);
        assert_eq!(cursor.next_event(), Moment(20));
        cursor.last();
        assert_eq!(cursor.previous_event(), Moment(20));
    }

    #[test]
    fn damage_is_no_end_and_no_gap_and_can_be_passed() {
        use Answer::{Damage, Moment};
        let mut cursor = Cursor::new(Four { times: [10, 11, 12, 13], damaged: Some(2) });
        let forward: Vec<_> = (0..3).map(|_| cursor.forward()).collect();
        assert_eq!(forward, [Moment(11), Damage("damaged"), Moment(13)]);
        assert_eq!(cursor.to(12), Damage("damaged"));
        assert_eq!(cursor.back(), Moment(11));
    }

    #[test]
    fn a_clock_that_steps_back_loses_no_moment() {
        use Answer::{End, Moment};
        let mut cursor = Cursor::new(Four { times: [10, 12, 10, 11], damaged: None });
        let forward: Vec<_> = (0..4).map(|_| cursor.forward()).collect();
        assert_eq!(forward, [Moment(12), Moment(10), Moment(11), End]);
        assert_eq!((cursor.to(10), cursor.place()), (Moment(10), 2));
        assert_eq!((cursor.to(13), cursor.place()), (Moment(12), 1));
    }

    #[test]
    fn nothing_recorded_is_an_end() {
        struct None;
        impl Store for None {
            type Moment = ();
            type Damage = ();
            fn len(&self) -> usize {
                0
            }
            fn time(&self, _: usize) -> i64 {
                0
            }
            fn eventful(&self, _: usize) -> bool {
                true
            }
            fn longest_step(&self) -> i64 {
                1
            }
            fn read(&mut self, _: usize) -> Result<(), ()> {
                Err(())
            }
        }
        let mut cursor = Cursor::new(None);
        let all = [cursor.here(), cursor.forward(), cursor.last(), cursor.to(5), cursor.next_event()];
        assert!(all.iter().all(|answer| *answer == Answer::End), "{all:?}");
        assert_eq!((cursor.back(), cursor.previous_event()), (Answer::Beginning, Answer::Beginning));
    }
}
