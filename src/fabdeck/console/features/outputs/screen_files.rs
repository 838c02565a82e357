//! Pictures and recordings of the screen. Only the process has the theme and the bytes that the terminal gets, so it writes
//! them.

use std::path::PathBuf;

use crate::catalogue::severity::Severity;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// Writes the frame that follows as a picture.
pub fn save_picture(state: &mut SessionState, file: &str) -> Vec<Effect> {
    let file = file.trim();
    if file.is_empty() || file == "-" {
        let text = "no picture was written: name a file that does not exist yet, as in svg screen.svg";
        state.log_message(Severity::Error, text);
        return Vec::new();
    }
    vec![Effect::SavePicture(PathBuf::from(file))]
}

/// Begins to record the terminal, or ends that.
pub fn record_terminal(state: &mut SessionState, file: &str) -> Vec<Effect> {
    match file.trim() {
        "-" => {
            let text =
                "nothing is recorded: - is stdout, which is this screen; name a file, as in cast a.cast";
            state.log_message(Severity::Error, text);
            Vec::new()
        }
        "" => vec![Effect::EndCast],
        file => vec![Effect::BeginCast(PathBuf::from(file))],
    }
}
