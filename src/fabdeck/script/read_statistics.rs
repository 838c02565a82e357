//! Statistics of reading a live fabric, with every unanswered request.

use super::answer::{Lines, json_answer};
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::observe::{MissingAnswer, ReadingPhase, digits_in_groups, route_text};

json_type! {
    /// JSON of a phase. `--no-times` leaves its seconds out too.
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

    struct UnansweredObject<'a> {
        route: String,
        asked: &'a str,
        node: Option<String>,
        guid: Option<String>,
        peer: Option<String>,
        peer_guid: Option<String>,
        peer_port: Option<u8>,
        refusal: Option<&'a str>,
    }
}

impl<'a> UnansweredObject<'a> {
    fn new(snapshot: &Snapshot, silence: &'a MissingAnswer) -> Self {
        let name = |guid| snapshot.fabric().node_by_guid(guid).map(|node| snapshot.name(node).to_owned());
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

json_answer! {
    /// The phases and the unanswered requests of a live reading; both lists are empty for files.
    pub struct ReadStatistics<'a> {
        virtual_time: bool,
        reading: Lines<'a, PhaseObject>,
        silence: Lines<'a, UnansweredObject<'a>>,
    }
}

impl<'a> ReadStatistics<'a> {
    pub fn new(snapshot: &'a Snapshot, times: bool) -> Self {
        let reading = snapshot.observation.reading.as_ref();
        let phase = move |phase: &ReadingPhase| PhaseObject {
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
        let silent = reading.into_iter().flat_map(|reading| &reading.silent);
        Self {
            virtual_time: reading.is_some_and(|reading| reading.virtual_time),
            reading: Lines::of(reading.into_iter().flat_map(|reading| &reading.phases).map(phase)),
            silence: Lines::of(silent.map(|silence| UnansweredObject::new(snapshot, silence))),
        }
    }
}

/// Lines of `-v`: one for each phase, and one for each unanswered request.
pub fn lines(snapshot: &Snapshot) -> Vec<String> {
    let Some(reading) = &snapshot.observation.reading else { return Vec::new() };
    let mut lines = vec![format!("read from {}", reading.from)];
    lines.extend(reading.phases.iter().map(|phase| phase_line(phase, reading.virtual_time)));
    let sent: u64 = reading.phases.iter().map(|phase| phase.sent).sum();
    lines.push(format!(
        "{} sent in total, {} of them able to write",
        count_words(sent as usize, "MAD", "MADs"),
        digits_in_groups(reading.writes)
    ));
    if reading.sets + reading.reports_answered > 0 {
        lines.push(format!(
            "traps: {} of InformInfo to the subnet manager and {}, not counted above",
            count_words(reading.sets as usize, "Set", "Sets"),
            count_words(reading.reports_answered as usize, "answer to a report", "answers to reports"),
        ));
    }
    lines.extend(unanswered_lines(snapshot, &reading.silent));
    lines
}

/// One line for each node and kind of request; numbers of the same kind share it (`PortInfo 7, 11, 13`).
fn unanswered_lines(snapshot: &Snapshot, silent: &[MissingAnswer]) -> Vec<String> {
    let mut groups: Vec<(String, String, Vec<&str>)> = Vec::new();
    for silence in silent {
        let (what, number) = match silence.asked.rsplit_once(' ') {
            Some((what, number)) if number.bytes().all(|b| b.is_ascii_digit()) => (what, Some(number)),
            _ => (silence.asked.as_str(), None),
        };
        let (head, tail) = unanswered_text(snapshot, silence, what);
        match groups.last_mut().filter(|(group, end, _)| *group == head && *end == tail) {
            Some((_, _, numbers)) => numbers.extend(number),
            None => groups.push((head, tail, number.into_iter().collect())),
        }
    }
    let line = |(head, tail, numbers): (String, String, Vec<&str>)| {
        let numbers = if numbers.is_empty() { String::new() } else { format!(" {}", numbers.join(", ")) };
        format!("{head}{numbers}{tail}")
    };
    groups.into_iter().map(line).collect()
}

fn phase_line(phase: &ReadingPhase, simulated: bool) -> String {
    let kind = if simulated { "simulated " } else { "" };
    let mut line = format!(
        "{}: {} sent, at most {} in flight, {} answered in {:.6} {kind}s",
        phase.name,
        count_words(phase.sent as usize, "MAD", "MADs"),
        digits_in_groups(phase.in_flight),
        digits_in_groups(phase.answered),
        phase.took.as_secs_f64()
    );
    for (count, what) in [
        (phase.repeated, "sent again"),
        (phase.unanswered, "without an answer"),
        (phase.refused, "refused"),
        (phase.strangers, "stray"),
    ] {
        if count > 0 {
            line += &format!(", {} {what}", digits_in_groups(count));
        }
    }
    line
}

/// The words before and after the numbers of a line.
fn unanswered_text(snapshot: &Snapshot, silence: &MissingAnswer, what: &str) -> (String, String) {
    let object = UnansweredObject::new(snapshot, silence);
    let verb = if silence.refusal.is_some() { "refused" } else { "no answer" };
    let who = match (&object.node, &object.guid, &object.peer, object.peer_port) {
        (Some(name), Some(guid), ..) if name == guid => format!(" by {guid}"),
        (Some(name), Some(guid), ..) => format!(" by {name} ({guid})"),
        (_, _, Some(peer), Some(port)) => format!(" behind port {port} of {peer}"),
        _ => String::new(),
    };
    let why = silence.refusal.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    (format!("{verb}: {what}"), format!(" over {}{who}{why}", object.route))
}
