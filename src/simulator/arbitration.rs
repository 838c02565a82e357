//! Arbitration tables in the layout of their attribute: two blocks of 32 entries for each priority.

use fabdeck_fabric::VlWeight;
use fabdeck_mad::VlArbitrationBlock;

use super::device::{ArbitrationTables, Device, Socket};
use super::subnet::Refusal;

/// Capacity of the high and of the low table, in entries.
pub const CAPACITY: (u8, u8) = (8, 8);

pub fn block(device: &Device, ingress: u8, modifier: u32) -> Result<VlArbitrationBlock, Refusal> {
    let (number, place) = asked(device, ingress, modifier)?;
    let socket = device.socket(number).ok_or(Refusal::InvalidField)?;
    let set = socket.arbitration.as_deref();
    let weights = match place {
        1 => set.map_or_else(|| even(socket.operational_lanes), |tables| tables.low.clone()),
        3 => set.map(|tables| tables.high.clone()).unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut block = VlArbitrationBlock { entries: [[0; 2]; 32] };
    for (entry, weight) in block.entries.iter_mut().zip(&weights) {
        *entry = [weight.lane.value(), weight.weight];
    }
    Ok(block)
}

pub fn set_block(
    device: &mut Device,
    ingress: u8,
    modifier: u32,
    wanted: &VlArbitrationBlock,
) -> Result<(), Refusal> {
    let (number, place) = asked(device, ingress, modifier)?;
    let socket = device.socket_mut(number).ok_or(Refusal::InvalidField)?;
    let tables = of(socket);
    match place {
        1 => tables.low = wanted.weights(CAPACITY.1),
        3 => tables.high = wanted.weights(CAPACITY.0),
        _ => {}
    }
    Ok(())
}

/// The tables of a port, to change them: its default tables, unless they were set before.
pub fn of(socket: &mut Socket) -> &mut ArbitrationTables {
    let low = || even(socket.operational_lanes);
    socket.arbitration.get_or_insert_with(|| Box::new(ArbitrationTables { low: low(), ..Default::default() }))
}

/// Equal weights for all lanes, the default of a port.
fn even(lanes: u8) -> Vec<VlWeight> {
    let lane = |lane: u8| fabdeck_fabric::Lane::new(lane.into()).unwrap_or_default();
    (0..lanes.min(CAPACITY.1)).map(|at| VlWeight { lane: lane(at), weight: 64 }).collect()
}

fn asked(device: &Device, ingress: u8, modifier: u32) -> Result<(u8, u32), Refusal> {
    let (port, place) = ((modifier & 0xFF) as u8, modifier >> 16);
    let number = if device.is_switch() { port } else { ingress };
    (1..=4).contains(&place).then_some((number, place)).ok_or(Refusal::InvalidField)
}
