//! Steps through moments. The end, a gap in the recording, and an unreadable moment are three different answers. The
//! kind of moments does not matter here: the tests use four numbers.

/// Moments in the order of recording. Their times usually rise; a clock that was set back makes times fall but keeps
/// the order.
pub trait MomentStore {
    type Moment;
    type Damage;

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn time(&self, at: usize) -> i64;

    /// Whether this moment has an event.
    fn is_eventful(&self, at: usize) -> bool;

    /// The longest time between two moments that is no gap.
    fn longest_step(&self) -> i64;

    fn read(&mut self, at: usize) -> Result<Self::Moment, Self::Damage>;
}

/// The result of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CursorStep<M, D> {
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

impl<S: MomentStore> Cursor<S> {
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
    pub fn seek_place(&mut self, at: usize) -> CursorStep<S::Moment, S::Damage> {
        self.move_to(Position::At(at.min(self.store.len().saturating_sub(1))))
    }

    /// The index of the moment that the cursor is at, or in the gap after.
    pub fn place(&self) -> usize {
        match self.position {
            Position::At(at) | Position::Behind(at) => at,
        }
    }

    pub fn current(&mut self) -> CursorStep<S::Moment, S::Damage> {
        if self.store.is_empty() {
            return CursorStep::End;
        }
        match self.position {
            Position::At(at) => match self.store.read(at) {
                Ok(moment) => CursorStep::Moment(moment),
                Err(damage) => CursorStep::Damage(damage),
            },
            Position::Behind(at) => {
                CursorStep::Gap { from: self.store.time(at), to: self.store.time(at + 1) }
            }
        }
    }

    fn move_to(&mut self, position: Position) -> CursorStep<S::Moment, S::Damage> {
        self.position = position;
        self.current()
    }

    /// Whether the moment is followed by a gap.
    pub fn has_gap_after(&self, at: usize) -> bool {
        at + 1 < self.store.len()
            && self.store.time(at + 1).saturating_sub(self.store.time(at)) > self.store.longest_step()
    }

    pub fn step_forward(&mut self) -> CursorStep<S::Moment, S::Damage> {
        match self.position {
            Position::At(at) if at + 1 >= self.store.len() => CursorStep::End,
            Position::At(at) if self.has_gap_after(at) => self.move_to(Position::Behind(at)),
            Position::At(at) | Position::Behind(at) => self.move_to(Position::At(at + 1)),
        }
    }

    pub fn step_back(&mut self) -> CursorStep<S::Moment, S::Damage> {
        match self.position {
            Position::Behind(at) => self.move_to(Position::At(at)),
            Position::At(0) => CursorStep::Beginning,
            Position::At(at) if self.has_gap_after(at - 1) => self.move_to(Position::Behind(at - 1)),
            Position::At(at) => self.move_to(Position::At(at - 1)),
        }
    }

    pub fn seek_last(&mut self) -> CursorStep<S::Moment, S::Damage> {
        self.move_to(Position::At(self.store.len().saturating_sub(1)))
    }

    /// Moves to the moment with the latest time up to this one; of several with that time, the one recorded last.
    pub fn seek_time(&mut self, time: i64) -> CursorStep<S::Moment, S::Damage> {
        let times = || (0..self.store.len()).map(|at| (self.store.time(at), at));
        let Some((found, at)) = times().filter(|(one, _)| *one <= time).max() else {
            self.position = Position::At(0);
            return if self.store.is_empty() { CursorStep::End } else { CursorStep::Beginning };
        };
        let late = time.saturating_sub(found) > self.store.longest_step();
        let later = times().any(|(one, _)| one > time);
        match (late, later) {
            (true, false) => {
                self.position = Position::At(at);
                CursorStep::End
            }
            (true, true) if self.has_gap_after(at) => self.move_to(Position::Behind(at)),
            _ => self.move_to(Position::At(at)),
        }
    }

    pub fn seek_next_event(&mut self) -> CursorStep<S::Moment, S::Damage> {
        let from = self.place() + 1;
        match (from..self.store.len()).find(|at| self.store.is_eventful(*at)) {
            Some(at) => self.move_to(Position::At(at)),
            None => CursorStep::End,
        }
    }

