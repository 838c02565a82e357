//! The findings against a plan, and which of them the operator accepted by name.

use std::collections::BTreeSet;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::lanes::migrations::DFTREE;
use crate::operations::plans::plan_verdict::PlanVerdict;
use fabdeck_change::{Plan, TransitionReport};
use fabdeck_fabric::{NodeId, PortId, PortNum};
use fabdeck_mad::access::AttributePart;

/// Names of findings.
pub const FINDING_NAMES: &[&str] = &["cut-off", "unreachable", "loop", "cycle", "lanes", "transition"];

/// The risks that the operator acknowledged when a change was begun, in words.
pub fn acknowledged_words(names: &[String]) -> String {
    let words = |name: &String| match name.as_str() {
        "cut-off" => "ends that answer now are cut off".to_owned(),
        "unreachable" => "pairs without a path".to_owned(),
        "loop" => "packets can run in a loop".to_owned(),
        "cycle" => "deadlock possible with the new routes".to_owned(),
        "lanes" => "virtual lanes do not fit".to_owned(),
        "transition" => "deadlock possible while written".to_owned(),
        other => other.to_owned(),
    };
    match names {
        [] => "none".to_owned(),
        names => format!("acknowledged: {}", names.iter().map(words).collect::<Vec<_>>().join("; ")),
    }
}

/// Findings against a plan: the name by which each is accepted, and its message. `gives_levels` says whether the
/// driver gives paths their service levels; without that, paths stay on their lanes.
pub fn plan_findings(
    judged: &PlanVerdict,
    plan: &Plan,
    look: &Snapshot,
    gives_levels: bool,
) -> Vec<(&'static str, String)> {
    let PlanVerdict { report, transition, unmet, cut_off, .. } = judged;
    let mut found: Vec<_> = cut_off.words().map(|words| ("cut-off", words)).into_iter().collect();
    found.extend(report_findings(report));
    found.extend(hosts_without_cable(look, plan).map(|words| ("unreachable", words)));
    // Disabling a link leaves all paths on their lanes, and dFtree's plans tell the hosts which flows move.
    let moves = plan.engine != DFTREE
        && plan.writes.iter().any(|write| !matches!(write.part, AttributePart::Port(_)));
    // In a plan with phases, hosts get the service level of high LIDs and keep that of base LIDs.
    if plan.lanes.count > 1 && moves && !gives_levels && plan.phases.is_none() {
        let words = format!(
            "its paths are on {} lanes, and with this driver no subnet manager gives them their service levels: \
             --via opensm does, if lanes are per destination",
            plan.lanes.count
        );
        found.push(("lanes", words));
    }
    if plan.lanes.count > 1 && unmet.as_ref().is_none_or(|switches| !switches.is_empty()) {
        let words = match unmet {
            Some(switches) => format!("its lanes do not hold on {} switches", switches.len()),
            None => "whether its lanes hold is not known: no switch gave its SL2VL tables".to_owned(),
        };
        found.push(("lanes", words));
    }
    if transition.safe != Some(true) {
        found.push(("transition", unsafe_words(transition)));
    }
    found
}

/// Message about hosts that have no cable once the plan's ports are disabled. None of their pairs counts as lost,
/// because these hosts are no longer part of the fabric.
fn hosts_without_cable(look: &Snapshot, plan: &Plan) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let fabric = look.fabric();
    let steps = plan.writes.iter().filter_map(|write| write.to_step().ok());
    let disabled: BTreeSet<PortId> = steps
        .filter_map(|step| match step.slot.part {
            AttributePart::Port(port) if step.new == [0] => {
                let switch = step.slot.at.node(fabric)?;
                fabric.port_of(switch, PortNum::new(port.into())?)
            }
            _ => None,
        })
        .collect();
    let ends = disabled.iter().filter_map(|port| fabric.peer(*port));
    let left = |node: NodeId| {
        let mut cabled = fabric.ports_of(node).filter(|(_, port)| port.peer.is_some());
        cabled.any(|(id, port)| {
            !disabled.contains(&id) && !port.peer.is_some_and(|peer| disabled.contains(&peer))
        })
    };
    let alone: BTreeSet<NodeId> = ends.map(|end| fabric.port(end).node).filter(|node| !left(*node)).collect();
    let names: Vec<&str> = alone.iter().take(MAX_NAMED).map(|node| look.name(*node)).collect();
    let more = if alone.len() > MAX_NAMED { ", ..." } else { "" };
    (!alone.is_empty()).then(|| {
        format!(
            "{} cut off from the fabric, because the plan disables the last cable there ({}{more})",
            count_words(alone.len(), "node is", "nodes are"),
            names.join(", ")
        )
    })
}

fn report_findings(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let left = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
    let all = [
        ("unreachable", left > 0, report.lost_words(left)),
        ("loop", report.loops > 0, "packets run in a loop".to_owned()),
        (
            "cycle",
            report.deadlock_free != Some(true),
            match report.deadlock_free {
                Some(_) => "there is a credit loop: packets can wait for each other forever".to_owned(),
                None => "whether there is a credit loop is not known".to_owned(),
            },
        ),
        (
            "lanes",
            !report.lane_limits.is_empty(),
            "paths are on lanes that a port on their way does not have".to_owned(),
        ),
    ];
    all.into_iter().filter(|(_, found, _)| *found).map(|(name, _, words)| (name, words)).collect()
}

fn unsafe_words(transition: &TransitionReport) -> String {
    let mut lines = transition.lines();
    if lines.is_empty() { transition.short_verdict() } else { lines.swap_remove(0).1 }
}

/// This finding is shown before the question and has its own line in the console's dialog. It refuses no command,
/// because the operator marked those elements on purpose.
const NAMED_ONLY: &str = "cut-off";

/// Refuses a plan with findings that were not accepted, and unknown names among the accepted ones.
pub fn refuse_unaccepted(found: &[(&'static str, String)], accepted: &[String]) -> Result<(), Failure> {
    if let Some(name) = accepted.iter().find(|name| !FINDING_NAMES.contains(&name.as_str())) {
        let names = FINDING_NAMES.join(", ");
        return Err(Failure::usage(format!("FD-7982: '{name}' is not a finding; the findings are {names}")));
    }
    let accepted_already = |name: &str| name == NAMED_ONLY || accepted.iter().any(|word| word == name);
    let open: Vec<_> = found.iter().filter(|(name, _)| !accepted_already(name)).collect();
    if open.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = open.iter().map(|(name, words)| format!("{words} ({name})")).collect();
    let mut names: Vec<&str> =
        open.iter().map(|(name, _)| *name).chain(accepted.iter().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    Err(Failure::new(
        Exit::Refused,
        format!(
            "FD-7983: the plan is not applied: {}; make another plan, or accept the finding: --accept {}",
            words.join("; "),
            names.join(",")
        ),
    ))
}
