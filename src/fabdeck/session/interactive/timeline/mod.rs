//! Recordings in a session: the position, the moments, and playback. A paused live watch is a recording too.
//! (`replay` is about recordings of sessions instead.)

mod deriving;
mod flow;
mod live;
mod moving;
mod past;
mod playback;
mod rows;
mod scene;
mod words;

pub use deriving::{Part, Scan, derive_on, derived_part, stop_deriving};
pub use flow::{begin, let_go, sought, tick, unrolled, wakes_ms};
pub use live::{RETURNING, back, behind, entered, going_on, keep_bookmarks, swept_behind};
pub use moving::{at, bookmark, event, faster, play, step, to_place};
pub use past::Past;
pub use playback::{Playback, Speed, Standing};
pub use rows::{COUNTERS, EventKind, EventRow, Events, rows};
pub use scene::{Alone, CANCELLED, Looking, Recorded, Scene, Scenes, Seek, Unrecorded, Unrolled};
pub use words::{
    TimeMark, bar, clock_words, held_words, here_words, replay_word, shown_stamp, standing_words,
};
