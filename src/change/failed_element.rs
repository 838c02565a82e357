//! The elements that a plan takes as failed, by GUID and port, which outlast names and LIDs.

use serde::{Deserialize, Serialize};

use fabdeck_fabric::{Element, ElementId, Fabric, Faults, Names, PortId, PortNum};

/// An element that was marked as failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedElement {
    /// The name at that time: `link:leaf0[3]`.
    pub element: String,
    /// The node or port; for a link, its two ports.
    pub ends: Vec<FailedEnd>,
}

/// A node, or one of its ports.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedEnd {
    /// The key in fingerprints: `switch 0x0000000000000001`.
    pub node: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u8>,
}

impl FailedElement {
    /// All marks, in their order.
    pub fn from_faults(fabric: &Fabric, names: &Names, faults: &Faults) -> Vec<Self> {
        faults.iter().map(|what| Self::from_element(fabric, names, what)).collect()
    }

    fn from_element(fabric: &Fabric, names: &Names, what: ElementId) -> Self {
        let end = |port: PortId| {
            let port = fabric.port(port);
            FailedEnd { node: fabric.node_key(port.node), port: Some(port.number.value()) }
        };
        let ends = match what {
            ElementId::Node(id) => vec![FailedEnd { node: fabric.node_key(id), port: None }],
            ElementId::Port(id) => vec![end(id)],
            ElementId::Link(id) => vec![end(fabric.link(id).a), end(fabric.link(id).b)],
        };
        Self { element: Element::from_id(fabric, names, what).to_string(), ends }
    }

    /// The element in a fabric; `None` if the fabric no longer has it.
    pub fn find(&self, fabric: &Fabric) -> Option<ElementId> {
        let port = |end: &FailedEnd| fabric.port_of(fabric.node_by_key(&end.node)?, PortNum(end.port?));
        match self.ends.as_slice() {
            [end] if end.port.is_none() => fabric.node_by_key(&end.node).map(ElementId::Node),
            [end] => port(end).map(ElementId::Port),
            [a, b] => {
                let (a, b) = (port(a)?, port(b)?);
                let link = fabric.port(a).link.filter(|_| fabric.peer(a) == Some(b))?;
                Some(ElementId::Link(link))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{NameMap, NodeId};

    #[test]
    fn what_failed_is_found_again_under_other_names_and_lids() {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let names = Names::new(&fabric, &NameMap::default());
        let mut faults = Faults::new();
        let link = fabric.links().map(|(id, _)| id).find(|id| fabric.is_between_switches(*id)).unwrap();
        let host = fabric.nodes().find(|(_, node)| !node.is_switch()).unwrap().0;
        let port = fabric.port_of(NodeId(1), PortNum(1)).unwrap();
        for what in
            [ElementId::Link(link), ElementId::Node(NodeId(0)), ElementId::Node(host), ElementId::Port(port)]
        {
            faults.mark(what);
        }
        let all = FailedElement::from_faults(&fabric, &names, &faults);
        let other = fabric.with_fresh_lids(None);
        let found: Vec<_> = all.iter().map(|failed| failed.find(&other)).collect();
        assert_eq!(found, faults.iter().map(Some).collect::<Vec<_>>());
        let gone = FailedElement {
            ends: vec![FailedEnd { node: "switch 0x00000000000000aa".into(), port: None }],
            ..all[0].clone()
        };
        assert_eq!(gone.find(&fabric), None);
        let guid = |at| fabric.node_key(NodeId(at)).replace("switch", "host");
        let misnamed = FailedElement { ends: vec![FailedEnd { node: guid(0), port: None }], ..gone };
        assert_eq!(misnamed.find(&fabric), None);
    }
}
