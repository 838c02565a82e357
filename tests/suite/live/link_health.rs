//! Bit errors, modules and sensors over the wire: who is asked, how often, and which word stands for what is missing.

use std::collections::BTreeSet;
use std::time::Duration;

use fabdeck_fabric::counters::{WireThresholds, WireVerdict, judge_port};
use fabdeck_fabric::observe::{BitErrorRate, DeviceAnswer, FecMode, KindOutcome, Observation};
use fabdeck_fabric::{Guid, LinkSpeed, LinkWidth, NodeId, PortNum};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::CaptureReader;
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, Source, WireReadOptions};
use fabdeck_simulator::{SharedSimulator, WireProfile};

use super::{Fabric, LineFaults, TOPOLOGY, fabric, hosts, simulated, switches};
use crate::captures::sample_fabric::{BEGUN, Memory, header};

const EVERYTHING: WireReadOptions =
    WireReadOptions { devices: true, switch_sensors: false, ports: true, link_pages: false };
const DEVICES: WireReadOptions =
    WireReadOptions { devices: true, switch_sensors: false, ports: false, link_pages: false };

fn profiled(planned: &Fabric, of_switches: WireProfile, of_hosts: WireProfile) -> SharedSimulator {
    let simulator = simulated(planned, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        simulator.enable_log();
        switches(planned).into_iter().for_each(|id| simulator.fabric_mut().set_wire(id, of_switches));
        hosts(planned).into_iter().for_each(|id| simulator.fabric_mut().set_wire(id, of_hosts));
    });
    simulator
}

fn source(simulator: &SharedSimulator) -> LiveSource {
    let port = simulator.open_port(None).unwrap();
    LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default())
}

fn read(simulator: &SharedSimulator, wanted: WireReadOptions) -> (LiveSource, Observation) {
    let mut source = source(simulator);
    let mut look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    source.read_wire(&mut look, wanted, &mut NoObserver).unwrap();
    (source, look)
}

/// The requests that left with these words in their lines, and none of them clears or writes.
fn sent(simulator: &SharedSimulator, words: &str) -> usize {
    simulator.with_simulator(|simulator| {
        assert_eq!(simulator.fabric_mut().cleared_by_get(), 0);
        let log = simulator.log().text();
        let lines = log.lines().filter(|line| line.contains(" sends ") && line.contains(words));
        lines.inspect(|line| assert!(line.contains(" method 01 "), "{line}")).count()
    })
}

fn cabled(look: &Observation) -> usize {
    look.fabric.ports().filter(|(_, port)| port.peer.is_some()).count()
}

#[test]
fn everything_is_read_where_devices_have_it() {
    let planned = fabric("kary,k=2,n=2,speed=ndr");
    let simulator = profiled(&planned, WireProfile::Optics, WireProfile::Full);
    let (_, look) = read(&simulator, EVERYTHING);
    assert_eq!(look.wire.ports.len(), cabled(&look));
    assert_eq!(look.wire.devices.len(), look.fabric.nodes().len());
    assert!(!look.is_partial() && !look.notes.has("FN-571"), "{:?}", look.notes);
    for ((guid, port), said) in &look.wire.ports {
        let bits = said.bit_errors.known().unwrap();
        assert!(bits.since_ms >= 3_600_000 && bits.bits > 1 << 50 && bits.lane_errors.len() == 4);
        assert_eq!(said.fec, DeviceAnswer::Known(FecMode::Rs544Plr), "{guid} {port}");
        assert!(said.errors.known().is_some() && said.discards.known().is_some());
        assert!(said.module.known().unwrap().serial.is_some());
        // The registers say more than the FEC counters, which are not asked then.
        assert!(said.fec_counts.is_not_asked());
    }
    let first = planned.node(switches(&planned)[0]).guid();
    let cabled: Vec<PortNum> = look.wire.ports.keys().filter(|at| at.0 == first).map(|at| at.1).collect();
    let worn = look.wire.ports[&(first, cabled[0])].bit_errors.known().unwrap();
    let lanes = &worn.lane_errors;
    assert!(lanes[2] > 100 * lanes[0] && worn.raw > BitErrorRate::from_word(0x0501), "{worn:?}");
    let hot = look.wire.ports[&(first, cabled[1])].module.known().unwrap();
    assert_eq!((hot.celsius(), hot.temperature_limits.unwrap().high), (Some(78.0), 75 * 256));
    let switch = &look.wire.devices[&first];
    assert_eq!((switch.fan_list, switch.fans.len()), (DeviceAnswer::Known(3), 2));
    assert_eq!(switch.firmware.known().unwrap().version, "31.2012.4036");
    assert!(switch.temperature.known().is_some() && switch.system.known().is_some());
    let host = &look.wire.devices[&planned.node(hosts(&planned)[0]).guid()];
    assert_eq!((host.fan_list, host.system.missing_word()), (DeviceAnswer::Absent, Some("absent")));
    assert!(host.firmware.known().is_some());
}

