//! The result of comparing a confirmed change with the fabric.

use serde::{Deserialize, Serialize};

use crate::journal::ChangePhase;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttestationVerdict {
    /// Every entry that no newer change wrote holds what the change wrote.
    Stands,
    NoLongerStands,
    /// Nothing differs in what was read, and some entries could not be read.
    NotKnown,
    /// Newer changes wrote every entry of the change.
    Superseded,
}

impl AttestationVerdict {
    pub fn title(self) -> &'static str {
        match self {
            Self::Stands => "stands",
            Self::NoLongerStands => "no longer stands",
            Self::NotKnown => "not known",
            Self::Superseded => "superseded",
        }
    }

    /// The text for a column that says whether a change stands.
    pub fn column_text(self) -> &'static str {
        match self {
            Self::Stands => "yes",
            Self::NoLongerStands => "no",
            Self::NotKnown | Self::Superseded => self.title(),
        }
    }
}

/// How far the fabric holds what a change wrote. An entry is one LID of a forwarding table; any other part counts as
/// one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attestation {
    pub verdict: AttestationVerdict,
    /// Number of entries that the change wrote last, so that they have to hold what it wrote.
    pub entries: u64,
    /// Of these, the number that hold something else, or whose device is missing.
    pub differ: u64,
    /// Of these, the number that could not be read.
    pub unread: u64,
    /// Number of entries that newer changes have written since.
    pub superseded: u64,
    /// The ids of these changes, newest first.
    pub superseded_by: Vec<String>,
    /// Devices with entries that differ or could not be read.
    pub devices: Vec<DeviceReport>,
    /// The subnet manager in charge now.
    pub manager: Option<String>,
    /// The subnet manager at the time of the plan, if it was another.
    #[serde(default)]
    pub manager_before: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceState {
    /// The device holds other entries.
    Overwritten,
    /// The tables of the device are empty, as after a restart.
    Restarted,
    /// The fabric no longer has the device.
    Gone,
    Silent,
}

/// The findings for one switch or adapter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeviceReport {
    pub name: String,
    pub guid: String,
    pub state: DeviceState,
    /// Number of entries that differ; all entries of the change if the device is missing.
    pub differ: u64,
    pub unread: u64,
    /// Number of entries that hold again what they held before the change.
    pub as_before: u64,
    /// Changes from fabdeck's journals that explain entries, newest first.
    pub by: Vec<OtherChange>,
}

/// A change that was rolled back, wholly or in part, and explains entries that differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherChange {
    pub id: String,
    pub state: ChangePhase,
    pub entries: u64,
}
