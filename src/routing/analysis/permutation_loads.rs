//! Permutation loads (Nienaber et al., section II): how many flows of a pattern share a channel, in the worst case and
//! on average; and the hot-spot degree of shifts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::flow_paths::{FlowEnd, FlowPaths, SharedChannels};
use crate::{EngineRefusal, NoProgress, RouteProgress};

/// Patterns that are drawn first; their number is doubled until the average is settled.
const FIRST_DRAWS: u64 = 1000;

/// No more flows than these are drawn of one kind of pattern, nor more patterns.
const MAX_FLOWS: u64 = 200_000_000;
const MAX_PATTERNS: u64 = 64_000;

/// Steps of a shift are all looked at as long as they have no more flows than this.
const MAX_SHIFT_FLOWS: usize = 40_000_000;
const SHIFT_SAMPLES: usize = 64;

/// The loads that traffic patterns between all hosts put on channels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PermutationLoads {
    /// The number of hosts.
    pub hosts: usize,
    /// The worst permutation.
    pub worst: WorstPermutation,
    /// Average bisect bandwidth: half of the hosts send to the other half.
    pub bisect: AverageBandwidth,
    /// Average full permutation bandwidth.
    pub permutation: AverageBandwidth,
    /// Average dissemination bandwidth: pairs are drawn, and both ends of each send.
    pub dissemination: AverageBandwidth,
    /// The shifts.
    pub shift: ShiftLoad,
}

/// The largest number of flows of one permutation that share a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorstPermutation {
    /// The number of flows.
    pub flows: u64,
    /// Whether some permutation has this number of flows; otherwise it is an upper bound.
    pub exact: bool,
}

/// The mean over random patterns of 1 divided by the largest number of flows on a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AverageBandwidth {
    /// The mean, 1 for no shared channel.
    pub bandwidth: f64,
    /// The number of patterns drawn.
    pub patterns: u64,
    /// Whether the confidence interval of 99 % is no wider than 1 % of the mean.
    pub settled: bool,
}

/// Shift patterns: each host sends to the one a fixed number of steps on, in the order of switches and ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShiftLoad {
    /// The largest number of flows of one shift on one channel.
    pub degree: u32,
    /// The number of shifts examined, evenly spread.
    pub steps: usize,
    /// The number of all shifts.
    pub of: usize,
}

impl PermutationLoads {
    /// The worst permutation alone, which needs no patterns.
    pub fn worst_permutation(flows: &FlowPaths<'_>) -> WorstPermutation {
        worst_permutation(flows, &NoProgress)
    }

    /// Computes the loads, unless that is cancelled. The patterns are drawn from a fixed seed, so equal tables have equal
    /// loads.
    pub fn measure(flows: &FlowPaths<'_>, pulse: &dyn RouteProgress) -> Result<Self, EngineRefusal> {
        let draw = |kind| average_bandwidth(flows, kind, pulse);
        let worst = worst_permutation(flows, pulse);
        let loads = Self {
            hosts: flows.hosts.len(),
            worst,
            bisect: draw(PatternKind::Bisect)?,
            permutation: draw(PatternKind::Permutation)?,
            dissemination: draw(PatternKind::Dissemination)?,
            shift: shift_load(flows),
        };
        pulse.check_cancelled()?;
        Ok(loads)
    }
}

#[derive(Clone, Copy)]
enum PatternKind {
    Bisect,
    Permutation,
    Dissemination,
}

/// Draws patterns until the average is stable. Only a histogram of the busiest channel's flows is stored.
fn average_bandwidth(
    flows: &FlowPaths<'_>,
    kind: PatternKind,
    pulse: &dyn RouteProgress,
) -> Result<AverageBandwidth, EngineRefusal> {
    let hosts = flows.hosts.len();
    let most = (MAX_FLOWS / hosts.max(1) as u64).clamp(FIRST_DRAWS, MAX_PATTERNS);
    let mut drawn = BTreeMap::new();
    let (mut patterns, mut wanted) = (0, FIRST_DRAWS);
    loop {
        let fresh = (patterns..wanted).into_par_iter().filter(|_| !pulse.is_cancelled()).fold(
            || (SharedChannels::new(flows), BTreeMap::new()),
            |(mut pattern, mut seen): (SharedChannels, BTreeMap<u32, u64>), number| {
                *seen.entry(pattern_load(flows, kind, number, &mut pattern)).or_default() += 1;
                (pattern, seen)
            },
        );
        for (flows, count) in fresh.map(|(_, seen)| seen).collect::<Vec<_>>().into_iter().flatten() {
            *drawn.entry(flows).or_insert(0u64) += count;
        }
        pulse.check_cancelled()?;
        patterns = wanted;
        let (bandwidth, settled) = estimate_mean(&drawn, patterns);
        if settled || patterns >= most {
            return Ok(AverageBandwidth { bandwidth, patterns, settled });
        }
        wanted = (patterns * 2).min(most);
    }
}