#[test]
fn one_device_of_a_kind_that_refuses_or_is_silent_is_asked() {
    let planned = fabric("kary,k=4,n=2,speed=ndr");
    for (profile, class, details, word, of_kind) in [
        (WireProfile::Plain, 2, 0, "absent", KindOutcome::Refused),
        (WireProfile::CountersOnly, 2, 0, "absent", KindOutcome::Refused),
        // One question each, sent twice: no device counts a third one.
        (WireProfile::Keyed, 4, 0, "did not answer", KindOutcome::Silent),
    ] {
        let simulator = profiled(&planned, profile, profile);
        let (mut source, mut look) = read(&simulator, EVERYTHING);
        assert_eq!(sent(&simulator, "class 0a"), class + details, "{profile:?}");
        // The devices that were asked have the word of their answer; the others name the one of their kind.
        let mut first = BTreeSet::new();
        for ((guid, _), said) in &look.wire.ports {
            match said.bit_errors {
                DeviceAnswer::OfKind(outcome, of) => {
                    assert!(outcome == of_kind && of != *guid, "{profile:?}")
                }
                ref answer => {
                    assert_eq!(answer.missing_word(), Some(word), "{profile:?}");
                    first.insert(*guid);
                }
            }
            assert_eq!(said.module.missing_word(), said.bit_errors.missing_word(), "{profile:?}");
        }
        assert_eq!(first.len(), 2, "{profile:?}: one switch and one host");
        for (guid, said) in &look.wire.devices {
            let known = matches!(said.temperature, DeviceAnswer::OfKind(outcome, _) if outcome == of_kind);
            assert!(known || first.contains(guid) && said.temperature.missing_word() == Some(word));
        }
        assert_eq!(look.notes.has("FN-571"), profile == WireProfile::Keyed);
        assert!(!look.is_partial(), "{profile:?}: {:?}", look.notes);
        // Nothing is asked again, by a second reading of the session or by its sweeps.
        source.read_wire(&mut look, EVERYTHING, &mut NoObserver).unwrap();
        look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
        source.read_wire(&mut look, EVERYTHING, &mut NoObserver).unwrap();
        for minute in 1..10 {
            source.sweep(&mut look, Duration::from_secs(60 * minute), &mut NoObserver).unwrap();
        }
        assert_eq!(sent(&simulator, "class 0a"), class + details, "{profile:?}");
    }
}

#[test]
fn what_is_missing_has_its_own_word_and_nothing_becomes_zero() {
    let planned = fabric("kary,k=2,n=2,speed=ndr");
    let simulator = profiled(&planned, WireProfile::NoModules, WireProfile::NoModules);
    let (_, look) = read(&simulator, EVERYTHING);
    for said in look.wire.ports.values() {
        assert!(said.module.has_nothing() && !said.module.is_not_asked());
        assert!(said.bit_errors.known().is_some());
    }
    assert_eq!(sent(&simulator, "attribute 0051 modifier 00005031"), 2, "one device of each kind");
    let simulator = profiled(&planned, WireProfile::Nonsense, WireProfile::Nonsense);
    let (_, look) = read(&simulator, EVERYTHING);
    for said in look.wire.ports.values() {
        assert_eq!(said.bit_errors.missing_word(), Some("not understood"));
        assert_eq!(said.module.missing_word(), Some("not understood"));
        assert_eq!(said.fec.missing_word(), Some("not understood"));
        assert_eq!(said.errors.missing_word(), Some("not understood"));
        assert_eq!(said.fec_counts.missing_word(), Some("not understood"));
    }
    let simulator = profiled(&planned, WireProfile::CountersOnly, WireProfile::CountersOnly);
    let (_, look) = read(&simulator, EVERYTHING);
    for said in look.wire.ports.values() {
        assert!(said.fec_counts.known().is_some() && said.errors.known().is_some());
        assert_eq!(said.fec, DeviceAnswer::Known(FecMode::Rs544Plr));
    }
    // A link that runs without FEC says so: that is not the same as a device that does not say it.
    let planned = fabric("kary,k=2,n=2,speed=fdr");
    let simulator = profiled(&planned, WireProfile::Full, WireProfile::Plain);
    let (_, look) = read(&simulator, EVERYTHING);
    let words = |id: NodeId| {
        let guid = planned.node(id).guid();
        let of = look.wire.ports.iter().filter(move |(at, _)| at.0 == guid);
        of.map(|(_, said)| said.fec.known().map(|mode| mode.word())).collect::<Vec<_>>()
    };
    assert!(words(switches(&planned)[0]).iter().all(|word| *word == Some("off")));
    assert!(words(hosts(&planned)[0]).iter().all(Option::is_none));
}

