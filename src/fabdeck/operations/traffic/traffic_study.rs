//! Traffic under a pattern over a fabric: reads the fabric, its failures and the flows, and simulates them.

use std::collections::BTreeSet;
use std::path::Path;

use super::traffic_run::{
    TrafficOptions, TrafficReport, TrafficRoutes, TrafficRunError, flow_between, simulate,
};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::{LaneReading, LanesInForce};
use crate::operations::operation::Operation;
use crate::operations::preview::engine_names;
use crate::operations::preview::engine_request::{EngineOptions, MarkRequest, read_faults, route_request};
use fabdeck_fabric::{Faults, PortId, ServiceLevel};
use fabdeck_files::jobs::HostIndex;
use fabdeck_mad::access::ReadOptions;
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{
    Flow, MixedPattern, PATTERN_NAMES, PatternName, PatternOptions, TrafficPattern, TrafficSettings,
};

/// The traffic to simulate, as the operator describes it.
#[derive(Clone, Debug)]
pub struct TrafficRequest<'r> {
    /// The name of a pattern, or `flows=FILE`.
    pub pattern: &'r str,
    /// For hot-spots: their number, and the share of packets that each host sends to its own.
    pub spots: u32,
    pub share: &'r str,
    /// For hot-spots: the service level of the packets to them.
    pub slow_level: Option<u8>,
    /// For the shift pattern and ping-pong: number of packets in each message.
    pub message: u32,
    pub settings: TrafficSettings,
    /// What is beside the pattern.
    pub mixed: MixedRequest<'r>,
    pub for_ns: u64,
    /// Interval of the rates over time.
    pub every_ns: Option<u64>,
    /// Whether the run ends as soon as the rates are steady.
    pub until_steady: bool,
    /// Number of hosts and flows to name, from the top and from the bottom.
    pub rows: usize,
    pub routes: TrafficRouteChoice<'r>,
    /// Number of levels to send on in turns, in place of those of the routes.
    pub spread: Option<u8>,
    pub marks: MarkRequest,
}

/// The hosts of a pattern, and the traffic beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixedRequest<'r> {
    /// A list of jobs, whose hosts are those of the pattern.
    pub among: Option<&'r Path>,
    /// A list of flows.
    pub beside: Option<&'r Path>,
    /// The share of its limit that each switch sends to other switches, such as `50%`.
    pub switch_load: Option<&'r str>,
    pub switch_level: Option<u8>,
}

/// Which routes the packets take.
#[derive(Clone, Debug)]
pub enum TrafficRouteChoice<'r> {
    /// The tables in force, with service levels that are determined in this way.
    InForce(Option<LaneChoice>),
    /// The routes of an engine. They have their own lanes, so those in force do not count.
    Engine { id: &'r str, options: Box<EngineOptions> },
}

/// A simulated run, with the fabric and its failed elements.
#[derive(Debug)]
pub struct TrafficStudy {
    pub snapshot: Snapshot,
    pub faults: Faults,
    pub report: TrafficReport,
}

/// Reads the named source and simulates the traffic. A signal ends the reading, the engine or the run.
pub fn study_traffic(
    operation: &mut Operation<'_>,
    request: &TrafficRequest<'_>,
) -> Result<TrafficStudy, Failure> {
    operation.listen_to_stop();
    run_study(operation, request).map_err(|failure| match failure.exit {
        Exit::Interrupted => Failure::interrupted(),
        _ => failure,
    })
}

fn run_study(operation: &mut Operation<'_>, request: &TrafficRequest<'_>) -> Result<TrafficStudy, Failure> {
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let (mut snapshot, in_force) = match request.routes {
        TrafficRouteChoice::Engine { .. } => lanes_in_force::read_snapshot_without_lanes(operation, wanted)?,
        TrafficRouteChoice::InForce(choice) => {
            lanes_in_force::read_snapshot(operation, wanted, LaneReading { choice, switches: false })?
        }
    };
    let faults = read_faults(operation, &snapshot, &request.marks)?;
    let options = TrafficOptions {
        pattern: read_mixed(operation.env, &snapshot, request)?,
        settings: request.settings,
        for_ns: request.for_ns,
        every_ns: request.every_ns,
        max_packet_hops: None,
        until_steady: request.until_steady,
        rows: request.rows,
    };
    let routes = choose_routes(operation, &mut snapshot, &faults, &request.routes, &in_force)?;
    let routes = match request.spread {
        Some(count) => routes.in_turns(count),
        None => routes,
    };
    let report = operation
        .run_with_progress("traffic", |progress| simulate(&snapshot, &faults, &routes, &options, progress))
        .map_err(|error| match error {
            TrafficRunError::Traffic(error) => Failure::usage(error.to_string()),
            TrafficRunError::Cancelled(refusal) => refusal.into(),
        })?;
    Ok(TrafficStudy { snapshot, faults, report })
}

