//! RUN_INFO: when and how ibdiagnet ran. Its command line may contain keys, so that only one known option is read of it.

use std::time::Duration;

use super::section::{CsvTables, SectionColumns};
use crate::FileError;
use fabdeck_fabric::observe::Notes;

/// The time of the run.
pub(super) fn read_time(tables: &CsvTables<'_>, notes: &mut Notes) -> Result<Option<String>, Box<FileError>> {
    let mut time = None;
    if let Some(run) = tables.get_table("RUN_INFO") {
        let pick = |columns: &SectionColumns| columns.find(&["Date"]);
        run.read_rows(notes, Some("Args"), pick, |date, row, _| {
            time = time.take().or(parse_date(row.cell(*date)));
        })?;
    }
    Ok(time)
}

/// A date as ibdiagnet writes it: `2025-03-31 23:43:18 UTC +0000`. Nothing else is a date, because a key may stand in
/// a shifted column.
fn parse_date(text: &str) -> Option<String> {
    let shape = |word: &str, form: &str| {
        word.len() == form.len()
            && word.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                form => byte == form,
            })
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let zone = |word: &str| word.strip_prefix(['+', '-']).is_some_and(|digits| shape(digits, "0000"));
    let name = |word: &str| word.len() <= 5 && word.bytes().all(|b| b.is_ascii_uppercase());
    match words.as_slice() {
        [day, clock, rest @ ..] if shape(day, "0000-00-00") && shape(clock, "00:00:00") => {
            let fits = rest.len() <= 2 && rest.iter().all(|word| zone(word) || name(word));
            fits.then(|| words.join(" "))
        }
        _ => None,
    }
}

/// The pause between two readings of counters, where the command line sets it.
pub(super) fn read_pause(
    tables: &CsvTables<'_>,
    notes: &mut Notes,
) -> Result<Option<Duration>, Box<FileError>> {
    let mut pause = None;
    if let Some(run) = tables.get_table("RUN_INFO") {
        let pick = |columns: &SectionColumns| columns.find(&["Args"]);
        run.read_rows(notes, Some("Args"), pick, |args, row, _| {
            pause = pause.or(parse_pause_time(row.cell(*args)))
        })?;
    }
    Ok(pause)
}

/// The seconds after `--pm_pause_time` in a command line. The rest is not read, because it may contain keys.
fn parse_pause_time(args: &str) -> Option<Duration> {
    let mut words = args.split(|c: char| c.is_whitespace() || c == '=');
    words.find(|word| *word == "--pm_pause_time")?;
    let seconds = words.next()?.parse().ok().filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_date_is_a_date() {
        for text in ["2025-03-31 23:43:18 UTC +0000", "2025-03-31 23:43:18", "2025-03-31 23:43:18 -0500"] {
            assert_eq!(parse_date(text).as_deref(), Some(text));
        }
        for text in ["", "--m_key 0x5ec4e7", "2025-03-31 23:43:18 0x5ec4e7ca11ab1e", "N/A", "2025-03-31"] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
