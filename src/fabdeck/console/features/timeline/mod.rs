//! Recordings in a session: the position, the moments, and playback. A paused live watch is a recording too.
//! (`replay` is about recordings of sessions instead.)

pub(crate) mod annotation_model;
pub(crate) mod annotations;
pub mod derivation;
pub mod derived_events;
pub mod detail;
pub(crate) mod draw;
mod draw_strips;
pub mod event_rows;
mod feature;
pub mod frame_requests;
pub mod moment_compare;
pub(crate) mod operator_log;
pub mod pause_state;
pub(crate) mod paused_watch;
pub mod playback;
pub(crate) mod position_text;
pub(crate) mod recording_file;
pub(crate) mod screen;
pub mod strips;
pub(crate) mod time_cursor;
pub(crate) mod time_navigation;
pub(crate) mod timeline_panes;
mod worst_moment;

pub(crate) use feature::FEATURE;
