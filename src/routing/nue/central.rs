//! The root of a layer: the most central switch of the convex subgraph of its destinations (section 6.2.3).

use crate::line_trees::flat_graph::{FlatGraph, NONE};

/// More sources than this are sampled evenly: the root guides escape paths and decides nothing else.
const SOURCES: usize = 256;

/// The switch that most shortest paths between the destinations cross (`members` lie in one part, ascending). Among
/// equals the one nearest to all destinations: on figure 6.6 that makes the difference between the two roots shown.
pub fn most_central(net: &FlatGraph, members: &[u32]) -> Option<u32> {
    let mut away = vec![0u64; net.switch_count()];
    let inside = convex_subgraph(net, members, &mut away);
    let sources: Vec<u32> =
        (0..net.switch_count() as u32).filter(|switch| inside[*switch as usize]).collect();
    let score = betweenness(net, &sources, &inside);
    sources.iter().copied().max_by(|a, b| {
        let (left, right) = (*a as usize, *b as usize);
        score[left].total_cmp(&score[right]).then(away[right].cmp(&away[left])).then(b.cmp(a))
    })
}

fn sample(all: &[u32]) -> impl Iterator<Item = u32> + '_ {
    all.iter().copied().step_by(all.len().div_ceil(SOURCES).max(1))
}

/// Algorithm 6.1: the members and every switch on a shortest path between two of them. Adds up hops from members.
fn convex_subgraph(net: &FlatGraph, members: &[u32], away: &mut [u64]) -> Vec<bool> {
    let mut inside = vec![false; net.switch_count()];
    members.iter().for_each(|switch| inside[*switch as usize] = true);
    let (mut hops, mut queue) = (Vec::new(), Vec::new());
    let mut seen = vec![NONE; net.switch_count()];
    for source in sample(members) {
        net.hops(&[source], &mut hops, &mut queue);
        queue.iter().for_each(|switch| away[*switch as usize] += u64::from(hops[*switch as usize]));
        queue.clear();
        queue.extend_from_slice(members);
        members.iter().for_each(|switch| seen[*switch as usize] = source);
        while let Some(switch) = queue.pop() {
            inside[switch as usize] = true;
            for channel in net.leaving(switch) {
                let next = net.to[channel as usize] as usize;
                if hops[switch as usize] != NONE
                    && hops[next].wrapping_add(1) == hops[switch as usize]
                    && seen[next] != source
                {
                    seen[next] = source;
                    queue.push(next as u32);
                }
            }
        }
    }
    inside
}

/// Brandes' algorithm inside a subgraph.
fn betweenness(net: &FlatGraph, sources: &[u32], inside: &[bool]) -> Vec<f64> {
    let count = net.switch_count();
    let mut score = vec![0.0; count];
    let (mut hops, mut ways, mut flow) = (vec![NONE; count], vec![0.0f64; count], vec![0.0f64; count]);
    let mut queue: Vec<u32> = Vec::with_capacity(count);
    for source in sample(sources) {
        queue.iter().for_each(|switch| hops[*switch as usize] = NONE);
        queue.clear();
        queue.push(source);
        (hops[source as usize], ways[source as usize], flow[source as usize]) = (0, 1.0, 0.0);
        let mut head = 0;
        while let Some(switch) = queue.get(head).copied() {
            head += 1;
            for channel in net.leaving(switch) {
                let next = net.to[channel as usize];
                let at = next as usize;
                if !inside[at] {
                    continue;
                }
                if hops[at] == NONE {
                    (hops[at], ways[at], flow[at]) = (hops[switch as usize] + 1, 0.0, 0.0);
                    queue.push(next);
                }
                if hops[at] == hops[switch as usize] + 1 {
                    ways[at] += ways[switch as usize];
                }
            }
        }
        for switch in queue.iter().skip(1).rev() {
            let at = *switch as usize;
            score[at] += flow[at];
            for channel in net.leaving(*switch) {
                let back = net.to[channel as usize] as usize;
                if inside[back] && hops[back] != NONE && hops[back] + 1 == hops[at] {
                    flow[back] += ways[back] / ways[at] * (1.0 + flow[at]);
                }
            }
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{FabricBuilder, Faults, Guid, NodeFacts, NodeKind, PortNum, SwitchGraph};

    #[test]
    fn the_root_lies_among_the_destinations_as_in_figure_6_6() {
        let mut builder = FabricBuilder::new();
        let switch = |number| NodeFacts::new(NodeKind::Switch, Guid(number), 5, "");
        let keys: Vec<_> = (1..=5).map(|number| builder.add_node(switch(number)).unwrap()).collect();
        for (cable, (a, b)) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 4)].into_iter().enumerate() {
            // A cable takes the port of its own number at both ends.
            let port = PortNum(cable as u8 + 1);
            builder.connect((keys[a], port), (keys[b], port)).unwrap();
        }
        let net = FlatGraph::new(&SwitchGraph::new(&builder.finish(), &Faults::default()));
        // n1 and n3 are two hops apart, by n2 and by n5 alike.
        assert_eq!(convex_subgraph(&net, &[0, 1, 2], &mut [0; 5]), [true, true, true, false, true]);
        assert_eq!(most_central(&net, &[0, 1, 2]), Some(1));
        assert_eq!(most_central(&net, &[]), None);
    }
}
