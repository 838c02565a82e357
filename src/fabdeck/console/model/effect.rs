//! The effects that a session requests: background tasks, and actions that only the process can perform.

use std::path::PathBuf;
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
    /// Writes the next frame to a new file as a picture.
    SavePicture(PathBuf),
    /// Begins to record what the terminal gets to a new file, and in the next variant ends that.
    BeginCast(PathBuf),
    EndCast,
    /// Draws the whole screen again from a cleared one.
    Redraw,
    Suspend,
    Leave,
    /// Acts as a SIGINT would, for Ctrl-C.
    Interrupt,
}
