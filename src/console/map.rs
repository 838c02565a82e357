//! The map: a row of signs for each rank, a sign for each switch.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::fabric::{NodeId, Resolved};
use crate::session::interactive::{State, per_line};

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let Some(look) = &state.known.look else { return };
    let (area, below) = match area.height {
        0..=3 => (area, Rect { height: 0, ..area }),
        height => (Rect { height: height - 1, ..area }, Rect { y: area.y + height - 1, height: 1, ..area }),
    };
    let under = state.current().current(&state.known).and_then(|what| state.known.element(what));
    legend(canvas, below, under.as_deref().unwrap_or_default());
    let table = state.current().table();
    let here = state.current().current(&state.known);
    let per_row = per_line(area.width);
    let rows_of = |count: usize| count.div_ceil(per_row) + 1;
    // The rank of the cursor is in sight even where all of them do not fit.
    let at = table.row().unwrap_or(0);
    let (mut first, mut before) = (0, 0);
    for (number, tier) in state.known.tiers.iter().enumerate() {
        if at < before + tier.switches.len() {
            let above: usize =
                state.known.tiers[..number].iter().map(|tier| rows_of(tier.switches.len())).sum();
            let row = above + (at - before) / per_row + 1;
            first = (row + 1).saturating_sub(area.height.into());
            break;
        }
        before += tier.switches.len();
    }
    let mut row = 0usize;
    for tier in &state.known.tiers {
        let put = |canvas: &mut Canvas<'_>, row: usize, x: u16, text: &str, role: Role| {
            let Some(y) = row.checked_sub(first).and_then(|y| u16::try_from(y).ok()) else { return };
            canvas.text(area, x, y, text, role);
        };
        put(canvas, row, 0, &format!("{} ({})", tier.name, tier.switches.len()), Role::Label);
        row += 1;
        let in_sight = |row: usize| row >= first && row < first + usize::from(area.height);
        for (line, switches) in tier.switches.chunks(per_row).enumerate() {
            if !in_sight(row + line) {
                continue;
            }
            for (at, id) in switches.iter().enumerate() {
                let (sign, role) = sign(canvas, state, look, *id);
                let role = if here == Some(Resolved::Node(*id)) { Role::Cursor } else { role };
                put(canvas, row + line, 2 + 2 * at as u16, sign, role);
            }
        }
        row += tier.switches.len().div_ceil(per_row);
    }
}

/// What is under the cursor, and what the signs say.
fn legend(canvas: &mut Canvas<'_>, at: Rect, under: &str) {
    let [well, degraded, down, marked] = canvas.signs.map;
    let signs = [
        (well, "well", Role::Good),
        (degraded, "a link below its speed", Role::LinkDegraded),
        (down, "a link down or marked", Role::LinkDown),
        (marked, "marked", Role::Marked),
    ];
    let mut x = if under.is_empty() { 0 } else { canvas.text(at, 0, 0, under, Role::Text) + 3 };
    for (sign, words, role) in signs {
        x = canvas.text(at, x, 0, sign, role);
        x = canvas.text(at, x + 1, 0, words, Role::Dim) + 3;
    }
}

fn sign(canvas: &Canvas<'_>, state: &State, look: &crate::session::Look, id: NodeId) -> (&'static str, Role) {
    let fabric = look.fabric();
    let links = || fabric.ports_of(id).filter_map(|(_, port)| port.link);
    let [well, degraded, down, marked] = canvas.signs.map;
    match () {
        () if state.known.failed(Resolved::Node(id)) => (marked, Role::Marked),
        () if links().any(|link| look.is_down(link) || state.known.failed(Resolved::Link(link))) => {
            (down, Role::LinkDown)
        }
        () if links().any(|link| look.degraded(link) == Some(true)) => (degraded, Role::LinkDegraded),
        () => (well, Role::Good),
    }
}
