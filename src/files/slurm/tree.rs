//! The ranks of a fabric's switches, and the hosts at each.

use std::collections::{BTreeMap, BTreeSet};

use super::file_place;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Fabric, Names, NodeId, NodeKind};

/// At which leaf a host with several adapters is listed. Rails are numbered from 1 on.
#[derive(Clone, Copy)]
pub(super) enum RailChoice {
    /// Hosts on the same leaves stay together at one of them.
    Joined,
    Only(usize),
    /// This one of all rails, each of which has a tree of its own.
    Each(usize),
}

impl RailChoice {
    fn number(self) -> Option<usize> {
        match self {
            Self::Joined => None,
            Self::Only(rail) | Self::Each(rail) => Some(rail),
        }
    }
}

/// All vectors are indexed by switch.
pub(super) struct SwitchTree {
    ranks: Vec<Option<u32>>,
    hosts: Vec<Vec<String>>,
    children: Vec<Vec<NodeId>>,
    /// Switches with a host at or below them; the others are left out of the file.
    listed: Vec<bool>,
    rails: usize,
}

impl SwitchTree {
    pub(super) fn new(fabric: &Fabric, names: &Names, rail: RailChoice, notes: &mut Notes) -> Self {
        let neighbours = neighbours(fabric);
        let Population { hosts, counts, rails } = populate(fabric, names, rail, notes);
        let ranks = compute_ranks(&find_leaves(&counts, &neighbours), &neighbours);
        note_level_links(fabric, names, &ranks, notes);
        let children: Vec<Vec<NodeId>> = (0..neighbours.len())
            .map(|at| {
                let below = |id: &&NodeId| {
                    ranks[at].is_some_and(|rank| rank > 0 && ranks[id.index()] == Some(rank - 1))
                };
                neighbours[at].iter().filter(below).copied().collect()
            })
            .collect();
        let mut tree = Self { listed: vec![false; ranks.len()], ranks, hosts, children, rails };
        tree.mark_listed(fabric, names, notes);
        tree
    }

    pub(super) fn rank(&self, id: NodeId) -> Option<u32> {
        self.ranks[id.index()]
    }

    pub(super) fn top_rank(&self) -> u32 {
        self.ranks.iter().flatten().copied().max().unwrap_or(0)
    }

    pub(super) fn hosts(&self, id: NodeId) -> &[String] {
        &self.hosts[id.index()]
    }

    pub(super) fn host_count(&self) -> usize {
        self.hosts.iter().map(Vec::len).sum()
    }

    pub(super) fn is_listed(&self, id: NodeId) -> bool {
        self.listed[id.index()]
    }

    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.children[id.index()].iter().copied().filter(|child| self.is_listed(*child))
    }

    /// The number of rails: the most adapter ports of a host, where one has leaves that differ.
    pub(super) fn rails(&self) -> usize {
        self.rails
    }

    /// The leaves that are connected below the top rank, the parts in the order of their first switch.
    pub(super) fn parts_below_the_top(&self) -> Vec<Vec<NodeId>> {
        let mut parts = SwitchSets::new(self.ranks.len());
        let below = |at: &usize| {
            self.listed[*at] && self.ranks[*at].is_some_and(|rank| rank < self.top_rank().max(1))
        };
        for at in (0..self.ranks.len()).filter(below) {
            for child in self.children(NodeId(at as u32)) {
                parts.union(at, child.index());
            }
        }
        let mut leaves: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
        for at in (0..self.ranks.len()).filter(below).filter(|at| !self.hosts[*at].is_empty()) {
            leaves.entry(parts.root(at)).or_default().push(NodeId(at as u32));
        }
        leaves.into_values().collect()
    }

    /// Finds the switches that have hosts at or below them, and the number of trees that they form.
    fn mark_listed(&mut self, fabric: &Fabric, names: &Names, notes: &mut Notes) {
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by_key(|at| self.ranks[*at]);
        let mut parts = SwitchSets::new(self.ranks.len());
        for at in order {
            let below: Vec<NodeId> = self.children(NodeId(at as u32)).collect();
            self.listed[at] = !self.hosts[at].is_empty() || !below.is_empty();
            for child in below {
                parts.union(at, child.index());
            }
            if !self.listed[at] {
                let id = NodeId(at as u32);
                notes.add("FN-456", file_place(), || {
                    format!("{} has no host at or below it; left out", names.name(id))
                });
            }
        }
        let listed = |at: &usize| self.listed[*at];
        let roots: BTreeSet<usize> =
            (0..fabric.switch_count()).filter(listed).map(|at| parts.root(at)).collect();
        if roots.len() > 1 {
            notes.add("FN-455", file_place(), || {
                format!("the switches fall into {} parts; no switch joins them in the file", roots.len())
            });
        }
    }
}

/// Disjoint sets of switches.
struct SwitchSets(Vec<usize>);

