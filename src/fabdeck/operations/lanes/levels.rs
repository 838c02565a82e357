//! The certificate of tables in force on the lanes that packets take: SL2VL tables of every switch map
//! service levels to lanes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::choices::{ChoiceLevelsInForce, add_choices, has_choices};
use crate::operations::check::judgement::{
    CertificateNames, CertificateReport, certificate_report, check, count_unread_tables, routes_of_tables,
};
use crate::system::phase::Phase;
use fabdeck_fabric::observe::PolicyLevels;
use fabdeck_fabric::{
    Faults, Guid, Lane, Lid, ListedLevels, NodeId, PathLanes, PortId, Routes, ServiceLevel, ServiceLevels,
    Tables, levels_in,
};
use fabdeck_routing::certificate::{
    LaneKnowledge, LaneMapping, RouteScope, ServiceCertificate, certify_partitioned, certify_service,
    choices_differ_by_level, data_lane_count,
};
use fabdeck_routing::{EngineRefusal, Problem, Request, RouteProgress};

/// Maximum number of packet-dropping ports that are named.
const MAX_NAMED_PORTS: usize = 10;

/// Source of the levels where no source states them. An SL2VL mapping gives the lane of a level, but not
/// whether the level is in use: stock fabrics map sixteen and use one. So the certificate judges level 0
/// through the mapping.
pub const LEVEL_ASSUMED: &str = "level 0 assumed";

/// Source of the levels where a QoS policy sets them.
pub const FROM_QOS_POLICY: &str = "QoS policy";

/// Source of the levels where a list of paths (`psl`) sets them.
pub const FROM_PATH_LIST: &str = "levels of paths";

/// Knowledge of the service levels that packets use.
#[derive(Clone, Copy, Debug)]
pub enum LevelsInForce<'a> {
    /// Several levels are in use, or may be, and the level of each path is unknown.
    Unknown,
    /// No source states that levels other than 0 are in use. Levels of assumed tables and of plans count.
    Unsaid,
    /// All paths use level 0.
    One,
    /// Path records give the levels: of every pair, or of some sources of each switch.
    Records { levels: &'a ServiceLevels, every: bool },
}

/// Knowledge of the lanes of the paths in force.
enum KnownLanes<'a> {
    /// One lane for each (switch, LID), and its source.
    Whole(PathLanes, &'static str),
    /// Service levels, which the certificate follows hop by hop.
    Partly(KnownLevels<'a>),
    Unknown,
}

/// Service levels of the paths in force.
pub(crate) struct KnownLevels<'a> {
    pub levels: Cow<'a, ServiceLevels>,
    /// Source of the levels.
    pub from: &'static str,
    /// Number of (source switch, LID) whose level is known for only some sources of the switch.
    partly_listed: u64,
}

impl<'a> KnownLevels<'a> {
    fn new(levels: Cow<'a, ServiceLevels>, from: &'static str) -> Self {
        Self { levels, from, partly_listed: 0 }
    }

    /// Levels that were computed, with the source of the levels in force.
    pub fn computed(levels: &'a ServiceLevels, from: &'static str) -> Self {
        Self::new(Cow::Borrowed(levels), from)
    }

    fn one(from: &'static str) -> Self {
        Self::new(Cow::Owned(ServiceLevels::One(ServiceLevel::default())), from)
    }

    fn records(levels: &'a ServiceLevels, every: bool) -> Self {
        let from = if every { "path records, every pair" } else { "path records, sampled" };
        Self::new(Cow::Borrowed(levels), from)
    }
}

