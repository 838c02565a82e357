//! Arbitration tables in the layout of their attribute: two blocks of 32 entries for each priority.

use fabdeck_fabric::VlWeight;
use fabdeck_mad::VlArbitrationBlock;

use super::attribute_refusal::AttributeRefusal;
use super::device::{ArbitrationTables, PortModel, SimulatedDevice};

/// Capacity of the high and of the low table, in entries.
pub const TABLE_CAPACITY: (u8, u8) = (8, 8);

pub fn read_block(
    device: &SimulatedDevice,
    ingress: u8,
    modifier: u32,
) -> Result<VlArbitrationBlock, AttributeRefusal> {
    let (number, place) = decode_modifier(device, ingress, modifier)?;
    let socket = device.port(number).ok_or(AttributeRefusal::InvalidField)?;
    let set = socket.arbitration.as_deref();
    let weights = match place {
        1 => set.map_or_else(|| even_weights(socket.operational_lanes), |tables| tables.low.clone()),
        3 => set.map(|tables| tables.high.clone()).unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut block = VlArbitrationBlock { entries: [[0; 2]; 32] };
    for (entry, weight) in block.entries.iter_mut().zip(&weights) {
        *entry = [weight.lane.value(), weight.weight];
    }
    Ok(block)
}

pub fn write_block(
    device: &mut SimulatedDevice,
    ingress: u8,
    modifier: u32,
    wanted: &VlArbitrationBlock,
) -> Result<(), AttributeRefusal> {
    let (number, place) = decode_modifier(device, ingress, modifier)?;
    let socket = device.port_mut(number).ok_or(AttributeRefusal::InvalidField)?;
    let tables = tables_mut(socket);
    match place {
        1 => tables.low = wanted.weights(TABLE_CAPACITY.1),
        3 => tables.high = wanted.weights(TABLE_CAPACITY.0),
        _ => {}
    }
    Ok(())
}

/// The tables of a port, to change them: its default tables, unless they were set before.
pub fn tables_mut(socket: &mut PortModel) -> &mut ArbitrationTables {
    let low = || even_weights(socket.operational_lanes);
    socket.arbitration.get_or_insert_with(|| Box::new(ArbitrationTables { low: low(), ..Default::default() }))
}

/// Equal weights for all lanes, the default of a port.
fn even_weights(lanes: u8) -> Vec<VlWeight> {
    let lane = |lane: u8| fabdeck_fabric::Lane::new(lane.into()).unwrap_or_default();
    (0..lanes.min(TABLE_CAPACITY.1)).map(|at| VlWeight { lane: lane(at), weight: 64 }).collect()
}

fn decode_modifier(
    device: &SimulatedDevice,
    ingress: u8,
    modifier: u32,
) -> Result<(u8, u32), AttributeRefusal> {
    let (port, place) = ((modifier & 0xFF) as u8, modifier >> 16);
    let number = if device.is_switch() { port } else { ingress };
    (1..=4).contains(&place).then_some((number, place)).ok_or(AttributeRefusal::InvalidField)
}
