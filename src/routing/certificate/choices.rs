//! The certificate of adaptive routing: every choice that switches may make for a packet arrives, and no choices
//! together close a credit loop.
//!
//! A dependency leads from a channel to each channel of the set by which a packet may leave. The graph of all of them
//! has to be free of cycles. Duato's weaker condition with the static ports as escape paths does not hold: nothing
//! promises that a packet that waits for one port of a group returns to the static port.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::choice_proof::prove_loop;
use super::choice_sets::{ChoiceColumn, ChoiceSets};
use super::choice_sources::{ChoiceLevels, ChoiceSource, ChoiceSourceList};
use super::choice_walk::{ChoiceFate, ChoiceLanes, ChoiceWalk, WalkTarget};
use super::lane_dependencies::LaneDependencies;
use super::lane_mapping::{LaneMapping, data_lane_count};
use super::report::{ForwardingLoop, ForwardingLoops, MAX_LISTED};
use super::service::{CreditLoop, MissingLane, lane_count};
use crate::engine::{EngineRefusal, RouteProgress};
use crate::problem::{Destination, Problem};
use crate::trees::{Cause, Distances, UNREACHABLE, place_of};
use fabdeck_fabric::{
    AdaptiveDoubt, ChannelId, Lid, NodeId, PortId, ServiceLevel, ServiceLevels, SwitchGraph, Tables,
};

/// A path on which switches can make a choice that loses the packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LostChoice {
    /// The destination.
    pub to: Lid,
    /// The switch of the source.
    pub from_switch: u32,
    /// The source.
    pub from: PortId,
    /// Why the choice does not arrive.
    pub cause: Cause,
    /// The switch where it ends.
    pub at: u32,
}

/// A path that some choices of switches make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChoicePath {
    /// The source.
    pub from: PortId,
    /// The destination.
    pub to: Lid,
    /// The service level.
    pub level: ServiceLevel,
    /// The channels between switches.
    pub channels: Vec<ChannelId>,
}

/// The properties of forwarding by sets of ports, over all choices of all switches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChoiceCertificate {
    /// The number of (source port, LID, level) between ends that cables connect.
    pub paths: u64,
    /// Those of them that some choice loses, in the order of [`Cause::ALL`].
    pub lost: [u64; 5],
    /// The number of these that every choice loses.
    pub always_lost: u64,
    /// The first of the lost ones.
    pub first_lost: Vec<LostChoice>,
    /// The loops that packets can be sent around by some choices.
    pub loops: ForwardingLoops,
    /// The longest path over all choices, in hops between switches.
    pub longest: u32,
    /// The most ports to other switches that a packet can choose among.
    pub widest: u32,
    /// Places where a packet can go back by the static port.
    pub turns: u64,
    /// The lanes in use between switches.
    pub lanes: Vec<u8>,
    /// Ports that drop packets because they lack the lane. Their paths are not counted.
    pub limits: Vec<MissingLane>,
    /// The number of (source switch, LID) whose level is unknown.
    pub unknown_levels: u64,
    /// Switches on the paths without SL2VL tables.
    pub without_tables: Vec<u32>,
    /// A credit loop, where there is one.
    pub credit_loop: Option<CreditLoop>,
    /// For each of its channels a path, complete, that uses it and then the next one.
    pub loop_paths: Vec<ChoicePath>,
}

impl ChoiceCertificate {
    /// The number of paths that some choice loses.
    pub fn lost_count(&self) -> u64 {
        self.lost.iter().sum()
    }

    /// Whether the lane of every path is known at every hop.
    pub fn is_complete(&self) -> bool {
        self.unknown_levels == 0 && self.without_tables.is_empty()
    }
}

/// The switches of which it is not known by which ports packets may leave, each with the reason.
pub fn adaptive_doubts(problem: &Problem<'_>, tables: &Tables) -> Vec<(NodeId, AdaptiveDoubt)> {
    let alive = problem.switches().filter(|switch| problem.graph.is_alive(*switch)).map(NodeId);
    let lids = || problem.destinations().iter().map(|end| end.lid);
    let doubt = |node: NodeId| Some((node, tables.nodes.get(&node)?.adaptive_doubt(lids())?));
    alive.filter_map(doubt).collect()
}

/// Whether some switch forwards packets of different service levels by different sets of ports.
pub fn choices_differ_by_level(problem: &Problem<'_>, tables: &Tables) -> bool {
    ChoiceSets::new(problem, tables).distinct_levels().len() > 1
}

