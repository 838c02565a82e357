//! The cables of a subnet as OpenSM and ibdiagnet list them (`opensm-subnet.lst`): a line for each end of each cable,
//! with full descriptions of both nodes. All numbers are hexadecimal.

mod cable_record;
mod topology_builder;
mod write;

use super::FileError;
use super::content::TopologyFile;
use super::opensm::{bad_line, no_content, note_stray_line, note_truncated_line};
use super::text::{Input, parse_timestamp};
use cable_record::CableRecord;
use topology_builder::TopologyBuilder;

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
    let mut gathered = TopologyBuilder::new(input);
    for line in input.lines_with_end(|line| is_whole_end(input, line)) {
        let line = line?;
        let text = line.text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            gathered.set_time(parse_timestamp(comment).filter(|_| !line.unended));
            continue;
        }
        if text.is_empty() {
            continue;
        }
        if !text.starts_with('{') {
            if line.unended {
                note_truncated_line(gathered.notes(), input.line_place(line.number), text);
            } else {
                note_stray_line(gathered.notes(), input.line_place(line.number), text);
            }
            continue;
        }
        match CableRecord::parse(text) {
            Some(mut record) => {
                if line.unended {
                    // The last word may be cut: 2.5 and 25 both begin with 2.
                    note_truncated_line(gathered.notes(), input.line_place(line.number), text);
                    if record.speed.take().is_none() {
                        record.state = "";
                    }
                }
                gathered.add_record(&record, line.number)?;
            }
            None if line.unended => {
                note_truncated_line(gathered.notes(), input.line_place(line.number), text)
            }
            None => {
                return Err(bad_line(
                    input.line_place(line.number),
                    text,
                    "a line of two ports and their cable",
                ));
            }
        }
    }
    if gathered.is_empty() {
        return Err(no_content(input.name, "cable"));
    }
    Ok(gathered.finish())
}

/// Whether a last line without a newline is a whole record. It is whole if it ends with a known speed, or with the
/// state in a file without speeds.
///
/// A speed of 5 or 10 may be the beginning of 50 or 100. It counts as whole if all earlier cables have it, or if the
/// line of the other end has the same speed.
fn is_whole_end(input: Input<'_>, line: &str) -> bool {
    let Some(record) = CableRecord::parse(line.trim()) else { return false };
    let Some(speed) = record.speed else {
        // An earlier record shows that the file has no speeds.
        let has_none = input.has_before_last("LOG=") && !input.has_before_last(" SPD=");
        return has_none && matches!(record.state, "ACT" | "INI" | "ARM" | "DWN");
    };
    let before = || {
        input.lines_before_last().map_while(Result::ok).filter(|line| line.text.trim_start().starts_with('{'))
    };
    let speed_of =
        |text: &str| CableRecord::parse(text.trim()).and_then(|record| record.speed.map(str::to_owned));
    let is_common =
        || before().next().is_some() && before().all(|line| speed_of(&line.text).as_deref() == Some(speed));
    if !matches!(speed, "5" | "10") || is_common() {
        return speed == "??" || topology_builder::parse_speed(speed).is_some();
    }
    let port = |record: &CableRecord<'_>, at: usize| (record.ends[at].node_guid, record.ends[at].number);
    before().any(|line| {
        CableRecord::parse(line.text.trim()).is_some_and(|other| {
            port(&other, 0) == port(&record, 1)
                && port(&other, 1) == port(&record, 0)
                && other.speed == Some(speed)
        })
    })
}

#[cfg(test)]
mod tests;
