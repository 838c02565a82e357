//! What somebody else writes while a change waits to be confirmed: told, with who might have, and not fought.
//!
//! A look at all that was written may take long, and longer where a device says nothing. So it goes on in slices, and
//! between them there is time for whoever asks, and for the deadline.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::keeper::Keeper;
use super::outlook::switched;
use crate::access::{Device, Slot, Unwatched, Wanted, WriteError};
use crate::change::writes::Step;
use crate::fabric::{NameMap, Names};
use crate::observe::Observation;

/// Parts that are asked for at once.
const STRIDE: usize = 64;
/// As many of these of one device as are on their way to it at once: one that says nothing takes the time of one question.
const OF_A_SWITCH: usize = 8;
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
    /// What is still to be asked, by its place in the steps.
    left: Vec<usize>,
    over: BTreeSet<Slot>,
    /// Not asked again before the next.
    silent: BTreeSet<Device>,
    /// They said nothing the last time: asked last, and for one part until they answer.
    suspected: BTreeSet<Device>,
    gone: bool,
    aimed: bool,
}

impl Seen {
    pub fn is_looking(&self) -> bool {
        self.round.is_some()
    }

    /// From the beginning.
    pub fn begin(&mut self, steps: &[Step]) {
        let mut left: Vec<usize> = (0..steps.len()).collect();
        left.sort_by_key(|at| self.silent.contains(&steps[*at].slot.at));
        self.round = Some(Round {
            left,
            // What does not answer now is neither written over nor back.
            over: self.over.clone(),
            silent: BTreeSet::new(),
            suspected: self.silent.clone(),
            gone: false,
            aimed: false,
        });
    }
}

impl Round {
    /// What is asked next.
    fn slice(&mut self, steps: &[Step]) -> Vec<usize> {
        let (mut slice, mut asked) = (Vec::new(), BTreeMap::<Device, usize>::new());
        self.left.retain(|at| {
            if slice.len() == STRIDE {
                return true;
            }
            let device = steps[*at].slot.at;
            if self.silent.contains(&device) {
                return false;
            }
            let count = asked.entry(device).or_default();
            *count += 1;
            let most = if self.suspected.contains(&device) { 1 } else { OF_A_SWITCH };
            if *count <= most {
                slice.push(*at);
            }
            *count > most
        });
        slice
    }

    fn take(&mut self, step: &Step, held: Result<Vec<u8>, WriteError>) {
        match held {
            Ok(held) => {
                self.suspected.remove(&step.slot.at);
                match held == step.new {
                    true => self.over.remove(&step.slot),
                    false => self.over.insert(step.slot),
                };
            }
            Err(WriteError::Gone(_)) => self.gone = true,
            Err(_) => _ = self.silent.insert(step.slot.at),
        }
    }
}

impl Keeper<'_> {
    /// Looks for a while, unless the deadline is too near.
    pub(super) fn look_after(&mut self, steps: &[Step], seen: &mut Seen, left: Duration) {
        let since = Instant::now();
        while since.elapsed() < SLICE
            && left.saturating_sub(since.elapsed()) >= AHEAD
            && self.look_on(steps, seen)
        {}
    }

    /// What is kept is what stands there now; what does not is told, and so is what there was no time for.
    pub(super) fn look_before(&mut self, steps: &[Step], seen: &mut Seen) {
        seen.begin(steps);
        let since = Instant::now();
        while since.elapsed() < BEFORE_CONFIRMED && self.look_on(steps, seen) {}
        let Some(round) = seen.round.take() else { return };
        self.tell(round.over, seen, |_| "there was no time to see who might have".to_owned());
        if round.left.is_empty() {
            return;
        }
        let words =
            format!("{} of {} writes were not read once more: time was up", round.left.len(), steps.len());
        let user = self.user();
        self.audit("trouble", &user, &words);
        seen.trouble = Some(seen.trouble.iter().cloned().chain([words]).collect::<Vec<_>>().join("; "));
    }

    /// A slice of the look that is under way; whether there is more.
    fn look_on(&mut self, steps: &[Step], seen: &mut Seen) -> bool {
        let Some(mut round) = seen.round.take() else { return false };
        if round.gone && !round.aimed {
            self.aim(steps);
            round.aimed = true;
            seen.round = Some(round);
            return true;
        }
        let slice = round.slice(steps);
        if slice.is_empty() {
            self.hear(round.silent, seen);
            self.tell(round.over, seen, |keeper| keeper.who_might(steps));
            return false;
        }
        let slots: Vec<Slot> = slice.iter().map(|at| steps[*at].slot).collect();
        for (at, held) in slice.iter().zip(self.driver.surveyor().read(&slots)) {
            round.take(&steps[*at], held);
        }
        self.hear(&seen.silent | &round.silent, seen);
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
        match looked.map(|look| manager(&look)) {
            Ok(Some(who)) => format!("the subnet manager in charge is {who}: it may have, or another tool"),
            Ok(None) => "no subnet manager is in charge: another tool may have".to_owned(),
            Err(error) => format!("who is in charge cannot be seen: {error}"),
        }
    }
}

/// `node01 (0x0002c90300001234, LID 7)`.
fn manager(look: &Observation) -> Option<String> {
    let guid = look.subnet_manager.as_ref()?.guid;
    let fabric = &look.fabric;
    let Some(port) = fabric.port_by_guid(guid) else { return Some(guid.to_string()) };
    let names = Names::new(fabric, &NameMap::default());
    let name = names.of(fabric.port(port).node);
    let lid = fabric.address_of(port).map(|(lid, _)| format!(", LID {}", lid.value()));
    Some(format!("{name} ({guid}{})", lid.unwrap_or_default()))
}
