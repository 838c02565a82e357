//! The model of jobs in a session.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::tasks::TaskId;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_request::{JobComparisonRequest, JobInput, JobListSource};
use fabdeck_fabric::JobMap;
use fabdeck_fabric::observe::JobSnapshot;
use fabdeck_routing::{Engine, find_engine};

/// Default interval between two job lists.
pub const DEFAULT_INTERVAL_MS: u64 = 30_000;

/// The source of job lists, and the interval.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobSettings {
    pub from: Option<JobListSource>,
    pub interval_ms: u64,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self { from: None, interval_ms: DEFAULT_INTERVAL_MS }
    }
}

/// The model of jobs in a session.
#[derive(Clone, Debug, Default)]
pub struct JobsModel {
    pub settings: JobSettings,
    /// The source at the start of the session.
    pub usual: Option<JobListSource>,
    /// Whether the operator named a source in this session.
    pub named: bool,
    /// The source that replaces the current one once it has answered.
    pub(crate) naming: Option<JobListSource>,
    /// The list of a recording at the moment that is shown, with its form as input.
    pub recorded: Option<(Arc<JobSnapshot>, Arc<JobInput>)>,
    /// Whether Jobs was open in this session. Before, engines leave out the made-up jobs of a simulated fabric, so that
    /// commands can repeat their runs.
    pub(crate) was_open: bool,
    /// The last input, and the time at which it was received.
    pub received: Option<(Arc<JobInput>, u64)>,
    /// Reason why there is no newer list.
    pub trouble: Option<String>,
    pub(crate) asking: Option<TaskId>,
    pub(crate) due_ms: u64,
    pub comparison: Option<Arc<JobComparison>>,
    /// The input of `comparison`; the next field is the task in progress with its input.
    pub(crate) of: Option<JobComparisonRequest>,
    pub(crate) pending: Option<(TaskId, JobComparisonRequest)>,
    /// The change that invalidated the answer of sar.
    pub(crate) gone: Option<&'static str>,
    /// The jobs in the request to engines.
    pub asked_with: Arc<JobMap>,
    /// Text about these jobs, at the time of the request.
    pub asked_words: String,
}

impl JobsModel {
    /// The model at the start of a session with these settings.
    pub fn with_settings(settings: JobSettings) -> Self {
        Self { usual: settings.from.clone(), settings, ..Self::default() }
    }

    /// The snapshot of the loads, which defines their port ids.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.of.as_ref().map(|of| &of.look)
    }

    /// Whether the figures of sar are for other jobs than the current ones.
    pub fn is_outdated(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.proposed.is_some())
            && self.engines_have_other_jobs()
    }

    /// Whether the engines' request has other jobs than the current ones.
    pub fn engines_have_other_jobs(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| *comparison.jobs != *self.asked_with)
    }

    /// The engine that routes for jobs.
    pub(crate) fn sar_engine() -> Option<&'static Engine> {
        find_engine("sar")
    }
}
