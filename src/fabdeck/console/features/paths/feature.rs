//! The actions of Paths.

use super::draw;
use super::path_navigation::{show_path, show_users, step_lid};
use crate::console::features::completion::open_prompt as begin_line;
use crate::console::features::feature::Feature;
use crate::console::features::preconditions::{has_fabric, has_paths};
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Paths,
        actions: &[
            new("trace", &["t"], "Follow a path that begins here", show_path)
                .with_argument("[FROM [TO]]")
                .with_precondition(has_fabric),
            new("users", &["U"], "Show the destinations that are reached over this cable", show_users)
                .with_argument("[NODE[PORT]]")
                .with_precondition(has_paths),
            new("from", &["b"], "Where the path begins", |state, _| open_plan_prompt(state, Purpose::From))
                .on_screen(ScreenId::Paths),
            new("to", &["e"], "Where the path ends", |state, _| open_plan_prompt(state, Purpose::To))
                .on_screen(ScreenId::Paths),
            new("lid-next", &[")"], "The path to the next LID of the destination", |state, _| {
                step_lid(state, true)
            })
            .on_screen(ScreenId::Paths),
            new("lid-back", &["("], "The path to the LID before this one", |state, _| step_lid(state, false))
                .on_screen(ScreenId::Paths),
        ],
    }],
    follow: |state| {
        let areas = state.areas();
        state.screens.paths.set_areas(&areas);
        Vec::new()
    },
    draw: draw::draw,
    ..Feature::NEW
};

fn open_plan_prompt(state: &mut SessionState, purpose: Purpose) -> Vec<Effect> {
    begin_line(state, purpose, "");
    Vec::new()
}
