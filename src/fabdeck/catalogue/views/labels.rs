//! The values of labels of ports and places of nodes, for all views that show them.

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::Value;
use fabdeck_fabric::{NodeId, PortId};

/// What a field with a label means.
pub const LABEL_ABOUT: &str =
    "label of the port on its device (cage, split); one that ends with ? is a guess by the rule of the model";

/// The words of the field with the origin of a label.
pub const LABEL_FROM_ABOUT: &str =
    "where the label comes from: sheet, device, file or guess; or why the device gave none";

/// What a field with a place means.
pub const PLACE_ABOUT: &str = "where it is: site, room, row, rack and height unit, by a sheet or a file";

/// The label of a port, with the sign of a guess.
pub fn label_value(look: &Snapshot, port: PortId) -> Value<'static> {
    look.label(port).map(|label| label.shown()).into()
}

/// Where the label of a port comes from.
pub fn label_origin_value(look: &Snapshot, port: PortId) -> Value<'static> {
    let missing = look.missing_label_word(port);
    match (look.label(port), missing) {
        (Some(label), Some(missing)) if label.is_guess() => {
            format!("{}; device: {missing}", label.origin.word()).into()
        }
        (Some(label), _) => label.origin.word().into(),
        (None, missing) => missing.into(),
    }
}

/// The place of a node.
pub fn place_value(look: &Snapshot, node: NodeId) -> Value<'static> {
    look.names.place(node).map(|place| place.text()).into()
}
