//! Which device of a port carries which class. An adapter with planes shows one device for all classes but subnet
//! management (GSI), and another with a port for each plane for subnet management (SMI). All have the same port GUID.

use std::collections::BTreeMap;

use super::adapter::{Adapter, LinkLayer, PortChoice};
use fabdeck_fabric::Guid;

/// The device for subnet management, and the one for all other classes: nearly always the same.
#[derive(Clone, Copy, Debug)]
pub struct ManagementPair<'a> {
    /// None if this port carries no subnet management at all.
    pub smi: Option<PortChoice<'a>>,
    pub gsi: PortChoice<'a>,
}

/// The pairs of all InfiniBand ports, in the order of the ports for all other classes.
pub fn management_pairs(adapters: &[Adapter]) -> Vec<ManagementPair<'_>> {
    let ports = || {
        let all = adapters
            .iter()
            .flat_map(|adapter| adapter.ports.iter().map(move |port| PortChoice { adapter, port }));
        all.filter(|choice| choice.port.link_layer == LinkLayer::InfiniBand)
    };
    let mut by_guid = BTreeMap::<Guid, Vec<PortChoice>>::new();
    for choice in ports() {
        by_guid.entry(choice.port.guid.unwrap_or(Guid(0))).or_default().push(choice);
    }
    let mut pairs = Vec::new();
    for choice in ports() {
        let disabled = choice.port.is_manager_disabled;
        let of_guid = choice.port.guid.and_then(|guid| by_guid.get(&guid)).map_or(&[][..], Vec::as_slice);
        let gsi = of_guid.iter().find(|other| other.port.is_manager_disabled);
        let has_smi = of_guid.iter().any(|other| !other.port.is_manager_disabled);
        match (disabled, gsi) {
            (false, Some(gsi)) => pairs.push(ManagementPair { smi: Some(choice), gsi: *gsi }),
            (false, None) => pairs.push(ManagementPair { smi: Some(choice), gsi: choice }),
            // The pairs of its planes have it.
            (true, _) if has_smi => {}
            (true, _) => pairs.push(ManagementPair { smi: None, gsi: choice }),
        }
    }
    let place = |gsi: &PortChoice| ports().position(|choice| choice.is_same(gsi));
    pairs.sort_by_key(|pair| place(&pair.gsi));
    pairs
}

/// Which classes of datagrams the ports of an adapter carry, in words: one text for each port.
pub fn describe_classes(adapters: &[Adapter], adapter: &Adapter) -> Vec<String> {
    let pairs = management_pairs(adapters);
    let describe = |port| {
        let choice = PortChoice { adapter, port };
        let is = |other: &PortChoice| other.is_same(&choice);
        match pairs.iter().find(|pair| is(&pair.gsi) || pair.smi.as_ref().is_some_and(is)) {
            None => "no subnet to manage".to_owned(),
            Some(ManagementPair { smi: None, .. }) => "all classes but subnet management".to_owned(),
            Some(ManagementPair { smi: Some(smi), gsi }) if smi.is_same(gsi) => "all classes".to_owned(),
            Some(pair) if is(&pair.gsi) => {
                let planes = pairs.iter().filter(|pair| is(&pair.gsi)).filter_map(|pair| pair.smi);
                let planes: Vec<String> = planes.map(|smi| smi.name()).collect();
                format!("all classes but subnet management, which {} carry", planes.join(", "))
            }
            Some(pair) => format!("subnet management of {} alone", pair.gsi.name()),
        }
    };
    adapter.ports.iter().map(describe).collect()
}
