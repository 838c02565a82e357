//! The steps of the tour.

use crate::catalogue::severity::Severity;
use crate::console::features::map::screen::MapView;
use crate::console::features::screen::Screen as _;
use crate::console::features::screens::{ScreenId, move_cursor_to};
use crate::console::features::whatif::marking;
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::keymap::Keymap;
use crate::console::model::state::SessionState;
use crate::operations::health::problem::ProblemKind;
use fabdeck_fabric::ElementId;

/// A step of the tour.
#[derive(Clone, Copy, Debug)]
pub struct TourStep {
    pub title: &'static str,
    /// The text; a word of an action in braces is replaced by its key.
    pub text: &'static str,
    /// The screen that the text is about, where the step goes there by itself; elsewhere the operator goes.
    pub screen: Option<ScreenId>,
    /// The screen that it is about: the key for the next step goes there.
    pub about: ScreenId,
    /// Whether the operator did what the text says.
    pub is_done: fn(&SessionState) -> bool,
}

/// The step about the drawn map, and the one that opens the page of a cable.
const MAP_STEP: usize = 2;
const CABLE_STEP: usize = 3;
/// The steps that need something marked.
const MARKED_STEPS: std::ops::RangeInclusive<usize> = 5..=7;

pub const TOUR_STEPS: [TourStep; 10] = [
    TourStep {
        title: "What is wrong",
        text: "Health ranks the problems, the worst first: what, why, who is hit, and what to do next. In sim:demo hosts \
               begin to write to storage01, one after another. {down} goes to the next card, {enter} opens one, {out} \
               closes it. {screen-hotspots} goes on to Hot-spots.",
        screen: None,
        about: ScreenId::Health,
        is_done: |state| state.screen == ScreenId::Hotspots,
    },
    TourStep {
        title: "Who is hit, and why",
        text: "Hot-spots has the port that accepts too little, the hosts that send to it, and those that \
               only wait behind them, each with its proof. {down} and {up} move, {details} shows all of a row. \
               {screen-map} goes on to the map.",
        screen: None,
        about: ScreenId::Hotspots,
        is_done: |state| state.screen == ScreenId::Map,
    },
    TourStep {
        title: "Where it is",
        text: "The map draws every cable; its colour is how long packets wait. {quantity} shows load, errors and paths \
               instead, arrows move, {next-view} has the fabric as a tree and as lists. {screen-links} goes on to the cables.",
        screen: None,
        about: ScreenId::Map,
        is_done: |state| state.screen == ScreenId::Links,
    },
    TourStep {
        title: "A cable that wears out",
        text: "Links has every cable. {filter} narrows the list (errors>0), {sort} sorts it by the next column. In sim:demo a \
               cable of rack2-leaf counts errors, and after 75 s it runs at 1x: the cursor is on it. {enter} opens the page of a cable: both \
               ends and every counter.",
        screen: None,
        about: ScreenId::Links,
        is_done: |state| state.screens.links.page.is_some(),
    },
    TourStep {
        title: "Ask what its failure would cost",
        text: "{mark} marks the cable as failed: in this session, and nowhere else. {undo} takes the mark back. Marks go on \
               switches, ports and cables, on every screen.",
        screen: None,
        about: ScreenId::Links,
        is_done: |state| !state.known.marks.is_empty(),
    },
    TourStep {
        title: "Who would be hit",
        text: "{screen-whatif} What-if says how many pairs of end ports have no path until the fabric is rerouted, how many are \
               cut off for good. Its pane Who is hit has the hosts and the jobs.",
        screen: None,
        about: ScreenId::Whatif,
        is_done: |state| state.screen == ScreenId::Whatif,
    },
    TourStep {
        title: "Compare reroutes",
        text: "{preview} runs every engine on the fabric without the marked parts. Each proposal has a certificate that does \
               not trust the engine: every pair has a path, no loop, no deadlock.",
        screen: None,
        about: ScreenId::Whatif,
        is_done: |state| {
            state
                .engines()
                .values()
                .any(|proposed| matches!(proposed, ProposalState::Done { outcome: Ok(_), .. }))
        },
    },
    TourStep {
        title: "Apply one",
        text: "tab goes to the engines, {down} to one of them, and {apply} asks: what is written, who notices, what \
               may go wrong, the way back. space acknowledges a risk, tab goes to Apply, enter writes. Only where the top \
               line says writable; {next-step} goes on without.",
        screen: None,
        about: ScreenId::Whatif,
        is_done: has_pending_change,
    },
    TourStep {
        title: "Confirm it, or roll it back",
        text: "A change is rolled back by itself unless it is confirmed in time: Health shows it first. {confirm} shows what became of \
               it and asks whether it stays, {rollback} rolls it back at once, {extend} gives it ten minutes more. \
               {screen-changes} lists all changes.",
        screen: None,
        about: ScreenId::Health,
        is_done: |state| !has_pending_change(state),
    },
    TourStep {
        title: "Go back in time",
        text: "{screen-timeline} Timeline has the events. {pause} there pauses, {step-back} and {step} go through what was \
               read, on all screens at once, and {live} returns to now. {help} lists every key, {palette} goes to anything. \
               {next-step} ends the tour.",
        screen: None,
        about: ScreenId::Timeline,
        is_done: |_| false,
    },
];

