//! Requests for moments of a recording, and their display. Only one request is in progress at a time. While a
//! key is held, only the latest requested moment follows.

use std::sync::Arc;

use super::deriving::Derivation;
use super::live;
use super::moving;
use super::playback::{Playback, Under};
use super::scene::{Scene, Seek, Unrolled};
use crate::session::interactive::effect::{Effect, Job};
use crate::session::interactive::forward;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::state::State;
use crate::session::interactive::tasks::TaskId;
use crate::session::interactive::watch;
use crate::session::{Look, counted};

/// Opens the recording of the source, where there is one.
pub fn begin(state: &mut State) -> Vec<Effect> {
    vec![state.begin_quiet("reading what was recorded", Job::Unroll).1]
}

/// Receives the opened recording.
pub fn unrolled(state: &mut State, result: Result<Option<Unrolled>, String>) -> Vec<Effect> {
    let returning = state.known.playback.as_ref().is_some_and(|playback| playback.live.is_some());
    match result {
        Err(error) => {
            let effects = live::go_on(state);
            state.say(Severity::Error, format!("what was recorded cannot be read: {error}"));
            effects
        }
        Ok(None) => live::go_on(state),
        Ok(Some(Unrolled { timeline, .. })) if timeline.times.is_empty() => live::go_on(state),
        Ok(Some(unrolled)) if returning => live::unrolled(state, unrolled),
        // A recording for a pause that a new snapshot has ended.
        Ok(Some(_)) if state.known.watch.live == Some(true) => Vec::new(),
        Ok(Some(Unrolled { timeline, place, scan })) => {
            let count = timeline.times.len();
            // The recording was opened again and may be longer; the position stays.
            let before = state.known.playback.take();
            let place = before.as_ref().map_or(place, Playback::place).min(count - 1);
            let mut playback = Playback::new(timeline, place);
            playback.derivation = scan.map(Derivation::new);
            if let Some(before) = before {
                (playback.bookmarks, playback.speed) = (before.bookmarks, before.speed);
                playback.bookmarks.retain(|place| *place < count);
            }
            let (moment, clock) = (place + 1, playback.timeline().clock(playback.time()));
            let moments = counted(count, "moment", "moments");
            let (severity, lost) = match playback.timeline().damaged.len() {
                0 => (Severity::Said, String::new()),
                some => (Severity::Warning, format!(", {some} of which cannot be read")),
            };
            state.known.playback = Some(playback);
            state.known.watch.recorded = true;
            state.say(
                severity,
                format!(
                    "a replay of {moments}{lost}; this is {moment}, {clock}: [ and ] step, 9 is the Timeline"
                ),
            );
            forward::refresh(state);
            go(state, place)
        }
    }
}

/// Requests a moment, unless it is shown or another one is being read.
pub fn go(state: &mut State, place: usize) -> Vec<Effect> {
    if live::is_returning(state) {
        return Vec::new();
    }
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    match playback.under {
        Some(under) if under.seek.place == place => {
            playback.wanted = None;
            return Vec::new();
        }
        // Reading the whole history stops when the position moves on.
        Some(under) if under.seek.deep => {
            playback.under = None;
            state.tasks.end(under.task);
            let mut effects = vec![Effect::Cancel(under.task)];
            effects.extend(ask(state, place, false));
            return effects;
        }
        Some(_) => {
            playback.wanted = Some(place);
            return Vec::new();
        }
        None => {}
    }
    if playback.shown == Some(place) { Vec::new() } else { ask(state, place, false) }
}

pub(super) fn ask(state: &mut State, place: usize, deep: bool) -> Vec<Effect> {
    let congestion = state.known.watch.settings.thresholds.congestion.max(0.0) as u64;
    let seek = Seek { place, deep, congestion };
    let (task, effect) = state.begin_quiet("reading a moment", Job::Seek(seek));
    if let Some(playback) = &mut state.known.playback {
        playback.under = Some(Under { task, seek });
    }
    vec![effect]
}

