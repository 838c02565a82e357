//! Notices of dFtree on their way: from whoever tells through the manager to hosts and their flows, and back how far they are.

use std::time::Duration;

use fabdeck_fabric::{Fabric, Lid, NodeId, PortNum, ServiceLevel};
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator, LiveOptions, LiveSource, create_simulator};
use fabdeck_mad::access::{
    Actuator, AddressedMad, Clock, MadAddress, MadPort, NoObserver, PortEvent, Source, Surveyor, WriteError,
    WritePort, WriteToken,
};
use fabdeck_mad::{InformInfo, Mad, Method, Notice, PathNotice, PortCountersExtended, Smp, attribute, trap};
use fabdeck_simulator::SharedSimulator;

use super::{TOPOLOGY, exchange, hosts};

const SECOND: Duration = Duration::from_secs(1);

/// A simulator by its words, and its fabric with every LID given.
fn played(words: &str) -> (SharedSimulator, Fabric) {
    let (simulator, _) = create_simulator(words, &LiveOptions::default()).unwrap();
    let fabric = simulator.fabric().snapshot().clone();
    (SharedSimulator::new(simulator), fabric)
}

fn at(simulator: &SharedSimulator, fabric: &Fabric, host: NodeId) -> WritePort {
    let name = fabric.node(host).guid().to_string();
    simulator.open_port(Some(&name)).unwrap().unlock(&WriteToken::for_simulation()).unwrap()
}

fn lid(fabric: &Fabric, host: NodeId) -> Lid {
    let port = fabric.port_of(host, PortNum(1)).unwrap();
    fabric.address_of(port).unwrap().0
}

fn to_slow(hot_spot: Lid, number: u32, hosts: Vec<Lid>) -> PathNotice {
    PathNotice { hot_spot: Some(hot_spot), level: ServiceLevel::new(1).unwrap(), back: false, number, hosts }
}

fn actuator(simulator: &SharedSimulator) -> LiveActuator {
    let port = simulator.open_port(None).unwrap().unlock(&WriteToken::for_simulation()).unwrap();
    let mut actuator = LiveActuator::new("sim", port, ExchangePolicy::default(), Keys::default());
    actuator.read_fabric(TOPOLOGY, &mut NoObserver).unwrap();
    actuator
}

fn inform(port: &mut WritePort, number: u16) {
    let mut mad = Mad::administration(Method::SET, attribute::INFORM_INFO, 0);
    *mad.record_mut() = InformInfo::single_trap(number, true);
    let address = MadAddress::for_class(port.local_port().manager_lid.unwrap(), mad.class());
    assert!(exchange(port, AddressedMad { mad, address }).unwrap().status().is_ok());
}

/// What comes to a port within a second.
fn wait_for_notice(port: &mut WritePort) -> Vec<AddressedMad> {
    let until = port.now() + SECOND / 2;
    let mut all = Vec::new();
    while let Some(PortEvent::Mad(parcel)) = port.receive(until).unwrap() {
        all.push(parcel);
    }
    all
}

#[test]
fn the_manager_acknowledges_a_trap_and_forwards_it_to_subscribers() {
    let (simulator, fabric) = played("sim:kary,k=3,n=2");
    let all = hosts(&fabric);
    let (mut wants, mut other) = (at(&simulator, &fabric, all[3]), at(&simulator, &fabric, all[4]));
    inform(&mut wants, trap::REPATH);
    inform(&mut other, trap::UNPATH);
    let mut teller = at(&simulator, &fabric, all[7]);
    let notice =
        to_slow(lid(&fabric, all[5]), 9, vec![lid(&fabric, all[3])]).notice(lid(&fabric, all[7]).value());
    let mad = Smp::trap(&notice).0;
    let manager = teller.local_port().manager_lid.unwrap();
    let answer =
        exchange(&mut teller, AddressedMad { address: MadAddress::for_class(manager, mad.class()), mad })
            .unwrap();
    assert_eq!((answer.method(), Smp(answer).notice()), (Method::TRAP_REPRESS, notice));
    let heard = wait_for_notice(&mut wants);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!((heard[0].mad.method(), heard[0].address.lid), (Method::REPORT, manager.value()));
    assert_eq!(*heard[0].mad.record::<Notice>(), notice);
    assert_eq!(wait_for_notice(&mut other), [], "it wants the other one");
}

#[test]
fn subscribed_hosts_can_be_asked_one_by_one() {
    let (simulator, fabric) = played("sim:kary,k=3,n=2,agents=node4");
    let all = hosts(&fabric);
    let (mut both, mut one, mut back) =
        (at(&simulator, &fabric, all[5]), at(&simulator, &fabric, all[6]), at(&simulator, &fabric, all[7]));
    [trap::UNPATH, trap::REPATH].into_iter().for_each(|number| inform(&mut both, number));
    inform(&mut one, trap::REPATH);
    inform(&mut back, trap::UNPATH);
    let lids: Vec<Lid> = all.iter().map(|host| lid(&fabric, *host)).collect();
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    let listening = |source: &mut LiveSource| {
        let told = source.find_agents(&lids).unwrap();
        assert!(told.iter().all(Option::is_some), "{told:?}");
        told.iter()
            .zip(&all)
            .filter(|(told, _)| **told == Some(true))
            .map(|(_, host)| *host)
            .collect::<Vec<_>>()
    };
    let named = fabric.nodes().find(|(_, node)| node.facts.description.starts_with("node4")).unwrap().0;
    let wanted = |hosts: &[NodeId]| {
        let mut wanted: Vec<NodeId> = hosts.iter().copied().chain([named]).collect();
        wanted.sort();
        wanted.dedup();
        wanted
    };
    assert_eq!(listening(&mut source), wanted(&[all[5], all[6]]));
    assert_eq!(source.port().traffic().write_count(), 0);
    // Nobody there.
    assert_eq!(source.find_agents(&[Lid::new(999).unwrap()]).unwrap(), [None]);
}

