//! What happens to the state, one event at a time.

use super::actions::{Action, Place};
use super::effect::Effect;
use super::event::{Event, Happening};
use super::forward;
use super::key::{Key, Press};
use super::layer::{Help, Layer};
use super::messages::Severity;
use super::palette;
use super::prompt::{Prompt, Purpose};
use super::screens::{Detail, rows_of};
use super::state::State;

/// Signs of a message that a row of the log shows at least, on a screen of the usual width.
const LOG_ROW: usize = 60;

/// Takes an event in, and says what is to be done about it.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    state.now_ms = state.now_ms.max(event.at_ms);
    let mut effects = match event.what {
        Happening::Key(key) => pressed(state, key),
        Happening::Paste(text) => pasted(state, &text),
        Happening::Resized(size) => {
            state.size = size;
            Vec::new()
        }
        Happening::Tick => Vec::new(),
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
    follow_cursor(state);
    let said = state.messages.take_unlogged();
    if !said.is_empty() {
        effects.push(Effect::Log(said));
    }
    effects
}

/// How many rows of its list a screen shows.
pub fn page(state: &State) -> usize {
    let above = state.current().rows_above(&state.known) + 1;
    usize::from(state.areas().body.height.saturating_sub(above)).max(1)
}

fn follow_cursor(state: &mut State) {
    let page = page(state);
    let (screen, _) = state.current_mut();
    screen.table_mut().show(page);
}

fn pasted(state: &mut State, text: &str) -> Vec<Effect> {
    if let Some(prompt) = &mut state.prompt {
        text.chars().for_each(|sign| prompt.insert(sign));
        return typed(state);
    }
    Vec::new()
}

