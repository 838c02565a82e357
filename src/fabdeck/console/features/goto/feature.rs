//! What the line that goes to anything needs after an event; what a failure costs is also counted for the Map.

use super::cost_tasks::follow_cost;
use super::goto_rows::follow_rows;
use super::name_tasks::follow_index;
use crate::console::features::feature::Feature;
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;

pub const FEATURE: Feature = Feature { follow, ..Feature::NEW };

/// Keeps the rows those of the line, and forgets them once it is closed.
fn follow(state: &mut SessionState) -> Vec<Effect> {
    if state.prompt.as_ref().is_none_or(|prompt| prompt.purpose != Purpose::Command) {
        state.goto.close();
        return follow_cost(state);
    }
    let mut effects: Vec<Effect> = follow_index(state).into_iter().collect();
    effects.extend(follow_rows(state));
    effects.extend(follow_cost(state));
    effects
}
