//! The groups of a fabric that is too large for lines: pods, dragonfly groups, or ranges of switches. A table of pairs has
//! a row and a column for each group, or each switch of a group, and always fits on the screen.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::structure::MapStructure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::natural_order;

/// What the groups are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GroupKind {
    /// Parts of a tree below its top rank.
    Pods,
    /// Complete graphs with few cables between them.
    Dragonfly,
    /// Switches alone, where nothing else divides them.
    #[default]
    Switches,
}

impl GroupKind {
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::Pods => ["pod", "pods"],
            Self::Dragonfly => ["group", "groups"],
            Self::Switches => ["switch", "switches"],
        }
    }
}

/// The switches with hosts, group by group.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MapGroups {
    pub kind: GroupKind,
    /// The switches, by their indexes in the structure.
    pub leaves: Vec<usize>,
    /// The part of these that each group has.
    pub groups: Vec<Range<usize>>,
}

/// A row or a column of a table of pairs: one switch, one group, or several of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapBucket {
    pub name: String,
    /// The part of the switches with hosts.
    pub leaves: Range<usize>,
}

impl MapGroups {
    pub fn new(look: &Snapshot, structure: &MapStructure) -> Self {
        let with_hosts = |at: &usize| !structure.switches[*at].hosts.is_empty();
        let parts = match structure.tree && structure.ranks.len() > 2 {
            true => Some((GroupKind::Pods, parts_below_the_top(structure))),
            false if structure.tree => None,
            false => dragonfly_groups(structure).map(|groups| (GroupKind::Dragonfly, groups)),
        };
        let (kind, parts) = match parts {
            Some((kind, parts)) if parts.len() > 1 => (kind, parts),
            _ => (GroupKind::Switches, (0..structure.switches.len()).map(|at| vec![at]).collect()),
        };
        let mut groups = Self { kind, ..Self::default() };
        let name = |at: &usize| look.name(structure.switches[*at].id);
        let by_name = |a: &usize, b: &usize| natural_order(name(a), name(b));
        let sorted = |part: Vec<usize>| {
            let mut leaves: Vec<usize> = part.into_iter().filter(with_hosts).collect();
            leaves.sort_by(by_name);
            leaves
        };
        let mut parts: Vec<Vec<usize>> =
            parts.into_iter().map(sorted).filter(|part| !part.is_empty()).collect();
        parts.sort_by(|a, b| by_name(&a[0], &b[0]));
        for part in parts {
            let begin = groups.leaves.len();
            groups.leaves.extend(part);
            groups.groups.push(begin..groups.leaves.len());
        }
        groups
    }

    /// Rows or columns for a part of the switches: by group where it has several, else by switch. Neighbours are joined
    /// until there are `most` at most.
    pub fn buckets(
        &self,
        structure: &MapStructure,
        look: &Snapshot,
        of: &Range<usize>,
        most: usize,
    ) -> Vec<MapBucket> {
        let inside: Vec<usize> = (0..self.groups.len())
            .filter(|at| self.groups[*at].start >= of.start && self.groups[*at].end <= of.end)
            .collect();
        if inside.len() > 1 && self.kind != GroupKind::Switches {
            let join = inside.len().div_ceil(most.max(1));
            let bucket = |part: &[usize]| {
                let (first, last) = (part[0], part[part.len() - 1]);
                let name = if first == last { first.to_string() } else { format!("{first}-{last}") };
                MapBucket { name, leaves: self.groups[first].start..self.groups[last].end }
            };
            return inside.chunks(join).map(bucket).collect();
        }
        let join = of.len().div_ceil(most.max(1)).max(1);
        let name = |at: usize| look.name(structure.switches[self.leaves[at]].id);
        let bucket = |first: usize| {
            let last = (first + join).min(of.end);
            let name = match last - first {
                1 => name(first).to_owned(),
                _ => name_range(name(first), name(last - 1)),
            };
            MapBucket { name, leaves: first..last }
        };
        of.clone().step_by(join).map(bucket).collect()
    }

    /// The name of a part of the switches, such as `pod 7`.
    pub fn title(&self, structure: &MapStructure, look: &Snapshot, of: &Range<usize>) -> String {
        let [one, several] = self.kind.words();
        let groups: Vec<usize> = (0..self.groups.len())
            .filter(|at| self.groups[*at].start >= of.start && self.groups[*at].end <= of.end)
            .collect();
        match (self.kind, groups.as_slice()) {
            (GroupKind::Switches, _) | (_, []) => self
                .buckets(structure, look, of, 1)
                .into_iter()
                .next()
                .map_or_else(String::new, |bucket| bucket.name),
            (_, [group]) => format!("{one} {group}"),
            (_, [first, .., last]) => format!("{several} {first}-{last}"),
        }
    }
}

