//! The pause of a live watch. The watch continues in the background and records its sweeps, while the screens
//! show recorded moments.

use std::sync::Arc;
use std::time::Duration;

use super::derivation::Derivation;
use super::frame_requests::{request_frame, seek_moment};
use super::pause_state::PausedWatch;
use super::playback::Playback;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::screen::Screen;
use crate::console::features::watch::sweep_cycle;
use crate::console::features::watch::watch_state::{JudgedSweeps, WatchState};
use crate::console::features::{refresh, snapshot_change};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::replay_frame::{OpenedRecording, ReplayFrame};
use crate::operations::watch::sweep::SweepResult;
use crate::operations::watch::sweep_messages as change_messages;
use fabdeck_files::capture::{OperatorEntry, TimelineEntry, TimelineEvent};

/// Maximum number of missed messages that are reported after a pause; of the others, only the number is
/// reported.
const MAX_MISSED_MESSAGES: usize = 50;

/// The reason why no other moment can be shown while the session returns to live.
pub const RETURNING_MESSAGE: &str = "returning to live: the moments since the pause are being read";

/// Pauses the watch and opens its recording. The screens do not change until it is there.
pub fn pause(state: &mut SessionState) -> Vec<Effect> {
    let Some(look) = state.snapshot().cloned() else { return Vec::new() };
    let now = state.now_ms;
    let watch = std::mem::take(&mut state.known.watch);
    let shown = watch.as_recorded();
    state.known.watch = shown;
    let (under, due_ms) = (watch.running_task(), watch.due_ms());
    let live = PausedWatch {
        paused_at: look.clone(),
        look,
        task: under,
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
    super::frame_requests::open_recording(state)
}

/// Receives the recording up to the pause, or up to the present when the session returns to live.
pub fn receive_recording(
    state: &mut SessionState,
    OpenedRecording { timeline, scan, .. }: OpenedRecording,
) -> Vec<Effect> {
    let last = timeline.times.len() - 1;
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let since = playback.live.as_ref().map_or(0, |live| live.watch.since_ms);
    let mut next = Playback::new(timeline, last);
    // A new pause takes over the bookmarks of the previous one.
    let marked = match playback.timeline().times.is_empty() {
        true => std::mem::take(&mut state.known.bookmarks),
        false => playback.bookmark_times(),
    };
    next.set_bookmarks(&marked);
    state.known.annotations.session.iter().for_each(|own| next.add_annotation(own.clone()));
    (next.live, next.base_ms, next.speed) = (playback.live.take(), since, playback.speed);
    next.live.iter_mut().for_each(|live| live.last_ms = live.swept_ms);
    let returning = next.live.as_ref().is_some_and(|live| live.returning);
    let clock = next.timeline().clock_text(next.time());
    next.derivation = scan.filter(|_| !returning).map(Derivation::new);
    state.known.playback = Some(next);
    if returning {
        return request_frame(state, last, true);
    }
    let playback = state.known.playback.as_ref();
    let off = playback.and_then(|playback| playback.live.as_ref()).is_some_and(|live| live.watch.paused);
    let watched = match off {
        true => "the watch is off (W), and nothing is recorded now",
        false => "the watch continues in the background",
    };
    let bookmarks = playback.map_or(0, |playback| playback.bookmarks.len());
    let bookmarks = match bookmarks {
        0 => String::new(),
        some => format!("; {} from before", count_words(some, "bookmark", "bookmarks")),
    };
    state.log_message(
        Severity::Info,
        format!("paused at {clock}: [ steps back, L returns to live; {watched}{bookmarks}"),
    );
    // The pause begins at the cursor of the charts.
    let cursor = state.known.chart_cursor.take();
    let place = match (&mut state.known.playback, cursor) {
        (Some(playback), Some(at_ms)) => {
            let place = playback.place_at(at_ms);
            playback.cursor.seek_place(place);
            place
        }
        _ => last,
    };
    refresh::refresh_screens(state);
    seek_moment(state, place)
}

pub fn is_returning(state: &SessionState) -> bool {
    state.known.playback.as_ref().is_some_and(Playback::is_returning)
}

/// Reports that the moments since the pause cannot be read. The pause continues, and the session no longer
/// returns to live.
pub fn stay_paused(state: &mut SessionState, error: &str) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    if let Some(live) = &mut playback.live {
        live.returning = false;
    }
    let place = playback.place();
    let text = format!(
        "the moments since the pause cannot be read, and the pause continues; L tries again: {error}"
    );
    state.log_message(Severity::Error, text);
    seek_moment(state, place)
}

