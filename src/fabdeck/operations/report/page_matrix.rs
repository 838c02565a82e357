//! The map of a fabric with too many cables for lines: the pairs of its groups, or its switches as squares.

use super::fabric_report::ReportMap;
use super::html::{HtmlWriter, number};
use super::page::shown_words;
use super::page_map::{figure_words, shorten, step_class};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::fabric_map::groups::GroupKind;
use crate::operations::fabric_map::pair_table::PairTable;

/// Side of a cell, and the room of names at the left and at the top.
const CELL: f64 = 30.0;
const LABELS: f64 = 110.0;
const TOP_LABELS: f64 = 92.0;
/// Side of the square of a switch, and their number in a row.
const SQUARE: f64 = 18.0;
const SQUARES: usize = 40;
/// Most switches that are squares.
const MAX_SQUARES: usize = 2000;

/// Rows send, columns receive; a cell is the worst port on the paths between two groups.
pub fn write_matrix(page: &mut HtmlWriter, look: &Snapshot, map: &ReportMap, pairs: &PairTable) {
    let word = map.structure.groups.kind.words()[0];
    let name = |name: &str| match map.structure.groups.kind {
        GroupKind::Switches => name.to_owned(),
        _ => format!("{word} {name}"),
    };
    let (columns, rows) = (pairs.columns.len() as f64, pairs.rows.len() as f64);
    let (width, height) = (LABELS + columns * CELL + 70.0, TOP_LABELS + rows * CELL + 8.0);
    let view = format!("0 0 {} {}", number(width), number(height));
    let style = format!("min-width:{}px;max-width:{}px", number(width * 0.75), number(width * 1.2));
    let label = "Pairs of groups: rows send, columns receive";
    page.open("svg", &[("viewBox", &view), ("style", &style), ("role", "img"), ("aria-label", label)]);
    page.element("text", &[("class", "small left"), ("x", "4"), ("y", "16")], "rows send,");
    page.element("text", &[("class", "small left"), ("x", "4"), ("y", "30")], "columns receive");
    for (at, column) in pairs.columns.iter().enumerate() {
        let (x, y) = (LABELS + (at as f64 + 0.6) * CELL, TOP_LABELS - 8.0);
        let turn = format!("rotate(-50 {} {})", number(x), number(y));
        let [x, y] = [x, y].map(number);
        let text = shorten(&name(&column.name), 14);
        page.element("text", &[("class", "small left"), ("x", &x), ("y", &y), ("transform", &turn)], &text);
    }
    for (at, row) in pairs.rows.iter().enumerate() {
        let [x, y] = [LABELS - 8.0, TOP_LABELS + (at as f64 + 0.5) * CELL + 4.0].map(number);
        page.element(
            "text",
            &[("class", "small right"), ("x", &x), ("y", &y)],
            &shorten(&name(&row.name), 16),
        );
        for column in 0..pairs.columns.len() {
            draw_cell(page, look, map, pairs, (at, column));
        }
    }
    page.close();
}

fn draw_cell(
    page: &mut HtmlWriter,
    look: &Snapshot,
    map: &ReportMap,
    pairs: &PairTable,
    (row, column): (usize, usize),
) {
    let (x, y) = (LABELS + column as f64 * CELL, TOP_LABELS + row as f64 * CELL);
    let cell = pairs.cell(row, column);
    let class = cell.map_or("unknown".to_owned(), |(_, figures)| step_class(&figures, map.quantity));
    let side = number(CELL - 2.0);
    let [left, top] = [x + 1.0, y + 1.0].map(number);
    let shape = [
        ("class", &*format!("cell {class}")),
        ("x", &left),
        ("y", &top),
        ("width", &side),
        ("height", &side),
        ("rx", "3"),
    ];
    page.open("rect", &shape);
    let words = match cell {
        Some((port, figures)) => {
            format!("{}: {}", look.port_name(port), figure_words(&figures, map.quantity))
        }
        None => "not known".to_owned(),
    };
    let (from, to) = (&pairs.rows[row].name, &pairs.columns[column].name);
    page.element("title", &[], &format!("{from} to {to}: {words}"));
    page.close();
    let text = cell.and_then(|(_, figures)| figures.short_text(map.quantity?)).filter(|text| text != "0");
    if let Some(text) = text {
        let [x, y] = [x + CELL / 2.0, y + CELL / 2.0 + 4.0].map(number);
        page.element("text", &[("class", &format!("figure {class}")), ("x", &x), ("y", &y)], &text);
    }
}

/// The switches of each rank as squares.
pub fn write_switch_squares(page: &mut HtmlWriter, look: &Snapshot, map: &ReportMap) {
    let switches = &map.structure.switches;
    let rows: usize = map.structure.ranks.iter().map(|count| count.div_ceil(SQUARES)).sum();
    let height = rows as f64 * (SQUARE + 3.0) + map.structure.ranks.len() as f64 * 34.0 + 8.0;
    let width = SQUARES as f64 * (SQUARE + 3.0) + 8.0;
    let view = format!("0 0 {} {}", number(width), number(height));
    let label = "The switches by rank";
    page.open("svg", &[("viewBox", &view), ("role", "img"), ("aria-label", label)]);
    let (mut first, mut top, mut drawn) = (0, 4.0, 0);
    for (rank, count) in map.structure.ranks.iter().enumerate() {
        let title = format!("rank {rank}: {}", count_words(*count, "switch", "switches"));
        page.element("text", &[("class", "small left"), ("x", "4"), ("y", &number(top + 16.0))], &title);
        top += 24.0;
        for (at, switch) in switches[first..first + count].iter().enumerate() {
            if drawn == MAX_SQUARES {
                break;
            }
            drawn += 1;
            let figures = map.figures.node(switch.id);
            let class = format!("cell {}", step_class(&figures, map.quantity));
            let x = number(4.0 + (at % SQUARES) as f64 * (SQUARE + 3.0));
            let y = number(top + (at / SQUARES) as f64 * (SQUARE + 3.0));
            let side = number(SQUARE);
            let shape =
                [("class", &*class), ("x", &x), ("y", &y), ("width", &side), ("height", &side), ("rx", "3")];
            page.open("rect", &shape);
            let words = figure_words(&figures, map.quantity);
            page.element("title", &[], &format!("{}: {words}", look.name(switch.id)));
            page.close();
        }
        first += count;
        top += count.div_ceil(SQUARES) as f64 * (SQUARE + 3.0) + 10.0;
    }
    page.close();
    let words = shown_words(drawn, switches.len());
    if !words.is_empty() {
        page.element("p", &[("class", "dim")], &words);
    }
}
