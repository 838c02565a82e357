//! The console: frames, keys, lines, and the real program on a terminal.

mod acting;
mod applying;
mod budgets;
mod changer;
mod deriving;
mod desk;
mod endings;
mod frames;
mod jobs;
mod lanes;
mod lines;
mod mashing;
mod operating;
mod pausing;
mod pictures;
pub mod pty;
mod readable;
mod recorded;
mod recorded_jobs;
mod replaying;
mod same;
mod terminal;
mod timelines;
mod told;
mod troubles;
mod typed;
mod watching;
