//! A fabric with four planes, each a network of its own with the same LIDs, in one reading.

use std::sync::Arc;
use std::time::Duration;

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::health::problem::ProblemKind;
use fabdeck::operations::health::ranked_problems::RankingRequest;
use fabdeck::operations::view_id::ViewId;
use fabdeck::script::run::run;
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::observe::{DeviceAnswer, Observation, PlaneAnswer};
use fabdeck_fabric::{Fabric, FabricBuilder, NameMap, NodeId, PortId};
use fabdeck_files::capture::Recorder;
use fabdeck_live::{
    ExchangePolicy, Keys, LiveOptions, LiveSource, PairedPort, PlaneSource, PlaneSources, open,
};
use fabdeck_mad::Class;
use fabdeck_mad::access::{NoObserver, ReadPort, Source};
use fabdeck_simulator::{SharedSimulator, plane_of};

use super::logged_port::{LoggedPort, SentMads};
use super::{ALL, LineFaults, fabric, hosts, look_at, recorded_moments, simulated, switches};
use crate::captures::sample_fabric::{BEGUN, Memory, header};

const PLANES: u8 = 4;

/// The simulators of the planes of a fabric.
struct World {
    planes: Vec<SharedSimulator>,
    sent: SentMads,
}

impl World {
    /// Each plane of a fabric, where `changed` makes another one of it.
    fn new(plain: &Fabric, changed: impl Fn(u8, Fabric) -> Fabric) -> Self {
        let plane = |number: u8| {
            let simulator = simulated(&changed(number, plane_of(plain, number)), LineFaults::default(), 7);
            simulator.with_simulator(|simulator| simulator.fabric_mut().set_plane(number, PLANES));
            simulator
        };
        Self { planes: (1..=PLANES).map(plane).collect(), sent: SentMads::default() }
    }

    /// The adapter: one device for subnet management with a port for each plane, one for the rest.
    fn source(&self) -> LiveSource {
        let open = |plane: usize| {
            ReadPort::new(LoggedPort(self.planes[plane].open_port(None).unwrap(), self.sent.clone()))
        };
        let gsi = self.planes[0].open_port(None).unwrap();
        let others = (1..usize::from(PLANES))
            .map(|plane| PlaneSource { plane: plane as u8 + 1, port: Ok(open(plane)) })
            .collect();
        let paired = ReadPort::new(PairedPort::new(open(0), gsi));
        LiveSource::new("planes", paired, ExchangePolicy::default(), Keys::default())
            .with_planes(PlaneSources { main: 1, others })
    }

    fn read(&self) -> Observation {
        self.source().observe(ALL, &mut NoObserver).unwrap()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new("planes", self.read(), &NameMap::default())
    }
}

fn plain() -> Fabric {
    fabric("kary,k=4,n=2")
}

fn all_planes() -> World {
    World::new(&plain(), |_, fabric| fabric)
}

/// The same fabric without the cable of a port.
fn without_cable(fabric: &Fabric, port: PortId) -> Fabric {
    let mut builder = FabricBuilder::from_fabric(fabric);
    let port = fabric.port(port);
    builder.disconnect(port.node.into(), port.number);
    builder.finish()
}

fn host_port(fabric: &Fabric, at: usize) -> PortId {
    fabric.ports_of(hosts(fabric)[at]).find(|(_, port)| port.peer.is_some()).unwrap().0
}

fn cable_between_switches(fabric: &Fabric) -> PortId {
    let is_switch = |id: PortId| fabric.node(fabric.port(id).node).is_switch();
    let at = switches(fabric)[0];
    let mut ports = fabric.ports_of(at).filter(|(_, port)| port.peer.is_some_and(is_switch));
    ports.next().unwrap().0
}

fn notes(look: &Observation, code: &str) -> Vec<String> {
    look.notes.iter().filter(|note| note.code == code).map(|note| note.text.clone()).collect()
}

fn cells(look: &Snapshot, view: ViewId, field: &str) -> Vec<String> {
    let listing = view.listing(look).unwrap();
    let at = (0..listing.column_count()).find(|at| listing.column(*at).id == field).unwrap();
    (0..listing.row_count()).map(|row| listing.cell(row, at).to_string()).collect()
}

/// The titles of problems with planes.
fn titles(look: &Snapshot) -> Vec<String> {
    let request = RankingRequest {
        look: Arc::new(look.clone()),
        at: None,
        reading: None,
        news: Vec::new(),
        certificate: None,
        paths: None,
        jobs: None,
        recorded: Arc::default(),
        acknowledgements: 0,
        write: None,
    };
    let problems = request.run(None, None).problems.into_iter();
    problems.filter(|problem| problem.kind == ProblemKind::PlaneDown).map(|problem| problem.title).collect()
}

