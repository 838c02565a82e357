//! Captures on a disk: recording, reading at any time, stepping through. How the bytes lie is `files::capture`.

mod at;
mod cursor;
mod disk;
mod info;
mod moments;
mod recorder;
mod source;

pub use at::At;
pub use cursor::{Answer, Cursor, Store};
pub use disk::{FileBytes, create, is_capture, open};
pub use info::{Info, examine};
pub use moments::Moments;
pub use recorder::{Kept, RecordError, Recorder, Sink, fits_note};
pub use source::CaptureSource;
