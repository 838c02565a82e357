//! The answers as a text that a person can read before sending it.

use std::fmt::{self, Write as _};

use super::attribute_list::{find_listed, published_bytes};
use super::hardware_answers::{HardwareAnswer, HardwareAnswers, HardwareModel, HardwareOutcome};
use fabdeck_mad::{Class, MAD_SIZE, Mad, MadStatus};

const BYTES_A_LINE: usize = 16;

const INTRODUCTION: &str = "\
# Raw answers of devices, one of each kind of device and question.
# Left out: keys, GUIDs, GID prefixes, names of nodes, serial numbers. LIDs and directed routes are here.
# Read this file before you send it.
#
# absent: the device does not have it, with the status that says so. silent: no device of the kind answered.
# busy: the device had no time. refused: the device has it, and did not take the question.
# A line has the place of its first byte in the datagram, and 16 bytes. A removed byte is --.
# Lines of 16 zeros, and of 16 bytes that are not published, are not written.
";

impl HardwareAnswers {
    /// The text, without anything that tells which fabric it is of. `port`: how the fabric was reached.
    pub fn to_text(&self, port: &str) -> String {
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = self.write_text(&mut text, port);
        text
    }

    fn write_text(&self, text: &mut String, port: &str) -> fmt::Result {
        writeln!(
            text,
            "# fabdeck report --hardware, format 1, fabdeck {}, {port}",
            env!("CARGO_PKG_VERSION")
        )?;
        text.push_str(INTRODUCTION);
        if self.left_out > 0 {
            let left_out = self.left_out;
            writeln!(text, "# {left_out} datagrams of further questions are left out: there were too many.")?;
        }
        let mut current = None;
        for ((model, class, attribute, _), answer) in &self.questions {
            if current != Some(*model) {
                current = Some(*model);
                writeln!(text)?;
                write_model(text, *model)?;
            }
            writeln!(text)?;
            write_question(text, (*class, *attribute), answer)?;
        }
        Ok(())
    }
}

fn write_model(text: &mut String, model: Option<HardwareModel>) -> fmt::Result {
    let Some(HardwareModel { vendor, device, revision, node_type }) = model else {
        return writeln!(text, "device of no known kind: it did not answer NodeInfo");
    };
    let kind = match node_type {
        1 => "adapter",
        2 => "switch",
        3 => "router",
        _ => "other",
    };
    writeln!(text, "device: {kind}, vendor 0x{vendor:06x}, device 0x{device:04x}, revision 0x{revision:08x}")
}

fn write_question(
    text: &mut String,
    (class, attribute): (Class, u16),
    answer: &HardwareAnswer,
) -> fmt::Result {
    let entry = find_listed(&answer.request);
    let name = entry.map_or("not in the list of attributes", |entry| entry.name);
    let outcome = match &answer.outcome {
        HardwareOutcome::Silent => "silent".to_owned(),
        HardwareOutcome::Answered(_) => "answered".to_owned(),
        HardwareOutcome::Refused(mad) => format!("{}: {}", refusal_word(mad.status()), mad.status()),
    };
    writeln!(text, "class 0x{:02x} attribute 0x{attribute:04x} {name}: {outcome}", class.0)?;
    let HardwareAnswer { answered, refused, silent, .. } = answer;
    writeln!(text, "  datagrams: {answered} answered, {refused} refused, {silent} not answered")?;
    let modifier = answer.request.header().modifier.get();
    writeln!(text, "  request, modifier 0x{modifier:08x}")?;
    write_mad(text, &answer.request, &answer.request)?;
    if let Some(mad) = answer.outcome.answer() {
        writeln!(text, "  answer")?;
        write_mad(text, mad, &answer.request)?;
    }
    Ok(())
}

/// What a refusal says: only an unsupported question means that the device does not have it.
fn refusal_word(status: MadStatus) -> &'static str {
    match status {
        status if status.is_busy() => "busy",
        status if status.is_unsupported() || status.is_unsupported_register() => "absent",
        _ => "refused",
    }
}

/// Writes what of a datagram may be published.
fn write_mad(text: &mut String, mad: &Mad, request: &Mad) -> fmt::Result {
    let entry = find_listed(request);
    let bytes = published_bytes(mad, entry);
    for (at, line) in mad.0.chunks(BYTES_A_LINE).enumerate() {
        let first = at * BYTES_A_LINE;
        let shown = &bytes.shown[first..first + BYTES_A_LINE];
        let is_hidden = !shown.contains(&true);
        let is_zero = !shown.contains(&false) && line.iter().all(|byte| *byte == 0);
        if is_hidden || is_zero {
            continue;
        }
        write!(text, "    {first:04x} ")?;
        for (byte, shown) in line.iter().zip(shown) {
            match shown {
                true => write!(text, " {byte:02x}")?,
                false => text.push_str(" --"),
            }
        }
        writeln!(text)?;
    }
    if entry.is_none() {
        writeln!(text, "    {} bytes behind the header are removed", MAD_SIZE - BYTES_OF_HEADER)?;
    }
    for (at, length, what) in bytes.removed {
        writeln!(text, "    removed: {length} bytes at {at:04x}, {what}")?;
    }
    Ok(())
}

const BYTES_OF_HEADER: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_device_that_lacks_something_is_called_absent() {
        for (status, word) in [
            (0x0001, "busy"),
            (0x0004, "absent"),
            (0x0008, "absent"),
            (0x000C, "absent"),
            (0x0014, "absent"),
            (0x001C, "refused"),
            (0x0700, "refused"),
        ] {
            assert_eq!(refusal_word(MadStatus(status)), word, "{status:#06x}");
        }
    }
}
