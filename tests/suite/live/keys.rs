//! M_Keys: who sees what at each level, who may set, and what a look says of ports that are guarded.

use fabdeck_fabric::{Fabric, NodeId, PortNum};
use fabdeck_live::{ExchangePolicy, Keys, read_snapshot};
use fabdeck_mad::access::{AddressedMad, MadAddress, MadPort, NoObserver, SourceError};
use fabdeck_mad::{Mad, Method, PortInfo, Smp, attribute};
use fabdeck_simulator::{LineFaults, SharedSimulator, Simulator};

use super::{ALL, exchange, fabric, hosts, look_with, route_to, simulated, switches, world, writable};

const KEY: u64 = 0xA1B2_C3D4_E5F6_0718;
const WRONG: u64 = 0x1122_3344_5566_7788;

fn guarded(fabric: &Fabric, protect: u8, who: impl Fn(NodeId) -> bool) -> SharedSimulator {
    let mut world = world(fabric);
    fabric.nodes().filter(|(id, _)| who(*id)).for_each(|(id, _)| world.set_key(id, KEY, protect));
    SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1))
}

fn ask(
    port: &mut dyn MadPort,
    method: Method,
    route: &[u8],
    key: u64,
    info: Option<&PortInfo>,
) -> Option<Mad> {
    let mut smp = Smp::directed(method, attribute::PORT_INFO, 0, route).unwrap();
    smp.set_m_key(key);
    if let Some(info) = info {
        *smp.data_mut::<PortInfo>() = *info;
    }
    exchange(port, AddressedMad { mad: smp.0, address: MadAddress::directed() })
}

fn violations(simulator: &SharedSimulator, node: NodeId) -> u16 {
    simulator.with_simulator(|simulator| simulator.fabric().violations(node, PortNum(0)))
}

/// No form of either key is in a text.
fn assert_no_key(text: &str) {
    for key in [KEY, WRONG] {
        let bytes: Vec<String> = key.to_be_bytes().iter().map(u8::to_string).collect();
        for form in [format!("{key:x}"), format!("{key:X}"), key.to_string(), bytes.join(", ")] {
            assert!(!text.contains(&form), "a key is shown: {text}");
        }
    }
}

#[test]
fn a_get_shows_what_the_level_lets_it_and_a_set_needs_the_key() {
    let fabric = fabric("kary,k=3,n=2");
    let switch = switches(&fabric)[0];
    let route = route_to(&fabric, switch);
    for level in 0..=3 {
        for (key, right) in [(0, false), (WRONG, false), (KEY, true)] {
            let simulator = guarded(&fabric, level, |id| id == switch);
            let mut port = writable(&simulator);
            let told = ask(&mut port, Method::GET, &route, key, None);
            assert_eq!(told.is_some(), right || level < 2, "level {level}, right {right}");
            let shown = told.clone().map(|mad| Smp(mad).data::<PortInfo>().m_key.get());
            let expected = told.as_ref().map(|_| if right || level == 0 { KEY } else { 0 });
            assert_eq!(shown, expected, "level {level}, right {right}");
            let by_get = violations(&simulator, switch);
            assert_eq!(by_get, u16::from(!right && level >= 2));
            // The port as it is, and nothing of it changed.
            let info = ask(&mut port, Method::GET, &route, KEY, None).unwrap();
            let info = *Smp(info).data::<PortInfo>();
            let set = ask(&mut port, Method::SET, &route, key, Some(&info));
            assert_eq!(set.is_some(), right, "level {level}, right {right}");
            assert_eq!(violations(&simulator, switch), by_get + u16::from(!right));
            assert_no_key(&format!("{told:?} {info:?} {set:?} {simulator:?}"));
        }
    }
}