#[test]
fn a_reading_of_sensors_costs_nine_a_switch_and_a_sweep_a_fifth_of_a_question_a_port() {
    let planned = fabric("kary,k=4,n=2,speed=ndr");
    let simulator = profiled(&planned, WireProfile::Full, WireProfile::Full);
    let (mut source, mut look) = read(&simulator, DEVICES);
    let asked = sent(&simulator, "class 0a");
    // A switch is asked for the number of its three sensors and each of them, fans, the speed of each, firmware and serial
    // number; a host for temperature and firmware. The first of each kind is asked twice for the class; the first host has no fans and no serial number.
    let expected = 9 * switches(&planned).len() + 2 * hosts(&planned).len() + 2 * 2 + 2;
    assert_eq!(asked, expected);
    let ports = cabled(&look);
    let all = |simulator: &SharedSimulator| {
        let details: usize =
            ["attribute 0015 modifier 00000000", "attribute 0016", "attribute 001f", "attribute 0033"]
                .iter()
                .map(|words| sent(simulator, words))
                .sum();
        sent(simulator, "class 0a") + details
    };
    let mut before = all(&simulator);
    for turn in 1..=31 {
        source.sweep(&mut look, Duration::from_secs(10 * turn), &mut NoObserver).unwrap();
        let now = all(&simulator);
        // One device of each of the two kinds is asked first for what no reading asked before.
        let first = if turn == 1 { 2 * 10 } else { 0 };
        assert!(now - before <= ports / 5 + 2 + first, "{} in sweep {turn} of {ports} ports", now - before);
        before = now;
    }
    assert_eq!(look.wire.ports.len(), ports, "within five minutes every port was asked");
    assert!(look.wire.ports.values().all(|said| said.module.known().is_some()));
    // The next rotation makes windows: the counts before are kept beside the new ones.
    for turn in 32..=62 {
        source.sweep(&mut look, Duration::from_secs(10 * turn), &mut NoObserver).unwrap();
    }
    let said = look.wire.ports.values().next().unwrap();
    let (now, earlier) = (said.bit_errors.known().unwrap(), said.earlier_bits.as_ref().unwrap());
    assert!((200_000..400_000).contains(&(now.since_ms - earlier.since_ms)), "{now:?}");
}

#[test]
fn a_switch_that_falls_silent_loses_its_values_and_no_other_does() {
    let planned = fabric("kary,k=2,n=3,speed=ndr");
    let simulator = profiled(&planned, WireProfile::Full, WireProfile::Full);
    let (mut source, mut look) = read(&simulator, EVERYTHING);
    let at = *switches(&planned).last().unwrap();
    let guid = planned.node(at).guid();
    let verdict = |look: &Observation, of: Guid| {
        let (_, said) = look.wire.ports.iter().find(|(at, _)| at.0 == of).unwrap();
        let port = (Some(LinkSpeed::Ndr), Some(LinkWidth::X4));
        judge_port(said, port, &WireThresholds::default()).verdict
    };
    assert_eq!(verdict(&look, guid), WireVerdict::Healthy);
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_wire(at, WireProfile::Keyed));
    for turn in 1..=150 {
        source.sweep(&mut look, Duration::from_secs(10 * turn), &mut NoObserver).unwrap();
    }
    assert_eq!(verdict(&look, guid), WireVerdict::NotKnown);
    let of = look.wire.ports.iter().filter(|(at, _)| at.0 == guid);
    assert!(of.into_iter().all(|(_, said)| said.bit_errors.missing_word() == Some("did not answer")));
    let others = look.wire.ports.iter().filter(|(at, _)| at.0 != guid);
    assert!(others.into_iter().all(|(_, said)| said.bit_errors.known().is_some()));
}

