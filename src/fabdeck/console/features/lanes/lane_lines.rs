//! Lines about the lanes, above the list.

use super::lane_effect::effect_lines;
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::model::fabric_model::Model;
use crate::operations::lanes::slow_lanes::{LaneState, LaneStatus};

/// The lines above the list, with their severity.
pub fn lanes_head(known: &Model) -> Vec<(Severity, String)> {
    let lanes = &known.lanes;
    if let Some(trouble) = &lanes.trouble {
        return vec![(Severity::Warning, trouble.clone())];
    }
    let Some(state) = &lanes.state else { return Vec::new() };
    let mut lines = vec![flows_head(state, known.watch.reading.is_some())];
    lines.extend(tables_head(state));
    lines.extend(effect_lines(known).into_iter().map(|line| (Severity::Info, line)));
    lines
}

/// The line about flows. Without a verdict, the proposed moves are unknown.
pub(crate) fn flows_head(state: &LaneState, judged: bool) -> (Severity, String) {
    let count = |standing| {
        let flows = state.spots.iter().flat_map(|spot| &spot.flows);
        flows.filter(|flow| flow.standing == standing).count()
    };
    let flows = |count: usize| count_words(count, "flow", "flows");
    let proposed = count(LaneStatus::Proposed);
    let cooling = count(LaneStatus::Cooling);
    let slow = count(LaneStatus::InForce) + count(LaneStatus::Untold);
    let mut words = Vec::new();
    if proposed > 0 {
        words.push(format!("{} would move to the slow lane (a)", flows(proposed)));
    }
    if cooling > 0 {
        words.push(format!("{} would move back from the slow lane (a)", flows(cooling)));
    }
    if slow > 0 {
        words.push(format!("{} on the slow lane", flows(slow)));
    }
    match words.is_empty() {
        true if judged => (Severity::Info, "no flow is on a slow lane, and none would move there".to_owned()),
        true => {
            let text = "no flow is known to be on a slow lane; counters were not read yet";
            (Severity::Info, text.to_owned())
        }
        false if proposed + cooling > 0 => (Severity::Warning, words.join("; ")),
        false => (Severity::Info, words.join("; ")),
    }
}

pub(crate) fn tables_head(state: &LaneState) -> Option<(Severity, String)> {
    if let Some(why) = &state.refused {
        return Some((Severity::Warning, format!("the tables that lanes need are not known: {why}")));
    }
    let all = count_words(state.tables.len(), "table", "tables");
    match state.differing_tables().count() {
        _ if state.tables.is_empty() => None,
        0 => Some((Severity::Info, format!("{all} on the paths, all as the lanes need them"))),
        some => {
            let more = if state.needs_tables() { "; a corrects them" } else { "" };
            Some((
                Severity::Warning,
                format!("{all} on the paths, {some} not as the lanes need them (the other view{more})"),
            ))
        }
    }
}
