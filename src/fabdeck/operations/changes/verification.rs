//! Checks an applied plan against the fabric, for runbooks and for the watch.

use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::plans::plan_verdict::{PlanFit, check_plan_fit};
use fabdeck_change::Plan;
use fabdeck_fabric::observe::Observation;

/// Message about what the plan wrote and the fabric no longer has.
pub fn drift_message(look: &Snapshot, plan: &Plan) -> Option<String> {
    match check_plan_fit(look, plan) {
        PlanFit::Applied => None,
        PlanFit::AsMade if plan.writes.is_empty() => None,
        PlanFit::AsMade => Some("all is as it was before it".to_owned()),
        PlanFit::Stale(stale) => Some(stale.words()),
    }
}

/// Findings of a certificate, by the names under which they are accepted.
fn findings(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let left = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
    let all = [
        ("unreachable", left > 0, report.lost_words(left)),
        ("loop", report.loops > 0, "packets run in a loop".to_owned()),
        (
            "cycle",
            report.deadlock_free == Some(false),
            "there is a credit loop: packets can wait for each other forever".to_owned(),
        ),
        (
            "lanes",
            !report.lane_limits.is_empty(),
            "paths are on lanes that a port on their way does not have".to_owned(),
        ),
    ];
    all.into_iter().filter(|(_, found, _)| *found).map(|(name, _, words)| (name, words)).collect()
}

/// Findings that were not accepted by name.
pub fn open_findings(report: &CertificateReport, accepted: &[String]) -> Vec<String> {
    let open = findings(report).into_iter().filter(|(name, _)| !accepted.iter().any(|word| word == name));
    open.map(|(name, words)| format!("{words} ({name})")).collect()
}

/// Whether some part of the fabric itself was not read.
pub fn hides_part(look: &Observation) -> bool {
    let silent = look.fabric.nodes().any(|(_, node)| !node.facts.answered);
    silent || look.notes.iter().any(|note| note.partial && hides_nodes(note.code))
}

/// A silent subnet manager hides no node, and neither does one that knows no path.
pub fn hides_nodes(code: &str) -> bool {
    !["FN-525", "FN-531"].contains(&code)
}
