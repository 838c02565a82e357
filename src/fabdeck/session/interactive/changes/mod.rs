//! Changes in a session: offers of plans, questions before an action, the states of changes, and the access
//! to them.

mod apply_actions;
mod change_actions;
mod change_messages;
mod change_requests;
mod changer;
mod changes_model;
mod comparison;
mod dialogue;
mod dialogue_keys;

pub use apply_actions::{apply, apply_file, apply_lanes, can_apply, is_key_active};
pub use change_actions::{
    ask_if_change_ends, can_ask, can_confirm, can_decide, can_extend, can_write, confirm, extend, roll_back,
    set_link_service,
};
pub use change_requests::{
    cancel_offer, next_wake_ms, receive_answer, receive_begun, receive_changes, receive_offer, tick,
    update_after_snapshot,
};
pub use changer::{Acceptance, ChangeOffer, ChangeOverview, Changer, NoChanger, PlanSource, WriteAccess};
pub use changes_model::ChangesModel;
pub use comparison::{Attestations, receive_comparison};
pub use dialogue::{CHECKBOX_WIDTH, Dialogue, DialogueFocus, DialogueQuestion, DialogueRow};
pub use dialogue_keys::handle_key;