/// Judges forwarding by sets of ports. What is not known of a switch counts as no entry: ask [`adaptive_doubts`] first.
pub fn certify_choices(
    problem: &Problem<'_>,
    tables: &Tables,
    switches: bool,
    levels: Option<&ServiceLevels>,
    pulse: &dyn RouteProgress,
) -> Result<ChoiceCertificate, EngineRefusal> {
    let mapping = LaneMapping::new(problem, tables);
    let levels = levels.map_or(ChoiceLevels::Every, ChoiceLevels::Stated);
    let one_lane = matches!(levels, ChoiceLevels::Every);
    let sets = ChoiceSets::new(problem, tables);
    let used = levels.in_use(&sets);
    let count = match one_lane {
        true => 1,
        false => {
            let used: Vec<u8> = used.iter().map(|level| level.value()).collect();
            lane_count(problem, &mapping, &used)
        }
    };
    let waits = LaneDependencies::new(&problem.graph, count);
    let pass = ChoicePass {
        sets: &sets,
        lanes: ChoiceLanes { mapping: &mapping, one_lane },
        levels,
        used,
        sources: ChoiceSourceList::new(problem, tables, &mapping, (switches, one_lane)),
        switches,
    };
    let each = problem.switches().into_par_iter().map(|root| pass.judge_root(root, &waits, pulse));
    let tally = each.reduce(ChoiceTally::default, ChoiceTally::join);
    pulse.check_cancelled()?;
    let hops = waits.find_loop(&problem.graph);
    let proved = hops.map(|hops| prove_loop(&pass, &hops));
    let (credit_loop, loop_paths) = proved.unzip();
    Ok(tally.certificate(problem, credit_loop, loop_paths.unwrap_or_default()))
}

/// What stays the same for all destinations.
#[derive(Debug)]
pub struct ChoicePass<'a> {
    pub sets: &'a ChoiceSets<'a>,
    pub lanes: ChoiceLanes<'a>,
    levels: ChoiceLevels<'a>,
    used: Vec<ServiceLevel>,
    sources: ChoiceSourceList,
    switches: bool,
}

impl ChoicePass<'_> {
    /// The destinations behind a switch that are judged.
    pub fn destinations(&self, root: u32) -> Vec<Destination> {
        let mut wanted = self.sets.problem().destinations_behind(root).to_vec();
        wanted.retain(|end| self.switches || !end.is_switch());
        wanted
    }

    pub fn levels(&self) -> &[ServiceLevel] {
        &self.used
    }

    /// The sources that send to a destination on a level, from switches that cables connect with it.
    pub fn senders(&self, target: WalkTarget<'_>, near: &[u32]) -> Vec<ChoiceSource> {
        let WalkTarget { root, end, level } = target;
        let connected = self.sets.problem().switches().filter(|at| near[*at as usize] != UNREACHABLE);
        let sending = connected.filter(|at| self.levels.bits(*at, end) >> level.value() & 1 == 1);
        let all = sending.flat_map(|at| self.sources.senders(at, (root, end)));
        all.filter(|source| source.held_back >> level.value() & 1 == 0).collect()
    }

    fn judge_root(&self, root: u32, waits: &LaneDependencies, pulse: &dyn RouteProgress) -> ChoiceTally {
        let mut tally = ChoiceTally::default();
        let wanted = self.destinations(root);
        if wanted.is_empty() || pulse.is_cancelled() {
            return tally;
        }
        let graph = &self.sets.problem().graph;
        let distances = Distances::measure(graph, root..root + 1);
        let near = distances.row(root);
        let mut walk = ChoiceWalk::new(self.sets, self.lanes);
        for level in &self.used {
            let mut base: Option<(ChoiceColumn, Destination)> = None;
            for end in &wanted {
                let target = WalkTarget { root, end, level: *level };
                self.sets.fill_column(end, *level, &mut walk.column);
                let senders = self.senders(target, near);
                let alike = base.as_ref().is_some_and(|(column, first)| {
                    self.levels.is_like(first, end)
                        && self.sets.is_like((column, first), (&walk.column, end), root, &walk.sensitive)
                });
                if !alike {
                    walk.walk(&senders, target);
                    let rows = &mut |on: (u32, u16), next: (u32, u8)| {
                        waits.add((on.0 as usize, on.1), place_of(graph, next.0 as usize), next.1);
                    };
                    walk.each_dependency(target, rows);
                    tally.lanes |= walk.reached.iter().fold(0, |all, at| all | walk.on[*at as usize]);
                    base = Some((walk.column.clone(), *end));
                } else {
                    walk.check_delivery(&senders, target);
                }
                tally.add_destination(&walk, &senders, target);
            }
        }
        for end in &wanted {
            tally.unknown_levels += self.unknown_levels(root, end, near);
        }
        tally.take_from(walk);
        tally
    }

    /// The switches whose sources send to a destination on no known level.
    fn unknown_levels(&self, root: u32, end: &Destination, near: &[u32]) -> u64 {
        let connected = self.sets.problem().switches().filter(|at| near[*at as usize] != UNREACHABLE);
        let unknown = connected.filter(|at| self.levels.bits(*at, end) == 0);
        unknown.filter(|at| self.sources.senders(*at, (root, end)).next().is_some()).count() as u64
    }
}

