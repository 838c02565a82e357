//! The page of a study: all figures, its tables, and what makes it again. One file, without scripts and without anything from a
//! network.

use super::figure::StudyFigure;
use super::figure_curves::crossing_place;
use super::figure_rows::{distinct, parts};
use super::plot_files::StudyPlots;
use super::plot_scale::plot_number;
use super::plot_style::{PAGE_STYLE, PLOT_STYLE};
use super::plot_svg::draw_figure;
use crate::catalogue::summary::count_words;
use crate::operations::report::html::HtmlWriter;
use crate::operations::report::page::{heading, open_page, shown_words};
use crate::operations::study::linear_fit::{FitRow, fit_rows};
use crate::operations::study::study_row::StudyRow;
use fabdeck_fabric::observe::digits_in_groups;

/// Most rows of the table of cells; `study table` has all.
const MAX_ROWS: usize = 500;

/// The page of all figures.
pub fn write_page(plots: &StudyPlots<'_>) -> String {
    let mut page = HtmlWriter::default();
    open_page(&mut page, &format!("Study: {}", plots.study.name), &[PLOT_STYLE, PAGE_STYLE]);
    write_head(&mut page, plots);
    page.open("main", &[]);
    heading(&mut page, "Figures", "each is a file of its own beside this page too");
    for figure in &plots.figures {
        write_figure(&mut page, figure);
    }
    write_fits(&mut page, &fit_rows(plots.rows));
    write_statuses(&mut page, plots.rows);
    write_cells(&mut page, plots.rows);
    write_origin(&mut page, plots);
    page.close();
    page.element(
        "footer",
        &[],
        concat!(
            "Made by fabdeck ",
            env!("CARGO_PKG_VERSION"),
            ". This page needs no network and no scripts."
        ),
    );
    page.finish()
}

fn write_figure(page: &mut HtmlWriter, figure: &StudyFigure) {
    page.open("figure", &[("class", "drawing scroll")]);
    draw_figure(page, figure);
    page.close();
}

fn write_head(page: &mut HtmlWriter, plots: &StudyPlots<'_>) {
    page.open("header", &[]);
    page.element("p", &[("class", "kicker")], "Study of routing engines");
    page.element("h1", &[], &plots.study.name);
    page.element("p", &[("class", "dim")], &plots.study.about);
    page.open("dl", &[("class", "tiles")]);
    let of = format!("of {}", count_words(plots.cells as usize, "cell", "cells"));
    let topologies = distinct(plots.rows.iter(), |row| row.topology.as_str()).len();
    let engines = distinct(plots.rows.iter(), |row| row.engine.as_str()).len();
    for (label, value, remark) in [
        ("Results", plots.rows.len(), of.as_str()),
        ("Topologies", topologies, ""),
        ("Engines", engines, ""),
        ("Figures", plots.figures.len(), ""),
    ] {
        page.open("div", &[("class", "tile")]);
        page.element("dt", &[], label);
        page.open("dd", &[]);
        page.text(&digits_in_groups(value));
        page.element("small", &[], remark);
        page.close();
        page.close();
    }
    page.close();
    page.close();
}

/// Begins a table, whose columns of numbers are at the right.
fn open_table(page: &mut HtmlWriter, columns: &[(&str, bool)]) {
    page.open("div", &[("class", "scroll")]);
    page.open("table", &[]);
    page.open("thead", &[]);
    page.open("tr", &[]);
    for (title, is_number) in columns {
        page.element("th", &[("scope", "col"), ("class", class_of(*is_number))], title);
    }
    page.close();
    page.close();
    page.open("tbody", &[]);
}

fn class_of(is_number: bool) -> &'static str {
    if is_number { "num" } else { "" }
}

fn close_table(page: &mut HtmlWriter) {
    for _ in 0..3 {
        page.close();
    }
}

fn write_row(page: &mut HtmlWriter, columns: &[(&str, bool)], values: &[String]) {
    page.open("tr", &[]);
    for ((_, is_number), value) in columns.iter().zip(values) {
        page.element("td", &[("class", class_of(*is_number))], value);
    }
    page.close();
}

fn known(number: Option<f64>) -> String {
    number.map_or_else(String::new, plot_number)
}

fn count(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| digits_in_groups(number).to_string())
}

const FIT_COLUMNS: [(&str, bool); 9] = [
    ("Topology", false),
    ("Measure", false),
    ("Engine", false),
    ("Lanes", true),
    ("Intercept, Gbyte/s", true),
    ("Slope a failure", true),
    ("± 95 %", true),
    ("R²", true),
    ("Crossed by", false),
];

