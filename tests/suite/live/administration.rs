//! Path records, counters and lanes as the simulator answers for them.

use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{Fabric, Lane, Lid, NodeId, ServiceLevel, Sl2Vl};
use fabdeck_live::{ExchangePolicy, Keys, SetTarget, Setter};
use fabdeck_mad::access::{AddressedMad, MadAddress, MadPort};
use fabdeck_mad::{
    ClassPortInfo, CounterBlock, LftBlock, Mad, Method, NodeRecord, PathRecord, PortCounters,
    PortCountersExtended, SMP_DATA, SlToVl, SmInfo, Smp, attribute,
};
use fabdeck_simulator::{LineFaults, SharedSimulator};
use zerocopy::IntoBytes;

use super::{ALL, exchange, fabric, hosts, look_at, route_to, simulated, switches, writable};

const DESTINATION_GID: u64 = 1 << 2;
const SOURCE_GID: u64 = 1 << 3;

/// Where everything lies: with LIDs, as a look finds it.
fn observe(simulator: &SharedSimulator) -> Fabric {
    look_at(&mut simulator.open_port(None).unwrap(), super::TOPOLOGY).fabric
}

fn lid_of(fabric: &Fabric, node: NodeId) -> Lid {
    fabric.ports_of(node).find_map(|(_, port)| port.facts.lid).unwrap()
}

fn gid_of(fabric: &Fabric, node: NodeId) -> [u8; 16] {
    let guid = fabric.ports_of(node).find_map(|(_, port)| port.facts.guid).unwrap();
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&0xFE80_0000_0000_0000_u64.to_be_bytes());
    gid[8..].copy_from_slice(&guid.0.to_be_bytes());
    gid
}

fn administration(port: &mut dyn MadPort, mad: Mad) -> Mad {
    let manager = port.local_port().manager_lid.unwrap();
    let address = MadAddress::for_class(manager, mad.class());
    exchange(port, AddressedMad { mad, address }).unwrap()
}

fn path(port: &mut dyn MadPort, mask: u64, record: PathRecord) -> Mad {
    let mut mad = Mad::administration(Method::GET, attribute::PATH_RECORD, mask);
    *mad.record_mut() = record;
    administration(port, mad)
}

fn record() -> PathRecord {
    *Mad::default().record()
}

fn by_lid(from: Lid, to: Lid) -> (u64, PathRecord) {
    let mask = PathRecord::SOURCE_LID | PathRecord::DESTINATION_LID | PathRecord::COUNT;
    let asked =
        PathRecord { source_lid: from.value().into(), destination_lid: to.value().into(), ..record() };
    (mask, asked)
}

#[test]
fn paths_and_nodes_are_found_by_lid_and_gid() {
    let simulator = simulated(&fabric("kary,k=3,n=2"), LineFaults::default(), 1);
    let fabric = observe(&simulator);
    let mut port = simulator.open_port(None).unwrap();
    let (from, to) = (hosts(&fabric)[2], hosts(&fabric)[7]);
    let (mask, asked) = by_lid(lid_of(&fabric, from), lid_of(&fabric, to));
    let answer = path(&mut port, mask, asked);
    assert!(answer.status().is_ok());
    let told = *answer.record::<PathRecord>();
    assert_eq!((told.source_gid, told.destination_gid), (gid_of(&fabric, from), gid_of(&fabric, to)));
    let asked =
        PathRecord { source_gid: gid_of(&fabric, from), destination_gid: gid_of(&fabric, to), ..record() };
    let answer = path(&mut port, SOURCE_GID | DESTINATION_GID, asked);
    assert_eq!(*answer.record::<PathRecord>(), told);
    // To a switch, whose port 0 has the LID.
    let (mask, asked) = by_lid(lid_of(&fabric, from), lid_of(&fabric, switches(&fabric)[0]));
    assert!(path(&mut port, mask, asked).status().is_ok());

    let node = |port: &mut dyn MadPort, lid: u16| {
        let mut mad = Mad::administration(Method::GET, attribute::NODE_RECORD, 1);
        mad.record_mut::<NodeRecord>().lid = lid.into();
        administration(port, mad)
    };
    let answer = node(&mut port, lid_of(&fabric, to).value());
    let told = answer.record::<NodeRecord>();
    assert_eq!(told.info.guid(), fabric.node(to).guid());
    assert_eq!(told.description.as_text(), fabric.node(to).facts.description);
    assert_eq!(node(&mut port, 4000).status().0, 0x0300, "no record");

    let mad = Mad::administration(Method::GET, attribute::CLASS_PORT_INFO, 0);
    assert_eq!(administration(&mut port, mad).record::<ClassPortInfo>().class_version, 2);
    let mad = Mad::administration(Method::GET, 0x00FF, 0);
    assert!(!administration(&mut port, mad).status().is_ok());
}

