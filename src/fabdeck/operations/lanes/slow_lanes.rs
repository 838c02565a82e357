//! The state of dFtree on a fabric: flows with names and levels, the tables that their paths need, and how
//! the tables in force differ. Plans and screens both use it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::levels::{KnownLevels, LevelsInForce, levels_in_force};
use crate::catalogue::snapshot::Snapshot;
use fabdeck_change::{FollowMode, Migration, MigrationDirection, PlanFlow, PlanPort};
use fabdeck_fabric::{
    Arbitration, Fabric, Guid, Lane, Lid, PathLanes, PortId, ServiceLevel, ServiceLevels, Sl2Vl, VlWeight,
    levels_in,
};
use fabdeck_routing::lanes::{
    FlowMoves, HotSpotMoves, MissingEnd, MovePhase, MovedFlows, PortHop, SlowLaneRefusal, SlowTwinTables,
    SlowTwins, fast_levels, hot_spot_paths, lids_of, prepare_tables,
};

/// Reason why no plan of moves is made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MovePlanError {
    #[error("FD-7951: there is nothing to move: no flow goes to a slow lane or comes back from one")]
    Nothing,
    #[error(
        "FD-7952: the service levels that paths are on are not known, and slow ones lie above them; give them with --lanes-in-force, \
         or let it read path records"
    )]
    Levels,
    #[error(
        "FD-7953: hosts on switch {hosts} have no known level in common to {hot_spot}; --lanes-in-force exact reads all levels"
    )]
    Apart { hosts: String, hot_spot: String },
    /// A refusal; its text has its own code.
    #[error("{0}")]
    Refused(String),
}

impl MovePlanError {
    pub(crate) fn from_refused(look: &Snapshot, refused: SlowLaneRefusal) -> Self {
        Self::Refused(refused_words(look, refused))
    }
}

/// Intermediate results that plans and screens share.
pub(crate) struct SlowLaneSetup<'a> {
    pub fast: Cow<'a, ServiceLevels>,
    /// Source of the levels.
    pub from: &'static str,
    pub twins: SlowTwins,
    pub prepared: SlowTwinTables,
    /// LIDs of hot-spots whose flows are on the slow lane after the moves.
    pub slow: Vec<Lid>,
}

/// Computes the twin lanes, and the tables that the paths to all current and new hot-spots need.
pub(crate) fn prepare_slow_lanes<'a>(
    look: &Snapshot,
    moves: &FlowMoves,
    sent: LevelsInForce<'a>,
) -> Result<SlowLaneSetup<'a>, MovePlanError> {
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let KnownLevels { levels, from, .. } = levels_in_force(look, sent).ok_or(MovePlanError::Levels)?;
    let moved: Vec<&MovedFlows> = moves.moved_flows().collect();
    // For a hot-spot in the fabric, the subnet manager may still give the slow level, although the
    // moved hosts are gone.
    let gone = moves.gone.iter().filter(|flows| flows.gone == Some(MissingEnd::Hosts));
    let slow_flows: Vec<&MovedFlows> = moved.iter().copied().chain(gone).collect();
    let fast = match slow_flows.is_empty() {
        true => levels,
        false => Cow::Owned(fast_levels(&levels, &slow_flows)),
    };
    let refused = |refused| MovePlanError::from_refused(look, refused);
    let twins = SlowTwins::find(fabric, tables, &fast, &moved).map_err(refused)?;
    let slow = slow_lids(look, moves);
    let ways = hot_spot_paths(fabric, tables, &fast, &slow).map_err(refused)?;
    let prepared = prepare_tables(fabric, tables, &ways, twins);
    Ok(SlowLaneSetup { fast, from, twins, prepared, slow })
}

fn slow_lids(look: &Snapshot, moves: &FlowMoves) -> Vec<Lid> {
    let hot = moves.spots.iter().filter(|spot| match spot.phase {
        MovePhase::New => !spot.joins.is_empty(),
        MovePhase::InForce | MovePhase::Untold => true,
        MovePhase::Cooled => false,
    });
    hot.flat_map(|spot| lids_of(look.fabric(), spot.adapter)).collect()
}

