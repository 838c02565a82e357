//! The backlog of a hot-spot: the ports that wait on the paths to it, as a tree, and the hosts that wait behind them. It
//! is computed when a reading arrives, and holds no more than screens show.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::counters::{CongestedAdapter, CongestionRole, Evidence, HotSpot, HotSpots, LikelyRole};
use fabdeck_fabric::{Lid, NodeId, PortId};

/// Hot-spots with a tree, ports of a tree and hosts that are kept; their numbers count all.
const MAX_BACKLOGS: usize = 16;
const MAX_BRANCHES: usize = 64;
const MAX_HOSTS: usize = 256;

/// Longer than any path without a loop.
const MAX_HOPS: usize = 64;

/// What a host that waits is to a hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BacklogRole {
    Victim,
    LikelyVictim,
    Undecided,
    LikelyContributor,
    Contributor,
}

/// A port that waits on the path to a hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BacklogBranch {
    pub port: PortId,
    /// Ports of the tree between this one and the root.
    pub depth: usize,
    /// For this port and each of those before it, from the root on: whether another branch of the same port follows.
    pub follows: u64,
}

/// Hosts at one switch that wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BacklogLeaf {
    pub leaf: NodeId,
    pub hosts: Vec<(PortId, BacklogRole)>,
}

/// The backlog of one hot-spot.
#[derive(Clone, PartialEq, Debug)]
pub struct Backlog {
    /// The port of the adapter that receives too slowly, and in the next field the switch port in front of it.
    pub hot_spot: PortId,
    pub root: PortId,
    /// The tree from the root on. Without forwarding tables it has the root alone.
    pub branches: Vec<BacklogBranch>,
    pub branch_count: usize,
    /// Whether the tables say which ports are on the paths.
    pub has_paths: bool,
    /// The hosts that wait, by their switches, and how many they are by role.
    pub leaves: Vec<BacklogLeaf>,
    counts: BTreeMap<BacklogRole, usize>,
}

/// The backlogs of the worst hot-spots, the worst first.
pub fn backlogs_of(look: &Snapshot, verdict: &HotSpots) -> Vec<Backlog> {
    let provable = look.assumed.is_none() && look.observation.adaptive.is_none();
    let spots = verdict.hot_spots.iter().take(MAX_BACKLOGS);
    let backlog = |hot: &HotSpot| {
        let tree = if provable { PathTree::new(look, hot, verdict) } else { None };
        let (branches, branch_count) = match &tree {
            Some(tree) => tree.branches(),
            None => (vec![BacklogBranch { port: hot.at.port, depth: 0, follows: 0 }], 1),
        };
        let mut backlog = Backlog {
            hot_spot: hot.adapter,
            root: hot.at.port,
            branches,
            branch_count,
            has_paths: tree.is_some(),
            leaves: Vec::new(),
            counts: BTreeMap::new(),
        };
        backlog.add_hosts(look, verdict);
        backlog
    };
    spots.map(backlog).collect()
}

/// The ports that wait on paths to a hot-spot, each under the next one on its path.
struct PathTree {
    root: PortId,
    behind: BTreeMap<PortId, Vec<PortId>>,
}

impl PathTree {
    /// `None` where a table on the path is not known.
    fn new(look: &Snapshot, hot: &HotSpot, verdict: &HotSpots) -> Option<Self> {
        let (fabric, tables) = (look.fabric(), &look.observation.tables);
        // Of several LIDs each sender picks one, and their paths are no one tree.
        let facts = &fabric.port(hot.adapter).facts;
        let lid = facts.lid.filter(|_| facts.lmc.value() == 0)?;
        let egress = |switch: NodeId| -> Option<PortId> { egress_port(look, switch, lid) };
        let root_switch = fabric.port(hot.at.port).node;
        if egress(root_switch) != Some(hot.at.port) || !tables.is_entry_known(root_switch, lid) {
            return None;
        }
        let waiting: BTreeSet<PortId> = verdict.congested_ports.iter().map(|port| port.port).collect();
        let mut tree = Self { root: hot.at.port, behind: BTreeMap::new() };
        // The worst first, so that what is left out is the least.
        for port in verdict.congested_ports.iter().map(|port| port.port) {
            if egress(fabric.port(port).node) != Some(port) {
                continue;
            }
            let mut next = fabric.peer(port).and_then(|peer| egress(fabric.port(peer).node));
            for _ in 0..MAX_HOPS {
                let Some(at) = next else { break };
                if at == tree.root || waiting.contains(&at) {
                    tree.behind.entry(at).or_default().push(port);
                    break;
                }
                next = fabric.peer(at).and_then(|peer| egress(fabric.port(peer).node));
            }
        }
        tree.behind.values_mut().for_each(|ports| ports.sort_unstable());
        Some(tree)
    }

