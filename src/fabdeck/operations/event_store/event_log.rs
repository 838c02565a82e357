//! The log: segments with a line for each batch. The lines of a segment are chained as those of a journal, and its first line
//! states the end of the segment before it.
//!
//! A process that is killed leaves a torn line at the end of the last segment; it is no batch, and is cut off by the next
//! writer. A full disk fails the append: the segment is cut back to what it had, and the batches wait for room.

use fabdeck_change::{ChainError, ChainHash, ChainedLines, chain_line};
use serde::{Deserialize, Serialize};

use super::store_error::StoreError;
use super::stored_batch::StoredBatch;
use crate::system::store_disk::StoreDisk;

const SCHEMA: &str = "fabdeck.event-log/1";
const PREFIX: &str = "events-";
const SUFFIX: &str = ".log";

/// The bounds of the log.
#[derive(Clone, Copy, Debug)]
pub struct LogLimits {
    /// Length from which on a new segment begins.
    pub segment_bytes: u64,
    /// Most segments; the oldest are deleted once the ledger has what is in them.
    pub segments: usize,
}

impl Default for LogLimits {
    /// 96 MB: about 300,000 events.
    fn default() -> Self {
        Self { segment_bytes: 8 << 20, segments: 12 }
    }
}

/// The first line of a segment.
#[derive(Serialize, Deserialize)]
struct SegmentHead {
    schema: String,
    /// The number of its first batch.
    batch: u64,
    /// The chain at the end of the segment before it.
    after: String,
}

/// The file name of the segment that begins with a batch.
fn segment_name(batch: u64) -> String {
    format!("{PREFIX}{batch:012}{SUFFIX}")
}

/// The names of the segments among files, in their order, each with the number of its first batch.
pub fn segment_names(files: Vec<String>) -> Vec<(u64, String)> {
    let number = |name: &String| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse::<u64>().ok();
    let mut all: Vec<(u64, String)> =
        files.into_iter().filter_map(|name| Some((number(&name)?, name))).collect();
    all.sort();
    all
}

/// What a segment has.
#[derive(Debug, Default)]
pub struct SegmentRead {
    pub batches: Vec<StoredBatch>,
    link: ChainHash,
    /// Length of the valid lines.
    pub length: u64,
    unended: bool,
    /// A line that is damaged; the lines after it are not used.
    pub damage: Option<ChainError>,
}

/// Reads a segment. `Err`: it is of another version, or none.
pub fn read_segment(bytes: &[u8]) -> Result<SegmentRead, String> {
    let (lines, damage) = match ChainedLines::read(bytes) {
        Ok(lines) => (lines, None),
        Err(error) => {
            let valid = bytes.get(..usize::try_from(error.offset).unwrap_or(0)).unwrap_or_default();
            (ChainedLines::read(valid).unwrap_or_default(), Some(error))
        }
    };
    let mut read = SegmentRead {
        batches: Vec::new(),
        link: lines.link,
        length: lines.length,
        unended: lines.unended,
        damage,
    };
    let Some(((_, head), batches)) = lines.lines.split_first() else { return Ok(read) };
    match serde_json::from_str::<SegmentHead>(head) {
        Ok(head) if head.schema == SCHEMA => {}
        Ok(head) => return Err(format!("its schema is {}", head.schema)),
        Err(error) => return Err(format!("it does not begin as a log of events: {error}")),
    }
    for (offset, line) in batches {
        match serde_json::from_str(line) {
            Ok(batch) => read.batches.push(batch),
            Err(_) => {
                let what = "the line is no batch of events";
                read.damage = Some(ChainError { offset: *offset, what });
                break;
            }
        }
    }
    Ok(read)
}

/// The segment that is written to.
#[derive(Clone, Debug)]
struct OpenSegment {
    name: String,
    link: ChainHash,
    length: u64,
    unended: bool,
}

/// Writes the log.
#[derive(Debug)]
pub struct BatchLog {
    segment: Option<OpenSegment>,
    /// The chain at the end of the last segment.
    link: ChainHash,
    limits: LogLimits,
}

