//! A topology of a study: a fabric by name, made anew whenever it is needed, or a stored one.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::NameMap;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::Observation;

#[derive(Debug)]
pub struct StudyTopology {
    /// The name in cells and tables. That of a stored fabric ends with a hash of its file.
    pub text: String,
    pub family: String,
    pub redundancy: Option<u32>,
    fabric: TopologyFabric,
}

#[derive(Debug)]
enum TopologyFabric {
    Named(Box<FabricSpec>),
    Stored(Arc<Snapshot>),
}

impl StudyTopology {
    pub fn named(spec: FabricSpec) -> Self {
        Self {
            text: spec.to_string(),
            family: spec.entry().name.to_owned(),
            redundancy: Some(spec.redundancy()),
            fabric: TopologyFabric::Named(Box::new(spec)),
        }
    }

    /// A fabric of a file of the study's folder. `bytes` are those of the file.
    pub fn stored(name: &str, bytes: &[u8], snapshot: Snapshot) -> Self {
        let hash = blake3::hash(bytes).to_hex();
        let text = format!("{}@{}", name.replace([' ', '\n', '='], "_"), &hash[..16]);
        Self {
            text,
            family: "file".to_owned(),
            redundancy: None,
            fabric: TopologyFabric::Stored(Arc::new(snapshot)),
        }
    }

    /// The fabric without failures.
    pub fn load(&self) -> Result<Arc<Snapshot>, String> {
        match &self.fabric {
            TopologyFabric::Stored(snapshot) => Ok(Arc::clone(snapshot)),
            TopologyFabric::Named(spec) => {
                let fabric = generate(spec).map_err(|error| format!("{}: {error}", self.text))?.fabric;
                let observation = Observation { fabric, ..Observation::default() };
                Ok(Arc::new(Snapshot::new(format!("sim:{}", self.text), observation, &NameMap::default())))
            }
        }
    }
}
