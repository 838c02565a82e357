//! The map of a report: switches by rank with each cable a line, their hosts below, or pairs of groups for a fabric with too
//! many cables.

use rustc_hash::FxHashMap;

use super::fabric_report::{FabricReport, ReportMap};
use super::html::{HtmlWriter, number};
use super::page::heading;
use super::page_matrix::{write_matrix, write_switch_squares};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::fabric_map::figures::{MapFigures, MapQuantity};
use crate::operations::fabric_map::structure::{AttachedHost, MapCable, MapSwitch};
use crate::operations::health::cable_overview::{CableSummary, CableTrouble};
use fabdeck_fabric::LinkId;

/// The least width of the drawing, the height of a box, and the space between two ranks.
const MIN_WIDTH: f64 = 860.0;
const BOX_HEIGHT: f64 = 34.0;
const RANK_GAP: f64 = 150.0;
/// The most and the least width of a box, and the space between two.
const MAX_BOX: f64 = 150.0;
const MIN_BOX: f64 = 62.0;
const BOX_GAP: f64 = 14.0;
const MARGIN: f64 = 16.0;
/// Side of the square of a host, and that with the gap to the next one.
const HOST: f64 = 10.0;
const HOST_STEP: f64 = 13.0;

pub fn write_map(page: &mut HtmlWriter, report: &FabricReport) {
    let map = &report.map;
    let (look, quantity) = (&report.facts.look, map.quantity);
    page.open("section", &[]);
    let colours = match quantity {
        Some(MapQuantity::Wait) => "colours: wait, % of time",
        Some(MapQuantity::Paths) => "colours: paths, share of the busiest cable",
        Some(_) => "colours: load, % of capacity",
        None => "no figure of a cable is known",
    };
    heading(page, "Map", colours);
    let class = match quantity {
        Some(MapQuantity::Wait) => "map wait",
        _ => "map load",
    };
    page.open("figure", &[("class", class)]);
    page.element("p", &[("class", "sideways")], "The map is wider than this screen: it moves sideways.");
    page.open("div", &[("class", "scroll")]);
    match &map.pairs {
        _ if map.has_lines => draw_lines(page, report),
        Some(pairs) => write_matrix(page, look, map, pairs),
        None => write_switch_squares(page, look, map),
    }
    page.close();
    page.open("figcaption", &[("class", "legend")]);
    for (step, words) in
        ["below 1 %", "1 to 24 %", "25 to 49 %", "50 to 74 %", "75 % and more"].iter().enumerate()
    {
        page.open("span", &[]);
        page.element("i", &[("class", &format!("q{step}"))], "");
        page.text(words);
        page.close();
    }
    if map.has_lines {
        page.element("span", &[], "a square is a host");
        page.element("span", &[], "▲ a cable with errors, or below its width or speed");
    }
    if map.structure.left_out > 0 {
        let nodes = count_words(map.structure.left_out, "aggregation node is", "aggregation nodes are");
        page.element("span", &[], &format!("{nodes} not drawn"));
    }
    page.close();
    page.close();
    page.close();
}

/// The class of a figure by its step; without one it is not known.
pub fn step_class(figures: &MapFigures, quantity: Option<MapQuantity>) -> String {
    match quantity.and_then(|quantity| figures.step(quantity)) {
        Some(step) => format!("q{step}"),
        None => "unknown".to_owned(),
    }
}

/// A figure in words.
pub fn figure_words(figures: &MapFigures, quantity: Option<MapQuantity>) -> String {
    let text = quantity.and_then(|quantity| Some((quantity, figures.text(quantity)?)));
    match text {
        Some((quantity, text)) => format!("{} {text}", quantity.word()),
        None => "not known".to_owned(),
    }
}

/// A name with its middle left out where it is longer than this.
pub fn shorten(name: &str, most: usize) -> String {
    let signs: Vec<char> = name.chars().collect();
    if signs.len() <= most || most < 4 {
        return name.chars().take(most.max(1)).collect();
    }
    let end = (most - 1) / 2;
    let begin = most - 1 - end;
    signs[..begin].iter().chain(&['…']).chain(&signs[signs.len() - end..]).collect()
}

/// The place of a switch: the left edge of its box, its top, and its width.
#[derive(Clone, Copy)]
struct BoxPlace {
    x: f64,
    y: f64,
    width: f64,
}

/// Where everything is drawn.
struct MapPlaces {
    boxes: Vec<BoxPlace>,
    size: (f64, f64),
}

