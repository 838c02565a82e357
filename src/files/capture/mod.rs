//! Captures on disk: recording, reading at any time, stepping through. `capture_format` is the layout of the bytes.

mod anonymize;
mod anonymize_jobs;
mod capture_file;
mod capture_source;
mod cursor;
mod info;
mod moments;
mod player;
mod recorder;
mod rewrite;
mod ring;
mod series;
mod time_spec;
mod timeline;

pub use anonymize::Aliases;
pub use capture_file::{FileBytes, FolderContent, create, find_capture, is_capture, list_captures, open};
pub use capture_source::{CaptureSource, TOO_SHORT};
pub use cursor::{Cursor, CursorStep, MomentStore};
pub use info::{CaptureInfo, CaptureSurvey, examine, read_acknowledgements, survey};
pub use moments::Moments;
pub use player::RecordingPlayer;
pub use recorder::{
    OperatorEntry, RecordError, RecordedPart, Recorder, Sink, fits_acknowledgement, fits_annotation,
    fits_note, recordable_jobs,
};
pub use rewrite::{
    CaptureRange, RecordEdit, RewriteError, RewriteOptions, RewriteSummary, rewrite, rewrite_observed,
};
pub use ring::RingRecording;
pub use series::{FileSeries, RotationLimits};
pub use time_spec::TimeSpec;
pub use timeline::{DerivedEvent, Timeline, TimelineEntry, TimelineEvent, TimelineMoments, error_anchors};
