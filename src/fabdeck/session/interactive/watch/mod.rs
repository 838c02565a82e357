//! The watch of a fabric: counter sweeps in background tasks, verdicts on them, and their history.

mod change_messages;
mod history;
mod sweep;
mod sweep_cycle;
mod threshold_events;
mod verdict;
mod watch_state;
mod watch_text;

pub use change_messages::fabric_event_messages;
pub use history::{MAX_SWEEPS, PortHistory, PortLevels, UNKNOWN_LEVELS, pack_levels};
pub use sweep::{SweepResult, read_sweep};
pub use sweep_cycle::{
    NO_ANSWER_MESSAGE, cancel_work, is_judging, next_wake_ms, receive_sweep, receive_verdict, rejudge,
    request_verdict, restart_after_snapshot, tick, toggle_pause,
};
pub use threshold_events::{ThresholdEvent, ThresholdState, bottleneck_words, ended_words, threshold_events};
pub use verdict::{ListUpdate, VerdictRequest, WatchVerdict};
pub use watch_state::{WatchSettings, WatchState};
pub use watch_text::{empty_words, head_words, header_word, interval_words};
