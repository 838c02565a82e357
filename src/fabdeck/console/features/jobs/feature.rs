//! The actions of Jobs.

use super::jobs_panes::JobsPanes;
use super::{draw, job_strips, running_jobs};
use crate::console::features::feature::Feature;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
    section: ActionSection::Jobs,
    actions: &[
    new(
        "jobs",
        &[],
        "Name the source of the running jobs: a list in a file, Slurm, or (`usual`) the source that the console began with",
        running_jobs::name_source,
    )
    .with_argument("[FILE|slurm|usual]")
    .belongs_to(&[ScreenId::Jobs]),
    ],
}],
    follow: |state| {
        let effects = running_jobs::tick(state);
        job_strips::follow(state);
        effects
    },
    next_wake_ms: running_jobs::next_wake_ms,
    cancels_first: |state| state.current().table().filter.is_empty() && state.has_engine_under_way(),
    has_own_panes: |state| JobsPanes::new(&state.areas()).is_some(),
    draw: draw::draw,
    ..Feature::NEW
};