impl SlowLaneSetup<'_> {
    /// Whether flows on a slow level use twin lanes on their whole path. Then none of their packets waits on
    /// a fast lane, even while tables are written.
    pub fn are_apart(&self, look: &Snapshot, moves: &FlowMoves) -> bool {
        let (fabric, tables) = (look.fabric(), &look.observation.tables);
        let moved: BTreeSet<Lid> = moves.moved_flows().map(|flows| flows.hot_spot).collect();
        let moved: Vec<Lid> = moved.into_iter().collect();
        let Ok(ways) = hot_spot_paths(fabric, tables, &self.fast, &moved) else { return false };
        let now = prepare_tables(fabric, tables, &ways, self.twins);
        now.rows.values().all(|row| row.as_ref().is_ok_and(|row| row.held == row.wanted))
    }

    /// The levels of paths, with both the fast and the slow level to every hot-spot, including those that
    /// cooled down. This covers every mixture of moved and unmoved flows.
    pub fn levels_before_and_after(&self, look: &Snapshot, moves: &FlowMoves) -> ServiceLevels {
        let mut both = self.fast.clone().into_owned();
        both.expand(look.fabric().top_lid());
        let back = moves.spots.iter().flat_map(|spot| &spot.moved).map(|flows| flows.hot_spot);
        let hot: BTreeSet<Lid> = self.slow.iter().copied().chain(back).collect();
        let with_twins =
            |held| levels_in(held).fold(held, |all, level| all | 1 << self.twins.level(level).value());
        hot.into_iter().for_each(|lid| both.map_lid(lid, with_twins));
        both
    }

    /// The levels after the moves, in the form of lanes of routes: by destination where all switches agree.
    pub fn lanes(&self, look: &Snapshot, stride: usize) -> PathLanes {
        let mut up = vec![0; stride];
        for lid in &self.slow {
            up.get_mut(lid.index()).into_iter().for_each(|up| *up = self.twins.apart);
        }
        let all = look.fabric().switch_count() as u32;
        // Levels that do not depend on the switch are read for one switch only.
        let asked = if matches!(*self.fast, ServiceLevels::BySwitch { .. }) { all } else { all.min(1) };
        let level = |switch: u32, at: usize| {
            let bits = Lid::new(at as u32).map_or(0, |lid| self.fast.level_bits(switch, lid));
            (bits != 0).then(|| bits.trailing_zeros() as u8 + up[at])
        };
        let mut range: Vec<Option<(u8, u8)>> = vec![None; stride];
        for switch in 0..asked {
            for (at, range) in range.iter_mut().enumerate() {
                let Some(level) = level(switch, at) else { continue };
                let (least, most) = range.unwrap_or((level, level));
                *range = Some((least.min(level), most.max(level)));
            }
        }
        let top = range.iter().flatten().map(|(_, most)| *most).max().unwrap_or(0);
        if top == 0 {
            return PathLanes::One;
        }
        let lane = match range.iter().flatten().all(|(least, most)| least == most) {
            true => {
                let lane = range.iter().map(|range| range.map_or(0, |(level, _)| level)).collect();
                return PathLanes::ByDestination { lanes: top + 1, lane };
            }
            false => (0..asked).flat_map(|switch| (0..stride).map(move |at| (switch, at))),
        };
        let lane = lane.map(|(switch, at)| level(switch, at).unwrap_or(0)).collect();
        PathLanes::ByPair { lanes: top + 1, lane }
    }
}