/// Determines how lanes are known; every command uses this function.
fn determine_lanes<'a>(
    look: &Snapshot,
    problem: &Problem<'_>,
    routes: &Routes,
    mapping: &LaneMapping<'_>,
    switches: bool,
    sent: LevelsInForce<'a>,
) -> KnownLanes<'a> {
    let known = match (sent, &look.routes) {
        (LevelsInForce::Unknown, _) => return KnownLanes::Unknown,
        (LevelsInForce::One, _) if !mapping.has_tables() => return KnownLanes::Whole(PathLanes::One, "one"),
        (LevelsInForce::One, _) => KnownLevels::one("one"),
        (_, Some(held)) => {
            let from = if look.assumed.is_some() { "assumed" } else { "plan" };
            if !held.lanes.is_by_hop() {
                return KnownLanes::Whole(rearrange_lanes(held, routes), from);
            }
            KnownLevels::new(Cow::Owned(levels_of_routes(look, held)), from)
        }
        (LevelsInForce::Unsaid, None) if let Some(policy) = &look.observation.policy => {
            match levels_by_policy(look, policy, switches) {
                Some(known) => known,
                None => return KnownLanes::Unknown,
            }
        }
        (LevelsInForce::Unsaid, None) if !mapping.has_tables() => {
            return KnownLanes::Whole(PathLanes::One, LEVEL_ASSUMED);
        }
        (LevelsInForce::Unsaid, None) => {
            let lane = mapping.uniform_lane(problem, 0);
            let alike =
                lane.filter(|lane| (1..16).all(|sl| mapping.uniform_lane(problem, sl) == Some(*lane)));
            if let Some(lane) = alike {
                return KnownLanes::Whole(uniform_lanes(lane, routes), "SL2VL tables");
            }
            KnownLevels::one(LEVEL_ASSUMED)
        }
        (LevelsInForce::Records { levels, every }, None) => KnownLevels::records(levels, every),
    };
    let lanes = lanes_for_routes(problem, routes, mapping, &known.levels, switches);
    match lanes.filter(|_| known.partly_listed == 0) {
        Some(lanes) => KnownLanes::Whole(lanes, known.from),
        None => KnownLanes::Partly(known),
    }
}

/// Certifies tables in force: by their static ports, and over all choices where switches route adaptively.
pub fn check_in_force(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    switches: bool,
    sent: LevelsInForce<'_>,
    pulse: &dyn RouteProgress,
) -> Result<CertificateReport, EngineRefusal> {
    let report =
        Phase::time("certificate", || check_static_ports(look, tables, faults, switches, sent, pulse))?;
    if !has_choices(tables) {
        return Ok(report);
    }
    let problem = Problem::new(look.fabric(), faults);
    // Where sets of ports differ by level, those of level 0 prove nothing for packets of other levels.
    let assumed = || (!choices_differ_by_level(&problem, tables)).then(|| KnownLevels::one(LEVEL_ASSUMED));
    let known = match (levels_in_force(look, sent), sent) {
        (None, LevelsInForce::Unsaid) if look.observation.policy.is_none() => assumed(),
        (known, _) => known,
    };
    let levels = ChoiceLevelsInForce {
        levels: known.as_ref().map(|known| known.levels.as_ref()),
        from: known.as_ref().map_or("unknown", |known| known.from),
        partly_listed: known.as_ref().map_or(0, |known| known.partly_listed),
    };
    let names = CertificateNames { look, problem: &problem };
    add_choices(report, &names, tables, switches, &levels, pulse)
}

/// Certifies tables by their static ports. Where switches route adaptively, these leave the verdict open.
pub(crate) fn check_static_ports(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    switches: bool,
    sent: LevelsInForce<'_>,
    pulse: &dyn RouteProgress,
) -> Result<CertificateReport, EngineRefusal> {
    let fabric = look.fabric();
    let problem = Problem::new(fabric, faults);
    let parts = look.partitions.as_ref();
    let mapping = LaneMapping::new(&problem, tables);
    let scope = |lanes| RouteScope { switches, lanes };
    let unread = count_unread_tables(&problem, tables);
    let mut routes = routes_of_tables(look, tables);
    let levels = match determine_lanes(look, &problem, &routes, &mapping, switches, sent) {
        KnownLanes::Unknown => return check(look, tables, faults, &scope(LaneKnowledge::Unknown), pulse),
        KnownLanes::Whole(lanes, from) => {
            routes.lanes = lanes;
            let certificate =
                certify_partitioned(&problem, &routes, &scope(LaneKnowledge::Known), parts, pulse)?;
            let lane_limits = lane_limit_words(look, &problem, &certificate.lanes);
            let report = CertificateReport {
                lanes_from: from,
                lane_limits,
                ..certificate_report(look, &problem, &certificate)
            };
            return Ok(report.with_unread_tables(unread));
        }
        KnownLanes::Partly(levels) => levels,
    };
    check_hop_by_hop(
        &CertificateNames { look, problem: &problem },
        &routes,
        &mapping,
        switches,
        &levels,
        pulse,
    )
    .map(|report| report.with_unread_tables(unread))
}

