//! Changes in a session: offers of plans, questions before an action, the states of changes, and the access
//! to them.

mod acting;
mod answering;
mod changer;
mod comparing;
mod dialogue;
mod flow;
mod seen;
mod told;
mod wanting;

pub use acting::{
    can_ask, can_confirm, can_decide, can_keep, can_write, confirm, ends_with_session, extend, roll_back,
    serve,
};
pub use answering::pressed;
pub use changer::{Acceptance, Changer, Changes, Offer, Planned, Unchanging, Writing};
pub use comparing::{Attestations, compared};
pub use dialogue::{BOX, Dialogue, DialogueRow, Question, Stop};
pub use flow::{asked, begun, cancel, changes, looked, offered, tick, wakes_ms};
pub use seen::ChangesSeen;
pub use wanting::{apply, apply_file, apply_lanes, can_apply, works_here};
