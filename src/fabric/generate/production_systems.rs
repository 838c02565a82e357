//! The production systems of dissertation 3.2.6. Its text and tables give the counts; figure 3.6 gives no cables, so
//! the cabling is a reconstruction that meets every count.

use super::plan::{FabricPlan, split_evenly, split_within};
use super::systems::Director;
use crate::LinkSpeed;

/// Deimos: three 288-port directors (24-ary 2-trees of 24-port chips, 24 lines and 12 spines) in a row, 30 links each.
///
/// 864 links within, 60 between and 1,653 in all leave 729 for hosts; section 4.1 counts 728 nodes (726 of them
/// compute nodes). Both hold when one of the nodes has both ports of its adapter cabled, so the last one has.
pub fn deimos(plan: &mut FabricPlan) {
    const TRUNK: usize = 30;
    const EXTERNAL: usize = 12;
    let mut directors: Vec<Director> =
        (0..3).map(|number| Director::new(plan, &format!("d{number}-"), (24, 12, 1), 0)).collect();
    let leaves: Vec<u32> = directors.iter().flat_map(|director| director.lines.clone()).collect();
    let mut trunks = Vec::with_capacity(2 * TRUNK);
    for left in 0..2 {
        for _ in 0..TRUNK {
            trunks.push((directors[left].next_line(), directors[left + 1].next_line()));
        }
    }
    let ends = |leaf: &u32| trunks.iter().filter(|(a, b)| a == leaf || b == leaf).count();
    let rooms: Vec<usize> = leaves.iter().map(|leaf| EXTERNAL - ends(leaf)).collect();
    plan.add_hosts(&leaves, &split_within(plan.host_count(leaves.len()), &rooms));
    if plan.has_default_hosts() {
        // The neighbour of the last line chip, which has the last node: both have room.
        let second = leaves.iter().rev().nth(1).copied();
        if let Some(last) = plan.hosts.last_mut() {
            last.second = second;
        }
        plan.notes.push(
            "728 nodes and 1,653 links hold together when one node has both ports of its adapter cabled: the last one"
                .to_owned(),
        );
    }
    directors.iter().for_each(|director| director.link(plan));
    for (a, b) in trunks {
        plan.add_link(a, b);
    }
}

/// One rail of TSUBAME2: edge switches under six 324-port directors (18 lines and 9 spines of 36-port chips).
///
/// Both rails' counts are those of 162 director chips with 1,944 links, and of edges with their uplinks:
/// - second rail: 243 - 162 = 81 edges, 3,384 - 1,944 = 1,440 uplinks, for 1,408 hosts;
/// - first rail: 258 - 162 = 96 edges, 3,621 - 1,944 = 1,677 uplinks, for 1,555 hosts.
///
/// Uplinks are spread over the edges as hosts are, so every edge has as many uplinks as hosts: full bisection.
pub fn tsubame2(plan: &mut FabricPlan) {
    const SECOND_RAIL: usize = 1_408;
    let (edges, uplinks) = match plan.host_count(81) {
        0..=SECOND_RAIL => (81, 1_440),
        _ => (96, 1_677),
    };
    let edges = plan.add_row("edge", edges, 0);
    let mut directors: Vec<Director> =
        (0..6).map(|number| Director::new(plan, &format!("d{number}-"), (18, 9, 2), 1)).collect();
    let counts = split_evenly(plan.host_count(edges.len()), edges.len());
    plan.add_hosts(&edges, &counts);
    let mut turn = 0;
    for (edge, uplinks) in edges.iter().zip(split_evenly(uplinks, edges.len())) {
        for _ in 0..uplinks {
            let at = turn % directors.len();
            plan.add_link(*edge, directors[at].next_line());
            turn += 1;
        }
    }
    directors.iter().for_each(|director| director.link(plan));
    plan.notes.push(
        "the papers give the counts; which edge is cabled to which director is a reconstruction".into(),
    );
}

/// An island of Taurus: a two-level fat-tree, its leaves with 18 uplinks.
struct Island {
    leaves: u32,
    spines: u32,
    /// Cables to the director.
    uplinks: u32,
    hosts: usize,
    speed: LinkSpeed,
}

/// 117 leaves with 2,106 links up and 168 cables to the director are the 2,490 of table 6.1 less the director's 216.
/// Nodes: 612, 612, 270, 232 and 180, and 108 with two uplinks or supplementary: 184 adapters of the 2,090.
const ISLANDS: [Island; 6] = {
    const fn island(leaves: u32, spines: u32, uplinks: u32, hosts: usize, speed: LinkSpeed) -> Island {
        Island { leaves, spines, uplinks, hosts, speed }
    }
    [
        island(15, 10, 24, 270, LinkSpeed::Fdr),
        island(11, 10, 24, 184, LinkSpeed::Fdr),
        island(10, 10, 24, 180, LinkSpeed::Qdr),
        island(13, 10, 24, 232, LinkSpeed::Fdr),
        island(34, 18, 36, 612, LinkSpeed::Fdr),
        island(34, 18, 36, 612, LinkSpeed::Fdr),
    ]
};

/// Taurus: six islands under a 216-port director (12 lines and 6 spines of 36-port chips): 211 switches.
pub fn taurus(plan: &mut FabricPlan) {
    const LEAF_UPLINKS: usize = 18;
    let mut built = Vec::with_capacity(ISLANDS.len());
    for (number, island) in ISLANDS.iter().enumerate() {
        let leaves = plan.add_row(&format!("i{}-leaf", number + 1), island.leaves, 0);
        let spines = plan.add_row(&format!("i{}-spine", number + 1), island.spines, 1);
        if !plan.speed_asked {
            for switch in leaves.iter().chain(&spines) {
                plan.switches[*switch as usize].speed = island.speed;
            }
        }
        built.push((leaves, spines));
    }
    let mut director = Director::new(plan, "director-", (12, 6, 3), 2);
    if plan.has_default_hosts() {
        for ((leaves, _), island) in built.iter().zip(&ISLANDS) {
            plan.add_hosts(leaves, &split_evenly(island.hosts, leaves.len()));
        }
    } else {
        let leaves: Vec<u32> = built.iter().flat_map(|(leaves, _)| leaves.clone()).collect();
        plan.spread_hosts(&leaves);
    }
    for (leaves, spines) in &built {
        for (uplink, leaf) in leaves.iter().flat_map(|leaf| [leaf; LEAF_UPLINKS]).enumerate() {
            plan.add_link(*leaf, spines[uplink % spines.len()]);
        }
    }
    for ((_, spines), island) in built.iter().zip(&ISLANDS) {
        for uplink in 0..island.uplinks as usize {
            plan.add_link(spines[uplink % spines.len()], director.next_line());
        }
    }
    director.link(plan);
    plan.notes
        .push("the papers give the counts; the size and cabling of each island are a reconstruction".into());
}