/// Certifies tables with computed levels.
pub(crate) fn check_levels(
    look: &Snapshot,
    tables: &Tables,
    levels: &KnownLevels<'_>,
    pulse: &dyn RouteProgress,
) -> Result<CertificateReport, EngineRefusal> {
    let faults = Faults::default();
    let problem = Problem::new(look.fabric(), &faults);
    let mapping = LaneMapping::new(&problem, tables);
    let routes = routes_of_tables(look, tables);
    let names = CertificateNames { look, problem: &problem };
    let report = check_hop_by_hop(&names, &routes, &mapping, false, levels, pulse)?;
    Ok(report.with_unread_tables(count_unread_tables(&problem, tables)))
}

/// Certifies tables by following the levels hop by hop.
fn check_hop_by_hop(
    names: &CertificateNames<'_, '_>,
    routes: &Routes,
    mapping: &LaneMapping<'_>,
    switches: bool,
    known: &KnownLevels<'_>,
    pulse: &dyn RouteProgress,
) -> Result<CertificateReport, EngineRefusal> {
    let CertificateNames { look, problem } = *names;
    let scope = RouteScope { switches, lanes: LaneKnowledge::Unknown };
    let certificate = certify_partitioned(problem, routes, &scope, look.partitions.as_ref(), pulse)?;
    let mut served = certify_service(problem, routes, switches, mapping, &known.levels, pulse)?;
    served.unknown_levels += known.partly_listed;
    let base = certificate_report(look, problem, &certificate);
    Ok(join_lane_verdict(base, &served, names, known))
}

/// The service levels of the paths in force, with their source.
pub(crate) fn levels_in_force<'a>(look: &Snapshot, sent: LevelsInForce<'a>) -> Option<KnownLevels<'a>> {
    match (sent, &look.routes) {
        (LevelsInForce::Unknown, _) => None,
        (LevelsInForce::Unsaid, None) => levels_by_policy(look, look.observation.policy.as_ref()?, false),
        (LevelsInForce::One, _) => Some(KnownLevels::one("one")),
        (_, Some(held)) => {
            let from = if look.assumed.is_some() { "assumed" } else { "plan" };
            Some(KnownLevels::new(Cow::Owned(levels_of_routes(look, held)), from))
        }
        (LevelsInForce::Records { levels, every }, None) => Some(KnownLevels::records(levels, every)),
    }
}

/// The levels that a file sets; `None` where the rules of a QoS policy leave them open.
pub(crate) fn levels_by_policy(
    look: &Snapshot,
    policy: &PolicyLevels,
    switches: bool,
) -> Option<KnownLevels<'static>> {
    match policy {
        PolicyLevels::ByDestination(by_guid) => {
            Some(KnownLevels::new(Cow::Owned(levels_by_destination(look, by_guid)), FROM_QOS_POLICY))
        }
        PolicyLevels::ByPath(table) => {
            let listed = table.apply_to(look.fabric(), switches);
            if listed.unlisted == 0 && listed.levels.all_bits() <= 1 {
                return Some(KnownLevels::one(FROM_PATH_LIST));
            }
            let ListedLevels { levels, partly_listed, .. } = listed;
            Some(KnownLevels { levels: Cow::Owned(levels), from: FROM_PATH_LIST, partly_listed })
        }
        PolicyLevels::Undecided => None,
    }
}