/// The most flows on a channel of the pattern of a number.
fn pattern_load(flows: &FlowPaths<'_>, kind: PatternKind, number: u64, pattern: &mut SharedChannels) -> u32 {
    let hosts = flows.hosts.len();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(number << 2 | kind as u64);
    let mut order: Vec<usize> = (0..hosts).collect();
    while !shuffle(&mut order, &mut dice, matches!(kind, PatternKind::Permutation) && hosts > 1) {}
    match kind {
        PatternKind::Bisect => {
            let half = hosts / 2;
            pattern.max_shared(flows, (0..half).map(|at| (order[at], order[half + at])))
        }
        PatternKind::Permutation => pattern.max_shared(flows, order.iter().copied().enumerate()),
        PatternKind::Dissemination => {
            let (pairs, _) = order.as_chunks::<2>();
            pattern.max_shared(flows, pairs.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]))
        }
    }
}

/// Shuffles hosts. With `apart` no host may be at its own place, because none sends to itself; false if one is.
fn shuffle(order: &mut [usize], dice: &mut Xoshiro256PlusPlus, apart: bool) -> bool {
    for at in (0..order.len()).rev() {
        order.swap(at, (dice.next_u64() % (at as u64 + 1)) as usize);
        if apart && order[at] == at {
            return false;
        }
    }
    true
}

/// The mean bandwidth, and whether its interval is narrow enough.
fn estimate_mean(drawn: &BTreeMap<u32, u64>, patterns: u64) -> (f64, bool) {
    let bandwidth = |flows: &u32| 1.0 / f64::from((*flows).max(1));
    let sum = |of: &dyn Fn(f64) -> f64| {
        drawn.iter().map(|(flows, count)| of(bandwidth(flows)) * *count as f64).sum::<f64>()
    };
    let mean = sum(&|one| one) / patterns as f64;
    let variance = sum(&|one| (one - mean).powi(2)) / (patterns as f64 - 1.0).max(1.0);
    let width = 2.0 * 2.576 * (variance / patterns as f64).sqrt();
    (mean, width <= 0.01 * mean)
}

fn shift_load(flows: &FlowPaths<'_>) -> ShiftLoad {
    let hosts = flows.hosts.len();
    let of = hosts.saturating_sub(1);
    let steps = of.min((MAX_SHIFT_FLOWS / hosts.max(1)).max(SHIFT_SAMPLES));
    let step = |number: usize| 1 + number * of / steps.max(1);
    let degrees = (0..steps).into_par_iter().map_init(
        || SharedChannels::new(flows),
        |pattern, number| pattern.max_shared(flows, (0..hosts).map(|at| (at, (at + step(number)) % hosts))),
    );
    ShiftLoad { degree: degrees.max().unwrap_or(0), steps, of }
}

/// Who crosses each channel.
struct ChannelUsers {
    destinations: Vec<u64>,
    pairs: Vec<u64>,
    /// The destination that was counted last.
    last: Vec<usize>,
    path: Vec<usize>,
}

