//! What an operator has marked as failed: an overlay over a fabric, never an edit of it.

use std::collections::BTreeSet;

use super::{Element, Fabric, LinkId, Names, NodeId, PortId, Resolved};

/// Marks over one fabric. A mark on a node or a port takes its links with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    marks: BTreeSet<Resolved>,
}

impl Faults {
    pub fn new() -> Self {
        Self::default()
    }

    /// Marks it failed; false when it was marked already.
    pub fn mark(&mut self, what: Resolved) -> bool {
        self.marks.insert(what)
    }

    pub fn unmark(&mut self, what: Resolved) -> bool {
        self.marks.remove(&what)
    }

    pub fn clear(&mut self) {
        self.marks.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    pub fn len(&self) -> usize {
        self.marks.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = Resolved> {
        self.marks.iter().copied()
    }

    pub fn node_failed(&self, id: NodeId) -> bool {
        self.marks.contains(&Resolved::Node(id))
    }

    pub fn port_failed(&self, fabric: &Fabric, id: PortId) -> bool {
        self.marks.contains(&Resolved::Port(id)) || self.node_failed(fabric.port(id).node)
    }

    /// A link is lost when it, one of its ports or one of its nodes is marked.
    pub fn link_failed(&self, fabric: &Fabric, id: LinkId) -> bool {
        let link = fabric.link(id);
        self.marks.contains(&Resolved::Link(id))
            || self.port_failed(fabric, link.a)
            || self.port_failed(fabric, link.b)
    }

    /// The same marks in another look at the fabric, by kind, GUID and port; and those that are not there any more.
    pub fn carried_over(&self, from: &Fabric, to: &Fabric) -> (Self, Vec<Resolved>) {
        let (mut marks, mut gone) = (Self::default(), Vec::new());
        for what in self.iter() {
            match what.in_another(from, to) {
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
        self.marks.iter().map(|what| Element::of(fabric, names, *what)).collect()
    }
}
