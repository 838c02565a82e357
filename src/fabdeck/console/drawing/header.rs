//! Draws the two lines at the top: the source with its facts, and the screens.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::{Canvas, shorten_name, width};
use super::symbols::Symbols;
use super::theme::Role;
use crate::catalogue::summary::count_words;
use crate::console::event_loop::actions::action;
use crate::console::features::screens::{SCREENS, ScreenTitle};
use crate::console::features::timeline::position_text::replay_word;
use crate::console::features::watch::watch_text::header_word;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::changes::changer::WriteAccess;
use fabdeck_fabric::Fabric;
use fabdeck_fabric::observe::digits_in_groups;

/// Draws source and facts at the left, and what is true of the whole session at the right.
pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState) {
    let areas = state.areas();
    let at = buffer_area(areas.header);
    let role = if state.source.starts_with("umad") { Role::HeaderLive } else { Role::Header };
    let mut x = canvas.draw_text(at, 0, 0, &format!(" {} ", source_kind(state)), role);
    if let Some(word) = canvas.theme.word.clone() {
        x = canvas.draw_text(at, x, 0, &format!(" {word} "), role);
    }
    // `umad` alone lets the machine choose the adapter; the snapshot says which one it is.
    let source = state.snapshot().and_then(|look| look.device()).unwrap_or_else(|| state.source.clone());
    let room = at.width.saturating_sub(x + 2);
    let (facts, all) = choose_facts(facts(state, &canvas.signs), room, width(&source));
    let manager = if all { manager_text(state) } else { String::new() };
    // A long source is cut in favour of the facts about it.
    let room = room.saturating_sub(facts_width(&facts)).max(SOURCE_MIN_WIDTH);
    x = canvas.draw_text(at, x + 1, 0, &shorten_source(&source, room, canvas.signs.more), Role::Strong);
    let (left, right): (Vec<_>, Vec<_>) = facts.into_iter().partition(|fact| fact.side == HeaderSide::Left);
    for fact in &left {
        x = canvas.draw_text(at, x + 2, 0, &fact.text, fact.role);
    }
    let mut from = at.width.saturating_sub(facts_width(&right)).max(x + 1);
    if x + 2 + width(&manager) < from {
        canvas.draw_text(at, x + 2, 0, &manager, Role::Dim);
    }
    for fact in &right {
        from = canvas.draw_text(at, from + 1, 0, &fact.text, fact.role) + 1;
    }
    draw_tabs(canvas, state);
}

/// Cuts a source. Of a file the name says most, so its folders are cut first: `…/incast.fdcap`.
fn shorten_source(source: &str, room: u16, more: &str) -> String {
    if width(source) <= room {
        return source.to_owned();
    }
    let Some((_, name)) = source.trim_end_matches('/').rsplit_once('/') else {
        return shorten_name(source, room, more);
    };
    let short = format!("{more}/{name}");
    match width(&short) <= room {
        true => short,
        false => shorten_name(name, room, more),
    }
}

/// Least room of the source beside the facts that always stay, and beside all facts.
const SOURCE_MIN_WIDTH: u16 = 4;
const SOURCE_FAIR_WIDTH: u16 = 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HeaderSide {
    Left,
    Right,
}

/// A fact about the source.
struct HeaderFact {
    text: String,
    role: Role,
    side: HeaderSide,
    /// Facts with a higher number disappear first on a narrow screen; 0 stays.
    drop_order: u8,
    /// The text where facts other than the size and the time of day would have to disappear.
    short: Option<String>,
}

impl HeaderFact {
    fn with_short(self, short: String) -> Self {
        Self { short: Some(short), ..self }
    }
}

/// The order from which on facts are shortened before they disappear.
const SHORTENED_ORDER: u8 = 4;
/// Least width of a screen that says how much of the snapshot is missing.
const COUNT_MIN_WIDTH: u16 = 100;

