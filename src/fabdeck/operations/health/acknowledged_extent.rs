//! How bad a problem was when it was acknowledged. An acknowledgement covers the problem as it was: once the problem is
//! worse, it counts again.
//!
//! | worse | before | now |
//! |---|---|---|
//! | severity | warning | critical |
//! | sign of a bad cable | errors | flaps, a reduced rate |
//! | | flaps | a reduced rate |
//! | who waits | hosts of no running job | hosts of one |

use super::problem::{CableSign, FabricProblem, ProblemKind, ProblemSeverity};
use fabdeck_files::capture_format::ProblemExtent;

/// How bad a problem is now.
pub fn extent_of(problem: &FabricProblem) -> ProblemExtent {
    ProblemExtent {
        severity: problem.severity.word().to_owned(),
        sign: problem.sign.map(|sign| sign.word().to_owned()),
        hits_job: hits_job(problem),
    }
}

/// Whether a problem is worse than it was. What was not known then, or is a word of a later version, is no reason.
pub fn is_worse(problem: &FabricProblem, then: &ProblemExtent) -> bool {
    let is_severe =
        problem.severity == ProblemSeverity::Critical && then.severity == ProblemSeverity::Warning.word();
    let sign_then = CableSign::ALL.into_iter().find(|sign| then.sign.as_deref() == Some(sign.word()));
    let has_worse_sign = sign_then.zip(problem.sign).is_some_and(|(then, now)| now > then);
    let newly_hits_job = then.hits_job == Some(false) && hits_job(problem) == Some(true);
    is_severe || has_worse_sign || newly_hits_job
}

/// Whether hosts of a running job wait. The jobs whose paths cross a cable are another thing: they change with every job.
fn hits_job(problem: &FabricProblem) -> Option<bool> {
    match problem.kind {
        ProblemKind::HotSpot | ProblemKind::NarrowLinks | ProblemKind::Stalled => {
            problem.hits.jobs.as_ref().map(|jobs| !jobs.is_empty())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::health::problem::{HitJob, NextStep, ProblemCause, ProblemHits};

    fn problem(kind: ProblemKind, severity: ProblemSeverity, sign: Option<CableSign>) -> FabricProblem {
        FabricProblem {
            id: "p".to_owned(),
            kind,
            severity,
            elements: Vec::new(),
            title: String::new(),
            cause: ProblemCause::unknown(""),
            sign,
            hits: ProblemHits::default(),
            next: NextStep { text: String::new(), command: String::new() },
            acknowledged: None,
            worse_since: None,
            history: None,
        }
    }

    fn job(job: &str) -> HitJob {
        HitJob { job: job.to_owned(), hosts: 1, paths: 0 }
    }

    #[test]
    fn a_problem_is_worse_by_severity_sign_or_job() {
        use CableSign::{Errors, Flaps, ReducedRate};
        use ProblemSeverity::{Critical, Warning};
        let cable = |severity, sign| problem(ProblemKind::LinkErrors, severity, Some(sign));
        let worse = |now: &FabricProblem, then: &FabricProblem| is_worse(now, &extent_of(then));
        let all = [cable(Warning, Errors), cable(Warning, Flaps), cable(Warning, ReducedRate)];
        for (at, then) in all.iter().enumerate() {
            for (place, now) in all.iter().enumerate() {
                assert_eq!(worse(now, then), place > at, "{now:?} after {then:?}");
            }
        }
        assert!(worse(&cable(Critical, Errors), &cable(Warning, Errors)));
        assert!(!worse(&cable(Warning, Errors), &cable(Critical, Errors)));
        let hot = |jobs: Option<Vec<HitJob>>| {
            let mut hot = problem(ProblemKind::HotSpot, Critical, None);
            hot.hits.jobs = jobs;
            hot
        };
        let (unknown, none, one, other) =
            (hot(None), hot(Some(Vec::new())), hot(Some(vec![job("1")])), hot(Some(vec![job("2")])));
        assert!(worse(&one, &none));
        assert!(!worse(&one, &unknown) && !worse(&none, &one) && !worse(&other, &one));
        // A word of a later version is no reason.
        let later =
            ProblemExtent { severity: "dire".to_owned(), sign: Some("smoke".to_owned()), hits_job: None };
        assert!(!is_worse(&cable(Critical, ReducedRate), &later));
    }
}
