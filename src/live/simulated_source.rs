//! `sim:NAME,key=value...`: a generated fabric in a simulator of this process. The simulator takes its own keys out;
//! the other keys belong to the fabric.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::generated_fabric::{generate_fabric, notes_of};
use super::mad_source::LiveSource;
use super::open::{LiveOptions, live_source};
use super::simulated_traffic;
use super::story_events;
use fabdeck_fabric::generate::GeneratedFabric;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Lmc, NodeId, Tables};
use fabdeck_mad::access::{ReadPort, SourceError};
use fabdeck_simulator::{
    AdaptiveProfile, AttachError, LineFaults, Share, SharedSimulator, SimulatedFabric, Simulator, TimeRatio,
    with_lmc,
};

/// A key of the simulator in `sim:NAME,key=value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulatorKey {
    pub name: &'static str,
    pub default: &'static str,
    pub meaning: &'static str,
}

/// The keys, in the order of the help.
pub const SIMULATOR_KEYS: &[SimulatorKey] = &[
    SimulatorKey { name: "at", default: "the first host", meaning: "the node from which the fabric is read" },
    SimulatorKey {
        name: "loss",
        default: "0%",
        meaning: "share of the MADs that get lost, in each direction",
    },
    SimulatorKey { name: "delay", default: "0ms", meaning: "MADs arrive up to so much later, by chance" },
    SimulatorKey { name: "duplicate", default: "0%", meaning: "share of the answers that come twice" },
    SimulatorKey { name: "reorder", default: "0%", meaning: "share of the MADs that others overtake" },
    SimulatorKey {
        name: "foreign",
        default: "0%",
        meaning: "share of the answers that come with an answer of another sender",
    },
    SimulatorKey {
        name: "silent",
        default: "0%",
        meaning: "share of the switches and hosts that never answer",
    },
    SimulatorKey {
        name: "protect",
        default: "0",
        meaning: "M_Key protection level, 0 to 3; the key is that of --mkey-file",
    },
    SimulatorKey {
        name: "traffic",
        default: "none; of demo its own",
        meaning: "a pattern of packets between hosts, as in simulate --pattern, and its parameters: hotspot:share=20%:spots=2",
    },
    SimulatorKey {
        name: "story",
        default: "none",
        meaning: "a file of timed events: flows, cables that go down, nodes that fall silent, new routes",
    },
    SimulatorKey {
        name: "agents",
        default: "none; of demo all",
        meaning: "hosts whose flows follow notices to another lane by themselves: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar",
        default: "none",
        meaning: "switches that say that adaptive routing is on (packets keep to the tables): all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-off",
        default: "none",
        meaning: "switches that have adaptive routing and say that it is off: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-silent",
        default: "none",
        meaning: "switches that do not answer whether they have adaptive routing: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "lmc",
        default: "as the fabric has it",
        meaning: "ports of hosts have two to the power of this LIDs, 0 to 3; all LIDs are given anew",
    },
    SimulatorKey {
        name: "ratio",
        default: "1:1000",
        meaning: "time of the traffic to time of the fabric; counters grow as if it were 1:1",
    },
];

/// Simulators of this process, by the text that named them. The same text leads to the same fabric in its present
/// state.
#[derive(Clone, Debug, Default)]
pub struct SimulatorPool(Arc<Mutex<BTreeMap<String, (SharedSimulator, Notes)>>>);

/// The parsed keys of the simulator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct SimulatorOptions {
    at: Option<String>,
    line: LineFaults,
    silent: Share,
    protect: u8,
    seed: u64,
    traffic: Option<String>,
    ratio: Option<TimeRatio>,
    story: Option<String>,
    agents: Option<String>,
    /// The answers about adaptive routing, and which switches give them: `all`, or names.
    adaptive: Vec<(&'static str, AdaptiveProfile, String)>,
    lmc: Option<Lmc>,
    /// The words of the fabric.
    fabric: String,
}

/// The path and the node of `sim:SOCKET[,at=NODE]`. A word with a slash or the suffix `.sock` is a path.
pub fn parse_socket(words: &str) -> Result<Option<(PathBuf, Option<&str>)>, SourceError> {
    let (path, more) = words.split_once(',').map_or((words, None), |(path, more)| (path, Some(more)));
    if !path.contains('/') && !path.ends_with(".sock") {
        return Ok(None);
    }
    match more.map(|more| more.strip_prefix("at=").filter(|at| !at.contains('='))) {
        None => Ok(Some((path.into(), None))),
        Some(Some(at)) => Ok(Some((path.into(), Some(at)))),
        Some(None) => Err(SourceError::Name {
            code: "FD-5036",
            what: format!("'{}' is not a key of a served simulator, which has only at=NODE", more.unwrap_or_default()),
            hint: "the other keys belong to the process that serves: --source sim:NAME,key=value simulate --serve".into(),
        }),
    }
}

