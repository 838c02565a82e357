//! Draws a figure of a study as text: bars and boxes as a row each, curves as dots with a letter for each series.

use crate::console::drawing::braille::{CellSharing, DotGrid};
use crate::console::drawing::theme::Role;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::study::plot::figure::{
    CurveLine, FigureContent, FigureCurves, FigureGroup, GroupValue, MeanInterval, StudyFigure,
};
use crate::operations::study::plot::plot_scale::{PlotScale, plot_number};
use unicode_width::UnicodeWidthStr;

/// Rows of the area of curves, and columns of the numbers left of it.
const ROWS: u16 = 16;
const NUMBERS: usize = 9;
/// Least columns of bars, and those of the value behind them.
const LEAST_BAR: usize = 12;
const VALUES: usize = 20;

/// The signs of a terminal.
struct PlotSigns {
    utf8: bool,
    full: char,
    /// The end of an interval or a whisker, its line, the box, and the median.
    ends: [char; 2],
    line: char,
    inside: char,
    median: char,
    vertical: char,
    corner: char,
    horizontal: char,
}

const UTF8: PlotSigns = PlotSigns {
    utf8: true,
    full: '█',
    ends: ['├', '┤'],
    line: '─',
    inside: '▒',
    median: '┃',
    vertical: '│',
    corner: '└',
    horizontal: '─',
};
const ASCII: PlotSigns = PlotSigns {
    utf8: false,
    full: '#',
    ends: ['|', '|'],
    line: '-',
    inside: '=',
    median: 'X',
    vertical: '|',
    corner: '+',
    horizontal: '-',
};

/// A figure as lines of at most this width.
pub fn draw_plot(figure: &StudyFigure, width: usize, utf8: bool) -> String {
    let signs = if utf8 { &UTF8 } else { &ASCII };
    let width = width.max(NUMBERS + LEAST_BAR + VALUES);
    // Before texts are wrapped: some signs of ASCII are longer.
    let plain = |text: &str| match utf8 {
        true => text.to_owned(),
        false => text.replace('±', "+-").replace('²', "2"),
    };
    let mut lines = Vec::new();
    lines.extend(wrap_text(&figure.title, width));
    lines.extend(wrap_text(&figure.subtitle, width));
    lines.push(String::new());
    match &figure.content {
        FigureContent::Groups(groups) => draw_groups(figure, groups, (width, signs), &mut lines),
        FigureContent::Curves(curves) => draw_curves(figure, curves, (width, signs), &mut lines),
    }
    for remark in &figure.remarks {
        lines.extend(wrap_text(&plain(remark), width));
    }
    lines.push(String::new());
    lines.into_iter().map(|line| plain(&line).trim_end().to_owned() + "\n").collect()
}

fn draw_groups(
    figure: &StudyFigure,
    groups: &[FigureGroup],
    (width, signs): (usize, &PlotSigns),
    lines: &mut Vec<String>,
) {
    let names = figure.series.iter().map(|series| series.name.width()).max().unwrap_or(0);
    let room = width.saturating_sub(names + VALUES + 4).max(LEAST_BAR);
    let scale = PlotScale::from_zero(figure.content.largest());
    let column = |value: f64| (scale.share(value) * (room - 1) as f64).round() as usize;
    lines.push(format!("{} from 0 to {}", figure.y_label, plot_number(scale.to)));
    for group in groups {
        lines.push(format!("{}: {}", figure.x_label, group.label));
        for (series, value) in figure.series.iter().zip(&group.values) {
            let Some(value) = value else { continue };
            let (drawn, words) = match value {
                GroupValue::Bar(bar) => (draw_bar(*bar, &column, signs), bar_words(*bar)),
                GroupValue::Whiskers(all) => {
                    (draw_box(*all, &column, signs), format!("median {}", plot_number(all[2])))
                }
                GroupValue::Hole(status) => (String::new(), status.word().to_owned()),
            };
            let pad = room.saturating_sub(drawn.width());
            let name = format!("{}{}", series.name, " ".repeat(names - series.name.width()));
            lines.push(format!("  {name} {drawn}{} {words}", " ".repeat(pad)));
        }
    }
}

fn bar_words(bar: MeanInterval) -> String {
    let margin = bar.margin.map_or_else(String::new, |margin| format!(" ± {}", plot_number(margin)));
    format!("{}{margin}", plot_number(bar.mean))
}

