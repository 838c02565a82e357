//! A frame and the lead before it. The lead is a skippable frame of zstd, so `zstdcat` passes over it.

use std::io;

/// What the lines of one frame may come to: nobody is made to unpack more at once.
pub const FRAME_LIMIT: usize = 64 << 20;
/// A lead with its head.
pub const LEAD_BYTES: usize = 64;
/// What one lead says, as the table at the end repeats it.
pub(super) const FACTS_BYTES: usize = 40;

const LEAD_MAGIC: [u8; 4] = 0x184D_2A50_u32.to_le_bytes();
pub(super) const TABLE_MAGIC: [u8; 4] = 0x184D_2A51_u32.to_le_bytes();
const FRAME_MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
/// Format and version.
const WORD: &[u8; 8] = b"fdcap/1\n";
/// The bit of a frame's descriptor that says that a checksum follows.
const CHECKSUM: u8 = 1 << 2;
const LEVEL: i32 = 3;

/// What a frame holds, for whoever looks for it.
pub mod flags {
    /// Everything but counters stands here whole, or begins to: the record `header`.
    pub const STATE_WHOLE: u32 = 1;
    /// Something but counters changed.
    pub const STATE_MOVED: u32 = 1 << 1;
    /// All counters with their values.
    pub const COUNTERS_WHOLE: u32 = 1 << 2;
    /// Counters, whole or as they moved since the sweep before.
    pub const COUNTERS: u32 = 1 << 3;
    /// A note, an action or news.
    pub const EVENT: u32 = 1 << 4;
    /// What one sweep brought is complete with this frame.
    pub const MOMENT: u32 = 1 << 5;
    /// The recording ended here, as it should.
    pub const END: u32 = 1 << 6;
    /// In no lead: asks a frame for its lists of jobs alone.
    pub const JOBS: u32 = 1 << 31;
}

/// What stands before a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lead {
    pub flags: u32,
    /// How many records (lines) the frame holds, and the number of the first.
    pub records: u32,
    pub first: u64,
    /// In milliseconds since 1970 began.
    pub time: i64,
    /// The first record of the frame in which the state stands (of the frame before it, where this one changes it).
    pub state: u64,
    /// Bytes of the frame, and of its lines.
    pub packed: u32,
    pub raw: u32,
}

impl Lead {
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The number of the first record behind the frame.
    pub fn next(&self) -> u64 {
        self.first.saturating_add(u64::from(self.records))
    }

    pub(super) fn facts(&self) -> [u8; FACTS_BYTES] {
        let mut bytes = [0; FACTS_BYTES];
        bytes[0..4].copy_from_slice(&self.flags.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.records.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.time.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.state.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.packed.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.raw.to_le_bytes());
        bytes
    }

    /// `None` where no writer would have written such numbers.
    pub(super) fn of_facts(bytes: &[u8; FACTS_BYTES]) -> Option<Self> {
        let four = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let eight = |at: usize| u64::from(four(at)) | u64::from(four(at + 4)) << 32;
        let lead = Self {
            flags: four(0),
            records: four(4),
            first: eight(8),
            time: eight(16).cast_signed(),
            state: eight(24),
            packed: four(32),
            raw: four(36),
        };
        let fits = lead.records > 0 && lead.packed > 0 && lead.raw.max(lead.packed) as usize <= FRAME_LIMIT;
        (fits && lead.state <= lead.first).then_some(lead)
    }

    pub fn bytes(&self) -> [u8; LEAD_BYTES] {
        let mut bytes = [0; LEAD_BYTES];
        bytes[..4].copy_from_slice(&LEAD_MAGIC);
        bytes[4..8].copy_from_slice(&((LEAD_BYTES - 8) as u32).to_le_bytes());
        bytes[8..16].copy_from_slice(WORD);
        bytes[16..56].copy_from_slice(&self.facts());
        let check = check(&bytes[8..56]);
        bytes[56..].copy_from_slice(&check);
        bytes
    }

    /// The lead that begins with these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..LEAD_BYTES)?;
        let whole = bytes[..4] == LEAD_MAGIC
            && bytes[4..8] == ((LEAD_BYTES - 8) as u32).to_le_bytes()
            && &bytes[8..16] == WORD
            && bytes[56..] == check(&bytes[8..56]);
        Self::of_facts(bytes[16..56].try_into().ok().filter(|_| whole)?)
    }

    /// Where in these bytes a lead may begin.
    pub(super) fn find(bytes: &[u8]) -> Option<usize> {
        bytes.windows(LEAD_MAGIC.len()).position(|four| four == LEAD_MAGIC)
    }

    /// Whether a file begins as captures of another version do.
    pub(super) fn other_version(bytes: &[u8]) -> Option<char> {
        let word = bytes.get(8..16)?;
        let other = bytes[..4] == LEAD_MAGIC && word.starts_with(b"fdcap/") && word[6..] != WORD[6..];
        let version = char::from(word[6]);
        (other && version.is_ascii_digit()).then_some(version)
    }
}

/// The first eight bytes of the BLAKE3 of some bytes: against chance, not against malice.
pub(super) fn check(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// Lines as a frame with a checksum.
pub(super) fn pack(lines: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    compressor.include_contentsize(true)?;
    compressor.compress(lines)
}

/// The lines of a frame: exactly as many bytes as its lead says, under a checksum that fits.
pub(super) fn unpack(lead: &Lead, frame: &[u8]) -> Result<Vec<u8>, String> {
    if !frame.starts_with(&FRAME_MAGIC) {
        return Err("no frame of zstd begins there".to_owned());
    }
    if frame.get(4).is_none_or(|descriptor| descriptor & CHECKSUM == 0) {
        return Err("the frame has no checksum".to_owned());
    }
    let unpacked = zstd::bulk::Decompressor::new().and_then(|mut zstd| {
        zstd.window_log_max(26)?;
        zstd.decompress(frame, lead.raw as usize)
    });
    match unpacked {
        Ok(lines) if lines.len() == lead.raw as usize => Ok(lines),
        Ok(lines) => Err(format!("the frame holds {} bytes and not the {} announced", lines.len(), lead.raw)),
        Err(error) => Err(format!("the frame is damaged: {error}")),
    }
}
