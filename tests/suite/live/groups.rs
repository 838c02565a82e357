//! Multicast groups from the subnet manager: tables of many packets, transfers that fail, and members by port.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use fabdeck_fabric::observe::{DeviceAnswer, JoinState, MulticastGroup, Observation};
use fabdeck_fabric::{Fabric, Guid, NodeId, PartitionKey, PortNum};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::{CaptureReader, GroupRecord};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source};
use fabdeck_simulator::{LineFaults, Share, SharedSimulator, SimulatedFabric, TransferFault};

use super::{TOPOLOGY, fabric, hosts, look_at, simulated, switches};
use crate::captures::sample_fabric::{BEGUN, Memory, header};

const GROUPS: ReadOptions = ReadOptions { groups: true, ..TOPOLOGY };
const BROADCAST: &str = "ff12:401b:ffff::ffff:ffff";

fn mgid(number: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xFF12, 0x401B, 0x8010, 0, 0, 0, 0, number)
}

/// Adds groups in which hosts are joined by turns: in group n those whose number divides n, as full, non- and send-only
/// members.
fn add_groups(world: &mut SimulatedFabric, planned: &Fabric, count: u16) {
    for number in 1..=count {
        let members: Vec<(NodeId, PortNum, u8)> = (1_u16..)
            .zip(hosts(planned))
            .filter(|(host, _)| number.is_multiple_of(*host))
            .map(|(host, node)| (node, PortNum(1), 1 << (host % 3)))
            .collect();
        world.add_group(mgid(number), 0xC000 + number, PartitionKey::new(0x8010), &members);
    }
}

fn with_groups(planned: &Fabric, line: LineFaults, count: u16, fault: TransferFault) -> SharedSimulator {
    let simulator = simulated(planned, line, 1);
    simulator.with_simulator(|simulator| {
        let world = simulator.fabric_mut();
        add_groups(world, planned, count);
        world.set_transfer_fault(fault);
    });
    simulator
}

fn read(simulator: &SharedSimulator) -> Observation {
    look_at(&mut simulator.open_port(None).unwrap(), GROUPS)
}

fn port_guid(look: &Observation, node: NodeId) -> Guid {
    look.fabric.port(look.fabric.port_of(node, PortNum(1)).unwrap()).facts.guid.unwrap()
}

fn group(look: &Observation, mgid: Ipv6Addr) -> &MulticastGroup {
    look.groups.groups.iter().find(|group| group.mgid == mgid).unwrap()
}

/// Whether all groups are there, with the members that the simulator has.
fn assert_complete(look: &Observation, planned: &Fabric, count: u16) {
    assert_eq!((look.groups.answer, look.groups.members), (DeviceAnswer::Known(()), DeviceAnswer::Known(())));
    assert_eq!(look.groups.groups.len(), usize::from(count) + 1);
    assert_eq!(group(look, BROADCAST.parse().unwrap()).members.len(), hosts(planned).len());
    for number in 1..=count {
        let members: BTreeMap<Guid, JoinState> = (1_u16..)
            .zip(hosts(planned))
            .filter(|(host, _)| number.is_multiple_of(*host))
            .map(|(_, node)| (port_guid(look, node), JoinState(0)))
            .collect();
        let held = group(look, mgid(number));
        assert_eq!(
            (held.mlid, held.key.number(), &held.members),
            (0xC000 + number, 0x10, &members),
            "{number}"
        );
    }
}

#[test]
fn groups_of_many_packets_come_whole_with_their_members() {
    let planned = fabric("kary,k=2,n=2");
    for count in [0, 1, 2, 3, 4, 40, 400] {
        let look = read(&with_groups(&planned, LineFaults::default(), count, TransferFault::None));
        assert_complete(&look, &planned, count);
        assert!(!look.is_partial(), "{count}: {:?}", look.notes);
        // Each packet of the list of groups is acknowledged; a host's own list has a packet or more, too.
        let phases = &look.reading.as_ref().unwrap().phases;
        let phase = phases.iter().find(|phase| phase.name == "group records").unwrap();
        let packets = (u64::from(count) + 1).saturating_mul(56).div_ceil(200);
        assert!(phase.answered >= packets + hosts(&planned).len() as u64, "{count}: {phase:?}");
        assert_eq!(phase.sent, phase.answered + 1 + hosts(&planned).len() as u64, "{count}: {phase:?}");
    }
}

#[test]
fn lost_repeated_and_late_packets_change_nothing() {
    let planned = fabric("kary,k=2,n=2");
    let share = |text: &str| Share::parse(text).unwrap();
    let line = LineFaults {
        loss: share("2%"),
        duplicate: share("10%"),
        reorder: share("10%"),
        ..LineFaults::default()
    };
    for seed in 1..=5 {
        let simulator = simulated(&planned, line, seed);
        simulator.with_simulator(|simulator| add_groups(simulator.fabric_mut(), &planned, 60));
        assert_complete(&read(&simulator), &planned, 60);
    }
}

