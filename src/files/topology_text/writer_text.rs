//! Output that both writers share.

use std::borrow::Cow;

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Guid, NodeKind, PortId, PortState};

/// `S-0000000000200003`, without quotes.
pub fn node_id(kind: NodeKind, guid: Guid) -> String {
    let letter = match kind {
        NodeKind::Switch => 'S',
        NodeKind::ChannelAdapter => 'H',
        NodeKind::Router => 'R',
    };
    format!("{letter}-{:016x}", guid.0)
}

pub fn record_word(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch => "Switch",
        NodeKind::ChannelAdapter => "Ca",
        NodeKind::Router => "Rt",
    }
}

pub fn guid_key(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch => "switchguid",
        NodeKind::ChannelAdapter => "caguid",
        NodeKind::Router => "rtguid",
    }
}

/// A description for one line: control characters become blanks, as in the tools, and so do marks that turn the
/// direction of text on a terminal.
pub fn clean_name(name: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let acts = |c: char| c.is_control() || turns(c);
    if name.contains(acts) {
        return name.chars().map(|c| if acts(c) { ' ' } else { c }).collect::<String>().into();
    }
    name.into()
}

/// Whether a cable is known to be down. Formats without link states leave such cables out, because they would look
/// alive.
pub fn is_down(fabric: &Fabric, end: PortId) -> bool {
    let down = |id: PortId| fabric.port(id).facts.state == Some(PortState::Down);
    down(end) || fabric.peer(end).is_some_and(down)
}

/// Notes each cable that a file leaves out because it is down.
pub fn note_down(notes: &mut Notes, format: &str, fabric: &Fabric) {
    for (id, port) in fabric.ports() {
        let Some(peer_id) = port.peer.filter(|peer| id < *peer && is_down(fabric, id)) else { continue };
        let peer = fabric.port(peer_id);
        notes.add_partial("FN-240", NotePlace::file(format), || {
            let (near, far) = (fabric.node(port.node).guid(), fabric.node(peer.node).guid());
            format!("the cable {near}[{}] - {far}[{}] is down: left out", port.number, peer.number)
        });
    }
}
