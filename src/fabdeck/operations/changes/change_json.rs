//! The JSON of changes and of their comparison with a fabric.

use crate::catalogue::json_type::json_type_of;
use fabdeck_change::{
    Attestation, AttestationVerdict, ChangePhase, DeviceReport, DeviceState, JournalStep, OtherChange,
    RollbackRemainder,
};
use fabdeck_fabric::Guid;

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
