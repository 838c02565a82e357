//! Foreign writes while a change waits to be confirmed. The guard reports them with the likely writer, and does not
//! overwrite them.
//!
//! Reading all parts takes long, and longer where devices do not answer. So the guard reads in slices, and between them
//! it serves requests and watches the deadline.

use std::collections::BTreeSet;
use std::time::Duration;

use super::keeper::Keeper;
use super::outlook::switched;
use crate::clock::Stopwatch;
use crate::manager::{manager_in_charge, other_writer_words};
use crate::read_queue::ReadQueue;
use crate::writes::Step;
use fabdeck_mad::access::{Device, Slot, Unwatched, Wanted, WriteError};

/// How long the guard reads before it serves requests again.
const SLICE: Duration = Duration::from_millis(200);
/// Smallest rest of the window for reading: a device without an answer takes three seconds.
pub(super) const AHEAD: Duration = Duration::from_secs(4);
/// How long the guard reads again before a confirmation, which waits for it.
const BEFORE_CONFIRMED: Duration = Duration::from_secs(2);

/// The result of the last reading.
#[derive(Default)]
pub(super) struct Seen {
    over: BTreeSet<Slot>,
    silent: BTreeSet<Device>,
    pub words: Option<String>,
    /// Parts that could not be read.
    pub trouble: Option<String>,
    round: Option<Round>,
}

/// A reading that is under way.
struct Round {
    queue: ReadQueue,
    over: BTreeSet<Slot>,
    aimed: bool,
}

impl Seen {
    pub fn is_looking(&self) -> bool {
        self.round.is_some()
    }

    /// Starts a reading from the beginning.
    pub fn begin(&mut self, steps: &[Step]) {
        let queue = ReadQueue::new(steps.iter().map(|step| step.slot.at), &self.silent);
        // A part that cannot be read now keeps its last known state.
        self.round = Some(Round { queue, over: self.over.clone(), aimed: false });
    }
}

impl Round {
    fn take(&mut self, step: &Step, held: Result<Vec<u8>, WriteError>) {
        self.queue.take(step.slot.at, &held);
        if let Ok(held) = held {
            match held == step.new {
                true => self.over.remove(&step.slot),
                false => self.over.insert(step.slot),
            };
        }
    }
}

impl Keeper<'_> {
    /// Reads on for one slice of time, unless the deadline is too near.
    pub(super) fn look_after(&mut self, steps: &[Step], seen: &mut Seen, left: Duration) {
        let since = Stopwatch::start(self.clock);
        while since.elapsed() < SLICE
            && left.saturating_sub(since.elapsed()) >= AHEAD
            && self.look_on(steps, seen)
        {}
    }

    /// Reads once more before a confirmation: what differs is logged, and so is what could not be read in time.
    pub(super) fn look_before(&mut self, steps: &[Step], seen: &mut Seen) {
        seen.begin(steps);
        let since = Stopwatch::start(self.clock);
        while since.elapsed() < BEFORE_CONFIRMED && self.look_on(steps, seen) {}
        let Some(round) = seen.round.take() else { return };
        self.tell(round.over, seen, |_| "there was no time to see who might have".to_owned());
        if round.queue.left() == 0 {
            return;
        }
        let words =
            format!("{} of {} writes were not read once more: time was up", round.queue.left(), steps.len());
        let user = self.user();
        self.audit("trouble", &user, &words);
        seen.trouble = Some(seen.trouble.iter().cloned().chain([words]).collect::<Vec<_>>().join("; "));
    }

    /// Reads one slice. Whether more is left.
    fn look_on(&mut self, steps: &[Step], seen: &mut Seen) -> bool {
        let Some(mut round) = seen.round.take() else { return false };
        if round.queue.has_lost_port() && !round.aimed {
            self.aim(steps);
            round.aimed = true;
            seen.round = Some(round);
            return true;
        }
        let slice = round.queue.slice();
        if slice.is_empty() {
            self.hear(round.queue.silent().clone(), seen);
            self.tell(round.over, seen, |keeper| keeper.who_might(steps));
            return false;
        }
        let slots: Vec<Slot> = slice.iter().map(|at| steps[*at].slot).collect();
        for (at, held) in slice.iter().zip(self.driver.surveyor().read(&slots)) {
            round.take(&steps[*at], held);
        }
        self.hear(&seen.silent | round.queue.silent(), seen);
        seen.round = Some(round);
        true
    }

    /// Writes to the audit trail which devices have stopped or resumed answering.
    fn hear(&mut self, silent: BTreeSet<Device>, seen: &mut Seen) {
        if silent == seen.silent {
            return;
        }
        seen.trouble = silent.first().map(|first| {
            let first = self.plan.named(&first.key());
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
            &words.unwrap_or_else(|| "all that was written answers again".to_owned()),
        );
    }

    /// Writes to the audit trail which parts were overwritten or restored by others.
    fn tell(&mut self, over: BTreeSet<Slot>, seen: &mut Seen, who: impl FnOnce(&mut Self) -> String) {
        if over == seen.over {
            return;
        }
        seen.words = over.first().map(|first| {
            let more = match over.len() {
                1 => " is".to_owned(),
                count => format!(" and {} more are", count - 1),
            };
            format!("{first}{more} not as it was written any more; {}", who(self))
        });
        let (user, words) = (self.user(), seen.words.clone());
        seen.over = over;
        self.audit("drift", &user, &words.unwrap_or_else(|| "all is as it was written again".to_owned()));
    }

    /// Names the subnet manager in charge of the fabric, which may write tables at any time.
    fn who_might(&mut self, steps: &[Step]) -> String {
        let looked = self.driver.surveyor().look(Wanted::default(), &mut Unwatched);
        self.driver.surveyor().keep_off(&switched(steps));
        match looked {
            Ok(look) => other_writer_words(manager_in_charge(&look).as_deref()),
            Err(error) => format!("who is in charge cannot be seen: {error}"),
        }
    }
}
