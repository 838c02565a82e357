//! `sim:NAME,key=value...`: a generated fabric in a simulator of this process. The simulator takes its own keys out;
//! the other keys belong to the fabric.

use std::path::Path;
use std::sync::PoisonError;

use super::files_source::read_content;
use super::generated_fabric::{generate_fabric, notes_of};
use super::live_options::{LiveOptions, SimulatorPool, live_source};
use super::mad_source::LiveSource;
use super::simulated_planes::{open_planes, paired_port, set_plane};
use super::simulated_traffic;
use super::simulator_options::{SIMULATOR_KEYS, SimulatorOptions, bad_key_value, parse_options};
use super::story_events;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{NodeId, Tables};
use fabdeck_files::content::Content;
use fabdeck_mad::access::{ReadPort, SourceError};
use fabdeck_simulator::{AttachError, SharedSimulator, SimulatedFabric, Simulator, plane_of};

/// A source over a simulator of this process.
pub fn simulated_source(text: &str, words: &str, options: &LiveOptions) -> Result<LiveSource, SourceError> {
    let wishes = parse_options(words)?;
    if wishes.planes > 0 {
        let build = |plane| build_simulator(text, (&wishes, plane), options);
        return open_planes(text, &wishes, options, &build);
    }
    let (shared, notes) = find_or_create(text, &wishes, options)?;
    let port = shared.open_port(wishes.at.as_deref()).map_err(no_such_node)?;
    let source = live_source(text, port, options).with_notes(notes);
    Ok(source.with_remarks(Box::new(simulated_traffic::TrafficLagNote::of_simulator(text, shared))))
}

/// A port of a simulator of this process, for reading or writing.
pub fn simulated_port(text: &str, words: &str, options: &LiveOptions) -> Result<ReadPort, SourceError> {
    let wishes = parse_options(words)?;
    if wishes.planes > 0 {
        let build = |plane| build_simulator(text, (&wishes, plane), options);
        return paired_port(text, &wishes, options, &build).map(|(port, _)| port);
    }
    let (shared, _) = find_or_create(text, &wishes, options)?;
    shared.open_port(wishes.at.as_deref()).map_err(no_such_node)
}

/// The existing simulator of this name, if simulators are kept; otherwise a new one.
fn find_or_create(
    text: &str,
    wishes: &SimulatorOptions,
    options: &LiveOptions,
) -> Result<(SharedSimulator, Notes), SourceError> {
    let fresh = || {
        build_simulator(text, (wishes, 0), options).map(|(made, notes)| (SharedSimulator::new(made), notes))
    };
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
    if wishes.planes > 0 {
        let planes = wishes.planes.to_string();
        return Err(bad_key_value(
            "planes",
            &planes,
            "a fabric with planes cannot be served to other processes",
        ));
    }
    build_simulator(text, (&wishes, 0), options)
}

