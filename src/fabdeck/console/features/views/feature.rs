//! The action that opens a view.

use super::open_view::{follow_opening, open_view_line};
use crate::console::features::feature::Feature;
use crate::console::model::action::{ActionGroup, ActionSection, OverlayScope, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::CommandLines,
        actions: &[new(
            "open",
            &[],
            "Open a view, as --open does: links sort=errors:desc; c pressed twice copies its line",
            open_view_line,
        )
        .with_argument("VIEW")
        .over_screens(OverlayScope::Layers)],
    }],
    follow: follow_opening,
    ..Feature::NEW
};