#[test]
fn without_a_path_there_is_no_record() {
    let simulator = simulated(&fabric("kary,k=3,n=2"), LineFaults::default(), 1);
    let fabric = observe(&simulator);
    let mut port = writable(&simulator);
    let (from, to) = (hosts(&fabric)[2], hosts(&fabric)[7]);
    let (mask, asked) = by_lid(lid_of(&fabric, from), Lid::new(4000).unwrap());
    assert!(!path(&mut port, mask, asked).status().is_ok(), "nobody has that LID");
    let (mask, asked) = by_lid(lid_of(&fabric, from), lid_of(&fabric, to));
    assert!(path(&mut port, mask, asked).status().is_ok());
    // Every spine sends everything down to the first leaf, and the leaf sends it up again: a loop.
    let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
    let leaf = |fabric: &Fabric, host| {
        let peer = fabric.ports_of(host).find_map(|(_, port)| port.peer).unwrap();
        fabric.port(peer).node
    };
    let first = leaf(&fabric, from);
    for spine in
        switches(&fabric).into_iter().filter(|id| hosts(&fabric).iter().all(|h| leaf(&fabric, *h) != *id))
    {
        let down = fabric
            .ports_of(spine)
            .find(|(_, port)| port.peer.is_some_and(|peer| fabric.port(peer).node == first))
            .map(|(_, port)| port.number.value())
            .unwrap();
        let block = LftBlock { ports: [down; 64] };
        let target = SetTarget { route: route_to(&fabric, spine), guid: None };
        let data: [u8; SMP_DATA] = block.as_bytes().try_into().unwrap();
        setter.set_attribute(&mut port, &target, attribute::LINEAR_FORWARDING, 0, &data).unwrap();
    }
    assert_eq!(path(&mut port, mask, asked).status().0, 0x0300, "the tables lead in a loop");
}

#[test]
fn the_manager_answers_by_lid_through_the_tables() {
    let simulator = simulated(&fabric("kary,k=3,n=2"), LineFaults::default(), 1);
    let fabric = observe(&simulator);
    let far = fabric.node(*hosts(&fabric).last().unwrap()).facts.description.clone();
    let mut port = simulator.open_port(Some(&far)).unwrap();
    let manager = port.local_port().manager_lid.unwrap();
    let ask = |port: &mut dyn MadPort| {
        let smp = Smp::by_lid(Method::GET, attribute::SM_INFO, 0);
        let address = MadAddress::for_class(manager, smp.0.class());
        exchange(port, AddressedMad { mad: smp.0, address })
    };
    let told = Smp(ask(&mut port).unwrap());
    assert_eq!(told.data::<SmInfo>().state(), Some("MASTER"));
    // Cut off in the tables, it is not heard any more.
    let leaf = fabric.ports_of(hosts(&fabric)[8]).find_map(|(_, port)| port.peer).unwrap();
    let target = SetTarget { route: route_to(&fabric, fabric.port(leaf).node), guid: None };
    let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
    setter
        .set_attribute(&mut writable(&simulator), &target, attribute::LINEAR_FORWARDING, 0, &[0xFF; SMP_DATA])
        .unwrap();
    assert!(ask(&mut port).is_none());
}