/// Builds a fabric, or one of its planes; 0 stands for a fabric without planes.
fn build_simulator(
    text: &str,
    (wishes, plane): (&SimulatorOptions, u8),
    options: &LiveOptions,
) -> Result<(Simulator, Notes), SourceError> {
    let mut generated = generate_fabric(&wishes.fabric).map_err(suggest_simulator_key)?;
    if plane > 0 {
        generated.fabric = plane_of(&generated.fabric, plane);
    }
    let notes = notes_of(text, &generated);
    let mut world =
        SimulatedFabric::new(&generated.fabric, &Tables::default()).ok_or_else(|| SourceError::Name {
            code: "FD-5033",
            what: format!("{text}: the faults leave nothing of this fabric"),
            hint: "ask for fewer faults".into(),
        })?;
    if plane > 0 {
        set_plane(&mut world, plane, wishes)?;
    }
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
    // A story may name ports by their labels.
    set_labels(&mut world, wishes)?;
    let carried = match wishes.traffic.as_deref() {
        // Packets and events are those of the first plane.
        _ if plane > 1 => None,
        None if is_demo(wishes) => Some(simulated_traffic::demo_traffic(&world, wishes.ratio)),
        None | Some("none") => None,
        Some(words) => Some(simulated_traffic::pattern_traffic(&world, words, wishes.ratio, wishes.seed)?),
    };
    let carried = match wishes.story.as_ref().filter(|_| plane <= 1) {
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
    set_wire(&mut world, wishes)?;
    let notes = set_partitions(&mut world, wishes, notes)?;
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

/// Sets the answers of nodes about the health of links; named nodes come after `all`.
fn set_wire(world: &mut SimulatedFabric, wishes: &SimulatorOptions) -> Result<(), SourceError> {
    let (all, named): (Vec<_>, Vec<_>) = wishes.wire.iter().partition(|(_, _, who)| who == "all");
    for (_, profile, _) in all {
        let nodes: Vec<NodeId> = world.snapshot().nodes().map(|(id, _)| id).collect();
        nodes.into_iter().for_each(|id| world.set_wire(id, *profile));
    }
    for (key, profile, names) in named.into_iter().filter(|(_, _, names)| names != "none") {
        if let Some(name) = names.split('+').find(|name| !world.set_wire_at(name, *profile)) {
            return Err(bad_key_value(
                key,
                name,
                "give all, none, or nodes of this fabric with + between them",
            ));
        }
    }
    Ok(())
}

/// Sets the answers of nodes about the labels of their ports; named nodes come after `all`.
fn set_labels(world: &mut SimulatedFabric, wishes: &SimulatorOptions) -> Result<(), SourceError> {
    let (all, named): (Vec<_>, Vec<_>) = wishes.labels.iter().partition(|(_, _, who)| who == "all");
    for (_, profile, _) in all {
        let nodes: Vec<NodeId> = world.snapshot().nodes().map(|(id, _)| id).collect();
        nodes.into_iter().for_each(|id| world.set_labels(id, *profile));
    }
    for (key, profile, names) in named.into_iter().filter(|(_, _, names)| names != "none") {
        if let Some(name) = names.split('+').find(|name| !world.set_labels_at(name, *profile)) {
            return Err(bad_key_value(
                key,
                name,
                "give all, none, or nodes of this fabric with + between them",
            ));
        }
    }
    Ok(())
}

/// Gives ports the P_Keys of a file, and sets the answers of nodes about them; named nodes come after `all`.
fn set_partitions(
    world: &mut SimulatedFabric,
    wishes: &SimulatorOptions,
    mut notes: Notes,
) -> Result<Notes, SourceError> {
    if let Some(file) = &wishes.partition_file {
        let Content::Partitions(read) = read_content(Path::new(file))? else {
            return Err(bad_key_value(
                "partitions",
                file,
                "a file in the format of OpenSM's partitions.conf",
            ));
        };
        let partitions = read.bind_to(file, world.snapshot(), world.manager_guid(), &mut notes);
        notes.extend(read.notes);
        world.set_partitions(&partitions);
    }
    let (all, named): (Vec<_>, Vec<_>) = wishes.partitions.iter().partition(|(_, _, who)| who == "all");
    for (_, profile, _) in all {
        let nodes: Vec<NodeId> = world.snapshot().nodes().map(|(id, _)| id).collect();
        nodes.into_iter().for_each(|id| world.set_partition_profile(id, *profile));
    }
    for (key, profile, names) in named.into_iter().filter(|(_, _, names)| names != "none") {
        if let Some(name) = names.split('+').find(|name| !world.set_partition_profile_at(name, *profile)) {
            return Err(bad_key_value(
                key,
                name,
                "give all, none, or nodes of this fabric with + between them",
            ));
        }
    }
    Ok(notes)
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

pub(super) fn no_such_node(error: AttachError) -> SourceError {
    SourceError::Name {
        code: "FD-4401",
        what: format!("the simulated fabric has no node '{}'", error.0),
        hint:
            "give the name or GUID of a node, or NAME/PORT; 'fabdeck --source sim:NAME show hosts' lists some"
                .into(),
    }
}
