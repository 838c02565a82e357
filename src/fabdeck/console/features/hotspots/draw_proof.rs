//! Draws what is known of the port at the cursor: its wait and its rate over time, the proof of its role, and what the
//! roles mean.

use ratatui::layout::Rect;

use super::hotspot_panes::HotspotPanes;
use super::relief::{ReliefLine, relief_lines};
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::details;
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane, draw_rule};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{LABEL_WIDTH, chart_marks, draw_time_chart};
use crate::console::features::chart_time::{chart_history, chart_window};
use crate::console::features::health::card_text::{certainty_words, short_number};
use crate::console::features::screen::Screen;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::congestion_problems::hot_spot_cause;
use crate::operations::health::problem::ProblemCause;
use crate::operations::watch::hot_ports::{HotPort, HotRole};
use crate::operations::watch::interval_verdict::per_cent;
use crate::operations::watch::port_values::{PortQuantity, port_identity};
use crate::operations::watch::role_words::{accepted_words, host_of, range_words, role_reason};
use fabdeck_fabric::counters::LikelyRole;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, PortId};

/// Rows of a chart with its time axis, and the least height of a pane with one and with two.
const CHART_ROWS: u16 = 9;
const ONE_CHART_HEIGHT: u16 = 18;
const TWO_CHARTS_HEIGHT: u16 = 28;
/// What the roles mean, where there is room for it.
const ROLES: [(&str, &str, Role); 5] = [
    ("hot-spot", "accepts too slowly", Role::Danger),
    ("contributor", "sends hot-spots over 5 %", Role::Wait),
    ("victim", "sends them 5 % or less", Role::Danger),
    ("likely", "by past readings, agents", Role::Text),
    ("undecided", "neither is proved", Role::Text),
];

pub fn draw(canvas: &mut Canvas<'_>, panes: &HotspotPanes, state: &SessionState) {
    let area = buffer_area(panes.details);
    if area.height == 0 || area.width < 6 {
        return;
    }
    let port = match state.screens.hotspots.current(&state.known) {
        Some(ElementId::Port(port)) => port,
        _ => return details::draw(canvas, area, state),
    };
    let Some(look) = state.snapshot() else { return };
    let row = state.known.watch.reading.as_ref().and_then(|now| now.port_row_of(ElementId::Port(port)));
    let Some(row) = row.cloned() else { return details::draw(canvas, area, state) };
    let (word, sure, role) = verdict_words(&row);
    // That a port is a hot-spot is counted; what Health says of its cause is what is more or less sure.
    let cause = hot_spot_cause_of(&row).map(|cause| format!("cause {}", cause.certainty.word()));
    let sure = cause.unwrap_or_else(|| sure.to_owned());
    let adapter = !look.fabric().node(look.fabric().port(port).node).is_switch();
    let name = if adapter { host_of(look, port) } else { look.port_name(port) };
    let sure = format!("  {sure}");
    // The name comes first; the role is in the list as well.
    let mut right: Vec<TextRun<'_>> = vec![(word, role), (&sure, Role::Dim)];
    let room = |right: &[TextRun<'_>]| {
        let taken: u16 = right.iter().map(|(text, _)| width(text)).sum();
        area.width.saturating_sub(taken + 9)
    };
    while right.len() > 1 && room(&right) < width(&name) {
        right.remove(0);
    }
    let room = room(&right);
    let title = shorten_name(&name, room, canvas.signs.more);
    let head = PaneHead { title: &title, right: &right, focused: false };
    let inside = draw_pane(canvas, area, &head, panes.boxed);
    let charts = match inside.height {
        TWO_CHARTS_HEIGHT.. => 2,
        ONE_CHART_HEIGHT.. => 1,
        _ => 0,
    };
    let mut y = 0;
    for quantity in [PortQuantity::Wait, PortQuantity::Sent].into_iter().take(charts) {
        let place = Rect { y: inside.y + y, height: CHART_ROWS, ..inside };
        draw_history(canvas, place, (state, look), port, quantity);
        y += CHART_ROWS;
    }
    let rest = Rect { y: inside.y + y, height: inside.height - y, ..inside };
    draw_texts(canvas, rest, charts > 0, &proof_lines(look, &row), &relief_lines(state, &row));
}

/// The role in a word, and how sure it is.
fn verdict_words(row: &HotPort) -> (&'static str, &'static str, Role) {
    match row.role {
        Some(HotRole::LikelyContributor) => ("contributor", "likely", Role::Wait),
        Some(HotRole::LikelyVictim) => ("victim", "likely", Role::Danger),
        Some(HotRole::Undecided) => ("undecided", "not known", Role::Warning),
        Some(HotRole::Contributor) => ("contributor", "sure", Role::Wait),
        Some(HotRole::Victim) => ("victim", "sure", Role::Danger),
        Some(role @ HotRole::HotSpot) => (role.word(), "", Role::Danger),
        Some(role) => (role.word(), "", Role::Warning),
        None => ("", "", Role::Dim),
    }
}

