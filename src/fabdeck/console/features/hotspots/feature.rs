//! The drawing and the actions of Hot-spots.

use super::{draw, relief};
use crate::console::features::feature::Feature;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Navigation,
        actions: &[
            new("hot-spot-next", &[")"], "The backlog of the next hot-spot", |state, _| turn(state, true))
                .on_screen(ScreenId::Hotspots)
                .with_precondition(has_several),
            new("hot-spot-back", &["("], "The backlog of the hot-spot before this one", |state, _| {
                turn(state, false)
            })
            .on_screen(ScreenId::Hotspots)
            .with_precondition(has_several),
            new(
                "preview-relief",
                &["p"],
                "Show which flows would move to the slow lane; nothing is written",
                relief::preview_relief,
            )
            .on_screen(ScreenId::Hotspots)
            .with_precondition(relief::has_relief)
            .prominent(),
            new("its-job", &["J"], "Open the job on the host of this port", relief::open_job)
                .on_screen(ScreenId::Hotspots)
                .with_precondition(relief::has_job),
        ],
    }],
    has_own_panes: draw::has_own_panes,
    draw: draw::draw,
    ..Feature::NEW
};

/// Checks that there is another hot-spot.
fn has_several(state: &SessionState) -> Result<(), String> {
    let spots = state.known.watch.reading.as_ref().map_or(0, |reading| reading.backlogs.len());
    match spots {
        0 => Err("no adapter is a hot-spot".to_owned()),
        1 => Err("there is only one hot-spot".to_owned()),
        _ => Ok(()),
    }
}

fn turn(state: &mut SessionState, forward: bool) -> Vec<Effect> {
    let SessionState { screens, known, .. } = state;
    screens.hotspots.turn_backlog(known, forward);
    Vec::new()
}
