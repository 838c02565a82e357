//! Journal lines that protect each other: a checksum reveals a damaged line, a hash chain a removed or inserted one.
//!
//! ```text
//! 1f3a90c2 7b1e02c4d5a60f18 {"record":"begun",...}
//! crc32    chain            JSON
//! ```

use std::fmt::Write;

/// Number of hexadecimal digits of the checksum; below, of the chain.
const CRC: usize = 8;
const CHAIN: usize = 16;

/// The state of a hash chain: the hash over every line so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChainHash([u8; CHAIN / 2]);

impl ChainHash {
    fn extend(self, json: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(json);
        let mut link = [0; CHAIN / 2];
        link.copy_from_slice(&hasher.finalize().as_bytes()[..CHAIN / 2]);
        Self(link)
    }
}

impl std::fmt::Display for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The next line of a chain, and the state of the chain after it.
pub fn chain_line(before: ChainHash, json: &str) -> (String, ChainHash) {
    let link = before.extend(json.as_bytes());
    let rest = format!("{link} {json}");
    let mut line = String::with_capacity(CRC + rest.len() + 2);
    // Writing to a string cannot fail.
    let _ = writeln!(line, "{:08x} {rest}", crc32fast::hash(rest.as_bytes()));
    (line, link)
}

/// The valid part of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChainedLines<'t> {
    /// The JSON of each line, with the offset of the line.
    pub lines: Vec<(u64, &'t str)>,
    pub link: ChainHash,
    /// Length up to the end of the last record, with its newline if it has one.
    pub length: u64,
    /// Whether the last record is valid and lacks its newline. The next line then begins with one.
    pub unended: bool,
    /// Number of bytes after the last record: an incomplete line.
    pub torn: u64,
}

/// A line that is complete and wrong. No crash leaves such a line behind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("offset {offset}: FD-5601: {what}; no record after this one is used")]
pub struct ChainError {
    pub offset: u64,
    pub what: &'static str,
}

impl<'t> ChainedLines<'t> {
    /// Reads lines up to the end. What a crash leaves at the end of a file (an incomplete line, or zeros) is torn; a
    /// complete line that is invalid is damage. No checksum covers the newline: a valid last record counts without it,
    /// and with other bytes in its place.
    pub fn read(bytes: &'t [u8]) -> Result<Self, ChainError> {
        Self::default().read_on(bytes)
    }

    /// Reads the lines at the end of a long file. `bytes` begin at an offset, somewhere in a line. The lines before them
    /// are not read, so the place in the chain that the first complete line states is accepted.
    pub fn read_tail(bytes: &'t [u8], offset: u64) -> Result<Self, ChainError> {
        let damage = |at: usize, what| ChainError { offset: offset + at as u64, what };
        let line_end =
            |from: usize| bytes[from..].iter().position(|byte| *byte == b'\n').map(|at| from + at + 1);
        let begin = line_end(0).and_then(|begin| Some((begin, line_end(begin)?)));
        let (begin, end) = begin.ok_or_else(|| damage(0, "no complete line follows"))?;
        let link = stated_link(&bytes[begin..end - 1]).map_err(|what| damage(begin, what))?;
        Self { link, length: offset + end as u64, ..Self::default() }.read_on(&bytes[end..])
    }

    /// Continues with the bytes that follow.
    fn read_on(self, bytes: &'t [u8]) -> Result<Self, ChainError> {
        let mut read = self;
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let offset = read.length;
            let wrong = |what| ChainError { offset, what };
            let (json, link) = check_line(&rest[..end], read.link).map_err(wrong)?;
            read.lines.push((offset, json));
            read.link = link;
            read.length += end as u64 + 1;
            rest = &rest[end + 1..];
        }
        if let Some((json, link)) = parse_unended(rest, read.link) {
            let end = json.as_ptr() as usize + json.len() - rest.as_ptr() as usize;
            read.lines.push((read.length, json));
            read.link = link;
            read.length += end as u64;
            read.unended = true;
            rest = &rest[end..];
        }
        read.torn = rest.len() as u64;
        Ok(read)
    }
}

/// A position in a chain: the offset after a valid line, and the state of the chain there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChainPosition {
    pub bytes: u64,
    pub link: ChainHash,
}

impl ChainPosition {
    /// The position after the next line, which may have its newline; `None` if the line is invalid.
    pub fn after(self, line: &[u8]) -> Option<Self> {
        let (_, link) = check_line(line.strip_suffix(b"\n").unwrap_or(line), self.link).ok()?;
        Some(Self { bytes: self.bytes + line.len() as u64, link })
    }
}

/// The state of the chain that a line states, where its checksum holds.
fn stated_link(line: &[u8]) -> Result<ChainHash, &'static str> {
    let rest = check_sum(line)?;
    let digits = rest.get(..CHAIN).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let link = digits.filter(|_| rest.as_bytes().get(CHAIN) == Some(&b' '));
    link.map(|link| ChainHash(link.to_be_bytes())).ok_or("the line has no place in the chain")
}

/// The record at the beginning of these bytes, which contain no newline. The checksum is updated byte by byte, so one
/// pass is enough.
fn parse_unended(bytes: &[u8], before: ChainHash) -> Option<(&str, ChainHash)> {
    let wanted = std::str::from_utf8(bytes.get(..CRC)?).ok()?;
    let wanted = u32::from_str_radix(wanted, 16).ok()?;
    let mut hasher = crc32fast::Hasher::new();
    (CRC + 1..bytes.len()).find_map(|at| {
        hasher.update(&bytes[at..=at]);
        let fits = hasher.clone().finalize() == wanted;
        fits.then(|| check_line(&bytes[..=at], before).ok()).flatten()
    })
}

