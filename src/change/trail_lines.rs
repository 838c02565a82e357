//! Reads the audit trail within bounds. A new line needs only the end of the trail; a check walks over all lines without
//! holding them. In a folder of older versions any user can make the trail, or a file beside it, as long as they like.

use std::io;

use super::journal::{ChainError, ChainPosition, ChainedLines};
use super::system::OpenFile;

/// Number of bytes at the end of the trail that are read before a line is appended.
const TAIL_BYTES: u64 = 1 << 20;
/// Longest line of a trail.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Number of bytes that a walk reads at once.
const CHUNK_BYTES: u64 = 256 * 1024;

/// The end of the valid lines of a trail.
pub(super) struct TrailEnd {
    pub position: ChainPosition,
    /// Whether the last line lacks its newline.
    pub unended: bool,
}

/// Reads the end of a trail. The lines of a longer trail are not read: `changes` checks them.
pub(super) fn read_trail_end(trail: &dyn OpenFile) -> io::Result<Result<TrailEnd, ChainError>> {
    let offset = trail.status()?.length.saturating_sub(TAIL_BYTES);
    let bytes = trail.read_from(offset, TAIL_BYTES)?;
    let read = match offset {
        0 => ChainedLines::read(&bytes),
        _ => ChainedLines::read_tail(&bytes, offset),
    };
    Ok(read.map(|read| TrailEnd {
        position: ChainPosition { bytes: read.length, link: read.link },
        unended: read.unended,
    }))
}

/// Visits the position after each valid line of the first `most` bytes, up to the first invalid line.
pub(super) fn walk_trail(
    trail: &dyn OpenFile,
    most: u64,
    visit: &mut dyn FnMut(ChainPosition),
) -> io::Result<()> {
    let (mut position, mut pending) = (ChainPosition::default(), Vec::new());
    loop {
        let offset = position.bytes + pending.len() as u64;
        let chunk = trail.read_from(offset, CHUNK_BYTES.min(most - offset))?;
        let is_end = chunk.is_empty();
        pending.extend(chunk);
        let mut begin = 0;
        while let Some(end) = line_end(&pending[begin..], is_end) {
            let Some(next) = position.after(&pending[begin..begin + end]) else { return Ok(()) };
            (position, begin) = (next, begin + end);
            visit(position);
        }
        pending.drain(..begin);
        if is_end || pending.len() > MAX_LINE_BYTES {
            return Ok(());
        }
    }
}

/// The length of the first line. At the end of the file a line may lack its newline.
fn line_end(bytes: &[u8], is_end: bool) -> Option<usize> {
    let newline = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    newline.or_else(|| (is_end && !bytes.is_empty()).then_some(bytes.len()))
}
