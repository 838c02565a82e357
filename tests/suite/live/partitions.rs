//! P_Key tables over the wire: which blocks are read, and the words for what is missing.

use std::collections::BTreeMap;

use fabdeck_fabric::observe::{DeviceAnswer, Observation, PartitionEnforcement};
use fabdeck_fabric::{Fabric, NodeId, PartitionKey, Partitions, PortId, PortNum};
use fabdeck_files::capture_format::PartitionRecord;
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{LevelReadOptions, LevelReadOutcome, NoObserver, ReadOptions, Source};
use fabdeck_simulator::{PartitionProfile, SharedSimulator, SimulatedFabric};

use super::{LineFaults, TOPOLOGY, fabric, hosts, look_at, recorded_moments, simulated, switches};

const PARTITIONS: ReadOptions = ReadOptions { partitions: true, ..TOPOLOGY };

fn changed(planned: &Fabric, change: impl FnOnce(&mut SimulatedFabric)) -> SharedSimulator {
    let simulator = simulated(planned, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| change(simulator.fabric_mut()));
    simulator
}

fn read(simulator: &SharedSimulator) -> Observation {
    look_at(&mut simulator.open_port(None).unwrap(), PARTITIONS)
}

/// The number of questions of the phase, and of those sent again.
fn asked(look: &Observation) -> (u64, u64) {
    let phases = &look.reading.as_ref().unwrap().phases;
    let phase = phases.iter().find(|phase| phase.name == "partitions").unwrap();
    (phase.sent, phase.repeated)
}

fn keys_of(look: &Observation, node: NodeId, port: u8) -> &DeviceAnswer<Vec<PartitionKey>> {
    let guid = look.fabric.node(node).guid();
    &look.partitions.ports[&(guid, PortNum(port))].keys
}

fn numbered(count: u16) -> Vec<PartitionKey> {
    (0..count).map(|number| PartitionKey::from_parts(0x100 + number, number.is_multiple_of(2))).collect()
}

#[test]
fn a_table_is_read_up_to_its_first_empty_block() {
    let planned = fabric("kary,k=2,n=2");
    let members = (hosts(&planned).len() + switches(&planned).len()) as u64;
    let plain = read(&changed(&planned, |_| {}));
    assert_eq!(asked(&plain), (members, 0), "a block for each host and switch");
    for (node, _) in plain.fabric.nodes() {
        let port = u8::from(!plain.fabric.node(node).is_switch());
        assert_eq!(keys_of(&plain, node, port), &DeviceAnswer::Known(vec![PartitionKey::DEFAULT_FULL]));
    }
    // 70 entries are in three blocks of 32; a full last block is the last one too.
    for (entries, further) in [(31, 0), (32, 0), (33, 1), (70, 2), (96, 2)] {
        let host = hosts(&planned)[2];
        let simulator = changed(&planned, |world| world.set_port_keys(host, PortNum(1), numbered(entries)));
        let look = read(&simulator);
        assert_eq!(keys_of(&look, host, 1), &DeviceAnswer::Known(numbered(entries)), "{entries}");
        assert_eq!(asked(&look), (members + further, 0), "{entries}");
        assert!(!look.is_partial());
    }
}

/// A device that claims and fills a table without end.
#[test]
fn a_table_without_end_is_cut_and_the_answer_is_partial() {
    let planned = fabric("kary,k=2,n=2");
    let host = hosts(&planned)[1];
    let simulator = changed(&planned, |world| world.set_port_keys(host, PortNum(1), numbered(20_000)));
    let look = read(&simulator);
    let members = (hosts(&planned).len() + switches(&planned).len()) as u64;
    assert_eq!(asked(&look), (members + 31, 0));
    assert_eq!(keys_of(&look, host, 1).known().unwrap().len(), 1_024);
    assert!(look.is_partial() && look.notes.has("FN-563"), "{:?}", look.notes);
}

#[test]
fn absent_silent_and_empty_tables_are_three_answers() {
    let planned = fabric("kary,k=2,n=2");
    let of = hosts(&planned);
    let profiles = [
        PartitionProfile::Plain,
        PartitionProfile::Absent,
        PartitionProfile::Silent,
        PartitionProfile::Empty,
    ];
    let simulator = changed(&planned, |world| {
        of.iter().zip(profiles).for_each(|(host, profile)| world.set_partition_profile(*host, profile));
    });
    let look = read(&simulator);
    let said: Vec<_> = of.iter().map(|host| keys_of(&look, *host, 1).clone()).collect();
    let full = DeviceAnswer::Known(vec![PartitionKey::DEFAULT_FULL]);
    let empty = DeviceAnswer::Known(Vec::new());
    assert_eq!(said, [full, DeviceAnswer::Absent, DeviceAnswer::Silent, empty]);
    assert!(look.is_partial() && look.notes.has("FN-526"), "{:?}", look.notes);
    // What is not known keeps no pair apart; an empty table is known.
    let (partitions, unknown) = look.partitions.members(&look.fabric).unwrap();
    let port = |host: NodeId| look.fabric.port_of(host, PortNum(1)).unwrap();
    let shares = |a: usize, b: usize| partitions.can_share(port(of[a]), port(of[b]));
    assert_eq!(unknown, 2);
    assert!(shares(0, 1) && shares(0, 2) && shares(1, 2) && !shares(0, 3) && !shares(1, 3));
}

