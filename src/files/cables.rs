//! Modules of ports as ibdiagnet lists them (`ibdiagnet2.cables`).

use fabdeck_fabric::observe::{DeviceAnswer, NotePlace, Notes, PortWire};

use super::FileError;
use super::content::{WireFile, WireOwner, WirePort};
use super::module_text::ModuleText;
use super::opensm::{no_content, note_truncated_line};
use super::port_blocks::{PortHeading, is_damaged_heading, read_lines};
use super::text::Input;

pub const ID: &str = "cables";

pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim);
    lines.any(|line| PortHeading::of(line).is_some())
        && lines
            .any(|line| ["Vendor:", "Identifier:", "Source:", "PN:"].iter().any(|key| line.starts_with(key)))
}

struct OpenBlock {
    heading: PortHeading,
    module: ModuleText,
    place: NotePlace,
}

impl OpenBlock {
    fn finish(self) -> Option<WirePort> {
        let module = DeviceAnswer::Known(self.module.finish()?);
        let PortHeading { guid, port, .. } = self.heading;
        let wire = PortWire { module, ..PortWire::default() };
        Some(WirePort { owner: WireOwner::Guid(guid), port: Some(port), wire, place: self.place })
    }
}

pub fn read(input: Input<'_>) -> Result<WireFile, Box<FileError>> {
    let mut file = WireFile::default();
    let mut notes = Notes::new();
    let mut open: Option<OpenBlock> = None;
    let mut headings = 0u64;
    let whole = read_lines(input, |line, text, place| {
        if line.unended {
            note_truncated_line(&mut notes, place, text);
        } else if let Some(heading) = PortHeading::of(text) {
            headings += 1;
            let module = ModuleText::default();
            file.ports.extend(open.replace(OpenBlock { heading, module, place }).and_then(OpenBlock::finish));
        } else if is_damaged_heading(text) {
            file.ports.extend(open.take().and_then(OpenBlock::finish));
            note_bad_heading(&mut notes, place);
        } else if let (Some(open), Some((name, value))) = (&mut open, text.split_once(':')) {
            open.module.add(name, value);
        }
    })?;
    if !whole {
        note_cut(&mut notes, input);
    }
    file.ports.extend(open.and_then(OpenBlock::finish));
    if headings == 0 {
        return Err(no_content(input.name, "port"));
    }
    file.notes = notes;
    Ok(file)
}

/// Notes a heading of a port that cannot be read.
pub(super) fn note_bad_heading(notes: &mut Notes, place: NotePlace) {
    notes.add_partial("FN-412", place, || "this heading names no port; its block is left out".to_owned());
}

/// Notes a file of ibdiagnet without its last line.
pub(super) fn note_cut(notes: &mut Notes, input: Input<'_>) {
    notes.add_partial("FN-302", NotePlace::file(input.name), || {
        "the file ends without its last line (File closed at)".to_owned()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Guid, PortNum};

    #[test]
    fn blocks_are_ports() {
        let text = "# File created at : now\n-----\nPort=1 Lid=0x0018 GUID=0x1 Port Name=leaf/P1\n-----\nVendor: FS\n\
            SN: A1\nTemperature: 58C\n\n-----\nPort=2 Lid=0x0018 GUID=0x1 Port Name=leaf/P2\n-----\nVendor: NA\n\
            -----\nPort=x Lid=0x0018 GUID=0x1\n-----\nVendor: Other\n-----\nPort=3 Lid=0x0018 GUID=0x1\nPN: P3\n\
            # File closed at : now\n";
        let file = read(Input::new("f", text.as_bytes())).unwrap();
        let at = |port: &WirePort| (port.owner, port.port);
        let owner = WireOwner::Guid(Guid(1));
        let found: Vec<_> = file.ports.iter().map(at).collect();
        assert_eq!(found, [(owner, Some(PortNum(1))), (owner, Some(PortNum(3)))]);
        let module = file.ports[0].wire.module.known().unwrap();
        assert_eq!((module.serial.as_deref(), module.celsius()), (Some("A1"), Some(58.0)));
        let codes: Vec<&str> = file.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["FN-412"]);
        let cut = text.find("# File closed").unwrap();
        assert!(read(Input::new("f", &text.as_bytes()[..cut])).unwrap().notes.has("FN-302"));
    }
}
