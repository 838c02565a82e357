//! Packs records into frames with leads, and all leads into the table at the end.

use std::io;

use super::frame::{FRAME_LIMIT, LEAD_BYTES, Lead, TABLE_MAGIC, check, flags, pack};
use super::line::{Line, Record};

pub(super) const TABLE_WORD: &[u8; 8] = b"fdseek/1";
pub(super) const TAIL_WORD: &[u8; 8] = b"fdseekat";
/// A frame is closed when its lines have this many bytes.
const FULL: usize = 16 << 20;
/// Most bytes of one record: it must fit into a frame behind lines that do not fill it.
pub(super) const RECORD_LIMIT: usize = FRAME_LIMIT - FULL;

/// Bytes to write, and their uncompressed size.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packed {
    pub bytes: Vec<u8>,
    pub raw: usize,
}

/// Numbers records and collects leads; it does no I/O.
#[derive(Clone, Debug, Default)]
pub struct Packer {
    next: u64,
    /// The first record of the last frame with the state.
    state: u64,
    offset: u64,
    leads: Vec<Lead>,
}

impl Packer {
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Number of bytes produced so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Packs records of one time; `moment`: they complete a sweep.
    pub fn pack(&mut self, time: i64, records: Vec<Record>, moment: bool) -> io::Result<Packed> {
        self.pack_lines(time, records.into_iter().map(|record| (time, record)).collect(), moment)
    }

    /// The same for records with times of their own.
    pub fn pack_lines(&mut self, time: i64, records: Vec<(i64, Record)>, moment: bool) -> io::Result<Packed> {
        let mut packed = Packed::default();
        let (mut lines, mut first, mut says) = (Vec::new(), self.next, 0);
        let last = records.len().saturating_sub(1);
        for (at, (own, record)) in records.into_iter().enumerate() {
            says |= record.flags();
            let begun = lines.len();
            serde_json::to_writer(&mut lines, &Line { seq: self.next, time: own, record })?;
            lines.push(b'\n');
            if lines.len() - begun > RECORD_LIMIT {
                return Err(io::Error::other("one record is larger than a frame may be"));
            }
            self.next += 1;
            if lines.len() > FULL || at == last {
                let done = if at == last && moment { flags::MOMENT } else { 0 };
                self.close(&mut packed, &lines, (first, says | done), time)?;
                (lines, first, says) = (Vec::new(), self.next, 0);
            }
        }
        Ok(packed)
    }

    /// Packs a frame of another capture again with new record numbers. The rest of its lines is copied unread.
    pub fn copy(&mut self, lead: &Lead, text: &[u8]) -> io::Result<Packed> {
        const SEQ: &[u8] = b"{\"seq\":";
        let (mut packed, mut lines, first) = (Packed::default(), Vec::with_capacity(text.len()), self.next);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let rest = line.strip_prefix(SEQ).ok_or(io::ErrorKind::InvalidData)?;
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            lines.extend_from_slice(SEQ);
            lines.extend_from_slice(self.next.to_string().as_bytes());
            lines.extend_from_slice(&rest[digits..]);
            self.next += 1;
        }
        if lines.len() > FRAME_LIMIT {
            return Err(io::Error::other("a frame grew larger than one may be"));
        }
        self.close(&mut packed, &lines, (first, lead.flags), lead.time)?;
        Ok(packed)
    }

    fn close(
        &mut self,
        packed: &mut Packed,
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
        packed.bytes.extend_from_slice(&lead.bytes());
        packed.bytes.extend_from_slice(&frame);
        packed.raw += lines.len();
        self.offset += (LEAD_BYTES + frame.len()) as u64;
        Ok(())
    }

    /// The table of all frames packed so far.
    pub fn table(&self) -> Vec<u8> {
        let mut content = TABLE_WORD.to_vec();
        content.extend_from_slice(&(self.leads.len() as u64).to_le_bytes());
        self.leads.iter().for_each(|lead| content.extend_from_slice(&lead.facts()));
        content.extend_from_slice(&self.offset.to_le_bytes());
        content.extend_from_slice(&check(&content));
        content.extend_from_slice(TAIL_WORD);
        let mut bytes = TABLE_MAGIC.to_vec();
        bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }
}
