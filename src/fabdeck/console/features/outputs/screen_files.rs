//! Pictures and recordings of the screen. Only the process has the theme and the bytes that the terminal gets, so it writes
//! them.

use std::path::PathBuf;

use crate::catalogue::severity::Severity;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// Writes the frame that follows as a picture.
pub fn save_picture(state: &mut SessionState, file: &str) -> Vec<Effect> {
    let file = file.trim();
    if file == "-" {
        let text =
            "no picture was written: - is stdout, which is this screen; name a file, as in svg screen.svg";
        state.log_message(Severity::Error, text);
        return Vec::new();
    }
    let file = if file.is_empty() { usual_name(state) } else { file.to_owned() };
    vec![Effect::SavePicture(PathBuf::from(file))]
}

/// The name of a picture where none is given: the screen and the time of day, `fabdeck-links-142822.svg`.
fn usual_name(state: &SessionState) -> String {
    let now_ms = i64::try_from(state.now_ms).unwrap_or(i64::MAX);
    let time = state.known.clock.and_then(|clock| clock.clock_text(now_ms));
    let time = time.map_or_else(String::new, |time| {
        let digits: String = time.chars().filter(char::is_ascii_digit).collect();
        format!("-{digits}")
    });
    format!("fabdeck-{}{time}.svg", state.screen.title().word)
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
