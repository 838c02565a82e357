//! Traffic patterns.

use super::flow::Flow;
use crate::{Share, SimulatorRng};
use fabdeck_fabric::{PortId, ServiceLevel};

/// A pattern over all hosts, or over those that a list names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrafficPattern {
    Flows(Vec<Flow>),
    /// The destination of each packet is drawn from all other hosts (dissertation 4.3.3.1).
    Uniform,
    /// Hosts in order form as many groups as there are hot-spots; the first host of each group is its hot-spot. The
    /// hosts of a group send it a share of their packets, and the rest to hosts drawn from all others (dFtree V-D).
    HotSpots {
        spots: u32,
        share: Share,
        /// The service level of packets to hot-spots: the slow lane.
        level: Option<ServiceLevel>,
    },
    /// Each host sends to one host and receives from one, drawn once.
    Permutation,
    /// Hosts in a ring of random order send to both neighbours, as in the HPC Challenge's randomly ordered ring.
    Ring,
    /// Hosts in pairs, drawn once. One host of a pair sends a message of this many packets, and when all of it has arrived
    /// the other one sends as much back, and so on. Of an odd number of hosts one is silent.
    PingPong {
        packets: u32,
    },
    /// Each host sends this many packets to each other host, by growing distance, in both directions by turns
    /// (dissertation 4.3.3.2). The pattern ends then.
    Shift {
        packets: u32,
        /// The number of shifts that are sampled, evenly over all distances; `None` for all of them.
        shifts: Option<u32>,
    },
    /// A pattern among some hosts, with other traffic beside it.
    Mixed(Box<MixedPattern>),
}

/// A pattern among some hosts, with flows and traffic of switches beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MixedPattern {
    /// The pattern, which is not mixed itself.
    pub pattern: TrafficPattern,
    /// The hosts of the pattern; none: all hosts.
    pub among: Vec<PortId>,
    /// Flows of other hosts and of switches.
    pub beside: Vec<Flow>,
    /// The share of its limit that each switch sends, each packet to a switch drawn from all others (switch-to-switch
    /// fat-tree paper, 7.2).
    pub switch_load: Share,
    /// The service level of the packets of switches; `None`: that of the path.
    pub switch_level: Option<ServiceLevel>,
}

impl TrafficPattern {
    /// The pattern without what is beside it.
    pub(crate) fn main(&self) -> &Self {
        match self {
            Self::Mixed(mixed) => &mixed.pattern,
            pattern => pattern,
        }
    }

    /// A single hot-spot receives a tenth of all packets (multiple LID paper, 5.2).
    pub fn centric() -> Self {
        Self::HotSpots { spots: 1, share: Share::percent(10), level: None }
    }
}

/// The hosts in a random order (Fisher-Yates).
fn shuffle_hosts(hosts: &[PortId], dice: &mut SimulatorRng) -> Vec<PortId> {
    let mut order = hosts.to_vec();
    for last in (1..order.len()).rev() {
        order.swap(last, dice.draw_below(last as u64 + 1) as usize);
    }
    order
}

/// Flows from each host to the next in a random ring, so that no host sends to itself.
pub(crate) fn ring_flows(hosts: &[PortId], dice: &mut SimulatorRng, both_ways: bool) -> Vec<Flow> {
    let order = shuffle_hosts(hosts, dice);
    let next = order.iter().cycle().skip(1);
    let there = order.iter().zip(next).map(|(from, to)| Flow::new(*from, *to));
    match both_ways {
        false => there.collect(),
        true => there.flat_map(|flow| [flow, Flow::new(flow.to, flow.from)]).collect(),
    }
}

/// Pairs of hosts in a random order, as a flow there and its answer.
pub(crate) fn ping_pong_flows(hosts: &[PortId], dice: &mut SimulatorRng) -> Vec<[Flow; 2]> {
    let order = shuffle_hosts(hosts, dice);
    let (pairs, _) = order.as_chunks::<2>();
    pairs.iter().map(|[one, other]| [Flow::new(*one, *other), Flow::new(*other, *one)]).collect()
}