#[test]
fn four_planes_are_one_reading() {
    let world = all_planes();
    let look = world.read();
    assert_eq!((look.planes.main, look.planes.readings.len() + 1), (1, PLANES.into()));
    assert!(look.planes.readings.iter().all(|reading| reading.answer == PlaneAnswer::Read));
    assert!(!look.is_partial(), "{:?}", look.notes);
    assert_eq!(notes(&look, "FN-576").len(), 1);
    // Everything but the planes is what the first plane alone says.
    let first = simulated(&plane_of(&plain(), 1), LineFaults::default(), 7);
    let alone = look_at(&mut first.open_port(None).unwrap(), ALL);
    assert_eq!((&look.fabric, &look.tables), (&alone.fabric, &alone.tables));
    let sent = world.sent.lock().unwrap();
    assert!(sent.len() > 400 && sent.iter().all(|(class, _)| *class == Class::SUBNET_DIRECTED));
    let phases = &look.reading.as_ref().unwrap().phases;
    for plane in 2..=PLANES {
        let name = format!("plane {plane}");
        assert!(phases.iter().any(|phase| phase.name == name && phase.sent > 50), "{name}: {phases:?}");
    }

    let shown = Snapshot::new("planes", look, &NameMap::default());
    for (link, _) in shown.fabric().links() {
        let planes = shown.link_planes(link).unwrap();
        assert_eq!((planes.up.as_slice(), planes.words().as_str()), (&[1, 2, 3, 4][..], "4 of 4"));
    }
    assert!(cells(&shown, ViewId::Links, "planes").iter().all(|cell| cell == "4 of 4"));
    assert!(titles(&shown).is_empty());
}

#[test]
fn a_link_that_is_down_in_a_plane_is_found_at_both_ends() {
    for pick in [|fabric: &Fabric| host_port(fabric, 5), cable_between_switches] {
        let world = World::new(&plain(), |plane, fabric| match plane {
            3 => without_cable(&fabric, pick(&fabric)),
            _ => fabric,
        });
        let shown = world.snapshot();
        let port = pick(shown.fabric());
        let peer = shown.fabric().peer(port).unwrap();
        for end in [port, peer] {
            let planes = shown.port_planes(end).unwrap();
            assert_eq!((planes.down.as_slice(), planes.words().as_str()), (&[3][..], "3 of 4"));
        }
        let worse =
            cells(&shown, ViewId::Links, "planes_down").into_iter().filter(|cell| cell == "1").count();
        assert_eq!(worse, 1);
        assert!(cells(&shown, ViewId::Ports, "planes").contains(&"3 of 4".to_owned()));
        let titles = titles(&shown);
        assert!(
            matches!(titles.as_slice(), [title] if title.ends_with("1 of 4 planes is down (plane 3)")),
            "{titles:?}"
        );
    }
}

#[test]
fn a_link_that_is_down_in_the_plane_of_the_fabric_is_found_in_the_others() {
    let world = World::new(&plain(), |plane, fabric| match plane {
        1 => without_cable(&fabric, host_port(&fabric, 5)),
        _ => fabric,
    });
    let shown = world.snapshot();
    let [missing] = shown.links_of_other_planes() else { panic!("{:?}", shown.links_of_other_planes()) };
    assert_eq!((missing.planes.down.as_slice(), missing.planes.up.as_slice()), (&[1][..], &[2, 3, 4][..]));
    let titles = titles(&shown);
    assert!(titles.iter().any(|title| title.starts_with(&missing.name)), "{titles:?}");
}

#[test]
fn a_silent_plane_leaves_the_reading_incomplete_and_never_wrong() {
    let world = all_planes();
    world.planes[2].with_simulator(|simulator| {
        let all: Vec<NodeId> = simulator.fabric_mut().snapshot().nodes().map(|(id, _)| id).collect();
        all.into_iter().for_each(|node| simulator.fabric_mut().set_silent(node, true));
    });
    let look = world.read();
    assert!(look.is_partial());
    let said = notes(&look, "FN-573");
    assert!(matches!(said.as_slice(), [text] if text.starts_with("plane 3 gave no answer")), "{said:?}");
    // Its routes are not those of the fabric.
    assert!(look.reading.as_ref().unwrap().silent.is_empty());
    let shown = Snapshot::new("planes", look, &NameMap::default());
    for (link, _) in shown.fabric().links() {
        let planes = shown.link_planes(link).unwrap();
        assert_eq!((planes.words().as_str(), planes.down.len()), ("3 of 4, 1 not known", 0));
    }
    assert_eq!(titles(&shown), ["plane 3 gave no answer"]);
}