/// Receives a moment. No other function puts a moment into the state.
pub fn sought(state: &mut State, task: TaskId, result: Result<Box<Scene>, String>) -> Vec<Effect> {
    let returning = live::is_returning(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let Some(Under { seek, .. }) = playback.under.take_if(|under| under.task == task) else {
        return Vec::new();
    };
    let wanted = playback.wanted.take();
    let scene = match result {
        Ok(scene) => scene,
        Err(error) if returning => return live::stayed(state, &error),
        Err(error) => {
            playback.due_ms = None;
            playback.shown = Some(seek.place);
            state.say(Severity::Error, format!("this moment cannot be shown: {error}"));
            return wanted.map_or_else(Vec::new, |place| go(state, place));
        }
    };
    if returning {
        // The watch resumes from the last moment only.
        let last = playback.timeline().times.len().saturating_sub(1);
        return if seek.place == last { live::returned(state, *scene) } else { ask(state, last, true) };
    }
    let whole = scene.whole;
    let mut effects = show(state, *scene);
    match (wanted, whole) {
        (Some(place), _) => effects.extend(go(state, place)),
        (None, false) if !plays(state) => effects.extend(ask(state, seek.place, true)),
        (None, _) => {}
    }
    effects
}

pub(super) fn plays(state: &State) -> bool {
    state.known.playback.as_ref().is_some_and(Playback::plays)
}

/// Shows a moment on the screens, in the state in which a watch would have been.
fn show(state: &mut State, scene: Scene) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    playback.shown = Some(scene.place);
    let base = playback.base_ms;
    if let Some(damage) = scene.damage {
        moving::met(state, scene.place, scene.shown, damage);
    }
    let mut effects = watch::let_go(state);
    let size = |look: &Look| (look.fabric().nodes().len(), look.fabric().ports().len());
    let numbered_alike = state.look().is_some_and(|before| size(before) == size(&scene.look));
    if state.look().is_none_or(|before| !Arc::ptr_eq(before, &scene.look)) {
        effects.extend(forward::replaced(state, scene.look));
    }
    let known = &mut state.known.watch;
    known.history = scene.history;
    (known.sweeps, known.since_ms) = (scene.sweeps, base + scene.since_ms);
    (known.first, known.half) = (Some(scene.first.clone()), Some(scene.half));
    known.alone = scene.before.as_ref().err().copied();
    if scene.before.is_err() || !numbered_alike {
        (known.reading, known.weighed) = (None, None);
        state.screens.hotspots.begin_anew(&state.known);
    }
    match scene.before {
        Ok(before) => {
            effects.extend(watch::judge(state, scene.first, before, scene.after, base + scene.at_ms));
        }
        Err(_) => state.screens.links.begin_anew(&state.known),
    }
    forward::refresh(state);
    effects
}

/// Cancels the requests for the old snapshot: a moment, a sweep of the paused watch, a part of the event
/// scan.
pub fn let_go(state: &mut State) -> Vec<Effect> {
    live::tell(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    (playback.wanted, playback.due_ms, playback.shown) = (None, None, None);
    let moment = playback.under.take().map(|under| under.task);
    let derived = playback.derivation.as_mut().and_then(Derivation::stop);
    let sweep = live::going_on(state).and_then(live::Live::let_go);
    let tasks = moment.into_iter().chain(sweep).chain(derived);
    let ended: Vec<TaskId> = tasks.filter(|task| state.tasks.end(*task).is_some()).collect();
    ended.into_iter().map(Effect::Cancel).collect()
}

/// Time at which the timeline needs a tick, even without any other event.
pub fn wakes_ms(state: &State) -> Option<u64> {
    let own = state.known.playback.as_ref().filter(|_| rests(state)).and_then(|playback| playback.due_ms);
    own.into_iter().chain(live::wakes_ms(state)).min()
}

/// Whether only time separates the session from the next moment. Playback waits for running engines, instead
/// of starting them again at each moment.
pub(super) fn rests(state: &State) -> bool {
    let idle = state.known.playback.as_ref().is_some_and(|playback| playback.under.is_none());
    idle && !watch::is_judging(state) && !forward::engines_at_work(state)
}

/// Handles the passing of time.
pub fn tick(state: &mut State) -> Vec<Effect> {
    let mut effects = live::tick(state);
    if rests(state) {
        effects.extend(moving::play_on(state));
    }
    effects
}
