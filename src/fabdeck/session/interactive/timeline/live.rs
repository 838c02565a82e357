//! Pausing what is live: the watch goes on behind the screen, what it sweeps is recorded, and the screens step through
//! that until somebody goes back to live.

use std::sync::Arc;
use std::time::Duration;

use super::deriving::Derivation;
use super::flow::{ask, go};
use super::playback::Playback;
use super::scene::{Scene, Unrolled};
use crate::session::interactive::effect::{Effect, Job};
use crate::session::interactive::forward;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::screens::Screen;
use crate::session::interactive::state::State;
use crate::session::interactive::tasks::TaskId;
use crate::session::interactive::watch::{self, Swept, Watch};
use crate::session::{Look, counted};
use fabdeck_files::capture::{Entry, Happened, Told};

/// So much of what was otherwise behind a pause is said afterwards, and of the rest how much it was.
const NEWS: usize = 50;

/// Why no other moment can be gone to on the way back.
pub const RETURNING: &str = "on the way back to live: what came since is being read";

/// The watch behind a pause.
#[derive(Debug)]
pub struct Live {
    /// As it was when somebody paused.
    watch: Watch,
    paused_at: Arc<Look>,
    /// As it is by now.
    look: Arc<Look>,
    /// A sweep under way, and when the next is due.
    under: Option<TaskId>,
    due_ms: u64,
    begun_ms: u64,
    /// When the last sweep was that is recorded, and when the last was that can be stepped to.
    swept_ms: u64,
    last_ms: u64,
    last_began: Option<Duration>,
    trouble: Option<String>,
    pub sweeps: u64,
    /// What was otherwise meanwhile, to be said when the pause is over, and how much more there was.
    news: Vec<(Severity, String)>,
    more: usize,
    /// Somebody wants to go back, and what came since is being read.
    returning: bool,
}

impl Live {
    pub(super) fn is_returning(&self) -> bool {
        self.returning
    }

    /// The sweep that is under way is not wanted any more.
    pub(super) fn let_go(&mut self) -> Option<TaskId> {
        self.under.take()
    }
}

/// What was recorded is asked for; the screens stay as they are until it is there.
pub fn pause(state: &mut State) -> Vec<Effect> {
    let Some(look) = state.look().cloned() else { return Vec::new() };
    let now = state.now_ms;
    let watch = std::mem::take(&mut state.known.watch);
    let shown = watch.as_recorded();
    state.known.watch = shown;
    let (under, due_ms) = (watch.sweep_under_way(), watch.due_ms());
    let live = Live {
        paused_at: look.clone(),
        look,
        under,
        due_ms,
        begun_ms: now,
        swept_ms: watch.swept_ms,
        last_ms: watch.swept_ms,
        last_began: watch.last_began(),
        trouble: None,
        sweeps: 0,
        news: Vec::new(),
        more: 0,
        returning: false,
        watch,
    };
    let mut playback = Playback::new(Arc::default(), 0);
    playback.live = Some(Box::new(live));
    state.known.playback = Some(playback);
    super::flow::begin(state)
}

/// What was recorded up to the pause, or up to now for whoever goes back.
pub fn unrolled(state: &mut State, Unrolled { timeline, scan, .. }: Unrolled) -> Vec<Effect> {
    let last = timeline.times.len() - 1;
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let since = playback.live.as_ref().map_or(0, |live| live.watch.since_ms);
    let mut next = Playback::new(timeline, last);
    // A pause that has just begun has those of the one before it.
    let marked = match playback.timeline().times.is_empty() {
        true => std::mem::take(&mut state.known.bookmarks),
        false => playback.marked(),
    };
    next.mark(&marked);
    (next.live, next.base_ms, next.speed) = (playback.live.take(), since, playback.speed);
    next.live.iter_mut().for_each(|live| live.last_ms = live.swept_ms);
    let returning = next.live.as_ref().is_some_and(|live| live.returning);
    let clock = next.timeline().clock(next.time());
    next.derivation = scan.filter(|_| !returning).map(Derivation::new);
    state.known.playback = Some(next);
    if returning {
        return ask(state, last, true);
    }
    let playback = state.known.playback.as_ref();
    let off = playback.and_then(|playback| playback.live.as_ref()).is_some_and(|live| live.watch.paused);
    let watched = match off {
        true => "the watch is off (W), and nothing comes in behind this screen",
        false => "the watch goes on behind this screen",
    };
    let bookmarks = playback.map_or(0, |playback| playback.bookmarks.len());
    let bookmarks = match bookmarks {
        0 => String::new(),
        some => format!("; {} of before", counted(some, "bookmark", "bookmarks")),
    };
    state.say(
        Severity::Said,
        format!("paused at {clock}: [ steps back, L goes back to live; {watched}{bookmarks}"),
    );
    forward::refresh(state);
    go(state, last)
}