/// Facts from left to right. Marks, a change that waits and the counts of problems are always shown. The size disappears
/// first, then the time of day, the number of warnings in the log, the state of the watch, and the right to write.
fn facts(state: &SessionState, signs: &Symbols) -> Vec<HeaderFact> {
    let fact = |text: String, role: Role, side: HeaderSide, drop_order: u8| HeaderFact {
        text,
        role,
        side,
        drop_order,
        short: None,
    };
    let left = |text, role, drop_order| fact(text, role, HeaderSide::Left, drop_order);
    let right = |text, role, drop_order| fact(text, role, HeaderSide::Right, drop_order);
    let mut facts = vec![left(size_text(state), Role::Dim, 6)];
    let marks = state.known.marks.len();
    if marks > 0 {
        let fact = left(format!("{} {marks} marked", signs.marked), Role::Marked, 0);
        facts.push(fact.with_short(format!("{} {marks}", signs.marked)));
    }
    // The pending change stands before what follows from it.
    if let Some((word, severity)) = state.known.changes.header_word() {
        let short = word.replace(" left", "");
        facts.push(left(word, Role::from_severity(severity), 0).with_short(short));
    }
    if let Some(ranked) = &state.known.problems.ranked {
        let [critical, warning, ..] = signs.severity;
        for (sign, count, role) in
            [(critical, ranked.critical, Role::Danger), (warning, ranked.warnings, Role::Warning)]
        {
            facts.extend((count > 0).then(|| right(format!("{sign} {count}"), role, 0)));
        }
    }
    facts.extend(missing_part(state).map(|(text, role, order)| right(text, role, order)));
    let damaged = state.known.playback.as_ref().map_or(0, |playback| playback.timeline().damaged.len());
    if damaged > 0 {
        facts.push(right(format!("{damaged} damaged"), Role::Warning, 1));
    }
    let key = action("log").and_then(|log| log.first_key(&state.keymap));
    if let Some(key) = key.filter(|_| state.messages.unread() > 0) {
        let warnings = count_words(state.messages.unread(), "warning", "warnings");
        facts.push(right(format!("{warnings}: {key}"), Role::Warning, 4));
    }
    facts.push(match state.writing {
        WriteAccess::Never(_) | WriteAccess::NotAsked => right("read-only".to_owned(), Role::Dim, 0),
        WriteAccess::Asked | WriteAccess::Simulated | WriteAccess::Own => {
            right("writable".to_owned(), Role::Warning, 2)
        }
    });
    if let Some(word) = header_word(&state.known.watch) {
        let watch = &state.known.watch;
        // That counters are not read matters more than how often they are.
        let [.., well, idle] = signs.severity;
        facts.push(match watch.paused || watch.trouble.is_some() {
            true => right(format!("{idle} {word}"), Role::Warning, 1),
            false => right(format!("{well} {word}"), Role::Good, 3),
        });
    }
    if let Some(word) = replay_word(&state.known) {
        facts.push(right(format!("{} {word}", signs.severity[3]), Role::Preview, 0));
    }
    let now_ms = i64::try_from(state.now_ms).unwrap_or(i64::MAX);
    let time = state.known.clock.and_then(|clock| clock.minute_text(now_ms));
    facts.extend(time.map(|time| right(time, Role::Text, 5)));
    facts
}

/// What the snapshot lacks, with its role and the order in which it disappears.
fn missing_part(state: &SessionState) -> Option<(String, Role, u8)> {
    let notes = &state.snapshot()?.observation.notes;
    if notes.grave_notes().next().is_some() {
        return Some(("split fabric".to_owned(), Role::Danger, 0));
    }
    let text = match notes.partial_count() {
        // On a narrow screen the name of the source has the room.
        count if count == 0 || state.size.width < COUNT_MIN_WIDTH => "incomplete".to_owned(),
        count => format!("incomplete: {} not read", digits_in_groups(count)),
    };
    notes.is_partial().then_some((text, Role::Warning, 1))
}

fn facts_width(facts: &[HeaderFact]) -> u16 {
    facts.iter().map(|fact| width(&fact.text) + 2).sum()
}

/// Chooses the facts that fit beside a fair part of the source, and says whether that is all of them.
fn choose_facts(mut facts: Vec<HeaderFact>, room: u16, source: u16) -> (Vec<HeaderFact>, bool) {
    let before = facts.len();
    for order in (1..=6).rev() {
        let is_too_wide = |facts: &[HeaderFact]| facts_width(facts) + source.min(SOURCE_FAIR_WIDTH) > room;
        if order == SHORTENED_ORDER && is_too_wide(&facts) {
            for fact in &mut facts {
                fact.text = fact.short.take().unwrap_or_else(|| std::mem::take(&mut fact.text));
            }
        }
        if is_too_wide(&facts) {
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
            size_words(fabric, state.areas().boxed)
        }
        (None, LoadState::Failed(_)) => "not read".to_owned(),
        (None, _) => "reading".to_owned(),
    }
}

