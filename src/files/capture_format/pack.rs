//! Packs records into frames with leads, and all leads into the table at the end.

use std::io;

use super::frame::{LEAD_BYTES, Lead, MAX_FRAME_BYTES, TABLE_MAGIC, checksum, flags, pack};
use super::line::{CaptureRecord, NumberedRecord};

pub const TABLE_WORD: &[u8; 8] = b"fdseek/1";
pub const TAIL_WORD: &[u8; 8] = b"fdseekat";
/// A frame is closed when its lines have this many bytes.
const FULL_FRAME_BYTES: usize = 16 << 20;
/// Most bytes of one record: it must fit into a frame behind lines that do not fill it.
pub const MAX_RECORD_BYTES: usize = MAX_FRAME_BYTES - FULL_FRAME_BYTES;

/// Bytes to write, and their uncompressed size.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PackedFrames {
    pub bytes: Vec<u8>,
    pub raw: usize,
}

/// Numbers records and collects leads; it does no I/O.
#[derive(Clone, Debug, Default)]
pub struct FramePacker {
    next: u64,
    /// The first record of the last frame with the state.
    state: u64,
    offset: u64,
    leads: Vec<Lead>,
}

/// The flags of a frame with one more record: with a change of the fabric it holds more than answers beside it.
fn join_flags(frame: u32, record: u32) -> u32 {
    const STATE: u32 = flags::STATE_WHOLE | flags::STATE_MOVED;
    let has_fabric = |all: u32| all & STATE != 0 && all & flags::BESIDE == 0;
    let both = frame | record;
    if has_fabric(frame) || has_fabric(record) { both & !flags::BESIDE } else { both }
}

impl FramePacker {
    pub fn next_record(&self) -> u64 {
        self.next
    }

    /// Number of bytes produced so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Packs records of one time; `moment`: they complete a sweep.
    pub fn pack(&mut self, time: i64, records: Vec<CaptureRecord>, moment: bool) -> io::Result<PackedFrames> {
        self.pack_lines(time, records.into_iter().map(|record| (time, record)).collect(), moment)
    }

    /// The same for records with times of their own.
    pub fn pack_lines(
        &mut self,
        time: i64,
        records: Vec<(i64, CaptureRecord)>,
        moment: bool,
    ) -> io::Result<PackedFrames> {
        let mut packed = PackedFrames::default();
        let (mut lines, mut first, mut frame_flags) = (Vec::new(), self.next, 0);
        let last = records.len().saturating_sub(1);
        for (at, (own, record)) in records.into_iter().enumerate() {
            frame_flags = join_flags(frame_flags, record.frame_flags());
            let begun = lines.len();
            serde_json::to_writer(&mut lines, &NumberedRecord { seq: self.next, time: own, record })?;
            lines.push(b'\n');
            if lines.len() - begun > MAX_RECORD_BYTES {
                return Err(io::Error::other("a record is larger than the limit of a frame"));
            }
            self.next += 1;
            if lines.len() > FULL_FRAME_BYTES || at == last {
                let done = if at == last && moment { flags::MOMENT } else { 0 };
                self.close_frame(&mut packed, &lines, (first, frame_flags | done), time)?;
                (lines, first, frame_flags) = (Vec::new(), self.next, 0);
            }
        }
        Ok(packed)
    }

    /// Packs a frame of another capture again with new record numbers. The rest of its lines is copied unread.
    pub fn copy_frame(&mut self, lead: &Lead, text: &[u8]) -> io::Result<PackedFrames> {
        const SEQ: &[u8] = b"{\"seq\":";
        let (mut packed, mut lines, first) =
            (PackedFrames::default(), Vec::with_capacity(text.len()), self.next);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let rest = line.strip_prefix(SEQ).ok_or(io::ErrorKind::InvalidData)?;
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            lines.extend_from_slice(SEQ);
            lines.extend_from_slice(self.next.to_string().as_bytes());
            lines.extend_from_slice(&rest[digits..]);
            self.next += 1;
        }
        if lines.len() > MAX_FRAME_BYTES {
            return Err(io::Error::other("a frame is larger than its limit"));
        }
        self.close_frame(&mut packed, &lines, (first, lead.flags), lead.time)?;
        Ok(packed)
    }

    fn close_frame(
        &mut self,
        packed: &mut PackedFrames,
        lines: &[u8],
        (first, flags): (u64, u32),
        time: i64,
    ) -> io::Result<()> {
        let frame = pack(lines)?;
        if flags & flags::STATE_WHOLE != 0 {
            self.state = first;
        }
        let lead = Lead {
            flags,
            records: (self.next - first) as u32,
            first,
            time,
            state: self.state,
            packed: frame.len() as u32,
            raw: lines.len() as u32,
        };
        if flags & flags::STATE_MOVED != 0 {
            self.state = first;
        }
        self.leads.push(lead);
        packed.bytes.extend_from_slice(&lead.to_bytes());
        packed.bytes.extend_from_slice(&frame);
        packed.raw += lines.len();
        self.offset += (LEAD_BYTES + frame.len()) as u64;
        Ok(())
    }

    /// The table of all frames packed so far.
    pub fn to_table(&self) -> Vec<u8> {
        let mut content = TABLE_WORD.to_vec();
        content.extend_from_slice(&(self.leads.len() as u64).to_le_bytes());
        self.leads.iter().for_each(|lead| content.extend_from_slice(&lead.fact_bytes()));
        content.extend_from_slice(&self.offset.to_le_bytes());
        content.extend_from_slice(&checksum(&content));
        content.extend_from_slice(TAIL_WORD);
        let mut bytes = TABLE_MAGIC.to_vec();
        bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture_format::WireRecord;
    use crate::capture_format::line::FlowsRecord;

    fn flags_of(records: Vec<CaptureRecord>) -> Lead {
        let mut packer = FramePacker::default();
        packer.pack(1, records, true).unwrap();
        packer.leads[0]
    }

    /// Answers about links and flows change no fabric: a reader that looks for changes passes them by.
    #[test]
    fn answers_beside_the_fabric_are_no_change_of_it() {
        let (flows, wire) = (FlowsRecord::default(), WireRecord::default());
        let beside = flags_of(vec![CaptureRecord::Flows(flows.clone()), CaptureRecord::Wire(wire)]);
        assert!(!beside.has_moved() && beside.has_flag(flags::STATE_MOVED), "{beside:?}");
        let names = || CaptureRecord::Names(Default::default());
        for records in [
            vec![CaptureRecord::Flows(flows.clone()), names()],
            vec![names(), CaptureRecord::Flows(flows.clone())],
            vec![names()],
        ] {
            assert!(flags_of(records).has_moved());
        }
    }
}
