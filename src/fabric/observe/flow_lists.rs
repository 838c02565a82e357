//! The open flows of hosts, as the agents there list them.

use std::collections::BTreeMap;

use super::sweep::PortIdentity;
use crate::Lid;

/// By the port of an adapter, the LIDs to which its host had flows open when one of the last two sweeps ended, in
/// ascending order. A host is missing unless its agent answered at the end of both.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlowLists(pub BTreeMap<PortIdentity, Vec<Lid>>);

impl FlowLists {
    /// What holds over the time between two lists: the flows of both, of hosts that are in both.
    pub fn joined(&self, later: &Self) -> Self {
        let both = |(port, now): (&PortIdentity, &Vec<Lid>)| {
            let mut all = self.0.get(port)?.clone();
            all.extend(now);
            all.sort_unstable();
            all.dedup();
            Some((*port, all))
        };
        Self(later.0.iter().filter_map(both).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Guid, PortNum};

    fn lists(all: &[(u64, &[u32])]) -> FlowLists {
        let lids = |to: &[u32]| to.iter().map(|lid| Lid::new(*lid).unwrap()).collect();
        let of = |(guid, to): &(u64, &[u32])| ((Guid(*guid), PortNum(1)), lids(to));
        FlowLists(all.iter().map(of).collect())
    }

    #[test]
    fn hosts_without_an_answer_at_both_ends_are_left_out() {
        let before = lists(&[(1, &[7, 9]), (2, &[5])]);
        let now = lists(&[(1, &[3, 9]), (3, &[5])]);
        assert_eq!(before.joined(&now), lists(&[(1, &[3, 7, 9])]));
    }
}
