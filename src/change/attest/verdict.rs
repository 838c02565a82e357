//! What a comparison with the fabric says of a confirmed change.

use serde::{Deserialize, Serialize};

use crate::journal::Phase;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every entry that no newer change wrote holds what the change wrote.
    Stands,
    NoLongerStands,
    /// Nothing differs in what was read, and some of it could not be read.
    NotKnown,
    /// Newer changes wrote every entry of it.
    Superseded,
}

impl Verdict {
    pub fn title(self) -> &'static str {
        match self {
            Self::Stands => "stands",
            Self::NoLongerStands => "no longer stands",
            Self::NotKnown => "not known",
            Self::Superseded => "superseded",
        }
    }

    /// In a column that asks whether a change stands.
    pub fn cell(self) -> &'static str {
        match self {
            Self::Stands => "yes",
            Self::NoLongerStands => "no",
            Self::NotKnown | Self::Superseded => self.title(),
        }
    }
}

/// An entry is one LID of a forwarding table; any other part that a change writes counts as one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attestation {
    pub verdict: Verdict,
    /// Entries that the change wrote last, so that they have to hold what it wrote.
    pub entries: u64,
    /// Of these, those that hold something else, or whose device is gone.
    pub differ: u64,
    /// Of these, those that could not be read.
    pub unread: u64,
    /// Entries that newer changes have written since.
    pub superseded: u64,
    /// These changes, the newest first.
    pub superseded_by: Vec<String>,
    /// Devices with entries that differ or could not be read.
    pub devices: Vec<DeviceReport>,
    /// The subnet manager that is in charge now.
    pub manager: Option<String>,
    /// The one at the time of the plan, where that was another.
    #[serde(default)]
    pub manager_before: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceState {
    /// It holds other entries.
    Overwritten,
    /// Its tables are empty, as after a start.
    Restarted,
    /// The fabric does not have it any more.
    Gone,
    Silent,
}

/// What differs on one switch or adapter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeviceReport {
    pub name: String,
    pub guid: String,
    pub state: DeviceState,
    /// Entries that differ; all of the change where the device is gone.
    pub differ: u64,
    pub unread: u64,
    /// Entries that hold again what they held before the change.
    pub as_before: u64,
    /// Changes of our journals that account for entries, the newest first.
    pub by: Vec<OtherChange>,
}

/// A change that was not confirmed and left other entries behind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherChange {
    pub id: String,
    pub state: Phase,
    pub entries: u64,
}