impl SwitchSets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// The switches cabled to each switch, without duplicates.
fn neighbours(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let mut neighbours = vec![Vec::new(); fabric.switch_count()];
    for (link, _) in fabric.links().filter(|(link, _)| fabric.is_between_switches(*link)) {
        let [(a, _), (b, _)] = fabric.ends(link);
        if a != b {
            neighbours[a.index()].push(b);
            neighbours[b.index()].push(a);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}

struct Population {
    /// The names listed at each switch.
    hosts: Vec<Vec<String>>,
    /// The most adapter ports of a host, where one has leaves that differ.
    rails: usize,
    /// Number of adapters at each switch. Adapters without a valid name and those of later rails count too, because
    /// they affect the rank.
    counts: Vec<usize>,
}

/// The switches of a host by its adapters, each with the adapter's name; rails are numbered by these names.
type Rails<'n> = Vec<(&'n str, NodeId)>;

fn populate(fabric: &Fabric, names: &Names, choice: RailChoice, notes: &mut Notes) -> Population {
    let rail = choice.number();
    let mut all = Population {
        hosts: vec![Vec::new(); fabric.switch_count()],
        counts: vec![0; fabric.switch_count()],
        rails: 1,
    };
    let mut order: Vec<String> = Vec::new();
    let mut rails: BTreeMap<String, Rails<'_>> = BTreeMap::new();
    for (id, node) in fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter) {
        if node.facts.is_aggregation() {
            notes.add("FN-457", file_place(), || {
                format!("{} is an aggregation node of a switch; left out", names.name(id))
            });
            continue;
        }
        let switches = switches_at(fabric, id);
        if switches.is_empty() {
            notes.add("FN-460", file_place(), || {
                format!("{} is cabled to no switch; left out", names.name(id))
            });
            continue;
        }
        for switch in &switches {
            all.counts[switch.index()] += 1;
        }
        let Some(name) = host_name(names.name(id)) else {
            notes.add("FN-451", file_place(), || format!("'{}' names no host; left out", names.name(id)));
            continue;
        };
        let known = rails.entry(name.clone()).or_insert_with(|| {
            order.push(name);
            Vec::new()
        });
        known.extend(switches.into_iter().map(|switch| (names.name(id), switch)));
    }
    // mlx5_2 comes before mlx5_10.
    rails.values_mut().for_each(|rails| rails.sort_by_key(|(name, _)| (name.len(), *name)));
    let leaves = shared_leaves(&rails);
    if rails.values().any(|rails| leaf_set(rails).len() > 1) {
        all.rails = rails.values().map(Vec::len).max().unwrap_or(1);
    }
    for name in order {
        let rails = &rails[&name];
        let chosen = rail.and_then(|rail| rails.get(rail - 1)).map(|(_, switch)| *switch);
        if let Some(rail) = rail.filter(|_| chosen.is_none()) {
            notes.add("FN-461", file_place(), || {
                format!(
                    "{name} has no adapter port on rail {rail}; it is listed at the leaf of its other ports"
                )
            });
        }
        let set = leaf_set(rails);
        let at = chosen.unwrap_or_else(|| leaves[&set]);
        if set.len() > 1 && !matches!(choice, RailChoice::Each(_)) {
            let on: Vec<&str> = set.iter().map(|switch| names.name(*switch)).collect();
            notes.add("FN-453", file_place(), || {
                format!(
                    "{name} is on {}; listed at {} (--rail N selects another)",
                    on.join(" and "),
                    names.name(at)
                )
            });
        }
        all.hosts[at.index()].push(name);
    }
    all
}

/// The switches that the ports of an adapter are cabled to.
fn switches_at(fabric: &Fabric, id: NodeId) -> Vec<NodeId> {
    let peers = fabric.ports_of(id).filter_map(|(_, port)| Some(fabric.port(port.peer?).node));
    let mut switches: Vec<NodeId> = peers.filter(|peer| fabric.node(*peer).is_switch()).collect();
    switches.dedup();
    switches
}

/// The switches of a host, without duplicates.
fn leaf_set(rails: &Rails<'_>) -> BTreeSet<NodeId> {
    rails.iter().map(|(_, switch)| *switch).collect()
}

/// The leaf at which hosts of each set of leaves are listed: the first of the set, so that hosts with the same leaves
/// stay together. A host that lacks a rail is listed with hosts whose leaves include all of its own.
fn shared_leaves(rails: &BTreeMap<String, Rails<'_>>) -> BTreeMap<BTreeSet<NodeId>, NodeId> {
    let sets: BTreeSet<BTreeSet<NodeId>> = rails.values().map(leaf_set).collect();
    let mut by_size: Vec<&BTreeSet<NodeId>> = sets.iter().collect();
    by_size.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let mut leaves: BTreeMap<BTreeSet<NodeId>, NodeId> = BTreeMap::new();
    let mut whole: Vec<(&BTreeSet<NodeId>, NodeId)> = Vec::new();
    for set in by_size {
        let larger = whole.iter().find(|(larger, _)| set.len() > 1 && set.is_subset(larger));
        let first = larger.map(|(_, leaf)| *leaf).or_else(|| set.first().copied());
        let Some(leaf) = first else { continue };
        if larger.is_none() {
            whole.push((set, leaf));
        }
        leaves.insert(set.clone(), leaf);
    }
    leaves
}

