//! The keys for time. Each step moves the cursor at once, and a background task reads the moment. The
//! beginning, the end, a gap and damage are different answers, each with its own message.

use super::flow::{go, plays};
use super::live;
use super::playback::{Playback, Standing};
use super::words::happened_words;
use crate::session::counted;
use crate::session::interactive::effect::Effect;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::screens::Screen;
use crate::session::interactive::state::State;
use fabdeck_files::capture::{Answer, At};

type Led = Answer<usize, String>;

/// Moves by this number of moments. It passes gaps and damage on the way, and reports one at the destination.
pub fn step(state: &mut State, by: isize) -> Vec<Effect> {
    stand(state);
    let lead = |playback: &mut Playback| {
        let mut last = None;
        for _ in 0..by.unsigned_abs() {
            let led = if by > 0 { playback.cursor.forward() } else { playback.cursor.back() };
            match (&led, &last) {
                // Where several steps reach the end, the answer of the last possible step counts.
                (Answer::Beginning | Answer::End, Some(_)) => break,
                _ => last = Some(led),
            }
        }
        last.unwrap_or(Answer::End)
    };
    let effects = lead_to(state, lead);
    if by.unsigned_abs() == 1 {
        say_what_happened(state);
    }
    effects
}

/// Moves to the next or the previous moment with an event.
pub fn event(state: &mut State, next: bool) -> Vec<Effect> {
    stand(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let led = if next { playback.cursor.next_event() } else { playback.cursor.previous_event() };
    if matches!(led, Answer::Beginning | Answer::End) {
        let side = if next { "nothing more happens after" } else { "nothing happened before" };
        let clock = playback.timeline().clock(playback.time());
        state.say(Severity::Said, format!("{side} {clock}"));
        return Vec::new();
    }
    let effects = lead_to(state, |_| led);
    say_what_happened(state);
    effects
}

/// Moves to a time that the operator typed.
pub fn at(state: &mut State, text: &str) -> Vec<Effect> {
    let at = match At::parse(text) {
        Ok(at) => at,
        // The text of the command-line error is longer than a line of the screen.
        Err(error) => {
            let code = error.to_string().split(':').next().unwrap_or_default().to_owned();
            state.say(
                Severity::Error,
                format!("{code}: write 02:13:40, or -5m before the end: '{text}' is no time"),
            );
            return Vec::new();
        }
    };
    stand(state);
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let timeline = playback.timeline().clone();
    let Some((from, to)) = timeline.span() else { return Vec::new() };
    let time = at.within(from, to, timeline.utc_offset_s);
    let side = match () {
        () if time < from => Some("before the first moment, which is"),
        () if time.saturating_sub(at.slack()) > to => Some("after the last moment, which is"),
        () => None,
    };
    let led = playback.cursor.to(time);
    let led = in_gap(playback, led, time.saturating_sub(at.slack()));
    let Some(side) = side else {
        // A time slightly after the last moment stands for the last moment.
        let led = if led == Answer::End { playback.cursor.here() } else { led };
        return lead_to(state, |_| led);
    };
    playback.standing = Standing::Moment;
    let (place, shown) = (playback.place(), timeline.clock(playback.time()));
    state.screens.timeline.refresh(&state.known);
    let effects = go(state, place);
    let asked = timeline.clock(time.saturating_sub(at.slack()));
    state.say(Severity::Warning, format!("{asked} is {side} shown: {shown}"));
    effects
}

/// Within a gap, the cursor moves to the gap, even if the moment before is near.
fn in_gap(playback: &mut Playback, led: Led, time: i64) -> Led {
    let timeline = playback.timeline();
    let place = playback.place();
    let within = timeline.gap_before(place + 1) && timeline.times[place] < time;
    if within && matches!(led, Answer::Moment(_)) { playback.cursor.forward() } else { led }
}

/// Moves to a moment by its index.
pub fn to_place(state: &mut State, place: usize) -> Vec<Effect> {
    if live::is_returning(state) {
        state.say(Severity::Warning, live::RETURNING);
        return Vec::new();
    }
    stand(state);
    let effects = lead_to(state, |playback| playback.cursor.to_place(place));
    say_what_happened(state);
    effects
}

/// Stops playback, because a step ends it.
fn stand(state: &mut State) {
    if let Some(playback) = &mut state.known.playback {
        playback.due_ms = None;
    }
}

fn lead_to(state: &mut State, lead: impl FnOnce(&mut Playback) -> Led) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let led = lead(playback);
    let words = answered(playback, &led);
    let place = playback.place();
    if let Some((severity, words)) = words {
        state.say(severity, words);
    }
    state.screens.timeline.refresh(&state.known);
    go(state, place)
}

