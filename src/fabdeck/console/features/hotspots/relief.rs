//! What would help a port that waits: the slow lane for the flows of its hot-spot, the path of its packets, and its job.

use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::lanes::relief_model::relief_in_force;
use crate::console::features::screen::Screen as _;
use crate::console::features::screen::ScreenTarget;
use crate::console::features::screen_change::{open_screen, open_target};
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::operations::watch::hot_ports::HotPort;
use fabdeck_fabric::{ElementId, PortId};

/// A key and what it does for the port.
pub type ReliefLine = (&'static str, String);

/// What helps the port of a row.
pub fn relief_lines(state: &SessionState, row: &HotPort) -> Vec<ReliefLine> {
    let mut lines = Vec::new();
    lines.extend(lane_words(state).map(|words| ("p", words)));
    if let Some(look) = state.snapshot() {
        let name = crate::operations::watch::role_words::host_of;
        let is_switch = look.fabric().node(look.fabric().port(row.port).node).is_switch();
        let from = if is_switch { look.port_name(row.port) } else { name(look, row.port) };
        let to = row.adapter_role().and_then(|held| held.flow).map(|flow| name(look, flow.hot_spot));
        let to = to.map_or_else(String::new, |to| format!(", as to {to}"));
        lines.push(("t", format!("trace a path from {from}{to}")));
    }
    if let Some(job) = job_of(state, row.port) {
        let hits = state.known.problems.ranked.as_ref().and_then(|ranked| ranked.jobs.as_ref());
        let hit = hits.and_then(|hits| hits.rows.iter().find(|hit| hit.job == job));
        let waits = hit.map_or_else(String::new, |hit| {
            format!(": {} of its {} wait", hit.waiting, count_words(hit.hosts, "host", "hosts"))
        });
        lines.push(("J", format!("job {job}{waits}")));
    }
    lines
}

/// What the slow lane would do for the hot-spots, or does; `None` without any hot-spot. The numbers are those of Lanes.
fn lane_words(state: &SessionState) -> Option<String> {
    has_relief(state).ok()?;
    let chosen = state.screens.hotspots.backlog(&state.known)?;
    if let Some(words) = relief_in_force(&state.known, chosen.backlog.hot_spot) {
        return Some(words);
    }
    Some(match state.known.lanes.relief.proposed() {
        0 => "see which flows would move to the slow lane; nothing is written".to_owned(),
        flows => format!("{} to the slow lane; nothing is written", count_words(flows, "flow", "flows")),
    })
}

/// Checks that an adapter is a hot-spot.
pub fn has_relief(state: &SessionState) -> Result<(), String> {
    let verdict = state.known.watch.reading.as_ref().map(|reading| &reading.watched.verdict);
    match verdict.is_some_and(|verdict| !verdict.hot_spots.is_empty()) {
        true => Ok(()),
        false => Err("no adapter is a hot-spot, so no flow would move".to_owned()),
    }
}

/// Shows which flows would move to the slow lane. Nothing is written.
pub fn preview_relief(state: &mut SessionState, _: &str) -> Vec<Effect> {
    open_screen(state, ScreenId::Lanes);
    Vec::new()
}

/// The job on the host of a port, or of its peer.
fn job_of(state: &SessionState, port: PortId) -> Option<String> {
    let look = state.snapshot()?;
    let jobs = state.known.problems.placed_jobs(look)?;
    let ends = [Some(port), look.fabric().peer(port)];
    let on_it =
        |ports: &std::collections::BTreeSet<PortId>| ends.iter().flatten().any(|end| ports.contains(end));
    jobs.iter().find(|(_, ports)| on_it(ports)).map(|(job, _)| job.clone())
}

/// The job of the port at the cursor.
fn job_at_cursor(state: &SessionState) -> Option<String> {
    match state.screens.hotspots.current(&state.known)? {
        ElementId::Port(port) => job_of(state, port),
        ElementId::Node(_) | ElementId::Link(_) => None,
    }
}

/// Checks that the port at the cursor belongs to a host of a job.
pub fn has_job(state: &SessionState) -> Result<(), String> {
    match job_at_cursor(state) {
        Some(_) => Ok(()),
        None => Err("no job is known on this host: :jobs reads a list of them".to_owned()),
    }
}

/// Opens the job of the port at the cursor.
pub fn open_job(state: &mut SessionState, _: &str) -> Vec<Effect> {
    match job_at_cursor(state) {
        Some(job) => open_target(state, &ScreenTarget::Job(job)),
        None => state.log_message(Severity::Info, "no job is known on this host"),
    }
    Vec::new()
}
