//! Writes the recording of a watch to a new capture.

use std::path::{Path, PathBuf};

use super::operator_log;
use crate::catalogue::severity::Severity;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, TaskPlace};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::changes::change_exit::user;
use crate::operations::replay::watch_recording::with_annotations;
use fabdeck_files::capture_format::Annotation;
use fabdeck_routing::RouteProgress;

/// Writes the recording so far.
#[derive(Debug)]
pub struct RecordingFileTask {
    to: PathBuf,
    /// Notes and bookmarks about earlier times.
    annotations: Vec<Annotation>,
}

impl BackgroundTask for RecordingFileTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn place(&self) -> TaskPlace {
        TaskPlace::SourceThread
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.to)
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let bytes = services.recording().capture_bytes();
        let signed = |annotation: &Annotation| Annotation { by: user(), ..annotation.clone() };
        let signed: Vec<Annotation> = self.annotations.iter().map(signed).collect();
        let bytes = bytes.and_then(|bytes| with_annotations(bytes, &signed));
        let write = |bytes: Vec<u8>| services.write_file(&self.to, &bytes, "give :save another name");
        Some(Box::new(RecordingFileOutcome { to: self.to.clone(), result: bytes.and_then(write) }))
    }
}

#[derive(Debug)]
pub struct RecordingFileOutcome {
    to: PathBuf,
    result: Result<(), String>,
}

impl TaskOutcome for RecordingFileOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        match self.result {
            Ok(()) => {
                let file = self.to.display();
                state.log_message(Severity::Info, format!("--source {file} plays the recording so far"));
                operator_log::log_save(state)
            }
            Err(error) => {
                state.log_message(Severity::Error, format!("no capture was written: {error}"));
                Vec::new()
            }
        }
    }

    fn digest_text(&self) -> String {
        format!("saved {} {:?}", self.to.display(), self.result)
    }

    fn unwritten_file(&self) -> Option<(&Path, &str)> {
        self.result.as_ref().err().map(|error| (self.to.as_path(), error.as_str()))
    }
}

/// Writes the recording so far.
pub fn save_recording(state: &mut SessionState, file: &str) -> Vec<Effect> {
    let file = file.trim();
    if file.is_empty() || file == "-" {
        state.log_message(
            Severity::Error,
            "no capture was written: name a file that does not exist yet, as in save a.fdcap",
        );
        return Vec::new();
    }
    let annotations = state.known.annotations.session.clone();
    state.unsaved.on_their_way = state.unsaved.notes;
    vec![state.begin(format!("writing {file}"), RecordingFileTask { to: PathBuf::from(file), annotations }).1]
}
