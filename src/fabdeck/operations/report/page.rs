//! The page of a report: one file, without scripts and without anything from a network.

use super::fabric_report::FabricReport;
use super::html::HtmlWriter;
use super::page_charts::write_charts;
use super::page_map::write_map;
use super::page_problems::write_problems;
use super::page_style::STYLE;
use super::page_tables::{write_about, write_cables, write_events, write_jobs, write_waits};
use crate::catalogue::quantity_words::short_number;
use crate::catalogue::summary::{FabricSummary, count_words};
use fabdeck_fabric::observe::digits_in_groups;

/// Refuses everything but styles of the page itself, also if the page is edited later.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The report as an HTML page.
pub fn write_page(report: &FabricReport) -> String {
    let mut page = HtmlWriter::default();
    open_page(&mut page, &format!("Fabric report: {}", report.facts.look.source), &[]);
    write_head(&mut page, report);
    page.open("main", &[]);
    write_problems(&mut page, report);
    write_charts(&mut page, report);
    write_map(&mut page, report);
    page.open("div", &[("class", "columns")]);
    write_waits(&mut page, report);
    write_jobs(&mut page, report);
    page.close();
    write_cables(&mut page, report);
    write_events(&mut page, report);
    write_about(&mut page, report);
    page.close();
    page.open("footer", &[]);
    page.text(concat!(
        "Made by fabdeck ",
        env!("CARGO_PKG_VERSION"),
        ". This page needs no network and no scripts."
    ));
    page.finish()
}

/// Begins a page with its head: the styles of reports, and those of the page.
pub fn open_page(page: &mut HtmlWriter, title: &str, styles: &[&'static str]) {
    page.constant("<!DOCTYPE html>\n");
    page.open("html", &[("lang", "en")]);
    page.open("head", &[]);
    page.open("meta", &[("charset", "utf-8")]);
    page.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    page.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
    page.open("meta", &[("name", "generator"), ("content", concat!("fabdeck ", env!("CARGO_PKG_VERSION")))]);
    page.element("title", &[], title);
    page.open("style", &[]);
    page.constant(STYLE);
    for style in styles {
        page.constant(style);
    }
    page.close();
    page.close();
    page.open("body", &[]);
}

/// A heading of a section with a remark behind it.
pub fn heading(page: &mut HtmlWriter, title: &str, remark: &str) {
    page.open("h2", &[]);
    page.text(title);
    if !remark.is_empty() {
        page.element("span", &[], remark);
    }
    page.close();
}

/// How many rows of a list are shown: `20 of 1,402 shown`, or nothing where all are.
pub fn shown_words(shown: usize, all: usize) -> String {
    match shown < all {
        true => format!("{} of {} shown", digits_in_groups(shown), digits_in_groups(all)),
        false => String::new(),
    }
}

/// Text for a value that is not known.
pub const UNKNOWN: &str = "○ not known";

fn write_head(page: &mut HtmlWriter, report: &FabricReport) {
    let (facts, ranked) = (&report.facts, &report.facts.ranked);
    page.open("header", &[]);
    page.element("p", &[("class", "kicker")], "InfiniBand fabric report");
    page.element("h1", &[], &facts.look.source);
    let time = facts.clock.and_then(|clock| clock.date_text(report.last_ms()));
    let time = time.map(|time| format!("State at {time}. ")).unwrap_or_default();
    let written =
        facts.written.as_ref().map(|written| format!("Report written {written}. ")).unwrap_or_default();
    page.element("p", &[("class", "dim")], &format!("{time}{written}"));
    let (class, words) = match (ranked.critical, ranked.warnings) {
        (0, 0) => ("verdict ok", "● No open problem".to_owned()),
        (0, some) => ("verdict warn", format!("▲ {}", count_words(some, "warning", "warnings"))),
        (some, warnings) => {
            let critical = count_words(some, "critical problem", "critical problems");
            let warnings = match warnings {
                0 => String::new(),
                some => format!(", {}", count_words(some, "warning", "warnings")),
            };
            ("verdict crit", format!("◆ {critical}{warnings}"))
        }
    };
    page.open("div", &[("class", class)]);
    page.text(&words);
    let worst = ranked.problems.iter().find(|problem| problem.acknowledged.is_none());
    let (cables, ports) = (digits_in_groups(ranked.links), digits_in_groups(ranked.ports));
    let checked = format!("Checked: {cables} cables and {ports} ports");
    page.element("small", &[], worst.map_or(&checked, |problem| &problem.title));
    page.close();
    write_tiles(page, report);
    page.close();
}

/// The numbers of the fabric.
fn write_tiles(page: &mut HtmlWriter, report: &FabricReport) {
    let (facts, ranked) = (&report.facts, &report.facts.ranked);
    let summary = FabricSummary::from_snapshot(&facts.look);
    page.open("dl", &[("class", "tiles")]);
    let hosts = match summary.aggregation {
        0 => String::new(),
        some => format!("and {}", count_words(some, "aggregation node", "aggregation nodes")),
    };
    let cabled = count_words(summary.links, "cable", "cables");
    tile(page, "Switches", Some(digits_in_groups(summary.switches)), &cabled);
    tile(page, "Hosts", Some(digits_in_groups(summary.hosts - summary.aggregation)), &hosts);
    let sums = facts.history.latest().map(|(_, sums)| sums);
    let traffic = sums.and_then(|sums| sums.traffic_gbps);
    let traffic = traffic.map(|gbps| match gbps {
        gbps if gbps >= 999.5 => format!("{} Tb/s", short_number(gbps / 1000.0)),
        gbps => format!("{} Gb/s", short_number(gbps)),
    });
    tile(page, "Traffic of hosts", traffic, "last interval");
    let wait = sums.and_then(|sums| sums.worst_wait).map(|percent| format!("{percent:.0} %"));
    let waiting =
        ranked.waits.as_ref().map(|waits| format!("{} wait", count_words(waits.count, "port", "ports")));
    tile(page, "Longest wait", wait, &waiting.unwrap_or_default());
    let errors = sums.and_then(|sums| sums.errors_per_s).map(|rate| format!("{} /s", short_number(rate)));
    tile(page, "Link errors", errors, "last interval");
    let cables = &ranked.cables;
    let of = format!("of {}", digits_in_groups(cables.cables));
    tile(page, "Cables in trouble", Some(digits_in_groups(cables.in_trouble)), &of);
    page.close();
}

fn tile(page: &mut HtmlWriter, label: &str, value: Option<String>, remark: &str) {
    page.open("div", &[("class", "tile")]);
    page.element("dt", &[], label);
    match value {
        Some(value) => {
            page.open("dd", &[]);
            page.text(&value);
            page.element("small", &[], remark);
            page.close();
        }
        None => page.element("dd", &[("class", "unknown")], UNKNOWN),
    }
    page.close();
}