pub fn is_returning(state: &State) -> bool {
    state.known.playback.as_ref().is_some_and(Playback::is_returning)
}

/// What came since cannot be read: the pause goes on, and no later step is taken for the way back.
pub fn stayed(state: &mut State, error: &str) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    if let Some(live) = &mut playback.live {
        live.returning = false;
    }
    let place = playback.place();
    let text = format!("what came since cannot be read, and the pause goes on; L tries again: {error}");
    state.say(Severity::Error, text);
    go(state, place)
}

/// Back to live: what was swept meanwhile is read first, for histories to have no gap.
pub fn back(state: &mut State) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let under = playback.under.take();
    (playback.wanted, playback.due_ms) = (None, None);
    let Some(live) = &mut playback.live else { return Vec::new() };
    live.returning = true;
    let mut effects = Vec::new();
    if let Some(under) = under {
        state.tasks.end(under.task);
        effects.push(Effect::Cancel(under.task));
    }
    effects.extend(super::flow::begin(state));
    effects
}

/// There is nothing to step back through: the watch goes on as it was.
pub fn go_on(state: &mut State) -> Vec<Effect> {
    tell(state);
    let Some(playback) = state.known.playback.take_if(|playback| playback.live.is_some()) else {
        return Vec::new();
    };
    keep_bookmarks(state, &playback);
    if let Some(live) = playback.live {
        let Live { mut watch, look, under, due_ms, begun_ms, swept_ms, .. } = *live;
        watch.swept_ms = swept_ms;
        state.known.watch = watch.resumed(under, begun_ms, due_ms);
        return forward::replaced(state, look);
    }
    Vec::new()
}

/// The latest that was swept is there: the watch goes on from it.
pub fn returned(state: &mut State, scene: Scene) -> Vec<Effect> {
    tell(state);
    let Some(playback) = state.known.playback.take() else { return Vec::new() };
    keep_bookmarks(state, &playback);
    let Playback { live: Some(live), base_ms: base, .. } = playback else { return Vec::new() };
    let mut effects = watch::let_go(state);
    let Live { watch: mut before, look, paused_at, under, due_ms, begun_ms, swept_ms, trouble, .. } = *live;
    before.swept_ms = swept_ms;
    let at_ms = base + scene.at_ms;
    let size = |look: &Look| (look.fabric().nodes().len(), look.fabric().ports().len());
    let numbered_alike = size(&paused_at) == size(&look);
    state.known.watch = before.after(&scene, (under, begun_ms, due_ms), trouble, base);
    if !numbered_alike {
        state.known.watch.reading = None;
        state.screens.hotspots.begin_anew(&state.known);
    }
    effects.extend(forward::replaced(state, look));
    if let Ok(before) = scene.before {
        effects.extend(watch::judge(state, scene.first, before, scene.after, at_ms));
    }
    state.say(Severity::Said, "back to live");
    effects
}

/// Those of a pause that found nothing to step through are still those of the one before it.
pub fn keep_bookmarks(state: &mut State, playback: &Playback) {
    if !playback.timeline().times.is_empty() {
        state.known.bookmarks = playback.marked();
    }
}

/// What was otherwise behind the pause: nobody was told as long as an older moment was shown.
pub(super) fn tell(state: &mut State) {
    let Some(live) = going_on(state) else { return };
    let (news, more) = (std::mem::take(&mut live.news), std::mem::take(&mut live.more));
    for (severity, text) in news {
        state.say(severity, format!("behind the pause: {text}"));
    }
    if more > 0 {
        let more = counted(more, "more message", "more messages");
        state.say(Severity::Warning, format!("behind the pause: and {more}, not kept"));
    }
}