/// A permutation has at most min(sources, destinations) flows over a channel, and reaches it where every source sends to
/// every destination over it.
fn worst_permutation(flows: &FlowPaths<'_>, pulse: &dyn RouteProgress) -> WorstPermutation {
    let senders = FlowPaths::group_sources(flows.hosts.iter().map(|host| host.source));
    let (channels, words) = (flows.channel_count(), senders.len().div_ceil(64));
    let sources: Vec<AtomicU64> = (0..channels * words).map(|_| AtomicU64::new(0)).collect();
    let empty = || ChannelUsers {
        destinations: vec![0; channels],
        pairs: vec![0; channels],
        last: vec![usize::MAX; channels],
        path: Vec::new(),
    };
    let hosts = flows.hosts.par_iter().enumerate().with_min_len(512).filter(|_| !pulse.is_cancelled());
    let crossed = hosts.fold(empty, |mut seen, (at, to)| {
        for (sender, (source, count)) in senders.iter().enumerate() {
            if flows.path(*source, to, &mut seen.path) != FlowEnd::There {
                continue;
            }
            for channel in &seen.path {
                seen.pairs[*channel] += count;
                seen.destinations[*channel] += u64::from(seen.last[*channel] != at);
                seen.last[*channel] = at;
                let (word, bit) = (&sources[channel * words + sender / 64], 1 << (sender % 64));
                // Most have been seen before, and to look costs less than to write.
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        }
        seen
    });
    let add = |here: &mut Vec<u64>, there: Vec<u64>| {
        here.iter_mut().zip(there).for_each(|(here, there)| *here += there);
    };
    let crossed = crossed.reduce(empty, |mut one, other| {
        add(&mut one.destinations, other.destinations);
        add(&mut one.pairs, other.pairs);
        one
    });
    let told = (0..channels).map(|channel| {
        let bits =
            sources[channel * words..(channel + 1) * words].iter().map(|word| word.load(Ordering::Relaxed));
        let from: u64 = bits
            .enumerate()
            .flat_map(|(word, bits)| {
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
            })
            .map(|sender| senders[sender].1)
            .sum();
        let to = crossed.destinations[channel];
        WorstPermutation { flows: from.min(to), exact: crossed.pairs[channel] == from * to }
    });
    // Where several channels bound it alike, one that comes to its bound is enough.
    told.max_by_key(|worst| (worst.flows, worst.exact)).unwrap_or(WorstPermutation { flows: 0, exact: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Problem, Request, find_engine};
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    fn loads(name: &str, by: &str) -> PermutationLoads {
        let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes =
            (find_engine(by).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        PermutationLoads::measure(&FlowPaths::new(&problem, &routes), &NoProgress).unwrap()
    }

    #[test]
    fn shifts_meet_nowhere_on_a_full_tree_and_permutations_do() {
        // Two leaves below two spines, two hosts each: what goes up to a spine is for one host of the other leaf.
        let full = loads("kary,k=2,n=2", "ftree");
        assert_eq!((full.hosts, full.shift), (4, ShiftLoad { degree: 1, steps: 3, of: 3 }));
        // A channel up has two sources and one destination.
        assert_eq!(full.worst, WorstPermutation { flows: 1, exact: true });
        for average in [full.bisect, full.permutation, full.dissemination] {
            assert_eq!(average, AverageBandwidth { bandwidth: 1.0, patterns: FIRST_DRAWS, settled: true });
        }
    }

    #[test]
    fn on_a_ring_of_three_a_channel_is_for_the_hosts_of_one_switch() {
        // Three switches, two hosts each, a path of one hop between any two: every channel has two sources and two
        // destinations, each pair of them over it.
        let ring = loads("torus,dims=3,terminals=2", "minhop");
        assert_eq!((ring.hosts, ring.worst), (6, WorstPermutation { flows: 2, exact: true }));
        // A shift by two sends both hosts of a switch to the next one.
        assert_eq!(ring.shift, ShiftLoad { degree: 2, steps: 5, of: 5 });
        // All permutations of six: counted here, drawn there.
        let (mut sum, mut count) = (0.0, 0.0);
        let mut order: Vec<usize> = (0..6).collect();
        permute(&mut order, 0, &mut |order| {
            // No host sends to itself.
            if order.iter().enumerate().any(|(at, to)| at == *to) {
                return;
            }
            let crossing =
                |a: usize, b: usize| (0..6).filter(|at| at / 2 == a && order[*at] / 2 == b).count();
            let pairs = (0..3).flat_map(|a| (0..3).filter(move |b| a != *b).map(move |b| (a, b)));
            sum += 1.0 / pairs.map(|(a, b)| crossing(a, b)).max().unwrap().max(1) as f64;
            count += 1.0;
        });
        assert!((ring.permutation.bandwidth / (sum / count) - 1.0).abs() < 0.01, "{ring:?} {}", sum / count);
        assert!(ring.permutation.settled && ring.permutation.patterns > FIRST_DRAWS);
        assert!(ring.bisect.bandwidth > ring.permutation.bandwidth);
    }

    #[test]
    fn the_only_shift_of_two_hosts_is_by_one() {
        let two = loads("torus,dims=2,terminals=1", "minhop");
        assert_eq!((two.hosts, two.shift), (2, ShiftLoad { degree: 1, steps: 1, of: 1 }));
    }

    fn permute(order: &mut Vec<usize>, from: usize, see: &mut dyn FnMut(&[usize])) {
        if from == order.len() {
            see(order);
        }
        for at in from..order.len() {
            order.swap(from, at);
            permute(order, from + 1, see);
            order.swap(from, at);
        }
    }
}
