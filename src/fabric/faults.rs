//! Marks of failed parts: an overlay over a fabric, never an edit of it.

use std::collections::BTreeSet;

use super::{Element, ElementId, Fabric, LinkId, Names, NodeId, PortId};

/// Nodes, ports and links of one fabric that are marked as failed. A mark on a node or port also fails its links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    marks: BTreeSet<ElementId>,
}

impl Faults {
    /// Makes an overlay without marks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Marks a part of the fabric as failed; `false` when it was already marked.
    pub fn mark(&mut self, what: ElementId) -> bool {
        self.marks.insert(what)
    }

    /// Removes a mark; `false` when there was none.
    pub fn unmark(&mut self, what: ElementId) -> bool {
        self.marks.remove(&what)
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        self.marks.clear();
    }

    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The number of marks.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// The marks in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = ElementId> {
        self.marks.iter().copied()
    }

    /// Whether a node is marked.
    pub fn is_node_failed(&self, id: NodeId) -> bool {
        self.marks.contains(&ElementId::Node(id))
    }

    /// Whether a port or its node is marked.
    pub fn is_port_failed(&self, fabric: &Fabric, id: PortId) -> bool {
        self.marks.contains(&ElementId::Port(id)) || self.is_node_failed(fabric.port(id).node)
    }

    /// Whether a link, one of its ports or one of their nodes is marked.
    pub fn is_link_failed(&self, fabric: &Fabric, id: LinkId) -> bool {
        let link = fabric.link(id);
        self.marks.contains(&ElementId::Link(id))
            || self.is_port_failed(fabric, link.a)
            || self.is_port_failed(fabric, link.b)
    }

    /// The same marks in another snapshot, and the marks whose parts that one does not have. Parts are matched as
    /// [`ElementId::translate`] does.
    pub fn translate(&self, from: &Fabric, to: &Fabric) -> (Self, Vec<ElementId>) {
        let (mut marks, mut gone) = (Self::default(), Vec::new());
        for what in self.iter() {
            match what.translate(from, to) {
                Some(what) => {
                    marks.mark(what);
                }
                None => gone.push(what),
            }
        }
        (marks, gone)
    }

    /// The marks as elements that resolve to the same marks again.
    pub fn elements(&self, fabric: &Fabric, names: &Names) -> Vec<Element> {
        self.marks.iter().map(|what| Element::from_id(fabric, names, *what)).collect()
    }
}
