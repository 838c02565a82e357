//! Output of perfquery: blocks of one port and one attribute, one counter a line. A file may hold several outputs;
//! each block is a sample of its own.
//!
//! ```text
//! # Port extended counters: Lid 2052 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)
//! PortSelect:......................1
//! PortXmitData:....................178791657177235
//! ```

use super::FileError;
use super::content::CounterFile;
use super::counters_text::{note_stray_line, note_unended, parse_number, parse_port, read_value};
use super::text::{Input, TextLine};
use fabdeck_fabric::observe::{Counter, CounterSample, Notes};
use fabdeck_fabric::{Lid, PortNum};

pub const ID: &str = "perfquery";

/// Whether the text has a heading of a block, or the first line below one.
pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| parse_heading(line).is_some() || line.trim_start().starts_with("PortSelect:."))
}

/// Whether a line is a heading or a counter.
pub(super) fn is_known_line(line: &str) -> bool {
    parse_heading(line).is_some() || split_field(line.trim()).is_some()
}

pub fn read(input: Input<'_>) -> Result<CounterFile, Box<FileError>> {
    let mut reader = PerfqueryReader { input, file: CounterFile::default(), open: None };
    let mut last = 1;
    for line in input.lines_with_end(is_whole) {
        let line = line?;
        last = line.number;
        reader.read_line(&line);
    }
    reader.end_block();
    if reader.file.samples.is_empty() {
        let hint = "perfquery prints blocks that begin with '# Port counters: Lid 2 port 1'";
        return Err(FileError::new("FD-2411", input.line_place(last), "no counters of any port", hint));
    }
    Ok(reader.file)
}

/// Whether a last line without a newline is complete. It must be the last counter of an attribute, with a value that
/// starts no longer number: 12 may be the beginning of 120.
fn is_whole(line: &str) -> bool {
    const LAST: &[&str] =
        &["PortRcvPkts", "PortXmitWait", "PortMulticastRcvPkts", "QP1Dropped", "QP1DroppedExt"];
    let last = split_field(line.trim()).filter(|(name, _)| LAST.contains(name));
    last.is_some_and(|(name, value)| value == "0" || name == "PortXmitWait" && value == "4294967295")
}

#[derive(Debug, PartialEq, Eq)]
struct Heading<'a> {
    title: &'a str,
    lid: Option<&'a str>,
    port: &'a str,
}

/// Reads `# TITLE: Lid 2 port 1 (CapMask: 0x5A00)`; a directed route may replace the LID.
fn parse_heading(line: &str) -> Option<Heading<'_>> {
    let (title, rest) = line.trim().strip_prefix('#')?.split_once(':')?;
    let title = title.trim();
    if !title.starts_with("Port") && !title.ends_with("counters") {
        return None;
    }
    let rest = rest.split_once('(').map_or(rest, |(rest, _)| rest).trim();
    let (address, port) = rest.rsplit_once("port ")?;
    let lid = address.trim().strip_prefix("Lid ").and_then(|lid| lid.split_whitespace().next());
    Some(Heading { title, lid, port: port.trim() })
}

/// The current block.
struct CounterBlockDraft {
    sample: CounterSample,
    line: u64,
    /// Whether the names mean the 64-bit counters.
    wide: bool,
    /// Whether the attribute is PortCounters or PortCountersExtended, which always have PortRcvPkts.
    whole_attribute: bool,
    /// Whether the attribute holds counters; PortSamplesControl does not.
    counters: bool,
}

struct PerfqueryReader<'a> {
    input: Input<'a>,
    file: CounterFile,
    open: Option<CounterBlockDraft>,
}

