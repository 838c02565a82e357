//! The corpus and every fixture go through every reader in each run of the tests: what once broke a reader, and what
//! its neighbours read, whole and cut. Searching for more is what `tests/fuzz/run` does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fabdeck_files::packed::is_packed;
use fabdeck_files::text::Input;
use fabdeck_files::{FORMATS, detect};

#[path = "datagrams.rs"]
mod datagrams;
#[path = "judge.rs"]
mod judge;
#[path = "lines.rs"]
mod lines;
#[path = "sent.rs"]
mod sent;

/// Files of a folder and of those below it, by name.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("FABDECK_ROOT")).join("tests").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Panics tell the format by the name of the input and the file by this line, shown when the test fails.
fn replay(path: &Path, bytes: &[u8]) {
    println!("{} ({} bytes)", path.display(), bytes.len());
    for format in FORMATS {
        judge::judge(format, Input::new("fuzz", bytes));
    }
}

#[test]
fn every_reader_withstands_the_corpus_and_all_fixtures() {
    let files = [files("corpus"), files("fixtures")].concat();
    for path in &files {
        replay(path, &fs::read(path).unwrap());
    }
}

/// What is no datagram is a datagram all the same, as far as its bytes go.
#[test]
fn datagrams_withstand_the_corpus() {
    for path in files("corpus") {
        let bytes = fs::read(&path).unwrap();
        println!("{} ({} bytes)", path.display(), bytes.len());
        for (_, run) in datagrams::TARGETS {
            run(&bytes);
        }
    }
}

/// Lines of a kind that are cut in a file; `FABDECK_LONG=1` for all.
fn wanted_of_a_kind() -> usize {
    if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { usize::MAX } else { 2 }
}

/// The kind of a line: its bytes with each hexadecimal number as one digit.
fn kind(line: &[u8]) -> Vec<u8> {
    let mut kind: Vec<u8> = line
        .iter()
        .map(|byte| if matches!(byte, b'0'..=b'9' | b'a'..=b'f') { b'0' } else { *byte })
        .collect();
    kind.dedup_by(|next, last| *next == b'0' && *last == b'0');
    kind
}

/// Cut in the middle and at the end of a line of each kind, a file is refused or read as far as it goes.
#[test]
fn every_reader_withstands_a_cut_file() {
    for path in files("fixtures") {
        let bytes = fs::read(&path).unwrap();
        // Packed files have no lines; `tests/suite/input_forms/packed_files.rs` cuts them.
        if is_packed(&bytes) {
            continue;
        }
        let format = detect(&bytes).unwrap_or_else(|| panic!("{}: no format", path.display()));
        let (mut start, mut kinds) = (0, BTreeMap::<Vec<u8>, usize>::new());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let end = start + line.len();
            let cut_before = kinds.entry(kind(line)).or_default();
            *cut_before += 1;
            let cuts = [start + line.len() / 2, end];
            let wanted = if *cut_before > wanted_of_a_kind() { 0 } else { cuts.len() };
            for cut in &cuts[..wanted] {
                judge::judge(format, Input::new("fuzz", &bytes[..*cut]));
            }
            start = end;
        }
    }
}

/// A corpus folder that no format or target claims is never fuzzed.
#[test]
fn every_folder_of_the_corpus_is_a_target() {
    let corpus = Path::new(env!("FABDECK_ROOT")).join("tests/corpus");
    let mut named = Vec::new();
    for entry in fs::read_dir(corpus).unwrap() {
        named.push(entry.unwrap().file_name().into_string().unwrap());
    }
    let formats = FORMATS.iter().map(|format| format.id);
    let targets: Vec<_> = formats.chain(datagrams::TARGETS.iter().map(|(name, _)| *name)).collect();
    for name in &named {
        assert!(targets.contains(&name.as_str()), "tests/corpus/{name} is no target");
    }
    for target in targets {
        assert!(named.iter().any(|name| name == target), "tests/corpus/{target} is missing");
    }
}