fn choose_routes(
    operation: &mut Operation<'_>,
    snapshot: &mut Snapshot,
    faults: &Faults,
    choice: &TrafficRouteChoice<'_>,
    in_force: &LanesInForce,
) -> Result<TrafficRoutes, Failure> {
    match choice {
        TrafficRouteChoice::Engine { id, options } => {
            let engine = engine_names::engine_named(id)?;
            let request = route_request(operation.env, snapshot, options)?;
            let snapshot = &*snapshot;
            let routes = operation.run_with_progress(engine.id, |progress| {
                TrafficRoutes::from_engine(snapshot, faults, engine, &request, progress)
            })?;
            Ok(routes)
        }
        TrafficRouteChoice::InForce(_) if snapshot.observation.tables.has_forwarding() => {
            Ok(TrafficRoutes::from_tables(snapshot, faults, in_force.sent()))
        }
        TrafficRouteChoice::InForce(_) => Err(Failure::usage(
            "FD-7803: the source has no forwarding tables for packets to follow; name an engine with --engine, or put \
             a dump of tables beside the topology (dump_lfts, opensm-lfts.dump)",
        )),
    }
}

/// The pattern, mixed with other traffic if the request names some.
fn read_mixed(
    env: Env<'_>,
    snapshot: &Snapshot,
    request: &TrafficRequest<'_>,
) -> Result<TrafficPattern, Failure> {
    let pattern = read_pattern(env, snapshot, request)?;
    let MixedRequest { among, beside, switch_load, switch_level } = request.mixed;
    if among.is_none() && beside.is_none() && switch_load.is_none() {
        return Ok(pattern);
    }
    Ok(TrafficPattern::Mixed(Box::new(MixedPattern {
        pattern,
        among: among.map_or(Ok(Vec::new()), |file| read_hosts(env, snapshot, file))?,
        beside: beside.map_or(Ok(Vec::new()), |file| read_flows(env, snapshot, file))?,
        switch_load: switch_load.map_or(Ok(Share::default()), parse_share)?,
        switch_level: switch_level.and_then(|level| ServiceLevel::new(level.into())),
    })))
}

/// The ports of all hosts of a list of jobs.
fn read_hosts(env: Env<'_>, snapshot: &Snapshot, file: &Path) -> Result<Vec<PortId>, Failure> {
    let list = env.outside.jobs(file).map_err(Failure::from_list_error)?;
    let placed = HostIndex::new(snapshot.fabric(), &snapshot.names).place_jobs(&list);
    if let Some(host) = placed.unknown.iter().chain(placed.ambiguous.keys()).next() {
        let what = format!(
            "{}: FD-7806: the host '{host}' is not on this fabric, or its name fits several; correct the list",
            file.display()
        );
        return Err(Failure::new(Exit::BadInput, what));
    }
    let ports: BTreeSet<PortId> = placed.jobs.iter().flat_map(|(_, ports)| ports.iter().copied()).collect();
    Ok(ports.into_iter().collect())
}

fn parse_share(share: &str) -> Result<Share, Failure> {
    Share::parse(share).ok_or_else(|| {
        Failure::usage(format!("FD-7804: '{share}' is not a share; write a percentage, as in 5%"))
    })
}

fn read_pattern(
    env: Env<'_>,
    snapshot: &Snapshot,
    request: &TrafficRequest<'_>,
) -> Result<TrafficPattern, Failure> {
    let TrafficRequest { pattern, share, spots, message, .. } = *request;
    let share = parse_share(share)?;
    let level = request.slow_level.and_then(|level| ServiceLevel::new(level.into()));
    match PatternName::parse(pattern, PatternOptions { spots, share, level, message }) {
        Some(PatternName::Pattern(pattern)) => Ok(pattern),
        Some(PatternName::Flows(file)) => {
            Ok(TrafficPattern::Flows(read_flows(env, snapshot, Path::new(&file))?))
        }
        None => Err(Failure::usage(format!(
            "FD-7802: '{pattern}' is not a pattern; the patterns are {PATTERN_NAMES}"
        ))),
    }
}

/// Reads the flows of a file. An unknown end is a mistake in the file.
fn read_flows(env: Env<'_>, snapshot: &Snapshot, file: &Path) -> Result<Vec<Flow>, Failure> {
    let mut flows = Vec::new();
    for line in env.outside.flows(file).map_err(Failure::from_list_error)? {
        let flow = flow_between(snapshot, &line.from, &line.to).map_err(|error| {
            let place = format!("{}:{}", file.display(), line.number);
            Failure::new(Exit::BadInput, format!("{place}: FD-7805: {error}; correct the line"))
        })?;
        flows.push(Flow { level: line.level, mbps: line.mbps, ..flow });
    }
    Ok(flows)
}
