//! Writes the plan of an engine to a new file.

use std::path::{Path, PathBuf};

use crate::catalogue::severity::Severity;
use crate::console::features::plan_commands::{route_line, staged_commands};
use crate::console::features::timeline::operator_log;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::plans::plan_request::{PlanRequest, WriteMode};
use fabdeck_routing::RouteProgress;

/// Writes a plan. An existing plan is never overwritten by mistake.
#[derive(Debug)]
pub struct PlanFileTask {
    plan: PlanRequest,
    to: PathBuf,
}

impl BackgroundTask for PlanFileTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.to)
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let text = self.plan.make_text(services.plan_origin());
        let write =
            |text: String| services.write_file(&self.to, text.as_bytes(), "press w and give another name");
        Some(Box::new(PlanFileOutcome { to: self.to.clone(), result: text.and_then(write) }))
    }
}

#[derive(Debug)]
pub struct PlanFileOutcome {
    to: PathBuf,
    result: Result<(), String>,
}

impl TaskOutcome for PlanFileOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        let Self { to, result } = *self;
        let effects = match result {
            Ok(()) => {
                state.log_message(Severity::Info, format!("the plan is in {}", to.display()));
                operator_log::log_plan(state, &to)
            }
            Err(error) => {
                state.drafts.remove(&to);
                state.log_message(Severity::Error, format!("no plan was written: {error}"));
                Vec::new()
            }
        };
        state.plans.insert(to);
        effects
    }

    fn digest_text(&self) -> String {
        format!("written {} {:?}", self.to.display(), self.result)
    }

    fn unwritten_file(&self) -> Option<(&Path, &str)> {
        self.result.as_ref().err().map(|error| (self.to.as_path(), error.as_str()))
    }
}

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
    let mode = WriteMode::AtOnce;
    let plan = PlanRequest { look, marks, engine: engine.id, proposal, staged, mode };
    vec![state.begin(format!("writing {file}"), PlanFileTask { plan, to: PathBuf::from(file) }).1]
}
