//! What people send: packed files, and text that a terminal, a mail or a log had before.

use std::cell::Cell;

use fabdeck_fabric::observe::Notes;
use fabdeck_files::packed::{Limits, TimeLimit, unpack};
use fabdeck_files::transcript;

use super::judge::{judge_content, refused};

/// Bounds that a few bytes can reach.
const LIMITS: Limits =
    Limits { bytes: 1 << 20, entries: 64, ratio: 200, ratio_from: 1 << 16, layers: 4, archives: 2 };
/// Questions after which the time is over.
const QUESTIONS: u32 = 2000;

/// Unpacks the bytes twice, and once in half the time. No more comes out than the bounds let through, files have the
/// name of the outer file, and an error says what and where.
pub fn packed(data: &[u8]) {
    let whole = unpacked(data, QUESTIONS);
    assert_eq!(whole, unpacked(data, QUESTIONS), "the same bytes were unpacked in two ways");
    let bytes: usize = whole.iter().map(|(_, held)| held.as_ref().map_or(0, Vec::len)).sum();
    // A file of no packing is itself, however large.
    assert!(bytes as u64 <= LIMITS.bytes.max(data.len() as u64), "{bytes} bytes came out");
    assert!(whole.len() <= LIMITS.entries + 2, "{} files came out", whole.len());
    unpacked(data, QUESTIONS / 100);
}

type Found = Vec<(String, Result<Vec<u8>, String>)>;

fn unpacked(data: &[u8], questions: u32) -> Found {
    let (mut found, asked) = (Found::new(), Cell::new(0));
    let may_go_on = || {
        asked.set(asked.get() + 1);
        asked.get() <= questions
    };
    unpack("fuzz", data.into(), LIMITS, &TimeLimit::new(&may_go_on), &mut Notes::new(), &mut |file| {
        assert!(file.name == "fuzz" || file.name.starts_with("fuzz!"), "{}", file.name);
        if let Err(error) = &file.bytes {
            assert!(error.code.starts_with("FD-") && !error.what.is_empty() && !error.hint.is_empty());
            assert!(error.place.file.starts_with("fuzz"), "{error}");
        }
        found
            .push((file.name, file.bytes.map(|bytes| bytes.into_owned()).map_err(|error| error.to_string())));
    });
    found
}

/// Reads the bytes as a text of any kind, twice, and what is accepted is sound. What is left of it without prefixes and
/// colours is no longer than its text.
pub fn transcripts(data: &[u8]) {
    let read = || {
        let mut notes = Notes::new();
        let found = transcript::read("fuzz", data, &mut notes);
        (found.map(|found| found.map(|(format, content)| (format.id, content))), notes)
    };
    let first = read();
    assert_eq!(first, read(), "the same bytes were read in two ways");
    match first.0 {
        Ok(Some((_, content))) => judge_content(&content),
        Ok(None) => {}
        Err(error) => refused(&error),
    }
    if let Ok(text) = transcript::plain_text("fuzz", data, &mut Notes::new()) {
        // A byte that is no text becomes a sign of three, as do two bytes of UTF-16.
        assert!(text.len() <= data.len() * 3 + 1, "{} bytes of {}", text.len(), data.len());
    }
}
