//! Draws a figure as SVG: title, axes, values, legend and remarks. Colours and fonts are in the style sheet.

use super::figure::{
    CurveLine, FigureContent, FigureCurve, FigureCurves, FigureGroup, GroupValue, MeanInterval, StudyFigure,
};
use super::plot_marks::{colour_class, dash, draw_mark};
use super::plot_scale::{PlotScale, plot_number};
use super::plot_style::PLOT_STYLE;
use crate::operations::report::html::{HtmlWriter, number};

const WIDTH: f64 = 760.0;
/// The area of the values: its left edge, its top, its height, and the room right of it.
const LEFT: f64 = 74.0;
const TOP: f64 = 64.0;
const HEIGHT: f64 = 300.0;
const RIGHT: f64 = 24.0;
/// The least width of a value in a group, and the width of a character of text.
const SLOT: f64 = 9.0;
const LETTER: f64 = 6.6;
const LINE: f64 = 18.0;
/// The most characters of a label below a group.
const LABEL: usize = 46;

/// A figure as a file of its own.
pub fn svg_file(figure: &StudyFigure) -> String {
    let mut page = HtmlWriter::default();
    let drawing = Drawing::new(figure);
    drawing.draw(&mut page, true);
    page.finish()
}

/// Draws a figure into a page that has the style sheet.
pub fn draw_figure(page: &mut HtmlWriter, figure: &StudyFigure) {
    Drawing::new(figure).draw(page, false);
}

struct Drawing<'f> {
    figure: &'f StudyFigure,
    x: PlotScale,
    y: PlotScale,
    width: f64,
    /// Whether labels of groups are written at a slope.
    slanted: bool,
    below: f64,
}

impl<'f> Drawing<'f> {
    fn new(figure: &'f StudyFigure) -> Self {
        let largest = figure.content.largest();
        let (mut width, mut slanted, mut below) = (WIDTH, false, 22.0);
        let (x, y) = match &figure.content {
            FigureContent::Groups(groups) => {
                let slots = groups.len() * (figure.series.len() + 1);
                width = width.max(LEFT + RIGHT + slots as f64 * SLOT);
                let longest = groups.iter().map(|group| group.label.chars().count().min(LABEL)).max();
                let longest = longest.unwrap_or(0) as f64 * LETTER;
                slanted = longest > (width - LEFT - RIGHT) / groups.len().max(1) as f64 - 4.0;
                if slanted {
                    below = longest * 0.5 + 20.0;
                }
                (PlotScale::between(0.0, 1.0), PlotScale::from_zero(largest))
            }
            FigureContent::Curves(curves) => curves.scales(largest),
        };
        Self { figure, x, y, width, slanted, below }
    }

    fn at_x(&self, share: f64) -> f64 {
        LEFT + share * (self.width - LEFT - RIGHT)
    }

    fn at_y(&self, value: f64) -> f64 {
        TOP + HEIGHT * (1.0 - self.y.share(value))
    }

    /// Draws the figure; as a file of its own with the style sheet.
    fn draw(&self, page: &mut HtmlWriter, is_file: bool) {
        let legend = legend_lines(self.figure, self.width);
        let remarks = self.remarks();
        let lines = (legend.len() + remarks.len()) as f64;
        let height = TOP + HEIGHT + self.below + 2.0 * LINE + lines * LINE + 6.0;
        let (wide, high) = (number(self.width), number(height));
        let view = format!("0 0 {wide} {high}");
        let mut attributes = vec![("class", "figure"), ("viewBox", view.as_str()), ("role", "img")];
        attributes.push(("aria-label", &self.figure.title));
        if is_file {
            attributes.extend([("xmlns", "http://www.w3.org/2000/svg"), ("width", &wide), ("height", &high)]);
        }
        page.open("svg", &attributes);
        page.element("title", &[], &self.figure.title);
        if is_file {
            page.open("style", &[]);
            page.constant(PLOT_STYLE);
            page.close();
        }
        page.element("rect", &[("class", "paper"), ("width", "100%"), ("height", "100%")], "");
        write_text(page, "title", (LEFT - 58.0, 24.0), &self.figure.title);
        write_text(page, "soft", (LEFT - 58.0, 44.0), &self.figure.subtitle);
        self.draw_axes(page);
        match &self.figure.content {
            FigureContent::Groups(groups) => self.draw_groups(page, groups),
            FigureContent::Curves(curves) => self.draw_curves(page, curves),
        }
        let mut y = TOP + HEIGHT + self.below + 2.0 * LINE;
        for line in legend {
            self.draw_legend_line(page, &line, y);
            y += LINE;
        }
        for remark in remarks {
            write_text(page, "soft", (LEFT - 58.0, y), &remark);
            y += LINE;
        }
        page.close();
    }

