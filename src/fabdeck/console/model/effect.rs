//! The effects that a session requests: background tasks, and actions that only the process can perform.

use std::sync::Arc;

use super::background_task::BackgroundTask;
use super::messages::LogMessage;
use super::tasks::TaskId;
use fabdeck_files::capture::OperatorEntry;

/// A request to the process that runs the session.
#[derive(Clone, Debug)]
pub enum Effect {
    Begin {
        task: TaskId,
        job: Arc<dyn BackgroundTask>,
    },
    Cancel(TaskId),
    /// Copies a text to the clipboard of the terminal.
    Copy(String),
    /// Adds an entry to the recording of the watch.
    Enter(OperatorEntry),
    /// Writes messages to the log file; a session stores only the latest ones.
    Log(Vec<LogMessage>),
    /// Draws the whole screen again from a cleared one.
    Redraw,
    Suspend,
    Leave,
    /// Acts as a SIGINT would, for Ctrl-C.
    Interrupt,
}
