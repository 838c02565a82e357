//! The actions of panes. They belong to no screen.

use super::kept_sizes;
use super::pane_actions::{focus_next, has_panes, move_border, reset_panes, toggle_zoom};
use super::pins::{follow_pin, has_details, toggle_pin};
use crate::console::features::feature::Feature;
use crate::console::features::screen::CursorDirection;
use crate::console::model::action::{ActionGroup, ActionSection, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Navigation,
        actions: &[
            new("next-pane", &["tab"], "Give the keys to the next pane", |state, _| focus_next(state, true))
                .with_precondition(has_panes)
                .prominent(),
            new("previous-pane", &["shift-tab"], "Give the keys to the pane before", |state, _| {
                focus_next(state, false)
            })
            .with_precondition(has_panes),
            new(
                "zoom",
                &["Z"],
                "Give the pane that has the keys the whole body, or show all panes again",
                toggle_zoom,
            )
            .with_precondition(has_panes)
            .prominent(),
            new(
                "pin",
                &["P"],
                "Keep the details on the row while the cursor goes on, or let them follow it again",
                toggle_pin,
            )
            .with_precondition(has_details),
            new("border-left", &["ctrl-left"], "Move the border of the pane to the left", |state, _| {
                move_border(state, CursorDirection::Left)
            })
            .with_precondition(has_panes),
            new("border-right", &["ctrl-right"], "Move the border of the pane to the right", |state, _| {
                move_border(state, CursorDirection::Right)
            })
            .with_precondition(has_panes),
            new("border-up", &["ctrl-up"], "Move the border of the pane up", |state, _| {
                move_border(state, CursorDirection::Up)
            })
            .with_precondition(has_panes),
            new("border-down", &["ctrl-down"], "Move the border of the pane down", |state, _| {
                move_border(state, CursorDirection::Down)
            })
            .with_precondition(has_panes),
            new("reset-size", &[], "Move the borders of this screen back to their first places", reset_panes),
        ],
    }],
    follow: |state| {
        follow_pin(state);
        kept_sizes::follow(state)
    },
    ..Feature::NEW
};
