//! The interactive session: its state, its inputs and its effects. No part of it depends on a terminal, so
//! tests drive it with the same keys as an operator.

mod actions;
mod ailing;
mod changing;
mod copying;
mod driver;
mod effect;
mod entering;
mod event;
mod following;
mod forward;
mod frame;
mod help;
mod key;
mod keymap;
mod known;
mod layer;
mod layered;
mod messages;
mod names;
mod palette;
mod prompt;
mod ready;
mod replay;
mod running_jobs;
mod saving;
mod screens;
mod selecting;
mod slow_lanes;
mod state;
mod table;
mod tasks;
mod tiers;
mod timeline;
mod typing;
mod update;
mod walking;
mod watch;
mod whose_jobs;
mod words;

pub use actions::{ACTIONS, Act, Action, Over, Place, action};
pub use changing::{
    Acceptance, Attestations, BOX, Changer, Changes, ChangesSeen, Dialogue, DialogueRow,
    Offer as ChangeOffer, Planned, Question, Stop, Unchanging, Writing, can_apply, can_write, works_here,
};
pub use driver::{Changing, Driver, Lister, Recording, Sweeper};
pub use effect::{Effect, Job, Outcome, PlanFor, Selecting, StagedCommands};
pub use event::{Beginning, Event, Happening, Written, WrittenHappening};
pub use frame::{Areas, DETAILS_FROM, Rect, Size};
pub use help::{HelpLine, help_column, help_rows};
pub use key::{Key, KeyError, Press};
pub use keymap::{Keymap, KeymapError};
pub use known::{BEING_READ, Known, Proposed, Rack, Ranks, Tier, Unread};
pub use layer::{Help, Layer, Scroll, TOUR};
pub use layered::{LOG_MARGIN, dialogue_height, dialogue_room, tour_rows};
pub use messages::{Message, Messages, Severity};
pub use prompt::{Offer, Prompt, Purpose};
pub use replay::{ReplayError, replay, replay_watched};
pub use running_jobs::{Heard, JobSettings, JobsAsked, JobsFrom, JobsSeen, USUAL_MS, jobs_head};
pub use screens::{
    ChangesScreen, Detail, FabricScreen, FabricView, HotView, HotspotsScreen, JobView, JobsScreen, LaneView,
    LanesScreen, LinksScreen, PathsScreen, PortLine, SCREENS, Screen, ScreenId, ScreenTitle, TimelineScreen,
    TreeItem, TreeRow, WhatifPane, WhatifScreen, Whole, change_detail, channel_steps, engine_lines,
    event_detail, hot_lines, job_detail, lane_detail, loss_lines, per_line,
};
pub use slow_lanes::{LanesAsked, LanesSeen, lanes_head};
pub use state::{Loading, State, quoted};
pub use table::Table;
pub use tasks::{Needs, Task, TaskId, Tasks};
pub use timeline::{
    Alone, CANCELLED, EventKind, Looking, Part, Past, Playback, Recorded, Scene, Scenes, Seek, Speed,
    Standing, TimeMark, Unrecorded, Unrolled, bar, clock_words, held_words, here_words, replay_word,
    standing_words,
};
pub use update::{update, wakes_ms};
pub use watch::{
    History, Judging, Listed, Reading, Swept, Watch, WatchSettings, head_words, header_word, sweep_again,
};