/// The levels of a QoS policy by LID. Where the policy gives every port of the fabric level 0, all paths have
/// it.
fn levels_by_destination(look: &Snapshot, by_guid: &BTreeMap<Guid, u8>) -> ServiceLevels {
    let one = ServiceLevels::One(ServiceLevel::default());
    let mut levels = one.clone();
    levels.expand(look.fabric().top_lid());
    if let ServiceLevels::ByLid(bits) = &mut levels {
        for (_, port) in look.fabric().ports() {
            let level = port.facts.guid.and_then(|guid| by_guid.get(&guid));
            let (Some(level), Some(base)) = (level, port.facts.lid) else { continue };
            let lids = base.index()..base.index() + usize::from(port.facts.lmc.lid_count());
            bits.get_mut(lids).into_iter().flatten().for_each(|bits| *bits = 1 << level);
        }
    }
    if levels.all_bits() <= 1 { one } else { levels }
}

/// The levels of routes that fabdeck computed: each level has the number of its lane.
pub(crate) fn levels_of_routes(look: &Snapshot, held: &Routes) -> ServiceLevels {
    let (switches, top) = (look.fabric().switch_count(), look.fabric().top_lid());
    if let (PathLanes::One | PathLanes::ByDestination { .. }, Some(top)) = (&held.lanes, top) {
        let level = |at: u32| Lid::new(at).map_or(0, |lid| 1 << held.lane(0, lid).value());
        let level_at = |at: usize| if at < held.stride() { level(at as u32) } else { 0 };
        return ServiceLevels::ByLid((0..=top.index()).map(level_at).collect());
    }
    let mut levels = ServiceLevels::unknown(switches, top);
    for switch in 0..switches as u32 {
        for lid in (1..held.stride() as u32).filter_map(Lid::new) {
            let level = ServiceLevel::new(held.lane(switch, lid).value().into());
            levels.add(switch, lid, level.unwrap_or_default());
        }
    }
    levels
}

/// The lanes of the paths in force in the form of routes.
pub(crate) struct RouteLanesInForce {
    /// `None` where they are unknown, or differ within a (switch, LID).
    pub lanes: Option<PathLanes>,
    /// Their source, or why they are not known.
    pub from: &'static str,
}

/// The lanes of the paths in force in the form of routes.
pub(crate) fn lanes_in_force(
    look: &Snapshot,
    problem: &Problem<'_>,
    tables: &Tables,
    old: &Routes,
    switches: bool,
    sent: LevelsInForce<'_>,
) -> RouteLanesInForce {
    let (lanes, from) =
        match determine_lanes(look, problem, old, &LaneMapping::new(problem, tables), switches, sent) {
            KnownLanes::Whole(lanes, from) => (Some(lanes), from),
            KnownLanes::Partly(known) => match hop_lanes(problem, old, tables, &known, switches) {
                Some(lanes) => (Some(lanes), known.from),
                None => (None, "unknown: not one for each switch and LID"),
            },
            KnownLanes::Unknown => (None, "unknown"),
        };
    RouteLanesInForce { lanes, from }
}

fn uniform_lanes(lane: u8, routes: &Routes) -> PathLanes {
    match lane {
        0 => PathLanes::One,
        _ => PathLanes::ByDestination { lanes: lane + 1, lane: vec![lane; routes.stride()] },
    }
}

/// The lanes of `held`, with rows as long as those of `rows`.
pub(crate) fn rearrange_lanes(held: &Routes, rows: &Routes) -> PathLanes {
    match &held.lanes {
        other if held.stride() == rows.stride() || held.stride() == 0 => other.clone(),
        PathLanes::ByPair { lanes, lane } => {
            PathLanes::ByPair { lanes: *lanes, lane: resize_rows(lane, held, rows) }
        }
        PathLanes::ByHop { lanes, level, tables } => {
            PathLanes::ByHop { lanes: *lanes, level: resize_rows(level, held, rows), tables: tables.clone() }
        }
        other => other.clone(),
    }
}

/// Rows of one byte for each LID, as long as those of `rows`.
fn resize_rows(bytes: &[u8], held: &Routes, rows: &Routes) -> Vec<u8> {
    let row = |row: &[u8]| {
        let mut row = row.to_vec();
        row.resize(rows.stride(), 0);
        row
    };
    bytes.chunks(held.stride()).flat_map(row).collect()
}

