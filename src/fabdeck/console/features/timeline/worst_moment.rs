//! The way to the worst moment of what is shown: of a watch, or of a recording as far as it was scanned.

use super::time_cursor::go_to_time;
use crate::catalogue::quantity_words::short_number;
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::chart_time::{chart_history, time_words};
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::operations::watch::fabric_history::FabricSums;

/// Checks that an interval was read.
pub fn has_interval(state: &SessionState) -> Result<(), String> {
    match chart_history(&state.known).latest() {
        Some(_) => Ok(()),
        None => Err("no interval was read yet, so no moment is the worst".to_owned()),
    }
}

/// Moves the cursor of time to the worst moment, and the list of events with it.
pub fn go_to_worst(state: &mut SessionState, _: &str) -> Vec<Effect> {
    open_screen(state, ScreenId::Timeline);
    let Some((at_ms, sums)) = chart_history(&state.known).worst_moment() else {
        state.log_message(Severity::Info, "nothing waited and nothing was wrong in what was read");
        return Vec::new();
    };
    let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
    let time = time_words(&state.known, at_ms);
    let effects = go_to_time(state, at_ms);
    state.log_message(Severity::Info, format!("the worst moment, {time}: {}", sums_words(&sums)));
    effects
}

/// What was wrong at a moment, the worst first.
fn sums_words(sums: &FabricSums) -> String {
    let count = |value: Option<f64>| value.filter(|value| *value > 0.0).map(|value| value as usize);
    let words = [
        count(sums.critical).map(|some| format!("{some} critical")),
        count(sums.warnings).map(|some| count_words(some, "warning", "warnings")),
        count(sums.lost_pairs).map(|some| format!("{} without a path", count_words(some, "pair", "pairs"))),
        sums.worst_wait.filter(|wait| *wait >= 0.5).map(|wait| format!("worst wait {wait:.0} %")),
        sums.errors_per_s
            .filter(|errors| *errors > 0.0)
            .map(|errors| format!("errors {} /s", short_number(errors))),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