#[test]
fn switch_ports_say_what_they_enforce_and_are_asked_only_where_they_do() {
    use PartitionEnforcement::{Both, Cannot, Off};
    let planned = fabric("kary,k=2,n=2");
    let ends: Vec<_> = hosts(&planned);
    let members = (ends.len() + switches(&planned).len()) as u64;
    let storage = PartitionKey::from_parts(0x10, true);
    for (profile, enforcement, further, dropped) in [
        (PartitionProfile::Plain, Cannot, 0, Some(false)),
        (PartitionProfile::EnforcementOff, Off, 0, Some(false)),
        (PartitionProfile::Enforcing, Both, ends.len() as u64, Some(false)),
        (PartitionProfile::Lacking, Both, ends.len() as u64, Some(true)),
    ] {
        let simulator = changed(&planned, |world| {
            world.set_port_keys(ends[0], PortNum(1), vec![PartitionKey::DEFAULT_FULL, storage]);
            switches(&planned).into_iter().for_each(|id| world.set_partition_profile(id, profile));
        });
        let look = read(&simulator);
        assert_eq!(asked(&look), (members + further, 0), "{profile:?}");
        let port = look.fabric.port_of(ends[0], PortNum(1)).unwrap();
        let at = look.partitions.port(&look.fabric, look.fabric.peer(port).unwrap()).unwrap();
        assert_eq!(at.enforcement, Some(enforcement), "{profile:?}");
        let drops = |key| look.partitions.is_dropped_at_switch(&look.fabric, port, key);
        assert_eq!(
            (drops(storage), drops(PartitionKey::DEFAULT_FULL)),
            (dropped, Some(false)),
            "{profile:?}"
        );
    }
}

/// Two pairs of hosts that do not see each other.
fn split(planned: &Fabric) -> Partitions {
    let port = |host: NodeId| planned.port_of(host, PortNum(1)).unwrap();
    let of = hosts(planned);
    let members =
        |of: &[NodeId]| -> BTreeMap<PortId, bool> { of.iter().map(|host| (port(*host), true)).collect() };
    Partitions::new(planned.ports().len(), &BTreeMap::from([(1, members(&of[..2])), (2, members(&of[2..]))]))
}

#[test]
fn pairs_that_partitions_keep_apart_are_not_asked_for_path_records() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = changed(&planned, |world| world.set_partitions(&split(&planned)));
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let mut look = source.observe(PARTITIONS, &mut NoObserver).unwrap();
    let wanted = LevelReadOptions { every: true, ..LevelReadOptions::default() };
    let LevelReadOutcome::Read(read) = source.read_levels(&mut look, None, wanted, &mut NoObserver).unwrap()
    else {
        panic!("no path records");
    };
    assert_eq!((read.asked, read.without_path), (4, 0), "one path each way in each of two pairs");
    assert!(!look.is_partial() && !look.notes.has("FN-531"), "{:?}", look.notes);
    // Without P_Key tables all twelve are asked for, and the manager has a path for these four.
    let mut look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    let LevelReadOutcome::Read(read) = source.read_levels(&mut look, None, wanted, &mut NoObserver).unwrap()
    else {
        panic!("no path records");
    };
    assert_eq!((read.asked, read.without_path), (12, 8));
    assert!(look.notes.has("FN-531"));
}

#[test]
fn a_capture_has_the_tables_with_their_words() {
    let planned = fabric("kary,k=2,n=2");
    let of = hosts(&planned);
    let simulator = changed(&planned, |world| {
        world.set_port_keys(of[0], PortNum(1), numbered(40));
        world.set_partition_profile(of[1], PartitionProfile::Absent);
        world.set_partition_profile(of[2], PartitionProfile::Empty);
        switches(&planned)
            .into_iter()
            .for_each(|id| world.set_partition_profile(id, PartitionProfile::Lacking));
    });
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let mut look = source.observe(PARTITIONS, &mut NoObserver).unwrap();
    let before = look.partitions.clone();
    // A later table replaces the one before.
    let host = look.fabric.node(of[0]).guid();
    let moments = recorded_moments(&mut source, &mut look, |look| {
        look.partitions.ports.get_mut(&(host, PortNum(1))).unwrap().keys = DeviceAnswer::Silent;
    });
    let recorded: Vec<_> = moments.into_iter().map(|moment| moment.partitions).collect();
    assert!(recorded == [before.clone(), look.partitions.clone()], "{recorded:?}");
    let [record] = &PartitionRecord::of_changes(&before, &look.partitions)[..] else { panic!("one record") };
    assert_eq!(record.ports.len(), 1);
    let anonymous = record.clone().anonymize(|_| fabdeck_fabric::Guid(7));
    assert_eq!(anonymous.ports[0].node, fabdeck_fabric::Guid(7));
}
