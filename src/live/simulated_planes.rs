//! `sim:NAME,planes=N`: a simulator for each plane of a fabric, read through one adapter as on a host with XDR: one
//! device for subnet management with a port for each plane, and one for all other classes.

use std::sync::PoisonError;

use super::live_options::{LiveOptions, SimulatorPool, live_source};
use super::mad_source::{LiveSource, PlaneSource, PlaneSources};
use super::paired_port::PairedPort;
use super::simulated_source::no_such_node;
use super::simulator_options::{SimulatorOptions, bad_key_value};
use fabdeck_fabric::PortNum;
use fabdeck_fabric::observe::Notes;
use fabdeck_mad::access::{ReadPort, SourceError};
use fabdeck_simulator::{SharedSimulator, SimulatedFabric, Simulator};

/// Makes the simulator of a plane, with notes.
pub(super) type BuildPlane<'b> = &'b dyn Fn(u8) -> Result<(Simulator, Notes), SourceError>;

/// A source over all planes.
pub(super) fn open_planes(
    text: &str,
    wishes: &SimulatorOptions,
    options: &LiveOptions,
    build: BuildPlane<'_>,
) -> Result<LiveSource, SourceError> {
    let mut others = Vec::new();
    for plane in 2..=wishes.planes {
        let (shared, _) = find_plane(text, plane, options, build)?;
        let port = shared.open_port(wishes.at.as_deref()).map_err(no_such_node)?;
        others.push(PlaneSource { plane, port: Ok(port) });
    }
    let (port, notes) = paired_port(text, wishes, options, build)?;
    Ok(live_source(text, port, options).with_notes(notes).with_planes(PlaneSources { main: 1, others }))
}

/// The port of the first plane: subnet management through one device, all other classes through another.
pub(super) fn paired_port(
    text: &str,
    wishes: &SimulatorOptions,
    options: &LiveOptions,
    build: BuildPlane<'_>,
) -> Result<(ReadPort, Notes), SourceError> {
    let (first, notes) = find_plane(text, 1, options, build)?;
    let open = || first.open_port(wishes.at.as_deref()).map_err(no_such_node);
    Ok((ReadPort::new(PairedPort::new(open()?, open()?)), notes))
}

/// The existing simulator of a plane, if simulators are kept; otherwise a new one.
fn find_plane(
    text: &str,
    plane: u8,
    options: &LiveOptions,
    build: BuildPlane<'_>,
) -> Result<(SharedSimulator, Notes), SourceError> {
    let build = || build(plane).map(|(made, notes)| (SharedSimulator::new(made), notes));
    let Some(SimulatorPool(kept)) = &options.own else { return build() };
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let name = if plane == 1 { text.to_owned() } else { format!("{text} plane {plane}") };
    if let Some(found) = kept.get(&name) {
        return Ok(found.clone());
    }
    let made = build()?;
    kept.insert(name, made.clone());
    Ok(made)
}

/// Makes a fabric one of its planes. Links of `plane-down` are down in the last plane.
pub(super) fn set_plane(
    world: &mut SimulatedFabric,
    plane: u8,
    wishes: &SimulatorOptions,
) -> Result<(), SourceError> {
    world.set_plane(plane, wishes.planes);
    let Some(names) = wishes.plane_down.as_deref().filter(|_| plane == wishes.planes) else { return Ok(()) };
    for name in names.split('+') {
        let unknown = || bad_key_value("plane-down", name, "give NODE/PORT with + between them");
        let port = world.traffic_end(name).ok_or_else(unknown)?;
        let port = world.snapshot().port(port);
        let (node, number) = (port.node, port.number);
        if number == PortNum::MANAGEMENT {
            return Err(unknown());
        }
        world.set_link(node, number, false);
    }
    Ok(())
}