/// A source over a simulator of this process.
pub fn simulated_source(text: &str, words: &str, options: &LiveOptions) -> Result<LiveSource, SourceError> {
    let wishes = parse_options(words)?;
    let (shared, notes) = find_or_create(text, &wishes, options)?;
    let port = shared.open_port(wishes.at.as_deref()).map_err(no_such_node)?;
    let source = live_source(text, port, options).with_notes(notes);
    Ok(source.with_remarks(Box::new(simulated_traffic::TrafficLagNote::of_simulator(text, shared))))
}

/// A port of a simulator of this process, for reading or writing.
pub fn simulated_port(text: &str, words: &str, options: &LiveOptions) -> Result<ReadPort, SourceError> {
    let wishes = parse_options(words)?;
    let (shared, _) = find_or_create(text, &wishes, options)?;
    shared.open_port(wishes.at.as_deref()).map_err(no_such_node)
}

/// The existing simulator of this name, if simulators are kept; otherwise a new one.
fn find_or_create(
    text: &str,
    wishes: &SimulatorOptions,
    options: &LiveOptions,
) -> Result<(SharedSimulator, Notes), SourceError> {
    let fresh =
        || build_simulator(text, wishes, options).map(|(made, notes)| (SharedSimulator::new(made), notes));
    let Some(SimulatorPool(kept)) = &options.own else { return fresh() };
    // A second caller for the same simulator waits until it exists.
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = kept.get(text) {
        return Ok(found.clone());
    }
    let made = fresh()?;
    kept.insert(text.to_owned(), made.clone());
    Ok(made)
}

/// The simulator of `sim:NAME,...`, for serving it to other processes.
pub fn create_simulator(text: &str, options: &LiveOptions) -> Result<(Simulator, Notes), SourceError> {
    let words = text.strip_prefix("sim:").unwrap_or(text);
    let wishes = parse_options(words)?;
    if wishes.at.is_some() {
        return Err(SourceError::Name {
            code: "FD-5032",
            what: "'at' names the node at which a client is attached".into(),
            hint: "leave it out here and give it to the clients: sim:SOCKET,at=NODE".into(),
        });
    }
    build_simulator(text, &wishes, options)
}

fn build_simulator(
    text: &str,
    wishes: &SimulatorOptions,
    options: &LiveOptions,
) -> Result<(Simulator, Notes), SourceError> {
    let mut generated = generate_fabric(&wishes.fabric).map_err(suggest_simulator_key)?;
    if let Some(lmc) = wishes.lmc {
        generated.fabric = with_lmc(&generated.fabric, lmc);
    }
    let mut notes = notes_of(text, &generated);
    note_speeds(text, &generated, &mut notes);
    let mut world =
        SimulatedFabric::new(&generated.fabric, &Tables::default()).ok_or_else(|| SourceError::Name {
            code: "FD-5033",
            what: format!("{text}: the faults leave nothing of this fabric"),
            hint: "ask for fewer faults".into(),
        })?;
    silence_nodes(&mut world, wishes);
    let guids: Vec<_> = generated.fabric.nodes().map(|(id, node)| (id, node.guid())).collect();
    let mut guarded = 0;
    for (id, guid) in guids.into_iter().filter(|(_, guid)| options.keys.key_for(Some(*guid)) != 0) {
        world.set_key(id, options.keys.key_for(Some(guid)), wishes.protect);
        guarded += 1;
    }
    if wishes.protect > 0 && guarded == 0 {
        return Err(SourceError::Name {
            code: "FD-5035",
            what: "ports are protected only by a key, and none of the keys is for a node of this fabric"
                .into(),
            hint: "give a key for all, or lines 'GUID KEY' with GUIDs of this fabric, with --mkey-file"
                .into(),
        });
    }
    let carried = match wishes.traffic.as_deref() {
        None if is_demo(wishes) => Some(simulated_traffic::demo_traffic(&world, wishes.ratio)),
        None | Some("none") => None,
        Some(words) => Some(simulated_traffic::pattern_traffic(&world, words, wishes.ratio, wishes.seed)?),
    };
    let carried = match &wishes.story {
        None => carried,
        Some(file) => {
            let quiet = || simulated_traffic::no_traffic(wishes.ratio, wishes.seed);
            Some(story_events::apply_story(&world, Path::new(file), carried.unwrap_or_else(quiet))?)
        }
    };
    if let Some(carried) = carried {
        world.start_traffic(carried).map_err(|error| simulated_traffic::traffic_error(&error))?;
    }
    place_agents(&mut world, wishes)?;
    set_adaptive(&mut world, wishes)?;
    Ok((Simulator::new(world, wishes.line, wishes.seed), notes))
}

