//! Events that are derived from the counters of a recording: hot-spots and links in trouble, by the functions
//! that judge a live watch. A background task works through the recording in small parts, one after the
//! other. So nothing waits for it, and the events do not depend on the speed.

use std::sync::{Arc, Mutex, PoisonError};

use super::flow;
use super::scene::{CANCELLED, Looking};
use crate::session::hotspots::{HOT, hot_words, link_words};
use crate::session::interactive::effect::{Effect, Job};
use crate::session::interactive::messages::Severity;
use crate::session::interactive::screens::Screen;
use crate::session::interactive::state::State;
use crate::session::interactive::tasks::TaskId;
use crate::session::interactive::watch::{Above, Turn, over_words, stuck_words, turns};
use crate::session::{Look, news_label};
use fabdeck_fabric::counters::{
    ANCHOR, HotSpot, Thresholds, Trouble, Why, hot_spots, rates_of_sweeps, troubles,
};
use fabdeck_fabric::observe::Sweep;
use fabdeck_files::capture::{Derived, Happened, Tape, Timeline, Told};
use fabdeck_files::capture_format::Bytes;
use fabdeck_routing::Pulse;

/// Number of samples in one part.
const AT_ONCE: usize = 64_000;

/// Maximum number of events.
const MOST: usize = 50_000;

/// The events of one part, and the number of moments that are done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    pub happened: Vec<Happened>,
    pub done: usize,
}

/// Derives events from a recording.
pub trait Derives: Send {
    fn derive(&mut self, thresholds: &Thresholds, pulse: &dyn Pulse) -> Result<Part, String>;
}

/// A shared event scan, which derives one part after the other.
#[derive(Clone)]
pub struct Scan(Arc<Mutex<dyn Derives>>);

impl std::fmt::Debug for Scan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scan")
    }
}

impl Scan {
    pub fn new(derives: impl Derives + 'static) -> Self {
        Self(Arc::new(Mutex::new(derives)))
    }

    /// Derives the next part.
    pub fn derive(&self, thresholds: &Thresholds, pulse: &dyn Pulse) -> Result<Part, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).derive(thresholds, pulse)
    }
}

/// An event scan with its own reader of the recording, independent of the reader for steps.
pub struct Deriving<B> {
    tape: Tape<B>,
    timeline: Arc<Timeline>,
    looking: Looking,
    next: usize,
    /// Milliseconds since the first moment.
    elapsed: i64,
    before: Option<Arc<Sweep>>,
    /// The baseline of error rates; `half` becomes the next baseline.
    first: Option<Arc<Sweep>>,
    half: (i64, Option<Arc<Sweep>>),
    above: Above,
    look: Option<(Option<usize>, Look)>,
}

impl<B: Bytes> Deriving<B> {
    pub fn new(tape: Tape<B>, timeline: Arc<Timeline>, looking: Looking) -> Self {
        Self {
            tape,
            timeline,
            looking,
            next: 0,
            elapsed: 0,
            before: None,
            first: None,
            half: (0, None),
            above: Above::default(),
            look: None,
        }
    }

    /// Reads the sweep of a moment, if that is possible. It moves the error baseline in the same way as a
    /// watch.
    fn sweep(&mut self, place: usize) -> Option<Arc<Sweep>> {
        let times = &self.timeline.times;
        if let Some(before) = place.checked_sub(1) {
            self.elapsed = self.elapsed.saturating_add(times[place].saturating_sub(times[before]).max(0));
        }
        let whole = !self.timeline.damaged.contains_key(&place) && self.tape.show(place).is_ok();
        let sweep = whole.then(|| Arc::new(self.tape.sweep()));
        let anchor = i64::try_from(ANCHOR.as_millis()).unwrap_or(i64::MAX);
        if place == 0 || self.timeline.broken.contains(&place) {
            self.first.clone_from(&sweep);
            self.half = (self.elapsed, sweep.clone());
        } else if self.elapsed.saturating_sub(self.half.0) >= anchor {
            self.first = std::mem::replace(&mut self.half, (self.elapsed, sweep.clone())).1;
        }
        sweep
    }

    /// Derives the events of a moment by comparison with the last moment that has a verdict; also returns the
    /// number of samples read.
    fn moment(&mut self, place: usize, thresholds: &Thresholds) -> Result<(Vec<Happened>, usize), String> {
        let after = self.sweep(place);
        let before =
            std::mem::replace(&mut self.before, after.clone()).filter(|_| self.timeline.follows(place));
        let Some(after) = after else { return Ok((Vec::new(), 0)) };
        let took = after.samples.len();
        let Some(before) = before else { return Ok((Vec::new(), took)) };
        let ticks = self.tape.ticks().clone();
        let fabric = self.tape.fabric();
        let rates = rates_of_sweeps(fabric, &before, &after).with_ticks(fabric, &ticks);
        let verdict = hot_spots(fabric, &rates, thresholds);
        let since = rates_of_sweeps(fabric, self.first.as_ref().unwrap_or(&after), &after).over_an_hour();
        let bad = troubles(fabric, &since, thresholds);
        let turned = turns(fabric, &verdict, &bad, &self.above);
        if turned.is_empty() {
            return Ok((Vec::new(), took));
        }
        self.above = Above::of(fabric, &verdict, &bad);
        let time = self.timeline.times[place];
        let look = self.look()?;
        let words =
            |turn: &Turn| Happened { place, time, told: Told::Derived(derived(look, turn, thresholds)) };
        Ok((turned.iter().map(words).collect(), took))
    }