fn write_fits(page: &mut HtmlWriter, fits: &[FitRow]) {
    if fits.is_empty() {
        return;
    }
    heading(page, "Fits", "throughput over the number of failures, least squares");
    open_table(page, &FIT_COLUMNS);
    for row in fits {
        let crossing = row.crossing.as_ref();
        let crossing = crossing.map_or_else(String::new, |crossing| {
            format!("{} at {}", crossing.engine, crossing_place(crossing))
        });
        write_row(
            page,
            &FIT_COLUMNS,
            &[
                row.topology.clone(),
                row.pattern.clone(),
                row.engine.clone(),
                row.lanes_asked.to_string(),
                plot_number(row.fit.intercept),
                plot_number(row.fit.slope),
                known(row.fit.slope_margin),
                row.fit.r2.map_or_else(String::new, |r2| format!("{r2:.2}")),
                crossing,
            ],
        );
    }
    close_table(page);
}

const STATUS_COLUMNS: [(&str, bool); 4] =
    [("Topology", false), ("Engine", false), ("Status", false), ("Cells", true)];

/// What came of the cells, by topology and engine.
fn write_statuses(page: &mut HtmlWriter, rows: &[StudyRow]) {
    heading(page, "Cells by status", "");
    open_table(page, &STATUS_COLUMNS);
    let keys = |row: &&StudyRow| (row.topology.clone(), row.engine.clone(), row.status.word());
    for ((topology, engine, status), rows) in parts(rows.iter(), keys).into_iter().take(MAX_ROWS) {
        let cells = digits_in_groups(rows.len()).to_string();
        write_row(page, &STATUS_COLUMNS, &[topology, engine, status.to_owned(), cells]);
    }
    close_table(page);
}

const CELL_COLUMNS: [(&str, bool); 11] = [
    ("Topology", false),
    ("Failed links", true),
    ("Failed switches", true),
    ("Seed", true),
    ("Engine", false),
    ("Lanes", true),
    ("Measure", false),
    ("Status", false),
    ("Index", true),
    ("Gbyte/s", true),
    ("Latency, ns", true),
];

fn write_cells(page: &mut HtmlWriter, rows: &[StudyRow]) {
    heading(page, "Cells", &shown_words(rows.len().min(MAX_ROWS), rows.len()));
    page.open("details", &[]);
    page.element("summary", &[], "Table of the cells");
    open_table(page, &CELL_COLUMNS);
    for row in rows.iter().take(MAX_ROWS) {
        write_row(
            page,
            &CELL_COLUMNS,
            &[
                row.topology.clone(),
                count(Some(row.link_faults)),
                count(Some(row.switch_faults)),
                row.fault_seed.map_or_else(String::new, |seed| seed.to_string()),
                row.engine.clone(),
                row.lanes_asked.to_string(),
                row.pattern.clone(),
                row.status.word().to_owned(),
                count(row.efi_max),
                known(row.throughput_gbyte_s),
                count(row.latency_mean_ns),
            ],
        );
    }
    close_table(page);
    page.close();
}

/// Seeds, versions, and the commands that make the page again.
fn write_origin(page: &mut HtmlWriter, plots: &StudyPlots<'_>) {
    heading(page, "How to make this again", "");
    page.open("pre", &[]);
    page.lines(&plots.commands);
    page.close();
    let versions = distinct(plots.rows.iter(), |row| row.version.clone()).join(", ");
    page.open("dl", &[("class", "facts")]);
    for (label, value) in [
        ("Seeds of failures", seed_words(plots.rows.iter().filter_map(|row| row.fault_seed))),
        ("Seeds of traffic", seed_words(plots.rows.iter().filter_map(|row| row.traffic_seed))),
        ("Revisions", format!("{versions} (generator, engines, simulator)")),
        ("Version", concat!("fabdeck ", env!("CARGO_PKG_VERSION")).to_owned()),
    ] {
        page.element("dt", &[], label);
        page.element("dd", &[], &value);
    }
    page.close();
    page.open("details", &[]);
    page.element("summary", &[], "The study file");
    page.open("pre", &[]);
    page.lines(plots.text);
    page.close();
    page.close();
}

/// Seeds in ranges, `1 to 10, 12`.
fn seed_words(seeds: impl Iterator<Item = u64>) -> String {
    let mut seeds: Vec<u64> = seeds.collect();
    seeds.sort_unstable();
    seeds.dedup();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for seed in seeds {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == seed => *last = seed,
            _ => ranges.push((seed, seed)),
        }
    }
    let words = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    match ranges.is_empty() {
        true => "none".to_owned(),
        false => ranges.iter().map(words).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_ranges() {
        assert_eq!(seed_words([3, 1, 2, 2, 7].into_iter()), "1 to 3, 7");
        assert_eq!(seed_words([].into_iter()), "none");
    }
}
