//! Lanes for pairs of switches (`lash`). The paths of a pair in both directions go together to the first lane on which
//! neither closes a cycle, pair by pair. A lane depends only on the pairs that the lane below has left, so lanes are
//! filled one after the other. Then pairs move from the fullest lane to the emptiest, in their order.

use super::channel_order::{ChannelOrder, LaneDependencyState};
use super::possible_dependencies::PossibleDependencies;
use crate::descent::Descent;
use crate::engine::{EngineRefusal, RouteProgress};
use crate::pair_ways::{NO_WAY, PairWays};
use crate::problem::Problem;

/// Far more than a port has; beyond them the number that is needed is not counted.
pub(crate) const MAX_PAIR_LANES: u32 = 64;

/// Lanes whose sizes differ by less are balanced (OpenSM's figure).
const EVEN_ENOUGH: usize = 6;

/// Pairs between two looks at whether the run is cancelled.
const PAIRS_PER_REPORT: usize = 1 << 14;

/// The lane of each pair of switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PairLanes {
    switches: usize,
    /// By pair, the lower switch first.
    lane: Vec<u8>,
    sizes: Vec<usize>,
}

impl PairLanes {
    /// The number of lanes, 1 at least.
    pub(crate) fn count(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// The number of pairs on each lane.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The lane of paths between two switches; 0 where there are none.
    pub(crate) fn lane(&self, from: u32, to: u32) -> u8 {
        self.lane[pair_index(self.switches, from.min(to), from.max(to)) as usize]
    }
}

/// The number of a pair, the lower switch first: 49,151 switches have fewer than 2^32.
fn pair_index(switches: usize, low: u32, high: u32) -> u32 {
    low * switches as u32 + high
}

/// Puts all pairs on lanes, however many are needed, and balances them if they are at most `given`. Pairs come in the
/// order of their first switch, and then of the second.
pub(crate) fn assign_pair_lanes(
    problem: &Problem<'_>,
    ways: &PairWays,
    order: &[u32],
    given: u32,
    pulse: &dyn RouteProgress,
) -> Result<PairLanes, EngineRefusal> {
    let on = PossibleDependencies::new(&problem.graph);
    let rank = on.inwards_then_outwards(&switches_outwards(problem, &on));
    let paths = PairPaths { on: &on, ways };
    let switches = ways.switch_count();
    let all_pairs: Vec<u32> = pairs_in_order(ways, order).collect();
    let mut left = all_pairs.clone();
    let mut lanes = PairLanes { switches, lane: vec![0; switches * switches], sizes: Vec::new() };
    let mut layers: Vec<PairLayer> = Vec::new();
    let (all, mut placed) = (left.len(), 0);
    while lanes.sizes.is_empty() || !left.is_empty() && lanes.count() < MAX_PAIR_LANES {
        let mut layer = PairLayer::new(&on, &rank);
        let mut beyond = Vec::new();
        for block in left.chunks(PAIRS_PER_REPORT) {
            pulse.check_cancelled()?;
            beyond.extend(block.iter().copied().filter(|pair| !layer.try_pair(paths, *pair)));
            pulse.report(placed, all);
        }
        let own = lanes.sizes.len() as u8;
        lanes.sizes.push(left.len() - beyond.len());
        placed += left.len() - beyond.len();
        // What stays takes the number of the last lane that it tried, and a higher one later.
        left.iter().for_each(|pair| lanes.lane[*pair as usize] = own);
        left = beyond;
        layers.push(layer);
    }
    if !left.is_empty() {
        lanes.sizes.push(left.len());
    } else if lanes.count() > 1 && lanes.count() <= given {
        balance(paths, &all_pairs, &mut layers, &mut lanes, pulse)?;
    }
    Ok(lanes)
}

/// The pairs of switches that cables connect.
fn pairs_in_order(ways: &PairWays, order: &[u32]) -> impl Iterator<Item = u32> {
    order.iter().enumerate().flat_map(move |(at, one)| {
        let others = order[at + 1..].iter().filter(|other| ways.place(*one, **other) != NO_WAY);
        others.map(|other| pair_index(ways.switch_count(), *one.min(other), *one.max(other)))
    })
}

/// All switches, part by part, from the first one with adapters outwards.
fn switches_outwards(problem: &Problem<'_>, on: &PossibleDependencies) -> Vec<u32> {
    let (part, parts) = problem.graph.components();
    let mut root: Vec<Option<u32>> = vec![None; parts as usize];
    for with_adapters in [true, false] {
        for switch in problem.switches().filter(|switch| problem.graph.is_alive(*switch)) {
            let root = &mut root[part[switch as usize] as usize];
            if root.is_none() && (!with_adapters || !problem.graph.terminals_of(switch).is_empty()) {
                *root = Some(switch);
            }
        }
    }
    let mut descent = Descent::default();
    let mut order = Vec::with_capacity(part.len());
    for root in root.into_iter().flatten() {
        descent.build(&on.net, root);
        order.extend_from_slice(descent.order());
    }
    order
}

/// What the paths of pairs depend on.
#[derive(Clone, Copy)]
struct PairPaths<'a> {
    on: &'a PossibleDependencies,
    ways: &'a PairWays,
}

