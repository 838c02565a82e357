//! What both writers print alike.

use std::borrow::Cow;

use crate::fabric::{Guid, NodeKind};

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

/// A description fit for one line: control characters become blanks, as the tools do it.
pub fn clean_name(name: &str) -> Cow<'_, str> {
    if name.contains(char::is_control) {
        return name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().into();
    }
    name.into()
}
