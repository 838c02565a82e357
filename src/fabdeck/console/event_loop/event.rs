//! The inputs of a session, and their recorded form. Keys, sizes and times are recorded as they are. Task
//! results are recorded as a digest, because a replay computes them again. Results of changes are recorded
//! whole, because a replay makes no changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalogue::snapshot::Snapshot;
use crate::console::features::jobs::jobs_model::JobSettings;
use crate::console::features::snapshot_change::SnapshotOutcome;
use crate::console::features::watch::watch_state::WatchSettings;
use crate::console::model::background_task::{TaskOutcome, WholeOutcome};
use crate::console::model::key::Key;
use crate::console::model::layout::Size;
use crate::console::model::mouse::MouseInput;
use crate::console::model::pane_sizes::PaneSizes;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::TaskId;
use crate::operations::changes::changer::WriteAccess;
use crate::operations::watch::history_clock::HistoryClock;

/// An input, and its time in milliseconds since the session began.
#[derive(Debug)]
pub struct SessionEvent {
    pub at_ms: u64,
    pub what: SessionInput,
}

#[derive(Debug)]
pub enum SessionInput {
    Key(Key),
    Mouse(MouseInput),
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
        look: Arc<Snapshot>,
    },
    Finished {
        task: TaskId,
        outcome: Box<dyn TaskOutcome>,
    },
    /// A message for the operator from outside the session.
    Message(String),
    /// The terminal takes frames slowly from now on, or no longer does.
    LineSpeed {
        is_slow: bool,
    },
    /// The terminal is back after another program used it.
    Resumed,
}

/// The first line of a recorded session: its settings at the start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionHeader {
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
    /// The borders of panes that earlier sessions moved.
    #[serde(default, skip_serializing_if = "PaneSizes::is_empty")]
    pub panes: PaneSizes,
    /// Whether the session began with the mouse.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mouse: bool,
    /// Whether Links opens with cables in trouble first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trouble_first: bool,
    /// What the configuration says of a slow line; `None` follows the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_line: Option<bool>,
    /// The view that the session opened at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// What a clock showed when the session began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HistoryClock>,
    /// Whether the session could write to the fabric.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub writing: WriteAccess,
}

fn is_usual(writing: &WriteAccess) -> bool {
    *writing == WriteAccess::default()
}

impl SessionHeader {
    pub const SESSION_FORMAT: u32 = 1;

    /// The header of a session that has just been opened.
    pub fn from_state(state: &SessionState) -> Self {
        Self {
            format: Self::SESSION_FORMAT,
            source: state.source.clone(),
            size: state.size,
            options: state.options.clone(),
            keys: state.keymap.overrides().clone(),
            panes: state.panes.sizes.clone(),
            mouse: state.mouse,
            trouble_first: state.screens.links.opens_by_trouble,
            slow_line: state.known.line.setting,
            open: state.opening.as_ref().map(|opening| opening.view.line()),
            clock: state.known.clock,
            writing: state.writing.clone(),
            jobs: Some(state.known.jobs.settings.clone()).filter(|jobs| *jobs != JobSettings::default()),
            watch: Some(state.known.watch.settings.clone()).filter(|watch| watch.interval_ms > 0),
        }
    }
}

/// An event in its recorded form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedEvent {
    pub at_ms: u64,
    #[serde(flatten)]
    pub what: RecordedInput,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedInput {
    Key(Key),
    Mouse(MouseInput),
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
        whole: Option<WholeOutcome>,
    },
    Told(String),
    LineSpeed {
        is_slow: bool,
    },
    Resumed,
}

impl SessionEvent {
    pub fn to_recorded(&self) -> RecordedEvent {
        let what = match &self.what {
            SessionInput::Key(key) => RecordedInput::Key(*key),
            SessionInput::Mouse(mouse) => RecordedInput::Mouse(mouse.clone()),
            SessionInput::Paste(text) => RecordedInput::Paste(text.clone()),
            SessionInput::Resized(size) => RecordedInput::Resized(*size),
            SessionInput::Tick => RecordedInput::Tick,
            SessionInput::Progress { task, done, of } => {
                RecordedInput::Progress { task: *task, done: *done, of: *of }
            }
            SessionInput::Sighted { task, look } => {
                let digest = SnapshotOutcome(Ok(look.clone())).digest();
                RecordedInput::Sighted { task: *task, digest }
            }
            SessionInput::Finished { task, outcome } => RecordedInput::Finished {
                task: *task,
                digest: outcome.digest(),
                took_ms: outcome.took_ms(),
                whole: outcome.to_whole(),
            },
            SessionInput::Message(text) => RecordedInput::Told(text.clone()),
            SessionInput::LineSpeed { is_slow } => RecordedInput::LineSpeed { is_slow: *is_slow },
            SessionInput::Resumed => RecordedInput::Resumed,
        };
        RecordedEvent { at_ms: self.at_ms, what }
    }
}
