//! Adaptive tables of live switches: what is read, how often, and what is believed.

use std::time::Duration;

use fabdeck_fabric::observe::{Observation, Sweep};
use fabdeck_fabric::{
    AdaptiveDoubt, AdaptiveMismatch, AdaptiveSwitch, AdaptiveTableState, Lid, NodeId, PortNum, PortSet,
    ServiceLevel,
};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::CaptureReader;
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, Source};
use fabdeck_simulator::{AdaptiveProfile, SharedSimulator};

use super::fabric_events::TABLES;
use super::{ALL, Fabric, LineFaults, fabric, look_at, simulated, switches};
use crate::captures::sample_fabric::{BEGUN, Memory, header};

/// A simulated fabric whose switches all have a profile.
fn simulated_as(planned: &Fabric, profile: AdaptiveProfile) -> SharedSimulator {
    let simulator = simulated(planned, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        simulator.enable_log();
        for switch in switches(planned) {
            simulator.fabric_mut().set_adaptive(switch, profile);
        }
    });
    simulator
}

/// How many requests for attributes of the vendor went out: for tables, and for the rest.
fn asked(simulator: &SharedSimulator) -> (usize, usize) {
    simulator.with_simulator(|simulator| {
        let log = simulator.log().text();
        let sent: Vec<&str> =
            log.lines().filter(|line| line.contains(" sends ") && line.contains("attribute ff")).collect();
        assert!(sent.iter().all(|line| line.contains(" method 01 ")), "all are Gets");
        let of = |name: &str| sent.iter().filter(|line| line.contains(name)).count();
        let tables = of("attribute ff14") + of("attribute ff21") + of("attribute ff23");
        (tables, sent.len() - tables)
    })
}

fn looked(simulator: &SharedSimulator) -> Observation {
    look_at(&mut simulator.open_port(None).unwrap(), TABLES)
}

fn adaptive(look: &Observation, switch: NodeId) -> &AdaptiveSwitch {
    look.tables.nodes[&switch].adaptive.as_ref().unwrap()
}

#[test]
fn each_profile_is_read_as_what_it_is() {
    use AdaptiveProfile as Profile;
    let planned = fabric("kary,k=2,n=2");
    let first = switches(&planned)[0];
    for (profile, word, tables, doubt) in [
        (Profile::Plain, "absent", None, None),
        (Profile::Off, "off", None, None),
        (Profile::Silent, "did not answer", None, Some(AdaptiveDoubt::NoAnswer)),
        (Profile::On, "on", Some("read"), None),
        (Profile::RecoveryOnly, "on", Some("read"), None),
        (Profile::TwoTables, "on", Some("read"), None),
        (Profile::TablesOnly, "absent", Some("read"), None),
        (Profile::Loop, "on", Some("read"), None),
        (Profile::ByLane, "on", Some("read"), Some(AdaptiveDoubt::LaneInput(Some(1)))),
        (Profile::Withheld, "on", Some("absent"), Some(AdaptiveDoubt::TablesAbsent)),
        (
            Profile::OddPacking,
            "on",
            Some("not understood"),
            Some(AdaptiveDoubt::NotUnderstood(AdaptiveMismatch::StaticPort(Lid::new(1).unwrap()))),
        ),
    ] {
        let simulator = simulated_as(&planned, profile);
        let look = looked(&simulator);
        let held = adaptive(&look, first);
        assert_eq!(
            (held.state_word(), held.table_word(), held.doubt()),
            (word, tables, doubt),
            "{profile:?}"
        );
        let (_, rest) = asked(&simulator);
        assert!(rest <= 4 * 4 + 4, "{profile:?}: {rest} datagrams besides tables for four switches");
        assert!(!look.notes.has("FN-526") || profile == Profile::Silent, "{profile:?}: {:?}", look.notes);
    }
}

#[test]
fn groups_and_private_tables_are_those_that_the_switch_has() {
    let planned = fabric("kary,k=2,n=2");
    let ports = |profile, on: u32| {
        let simulator = simulated_as(&planned, profile);
        let look = looked(&simulator);
        let hosts = look.fabric.ports().filter(|(_, port)| !look.fabric.node(port.node).is_switch());
        let lids: Vec<Lid> = hosts.filter_map(|(_, port)| port.facts.lid).collect();
        let level = ServiceLevel::new(on).unwrap();
        let counts = look.fabric.switches().flat_map(|(id, _)| {
            let held = &look.tables.nodes[&id];
            lids.iter()
                .map(|lid| held.outputs(PortNum::MANAGEMENT, level, *lid).unwrap().ports.count())
                .collect::<Vec<_>>()
        });
        let counts: Vec<u32> = counts.collect();
        (
            counts.iter().filter(|count| **count == 2).count(),
            counts.iter().filter(|count| **count == 1).count(),
        )
    };
    // Two hosts at each of two leaves: each leaf has two ways to the hosts of the other.
    assert_eq!(ports(AdaptiveProfile::On, 0), (4, 12));
    assert_eq!(ports(AdaptiveProfile::RecoveryOnly, 0), (4, 12));
    assert_eq!(
        (ports(AdaptiveProfile::TwoTables, 0), ports(AdaptiveProfile::TwoTables, 8)),
        ((4, 12), (0, 16))
    );
    assert_eq!(ports(AdaptiveProfile::Off, 0), (0, 16));
}

