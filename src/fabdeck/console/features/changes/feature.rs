//! The actions of Changes.

use super::{apply_actions, change_actions, change_effect, change_requests, draw_course};
use crate::console::features::feature::Feature;
use crate::console::model::action::{ActionGroup, ActionSection, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Changes,
        actions: &[
            new(
                "apply",
                &["a"],
                "Apply the proposal of this engine, or a plan from a file",
                apply_actions::apply,
            )
            .with_argument("[FILE]")
            .with_precondition(apply_actions::can_apply)
            .writes_fabric()
            .prominent(),
            new(
                "confirm",
                &["y"],
                "Confirm a change, or continue it without the hosts that it waits for",
                change_actions::confirm,
            )
            .with_argument("[CHANGE]")
            .with_precondition(change_actions::can_confirm)
            .writes_fabric()
            .prominent(),
            new(
                "rollback",
                &["u"],
                "Roll a change back at once, or undo a confirmed one",
                change_actions::roll_back,
            )
            .with_argument("[CHANGE]")
            .with_precondition(change_actions::can_undo)
            .writes_fabric()
            .prominent(),
            new(
                "extend",
                &["e"],
                "Extend a change by ten minutes, or by the given time",
                change_actions::extend,
            )
            .with_argument("[TIME]")
            .with_precondition(change_actions::can_extend)
            .writes_fabric()
            .prominent(),
        ],
    }],
    rank: 1,
    tick: change_requests::tick,
    follow: change_effect::follow,
    next_wake_ms: change_requests::next_wake_ms,
    draw: draw_course::draw,
    ..Feature::NEW
};
