//! Steps of the wall clock: they neither shorten nor lengthen a window, and are reported. The record of the window has both
//! clocks, so a guard that takes over sees a step that no guard saw.

use jiff::{SignedDuration, Timestamp};

use super::guard_run::Guard;
use super::window::window_left;
use crate::clock::Clocks;
use crate::journal::{ChangeState, JournalRecord};

/// Detects that the wall clock was set.
#[derive(Debug)]
pub(super) struct ClockStepWatch {
    /// The wall clock minus the time since boot, in milliseconds.
    offset_ms: i64,
}

impl ClockStepWatch {
    /// Smaller differences come from slewing.
    const LEAST_MS: i64 = 2000;

    pub fn new(clock: &dyn Clocks) -> Self {
        Self { offset_ms: Self::offset(clock) }
    }

    /// Counts from the record of the window, which a guard before may have written during the same boot.
    pub fn since_record(state: &ChangeState, clock: &dyn Clocks) -> Self {
        let ends = state.ends.as_ref().filter(|ends| clock.boot_time().is_of_run_of(ends));
        let deadline = state.deadline.as_ref().and_then(|deadline| deadline.parse::<Timestamp>().ok());
        match ends.zip(deadline) {
            Some((ends, deadline)) => Self { offset_ms: deadline.as_millisecond() - ends.ms as i64 },
            None => Self::new(clock),
        }
    }

    fn offset(clock: &dyn Clocks) -> i64 {
        clock.now().as_millisecond() - clock.boot_time().ms as i64
    }

    /// By how much the wall clock was set since the last call.
    pub fn step(&mut self, clock: &dyn Clocks) -> Option<SignedDuration> {
        let before = std::mem::replace(&mut self.offset_ms, Self::offset(clock));
        let step = self.offset_ms - before;
        (step.abs() >= Self::LEAST_MS).then(|| SignedDuration::from_millis(step))
    }
}

impl Guard<'_> {
    /// Sets the end of the window in time since boot, also for a journal from before a reboot.
    pub(super) fn begin_window(&mut self) {
        let here = self.clock.boot_time();
        let of_this_run = self.state.ends.as_ref().is_some_and(|ends| here.is_of_run_of(ends));
        if of_this_run {
            return;
        }
        let left = window_left(&self.state, self.clock);
        // Nothing is left to count, and the rollback names the reason.
        if left.is_zero() {
            return;
        }
        let (time, deadline) = (self.time(), (self.clock.now() + left).to_string());
        // The next guard and the second process count by the clock that cannot be set, too.
        let record = JournalRecord::Applied { time, deadline, ends: Some(here.plus(left)) };
        if let Err(error) = self.journal.append_durably(&record) {
            (self.log)(&error.to_string());
            // Where the disk was full for this moment alone a confirmation can still be recorded.
            let _ = self.journal.recover();
        }
        self.state.apply(&record);
    }

    /// The wall clock was set: the window stays as it was.
    pub(super) fn report_clock_step(&mut self, step: SignedDuration) {
        let words = format!(
            "the wall clock was set {} by {} s (noticed at {}); the window still ends by the time since boot",
            if step.is_negative() { "back" } else { "forward" },
            step.abs().as_secs(),
            self.clock.now()
        );
        let user = self.user();
        self.audit("clock set", &user, &words);
        self.memory.stepped = Some(words);
    }

    /// Why the change goes back once nothing is left of its window.
    pub(super) fn expiry_reason(&self) -> String {
        if let Some(latest) = record_ahead(&self.state, self.clock) {
            let now = self.clock.now();
            return format!(
                "the wall clock shows {now}, earlier than the last record of the journal ({latest}): how much time has \
                 passed is not known, so the change is rolled back at once"
            );
        }
        let late = "it was not confirmed in time";
        self.memory.stepped.as_ref().map_or_else(|| late.to_owned(), |step| format!("{late}; {step}"))
    }
}

/// The time of the last record, where the window counts by a wall clock that is behind it.
fn record_ahead(state: &ChangeState, clock: &dyn Clocks) -> Option<Timestamp> {
    let is_counted = state.ends.as_ref().is_some_and(|ends| clock.boot_time().is_of_run_of(ends));
    let latest = state.latest_time.as_ref().filter(|_| !is_counted)?;
    latest.parse::<Timestamp>().ok().filter(|at| clock.now() < *at)
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{FixedClocks, change_state};
    use super::*;
    use crate::clock::BootTime;

    #[test]
    fn a_step_of_the_wall_clock_is_reported_once() {
        let mut watch = ClockStepWatch::new(&FixedClocks("2026-11-25T12:00:00Z", "a", 0));
        assert_eq!(watch.step(&FixedClocks("2026-11-25T12:00:10Z", "a", 10_000)), None);
        let back = Some(SignedDuration::from_hours(-10));
        assert_eq!(watch.step(&FixedClocks("2026-11-25T02:00:20Z", "a", 20_000)), back);
        assert_eq!(watch.step(&FixedClocks("2026-11-25T02:00:30Z", "a", 30_000)), None);
    }

    #[test]
    fn a_step_between_two_guards_shows_in_the_record_of_the_window() {
        let step = |ends, wall, boot| {
            let clock = FixedClocks(wall, boot, 100_000);
            ClockStepWatch::since_record(&change_state(ends), &clock).step(&clock)
        };
        let ends = Some(BootTime { boot: "a".into(), ms: 700_000 });
        assert_eq!(step(ends.clone(), "2026-11-25T12:00:00Z", "a"), None);
        assert_eq!(step(ends.clone(), "2026-11-25T14:00:00Z", "a"), Some(SignedDuration::from_hours(2)));
        // Nothing is known after a restart, and of journals of older versions.
        assert_eq!(step(ends, "2026-11-25T14:00:00Z", "b"), None);
        assert_eq!(step(None, "2026-11-25T14:00:00Z", "a"), None);
    }

    #[test]
    fn a_record_is_ahead_of_an_earlier_clock_alone() {
        let ahead = |ends, wall, boot| record_ahead(&change_state(ends), &FixedClocks(wall, boot, 100_000));
        let latest: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
        let ends = Some(BootTime { boot: "a".into(), ms: 700_000 });
        for state in [None, ends.clone()] {
            assert_eq!(ahead(state.clone(), "2026-11-25T11:59:59Z", "b"), Some(latest));
            assert_eq!(ahead(state.clone(), "2026-11-25T12:00:00Z", "b"), None);
            assert_eq!(ahead(state, "2026-11-25T12:00:01Z", "b"), None);
        }
        // The window counts by the time since boot.
        assert_eq!(ahead(ends, "2026-11-25T11:59:59Z", "a"), None);
    }
}
