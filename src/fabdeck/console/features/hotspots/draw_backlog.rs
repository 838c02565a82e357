//! Draws the backlog of a hot-spot: the ports that wait on the paths to it as a tree, and the hosts behind them.

use ratatui::layout::Rect;

use super::hotspot_panes::HotspotPanes;
use super::screen::ChosenBacklog;
use crate::catalogue::quantity_words::length_words;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, truncate_text, width};
use crate::console::drawing::gauge::draw_gauge;
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::draw_wait_strip;
use crate::console::features::chart_time::window_words;
use crate::console::model::state::SessionState;
use crate::operations::watch::backlog::{Backlog, BacklogBranch, BacklogLeaf, BacklogRole};
use crate::operations::watch::hot_ports::HotPort;
use crate::operations::watch::role_words::{accepted_words, host_of};
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::digits_in_groups;

/// The heading of the tree where it has room; otherwise only its first word.
const LONG_HEADING: &str = "PORT, towards the hot-spot";
/// Columns of the gauges of wait and load, of a percentage, and of the history.
const WAIT_GAUGE: u16 = 10;
const LOAD_GAUGE: u16 = 6;
const PERCENT: u16 = 5;
const HISTORY: u16 = 18;
/// Share of load and wait from which on a port is always busy.
const BUSY_PERCENT: f64 = 95.0;

/// Rows that a backlog takes where it is drawn whole.
pub fn rows_of(backlog: &Backlog) -> u16 {
    let hosts = backlog.leaves.len().div_ceil(2) + usize::from(!backlog.leaves.is_empty());
    u16::try_from(2 + backlog.branches.len() + hosts + 2).unwrap_or(u16::MAX)
}

pub fn draw(canvas: &mut Canvas<'_>, panes: &HotspotPanes, state: &SessionState) {
    let (Some(look), Some(chosen)) = (state.snapshot(), state.screens.hotspots.backlog(&state.known)) else {
        return;
    };
    if panes.backlog.height == 0 {
        return;
    }
    let backlog = chosen.backlog;
    let title = format!("Backlog of {}", host_of(look, backlog.hot_spot));
    let place = format!("{} of {}", chosen.place + 1, digits_in_groups(chosen.count));
    let noun = if chosen.count == 1 { " hot-spot" } else { " hot-spots ( )" };
    let since = match state.screens.hotspots.waiting() {
        Some(span) => {
            let more = if span.is_least { " or more" } else { "" };
            format!("   waits for {}{more}", length_words(span.length_ms))
        }
        None => format!("   {} length not known", canvas.signs.severity[3]),
    };
    let right: [TextRun<'_>; 3] =
        [(&place, Role::Strong), (if panes.boxed { noun } else { "" }, Role::Dim), (&since, Role::Dim)];
    let head = PaneHead { title: &title, right: &right, focused: false };
    let inside = draw_pane(canvas, buffer_area(panes.backlog), &head, panes.boxed);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    match panes.is_short {
        true => draw_short(canvas, inside, state, look, backlog),
        false => draw_whole(canvas, inside, state, look, &chosen),
    }
}

fn port_row<'s>(state: &'s SessionState, branch: &BacklogBranch) -> Option<&'s HotPort> {
    state.known.watch.reading.as_ref()?.port_row_of(ElementId::Port(branch.port))
}

/// The port in front of the hot-spot.
fn root_row<'s>(state: &'s SessionState, backlog: &Backlog) -> Option<&'s HotPort> {
    port_row(state, backlog.branches.first()?)
}