fn is_split(at: usize, text: &str) -> bool {
    text.is_char_boundary(at) && text.as_bytes().get(at) == Some(&b' ')
}

/// The line behind its checksum, which holds.
fn check_sum(line: &[u8]) -> Result<&str, &'static str> {
    let text = std::str::from_utf8(line).map_err(|_| "the line is not text")?;
    if !is_split(CRC, text) {
        return Err("the line does not begin with its checksum");
    }
    let (crc, rest) = (&text[..CRC], &text[CRC + 1..]);
    match format!("{:08x}", crc32fast::hash(rest.as_bytes())) == crc {
        true => Ok(rest),
        false => Err("the line does not match its checksum"),
    }
}

fn check_line(line: &[u8], before: ChainHash) -> Result<(&str, ChainHash), &'static str> {
    let rest = check_sum(line)?;
    if !is_split(CHAIN, rest) {
        return Err("the line has no place in the chain");
    }
    let (told, json) = (&rest[..CHAIN], &rest[CHAIN + 1..]);
    let link = before.extend(json.as_bytes());
    if link.to_string() != told {
        return Err("the line does not follow the one before it");
    }
    Ok((json, link))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        let mut link = ChainHash::default();
        let mut text = String::new();
        for word in ["{\"a\":1}", "{\"b\":2}", "{\"c\":\"\u{fc}\"}"] {
            let (line, next) = chain_line(link, word);
            text += &line;
            link = next;
        }
        text
    }

    #[test]
    fn a_cut_keeps_what_is_before_it() {
        let text = text();
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for cut in 0..=text.len() {
            let read = ChainedLines::read(&text.as_bytes()[..cut]).unwrap();
            // A line that lacks only its newline is valid.
            let whole = ends.iter().filter(|end| **end - 1 <= cut).count();
            assert_eq!(read.lines.len(), whole, "{cut}");
            assert_eq!(read.unended, ends.iter().any(|end| end - 1 == cut), "{cut}");
            assert_eq!((read.length + read.torn) as usize, cut);
        }
    }

    #[test]
    fn a_flipped_bit_is_reported_with_its_line_or_loses_no_record() {
        let text = text();
        let starts: Vec<u64> =
            ChainedLines::read(text.as_bytes()).unwrap().lines.iter().map(|(at, _)| *at).collect();
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let line = starts.iter().rposition(|start| *start <= at as u64).unwrap();
                match ChainedLines::read(&bytes) {
                    Err(error) => assert_eq!(error.offset, starts[line], "{at} {bit}"),
                    // The last line lost its newline.
                    Ok(read) => {
                        assert!(at == text.len() - 1 && read.lines.len() == 3, "{at} {bit}");
                        assert!(read.unended && read.torn == 1, "{at} {bit}");
                    }
                }
            }
        }
    }

    /// The machine crashed while it wrote after a record whose newline was damaged.
    #[test]
    fn a_record_that_holds_is_read_whatever_is_in_the_place_of_its_newline() {
        let text = text();
        let whole = ChainedLines::read(text.as_bytes()).unwrap();
        for behind in [&b""[..], b"\0", &[0; 4096], b"K1f3a90c2 7b1e", b" ", b"}"] {
            let mut bytes = text.trim_end().as_bytes().to_vec();
            bytes.extend_from_slice(behind);
            let read = ChainedLines::read(&bytes).unwrap();
            assert_eq!((&read.lines, read.link), (&whole.lines, whole.link));
            assert_eq!((read.length, read.torn), (text.len() as u64 - 1, behind.len() as u64));
        }
    }

    /// Whatever the offset is, the end is that of the whole file, unless no line is complete behind it.
    #[test]
    fn the_tail_of_a_file_ends_like_the_file() {
        let text = text();
        let whole = ChainedLines::read(text.as_bytes()).unwrap();
        let second = text.find('\n').unwrap() + 1;
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        for at in 0..text.len() {
            let read = ChainedLines::read_tail(&text.as_bytes()[at..], at as u64);
            match read {
                Ok(read) => {
                    assert_eq!((read.link, read.length, read.torn), (whole.link, whole.length, 0), "{at}");
                }
                Err(_) => assert!(at >= last, "{at}"),
            }
            let mut wrong = text.clone().into_bytes();
            wrong[last + 30] ^= 1;
            assert!(ChainedLines::read_tail(&wrong[at..], at as u64).is_err(), "{at} {second}");
        }
    }

    #[test]
    fn removed_and_swapped_lines_are_reported() {
        let text = text();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for wrong in [vec![1, 2], vec![0, 2], vec![1, 0, 2], vec![0, 0, 1, 2]] {
            let text: String = wrong.iter().map(|at| lines[*at]).collect();
            let error = ChainedLines::read(text.as_bytes()).unwrap_err();
            assert!(error.what.contains("does not follow"), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn a_position_goes_on_with_the_line_that_follows_and_no_other() {
        let text = text();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut at = ChainPosition::default();
        for line in &lines {
            let bare = at.after(line.trim_end().as_bytes()).unwrap();
            at = at.after(line.as_bytes()).unwrap();
            assert_eq!((bare.link, bare.bytes + 1), (at.link, at.bytes));
            assert_eq!(at.after(line.as_bytes()), None, "the same line again");
        }
        let read = ChainedLines::read(text.as_bytes()).unwrap();
        assert_eq!((at.bytes, at.link), (read.length, read.link));
    }
}
