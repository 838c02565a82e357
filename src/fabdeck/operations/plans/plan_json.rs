//! The JSON of what plans say of routes.

use crate::catalogue::json_type::{JsonType, json_type_of};
use fabdeck_change::{
    CertificateScope, CutOffReport, Plan, StagedTransition, TransientLoss, TransitionReport, UnfailedLoss,
};

/// A plan is a file of its own, with a format of its own.
impl JsonType for Plan {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "object" })
    }
}

json_type_of! {
    struct CertificateScope { switches }

    struct CutOffReport { switches, hosts, aggregation_nodes, pairs }

    struct TransitionReport {
        safe, reason, old_lanes, cycle, cycle_paths, cycle_lane, on_the_way, mixed, mixed_cycle, staged,
    }

    struct StagedTransition { through, asked, commands }

    struct TransientLoss {
        pairs, writes, before, after, worst_broken, worst_looping, worst_interrupted, worst_after, worst_at,
        lasting, ordered; unfailed,
    }

    struct UnfailedLoss { pairs, before, after, worst_broken }
}
