//! Problems of the current tables, as their certificate has them: pairs without a path, and credit loops.

use super::problem::{FabricProblem, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use crate::operations::check::judgement::{CUT_OFF, CertificateReport, UnreachablePair};
use fabdeck_fabric::observe::digits_in_groups;

/// Most pairs, or channels of a credit loop, that a cause names.
const MAX_NAMED: usize = 3;

impl HealthFacts<'_> {
    /// The problems of the current tables. Assumed tables are not those of the switches.
    pub(super) fn table_problems(&self) -> Vec<FabricProblem> {
        let Some(report) = self.certificate.filter(|_| self.look.assumed.is_none()) else {
            return Vec::new();
        };
        [
            self.cut_off_pairs(report),
            self.lost_paths(report),
            self.partly_reached(report),
            self.credit_loop(report),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn cut_off_pairs(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let (pairs, cut_off) = (report.by_cause.cut_off, pairs_with(&report.lost, true));
        let title = format!("{} of hosts are joined by no cable", pair_words(pairs));
        let cause = match self.look.observation.is_partial() {
            true => ProblemCause::likely(format!("part of the fabric did not answer{cut_off}")),
            false => ProblemCause::sure(format!("cables or switches between them are missing{cut_off}")),
        };
        (pairs > 0).then(|| self.table_problem("cut-off", ProblemSeverity::Critical, title, cause, pairs))
    }

    fn lost_paths(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let (pairs, lost) =
            (report.unreachable.saturating_sub(report.by_cause.cut_off), pairs_with(&report.lost, false));
        let title = format!("{} of hosts have no path, though cables join them", pair_words(pairs));
        let by_cause = &report.by_cause;
        let counts = [
            (by_cause.no_route, "have no entry on the way"),
            (by_cause.dead_end, "end at a wrong port"),
            (by_cause.in_loop, "run in a loop"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{} {words}", digits_in_groups(count)))
            .collect();
        let cause = ProblemCause::sure(format!("{}{lost}", counts.join(", ")));
        (pairs > 0).then(|| self.table_problem("no-path", ProblemSeverity::Critical, title, cause, pairs))
    }

    fn partly_reached(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let pairs = report.partly_reached;
        let title = format!("{} of hosts have paths to some LIDs of the destination only", pair_words(pairs));
        let cause = ProblemCause::sure("tables lack entries for the other LIDs");
        (pairs > 0).then(|| self.table_problem("some-lids", ProblemSeverity::Warning, title, cause, pairs))
    }

    /// A credit loop of the current tables: nothing may wait now.
    fn credit_loop(&self, report: &CertificateReport) -> Option<FabricProblem> {
        if report.deadlock_free != Some(false) {
            return None;
        }
        let channels = report.cycle.as_deref().unwrap_or_default();
        let more = if channels.len() > MAX_NAMED { ", ..." } else { "" };
        let named = channels.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let text = format!("{} channels can wait for each other: {named}{more}", channels.len());
        Some(FabricProblem {
            id: format!("{}:{named}", ProblemKind::CreditLoop.word()),
            kind: ProblemKind::CreditLoop,
            severity: ProblemSeverity::Warning,
            elements: Vec::new(),
            title: "the current tables have a credit loop, so packets can block each other forever"
                .to_owned(),
            // The lanes of paths decide, and they are not always stated.
            cause: match report.lanes_from {
                "level 0 assumed" => {
                    ProblemCause::likely(format!("{text}; if all paths have service level 0"))
                }
                _ => ProblemCause::sure(text),
            },
            hits: ProblemHits::default(),
            next: self.step("compare engines whose routes have none", "whatif"),
            acknowledged: None,
            worse_since: None,
            sign: None,
        })
    }

    fn table_problem(
        &self,
        what: &str,
        severity: ProblemSeverity,
        title: String,
        cause: ProblemCause,
        pairs: u64,
    ) -> FabricProblem {
        let kind = ProblemKind::LostPaths;
        FabricProblem {
            // Another number of pairs is another problem: an acknowledgement covers no further pair.
            id: format!("{}:{what}:{pairs}", kind.word()),
            kind,
            severity,
            elements: Vec::new(),
            title,
            cause,
            hits: ProblemHits { paths: Some(pairs), ..ProblemHits::default() },
            next: self.step("see the first of these pairs by name", "check"),
            acknowledged: None,
            worse_since: None,
            sign: None,
        }
    }
}

fn pair_words(pairs: u64) -> String {
    format!("{} {}", digits_in_groups(pairs), if pairs == 1 { "pair" } else { "pairs" })
}

/// The first pairs by name, those that no cable joins or the others.
fn pairs_with(lost: &[UnreachablePair], cut_off: bool) -> String {
    let own = lost.iter().filter(|pair| (pair.cause == CUT_OFF) == cut_off);
    let names: Vec<String> =
        own.take(MAX_NAMED).map(|pair| format!("{} to {}", pair.from, pair.to)).collect();
    if names.is_empty() { String::new() } else { format!("; such as {}", names.join(", ")) }
}