/// The flows that move, in the form of a plan. `agents` states for hosts whether an agent is subscribed,
/// where that is known.
pub(crate) fn migrations(
    look: &Snapshot,
    moves: &FlowMoves,
    agents: &[(Lid, Option<bool>)],
    worked: Option<&SlowLaneSetup<'_>>,
) -> Result<Vec<Migration>, MovePlanError> {
    let agents: BTreeMap<Lid, Option<bool>> = agents.iter().copied().collect();
    let mut all = Vec::new();
    for spot in &moves.spots {
        match spot.phase {
            MovePhase::New | MovePhase::InForce if !spot.joins.is_empty() => {
                let worked = worked.ok_or(MovePlanError::Levels)?;
                for lid in lids_of(look.fabric(), spot.adapter) {
                    all.extend(migrations_to_slow(look, spot, lid, &agents, worked)?);
                }
            }
            MovePhase::Cooled => {
                all.extend(spot.moved.iter().filter_map(|moved| migration_back(look, moved, &agents)))
            }
            _ => {}
        }
    }
    Ok(all)
}

fn migration_back(
    look: &Snapshot,
    moved: &MovedFlows,
    agents: &BTreeMap<Lid, Option<bool>>,
) -> Option<Migration> {
    let flows: Vec<PlanFlow> = moved.hosts.iter().filter_map(|lid| plan_flow(look, *lid, agents)).collect();
    let hot_spot = plan_port(look, moved.hot_spot)?;
    let (fast, slow) = (moved.fast.value(), moved.slow.value());
    (!flows.is_empty()).then_some(Migration {
        towards: MigrationDirection::Fast,
        hot_spot,
        fast,
        slow,
        flows,
    })
}

/// The flows to one LID of a hot-spot that are to move to the slow lane: one migration for each service level in use. Flows that
/// moved earlier are left out. Fails if hosts of one switch use several levels to this LID, or none is known (FD-7953).
fn migrations_to_slow(
    look: &Snapshot,
    spot: &HotSpotMoves,
    lid: Lid,
    agents: &BTreeMap<Lid, Option<bool>>,
    worked: &SlowLaneSetup<'_>,
) -> Result<Vec<Migration>, MovePlanError> {
    let fabric = look.fabric();
    let Some(hot_spot) = plan_port(look, lid) else { return Ok(Vec::new()) };
    let mut by_level: BTreeMap<u8, BTreeSet<Lid>> = BTreeMap::new();
    for host in &spot.joins {
        let own = fabric.port(*host).facts.lid;
        let (Some(own), Some(switch)) = (own, fabric.peer(*host)) else { continue };
        let already = |moved: &MovedFlows| moved.hot_spot == lid && moved.hosts.contains(&own);
        if spot.moved.iter().any(already) {
            continue;
        }
        let bits = worked.fast.level_bits(fabric.port(switch).node.0, lid);
        if bits.count_ones() != 1 {
            let hosts = look.unique_name(fabric.port(switch).node).into_owned();
            return Err(MovePlanError::Apart { hosts, hot_spot: hot_spot.name });
        }
        by_level.entry(bits.trailing_zeros() as u8).or_default().insert(own);
    }
    let migration = |(fast, hosts): (u8, BTreeSet<Lid>)| Migration {
        towards: MigrationDirection::Slow,
        hot_spot: hot_spot.clone(),
        fast,
        slow: fast + worked.twins.apart,
        flows: hosts.iter().filter_map(|host| plan_flow(look, *host, agents)).collect(),
    };
    Ok(by_level.into_iter().map(migration).collect())
}

fn plan_flow(look: &Snapshot, host: Lid, agents: &BTreeMap<Lid, Option<bool>>) -> Option<PlanFlow> {
    let follows = match agents.get(&host).copied().flatten() {
        Some(true) => FollowMode::Agent,
        Some(false) => FollowMode::Queries,
        None => FollowMode::Unknown,
    };
    Some(PlanFlow { host: plan_port(look, host)?, follows })
}

pub(crate) fn plan_port(look: &Snapshot, lid: Lid) -> Option<PlanPort> {
    let fabric = look.fabric();
    let port = fabric.port_by_lid(lid)?;
    let guid = guid_of(fabric, port).to_string();
    Some(PlanPort { guid, name: look.unique_port_name(port), lid: lid.value() })
}

