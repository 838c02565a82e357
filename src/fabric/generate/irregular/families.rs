//! The families: what makes each irregular before anything happens to it.
//!
//! Ranges are drawn per tree, per pod or per switch. Level 0 is the bottom; roots have the highest level.

use super::parameters::Family;
use super::tree_draft::TreeDraft;

pub fn build(site: &mut TreeDraft, family: Family) {
    match family {
        Family::Pods => pods(site),
        Family::Half => half(site),
        Family::Director => director(site),
        Family::Racks => racks(site),
        Family::Merged => merged(site),
        Family::Spines => spines(site),
        Family::Tier => tier(site),
        Family::Rails => rails(site),
        Family::Mixed => mixed(site),
    }
}

/// Pods of several sizes below cores: some without spines of their own, some on half of the cores.
fn pods(site: &mut TreeDraft) {
    let pods = site.draw_scaled((3, 5), (9, 12));
    let cores = site.draw_scaled((2, 5), (8, 16));
    let cores = site.add_row("core", cores, 2);
    for pod in 0..pods {
        let count = site.draw_scaled((2, 7), (14, 20));
        let leaves = site.add_row(&format!("pod{pod}-leaf"), count, 0);
        site.add_hosts(&leaves, (2, 12));
        let half = site.draw_chance(40) && cores.len() > 1;
        let above = if half { &cores[..cores.len() / 2] } else { &cores[..] };
        let links = site.draw_between((1, 2));
        if site.draw_chance(20) {
            site.link_all(&leaves, above, links);
            continue;
        }
        let count = site.draw_scaled((1, 4), (7, 10));
        let spines = site.add_row(&format!("pod{pod}-spine"), count, 1);
        site.link_all(&spines, above, links);
        let links = site.draw_between((1, 3));
        site.link_all(&leaves, &spines, links);
    }
}

/// A level that only half of the leaves use: the others are cabled to the roots.
fn half(site: &mut TreeDraft) {
    let (leaves, mids, roots) = (
        site.draw_scaled((6, 30), (130, 220)),
        site.draw_scaled((4, 12), (50, 80)),
        site.draw_scaled((2, 8), (20, 40)),
    );
    let leaves = site.add_row("leaf", leaves, 0);
    let mids = site.add_row("mid", mids, 1);
    let roots = site.add_row("root", roots, 2);
    site.add_hosts(&leaves, (3, 14));
    let below = leaves.len() * site.draw_between((35, 75)) as usize / 100;
    site.deal_uplinks(&leaves[..below], &mids, (2, 6));
    site.deal_uplinks(&leaves[below..], &roots, (2, 6));
    site.deal_uplinks(&mids, &roots, (3, 7));
}

/// Directors made of chips, with rack switches on their line chips, and hosts there as well.
fn director(site: &mut TreeDraft) {
    let boxes = site.draw_scaled((1, 2), (3, 4));
    let (lines, spines) = (site.draw_scaled((6, 12), (24, 36)), site.draw_scaled((3, 6), (12, 18)));
    let within = site.draw_between((1, 2));
    let racks = site.draw_scaled((4, 16), (92, 160));
    let racks = site.add_row("rack", racks, 0);
    site.add_hosts(&racks, (4, 12));
    let (mut all_lines, mut before) = (Vec::new(), Vec::new());
    let shared = site.draw_chance(60);
    for number in 0..boxes {
        let lines = site.add_row(&format!("d{number}-line"), lines, 1);
        let spines = site.add_row(&format!("d{number}-spine"), spines, 2);
        site.link_all(&lines, &spines, within);
        let direct = lines.len() * site.draw_between((0, 60)) as usize / 100;
        site.add_hosts(&lines[..direct], (1, 8));
        if !before.is_empty() && (!shared || site.draw_chance(40)) {
            // Directors bought one after the other are joined by cables between their line or spine chips.
            let (ours, theirs) = if site.draw_chance(50) { (&lines, &all_lines) } else { (&spines, &before) };
            for _ in 0..site.draw_between((1, 4)) {
                let (a, b, links) =
                    (site.draw_one_of(ours), site.draw_one_of(theirs), site.draw_between((1, 4)));
                site.add_trunk(a, b, links);
            }
        }
        if !shared {
            let (share, at) = (racks.len() / boxes as usize, number as usize);
            let end = if number + 1 == boxes { racks.len() } else { (at + 1) * share };
            site.deal_uplinks(&racks[at * share..end], &lines, (2, 8));
        }
        before = spines;
        all_lines.extend(lines);
    }
    if shared {
        site.deal_uplinks(&racks, &all_lines, (2, 8));
    }
}