/// The size of the fabric; a narrow screen has no room for its cables. Aggregation nodes are no hosts, here as on
/// Health, What-if and the Map.
fn size_words(fabric: &Fabric, wide: bool) -> String {
    let switches = count_words(fabric.switch_count(), "switch", "switches");
    let hosts = count_words(fabric.host_count(), "host", "hosts");
    match wide {
        true => format!("{switches}, {hosts}, {}", count_words(fabric.links().len(), "cable", "cables")),
        false => format!("{switches}, {hosts}"),
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
        // The subnet manager is not known before the fabric is read.
        (Some(_), None) if state.loading != LoadState::Done => String::new(),
        (Some(_), None) => "no SM known".to_owned(),
    }
}

/// Draws the screens in their order. A narrow screen has shorter titles, and one that is narrower still has the
/// digits of all screens but the open one.
fn draw_tabs(canvas: &mut Canvas<'_>, state: &SessionState) {
    let at = buffer_area(state.areas().tabs);
    let tab = |screen: &ScreenTitle, length: TabLength| match length {
        TabLength::Full => format!(" {} {} ", screen.number, screen.title),
        _ if screen.id == state.screen => format!(" {} {} ", screen.number, screen.short),
        TabLength::Short => format!(" {}{}", screen.number, screen.short),
        TabLength::Digit => format!(" {}", screen.number),
    };
    let total = |length| SCREENS.iter().map(|screen| width(&tab(screen, length))).sum::<u16>();
    let lengths = [TabLength::Full, TabLength::Short, TabLength::Digit];
    let length = lengths.into_iter().find(|length| total(*length) <= at.width).unwrap_or(TabLength::Digit);
    let mut x = 0;
    for screen in SCREENS {
        let text = tab(screen, length);
        let area = Rect { x: at.x + x, width: width(&text).min(at.width.saturating_sub(x)), ..at };
        canvas.add_target(area, ClickTarget::Screen(screen.word.to_owned()));
        if screen.id == state.screen {
            x = canvas.draw_text(at, x, 0, &text, Role::ScreenOpen);
            continue;
        }
        let digit = screen.number.to_string();
        let (before, title) = text.split_once(&digit).unwrap_or(("", &text));
        x = canvas.draw_text(at, x, 0, before, Role::Screen);
        x = canvas.draw_text(at, x, 0, &digit, Role::Key);
        x = canvas.draw_text(at, x, 0, title, Role::Screen);
    }
}

/// How much of the titles of screens fits into a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TabLength {
    Full,
    Short,
    Digit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_source_keeps_the_name_of_its_file() {
        let cut = |source: &str, room| shorten_source(source, room, "…");
        assert_eq!(cut("/var/log/fabric/incast.fdcap", 40), "/var/log/fabric/incast.fdcap");
        assert_eq!(cut("/var/log/fabric/incast.fdcap", 20), "…/incast.fdcap");
        assert_eq!(cut("/var/log/fabric/incast.fdcap", 12), "incast.fdcap");
        assert_eq!(cut("/var/log/fabric/incast.fdcap", 9), "inca…dcap");
        assert_eq!(cut("sim:full-subnet", 9), "sim:…bnet");
    }

    #[test]
    fn the_least_important_fact_is_dropped_first() {
        let fact = |text: &str, drop_order| HeaderFact {
            text: text.to_owned(),
            role: Role::Text,
            side: HeaderSide::Left,
            drop_order,
            short: (text == "1 marked").then(|| "1".to_owned()),
        };
        let facts =
            || vec![fact("9 switches", 6), fact("1 marked", 0), fact("read-only", 0), fact("1 warning", 4)];
        let left = |room| {
            let (facts, all) = choose_facts(facts(), room, 20);
            (facts.into_iter().map(|fact| fact.text).collect::<Vec<_>>().join(" "), all)
        };
        assert_eq!(left(56), ("9 switches 1 marked read-only 1 warning".to_owned(), true));
        assert_eq!(left(55), ("1 marked read-only 1 warning".to_owned(), false));
        // What can be shortened is, before a fact that matters is gone.
        assert_eq!(left(43), ("1 read-only 1 warning".to_owned(), false));
        assert_eq!(left(37), ("1 read-only 1 warning".to_owned(), false));
        assert_eq!(left(0), ("1 read-only".to_owned(), false));
    }
}