#[test]
fn tables_are_read_again_only_after_a_change_and_a_refusal_counts_for_the_session() {
    let planned = fabric("kary,k=2,n=2");
    for (profile, first) in [(AdaptiveProfile::On, true), (AdaptiveProfile::Withheld, false)] {
        let simulator = simulated_as(&planned, profile);
        let port = simulator.open_port(None).unwrap();
        let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
        source.observe(ALL, &mut NoObserver).unwrap();
        let (tables, rest) = asked(&simulator);
        assert!(tables > 0 && (first || tables <= 4 * 4), "{tables}");
        let look = source.observe(ALL, &mut NoObserver).unwrap();
        // The second look asks each switch for its settings (three attributes) and its one block of groups or two.
        let (later, settings) = asked(&simulator);
        assert_eq!(settings, rest + 4 * 3, "{profile:?}");
        let groups = if first { 4..=8 } else { 0..=0 };
        assert!(groups.contains(&(later - tables)), "{profile:?}: {tables} {later}");
        assert!(adaptive(&look, switches(&planned)[0]).table_word().is_some());
        if !first {
            continue;
        }
        // Another top group: the tables of this switch are read again.
        let changed = switches(&planned)[0];
        simulator.with_simulator(|simulator| {
            simulator.fabric_mut().set_adaptive(changed, AdaptiveProfile::RecoveryOnly)
        });
        let look = source.observe(ALL, &mut NoObserver).unwrap();
        let third = asked(&simulator).0 - later;
        assert!(third > later - tables && third < tables, "{third} of {tables}");
        assert_eq!(adaptive(&look, changed).doubt(), None);
    }
}

/// The subnet manager takes a port out of a group, and nothing else changes.
#[test]
fn groups_whose_ports_change_are_read_again() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = simulated_as(&planned, AdaptiveProfile::On);
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let groups = |look: &Observation, switch| match &adaptive(look, switch).tables {
        AdaptiveTableState::Read(tables) => tables.groups.clone(),
        other => panic!("{other:?}"),
    };
    let first = source.observe(ALL, &mut NoObserver).unwrap();
    let wide =
        switches(&planned).into_iter().find(|at| groups(&first, *at).iter().any(|ports| ports.count() == 2));
    let leaf = wide.unwrap();
    let at = groups(&first, leaf).iter().position(|ports| ports.count() == 2).unwrap();
    let one = PortSet::of(groups(&first, leaf)[at].iter().next().unwrap());
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_group(leaf, at, one));
    let mut second = source.observe(ALL, &mut NoObserver).unwrap();
    assert_eq!(groups(&second, leaf)[at], one);
    assert_eq!(groups(&second, leaf).len(), groups(&first, leaf).len());
    // Sweeps see it in the turn of the switch.
    let two = groups(&first, leaf)[at];
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_group(leaf, at, two));
    let found = (1..400).any(|turn| {
        source.sweep(&mut second, Duration::from_secs(60 * turn), &mut NoObserver).unwrap();
        groups(&second, leaf)[at] == two
    });
    assert!(found);
}

#[test]
fn captures_keep_what_switches_stated() {
    let planned = fabric("kary,k=2,n=2");
    for profile in [AdaptiveProfile::TwoTables, AdaptiveProfile::OddPacking, AdaptiveProfile::Withheld] {
        let look = looked(&simulated_as(&planned, profile));
        let memory = Memory::default();
        let mut recorder = Recorder::new(memory.clone(), header());
        recorder.record_sweep(BEGUN, &look, &Sweep::default()).unwrap();
        recorder.finish(BEGUN + 1).unwrap();
        let bytes = memory.bytes.borrow().clone();
        let mut reader = CaptureReader::open("it", bytes.as_slice()).unwrap();
        let first = reader.moments()[0];
        reader.show_moment(first).unwrap();
        assert_eq!(reader.observation().tables, look.tables, "{profile:?}");
        assert!(matches!(
            adaptive(&look, switches(&planned)[0]).tables,
            AdaptiveTableState::Read(_) | AdaptiveTableState::NotUnderstood(_) | AdaptiveTableState::Absent
        ));
    }
}