fn draw_whole(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    look: &Snapshot,
    chosen: &ChosenBacklog<'_>,
) {
    let backlog = chosen.backlog;
    let fixed = WAIT_GAUGE + LOAD_GAUGE + 2 * PERCENT + HISTORY + 5;
    let names = area.width.saturating_sub(fixed).clamp(16, 40);
    let columns = TreeColumns::new(names);
    let heading = if names >= width(LONG_HEADING) { LONG_HEADING } else { "PORT" };
    canvas.draw_text(area, 0, 0, heading, Role::Heading);
    canvas.draw_text(area, columns.wait, 0, "WAIT", Role::Heading);
    canvas.draw_text(area, columns.load, 0, "LOAD", Role::Heading);
    let window = format!("{}, 0-100 %", window_words(&state.known).to_uppercase());
    canvas.draw_text(area, columns.history, 0, &window, Role::Heading);
    draw_hot_spot(canvas, area, 1, state, look, backlog);
    let below = u16::from(!backlog.leaves.is_empty()) + 2;
    let hosts = u16::try_from(backlog.leaves.len().div_ceil(2)).unwrap_or(u16::MAX);
    let room = area.height.saturating_sub(2);
    // Hosts give way to the tree, but for two rows.
    let hosts = hosts.min(room.saturating_sub(below) / 2).max(hosts.min(2));
    let tree = usize::from(room.saturating_sub(below + hosts));
    let mut y = 2;
    for branch in backlog.branches.iter().take(tree) {
        draw_branch(canvas, area, y, &columns, (state, look), branch);
        y += 1;
    }
    let left_out = backlog.branch_count - backlog.branches.len().min(tree).min(backlog.branch_count);
    if left_out > 0 && y > 2 {
        let more = format!("and {} more of {}", left_out + 1, digits_in_groups(backlog.branch_count));
        canvas.draw_text(area, 0, y - 1, &" ".repeat(area.width.into()), Role::Text);
        canvas.draw_text(area, 0, y - 1, &more, Role::Dim);
    }
    if !backlog.has_paths {
        let unknown = canvas.signs.severity[3];
        let text =
            format!("{unknown} paths not known: forwarding tables were not read or do not decide them");
        canvas.draw_text(area, 0, y, &text, Role::Dim);
        y += 1;
    }
    let rest = Rect { y: area.y + y, height: area.height.saturating_sub(y), ..area };
    let y = draw_hosts(canvas, rest, look, backlog, hosts);
    if y + 1 < rest.height {
        draw_cause(canvas, rest, y + 1, state, look, backlog);
    }
}

/// Where the columns of the tree begin.
struct TreeColumns {
    wait: u16,
    load: u16,
    history: u16,
}

impl TreeColumns {
    fn new(names: u16) -> Self {
        let wait = names + 1;
        let load = wait + WAIT_GAUGE + 1 + PERCENT + 1;
        Self { wait, load, history: load + LOAD_GAUGE + 1 + PERCENT + 1 }
    }
}

fn draw_hot_spot(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    state: &SessionState,
    look: &Snapshot,
    backlog: &Backlog,
) {
    let sign = format!("{} ", canvas.signs.severity[0]);
    let x = canvas.draw_text(area, 0, y, &sign, Role::Danger);
    let x = canvas.draw_text(area, x, y, &host_of(look, backlog.hot_spot), Role::Strong);
    let row = root_row(state, backlog);
    if let Some(words) = row.and_then(|row| accepted_words(look, row)) {
        canvas.draw_text(area, x + 2, y, words.trim_start_matches("its host "), Role::Text);
    }
}

