//! Captures: recordings of a fabric over time, in one file. A capture consists of zstd frames of JSON lines. Each
//! frame follows a lead that says what it holds, and a table at the end repeats all leads. `docs/capture-format.md`
//! describes every byte.

mod adaptive_tables;
mod counters;
mod frame;
mod groups;
mod index;
mod labels;
mod line;
mod links;
mod pack;
mod partitions;
mod path_levels;
mod planes;
mod reader;
mod record_words;
mod state;
mod switching;
mod topology;
mod wire;

use super::FileError;
use super::limit::MAX_NODES;
use super::text::Input;
use fabdeck_fabric::observe::Observation;

pub use counters::{CounterBase, Counters, encode};
pub use frame::{LEAD_BYTES, Lead, MAX_FRAME_BYTES, flags};
pub use groups::GroupRecord;
pub use index::{ByteSource, FrameSlot, Hole, Index, IndexStatus};
pub use line::{
    AcknowledgementRecord, Annotation, CaptureHeader, CaptureRecord, JobsRecord, MAX_JOBS_BYTES,
    MAX_TEXT_BYTES, ManagerRecord, NoteRecord, NumberedRecord, OperatorAction, ParsedLine, ProblemExtent,
    RecordingEnd, TickRecord, encoded_size,
};
pub use pack::{FramePacker, PackedFrames};
pub use partitions::{PartitionPortEntry, PartitionRecord};
pub use planes::PlaneRecord;
pub use reader::{CaptureReader, Damage};
pub use state::{CaptureState, changed_records, state_records, wire_records};
pub use topology::{DeviceModel, NodeLabel};
pub use wire::{WireDeviceEntry, WirePortEntry, WireRecord};

pub const ID: &str = "fdcap";

/// Limits of a reader: a file beyond them is refused before it takes memory. `docs/capture-format.md` repeats them.
pub const LIMITS: &[(&str, usize)] = &[
    ("bytes of a frame, packed and unpacked", MAX_FRAME_BYTES),
    ("bytes of the line of a record, as it is written", pack::MAX_RECORD_BYTES),
    ("bytes of the line of a note, an action, an annotation, an acknowledgement or news", MAX_TEXT_BYTES),
    ("bytes of the line of a list of jobs", MAX_JOBS_BYTES),
    ("nodes of a fabric", MAX_NODES),
    ("ports of a fabric", topology::MAX_PORTS),
    ("samples of a sweep", counters::MAX_SWEEP_SAMPLES),
    ("values of a sweep in one record", counters::MAX_RECORD_VALUES),
    ("values of a sample on average, in a sweep of several records", counters::MAX_MEAN_VALUES),
    ("values of a sweep in all", counters::MAX_SWEEP_VALUES),
    ("paths with a service level", path_levels::MAX_PATHS),
    ("bytes of the names of vendor counters in a sweep", counters::MAX_VENDOR_NAME_BYTES),
];

/// Whether a file begins with a lead. Its first bytes are text, which is enough to recognize it.
pub fn looks_like(head: &str) -> bool {
    head.starts_with("P*M\u{18}") && head.get(8..14) == Some("fdcap/")
}

/// Reads the last moment of a capture, or the last readable one before it.
pub fn read(input: Input<'_>) -> Result<Observation, Box<FileError>> {
    let mut reader = CaptureReader::open(input.name, input.bytes)?;
    reader.show_last()?;
    Ok(reader.observation())
}