/// Rack switches two by two, joined by horizontal links, below one level or two.
fn racks(site: &mut TreeDraft) {
    let pairs = site.draw_scaled((3, 14), (70, 120));
    let racks = site.add_row("rack", 2 * pairs, 0);
    site.add_hosts(&racks, (4, 12));
    let count = site.draw_scaled((4, 12), (40, 60));
    let lines = site.add_row("line", count, 1);
    site.deal_uplinks(&racks, &lines, (2, 6));
    for pair in racks.chunks_exact(2) {
        if site.draw_chance(85) {
            let links = site.draw_between((1, 9));
            site.add_trunk(pair[0], pair[1], links);
        }
    }
    let count = site.draw_scaled((2, 6), (20, 30));
    let roots = site.add_row("root", count, 2);
    match site.draw_chance(60) {
        true => site.link_all(&lines, &roots, 1),
        false => site.deal_uplinks(&lines, &roots, (2, 6)),
    }
}

/// Fabrics that grew up apart and were joined: at their roots, above them, below them, or by a few leaves.
fn merged(site: &mut TreeDraft) {
    let trees = site.draw_scaled((2, 3), (2, 3)).max(2);
    let how = site.draw_between((0, 3));
    let mut before: Option<(Vec<u32>, Vec<u32>)> = None;
    let above = if how == 1 { site.draw_scaled((2, 4), (6, 12)) } else { 0 };
    let above = site.add_row("top", above, 2);
    for tree in 0..trees {
        let (leaves, spines) = (site.draw_scaled((4, 12), (80, 100)), site.draw_scaled((2, 5), (22, 30)));
        let leaves = site.add_row(&format!("t{tree}-leaf"), leaves, 0);
        let spines = site.add_row(&format!("t{tree}-spine"), spines, 1);
        site.add_hosts(&leaves, (3, 14));
        let links = site.draw_between((1, 3));
        match spines.len() > 12 {
            true => site.deal_uplinks(&leaves, &spines, (6, 16)),
            false => site.link_all(&leaves, &spines, links),
        }
        let links = site.draw_between((1, 2));
        site.link_all(&spines, &above, links);
        if let Some((their_leaves, their_spines)) = &before {
            for _ in 0..site.draw_scaled((2, 4), (8, 16)) {
                let (a, b, links) = match how {
                    0 => (
                        site.draw_one_of(&spines),
                        site.draw_one_of(their_spines),
                        site.draw_between((2, 14)),
                    ),
                    2 => {
                        (site.draw_one_of(&leaves), site.draw_one_of(their_spines), site.draw_between((1, 4)))
                    }
                    _ => {
                        (site.draw_one_of(&leaves), site.draw_one_of(their_leaves), site.draw_between((2, 8)))
                    }
                };
                site.add_trunk(a, b, if how == 1 { 0 } else { links });
            }
        }
        before = Some((leaves, spines));
    }
}

/// Two levels with hosts on the spines (storage, managers, aggregation nodes) and trunks of 1 to 14 links.
fn spines(site: &mut TreeDraft) {
    let (leaves, spines) = (site.draw_scaled((8, 30), (170, 300)), site.draw_scaled((3, 12), (40, 60)));
    let leaves = site.add_row("leaf", leaves, 0);
    let spines = site.add_row("spine", spines, 1);
    site.add_hosts(&leaves, (2, 14));
    let with_hosts = spines.len() * site.draw_between((20, 100)) as usize / 100;
    site.add_hosts(&spines[..with_hosts], (1, 3));
    if spines.len() > 12 {
        return site.deal_uplinks(&leaves, &spines, (4, 16));
    }
    for leaf in leaves {
        let links = if site.draw_chance(10) { site.draw_between((6, 14)) } else { site.draw_between((1, 4)) };
        site.link_all(&[leaf], &spines, links);
    }
}

