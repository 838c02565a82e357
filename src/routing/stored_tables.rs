//! `file`: the tables of a dump instead of routes of an algorithm, as OpenSM's engine of that name. LIDs follow the GUID
//! of the port that the dump names for them. Nothing reacts to failures: an entry whose port leads nowhere is no path.
//! Lanes come from a list of the service levels of paths, where there is one: a level is the number of a lane.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::problem::Problem;
use fabdeck_fabric::{Guid, Lft, Lid, NO_PATH, NodeId, PathLanes, PathLevelTable, PortId, PortNum, Routes};

pub const ID: &str = "file";

/// Forwarding tables by the GUIDs of switches, and the GUIDs of the ports that owned the LIDs when they were stored.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoredTables {
    /// The table of each switch.
    pub switches: BTreeMap<Guid, Lft>,
    /// The owner of each LID, where it was stored: the GUID of a port, or of a switch.
    pub owners: BTreeMap<Lid, Guid>,
    /// The service levels of paths to these LIDs.
    pub levels: Option<PathLevelTable>,
}

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let refuse = |what: &str| Err(EngineRefusal::Request { engine: ID, what: what.to_owned() });
    let Some(tables) = &request.tables else {
        return refuse("there are no tables to take; name a dump of forwarding tables with --tables FILE");
    };
    // Without a stated number the engine uses the one lane that it has.
    if tables.levels.is_none() && request.lanes > 1 && request.supposed_lanes.is_none() {
        return refuse(
            "tables alone have one lane; leave out --lanes, give --lanes 1, or name the levels of paths with --levels FILE",
        );
    }
    let mut routes = problem.empty_routes();
    let (stride, moves) = (routes.stride().max(1), LidMoves::new(problem, tables));
    let rows = routes.entries_mut().par_chunks_exact_mut(stride).enumerate();
    let fill = |(switch, row): (usize, &mut [u8])| {
        pulse.check_cancelled().map(|()| fill_row(problem, tables, &moves, switch as u32, row))
    };
    let filled = rows.map(fill).collect::<Result<Vec<FilledRow>, _>>()?;
    let mut remarks = remarks(problem, tables, &moves, &filled);
    if let Some(levels) = &tables.levels {
        let given = problem.usable_lanes(request.lanes);
        remarks.extend(take_levels(problem, &moves.follow(levels), given, &mut routes, pulse)?);
    }
    Ok(EngineAnswer { routes, remarks, degraded: false, fell_back: None })
}

/// Where the LIDs of the file are in the fabric.
struct LidMoves {
    /// By stored LID, the LID of the port that owned it; `None` where the owner is not known, and the LID stays.
    owned: Vec<Option<Lid>>,
    /// LIDs that have another number now.
    moved: usize,
}

impl LidMoves {
    fn new(problem: &Problem<'_>, tables: &StoredTables) -> Self {
        let length = tables.owners.keys().next_back().map_or(0, |lid| lid.index() + 1);
        let mut moves = Self { owned: vec![None; length], moved: 0 };
        for (lid, owner) in &tables.owners {
            let address = port_of_owner(problem, *owner).and_then(|port| problem.fabric.address_of(port));
            let Some((base, lmc)) = address else { continue };
            let count = u32::from(lmc.lid_count());
            let (first, own) = (u32::from(base.value()), u32::from(lid.value()));
            let is_own = (first..first + count).contains(&own);
            // A LID that moves keeps its place among those of its port.
            moves.owned[lid.index()] = if is_own { Some(*lid) } else { Lid::new(first + own % count) };
            moves.moved += usize::from(!is_own);
        }
        moves
    }

    fn owned(&self, stored: Lid) -> Option<Lid> {
        self.owned.get(stored.index()).copied().flatten()
    }

    /// The levels by the LIDs of the fabric. As with tables, LIDs of known ports count where two meet.
    fn follow(&self, stored: &PathLevelTable) -> PathLevelTable {
        let mut moved = PathLevelTable::default();
        for (source, row) in &stored.sources {
            let own = moved.sources.entry(*source).or_default();
            for known in [false, true] {
                let lids = row.iter().map(|(lid, level)| (self.owned(*lid), *lid, *level));
                let lids = lids.filter(|(owned, ..)| owned.is_some() == known);
                own.extend(lids.map(|(owned, lid, level)| (owned.unwrap_or(lid), level)));
            }
        }
        moved
    }
}