#[test]
fn a_snapshot_of_a_guarded_fabric_is_whole_with_the_key_and_partial_without() {
    let fabric = fabric("kary,k=3,n=2");
    let good = look_with(
        &mut simulated(&fabric, LineFaults::default(), 1).open_port(None).unwrap(),
        &Keys::default(),
        ALL,
    );
    let good = good.unwrap();
    let near = hosts(&fabric)[0];
    let leaf =
        fabric.ports_of(near).find_map(|(_, port)| port.peer).map(|peer| fabric.port(peer).node).unwrap();
    for level in 0..=3 {
        for (key, right) in [(0, false), (WRONG, false), (KEY, true)] {
            let simulator = guarded(&fabric, level, |id| id != near && id != leaf);
            let mut port = simulator.open_port(None).unwrap();
            // Somebody asks for far more tries than a guarded port should see.
            let policy = ExchangePolicy { retries: 9, ..ExchangePolicy::default() };
            let keys = if key == 0 { Keys::default() } else { Keys::single(key) };
            let seen = read_snapshot("sim", &mut port, policy, &keys, ALL, &mut NoObserver).unwrap();
            let whole = right || level < 2;
            assert_eq!(seen.is_partial(), !whole, "level {level}, right {right}: {:?}", seen.notes);
            assert_no_key(&format!("{seen:?} {keys:?} {port:?} {simulator:?}"));
            if whole {
                assert_eq!(seen.fabric, good.fabric);
                assert!(seen.tables == good.tables && seen.counters == good.counters);
                continue;
            }
            assert_eq!(seen.fabric.nodes().len(), 2);
            let told = seen.notes.iter().filter(|note| note.code == "FN-527").collect::<Vec<_>>();
            assert!(!told.is_empty() && told.iter().all(|note| note.text.contains("M_Key")), "{told:?}");
            for (id, _) in fabric.nodes() {
                let asked = (1..=36)
                    .map(|at| simulator.with_simulator(|s| s.fabric().violations(id, PortNum(at))))
                    .max();
                let most = asked.unwrap().max(violations(&simulator, id));
                assert!(key == 0 || most <= 3, "{most} tries with a wrong key");
            }
        }
    }
}

#[test]
fn a_local_port_that_is_guarded_is_named_with_three_tries() {
    let fabric = fabric("kary,k=3,n=2");
    let local = hosts(&fabric)[0];
    for (keys, tries) in [(Keys::default(), 10), (Keys::single(WRONG), 3)] {
        let simulator = guarded(&fabric, 2, |_| true);
        let mut port = simulator.open_port(None).unwrap();
        let policy = ExchangePolicy { retries: 9, ..ExchangePolicy::default() };
        let error = read_snapshot("sim:x", &mut port, policy, &keys, ALL, &mut NoObserver).unwrap_err();
        assert!(matches!(&error, SourceError::Unreachable { code: "FD-5012", .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("the local port does not answer") && text.contains("M_Key"), "{text}");
        assert_no_key(&format!("{text} {error:?}"));
        let counted = simulator.with_simulator(|simulator| simulator.fabric().violations(local, PortNum(1)));
        assert_eq!(counted, tries);
    }
}

/// A file of keys by GUID serves Sets. A wrong line for a node that answers to the common key costs it nothing.
#[test]
fn what_a_node_has_answered_to_is_what_it_is_asked_with() {
    let fabric = fabric("kary,k=3,n=2");
    let switch = switches(&fabric)[0];
    let simulator = guarded(&fabric, 3, |_| true);
    let mut port = simulator.open_port(None).unwrap();
    let file = format!("{KEY:#x}\n{} {WRONG:#x}\n", fabric.node(switch).guid());
    let keys = Keys::read("keys", &file).unwrap();
    let seen = look_with(&mut port, &keys, ALL).unwrap();
    assert!(!seen.is_partial(), "{:?}", seen.notes);
    assert!(fabric.nodes().all(|(id, _)| violations(&simulator, id) == 0));
    assert_no_key(&format!("{seen:?} {keys:?}"));
}

/// Everything that the program prints and keeps, with the right key and with a wrong one.
#[test]
fn no_output_of_the_program_has_a_key() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("key");
    for (key, wrong_lines) in [(KEY, ""), (WRONG, ""), (KEY, "0x10 oops\n")] {
        for form in [format!("{key:#x}"), key.to_string()] {
            std::fs::write(&file, format!("{wrong_lines}{form}\n")).unwrap();
            for level in 0..=3 {
                for what in [
                    ["show", "fabric", "--json"],
                    ["show", "counters", "--json"],
                    ["show", "tables", "-v"],
                    ["report", "-o", "-"],
                ] {
                    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fabdeck"));
                    command.env("HOME", home.path()).env("RUST_LOG", "trace").env("FABDECK_LOG", "trace");
                    for folder in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
                        command.env(folder, home.path().join("state"));
                    }
                    let source = format!("sim:kary,k=2,n=2,protect={level},silent=20%");
                    command.args(["--source", &source, "--mkey-file"]).arg(&file).args(what);
                    let output = command.output().unwrap();
                    assert!(!output.stdout.is_empty() || !output.stderr.is_empty());
                    assert_no_key(&String::from_utf8_lossy(&output.stdout));
                    assert_no_key(&String::from_utf8_lossy(&output.stderr));
                }
            }
        }
    }
    let mut folders = vec![home.path().join("state")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_no_key(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
            }
        }
    }
}