/// Returns to live. The moments since the pause are read first, so that histories have no gap.
pub fn return_to_live(state: &mut SessionState) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let under = playback.pending.take();
    (playback.wanted, playback.due_ms) = (None, None);
    let Some(live) = &mut playback.live else { return Vec::new() };
    live.returning = true;
    let mut effects = Vec::new();
    if let Some(under) = under {
        state.tasks.end(under.task);
        effects.push(Effect::Cancel(under.task));
    }
    effects.extend(super::frame_requests::open_recording(state));
    effects
}

/// Resumes the watch as it was, where there is nothing to show.
pub fn resume_watch(state: &mut SessionState) -> Vec<Effect> {
    report_missed(state);
    let Some(playback) = state.known.playback.take_if(|playback| playback.live.is_some()) else {
        return Vec::new();
    };
    restore_bookmarks(state, &playback);
    if let Some(live) = playback.live {
        let PausedWatch { mut watch, look, task: under, due_ms, begun_ms, swept_ms, .. } = *live;
        watch.swept_ms = swept_ms;
        state.known.watch = watch.resume(under, begun_ms, due_ms);
        return snapshot_change::replace_snapshot(state, look);
    }
    Vec::new()
}

/// Resumes the watch from the latest recorded moment.
pub fn receive_latest_frame(state: &mut SessionState, frame: ReplayFrame) -> Vec<Effect> {
    report_missed(state);
    let Some(playback) = state.known.playback.take() else { return Vec::new() };
    restore_bookmarks(state, &playback);
    let Playback { live: Some(live), base_ms: base, .. } = playback else { return Vec::new() };
    let mut effects = sweep_cycle::cancel_work(state);
    let PausedWatch {
        watch: mut before,
        look,
        paused_at,
        task: under,
        due_ms,
        begun_ms,
        swept_ms,
        trouble,
        ..
    } = *live;
    before.swept_ms = swept_ms;
    let at_ms = base + frame.at_ms;
    let size = |look: &Snapshot| (look.fabric().nodes().len(), look.fabric().ports().len());
    let numbered_alike = size(&paused_at) == size(&look);
    state.known.watch = before.after_pause(&frame, under, begun_ms, due_ms, trouble, base);
    if !numbered_alike {
        state.known.watch.reading = None;
        state.screens.hotspots.reset(&state.known);
    }
    effects.extend(snapshot_change::replace_snapshot(state, look));
    if let Ok(before) = frame.before {
        let sweeps = [frame.first, before, frame.after];
        let sweeps = JudgedSweeps::recorded(sweeps, frame.flows, &state.known.watch.history, at_ms);
        effects.extend(sweep_cycle::request_verdict(state, sweeps));
    }
    state.log_message(Severity::Info, "back to live");
    effects
}

/// Stores the bookmarks for the next pause. A pause without moments leaves those of the previous one.
pub fn restore_bookmarks(state: &mut SessionState, playback: &Playback) {
    if !playback.timeline().times.is_empty() {
        state.known.bookmarks = playback.bookmark_times();
    }
}

/// Reports the messages that were held back while older moments were shown.
pub(super) fn report_missed(state: &mut SessionState) {
    let Some(live) = paused_watch_mut(state) else { return };
    let (news, more) = (std::mem::take(&mut live.news), std::mem::take(&mut live.more));
    for (severity, text) in news {
        state.log_message(severity, format!("during the pause: {text}"));
    }
    if more > 0 {
        let more = count_words(more, "more message", "more messages");
        state.log_message(Severity::Warning, format!("during the pause: and {more}, not stored"));
    }
}