/// Puts each path on the lane of its level. A path that is not listed takes the lane of other nodes behind its switch, or
/// lane 0.
fn take_levels(
    problem: &Problem<'_>,
    levels: &PathLevelTable,
    given: u8,
    routes: &mut Routes,
    pulse: &dyn RouteProgress,
) -> Result<Option<String>, EngineRefusal> {
    let all = levels.apply_to(problem.fabric, true);
    let (stride, mut top) = (routes.stride(), 0);
    let mut lane = vec![0; stride * problem.graph.switch_count()];
    for end in problem.destinations() {
        pulse.check_cancelled()?;
        for from in problem.switches() {
            let bits = all.levels.level_bits(from, end.lid);
            if bits.count_ones() > 1 {
                let from = problem.fabric.node(NodeId(from)).guid();
                return Err(EngineRefusal::Request {
                    engine: ID,
                    what: format!(
                        "the nodes behind switch {from} send to LID {} on different levels, and routes have one lane for \
                         each switch and LID; correct --levels",
                        end.lid
                    ),
                });
            }
            let level = if bits == 0 { 0 } else { bits.trailing_zeros() as u8 };
            lane[from as usize * stride + end.lid.index()] = level;
            top = top.max(level);
        }
    }
    if top >= given {
        return Err(EngineRefusal::Lanes { engine: ID, needed: u32::from(top) + 1, given });
    }
    if top > 0 {
        routes.lanes = PathLanes::ByPair { lanes: top + 1, lane };
    }
    let unlisted = levels.apply_to(problem.fabric, false).unlisted;
    Ok((unlisted > 0)
        .then(|| format!("paths between hosts that the list of levels does not have: {unlisted}")))
}

fn port_of_owner(problem: &Problem<'_>, owner: Guid) -> Option<PortId> {
    let fabric = problem.fabric;
    let switch = fabric.node_by_guid(owner).filter(|id| fabric.node(*id).is_switch());
    match switch {
        Some(switch) => fabric.port_of(switch, PortNum::MANAGEMENT),
        None => fabric.port_by_guid(owner),
    }
}

/// What became of the table of a switch.
#[derive(Clone, Copy, Default)]
struct FilledRow {
    has_table: bool,
    /// Entries whose port is down or absent.
    dead: usize,
}

fn fill_row(
    problem: &Problem<'_>,
    tables: &StoredTables,
    moves: &LidMoves,
    switch: u32,
    row: &mut [u8],
) -> FilledRow {
    let graph = &problem.graph;
    let guid = problem.fabric.node(NodeId(switch)).guid();
    let Some(table) = tables.switches.get(&guid).filter(|_| graph.is_alive(switch)) else {
        return FilledRow { has_table: !graph.is_alive(switch), dead: 0 };
    };
    let mut leads = [false; NO_PATH as usize + 1];
    leads[usize::from(PortNum::MANAGEMENT.value())] = true;
    graph.channels()[graph.outgoing(switch)].iter().for_each(|channel| {
        leads[usize::from(channel.from_port.value())] = true;
    });
    graph.terminals_of(switch).iter().for_each(|end| leads[usize::from(end.switch_port.value())] = true);
    let mut dead = 0;
    // LIDs of known ports go last: they count if one moved to the number of a LID without a known owner.
    for known in [false, true] {
        for (stored, port) in table.routed_lids() {
            let owned = moves.owned(stored);
            let Some(entry) = row.get_mut(owned.unwrap_or(stored).index()) else { continue };
            if owned.is_some() == known {
                let is_dead = !leads[usize::from(port.value())];
                *entry = if is_dead { NO_PATH } else { port.value() };
                dead += usize::from(is_dead);
            }
        }
    }
    FilledRow { has_table: true, dead }
}

fn remarks(
    problem: &Problem<'_>,
    tables: &StoredTables,
    moves: &LidMoves,
    filled: &[FilledRow],
) -> Vec<String> {
    let fabric = problem.fabric;
    let is_switch = |guid: &Guid| fabric.node_by_guid(*guid).is_some_and(|id| fabric.node(id).is_switch());
    let counts = [
        (
            filled.iter().map(|row| row.dead).sum(),
            "entries whose port is down or absent, so they are no path",
        ),
        (
            tables.switches.keys().filter(|guid| !is_switch(guid)).count(),
            "switches of the file that the fabric does not have",
        ),
        (filled.iter().filter(|row| !row.has_table).count(), "switches without a table in the file"),
        (moves.moved, "LIDs that follow the GUID of their port to another number"),
    ];
    counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{what}: {count}"))
        .collect()
}