#[test]
fn captures_keep_the_answers() {
    let planned = fabric("kary,k=2,n=2,speed=ndr");
    let simulator = profiled(&planned, WireProfile::Optics, WireProfile::Keyed);
    let (mut source, mut look) = read(&simulator, EVERYTHING);
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let mut known = Vec::new();
    for turn in 1..=40_u32 {
        let sweep = source.sweep(&mut look, Duration::from_secs(10) * turn, &mut NoObserver).unwrap();
        recorder.record_sweep(BEGUN + 10_000 * i64::from(turn), &look, &sweep).unwrap();
        known.push(look.wire.clone());
    }
    recorder.finish(BEGUN + 500_000).unwrap();
    assert!(known.last().unwrap().ports.values().any(|said| said.earlier_bits.is_some()));
    let bytes = memory.bytes.borrow().clone();
    let mut reader = CaptureReader::open("it", bytes.as_slice()).unwrap();
    let mut recorded = Vec::new();
    for slot in reader.moments().to_vec() {
        reader.show_moment(slot).unwrap();
        recorded.push(reader.observation().wire);
    }
    assert!(recorded == known, "a replay shows what the sweeps knew");
}

#[test]
fn the_course_of_links_is_read_where_it_is_wanted() {
    const PAGES: WireReadOptions =
        WireReadOptions { devices: false, switch_sensors: false, ports: false, link_pages: true };
    let planned = fabric("kary,k=2,n=2,speed=ndr");
    let simulator = profiled(&planned, WireProfile::Optics, WireProfile::Full);
    let (_, look) = read(&simulator, PAGES);
    // Five questions a port, and two about the class of each kind.
    assert_eq!(sent(&simulator, "class 0a"), 4 * cabled(&look) + 4);
    for ((guid, port), said) in &look.wire.ports {
        assert!(said.congestion.known().is_some() && said.troubleshooting.known().is_some(), "{guid} {port}");
        let (layer, resent) = (said.layer.known().unwrap(), said.retransmission.known().unwrap());
        assert!(layer.good_blocks > 0 && resent.received_codes > 0 && said.module.is_not_asked());
    }
    let first = planned.node(switches(&planned)[0]).guid();
    let (_, worn) = look.wire.ports.iter().find(|((guid, _), _)| *guid == first).unwrap();
    assert_eq!(worn.link_down.known().unwrap().words(), "by this end, not intended: high bit error rate");
    assert!(worn.layer.known().unwrap().uncorrectable_blocks > 0);
    // A link whose FEC is known to have no retransmission is not asked for it.
    let planned = fabric("kary,k=2,n=2,speed=hdr");
    let simulator = profiled(&planned, WireProfile::Full, WireProfile::Full);
    let (mut source, mut look) = read(&simulator, EVERYTHING);
    source.read_wire(&mut look, PAGES, &mut NoObserver).unwrap();
    assert!(look.wire.ports.values().all(|said| said.retransmission.is_not_asked()));
    assert!(look.wire.ports.values().all(|said| said.layer.known().is_some()));
}

#[test]
fn pages_that_devices_lack_or_answer_with_nonsense_have_no_value() {
    const PAGES: WireReadOptions =
        WireReadOptions { devices: true, switch_sensors: false, ports: false, link_pages: true };
    let planned = fabric("kary,k=2,n=2,speed=ndr");
    for profile in [WireProfile::Plain, WireProfile::Nonsense, WireProfile::Keyed, WireProfile::NoModules] {
        let simulator = profiled(&planned, profile, profile);
        let (_, look) = read(&simulator, PAGES);
        for said in look.wire.ports.values() {
            assert!(
                said.link_down.known().is_none() && said.troubleshooting.known().is_none(),
                "{profile:?}"
            );
            let counted = profile == WireProfile::NoModules;
            assert_eq!(said.layer.known().is_some(), counted, "{profile:?}");
            assert_eq!(said.retransmission.known().is_some(), counted, "{profile:?}");
        }
        let sensors = look.wire.devices.values().any(|said| !said.board.is_empty());
        assert_eq!(sensors, profile == WireProfile::NoModules, "{profile:?}");
    }
}

/// The number of sensors is asked before the sensors: a switch has two on its board, an adapter none.
#[test]
fn sensors_of_the_board_have_their_names_and_limits() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = profiled(&planned, WireProfile::Full, WireProfile::Full);
    let (_, look) = read(&simulator, DEVICES);
    let of = |id: NodeId| &look.wire.devices[&planned.node(id).guid()];
    for switch in switches(&planned) {
        let board = &of(switch).board;
        let names: Vec<_> = board.values().map(|sensor| sensor.name.as_deref().unwrap()).collect();
        assert_eq!((of(switch).sensor_count, names), (DeviceAnswer::Known(3), vec!["ambient", "ports"]));
        assert_eq!(board[&1].reading.limit_celsius(), Some(70.0));
    }
    assert!(hosts(&planned).into_iter().all(|host| of(host).board.is_empty()));
}