/// The cause of a hot-spot; `None` for other ports.
fn hot_spot_cause_of(row: &HotPort) -> Option<ProblemCause> {
    let (at, _) = row.waits().filter(|_| row.role == Some(HotRole::HotSpot))?;
    Some(hot_spot_cause(at.utilisation))
}

fn draw_history(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (state, look): (&SessionState, &Snapshot),
    port: PortId,
    quantity: PortQuantity,
) {
    let (hue, title) = match quantity {
        PortQuantity::Wait => (Quantity::Wait, "wait, % of time"),
        PortQuantity::Errors => (Quantity::Errors, "errors a second"),
        PortQuantity::Sent => (Quantity::Load, "sends, Gb/s"),
    };
    let plot = area.width.saturating_sub(LABEL_WIDTH + 1);
    let (window, columns) = (chart_window(&state.known, plot), usize::from(plot) * 2);
    let identity = port_identity(look.fabric(), port);
    let values = chart_history(&state.known).port_columns(window, columns, identity, quantity);
    let marks = chart_marks(canvas, state, window, true);
    draw_time_chart(canvas, area, state, plot, hue, &values, &marks);
    let latest = values.iter().rev().find_map(|value| *value);
    let now = match latest {
        Some(value) => format!("now {}", short_number(value)),
        None => format!("{} not known", canvas.signs.severity[3]),
    };
    let x = canvas.draw_text(area, LABEL_WIDTH + 1, 0, &format!("{title}  "), hue.figure_role());
    canvas.draw_text(area, x, 0, &now, if latest.is_some() { hue.figure_role() } else { Role::Dim });
}

/// The proof for the role of a port, each part by itself.
fn proof_lines(look: &Snapshot, row: &HotPort) -> Vec<String> {
    let mut lines = Vec::new();
    match (row.time_waited, row.waiting) {
        (Some(share), _) => lines.push(format!("waits {} of the time", per_cent(share))),
        (None, Some(ticks)) => lines
            .push(format!("waits {} ticks/s; the length of a tick is not known", digits_in_groups(ticks))),
        (None, None) => lines.push("how long it waits is not known".to_owned()),
    }
    if let Some(held) = row.adapter_role() {
        lines.push(role_reason(look, held.role, row.role == Some(HotRole::Victim)));
        lines.extend(held.flow.map(|flow| range_words(look, &flow)));
        let words = |likely| match (likely, held.by_agents) {
            (LikelyRole::Contributor(_), false) => {
                "likely a contributor: before, it could have no other destination"
            }
            (LikelyRole::Victim { .. }, false) => "likely a victim: before, it did not send to a hot-spot",
            (LikelyRole::Contributor(_), true) => {
                "likely a contributor: the agents of hosts list no other flows that explain the counters"
            }
            (LikelyRole::Victim { .. }, true) => {
                "likely a victim: the agents of hosts list no flows of it to a hot-spot that explain the counters"
            }
        };
        lines.extend(held.likely.map(|likely| words(likely).to_owned()));
        let narrowest = held.flow.and_then(|flow| flow.narrowest);
        let limit = narrowest.filter(|port| *port != row.port);
        lines.extend(limit.map(|port| format!("{} limits what it can send there", look.port_name(port))));
    }
    if row.role == Some(HotRole::HotSpot) {
        lines.extend(accepted_words(look, row));
        lines.extend(
            hot_spot_cause_of(row).map(|cause| format!("{}{}", certainty_words(cause.certainty), cause.text)),
        );
    }
    if row.role == Some(HotRole::OnPath) {
        lines.push("packets to a hot-spot fill it; others wait behind them".to_owned());
    }
    lines
}

/// The proof, below it what would help, and what the roles mean.
fn draw_texts(canvas: &mut Canvas<'_>, area: Rect, titled: bool, lines: &[String], relief: &[ReliefLine]) {
    let room = usize::from(area.width.saturating_sub(4));
    let mut y = 0;
    if titled {
        y = draw_rule(canvas, area, y, "Proof");
    }
    let sign = canvas.signs.severity[2];
    for line in lines {
        for (at, text) in wrap_text(line, room).into_iter().enumerate() {
            if at == 0 {
                canvas.draw_text(area, 1, y, sign, Role::Good);
            }
            canvas.draw_text(area, 3, y, &text, Role::Text);
            y += 1;
        }
    }
    if titled && !relief.is_empty() && y + 2 < area.height {
        y = draw_rule(canvas, area, y, "What would help");
    }
    for (key, text) in relief {
        canvas.draw_text(area, 1, y, key, Role::Key);
        for line in wrap_text(text, room) {
            canvas.draw_text(area, 3, y, &line, Role::Text);
            y += 1;
        }
    }
    let legend = ROLES.len() as u16 + 1;
    if y + legend > area.height {
        return;
    }
    let first = draw_rule(canvas, area, area.height - legend, "Roles");
    for (y, (word, meaning, role)) in (first..).zip(ROLES) {
        let x = canvas.draw_text(area, 1, y, word, role).max(13);
        canvas.draw_text(area, x, y, meaning, Role::Dim);
    }
}
