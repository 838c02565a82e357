//! Captures: recordings of a fabric over time, in one file. A capture consists of zstd frames of JSON lines. Each
//! frame follows a lead that says what it holds, and a table at the end repeats all leads. `docs/capture-format.md`
//! describes every byte.

mod counters;
mod frame;
mod index;
mod line;
mod links;
mod pack;
mod path_levels;
mod reader;
mod state;
mod switching;
mod topology;
mod words;

use super::FileError;
use super::limit::MOST_NODES;
use super::text::Input;
use fabdeck_fabric::observe::Observation;

pub use counters::{Base, Counters, encode};
pub use frame::{FRAME_LIMIT, LEAD_BYTES, Lead, flags};
pub use index::{Bytes, Hole, Index, Slot, Table};
pub use line::{
    Acted, End, Header, JOBS_LIMIT, JobsRecord, Line, Manager, Parsed, Record, Remark, TEXT_LIMIT,
    TickRecord, said_size,
};
pub use pack::{Packed, Packer};
pub use reader::{Damage, Reader};
pub use state::{State, changes, whole};
pub use topology::{Called, Device};

pub const ID: &str = "fdcap";

/// Limits of a reader: a file beyond them is refused before it takes memory. `docs/capture-format.md` repeats them.
pub const LIMITS: &[(&str, usize)] = &[
    ("bytes of a frame, packed and unpacked", FRAME_LIMIT),
    ("bytes of the line of a record, as it is written", pack::RECORD_LIMIT),
    ("bytes of the line of a note, an action or news", TEXT_LIMIT),
    ("bytes of the line of a list of jobs", JOBS_LIMIT),
    ("nodes of a fabric", MOST_NODES),
    ("ports of a fabric", topology::MOST_PORTS),
    ("samples of a sweep", counters::MOST_SAMPLES),
    ("values of a sweep that one record holds", counters::MOST_VALUES),
    ("values of a sample on the average, where a sweep has more than one record holds", counters::MOST_EACH),
    ("values of a sweep in all", counters::MOST_HELD),
    ("paths whose service levels are held", path_levels::MOST_PATHS),
    ("bytes of the names of counters that only a vendor knows, in a sweep", counters::MOST_NAMED),
];

/// Whether a file begins with a lead. Its first bytes are text, which is enough to recognize it.
pub fn looks_like(head: &str) -> bool {
    head.starts_with("P*M\u{18}") && head.get(8..14) == Some("fdcap/")
}

/// Reads the last moment of a capture, or the last readable one before it.
pub fn read(input: Input<'_>) -> Result<Observation, Box<FileError>> {
    let mut reader = Reader::open(input.name, input.bytes)?;
    reader.show_last()?;
    Ok(reader.observation())
}
