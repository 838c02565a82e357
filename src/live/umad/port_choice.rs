//! Chooses a port by the usual rule: the first active one, unless the operator names an adapter, a port, or both.

use super::adapter::{Adapter, LinkLayer, PortChoice};
use super::refusal;
use fabdeck_mad::access::SourceError;

pub fn choose_port<'a>(
    adapters: &'a [Adapter],
    adapter: Option<&str>,
    port: Option<u8>,
) -> Result<PortChoice<'a>, SourceError> {
    if adapters.is_empty() {
        return Err(refusal::no_adapter());
    }
    let named = |candidate: &&Adapter| adapter.is_none_or(|name| candidate.name == name);
    let named: Vec<&Adapter> = adapters.iter().filter(named).collect();
    if let (true, Some(name)) = (named.is_empty(), adapter) {
        return Err(refusal::no_such_adapter(name, adapters));
    }
    let every: Vec<PortChoice> = named
        .iter()
        .flat_map(|adapter| adapter.ports.iter().map(|port| PortChoice { adapter, port }))
        .collect();
    let meant = |choice: &&PortChoice<'a>| port.is_none_or(|number| choice.port.number.value() == number);
    let meant: Vec<PortChoice> = every.iter().filter(meant).copied().collect();
    if meant.is_empty() {
        return Err(refusal::no_such_port(adapter, port, &every));
    }
    let fabric: Vec<PortChoice> =
        meant.iter().filter(|choice| choice.port.link_layer == LinkLayer::InfiniBand).copied().collect();
    if fabric.is_empty() {
        return Err(refusal::not_infiniband(&meant));
    }
    let active = fabric.iter().find(|choice| choice.is_active());
    let chosen = active.or_else(|| fabric.iter().find(|choice| choice.is_up()));
    chosen.copied().ok_or_else(|| refusal::all_down(&fabric))
}

#[cfg(test)]
mod tests {
    use super::super::adapter::AdapterPort;
    use super::*;
    use fabdeck_fabric::{PortNum, PortState};

    fn port(number: u8, state: PortState, link_layer: LinkLayer) -> AdapterPort {
        let state = Some(state);
        let (guid, lid, manager_lid, physical_state) = (None, None, None, None);
        let number = PortNum(number);
        AdapterPort { number, guid, lid, manager_lid, state, physical_state, rate_gbps: 200, link_layer }
    }

    fn adapter(name: &str, ports: &[(PortState, LinkLayer)]) -> Adapter {
        let ports = (1..).zip(ports).map(|(at, (state, layer))| port(at, *state, layer.clone())).collect();
        Adapter { name: name.to_owned(), node_guid: None, ports }
    }

    fn machine() -> Vec<Adapter> {
        use LinkLayer::{Ethernet, InfiniBand};
        use PortState::{Active, Down, Init};
        vec![
            adapter("mlx5_0", &[(Active, Ethernet)]),
            adapter("mlx5_1", &[(Down, InfiniBand), (Init, InfiniBand)]),
            adapter("mlx5_2", &[(Active, InfiniBand), (Active, InfiniBand)]),
            adapter("mlx5_3", &[]),
        ]
    }

    fn chosen(adapter: Option<&str>, port: Option<u8>) -> Result<String, String> {
        let machine = machine();
        choose_port(&machine, adapter, port).map(|choice| choice.name()).map_err(|e| e.to_string())
    }

    #[track_caller]
    fn refused(adapter: Option<&str>, port: Option<u8>, parts: &[&str]) {
        let said = chosen(adapter, port).unwrap_err();
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }

    #[test]
    fn the_first_active_port_of_what_is_named() {
        assert_eq!(chosen(None, None).unwrap(), "mlx5_2 port 1");
        assert_eq!(chosen(None, Some(2)).unwrap(), "mlx5_2 port 2");
        assert_eq!(chosen(Some("mlx5_2"), None).unwrap(), "mlx5_2 port 1");
        assert_eq!(chosen(Some("mlx5_2"), Some(2)).unwrap(), "mlx5_2 port 2");
        // No subnet manager has set this adapter up.
        assert_eq!(chosen(Some("mlx5_1"), None).unwrap(), "mlx5_1 port 2");
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_what_is_there() {
        refused(Some("mlx5_1"), Some(1), &["FD-4206", "mlx5_1 port 1 is Down"]);
        refused(Some("mlx5_0"), None, &["FD-4207", "mlx5_0 port 1 is Ethernet"]);
        refused(Some("mlx4_0"), None, &["FD-4203", "'mlx4_0'", "mlx5_0, mlx5_1, mlx5_2, mlx5_3"]);
        refused(
            Some("mlx5_2"),
            Some(3),
            &["FD-4204", "mlx5_2 has no port 3", "mlx5_2 port 1, mlx5_2 port 2"],
        );
        refused(None, Some(7), &["FD-4204", "no adapter has a port 7", "mlx5_1 port 2"]);
        refused(Some("mlx5_3"), None, &["FD-4204", "mlx5_3 has no port that can be read"]);
        assert!(choose_port(&[], None, None).unwrap_err().to_string().contains("FD-4202"));
    }
}