/// The switches at rank 0: those with hosts. A switch with few hosts amid leaves with many (a login node on a spine)
/// is no leaf.
fn find_leaves(counts: &[usize], neighbours: &[Vec<NodeId>]) -> Vec<bool> {
    let mut populated: Vec<usize> = counts.iter().copied().filter(|count| *count > 0).collect();
    populated.sort_unstable();
    let median = populated.get(populated.len() / 2).copied().unwrap_or(0);
    let strong = |at: usize| counts[at] > 0 && counts[at] * 2 >= median;
    let leaf = |at: usize| {
        let beside = neighbours[at].iter().filter(|id| strong(id.index())).count();
        counts[at] > 0 && (strong(at) || beside < 2 || beside * 2 <= neighbours[at].len())
    };
    (0..counts.len()).map(leaf).collect()
}

/// The distance of each switch from the nearest leaf; `None` if it reaches no leaf.
fn compute_ranks(leaves: &[bool], neighbours: &[Vec<NodeId>]) -> Vec<Option<u32>> {
    let mut ranks: Vec<Option<u32>> = leaves.iter().map(|leaf| leaf.then_some(0)).collect();
    let mut wave: Vec<usize> = (0..leaves.len()).filter(|at| leaves[*at]).collect();
    let mut rank = 0;
    while !wave.is_empty() {
        rank += 1;
        let mut next = Vec::new();
        for id in wave.iter().flat_map(|at| &neighbours[*at]) {
            if ranks[id.index()].is_none() {
                ranks[id.index()] = Some(rank);
                next.push(id.index());
            }
        }
        wave = next;
    }
    ranks
}

fn note_level_links(fabric: &Fabric, names: &Names, ranks: &[Option<u32>], notes: &mut Notes) {
    for (link, _) in fabric.links().filter(|(link, _)| fabric.is_between_switches(*link)) {
        let [(a, _), (b, _)] = fabric.ends(link);
        if ranks[a.index()].is_some() && ranks[a.index()] == ranks[b.index()] {
            notes.add("FN-452", file_place(), || {
                format!(
                    "the link {} - {} joins two switches of one level, which Slurm's tree cannot express; it is left out",
                    names.name(a),
                    names.name(b)
                )
            });
        }
    }
}

/// The host in an adapter's name, without its domain: `node7` for `node7 HCA-1`, `node7.cluster mlx5_0` and
/// `node7-mlx5_0`. `None` for `mlx5_0`, `MT4123 ConnectX6 Mellanox Technologies` or a GUID.
pub fn host_name(name: &str) -> Option<String> {
    let word = host_word(name)?;
    let address = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let host = if address { word } else { word.split('.').next().unwrap_or(word) };
    let plain = super::plain_name(host);
    (!host.is_empty()).then_some(plain)
}

/// The same with its domain, as written.
pub fn host_word(name: &str) -> Option<&str> {
    let word = name.split_whitespace().next()?;
    let word = ["mlx4_", "mlx5_", "HCA-", "hfi1_"]
        .iter()
        .find_map(|device| word.rfind(device).filter(|at| is_numbered(&word[at + device.len()..])))
        .map_or(word, |at| word[..at].trim_end_matches(['-', '_', ':']));
    const MAKES: &[&str] =
        &["ConnectX", "Connect-IB", "Mellanox", "InfiniHost", "QLogic", "HCA", "BlueField"];
    let make = MAKES.iter().any(|make| word.starts_with(make));
    let part = word.strip_prefix("MT").is_some_and(is_numbered);
    let guid = word.strip_prefix("0x").is_some_and(|digits| digits.len() == 16);
    (!word.is_empty() && !make && !part && !guid).then_some(word)
}

fn is_numbered(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_by_rule() {
        for (name, host) in [
            ("node7", Some("node7")),
            ("node7 HCA-1", Some("node7")),
            ("node7 mlx5_0", Some("node7")),
            ("node7.ib.cluster mlx5_1", Some("node7")),
            ("node7-mlx5_0", Some("node7")),
            ("10.0.0.7 mlx5_0", Some("10.0.0.7")),
            ("node,7", Some("node_7")),
            ("mlx5_0", None),
            ("MT25408 ConnectX Mellanox Technologies", None),
            ("Mellanox Technologies", None),
            ("HCA-1", None),
            ("0x0002c90300a0b0c0", None),
            ("", None),
        ] {
            assert_eq!(host_name(name).as_deref(), host, "{name}");
        }
    }

    #[test]
    fn switches_with_few_hosts_among_leaves_are_no_leaves() {
        let ids = |list: &[u32]| list.iter().map(|id| NodeId(*id)).collect::<Vec<_>>();
        // Three leaves below a spine with one host; a far switch with one host of its own.
        let neighbours = [ids(&[3]), ids(&[3]), ids(&[3, 4]), ids(&[0, 1, 2]), ids(&[2])];
        let leaves = find_leaves(&[10, 10, 9, 1, 1], &neighbours);
        assert_eq!(leaves, [true, true, true, false, true]);
        assert_eq!(compute_ranks(&leaves, &neighbours), [Some(0), Some(0), Some(0), Some(1), Some(0)]);
    }
}
