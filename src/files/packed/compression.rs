//! Streams of compressed bytes.

use std::io;

use super::time_limit::{TimeLimit, TimedInput, read_up_to};

/// Memory for the dictionary of an xz or zstd stream: the highest levels of both tools need 64 and 128 MiB.
const DICTIONARY_KIB: u32 = 160 << 10;
const ZSTD_WINDOW_LOG: u32 = 27;

/// A compression format for one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    Gzip,
    Xz,
    Bzip2,
    Zstd,
}

impl Compression {
    /// Detects the format by the first bytes. A capture of fabdeck begins differently and is none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1F, 0x8B, 0x08, ..] => Some(Self::Gzip),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some(Self::Bzip2),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some(Self::Bzip2),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip stream",
            Self::Xz => "xz stream",
            Self::Bzip2 => "bzip2 stream",
            Self::Zstd => "zstd stream",
        }
    }

    /// Unpacks to at most one byte more than `limit`. Concatenated streams are one, as for the tools.
    pub(super) fn unpack(self, bytes: &[u8], limit: u64, pace: &TimeLimit<'_>) -> io::Result<Vec<u8>> {
        let input = TimedInput::new(bytes, pace);
        match self {
            Self::Gzip => read_up_to(flate2::bufread::MultiGzDecoder::new(input), limit, pace),
            Self::Xz => {
                read_up_to(lzma_rust2::XzReader::new_mem_limit(input, true, DICTIONARY_KIB), limit, pace)
            }
            Self::Bzip2 => read_up_to(bzip2::bufread::MultiBzDecoder::new(input), limit, pace),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                read_up_to(decoder, limit, pace)
            }
        }
    }
}
