//! Sets whether the line to the terminal counts as slow.

use crate::catalogue::severity::Severity;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// Takes over what was measured of the line to the terminal.
pub fn take_measured_line(state: &mut SessionState, is_slow: bool) {
    state.known.line.measured_slow = is_slow;
    if state.known.line.setting.is_some() {
        return;
    }
    let text = match is_slow {
        true => "the line to this terminal is slow: charts move every 5 s; :slow-line off changes that",
        false => "the line to this terminal is no longer slow: charts move with each reading",
    };
    state.log_message(Severity::Info, text);
}

/// Sets the speed of the line by its word; without one, turns the setting round.
pub fn set_slow_line(state: &mut SessionState, word: &str) -> Vec<Effect> {
    let line = &mut state.known.line;
    line.setting = match word.trim() {
        "" => Some(!line.is_slow()),
        "on" => Some(true),
        "off" => Some(false),
        "auto" => None,
        other => {
            let text = format!("'{other}' is no setting of a slow line: give on, off or auto");
            state.log_message(Severity::Warning, text);
            return Vec::new();
        }
    };
    let measured = if line.setting.is_none() { ", as measured" } else { "" };
    let text = match line.is_slow() {
        true => format!("slow line{measured}: charts move every 5 s, and keys are answered at once"),
        false => format!("no slow line{measured}: charts move with each reading"),
    };
    state.log_message(Severity::Info, text);
    Vec::new()
}