/// The GUID by which a plan identifies a port: its own, or else the node's.
fn guid_of(fabric: &Fabric, port: PortId) -> Guid {
    let at = fabric.port(port);
    at.facts.guid.unwrap_or(fabric.node(at.node).guid())
}

/// Whether the port that a plan names still has its LID.
pub(crate) fn is_present(fabric: &Fabric, named: &PlanPort) -> bool {
    let port = Lid::new(named.lid.into()).and_then(|lid| fabric.port_by_lid(lid));
    port.is_some_and(|port| named.guid.parse() == Ok(guid_of(fabric, port)))
}

/// The status of a hot-spot or of one of its flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LaneStatus {
    /// The flow would move, and has not moved yet.
    Proposed,
    /// The flow is on the slow lane.
    InForce,
    /// The flow is on the slow lane and would return to the fast one.
    Cooling,
    /// For a hot-spot: some flows are on the slow lane, others would move there.
    Partly,
    /// The flow is on the slow lane, and whether its adapter is still a hot-spot is unknown.
    Untold,
}

impl LaneStatus {
    pub const ALL: [Self; 5] = [Self::Proposed, Self::InForce, Self::Cooling, Self::Partly, Self::Untold];

    pub fn word(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::InForce => "in force",
            Self::Cooling => "cooling",
            Self::Partly => "partly",
            Self::Untold => "untold",
        }
    }
}

/// The flows of one host to a hot-spot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LaneFlow {
    pub flow: PlanFlow,
    pub standing: LaneStatus,
}

/// One LID of a hot-spot, with the flows to it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LaneSpot {
    pub port: PlanPort,
    pub adapter: PortId,
    pub standing: LaneStatus,
    /// Waiting of the switch port in ticks per second, and the next field as a share of the time; `None`
    /// where unknown.
    pub congestion: Option<f64>,
    pub time_waited: Option<f64>,
    /// The fast and slow levels of the flows, where they are known; several where an engine uses several
    /// levels.
    pub levels: Vec<(u8, u8)>,
    pub flows: Vec<LaneFlow>,
}

/// The status of a table compared with the table that slow lanes need.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TableStatus {
    AsShould,
    /// The table in force and the table that is needed.
    Differs {
        held: String,
        wanted: String,
    },
    /// The table is unknown or cannot be as needed, with the reason.
    Cannot(String),
}

/// A table of a port on a path to a hot-spot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LaneTable {
    /// The egress port.
    pub port: PortId,
    /// The kind of table: `SL2VL from port 3`, `SL2VL`, `arbitration`.
    pub table: String,
    pub standing: TableStatus,
}

/// The state of dFtree: hot-spots with their flows, and the tables on the paths to them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LaneState {
    pub spots: Vec<LaneSpot>,
    /// Tables in the order of ports. Empty where no flow is on a slow lane or would move there.
    pub tables: Vec<LaneTable>,
    /// Reason why the needed tables are unknown.
    pub refused: Option<String>,
    /// Flows of applied changes with an end that is gone.
    pub gone: Vec<MovedFlows>,
}

impl LaneState {
    /// Whether a plan would do something: move flows, or write tables that flows on the slow lane need.
    pub fn needs_plan(&self) -> bool {
        let moves = |spot: &LaneSpot| {
            let (standing, flows) = (spot.standing, &spot.flows);
            let proposed = flows.iter().any(|flow| flow.standing == LaneStatus::Proposed);
            proposed || standing == LaneStatus::Cooling && !flows.is_empty()
        };
        self.spots.iter().any(moves) || self.needs_tables()
    }

    /// Whether flows are on the slow lane.
    pub fn has_moved(&self) -> bool {
        let flows = self.spots.iter().flat_map(|spot| &spot.flows);
        let moved = [LaneStatus::InForce, LaneStatus::Untold, LaneStatus::Cooling];
        flows.into_iter().any(|flow| moved.contains(&flow.standing))
    }

