//! Recordings in a session: the position, the moments, and playback. A paused live watch is a recording too.
//! (`replay` is about recordings of sessions instead.)

pub mod derived_events;
pub(crate) mod draw;
mod event_rows;
pub(crate) mod frame_requests;
pub(crate) mod operator_log;
pub(crate) mod paused_watch;
pub mod playback;
pub(crate) mod position_text;
pub mod replay_frame;
pub(crate) mod screen;
pub(crate) mod time_navigation;
pub mod watch_recording;
