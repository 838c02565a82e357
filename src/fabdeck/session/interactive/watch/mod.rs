//! The watch of a fabric: counter sweeps in background tasks, verdicts on them, and their history.

mod changes;
mod flow;
mod history;
mod judge;
mod sweep;
mod turns;
mod watched;
mod words;

pub use changes::news;
pub use flow::{
    SILENT, first_after_look, is_judging, judge, judge_again, judged, let_go, swept, tick, toggle, wakes_ms,
};
pub use history::{History, KEPT, Levels, NOBODY, byte};
pub use judge::{Judging, Listed, Reading};
pub use sweep::{Swept, sweep_again};
pub use turns::{Above, Turn, over_words, stuck_words, turns};
pub use watched::{Watch, WatchSettings};
pub use words::{empty_words, head_words, header_word, interval_words};
