//! Labels of ports over the wire (HierarchyInfo): which devices are asked, what is believed, and what a capture keeps.

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::{DeviceAnswer, Observation};
use fabdeck_fabric::{Fabric, FabricBuilder, LabelOrigin, NameMap, NodeId, PortId};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, Source};
use fabdeck_simulator::{LabelProfile, SharedSimulator};

use super::{LineFaults, TOPOLOGY, fabric, look_at, recorded_moments, simulated, switches};

/// Two switches of each kind, in the order of nodes; hosts have a kind of their own.
fn planned() -> Fabric {
    let plain = fabric("kary,k=4,n=2");
    let mut builder = FabricBuilder::from_fabric(&plain);
    for (id, node) in plain.nodes() {
        let facts = builder.node_mut(id.into());
        facts.vendor_id = Some(0x2C9);
        facts.device_id = Some(if node.is_switch() { 100 + id.0 / 2 } else { 7 });
    }
    builder.finish()
}

fn world(planned: &Fabric, profiles: &[(NodeId, LabelProfile)]) -> SharedSimulator {
    let simulator = simulated(planned, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        profiles.iter().for_each(|(node, profile)| simulator.fabric_mut().set_labels(*node, *profile));
    });
    simulator
}

fn source(simulator: &SharedSimulator) -> LiveSource {
    let port = simulator.open_port(None).unwrap();
    LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default())
}

fn read(source: &mut LiveSource) -> Observation {
    source.observe(TOPOLOGY, &mut NoObserver).unwrap()
}

/// The datagrams of the phase, and those sent again; `None` where no question went out.
fn asked(look: &Observation) -> Option<(u64, u64)> {
    let phases = &look.reading.as_ref().unwrap().phases;
    phases.iter().find(|phase| phase.name == "labels").map(|phase| (phase.sent, phase.repeated))
}

fn cabled(fabric: &Fabric, node: NodeId) -> Vec<PortId> {
    fabric.ports_of(node).filter(|(_, port)| port.peer.is_some()).map(|(id, _)| id).collect()
}

#[test]
fn every_cabled_port_is_asked_once_in_a_session() {
    let planned = planned();
    let all: Vec<_> = planned.nodes().map(|(id, _)| (id, LabelProfile::Full)).collect();
    let mut source = source(&world(&planned, &all));
    let look = read(&mut source);
    let ports: usize = planned.nodes().map(|(id, _)| cabled(&planned, id).len()).sum();
    assert_eq!((asked(&look), look.hierarchies.ports.len()), (Some((ports as u64, 0)), ports));
    let again = read(&mut source);
    assert_eq!((asked(&again), &again.hierarchies), (None, &look.hierarchies));
    let shown = Snapshot::new("sim", look, &NameMap::default());
    for (id, port) in shown.fabric().ports().filter(|(_, port)| port.peer.is_some()) {
        let number = u16::from(port.number.value());
        let cage = (number.div_ceil(2), 2 - number % 2);
        let text = match shown.fabric().node(port.node).is_switch() {
            true => format!("1/{}/{}", cage.0, cage.1),
            false => format!("Physical1/{}/{}", cage.0, cage.1),
        };
        let label = shown.label(id).unwrap();
        assert_eq!((label.text.as_str(), label.origin), (text.as_str(), LabelOrigin::Device));
    }
}

#[test]
fn a_device_without_the_capability_is_never_asked() {
    let simulator = world(&planned(), &[]);
    let look = read(&mut source(&simulator));
    assert_eq!((asked(&look), look.hierarchies.ports.len()), (None, 0));
    // A reading for a change needs no labels.
    let planned = planned();
    let labelled = world(&planned, &[(switches(&planned)[0], LabelProfile::Full)]);
    let look = look_at(&mut labelled.open_port(None).unwrap(), TOPOLOGY);
    assert_eq!((asked(&look), look.hierarchies.ports.len()), (None, 0));
}