    /// Whether flows are on the slow lane while tables on their paths differ and can be written.
    pub fn needs_tables(&self) -> bool {
        let slow = |flow: &LaneFlow| matches!(flow.standing, LaneStatus::InForce | LaneStatus::Untold);
        let differs = |table: &LaneTable| matches!(table.standing, TableStatus::Differs { .. });
        self.spots.iter().flat_map(|spot| &spot.flows).any(slow) && self.tables.iter().any(differs)
    }

    /// Tables that differ from what is needed, or may differ.
    pub fn differing_tables(&self) -> impl Iterator<Item = &LaneTable> {
        self.tables.iter().filter(|table| table.standing != TableStatus::AsShould)
    }
}

/// The state of dFtree after the verdict over an interval. Without a verdict, `moves` has only what is in
/// force.
pub fn lane_state(
    look: &Snapshot,
    moves: &FlowMoves,
    agents: &[(Lid, Option<bool>)],
    sent: LevelsInForce<'_>,
) -> LaneState {
    let agents: BTreeMap<Lid, Option<bool>> = agents.iter().copied().collect();
    let needs = !slow_lids(look, moves).is_empty();
    let worked = if needs { prepare_slow_lanes(look, moves, sent).map(Some) } else { Ok(None) };
    let known = worked.as_ref().ok().and_then(Option::as_ref);
    let spots = moves.spots.iter();
    let spots = spots.flat_map(|spot| {
        lids_of(look.fabric(), spot.adapter).filter_map(|lid| lane_spot(look, spot, lid, &agents, known))
    });
    LaneState {
        spots: spots.collect(),
        tables: known.map(|worked| lane_tables(look, &worked.prepared)).unwrap_or_default(),
        refused: worked.as_ref().err().map(ToString::to_string),
        gone: moves.gone.clone(),
    }
}

fn lane_spot(
    look: &Snapshot,
    spot: &HotSpotMoves,
    lid: Lid,
    agents: &BTreeMap<Lid, Option<bool>>,
    worked: Option<&SlowLaneSetup<'_>>,
) -> Option<LaneSpot> {
    let standing = match spot.phase {
        MovePhase::New => LaneStatus::Proposed,
        MovePhase::InForce if spot.joins.is_empty() => LaneStatus::InForce,
        MovePhase::InForce => LaneStatus::Partly,
        MovePhase::Cooled => LaneStatus::Cooling,
        MovePhase::Untold => LaneStatus::Untold,
    };
    let moved = spot.moved.iter().filter(|moved| moved.hot_spot == lid);
    let of_moved = if standing == LaneStatus::Partly { LaneStatus::InForce } else { standing };
    let mut levels: BTreeSet<(u8, u8)> =
        moved.clone().map(|moved| (moved.fast.value(), moved.slow.value())).collect();
    let hosts: BTreeSet<Lid> = moved.flat_map(|moved| moved.hosts.iter().copied()).collect();
    let joins = spot.joins.iter().filter_map(|port| {
        let fabric = look.fabric();
        let own = fabric.port(*port).facts.lid.filter(|own| !hosts.contains(own))?;
        Some((own, fabric.port(fabric.peer(*port)?).node.0))
    });
    let joins: Vec<(Lid, u32)> = joins.collect();
    if let Some(worked) = worked {
        let bits = joins.iter().fold(0, |all, (_, switch)| all | worked.fast.level_bits(*switch, lid));
        levels.extend(levels_in(bits).map(|fast| (fast.value(), worked.twins.level(fast).value())));
    }
    let flows = hosts.iter().map(|host| (*host, of_moved));
    let flows = flows.chain(joins.iter().map(|(host, _)| (*host, LaneStatus::Proposed)));
    let flows = flows
        .filter_map(|(host, standing)| plan_flow(look, host, agents).map(|flow| LaneFlow { flow, standing }));
    let mut flows: Vec<LaneFlow> = flows.collect();
    flows.sort_by_key(|flow| flow.flow.host.lid);
    Some(LaneSpot {
        port: plan_port(look, lid)?,
        adapter: spot.adapter,
        standing,
        congestion: spot.at.map(|at| at.congestion),
        time_waited: spot.at.and_then(|at| at.time_waited),
        levels: levels.into_iter().collect(),
        flows,
    })
}