/// The lanes of paths in the form of routes, which the certificate can use. `None` unless each level has one
/// lane everywhere, and the sources of a switch agree on the level to a LID.
fn lanes_for_routes(
    problem: &Problem<'_>,
    routes: &Routes,
    mapping: &LaneMapping<'_>,
    levels: &ServiceLevels,
    switches: bool,
) -> Option<PathLanes> {
    let mut lane_of = [0u8; 16];
    for level in (0..16u8).filter(|level| levels.all_bits() >> level & 1 == 1) {
        lane_of[usize::from(level)] = mapping.uniform_lane(problem, level)?;
    }
    let lanes = lane_of.iter().max().map_or(1, |top| top + 1);
    match levels {
        ServiceLevels::One(level) => {
            let lane = lane_of[usize::from(level.value())];
            Some(PathLanes::ByDestination { lanes, lane: vec![lane; routes.stride()] })
        }
        ServiceLevels::ByLid(_) | ServiceLevels::BySwitch { .. } => {
            let mut all = level_rows(problem, routes, levels, switches)?;
            all.iter_mut().for_each(|lane| *lane = lane_of[usize::from(*lane)]);
            Some(PathLanes::ByPair { lanes, lane: all })
        }
    }
}

/// The lanes of paths whose switches map a level to different lanes on the way. `None` unless every switch on the way has
/// SL2VL tables, and the sources of a switch agree on the level to a LID.
fn hop_lanes(
    problem: &Problem<'_>,
    routes: &Routes,
    tables: &Tables,
    known: &KnownLevels<'_>,
    switches: bool,
) -> Option<PathLanes> {
    let tables = tables.lane_tables();
    let has_tables =
        |switch: u32| problem.graph.outgoing(switch).is_empty() || tables.nodes.contains_key(&NodeId(switch));
    if known.partly_listed > 0 || !problem.switches().all(has_tables) {
        return None;
    }
    let rows = tables.nodes.values().flat_map(|held| held.sl2vl.values());
    let top =
        rows.flat_map(|row| levels_in(known.levels.all_bits()).map(|level| row.lane(level).value())).max();
    let level = level_rows(problem, routes, &known.levels, switches)?;
    Some(PathLanes::ByHop { lanes: top.unwrap_or(0).min(Lane::MAX) + 1, level, tables: Arc::new(tables) })
}

/// The level of each (switch, LID) in the form of routes; `None` where some pair has none or several.
fn level_rows(
    problem: &Problem<'_>,
    routes: &Routes,
    levels: &ServiceLevels,
    switches: bool,
) -> Option<Vec<u8>> {
    let mut all = vec![0u8; routes.stride() * routes.switch_count()];
    for (switch, row) in (0u32..).zip(all.chunks_exact_mut(routes.stride().max(1))) {
        let here = problem.destinations_behind(switch);
        let sources = switches || here.iter().any(|end| !end.is_switch());
        let wanted = problem.destinations().iter().filter(|end| switches || !end.is_switch());
        for end in wanted.filter(|_| sources) {
            let bits = levels.level_bits(switch, end.lid);
            match (bits.count_ones(), row.get_mut(end.lid.index())) {
                (1, Some(level)) => *level = bits.trailing_zeros() as u8,
                // A destination that is the only source of its switch needs no level: it sends nothing to itself.
                (0, _) if here.contains(end) => {}
                _ => return None,
            }
        }
    }
    Some(all)
}

