//! The tables of a report: ports that wait, jobs that are hit, cables, events, and what the report rests on.

use super::fabric_report::FabricReport;
use super::html::HtmlWriter;
use super::page::{UNKNOWN, heading, shown_words};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::operations::health::cable_overview::{CableSummary, CableTrouble};
use crate::operations::watch::history_clock::time_text;
use fabdeck_fabric::observe::digits_in_groups;

/// Most rows of a table, of the lists of ports and jobs, of the events, and of the notes.
const MAX_ROWS: usize = 20;
const MAX_SHORT_ROWS: usize = 12;
const MAX_EVENTS: usize = 100;
const MAX_NOTES: usize = 20;

/// The heads of columns; those of numbers are at the right.
fn write_table_head(page: &mut HtmlWriter, columns: &[(&str, bool)]) {
    write_head(page, "", columns);
}

fn write_head(page: &mut HtmlWriter, class: &str, columns: &[(&str, bool)]) {
    page.open("table", &[("class", class)]);
    page.open("thead", &[]);
    page.open("tr", &[]);
    for (title, is_number) in columns {
        let class = if *is_number { "num" } else { "" };
        page.element("th", &[("scope", "col"), ("class", class)], title);
    }
    page.close();
    page.close();
    page.open("tbody", &[]);
}

fn close_table(page: &mut HtmlWriter) {
    page.close();
    page.close();
}

fn write_share(page: &mut HtmlWriter, class: &str, percent: f64) {
    write_labelled_share(page, class, percent, &[("class", "num")]);
}

