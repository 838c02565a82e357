//! The actions of the watch, and the snapshot that it begins with.

use super::sweep_cycle;
use crate::console::features::feature::Feature;
use crate::console::features::snapshot_change;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::state::LoadState;

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Watch,
        actions: &[
            new("look-again", &["r"], "Read the source again", |state, _| {
                snapshot_change::reload_snapshot(state)
            })
            .with_precondition(|state| match state.loading {
                LoadState::Under(_) => Err("the fabric is being read".to_owned()),
                _ => Ok(()),
            }),
            new("watch", &["W"], "Pause or resume the reading of counters", |state, _| {
                sweep_cycle::toggle_pause(state)
            })
            .with_precondition(|state| {
                match (state.known.watch.live, state.known.watch.settings.interval_ms) {
                    _ if state.known.watch.recorded => {
                        Err("the screens show a recording: Space on the Timeline plays it".to_owned())
                    }
                    (_, 0) => {
                        Err("counters are not watched: interval under [watch] in the configuration is 0s"
                            .to_owned())
                    }
                    (Some(false), _) => Err("this source has only one reading of counters".to_owned()),
                    (None | Some(true), _) => Ok(()),
                }
            }),
        ],
    }],
    rank: 0,
    tick: sweep_cycle::tick,
    next_wake_ms: sweep_cycle::next_wake_ms,
    ..Feature::NEW
};