fn is_demo(wishes: &SimulatorOptions) -> bool {
    wishes.fabric.split(',').next() == Some("demo")
}

/// Sets which hosts follow notices by themselves.
fn place_agents(world: &mut SimulatedFabric, wishes: &SimulatorOptions) -> Result<(), SourceError> {
    let usual = if is_demo(wishes) { "all" } else { "none" };
    match wishes.agents.as_deref().unwrap_or(usual) {
        "none" => {}
        "all" => world.add_agents(),
        names => {
            let unknown = |name: &&str| !world.add_agent(name);
            if let Some(name) = names.split('+').find(unknown) {
                return Err(bad_key_value(
                    "agents",
                    name,
                    "give all, none, or hosts of this fabric with + between them",
                ));
            }
        }
    }
    Ok(())
}

/// Sets the answers of switches about adaptive routing; named switches come after `all`.
fn set_adaptive(world: &mut SimulatedFabric, wishes: &SimulatorOptions) -> Result<(), SourceError> {
    let (all, named): (Vec<_>, Vec<_>) = wishes.adaptive.iter().partition(|(_, _, who)| who == "all");
    for (_, profile, _) in all {
        let switches: Vec<NodeId> = world.snapshot().switches().map(|(id, _)| id).collect();
        switches.into_iter().for_each(|id| world.set_adaptive(id, *profile));
    }
    for (key, profile, names) in named.into_iter().filter(|(_, _, names)| names != "none") {
        if let Some(name) = names.split('+').find(|name| !world.set_adaptive_at(name, *profile)) {
            return Err(bad_key_value(
                key,
                name,
                "give all, none, or switches of this fabric with + between them",
            ));
        }
    }
    Ok(())
}

/// Silences a random share of the nodes, but not the client's node and its neighbours.
fn silence_nodes(world: &mut SimulatedFabric, wishes: &SimulatorOptions) {
    if wishes.silent.is_zero() {
        return;
    }
    let mut dice = fabdeck_simulator::SimulatorRng::new(wishes.seed ^ 0x51_1E47);
    let spared: Vec<NodeId> = nodes_near_client(world, wishes.at.as_deref());
    let all: Vec<NodeId> = world.snapshot().nodes().map(|(id, _)| id).collect();
    for id in all {
        if dice.draw_share(wishes.silent) && !spared.contains(&id) {
            world.set_silent(id, true);
        }
    }
}

/// The client's node, and the nodes at the other ends of its cables.
fn nodes_near_client(world: &SimulatedFabric, at: Option<&str>) -> Vec<NodeId> {
    let Some(seat) = world.client_node(at) else { return Vec::new() };
    let fabric = world.snapshot();
    let peers = fabric.ports_of(seat).filter_map(|(_, port)| port.peer).map(|peer| fabric.port(peer).node);
    std::iter::once(seat).chain(peers).collect()
}

/// Adds the simulator's keys to the error: a key that the fabric does not know may be a misspelt one.
fn suggest_simulator_key(error: SourceError) -> SourceError {
    let SourceError::Name { code: code @ "FD-3003", what, .. } = error else { return error };
    let keys: Vec<&str> = SIMULATOR_KEYS.iter().map(|key| key.name).collect();
    SourceError::Name { code, what, hint: format!("the simulator's own keys are {}", keys.join(", ")) }
}

/// Notes a speed that PortInfo cannot express.
fn note_speeds(text: &str, generated: &GeneratedFabric, notes: &mut Notes) {
    let mut speeds = generated.fabric.ports().filter_map(|(_, port)| port.facts.speed);
    if let Some(speed) = speeds.find(|speed| !speed.is_in_port_info()) {
        notes.add("FN-513", NotePlace::file(text), || {
            format!(
                "PortInfo has no value for {speed}: ports of this speed report the next lower one that it has"
            )
        });
    }
}

