//! What was applied, held against the fabric as it is now: a runbook and a watch verify alike.

use crate::session::{Fit, Look, Report, fit};
use fabdeck_change::Plan;
use fabdeck_fabric::observe::Observation;

/// What of a plan does not stand in the fabric.
pub fn drifted(look: &Look, plan: &Plan) -> Option<String> {
    match fit(look, plan) {
        Fit::Applied => None,
        Fit::AsMade if plan.writes.is_empty() => None,
        Fit::AsMade => Some("all is as it was before it".to_owned()),
        Fit::Stale(stale) => Some(stale.words()),
    }
}

/// What a certificate finds, by the names under which it is taken in.
fn findings(report: &Report) -> Vec<(&'static str, String)> {
    let left = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
    let all = [
        ("unreachable", left > 0, format!("{left} pairs have no path, though cables connect them")),
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

/// What of it nobody took in by name.
pub fn open_findings(report: &Report, accepted: &[String]) -> Vec<String> {
    let open = findings(report).into_iter().filter(|(name, _)| !accepted.iter().any(|word| word == name));
    open.map(|(name, words)| format!("{words} ({name})")).collect()
}

/// Whether something of the fabric itself was not told.
pub fn hides(look: &Observation) -> bool {
    let silent = look.fabric.nodes().any(|(_, node)| !node.facts.answered);
    silent || look.notes.iter().any(|note| note.partial && hides_nodes(note.code))
}

/// A subnet manager that is silent, or gives no path where there is none, hides no node.
pub fn hides_nodes(code: &str) -> bool {
    !["FN-525", "FN-531"].contains(&code)
}
