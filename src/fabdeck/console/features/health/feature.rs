//! The actions of Health.

use super::{acknowledging, draw, problem_actions, ranking};
use crate::console::features::feature::Feature;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::state::SessionState;

/// Screens with charts of one time.
const CHART_SCREENS: &[ScreenId] = &[ScreenId::Health, ScreenId::Links, ScreenId::Timeline];

fn has_charts(state: &SessionState) -> Result<(), String> {
    match state.screen {
        ScreenId::Health | ScreenId::Timeline => Ok(()),
        ScreenId::Links if state.screens.links.page.is_some() => Ok(()),
        _ => {
            Err("the charts are on Health, on Timeline, and on the page of a cable: enter on Links opens one"
                .to_owned())
        }
    }
}

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Screens,
        actions: &[
            new(
                "preview-fix",
                &["p"],
                "Preview the next step of the problem; nothing is written",
                problem_actions::preview_fix,
            )
            .on_screen(ScreenId::Health)
            .with_precondition(problem_actions::has_preview)
            .prominent(),
            new(
                "acknowledge",
                &["x"],
                "Acknowledge the problem: a line asks for a note, or whether that is taken back",
                acknowledging::acknowledge,
            )
            .with_argument("[NOTE]")
            .on_screen(ScreenId::Health)
            .with_precondition(problem_actions::has_problem)
            .writes_file()
            .prominent(),
            new("longer-window", &["+"], "Show a longer time in the charts", |state, _| {
                problem_actions::change_window(state, true)
            })
            .belongs_to(CHART_SCREENS)
            .with_precondition(has_charts)
            .prominent(),
            new("shorter-window", &["-"], "Show a shorter time in the charts", |state, _| {
                problem_actions::change_window(state, false)
            })
            .belongs_to(CHART_SCREENS)
            .with_precondition(has_charts),
        ],
    }],
    // The Timeline derives events once the ranking has begun, so it comes later.
    rank: 0,
    follow: |state| {
        let areas = state.areas();
        let structure = state.screens.map.drawn.structure.clone();
        state.screens.health.set_areas(&areas, structure.as_deref());
        let mut effects = ranking::follow(state);
        effects.extend(acknowledging::follow(state));
        effects
    },
    has_own_panes: |_| true,
    draw: draw::draw,
    ..Feature::NEW
};
