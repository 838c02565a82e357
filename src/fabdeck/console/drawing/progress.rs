//! Draws the progress of background tasks.

use ratatui::layout::Rect;

use super::canvas::{Canvas, shorten_name, width};
use super::theme::Role;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::Task;

const BAR_WIDTH: u64 = 10;
const CANCEL_HINT: &str = "; Esc cancels";

/// Draws a task with its progress and duration, and the key that cancels it where one does. On a narrow line details disappear before the key that cancels does.
pub fn draw(canvas: &mut Canvas<'_>, at: Rect, state: &SessionState, task: &Task) {
    // The colon separates the number of the part from its percentage.
    let colon = if task.is_uncounted(state.now_ms) { "" } else { ":" };
    let part = if task.part > 1 { format!(", part {}{colon}", task.part) } else { String::new() };
    let (bar, share) = progress_bar(canvas, state, task);
    let took_s = state.now_ms.saturating_sub(task.begun_ms) / 1000;
    let so_far = if took_s > 0 { format!(", {} so far", duration_text(took_s)) } else { String::new() };
    // Parts take different times and their number is not known, so only work in one part has an estimate.
    let left = task.time_left_ms(state.now_ms).filter(|_| !task.has_parts() && task.part == 1);
    let left = left.map(|left_ms| format!(", about {} left", duration_text(left_ms.div_ceil(1000))));
    let left = left.unwrap_or_default();
    let others = state.tasks.running_tasks().len() - 1 + state.queue.len();
    let others = if others > 0 { format!(" (and {others} more)") } else { String::new() };
    let title = &task.title;
    let lines = [
        format!("{title}{part}{bar}{share}{so_far}{left}{others}"),
        format!("{title}{part}{bar}{share}{left}{others}"),
        format!("{title}{part}{share}{left}{others}"),
        format!("{title}{part}{share}{left}"),
        format!("{title}{share}"),
    ];
    let hint = if task.cancellable { CANCEL_HINT } else { "" };
    let room = at.width.saturating_sub(width(hint));
    let fitting = lines.iter().find(|line| width(line) <= room).unwrap_or(&lines[lines.len() - 1]);
    let line = shorten_name(fitting, room, canvas.signs.more);
    canvas.draw_text(at, 0, 0, &format!("{line}{hint}"), Role::Prompt);
}

/// A bar and a percentage. Uncounted work, such as the last step of an engine, has a word in their place.
fn progress_bar(canvas: &Canvas<'_>, state: &SessionState, task: &Task) -> (String, String) {
    if task.is_uncounted(state.now_ms) {
        return (String::new(), ", checking".to_owned());
    }
    let Some(percent) = (task.done.min(task.of) * 100).checked_div(task.of) else {
        return Default::default();
    };
    let full = (percent * BAR_WIDTH / 100) as usize;
    let [done, left] = canvas.signs.bar;
    (format!(" {}{}", done.repeat(full), left.repeat(BAR_WIDTH as usize - full)), format!(" {percent} %"))
}

/// A duration in words.
fn duration_text(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..3600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::duration_text;

    #[test]
    fn long_times_are_hours_and_minutes() {
        let texts = [0, 119, 120, 121, 3540, 4260, 7200].map(duration_text);
        assert_eq!(texts, ["0 s", "119 s", "2 min", "3 min", "59 min", "1 h 11 min", "2 h 0 min"]);
    }
}