fn place_boxes(map: &ReportMap) -> MapPlaces {
    let structure = &map.structure;
    let widest = structure.ranks.iter().copied().max().unwrap_or(1).max(1) as f64;
    let room = MIN_WIDTH.max(widest * (MIN_BOX + BOX_GAP) + 2.0 * MARGIN);
    let mut boxes = Vec::new();
    for (rank, count) in structure.ranks.iter().enumerate() {
        let step = (room - 2.0 * MARGIN) / (*count).max(1) as f64;
        let width = (step - BOX_GAP).clamp(MIN_BOX, MAX_BOX);
        for at in 0..*count {
            let middle = MARGIN + step * (at as f64 + 0.5);
            boxes.push(BoxPlace { x: middle - width / 2.0, y: MARGIN + 6.0 + rank as f64 * RANK_GAP, width });
        }
    }
    let below = |(switch, place): (&MapSwitch, &BoxPlace)| {
        let columns = host_columns(place.width);
        place.y + BOX_HEIGHT + 26.0 + switch.hosts.len().div_ceil(columns) as f64 * HOST_STEP
    };
    let height = structure.switches.iter().zip(&boxes).map(below).fold(0.0, f64::max);
    MapPlaces { boxes, size: (room, height + MARGIN) }
}

fn host_columns(width: f64) -> usize {
    ((width / HOST_STEP).floor() as usize).max(1)
}

fn draw_lines(page: &mut HtmlWriter, report: &FabricReport) {
    let (look, map) = (&report.facts.look, &report.map);
    let places = place_boxes(map);
    let (width, height) = places.size;
    let view = format!("0 0 {} {}", number(width), number(height));
    let style = format!("min-width:{}px", number(width.min(MIN_WIDTH) * 0.75));
    let label = "The switches by rank, their cables and hosts";
    page.open("svg", &[("viewBox", &view), ("style", &style), ("role", "img"), ("aria-label", label)]);
    let ends = cable_ends(map, &places);
    for (cable, ends) in map.structure.cables.iter().zip(&ends) {
        draw_cable(page, look, map, cable, *ends);
    }
    let lowest = map.structure.ranks.len().saturating_sub(1);
    for (switch, place) in map.structure.switches.iter().zip(&places.boxes) {
        draw_switch(page, look, map, switch, *place, switch.rank == lowest);
    }
    let places: FxHashMap<LinkId, usize> =
        map.structure.cables.iter().enumerate().map(|(at, cable)| (cable.link, at)).collect();
    for cable in &report.facts.ranked.cables.rows {
        if let Some(at) = places.get(&cable.link) {
            draw_flag(page, look, cable, ends[*at]);
        }
    }
    page.close();
}

/// The ends of each cable: those at a switch are spread over its edge, in the order of the switches at the other ends.
fn cable_ends(map: &ReportMap, places: &MapPlaces) -> Vec<[f64; 4]> {
    let cables = &map.structure.cables;
    let mut ends = vec![[0.0; 4]; cables.len()];
    let middle = |switch: usize| places.boxes[switch].x + places.boxes[switch].width / 2.0;
    for (switch, place) in places.boxes.iter().enumerate() {
        for is_upper in [true, false] {
            let own =
                |at: &usize| if is_upper { cables[*at].upper == switch } else { cables[*at].lower == switch };
            let other = |at: &usize| if is_upper { cables[*at].lower } else { cables[*at].upper };
            let mut at_edge: Vec<usize> = (0..cables.len()).filter(own).collect();
            at_edge.sort_by(|a, b| middle(other(a)).total_cmp(&middle(other(b))).then(a.cmp(b)));
            let step = place.width / (at_edge.len() + 1) as f64;
            for (number, cable) in at_edge.iter().enumerate() {
                let x = place.x + step * (number + 1) as f64;
                match is_upper {
                    true => (ends[*cable][0], ends[*cable][1]) = (x, place.y + BOX_HEIGHT),
                    false => (ends[*cable][2], ends[*cable][3]) = (x, place.y),
                }
            }
        }
    }
    ends
}

fn draw_cable(page: &mut HtmlWriter, look: &Snapshot, map: &ReportMap, cable: &MapCable, ends: [f64; 4]) {
    let figures = map.figures.link(cable.link);
    let is_down = look.is_down(cable.link);
    let class = match is_down {
        true => "cable down".to_owned(),
        false => format!("cable {}", step_class(&figures, map.quantity)),
    };
    let link = look.fabric().link(cable.link);
    let state = if is_down { "down".to_owned() } else { figure_words(&figures, map.quantity) };
    let names = [link.a, link.b].map(|port| look.labelled_port_name(port));
    let title = format!("{}: {state}", names.join(" ─ "));
    let [x1, y1, x2, y2] = ends;
    // A cable within a rank goes round below the boxes.
    let path = match y2 > y1 {
        true => format!("M{} {}L{} {}", number(x1), number(y1), number(x2), number(y2)),
        false => {
            let bottom = number(y1 + 46.0);
            let (from, to) = (number(y1), number(y2 + BOX_HEIGHT));
            format!(
                "M{} {from}C{} {bottom} {} {bottom} {} {to}",
                number(x1),
                number(x1),
                number(x2),
                number(x2)
            )
        }
    };
    page.open("path", &[("class", &class), ("d", &path)]);
    page.element("title", &[], &title);
    page.close();
}

