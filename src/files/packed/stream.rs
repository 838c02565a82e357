//! One stream of packed bytes.

use std::io::{self, Read};

/// Memory for the dictionary of an xz or zstd stream: the strongest levels of both tools ask for 64 and 128 MiB.
const DICTIONARY_KIB: u32 = 160 << 10;
const ZSTD_WINDOW_LOG: u32 = 27;

/// A way to pack one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    Gzip,
    Xz,
    Bzip2,
    Zstd,
}

impl Stream {
    /// Told by the first bytes. A capture of fabdeck has a beginning of its own, and is none.
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

    pub fn title(self) -> &'static str {
        match self {
            Self::Gzip => "gzip stream",
            Self::Xz => "xz stream",
            Self::Bzip2 => "bzip2 stream",
            Self::Zstd => "zstd stream",
        }
    }

    /// What comes out, at most one byte more than `limit`. Streams that follow each other are one, as for the tools.
    pub(super) fn unpack(self, bytes: &[u8], limit: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => read_up_to(flate2::read::MultiGzDecoder::new(bytes), limit),
            Self::Xz => read_up_to(lzma_rust2::XzReader::new_mem_limit(bytes, true, DICTIONARY_KIB), limit),
            Self::Bzip2 => read_up_to(bzip2::read::MultiBzDecoder::new(bytes), limit),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                read_up_to(decoder, limit)
            }
        }
    }
}

/// Reads a stream to its end, and no further than one byte past the limit.
pub(super) fn read_up_to(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
