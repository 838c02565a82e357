//! The theme that the operator chooses while the program runs. As long as the line names one, the screen shows it.

use crate::catalogue::severity::Severity;
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;

/// The word of the action.
pub const THEME_ACTION: &str = "theme";

/// Takes a theme by its name; without one, lists the names.
pub fn choose_theme(state: &mut SessionState, name: &str) -> Vec<Effect> {
    match state.themes.iter().find(|theme| theme.as_str() == name) {
        Some(theme) => state.theme = Some(theme.clone()),
        None => {
            let names = state.themes.join(", ");
            let (severity, text) = match name {
                "" => (Severity::Info, format!("themes: {names}; :theme NAME takes one")),
                name => (Severity::Error, format!("there is no theme '{name}': {names}")),
            };
            state.log_message(severity, text);
        }
    }
    Vec::new()
}

/// The theme to draw with: the one that the line names or that is picked in its list, otherwise the chosen one. `None`
/// leaves it to the configuration and the terminal.
pub fn wanted_theme(state: &SessionState) -> Option<&str> {
    let line = state.prompt.as_ref().filter(|prompt| prompt.purpose == Purpose::Command);
    let named = line.and_then(|prompt| {
        let picked = prompt.picked.and_then(|at| prompt.offers.get(at)).map(|offer| offer.text.as_str());
        let (word, name) = picked.unwrap_or(&prompt.text).trim().split_once(' ')?;
        state.themes.iter().find(|theme| word == THEME_ACTION && theme.as_str() == name.trim())
    });
    named.or(state.theme.as_ref()).map(String::as_str)
}
