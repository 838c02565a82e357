//! The cables of a subnet as OpenSM lists them (`opensm-subnet.lst`), ibdiagnet too: a line for each end of each
//! cable, with both nodes described in full. Every number in it is hexadecimal.

mod gather;
mod record;
mod write;

use super::FileError;
use super::content::TopologyFile;
use super::opensm::{bad_line, note_half_line, note_stray, nothing};
use super::text::{Input, timestamp};
use gather::Gathered;
use record::Record;

pub use write::write;

pub const ID: &str = "lst";

pub fn looks_like(head: &str) -> bool {
    head.lines().any(is_record)
}

fn is_record(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('{')
        && line.contains(" Ports:")
        && line.contains(" SystemGUID:")
        && line.contains(" NodeGUID:")
}

pub fn read(input: Input<'_>) -> Result<TopologyFile, Box<FileError>> {
    let mut gathered = Gathered::new(input);
    // A speed of 10 may be the beginning of 100, unless the lines before settle it.
    let whole = match input.settles("SPD=10\n", "SPD=100") {
        true => is_whole_with_ten,
        false => is_whole,
    };
    for line in input.lines_with_end(whole) {
        let line = line?;
        let text = line.text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            gathered.see_time(timestamp(comment).filter(|_| !line.unended));
            continue;
        }
        if text.is_empty() {
            continue;
        }
        if !text.starts_with('{') {
            if line.unended {
                note_half_line(gathered.notes(), input.place(line.number), text);
            } else {
                note_stray(gathered.notes(), input.place(line.number), text);
            }
            continue;
        }
        match Record::parse(text) {
            Some(mut record) => {
                if line.unended {
                    // What stands last may be half a word: 2.5 and 25 both begin like 2.
                    note_half_line(gathered.notes(), input.place(line.number), text);
                    if record.speed.take().is_none() {
                        record.state = "";
                    }
                }
                gathered.record(&record, line.number)?;
            }
            None if line.unended => note_half_line(gathered.notes(), input.place(line.number), text),
            None => {
                return Err(bad_line(input.place(line.number), text, "a line of two ports and their cable"));
            }
        }
    }
    if gathered.is_empty() {
        return Err(nothing(input.name, "cable"));
    }
    Ok(gathered.finish())
}

/// A record up to a speed that is known, and that no other speed begins with.
fn is_whole(line: &str) -> bool {
    is_record_with(line, |word| !matches!(word, "5" | "10"))
}

fn is_whole_with_ten(line: &str) -> bool {
    is_record_with(line, |word| word != "5")
}

fn is_record_with(line: &str, is_settled: fn(&str) -> bool) -> bool {
    let speed = Record::parse(line.trim()).and_then(|record| record.speed);
    speed.is_some_and(|word| is_settled(word) && gather::speed_of(word).is_some())
}

#[cfg(test)]
mod tests;