    pub fn seek_previous_event(&mut self) -> CursorStep<S::Moment, S::Damage> {
        // From within a gap, the moment before the gap is a previous one too.
        let below = match self.position {
            Position::At(at) => at,
            Position::Behind(at) => at + 1,
        };
        match (0..below).rev().find(|at| self.store.is_eventful(*at)) {
            Some(at) => self.move_to(Position::At(at)),
            None => CursorStep::Beginning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four moments at 10, 11, 20 and 21; the one at 20 is an event.
    struct FourMoments {
        times: [i64; 4],
        damaged: Option<usize>,
    }

    impl MomentStore for FourMoments {
        type Moment = i64;
        type Damage = &'static str;

        fn len(&self) -> usize {
            self.times.len()
        }

        fn time(&self, at: usize) -> i64 {
            self.times[at]
        }

        fn is_eventful(&self, at: usize) -> bool {
            at == 2
        }

        fn longest_step(&self) -> i64 {
            3
        }

        fn read(&mut self, at: usize) -> Result<i64, &'static str> {
            if self.damaged == Some(at) { Err("damaged") } else { Ok(self.times[at]) }
        }
    }

    fn four() -> Cursor<FourMoments> {
        Cursor::new(FourMoments { times: [10, 11, 20, 21], damaged: None })
    }

    const GAP: CursorStep<i64, &str> = CursorStep::Gap { from: 11, to: 20 };

    #[test]
    fn forward_and_back_pass_the_gap_and_stop_at_both_ends() {
        use CursorStep::{Beginning, End, Moment};
        let mut cursor = four();
        assert_eq!(cursor.current(), Moment(10));
        assert_eq!(cursor.step_back(), Beginning);
        let forward: Vec<_> = (0..6).map(|_| cursor.step_forward()).collect();
        assert_eq!(forward, [Moment(11), GAP, Moment(20), Moment(21), End, End]);
        assert_eq!(cursor.current(), Moment(21));
        let back: Vec<_> = (0..6).map(|_| cursor.step_back()).collect();
        assert_eq!(back, [Moment(20), GAP, Moment(11), Moment(10), Beginning, Beginning]);
    }

    #[test]
    fn times_are_found_between_before_and_behind() {
        use CursorStep::{Beginning, End, Moment};
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
            assert_eq!(cursor.seek_time(time), answer, "{time}");
        }
        assert_eq!(cursor.seek_time(15), GAP);
        assert_eq!(cursor.step_forward(), Moment(20));
        assert_eq!(cursor.seek_last(), Moment(21));
    }

    #[test]
    fn events_are_found_from_moments_and_from_gaps() {
        use CursorStep::{Beginning, End, Moment};
        let mut cursor = four();
        assert_eq!(cursor.seek_next_event(), Moment(20));
        assert_eq!(cursor.seek_next_event(), End);
        assert_eq!(cursor.seek_previous_event(), Beginning);
        assert_eq!(cursor.place(), 2);
        cursor.seek_time(15);
        assert_eq!(cursor.seek_previous_event(), Beginning);
        assert_eq!(cursor.seek_next_event(), Moment(20));
        cursor.seek_last();
        assert_eq!(cursor.seek_previous_event(), Moment(20));
    }

    #[test]
    fn damage_is_no_end_and_no_gap_and_can_be_passed() {
        use CursorStep::{Damage, Moment};
        let mut cursor = Cursor::new(FourMoments { times: [10, 11, 12, 13], damaged: Some(2) });
        let forward: Vec<_> = (0..3).map(|_| cursor.step_forward()).collect();
        assert_eq!(forward, [Moment(11), Damage("damaged"), Moment(13)]);
        assert_eq!(cursor.seek_time(12), Damage("damaged"));
        assert_eq!(cursor.step_back(), Moment(11));
    }

    #[test]
    fn a_clock_set_back_loses_no_moment() {
        use CursorStep::{End, Moment};
        let mut cursor = Cursor::new(FourMoments { times: [10, 12, 10, 11], damaged: None });
        let forward: Vec<_> = (0..4).map(|_| cursor.step_forward()).collect();
        assert_eq!(forward, [Moment(12), Moment(10), Moment(11), End]);
        assert_eq!((cursor.seek_time(10), cursor.place()), (Moment(10), 2));
        assert_eq!((cursor.seek_time(13), cursor.place()), (Moment(12), 1));
    }

    #[test]
    fn nothing_recorded_is_an_end() {
        struct EmptyStore;
        impl MomentStore for EmptyStore {
            type Moment = ();
            type Damage = ();
            fn len(&self) -> usize {
                0
            }
            fn time(&self, _: usize) -> i64 {
                0
            }
            fn is_eventful(&self, _: usize) -> bool {
                true
            }
            fn longest_step(&self) -> i64 {
                1
            }
            fn read(&mut self, _: usize) -> Result<(), ()> {
                Err(())
            }
        }
        let mut cursor = Cursor::new(EmptyStore);
        let all = [
            cursor.current(),
            cursor.step_forward(),
            cursor.seek_last(),
            cursor.seek_time(5),
            cursor.seek_next_event(),
        ];
        assert!(all.iter().all(|answer| *answer == CursorStep::End), "{all:?}");
        assert_eq!(
            (cursor.step_back(), cursor.seek_previous_event()),
            (CursorStep::Beginning, CursorStep::Beginning)
        );
    }
}
