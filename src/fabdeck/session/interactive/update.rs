//! Updates the state, one event at a time.

use super::actions::{Action, Over, Place};
use super::effect::Effect;
use super::event::{Event, Happening};
use super::key::Key;
use super::layer::Layer;
use super::messages::Severity;
use super::screens::ScreenId;
use super::state::State;
use super::{entering, forward, layered, typing};

/// A second Ctrl-C within this time ends the session in any case.
const TWICE_MS: u64 = 1000;

/// Applies an event to the state, and returns the effects.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    state.now_ms = state.now_ms.max(event.at_ms);
    state.known.changes.now_ms = state.now_ms;
    let mut effects = match event.what {
        Happening::Key(key) => pressed(state, key),
        Happening::Paste(text) => typing::pasted(state, &text),
        Happening::Resized(size) => {
            state.size = size;
            Vec::new()
        }
        Happening::Tick => {
            let mut effects = super::watch::tick(state);
            effects.extend(super::timeline::tick(state));
            effects.extend(super::changing::tick(state));
            effects
        }
        Happening::Progress { task, done, of } => {
            state.tasks.progress(task, done, of, state.now_ms);
            Vec::new()
        }
        Happening::Sighted { task, look } => forward::sighted(state, task, look),
        Happening::Finished { task, outcome } => forward::finished(state, task, outcome),
        Happening::Told(text) => {
            state.say(Severity::Said, text);
            Vec::new()
        }
        Happening::Resumed => vec![Effect::Redraw],
    };
    effects.extend(super::timeline::derive_on(state));
    effects.extend(super::slow_lanes::tick(state));
    effects.extend(super::running_jobs::tick(state));
    follow_cursor(state);
    if state.screen == ScreenId::Changes && state.layer.is_none() {
        state.known.changes.saw();
    }
    if matches!(state.layer, Some(Layer::Log(_))) {
        state.messages.read();
    }
    effects.append(&mut state.wanted);
    let said = state.messages.take_unlogged();
    if !said.is_empty() {
        effects.push(Effect::Log(said));
    }
    effects
}

/// Time at which the session needs a tick, even without any other event.
pub fn wakes_ms(state: &State) -> Option<u64> {
    let parts = [
        super::watch::wakes_ms,
        super::timeline::wakes_ms,
        super::changing::wakes_ms,
        super::slow_lanes::wakes_ms,
        super::running_jobs::wakes_ms,
    ];
    parts.into_iter().filter_map(|wakes_ms| wakes_ms(state)).min()
}

/// Number of rows that a screen, or the overlay on it, shows at once.
pub fn page(state: &State) -> usize {
    if state.layer.is_some() {
        return layered::height(state);
    }
    rows_in_sight(state)
}

fn rows_in_sight(state: &State) -> usize {
    let screen = state.current();
    let other = screen.rows_above(&state.known) + screen.rows_below(&state.known, state.size) + 1;
    usize::from(state.areas().body.height.saturating_sub(other)).max(1)
}

fn follow_cursor(state: &mut State) {
    let page = rows_in_sight(state);
    let (screen, _) = state.current_mut();
    screen.table_mut().show(page);
}

/// Handles Ctrl-C, which ends the session in any state. Where that would end a change, the first Ctrl-C asks
/// as `q` does, and only a second one within [`TWICE_MS`] ends it.
fn interrupted(state: &mut State) -> Vec<Effect> {
    let before = state.interrupted_ms.replace(state.now_ms);
    let again = before.is_some_and(|before| state.now_ms - before <= TWICE_MS);
    if !again && super::changing::ends_with_session(state) {
        state.prompt = None;
        return Vec::new();
    }
    state.leaving = true;
    vec![Effect::Interrupt]
}

fn pressed(state: &mut State, key: Key) -> Vec<Effect> {
    state.seen = state.messages.said();
    if key == Key::ctrl('c') {
        return interrupted(state);
    }
    if state.prompt.is_some() {
        return typing::in_prompt(state, key);
    }
    if state.layer.is_some() {
        return over_layer(state, key);
    }
    match state.keymap.action(key, state.screen) {
        Some(action) => carry_out(state, action, ""),
        None => match state.keymap.elsewhere(key) {
            Some(place) => {
                state.say(
                    Severity::Said,
                    format!("{key} works on {place} only; ? lists the keys of this screen"),
                );
                Vec::new()
            }
            None => {
                state.say(Severity::Said, format!("{key} does nothing here; ? lists the keys"));
                Vec::new()
            }
        },
    }
}

/// Handles a key while an overlay is open: the overlay takes its own keys and refuses those of the screen
/// below.
fn over_layer(state: &mut State, key: Key) -> Vec<Effect> {
    if matches!(state.layer, Some(Layer::Dialogue(_))) {
        return super::changing::pressed(state, key);
    }
    match state.keymap.over(key, Over::Layers) {
        Some(action) => carry_out(state, action, ""),
        None => {
            let below = state.keymap.action(key, state.screen);
            layered::refuse(state, key, below);
            Vec::new()
        }
    }
}

/// Runs an action, or reports why it cannot run now.
pub fn carry_out(state: &mut State, action: &'static Action, argument: &str) -> Vec<Effect> {
    // A palette command for the screen below closes the overlay.
    if action.over == Over::Nothing {
        state.layer = None;
    }
    if let Place::On(screen) = action.place {
        state.screen = screen;
    }
    if let Err(why) = (action.ready)(state) {
        state.say(Severity::Warning, format!("{}: {why}", action.id));
        return Vec::new();
    }
    state.unsaved.told &= action.id == "quit";
    let before = action.line.map(|_| state.known.marks.clone());
    let mut effects = (action.act)(state, argument);
    effects.extend(before.into_iter().flat_map(|before| entering::marked(state, &before)));
    if let Some(line) = action.line.and_then(|line| line(state)) {
        state.last_line = Some(line);
    }
    effects
}