fn draw_branch(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    columns: &TreeColumns,
    (state, look): (&SessionState, &Snapshot),
    branch: &BacklogBranch,
) {
    let follows = |depth: usize| branch.follows >> depth.min(63) & 1 == 1;
    let [fork, end] = canvas.signs.branches;
    let mut lines: String = (1..branch.depth)
        .map(|depth| if follows(depth) { format!("{}  ", canvas.signs.beside) } else { "   ".to_owned() })
        .collect();
    if branch.depth > 0 {
        lines.insert_str(0, "   ");
    }
    let corner = if branch.depth > 0 && follows(branch.depth) { fork } else { end };
    lines.push_str(&format!("{corner}{} ", canvas.signs.rule));
    // A deep tree keeps room for the name.
    let room = columns.wait.saturating_sub(1);
    let lines = truncate_text(&lines, room / 2, "");
    let x = canvas.draw_text(area, 0, y, &lines, Role::Border);
    let name = shorten_name(&look.port_name(branch.port), room.saturating_sub(x), canvas.signs.more);
    canvas.draw_text(area, x, y, &name, Role::Text);
    let row = port_row(state, branch);
    let wait = row.and_then(|row| row.time_waited);
    let load = row.and_then(|row| row.used).map(|used| f64::from(used) / 100.0);
    draw_share(canvas, area, (columns.wait, y), WAIT_GAUGE, wait, Quantity::Wait);
    draw_share(canvas, area, (columns.load, y), LOAD_GAUGE, load, Quantity::Load);
    let room = area.width.saturating_sub(columns.history);
    if room < 4 {
        return;
    }
    let strip = Rect { x: area.x + columns.history, y: area.y + y, width: room, height: 1 };
    draw_wait_strip(canvas, strip, (state, look), branch.port);
}

/// A gauge and its percentage, or that the share is not known.
fn draw_share(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    gauge: u16,
    share: Option<f64>,
    quantity: Quantity,
) {
    let Some(share) = share else {
        let text = format!("{} not known", canvas.signs.severity[3]);
        canvas.draw_text(area, x, y, &truncate_text(&text, gauge + PERCENT, canvas.signs.more), Role::Dim);
        return;
    };
    draw_gauge(canvas, area, (x, y), gauge, share, quantity);
    let percent = format!("{:>3.0} %", share * 100.0);
    canvas.draw_text(area, x + gauge + 1, y, &percent, quantity.figure_role());
}

/// The hosts that wait, two switches in a row, and how many they are. Returns the row behind them.
fn draw_hosts(canvas: &mut Canvas<'_>, area: Rect, look: &Snapshot, backlog: &Backlog, rows: u16) -> u16 {
    if backlog.leaves.is_empty() {
        return 0;
    }
    let half = area.width.saturating_sub(6) / 2;
    canvas.draw_text(area, 0, 1, "from", Role::Label);
    let shown = usize::from(rows) * 2;
    for (at, leaf) in backlog.leaves.iter().take(shown).enumerate() {
        let (x, y) = (6 + (at % 2) as u16 * half, 1 + (at / 2) as u16);
        let place = Rect { x: area.x + x, width: half.saturating_sub(1), ..area };
        draw_leaf(canvas, place, y, look, leaf);
    }
    let y = 1 + u16::try_from(backlog.leaves.len().min(shown).div_ceil(2)).unwrap_or(rows);
    let left_out = backlog.leaves.len().saturating_sub(shown);
    let more = if left_out > 0 { format!("{left_out} more switches; ") } else { String::new() };
    let text = format!("{more}{}", count_text(backlog));
    canvas.draw_text(area, 6, y, &text, if backlog.has_victims() { Role::Danger } else { Role::Text });
    y + 1
}

fn draw_leaf(canvas: &mut Canvas<'_>, area: Rect, y: u16, look: &Snapshot, leaf: &BacklogLeaf) {
    let name = shorten_name(look.name(leaf.leaf), 12, canvas.signs.more);
    let mut x = canvas.draw_text(area, 0, y, &name, Role::Dim) + 1;
    for (at, (host, role)) in leaf.hosts.iter().enumerate() {
        let (sign, colour) = match role {
            BacklogRole::Victim | BacklogRole::LikelyVictim => (canvas.signs.severity[1], Role::Danger),
            BacklogRole::Undecided => (canvas.signs.severity[3], Role::Warning),
            BacklogRole::Contributor | BacklogRole::LikelyContributor => ("", Role::Text),
        };
        let text = format!("{sign}{}", host_of(look, *host));
        let more = format!("+{}", leaf.hosts.len() - at);
        let last = at + 1 == leaf.hosts.len();
        let needed = width(&text) + if last { 0 } else { width(&more) + 1 };
        if x + needed > area.width {
            canvas.draw_text(area, x, y, &more, Role::Dim);
            return;
        }
        x = canvas.draw_text(area, x, y, &text, colour) + 1;
    }
}

