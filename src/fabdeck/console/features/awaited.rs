//! What an action or a pane waits for, and how far it is.

use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::tasks::TaskId;

/// Title of the task that indexes the paths of a snapshot.
pub const INDEXING_PATHS: &str = "indexing paths";

/// How far a task is: ` (37 %, 14 s so far)`. Empty for a task that has ended, and before there is anything to say.
pub fn progress_words(state: &SessionState, task: TaskId) -> String {
    let Some(task) = state.tasks.get(task) else { return String::new() };
    let share = (task.done.min(task.of) * 100).checked_div(task.of).map(|percent| format!("{percent} %"));
    let seconds = state.now_ms.saturating_sub(task.begun_ms) / 1000;
    let time = (seconds > 0).then(|| format!("{seconds} s so far"));
    let words: Vec<String> = share.into_iter().chain(time).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// What the counts of pairs and the engines wait for, with its progress: `the tables are read (6 %, 14 s so far)`.
/// `None` where they wait for nothing.
pub fn awaited_words(state: &SessionState) -> Option<String> {
    if let LoadState::Under(task) = state.loading {
        let what = if state.known.look.is_some() { "the tables are" } else { "the source is" };
        return Some(format!("{what} read{}", progress_words(state, task)));
    }
    let running = state.tasks.running_tasks();
    let indexing = running.iter().find(|task| task.title == INDEXING_PATHS)?;
    Some(format!("the paths are indexed{}", progress_words(state, indexing.id)))
}