fn parse_options(words: &str) -> Result<SimulatorOptions, SourceError> {
    let mut wishes = SimulatorOptions { seed: 1, ..SimulatorOptions::default() };
    let mut own = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (place, word) in words.split(',').enumerate() {
        let pair = word.split_once('=').filter(|_| place > 0).map(|(key, value)| (key.trim(), value.trim()));
        let Some((key, value)) = pair else {
            own.push(word);
            continue;
        };
        if SIMULATOR_KEYS.iter().any(|known| known.name == key) && !seen.insert(key) {
            return Err(bad_key_value(key, value, "it is given twice"));
        }
        let share =
            || Share::parse(value).ok_or_else(|| bad_key_value(key, value, "a share from 0% to 100% as 10%"));
        match key {
            "at" => wishes.at = Some(value.to_owned()),
            "loss" => wishes.line.loss = share()?,
            "delay" => {
                wishes.line.delay =
                    parse_millis(value).ok_or_else(|| bad_key_value(key, value, "a time as 5ms or 200us"))?
            }
            "duplicate" => wishes.line.duplicate = share()?,
            "reorder" => wishes.line.reorder = share()?,
            "foreign" => wishes.line.foreign = share()?,
            "silent" => wishes.silent = share()?,
            "protect" => {
                let level = value.parse().ok().filter(|level| *level <= 3);
                wishes.protect = level.ok_or_else(|| bad_key_value(key, value, "a level from 0 to 3"))?;
            }
            "traffic" => wishes.traffic = Some(value.to_owned()),
            "story" => wishes.story = Some(value.to_owned()),
            "lmc" => {
                let lmc = value.parse().ok().filter(|lmc| *lmc <= 3).and_then(Lmc::new);
                wishes.lmc = Some(lmc.ok_or_else(|| bad_key_value(key, value, "a number from 0 to 3"))?);
            }
            "agents" => wishes.agents = Some(value.to_owned()),
            "ar" => wishes.adaptive.push(("ar", AdaptiveProfile::On, value.to_owned())),
            "ar-off" => wishes.adaptive.push(("ar-off", AdaptiveProfile::Off, value.to_owned())),
            "ar-silent" => wishes.adaptive.push(("ar-silent", AdaptiveProfile::Silent, value.to_owned())),
            "ratio" => {
                let ratio = TimeRatio::parse(value)
                    .ok_or_else(|| bad_key_value(key, value, "a ratio from 1:1 to 1:1000000"))?;
                wishes.ratio = Some(ratio);
            }
            "seed" => {
                // The simulator uses the fabric's seed. The fabric reports an invalid seed.
                wishes.seed = value.parse().unwrap_or(1);
                own.push(word);
            }
            _ => own.push(word),
        }
    }
    wishes.fabric = own.join(",");
    Ok(wishes)
}

fn parse_millis(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let number: u64 = number.parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" if number <= 3600 => Some(Duration::from_secs(number)),
        _ => None,
    }
}

pub(super) fn bad_key_value(key: &str, value: &str, allowed: &str) -> SourceError {
    let value: String = value.chars().take(40).collect();
    SourceError::Name {
        code: "FD-5031",
        what: format!("{key}={value} is not possible: {allowed}"),
        hint: "'fabdeck sources' lists the keys".into(),
    }
}

fn no_such_node(error: AttachError) -> SourceError {
    SourceError::Name {
        code: "FD-4401",
        what: format!("the simulated fabric has no node '{}'", error.0),
        hint:
            "give the name or GUID of a node, or NAME/PORT; 'fabdeck --source sim:NAME show hosts' lists some"
                .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_distinct() {
        for (words, path, at) in [
            ("/run/lab.sock", "/run/lab.sock", None),
            ("./lab,at=node01", "./lab", Some("node01")),
            ("lab.sock,at=node01/2", "lab.sock", Some("node01/2")),
            ("a/b", "a/b", None),
        ] {
            assert_eq!(parse_socket(words), Ok(Some((path.into(), at))), "{words}");
        }
        for words in ["demo", "demo,at=node01/1", "kary,k=4,n=2,at=node01", "torus,dims=4x4,loss=1%"] {
            assert_eq!(parse_socket(words), Ok(None), "{words}");
        }
        assert!(
            parse_socket("/run/lab.sock,loss=5%").is_err()
                && parse_socket("/run/lab.sock,at=x,loss=5%").is_err()
        );
    }

    #[test]
    fn simulator_keys_are_removed() {
        let wishes = parse_options("torus,dims=4x4,loss=1.5%,seed=9,delay=3ms,faults=2,at=x").unwrap();
        assert_eq!(wishes.fabric, "torus,dims=4x4,seed=9,faults=2");
        assert_eq!(
            (wishes.seed, wishes.at.as_deref(), wishes.line.delay),
            (9, Some("x"), Duration::from_millis(3))
        );
        assert_eq!(Some(wishes.line.loss), Share::parse("1.5%"));
    }
}
