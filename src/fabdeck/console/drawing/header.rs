//! Draws the two lines at the top: the source, and the position in the screens.

use super::buffer_area::buffer_area;
use super::canvas::{Canvas, shorten_name, width};
use super::theme::Role;
use crate::catalogue::summary::count_words;
use crate::console::event_loop::actions::action;
use crate::console::features::screens::SCREENS;
use crate::console::features::timeline::position_text::replay_word;
use crate::console::features::watch::watch_text::header_word;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::changes::changer::WriteAccess;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState) {
    let areas = state.areas();
    let at = buffer_area(areas.header);
    let role = if state.source.starts_with("umad") { Role::HeaderLive } else { Role::Header };
    let mut x = canvas.draw_text(at, 0, 0, &format!(" {} ", source_kind(state)), role);
    if let Some(word) = replay_word(&state.known) {
        x = canvas.draw_text(at, x + 1, 0, &word, Role::Warning) + 1;
    }
    if let Some(word) = canvas.theme.word.clone() {
        x = canvas.draw_text(at, x, 0, &format!(" {word} "), role);
    }
    // `umad` alone lets the machine choose the adapter; the snapshot says which one it is.
    let source = state.snapshot().and_then(|look| look.device()).unwrap_or_else(|| state.source.clone());
    let room = at.width.saturating_sub(x + 1);
    let (facts, all) = choose_facts(facts(state, canvas.signs.marked), room, width(&source));
    // A long source is cut in favour of the facts about it.
    let room = room.saturating_sub(facts_width(&facts)).max(SOURCE_MIN_WIDTH);
    x = canvas.draw_text(at, x + 1, 0, &shorten_name(&source, room, canvas.signs.more), Role::Header);
    for fact in facts {
        x = canvas.draw_text(at, x + 2, 0, &fact.text, fact.role);
    }
    if all {
        canvas.draw_name(at, x + 2, 0, &manager_text(state), Role::Dim);
    }
    draw_crumbs(canvas, state);
}

/// Least room of the source beside the facts that always stay, and beside all facts.
const SOURCE_MIN_WIDTH: u16 = 4;
const SOURCE_FAIR_WIDTH: u16 = 12;

/// A fact about the source.
struct HeaderFact {
    text: String,
    role: Role,
    /// Facts with a higher number disappear first on a narrow screen; 0 stays.
    drop_order: u8,
}

/// Facts from left to right. Marks and the right to write are always shown; the size disappears before a word of
/// trouble does.
fn facts(state: &SessionState, marked: &str) -> Vec<HeaderFact> {
    let fact = |text: String, role: Role, drop_order: u8| HeaderFact { text, role, drop_order };
    let mut facts = vec![fact(size_text(state), Role::Text, 3)];
    let marks = state.known.marks.len();
    if marks > 0 {
        facts.push(fact(format!("{marked} {marks} marked"), Role::Marked, 0));
    }
    if state.snapshot().is_some_and(|look| look.observation.notes.grave_notes().next().is_some()) {
        facts.push(fact("split fabric".to_owned(), Role::Danger, 0));
    } else if state.snapshot().is_some_and(|look| look.observation.is_partial()) {
        facts.push(fact("partial".to_owned(), Role::Warning, 1));
    }
    let damaged = state.known.playback.as_ref().map_or(0, |playback| playback.timeline().damaged.len());
    if damaged > 0 {
        facts.push(fact(format!("{damaged} damaged"), Role::Warning, 1));
    }
    // The pending change stands before what follows from it.
    if let Some((word, severity)) = state.known.changes.header_word() {
        facts.push(fact(word, Role::from_severity(severity), 0));
    }
    facts.push(match state.writing {
        WriteAccess::Never(_) | WriteAccess::NotAsked => fact("read-only".to_owned(), Role::Good, 0),
        WriteAccess::Asked | WriteAccess::Simulated | WriteAccess::Own => {
            fact("writable".to_owned(), Role::Warning, 0)
        }
    });
    if let Some(word) = header_word(&state.known.watch) {
        let watch = &state.known.watch;
        let role = if watch.paused || watch.trouble.is_some() { Role::Warning } else { Role::Dim };
        facts.push(fact(word, role, 3));
    }
    let key = action("log").and_then(|log| log.first_key(&state.keymap));
    if let Some(key) = key.filter(|_| state.messages.unread() > 0) {
        let warnings = count_words(state.messages.unread(), "warning", "warnings");
        facts.push(fact(format!("{warnings}: {key}"), Role::Warning, 2));
    }
    facts
}

