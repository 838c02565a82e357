//! What reading a live fabric took, and every question without an answer.

use std::io;

use serde::Serialize;

use super::json::Object;
use crate::observe::{Phase, Reading, Silence, route_text};
use crate::session::{Look, counted};

/// A phase in JSON. Its seconds are left out with the other times.
#[derive(Serialize)]
struct PhaseObject {
    phase: &'static str,
    sent: u64,
    answered: u64,
    repeated: u64,
    unanswered: u64,
    refused: u64,
    strangers: u64,
    in_flight: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Serialize)]
struct SilenceObject<'a> {
    route: String,
    asked: &'a str,
    node: Option<String>,
    guid: Option<String>,
    peer: Option<String>,
    peer_guid: Option<String>,
    peer_port: Option<u8>,
    refusal: Option<&'a str>,
}

impl<'a> SilenceObject<'a> {
    fn new(look: &Look, silence: &'a Silence) -> Self {
        let name = |guid| look.fabric().node_by_guid(guid).map(|node| look.name(node).to_owned());
        Self {
            route: route_text(&silence.route),
            asked: &silence.asked,
            node: silence.node.and_then(name),
            guid: silence.node.map(|guid| guid.to_string()),
            peer: silence.peer.and_then(|(guid, _)| name(guid)),
            peer_guid: silence.peer.map(|(guid, _)| guid.to_string()),
            peer_port: silence.peer.map(|(_, port)| port.value()),
            refusal: silence.refusal.as_deref(),
        }
    }
}

/// Adds the phases and the silence of a live look to its object; of a look at files both are empty.
pub fn write_reading(object: &mut Object<'_>, look: &Look, times: bool) -> io::Result<()> {
    let none = Reading::default();
    let reading = look.observation.reading.as_ref().unwrap_or(&none);
    let phase = |phase: &Phase| PhaseObject {
        phase: phase.name,
        sent: phase.sent,
        answered: phase.answered,
        repeated: phase.repeated,
        unanswered: phase.unanswered,
        refused: phase.refused,
        strangers: phase.strangers,
        in_flight: phase.in_flight,
        seconds: times.then_some(phase.took.as_secs_f64()),
    };
    object.list("reading", reading.phases.iter().map(phase))?;
    object.list("silence", reading.silent.iter().map(|silence| SilenceObject::new(look, silence)))
}

/// With -v: a line for each phase, and one for each question without an answer.
pub fn lines(look: &Look) -> Vec<String> {
    let Some(reading) = &look.observation.reading else { return Vec::new() };
    let mut lines = vec![format!("read from {}", reading.from)];
    lines.extend(reading.phases.iter().map(phase_line));
    let sent: u64 = reading.phases.iter().map(|phase| phase.sent).sum();
    lines.push(format!(
        "{} sent in all, {} of them could write",
        counted(sent as usize, "MAD", "MADs"),
        reading.writes
    ));
    lines.extend(reading.silent.iter().map(|silence| silence_line(look, silence)));
    lines
}

fn phase_line(phase: &Phase) -> String {
    let mut line = format!(
        "{}: {} sent, at most {} in flight, {} answered in {:.6} s",
        phase.name,
        counted(phase.sent as usize, "MAD", "MADs"),
        phase.in_flight,
        phase.answered,
        phase.took.as_secs_f64()
    );
    for (count, what) in [
        (phase.repeated, "sent again"),
        (phase.unanswered, "given up"),
        (phase.refused, "refused"),
        (phase.strangers, "answers to nobody's question"),
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    line
}

fn silence_line(look: &Look, silence: &Silence) -> String {
    let object = SilenceObject::new(look, silence);
    let verb = if silence.refusal.is_some() { "refused" } else { "no answer" };
    let who = match (&object.node, &object.guid, &object.peer, object.peer_port) {
        (Some(name), Some(guid), ..) => format!(" by {name} ({guid})"),
        (_, _, Some(peer), Some(port)) => format!(" behind port {port} of {peer}"),
        _ => String::new(),
    };
    let why = silence.refusal.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    format!("{verb}: {} over {}{who}{why}", silence.asked, object.route)
}
