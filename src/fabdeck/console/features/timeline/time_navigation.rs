//! The keys for time. Each step moves the cursor at once, and a background task reads the moment. The
//! beginning, the end, a gap and damage are different answers, each with its own message.

use super::frame_requests::{is_playing, seek_moment};
use super::paused_watch;
use super::playback::{Playback, PlaybackPosition};
use crate::catalogue::severity::Severity;
use crate::console::features::screen::Screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::operations::replay::event_words::event_words;
use fabdeck_files::capture::{CursorStep, TimeSpec, TimelineEntry};

type SeekAnswer = CursorStep<usize, String>;

/// Moves by this number of moments. It passes gaps and damage on the way, and reports one at the destination.
pub fn step_moments(state: &mut SessionState, by: isize) -> Vec<Effect> {
    stop_playing(state);
    let step = |playback: &mut Playback| {
        let mut last = None;
        for _ in 0..by.unsigned_abs() {
            let answer = if by > 0 { playback.cursor.step_forward() } else { playback.cursor.step_back() };
            match (&answer, &last) {
                // Where several steps reach the end, the answer of the last possible step counts.
                (CursorStep::Beginning | CursorStep::End, Some(_)) => break,
                _ => last = Some(answer),
            }
        }
        last.unwrap_or(CursorStep::End)
    };
    let effects = move_cursor(state, step);
    if by.unsigned_abs() == 1 {
        report_moment(state);
    }
    effects
}

