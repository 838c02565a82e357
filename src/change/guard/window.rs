//! The window in which a change can be confirmed, across clock changes and reboots.
//!
//! - Until a reboot, the window counts in time since boot: setting the wall clock neither shortens nor lengthens it.
//! - After a reboot it counts by the wall clock, and never has more left than from the last record to the deadline.
//! - If the wall clock after a reboot is behind any record of the journal, the downtime is unknown: the window is over.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::clock::{BootTime, Clocks};
use crate::journal::{ChangeState, RetryLimit};

/// The rest of the window of an applied change; zero if it is over.
pub fn window_left(told: &ChangeState, clock: &dyn Clocks) -> Duration {
    let here = clock.boot_time();
    if let Some(left) = told.ends.as_ref().and_then(|ends| here.until(ends)) {
        return left;
    }
    let time = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<Timestamp>().ok());
    let (Some(deadline), Some(latest)) = (time(&told.deadline), time(&told.latest_time)) else {
        return Duration::ZERO;
    };
    let now = clock.now();
    if now < latest {
        return Duration::ZERO;
    }
    time_until(deadline, now).min(time_until(deadline, latest))
}

/// The rest of the time in which a rollback retries; zero if it is over. After a reboot with an earlier wall clock the
/// downtime is unknown, and the rest is that of the last record: giving up early would leave the change in the fabric.
pub(super) fn retry_time_left(limit: &RetryLimit, state: &ChangeState, clock: &dyn Clocks) -> Duration {
    if let Some(left) = clock.boot_time().until(&limit.ends) {
        return left;
    }
    let Ok(deadline) = limit.deadline.parse::<Timestamp>() else { return Duration::ZERO };
    let latest = state.latest_time.as_ref().and_then(|time| time.parse::<Timestamp>().ok());
    let left = time_until(deadline, clock.now());
    latest.map_or(left, |latest| left.min(time_until(deadline, latest)))
}

fn time_until(deadline: Timestamp, from: Timestamp) -> Duration {
    Duration::try_from(deadline.duration_since(from)).unwrap_or_default()
}

/// The deadline by the wall clock as it is now: the recorded one, unless the clock was set since.
pub fn deadline_now(told: &ChangeState, clock: &dyn Clocks) -> Option<String> {
    /// The clocks are read one after the other, and one of them may be slewed.
    const AGREE: SignedDuration = SignedDuration::from_secs(2);
    let recorded = told.deadline.clone()?;
    let ends = told.ends.as_ref().filter(|ends| clock.boot_time().is_of_run_of(ends));
    let Some(ends) = ends else { return Some(recorded) };
    let now = by_wall_clock(ends, clock);
    let differs = recorded.parse::<Timestamp>().is_ok_and(|at| at.duration_since(now).abs() > AGREE);
    Some(if differs { now.to_string() } else { recorded })
}

/// A time since boot, by the wall clock.
fn by_wall_clock(at: &BootTime, clock: &dyn Clocks) -> Timestamp {
    let here = clock.boot_time();
    let ms = i128::from(at.ms) - i128::from(here.ms);
    clock.now() + SignedDuration::from_millis(ms as i64)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::journal::{BeginRecord, JournalRecord};

    pub(in crate::guard) struct FixedClocks(pub &'static str, pub &'static str, pub u64);

    impl Clocks for FixedClocks {
        fn now(&self) -> Timestamp {
            self.0.parse().unwrap()
        }

        fn boot_time(&self) -> BootTime {
            BootTime { boot: self.1.into(), ms: self.2 }
        }
    }

    pub(in crate::guard) fn change_state(ends: Option<BootTime>) -> ChangeState {
        let mut told =
            ChangeState::new(BeginRecord { time: "2026-11-25T11:59:00Z".into(), ..BeginRecord::default() });
        let (time, deadline) = ("2026-11-25T12:00:00Z".into(), "2026-11-25T12:10:00Z".into());
        told.apply(&JournalRecord::Applied { time, deadline, ends });
        told
    }

    #[test]
    fn within_one_run_the_wall_clock_counts_for_nothing() {
        let told = change_state(Some(BootTime { boot: "a".into(), ms: 700_000 }));
        for wall in ["2026-11-25T02:00:00Z", "2026-11-25T12:01:40Z", "2026-11-25T22:00:00Z"] {
            let clock = FixedClocks(wall, "a", 200_000);
            assert_eq!(window_left(&told, &clock), Duration::from_secs(500), "{wall}");
        }
        assert_eq!(window_left(&told, &FixedClocks("2026-11-25T02:00:00Z", "a", 700_001)), Duration::ZERO);
        let shown = |wall, ms| deadline_now(&told, &FixedClocks(wall, "a", ms)).unwrap();
        assert_eq!(shown("2026-11-25T12:01:40Z", 200_000), "2026-11-25T12:10:00Z");
        assert_eq!(shown("2026-11-25T02:01:40Z", 200_000), "2026-11-25T02:10:00Z");
    }

    #[test]
    fn after_a_restart_the_wall_clock_counts_and_adds_nothing() {
        for ends in [None, Some(BootTime { boot: "a".into(), ms: 700_000 })] {
            let told = change_state(ends);
            let left = |wall| window_left(&told, &FixedClocks(wall, "b", 10)).as_secs();
            assert_eq!(left("2026-11-25T12:04:00Z"), 360);
            assert_eq!(left("2026-11-25T12:00:00Z"), 600);
            assert_eq!(left("2026-11-25T12:10:01Z"), 0);
            // The clock is behind the last record, so the downtime of the machine is unknown.
            assert_eq!(left("2026-11-25T11:59:59Z"), 0);
            assert_eq!(left("2026-11-25T02:00:00Z"), 0);
        }
    }

    /// Retries count like windows, but a clock that is behind after a reboot does not end them.
    #[test]
    fn retries_of_a_rollback_go_on_after_a_restart_and_get_no_longer() {
        let mut told = change_state(None);
        let limit = RetryLimit {
            deadline: "2026-11-25T13:00:00Z".into(),
            ends: BootTime { boot: "a".into(), ms: 3_700_000 },
        };
        let (time, why) = ("2026-11-25T12:20:00Z".into(), "a test".into());
        told.apply(&JournalRecord::Returning { time, why, asked: false, retries: Some(limit.clone()) });
        let left = |wall, boot, ms| retry_time_left(&limit, &told, &FixedClocks(wall, boot, ms)).as_secs();
        assert_eq!(left("2026-11-25T02:00:00Z", "a", 700_000), 3000);
        assert_eq!(left("2026-11-25T12:50:00Z", "b", 10), 600);
        assert_eq!(left("2026-11-25T02:00:00Z", "b", 10), 2400);
        assert_eq!(left("2026-11-25T13:00:01Z", "b", 10), 0);
    }

    /// The clock was set back before the reboot, and the last record has that time: it does not lengthen the window.
    #[test]
    fn a_record_of_a_clock_that_was_set_back_adds_nothing() {
        let mut told = change_state(Some(BootTime { boot: "a".into(), ms: 700_000 }));
        told.apply(&JournalRecord::Extended {
            time: "2026-11-25T02:00:30Z".into(),
            user: "root".into(),
            deadline: "2026-11-25T12:10:00Z".into(),
            ends: Some(BootTime { boot: "a".into(), ms: 700_000 }),
        });
        assert_eq!(window_left(&told, &FixedClocks("2026-11-25T02:01:00Z", "b", 10)), Duration::ZERO);
        assert_eq!(window_left(&told, &FixedClocks("2026-11-25T12:04:00Z", "b", 10)).as_secs(), 360);
    }
}
