//! The problems of a report: what is wrong, why, who is hit, and what to do next.

use super::fabric_report::FabricReport;
use super::html::HtmlWriter;
use super::page::{heading, shown_words};
use crate::operations::health::problem::{
    Certainty, FabricProblem, HitHost, HitRole, ProblemHits, ProblemKind, ProblemSeverity,
};
use fabdeck_fabric::observe::digits_in_groups;

/// Most problems, and in the next constant most hosts of a role and jobs of a problem.
const MAX_PROBLEMS: usize = 50;
const MAX_NAMES: usize = 16;

pub fn write_problems(page: &mut HtmlWriter, report: &FabricReport) {
    let ranked = &report.facts.ranked;
    page.open("section", &[]);
    heading(page, "Problems", &problem_count(report));
    if ranked.problems.is_empty() {
        page.element("p", &[("class", "ok")], "● None of the checks found a problem.");
    }
    for problem in ranked.problems.iter().take(MAX_PROBLEMS) {
        write_problem(page, problem, ranked.jobs.is_some());
    }
    page.close();
}

fn problem_count(report: &FabricReport) -> String {
    let ranked = &report.facts.ranked;
    let all = ranked.problems.len();
    let acknowledged = match ranked.acknowledged {
        0 => String::new(),
        some => format!("{} acknowledged", digits_in_groups(some)),
    };
    let order = if all > 1 { "the worst first".to_owned() } else { String::new() };
    let parts = [shown_words(MAX_PROBLEMS.min(all), all), order, acknowledged];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The card of a problem.
pub fn write_problem(page: &mut HtmlWriter, problem: &FabricProblem, jobs_known: bool) {
    let (class, sign) = match (problem.severity, &problem.acknowledged) {
        (_, Some(_)) => ("", "● acknowledged"),
        (ProblemSeverity::Critical, None) => ("crit", "◆ critical"),
        (ProblemSeverity::Warning, None) => ("warn", "▲ warning"),
    };
    page.open("article", &[("class", &format!("card {class}")), ("id", &problem.id)]);
    page.open("h3", &[]);
    page.element("span", &[("class", &format!("sign {class}"))], sign);
    page.text(&problem.title);
    page.close();
    page.open("dl", &[]);
    page.element("dt", &[], "Cause");
    page.open("dd", &[]);
    let certainty = match problem.cause.certainty {
        Certainty::Sure => "sure",
        Certainty::Likely => "likely",
        Certainty::Unknown => "not known",
    };
    page.element("span", &[("class", "sure")], certainty);
    page.text(&problem.cause.text);
    page.close();
    write_hits(page, (problem.kind, &problem.hits), jobs_known);
    if let Some(history) = &problem.history {
        page.element("dt", &[], "History");
        page.element("dd", &[], history);
    }
    page.element("dt", &[], "Next step");
    page.open("dd", &[]);
    page.text(&problem.next.text);
    page.open("br", &[]);
    page.element("code", &[], &problem.next.command);
    page.close();
    if let Some(by) = &problem.acknowledged {
        let note = by.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        page.element("dt", &[], "Acknowledged");
        page.element("dd", &[], &format!("by {} at {}{note}", by.by, by.at));
    }
    page.close();
    page.close();
}

fn write_hits(page: &mut HtmlWriter, (kind, hits): (ProblemKind, &ProblemHits), jobs_known: bool) {
    page.element("dt", &[], "Hits");
    page.open("dd", &[]);
    if hits.hosts.is_empty() && hits.paths.is_none() {
        page.text("No host is known to be hit. ");
    }
    for role in HitRole::ALL {
        let own: Vec<&HitHost> = hits.hosts.iter().filter(|host| host.role == role).collect();
        if own.is_empty() {
            continue;
        }
        page.open("div", &[]);
        page.text(&format!("{} {} ", digits_in_groups(own.len()), role.words_of(own.len())));
        for host in own.iter().take(MAX_NAMES) {
            page.open("span", &[("class", "chip")]);
            page.text(&host.host);
            if let Some(share) = host.time_waited {
                page.element("b", &[], &format!(" {:.0} %", share * 100.0));
            }
            page.close();
        }
        write_more(page, own.len());
        page.close();
    }
    if let Some(paths) = hits.paths_words(kind) {
        page.element("div", &[], &paths);
    }
    page.close();
    page.element("dt", &[], "Jobs");
    page.open("dd", &[]);
    match hits.jobs.as_deref() {
        Some([]) => page.text("no job"),
        Some(jobs) => {
            for job in jobs.iter().take(MAX_NAMES) {
                page.element("span", &[("class", "chip")], &job.job);
            }
            write_more(page, jobs.len());
        }
        None if jobs_known => page.text("not counted for this problem"),
        None => page.text(super::page::UNKNOWN),
    }
    page.close();
}

fn write_more(page: &mut HtmlWriter, all: usize) {
    let words = shown_words(MAX_NAMES.min(all), all);
    if !words.is_empty() {
        page.element("span", &[("class", "dim")], &words);
    }
}
