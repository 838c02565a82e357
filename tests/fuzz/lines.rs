//! What is read by name and not by content: lists of jobs, plans of cabling, and the lines of a capture behind a lead and a checksum that are
//! right, which fuzzing of whole files never comes to.

use fabdeck_files::cabling::{self, PortText};
use fabdeck_files::capture_format::{CaptureReader, Lead, flags};
use fabdeck_files::job_lists;
use fabdeck_files::text::Input;

use super::judge::{refused, sound};

/// Reads the bytes as a list of jobs, in whatever form they have and in both of squeue's. A list has names of hosts and jobs, and
/// no more of them than a subnet holds.
pub fn job_lists(data: &[u8]) {
    let input = Input::new("fuzz", data);
    for read in [job_lists::read, job_lists::read_json, job_lists::read_text] {
        let first = read(input);
        assert_eq!(first, read(input), "the same bytes were read in two ways");
        match first {
            Ok(list) => {
                assert!(list.lines.len() <= 1_000_000);
                let named = |line: &job_lists::JobLine| !line.host.is_empty() && !line.job.is_empty();
                assert!(list.lines.iter().all(|line| named(line) && line.number > 0));
            }
            Err(error) => refused(&error),
        }
    }
}

/// Reads the bytes as a plan of cabling. A plan has cables, each with a device and a line of the file. A port reads back as it is
/// written; the label `2` of a column of labels may look like a number, and has its own column in what is written.
pub fn cabling_plans(data: &[u8]) {
    let input = Input::new("fuzz", data);
    let first = cabling::read(input);
    assert_eq!(first, cabling::read(input), "the same bytes were read in two ways");
    match first {
        Ok(plan) => {
            assert!(!plan.cables.is_empty() && plan.cables.len() <= data.len());
            let lines = data.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            for cable in &plan.cables {
                assert!(cable.line.is_some_and(|line| (1..=lines).contains(&line)));
                for end in &cable.ends {
                    assert!(!end.device_name().is_empty());
                    let again = PortText::parse(&end.port.to_string());
                    assert!(
                        again == end.port || matches!(end.port, PortText::Label(_)),
                        "{:?} reads as {again:?}",
                        end.port
                    );
                }
            }
        }
        Err(error) => refused(&error),
    }
}

/// Reads the bytes as the records of two frames, cut in the middle. Whatever they say ends with a value or a reason.
pub fn lines(data: &[u8]) {
    let half = data.len() / 2;
    let cut = data[half..].iter().position(|byte| *byte == b'\n').map_or(data.len(), |at| half + at + 1);
    let says = flags::STATE_WHOLE | flags::STATE_MOVED | flags::COUNTERS | flags::EVENT | flags::MOMENT;
    let (mut bytes, mut first) = (Vec::new(), 0);
    for (lines, whole) in [(&data[..cut], flags::COUNTERS_WHOLE), (&data[cut..], 0)] {
        let Some((lead, frame)) = frame(lines, says | whole, first) else { continue };
        first = lead.next_record();
        bytes.extend_from_slice(&lead.to_bytes());
        bytes.extend_from_slice(&frame);
    }
    let Ok(mut reader) = CaptureReader::open("fuzz", bytes.as_slice()) else { return };
    for slot in reader.moments().to_vec() {
        let shown = reader.show_moment(slot);
        let said = reader.read_events(slot).map(|events| events.len());
        assert_eq!(
            said,
            reader.read_events(slot).map(|events| events.len()),
            "the same lines were read in two ways"
        );
        match shown {
            Ok(()) => sound(&reader.observation().fabric),
            Err(damage) => assert!(!damage.what.is_empty()),
        }
    }
}

fn frame(lines: &[u8], flags: u32, first: u64) -> Option<(Lead, Vec<u8>)> {
    let mut compressor = zstd::bulk::Compressor::new(1).ok()?;
    compressor.include_checksum(true).ok()?;
    let frame = compressor.compress(lines).ok()?;
    let records = lines.split_inclusive(|byte| *byte == b'\n').count() as u32;
    let lead = Lead {
        flags,
        records,
        first,
        state: first,
        packed: frame.len() as u32,
        raw: lines.len() as u32,
        time: 0,
    };
    (records > 0).then_some((lead, frame))
}