#[test]
fn a_transfer_that_fails_leaves_what_came_and_says_why() {
    let planned = fabric("kary,k=2,n=2");
    for (fault, groups, code, words) in [
        // A first segment has three records and half of one; the hosts' own lists have further groups.
        (TransferFault::Abort(2), Some(7), "FN-564", "RMPP status 118"),
        (TransferFault::Silence(2), Some(7), "FN-564", "segments stopped coming"),
        (TransferFault::Length(7), Some(39), "FN-564", "a length that cannot be true"),
        (TransferFault::Length(5_000), Some(39), "FN-564", "a length that cannot be true"),
        (TransferFault::Repeat, Some(7), "FN-564", "more than 8192 segments"),
        (TransferFault::Refuse(0x0200), None, "FN-565", "refused"),
    ] {
        let look = read(&with_groups(&planned, LineFaults::default(), 40, fault));
        let note = look
            .notes
            .iter()
            .find(|note| note.code == code)
            .unwrap_or_else(|| panic!("{fault:?}: {:?}", look.notes));
        assert!(note.text.contains(words) && look.is_partial(), "{fault:?}: {}", note.text);
        match groups {
            Some(count) => assert_eq!(look.groups.groups.len(), count, "{fault:?}"),
            None => assert_eq!((look.groups.answer, look.groups.groups.len()), (DeviceAnswer::Absent, 0)),
        }
    }
    let look = read(&with_groups(&planned, LineFaults::default(), 40, TransferFault::Stride(48)));
    assert_eq!((look.groups.answer, look.groups.groups.len()), (DeviceAnswer::Implausible, 0));
}

/// As over ibsim, where the first packet of a transfer arrives alone and without a number.
#[test]
fn where_a_first_packet_arrives_alone_groups_and_members_are_asked_for_one_by_one() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = with_groups(&planned, LineFaults::default(), 12, TransferFault::Unnumbered);
    let without_trees = read(&simulator);
    let found = without_trees.groups.groups.len();
    assert_eq!(found, 7, "groups without a tree are found where they are among the first three of a host");
    assert!(without_trees.notes.has("FN-564") && !without_trees.is_partial());
    simulator.with_simulator(|simulator| {
        (1..=12).for_each(|number| simulator.fabric_mut().add_group_tree(0xC000 + number));
    });
    let look = read(&simulator);
    assert_complete(&look, &planned, 12);
    assert!(look.notes.has("FN-564") && !look.is_partial(), "{:?}", look.notes);
}

#[test]
fn a_silent_manager_is_asked_as_often_as_the_policy_says_and_a_look_goes_on() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = with_groups(&planned, LineFaults::default(), 4, TransferFault::None);
    let host = hosts(&planned)[3];
    let name = planned.node(host).facts.description.clone();
    let manager = simulator.with_simulator(|simulator| simulator.fabric_mut().manager_guid()).unwrap();
    let owner = planned.nodes().find(|(id, _)| {
        planned.ports_of(*id).any(|(_, port)| port.facts.guid == Some(manager))
            || planned.node(*id).guid().0 + 1 == manager.0
    });
    let (owner, _) = owner.unwrap();
    assert_ne!(owner, host);
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(owner, true));
    let look = look_at(&mut simulator.open_port(Some(&name)).unwrap(), GROUPS);
    assert_eq!((look.groups.answer, look.groups.groups.len()), (DeviceAnswer::Silent, 0));
    assert!(look.notes.has("FN-565") && look.is_partial(), "{:?}", look.notes);
    assert_eq!(look.fabric.switches().count(), switches(&planned).len());
}

#[test]
fn a_capture_has_the_groups() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = with_groups(&planned, LineFaults::default(), 9, TransferFault::None);
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let mut look = source.observe(GROUPS, &mut NoObserver).unwrap();
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let sweep = source.sweep(&mut look, std::time::Duration::ZERO, &mut NoObserver).unwrap();
    recorder.record_sweep(BEGUN, &look, &sweep).unwrap();
    recorder.finish(BEGUN + 1_000).unwrap();
    let bytes = memory.bytes.borrow().clone();
    let mut reader = CaptureReader::open("it", bytes.as_slice()).unwrap();
    let slot = reader.moments()[0];
    reader.show_moment(slot).unwrap();
    assert_eq!(reader.observation().groups, look.groups);
    let [record] = &GroupRecord::of(&look.groups)[..] else { panic!("one record") };
    let hidden = record.clone().anonymize(|guid| Guid(guid.0 ^ 0xFF)).stated;
    assert_eq!(hidden.groups.len(), 10);
    assert!(hidden.groups.iter().all(|group| group.name().is_some()), "{hidden:?}");
    let known: usize = look.groups.groups.iter().map(|group| group.members.len()).sum();
    assert_eq!(hidden.groups.iter().map(|group| group.members.len()).sum::<usize>(), known);
    assert!(hidden.groups.iter().flat_map(|group| group.members.keys()).all(|guid| {
        look.fabric.port_by_guid(*guid).is_none() && look.fabric.port_by_guid(Guid(guid.0 ^ 0xFF)).is_some()
    }));
}
