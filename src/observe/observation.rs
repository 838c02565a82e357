//! One look at a fabric.

use crate::fabric::{Fabric, Guid, NameMap, Tables};

use super::{CounterSample, Notes, Reading};

/// The subnet manager in charge, as far as the source tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubnetManager {
    pub guid: Guid,
    /// `MASTER`, `STANDBY`, `DISCOVERING`, `NOTACTIVE`, where known.
    pub state: Option<String>,
}

/// What a source said at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observation {
    /// The time the source gives, in its own words where a file has it only as text.
    pub time: Option<String>,
    pub fabric: Fabric,
    pub tables: Tables,
    pub counters: Vec<CounterSample>,
    pub names: NameMap,
    pub subnet_manager: Option<SubnetManager>,
    pub notes: Notes,
    /// How it was read, where it was read from a live fabric.
    pub reading: Option<Reading>,
}

impl Observation {
    /// Something that should be here is not.
    pub fn partial(&self) -> bool {
        self.notes.partial() || self.fabric.nodes().any(|(_, node)| !node.facts.answered)
    }
}
