//! The actions of the tour. They belong to no screen.

use super::tour_steps::{follow_tour, go_to_next_step, go_to_previous_step, has_tour, toggle_tour};
use crate::console::features::feature::Feature;
use crate::console::model::action::{ActionGroup, ActionSection, OverlayScope, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Navigation,
        actions: &[
            new("tour", &[], "Take the tour through the live screens, or end it", toggle_tour)
                .over_screens(OverlayScope::Layers),
            new("next-step", &["."], "The next step of the tour", go_to_next_step)
                .over_screens(OverlayScope::Layers)
                .with_precondition(has_tour),
            new("previous-step", &[","], "The step of the tour before", go_to_previous_step)
                .over_screens(OverlayScope::Layers)
                .with_precondition(has_tour),
        ],
    }],
    follow: follow_tour,
    ..Feature::NEW
};
