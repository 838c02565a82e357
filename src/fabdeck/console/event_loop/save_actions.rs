//! The actions that write files: plans, and the recording of a watch.

use std::path::PathBuf;

use crate::catalogue::severity::Severity;
use crate::console::features::plan_commands::{route_line, staged_commands};
use crate::console::model::effect::{Effect, TaskRequest};
use crate::console::model::state::SessionState;
use crate::operations::plans::plan_request::PlanRequest;

/// Writes the plan of the engine at the cursor.
pub fn write_plan(state: &mut SessionState, file: &str) -> Vec<Effect> {
    // On the command line, `-` means stdout, which here is the screen.
    if file == "-" {
        state.log_message(
            Severity::Error,
            "no plan was written: - is stdout, which is this screen; name a file",
        );
        return Vec::new();
    }
    let found = state
        .screens
        .whatif
        .engine()
        .and_then(|engine| Some((engine, state.known.proposal(engine)?.clone())));
    let (Some(look), Some((engine, proposal))) = (state.known.look.clone(), found) else {
        state.log_message(
            Severity::Warning,
            "no plan was written: the engine has no routes for the present fabric; p runs it",
        );
        return Vec::new();
    };
    let marks = state.known.marks.clone();
    state.last_line = Some(route_line(state, engine, file));
    for fault in proposal.report.defect_words() {
        state.log_message(Severity::Warning, format!("the plan of {} has findings: {fault}", engine.id));
    }
    state.drafts.insert(PathBuf::from(file), (engine.id, marks.clone()));
    let staged = staged_commands(state, engine, file);
    let plan = Box::new(PlanRequest { look, marks, engine: engine.id, proposal, staged });
    vec![state.begin(format!("writing {file}"), TaskRequest::Write { plan, to: PathBuf::from(file) }).1]
}

/// Writes the recording so far.
pub fn save_recording(state: &mut SessionState, file: &str) -> Vec<Effect> {
    let file = file.trim();
    if file.is_empty() || file == "-" {
        state.log_message(
            Severity::Error,
            "no capture was written: name a file that does not exist yet, as in save a.fdcap",
        );
        return Vec::new();
    }
    state.unsaved.on_their_way = state.unsaved.notes;
    vec![state.begin(format!("writing {file}"), TaskRequest::Save { to: PathBuf::from(file) }).1]
}