/// One tier more at one end: a group behind switches above the spines, edge switches below some leaves, and two small
/// management switches at the top.
fn tier(site: &mut TreeDraft) {
    let (leaves, spines) = (site.draw_scaled((6, 14), (110, 150)), site.draw_scaled((3, 6), (20, 30)));
    let leaves = site.add_row("leaf", leaves, 1);
    let spines = site.add_row("spine", spines, 2);
    site.add_hosts(&leaves, (3, 12));
    match spines.len() > 12 {
        true => site.deal_uplinks(&leaves, &spines, (6, 16)),
        false => {
            let links = site.draw_between((1, 4));
            site.link_all(&leaves, &spines, links);
        }
    }
    let end = site.draw_between((0, 2));
    if end != 0 {
        let (tops, mids, far) = (
            site.draw_scaled((1, 2), (6, 10)),
            site.draw_scaled((1, 3), (10, 20)),
            site.draw_scaled((2, 8), (40, 60)),
        );
        let tops = site.add_row("top", tops, 3);
        let mids = site.add_row("far-spine", mids, 2);
        let far = site.add_row("far-leaf", far, 1);
        site.add_hosts(&far, (3, 12));
        site.link_all(&spines[..spines.len().div_ceil(2)], &tops, 2);
        site.link_all(&mids, &tops, 2);
        site.deal_uplinks(&far, &mids, (2, 6));
    }
    if end != 1 {
        let count = site.draw_scaled((2, 5), (40, 60));
        let edges = site.add_row("edge", count, 0);
        site.add_hosts(&edges, (3, 12));
        let below = leaves.len().div_ceil(3);
        site.deal_uplinks(&edges, &leaves[..below], (2, 4));
    }
    if site.draw_chance(40) {
        let managers = site.add_row("mgmt", 2, 3);
        site.add_hosts(&managers, (1, 3));
        for manager in managers {
            leaves.iter().step_by(3).for_each(|leaf| site.add_trunk(*leaf, manager, 1));
        }
    }
}

/// Rails: the ports of a host end on two leaves, leaves have few uplinks, and two small switches mix the rails.
fn rails(site: &mut TreeDraft) {
    let rails = if site.draw_chance(50) { 4 } else { 8 };
    let groups = site.draw_scaled((1, 3), (21, 30)) * 8 / rails;
    let spines = site.draw_scaled((2, 6), (34, 50));
    let spines = site.add_row("spine", spines, 1);
    for group in 0..groups {
        let leaves = site.add_row(&format!("g{group}-rail"), rails, 0);
        for pair in leaves.chunks_exact(2) {
            for _ in 0..site.draw_between((3, 10)) {
                site.add_dual_host(pair[0], pair[1]);
            }
        }
        let most = site.draw_between((1, 5));
        site.deal_uplinks(&leaves, &spines, (most.min(2), most));
    }
    let managers = site.add_row("mgmt", 2, 1);
    site.add_hosts(&managers, (1, 2));
    for manager in managers {
        spines.iter().for_each(|spine| site.add_trunk(*spine, manager, 1));
    }
}