fn facts_width(facts: &[HeaderFact]) -> u16 {
    facts.iter().map(|fact| width(&fact.text) + 2).sum()
}

/// Chooses the facts that fit beside a fair part of the source, and says whether that is all of them.
fn choose_facts(mut facts: Vec<HeaderFact>, room: u16, source: u16) -> (Vec<HeaderFact>, bool) {
    let before = facts.len();
    for order in (1..=3).rev() {
        if facts_width(&facts) + source.min(SOURCE_FAIR_WIDTH) > room {
            facts.retain(|fact| fact.drop_order != order);
        }
    }
    let all = facts.len() == before;
    (facts, all)
}

/// Kind of the source, in one word.
fn source_kind(state: &SessionState) -> &'static str {
    match state.source.split(':').next() {
        _ if replay_word(&state.known).is_some() => match is_in_past(state) {
            true => "PAUSED",
            false => "REPLAY",
        },
        Some("umad") => "LIVE",
        Some("sim") => "SIM",
        _ => "FILES",
    }
}

/// Whether the screen shows the past of a live watch.
fn is_in_past(state: &SessionState) -> bool {
    state.known.playback.as_ref().is_some_and(|playback| playback.live.is_some())
}

fn size_text(state: &SessionState) -> String {
    match (&state.known.look, &state.loading) {
        (Some(look), _) => {
            let fabric = look.fabric();
            let hosts = fabric.count(fabdeck_fabric::NodeKind::ChannelAdapter);
            format!(
                "{}, {}",
                count_words(fabric.switch_count(), "switch", "switches"),
                count_words(hosts, "host", "hosts")
            )
        }
        (None, LoadState::Failed(_)) => "not read".to_owned(),
        (None, _) => "reading".to_owned(),
    }
}

fn manager_text(state: &SessionState) -> String {
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

/// Width of the innermost crumb that is worth more than titles of other screens.
const INNERMOST_CRUMB_WIDTH: u16 = 16;

fn draw_crumbs(canvas: &mut Canvas<'_>, state: &SessionState) {
    let at = buffer_area(state.areas().crumbs);
    let mut x = 0;
    // If the titles and the innermost crumb do not fit, all screens but the open one are shown as numbers.
    let crumbs = state.current().crumbs(&state.known);
    let innermost = crumbs.last().map_or(0, |crumb| width(crumb).min(INNERMOST_CRUMB_WIDTH));
    let all: u16 = SCREENS.iter().map(|screen| width(screen.title) + 4).sum::<u16>() + innermost;
    for screen in SCREENS {
        let open = screen.id == state.screen;
        let role = if open { Role::ScreenOpen } else { Role::Screen };
        let text = match open || all <= at.width + if innermost > 0 { 0 } else { 2 } {
            true => format!("{} {}", screen.number, screen.title),
            false => screen.number.to_string(),
        };
        x = canvas.draw_text(at, x, 0, &text, role) + 2;
    }
    if !crumbs.is_empty() {
        let sign = format!(" {} ", canvas.signs.crumb);
        let text = crumbs.join(&sign);
        let room = at.width.saturating_sub(x);
        // The innermost crumb matters most, so a line that is too long loses its beginning.
        let shown = match width(&text) > room {
            true => crumbs.last().cloned().unwrap_or_default(),
            false => text,
        };
        canvas.draw_name(at, x, 0, &shown, Role::Crumb);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_important_fact_is_dropped_first() {
        let fact =
            |text: &str, drop_order| HeaderFact { text: text.to_owned(), role: Role::Text, drop_order };
        let facts =
            || vec![fact("9 switches", 3), fact("1 marked", 0), fact("read-only", 0), fact("1 warning", 2)];
        let left = |room| {
            let (facts, all) = choose_facts(facts(), room, 20);
            (facts.into_iter().map(|fact| fact.text).collect::<Vec<_>>().join(" "), all)
        };
        assert_eq!(left(56), ("9 switches 1 marked read-only 1 warning".to_owned(), true));
        assert_eq!(left(55), ("1 marked read-only 1 warning".to_owned(), false));
        assert_eq!(left(43), ("1 marked read-only".to_owned(), false));
        assert_eq!(left(0), ("1 marked read-only".to_owned(), false));
    }
}