fn lane_tables(look: &Snapshot, prepared: &SlowTwinTables) -> Vec<LaneTable> {
    let fabric = look.fabric();
    let rows = prepared.rows.iter().filter_map(|(hop, row)| {
        let PortHop { node, from, to } = *hop;
        let table = match fabric.node(node).is_switch() {
            true => format!("SL2VL from port {from}"),
            false => "SL2VL".to_owned(),
        };
        let standing = match row {
            Ok(row) if row.held == row.wanted => TableStatus::AsShould,
            Ok(row) => {
                let differ = |level: &ServiceLevel| row.held.lane(*level) != row.wanted.lane(*level);
                let levels: Vec<ServiceLevel> = levels_in(u16::MAX).filter(differ).collect();
                let words = |row: Sl2Vl| levels_words(row, &levels);
                TableStatus::Differs { held: words(row.held), wanted: words(row.wanted) }
            }
            Err(refused) => TableStatus::Cannot(refused_words(look, *refused)),
        };
        Some(LaneTable { port: fabric.port_of(node, to)?, table, standing })
    });
    let weights = prepared.weights.iter().map(|(port, weights)| {
        let standing = match weights {
            Ok(weights) if weights.held == weights.wanted => TableStatus::AsShould,
            Ok(weights) => TableStatus::Differs {
                held: weights_words(&weights.held),
                wanted: weights_words(&weights.wanted),
            },
            Err(refused) => TableStatus::Cannot(refused_words(look, *refused)),
        };
        LaneTable { port: *port, table: "arbitration".to_owned(), standing }
    });
    let mut all: Vec<LaneTable> = rows.chain(weights).collect();
    all.sort_by_key(|table| table.port);
    all
}

