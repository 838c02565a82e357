//! Converts the adapters of this machine for `fabdeck sources`.

use super::adapter_row::{AdapterPortRow, AdapterRow};
use fabdeck_mad::access::SourceError;

pub fn list_adapters() -> Result<Vec<AdapterRow>, SourceError> {
    Ok(fabdeck_live::adapters()?.iter().map(adapter_row).collect())
}

fn adapter_row(from: &fabdeck_live::Adapter) -> AdapterRow {
    AdapterRow {
        name: from.name.clone(),
        node_guid: from.node_guid.map(|guid| guid.to_string()),
        ports: from.ports.len(),
        port_list: from.ports.iter().map(|port| port_row(&from.name, port)).collect(),
    }
}

fn port_row(adapter: &str, port: &fabdeck_live::AdapterPort) -> AdapterPortRow {
    AdapterPortRow {
        number: port.number.value(),
        guid: port.guid.map(|guid| guid.to_string()),
        lid: port.lid.map(|lid| lid.value()),
        manager_lid: port.manager_lid.map(|lid| lid.value()),
        state: port.state.map(|state| state.word()),
        physical_state: port.physical_state.map(|state| state.word()),
        rate_gbps: port.rate_gbps,
        link_layer: port.link_layer.to_string(),
        source: format!("umad:{adapter}:{}", port.number),
    }
}
