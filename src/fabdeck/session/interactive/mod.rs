//! The interactive session: its state, its inputs and its effects. No part of it depends on a terminal, so
//! tests drive it with the same keys as an operator.

mod actions;
mod changes;
mod command_lines;
mod current_job_source;
mod cursor;
mod effect;
mod event;
mod health;
mod help;
mod key;
mod keymap;
mod layout;
mod line_input;
mod line_words;
mod messages;
mod model;
mod name_completion;
mod operator_log;
mod overlay;
mod overlays;
mod palette;
mod path_navigation;
mod preconditions;
mod prompt;
mod ranks;
mod results;
mod row_selection;
mod running_jobs;
mod save_actions;
mod screens;
mod slow_lanes;
mod state;
mod table;
mod tasks;
mod timeline;
mod update;
mod watch;

pub use actions::{ACTIONS, Action, ActionFn, KeyScope, OverlayScope, action};
pub use changes::{
    Acceptance, Attestations, CHECKBOX_WIDTH, ChangeOffer, ChangeOverview, Changer, ChangesModel, Dialogue,
    DialogueFocus, DialogueQuestion, DialogueRow, NoChanger, PlanSource, WriteAccess, can_apply, can_write,
    is_key_active,
};
pub use effect::{Effect, PlanRequest, SelectRequest, StagedCommands, TaskOutcome, TaskRequest};
pub use event::{RecordedEvent, RecordedInput, SessionEvent, SessionHeader, SessionInput};
pub use help::{HelpLine, help_column, help_rows};
pub use key::{Key, KeyError, KeyName};
pub use keymap::{Keymap, KeymapError};
pub use layout::{Areas, DETAILS_MIN_SCREEN, Rect, Size};
pub use messages::{LogMessage, MessageLog, Severity};
pub use model::{MissingTables, Model, ProposalState, Rack, Ranks, SwitchRank, TABLES_BEING_READ};
pub use overlay::{Help, Overlay, Scroll, TOUR};
pub use overlays::{LOG_MARGIN, dialogue_height, dialogue_width, tour_rows};
pub use prompt::{Completion, Prompt, Purpose};
pub use running_jobs::{
    DEFAULT_INTERVAL_MS, JobComparisonRequest, JobInput, JobListSource, JobSettings, JobsModel, jobs_head,
};
pub use screens::{
    ChangesScreen, DetailPage, ElementDetail, FabricScreen, FabricView, HotspotsScreen, HotspotsView,
    JobView, JobsScreen, LaneView, LanesScreen, LinksScreen, PathsScreen, PortDetail, SCREENS, Screen,
    ScreenId, ScreenTitle, TimelineScreen, TreeItem, TreeRow, WhatifPane, WhatifScreen, change_detail,
    channel_steps, engine_lines, event_detail, hot_lines, job_detail, lane_detail, loss_lines,
    switches_per_line,
};
pub use slow_lanes::{LaneRequest, LanesModel, lanes_head};
pub use state::{LoadState, SessionState, quote_for_shell};
pub use table::Table;
pub use tasks::{Task, TaskDependency, TaskId, Tasks};
pub use timeline::{
    CANCELLED, DerivedPart, EventKind, FrameSource, NoBaseline, NoRecording, OpenedRecording, Playback,
    PlaybackPosition, ReplayFrame, ReplayFrames, SeekRequest, SnapshotMaker, Speed, TimeMark, WatchRecording,
    clock_words, moment_words, position_words, recording_words, replay_word, time_bar,
};
pub use update::{next_wake_ms, update};
pub use watch::{
    ListUpdate, PortHistory, SweepResult, VerdictRequest, WatchSettings, WatchState, WatchVerdict,
    head_words, header_word, read_sweep,
};
