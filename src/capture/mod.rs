//! Captures on a disk: recording, reading at any time, stepping through. How the bytes lie is `files::capture`.

mod anonymous;
mod at;
mod cursor;
mod disk;
mod info;
mod moments;
mod recorder;
mod rewrite;
mod series;
mod source;

pub use anonymous::Aliases;
pub use at::At;
pub use cursor::{Answer, Cursor, Store};
pub use disk::{FileBytes, create, is_capture, open};
pub use info::{Info, Survey, examine, survey};
pub use moments::Moments;
pub use recorder::{Kept, RecordError, Recorder, Sink, fits_note};
pub use rewrite::{Changes, Edit, RewriteError, Rewritten, Stretch, rewrite};
pub use series::{Rotation, Series};
pub use source::CaptureSource;
