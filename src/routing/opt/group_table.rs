//! Which plane a group of sources takes to a host (Nienaber et al., figure 2): each cable up carries one group of sources of
//! its leaf, each cable down one group of destinations. The paper's balancing has no pseudocode; the one here keeps
//! these groups, so it keeps the bound of theorem 3.

use super::two_levels::TwoLevels;
use crate::engine::{EngineRefusal, RouteProgress};

/// No plane.
pub(super) const NO_PLANE: u16 = u16::MAX;

/// A host as a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OptHost {
    pub leaf: usize,
    /// Its group on its leaf, its place in it, and the number of hosts of the group.
    pub group: usize,
    place: usize,
    pub of: usize,
}

/// The paper's k, the root of the ways up, for each number of them that leaves have.
pub(super) fn group_roots(tree: &TwoLevels) -> Vec<usize> {
    let mut roots: Vec<usize> = Vec::new();
    for uplinks in tree.uplink_counts() {
        let k = uplinks.isqrt().max(1);
        if !roots.contains(&k) {
            roots.push(k);
        }
    }
    roots
}

/// The most hosts of a group of a leaf with `count` hosts.
fn group_size(count: usize, k: usize) -> usize {
    count.div_ceil(k).max(1)
}

/// The groups in use: those of the leaf that has most.
pub(super) fn group_count(tree: &TwoLevels, k: usize) -> usize {
    let of_leaf = |hosts: usize| hosts.div_ceil(group_size(hosts, k));
    tree.leaves.iter().map(|leaf| of_leaf(leaf.hosts.len())).max().unwrap_or(1).max(1)
}

/// The groups of a part, with `k` groups of sources and of destinations a leaf.
#[derive(Debug)]
pub(super) struct GroupTable<'t> {
    pub tree: &'t TwoLevels,
    k: usize,
    /// Groups in use.
    pub groups: usize,
    pub hosts: Vec<OptHost>,
    /// The hosts of each group, by leaf.
    sizes: Vec<Vec<usize>>,
    /// Planes without a pair of groups, which the balancing uses.
    extras: Vec<usize>,
    /// For each residue of the leaves' numbers and each pair of groups, the extras whose classes these are.
    classes: Vec<Vec<usize>>,
    /// Of the hosts of a group with extras, the share that takes them: numerator and denominator.
    share: (u64, u64),
    /// The plane by source leaf, group of sources and host.
    planes: Vec<u16>,
}

impl<'t> GroupTable<'t> {
    pub fn new(tree: &'t TwoLevels, k: usize, pulse: &dyn RouteProgress) -> Result<Self, EngineRefusal> {
        let (mut hosts, mut sizes) = (Vec::new(), Vec::new());
        for (leaf, ends) in tree.leaves.iter().enumerate() {
            let (count, size) = (ends.hosts.len(), group_size(ends.hosts.len(), k));
            let own: Vec<usize> =
                (0..count.div_ceil(size)).map(|group| size.min(count - group * size)).collect();
            hosts.extend((0..count).map(|at| {
                let group = at / size;
                OptHost { leaf, group, place: at % size, of: own[group] }
            }));
            sizes.push(own);
        }
        let groups = group_count(tree, k);
        let used = |plane: &usize| *plane < k * k && plane / k < groups && plane % k < groups;
        let extras: Vec<usize> = (0..tree.planes.len()).filter(|plane| !used(plane)).collect();
        let mut table = Self {
            tree,
            k,
            groups,
            hosts,
            sizes,
            extras,
            classes: Vec::new(),
            share: (0, 1),
            planes: Vec::new(),
        };
        table.find_classes();
        table.select_planes(pulse)?;
        Ok(table)
    }

    /// The group of a host as a source: the number that it adds to base LIDs.
    pub fn source_group(&self, host: usize) -> usize {
        self.hosts[host].group
    }

    /// The plane from a leaf for a group of sources to a host.
    pub fn plane(&self, leaf: usize, group: usize, host: usize) -> Option<usize> {
        let at = (leaf * self.groups + group) * self.hosts.len() + host;
        self.planes.get(at).copied().filter(|plane| *plane != NO_PLANE).map(usize::from)
    }

    /// The plane of the cable by which a top sends to a host what a group of sources sent.
    pub fn plane_down(&self, top: u32, group: usize, host: usize) -> Option<usize> {
        let OptHost { leaf, group: to, .. } = self.hosts[host];
        let cables: Vec<usize> = self.tree.planes_to(top, leaf).collect();
        let base = self.base_plane(group, to);
        let of_class = |plane: &&usize| {
            let extra = self.extras.binary_search(plane);
            extra.is_ok_and(|extra| self.destination_class(leaf, extra) == to)
        };
        let by_class = cables.iter().find(|plane| **plane == base).or_else(|| cables.iter().find(of_class));
        by_class.or_else(|| cables.get(host % cables.len().max(1))).copied()
    }

