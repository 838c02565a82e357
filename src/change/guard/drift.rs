//! Foreign writes while a change waits to be confirmed. The guard reports them with the likely writer, and does not
//! overwrite them.
//!
//! Reading all parts takes long, and longer where devices do not answer. So the guard reads in slices, and between them
//! it serves requests and watches the deadline.

use std::collections::BTreeSet;
use std::time::Duration;

use super::drift_state::{DEADLINE_MARGIN, DriftState};
use super::guard_run::Guard;
use super::rollback_outlook::switched_ports;
use crate::clock::Stopwatch;
use crate::manager_text::{manager_in_charge, other_writer_words};
use crate::writes::WriteStep;
use fabdeck_mad::access::{DeviceAttribute, DeviceId, NoObserver, ReadOptions};

/// How long the guard reads before it serves requests again.
const SLICE_TIME: Duration = Duration::from_millis(200);
/// How long the guard reads again before a confirmation, which waits for it.
const CONFIRM_CHECK_TIME: Duration = Duration::from_secs(2);

impl Guard<'_> {
    /// Reads on for one slice of time, unless the deadline is too near.
    pub(crate) fn check_drift(&mut self, steps: &[WriteStep], seen: &mut DriftState, left: Duration) {
        let since = Stopwatch::start(self.clock);
        while since.elapsed() < SLICE_TIME
            && left.saturating_sub(since.elapsed()) >= DEADLINE_MARGIN
            && self.check_slice(steps, seen)
        {}
    }

    /// Reads once more before a confirmation: what differs is logged, and so is what could not be read in time.
    pub(crate) fn check_before_confirm(&mut self, steps: &[WriteStep], seen: &mut DriftState) {
        seen.begin_round(steps);
        let since = Stopwatch::start(self.clock);
        while since.elapsed() < CONFIRM_CHECK_TIME && self.check_slice(steps, seen) {}
        let Some(round) = seen.round.take() else { return };
        self.record_drift(round.over, seen, |_| {
            "there was no time to find out which subnet manager is in charge".to_owned()
        });
        if round.queue.remaining() == 0 {
            return;
        }
        let words = format!(
            "{} of {} writes were not read again: the time was over",
            round.queue.remaining(),
            steps.len()
        );
        let user = self.user();
        self.audit("trouble", &user, &words);
        seen.trouble = Some(seen.trouble.iter().cloned().chain([words]).collect::<Vec<_>>().join("; "));
    }

    /// Reads one slice. Whether more is left.
    fn check_slice(&mut self, steps: &[WriteStep], seen: &mut DriftState) -> bool {
        let Some(mut round) = seen.round.take() else { return false };
        if round.queue.has_lost_local_port() && !round.aimed {
            self.find_routes(steps);
            round.aimed = true;
            seen.round = Some(round);
            return true;
        }
        let slice = round.queue.next_slice();
        if slice.is_empty() {
            self.record_silence(round.queue.silent_devices().clone(), seen);
            self.record_drift(round.over, seen, |keeper| keeper.possible_writer(steps));
            return false;
        }
        let slots: Vec<DeviceAttribute> = slice.iter().map(|at| steps[*at].slot).collect();
        for (at, held) in slice.iter().zip(self.driver.surveyor().read(&slots)) {
            round.record_part(&steps[*at], held);
        }
        self.record_silence(&seen.silent | round.queue.silent_devices(), seen);
        seen.round = Some(round);
        true
    }

    /// Writes to the audit trail which devices have stopped or resumed answering.
    fn record_silence(&mut self, silent: BTreeSet<DeviceId>, seen: &mut DriftState) {
        if silent == seen.silent {
            return;
        }
        seen.trouble = silent.first().map(|first| {
            let first = self.plan.node_name(&first.plan_key());
            match silent.len() {
                1 => format!("{first} does not answer: what it holds now is not known"),
                count => {
                    format!("{first} and {} more do not answer: what they hold now is not known", count - 1)
                }
            }
        });
        seen.silent = silent;
        let (user, words) = (self.user(), seen.trouble.clone());
        self.audit(
            "trouble",
            &user,
            &words.unwrap_or_else(|| "every part that was written answers again".to_owned()),
        );
    }

    /// Writes to the audit trail which parts were overwritten or restored by others.
    fn record_drift(
        &mut self,
        over: BTreeSet<DeviceAttribute>,
        seen: &mut DriftState,
        who: impl FnOnce(&mut Self) -> String,
    ) {
        if over == seen.over {
            return;
        }
        seen.words = over.first().map(|first| {
            let more = match over.len() {
                1 => " is".to_owned(),
                count => format!(" and {} more are", count - 1),
            };
            format!("{first}{more} no longer as the change wrote it; {}", who(self))
        });
        let (user, words) = (self.user(), seen.words.clone());
        seen.over = over;
        self.audit(
            "drift",
            &user,
            &words.unwrap_or_else(|| "every part is again as the change wrote it".to_owned()),
        );
    }

    /// Names the subnet manager in charge of the fabric, which may write tables at any time.
    fn possible_writer(&mut self, steps: &[WriteStep]) -> String {
        let looked = self.driver.surveyor().read_fabric(ReadOptions::default(), &mut NoObserver);
        self.driver.surveyor().avoid_ports(&switched_ports(steps));
        match looked {
            Ok(look) => other_writer_words(manager_in_charge(&look).as_deref()),
            Err(error) => format!("the subnet manager in charge cannot be read: {error}"),
        }
    }
}
