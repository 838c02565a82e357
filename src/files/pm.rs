//! Counters of ports as ibdiagnet lists them (`ibdiagnet2.pm`). The table PM_INFO of its database has the same ones.

use fabdeck_fabric::observe::{Counter, CounterSample, CounterValues, Notes};

use super::FileError;
use super::cables::{note_bad_heading, note_cut};
use super::content::CounterFile;
use super::counters_text::{is_absent, read_value};
use super::opensm::note_truncated_line;
use super::port_blocks::{PortHeading, is_damaged_heading, read_lines};
use super::text::Input;

pub const ID: &str = "pm";

pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim);
    lines.any(|line| PortHeading::of(line).is_some())
        && lines.any(|line| line.starts_with("port_xmit") || line.starts_with("link_down_counter="))
}

pub fn read(input: Input<'_>) -> Result<CounterFile, Box<FileError>> {
    let mut samples = Vec::new();
    let mut notes = Notes::new();
    let mut open: Option<(PortHeading, CounterValues, u64)> = None;
    let whole = read_lines(input, |line, text, place| {
        if line.unended {
            note_truncated_line(&mut notes, place, text);
        } else if let Some(heading) = PortHeading::of(text) {
            samples.extend(open.replace((heading, CounterValues::new(), 0)).map(to_sample));
        } else if is_damaged_heading(text) {
            samples.extend(open.take().map(to_sample));
            note_bad_heading(&mut notes, place);
        } else if let (Some((_, values, absent)), Some((name, value))) = (&mut open, text.split_once('=')) {
            let counter = Counter::from_name(name.trim());
            let value = value.trim();
            if !is_absent(value) {
                read_value(values, counter, value, &input, line.number, &mut notes);
                return;
            }
            // A vendor's counter is expected to be missing on ports of other vendors.
            if counter.bits().is_some() && !values.has(&counter) {
                values.insert(counter, None);
            }
            *absent += 1;
            if *absent == 1 {
                notes.add("FN-404", place, || {
                    "counters of this port have no value (NA): read as unknown".to_owned()
                });
            }
        }
    })?;
    if !whole {
        note_cut(&mut notes, input);
    }
    samples.extend(open.map(to_sample));
    if samples.is_empty() {
        let hint =
            "ibdiagnet writes a heading (Port=1 Lid=0x0001 GUID=0x...) before the counters of each port";
        return Err(FileError::new("FD-2411", input.line_place(1), "no counters of any port", hint));
    }
    Ok(CounterFile { samples, notes })
}

fn to_sample((heading, mut values, _): (PortHeading, CounterValues, u64)) -> CounterSample {
    values.shrink_to_fit();
    CounterSample { node: Some(heading.guid), lid: heading.lid, port: Some(heading.port), values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Guid, PortNum};

    #[test]
    fn counters_have_the_names_of_the_table() {
        let text = "-----\nPort=1 Lid=0x00b4 GUID=0x1 Device=54002 Port Name=x/P1\n-----\nlink_down_counter=0x3\n\
            port_xmit_discard=0x5\nexcessive_buffer_errors=0x1\nport_xmit_data_extended=0x10\nport_looping_errors=NA\n\
            port_malformed_packet_errors=0x7\nsymbol_error_counter_extended=0x2\nmax_retransmission_rate=0x9\n";
        let file = read(Input::new("f", text.as_bytes())).unwrap();
        let sample = &file.samples[0];
        assert_eq!((sample.node, sample.port, sample.lid), (Some(Guid(1)), Some(PortNum(1)), Some(0xb4)));
        for (counter, value) in [
            (Counter::LinkDownedCounter, Some(3)),
            (Counter::PortXmitDiscards, Some(5)),
            (Counter::ExcessiveBufferOverrunErrors, Some(1)),
            (Counter::PortXmitDataExtended, Some(16)),
            (Counter::PortLoopingErrors, None),
            (Counter::PortMalformedPktErrors, Some(7)),
            (Counter::SymbolErrorCounterExt, Some(2)),
            (Counter::from_name("max_retransmission_rate"), Some(9)),
        ] {
            assert_eq!(
                (sample.values.has(&counter), sample.values.get(&counter)),
                (true, value),
                "{counter}"
            );
        }
        assert!(file.notes.has("FN-404"));
    }
}