    /// The remarks of a figure, with the meaning of the letters of holes.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.figure.remarks.clone();
        if let FigureContent::Groups(groups) = &self.figure.content {
            let values = groups.iter().flat_map(|group| group.values.iter().flatten());
            let mut words: Vec<&str> = values
                .filter_map(|value| match value {
                    GroupValue::Hole(status) => Some(status.word()),
                    _ => None,
                })
                .collect();
            words.sort_unstable();
            words.dedup();
            let letters: Vec<String> = words.iter().map(|word| format!("{} {word}", &word[..1])).collect();
            if !letters.is_empty() {
                remarks.push(format!("a letter in place of a value: {}", letters.join(", ")));
            }
        }
        remarks
    }

    fn draw_axes(&self, page: &mut HtmlWriter) {
        let (left, right) = (self.at_x(0.0), self.at_x(1.0));
        for tick in self.y.ticks() {
            let y = self.at_y(tick);
            draw_line(page, "lines", [left, y, right, y]);
            write_text(page, "soft end", (left - 6.0, y + 4.0), &plot_number(tick));
        }
        draw_line(page, "rule", [left, TOP, left, TOP + HEIGHT]);
        draw_line(page, "rule", [left, TOP + HEIGHT, right, TOP + HEIGHT]);
        if matches!(self.figure.content, FigureContent::Curves(_)) {
            for tick in self.x.ticks() {
                let x = self.at_x(self.x.share(tick));
                draw_line(page, "rule", [x, TOP + HEIGHT, x, TOP + HEIGHT + 4.0]);
                write_text(page, "soft mid", (x, TOP + HEIGHT + 18.0), &plot_number(tick));
            }
        }
        let middle = (left + right) / 2.0;
        write_text(page, "mid", (middle, TOP + HEIGHT + self.below + 14.0), &self.figure.x_label);
        let turned = format!("rotate(-90 16 {})", number(TOP + HEIGHT / 2.0));
        let (x, y) = ("16".to_owned(), number(TOP + HEIGHT / 2.0));
        let attributes = [("class", "mid"), ("x", x.as_str()), ("y", &y), ("transform", &turned)];
        page.element("text", &attributes, &self.figure.y_label);
    }

    fn draw_groups(&self, page: &mut HtmlWriter, groups: &[FigureGroup]) {
        let room = (self.width - LEFT - RIGHT) / groups.len().max(1) as f64;
        let slot = room / (self.figure.series.len() + 1) as f64;
        for (at, group) in groups.iter().enumerate() {
            let begin = LEFT + at as f64 * room;
            let middle = begin + room / 2.0;
            self.write_label(page, &group.label, middle);
            if at > 0 {
                draw_line(page, "lines", [begin, TOP, begin, TOP + HEIGHT]);
            }
            for (series, value) in group.values.iter().enumerate() {
                let style = self.figure.series[series].style;
                page.open("g", &[("class", &colour_class(style))]);
                let x = begin + slot * (series as f64 + 1.0);
                match value {
                    Some(GroupValue::Bar(bar)) => self.draw_bar(page, *bar, (x, slot * 0.7), style),
                    Some(GroupValue::Whiskers(all)) => self.draw_box(page, *all, (x, slot * 0.6), style),
                    Some(GroupValue::Hole(status)) => {
                        write_text(page, "soft mid", (x, TOP + HEIGHT - 5.0), &status.word()[..1]);
                    }
                    None => {}
                }
                page.close();
            }
        }
    }

    fn write_label(&self, page: &mut HtmlWriter, label: &str, middle: f64) {
        let short = shorten(label);
        if !self.slanted {
            return write_text(page, "soft mid", (middle, TOP + HEIGHT + 18.0), &short);
        }
        let (x, y) = (number(middle + 4.0), number(TOP + HEIGHT + 14.0));
        let turned = format!("rotate(-30 {x} {y})");
        let attributes = [("class", "soft end"), ("x", x.as_str()), ("y", &y), ("transform", &turned)];
        page.element("text", &attributes, &short);
    }

    fn draw_bar(&self, page: &mut HtmlWriter, bar: MeanInterval, (x, width): (f64, f64), style: usize) {
        let top = self.at_y(bar.mean);
        draw_rectangle(page, "column", [x - width / 2.0, top, width, TOP + HEIGHT - top]);
        if bar.margin.is_some() {
            self.draw_range(page, x, (bar.low().max(self.y.from), bar.high()), width / 4.0);
        }
        draw_mark(page, style, (x, top));
    }

    fn draw_box(&self, page: &mut HtmlWriter, quartiles: [f64; 5], (x, width): (f64, f64), style: usize) {
        let [least, q1, median, q3, most] = quartiles.map(|value| self.at_y(value));
        let half = width / 2.0;
        self.draw_range(page, x, (quartiles[0], quartiles[1]), half / 2.0);
        self.draw_range(page, x, (quartiles[3], quartiles[4]), half / 2.0);
        draw_rectangle(page, "column", [x - half, q3, width, (q1 - q3).max(0.5)]);
        draw_line(page, "range", [x - half, median, x + half, median]);
        if least - most > 2.0 {
            draw_mark(page, style, (x, median));
        } else {
            draw_mark(page, style, (x, most));
        }
    }

    /// A line between two values with an end mark at each.
    fn draw_range(&self, page: &mut HtmlWriter, x: f64, (low, high): (f64, f64), half: f64) {
        let (low, high) = (self.at_y(low), self.at_y(high));
        draw_line(page, "range", [x, low, x, high]);
        for y in [low, high] {
            draw_line(page, "range", [x - half, y, x + half, y]);
        }
    }

    fn draw_curves(&self, page: &mut HtmlWriter, curves: &FigureCurves) {
        for curve in &curves.curves {
            self.draw_curve(page, curve);
        }
        for crossing in &curves.crossings {
            let (x, y) = (number(self.at_x(self.x.share(crossing.x))), number(self.at_y(crossing.y)));
            page.element(
                "ellipse",
                &[("class", "ring"), ("cx", &x), ("cy", &y), ("rx", "8"), ("ry", "8")],
                "",
            );
        }
    }

    fn draw_curve(&self, page: &mut HtmlWriter, curve: &FigureCurve) {
        let style = self.figure.series[curve.series].style;
        let place = |x: f64, y: f64| (self.at_x(self.x.share(x)), self.at_y(y));
        page.open("g", &[("class", &colour_class(style))]);
        let line: Vec<(f64, f64)> = match curve.line {
            CurveLine::Joined => curve.points.iter().map(|point| place(point.x, point.y)).collect(),
            CurveLine::Fitted(ends) => ends.iter().map(|(x, y)| place(*x, *y)).collect(),
            CurveLine::Level => {
                let ends = |y: f64| [(self.at_x(0.0), self.at_y(y)), (self.at_x(1.0), self.at_y(y))];
                curve.points.first().map_or_else(Vec::new, |point| ends(point.y).to_vec())
            }
        };
        if line.len() > 1 {
            let places: Vec<String> =
                line.iter().map(|(x, y)| format!("{} {}", number(*x), number(*y))).collect();
            let path = format!("M{}", places.join("L"));
            page.element("path", &[("class", "trend"), ("d", &path), ("stroke-dasharray", dash(style))], "");
        }
        for point in &curve.points {
            let (x, y) = place(point.x, point.y);
            if let Some(margin) = point.margin {
                self.draw_range(page, x, (point.y - margin, point.y + margin), 3.0);
            }
            draw_mark(page, style, (x, y));
        }
        page.close();
    }

    fn draw_legend_line(&self, page: &mut HtmlWriter, entries: &[(usize, f64)], y: f64) {
        let is_curves = matches!(self.figure.content, FigureContent::Curves(_));
        for (series, x) in entries {
            let series = &self.figure.series[*series];
            page.open("g", &[("class", &colour_class(series.style))]);
            if is_curves {
                let path = format!("M{} {}H{}", number(*x - 2.0), number(y - 4.0), number(*x + 22.0));
                let attributes =
                    [("class", "trend"), ("d", path.as_str()), ("stroke-dasharray", dash(series.style))];
                page.element("path", &attributes, "");
            }
            draw_mark(page, series.style, (*x + 10.0, y - 4.0));
            write_text(page, "", (*x + 28.0, y), &series.name);
            page.close();
        }
    }
}

