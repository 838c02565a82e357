//! Frames and the leads before them. A lead is a skippable frame of zstd, so `zstdcat` ignores it.

use std::io;

/// Most bytes of the lines of one frame, so that readers never unpack more at once.
pub const MAX_FRAME_BYTES: usize = 64 << 20;
/// Size of a lead with its head.
pub const LEAD_BYTES: usize = 64;
/// Size of the facts of a lead, which the table at the end repeats.
pub const FACTS_BYTES: usize = 40;

const LEAD_MAGIC: [u8; 4] = 0x184D_2A50_u32.to_le_bytes();
pub const TABLE_MAGIC: [u8; 4] = 0x184D_2A51_u32.to_le_bytes();
const FRAME_MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
/// Format and version.
const FORMAT_WORD: &[u8; 8] = b"fdcap/1\n";
/// The bit of a frame's descriptor that announces a checksum.
const CHECKSUM: u8 = 1 << 2;
const LEVEL: i32 = 3;

/// What a frame holds, for readers that search.
pub mod flags {
    /// The whole state except counters begins here, with the record `header`.
    pub const STATE_WHOLE: u32 = 1;
    /// The state changed, apart from counters.
    pub const STATE_MOVED: u32 = 1 << 1;
    /// All counters with their values.
    pub const COUNTERS_WHOLE: u32 = 1 << 2;
    /// Counters, whole or as changes since the sweep before.
    pub const COUNTERS: u32 = 1 << 3;
    /// A note, an action or news.
    pub const EVENT: u32 = 1 << 4;
    /// The records of one sweep are complete with this frame.
    pub const MOMENT: u32 = 1 << 5;
    /// The regular end of the recording.
    pub const END: u32 = 1 << 6;
    /// The state changed by answers about the health of links and the flows of hosts alone.
    pub const BESIDE: u32 = 1 << 7;
    /// In no lead: selects only the lists of jobs of a frame.
    pub const JOBS: u32 = 1 << 31;
}

/// The lead before a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lead {
    pub flags: u32,
    /// Number of records (lines) in the frame, and the number of the first.
    pub records: u32,
    pub first: u64,
    /// In milliseconds since 1970 began.
    pub time: i64,
    /// First record of the frame with the current state; for a frame that changes the state, of the previous such
    /// frame.
    pub state: u64,
    /// Compressed size of the frame, and size of its lines, in bytes.
    pub packed: u32,
    pub raw: u32,
}

impl Lead {
    /// Whether the fabric, its tables or its names changed with this frame.
    pub fn has_moved(&self) -> bool {
        self.has_flag(flags::STATE_MOVED)
            && !self.has_flag(flags::STATE_WHOLE)
            && !self.has_flag(flags::BESIDE)
    }

    pub fn has_flag(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The number of the first record after the frame.
    pub fn next_record(&self) -> u64 {
        self.first.saturating_add(u64::from(self.records))
    }

    pub(crate) fn fact_bytes(&self) -> [u8; FACTS_BYTES] {
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

    /// `None` for values that no writer produces.
    pub(crate) fn from_facts(bytes: &[u8; FACTS_BYTES]) -> Option<Self> {
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
        let fits =
            lead.records > 0 && lead.packed > 0 && lead.raw.max(lead.packed) as usize <= MAX_FRAME_BYTES;
        (fits && lead.state <= lead.first).then_some(lead)
    }

    pub fn to_bytes(&self) -> [u8; LEAD_BYTES] {
        let mut bytes = [0; LEAD_BYTES];
        bytes[..4].copy_from_slice(&LEAD_MAGIC);
        bytes[4..8].copy_from_slice(&((LEAD_BYTES - 8) as u32).to_le_bytes());
        bytes[8..16].copy_from_slice(FORMAT_WORD);
        bytes[16..56].copy_from_slice(&self.fact_bytes());
        let check = checksum(&bytes[8..56]);
        bytes[56..].copy_from_slice(&check);
        bytes
    }

    /// Reads a lead from the beginning of some bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..LEAD_BYTES)?;
        let whole = bytes[..4] == LEAD_MAGIC
            && bytes[4..8] == ((LEAD_BYTES - 8) as u32).to_le_bytes()
            && &bytes[8..16] == FORMAT_WORD
            && bytes[56..] == checksum(&bytes[8..56]);
        Self::from_facts(bytes[16..56].try_into().ok().filter(|_| whole)?)
    }

    /// The first place where a lead may begin.
    pub(crate) fn find(bytes: &[u8]) -> Option<usize> {
        bytes.windows(LEAD_MAGIC.len()).position(|four| four == LEAD_MAGIC)
    }

    /// The version, if a file begins as a capture of another version.
    pub(crate) fn other_version_of(bytes: &[u8]) -> Option<char> {
        let word = bytes.get(8..16)?;
        let other = bytes[..4] == LEAD_MAGIC && word.starts_with(b"fdcap/") && word[6..] != FORMAT_WORD[6..];
        let version = char::from(word[6]);
        (other && version.is_ascii_digit()).then_some(version)
    }
}

/// The first eight bytes of the BLAKE3 hash: detects accidents, not attacks.
pub fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// Compresses lines into a frame with a checksum.
pub fn pack(lines: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    compressor.include_contentsize(true)?;
    compressor.compress(lines)
}

/// Unpacks the lines of a frame. Their number of bytes must be that of the lead, and the checksum must match.
pub fn unpack(lead: &Lead, frame: &[u8]) -> Result<Vec<u8>, String> {
    if !frame.starts_with(&FRAME_MAGIC) {
        return Err("no zstd frame begins here".to_owned());
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
        Ok(lines) => {
            Err(format!("the frame has {} bytes and not the {} that its lead states", lines.len(), lead.raw))
        }
        Err(error) => Err(format!("the frame is damaged: {error}")),
    }
}
