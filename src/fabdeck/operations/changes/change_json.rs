//! The JSON of changes and of their comparison with a fabric.

use crate::catalogue::json_type::{JsonType, json_type_of};
use fabdeck_change::{
    Attestation, AttestationVerdict, ChangePhase, DeviceReport, DeviceState, JournalStep, Migration,
    OtherChange, RollbackRemainder,
};
use fabdeck_fabric::Guid;

/// A plan has its migrations; the JSON of a change has their words.
impl JsonType for Migration {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "object" })
    }
}

json_type_of! {
    enum ChangePhase { Applying, Applied, Confirmed, RollingBack, RolledBack, Incomplete, Refused }

    struct RollbackRemainder { what, why }

    struct JournalStep { time, record, text }

    struct Attestation {
        verdict, entries, differ, unread, superseded, superseded_by, devices, manager, manager_before,
    }

    enum AttestationVerdict { Stands, NoLongerStands, NotKnown, Superseded }

    struct DeviceReport { name, guid as Guid, state, differ, unread, as_before, by }

    enum DeviceState { Overwritten, Restarted, Gone, Silent }

    struct OtherChange { id, state, entries }
}