#[test]
fn one_device_answers_for_a_kind_that_refuses_or_is_silent() {
    let planned = planned();
    let of = switches(&planned);
    for (profile, sent, first_word, other_word) in [
        (LabelProfile::Refusing, (1, 0), "absent", "absent in its kind"),
        (LabelProfile::Silent, (2, 1), "did not answer", "its kind did not answer"),
    ] {
        // Both switches of the first kind.
        let mut source = source(&world(&planned, &[(of[0], profile), (of[1], profile)]));
        let look = read(&mut source);
        assert_eq!(asked(&look), Some(sent), "{profile:?}");
        assert_eq!(asked(&read(&mut source)), None, "{profile:?}");
        let shown = Snapshot::new("sim", look, &NameMap::default());
        let words = |node: NodeId| -> Vec<_> {
            cabled(shown.fabric(), node).into_iter().map(|port| shown.missing_label_word(port)).collect()
        };
        let (first, second) = (words(of[0]), words(of[1]));
        let (own, other) = if first.contains(&Some(first_word)) { (first, second) } else { (second, first) };
        assert!(own.iter().all(|word| *word == Some(first_word)), "{own:?}");
        assert!(other.iter().all(|word| *word == Some(other_word)), "{other:?}");
        assert!(cabled(shown.fabric(), of[0]).into_iter().all(|port| shown.label(port).is_none()));
    }
}

#[test]
fn no_mix_of_answers_gives_a_wrong_label() {
    let planned = planned();
    let of = switches(&planned);
    let profiles = [
        LabelProfile::Full,
        LabelProfile::Equal,
        LabelProfile::Nonsense,
        LabelProfile::Full,
        LabelProfile::Refusing,
        LabelProfile::Full,
        LabelProfile::Silent,
        LabelProfile::Plain,
    ];
    let world = world(&planned, &of.iter().copied().zip(profiles).collect::<Vec<_>>());
    let look = read(&mut source(&world));
    assert!(look.notes.has("FN-572"), "{:?}", look.notes);
    let shown = Snapshot::new("sim", look, &NameMap::default());
    for (node, profile) in of.iter().zip(profiles) {
        for port in cabled(shown.fabric(), *node) {
            let number = u16::from(shown.fabric().port(port).number.value());
            let label = shown.label(port).map(|label| label.text.clone());
            let word = shown.missing_label_word(port);
            match (profile, label) {
                (LabelProfile::Full, Some(label)) => {
                    assert_eq!(label, format!("1/{}/{}", number.div_ceil(2), 2 - number % 2));
                }
                // A device whose kind refused, or was silent, was not asked.
                (LabelProfile::Full, None) => {
                    assert!(word.is_some_and(|word| word.contains("kind")), "{word:?}")
                }
                (LabelProfile::Equal | LabelProfile::Nonsense, None) => {
                    assert_eq!(word, Some("not understood"))
                }
                (LabelProfile::Plain, None) => assert_eq!(word, None),
                (_, None) => assert!(word.is_some(), "{profile:?}"),
                (_, Some(label)) => panic!("{profile:?} has the label {label}"),
            }
        }
    }
    let labelled = shown.fabric().ports().filter(|(id, _)| shown.label(*id).is_some()).count();
    assert!(labelled >= cabled(&planned, of[0]).len() + cabled(&planned, of[3]).len());
}

#[test]
fn a_capture_keeps_the_answers() {
    let planned = planned();
    let of = switches(&planned);
    let world = world(&planned, &[(of[0], LabelProfile::Full), (of[2], LabelProfile::Refusing)]);
    let mut source = source(&world);
    let mut look = read(&mut source);
    let first = look.hierarchies.clone();
    let at = *first.ports.keys().next().unwrap();
    let moments = recorded_moments(&mut source, &mut look, |look| {
        look.hierarchies.ports.insert(at, DeviceAnswer::Implausible);
    });
    let recorded: Vec<_> = moments.into_iter().map(|moment| moment.hierarchies).collect();
    assert!(recorded == [first, look.hierarchies.clone()], "{recorded:?}");
}