#[test]
fn a_plane_that_answers_in_part_makes_no_port_down() {
    let world = all_planes();
    world.planes[3].with_simulator(|simulator| {
        let switch = switches(simulator.fabric_mut().snapshot()).pop().unwrap();
        simulator.fabric_mut().set_silent(switch, true);
    });
    let look = world.read();
    assert_eq!(notes(&look, "FN-574").len(), 1, "{:?}", look.notes);
    assert!(look.is_partial() && look.reading.as_ref().unwrap().silent.is_empty());
    let shown = Snapshot::new("planes", look, &NameMap::default());
    let all: Vec<_> = shown.fabric().links().filter_map(|(link, _)| shown.link_planes(link)).collect();
    assert!(all.iter().all(|planes| planes.down.is_empty()));
    assert!(all.iter().any(|planes| planes.unknown == [4]));
}

#[test]
fn a_plane_of_the_fabric_that_answers_in_part_makes_no_port_down() {
    let world = all_planes();
    world.planes[0].with_simulator(|simulator| {
        let switch = switches(simulator.fabric_mut().snapshot()).pop().unwrap();
        simulator.fabric_mut().set_silent(switch, true);
    });
    let look = world.read();
    assert!(look.is_partial() && look.planes.main_answer == PlaneAnswer::Partial);
    let shown = Snapshot::new("planes", look, &NameMap::default());
    let missing = shown.links_of_other_planes();
    assert!(!missing.is_empty() && missing.iter().all(|link| link.planes.unknown == [1]), "{missing:?}");
    assert_eq!(titles(&shown), Vec::<String>::new(), "what was not read is not down");
}

#[test]
fn many_links_that_the_plane_of_the_fabric_lacks_are_one_problem() {
    let world = World::new(&plain(), |plane, fabric| match plane {
        1 => (4..8).fold(fabric.clone(), |left, at| without_cable(&left, host_port(&fabric, at))),
        _ => fabric,
    });
    let shown = world.snapshot();
    assert_eq!(shown.links_of_other_planes().len(), 4);
    assert_eq!(titles(&shown), ["4 links of other planes: 1 of 4 planes is down (plane 1)"]);
}

/// The labels of a device that cannot be true join no planes of its ports.
#[test]
fn a_device_whose_labels_fail_the_check_has_no_planes() {
    let mut look = World::new(&plain(), |plane, fabric| match plane {
        3 => without_cable(&fabric, cable_between_switches(&fabric)),
        _ => fabric,
    })
    .read();
    let at = switches(&look.fabric)[0];
    let guid = look.fabric.node(at).guid();
    let stated = Snapshot::new("planes", look.clone(), &NameMap::default());
    assert!(look.fabric.ports_of(at).any(|(id, _)| stated.port_planes(id).is_some()));
    let own = look.hierarchies.ports.iter_mut().find(|((node, _), _)| *node == guid).unwrap();
    *own.1 = DeviceAnswer::Implausible;
    let shown = Snapshot::new("planes", look, &NameMap::default());
    assert!(shown.fabric().ports_of(at).all(|(id, _)| shown.port_planes(id).is_none()));
}

#[test]
fn planes_that_contradict_each_other_about_a_node_are_not_judged_there() {
    let changed = |plane: u8, fabric: Fabric| {
        let mut builder = FabricBuilder::from_fabric(&fabric);
        if plane == 2 {
            builder.node_mut(hosts(&fabric)[5].into()).device_id = Some(0x7777);
        }
        builder.finish()
    };
    let world = World::new(&plain(), changed);
    let look = world.read();
    assert_eq!(notes(&look, "FN-575").len(), 1, "{:?}", look.notes);
    assert!(look.is_partial());
    let shown = Snapshot::new("planes", look, &NameMap::default());
    let planes = shown.port_planes(host_port(shown.fabric(), 5)).unwrap();
    assert_eq!((planes.unknown.as_slice(), planes.down.len()), (&[2][..], 0));
}

#[test]
fn a_capture_keeps_the_planes() {
    let mut source = World::new(&plain(), |plane, fabric| match plane {
        3 => without_cable(&fabric, host_port(&fabric, 5)),
        _ => fabric,
    })
    .source();
    let mut look = source.observe(ALL, &mut NoObserver).unwrap();
    let first = look.planes.clone();
    let moments = recorded_moments(&mut source, &mut look, |look| {
        assert_eq!(look.planes.readings.len() + 1, usize::from(PLANES), "a sweep keeps them");
        look.planes.readings[0].answer = PlaneAnswer::Partial;
    });
    let recorded: Vec<_> = moments.iter().map(|moment| moment.planes.clone()).collect();
    assert!(recorded == [first, look.planes.clone()], "{recorded:?}");
    let kept = moments.into_iter().next_back().unwrap();
    let shown = Snapshot::new("planes", kept, &NameMap::default());
    assert_eq!(titles(&shown).len(), 1);
}