/// The entries of the legend in lines: series and place of each.
fn legend_lines(figure: &StudyFigure, width: f64) -> Vec<Vec<(usize, f64)>> {
    let begin = LEFT - 58.0;
    let mut lines: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    let mut x = begin;
    for (at, series) in figure.series.iter().enumerate() {
        let room = 48.0 + series.name.chars().count() as f64 * LETTER;
        if x + room > width - 8.0 && x > begin {
            lines.push(Vec::new());
            x = begin;
        }
        if let Some(line) = lines.last_mut() {
            line.push((at, x));
        }
        x += room;
    }
    lines
}

fn shorten(label: &str) -> String {
    match label.chars().count() > LABEL {
        true => label.chars().take(LABEL - 1).chain(['…']).collect(),
        false => label.to_owned(),
    }
}

fn write_text(page: &mut HtmlWriter, class: &str, (x, y): (f64, f64), text: &str) {
    let (x, y) = (number(x), number(y));
    match class {
        "" => page.element("text", &[("x", &x), ("y", &y)], text),
        class => page.element("text", &[("class", class), ("x", &x), ("y", &y)], text),
    }
}

fn draw_line(page: &mut HtmlWriter, class: &str, ends: [f64; 4]) {
    let [x1, y1, x2, y2] = ends.map(number);
    page.element("line", &[("class", class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)], "");
}

fn draw_rectangle(page: &mut HtmlWriter, class: &str, [x, y, width, height]: [f64; 4]) {
    let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(number);
    page.element(
        "rect",
        &[("class", class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)],
        "",
    );
}
