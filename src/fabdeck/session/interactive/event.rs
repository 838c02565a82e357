//! The inputs of a session, and their recorded form. Keys, sizes and times are recorded as they are. Task
//! results are recorded as a digest, because a replay computes them again. Results of changes are recorded
//! whole, because a replay makes no changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::changing::{Attestations, Changes, Offer, Writing};
use super::effect::Outcome;
use super::frame::Size;
use super::key::Key;
use super::running_jobs::JobSettings;
use super::state::State;
use super::tasks::TaskId;
use super::watch::WatchSettings;
use crate::session::{LaneState, Look};
use fabdeck_change::Status;
use fabdeck_files::job_lists::JobList;

/// An input, and its time in milliseconds since the session began.
#[derive(Clone, Debug)]
pub struct Event {
    pub at_ms: u64,
    pub what: Happening,
}

#[derive(Clone, Debug)]
pub enum Happening {
    Key(Key),
    Paste(String),
    Resized(Size),
    /// Time has passed, without any other input.
    Tick,
    Progress {
        task: TaskId,
        done: u64,
        of: u64,
    },
    /// The fabric is known, while tables and counters are still being read.
    Sighted {
        task: TaskId,
        look: Arc<Look>,
    },
    Finished {
        task: TaskId,
        outcome: Outcome,
    },
    /// A message for the operator from outside the session.
    Told(String),
    /// The terminal is back after another program used it.
    Resumed,
}

/// The first line of a recorded session: its settings at the start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beginning {
    pub format: u32,
    /// The source as the operator wrote it.
    pub source: String,
    pub size: Size,
    /// The options of the session with their values; copied command lines repeat them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// Keys that differ from the default, by the ids of their actions.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The settings of a watch: its interval and thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchSettings>,
    /// The settings for the source of job lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<JobSettings>,
    /// Whether the session could write to the fabric.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub writing: Writing,
}

fn is_usual(writing: &Writing) -> bool {
    *writing == Writing::default()
}

impl Beginning {
    pub const FORMAT: u32 = 1;

    /// The header of a session that has just been opened.
    pub fn of(state: &State) -> Self {
        Self {
            format: Self::FORMAT,
            source: state.source.clone(),
            size: state.size,
            options: state.options.clone(),
            keys: state.keymap.own().clone(),
            writing: state.writing.clone(),
            jobs: Some(state.known.jobs.settings.clone()).filter(|jobs| *jobs != JobSettings::default()),
            watch: Some(state.known.watch.settings.clone()).filter(|watch| watch.interval_ms > 0),
        }
    }
}

/// An event in its recorded form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Written {
    pub at_ms: u64,
    #[serde(flatten)]
    pub what: WrittenHappening,
}

/// Results of changes, lanes and job lists, which a replay cannot compute again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenOutcome {
    Offered(Result<Box<Offer>, String>),
    Begun(Result<String, String>),
    Changes(Result<Changes, String>),
    Compared(Result<Attestations, String>),
    Lanes(Result<Box<LaneState>, String>),
    Listed(Result<Box<JobList>, String>),
    Asked { id: String, result: Result<Status, String> },
}

impl WrittenOutcome {
    fn of(outcome: &Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Offered(result) => Self::Offered(result.clone()),
            Outcome::Begun(result) => Self::Begun(result.clone()),
            Outcome::Changes(result) => Self::Changes(result.clone()),
            Outcome::Compared(result) => Self::Compared(result.clone()),
            Outcome::Lanes(result) => Self::Lanes(result.clone()),
            Outcome::Listed(result) => Self::Listed(result.clone()),
            Outcome::Asked { id, result } => Self::Asked { id: id.clone(), result: result.clone() },
            _ => return None,
        })
    }
}

impl From<WrittenOutcome> for Outcome {
    fn from(written: WrittenOutcome) -> Self {
        match written {
            WrittenOutcome::Offered(result) => Self::Offered(result),
            WrittenOutcome::Begun(result) => Self::Begun(result),
            WrittenOutcome::Changes(result) => Self::Changes(result),
            WrittenOutcome::Compared(result) => Self::Compared(result),
            WrittenOutcome::Lanes(result) => Self::Lanes(result),
            WrittenOutcome::Listed(result) => Self::Listed(result),
            WrittenOutcome::Asked { id, result } => Self::Asked { id, result },
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenHappening {
    Key(Key),
    Paste(String),
    Resized(Size),
    Tick,
    Progress {
        task: TaskId,
        done: u64,
        of: u64,
    },
    Sighted {
        task: TaskId,
        digest: String,
    },
    Finished {
        task: TaskId,
        digest: String,
        /// For an engine: its time, which the screen shows and which differs with each run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took_ms: Option<u64>,
        /// For changes, lanes and job lists: the whole result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<Box<WrittenOutcome>>,
    },
    Told(String),
    Resumed,
}

impl Event {
    pub fn written(&self) -> Written {
        let what = match &self.what {
            Happening::Key(key) => WrittenHappening::Key(*key),
            Happening::Paste(text) => WrittenHappening::Paste(text.clone()),
            Happening::Resized(size) => WrittenHappening::Resized(*size),
            Happening::Tick => WrittenHappening::Tick,
            Happening::Progress { task, done, of } => {
                WrittenHappening::Progress { task: *task, done: *done, of: *of }
            }
            Happening::Sighted { task, look } => {
                let digest = Outcome::Looked(Ok(look.clone())).digest();
                WrittenHappening::Sighted { task: *task, digest }
            }
            Happening::Finished { task, outcome } => {
                let took_ms = match outcome {
                    Outcome::Proposed { took_ms, .. } => Some(*took_ms),
                    _ => None,
                };
                let whole = WrittenOutcome::of(outcome).map(Box::new);
                WrittenHappening::Finished { task: *task, digest: outcome.digest(), took_ms, whole }
            }
            Happening::Told(text) => WrittenHappening::Told(text.clone()),
            Happening::Resumed => WrittenHappening::Resumed,
        };
        Written { at_ms: self.at_ms, what }
    }
}
