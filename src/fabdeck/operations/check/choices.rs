//! The certificate over sets of ports, where switches route adaptively.

use std::collections::BTreeMap;

use super::judgement::{CertificateNames, CertificateReport, count_unread_tables};
use crate::catalogue::json_type::json_type;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::{
    AdaptiveDoubt, AdaptiveSettings, Lane, NodeId, PortNum, PortSet, Routes, ServiceLevel, ServiceLevels,
    Tables,
};
use fabdeck_routing::certificate::{
    ChoiceCertificate, LostChoice, adaptive_doubts, certify_choices, data_lane_count,
};
use fabdeck_routing::{Cause, EngineRefusal, RouteProgress};

/// Maximum number of switches, lost paths and loops that are named.
const MAX_NAMED: usize = 5;

json_type! {
    /// What all choices of switches with adaptive routing do to packets.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ChoiceReport {
        /// Whether the sets of ports of every switch are known. Otherwise the next field gives the reason, and the
        /// counts are 0.
        pub certified: bool,
        pub reason: Option<String>,
        /// Switches whose packets have a choice.
        pub switches: u64,
        /// Number of (source port, LID, service level) between ends that cables connect.
        pub paths: u64,
        /// Paths that some choice loses, with the first of them.
        pub lost_paths: u64,
        /// Number of these that every choice loses.
        pub always_lost_paths: u64,
        pub lost_examples: Vec<String>,
        /// Loops that packets can be sent around by some choices, with the first of them.
        pub loops: u64,
        pub loop_examples: Vec<Vec<String>>,
        /// Length of the longest path over all choices, in hops between switches.
        pub longest_path: u32,
        /// The most ports to other switches that a packet can choose among.
        pub most_ports: u32,
        /// Places where a packet can go back by the static port.
        pub turns: u64,
    }
}

/// The service levels that the paths use, as far as they are known.
pub(crate) struct ChoiceLevelsInForce<'a> {
    /// `None`: not known.
    pub levels: Option<&'a ServiceLevels>,
    pub from: &'static str,
    /// Number of (source switch, LID) whose level is known for only some sources of the switch.
    pub partly_listed: u64,
}

/// Whether any switch of these tables needs a certificate over sets.
pub(crate) fn has_choices(tables: &Tables) -> bool {
    tables.nodes.values().any(|held| held.adaptive.as_ref().is_some_and(|adaptive| adaptive.needs_tables()))
}

/// Adds the certificate over sets to a report on the static ports.
pub(crate) fn add_choices(
    report: CertificateReport,
    names: &CertificateNames<'_, '_>,
    tables: &Tables,
    switches: bool,
    known: &ChoiceLevelsInForce<'_>,
    pulse: &dyn RouteProgress,
) -> Result<CertificateReport, EngineRefusal> {
    let problem = names.problem;
    let on = problem.switches().filter(|at| {
        let adaptive = tables.nodes.get(&NodeId(*at)).and_then(|held| held.adaptive.as_ref());
        adaptive.is_some_and(|adaptive| adaptive.settings().is_some_and(|settings| settings.needs_tables()))
    });
    let on = on.count() as u64;
    if let Some(reason) = uncertified_reason(names, tables, report.unread_pairs) {
        let choices = ChoiceReport { certified: false, reason: Some(reason), switches: on, ..empty_report() };
        return Ok(CertificateReport { deadlock_free: None, choices: Some(choices), ..without_loop(report) });
    }
    let mut found = certify_choices(problem, tables, switches, known.levels, pulse)?;
    found.unknown_levels += known.partly_listed;
    let stated = matches!(known.levels, Some(ServiceLevels::One(_)));
    let verdict = match &found.credit_loop {
        // With all packets on one lane a loop need not be one on the lanes that they use.
        Some(_) if known.levels.is_none() => None,
        Some(_) if stated || found.without_tables.is_empty() => Some(false),
        None if known.levels.is_none() || found.is_complete() => Some(true),
        _ => {
            let every = certify_choices(problem, tables, switches, None, pulse)?;
            every.credit_loop.is_none().then_some(true)
        }
    };
    Ok(join_verdict(report, names, (&found, on), known, verdict))
}

fn empty_report() -> ChoiceReport {
    ChoiceReport {
        certified: true,
        reason: None,
        switches: 0,
        paths: 0,
        lost_paths: 0,
        always_lost_paths: 0,
        lost_examples: Vec::new(),
        loops: 0,
        loop_examples: Vec::new(),
        longest_path: 0,
        most_ports: 0,
        turns: 0,
    }
}

