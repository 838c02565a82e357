//! What somebody else writes while a change waits to be confirmed: told, with who might have, and not fought.
//!
//! A look at all that was written may take long, and longer where a device says nothing. So it goes on in slices, and
//! between them there is time for whoever asks, and for the deadline.

use std::collections::BTreeSet;
use std::time::Duration;

use super::keeper::Keeper;
use super::outlook::switched;
use crate::clock::Stopwatch;
use crate::manager::{manager_in_charge, other_writer_words};
use crate::read_queue::ReadQueue;
use crate::writes::Step;
use fabdeck_mad::access::{Device, Slot, Unwatched, Wanted, WriteError};

/// How long it looks before it hears again who asks.
const SLICE: Duration = Duration::from_millis(200);
/// A device that says nothing takes three seconds: what would begin later could end behind the deadline.
pub(super) const AHEAD: Duration = Duration::from_secs(4);
/// How long it looks once more before it is confirmed; whoever confirms waits for it.
const BEFORE_CONFIRMED: Duration = Duration::from_secs(2);

/// What was found when it was last looked.
#[derive(Default)]
pub(super) struct Seen {
    over: BTreeSet<Slot>,
    silent: BTreeSet<Device>,
    pub words: Option<String>,
    /// What could not be looked at.
    pub trouble: Option<String>,
    round: Option<Round>,
}

/// A look that is under way.
struct Round {
    queue: ReadQueue,
    over: BTreeSet<Slot>,
    aimed: bool,
}

impl Seen {
    pub fn is_looking(&self) -> bool {
        self.round.is_some()
    }

    /// From the beginning.
    pub fn begin(&mut self, steps: &[Step]) {
        let queue = ReadQueue::new(steps.iter().map(|step| step.slot.at), &self.silent);
        // What does not answer now is neither written over nor back.
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
    /// Looks for a while, unless the deadline is too near.
    pub(super) fn look_after(&mut self, steps: &[Step], seen: &mut Seen, left: Duration) {
        let since = Stopwatch::start(self.clock);
        while since.elapsed() < SLICE
            && left.saturating_sub(since.elapsed()) >= AHEAD
            && self.look_on(steps, seen)
        {}
    }

    /// What is kept is what stands there now; what does not is told, and so is what there was no time for.
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

    /// A slice of the look that is under way; whether there is more.
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

    /// What is news of devices that say nothing stands in the trail.
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

    /// What is news of what was written over stands in the trail.
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

    /// Who is in charge of the fabric now, and writes tables when it sees fit.
    fn who_might(&mut self, steps: &[Step]) -> String {
        let looked = self.driver.surveyor().look(Wanted::default(), &mut Unwatched);
        self.driver.surveyor().keep_off(&switched(steps));
        match looked {
            Ok(look) => other_writer_words(manager_in_charge(&look).as_deref()),
            Err(error) => format!("who is in charge cannot be seen: {error}"),
        }
    }
}