/// A bar to the mean, with the interval around its end.
fn draw_bar(bar: MeanInterval, column: &dyn Fn(f64) -> usize, signs: &PlotSigns) -> String {
    let mut signs_of = vec![signs.full; column(bar.mean) + 1];
    if bar.margin.is_some() {
        let (low, high) = (column(bar.low().max(0.0)), column(bar.high()));
        if high > low + 1 {
            signs_of.resize(signs_of.len().max(high + 1), signs.line);
            signs_of[high] = signs.ends[1];
        }
    }
    signs_of.into_iter().collect()
}

/// A box from the first quartile to the third, with whiskers to minimum and maximum.
fn draw_box(quartiles: [f64; 5], column: &dyn Fn(f64) -> usize, signs: &PlotSigns) -> String {
    let [least, q1, median, q3, most] = quartiles.map(column);
    let mut row = vec![' '; most + 1];
    row[least..=most].fill(signs.line);
    (row[least], row[most]) = (signs.ends[0], signs.ends[1]);
    row[q1..=q3].fill(signs.inside);
    row[median] = signs.median;
    row.into_iter().collect()
}

fn draw_curves(
    figure: &StudyFigure,
    curves: &FigureCurves,
    (width, signs): (usize, &PlotSigns),
    lines: &mut Vec<String>,
) {
    let columns = u16::try_from(width - NUMBERS - 2).unwrap_or(200);
    let (x, y) = curves.scales(figure.content.largest());
    let mut grid = DotGrid::new(columns, ROWS, CellSharing::AllDots);
    let (wide, high) = (grid.dots_wide() - 1, grid.dots_high() - 1);
    let dot = |(at, value): (f64, f64)| {
        let across = (x.share(at) * f64::from(wide)).round() as i32;
        (across, high - (y.share(value) * f64::from(high)).round() as i32)
    };
    let mut marks: Vec<((i32, i32), char)> = Vec::new();
    for curve in &curves.curves {
        let places: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.x, point.y)).collect();
        let line: Vec<(f64, f64)> = match curve.line {
            CurveLine::Joined => places.clone(),
            CurveLine::Fitted(ends) => ends.to_vec(),
            CurveLine::Level => {
                places.iter().flat_map(|(_, value)| [(x.from, *value), (x.to, *value)]).collect()
            }
        };
        for (from, to) in line.iter().zip(line.iter().skip(1)) {
            grid.draw_line(dot(*from), dot(*to), Role::Text, 0, 0);
        }
        let letter = series_letter(curve.series);
        marks.extend(places.into_iter().map(|place| {
            let (across, down) = dot(place);
            ((across / 2, down / 4), letter)
        }));
    }
    lines.push(figure.y_label.clone());
    for row in 0..ROWS {
        let label = match row {
            0 => plot_number(y.to),
            row if row == ROWS - 1 => plot_number(y.from),
            _ => String::new(),
        };
        let mut drawn: Vec<char> =
            (0..columns).map(|at| grid.sign(at, row, signs.utf8).unwrap_or(' ')).collect();
        // Where two series meet the first one has the place.
        for ((at, _), letter) in marks.iter().rev().filter(|((_, down), _)| *down == i32::from(row)) {
            drawn[*at as usize] = *letter;
        }
        lines.push(format!("{label:>NUMBERS$} {}{}", signs.vertical, drawn.into_iter().collect::<String>()));
    }
    let rule: String = std::iter::repeat_n(signs.horizontal, usize::from(columns)).collect();
    lines.push(format!("{} {}{rule}", " ".repeat(NUMBERS), signs.corner));
    let (from, to) = (plot_number(x.from), plot_number(x.to));
    let room = usize::from(columns).saturating_sub(from.len() + to.len());
    lines.push(format!("{}{from}{:^room$}{to}", " ".repeat(NUMBERS + 2), figure.x_label));
    let names = figure.series.iter().enumerate();
    let names: Vec<String> =
        names.map(|(at, series)| format!("{} {}", series_letter(at), series.name)).collect();
    lines.extend(wrap_text(&names.join("; "), width));
}

/// The letter of a series.
fn series_letter(series: usize) -> char {
    const LETTERS: &[u8; 26] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char::from(LETTERS[series % LETTERS.len()])
}