/// A loop of the static ports alone is no verdict where packets have other ports.
fn without_loop(report: CertificateReport) -> CertificateReport {
    CertificateReport { cycle: None, cycle_paths: None, cycle_lane: None, ..report }
}

fn join_verdict(
    report: CertificateReport,
    names: &CertificateNames<'_, '_>,
    (found, on): (&ChoiceCertificate, u64),
    known: &ChoiceLevelsInForce<'_>,
    verdict: Option<bool>,
) -> CertificateReport {
    let reason = verdict.is_none().then(|| lanes_reason(found));
    let named = found.credit_loop.as_ref().filter(|_| verdict == Some(false));
    let lane = named.and_then(|found| found.hops.first()).map(|(_, lane)| *lane);
    let single = |lane: Lane| named.is_some_and(|found| found.hops.iter().all(|(_, on)| *on == lane));
    let hop = |(channel, on): &(_, Lane)| match lane.is_some_and(single) {
        true => names.channel(*channel),
        false => format!("{} on lane {}", names.channel(*channel), on.value()),
    };
    let limits = found.limits.iter().map(|limit| {
        let name = names.look.labelled_port_name(limit.port);
        let lanes = count_words(data_lane_count(names.look.fabric(), limit.port).into(), "lane", "lanes");
        format!("port {name} has {lanes} and paths on lane {} cross it", limit.lane)
    });
    let choices = ChoiceReport {
        certified: verdict.is_some(),
        reason,
        switches: on,
        paths: found.paths,
        lost_paths: found.lost_count(),
        always_lost_paths: found.always_lost,
        lost_examples: found.first_lost.iter().take(MAX_NAMED).map(|lost| lost_text(names, lost)).collect(),
        loops: found.loops.count,
        loop_examples: found
            .loops
            .first
            .iter()
            .take(MAX_NAMED)
            .map(|round| names.switches(&round.switches))
            .collect(),
        longest_path: found.longest,
        most_ports: found.widest,
        turns: found.turns,
    };
    CertificateReport {
        lanes: found.lanes.len().max(1),
        lanes_from: known.from,
        lane_limits: limits.take(MAX_NAMED).collect(),
        limited_paths: 0,
        unsaid_paths: found.unknown_levels,
        untold_switches: found.without_tables.len() as u64,
        whatever_lanes: verdict == Some(true) && known.levels.is_none(),
        deadlock_free: verdict,
        cycle: named.map(|found| found.hops.iter().map(hop).collect()),
        cycle_paths: named.map(|found| found.paths.iter().map(|path| names.path(path)).collect()),
        cycle_lane: lane.map(Lane::value),
        choices: Some(choices),
        ..report
    }
}

fn lost_text(names: &CertificateNames<'_, '_>, lost: &LostChoice) -> String {
    let at = names.look.unique_name(NodeId(lost.at));
    let why = match lost.cause {
        Cause::NoRoute => format!("no entry at {at}"),
        Cause::Loop => format!("a loop by {at}"),
        Cause::CutOff | Cause::DeadEnd | Cause::Unread => format!("a dead end at {at}"),
    };
    format!("{} to {}: {why}", names.port(lost.from), names.owner(lost.to))
}

/// Why lanes leave the verdict open.
fn lanes_reason(found: &ChoiceCertificate) -> String {
    let missing = match (found.unknown_levels, found.without_tables.len()) {
        (0, 0) => "service levels are not known".to_owned(),
        (0, switches) => {
            let switches = count_words(switches, "switch", "switches");
            format!("SL2VL tables of {switches} are not known for all pairs of ports")
        }
        (paths, _) => format!("{} have no known service level", count_words(paths as usize, "path", "paths")),
    };
    format!("{missing}, and choices of all paths on one lane close a credit loop")
}

/// Why the sets of ports are not known: the first reason, with the number of switches that have it.
pub(crate) fn uncertified_reason(
    names: &CertificateNames<'_, '_>,
    tables: &Tables,
    unread_pairs: u64,
) -> Option<String> {
    let doubts = adaptive_doubts(names.problem, tables);
    let mut all: BTreeMap<u8, Vec<(NodeId, AdaptiveDoubt)>> = BTreeMap::new();
    for (node, doubt) in doubts {
        all.entry(rank(doubt)).or_default().push((node, doubt));
    }
    let reasons: Vec<String> = all.values().filter_map(|same| doubt_text(names, tables, same)).collect();
    if !reasons.is_empty() {
        return Some(reasons.join("; "));
    }
    let unread = count_unread_tables(names.problem, tables);
    if unread > 0 {
        let switches = count_words(unread as usize, "switch", "switches");
        return Some(format!("the linear tables of {switches} were not read"));
    }
    let partial = names.look.observation.cut || unread_pairs > 0;
    partial.then(|| "part of the fabric that paths lead to was not read".to_owned())
}

