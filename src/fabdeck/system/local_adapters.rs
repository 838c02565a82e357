//! Converts the adapters of this machine for `fabdeck sources`.

use super::adapter_row::{AdapterPortRow, AdapterRow};
use fabdeck_live::{MadLibrary, describe_classes};
use fabdeck_mad::access::SourceError;

pub fn list_adapters(library: MadLibrary) -> Result<Vec<AdapterRow>, SourceError> {
    let all = library.adapters()?;
    Ok(all.iter().map(|adapter| adapter_row(&all, adapter)).collect())
}

fn adapter_row(all: &[fabdeck_live::Adapter], from: &fabdeck_live::Adapter) -> AdapterRow {
    AdapterRow {
        name: from.name.clone(),
        node_guid: from.node_guid.map(|guid| guid.to_string()),
        ports: from.ports.len(),
        port_list: from
            .ports
            .iter()
            .zip(describe_classes(all, from))
            .map(|(port, classes)| port_row(&from.name, port, classes))
            .collect(),
    }
}

fn port_row(adapter: &str, port: &fabdeck_live::AdapterPort, classes: String) -> AdapterPortRow {
    AdapterPortRow {
        number: port.number.value(),
        guid: port.guid.map(|guid| guid.to_string()),
        lid: port.lid.map(|lid| lid.value()),
        manager_lid: port.manager_lid.map(|lid| lid.value()),
        state: port.state.map(|state| state.word()),
        physical_state: port.physical_state.map(|state| state.word()),
        rate_gbps: port.rate_gbps,
        link_layer: port.link_layer.to_string(),
        classes,
        source: format!("umad:{adapter}:{}", port.number),
    }
}
