//! The exact writes that lead from the tables in force to routes, block by block, with what stands there now.

use serde::{Deserialize, Serialize};

use super::standing::Standing;
use crate::fabric::{BLOCK_LIDS, Fabric, Guid, Lft, NodeId, NodeKind, Routes, Tables, block_of};

/// One block of 64 LIDs of one switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockWrite {
    /// The GUID of the switch.
    pub switch: String,
    pub block: u16,
    /// 64 ports as 128 hexadecimal digits.
    pub old: String,
    pub new: String,
}

impl BlockWrite {
    /// The switch that it is for, where a fabric has it.
    pub fn switch(&self, fabric: &Fabric) -> Option<NodeId> {
        fabric.node_of(NodeKind::Switch, Guid::from_hex(&self.switch).ok()?)
    }
}

/// Why nothing can be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error(
        "FD-5501: the forwarding table of {switch} is not known, so what would change is not known either; read it, or \
         mark the switch as failed"
    )]
    NoTable { switch: String },
    #[error("FD-5502: block {block} of the forwarding table of {switch} could not be read; read it again")]
    Unread { switch: String, block: u16 },
}

/// In the order of the switches, then of the blocks. Blocks that stay as they are stand in no plan; what does not stand
/// is left alone. Errors call a switch by its name.
pub fn writes(
    standing: &Standing<'_>,
    tables: &Tables,
    routes: &Routes,
    name: &dyn Fn(NodeId) -> String,
) -> Result<Vec<BlockWrite>, PlanError> {
    let mut writes = Vec::new();
    for (id, node) in standing.fabric.switches().filter(|(id, _)| standing.holds(*id)) {
        let switch = node.guid().to_string();
        let called = || format!("{} ({switch})", name(id));
        let held = tables.nodes.get(&id).filter(|held| held.lft.is_some());
        let Some(lft) = held.and_then(|held| held.lft.as_ref()) else {
            return Err(PlanError::NoTable { switch: called() });
        };
        let new = routes.row(id.0);
        for block in 0..blocks(lft, new) {
            let (old, new) = (block_of(lft.bytes(), block), block_of(new, block));
            if old == new {
                continue;
            }
            if unread(tables, id, block) {
                return Err(PlanError::Unread { switch: called(), block });
            }
            writes.push(BlockWrite { switch: switch.clone(), block, old: hex(&old), new: hex(&new) });
        }
    }
    Ok(writes)
}

fn unread(tables: &Tables, id: NodeId, block: u16) -> bool {
    tables.nodes.get(&id).is_some_and(|held| held.unread.contains(&block))
}

fn blocks(lft: &Lft, new: &[u8]) -> u16 {
    lft.bytes().len().max(new.len()).div_ceil(BLOCK_LIDS.into()) as u16
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Faults, Lid, PortNum, Resolved};
    use crate::generate::{Spec, generate};
    use crate::routing::{NoPulse, Problem, Request, engine};

    #[test]
    fn what_differs_is_written_and_nothing_else() {
        let fabric = generate(&"kary,k=3,n=3".parse::<Spec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes =
            (engine("minhop").unwrap().route)(&problem, &Request::default(), &NoPulse).unwrap().routes;
        let mut tables = Tables::default();
        for (id, _) in fabric.switches() {
            tables.entry(id).lft = Some(routes.lft(id.0));
        }
        let standing = Standing::new(&fabric, &faults, None);
        let writes = |tables: &Tables, routes: &Routes| {
            super::writes(&standing, tables, routes, &|id| format!("node{}", id.0))
        };
        assert_eq!(writes(&tables, &routes), Ok(Vec::new()));
        let mut other = routes.clone();
        other.set(2, Lid::new(1).unwrap(), Some(PortNum(1)));
        other.set(2, Lid::new(2).unwrap(), None);
        let changed = writes(&tables, &other).unwrap();
        assert_eq!((changed.len(), changed[0].block), (1, 0));
        assert_eq!(changed[0].switch, fabric.node(NodeId(2)).guid().to_string());
        assert_eq!((changed[0].old.len(), &changed[0].new[2..6]), (128, "01ff"));
        tables.entry(NodeId(2)).unread.insert(0);
        assert!(matches!(writes(&tables, &other), Err(PlanError::Unread { block: 0, .. })));
        tables.entry(NodeId(1)).lft = None;
        let missing = writes(&tables, &other).unwrap_err().to_string();
        assert!(missing.contains("of node1 (0x"), "{missing}");
        let mut faults = Faults::default();
        faults.mark(Resolved::Node(NodeId(1)));
        let standing = Standing::new(&fabric, &faults, None);
        assert_eq!(super::writes(&standing, &tables, &routes, &|_| String::new()), Ok(Vec::new()));
    }
}
