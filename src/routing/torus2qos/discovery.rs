//! How coordinates are found: by the operator's description or from the cabling.

use fabdeck_fabric::{Fabric, Faults, SwitchGraph, TorusDescription};

use super::coordinates::TorusCoordinates;
use super::{cabling, seed_search};

impl TorusCoordinates {
    /// Finds the coordinates by a description, or from consistent cabling; else the reason why there are none. Failures
    /// that are marked do not count.
    pub fn find(fabric: &Fabric, description: Option<&TorusDescription>) -> Result<Self, String> {
        let graph = SwitchGraph::new(fabric, &Faults::new());
        match description {
            Some(description) => seed_search::find_places(fabric, &graph, description),
            None => cabling::find_places(fabric, &graph),
        }
    }
}