impl PairPaths<'_> {
    /// The channel that a path takes at a switch.
    fn taken(&self, at: u32, to: u32) -> u32 {
        self.on.channel_leaving(at, self.ways.place(at, to).into())
    }

    /// Calls for each dependency of the paths of a pair, until one call returns false; whether none did.
    fn all(&self, pair: u32, mut holds: impl FnMut(u32, u32) -> bool) -> bool {
        let switches = self.ways.switch_count() as u32;
        let (low, high) = (pair / switches, pair % switches);
        [(low, high), (high, low)].into_iter().all(|(from, to)| {
            let mut taken = self.taken(from, to);
            let mut at = self.on.net.target(taken);
            while at != to {
                let next = self.taken(at, to);
                if !holds(taken, next) {
                    return false;
                }
                (taken, at) = (next, self.on.net.target(next));
            }
            true
        })
    }
}

/// One lane.
struct PairLayer {
    order: ChannelOrder,
    /// The dependencies of a pair that the lane does not have yet.
    fresh: Vec<(u32, u32)>,
}

impl PairLayer {
    fn new(on: &PossibleDependencies, rank: &[u32]) -> Self {
        Self { order: ChannelOrder::new(on, rank), fresh: Vec::new() }
    }

    /// Adds all dependencies of a pair, or none if one would close a cycle.
    fn try_pair(&mut self, paths: PairPaths<'_>, pair: u32) -> bool {
        let (on, order) = (paths.on, &mut self.order);
        self.fresh.clear();
        let open = paths.all(pair, |from, to| {
            let state = order.state(on, from, to);
            if state == LaneDependencyState::Open {
                self.fresh.push((from, to));
            }
            state != LaneDependencyState::Refused
        });
        if !open {
            return false;
        }
        for (at, (from, to)) in self.fresh.iter().copied().enumerate() {
            if order.try_use(on, from, to) {
                continue;
            }
            self.fresh[..at].iter().for_each(|(from, to)| order.remove(on, *from, *to));
            if at > 0 {
                // The refusal may rest on what was taken back: it stays only if the dependency alone closes a cycle.
                order.forget_refusal(on, from, to);
                if order.try_use(on, from, to) {
                    order.remove(on, from, to);
                }
            }
            return false;
        }
        true
    }
}

/// How many pairs of a lane have each dependency.
struct DependencyCounts(Vec<u32>);

impl DependencyCounts {
    fn new(paths: PairPaths<'_>) -> Self {
        Self(vec![0; paths.on.net.channel_count() * paths.on.word_count() * 64])
    }

    fn entry(&mut self, on: &PossibleDependencies, from: u32, to: u32) -> &mut u32 {
        let row = from as usize * on.word_count() * 64;
        &mut self.0[row + on.exit_place(to) as usize]
    }

    fn add(&mut self, paths: PairPaths<'_>, pair: u32) {
        paths.all(pair, |from, to| {
            *self.entry(paths.on, from, to) += 1;
            true
        });
    }

    /// Takes a pair away, and from the lane what no other pair depends on. Dependencies that were refused because of it
    /// stay refused there: lanes are a little less even than they could be, and never have a cycle.
    fn remove(&mut self, paths: PairPaths<'_>, pair: u32, order: &mut ChannelOrder) {
        paths.all(pair, |from, to| {
            let count = self.entry(paths.on, from, to);
            *count -= 1;
            if *count == 0 {
                order.remove(paths.on, from, to);
            }
            true
        });
    }
}

/// Moves pairs from the fullest lane to the emptiest, each once at most, until their sizes are even enough or every pair
/// of the fullest was tried.
fn balance(
    paths: PairPaths<'_>,
    all: &[u32],
    layers: &mut [PairLayer],
    lanes: &mut PairLanes,
    pulse: &dyn RouteProgress,
) -> Result<(), EngineRefusal> {
    let mut counts: Vec<DependencyCounts> = layers.iter().map(|_| DependencyCounts::new(paths)).collect();
    let mut of_lane: Vec<Vec<u32>> = vec![Vec::new(); layers.len()];
    for pair in all.iter().copied() {
        let lane = usize::from(lanes.lane[pair as usize]);
        of_lane[lane].push(pair);
        counts[lane].add(paths, pair);
    }
    let mut tried: Vec<std::vec::IntoIter<u32>> = of_lane.into_iter().map(Vec::into_iter).collect();
    for turn in 0.. {
        if turn % PAIRS_PER_REPORT == 0 && pulse.is_cancelled() {
            return Err(EngineRefusal::Cancelled);
        }
        let by_size = |lane: &usize| (lanes.sizes[*lane], std::cmp::Reverse(*lane));
        let all = 0..layers.len();
        let (Some(full), Some(empty)) =
            (all.clone().max_by_key(by_size), all.min_by_key(|lane| lanes.sizes[*lane]))
        else {
            break;
        };
        if lanes.sizes[full] - lanes.sizes[empty] < EVEN_ENOUGH {
            break;
        }
        let Some(pair) = tried[full].next() else { break };
        if layers[empty].try_pair(paths, pair) {
            counts[empty].add(paths, pair);
            counts[full].remove(paths, pair, &mut layers[full].order);
            lanes.lane[pair as usize] = empty as u8;
            lanes.sizes[full] -= 1;
            lanes.sizes[empty] += 1;
        }
    }
    Ok(())
}
