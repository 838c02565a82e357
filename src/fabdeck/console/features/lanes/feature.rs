//! The actions of Lanes.

use super::{draw, slow_lanes};
use crate::console::features::feature::Feature;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Lanes,
        actions: &[new("move-back", &["B"], "Move all flows back from the slow lane", slow_lanes::move_back)
            .belongs_to(&[ScreenId::Lanes])
            .with_precondition(slow_lanes::can_move_back)
            .writes_fabric()
            .prominent()],
    }],
    follow: slow_lanes::tick,
    next_wake_ms: slow_lanes::next_wake_ms,
    draw: draw::draw,
    ..Feature::NEW
};
