//! The devices that sheets and plans name: by GUID, by name, by the short name of a switch, or by the host of an adapter.

use rustc_hash::FxHashMap;

use super::{Fabric, Guid, NamedHost, Names, NodeId};

/// The nodes of a fabric by every name that a sheet may use for them.
#[derive(Clone, Debug)]
pub struct DeviceIndex<'f> {
    fabric: &'f Fabric,
    names: &'f Names,
    short: FxHashMap<String, Vec<NodeId>>,
}

impl<'f> DeviceIndex<'f> {
    /// Makes the index of a fabric.
    pub fn new(fabric: &'f Fabric, names: &'f Names) -> Self {
        let mut short: FxHashMap<String, Vec<NodeId>> = FxHashMap::default();
        for (id, node) in fabric.nodes() {
            let mut own: Vec<String> = Vec::with_capacity(4);
            for name in [names.name(id), &node.facts.description] {
                if !node.is_switch() {
                    let host = match names.host_rules().host_of(name) {
                        Some(NamedHost::Host(host)) => Some(host),
                        _ => host_word(name).map(str::to_owned),
                    };
                    own.extend(host.map(|host| host.to_lowercase()));
                }
                own.push(short_name(name));
            }
            own.sort_unstable();
            own.dedup();
            own.into_iter().for_each(|name| short.entry(name).or_default().push(id));
        }
        Self { fabric, names, short }
    }

    /// The nodes that the name of a device may mean: by GUID, by name, else without the case of letters and without the
    /// model behind the name of a switch, and by the host of an adapter. Several where the name is ambiguous.
    pub fn find(&self, device: &str) -> Vec<NodeId> {
        if let Some(id) = parse_guid(device).and_then(|guid| node_with_guid(self.fabric, guid)) {
            return vec![id];
        }
        match self.names.nodes_named(device.trim()) {
            [] => self.short.get(&short_name(device)).cloned().unwrap_or_default(),
            named => named.to_vec(),
        }
    }
}

/// A GUID as an operator types it. Short hexadecimal words are names (`cafe`, `ed01`) unless `0x` says otherwise.
pub(super) fn parse_guid(text: &str) -> Option<Guid> {
    let text = text.trim();
    let marked = text.starts_with("0x") || text.starts_with("0X") || text.len() == 16;
    marked.then(|| Guid::from_hex(text).ok()).flatten()
}

pub(super) fn node_with_guid(fabric: &Fabric, guid: Guid) -> Option<NodeId> {
    fabric.node_by_guid(guid).or_else(|| fabric.port_by_guid(guid).map(|port| fabric.port(port).node))
}

/// The name of a device as sheets write it: `leaf3` of `MF0;Leaf3:MQM9700/U1`, in small letters.
fn short_name(name: &str) -> String {
    let name = name.trim();
    let inner = name.split_once(';').map_or(name, |(_, rest)| rest);
    let short = match inner.rsplit_once(':') {
        Some((short, _)) if inner.len() < name.len() => short,
        _ => name,
    };
    short.to_lowercase()
}

/// The host part of an adapter's description: `node7` of `node7 HCA-1`, `MT25408 ConnectX` has none of its own.
pub(super) fn host_word(name: &str) -> Option<&str> {
    name.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_words_are_guids_where_marked_or_of_full_length() {
        for text in ["0xed01", "0Xed01", " 0xed01 ", "000000000000ed01", "0x000000000000ed01"] {
            assert_eq!(parse_guid(text), Some(Guid(0xed01)), "{text}");
        }
        for text in ["ed01", "0xswitch", "a-name-as-long.."] {
            assert_eq!(parse_guid(text), None, "{text}");
        }
    }
}