/// Sets what the cursor points at for an answer, and returns its message.
fn answered(playback: &mut Playback, led: &Led) -> Option<(Severity, String)> {
    let timeline = playback.timeline().clone();
    let clock = |time: i64| timeline.clock(time);
    match led {
        Answer::Moment(_) => {
            playback.standing = Standing::Moment;
            None
        }
        Answer::Gap { from, to } => {
            playback.standing = Standing::Gap { from: *from, to: *to };
            let seconds = to.saturating_sub(*from) / 1000;
            Some((
                Severity::Warning,
                format!(
                    "nothing was recorded from {} to {}, for {seconds} s; shown is the moment before",
                    clock(*from),
                    clock(*to)
                ),
            ))
        }
        Answer::Damage(damage) => {
            playback.standing = Standing::Damage(damage.clone());
            let time = clock(playback.time());
            Some((
                Severity::Warning,
                format!("{time} cannot be read; shown is the last moment before it that can: {damage}"),
            ))
        }
        Answer::Beginning => Some((
            Severity::Said,
            format!("{} is the first moment: nothing was recorded before", clock(playback.time())),
        )),
        Answer::End => {
            let why = match (&playback.live, timeline.ended) {
                (Some(_), _) => "L goes back to live",
                (None, true) => "the recording was ended there",
                (None, false) => {
                    "the recording has no end: it was cut short, or goes on, and r reads what came since"
                }
            };
            Some((Severity::Said, format!("{} is the last moment: {why}", clock(playback.time()))))
        }
    }
}

/// Adds damage that was found when a moment was read.
pub fn met(state: &mut State, place: usize, shown: usize, damage: String) {
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
    if playback.place() == place && playback.standing == Standing::Moment {
        let words = answered(playback, &Answer::Damage(damage));
        if let Some((severity, words)) = words {
            state.say(severity, words);
        }
    }
}

/// Reports the events at the cursor.
fn say_what_happened(state: &mut State) {
    let (Some(playback), Some(look)) = (&state.known.playback, &state.known.look) else { return };
    if playback.standing != Standing::Moment {
        return;
    }
    let timeline = playback.timeline();
    let here: Vec<_> = playback.happened().filter(|happened| happened.place == playback.place()).collect();
    let Some(first) = here.first() else { return };
    let (label, text, trouble) = happened_words(look, &first.told);
    let more = match here.len() - 1 {
        0 => String::new(),
        more => format!("; and {more} more (9 lists them)"),
    };
    let severity = if trouble { Severity::Warning } else { Severity::Said };
    state.say(severity, format!("{}: {label}: {text}{more}", timeline.clock(first.time)));
}

pub fn bookmark(state: &mut State) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let place = playback.place();
    let set = playback.bookmarks.insert(place);
    if !set {
        playback.bookmarks.remove(&place);
    }
    playback.changed += 1;
    let (clock, count) = (playback.timeline().clock(playback.time()), playback.bookmarks.len());
    let count = counted(count, "bookmark", "bookmarks");
    let words = if set { "has a bookmark now" } else { "has no bookmark any more" };
    state.say(Severity::Said, format!("{clock} {words}; {count} in this session"));
    state.screens.timeline.refresh(&state.known);
    Vec::new()
}

/// Starts or stops playback; on a live watch, pauses it.
pub fn play(state: &mut State) -> Vec<Effect> {
    let now = state.now_ms;
    let Some(playback) = &mut state.known.playback else { return live::pause(state) };
    if playback.due_ms.take().is_some() {
        let clock = playback.timeline().clock(playback.time());
        state.say(Severity::Said, format!("stands at {clock}"));
        return Vec::new();
    }
    if playback.place() + 1 >= playback.timeline().times.len() {
        let words = answered(playback, &Answer::End);
        if let Some((severity, words)) = words {
            state.say(severity, words);
        }
        return Vec::new();
    }
    playback.due_ms = Some(now);
    let speed = playback.speed.word();
    state.say(Severity::Said, format!("plays {speed}: Space stands, < and > change the speed"));
    Vec::new()
}

pub fn faster(state: &mut State, faster: bool) -> Vec<Effect> {
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
        None if faster => "there is no faster one: every moment comes as soon as it is read".to_owned(),
        None => "1x is as fast as it happened: there is no slower one".to_owned(),
    };
    state.say(Severity::Said, words);
    Vec::new()
}

/// Advances playback by as many moments as the time allows, and shows the last of them.
pub fn play_on(state: &mut State) -> Vec<Effect> {
    const LATE_MS: u64 = 1000;
    let now = state.now_ms;
    if !plays(state) {
        return Vec::new();
    }
    let Some(playback) = &mut state.known.playback else { return Vec::new() };
    let mut due = playback.due_ms.unwrap_or(now).max(now.saturating_sub(LATE_MS));
    if due > now {
        return Vec::new();
    }
    let mut said = None;
    while due <= now {
        let led = playback.cursor.forward();
        let words = answered(playback, &led);
        if led == Answer::End {
            playback.due_ms = None;
            said = words;
            break;
        }
        said = words.or(said);
        due = due.saturating_add(wait_ms(playback));
        playback.due_ms = Some(due);
        if playback.speed.times().is_none() {
            break;
        }
    }
    let place = playback.place();
    state.screens.timeline.refresh(&state.known);
    if let Some((severity, words)) = said {
        state.say(severity, words);
    }
    go(state, place)
}

/// Time for which a moment is shown: its duration, or one step where a gap follows.
fn wait_ms(playback: &Playback) -> u64 {
    let Some(times) = playback.speed.times() else { return 0 };
    let timeline = playback.timeline();
    let place = playback.place();
    let next = timeline.times.get(place + 1).map(|next| next.saturating_sub(timeline.times[place]));
    let took = next.unwrap_or(0).clamp(0, timeline.longest_step);
    // At least a millisecond, so that playback advances.
    (u64::try_from(took).unwrap_or(0) / times).max(1)
}
