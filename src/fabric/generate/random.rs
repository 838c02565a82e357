//! Random graphs (dissertation 3.2.5).

use super::error::GenerateError;
use super::limits::too_many_ports;
use super::plan::{FabricPlan, split_evenly};
use super::rng::{Rng, RngStream};
use super::shape::ring_links;
use crate::PortNum;

/// A ring through the switches in random order, so that all are connected; then random pairs up to `links`. A pair of
/// one switch with itself, and one without a free port, is dropped and drawn anew. Two switches may be drawn more
/// than once: the construction does not forbid parallel links. When no pair is left, switches get one more port.
pub fn random(plan: &mut FabricPlan, switches: u32, links: u32, seed: u64) -> Result<(), GenerateError> {
    let all = plan.add_row("sw", switches, 0);
    plan.spread_hosts(&all);
    let mut rng = Rng::new(seed, RngStream::Topology);
    let hosts = split_evenly(plan.hosts.len(), all.len());
    let mut used: Vec<u32> = hosts.iter().map(|hosts| *hosts as u32).collect();
    let order = rng.shuffled(all.len());
    let ring = ring_links(switches);
    for (place, a) in order.iter().enumerate().take(ring as usize) {
        let b = order[(place + 1) % order.len()];
        link_switches(plan, &mut used, *a, b);
    }
    let mut left = links - ring;
    while left > 0 {
        // Drawing among the switches with a free port is the paper's drawing without the drawn-and-dropped.
        let mut open: Vec<u32> =
            all.iter().copied().filter(|s| used[*s as usize] + plan.redundancy <= plan.radix).collect();
        while left > 0 && open.len() > 1 {
            let (i, j) = (rng.draw_below(open.len()), rng.draw_below(open.len()));
            if i == j {
                continue;
            }
            link_switches(plan, &mut used, open[i], open[j]);
            left -= 1;
            let full = |switch: &u32| used[*switch as usize] + plan.redundancy > plan.radix;
            for at in [i.max(j), i.min(j)] {
                if full(&open[at]) {
                    open.swap_remove(at);
                }
            }
        }
        if left > 0 {
            plan.radix += 1;
            if plan.radix > u32::from(PortNum::MAX) {
                return Err(too_many_ports(plan.fabric, u64::from(plan.radix)));
            }
        }
    }
    Ok(())
}

fn link_switches(plan: &mut FabricPlan, used: &mut [u32], a: u32, b: u32) {
    plan.add_link(a, b);
    used[a as usize] += plan.redundancy;
    used[b as usize] += plan.redundancy;
}
