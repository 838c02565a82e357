//! The actions on the problem at the cursor, and on the charts.

use super::loop_search;
use super::screen::HealthPane;
use crate::catalogue::severity::Severity;
use crate::console::features::preconditions::has_fabric;
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::features::whatif::{engine_runs, marking, open_engines};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::operations::health::problem::{FabricProblem, ProblemKind};
use fabdeck_fabric::ElementId;

/// Checks that the cursor is on a problem.
pub fn has_problem(state: &SessionState) -> Result<(), String> {
    has_fabric(state)?;
    let health = &state.screens.health;
    match health.problem() {
        _ if health.is_outdated => {
            Err("the fabric has changed: its problems are being ranked again".to_owned())
        }
        Some(_) if health.pane == HealthPane::Problems => Ok(()),
        Some(_) => Err("this works on a problem: tab goes to the problems".to_owned()),
        None => Err("there is no problem".to_owned()),
    }
}

/// What a preview of the next step shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FixPreview {
    /// The routes without the element.
    Without(ElementId),
    /// The flows that would move to the slow lane.
    SlowLane,
    /// The routes of each engine for the fabric as it is.
    Engines,
    /// The channels of a credit loop in the tables in force.
    LoopSearch,
}

/// The preview of the next step; `None` where it is work on the machines themselves.
pub fn fix_preview(problem: &FabricProblem) -> Option<FixPreview> {
    match (problem.kind, problem.elements.as_slice()) {
        (ProblemKind::HotSpot, _) => Some(FixPreview::SlowLane),
        (ProblemKind::Stalled, _) => Some(FixPreview::LoopSearch),
        (ProblemKind::LostPaths | ProblemKind::NarrowLinks | ProblemKind::CreditLoop, _) => {
            Some(FixPreview::Engines)
        }
        (
            ProblemKind::LinkDown
            | ProblemKind::LinkErrors
            | ProblemKind::WireHealth
            | ProblemKind::DegradedLink,
            [link @ ElementId::Link(_)],
        ) if problem.hits.paths != Some(0) => Some(FixPreview::Without(*link)),
        // Of a switch, the step is to route around it; of a host, there is nothing to route.
        (ProblemKind::SilentNode | ProblemKind::DeviceHealth, [node @ ElementId::Node(_)])
            if problem.next.command.contains(" whatif --fail ") =>
        {
            Some(FixPreview::Without(*node))
        }
        _ => None,
    }
}

/// Checks that the next step of the problem can be previewed.
pub fn has_preview(state: &SessionState) -> Result<(), String> {
    has_problem(state)?;
    match state.screens.health.problem().map(|(_, problem)| (problem, fix_preview(problem))) {
        Some((problem, None)) => Err(format!("next: {}; enter shows how", problem.next.text)),
        _ => Ok(()),
    }
}

/// Opens the preview of the next step. Marks are only in this session; nothing is written.
pub fn preview_fix(state: &mut SessionState, _: &str) -> Vec<Effect> {
    let Some(preview) = state.screens.health.problem().and_then(|(_, problem)| fix_preview(problem)) else {
        return Vec::new();
    };
    match preview {
        FixPreview::SlowLane => {
            open_screen(state, ScreenId::Lanes);
            Vec::new()
        }
        FixPreview::LoopSearch => loop_search::search(state),
        FixPreview::Engines => {
            let mut effects = marking::replace_marks(state, &[]);
            open_engines(state);
            let engines = engine_runs::all_engines(state);
            effects.extend(engine_runs::preview_engines(state, &engines));
            effects
        }
        FixPreview::Without(element) => {
            // Earlier marks would make it a preview of something else.
            let mut effects = marking::replace_marks(state, &[element]);
            open_engines(state);
            let engines = engine_runs::all_engines(state);
            effects.extend(engine_runs::preview_engines(state, &engines));
            effects
        }
    }
}

/// Shows a longer or a shorter time in all charts.
pub fn change_window(state: &mut SessionState, longer: bool) -> Vec<Effect> {
    match state.known.problems.window.next(longer) {
        Some(window) => state.known.problems.window = window,
        None => {
            let end = if longer { "longest" } else { "shortest" };
            let words = state.known.problems.window.words();
            state.log_message(Severity::Info, format!("{words} is the {end} window"));
        }
    }
    Vec::new()
}
