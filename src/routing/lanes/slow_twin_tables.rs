//! What ports on the way have to hold: rows of SL2VL that put a slow level on the twin of its fast level's lane, and turns in
//! arbitration for the twin as its lane has them.

use std::collections::{BTreeMap, BTreeSet};

use super::hot_spot_paths::{HotSpotPaths, PortHop};
use super::refusal::SlowLaneRefusal;
use super::slow_twins::SlowTwins;
use crate::certificate::data_lane_count;
use fabdeck_fabric::{Arbitration, Fabric, Lane, PortId, Sl2Vl, Tables, VlWeight, levels_in};

/// An SL2VL table as it is and as it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sl2VlChange {
    /// The table now.
    pub held: Sl2Vl,
    /// The table that the slow lane needs.
    pub wanted: Sl2Vl,
}

/// The VL arbitration of a port as it is and as it must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArbitrationChange {
    /// The tables now.
    pub held: Arbitration,
    /// The tables that the slow lane needs.
    pub wanted: Arbitration,
}

/// The tables of all ports on the paths to hot-spots, or why they are impossible.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SlowTwinTables {
    /// The SL2VL tables by hop.
    pub rows: BTreeMap<PortHop, Result<Sl2VlChange, SlowLaneRefusal>>,
    /// The arbitration by egress port.
    pub weights: BTreeMap<PortId, Result<ArbitrationChange, SlowLaneRefusal>>,
}

impl SlowTwinTables {
    /// The first reason why the tables are impossible.
    pub fn refusal(&self) -> Option<SlowLaneRefusal> {
        let rows = self.rows.values().filter_map(|row| row.as_ref().err());
        rows.chain(self.weights.values().filter_map(|weights| weights.as_ref().err())).next().copied()
    }
}

/// Computes the tables that every port on the paths needs.
pub fn prepare_tables(
    fabric: &Fabric,
    tables: &Tables,
    ways: &HotSpotPaths,
    twins: SlowTwins,
) -> SlowTwinTables {
    let mut prepared = SlowTwinTables::default();
    let mut lanes: BTreeMap<PortId, BTreeSet<Lane>> = BTreeMap::new();
    for (hop, levels) in &ways.hops {
        let Some(port) = fabric.port_of(hop.node, hop.to) else { continue };
        let used = lanes.entry(port).or_default();
        let row = plan_row(fabric, tables, (*hop, *levels), port, twins);
        if let Ok(row) = &row {
            used.extend(levels_in(*levels).map(|level| row.held.lane(level)));
        }
        prepared.rows.insert(*hop, row);
    }
    for (port, lanes) in lanes {
        prepared.weights.insert(port, plan_weights(fabric, tables, port, &lanes, twins));
    }
    prepared
}

fn plan_row(
    fabric: &Fabric,
    tables: &Tables,
    (PortHop { node, from, to }, levels): (PortHop, u16),
    port: PortId,
    twins: SlowTwins,
) -> Result<Sl2VlChange, SlowLaneRefusal> {
    let (has, needs) = (data_lane_count(fabric, port), twins.lanes());
    if has < needs {
        return Err(SlowLaneRefusal::Lanes { port, has, needs });
    }
    let held = tables.nodes.get(&node).and_then(|held| held.sl2vl.get(&(from, to)));
    let held = *held.ok_or(SlowLaneRefusal::NoTable { node, from, to })?;
    let mut wanted = held;
    for level in levels_in(levels) {
        let lane = held.lane(level);
        // Lanes in use are below the twins, or they are none that the port has.
        if lane.value() >= twins.apart {
            return Err(SlowLaneRefusal::Dropped { port, level: level.value(), lane: lane.value() });
        }
        wanted.set(twins.level(level), twins.lane(lane));
    }
    Ok(Sl2VlChange { held, wanted })
}

fn plan_weights(
    fabric: &Fabric,
    tables: &Tables,
    port: PortId,
    lanes: &BTreeSet<Lane>,
    twins: SlowTwins,
) -> Result<ArbitrationChange, SlowLaneRefusal> {
    let at = fabric.port(port);
    let held = tables.nodes.get(&at.node).and_then(|held| held.arbitration.get(&at.number));
    let held = held.ok_or(SlowLaneRefusal::NoWeights { port })?;
    let mut wanted = held.clone();
    for lane in lanes {
        let turns = |table: &[VlWeight]| lane_weights(table, *lane).next().is_some();
        if !turns(&held.high) && !turns(&held.low) {
            return Err(SlowLaneRefusal::NeverSends { port, lane: lane.value() });
        }
        let twin = twins.lane(*lane);
        for (high, table) in [(true, &mut wanted.high), (false, &mut wanted.low)] {
            copy_weights(table, *lane, twin).ok_or(SlowLaneRefusal::NoPlace {
                port,
                lane: twin.value(),
                high,
            })?;
        }
    }
    Ok(ArbitrationChange { held: held.clone(), wanted })
}

/// The weights with which a lane has its turns in a table; one of 0 is none.
fn lane_weights(table: &[VlWeight], lane: Lane) -> impl Iterator<Item = u8> {
    table.iter().filter(move |entry| entry.lane == lane && entry.weight > 0).map(|entry| entry.weight)
}

/// Gives a lane the turns that another has: in its own places, then in free ones. `None` where these do not suffice.
fn copy_weights(table: &mut [VlWeight], fast: Lane, slow: Lane) -> Option<()> {
    let sorted = |table: &[VlWeight], lane| {
        let mut turns: Vec<u8> = lane_weights(table, lane).collect();
        turns.sort_unstable();
        turns
    };
    // The order of turns is the order of places; that of equal turns says nothing.
    if sorted(table, fast) == sorted(table, slow) {
        return Some(());
    }
    let turns: Vec<u8> = lane_weights(table, fast).collect();
    let own = |entry: &VlWeight| entry.lane == slow;
    let mut places: Vec<usize> = (0..table.len()).filter(|at| own(&table[*at])).collect();
    places.extend((0..table.len()).filter(|at| table[*at].weight == 0 && !own(&table[*at])));
    if places.len() < turns.len() {
        return None;
    }
    for entry in table.iter_mut().filter(|entry| entry.lane == slow) {
        entry.weight = 0;
    }
    for (weight, at) in turns.into_iter().zip(places) {
        table[at] = VlWeight { lane: slow, weight };
    }
    Some(())
}
