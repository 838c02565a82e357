//! Segments: the files that hold the results of a study. A process appends to one of its own and never to another.
//!
//! ```text
//! fabdeck.study-segment/1
//! crc32    JSON
//! 8c0a9f11 {"cell":"03f1...","row":{...},"seconds":0.41}
//! ```
//!
//! A record is a line: the CRC-32 of its JSON in eight hexadecimal digits, a blank, the JSON. A process that is killed and
//! a disk that is full leave a last line without its end, or half of it: the reader leaves it out. A line in the middle
//! whose CRC is wrong is damage: it is left out and counted.

/// The first line of a segment.
pub const HEADER: &str = "fabdeck.study-segment/1\n";

/// The digits of the CRC, and the blank behind them.
const CRC_DIGITS: usize = 8;

/// A record as bytes of the file. The JSON has no line end, as serde_json writes it.
pub fn encode_record(json: &str) -> Vec<u8> {
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())).into_bytes()
}

/// What a segment, or the rest of one, has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SegmentContent<'s> {
    /// The JSON of each whole record.
    pub records: Vec<&'s str>,
    /// The number of lines with a wrong CRC before the last one.
    pub damaged: u64,
    /// The number of bytes of whole lines. What follows is torn, or still being written.
    pub length: u64,
}

/// Why a file is no segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SegmentError {
    /// The first line is that of another version.
    #[error("its version is another one: a newer fabdeck wrote it")]
    Version,
    /// The first line is something else.
    #[error("its first line is not that of a segment")]
    Foreign,
}

/// Reads a segment from its beginning. A file that ends within its first line is empty: its process was killed there.
pub fn read_segment(bytes: &[u8]) -> Result<SegmentContent<'_>, SegmentError> {
    if HEADER.as_bytes().starts_with(bytes) {
        return Ok(SegmentContent::default());
    }
    match bytes.strip_prefix(HEADER.as_bytes()) {
        Some(rest) => {
            let content = read_records(rest);
            Ok(SegmentContent { length: content.length + HEADER.len() as u64, ..content })
        }
        None if bytes.starts_with(b"fabdeck.study-segment/") => Err(SegmentError::Version),
        None => Err(SegmentError::Foreign),
    }
}

/// Reads the records behind those that were read before.
pub fn read_records(bytes: &[u8]) -> SegmentContent<'_> {
    let mut content = SegmentContent::default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
        match read_record(&line[..line.len() - 1]) {
            Some(json) => content.records.push(json),
            None => content.damaged += 1,
        }
    }
    content.length = whole as u64;
    content
}

fn read_record(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?;
    let (crc, json) = text.split_at_checked(CRC_DIGITS)?;
    let json = json.strip_prefix(' ')?;
    (format!("{:08x}", crc32fast::hash(json.as_bytes())) == crc).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(records: &[&str]) -> Vec<u8> {
        let mut bytes = HEADER.as_bytes().to_vec();
        records.iter().for_each(|json| bytes.extend(encode_record(json)));
        bytes
    }

    #[test]
    fn every_cut_leaves_the_whole_records_before_it() {
        let records = ["{\"a\":1}", "{\"b\":\"ä\"}", "{}"];
        let bytes = segment(&records);
        for end in 0..=bytes.len() {
            let content = read_segment(&bytes[..end]).unwrap();
            let whole = bytes[..end].iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
            assert_eq!((content.records.len(), content.damaged), (whole, 0), "{end}");
            assert_eq!(content.records, records[..whole], "{end}");
            // What comes later is read from there on.
            let later = read_records(&bytes[(content.length as usize).max(HEADER.len())..]);
            assert_eq!(later.records, records[whole..], "{end}");
        }
    }

    #[test]
    fn a_flipped_bit_costs_its_record_alone() {
        let bytes = segment(&["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
        for at in HEADER.len()..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let content = read_segment(&damaged).unwrap();
            // A bit of a line end joins two lines, or makes the last one unended.
            assert!((1..=2).contains(&content.records.len()), "{at}");
        }
    }

    #[test]
    fn a_foreign_file_is_refused() {
        assert_eq!(read_segment(b"fabdeck.study-segment/2\n"), Err(SegmentError::Version));
        assert_eq!(read_segment(b"{}\n"), Err(SegmentError::Foreign));
        assert_eq!(read_segment(b""), Ok(SegmentContent::default()));
    }
}
