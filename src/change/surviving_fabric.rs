//! The largest connected component without the failed elements; on a tie, the one with the subnet manager. A plan
//! covers this component only.

use fabdeck_fabric::{Fabric, Faults, Guid, NodeId, PortId, PortState};

#[derive(Debug)]
pub struct SurvivingFabric<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) manager: Option<Guid>,
    pub(super) faults: &'a Faults,
    holds: Vec<bool>,
}

impl<'a> SurvivingFabric<'a> {
    pub fn new(fabric: &'a Fabric, faults: &'a Faults, manager: Option<Guid>) -> Self {
        let mut standing = Self { fabric, manager, faults, holds: Vec::new() };
        let (part, sizes) = standing.components();
        let port = manager.and_then(|guid| fabric.port_by_guid(guid)).map(|port| fabric.port(port).node);
        let seat = port.or_else(|| manager.and_then(|guid| fabric.node_by_guid(guid)));
        let seat = seat.and_then(|id| part.get(id.index()).copied().flatten());
        let order = |at: &usize| (sizes[*at], Some(*at) == seat, std::cmp::Reverse(*at));
        let main = (0..sizes.len()).max_by_key(order);
        standing.holds = part.into_iter().map(|part| part.is_some() && part == main).collect();
        standing
    }

    /// The component of each working node, and the number of nodes of each component.
    fn components(&self) -> (Vec<Option<usize>>, Vec<usize>) {
        let (mut part, mut sizes) = (vec![None; self.fabric.nodes().len()], Vec::new());
        for (start, _) in self.fabric.nodes().filter(|(id, _)| !self.faults.is_node_failed(*id)) {
            if part[start.index()].is_some() {
                continue;
            }
            let (this, mut left) = (sizes.len(), vec![start]);
            part[start.index()] = Some(this);
            sizes.push(0);
            while let Some(id) = left.pop() {
                sizes[this] += 1;
                for (port, here) in self.fabric.ports_of(id) {
                    let Some(peer) = self.peer(port) else { continue };
                    let far = self.fabric.port(peer);
                    let down = [here, far].iter().any(|end| end.facts.state == Some(PortState::Down));
                    if !down && part[far.node.index()].is_none() {
                        part[far.node.index()] = Some(this);
                        left.push(far.node);
                    }
                }
            }
        }
        (part, sizes)
    }

    /// Whether a plan covers this node: only such nodes are written, have lanes in the plan and are in the fingerprint.
    pub fn contains(&self, id: NodeId) -> bool {
        self.holds.get(id.index()) == Some(&true)
    }

    /// The other end of a cable that is not marked as failed.
    pub(super) fn peer(&self, port: PortId) -> Option<PortId> {
        let link = self.fabric.port(port).link?;
        self.fabric.peer(port).filter(|_| !self.faults.is_link_failed(self.fabric, link))
    }
}