fn pressed(state: &mut State, key: Key) -> Vec<Effect> {
    state.seen = state.messages.said();
    // Ctrl-C leads out of everything, whatever is open.
    if key == Key::ctrl('c') {
        state.leaving = true;
        return vec![Effect::Interrupt];
    }
    if state.prompt.is_some() {
        return in_prompt(state, key);
    }
    if state.layer.is_some() {
        return in_layer(state, key);
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

/// Runs an action, or says why it cannot run now.
pub fn carry_out(state: &mut State, action: &'static Action, argument: &str) -> Vec<Effect> {
    if let Place::On(screen) = action.place {
        state.screen = screen;
    }
    if let Err(why) = (action.ready)(state) {
        state.say(Severity::Warning, format!("{}: {why}", action.id));
        return Vec::new();
    }
    let effects = (action.act)(state, argument);
    if let Some(line) = action.line.and_then(|line| line(state)) {
        state.last_line = Some(line);
    }
    effects
}

fn in_prompt(state: &mut State, key: Key) -> Vec<Effect> {
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    // Whoever moves in a suggestion means to change it.
    if key.typed().is_none() {
        prompt.suggested = false;
    }
    match key.press {
        Press::Esc => return abandoned(state),
        Press::Enter => return entered(state),
        Press::Backspace if !prompt.backspace() => return abandoned(state),
        Press::Backspace => {}
        Press::Delete => prompt.delete(),
        Press::Left => prompt.step(-1),
        Press::Right => prompt.step(1),
        Press::Home => prompt.cursor = 0,
        Press::End => prompt.to_end(),
        Press::Char('u') if key.ctrl => prompt.clear(),
        Press::Up | Press::Down | Press::Tab | Press::BackTab => {
            let down = matches!(key.press, Press::Down | Press::Tab);
            return pick(state, down, key.press == Press::Tab);
        }
        _ => match key.typed() {
            Some(sign) => prompt.insert(sign),
            None => return Vec::new(),
        },
    }
    typed(state)
}

/// Goes through what is offered; Tab takes the first over when it is the only one.
fn pick(state: &mut State, down: bool, tab: bool) -> Vec<Effect> {
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    let count = prompt.offers.len();
    if let (true, [only]) = (tab, prompt.offers.as_slice()) {
        let more = if only.argument.is_empty() { "" } else { " " };
        prompt.replace(format!("{}{more}", only.text));
        return typed(state);
    }
    if count > 0 {
        let at = prompt
            .picked
            .map_or(if down { 0 } else { count - 1 }, |at| (at + if down { 1 } else { count - 1 }) % count);
        prompt.picked = Some(at);
    }
    Vec::new()
}

/// Begins a line.
pub fn ask(state: &mut State, purpose: Purpose, text: impl Into<String>) {
    let mut prompt = Prompt::new(purpose, text);
    prompt.offers = palette::offers(state, purpose, &prompt.text);
    state.prompt = Some(prompt);
}

/// A filter narrows the list while it is typed; other lines are offered what they could become.
fn typed(state: &mut State) -> Vec<Effect> {
    if let Some(mut prompt) = state.prompt.take() {
        prompt.offers = palette::offers(state, prompt.purpose, &prompt.text);
        prompt.picked = prompt.picked.filter(|at| *at < prompt.offers.len());
        state.prompt = Some(prompt);
    }
    let filter = state.prompt.as_ref().filter(|prompt| prompt.purpose == Purpose::Filter);
    if let Some(text) = filter.map(|prompt| prompt.text.clone()) {
        set_filter(state, text);
    }
    Vec::new()
}

/// Filters the list of the screen.
pub fn set_filter(state: &mut State, text: String) {
    let (screen, known) = state.current_mut();
    let mut table = std::mem::take(screen.table_mut());
    table.filter = text;
    if let Some(listing) = screen.listing(known) {
        table.refresh(&*listing);
    }
    *screen.table_mut() = table;
    screen.filtered(known);
}

fn abandoned(state: &mut State) -> Vec<Effect> {
    if let Some(prompt) = state.prompt.take().filter(|prompt| prompt.purpose == Purpose::Filter) {
        set_filter(state, prompt.before);
    }
    Vec::new()
}

fn entered(state: &mut State) -> Vec<Effect> {
    let Some(Prompt { purpose, text, picked, offers, .. }) = state.prompt.take() else { return Vec::new() };
    let text = picked.and_then(|at| offers.into_iter().nth(at)).map_or(text, |offer| offer.text);
    match purpose {
        Purpose::Filter => {
            if let Some(problem) = state.current().table().problem.clone() {
                state.say(Severity::Error, problem);
            }
            Vec::new()
        }
        Purpose::Command => palette::run(state, &text),
        Purpose::From | Purpose::To if text.trim().is_empty() => Vec::new(),
        Purpose::From | Purpose::To => {
            state.screens.paths.set(purpose, text.trim().to_owned(), &state.known);
            if let Some(problem) = state.screens.paths.problem.clone() {
                state.say(Severity::Error, problem);
            }
            if state.screens.paths.to.is_none() {
                ask(state, Purpose::To, "");
            }
            Vec::new()
        }
        Purpose::PlanFile if text.trim().is_empty() => Vec::new(),
        Purpose::PlanFile => super::actions::write_plan(state, text.trim()),
    }
}

fn in_layer(state: &mut State, key: Key) -> Vec<Effect> {
    let page = isize::from_ne_bytes((usize::from(state.size.height).saturating_sub(4).max(1)).to_ne_bytes());
    let by = match key.press {
        Press::Esc => {
            state.layer = None;
            return Vec::new();
        }
        Press::Char('q' | '-') if !matches!(state.layer, Some(Layer::Help(_))) => {
            state.layer = None;
            return Vec::new();
        }
        Press::Up => -1,
        Press::Down => 1,
        Press::Char('k') if !matches!(state.layer, Some(Layer::Help(_))) => -1,
        Press::Char('j') if !matches!(state.layer, Some(Layer::Help(_))) => 1,
        Press::Char('d') if matches!(state.layer, Some(Layer::Details(_))) => {
            state.layer = None;
            return Vec::new();
        }
        Press::PageUp => -page,
        Press::PageDown => page,
        Press::Home => isize::MIN / 2,
        Press::End => isize::MAX / 2,
        _ => 0,
    };
    let lines = match state.layer {
        Some(Layer::Details(_)) => Detail::whole(state)
            .map_or(0, |(_, pairs)| rows_of(state, pairs.iter().map(|(_, text)| text.as_str())) + 2),
        _ => 0,
    };
    match &mut state.layer {
        Some(Layer::Help(help)) => in_help(help, key, by),
        Some(Layer::Details(scroll)) => scroll.step(by, lines, page.unsigned_abs()),
        // Long messages take several rows; how many is known where they are drawn.
        Some(Layer::Log(scroll)) => {
            let rows = state.messages.iter().map(|message| 1 + message.text.len() / LOG_ROW).sum();
            scroll.top = scroll.top.min(rows);
            scroll.step(by, rows, page.unsigned_abs());
        }
        Some(Layer::Tour(at)) => {
            let last = super::layer::TOUR.len() - 1;
            match key.press {
                Press::Left | Press::Up | Press::PageUp => *at = at.saturating_sub(1),
                Press::Right | Press::Down | Press::PageDown | Press::Enter | Press::Char(' ')
                    if *at < last =>
                {
                    *at += 1
                }
                Press::Enter | Press::Char(' ') => state.layer = None,
                _ => {}
            }
        }
        None => {}
    }
    Vec::new()
}

fn in_help(help: &mut Help, key: Key, by: isize) {
    match key.press {
        Press::Backspace => {
            help.search.pop();
            help.scroll.top = 0;
        }
        _ => match key.typed().filter(|_| help.search.len() < 100) {
            Some(sign) => {
                help.search.push(sign);
                help.scroll.top = 0;
            }
            None => help.scroll.step(by, super::actions::ACTIONS.len() * 2, 1),
        },
    }
}
