//! Keys of the question before a write that change how it is written: `5` and `s`.

use super::apply_actions::begin_offer;
use super::apply_state::{ApplyState, ProposedPlan};
use super::changes_model::ApplyRequest;
use super::dialogue::{Dialogue, DialogueQuestion};
use crate::catalogue::severity::Severity;
use crate::console::model::effect::Effect;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::SessionState;
use crate::operations::changes::changer::{ChangeOffer, PlanSource};
use crate::operations::plans::plan_request::{PlanRequest, WriteMode};
use crate::operations::plans::write_mode_offer::OtherMode;

fn open_question(state: &mut SessionState) -> Option<&mut ApplyState> {
    match &mut state.layer {
        Some(Overlay::Dialogue(dialogue)) => match &mut dialogue.question {
            DialogueQuestion::Apply(apply) => Some(apply),
            _ => None,
        },
        _ => None,
    }
}

/// Makes the plan again in the other mode. The question stays until that plan is there.
pub(super) fn switch_mode(state: &mut SessionState) -> Vec<Effect> {
    let is_replanned = state.known.changes.offering.is_some();
    let Some(apply) = open_question(state) else { return Vec::new() };
    let why = match (&apply.offer.mode.other, &apply.proposed) {
        _ if is_replanned => "5: the plan is being made already; Esc cancels".to_owned(),
        (OtherMode::Refused(why), _) => format!("5: not in five phases: {why}"),
        (OtherMode::Fixed, _) | (_, None) => "5: this plan has one way only to be written".to_owned(),
        (OtherMode::Possible, Some(proposed)) => {
            let mode = match proposed.request.mode {
                WriteMode::AtOnce => WriteMode::FivePhases,
                WriteMode::FivePhases => WriteMode::AtOnce,
            };
            let request = Box::new(PlanRequest { mode, ..proposed.request.as_ref().clone() });
            let proposed = ProposedPlan { request, ..proposed.clone() };
            return begin_offer_of(state, proposed, true);
        }
    };
    state.log_message(Severity::Info, why);
    Vec::new()
}

/// Compares the plan of an engine with the fabric. With `replaces`, its question takes the place of the open one.
pub(super) fn begin_offer_of(
    state: &mut SessionState,
    proposed: ProposedPlan,
    replaces: bool,
) -> Vec<Effect> {
    let planned = PlanSource::Proposed(proposed.request.clone());
    let what = proposed.request.engine.to_owned();
    let line = Some(proposed.line().to_owned());
    begin_offer(state, planned, ApplyRequest { what, line, proposed: Some(proposed), replaces })
}

/// Changes what happens if hosts give no answer.
pub(super) fn change_unanswered(state: &mut SessionState) {
    match open_question(state) {
        Some(apply) if apply.has_phases() => apply.change_unanswered(),
        _ => state.log_message(Severity::Info, "s: only a change in five phases waits for hosts"),
    }
}

/// Replaces the open question by that of the plan in the other mode. Without an open one, the operator has cancelled.
pub(super) fn receive_replacement(
    state: &mut SessionState,
    wanted: ApplyRequest,
    result: Result<Box<ChangeOffer>, String>,
) {
    let ApplyRequest { what, line, proposed, .. } = wanted;
    let Some(apply) = open_question(state) else { return };
    match result {
        Ok(offer) if !offer.applied => {
            let (window_s, unanswered) = (apply.window_s, apply.unanswered);
            let mut question = ApplyState { window_s, ..ApplyState::new(offer, line, proposed) };
            if question.has_phases() {
                question.unanswered = unanswered;
            }
            state.layer = Some(Overlay::Dialogue(Box::new(Dialogue::apply(question))));
        }
        Ok(_) => state.log_message(Severity::Info, format!("{what} changes nothing that way")),
        Err(error) => {
            apply.mode_error = Some(short_error(&error));
            state.log_message(Severity::Error, format!("{what} stays as it was planned: {error}"));
        }
    }
}

/// The first statement of an error, without its code: the row of a dialog has little room.
fn short_error(error: &str) -> String {
    let coded = error.split_once(": ").filter(|(code, _)| code.starts_with("FD-"));
    let text = coded.map_or(error, |(_, text)| text);
    let end = [";", ", and a host"].iter().filter_map(|end| text.find(end)).min();
    text[..end.unwrap_or(text.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::short_error;

    #[test]
    fn an_error_is_cut_after_its_first_statement() {
        let error = "FD-7976: 2 ports of hosts have no agent (node0, node1), and a host without an agent does not leave; start one";
        assert_eq!(short_error(error), "2 ports of hosts have no agent (node0, node1)");
        assert_eq!(short_error("no answer"), "no answer");
    }
}
