//! The cables of a subnet as OpenSM lists them (`opensm-subnet.lst`), ibdiagnet too: a line for each end of each
//! cable, with both nodes described in full. Every number in it is hexadecimal.

mod gather;
mod record;
mod write;

use super::FileError;
use super::content::TopologyFile;
use super::opensm::{bad_line, note_half_line, note_stray, nothing};
use super::text::Input;
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
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
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

#[cfg(test)]
mod tests;
