//! The model of lanes in a session.

use std::sync::Arc;

use super::move_baseline::MoveBaseline;
use super::relief_model::ReliefModel;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::tasks::TaskId;
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::slow_lanes::LaneState;

/// The model of lanes in a session.
#[derive(Clone, Debug, Default)]
pub struct LanesModel {
    pub state: Option<Arc<LaneState>>,
    /// Reason why the state could not be computed.
    pub trouble: Option<String>,
    /// The input of the state.
    pub(crate) of: Option<LaneRequest>,
    pub(crate) pending: Option<(TaskId, LaneRequest)>,
    pub(crate) due_ms: u64,
    /// The waiting when the last move of flows began.
    pub(crate) before_move: Option<MoveBaseline>,
    /// The flows to the hot-spots of the last reading.
    pub relief: ReliefModel,
}

impl LanesModel {
    /// The snapshot of the state, which defines its port ids.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.of.as_ref().map(|of| &of.look)
    }
}
