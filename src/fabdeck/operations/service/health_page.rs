//! The page of the watch service: the problems of the last sweep, without scripts. The browser loads it again by itself.

use super::watch_service::WatchedSweep;
use crate::catalogue::summary::count_words;
use crate::operations::health::problem::ProblemSeverity;
use crate::operations::report::html::HtmlWriter;
use crate::operations::report::page::{heading, open_page};
use crate::operations::report::page_problems::write_problem;
use fabdeck_fabric::observe::digits_in_groups;

/// Most problems on the page.
const MAX_PROBLEMS: usize = 100;

/// What the service serves besides this page.
const LINKS: [(&str, &str); 3] =
    [("/metrics", "metrics"), ("/health.json", "health as JSON"), ("/-/ready", "ready")];

/// The page after a sweep; `read_at` is its time in words.
pub fn write_health_page(watched: &WatchedSweep<'_>, read_at: &str) -> String {
    let mut page = HtmlWriter::default();
    let source = &watched.snapshot.source;
    open_page(&mut page, &format!("Health of {source}"), &[]);
    write_head(&mut page, watched, read_at);
    page.open("main", &[]);
    page.open("section", &[]);
    let problems = &watched.report.problems;
    let hidden = problems.len().saturating_sub(MAX_PROBLEMS);
    let remark =
        if hidden > 0 { format!("{} more in /health.json", digits_in_groups(hidden)) } else { String::new() };
    heading(&mut page, "Problems", &remark);
    if problems.is_empty() {
        page.element("p", &[("class", "ok")], "● None of the checks found a problem.");
    }
    for problem in problems.iter().take(MAX_PROBLEMS) {
        write_problem(&mut page, problem, watched.report.checks.jobs.is_ok());
    }
    page.close();
    page.close();
    write_foot(&mut page);
    page.finish()
}

/// The page before the first sweep, and while the fabric cannot be read.
pub fn write_waiting_page(words: &str) -> String {
    let mut page = HtmlWriter::default();
    open_page(&mut page, "fabdeck", &[]);
    page.open("main", &[]);
    page.element("p", &[("class", "warn")], words);
    page.close();
    write_foot(&mut page);
    page.finish()
}

fn write_head(page: &mut HtmlWriter, watched: &WatchedSweep<'_>, read_at: &str) {
    let report = watched.report;
    page.open("header", &[]);
    page.element("p", &[("class", "kicker")], "InfiniBand fabric health");
    page.element("h1", &[], &watched.snapshot.source);
    page.element("p", &[("class", "dim")], &format!("State at {read_at}."));
    let critical = report.count(ProblemSeverity::Critical);
    let warnings = count_words(report.count(ProblemSeverity::Warning), "warning", "warnings");
    let (class, words) = match (critical, report.worst()) {
        (_, None) => ("verdict ok", "● No open problem".to_owned()),
        (0, _) => ("verdict warn", format!("▲ {warnings}")),
        _ => {
            let critical = count_words(critical, "critical problem", "critical problems");
            ("verdict crit", format!("◆ {critical}, {warnings}"))
        }
    };
    page.open("div", &[("class", class)]);
    page.text(&words);
    let (links, ports) = (digits_in_groups(report.checks.links), digits_in_groups(report.checks.ports));
    page.element("small", &[], &format!("Checked: {links} cables and {ports} ports"));
    page.close();
    for row in &report.changes.rows {
        page.element("p", &[("class", "warn")], &format!("Change {}: {}", row.number, row.state_title()));
    }
    page.close();
}

fn write_foot(page: &mut HtmlWriter) {
    page.open("footer", &[]);
    for (address, words) in LINKS {
        page.element("a", &[("href", address)], words);
        page.text(" ");
    }
    page.text(concat!("fabdeck ", env!("CARGO_PKG_VERSION")));
    page.close();
}
