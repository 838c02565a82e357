//! Labels that files of diagnostic tools state about ports, and how they come to the ports of a fabric.

use fabdeck_fabric::observe::{NotePlace, Notes, is_printable};
use fabdeck_fabric::{Fabric, Guid, LabelOrigin, PortLabel, PortLabels, PortNum};

use super::counters_text::is_absent;
use super::wire_binding::{note_unknown_device, port_by_guid};

/// A label that cannot be one.
const BAD_LABEL: &str = "FN-462";
/// Two labels of one port.
const OTHER_LABEL: &str = "FN-463";
/// Most signs of a label.
const MAX_SIGNS: usize = 64;

/// The label of one port, by the GUID of its node or its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelStatement {
    pub guid: Guid,
    pub port: PortNum,
    pub text: String,
    pub place: NotePlace,
}

/// The text of a label; `None` for a cell without one. A text that is no label has a note.
pub(super) fn read_label(text: &str, place: &NotePlace, notes: &mut Notes) -> Option<String> {
    let text = text.trim();
    if is_absent(text) || matches!(text, "-" | "-1") || text.eq_ignore_ascii_case("tbd") {
        return None;
    }
    let fits = text.chars().count() <= MAX_SIGNS && text.chars().all(is_printable);
    if !fits {
        notes.add(BAD_LABEL, place.clone(), || {
            format!("the label is longer than {MAX_SIGNS} signs or has control characters: left out")
        });
    }
    fits.then(|| text.to_owned())
}

/// Adds statements to the labels of a fabric. The first statement about a port counts.
pub fn bind_labels(
    fabric: &Fabric,
    statements: &[LabelStatement],
    labels: &mut PortLabels,
    notes: &mut Notes,
) {
    for stated in statements {
        let Some(at) = port_by_guid(fabric, stated.guid, stated.port) else {
            // Topologies leave out ports without a cable.
            if fabric.node_by_guid(stated.guid).is_none() {
                note_unknown_device(stated.guid, &stated.place, notes);
            }
            continue;
        };
        let label = PortLabel { text: stated.text.clone(), origin: LabelOrigin::File };
        if let Some(held) = labels.add(at, label) {
            notes.add(OTHER_LABEL, stated.place.clone(), || {
                format!(
                    "port {} of {} is '{}' here and '{}' before: '{}' counts",
                    stated.port, stated.guid, stated.text, held.text, held.text
                )
            });
        }
    }
}