/// Combines the certificate for one shared lane with the verdict on the true lanes. Where one level is stated for
/// all paths, a switch with unknown tables is assumed to map this level to the lane of its number. A credit loop then
/// counts, but its absence is not proved.
fn join_lane_verdict(
    base: CertificateReport,
    served: &ServiceCertificate,
    names: &CertificateNames<'_, '_>,
    known: &KnownLevels<'_>,
) -> CertificateReport {
    let is_stated = matches!(*known.levels, ServiceLevels::One(_));
    let acyclic = base.cycle.is_none();
    let cycle = served.credit_loop.as_ref().filter(|_| is_stated || served.without_tables.is_empty());
    let verdict = match () {
        // Paths without a cycle on one shared lane have none on any lanes.
        () if acyclic => Some(true),
        () if cycle.is_some() => Some(false),
        () => served.is_complete().then_some(true),
    };
    let single = |lane: Lane| cycle.is_some_and(|cycle| cycle.hops.iter().all(|(_, on)| *on == lane));
    let lane = cycle.and_then(|cycle| cycle.hops.first()).map(|(_, lane)| *lane);
    let hops = cycle.map(|cycle| {
        let named = |(channel, on): &(_, Lane)| match lane.is_some_and(single) {
            true => names.channel(*channel),
            false => format!("{} on lane {}", names.channel(*channel), on.value()),
        };
        cycle.hops.iter().map(named).collect()
    });
    let paths = cycle.map(|cycle| cycle.paths.iter().map(|path| names.path(path)).collect());
    // A cycle on one shared lane explains why the verdict is unknown; for a known verdict it means nothing.
    let unclear = verdict.is_none();
    let limits = served.limits.iter().take(MAX_NAMED_PORTS);
    CertificateReport {
        lanes: served.lanes.len().max(1),
        lanes_from: known.from,
        lane_limits: limits
            .map(|limit| limit_text(names.look, limit.port, limit.lane, limit.paths))
            .collect(),
        limited_paths: served.limits.iter().map(|limit| limit.paths).sum(),
        unsaid_paths: served.unknown_levels,
        untold_switches: served.without_tables.len() as u64,
        deadlock_free: verdict.filter(|_| base.adaptive_routing.is_none()),
        cycle: if unclear { base.cycle } else { hops },
        cycle_paths: if unclear { base.cycle_paths } else { paths },
        cycle_lane: if unclear { base.cycle_lane } else { lane.map(Lane::value) },
        ..base
    }
}

/// Text for a limit: `port leaf0[3] has 2 lanes and 12 paths on lane 3 cross it`.
fn limit_text(look: &Snapshot, port: PortId, lane: u8, paths: u64) -> String {
    let name = look.labelled_port_name(port);
    if lane == Lane::MAX {
        return format!("port {name} drops {paths} paths: their service level is mapped to lane 15");
    }
    let lanes = data_lane_count(look.fabric(), port);
    let word = if lanes == 1 { "lane" } else { "lanes" };
    format!("port {name} has {lanes} {word} and {paths} paths on lane {lane} cross it")
}

/// A request that is limited to the lanes that an engine may use.
#[derive(Debug)]
pub struct CappedRequest {
    pub request: Request,
    /// Number of data lanes that is assumed for adapters, where no adapter port reports it.
    pub supposed: Option<u8>,
    /// Text with the first port that has the fewest lanes, where it has fewer than requested.
    pub remark: Option<String>,
}

/// Limits a request to the lanes that every port on the paths has. Where no adapter port reports its lanes,
/// the assumed number is a limit too.
pub fn cap_request(look: &Snapshot, problem: &Problem<'_>, request: &Request) -> CappedRequest {
    let supposed = request.supposed_lanes.filter(|_| !problem.has_adapter_lanes());
    let given = request.lanes.min(supposed.unwrap_or(request.lanes));
    let short = problem.lane_limit().filter(|(lanes, _)| *lanes < given);
    let lanes = short.map_or(given, |(lanes, _)| lanes);
    let remark = short.map(|(_, port)| {
        format!("{lanes} of {} lanes: port {} has no more", request.lanes, look.labelled_port_name(port))
    });
    CappedRequest { request: Request { lanes, ..request.clone() }, supposed, remark }
}

/// Text with the port of the fewest lanes, where the routes use more lanes than it has.
pub(crate) fn lane_limit_words(look: &Snapshot, problem: &Problem<'_>, used: &[u8]) -> Vec<String> {
    let top = used.iter().max().map_or(0, |lane| lane + 1);
    let short = problem.lane_limit().filter(|(lanes, _)| *lanes < top);
    let text = |(lanes, port)| {
        let word = if lanes == 1 { "lane" } else { "lanes" };
        format!("port {} has {lanes} {word} and the routes use {top}", look.labelled_port_name(port))
    };
    short.map(text).into_iter().collect()
}
