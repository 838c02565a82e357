//! Chooses a port by the usual rule: the first active one, unless the operator names an adapter, a port, or both.

use super::adapter::{Adapter, LinkLayer, PortChoice};
use super::management_pairs::management_pairs;
use super::refusal;
use fabdeck_mad::access::SourceError;

/// The device for subnet management, and the one for all other classes.
#[derive(Clone, Copy, Debug)]
pub struct ChosenPort<'a> {
    pub smi: PortChoice<'a>,
    pub gsi: PortChoice<'a>,
}

pub fn choose_port<'a>(
    adapters: &'a [Adapter],
    adapter: Option<&str>,
    port: Option<u8>,
) -> Result<ChosenPort<'a>, SourceError> {
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
    let is_named = |choice: &PortChoice<'a>| fabric.iter().any(|named| named.is_same(choice));
    let mut pairs = management_pairs(adapters);
    pairs.retain(|pair| is_named(&pair.gsi) || pair.smi.as_ref().is_some_and(is_named));
    let usable: Vec<ChosenPort> =
        pairs.iter().filter_map(|pair| Some(ChosenPort { smi: pair.smi?, gsi: pair.gsi })).collect();
    if usable.is_empty() {
        return Err(refusal::no_subnet_management(&fabric));
    }
    let active = usable.iter().find(|chosen| chosen.smi.is_active());
    let chosen = active.or_else(|| usable.iter().find(|chosen| chosen.smi.is_up()));
    chosen.copied().ok_or_else(|| refusal::all_down(&fabric))
}

/// The ports for subnet management of the planes beside the chosen one.
pub fn other_planes<'a>(adapters: &'a [Adapter], chosen: &ChosenPort<'a>) -> Vec<PortChoice<'a>> {
    let pairs = management_pairs(adapters).into_iter();
    let same = pairs.filter(|pair| pair.gsi.is_same(&chosen.gsi)).filter_map(|pair| pair.smi);
    same.filter(|smi| !smi.is_same(&chosen.smi)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::adapter::AdapterPort;
    use super::super::management_pairs::describe_classes;
    use super::*;
    use fabdeck_fabric::{PortNum, PortState};

    fn port(number: u8, state: PortState, link_layer: LinkLayer) -> AdapterPort {
        let state = Some(state);
        let (guid, lid, manager_lid, physical_state) = (None, None, None, None);
        let number = PortNum(number);
        AdapterPort {
            number,
            guid,
            lid,
            manager_lid,
            state,
            physical_state,
            rate_gbps: 200,
            link_layer,
            is_manager_disabled: false,
        }
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
        chosen_of(&machine, adapter, port)
    }

    /// The name of the port, or of both devices.
    fn chosen_of(machine: &[Adapter], adapter: Option<&str>, port: Option<u8>) -> Result<String, String> {
        let chosen = choose_port(machine, adapter, port).map_err(|e| e.to_string())?;
        let (smi, gsi) = (chosen.smi.name(), chosen.gsi.name());
        Ok(if smi == gsi { gsi } else { format!("{gsi} through {smi}") })
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

    /// One port of an adapter with four planes, as the kernel shows it, and an adapter without.
    fn planes() -> Vec<Adapter> {
        use LinkLayer::InfiniBand;
        use PortState::{Active, Down};
        let with = |mut adapter: Adapter, guid: u64, disabled: bool| {
            for port in &mut adapter.ports {
                port.guid = Some(fabdeck_fabric::Guid(guid));
                port.is_manager_disabled = disabled;
            }
            adapter
        };
        let states = [(Down, InfiniBand), (Active, InfiniBand), (Active, InfiniBand), (Active, InfiniBand)];
        vec![
            with(adapter("mlx5_0", &[(Active, InfiniBand)]), 1, true),
            with(adapter("mlx5_1", &[(Active, InfiniBand)]), 2, false),
            with(adapter("mlx5_2", &[(Active, InfiniBand)]), 3, true),
            with(adapter("smi1", &states), 1, false),
        ]
    }

    #[test]
    fn subnet_management_goes_through_a_plane_and_the_rest_through_the_adapter() {
        let chosen = |adapter, port| chosen_of(&planes(), adapter, port);
        assert_eq!(chosen(Some("mlx5_0"), None).unwrap(), "mlx5_0 port 1 through smi1 port 2");
        assert_eq!(chosen(Some("smi1"), Some(4)).unwrap(), "mlx5_0 port 1 through smi1 port 4");
        assert_eq!(chosen(Some("mlx5_1"), None).unwrap(), "mlx5_1 port 1");
        assert_eq!(chosen(None, None).unwrap(), "mlx5_0 port 1 through smi1 port 2");
        let planes = planes();
        let words = |at: usize| describe_classes(&planes, &planes[at])[0].clone();
        assert!(
            words(0).ends_with("which smi1 port 1, smi1 port 2, smi1 port 3, smi1 port 4 carry"),
            "{}",
            words(0)
        );
        assert_eq!(
            (words(1).as_str(), words(2).as_str()),
            ("all classes", "all classes but subnet management")
        );
        assert_eq!(words(3), "subnet management of mlx5_0 port 1 alone");
        let said = chosen(Some("mlx5_2"), None).unwrap_err();
        assert!(said.contains("FD-4215") && said.contains("mlx5_2 port 1"), "{said}");
        let said = chosen(Some("smi1"), Some(1)).unwrap_err();
        assert!(said.contains("FD-4206") && said.contains("smi1 port 1 is Down"), "{said}");
    }

    #[test]
    fn the_other_planes_are_those_of_the_same_adapter() {
        let planes = planes();
        let names = |adapter| {
            let chosen = choose_port(&planes, Some(adapter), None).unwrap();
            let others = other_planes(&planes, &chosen);
            others.iter().map(PortChoice::name).collect::<Vec<_>>()
        };
        // A plane whose link is down is read too: its reading says so.
        assert_eq!(names("mlx5_0"), ["smi1 port 1", "smi1 port 3", "smi1 port 4"]);
        assert!(names("mlx5_1").is_empty());
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