/// What is wrong with a cable, on its middle.
fn draw_flag(page: &mut HtmlWriter, look: &Snapshot, cable: &CableSummary, [x1, y1, x2, y2]: [f64; 4]) {
    let (class, text) = match cable.trouble {
        CableTrouble::Down => ("flag crit", "✗ down".to_owned()),
        CableTrouble::Errors => ("flag", "▲ errors".to_owned()),
        CableTrouble::Degraded => {
            let width = look.width_in_use(cable.link).map_or("", |width| width.word());
            let speed = look.speed_in_use(cable.link).map_or("", |speed| speed.word());
            ("flag", format!("▲ {width} {speed}"))
        }
        CableTrouble::None => return,
    };
    let (x, y) = (number(x1.midpoint(x2)), number(y1.midpoint(y2) + 4.0));
    page.element("text", &[("class", class), ("x", &x), ("y", &y)], &text);
}

fn draw_switch(
    page: &mut HtmlWriter,
    look: &Snapshot,
    map: &ReportMap,
    switch: &MapSwitch,
    place: BoxPlace,
    is_lowest: bool,
) {
    let BoxPlace { x, y, width } = place;
    let name = look.name(switch.id);
    let figures = map.figures.node(switch.id);
    page.open("g", &[]);
    let hosts = count_words(switch.hosts.len(), "host", "hosts");
    page.element("title", &[], &format!("{name}: {hosts}, {}", figure_words(&figures, map.quantity)));
    let class = format!("box {}", step_class(&figures, map.quantity));
    let [left, top, wide, high] = [x, y, width, BOX_HEIGHT].map(number);
    let shape = [
        ("class", class.as_str()),
        ("x", &left),
        ("y", &top),
        ("width", &wide),
        ("height", &high),
        ("rx", "7"),
    ];
    page.element("rect", &shape, "");
    let (middle, line) = (number(x + width / 2.0), number(y + BOX_HEIGHT / 2.0 + 4.5));
    let most = (width / 8.0) as usize;
    page.element("text", &[("x", &middle), ("y", &line)], &shorten(name, most));
    page.close();
    if switch.hosts.is_empty() {
        return;
    }
    // Hosts of an upper rank would lie on the cables below it.
    if !is_lowest {
        let above = number(y - 5.0);
        page.element("text", &[("class", "small"), ("x", &middle), ("y", &above)], &hosts);
        return;
    }
    let columns = host_columns(width);
    for (at, host) in switch.hosts.iter().enumerate() {
        let offset = (width - columns as f64 * HOST_STEP + (HOST_STEP - HOST)) / 2.0;
        let left = x + offset + (at % columns) as f64 * HOST_STEP;
        let top = y + BOX_HEIGHT + 6.0 + (at / columns) as f64 * HOST_STEP;
        draw_host(page, look, map, host, (left, top));
    }
    let rows = switch.hosts.len().div_ceil(columns) as f64;
    let below = number(y + BOX_HEIGHT + 19.0 + rows * HOST_STEP);
    page.element("text", &[("class", "small"), ("x", &middle), ("y", &below)], &hosts);
}

fn draw_host(
    page: &mut HtmlWriter,
    look: &Snapshot,
    map: &ReportMap,
    host: &AttachedHost,
    (x, y): (f64, f64),
) {
    let figures = map.figures.link(host.link);
    let class = format!("host {}", step_class(&figures, map.quantity));
    let [x, y, side] = [x, y, HOST].map(number);
    let shape =
        [("class", class.as_str()), ("x", &x), ("y", &y), ("width", &side), ("height", &side), ("rx", "2")];
    page.open("rect", &shape);
    let name = look.host_name(host.node);
    page.element("title", &[], &format!("{name}: {}", figure_words(&figures, map.quantity)));
    page.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle_and_keep_their_ends() {
        assert_eq!(shorten("rack2-leaf", 12), "rack2-leaf");
        assert_eq!(shorten("storage-island-leaf07", 12), "storag…eaf07");
        assert_eq!(shorten("abcdef", 3), "abc");
    }
}