    fn base_plane(&self, from: usize, to: usize) -> usize {
        self.k * from + to
    }

    /// The group of sources that an extra plane serves on its cable from a leaf.
    fn source_class(&self, leaf: usize, extra: usize) -> usize {
        (self.tree.leaves[leaf].number as usize + extra) % self.groups
    }

    /// The group of destinations that it serves on its cable to a leaf.
    fn destination_class(&self, leaf: usize, extra: usize) -> usize {
        (self.tree.leaves[leaf].number as usize + extra + extra / self.groups) % self.groups
    }

    fn class_index(&self, (from, to): (usize, usize), (source, destination): (usize, usize)) -> usize {
        let g = self.groups;
        ((from % g * g + to % g) * g + source) * g + destination
    }

    /// Lists the extras of each class, and finds how much the other planes must give away so that all carry alike.
    fn find_classes(&mut self) {
        let g = self.groups;
        self.classes = vec![Vec::new(); g * g * g * g];
        let mut count = vec![0u64; g];
        self.tree.leaves.iter().for_each(|leaf| count[leaf.number as usize % g] += 1);
        let (mut covered, mut all) = (0u64, 0u64);
        for from in 0..g {
            for to in 0..g {
                for extra in 0..self.extras.len() {
                    let classes = ((from + extra) % g, (to + extra + extra / g) % g);
                    let at = self.class_index((from, to), classes);
                    self.classes[at].push(extra);
                }
                let pairs = count[from] * (count[to] - u64::from(from == to && count[to] > 0));
                let start = self.class_index((from, to), (0, 0));
                let with =
                    self.classes[start..start + g * g].iter().filter(|extras| !extras.is_empty()).count();
                covered += pairs * with as u64;
                all += pairs * (g * g) as u64;
            }
        }
        // x = min(1, (1 - G^2 / m) / P), P = covered / all.
        let m = self.tree.planes.len() as u64;
        let wanted = m.saturating_sub((g * g) as u64) * all;
        self.share = (wanted.min(m * covered), (m * covered).max(1));
    }

    /// The plane for a pair by the classes, and those of the same classes that may take its place, in order.
    fn class_planes(&self, leaf: usize, group: usize, host: &OptHost) -> impl Iterator<Item = usize> {
        let numbers = [leaf, host.leaf].map(|leaf| self.tree.leaves[leaf].number as usize);
        let extras = &self.classes[self.class_index((numbers[0], numbers[1]), (group, host.group))];
        let (numerator, denominator) = self.share;
        // floor(x * hosts of the group + 1/2).
        let moved = (2 * numerator * host.of as u64 + denominator) / (2 * denominator);
        // It must not depend on the source leaf: the cables down would mix all destinations.
        let turn = (host.place + numbers[1]) % host.of.max(1);
        let first = turn.checked_rem(extras.len()).unwrap_or(0);
        let is_moved = (turn as u64) < moved && !extras.is_empty();
        let base = std::iter::once(self.base_plane(group, host.group));
        let turned = extras[first..].iter().chain(&extras[..first]).map(|extra| self.extras[*extra]);
        let chosen = is_moved.then(|| self.extras[extras[first]]);
        chosen.into_iter().chain(base).chain(turned)
    }

    fn select_planes(&mut self, pulse: &dyn RouteProgress) -> Result<(), EngineRefusal> {
        let (leaves, groups, hosts) = (self.tree.leaves.len(), self.groups, self.hosts.len());
        self.planes = vec![NO_PLANE; leaves * groups * hosts];
        let mut rest = Vec::new();
        for leaf in 0..leaves {
            pulse.check_cancelled()?;
            for group in 0..groups {
                for (at, host) in self.hosts.iter().enumerate().filter(|(_, host)| host.leaf != leaf) {
                    let is_live = |plane: &usize| self.tree.is_live(leaf, *plane, host.leaf);
                    let live = self.class_planes(leaf, group, host).find(is_live);
                    match live {
                        Some(plane) => self.planes[(leaf * groups + group) * hosts + at] = plane as u16,
                        None => rest.push((leaf, group, at)),
                    }
                }
            }
        }
        self.place_rest(&rest);
        Ok(())
    }