/// Text for changed levels: `level 1 on lane 0`.
fn levels_words(row: Sl2Vl, levels: &[ServiceLevel]) -> String {
    let word = |level: &ServiceLevel| format!("level {} on lane {}", level.value(), row.lane(*level).value());
    levels.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// Text for arbitration: `high 0:64; low 0:64 1:64`.
fn weights_words(held: &Arbitration) -> String {
    let turns = |table: &[VlWeight]| {
        let weighted = table.iter().filter(|entry| entry.weight > 0);
        let words: Vec<String> =
            weighted.map(|entry| format!("{}:{}", Lane::value(entry.lane), entry.weight)).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
    };
    format!("high {}; low {}", turns(&held.high), turns(&held.low))
}

/// The text of a refusal, with its code.
fn refused_words(look: &Snapshot, refused: SlowLaneRefusal) -> String {
    let port = |port: PortId| look.unique_port_name(port);
    let node = |node| look.unique_name(node).into_owned();
    let lanes = |count: u8| if count == 1 { "1 lane".to_owned() } else { format!("{count} lanes") };
    match refused {
        SlowLaneRefusal::TooHigh { top } => format!(
            "FD-7954: levels or lanes up to {top} are in use, and the slow twins of all of them would be beyond lane 14; route on fewer lanes first"
        ),
        SlowLaneRefusal::Taken { level, lid } => format!(
            "FD-7955: level {level} is the slow twin of another, and paths to LID {lid} are on it; give it to no partition and no \
             policy"
        ),
        SlowLaneRefusal::OtherTwins { hot_spot, slow, twin } => format!(
            "FD-7955: flows to LID {hot_spot} are on level {slow} as their slow one, and with the levels in use now that would be \
             {twin}; move these flows back first (lanes propose --back)"
        ),
        SlowLaneRefusal::Lanes { port: at, has, needs } => format!(
            "FD-7956: port {} on the path has {}, and fast and slow ones together are {needs}; route on fewer lanes first",
            port(at),
            lanes(has)
        ),
        SlowLaneRefusal::Unread { switch, lid } => format!(
            "FD-7957: the entry of switch {} for LID {lid} was not read, so the path to the hot-spot is not known; \
             read the fabric again",
            node(switch)
        ),
        SlowLaneRefusal::NoTable { node: at, from, to } => match look.fabric().node(at).is_switch() {
            true => format!(
                "FD-7957: the SL2VL table of switch {} from port {from} to port {to} was not read; read the fabric again",
                node(at)
            ),
            false => format!(
                "FD-7957: the SL2VL table of port {}[{to}] was not read; read the fabric again",
                node(at)
            ),
        },
        SlowLaneRefusal::NoWeights { port: at } => {
            format!("FD-7957: the arbitration of port {} was not read; read the fabric again", port(at))
        }
        SlowLaneRefusal::NeverSends { port: at, lane } => format!(
            "FD-7958: port {} gives lane {lane} no turn in any table of arbitration, so a slow lane like it would never send; \
             give the lane a weight",
            port(at)
        ),
        SlowLaneRefusal::NoPlace { port: at, lane, high } => format!(
            "FD-7958: the {} table of arbitration of port {} has no free place for lane {lane}; remove entries that are not needed",
            if high { "high" } else { "low" },
            port(at)
        ),
        SlowLaneRefusal::Dropped { port: at, level, lane } => format!(
            "FD-7958: packets on level {level} would use lane {lane} at port {}, which does not have it; correct the SL2VL table",
            port(at)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::Observation;

    /// `Levels::One` gives the same lanes as rows for each switch, without storing the rows.
    #[test]
    fn levels_after_moves_differ_only_at_hot_spots() {
        let fabric = generate(&"kary,k=3,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let (switches, top) = (fabric.switch_count() as u32, fabric.top_lid());
        let stride = top.unwrap().index() + 1;
        let lid = |at: usize| Lid::new(at as u32).unwrap();
        let level = |at| ServiceLevel::new(at).unwrap();
        let look =
            Snapshot::new("made", Observation { fabric, ..Observation::default() }, &Default::default());
        let rows = |other: u32| {
            let mut rows = ServiceLevels::unknown(switches as usize, top);
            for (switch, at) in (0..switches).flat_map(|switch| (1..stride).map(move |at| (switch, at))) {
                rows.add(switch, lid(at), level(if (switch, at) == (1, 4) { other } else { 0 }));
            }
            rows
        };
        let of = |fast: ServiceLevels, apart: u8| {
            let (twins, slow) = (SlowTwins { apart }, vec![lid(3)]);
            let fast = Cow::Owned(fast);
            let worked =
                SlowLaneSetup { fast, from: "one", twins, prepared: SlowTwinTables::default(), slow };
            (worked.levels_before_and_after(&look, &FlowMoves::default()), worked.lanes(&look, stride))
        };
        let ((sparse, lanes), (dense, same)) = (of(ServiceLevels::One(level(0)), 1), of(rows(0), 1));
        assert!(matches!(sparse, ServiceLevels::ByLid(_)) && matches!(dense, ServiceLevels::BySwitch { .. }));
        for at in 1..stride + 2 {
            assert_eq!(sparse.level_bits(1, lid(at)), dense.level_bits(1, lid(at)), "{at}");
        }
        let lane: Vec<u8> = (0..stride).map(|at| u8::from(at == 3)).collect();
        assert_eq!((&lanes, &same), (&PathLanes::ByDestination { lanes: 2, lane }, &lanes));
        // Switches with different levels get a row each.
        let (either, PathLanes::ByPair { lanes, lane }) = of(rows(1), 2) else { panic!("by pair") };
        assert_eq!((either.level_bits(0, lid(3)), either.level_bits(1, lid(4)), lanes), (0b101, 0b10, 3));
        let found = [(0, 3), (1, 3), (0, 4), (1, 4)].map(|(switch, at)| lane[switch * stride + at]);
        assert_eq!(found, [2, 2, 0, 1]);
        assert_eq!(of(ServiceLevels::One(level(0)), 0).1, PathLanes::One);
    }
}
