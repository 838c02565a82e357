//! The details of a port during a watch, in the words of the command `hotspots`.

use crate::catalogue::snapshot::Snapshot;
use crate::console::features::details::ElementDetail;
use crate::console::features::screen::Screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::detail_page::{DetailLine, DetailPage};
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::operations::watch::hot_ports::{HotPort, HotRole, level_digits};
use crate::operations::watch::interval_verdict::{
    HOT_LABEL, LINK_LABEL, ON_PATH_LABEL, WAITS_LABEL, hot_words, link_words, narrow_line, per_cent,
    waiting_port_words,
};
use crate::operations::watch::role_words::congested_adapter_words;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::counters::LinkProblem;
use fabdeck_fabric::observe::digits_in_groups;

/// The reason for the role of a port, and its rates in the last interval.
pub fn hot_lines(known: &Model, what: ElementId) -> Vec<DetailLine> {
    let (Some(look), Some(reading)) = (&known.look, &known.watch.reading) else { return Vec::new() };
    let Some(row) = reading.port_row_of(what) else { return Vec::new() };
    let mut lines = reason_lines(look, row, &reading.watched.error_span());
    if lines.is_empty() {
        let untold = "its waiting is not known: it is not counted, its counter is at the maximum, or it did not answer";
        let words = if row.waiting.is_some() { "nothing is above a threshold" } else { untold };
        lines.push(("verdict", words.to_owned()));
    }
    let counted =
        |number: Option<u64>, unit: &str| number.map(|number| format!("{} {unit}", digits_in_groups(number)));
    let percent = |part: Option<u16>, of: &str| part.map(|part| format!("{part} % {of}"));
    let figures = [
        ("role", row.role.map(|role| role.word().to_owned())),
        ("wait", row.time_waited.map(|part| format!("{} of the time", per_cent(part)))),
        ("ticks", counted(row.waiting, "ticks/s of PortXmitWait")),
        ("of all", percent(row.share_of_all, "of all waiting in the fabric is here")),
        ("load", percent(row.used, "of its link")),
        ("sends", counted(row.sent_mbps, "Mbit/s")),
        ("receives", counted(row.received_mbps, "Mbit/s")),
        ("errors", counted(row.errors_per_hour, "an hour")),
    ];
    lines.extend(figures.into_iter().filter_map(|(label, text)| Some((label, text?))));
    lines
}

/// What is known of an element besides its rates, which are there already.
pub(super) fn facts_beside(detail: &ElementDetail, known: &Model) -> impl Iterator<Item = DetailLine> {
    detail.lines(known).into_iter().filter(|(label, _)| !["wait", "load"].contains(label))
}

fn reason_lines(look: &Snapshot, row: &HotPort, span: &str) -> Vec<DetailLine> {
    let mut lines = Vec::new();
    if let (Some((at, limit)), Some(role)) = (row.waits(), row.role) {
        // Without a hot-spot the role is victim, although counters alone do not decide it.
        let alone = role == HotRole::Victim;
        lines.push(match (role, row.adapter_role()) {
            (_, Some(held)) => (WAITS_LABEL, congested_adapter_words(look, &held, alone, limit)),
            (HotRole::HotSpot, _) => {
                let adapter = look.fabric().peer(row.port).unwrap_or(row.port);
                (HOT_LABEL, hot_words(look, adapter, at, limit))
            }
            _ => (ON_PATH_LABEL, waiting_port_words(look, at, limit)),
        });
        if matches!(role, HotRole::TooNarrow | HotRole::Stalled) {
            lines.push(narrow_line(role == HotRole::Stalled));
        }
    }
    if let Some(link) = look.fabric().port(row.port).link {
        let words = |(why, limit)| (LINK_LABEL, link_words(look, &LinkProblem { link, why }, limit, span));
        lines.extend(row.troubles().map(words));
    }
    lines
}

/// The meaning of a level of waiting.
fn level_scale(row: &HotPort) -> &'static str {
    match row.time_waited {
        Some(_) => "in sevenths of the time",
        None => "4 and more above the threshold",
    }
}

/// The details of the port at the cursor: reason, rates, history in digits, and the details of any port.
pub fn hot_detail(state: &SessionState) -> Option<DetailPage> {
    if state.screen != ScreenId::Hotspots {
        return None;
    }
    let (known, look) = (&state.known, state.snapshot()?);
    let what = state.screens.hotspots.current(known)?;
    let mut lines = hot_lines(known, what);
    if let Some(row) = known.watch.reading.as_ref().and_then(|reading| reading.port_row_of(what)) {
        lines.push((
            "history",
            format!("wait {} in the last sweeps, {}", level_digits(&row.waited_levels), level_scale(row)),
        ));
        lines.push((
            "",
            format!("load {} in the last sweeps, in eighths of its link", level_digits(&row.used_levels)),
        ));
    }
    let detail = ElementDetail(what);
    lines.extend(facts_beside(&detail, known));
    let title = detail.title(look);
    let pairs = lines;
    Some(DetailPage { title, pairs, ports: Vec::new() })
}