impl BatchLog {
    pub fn new(limits: LogLimits) -> Self {
        Self { segment: None, link: ChainHash::default(), limits }
    }

    /// Continues a segment that was read, the last one. What is torn at its end is cut off. After damage a new segment
    /// begins.
    pub fn resume(
        &mut self,
        disk: &mut dyn StoreDisk,
        name: &str,
        read: &SegmentRead,
        size: u64,
    ) -> std::io::Result<()> {
        self.link = read.link;
        if read.damage.is_some() {
            return Ok(());
        }
        if size > read.length {
            disk.cut(name, read.length)?;
        }
        self.segment = Some(OpenSegment {
            name: name.to_owned(),
            link: read.link,
            length: read.length,
            unended: read.unended,
        });
        Ok(())
    }

    /// Appends lines, the first of which is of this batch. After a failure nothing of them is in the log, or a reader
    /// that finds some of them leaves out those that follow a second time.
    pub fn append(&mut self, disk: &mut dyn StoreDisk, batch: u64, lines: &[String]) -> std::io::Result<()> {
        if self.segment.as_ref().is_some_and(|segment| segment.length >= self.limits.segment_bytes) {
            self.segment = None;
        }
        let mut text = String::new();
        let mut segment = match self.segment.clone() {
            Some(segment) if segment.length > 0 => segment,
            _ => {
                let name = segment_name(batch);
                let after = self.link.to_string();
                let head = SegmentHead { schema: SCHEMA.to_owned(), batch, after };
                let (line, link) = chain_line(ChainHash::default(), &serde_json::to_string(&head)?);
                text += &line;
                // What a writer before left under this name is no batch: it was read, and had none.
                let left = disk.list()?.contains(&name);
                if left {
                    disk.cut(&name, 0)?;
                }
                OpenSegment { name, link, length: 0, unended: false }
            }
        };
        if segment.unended {
            text.push('\n');
        }
        for json in lines {
            let (line, link) = chain_line(segment.link, json);
            text += &line;
            segment.link = link;
        }
        let before = segment.length;
        if let Err(error) = disk.append(&segment.name, text.as_bytes()) {
            if disk.cut(&segment.name, before).is_err() {
                self.segment = None;
            }
            return Err(error);
        }
        segment.length = before + text.len() as u64;
        segment.unended = false;
        self.link = segment.link;
        self.segment = Some(segment);
        Ok(())
    }

    /// Whether the next batch begins a segment.
    pub fn is_full(&self) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.length >= self.limits.segment_bytes)
    }

    /// Deletes the oldest segments beyond the bound. The ledger has to have what is in them.
    pub fn delete_oldest(&self, disk: &mut dyn StoreDisk) -> std::io::Result<()> {
        let segments = segment_names(disk.list()?);
        let over = segments.len().saturating_sub(self.limits.segments);
        segments.iter().take(over).try_for_each(|(_, name)| disk.remove(name))
    }
}

/// Reads the batches after one, over all segments. `report` gets what is damaged.
pub fn read_batches(
    disk: &dyn StoreDisk,
    after: u64,
    place: &str,
    report: &mut dyn FnMut(String),
) -> Result<Vec<StoredBatch>, StoreError> {
    let failed = |error| StoreError::Disk { place: place.to_owned(), what: "read", error };
    let segments = segment_names(disk.list().map_err(failed)?);
    let mut batches: Vec<StoredBatch> = Vec::new();
    for (at, (_, name)) in segments.iter().enumerate() {
        // The segment after it says where this one ends.
        if segments.get(at + 1).is_some_and(|(next, _)| *next <= after + 1) {
            continue;
        }
        let bytes = match disk.read(name, 0) {
            // The writer deleted it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            read => read.map_err(failed)?,
        };
        let read = read_segment(&bytes)
            .map_err(|what| StoreError::Foreign { place: format!("{place}/{name}"), what })?;
        if let Some(damage) = &read.damage {
            report(format!("{place}/{name}: {damage}; events after it are not shown"));
        }
        for batch in read.batches {
            if batch.batch > batches.last().map_or(after, |last| last.batch) {
                batches.push(batch);
            }
        }
    }
    Ok(batches)
}