/// Receives a sweep of the paused watch. The process records it; the screens do not show it.
pub fn receive_paused_sweep(
    state: &mut SessionState,
    task: TaskId,
    result: Result<SweepResult, String>,
) -> Vec<Effect> {
    let now = state.now_ms;
    let Some(live) = paused_watch_mut(state) else { return Vec::new() };
    if live.task.take_if(|under| *under == task).is_none() {
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
            for message in change_messages::fabric_event_messages(&live.look, &swept.sweep.news) {
                if live.news.len() < MAX_MISSED_MESSAGES {
                    live.news.push(message);
                } else {
                    live.more += 1;
                }
            }
            if silent {
                report_paused_failure(state, sweep_cycle::NO_ANSWER_MESSAGE.to_owned());
            }
        }
        Err(error) => report_paused_failure(state, error),
    }
    Vec::new()
}

/// Reports the first of several failed sweeps.
fn report_paused_failure(state: &mut SessionState, error: String) {
    let Some(live) = paused_watch_mut(state) else { return };
    if live.trouble.replace(error.clone()).is_none() {
        let text = format!("counters could not be read during the pause, and are read again: {error}");
        state.log_message(Severity::Warning, text);
    }
}

/// Adds a note or action to the timeline during a pause, at its last moment but with the present time;
/// returns that time.
pub fn append_entry(state: &mut SessionState, entry: &OperatorEntry) -> Option<String> {
    let now = state.now_ms;
    let playback = state.known.playback.as_mut()?;
    let last_ms = playback.live.as_ref()?.last_ms;
    let time = playback.timeline().times.last().copied()?;
    let place = playback.timeline().times.len() - 1;
    let event = match entry {
        OperatorEntry::Note(text) => TimelineEvent::Note(text.clone()),
        OperatorEntry::Action(acted) => TimelineEvent::Action(acted.clone()),
        OperatorEntry::Acknowledgement(record) => TimelineEvent::Acknowledgement(record.clone()),
    };
    let time = time.saturating_add(i64::try_from(now.saturating_sub(last_ms)).unwrap_or(i64::MAX));
    let clock = playback.timeline().clock_text(time);
    playback.add_entries([TimelineEntry { place, time, event }]);
    state.screens.timeline.refresh(&state.known);
    Some(clock)
}

/// The watch and its snapshot at the time of the pause.
pub fn watch_at_pause(playback: Option<&Playback>) -> Option<(&Arc<Snapshot>, &WatchState)> {
    let live = playback?.live.as_deref()?;
    Some((&live.paused_at, &live.watch))
}

/// The paused watch, where there is one.
pub fn paused_watch_mut(state: &mut SessionState) -> Option<&mut PausedWatch> {
    state.known.playback.as_mut()?.live.as_deref_mut()
}

pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    let live = state.known.playback.as_ref()?.live.as_ref()?;
    // There is no sweep while the session returns to live: the recording was requested before, so the sweep
    // would be missing.
    (live.task.is_none() && !live.watch.paused && !live.returning).then_some(live.due_ms)
}

pub fn tick(state: &mut SessionState) -> Vec<Effect> {
    let now = state.now_ms;
    if next_wake_ms(state).is_none_or(|due| now < due) {
        return Vec::new();
    }
    let Some(live) = paused_watch_mut(state) else { return Vec::new() };
    let interval = Duration::from_millis(live.watch.settings.interval_ms);
    let not_before = live.last_began.map_or(Duration::ZERO, |began| began + interval);
    let (task, effect) = state.begin_quiet("reading counters", sweep_cycle::SweepTask { not_before });
    if let Some(live) = paused_watch_mut(state) {
        (live.task, live.begun_ms) = (Some(task), now);
    }
    vec![effect]
}
