//! Compares confirmed changes with the fabric: whether it still holds what they wrote, and if not, who may have written
//! since.

mod attestation_text;
mod comparison;
mod entry_claims;
mod history;
mod verdict;

pub use comparison::{ComparedFabric, compare_changes};
pub use history::{ChangeHistory, merge_histories};
pub use verdict::{Attestation, AttestationVerdict, DeviceReport, DeviceState, OtherChange};