/// What a client at a host is told of its flows.
fn flows(port: &mut WritePort) -> Vec<(u16, u8)> {
    let mut all = Vec::new();
    loop {
        let mad = Mad::query_flows(all.len() as u32);
        let address = MadAddress::for_class(port.local_port().lid.unwrap(), mad.class());
        let answer = exchange(port, AddressedMad { mad, address }).unwrap();
        let page = *answer.host_flows();
        all.extend(page.entries().iter().map(|flow| (flow.lid.get(), flow.level)));
        if page.entries().is_empty() || all.len() >= usize::from(page.all.get()) {
            return all;
        }
    }
}

#[test]
fn flows_of_a_host_are_sent_to_its_agent_and_moved() {
    for traffic in ["uniform", "permutation", "shift:message=100000", "hotspot:share=20%:level=2"] {
        let (simulator, fabric) = played(&format!("sim:kary,k=9,n=2,traffic={traffic}"));
        let all = hosts(&fabric);
        let mut port = at(&simulator, &fabric, all[70]);
        let before = flows(&mut port);
        let expected = if traffic == "permutation" { 1 } else { 80 };
        assert_eq!(before.len(), expected, "{traffic}");
        let own = port.local_port().lid.unwrap();
        assert!(before.iter().all(|(lid, _)| *lid != own.value()));
        let (hot, held) = before[0];
        assert_eq!(
            held,
            if traffic.starts_with("hotspot") { 2 } else { 0 },
            "the first host is the hot-spot"
        );
        let set = |port: &mut WritePort, to: Lid| {
            let mad = Mad::move_flows(hot, 5);
            let answer =
                exchange(port, AddressedMad { address: MadAddress::for_class(to, mad.class()), mad });
            answer.map(|answer| answer.flow_level().moved.get())
        };
        assert_eq!(set(&mut port, lid(&fabric, all[69])), None, "it is another host's");
        assert_eq!((set(&mut port, own), set(&mut port, own)), (Some(1), Some(0)));
        let mut wanted = before.clone();
        wanted[0].1 = 5;
        assert_eq!(flows(&mut port), wanted, "{traffic}");
        // It goes on.
        let sent = |port: &mut WritePort| {
            wait_for_notice(port);
            let mad = Mad::performance(Method::GET, attribute::PORT_COUNTERS_EXTENDED, 1);
            let answer =
                exchange(port, AddressedMad { address: MadAddress::for_class(own, mad.class()), mad })
                    .unwrap();
            answer.performance_data::<PortCountersExtended>().transmit_packets.get()
        };
        let first = sent(&mut port);
        assert!(sent(&mut port) > first, "{traffic}");
    }
}

#[test]
fn agents_of_the_fabric_follow_and_say_so() {
    let (simulator, fabric) = played("sim:kary,k=3,n=2,traffic=uniform,agents=all");
    let all = hosts(&fabric);
    let lids: Vec<Lid> = all.iter().map(|host| lid(&fabric, *host)).collect();
    let mut actuator = actuator(&simulator);
    let level = |host: usize, to: usize| {
        let flows = simulator.with_simulator(|simulator| simulator.fabric().flows_at(all[host], PortNum(1)));
        flows.iter().find(|(lid, _)| *lid == lids[to].value()).unwrap().1
    };
    let told = to_slow(lids[8], 3, vec![lids[2], lids[4]]);
    let followed =
        actuator.notify(std::slice::from_ref(&told), &[lids[2], lids[4], lids[5]], SECOND).unwrap();
    assert_eq!(followed, [lids[2], lids[4]]);
    assert_eq!([2, 4, 5].map(|host| level(host, 8)), [1, 1, 0]);
    assert_eq!(level(2, 7), 0, "flows to others stay");
    // Told again they have it done already; back again to where they were.
    assert_eq!(actuator.notify(&[told], &[lids[2]], SECOND).unwrap(), [lids[2]]);
    let back = PathNotice { back: true, level: ServiceLevel::default(), ..to_slow(lids[8], 3, Vec::new()) };
    assert_eq!(actuator.notify(&[back], &lids[1..], SECOND).unwrap().len(), 8);
    assert_eq!([2, 4, 5].map(|host| level(host, 8)), [0, 0, 0]);
}

#[test]
fn a_silent_manager_is_distinguished_from_silent_hosts() {
    let (simulator, fabric) = played("sim:kary,k=3,n=2");
    let all = hosts(&fabric);
    let told = [to_slow(lid(&fabric, all[8]), 3, Vec::new())];
    let mut port = actuator(&simulator);
    assert_eq!(port.notify(&told, &[lid(&fabric, all[2])], SECOND).unwrap(), [], "nobody has an agent");
    assert_eq!(port.notify(&told, &[], Duration::ZERO).unwrap(), []);
    let sits = simulator.with_simulator(|simulator| simulator.fabric().client_node(None)).unwrap();
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(sits, true));
    let failed = port.notify(&told, &[lid(&fabric, all[2])], SECOND).unwrap_err();
    assert!(matches!(&failed, WriteError::Silent(words) if words.contains("FD-4522")), "{failed}");
}
