//! The operator log: actions and notes of the operator are added to the recording of a watch, so that a
//! replay shows them.

use std::path::Path;

use super::{annotations, paused_watch};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::health::health_model::OperatorMark;
use crate::console::features::plan_commands::route_line;
use crate::console::features::preconditions::has_past;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::operations::replay::event_words::acknowledgement_words;
use fabdeck_fabric::{Element, Faults};
use fabdeck_files::capture::OperatorEntry;
use fabdeck_files::capture_format::{AcknowledgementRecord, OperatorAction};
use fabdeck_routing::find_engine;

/// Maximum number of elements that are named.
const MAX_NAMED_ELEMENTS: usize = 5;

/// Checks that there is a recording for entries.
pub fn can_add_entry(state: &SessionState) -> Result<(), String> {
    let watch = &state.known.watch;
    let (interval, past) = (watch.settings.interval_ms, watch.settings.past_bytes);
    match watch.live {
        Some(true) if interval > 0 && past > 0 => Ok(()),
        Some(true) => Err(
            "nothing of this watch is recorded: interval or past_mib under [watch] in the configuration is 0"
                .to_owned(),
        ),
        Some(false) => Err("this source has no recording that entries could be added to".to_owned()),
        None => Err("the source is still being read".to_owned()),
    }
}

/// Checks that there is a time for a note: a moment of a capture, or the recording of a watch.
pub fn can_add_note(state: &SessionState) -> Result<(), String> {
    match &state.known.playback {
        Some(playback) if playback.live.is_none() => has_past(state),
        _ if annotations::is_about_the_past(&state.known) => Ok(()),
        _ => can_add_entry(state),
    }
}

/// Adds an entry to the recording; during a pause, returns its time too.
fn add_entry(state: &mut SessionState, entry: OperatorEntry) -> (Vec<Effect>, Option<String>) {
    if can_add_entry(state).is_err() {
        return (Vec::new(), None);
    }
    let (mark, text) = match &entry {
        OperatorEntry::Note(text) => (OperatorMark::Note, format!("note: {text}")),
        OperatorEntry::Action(acted) => (OperatorMark::Action, format!("action: {}", acted.what)),
        OperatorEntry::Acknowledgement(record) => {
            (OperatorMark::Action, format!("action: {}", acknowledgement_words(record)))
        }
    };
    state.known.problems.add_mark(state.now_ms, mark, text);
    let clock = paused_watch::append_entry(state, &entry);
    (vec![Effect::Enter(entry)], clock)
}

fn log_action(state: &mut SessionState, what: String, command: Option<String>) -> Vec<Effect> {
    add_entry(state, OperatorEntry::Action(OperatorAction { what, command })).0
}

/// Adds a note of the operator.
pub fn add_note(state: &mut SessionState, text: &str) -> Vec<Effect> {
    let text = text.trim();
    if !fabdeck_files::capture::fits_note(text) {
        state.log_message(Severity::Error, "FD-6321: a note has at most 64 KiB, and this one was not added");
        return Vec::new();
    }
    if annotations::is_about_the_past(&state.known) {
        return annotations::annotate_cursor(state, text);
    }
    annotations::keep_present_note(state, text);
    let (effects, clock) = add_entry(state, OperatorEntry::Note(text.to_owned()));
    state.unsaved.notes += effects.len();
    let words = match clock {
        Some(clock) => {
            format!("noted at {clock}, the present time and not the moment shown; :save stores it")
        }
        None => {
            let key = ScreenId::Timeline.title().number;
            format!("noted; a pause ({key}, Space) lists it, and :save writes a capture with it")
        }
    };
    state.log_message(Severity::Info, words);
    effects
}

/// Logs that the source was read again, and reports that the recording so far stays.
pub fn log_reload(state: &mut SessionState, paused: bool) -> Vec<Effect> {
    if can_add_entry(state).is_err() {
        return Vec::new();
    }
    // The message about a partial snapshot matters more.
    let changed = std::mem::take(&mut state.known.changes.rereading);
    if !changed && !state.snapshot().is_some_and(|look| look.observation.is_partial()) {
        let key = ScreenId::Timeline.title().number;
        let live = if paused { "live again: " } else { "" };
        state.log_message(
            Severity::Info,
            format!("{live}the source was read again; the recording stays ({key})"),
        );
    }
    log_action(state, "read the source again".to_owned(), None)
}