#[test]
fn no_device_of_a_plane_answers_subnet_management_by_lid() {
    use fabdeck_mad::access::{AddressedMad, MadAddress, MadPort};
    use fabdeck_mad::{Mad, Method, attribute};
    let by_lid = |simulator: &SharedSimulator| {
        let mut port = simulator.open_port(None).unwrap();
        let lid = port.local_port().lid.unwrap().value();
        let mut mad = Mad::new(Class::SUBNET_LID, Method::GET, attribute::NODE_INFO, 0);
        mad.header_mut().transaction = 7.into();
        let address = MadAddress { lid, queue_pair: 0, service_level: 0 };
        super::exchange(&mut port, AddressedMad { mad, address })
    };
    let world = all_planes();
    assert!(by_lid(&world.planes[1]).is_none());
    assert!(by_lid(&simulated(&plain(), LineFaults::default(), 1)).is_some());
}

/// What a command prints about a capture.
fn printed(capture: &std::path::Path, command: &[&str]) -> String {
    let args = ["--source", capture.to_str().unwrap()].into_iter().chain(command.iter().copied());
    let args = args.map(std::ffi::OsString::from).collect::<Vec<_>>();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once(std::ffi::OsString::from("fabdeck")).chain(args);
    run(args, &LocalSystemAccess::default(), &TerminalInfo::default(), &mut out, &mut err);
    String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&err)
}

#[test]
fn commands_on_a_capture_say_which_plane_is_judged_and_which_is_down() {
    let mut source = World::new(&plain(), |plane, fabric| match plane {
        3 => without_cable(&fabric, host_port(&fabric, 5)),
        _ => fabric,
    })
    .source();
    let mut look = source.observe(ALL, &mut NoObserver).unwrap();
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let sweep = source.sweep(&mut look, Duration::ZERO, &mut NoObserver).unwrap();
    recorder.record_sweep(BEGUN, &look, &sweep).unwrap();
    recorder.finish(BEGUN + 1_000).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planes.fdcap");
    std::fs::write(&file, memory.bytes.borrow().as_slice()).unwrap();
    let check = printed(&file, &["check"]);
    assert!(check.contains("for plane 1; the other planes are not judged"), "{check}");
    let json = printed(&file, &["check", "--json"]);
    assert!(json.contains("unicast of plane 1"), "{json}");
    let links = printed(&file, &["show", "links"]);
    assert!(links.contains("PLANES") && links.matches("3 of 4").count() == 1, "{links}");
    let down = printed(&file, &["show", "ports", "--filter", "planes_down>0", "--json"]);
    assert_eq!(down.matches("3 of 4").count(), 2, "{down}");
    let health = printed(&file, &["health"]);
    assert!(health.contains("1 of 4 planes is down (plane 3)"), "{health}");
}

/// The keys of the simulator make such a fabric: all planes in one reading, and a link that is down in the last of them.
#[test]
fn the_simulator_has_planes_by_its_keys() {
    let read = |text: &str| {
        let mut source = open(text, &LiveOptions::default()).unwrap();
        source.observe(ALL, &mut NoObserver).unwrap()
    };
    let source = "sim:kary,k=4,n=2,speed=xdr,planes=4";
    let look = read(source);
    assert_eq!((look.planes.main, look.planes.readings.len()), (1, 3));
    assert!(!look.is_partial(), "{:?}", look.notes);
    let planes = |look: Observation| {
        let look = Snapshot::new("planes", look, &NameMap::default());
        cells(&look, ViewId::Links, "planes").into_iter().filter(|cell| cell != "4 of 4").collect::<Vec<_>>()
    };
    assert_eq!(planes(look), Vec::<String>::new());
    assert_eq!(planes(read(&format!("{source},plane-down=leaf0/5+node3/1"))), ["3 of 4", "3 of 4"]);
    for (words, code) in [
        ("planes=1", "FD-5031"),
        ("planes=9", "FD-5031"),
        ("plane-down=leaf0/5", "FD-5031"),
        ("planes=2,plane-down=leaf0/99", "FD-5031"),
        ("planes=2,labels=all", "FD-5031"),
    ] {
        let mut refused = String::new();
        let opened = open(&format!("sim:kary,k=2,n=2,{words}"), &LiveOptions::default());
        refused.extend(opened.err().map(|error| error.to_string()));
        assert!(refused.contains(code), "{words}: {refused}");
    }
}
