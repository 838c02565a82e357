//! The two lines at the top: what is looked at, and where one is.

use super::area::area;
use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::session::counted;
use crate::session::interactive::{Loading, SCREENS, State};

pub fn draw(canvas: &mut Canvas<'_>, state: &State) {
    let areas = state.areas();
    let at = area(areas.header);
    let role = if state.source.starts_with("umad") { Role::HeaderLive } else { Role::Header };
    let mut x = canvas.text(at, 0, 0, &format!(" {} ", kind(&state.source)), role);
    if let Some(word) = canvas.theme.word.clone() {
        x = canvas.text(at, x, 0, &format!(" {word} "), role);
    }
    let marks = state.known.marks.len();
    let mut facts = vec![(size(state), Role::Text)];
    if marks > 0 {
        facts.push((format!("{} {marks} marked", canvas.signs.marked), Role::Marked));
    }
    if state.look().is_some_and(|look| look.observation.partial()) {
        facts.push(("partial".to_owned(), Role::Warning));
    }
    // Whether anything can be written matters more than who manages the fabric.
    facts.push(("read-only".to_owned(), Role::Good));
    // A long source gives way to what is known of it.
    let taken: u16 = facts.iter().map(|(text, _)| width(text) + 2).sum();
    let room = at.width.saturating_sub(x + 1 + taken).max(LEAST);
    // `umad` alone leaves the choice to the machine; what was chosen is known with the look.
    let source = state.look().and_then(|look| look.device()).unwrap_or_else(|| state.source.clone());
    x = canvas.text(at, x + 1, 0, &shortened(&source, room, canvas.signs.more), Role::Header);
    for (text, role) in facts {
        x = canvas.text(at, x + 2, 0, &text, role);
    }
    canvas.text(at, x + 2, 0, &manager(state), Role::Dim);
    crumbs(canvas, state);
}

/// The least that a source gets.
const LEAST: u16 = 12;

/// Its end tells a file from others, so a long one loses its middle.
fn shortened(source: &str, room: u16, more: &str) -> String {
    let (signs, room) = (source.chars().count(), usize::from(room));
    if signs <= room {
        return source.to_owned();
    }
    let head = room / 3;
    let tail = room.saturating_sub(head + 1);
    let begin: String = source.chars().take(head).collect();
    let end: String = source.chars().skip(signs - tail).collect();
    format!("{begin}{more}{end}")
}

/// What sort of source it is, in a word.
fn kind(source: &str) -> &'static str {
    match source.split(':').next() {
        Some("umad") => "LIVE",
        Some("sim") => "SIM",
        _ => "FILES",
    }
}

fn size(state: &State) -> String {
    match (&state.known.look, &state.loading) {
        (Some(look), _) => {
            let fabric = look.fabric();
            let hosts = fabric.count(crate::fabric::NodeKind::ChannelAdapter);
            format!(
                "{}, {}",
                counted(fabric.switch_count(), "switch", "switches"),
                counted(hosts, "host", "hosts")
            )
        }
        (None, Loading::Failed(_)) => "not read".to_owned(),
        (None, _) => "reading".to_owned(),
    }
}

fn manager(state: &State) -> String {
    let manager = state.known.look.as_ref().and_then(|look| {
        let manager = look.observation.subnet_manager.as_ref()?;
        let fabric = look.fabric();
        let port = || fabric.port_by_guid(manager.guid).map(|port| fabric.port(port).node);
        let node = fabric.node_by_guid(manager.guid).or_else(port);
        Some(node.map_or_else(|| manager.guid.to_string(), |node| look.name(node).to_owned()))
    });
    match (&state.known.look, manager) {
        (None, _) => String::new(),
        (_, Some(name)) => format!("SM {name}"),
        (_, None) => "no SM known".to_owned(),
    }
}

fn crumbs(canvas: &mut Canvas<'_>, state: &State) {
    let at = area(state.areas().crumbs);
    let mut x = 0;
    for (number, screen) in SCREENS.iter().enumerate() {
        let open = screen.id == state.screen;
        let role = if open { Role::ScreenOpen } else { Role::Screen };
        x = canvas.text(at, x, 0, &format!("{} {}", number + 1, screen.title), role) + 2;
    }
    let crumbs = state.current().crumbs(&state.known);
    if !crumbs.is_empty() {
        let sign = format!(" {} ", canvas.signs.crumb);
        let text = crumbs.join(&sign);
        let room = at.width.saturating_sub(x);
        // The innermost crumb matters most, so a line that is too long loses its beginning.
        let shown = match width(&text) > room {
            true => crumbs.last().cloned().unwrap_or_default(),
            false => text,
        };
        canvas.text(at, x, 0, &shown, Role::Crumb);
    }
}