fn has_pending_change(state: &SessionState) -> bool {
    state.known.changes.pending_rows().next().is_some()
}

impl TourStep {
    /// The text with the keys of a keymap.
    pub fn words(&self, keymap: &Keymap) -> String {
        let mut words = String::new();
        for (at, part) in self.text.split(['{', '}']).enumerate() {
            // Every second part is the word of an action.
            match at % 2 {
                0 => words.push_str(part),
                _ => {
                    let key = keymap.find_action(part).and_then(|action| action.first_key(keymap));
                    words.push_str(&key.map_or_else(|| format!(":{part}"), |key| key.to_string()));
                }
            }
        }
        words
    }
}

/// Begins the tour at its first step, or ends it.
pub fn toggle_tour(state: &mut SessionState, _: &str) -> Vec<Effect> {
    match state.tour.step {
        Some(_) => state.tour.step = None,
        None => {
            (state.layer, state.screen, state.came_from) = (None, ScreenId::Health, None);
            return show_step(state, 0);
        }
    }
    Vec::new()
}

/// Goes to the next step; behind the last one the tour ends.
pub fn go_to_next_step(state: &mut SessionState, _: &str) -> Vec<Effect> {
    match state.tour.step {
        Some(step) => turn_to(state, step + 1),
        None => Vec::new(),
    }
}

pub fn go_to_previous_step(state: &mut SessionState, _: &str) -> Vec<Effect> {
    match state.tour.step {
        Some(step) => turn_to(state, step.saturating_sub(1)),
        None => Vec::new(),
    }
}

/// Shows a step on the screen that it is about.
fn turn_to(state: &mut SessionState, step: usize) -> Vec<Effect> {
    if let Some(shown) = TOUR_STEPS.get(step)
        && state.screen != shown.about
    {
        (state.layer, state.screen, state.came_from) = (None, shown.about, None);
    }
    show_step(state, step)
}

fn show_step(state: &mut SessionState, step: usize) -> Vec<Effect> {
    let Some(shown) = TOUR_STEPS.get(step) else {
        state.tour.step = None;
        state.log_message(Severity::Info, "the tour has ended; :tour begins it again");
        return Vec::new();
    };
    if step == MAP_STEP {
        state.screens.map.open_view(&state.known, MapView::Drawn.title());
    }
    if step == CABLE_STEP {
        // A page that is open already would hide the list that the step is about.
        state.screens.links.page = None;
        show_worst_cable(state);
    }
    if let Some(screen) = shown.screen {
        (state.layer, state.screen, state.came_from) = (None, screen, None);
    }
    let effects = if MARKED_STEPS.contains(&step) { mark_worst_cable(state) } else { Vec::new() };
    (state.tour.step, state.tour.done_before) = (Some(step), (shown.is_done)(state));
    effects
}

/// Marks the cable of the tour where the step before was passed over: without a mark, What-if has nothing to show.
fn mark_worst_cable(state: &mut SessionState) -> Vec<Effect> {
    let Some(link) = worst_cable(state).filter(|_| state.known.marks.is_empty()) else { return Vec::new() };
    let effects = marking::replace_marks(state, &[link]);
    let name = state.known.element(link).unwrap_or_default();
    state.log_message(Severity::Info, format!("the tour marked {name} as failed, in this session alone"));
    effects
}

/// Puts the cursor of Links on the cable of the first problem that has one: that is the one the step is about.
fn show_worst_cable(state: &mut SessionState) {
    if let Some(link) = worst_cable(state) {
        move_cursor_to(&mut state.screens.links, link, &state.known);
    }
}

/// The cable of the first problem that has one.
fn worst_cable(state: &SessionState) -> Option<ElementId> {
    let ranked = state.known.problems.ranked.as_ref();
    let cables = ranked.into_iter().flat_map(|ranked| &ranked.problems).filter_map(|problem| {
        match (problem.kind, problem.elements.as_slice()) {
            (ProblemKind::LinkErrors | ProblemKind::DegradedLink, [link @ ElementId::Link(_)]) => {
                Some((problem.kind != ProblemKind::LinkErrors, *link))
            }
            _ => None,
        }
    });
    // A cable that has errors or goes down comes before one that always ran below its rate.
    cables.min_by_key(|(is_steady, _)| *is_steady).map(|(_, link)| link)
}

/// Goes on when a step is done.
pub fn follow_tour(state: &mut SessionState) -> Vec<Effect> {
    let Some(step) = state.tour.step else { return Vec::new() };
    let is_done = TOUR_STEPS.get(step).is_some_and(|shown| (shown.is_done)(state));
    if is_done && !state.tour.done_before {
        return show_step(state, step + 1);
    }
    state.tour.done_before &= is_done;
    Vec::new()
}

/// The reason why there is no step to go to.
pub fn has_tour(state: &SessionState) -> Result<(), String> {
    state.tour.step.map(|_| ()).ok_or_else(|| "no tour is taken; :tour begins one".to_owned())
}
