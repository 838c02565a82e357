//! Positions of frames in a capture: from the table at its end, or from each lead if the table is missing or damaged.

use std::sync::Arc;
use std::{fmt, io};

use super::frame::{FACTS_BYTES, LEAD_BYTES, Lead, TABLE_MAGIC, checksum};
use super::pack::{TABLE_WORD, TAIL_WORD};

/// The bytes of a capture.
pub trait ByteSource: Sync {
    fn size(&self) -> u64;

    /// Reads this many bytes from an offset; all of them, or an error.
    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>>;
}

impl ByteSource for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.get(from..from.saturating_add(length)).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(bytes.to_vec())
    }
}

impl ByteSource for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.as_slice().read(offset, length)
    }
}

/// Shared by several readers.
impl ByteSource for Arc<Vec<u8>> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.as_slice().read(offset, length)
    }
}

/// A frame and its offset, behind its lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameSlot {
    pub offset: u64,
    pub lead: Lead,
}

/// Bytes that belong to no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    pub offset: u64,
    pub bytes: u64,
    /// Number of the first missing record, as far as the frame before tells.
    pub record: u64,
    /// Whether the hole reaches to the end of the file.
    pub torn: bool,
}

impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, bytes, record, .. } = self;
        write!(f, "record {record} at byte {offset}: {bytes} bytes belong to no frame")
    }
}

/// The condition of the table at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexStatus {
    Good,
    Missing,
    Damaged,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    pub slots: Vec<FrameSlot>,
    pub holes: Vec<Hole>,
    pub table: IndexStatus,
}

const TAIL: usize = 24;

impl Index {
    pub fn load(bytes: &impl ByteSource) -> io::Result<Self> {
        let table = match load_table(bytes)? {
            Ok(slots) => return Ok(Self { slots, holes: Vec::new(), table: IndexStatus::Good }),
            Err(table) => table,
        };
        let mut index = Self { slots: Vec::new(), holes: Vec::new(), table };
        index.scan_frames(bytes)?;
        Ok(index)
    }

    fn scan_frames(&mut self, bytes: &impl ByteSource) -> io::Result<()> {
        let (mut at, size) = (0, bytes.size());
        while at < size {
            let rest = size - at;
            let head = bytes.read(at, rest.min(LEAD_BYTES as u64) as usize)?;
            let lead =
                Lead::from_bytes(&head).filter(|lead| LEAD_BYTES as u64 + u64::from(lead.packed) <= rest);
            if let Some(lead) = lead {
                self.slots.push(FrameSlot { offset: at + LEAD_BYTES as u64, lead });
                at += LEAD_BYTES as u64 + u64::from(lead.packed);
            } else if let Some(length) = table_length(&head).filter(|length| *length <= rest) {
                // Either this table was tried before, or it belongs to a file that another capture was appended to.
                at += length;
            } else {
                let next = find_lead(bytes, at + 1)?;
                self.holes.push(Hole {
                    offset: at,
                    bytes: next.unwrap_or(size) - at,
                    record: self.slots.last().map_or(0, |slot| slot.lead.next_record()),
                    torn: next.is_none(),
                });
                at = next.unwrap_or(size);
            }
        }
        Ok(())
    }
}

/// The length of a table, as its head states it.
fn table_length(head: &[u8]) -> Option<u64> {
    let length = u32::from_le_bytes(head.get(4..8)?.try_into().ok()?);
    let is_table = head[..4] == TABLE_MAGIC && head.get(8..16)? == TABLE_WORD;
    is_table.then_some(8 + u64::from(length))
}

/// The frames that a good table lists.
fn load_table(bytes: &impl ByteSource) -> io::Result<Result<Vec<FrameSlot>, IndexStatus>> {
    let size = bytes.size();
    if size < (8 + 16 + TAIL) as u64 {
        return Ok(Err(IndexStatus::Missing));
    }
    let tail = bytes.read(size - TAIL as u64, TAIL)?;
    if &tail[16..] != TAIL_WORD {
        return Ok(Err(IndexStatus::Missing));
    }
    let offset = tail[..8].iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    if offset > size - (8 + 16 + TAIL) as u64 {
        return Ok(Err(IndexStatus::Damaged));
    }
    let whole = bytes.read(offset, (size - offset) as usize)?;
    Ok(parse_slots(&whole, offset).ok_or(IndexStatus::Damaged))
}

fn parse_slots(table: &[u8], offset: u64) -> Option<Vec<FrameSlot>> {
    if table_length(table)? != table.len() as u64 {
        return None;
    }
    let content = &table[8..];
    let (checked, stored) = content.split_at(content.len() - 16);
    if checksum(checked) != stored[..8] {
        return None;
    }
    let facts = &checked[16..checked.len() - 8];
    let count = u64::from_le_bytes(checked[8..16].try_into().ok()?);
    if facts.len() as u64 != count.checked_mul(FACTS_BYTES as u64)? {
        return None;
    }
    let (mut slots, mut at) = (Vec::new(), 0);
    for facts in facts.chunks_exact(FACTS_BYTES) {
        let lead = Lead::from_facts(facts.try_into().ok()?)?;
        slots.push(FrameSlot { offset: at + LEAD_BYTES as u64, lead });
        at += LEAD_BYTES as u64 + u64::from(lead.packed);
    }
    (at == offset).then_some(slots)
}

/// The position of the next good lead, from an offset on.
fn find_lead(bytes: &impl ByteSource, from: u64) -> io::Result<Option<u64>> {
    const MOST: u64 = 1 << 20;
    // Chunks double in size: with many small holes, finding their ends reads little more than the holes.
    let (mut at, size, mut much) = (from, bytes.size(), 256);
    while at < size {
        let chunk = bytes.read(at, (size - at).min(much) as usize)?;
        much = (much * 2).min(MOST);
        let mut seen = 0;
        while let Some(found) = Lead::find(&chunk[seen..]) {
            let place = at + (seen + found) as u64;
            let head = bytes.read(place, (size - place).min(LEAD_BYTES as u64) as usize)?;
            if Lead::from_bytes(&head).is_some() {
                return Ok(Some(place));
            }
            seen += found + 1;
        }
        if at + chunk.len() as u64 >= size {
            return Ok(None);
        }
        // The magic number of a lead may lie across two chunks.
        at += (chunk.len() - 3) as u64;
    }
    Ok(None)
}
