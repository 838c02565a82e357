//! A background task of the console, in one place: what it depends on, where it runs, its work, and what its outcome
//! does to the state. The event loop, recorded sessions and the process know only these traits, so a new task is
//! written in the folder of its feature alone.

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::digest::text_digest;
use super::effect::Effect;
use super::state::SessionState;
use super::task_services::TaskServices;
use super::tasks::{TaskDependency, TaskId};
use crate::catalogue::snapshot::Snapshot;
use fabdeck_routing::RouteProgress;

/// Where a task runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskPlace {
    /// A worker thread.
    Worker,
    /// A worker thread with a child process, which the session ends before it ends itself.
    ChildProcess,
    /// The thread that owns the source of the current snapshot: a port belongs to one thread at a time.
    SourceThread,
    /// A new thread, which from then on owns the source that the task opens.
    NewSource,
}

/// A task that may take long.
pub trait BackgroundTask: Any + Debug + Send + Sync {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Snapshot
    }

    fn place(&self) -> TaskPlace {
        TaskPlace::Worker
    }

    /// Whether Esc cancels the task. Other tasks are short, or must not stop halfway.
    fn is_cancellable(&self) -> bool {
        false
    }

    /// The file that the task writes. The process waits for it when the operator quits.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Performs the task; `None` where a cancelled task has no outcome.
    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>>;

    /// Restores an outcome that a recorded session has as a whole.
    fn restore(&self, _whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        None
    }
}

impl dyn BackgroundTask {
    /// This task as one of type `T`, if it is one.
    pub fn downcast<T: BackgroundTask>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The outcome of a task.
pub trait TaskOutcome: Any + Debug + Send {
    /// Applies the outcome to the state. It is not called for a cancelled task.
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect>;

    /// The outcome in words, the same for the same work; times are not included.
    fn digest_text(&self) -> String;

    /// The digest in a recorded session, which a replay compares.
    fn digest(&self) -> String {
        text_digest(&self.digest_text())
    }

    /// The whole outcome, where a replay cannot compute it again.
    fn to_whole(&self) -> Option<WholeOutcome> {
        None
    }

    /// For an engine: its time, which the screen shows and which differs with each run.
    fn took_ms(&self) -> Option<u64> {
        None
    }

    /// The snapshot of a source that was opened for it; the process uses that source from then on.
    fn opened_snapshot(&self) -> Option<&Snapshot> {
        None
    }

    /// The file that was not written, and why.
    fn unwritten_file(&self) -> Option<(&Path, &str)> {
        None
    }
}

impl dyn TaskOutcome {
    /// This outcome as one of type `T`, if it is one.
    pub fn downcast<T: TaskOutcome>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// An outcome in a recorded session: its name, and its content. Written content keeps the order of its fields.
#[derive(Clone, Debug)]
pub enum WholeOutcome {
    Written(Box<RawValue>),
    Read(Value),
}

impl WholeOutcome {
    /// `None` for content that JSON cannot represent.
    pub fn new(name: &str, content: &impl Serialize) -> Option<Self> {
        let content = serde_json::to_string(content).ok()?;
        RawValue::from_string(format!("{{\"{name}\":{content}}}")).ok().map(Self::Written)
    }

    /// The content, where the outcome has this name.
    pub fn content<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let Self::Read(value) = self else { return None };
        serde_json::from_value(value.get(name)?.clone()).ok()
    }
}

impl Serialize for WholeOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Written(written) => written.serialize(serializer),
            Self::Read(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WholeOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::Read)
    }
}