fn rank(doubt: AdaptiveDoubt) -> u8 {
    match doubt {
        AdaptiveDoubt::NoAnswer => 0,
        AdaptiveDoubt::NotUnderstood(_) => 1,
        AdaptiveDoubt::NoTables => 2,
        AdaptiveDoubt::TablesAbsent => 7,
        AdaptiveDoubt::NotRead => 3,
        AdaptiveDoubt::PrivateTables => 4,
        AdaptiveDoubt::LaneInput(None) => 5,
        AdaptiveDoubt::LaneInput(Some(_)) => 6,
        AdaptiveDoubt::GroupZero(_) => 8,
    }
}

fn doubt_text(
    names: &CertificateNames<'_, '_>,
    tables: &Tables,
    same: &[(NodeId, AdaptiveDoubt)],
) -> Option<String> {
    let (first, doubt) = same.first()?;
    let settings = tables.nodes.get(first).and_then(|held| held.adaptive.as_ref()?.settings());
    let cause = match settings.is_none_or(AdaptiveSettings::has_choice) {
        true => "adaptive routing is on and its tables",
        false => "private tables are in force and",
    };
    let switches = count_words(same.len(), "switch", "switches");
    let such_as = format!("such as {}", names.look.unique_name(*first));
    Some(match doubt {
        AdaptiveDoubt::NoAnswer => {
            format!("{switches} did not answer whether adaptive routing is on ({such_as})")
        }
        AdaptiveDoubt::NotUnderstood(mismatch) => {
            format!("{cause} are not understood at {switches} ({such_as}: {mismatch})")
        }
        AdaptiveDoubt::NoTables => format!("{switches} did not answer with adaptive tables ({such_as})"),
        AdaptiveDoubt::TablesAbsent => {
            format!("{cause} are absent at {switches} ({such_as})")
        }
        AdaptiveDoubt::NotRead => {
            format!("{cause} were not read at {switches} ({such_as})")
        }
        AdaptiveDoubt::PrivateTables => {
            format!("{switches} did not answer how many private tables are in force ({such_as})")
        }
        AdaptiveDoubt::LaneInput(None) => {
            format!("{switches} did not answer what selects lanes and tables ({such_as})")
        }
        AdaptiveDoubt::LaneInput(Some(value)) => {
            format!("{switches} may select lanes by virtual lane (sl2vl_act {value}; {such_as})")
        }
        AdaptiveDoubt::GroupZero(lid) => {
            let of = format!("{switches} ({such_as}, LID {lid})");
            format!("static entries of group 0 may use its ports, or have no group, at {of}")
        }
    })
}

/// Lets a port of the group serve where the static port of an entry is down. Lengths and loads are then those of a path
/// that packets take.
pub(crate) fn serve_by_groups(names: &fabdeck_fabric::Fabric, tables: &Tables, routes: &mut Routes) {
    for (id, _) in names.switches() {
        let Some(held) = tables.nodes.get(&id) else { continue };
        if held.adaptive.as_ref().and_then(|adaptive| adaptive.tables_in_force()).is_none() {
            continue;
        }
        let is_up = |port: PortNum| {
            port == PortNum::MANAGEMENT
                || names.port_of(id, port).is_some_and(|port| {
                    let held = names.port(port);
                    held.peer.is_some() && held.facts.state != Some(fabdeck_fabric::PortState::Down)
                })
        };
        let up: PortSet = (0..=PortNum::MAX).map(PortNum).filter(|port| is_up(*port)).collect();
        for lid in (1..routes.stride() as u32).filter_map(fabdeck_fabric::Lid::new) {
            if routes.get(id.0, lid).is_some_and(|port| up.has(port)) {
                continue;
            }
            let outputs = held.table_outputs(0, ServiceLevel::default(), lid).unwrap_or_default();
            if let Some(port) = outputs.ports.intersection(&up).iter().next() {
                routes.set(id.0, lid, Some(port));
            }
        }
    }
}
