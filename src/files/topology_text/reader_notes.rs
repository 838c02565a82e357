//! Notes of the readers of both dialects.

use rustc_hash::FxHashMap;

use super::guid_text::{GuidText, read_guid};
use super::line_cursor::excerpt;
use super::line_tail::{LidText, LineTail};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Guid, NodeKind, PortId, PortNum};

pub fn note_noise(notes: &mut Notes, place: NotePlace, line: &str) {
    notes.add("FN-201", place, || format!("'{}' is no line of a topology: left out", excerpt(line.trim())));
}

pub fn note_truncated(notes: &mut Notes, place: NotePlace, lost: bool) {
    let what = if lost { "the line is not used" } else { "its last word is not used" };
    let line = place.line.unwrap_or(0);
    notes.add_partial("FN-203", place, || {
        format!("truncated at line {line}: the file ends without the end of a line, {what}")
    });
}

/// Reads a GUID, with a note if the text is not hexadecimal.
pub fn read_guid_noted(notes: &mut Notes, place: impl FnOnce() -> NotePlace, text: &str) -> Option<GuidText> {
    let guid = read_guid(text)?;
    if guid.derived {
        notes.add("FN-205", place(), || {
            let text = excerpt(text);
            format!("'{text}' is not hexadecimal: the GUID {} replaces it everywhere", guid.guid)
        });
    }
    Some(guid)
}

/// The GUID in parentheses after a port. ibdiagnet writes labels there (`(1)`, `(1/1/1)`, `(0000:05:00.0)`).
pub fn read_port_guid(
    notes: &mut Notes,
    place: impl FnOnce() -> NotePlace,
    label: &str,
    kind: NodeKind,
    port: PortNum,
) -> Option<Guid> {
    let is_label = label.contains(['/', ':']) || label.trim() == port.to_string() || kind == NodeKind::Switch;
    if is_label {
        notes.add("FN-211", place(), || {
            format!("'({})' is a label of the port, no GUID: left out", excerpt(label))
        });
        return None;
    }
    read_guid_noted(notes, place, label).map(|guid| guid.guid)
}

/// Notes unclear words after a name.
pub fn note_tail(
    notes: &mut Notes,
    place: impl Fn() -> NotePlace,
    tail: &LineTail<'_>,
    own: Option<LidText>,
) {
    if [tail.lid, own].contains(&Some(LidText::Unknown)) {
        note_unknown_lid(notes, place());
    }
    if let Some(word) = tail.odd {
        notes.add("FN-216", place(), || format!("'{}' is no known word here: left out", excerpt(word)));
    }
    if let Some(rate) = tail.rate
        && (tail.width_in_use().is_none() || tail.speed_in_use().is_none())
    {
        note_rate(notes, place(), rate);
    }
}

pub fn note_rate(notes: &mut Notes, place: NotePlace, rate: &str) {
    let what = || format!("'{}' is no known width and speed: unknown parts are left open", excerpt(rate));
    notes.add("FN-212", place, what);
}

pub fn note_unknown_lid(notes: &mut Notes, place: NotePlace) {
    let what = || "a LID that is missing, 0, negative or above 49151: read as unknown".to_owned();
    notes.add("FN-204", place, what);
}

/// Notes identifiers with several owners; look-ups find the first in canonical order.
pub fn note_duplicates(notes: &mut Notes, file: &str, fabric: &Fabric) {
    for (id, port) in fabric.ports() {
        let Some(lid) = port.facts.lid else { continue };
        let owner = (0..u32::from(port.facts.lmc.lid_count()))
            .filter_map(|offset| fabdeck_fabric::Lid::new(u32::from(lid.value()) + offset))
            .find_map(|lid| fabric.port_by_lid(lid).filter(|owner| *owner != id));
        if let Some(owner) = owner {
            notes.add("FN-214", NotePlace::file(file), || {
                format!("LID {lid} is claimed by {} and {}", port_text(fabric, owner), port_text(fabric, id))
            });
        }
    }
    let mut owners: FxHashMap<Guid, PortId> = FxHashMap::default();
    for (id, port) in fabric.ports() {
        let Some(guid) = port.facts.guid else { continue };
        let owner = *owners.entry(guid).or_insert(id);
        if owner != id {
            // The note omits the GUID: in a table with shifted columns it may be a key.
            notes.add("FN-217", NotePlace::file(file), || {
                format!("{} and {} have the same port GUID", port_text(fabric, owner), port_text(fabric, id))
            });
        }
    }
    for (id, node) in fabric.nodes() {
        if fabric.node_by_guid(node.guid()) != Some(id) {
            notes.add("FN-226", NotePlace::file(file), || {
                format!("nodes of two kinds have GUID {}: both are kept", node.guid())
            });
        }
    }
}

fn port_text(fabric: &Fabric, id: PortId) -> String {
    let port = fabric.port(id);
    format!("{} port {}", fabric.node(port.node).guid(), port.number)
}
