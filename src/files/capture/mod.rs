//! Captures on disk: recording, reading at any time, stepping through. `capture_format` is the layout of the bytes.

mod anonymous;
mod anonymous_jobs;
mod at;
mod cursor;
mod disk;
mod info;
mod moments;
mod recorder;
mod rewrite;
mod ring;
mod series;
mod source;
mod tape;
mod timeline;

pub use anonymous::Aliases;
pub use at::At;
pub use cursor::{Answer, Cursor, Store};
pub use disk::{FileBytes, Folder, capture_at, captures_within, create, is_capture, open};
pub use info::{Info, Survey, examine, survey};
pub use moments::Moments;
pub use recorder::{Entry, Kept, RecordError, Recorder, Sink, fits_note, fitting_jobs};
pub use rewrite::{Changes, Edit, RewriteError, Rewritten, Stretch, rewrite};
pub use ring::Ring;
pub use series::{Rotation, Series};
pub use source::{CaptureSource, TOO_SHORT};
pub use tape::Tape;
pub use timeline::{Derived, Happened, Timeline, Told, Track, anchors};