/// Two trees of other families, each half as large, joined by trunks between their roots or their leaves.
fn mixed(site: &mut TreeDraft) {
    const PARTS: [Family; 7] = [
        Family::Pods,
        Family::Half,
        Family::Director,
        Family::Racks,
        Family::Merged,
        Family::Spines,
        Family::Tier,
    ];
    site.halved = true;
    let first = site.draw_between((0, 6)) as usize;
    let second = (first + site.draw_between((1, 6)) as usize) % PARTS.len();
    build(site, PARTS[first]);
    let joint = site.switch_count();
    site.prefix = "b-";
    build(site, PARTS[second]);
    let at_roots = site.draw_chance(70);
    let ends = |site: &TreeDraft, first: usize| if at_roots { site.tops(first) } else { site.bottom(first) };
    let theirs: Vec<u32> = ends(site, 0).into_iter().filter(|switch| (*switch as usize) < joint).collect();
    let ours = ends(site, joint);
    if theirs.is_empty() || ours.is_empty() {
        return;
    }
    for _ in 0..site.draw_between((2, 5)) {
        let (a, b, links) = (site.draw_one_of(&theirs), site.draw_one_of(&ours), site.draw_between((2, 14)));
        site.add_trunk(a, b, links);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::parameters::Scale;
    use super::*;
    use crate::generate::plan::FabricPlan;
    use crate::generate::rng::{Rng, RngStream};

    fn plan(seed: u64, halved: bool, family: fn(&mut TreeDraft)) -> FabricPlan {
        let mut site = TreeDraft::new(Rng::new(seed, RngStream::Topology), Scale::Large);
        site.halved = halved;
        family(&mut site);
        let mut plan = FabricPlan::new(&"irregular".parse().unwrap());
        site.write_plan(&mut plan);
        plan
    }

    /// For each switch with a name that begins with `lower`, the names of its neighbours that begin with `upper`.
    fn neighbours<'p>(
        plan: &'p FabricPlan,
        lower: &str,
        upper: &str,
    ) -> BTreeMap<&'p str, BTreeSet<&'p str>> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for cable in &plan.cables {
            let [a, b] = [cable.a, cable.b].map(|end| plan.switches[end as usize].name.as_str());
            for (low, high) in [(a, b), (b, a)] {
                if low.starts_with(lower) && high.starts_with(upper) {
                    found.entry(low).or_default().insert(high);
                }
            }
        }
        found
    }

    #[test]
    fn half_of_the_cores_is_at_least_one_core() {
        for seed in 0..64 {
            // A pod of half the small size may have one core.
            let mut site = TreeDraft::new(Rng::new(seed, RngStream::Topology), Scale::Small);
            site.halved = true;
            pods(&mut site);
            let mut plan = FabricPlan::new(&"irregular".parse().unwrap());
            site.write_plan(&mut plan);
            let below_cores: BTreeSet<&str> =
                neighbours(&plan, "pod", "core").keys().filter_map(|name| name.split('-').next()).collect();
            let pods: BTreeSet<&str> = plan
                .switches
                .iter()
                .filter_map(|switch| switch.name.split_once("-leaf"))
                .map(|(pod, _)| pod)
                .collect();
            assert_eq!(below_cores, pods, "seed {seed}");
        }
    }

    #[test]
    fn racks_are_cabled_to_one_director_or_all_directors_share_them() {
        let several = |seed: u64| {
            let plan = plan(seed, false, director);
            let directors = |lines: &BTreeSet<&str>| {
                lines.iter().filter_map(|line| line.split('-').next()).collect::<BTreeSet<_>>().len()
            };
            let racks = neighbours(&plan, "rack", "d");
            let all = plan.switches.iter().filter(|switch| switch.name.starts_with("rack")).count();
            assert_eq!(racks.len(), all, "every rack is cabled");
            racks.values().filter(|lines| directors(lines) > 1).count()
        };
        let apart = (0..12).filter(|seed| several(*seed) == 0).count();
        assert!((1..12).contains(&apart), "{apart} of 12");
    }

    #[test]
    fn hosts_are_on_a_fifth_of_the_spines_or_more() {
        for seed in 0..8 {
            let plan = plan(seed, false, spines);
            let is_spine = |at: u32| plan.switches[at as usize].name.starts_with("spine");
            let all = (0..plan.switches.len() as u32).filter(|at| is_spine(*at)).count();
            let with_hosts: BTreeSet<u32> =
                plan.hosts.iter().map(|host| host.switch).filter(|at| is_spine(*at)).collect();
            assert!(with_hosts.len() >= all / 5, "{} of {all} spines", with_hosts.len());
        }
    }

    #[test]
    fn every_leaf_below_twelve_spines_is_cabled_to_all_and_below_more_to_some() {
        let mut seen = BTreeSet::new();
        for seed in 0..24 {
            let plan = plan(seed, true, tier);
            let spines = plan.switches.iter().filter(|switch| switch.name.starts_with("spine")).count();
            let leaves = neighbours(&plan, "leaf", "spine");
            assert_eq!(leaves.values().all(|above| above.len() == spines), spines <= 12, "{spines} spines");
            seen.insert(spines);
        }
        assert!(seen.contains(&12) && seen.contains(&13), "{seen:?}");
    }
}