/// The hosts that wait by their roles.
fn count_text(backlog: &Backlog) -> String {
    let parts = [
        (BacklogRole::Contributor, ["contributes", "contribute"]),
        (BacklogRole::LikelyContributor, ["likely contributes", "likely contribute"]),
        (BacklogRole::Undecided, ["undecided"; 2]),
        (BacklogRole::LikelyVictim, ["likely victim", "likely victims"]),
        (BacklogRole::Victim, ["victim", "victims"]),
    ];
    let parts = parts.map(|(role, [one, many])| (backlog.count(role), one, many));
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| {
            format!("{} {}", digits_in_groups(count), if count == 1 { one } else { many })
        })
        .collect();
    if parts.is_empty() { "no host waits".to_owned() } else { parts.join(", ") }
}

/// Why the port in front of the hot-spot waits, where its figures show it.
fn cause_text(row: Option<&HotPort>, look: &Snapshot, backlog: &Backlog) -> Option<(&'static str, String)> {
    let link = look.fabric().port(backlog.root).link?;
    if look.is_degraded(link) == Some(true) {
        return Some(("its cable runs below its width or speed", String::new()));
    }
    let row = row?;
    let sum = f64::from(row.used?) + row.time_waited? * 100.0;
    (sum >= BUSY_PERCENT).then(|| {
        let reason = format!(": load + wait of its port = {:.0} %", sum.min(100.0));
        ("a slow host, not a slow cable", reason)
    })
}

fn draw_cause(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    state: &SessionState,
    look: &Snapshot,
    backlog: &Backlog,
) {
    let row = root_row(state, backlog);
    let Some((cause, reason)) = cause_text(row, look, backlog) else { return };
    let x = canvas.draw_text(area, 0, y, "cause ", Role::Label);
    let x = canvas.draw_text(area, x, y, cause, Role::Text);
    canvas.draw_text(area, x, y, &reason, Role::Dim);
}

/// The hot-spot in a row, and in the next one the path with most waiting and the hosts.
fn draw_short(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, look: &Snapshot, backlog: &Backlog) {
    draw_hot_spot(canvas, area, 0, state, look, backlog);
    let row = root_row(state, backlog);
    if let Some((cause, _)) = cause_text(row, look, backlog) {
        let sign = width(canvas.signs.severity[0]) + 1;
        let accepted = row.and_then(|row| accepted_words(look, row)).unwrap_or_default();
        let accepted = accepted.trim_start_matches("its host ");
        let x = sign + width(&host_of(look, backlog.hot_spot)) + 2 + width(accepted);
        canvas.draw_text(area, x, 0, &format!(": {cause}"), Role::Text);
    }
    let named = |branch: &BacklogBranch| {
        let wait = port_row(state, branch).and_then(|row| row.time_waited);
        let wait = wait.map_or_else(String::new, |share| format!(" {:.0} %", share * 100.0));
        format!("{}{wait}", look.port_name(branch.port))
    };
    let path: Vec<String> = backlog.branches.iter().take(2).rev().map(named).collect();
    let others = backlog.branch_count.saturating_sub(path.len());
    let ports = if others > 0 { format!("{} ", count_words(others, "port", "ports")) } else { String::new() };
    let crumb = format!(" {} ", canvas.signs.crumb);
    let lead = if others > 0 { crumb.trim_start() } else { "" };
    let text = format!("{ports}{lead}{}", path.join(&crumb));
    let counts = count_text(backlog);
    let room = area.width.saturating_sub(width(&counts) + 5);
    canvas.draw_text(area, 2, 1, &truncate_text(&text, room, canvas.signs.more), Role::Text);
    let role = if backlog.has_victims() { Role::Danger } else { Role::Dim };
    canvas.draw_right_aligned(area, 2, 1, &counts, role);
}