/// Logs a change of the marks.
pub fn log_marks(state: &mut SessionState, before: &Faults) -> Vec<Effect> {
    let Some(look) = state.snapshot().filter(|_| state.known.marks != *before) else { return Vec::new() };
    let now = &state.known.marks;
    let only = |some: &Faults, other: &Faults| -> Vec<String> {
        let theirs: Vec<_> = other.iter().collect();
        let mine = some.iter().filter(|what| !theirs.contains(what));
        mine.map(|what| Element::from_id(look.fabric(), &look.names, what).to_string()).collect()
    };
    let parts = [("marked as failed", only(now, before)), ("no longer marked", only(before, now))];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(how, names)| format!("{how}: {}", join_names(&names)))
        .collect();
    let what = format!("{}; {} marked now", parts.join("; "), count_words(now.len(), "element", "elements"));
    let command = state.command_line(&format!("whatif{}", state.marks_as_arguments()));
    log_action(state, what, Some(command))
}

fn join_names(names: &[String]) -> String {
    let first = names.iter().take(MAX_NAMED_ELEMENTS).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMED_ELEMENTS) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Logs the answer or refusal of an engine.
pub fn log_proposals(state: &mut SessionState, engines: &[(&str, Option<String>)]) -> Vec<Effect> {
    let marks = count_words(state.known.marks.len(), "mark", "marks");
    let refused: Vec<&str> =
        engines.iter().filter(|(_, why)| why.is_some()).map(|(engine, _)| *engine).collect();
    let what = match engines {
        [(engine, None)] => format!("{engine} proposed routes around {marks}"),
        [(engine, Some(why))] => format!("{engine} refused to route around {marks}: {why}"),
        _ => {
            let proposed = count_words(engines.len() - refused.len(), "engine", "engines");
            let refused = match refused[..] {
                [] => String::new(),
                _ => format!("; {} refused", refused.join(", ")),
            };
            format!("{proposed} proposed routes around {marks}{refused}")
        }
    };
    let arguments = state.marks_as_arguments();
    let one = match engines {
        [(engine, _)] => format!(" --engine {engine}"),
        _ => String::new(),
    };
    let command = state.command_line(&format!("whatif{arguments}{one}"));
    log_action(state, what, Some(command))
}

/// Logs a plan file. Only the command line has its name, because anonymizing a capture removes command lines.
pub fn log_plan(state: &mut SessionState, file: &Path) -> Vec<Effect> {
    let Some((id, marks)) = state.drafts.get(file) else { return Vec::new() };
    // With other marks by now, the command line would state the wrong ones.
    let same = *marks == state.known.marks;
    let what = format!("wrote the plan of {id} to a file");
    let file = file.display().to_string();
    let command = find_engine(id).filter(|_| same).map(|engine| route_line(state, engine, &file));
    log_action(state, what, command)
}

/// Adds an acknowledgement of a problem, or that it is taken back.
pub fn log_acknowledgement(state: &mut SessionState, record: AcknowledgementRecord) -> Vec<Effect> {
    add_entry(state, OperatorEntry::Acknowledgement(record)).0
}

/// Logs that a change was begun or decided.
pub fn log_change(state: &mut SessionState, what: String, command: Option<String>) -> Vec<Effect> {
    log_action(state, what, command)
}

/// Logs that the recording so far was written to a capture.
pub fn log_save(state: &mut SessionState) -> Vec<Effect> {
    let unsaved = &mut state.unsaved;
    unsaved.is_saved = true;
    unsaved.notes = unsaved.notes.saturating_sub(std::mem::take(&mut unsaved.on_their_way));
    log_action(state, "wrote the recording so far to a capture".to_owned(), None)
}
