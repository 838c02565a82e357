//! The cursor in time: the keys to the left and to the right move it on every screen with charts.

use super::time_navigation;
use crate::catalogue::severity::Severity;
use crate::console::features::chart_time::{cursor_ms, latest_ms, window_length_ms};
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// Whether the arrows to the left and to the right move the cursor in time on this screen.
pub fn takes_arrows(state: &SessionState) -> bool {
    match state.screen {
        ScreenId::Health | ScreenId::Timeline => true,
        ScreenId::Links => state.screens.links.page.is_some(),
        _ => false,
    }
}

/// Columns of a chart over the whole screen: a key moves the cursor by one of them.
fn cursor_columns(state: &SessionState) -> u64 {
    u64::from(state.size.width.saturating_sub(22).max(10))
}

/// Moves the cursor by a column. In a recording it moves at least by a moment, and the screens show that moment.
pub fn move_cursor(state: &mut SessionState, later: bool) -> Vec<Effect> {
    let step = (window_length_ms(&state.known) / cursor_columns(state)).max(1);
    if let Some(playback) = &state.known.playback {
        let here = playback.place();
        let at_ms = playback.at_ms(here);
        let next = match later {
            true => playback.place_at(at_ms.saturating_add(step)),
            false => playback.place_at(at_ms.saturating_sub(step)),
        };
        return match (later, here.abs_diff(next)) {
            (_, 2..) => time_navigation::seek_place(state, next),
            (true, _) => time_navigation::step_moments(state, 1),
            (false, _) => time_navigation::step_moments(state, -1),
        };
    }
    let history = &state.known.watch.totals;
    let Some((latest, _)) = history.latest() else {
        state.log_message(Severity::Info, "there is no time to go back to: no interval was read yet");
        return Vec::new();
    };
    let first = latest.saturating_sub(history.span_ms().unwrap_or(0));
    // Over a slow line charts end before the last reading, and the cursor begins at their end.
    let here = cursor_ms(&state.known).unwrap_or_else(|| latest_ms(&state.known));
    let next = if later { here.saturating_add(step) } else { here.saturating_sub(step) };
    if !later && here <= first.saturating_add(1) {
        state.log_message(Severity::Info, "nothing was read before this time");
    }
    set_cursor(state, next.max(first.saturating_add(1)));
    Vec::new()
}

/// Goes to a time of the charts: in a recording to its moment, of a live watch with the cursor.
pub fn go_to_time(state: &mut SessionState, at_ms: i64) -> Vec<Effect> {
    let at_ms = u64::try_from(at_ms).unwrap_or(0);
    if let Some(playback) = &state.known.playback {
        let place = playback.place_at(at_ms);
        return time_navigation::seek_place(state, place);
    }
    let history = &state.known.watch.totals;
    if let Some((latest, _)) = history.latest() {
        let first = latest.saturating_sub(history.span_ms().unwrap_or(0));
        set_cursor(state, at_ms.max(first.saturating_add(1)));
    }
    Vec::new()
}

/// Moves the cursor of a live watch to a time; at the end of the charts, they end with the present again.
pub fn set_cursor(state: &mut SessionState, at_ms: u64) {
    let latest = latest_ms(&state.known);
    state.known.chart_cursor = Some(at_ms).filter(|at_ms| *at_ms < latest);
}