/// A random permutation without fixed points: a fixed point trades places with the next host.
pub(crate) fn permutation_flows(hosts: &[PortId], dice: &mut SimulatorRng) -> Vec<Flow> {
    let mut to = shuffle_hosts(hosts, dice);
    for at in 0..to.len() {
        if to[at] == hosts[at] {
            let other = (at + 1) % to.len();
            to.swap(at, other);
        }
    }
    hosts.iter().zip(to).map(|(from, to)| Flow::new(*from, to)).collect()
}

/// The distance of a step in a shift exchange: 1, -1, 2, -2, and so on; half the ring only once.
pub(crate) fn shift_distance(step: u32, hosts: u32) -> u32 {
    let distance = step / 2 + 1;
    if step.is_multiple_of(2) { distance } else { hosts - distance }
}

/// The steps of an exchange between this number of hosts.
pub(crate) fn shift_steps(hosts: u32, sample: Option<u32>) -> u32 {
    let all = hosts.saturating_sub(1);
    sample.map_or(all, |sample| sample.clamp(1, all.max(1)).min(all))
}

/// The step of a whole exchange that a step of a sample is. Distances lie evenly, each with both of its directions.
pub(crate) fn sampled_step(step: u32, hosts: u32, sample: Option<u32>) -> u32 {
    let steps = shift_steps(hosts, sample);
    let all = hosts.saturating_sub(1);
    if steps >= all {
        return step;
    }
    let (pairs, of) = (u64::from(steps.div_ceil(2)), u64::from(all / 2));
    let pair = (2 * u64::from(step / 2) + 1) * of / (2 * pairs);
    2 * pair as u32 + step % 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_sends_to_one_other_and_receives_from_one() {
        let hosts: Vec<PortId> = (0..9).map(PortId).collect();
        for seed in 0..200 {
            for count in 2..=9 {
                let hosts = &hosts[..count];
                let both = [
                    permutation_flows(hosts, &mut SimulatorRng::new(seed)),
                    ring_flows(hosts, &mut SimulatorRng::new(seed), false),
                ];
                for flows in both {
                    let mut to: Vec<PortId> = flows.iter().map(|flow| flow.to).collect();
                    to.sort();
                    assert_eq!(to, hosts, "{seed} {count}");
                    assert!(flows.iter().all(|flow| flow.from != flow.to), "{seed} {count} {flows:?}");
                }
            }
        }
    }

    #[test]
    fn a_shift_exchange_reaches_every_other_once_the_nearest_first() {
        for hosts in 2..20 {
            let steps: Vec<u32> = (0..hosts - 1).map(|step| shift_distance(step, hosts)).collect();
            let mut sorted = steps.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..hosts).collect::<Vec<_>>(), "{hosts}");
            let distance = |shift: &u32| (*shift).min(hosts - shift);
            assert!(steps.is_sorted_by_key(distance), "{hosts} {steps:?}");
        }
    }

    #[test]
    fn a_sample_of_shifts_lies_evenly_over_all_distances() {
        for hosts in 2..40 {
            for sample in 1..=hosts + 2 {
                let steps: Vec<u32> = (0..shift_steps(hosts, Some(sample)))
                    .map(|step| sampled_step(step, hosts, Some(sample)))
                    .collect();
                assert_eq!(steps.len() as u32, sample.min(hosts - 1), "{hosts} {sample}");
                assert!(steps.is_sorted_by(|a, b| a < b), "{hosts} {sample} {steps:?}");
                assert!(steps.iter().all(|step| step + 1 < hosts), "{hosts} {sample} {steps:?}");
            }
        }
        let distances: Vec<u32> =
            (0..4).map(|step| shift_distance(sampled_step(step, 101, Some(4)), 101)).collect();
        assert_eq!(distances, [13, 88, 38, 63]);
    }
}
