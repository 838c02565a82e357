//! Recordings in a session: the position, the moments, and playback. A paused live watch is a recording too.
//! (`replay` is about recordings of sessions instead.)

mod derived_events;
mod event_rows;
mod frame_requests;
mod paused_watch;
mod playback;
mod position_text;
mod replay_frame;
mod time_navigation;
mod watch_recording;

pub use derived_events::{DerivedPart, RecordingScan, derive_next_part, receive_part, stop_deriving};
pub use event_rows::{BY_COUNTERS, EventKind, EventRow, EventRows, event_rows};
pub use frame_requests::{
    cancel_requests, next_wake_ms, open_recording, receive_frame, receive_recording, tick,
};
pub use paused_watch::{
    RETURNING_MESSAGE, append_entry, paused_watch_mut, receive_paused_sweep, restore_bookmarks,
    return_to_live, watch_at_pause,
};
pub use playback::{Playback, PlaybackPosition, Speed};
pub use position_text::{
    TimeMark, clock_words, frame_time, moment_words, position_words, recording_words, replay_word, time_bar,
};
pub use replay_frame::{
    CANCELLED, FrameSource, NoBaseline, NoRecording, OpenedRecording, ReplayFrame, ReplayFrames, SeekRequest,
    SnapshotMaker,
};
pub use time_navigation::{
    change_speed, seek_place, seek_time, step_event, step_moments, toggle_bookmark, toggle_play,
};
pub use watch_recording::WatchRecording;