/// The connected parts of the switches below the top rank, in the order of their first switch.
fn parts_below_the_top(structure: &MapStructure) -> Vec<Vec<usize>> {
    let top = structure.ranks.first().copied().unwrap_or(0);
    let pairs =
        structure.cables.iter().filter(|cable| cable.upper >= top).map(|cable| (cable.upper, cable.lower));
    connected_parts(structure.switches.len(), top, pairs)
}

/// The connected parts of the switches from `first` on. Each part is in the order of the switches, the parts in that of
/// their last rank.
fn connected_parts(
    count: usize,
    first: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    let mut root: Vec<usize> = (0..count).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for (a, b) in pairs {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        // The greater index is kept: leaves come last, and parts are in their order.
        root[a.min(b)] = a.max(b);
    }
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in first..count {
        parts.entry(find(&mut root, at)).or_default().push(at);
    }
    let mut parts: Vec<Vec<usize>> = parts.into_values().collect();
    parts.sort_by_key(|part| part.iter().rev().take_while(|at| **at > first).last().copied());
    parts
}

/// Groups of a dragonfly: switches with many neighbours in common. `None` where they do not divide the fabric into
/// several groups that each are complete graphs.
fn dragonfly_groups(structure: &MapStructure) -> Option<Vec<Vec<usize>>> {
    let mut peers: Vec<FxHashSet<usize>> = vec![FxHashSet::default(); structure.switches.len()];
    for cable in &structure.cables {
        peers[cable.upper].insert(cable.lower);
        peers[cable.lower].insert(cable.upper);
    }
    let same_group = |a: usize, b: usize| {
        let common = peers[a].intersection(&peers[b]).count();
        common * 3 >= peers[a].len().min(peers[b].len())
    };
    let pairs: Vec<(usize, usize)> = structure
        .cables
        .iter()
        .map(|cable| (cable.upper, cable.lower))
        .filter(|(a, b)| same_group(*a, *b))
        .collect();
    let mut parts = connected_parts(structure.switches.len(), 0, pairs.into_iter());
    let complete = |part: &Vec<usize>| {
        part.iter()
            .all(|at| part.iter().filter(|other| peers[*at].contains(*other)).count() + 1 == part.len())
    };
    let dragonfly = parts.len() > 2 && parts.iter().all(|part| part.len() > 1 && complete(part));
    parts.sort();
    dragonfly.then_some(parts)
}

/// A bundle of cables between two groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapBundle {
    pub groups: [usize; 2],
    /// The cables, by their indexes in the structure.
    pub cables: Vec<usize>,
}

impl MapGroups {
    /// The group of each switch with hosts, by its index in the structure.
    pub fn group_of(&self) -> FxHashMap<usize, usize> {
        let of_group = |(group, range): (usize, &Range<usize>)| {
            self.leaves[range.clone()].iter().map(move |leaf| (*leaf, group)).collect::<Vec<_>>()
        };
        self.groups.iter().enumerate().flat_map(of_group).collect()
    }

    /// The bundles between the groups of a dragonfly, by the groups.
    pub fn bundles(&self, structure: &MapStructure) -> Vec<MapBundle> {
        if self.kind != GroupKind::Dragonfly {
            return Vec::new();
        }
        let group_of = self.group_of();
        let mut bundles: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
        for (at, cable) in structure.cables.iter().enumerate() {
            let groups = [cable.upper, cable.lower].map(|end| group_of.get(&end).copied());
            if let [Some(a), Some(b)] = groups
                && a != b
            {
                bundles.entry([a.min(b), a.max(b)]).or_default().push(at);
            }
        }
        bundles.into_iter().map(|(groups, cables)| MapBundle { groups, cables }).collect()
    }
}

/// Two names as a range: `node06-11`, or `login1 - node05` where they have no part in common.
pub fn name_range(first: &str, last: &str) -> String {
    let stem = first.trim_end_matches(|sign: char| sign.is_ascii_digit());
    match last
        .strip_prefix(stem)
        .filter(|rest| !stem.is_empty() && rest.chars().all(|sign| sign.is_ascii_digit()))
    {
        Some(number) => format!("{first}-{number}"),
        None => format!("{first}-{last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::name_range;

    #[test]
    fn names_with_a_common_stem_are_a_range() {
        assert_eq!(name_range("node06", "node11"), "node06-11");
        assert_eq!(name_range("login1", "node05"), "login1-node05");
        assert_eq!(name_range("a1b", "a1c"), "a1b-a1c");
    }
}