/// Moves to the next or the previous moment with an event.
pub fn step_event(state: &mut SessionState, next: bool) -> Vec<Effect> {
    stop_playing(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let answer = if next { playback.cursor.seek_next_event() } else { playback.cursor.seek_previous_event() };
    if matches!(answer, CursorStep::Beginning | CursorStep::End) {
        let (side, other, back) = match next {
            true => ("after", "previous-event", "before"),
            false => ("before", "next-event", "after"),
        };
        let clock = playback.timeline().clock_text(playback.time());
        let key = state.keymap.find_action(other).and_then(|action| action.first_key(&state.keymap));
        let key = key.map(|key| format!(": {key} goes to the one {back}")).unwrap_or_default();
        state.log_message(Severity::Info, format!("no event {side} {clock}{key}"));
        return Vec::new();
    }
    let effects = move_cursor(state, |_| answer);
    report_moment(state);
    effects
}

/// Moves to a time that the operator typed.
pub fn seek_time(state: &mut SessionState, text: &str) -> Vec<Effect> {
    let at = match TimeSpec::parse(text) {
        Ok(at) => at,
        // The text of the command-line error is longer than a line of the screen.
        Err(error) => {
            let code = error.to_string().split(':').next().unwrap_or_default().to_owned();
            state.log_message(
                Severity::Error,
                format!("{code}: write 02:13:40, or -5m before the end: '{text}' is no time"),
            );
            return Vec::new();
        }
    };
    stop_playing(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let timeline = playback.timeline().clone();
    let Some((from, to)) = timeline.span() else { return Vec::new() };
    let time = at.resolve_within(from, to, timeline.utc_offset_s);
    let side = match () {
        () if time < from => Some("before the first moment, which is"),
        () if time.saturating_sub(at.slack()) > to => Some("after the last moment, which is"),
        () => None,
    };
    let answer = playback.cursor.seek_time(time);
    let answer = clamp_to_gap(playback, answer, time.saturating_sub(at.slack()));
    let Some(side) = side else {
        // A time slightly after the last moment stands for the last moment.
        let answer = if answer == CursorStep::End { playback.cursor.current() } else { answer };
        return move_cursor(state, |_| answer);
    };
    playback.position = PlaybackPosition::Moment;
    let (place, shown) = (playback.place(), timeline.clock_text(playback.time()));
    state.screens.timeline.refresh(&state.known);
    let effects = seek_moment(state, place);
    let asked = timeline.clock_text(time.saturating_sub(at.slack()));
    state.log_message(Severity::Warning, format!("{asked} is {side} shown: {shown}"));
    effects
}

/// Within a gap, the cursor moves to the gap, even if the moment before is near.
fn clamp_to_gap(playback: &mut Playback, answer: SeekAnswer, time: i64) -> SeekAnswer {
    let timeline = playback.timeline();
    let place = playback.place();
    let within = timeline.has_gap_before(place + 1) && timeline.times[place] < time;
    if within && matches!(answer, CursorStep::Moment(_)) { playback.cursor.step_forward() } else { answer }
}

/// Moves to a moment by its index.
pub fn seek_place(state: &mut SessionState, place: usize) -> Vec<Effect> {
    if paused_watch::is_returning(state) {
        state.log_message(Severity::Warning, paused_watch::RETURNING_MESSAGE);
        return Vec::new();
    }
    stop_playing(state);
    let effects = move_cursor(state, |playback| playback.cursor.seek_place(place));
    report_moment(state);
    effects
}

/// Stops playback, because a step ends it.
fn stop_playing(state: &mut SessionState) {
    if let Some(playback) = &mut state.known.playback {
        playback.due_ms = None;
    }
}

fn move_cursor(state: &mut SessionState, step: impl FnOnce(&mut Playback) -> SeekAnswer) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let answer = step(playback);
    let words = apply_answer(playback, &answer);
    let place = playback.place();
    if let Some((severity, words)) = words {
        state.log_message(severity, words);
    }
    state.screens.timeline.refresh(&state.known);
    seek_moment(state, place)
}

/// Sets what the cursor points at for an answer, and returns its message.
fn apply_answer(playback: &mut Playback, answer: &SeekAnswer) -> Option<(Severity, String)> {
    let timeline = playback.timeline().clone();
    let clock = |time: i64| timeline.clock_text(time);
    match answer {
        CursorStep::Moment(_) => {
            playback.position = PlaybackPosition::Moment;
            None
        }
        CursorStep::Gap { from, to } => {
            playback.position = PlaybackPosition::Gap { from: *from, to: *to };
            let seconds = to.saturating_sub(*from) / 1000;
            Some((
                Severity::Warning,
                format!(
                    "nothing was recorded from {} to {}, for {seconds} s; this is the sample before it",
                    clock(*from),
                    clock(*to)
                ),
            ))
        }
        CursorStep::Damage(damage) => {
            playback.position = PlaybackPosition::Damage(damage.clone());
            let time = clock(playback.time());
            Some((
                Severity::Warning,
                format!("{time} cannot be read; this is the last sample before it that can: {damage}"),
            ))
        }
        CursorStep::Beginning => Some((
            Severity::Info,
            format!("{} is the first moment: nothing was recorded before", clock(playback.time())),
        )),
        CursorStep::End => {
            let why = match (&playback.live, timeline.ended) {
                (Some(_), _) => "L returns to live",
                (None, true) => "the recording ends there",
                (None, false) => {
                    "the recording has no end: it was cut short, or is still being written; r reads on"
                }
            };
            Some((Severity::Info, format!("{} is the last moment: {why}", clock(playback.time()))))
        }
    }
}

/// Adds damage that was found when a moment was read.
pub fn report_damage(state: &mut SessionState, place: usize, shown: usize, damage: String) {
    let Some(playback) = &mut state.known.playback else { return };
    let known = playback.cursor.store().damage(place).is_some();
    if known {
        return;
    }
    let met = &mut playback.cursor.store_mut().met;
    for at in shown + 1..=place {
        met.insert(at, damage.clone());
    }
    playback.changed += 1;
    if playback.place() == place && playback.position == PlaybackPosition::Moment {
        let words = apply_answer(playback, &CursorStep::Damage(damage));
        if let Some((severity, words)) = words {
            state.log_message(severity, words);
        }
    }
}

/// Reports the events at the cursor.
fn report_moment(state: &mut SessionState) {
    let (Some(playback), Some(look)) = (&state.known.playback, &state.known.look) else { return };
    if playback.position != PlaybackPosition::Moment {
        return;
    }
    let timeline = playback.timeline();
    let here: Vec<_> = playback.entries().filter(|happened| happened.place == playback.place()).collect();
    let words = |entry: &TimelineEntry| (event_words(look, &entry.event), entry.time);
    // The list has the cursor on one of several events, and the message is about that one.
    let picked = state.screens.timeline.event().filter(|row| row.place == Some(playback.place()));
    let is_picked = |((label, text, _), time): &((&'static str, String, bool), i64)| {
        picked.is_some_and(|row| (row.label, &row.text, row.at) == (*label, text, *time))
    };
    let Some(first) = here
        .iter()
        .map(|entry| words(entry))
        .find(is_picked)
        .or_else(|| here.first().map(|entry| words(entry)))
    else {
        return;
    };
    let ((label, text, trouble), time) = first;
    let more = match here.len() - 1 {
        0 => String::new(),
        more => format!("; and {more} more ({} lists them)", ScreenId::Timeline.title().number),
    };
    let severity = if trouble { Severity::Warning } else { Severity::Info };
    state.log_message(severity, format!("{}: {label}: {text}{more}", timeline.clock_text(time)));
}

/// Starts or stops playback; on a live watch, pauses it.
pub fn toggle_play(state: &mut SessionState) -> Vec<Effect> {
    let now = state.now_ms;
    let Some(playback) = &mut state.known.playback else { return paused_watch::pause(state) };
    if playback.due_ms.take().is_some() {
        let clock = playback.timeline().clock_text(playback.time());
        state.log_message(Severity::Info, format!("paused at {clock}"));
        return Vec::new();
    }
    if playback.place() + 1 >= playback.timeline().times.len() {
        let words = apply_answer(playback, &CursorStep::End);
        if let Some((severity, words)) = words {
            state.log_message(severity, words);
        }
        return Vec::new();
    }
    playback.due_ms = Some(now);
    let speed = playback.speed.word();
    state.log_message(Severity::Info, format!("plays {speed}: Space pauses, < and > change the speed"));
    Vec::new()
}

pub fn change_speed(state: &mut SessionState, faster: bool) -> Vec<Effect> {
    let now = state.now_ms;
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let words = match playback.speed.next(faster) {
        Some(speed) => {
            playback.speed = speed;
            if let Some(due) = &mut playback.due_ms {
                *due = now;
            }
            format!("speed {}", speed.word())
        }
        None if faster => "no higher speed: every moment is shown as soon as it is read".to_owned(),
        None => "no lower speed: 1x is the speed of the recording".to_owned(),
    };
    state.log_message(Severity::Info, words);
    Vec::new()
}

/// Advances playback by as many moments as the time allows, and shows the last of them.
pub fn advance_playback(state: &mut SessionState) -> Vec<Effect> {
    const LATE_MS: u64 = 1000;
    let now = state.now_ms;
    if !is_playing(state) {
        return Vec::new();
    }
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let mut due = playback.due_ms.unwrap_or(now).max(now.saturating_sub(LATE_MS));
    if due > now {
        return Vec::new();
    }
    let mut message = None;
    while due <= now {
        let answer = playback.cursor.step_forward();
        let words = apply_answer(playback, &answer);
        if answer == CursorStep::End {
            playback.due_ms = None;
            message = words;
            break;
        }
        message = words.or(message);
        due = due.saturating_add(moment_ms(playback));
        playback.due_ms = Some(due);
        if playback.speed.factor().is_none() {
            break;
        }
    }
    let place = playback.place();
    state.screens.timeline.refresh(&state.known);
    if let Some((severity, words)) = message {
        state.log_message(severity, words);
    }
    seek_moment(state, place)
}

/// Time for which a moment is shown: its duration, or one step where a gap follows.
fn moment_ms(playback: &Playback) -> u64 {
    let Some(times) = playback.speed.factor() else { return 0 };
    let timeline = playback.timeline();
    let place = playback.place();
    let next = timeline.times.get(place + 1).map(|next| next.saturating_sub(timeline.times[place]));
    let took = next.unwrap_or(0).clamp(0, timeline.longest_step);
    // At least a millisecond, so that playback advances.
    (u64::try_from(took).unwrap_or(0) / times).max(1)
}