impl PerfqueryReader<'_> {
    fn read_line(&mut self, line: &TextLine<'_>) {
        let text = line.text.trim();
        if text.is_empty() {
            return;
        }
        if line.unended {
            note_unended(&self.input, line.number, &mut self.file.notes);
            return;
        }
        if let Some(heading) = parse_heading(text) {
            self.end_block();
            self.begin_block(&heading, line.number);
        } else if let Some((name, value)) = split_field(text) {
            self.read_field(name, value, line.number);
        } else {
            note_stray_line(text, &self.input, line.number, &mut self.file.notes);
        }
    }

    fn begin_block(&mut self, heading: &Heading<'_>, line: u64) {
        let Some(port) = parse_port(heading.port) else {
            self.file.notes.add_partial("FN-412", self.input.line_place(line), || {
                format!("'{}' is no port; the block is left out", clipped(heading.port))
            });
            return;
        };
        let lid = heading.lid.and_then(|lid| lid.parse::<u32>().ok()).and_then(Lid::new);
        if lid.is_none() {
            self.file.notes.add("FN-411", self.input.line_place(line), || {
                "the heading has no LID of a port: the port of these counters is unknown".to_owned()
            });
        }
        self.open = Some(CounterBlockDraft {
            sample: CounterSample {
                lid: lid.map(Lid::value),
                port: port.number(),
                ..CounterSample::default()
            },
            line,
            wide: heading.title.to_ascii_lowercase().contains("extended counters"),
            whole_attribute: ["Port counters", "Port extended counters"].contains(&heading.title),
            counters: heading.title.ends_with("counters"),
        });
    }

    fn read_field(&mut self, name: &str, value: &str, line: u64) {
        let (input, notes) = (self.input, &mut self.file.notes);
        let Some(block) = &mut self.open else {
            notes.add_partial("FN-419", input.line_place(line), || {
                "counters without a heading: their port is unknown; left out".to_owned()
            });
            return;
        };
        if name == "PortSelect" {
            check_select(block.sample.port, value, &input, line, notes);
            return;
        }
        if !block.counters || name.starts_with("CounterSelect") {
            return;
        }
        let mut counter = Counter::from_name(name);
        if block.wide {
            counter = counter.extended();
        }
        read_value(&mut block.sample.values, counter, value, &input, line, notes);
    }

    fn end_block(&mut self) {
        let Some(mut block) = self.open.take() else { return };
        let values = &mut block.sample.values;
        let last = if block.wide { Counter::PortRcvPktsExtended } else { Counter::PortRcvPkts };
        if block.whole_attribute && !values.has(&last) {
            self.file.notes.add_partial("FN-410", self.input.line_place(block.line), || {
                "the block of this heading ends before its last counters".to_owned()
            });
        }
        if !values.is_empty() {
            values.shrink_to_fit();
            self.file.samples.push(block.sample);
        }
    }
}

/// Checks that PortSelect in the block is the port of the heading.
fn check_select(port: Option<PortNum>, value: &str, input: &Input<'_>, line: u64, notes: &mut Notes) {
    let select = parse_number(value);
    if select != Some(port.map_or(255, |port| u64::from(port.value()))) {
        notes.add("FN-414", input.line_place(line), || {
            format!(
                "PortSelect is {}, and the heading above names another port, which is used",
                clipped(value)
            )
        });
    }
}

/// Reads `NAME:......VALUE`, also without the dots.
fn split_field(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_[]".contains(&b));
    let value = rest.trim_start_matches(['.', ' ', '\t']);
    let valued = value.is_empty() || value.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == 'N');
    (named && valued && (rest.starts_with('.') || !value.is_empty())).then_some((name, value))
}

fn clipped(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let of = |line| parse_heading(line).map(|h| (h.title, h.lid, h.port));
        assert_eq!(
            of("# Port counters: Lid 2 port 1 (CapMask: 0x5A00)"),
            Some(("Port counters", Some("2"), "1"))
        );
        assert_eq!(
            of("# PortRcvErrorDetails counters: Lid 7 port 255"),
            Some(("PortRcvErrorDetails counters", Some("7"), "255"))
        );
        assert_eq!(
            of("# Port counters: DR path slid 0; dlid 0; 0,1 port 3"),
            Some(("Port counters", None, "3"))
        );
        assert_eq!(of("# PortSamplesControl: Lid 3 port 1"), Some(("PortSamplesControl", Some("3"), "1")));
        for line in
            ["# Topology file: generated port 1", "Port counters: Lid 1 port 1", "#", "# Port counters"]
        {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn fields() {
        assert_eq!(split_field("VL15Dropped:.....................0"), Some(("VL15Dropped", "0")));
        assert_eq!(split_field("PortXmitWait: 12"), Some(("PortXmitWait", "12")));
        assert_eq!(split_field("PortXmitWait:....N/A"), Some(("PortXmitWait", "N/A")));
        for line in ["Usage: perfquery [options]", "root@host:~# perfquery", "ibwarn: [3] x", "a b:...1"] {
            assert_eq!(split_field(line), None, "{line}");
        }
    }
}
