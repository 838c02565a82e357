//! The subnet manager of a reading, in words: it may have written what no change wrote.

use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{NameMap, Names};

/// The subnet manager, such as `node01 (0x0002c90300001234, LID 7)`.
pub fn manager_in_charge(look: &Observation) -> Option<String> {
    let guid = look.subnet_manager.as_ref()?.guid;
    let fabric = &look.fabric;
    let Some(port) = fabric.port_by_guid(guid) else { return Some(guid.to_string()) };
    let names = Names::new(fabric, &NameMap::default());
    let name = names.name(fabric.port(port).node);
    let lid = fabric.address_of(port).map(|(lid, _)| format!(", LID {}", lid.value()));
    Some(format!("{name} ({guid}{})", lid.unwrap_or_default()))
}

/// A sentence about which other writer there may be.
pub fn other_writer_words(manager: Option<&str>) -> String {
    match manager {
        Some(manager) => format!("the subnet manager in charge is {manager}: it may have, or another tool"),
        None => "no subnet manager is in charge: another tool may have".to_owned(),
    }
}