/// Sums and sets, so that the order of destinations does not show.
#[derive(Debug, Default)]
struct ChoiceTally {
    found: ChoiceCertificate,
    lanes: u16,
    unknown_levels: u64,
    lacking: BTreeSet<(u32, fabdeck_fabric::PortNum, u8)>,
    without_tables: BTreeMap<u32, ()>,
}

impl ChoiceTally {
    /// Counts the paths to a destination. The walk may be that of another one with equal outputs.
    fn add_destination(&mut self, walk: &ChoiceWalk<'_>, senders: &[ChoiceSource], target: WalkTarget<'_>) {
        let found = &mut self.found;
        for source in senders {
            let count = u64::from(source.count);
            found.paths += count;
            match walk.fate_of_source(source, target) {
                ChoiceFate::Arrives(hops) => found.longest = found.longest.max(hops),
                ChoiceFate::Lost(cause, at) => {
                    found.lost[cause as usize] += count;
                    found.always_lost += if walk.can_arrive(source, target) { 0 } else { count };
                    let (to, from_switch, from) = (target.end.lid, source.switch, source.port);
                    found.first_lost.push(LostChoice { to, from_switch, from, cause, at });
                }
                ChoiceFate::Unvisited | ChoiceFate::OnPath => {}
            }
            if found.first_lost.len() > 8 * MAX_LISTED {
                limit(&mut found.first_lost);
            }
        }
        found.loops.count += walk.loops.len() as u64;
        let loops = walk.loops.iter().map(|switches| (target.end.lid, switches.clone()));
        found.loops.first.extend(loops.map(|(lid, switches)| ForwardingLoop { lid, switches }));
        limit(&mut found.loops.first);
    }

    fn take_from(&mut self, walk: ChoiceWalk<'_>) {
        self.found.turns += walk.turns;
        self.found.widest = self.found.widest.max(walk.widest);
        self.lacking.extend(walk.lacking);
        self.without_tables.extend(walk.without_tables.into_iter().map(|switch| (switch, ())));
        limit(&mut self.found.first_lost);
    }

    fn join(mut self, mut other: Self) -> Self {
        let (found, more) = (&mut self.found, &mut other.found);
        found.paths += more.paths;
        found.lost.iter_mut().zip(more.lost).for_each(|(here, there)| *here += there);
        found.first_lost.append(&mut more.first_lost);
        found.always_lost += more.always_lost;
        limit(&mut found.first_lost);
        found.loops.count += more.loops.count;
        found.loops.first.append(&mut more.loops.first);
        limit(&mut found.loops.first);
        found.longest = found.longest.max(more.longest);
        found.widest = found.widest.max(more.widest);
        found.turns += more.turns;
        self.lanes |= other.lanes;
        self.unknown_levels += other.unknown_levels;
        self.lacking.append(&mut other.lacking);
        self.without_tables.append(&mut other.without_tables);
        self
    }

    fn certificate(
        self,
        problem: &Problem<'_>,
        credit_loop: Option<CreditLoop>,
        loop_paths: Vec<ChoicePath>,
    ) -> ChoiceCertificate {
        let limit = |(switch, port, lane): &(u32, fabdeck_fabric::PortNum, u8)| {
            let port = problem.fabric.port_of(NodeId(*switch), *port)?;
            Some(MissingLane { port, lane: *lane, room: data_lane_count(problem.fabric, port), paths: 0 })
        };
        ChoiceCertificate {
            lanes: (0..16).filter(|lane| self.lanes >> lane & 1 == 1).collect(),
            limits: self.lacking.iter().filter_map(limit).collect(),
            unknown_levels: self.unknown_levels,
            without_tables: self.without_tables.into_keys().collect(),
            credit_loop,
            loop_paths,
            ..self.found
        }
    }
}

/// Keeps the first of a list.
fn limit<T: Ord>(list: &mut Vec<T>) {
    list.sort_unstable();
    list.truncate(MAX_LISTED);
}

/// The distances of all switches to one.
pub fn distances(graph: &SwitchGraph, root: u32) -> Vec<u32> {
    Distances::measure(graph, root..root + 1).row(root).to_vec()
}