    /// Pairs without a live plane of their classes take the plane whose cables carry the fewest further sources and
    /// destinations.
    fn place_rest(&mut self, rest: &[(usize, usize, usize)]) {
        if rest.is_empty() {
            return;
        }
        let (planes, groups) = (self.tree.planes.len(), self.groups);
        let mut up = vec![0u64; self.tree.leaves.len() * planes];
        let mut down = vec![0u64; self.tree.leaves.len() * planes];
        for leaf in 0..self.tree.leaves.len() {
            for plane in 0..planes {
                let (from, to) = match self.extras.binary_search(&plane) {
                    Ok(extra) => (self.source_class(leaf, extra), self.destination_class(leaf, extra)),
                    Err(_) => (plane / self.k, plane % self.k),
                };
                (up[leaf * planes + plane], down[leaf * planes + plane]) = (1 << from, 1 << to);
            }
        }
        for (leaf, group, at) in rest.iter().copied() {
            let host = self.hosts[at];
            let size = |leaf: usize, group: usize| self.sizes[leaf].get(group).copied().unwrap_or(0);
            // Of parallel cables the top takes one by group and host, whichever carried the packet up.
            let below = |plane: usize| {
                let cable = self.plane_down(self.tree.planes[plane].top, group, at).unwrap_or(plane);
                host.leaf * planes + cable
            };
            let further = |plane: usize| {
                let is_new = |bits: u64, group: usize| usize::from(bits >> group & 1 == 0);
                is_new(up[leaf * planes + plane], group) * size(leaf, group)
                    + is_new(down[below(plane)], host.group) * host.of
            };
            let live = (0..planes).filter(|plane| self.tree.is_live(leaf, *plane, host.leaf));
            if let Some(plane) = live.min_by_key(|plane| (further(*plane), *plane)) {
                let below = below(plane);
                up[leaf * planes + plane] |= 1 << group;
                down[below] |= 1 << host.group;
                self.planes[(leaf * groups + group) * self.hosts.len() + at] = plane as u16;
            }
        }
    }

    /// The hosts of the largest group: the worst permutation where no cable is missing.
    pub fn bound(&self) -> usize {
        self.hosts.iter().map(|host| host.of).max().unwrap_or(0)
    }

    /// The most flows of a permutation that these planes can put on one cable: sources or destinations, whichever are
    /// fewer.
    pub fn worst_permutation(&self, pulse: &dyn RouteProgress) -> Result<usize, EngineRefusal> {
        let (planes, leaves, hosts) = (self.tree.planes.len(), self.tree.leaves.len(), self.hosts.len());
        let mut worst = 0;
        let words = (leaves * self.groups).div_ceil(64);
        let mut down_sources = vec![0u64; leaves * planes * words];
        let mut down_hosts = vec![0usize; leaves * planes];
        let mut last = vec![usize::MAX; leaves * planes];
        let mut up_sources = vec![0u64; leaves * planes];
        let mut up_hosts = vec![0usize; leaves * planes];
        let mut up_last = vec![usize::MAX; leaves * planes];
        for host in 0..hosts {
            pulse.check_cancelled()?;
            let to = self.hosts[host].leaf;
            for group in 0..self.groups {
                let below: Vec<Option<usize>> =
                    self.tree.planes.iter().map(|plane| self.plane_down(plane.top, group, host)).collect();
                for from in (0..leaves).filter(|from| self.sizes[*from].len() > group) {
                    let Some(plane) = self.plane(from, group, host) else { continue };
                    let up = from * planes + plane;
                    up_sources[up] |= 1 << group;
                    up_hosts[up] += usize::from(std::mem::replace(&mut up_last[up], host) != host);
                    let Some(below) = below[plane] else { continue };
                    let (down, source) = (to * planes + below, from * self.groups + group);
                    down_sources[down * words + source / 64] |= 1 << (source % 64);
                    down_hosts[down] += usize::from(std::mem::replace(&mut last[down], host) != host);
                }
            }
        }
        for at in 0..leaves * planes {
            let bits = |word: u64, base: usize| {
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| base + bit)
            };
            let size = |source: usize| {
                self.sizes[source / self.groups].get(source % self.groups).copied().unwrap_or(0)
            };
            let rising: usize =
                bits(up_sources[at], 0).map(|group| size(at / planes * self.groups + group)).sum();
            let row = &down_sources[at * words..(at + 1) * words];
            let falling: usize =
                row.iter().enumerate().flat_map(|(word, set)| bits(*set, word * 64)).map(size).sum();
            worst = worst.max(rising.min(up_hosts[at])).max(falling.min(down_hosts[at]));
        }
        Ok(worst)
    }
}
