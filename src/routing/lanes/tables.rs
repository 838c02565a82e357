//! What ports on the way have to hold: rows of SL2VL that put a slow level on the twin of its fast level's lane, and turns in
//! arbitration for the twin as its lane has them.

use std::collections::{BTreeMap, BTreeSet};

use super::refused::Refused;
use super::twins::Twins;
use super::ways::{Hop, Ways};
use crate::certificate::room;
use fabdeck_fabric::{Arbitration, Fabric, Lane, PortId, Sl2Vl, Tables, VlWeight, levels_in};

/// An SL2VL table as it is and as it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The table now.
    pub held: Sl2Vl,
    /// The table that the slow lane needs.
    pub wanted: Sl2Vl,
}

/// The VL arbitration of a port as it is and as it must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights {
    /// The tables now.
    pub held: Arbitration,
    /// The tables that the slow lane needs.
    pub wanted: Arbitration,
}

/// The tables of all ports on the paths to hot-spots, or why they are impossible.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prepared {
    /// The SL2VL tables by hop.
    pub rows: BTreeMap<Hop, Result<Row, Refused>>,
    /// The arbitration by egress port.
    pub weights: BTreeMap<PortId, Result<Weights, Refused>>,
}

impl Prepared {
    /// The first reason why the tables are impossible.
    pub fn refused(&self) -> Option<Refused> {
        let rows = self.rows.values().filter_map(|row| row.as_ref().err());
        rows.chain(self.weights.values().filter_map(|weights| weights.as_ref().err())).next().copied()
    }
}

/// Computes the tables that every port on the paths needs.
pub fn prepare(fabric: &Fabric, tables: &Tables, ways: &Ways, twins: Twins) -> Prepared {
    let mut prepared = Prepared::default();
    let mut lanes: BTreeMap<PortId, BTreeSet<Lane>> = BTreeMap::new();
    for (hop, levels) in &ways.hops {
        let Some(port) = fabric.port_of(hop.node, hop.to) else { continue };
        let used = lanes.entry(port).or_default();
        let row = row(fabric, tables, (*hop, *levels), port, twins);
        if let Ok(row) = &row {
            used.extend(levels_in(*levels).map(|level| row.held.lane(level)));
        }
        prepared.rows.insert(*hop, row);
    }
    for (port, lanes) in lanes {
        prepared.weights.insert(port, weights(fabric, tables, port, &lanes, twins));
    }
    prepared
}

fn row(
    fabric: &Fabric,
    tables: &Tables,
    (Hop { node, from, to }, levels): (Hop, u16),
    port: PortId,
    twins: Twins,
) -> Result<Row, Refused> {
    let (has, needs) = (room(fabric, port), twins.lanes());
    if has < needs {
        return Err(Refused::Lanes { port, has, needs });
    }
    let held = tables.nodes.get(&node).and_then(|held| held.sl2vl.get(&(from, to)));
    let held = *held.ok_or(Refused::NoTable { node, from, to })?;
    let mut wanted = held;
    for level in levels_in(levels) {
        let lane = held.lane(level);
        // Lanes in use are below the twins, or they are none that the port has.
        if lane.value() >= twins.apart {
            return Err(Refused::Dropped { port, level: level.value(), lane: lane.value() });
        }
        wanted.set(twins.level(level), twins.lane(lane));
    }
    Ok(Row { held, wanted })
}

fn weights(
    fabric: &Fabric,
    tables: &Tables,
    port: PortId,
    lanes: &BTreeSet<Lane>,
    twins: Twins,
) -> Result<Weights, Refused> {
    let at = fabric.port(port);
    let held = tables.nodes.get(&at.node).and_then(|held| held.arbitration.get(&at.number));
    let held = held.ok_or(Refused::NoWeights { port })?;
    let mut wanted = held.clone();
    for lane in lanes {
        let turns = |table: &[VlWeight]| turns_of(table, *lane).next().is_some();
        if !turns(&held.high) && !turns(&held.low) {
            return Err(Refused::NeverSends { port, lane: lane.value() });
        }
        let twin = twins.lane(*lane);
        for (high, table) in [(true, &mut wanted.high), (false, &mut wanted.low)] {
            alike(table, *lane, twin).ok_or(Refused::NoPlace { port, lane: twin.value(), high })?;
        }
    }
    Ok(Weights { held: held.clone(), wanted })
}

/// The weights with which a lane has its turns in a table; one of 0 is none.
fn turns_of(table: &[VlWeight], lane: Lane) -> impl Iterator<Item = u8> {
    table.iter().filter(move |entry| entry.lane == lane && entry.weight > 0).map(|entry| entry.weight)
}

/// Gives a lane the turns that another has: in its own places, then in free ones. `None` where these do not suffice.
fn alike(table: &mut [VlWeight], fast: Lane, slow: Lane) -> Option<()> {
    let sorted = |table: &[VlWeight], lane| {
        let mut turns: Vec<u8> = turns_of(table, lane).collect();
        turns.sort_unstable();
        turns
    };
    // The order of turns is the order of places; that of equal turns says nothing.
    if sorted(table, fast) == sorted(table, slow) {
        return Some(());
    }
    let turns: Vec<u8> = turns_of(table, fast).collect();
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
