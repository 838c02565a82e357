//! Actions that apply a plan: the proposal of an engine, a plan in a file, or the service of a link. A
//! background task compares the plan with the fabric first.

use std::path::PathBuf;

use super::apply_state::ProposedPlan;
use super::change_actions::can_write;
use super::change_requests::BadCables;
use super::changes_model::ApplyRequest;
use super::mode_actions;
use crate::catalogue::severity::Severity;
use crate::console::features::completion;
use crate::console::features::health::ranking::job_input;
use crate::console::features::lanes::slow_lanes;
use crate::console::features::plan_commands::{apply_line, phased_route_line, route_line, staged_commands};
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use crate::operations::changes::changer::PlanSource;
use crate::operations::health::problem::ProblemKind;
use crate::operations::plans::plan_request::{PlanRequest, WriteMode};
use fabdeck_fabric::ElementId;
use fabdeck_routing::Engine;

/// Checks that a plan can be applied now.
pub fn can_apply(state: &SessionState) -> Result<(), String> {
    can_write(state)?;
    let changes = &state.known.changes;
    if state.known.playback.as_ref().is_some_and(|playback| playback.live.is_some()) {
        return Err("a moment of the past is shown: L returns to live".to_owned());
    }
    if changes.offering.is_some() {
        return Err("another plan is being compared with the fabric; Esc cancels that".to_owned());
    }
    if changes.beginning.is_some() {
        return Err("a change is being begun".to_owned());
    }
    match changes.pending_rows().next() {
        Some(row) => {
            Err(format!("change {} is pending, and there is one at a time (9 shows it)", row.number))
        }
        None => Ok(()),
    }
}

/// Whether the key has a function on this screen.
pub fn is_key_active(state: &SessionState) -> bool {
    match state.screen {
        ScreenId::Changes => true,
        ScreenId::Lanes => slow_lanes::plan_moves(state).is_ok(),
        ScreenId::Whatif => {
            state.screens.whatif.engine().is_some_and(|engine| state.known.proposal(engine).is_some())
        }
        _ => false,
    }
}

/// Applies the proposal of the engine on What-if, the moves on Lanes, or a named file; on Changes, asks for a
/// file.
pub fn apply(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    match state.screen {
        _ if !argument.is_empty() => apply_file(state, argument),
        ScreenId::Whatif => apply_proposed(state),
        ScreenId::Lanes => apply_moves(state),
        ScreenId::Changes => {
            completion::open_prompt(state, Purpose::ApplyFile, "");
            Vec::new()
        }
        _ => {
            let text = "apply works on What-if, for a proposal of an engine, on Lanes, for flows that would move, and on \
                        Changes, for a plan from a file; :apply FILE works everywhere";
            state.log_message(Severity::Info, text);
            Vec::new()
        }
    }
}

fn apply_proposed(state: &mut SessionState) -> Vec<Effect> {
    let found = state.screens.whatif.engine();
    let proposal = found.and_then(|engine| Some((engine, state.known.proposal(engine)?.clone())));
    let (Some(look), Some((engine, proposal))) = (state.known.look.clone(), proposal) else {
        let why = found.map(|engine| state.known.no_proposal_words(engine));
        let why = why.unwrap_or_else(|| "put the cursor on an engine".to_owned());
        state.log_message(Severity::Warning, format!("apply: {why}"));
        return Vec::new();
    };
    let file = state.plan_name(engine.id);
    let staged = staged_commands(state, engine, &file);
    let (marks, mode) = (state.known.marks.clone(), WriteMode::AtOnce);
    let proposed = ProposedPlan {
        at_once: proposed_line(state, engine),
        in_phases: format!("{}; {}", phased_route_line(state, engine, &file), apply_line(state, &file)),
        request: Box::new(PlanRequest { look, marks, engine: engine.id, proposal, staged, mode }),
    };
    mode_actions::begin_offer_of(state, proposed, false)
}

/// Applies the proposed moves of flows.
fn apply_moves(state: &mut SessionState) -> Vec<Effect> {
    let planned = match slow_lanes::plan_moves(state) {
        Ok(planned) => planned,
        Err(why) => {
            state.log_message(Severity::Warning, format!("apply: {why}"));
            return Vec::new();
        }
    };
    apply_lanes(state, planned, ("moving flows", "lanes propose"))
}

/// Applies moves, with their description and the command that proposes the same.
pub fn apply_lanes(
    state: &mut SessionState,
    planned: PlanSource,
    (what, command): (&str, &str),
) -> Vec<Effect> {
    const FILE: &str = "lanes.plan";
    let propose = state.command_line(&format!("{command} -o {FILE}"));
    let line = format!("{propose}; {}", apply_line(state, FILE));
    begin_offer(state, planned, ApplyRequest::fixed(what.to_owned(), Some(line)))
}

/// The command line that applies a proposal from its plan; it writes the plan first where no file has it.
fn proposed_line(state: &SessionState, engine: &Engine) -> String {
    if let Some(written) = state.plan_file(engine) {
        return apply_line(state, &written.display().to_string());
    }
    let file = state.plan_name(engine.id);
    format!("{}; {}", route_line(state, engine, &file), apply_line(state, &file))
}

/// Applies the plan in a file.
pub fn apply_file(state: &mut SessionState, file: &str) -> Vec<Effect> {
    let file = file.trim();
    if file.is_empty() || file == "-" {
        state.log_message(
            Severity::Error,
            "nothing was applied: name the file of a plan, as in apply updn.plan",
        );
        return Vec::new();
    }
    let wanted = ApplyRequest::fixed(file.to_owned(), Some(apply_line(state, file)));
    begin_offer(state, PlanSource::File(PathBuf::from(file)), wanted)
}

pub(super) fn begin_offer(
    state: &mut SessionState,
    planned: PlanSource,
    wanted: ApplyRequest,
) -> Vec<Effect> {
    let title = format!("comparing {} with the fabric", wanted.what);
    let bad_links = bad_links(state);
    let (task, effect) =
        state.begin(title, super::change_requests::OfferTask { planned, jobs: job_input(state), bad_links });
    state.known.changes.offering = Some((task, wanted));
    vec![effect]
}

/// The cables with errors or at a reduced rate, as Health has them.
fn bad_links(state: &SessionState) -> Option<BadCables> {
    let ranked = state.known.problems.ranked.as_ref().filter(|_| !state.screens.health.is_outdated)?;
    let look = state.known.look.clone()?;
    let bad =
        ranked.problems.iter().filter_map(|problem| match (problem.kind, problem.elements.as_slice()) {
            (
                ProblemKind::LinkErrors | ProblemKind::WireHealth | ProblemKind::DegradedLink,
                [ElementId::Link(link)],
            ) if link.index() < look.fabric().links().len() => Some((*link, problem.title.clone())),
            _ => None,
        });
    let bad: Vec<_> = bad.collect();
    (!bad.is_empty()).then_some((look, bad))
}