    /// The snapshot at the position of the reader, with the names of that time.
    fn look(&mut self) -> Result<&Look, String> {
        let state = self.tape.state();
        let held = self.look.take().filter(|(of, _)| *of == state);
        let (_, look) = match held {
            Some(held) => self.look.insert(held),
            None => {
                let look = (self.looking)(self.tape.observation())?;
                self.look.insert((state, look))
            }
        };
        Ok(look)
    }
}

fn derived(look: &Look, turn: &Turn, thresholds: &Thresholds) -> Derived {
    let over = || over_words(look, turn).unwrap_or_default();
    match turn {
        Turn::Hot(HotSpot { at, adapter }) => {
            let text = hot_words(look, *adapter, at, thresholds.congestion);
            Derived { label: HOT, text, began: true }
        }
        Turn::Stuck { .. } => {
            let words = stuck_words(look, turn, thresholds.congestion);
            let (label, text) = words.unwrap_or_default();
            Derived { label, text, began: true }
        }
        Turn::Free(way) => Derived { label: way.label(), text: over(), began: false },
        Turn::Cooled(_) => Derived { label: HOT, text: over(), began: false },
        Turn::Bad(bad @ Trouble { why, .. }) => {
            let label = if matches!(why, Why::Flaps { .. }) { flapped() } else { ERRORS };
            Derived { label, text: link_words(look, bad, thresholds.of(*why)), began: true }
        }
        Turn::Mended { flaps, .. } => {
            Derived { label: if *flaps { flapped() } else { ERRORS }, text: over(), began: false }
        }
    }
}

const ERRORS: &str = "errors";

/// The label that a recorder uses for the same event.
fn flapped() -> &'static str {
    news_label("link-flapped")
}

impl<B: Bytes + Send> Derives for Deriving<B> {
    fn derive(&mut self, thresholds: &Thresholds, pulse: &dyn Pulse) -> Result<Part, String> {
        let (mut happened, mut left) = (Vec::new(), AT_ONCE);
        while self.next < self.timeline.times.len() {
            if pulse.cancelled() {
                return Err(CANCELLED.to_owned());
            }
            let (more, took) = self.moment(self.next, thresholds)?;
            happened.extend(more);
            self.next += 1;
            // A moment without samples takes time as well.
            left = left.saturating_sub(took.max(64));
            if left == 0 {
                break;
            }
        }
        Ok(Part { happened, done: self.next })
    }
}

/// The progress of an event scan.
#[derive(Debug)]
pub struct Derivation {
    scan: Scan,
    pub done: usize,
    /// Number of events found.
    pub found: usize,
    under: Option<TaskId>,
    /// Whether the scan was stopped, by the operator or by an error.
    pub stopped: bool,
}

impl Derivation {
    pub fn new(scan: Scan) -> Self {
        Self { scan, done: 0, found: 0, under: None, stopped: false }
    }

    /// Stops the scan; returns the task of the part in progress.
    pub(super) fn stop(&mut self) -> Option<TaskId> {
        self.stopped = true;
        self.under.take()
    }
}

/// Starts the next part, when the session waits for nothing else.
pub fn derive_on(state: &mut State) -> Vec<Effect> {
    if !flow::rests(state) {
        return Vec::new();
    }
    let thresholds = state.known.watch.settings.thresholds.clone();
    let Some(playback) = &state.known.playback else { return Vec::new() };
    let count = playback.timeline().times.len();
    let waits = |one: &&Derivation| !one.stopped && one.under.is_none() && one.done < count;
    let Some(scan) = playback.derivation.as_ref().filter(waits).map(|one| one.scan.clone()) else {
        return Vec::new();
    };
    let (task, effect) = state.begin_quiet("working out events", Job::Derive { scan, thresholds });
    if let Some(one) = state.known.playback.as_mut().and_then(|playback| playback.derivation.as_mut()) {
        one.under = Some(task);
    }
    vec![effect]
}

/// Receives the events of a part. No other function adds derived events to the state.
pub fn derived_part(state: &mut State, task: TaskId, result: Result<Part, String>) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let Some(one) = &mut playback.derivation else { return Vec::new() };
    if one.under.take_if(|under| *under == task).is_none() {
        return Vec::new();
    }
    match result {
        Ok(part) => {
            one.done = part.done;
            one.found += part.happened.len();
            let full = one.found > MOST;
            one.stopped |= full;
            playback.tell(part.happened);
            state.screens.timeline.refresh(&state.known);
            if full {
                let text = format!("counters come to more than {MOST} events, and no more are worked out");
                state.say(Severity::Warning, text);
            }
        }
        Err(error) => {
            one.stopped = true;
            state.say(
                Severity::Warning,
                format!("what counters came to cannot be worked out further: {error}"),
            );
        }
    }
    Vec::new()
}

/// Stops the scan; the part in progress still counts. Returns false where no scan runs.
pub fn stop_deriving(state: &mut State) -> bool {
    let Some(playback) = &mut state.known.playback else { return false };
    let count = playback.timeline().times.len();
    let Some(one) = playback.derivation.as_mut().filter(|one| !one.stopped && one.done < count) else {
        return false;
    };
    one.stopped = true;
    let done = one.done;
    let text = format!("events of counters are worked out up to moment {done} of {count}; r begins anew");
    state.say(Severity::Said, text);
    true
}