    /// The branches in the order in which a screen lists them, and how many there are in all.
    fn branches(&self) -> (Vec<BacklogBranch>, usize) {
        let mut stack = vec![BacklogBranch { port: self.root, depth: 0, follows: 0 }];
        let mut seen = BTreeSet::new();
        let (mut branches, mut count) = (Vec::new(), 0);
        while let Some(branch) = stack.pop() {
            // Tables that lead packets round in a cycle have no end.
            if !seen.insert(branch.port) {
                continue;
            }
            count += 1;
            let behind = self.behind.get(&branch.port).map_or(&[][..], Vec::as_slice);
            for (place, port) in behind.iter().enumerate().rev() {
                let depth = branch.depth + 1;
                let follows = u64::from(place + 1 < behind.len()) << depth.min(63);
                stack.push(BacklogBranch { port: *port, depth, follows: branch.follows | follows });
            }
            if branches.len() < MAX_BRANCHES {
                branches.push(branch);
            }
        }
        (branches, count)
    }
}

fn egress_port(look: &Snapshot, switch: NodeId, lid: Lid) -> Option<PortId> {
    look.fabric().port_of(switch, look.observation.tables.lft(switch)?.get(lid)?)
}

impl Backlog {
    /// Adds the adapters that wait and whose packets may be on the path to this hot-spot, or behind such packets.
    /// The number of hosts of a role, those that are left out of the list included.
    pub fn count(&self, role: BacklogRole) -> usize {
        self.counts.get(&role).copied().unwrap_or(0)
    }

    pub fn has_victims(&self) -> bool {
        self.counts.keys().any(|role| matches!(role, BacklogRole::Victim | BacklogRole::LikelyVictim))
    }

    fn add_hosts(&mut self, look: &Snapshot, verdict: &HotSpots) {
        let fabric = look.fabric();
        let mut by_leaf: BTreeMap<NodeId, Vec<(PortId, BacklogRole)>> = BTreeMap::new();
        let mut kept = 0;
        for held in verdict.congested_adapters.iter().filter(|held| held.at.port != self.hot_spot) {
            let Some(role) = role_at(self.hot_spot, held, verdict.hot_spots.len()) else { continue };
            *self.counts.entry(role).or_default() += 1;
            let Some(peer) = fabric.peer(held.at.port).filter(|_| kept < MAX_HOSTS) else { continue };
            by_leaf.entry(fabric.port(peer).node).or_default().push((held.at.port, role));
            kept += 1;
        }
        let leaf = |(leaf, mut hosts): (NodeId, Vec<(PortId, BacklogRole)>)| {
            hosts.sort_unstable();
            BacklogLeaf { leaf, hosts }
        };
        self.leaves = by_leaf.into_iter().map(leaf).collect();
    }
}

/// What an adapter is to this hot-spot; `None` where it contributes to another one alone, or has its fair share.
pub fn role_at(hot_spot: PortId, held: &CongestedAdapter, spots: usize) -> Option<BacklogRole> {
    match held.role {
        CongestionRole::Contributor(
            Evidence::OthersFallShort { hot_spot: to, .. } | Evidence::AllChannels { hot_spot: to, .. },
        ) => (to == hot_spot).then_some(BacklogRole::Contributor),
        CongestionRole::Contributor(Evidence::NowhereElse { .. }) if spots == 1 => {
            Some(BacklogRole::Contributor)
        }
        CongestionRole::Contributor(Evidence::NowhereElse { .. }) | CongestionRole::Unknown => {
            Some(BacklogRole::Undecided)
        }
        CongestionRole::Undecided => Some(match held.likely {
            Some(LikelyRole::Victim { .. }) => BacklogRole::LikelyVictim,
            Some(LikelyRole::Contributor(flow)) if flow.hot_spot == hot_spot => {
                BacklogRole::LikelyContributor
            }
            // It is likely part of another backlog.
            Some(LikelyRole::Contributor(_)) => return None,
            None => BacklogRole::Undecided,
        }),
        CongestionRole::Victim { .. } => Some(BacklogRole::Victim),
        // Nothing is taken from it.
        CongestionRole::FairShare => None,
    }
}