/// A sweep behind a pause: it is recorded by whoever keeps the source, and nothing of it is shown.
pub fn swept_behind(state: &mut State, task: TaskId, result: Result<Swept, String>) -> Vec<Effect> {
    let now = state.now_ms;
    let Some(live) = going_on(state) else { return Vec::new() };
    if live.under.take_if(|under| *under == task).is_none() {
        return Vec::new();
    }
    let took = now.saturating_sub(live.begun_ms);
    live.due_ms = now + live.watch.settings.interval_ms.saturating_sub(took).max(took);
    match result {
        Ok(swept) => {
            let silent = swept.sweep.samples.is_empty() && swept.sweep.ports > 0;
            if !silent {
                (live.last_began, live.swept_ms) = (Some(swept.sweep.began), live.begun_ms);
                live.sweeps += 1;
                live.trouble = None;
            }
            if let Some(look) = swept.look {
                live.look = look;
            }
            for said in watch::news(&live.look, &swept.sweep.news) {
                if live.news.len() < NEWS {
                    live.news.push(said);
                } else {
                    live.more += 1;
                }
            }
            if silent {
                failed_behind(state, watch::SILENT.to_owned());
            }
        }
        Err(error) => failed_behind(state, error),
    }
    Vec::new()
}

/// A sweep behind a pause brought nothing: the first time it is said.
fn failed_behind(state: &mut State, error: String) {
    let Some(live) = going_on(state) else { return };
    if live.trouble.replace(error.clone()).is_none() {
        let text = format!("counters could not be read behind the pause, which is tried again: {error}");
        state.say(Severity::Warning, text);
    }
}

/// What an operator put into the recording behind a pause is seen with the last moment of it, at the time of now, which
/// is given back.
pub fn entered(state: &mut State, entry: &Entry) -> Option<String> {
    let now = state.now_ms;
    let playback = state.known.playback.as_mut()?;
    let last_ms = playback.live.as_ref()?.last_ms;
    let time = playback.timeline().times.last().copied()?;
    let place = playback.timeline().times.len() - 1;
    let told = match entry {
        Entry::Note(text) => Told::Note(text.clone()),
        Entry::Action(acted) => Told::Action(acted.clone()),
    };
    let time = time.saturating_add(i64::try_from(now.saturating_sub(last_ms)).unwrap_or(i64::MAX));
    let clock = playback.timeline().clock(time);
    playback.tell([Happened { place, time, told }]);
    state.screens.timeline.refresh(&state.known);
    Some(clock)
}

/// The watch as it was when somebody paused, and the look that it was of.
pub fn behind(playback: Option<&Playback>) -> Option<(&Arc<Look>, &Watch)> {
    let live = playback?.live.as_deref()?;
    Some((&live.paused_at, &live.watch))
}

/// The watch behind a pause, where there is one.
pub fn going_on(state: &mut State) -> Option<&mut Live> {
    state.known.playback.as_mut()?.live.as_deref_mut()
}

pub fn wakes_ms(state: &State) -> Option<u64> {
    let live = state.known.playback.as_ref()?.live.as_ref()?;
    // What is swept on the way back would be missing there: what is being read was asked for before.
    (live.under.is_none() && !live.watch.paused && !live.returning).then_some(live.due_ms)
}

pub fn tick(state: &mut State) -> Vec<Effect> {
    let now = state.now_ms;
    if wakes_ms(state).is_none_or(|due| now < due) {
        return Vec::new();
    }
    let Some(live) = going_on(state) else { return Vec::new() };
    let interval = Duration::from_millis(live.watch.settings.interval_ms);
    let not_before = live.last_began.map_or(Duration::ZERO, |began| began + interval);
    let (task, effect) = state.begin_quiet("reading counters", Job::Sweep { not_before });
    if let Some(live) = going_on(state) {
        (live.under, live.begun_ms) = (Some(task), now);
    }
    vec![effect]
}
