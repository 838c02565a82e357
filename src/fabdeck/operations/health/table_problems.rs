//! Problems of the current tables, as their certificate has them: pairs without a path, and credit loops.

use super::problem::{FabricProblem, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use crate::catalogue::summary::count_words;
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
            self.lost_by_choice(report),
            self.loops_by_choice(report),
            self.credit_loop(report),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn cut_off_pairs(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let (pairs, cut_off) = (report.by_cause.cut_off, pairs_with(&report.lost, true));
        let title = format!("{} of end ports are joined by no cable", pair_words(pairs));
        let cause = match self.look.observation.is_partial() {
            true => ProblemCause::likely(format!("part of the fabric did not answer{cut_off}")),
            false => ProblemCause::sure(format!("cables or switches between them are missing{cut_off}")),
        };
        (pairs > 0).then(|| self.table_problem("cut-off", ProblemSeverity::Critical, title, cause, pairs))
    }

    fn lost_paths(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let (pairs, lost) =
            (report.unreachable.saturating_sub(report.by_cause.cut_off), pairs_with(&report.lost, false));
        let title = format!("{} of end ports have no path, though cables join them", pair_words(pairs));
        let by_cause = &report.by_cause;
        let counts = [
            (by_cause.no_route, "have no entry on the path"),
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
        let title =
            format!("{} of end ports have paths to some LIDs of the destination only", pair_words(pairs));
        let cause = ProblemCause::sure("tables lack entries for the other LIDs");
        (pairs > 0).then(|| self.table_problem("some-lids", ProblemSeverity::Warning, title, cause, pairs))
    }

    /// Paths that adaptive routing can lose, though the static port of every entry leads to its host.
    fn lost_by_choice(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let choices = report.choices.as_ref()?;
        let (paths, always) = (choices.lost_paths, choices.always_lost_paths);
        let of = format!("{} of {} paths", digits_in_groups(paths), digits_in_groups(choices.paths));
        let title = format!("{of} can be lost by a choice of adaptive routing");
        let every = match always {
            0 => String::new(),
            some => format!("; {} of them by every choice", digits_in_groups(some)),
        };
        let named: Vec<&str> = choices.lost_examples.iter().take(MAX_NAMED).map(String::as_str).collect();
        let such_as =
            if named.is_empty() { String::new() } else { format!(", such as {}", named.join(", ")) };
        let text = format!("sets of ports have one that does not lead to the host{such_as}{every}");
        let (severity, cause) = (ProblemSeverity::Warning, ProblemCause::sure(text));
        (paths > 0).then(|| self.table_problem("choices", severity, title, cause, paths))
    }

    fn loops_by_choice(&self, report: &CertificateReport) -> Option<FabricProblem> {
        let choices = report.choices.as_ref()?;
        let loops = usize::try_from(choices.loops).unwrap_or(usize::MAX);
        let first = choices.loop_examples.first().map(|switches| switches.join(", ")).unwrap_or_default();
        let title =
            format!("adaptive routing can send packets around {}", count_words(loops, "loop", "loops"));
        let cause = ProblemCause::sure(format!("sets of ports lead back to where packets were: {first}"));
        let problem = || {
            let severity = ProblemSeverity::Warning;
            let problem = self.table_problem("choice-loops", severity, title, cause, choices.loops);
            // Loops are no paths, and how many pairs run into them is not counted.
            FabricProblem {
                hits: ProblemHits::default(),
                next: self.step("see the switches of these loops", "check"),
                ..problem
            }
        };
        (loops > 0).then(problem)
    }

    /// A credit loop of the current tables: nothing may wait now.
    fn credit_loop(&self, report: &CertificateReport) -> Option<FabricProblem> {
        if report.deadlock_free != Some(false) {
            return None;
        }
        let by_choices = report.choices.is_some();
        let channels = report.cycle.as_deref().unwrap_or_default();
        let more = if channels.len() > MAX_NAMED { ", ..." } else { "" };
        let named = channels.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let text = format!("{} channels can wait for each other: {named}{more}", channels.len());
        Some(FabricProblem {
            id: format!("{}:{named}", ProblemKind::CreditLoop.word()),
            kind: ProblemKind::CreditLoop,
            severity: ProblemSeverity::Warning,
            elements: Vec::new(),
            title: match by_choices {
                true => {
                    "choices of adaptive routing close a credit loop, so packets can block each other forever"
                }
                false => "the current tables have a credit loop, so packets can block each other forever",
            }
            .to_owned(),
            // The lanes of paths decide, and they are not always stated.
            cause: match report.lanes_from {
                "level 0 assumed" => {
                    ProblemCause::likely(format!("{text}; if all paths have service level 0"))
                }
                _ => ProblemCause::sure(text),
            },
            hits: ProblemHits::default(),
            // Engines have no answer for switches that choose among ports.
            next: match by_choices {
                true => self.step("see the channels of the loop", "check"),
                false => self.step("compare engines whose routes have none", "whatif"),
            },
            acknowledged: None,
            worse_since: None,
            history: None,
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
            history: None,
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
