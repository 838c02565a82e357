//! The parts of the map that a name opens: pods of a tree, groups of a dragonfly, slices of a torus.

use std::sync::Arc;

use super::screen::{MapScreen, MapView};
use crate::console::model::fabric_model::Model;
use crate::operations::fabric_map::groups::GroupKind;
use crate::operations::fabric_map::structure::MapStructure;
use fabdeck_fabric::ElementId;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapPart {
    Group(usize),
    Slice(usize),
}

/// The parts of a map with their names.
pub fn map_parts(structure: &MapStructure) -> Vec<(MapPart, String)> {
    let groups = &structure.groups;
    let [one, _] = groups.kind.words();
    let slices = structure.torus.as_ref().map_or(0, |shape| shape.slice_count());
    match groups.kind {
        _ if slices > 1 => (0..slices).map(|at| (MapPart::Slice(at), format!("slice {at}"))).collect(),
        GroupKind::Switches => Vec::new(),
        GroupKind::Pods | GroupKind::Dragonfly => {
            (0..groups.groups.len()).map(|at| (MapPart::Group(at), format!("{one} {at}"))).collect()
        }
    }
}

impl MapScreen {
    /// Shows a part: a slice, the group of a ring, or the table of its switches against all groups. Where all switches are
    /// drawn, the cursor goes to the first one of the part.
    pub fn open_part(&mut self, part: MapPart, structure: &Arc<MapStructure>, known: &Model) {
        self.view = MapView::Drawn;
        self.leave_nodes(known);
        let groups = &structure.groups;
        match part {
            MapPart::Slice(slice) => self.drawn.choose_slice(slice),
            MapPart::Group(group) if self.drawn.layout.is_some() => {
                let leaf = groups.groups.get(group).and_then(|part| groups.leaves.get(part.start));
                if let Some(leaf) = leaf {
                    self.move_to_drawn(ElementId::Node(structure.switches[*leaf].id), known);
                }
            }
            MapPart::Group(group) if self.drawn.has_ring() => {
                self.drawn.matrix.show_whole(structure);
                self.drawn.matrix.cursor.0 = group;
            }
            MapPart::Group(group) => {
                if let Some(leaves) = groups.groups.get(group) {
                    self.drawn.matrix.zoom_to(structure, leaves.clone(), group);
                }
            }
        }
    }
}
