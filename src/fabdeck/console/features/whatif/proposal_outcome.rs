//! What the routes of an engine do to the session.

use super::engine_runs::{ProposalOutcome, has_running_engine, start_next_engine};
use crate::catalogue::severity::Severity;
use crate::console::features::refresh::refresh_screens;
use crate::console::features::timeline::operator_log;
use crate::console::model::background_task::TaskOutcome;
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::TaskId;
use crate::operations::preview::whatif::EngineRow;

impl TaskOutcome for ProposalOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        let Self { engine, outcome, took_ms } = *self;
        let row = EngineRow::new(engine, outcome.as_deref(), Some(took_ms as f64 / 1000.0));
        let row = Box::new(if state.known.tables { row } else { row.without_tables() });
        if let Err(refusal) = &outcome {
            state.log_message(Severity::Warning, format!("{engine}: {refusal}"));
        }
        let refused = outcome.as_ref().err().map(ToString::to_string);
        state.known.proposed.insert(engine, ProposalState::Done { outcome, row });
        if state.answered.0 != state.known.marks {
            state.answered = (state.known.marks.clone(), Vec::new());
        }
        state.answered.1.push((engine, refused));
        let mut effects = start_next_engine(state);
        // All engines of one preview are one action.
        if !has_running_engine(state) {
            state.known.outdated.clear();
            let (_, answered) = std::mem::take(&mut state.answered);
            effects.splice(0..0, operator_log::log_proposals(state, &answered));
        }
        refresh_screens(state);
        effects
    }

    fn digest_text(&self) -> String {
        match &self.outcome {
            Ok(proposal) => {
                format!("proposed {} {:?} {:?}", self.engine, proposal.report, proposal.difference)
            }
            Err(refusal) => format!("proposed {} {refusal}", self.engine),
        }
    }

    fn took_ms(&self) -> Option<u64> {
        Some(self.took_ms)
    }
}
