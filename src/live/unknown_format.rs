//! Files that are no source of a fabric: what they are, if that is known, and what to give instead.

use fabdeck_fabric::observe::NotePlace;
use fabdeck_files::{FORMATS, Format};
use fabdeck_mad::access::SourceError;

/// Number of bytes of a file that are examined.
const HEAD: usize = 64 * 1024;

/// Whether a line shows that a text is in a format.
type Detector = fn(&str) -> bool;

/// Known text files that lie beside dumps: how a line reveals each, and what it is.
const KNOWN_FILES: [(Detector, &str); 5] = [
    (
        |line| line.starts_with("SwitchName="),
        "this is Slurm's topology.conf: it has neither ports nor cables",
    ),
    (
        |line| line.contains("StartDevice,StartPort"),
        "this is a cabling sheet of UFM (NDT): it describes how a fabric is meant to be cabled, not how it is",
    ),
    (
        |line| line.trim_start().starts_with('P') && line.contains("x-") && line.contains("-> "),
        "this is a topology file for ibtopodiff: it describes how a fabric is meant to be cabled, not how it is",
    ),
    (
        |line| line.starts_with("NODE SW ") || line.starts_with("NODE CA "),
        "this is a system definition of ibdm (IBNL): it describes a model of switch, not a fabric",
    ),
    (
        |line| ["part number ", "cur.temp (C) "].iter().any(|word| line.starts_with(word)),
        "this is a report of ibswinfo: it has one switch's power, fans and temperature, not a fabric",
    ),
];

/// The refusal of a file that the user named.
pub(super) fn unknown_format(name: &str, bytes: &[u8]) -> SourceError {
    let input = |what: String, hint: String| SourceError::Input {
        code: "FD-2002",
        place: NotePlace::line(name, 1),
        what,
        hint,
    };
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    if matches!(first, Some(b'{' | b'[')) {
        let (what, hint) = describe_json(name, &String::from_utf8_lossy(bytes));
        return input(what.to_owned(), hint);
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let known = KNOWN_FILES.iter().find(|(is_line_of, _)| head.lines().any(is_line_of));
    let what = match known {
        _ if first.is_none() => "the file is empty",
        _ if bytes.starts_with(&[0x2B, 0x83, 0xE7, 0x8F]) => {
            "this is a binary cache of 'ibnetdiscover --cache'"
        }
        Some((_, what)) => what,
        None if bytes.contains(&0) => "the file is binary, in an unknown format",
        None => "the format of the content is unknown",
    };
    input(what.to_owned(), known_formats())
}

/// Whether a file is a plan of fabdeck.
pub(super) fn is_plan(bytes: &[u8]) -> bool {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'{') && has_plan_schema(&String::from_utf8_lossy(bytes))
}

fn has_plan_schema(text: &str) -> bool {
    text.contains("\"fabdeck.plan/")
}

fn describe_json(name: &str, text: &str) -> (&'static str, String) {
    if has_plan_schema(text) {
        let hint =
            format!("'fabdeck plan show {name}' shows it; --source takes the fabric that it was made for");
        return ("this is a plan, not a fabric", hint);
    }
    if text.contains("\"miss_wired\"") || text.contains("\"missing_in_ufm\"") {
        let what = "this is UFM's report on cabling (NDT): it lists differences, not a fabric";
        return (what, known_formats());
    }
    if text.contains("\"jobs\"") {
        let hint = "'fabdeck jobs --file' and '--jobs' take it; --source takes the fabric".to_owned();
        return ("this is a list of jobs in JSON, not a fabric", hint);
    }
    ("this is JSON, and no format of a fabric is JSON", known_formats())
}

fn known_formats() -> String {
    let known: Vec<&str> = FORMATS.iter().map(|format: &Format| format.id).collect();
    format!("known are, as text: {}", known.join(", "))
}
