//! Firmware of nodes as ibdiagnet lists it (`ibdiagnet2.nodes_info`).

use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{DeviceAnswer, DeviceSensors, FirmwareReading, NotePlace, Notes};

use super::FileError;
use super::cables::note_cut;
use super::content::{WireDevice, WireFile, WireOwner};
use super::counters_text::parse_number;
use super::module_text::plain_text;
use super::opensm::{no_content, note_truncated_line};
use super::port_blocks::read_lines;
use super::text::Input;

pub const ID: &str = "nodes-info";

pub fn looks_like(head: &str) -> bool {
    let has = |begin: &str| head.lines().any(|line| line.starts_with(begin));
    has("Node Name=") && has("FWInfo_")
}

#[derive(Default)]
struct OpenNode {
    guid: Option<Guid>,
    version: Option<String>,
    psid: Option<String>,
    uptime: Option<u32>,
    place: NotePlace,
}

impl OpenNode {
    fn finish(self) -> Option<WireDevice> {
        let firmware =
            FirmwareReading { version: self.version?, psid: self.psid, uptime_s: self.uptime.unwrap_or(0) };
        let sensors = DeviceSensors { firmware: DeviceAnswer::Known(firmware), ..DeviceSensors::default() };
        Some(WireDevice { owner: WireOwner::Guid(self.guid?), sensors, place: self.place })
    }

    fn add(&mut self, name: &str, value: &str) {
        match name {
            "GUID" => self.guid = Guid::from_hex(value).ok(),
            "FWInfo_Extended_Version" => self.version = version_text(value),
            "FWInfo_PSID" => self.psid = plain_text(value),
            "HWInfo_UpTime" => {
                self.uptime = parse_number(value).and_then(|seconds| u32::try_from(seconds).ok())
            }
            _ => {}
        }
    }
}

/// A version as devices have it: `31.2012.1024`.
pub(super) fn version_text(text: &str) -> Option<String> {
    let plain = text.trim();
    let parts: Vec<&str> = plain.split('.').collect();
    let number = |part: &&str| (1..=5).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    (parts.len() == 3 && parts.iter().all(number) && plain != "0.0.0").then(|| plain.to_owned())
}

pub fn read(input: Input<'_>) -> Result<WireFile, Box<FileError>> {
    let mut file = WireFile::default();
    let mut notes = Notes::new();
    let mut open: Option<OpenNode> = None;
    let mut nodes = 0u64;
    let whole = read_lines(input, |line, text, place| {
        if line.unended {
            note_truncated_line(&mut notes, place, text);
        } else if text.starts_with("Node Name=") {
            nodes += 1;
            let next = OpenNode { place, ..OpenNode::default() };
            file.devices.extend(open.replace(next).and_then(OpenNode::finish));
        } else if let (Some(open), Some((name, value))) = (&mut open, text.split_once('=')) {
            open.add(name.trim(), value.trim());
        }
    })?;
    if !whole {
        note_cut(&mut notes, input);
    }
    file.devices.extend(open.and_then(OpenNode::finish));
    if nodes == 0 {
        return Err(no_content(input.name, "node"));
    }
    file.notes = notes;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_nodes() {
        let text = "-----\nNode Name=a/U1\n-----\nGUID=0x1\nHWInfo_UpTime=0x10\nFWInfo_Version=0.0.0\n\
            FWInfo_PSID=MT_0000000577\nFWInfo_Extended_Version=31.2012.1024\n\n-----\nNode Name=b\n-----\nGUID=0x2\n\
            FWInfo_Extended_Version=N/A\n";
        let file = read(Input::new("f", text.as_bytes())).unwrap();
        let firmware = FirmwareReading {
            version: "31.2012.1024".into(),
            psid: Some("MT_0000000577".into()),
            uptime_s: 16,
        };
        assert_eq!((file.devices.len(), file.devices[0].owner), (1, WireOwner::Guid(Guid(1))));
        assert_eq!(file.devices[0].sensors.firmware, DeviceAnswer::Known(firmware));
    }
}