fn write_labelled_share(
    page: &mut HtmlWriter,
    class: &str,
    percent: f64,
    attributes: &[(&'static str, &str)],
) {
    page.open("td", attributes);
    page.open("span", &[("class", &format!("bar {class}"))]);
    page.element("i", &[("style", &format!("width:{:.0}%", percent.clamp(0.0, 100.0)))], "");
    page.close();
    page.text(&format!("{percent:.0} %"));
    page.close();
}

pub fn write_waits(page: &mut HtmlWriter, report: &FabricReport) {
    page.open("section", &[]);
    let Some(waits) = &report.facts.ranked.waits else {
        heading(page, "Longest waits", "");
        page.element("p", &[("class", "dim")], UNKNOWN);
        page.close();
        return;
    };
    let shown = waits.rows.len().min(MAX_SHORT_ROWS);
    let unknown = match waits.ports - waits.known {
        0 => String::new(),
        some => format!("{} not known", count_words(some, "port", "ports")),
    };
    let remark: Vec<String> =
        [shown_words(shown, waits.count), unknown].into_iter().filter(|part| !part.is_empty()).collect();
    heading(page, "Longest waits", &remark.join(", "));
    if waits.rows.is_empty() {
        page.element("p", &[], "No port waits 1 % of the time.");
    } else {
        write_table_head(page, &[("PORT", false), ("ROLE", false), ("WAIT, % OF TIME", true)]);
        for row in waits.rows.iter().take(MAX_SHORT_ROWS) {
            page.open("tr", &[]);
            page.element("td", &[], &row.name);
            page.element("td", &[], row.role.map_or("·", |role| role.word()));
            write_share(page, "wait", row.share * 100.0);
            page.close();
        }
        close_table(page);
    }
    page.close();
}

pub fn write_jobs(page: &mut HtmlWriter, report: &FabricReport) {
    page.open("section", &[]);
    let Some(jobs) = &report.facts.ranked.jobs else {
        heading(page, "Jobs that are hit", "");
        page.element("p", &[("class", "dim")], UNKNOWN);
        page.close();
        return;
    };
    let shown = shown_words(jobs.hit.min(MAX_SHORT_ROWS), jobs.hit);
    let all =
        format!("{} of {} hit", digits_in_groups(jobs.hit), count_words(jobs.rows.len(), "job", "jobs"));
    let remark = if shown.is_empty() { all } else { format!("{all}, {shown}") };
    heading(page, "Jobs that are hit", &remark);
    if jobs.hit > 0 {
        write_table_head(page, &[("JOB", false), ("HOSTS", true), ("WAITING", true), ("LONGEST WAIT", true)]);
        for row in jobs.hit_rows().iter().take(MAX_SHORT_ROWS) {
            page.open("tr", &[]);
            page.element("td", &[], &row.job);
            page.element("td", &[("class", "num")], &digits_in_groups(row.hosts));
            page.element("td", &[("class", "num")], &digits_in_groups(row.waiting));
            match row.worst {
                Some(share) => write_share(page, "wait", share * 100.0),
                None => page.element("td", &[("class", "num dim")], UNKNOWN),
            }
            page.close();
        }
        close_table(page);
    }
    page.close();
}

pub fn write_cables(page: &mut HtmlWriter, report: &FabricReport) {
    let cables = &report.facts.ranked.cables;
    page.open("section", &[]);
    let trouble = format!("{} in trouble", digits_in_groups(cables.in_trouble));
    let shown = shown_words(cables.rows.len().min(MAX_ROWS), cables.cables);
    let remark: Vec<String> = [trouble, shown].into_iter().filter(|part| !part.is_empty()).collect();
    heading(page, "Cables", &format!("{}, then the busiest", remark.join(", ")));
    // On a phone each cable is a block, in which every value has its label.
    write_head(
        page,
        "stack",
        &[("CABLE", false), (STATE, false), (RATE, false), (ERRORS, true), (LOAD, true)],
    );
    for cable in cables.rows.iter().take(MAX_ROWS) {
        write_cable(page, cable);
    }
    close_table(page);
    page.element("p", &[("class", "dim")], ERRORS_REMARK);
    page.close();
}

/// The heads of columns of cables, which are the labels of values on a phone.
const STATE: &str = "STATE";
const RATE: &str = "RATE";
const ERRORS: &str = "ERRORS COUNTED";
const LOAD: &str = "LOAD";
/// Why these errors are other than those of a problem.
const ERRORS_REMARK: &str = "Errors counted: all that both ends have counted since their counters were cleared. A problem                              has those of an hour, of the end that counted more.";

fn write_cable(page: &mut HtmlWriter, cable: &CableSummary) {
    let (class, state) = match cable.trouble {
        CableTrouble::Down => ("crit", "◆ down"),
        CableTrouble::Errors => ("warn", "▲ errors"),
        CableTrouble::Degraded => ("warn", "▲ below its width or speed"),
        CableTrouble::None => ("ok", "● up"),
    };
    let [a, b] = &cable.ends;
    page.open("tr", &[]);
    page.element("td", &[], &format!("{a} ─ {b}"));
    page.open("td", &[("data-label", STATE)]);
    page.element("span", &[("class", class)], state);
    page.close();
    let rate = if cable.rate.is_empty() { UNKNOWN } else { &cable.rate };
    page.element("td", &[("data-label", RATE)], rate);
    let errors = cable.errors.map_or_else(|| UNKNOWN.to_owned(), digits_in_groups);
    page.element("td", &[("class", "num"), ("data-label", ERRORS)], &errors);
    let label = ("data-label", LOAD);
    match cable.load {
        Some(load) => write_labelled_share(page, "load", f64::from(load), &[("class", "num"), label]),
        None => page.element("td", &[("class", "num dim"), label], UNKNOWN),
    }
    page.close();
}

pub fn write_events(page: &mut HtmlWriter, report: &FabricReport) {
    let events = &report.facts.events;
    let shown = events.rows().len().min(MAX_EVENTS);
    page.open("section", &[]);
    heading(page, "Timeline", &shown_words(shown, events.count));
    if events.rows().is_empty() {
        page.element("p", &[("class", "dim")], "No event in this time.");
    } else {
        write_table_head(page, &[("TIME", false), ("EVENT", false)]);
        let skipped = events.rows().len() - shown;
        for event in events.rows().iter().skip(skipped) {
            page.open("tr", &[]);
            let time = time_text(report.facts.clock, event.at_ms, report.last_ms());
            page.element("td", &[("class", "time")], &time);
            let (class, sign) = match event.severity {
                Severity::Error => ("crit", "◆"),
                Severity::Warning => ("warn", "▲"),
                Severity::Info => ("dim", "·"),
            };
            page.open("td", &[]);
            page.element("span", &[("class", class)], sign);
            page.text(&format!(" {}", event.text));
            page.close();
            page.close();
        }
        close_table(page);
    }
    page.close();
}

/// Source, versions, times, and what was checked.
pub fn write_about(page: &mut HtmlWriter, report: &FabricReport) {
    let facts = &report.facts;
    page.open("section", &[]);
    heading(page, "What this report rests on", "");
    page.open("dl", &[("class", "facts")]);
    let mut fact = |label: &str, words: &str| {
        page.element("dt", &[], label);
        page.element("dd", &[], words);
    };
    fact("source", &facts.look.source);
    for check in &facts.checks {
        match &check.words {
            Ok(words) => fact(check.label, words),
            Err(why) => fact(check.label, &format!("{UNKNOWN}: {why}")),
        }
    }
    if let Some(engine) = facts.look.assumed {
        fact("assumed", &format!("the tables are those of {engine}; the source has none"));
    }
    let observation = &facts.look.observation;
    if observation.is_partial() {
        fact("incomplete", "a part of the fabric gave no answer; this report is about the rest");
    }
    fact("fabdeck", concat!("version ", env!("CARGO_PKG_VERSION")));
    page.element("dt", &[], "make it again");
    page.open("dd", &[]);
    page.element("code", &[], &facts.command);
    page.close();
    page.close();
    let notes: Vec<String> = observation.notes.iter().map(ToString::to_string).collect();
    if !notes.is_empty() {
        heading(page, "Notes on the reading", &shown_words(notes.len().min(MAX_NOTES), notes.len()));
        page.open("ul", &[("class", "notes")]);
        for note in notes.iter().take(MAX_NOTES) {
            page.element("li", &[], note);
        }
        page.close();
    }
    page.close();
}
