//! Output of ibqueryerrors: ports with errors beyond a threshold, or the data counters of all ports. The tool leaves
//! out counters that are zero. A file may hold several outputs.
//!
//! ```text
//! Errors for 0x200003 "leaf3"
//!    GUID 0x200003 port ALL: [PortXmitWait == 2544]
//!    GUID 0x200003 port 3: [PortXmitWait == 2544] [PortXmitData == 15480 (60.469KB)]
//!        Link info:      5   3[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>  0x...
//!
//! ## Summary: 24 nodes checked, 2 bad nodes found
//! ```

use super::FileError;
use super::content::CounterFile;
use super::counters_text::{note_stray_line, note_unended, parse_port, read_value};
use super::text::{Input, TextLine};
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{Guid, PortNum};

pub const ID: &str = "ibqueryerrors";

const HEADINGS: &[&str] = &["Errors for ", "Data Counters for "];

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| {
        let line = line.trim();
        let summary = line.starts_with("## Summary:") && line.contains("nodes checked");
        let heading = HEADINGS.iter().any(|heading| line.starts_with(heading)) && line.ends_with('"');
        summary || heading || split_record(line).is_some()
    })
}

pub fn read(input: Input<'_>) -> Result<CounterFile, Box<FileError>> {
    let mut reader = ErrorsReader { input, file: CounterFile::default(), end: OutputEnd::Nothing };
    let mut last = 1;
    for line in input.lines_with_end(is_whole) {
        let line = line?;
        last = line.number;
        reader.read_line(&line);
    }
    let ErrorsReader { mut file, end, .. } = reader;
    match end {
        OutputEnd::Nothing => {
            let hint = "ibqueryerrors prints lines like 'GUID 0x200003 port 3: [PortXmitWait == 2544]'";
            return Err(FileError::new(
                "FD-2412",
                input.line_place(last),
                "no counters and no summary",
                hint,
            ));
        }
        OutputEnd::Records | OutputEnd::Summary => {
            file.notes.add_partial("FN-415", input.line_place(last), || {
                "the file ends before the end of the summary: it may be cut".to_owned()
            })
        }
        OutputEnd::Whole => {}
    }
    Ok(file)
}

/// Whether a last line without a newline is complete: a record up to its last bracket, or the last line of the
/// summary.
fn is_whole(line: &str) -> bool {
    let text = line.trim();
    split_record(text).is_some_and(|_| text.ends_with(']')) || text.starts_with("## Suppressed:")
}

/// How far the current output got. The tool always ends with the list of suppressed counters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputEnd {
    Nothing,
    Records,
    Summary,
    Whole,
}

/// Splits a line of one port into GUID, port and the text of the counters.
fn split_record(text: &str) -> Option<(&str, &str, &str)> {
    let rest = text.trim().strip_prefix("GUID ")?;
    let (guid, rest) = rest.trim_start().split_once(' ')?;
    let (port, counters) = rest.trim_start().strip_prefix("port ")?.split_once(':')?;
    Some((guid, port.trim(), counters.trim()))
}

struct ErrorsReader<'a> {
    input: Input<'a>,
    file: CounterFile,
    end: OutputEnd,
}

impl ErrorsReader<'_> {
    fn read_line(&mut self, line: &TextLine<'_>) {
        let text = line.text.trim();
        if text.is_empty() {
            return;
        }
        if line.unended {
            note_unended(&self.input, line.number, &mut self.file.notes);
        } else if let Some((guid, port, counters)) = split_record(text) {
            self.end = OutputEnd::Records;
            self.read_record((guid, port, counters), line.number);
        } else if let Some(remark) = text.strip_prefix("##") {
            self.read_remark(remark.trim(), line.number);
        } else if HEADINGS.iter().any(|heading| text.starts_with(heading)) {
            // The name is that of the fabric; the lines below name the node by GUID.
            self.end = OutputEnd::Records;
        } else if !text.starts_with("Link info:") {
            note_stray_line(text, &self.input, line.number, &mut self.file.notes);
        }
    }

    fn read_remark(&mut self, text: &str, line: u64) {
        if text.starts_with("Summary:") {
            self.end = OutputEnd::Summary;
        } else if text.starts_with("Suppressed:") {
            self.end = OutputEnd::Whole;
        } else if text.ends_with("PMA query failures") {
            self.file.notes.add_partial("FN-416", self.input.line_place(line), || {
                format!("ports did not answer: {text}")
            });
        }
    }

    fn read_record(&mut self, (guid, number, counters): (&str, &str, &str), line: u64) {
        let (Ok(guid), Some(port)) = (Guid::from_hex(guid), parse_port(number)) else {
            self.file.notes.add_partial("FN-412", self.input.line_place(line), || {
                "neither GUID nor port can be read; the line is left out".to_owned()
            });
            return;
        };
        self.add_sample(guid, port.number(), counters, line);
    }

    fn add_sample(&mut self, guid: Guid, port: Option<PortNum>, counters: &str, line: u64) {
        let (input, notes) = (self.input, &mut self.file.notes);
        let mut sample = CounterSample { node: Some(guid), port, ..CounterSample::default() };
        let mut rest = counters;
        while !rest.is_empty() {
            let Some((counter, value, after)) = parse_counter(rest) else {
                notes.add_partial("FN-418", input.line_place(line), || {
                    format!("'{}' is no counter; the rest of the line is left out", clipped(rest))
                });
                break;
            };
            rest = after;
            read_value(&mut sample.values, counter, value, &input, line, notes);
        }
        sample.values.shrink_to_fit();
        self.file.samples.push(sample);
    }
}

/// Reads `[NAME == VALUE]` or `[NAME == VALUE (1.5KB)]`; returns the rest too. A value repeated in a handy unit comes
/// from PortCountersExtended, which the tool reads if the device has it.
fn parse_counter(text: &str) -> Option<(Counter, &str, &str)> {
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    let (name, value) = inside.split_once("==")?;
    let counter = Counter::from_name(name);
    Some(match value.split_once('(') {
        Some((value, _)) => (counter.extended(), value.trim(), after.trim_start()),
        None => (counter, value.trim(), after.trim_start()),
    })
}

fn clipped(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records() {
        assert_eq!(
            split_record("   GUID 0x2 port 3: [A == 1] [B == 2]"),
            Some(("0x2", "3", "[A == 1] [B == 2]"))
        );
        assert_eq!(split_record("GUID 0x2 port ALL:"), Some(("0x2", "ALL", "")));
        for line in ["GUID 0x2 port 3", "GUID port 3: x", "Link info: 3", ""] {
            assert_eq!(split_record(line), None, "{line}");
        }
    }

    #[test]
    fn a_unit_tells_the_wide_counters() {
        assert_eq!(parse_counter("[PortXmitWait == 7] x"), Some((Counter::PortXmitWait, "7", "x")));
        assert_eq!(parse_counter("[PortXmitWait == 7 (7.000)]"), Some((Counter::PortXmitWaitExt, "7", "")));
        assert_eq!(
            parse_counter("[PortRcvPkts == 7 (7.000)]"),
            Some((Counter::PortRcvPktsExtended, "7", ""))
        );
        for text in ["[PortXmitWait == 7", "[PortXmitWait 7]", "7", "(("] {
            assert_eq!(parse_counter(text), None, "{text}");
        }
    }
}