#[test]
fn counters_stick_where_they_are_narrow_and_are_cleared_only_by_a_set() {
    let simulator = simulated(&fabric("kary,k=3,n=2"), LineFaults::default(), 1);
    let fabric = observe(&simulator);
    let switch = switches(&fabric)[0];
    let number = fabric.ports_of(switch).find(|(_, port)| port.peer.is_some()).unwrap().1.number;
    let values: CounterValues = [
        (Counter::PortXmitDataExtended, Some(1 << 40)),
        (Counter::PortXmitWaitExt, Some(12)),
        (Counter::LinkDownedCounterExt, Some(300)),
        (Counter::LocalLinkIntegrityErrorsExt, Some(99)),
    ]
    .into_iter()
    .collect();
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_counters(switch, number, values));
    let mut port = writable(&simulator);
    let address = |mad: &Mad| MadAddress::for_class(lid_of(&fabric, switch), mad.class());
    let ask = |port: &mut dyn MadPort, method, attribute| {
        let mut mad = Mad::performance(method, attribute, number.value());
        if method == Method::SET {
            let block = mad.performance_data_mut::<PortCounters>();
            (block.counter_select, block.counter_select2) = (0xFFFF.into(), 1);
        }
        let address = address(&mad);
        exchange(port, AddressedMad { mad, address }).unwrap()
    };
    let value = |values: Vec<(Counter, u64)>, wanted: Counter| {
        values.into_iter().find(|(counter, _)| *counter == wanted).unwrap().1
    };
    for round in 0..2 {
        let narrow = ask(&mut port, Method::GET, attribute::PORT_COUNTERS);
        let wide = ask(&mut port, Method::GET, attribute::PORT_COUNTERS_EXTENDED);
        let narrow = |counter| value(narrow.performance_data::<PortCounters>().values(), counter);
        let wide = |counter| value(wide.performance_data::<PortCountersExtended>().values(), counter);
        let counted = |value: u64| if round == 0 { value } else { 0 };
        assert_eq!(narrow(Counter::PortXmitData), counted(u32::MAX.into()));
        assert_eq!(wide(Counter::PortXmitDataExtended), counted(1 << 40));
        assert_eq!(narrow(Counter::PortXmitWait), counted(12));
        assert_eq!(narrow(Counter::LinkDownedCounter), counted(255));
        assert_eq!(wide(Counter::LinkDownedCounterExt), counted(300));
        assert_eq!(narrow(Counter::LocalLinkIntegrityErrors), counted(15));
        if round == 0 {
            let mut reading = simulator.open_port(None).unwrap();
            let mad = Mad::performance(Method::SET, attribute::PORT_COUNTERS, number.value());
            let address = address(&mad);
            let refused =
                reading.send(&AddressedMad { mad, address }, ExchangePolicy::default().timeout).unwrap_err();
            assert!(refused.to_string().contains("FD-4001"), "{refused}");
            ask(&mut port, Method::SET, attribute::PORT_COUNTERS);
        }
    }
}

/// With the optimized form the same tables come with far fewer datagrams; where in-ports differ they are asked apart.
#[test]
fn lanes_are_the_same_in_either_form() {
    let plan = fabric("kary,k=12,n=2");
    let lanes = |optimized: bool, differs: bool| {
        let simulator = simulated(&plan, LineFaults::default(), 1);
        simulator.with_simulator(|simulator| {
            let world = simulator.fabric_mut();
            switches(&plan).into_iter().for_each(|id| world.optimize_lanes(id, optimized));
        });
        if differs {
            let mut table = Sl2Vl::default();
            table.set(ServiceLevel::new(3).unwrap(), Lane::new(1).unwrap());
            let mut data = [0; SMP_DATA];
            data[..8].copy_from_slice(SlToVl::from_table(table).as_bytes());
            let target = SetTarget { route: route_to(&plan, switches(&plan)[0]), guid: None };
            let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
            let mut port = writable(&simulator);
            setter.set_attribute(&mut port, &target, attribute::SL_TO_VL, 0x0102, &data).unwrap();
        }
        let wanted =
            fabdeck_mad::access::ReadOptions { tables: false, multicast: false, counters: false, ..ALL };
        let look = look_at(&mut simulator.open_port(None).unwrap(), wanted);
        assert!(!look.is_partial());
        let phase = look.reading.as_ref().unwrap().phase("lanes").unwrap().clone();
        (look.tables, phase)
    };
    for differs in [false, true] {
        let (plain, optimized) = (lanes(false, differs), lanes(true, differs));
        assert!(plain.0 == optimized.0, "other tables");
        assert!(optimized.1.sent * 8 < plain.1.sent, "{} and {}", optimized.1.sent, plain.1.sent);
        assert_eq!(optimized.1.refused, u64::from(differs), "one out-port has in-ports that differ");
    }
}
