//! The engine: the paper's groups in tables of destinations, by way of several LIDs a port. A host of source group a adds a
//! to the base LID of every destination, so an entry for a LID is one for a pair of group and destination.
//!
//! Paths go up to a top and down, so one lane has no cycle of dependencies.

use std::iter;

use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::host_places::HostPlaces;
use crate::problem::Problem;
use crate::up_digits::{DigitTree, PathNumber, TreeLevels, lmc_advice, lmc_for};
use fabdeck_fabric::{Lid, Lmc, PathBits, PortId, Routes};

use super::group_table::{GroupTable, group_count, group_roots};
pub use super::two_levels::ID;
use super::two_levels::TwoLevels;

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let tree = DigitTree::new(ID, problem, request, TreeLevels::Whole, pulse)?;
    let parts = TwoLevels::read(problem, &tree.places, &tree.intact_height)?;
    let parts: Vec<Vec<TwoLevels>> = parts
        .into_iter()
        .map(|part| {
            let reordered = part.with_dead_planes_last();
            iter::once(part).chain(reordered).collect()
        })
        .collect();
    let tables = parts.iter().map(|orders| best_groups(orders, pulse)).collect::<Result<Vec<_>, _>>()?;
    refuse_small_lmc(problem, &tables)?;
    // Switches, and pairs without a way up and down, are routed as `dmodk` does.
    let mut routes = tree.route(PathNumber::Destination, pulse)?;
    let mut path_bits = PathBits::default();
    let mut remarks = vec![tree.remark.clone()];
    for PartGroups { table, worst, bound } in &tables {
        write_part(problem, table, &mut routes, pulse)?;
        for (host, port) in ports(table).enumerate() {
            path_bits.set(port, table.source_group(host) as u8);
        }
        let planes = table.tree.planes.len();
        let is_worse = worst > bound && !problem.faults.is_empty();
        remarks.push(match is_worse {
            false => format!("{} groups of sources over {planes} ways up; worst permutation {worst}", table.groups),
            true => format!(
                "{} groups of sources over {planes} ways up; worst permutation {worst}, {bound} if no cable were missing",
                table.groups
            ),
        });
    }
    routes.path_bits = Some(path_bits);
    Ok(EngineAnswer { routes, remarks, degraded: false, fell_back: None })
}

/// The groups of a part.
struct PartGroups<'p> {
    table: GroupTable<'p>,
    worst: usize,
    /// The worst permutation if no cable were missing.
    bound: usize,
}

/// Of the orders of the planes, and the paper's k that leaves or failures allow, the first with the least worst
/// permutation.
fn best_groups<'p>(
    orders: &'p [TwoLevels],
    pulse: &dyn RouteProgress,
) -> Result<PartGroups<'p>, EngineRefusal> {
    let make = |order: &'p TwoLevels, k: usize| {
        let table = GroupTable::new(order, k, pulse)?;
        let (worst, bound) = (table.worst_permutation(pulse)?, table.bound());
        Ok::<_, EngineRefusal>(PartGroups { table, worst, bound })
    };
    let mut others = orders.iter().flat_map(|order| group_roots(order).into_iter().map(move |k| (order, k)));
    let (first, k) = others.next().unwrap_or((&orders[0], 1));
    let mut best = make(first, k)?;
    for (order, k) in others {
        let next = make(order, k)?;
        if next.worst < best.worst {
            best = PartGroups { bound: best.bound.min(next.bound), ..next };
        }
    }
    Ok(best)
}

/// Whether a fabric without failures, of these heights, has the levels and the LIDs that the engine takes.
pub fn suits(problem: &Problem<'_>, height: &[u32]) -> bool {
    let Ok(parts) = TwoLevels::read(problem, &HostPlaces::new(problem), height) else { return false };
    let lmc = |port: &PortId| u32::from(problem.fabric.port(*port).facts.lmc.value());
    parts.iter().all(|part| {
        let least = part.leaves.iter().flat_map(|leaf| &leaf.hosts).map(lmc).min().unwrap_or(0);
        group_roots(part).into_iter().any(|k| lmc_for(group_count(part, k) as u64) <= least)
    })
}

fn ports(table: &GroupTable<'_>) -> impl Iterator<Item = PortId> {
    table.tree.leaves.iter().flat_map(|leaf| leaf.hosts.iter().copied())
}

fn refuse_small_lmc(problem: &Problem<'_>, parts: &[PartGroups<'_>]) -> Result<(), EngineRefusal> {
    let needed = lmc_for(parts.iter().map(|part| part.table.groups).max().unwrap_or(1) as u64);
    let lmc = |port: PortId| problem.fabric.port(port).facts.lmc;
    let least = parts.iter().flat_map(|part| ports(&part.table)).map(lmc).min().unwrap_or_default();
    if u32::from(least.value()) >= needed {
        return Ok(());
    }
    let what = if needed > u32::from(Lmc::MAX) {
        format!("it needs LMC {needed} here, and ports have at most {}; dmodk takes any LMC", Lmc::MAX)
    } else {
        format!("it needs LMC {needed} here, and some host has LMC {least}: {}", lmc_advice(needed))
    };
    Err(EngineRefusal::Request { engine: ID, what })
}

/// Writes the entries of the hosts of a part, at its leaves and tops.
fn write_part(
    problem: &Problem<'_>,
    table: &GroupTable<'_>,
    routes: &mut Routes,
    pulse: &dyn RouteProgress,
) -> Result<(), EngineRefusal> {
    let mut tops: Vec<u32> = table.tree.planes.iter().map(|plane| plane.top).collect();
    tops.sort_unstable();
    tops.dedup();
    for (host, port) in ports(table).enumerate() {
        pulse.check_cancelled()?;
        let (Some(base), lids) =
            (problem.fabric.port(port).facts.lid, problem.fabric.port(port).facts.lmc.lid_count())
        else {
            continue;
        };
        for offset in 0..lids {
            let Some(lid) = Lid::new(u32::from(base.value()) + u32::from(offset)) else { continue };
            let group = usize::from(offset) % table.groups;
            for (at, leaf) in table.tree.leaves.iter().enumerate() {
                let plane = table.plane(at, group, host);
                if let Some((up, _)) = plane.and_then(|plane| table.tree.live_cable(at, plane)) {
                    routes.set(leaf.switch, lid, Some(up));
                }
            }
            for top in &tops {
                let leaf = table.hosts[host].leaf;
                let plane = table.plane_down(*top, group, host);
                if let Some((_, down)) = plane.and_then(|plane| table.tree.live_cable(leaf, plane)) {
                    routes.set(*top, lid, Some(down));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::analysis::{FlowPaths, PermutationLoads, WorstPermutation};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Fabric, Faults, SwitchGraph};
    use rayon::prelude::*;

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn routed(fabric: &Fabric, faults: &Faults) -> (EngineAnswer, WorstPermutation) {
        let problem = Problem::new(fabric, faults);
        let answer = route(&problem, &Request::default(), &NoProgress).unwrap();
        let worst = PermutationLoads::worst_permutation(&FlowPaths::new(&problem, &answer.routes));
        (answer, worst)
    }

    /// The trees of table I with the worst permutation of OPT.
    const TABLE_1: [(usize, usize, usize, u64); 15] = [
        (9, 9, 18, 3),
        (16, 16, 32, 4),
        (25, 25, 50, 5),
        (12, 12, 24, 4),
        (24, 24, 48, 6),
        (12, 4, 16, 6),
        (24, 9, 33, 8),
        (24, 16, 40, 6),
        (16, 8, 24, 8),
        (24, 8, 32, 12),
        (8, 16, 24, 2),
        (12, 16, 28, 3),
        (10, 25, 35, 2),
        (8, 24, 32, 2),
        (16, 32, 48, 4),
    ];

    #[test]
    fn worst_permutations_are_those_of_table_1() {
        TABLE_1.into_par_iter().for_each(|(n, m, r, paper)| {
            let fabric = fabric(&format!("gft2,n={n},m={m},r={r},lmc=3"));
            let (answer, worst) = routed(&fabric, &Faults::new());
            assert_eq!((worst.flows, worst.exact), (paper, true), "T({n}+{m},{r})");
            let ending = format!("worst permutation {paper}");
            assert!(answer.remarks.iter().any(|remark| remark.ends_with(&ending)), "{:?}", answer.remarks);
        });
    }

    /// Theorem 3: n / sqrt(m), where that is no whole number the hosts of the largest group.
    #[test]
    fn no_permutation_is_worse_than_the_hosts_of_a_group() {
        let trees: Vec<(usize, usize, usize, usize)> = (1usize..13)
            .flat_map(|n| (1usize..14).map(move |m| (n, m)))
            .flat_map(|(n, m)| [(n, m, 4 + (n + m) % 5, 1), (n, m.div_ceil(2), 4 + n % 3, 2)])
            .collect();
        trees.into_par_iter().for_each(|(n, m, r, copies)| {
            let name = format!("gft2,n={n},m={m},r={r},redundancy={copies},lmc=3");
            let (_, worst) = routed(&fabric(&name), &Faults::new());
            let bound = n.div_ceil((m * copies).isqrt());
            assert!(worst.flows <= bound as u64, "{name}: {worst:?} for {bound}");
        });
    }

    #[test]
    fn hosts_pick_by_their_group_and_a_plan_of_routes_says_so() {
        let fabric = fabric("gft2,n=9,m=9,r=18,lmc=2");
        let (answer, _) = routed(&fabric, &Faults::new());
        let graph = SwitchGraph::new(&fabric, &Faults::new());
        let bits = answer.routes.path_bits(&fabric).into_owned();
        let first: Vec<u8> = graph.terminals_of(0).iter().map(|end| bits.get(end.port)).collect();
        assert_eq!(first, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        let mut by_place = answer.routes.clone();
        by_place.path_bits = None;
        assert_ne!(by_place, answer.routes, "hosts that pick otherwise are other routes");
    }

    #[test]
    fn with_unequal_leaves_every_leaf_has_groups_of_its_own_size() {
        // 100 hosts over 18 leaves: leaves of 5 and of 6 hosts.
        let fabric = fabric("gft2,n=9,m=9,r=18,hosts=100,lmc=2");
        let (_, worst) = routed(&fabric, &Faults::new());
        assert!(worst.flows <= 2, "{worst:?}");
    }

    /// Nine planes have three groups a side, so one lost puts two groups on a cable (6 of 9 hosts) or leaves eight planes with
    /// groups of five; of ten, the spare one takes the place of the lost one.
    #[test]
    fn a_lost_top_switch_costs_a_group_only_where_no_plane_is_spare() {
        for (m, intact, most) in [(9, 3, 5), (10, 3, 3), (6, 5, 5), (4, 5, 9)] {
            let fabric = fabric(&format!("gft2,n=9,m={m},r=12,lmc=2"));
            let tops: Vec<_> =
                fabric.nodes().filter(|(_, node)| node.is_switch()).map(|(id, _)| id).collect();
            let (whole, worst) = routed(&fabric, &Faults::new());
            assert_eq!(worst.flows, intact, "{:?}", whole.remarks);
            for top in &tops[12..] {
                let mut faults = Faults::new();
                faults.mark(ElementId::Node(*top));
                let (answer, worst) = routed(&fabric, &faults);
                assert!(worst.flows <= most, "{m}: {worst:?} {:?}", answer.remarks);
            }
        }
    }

    #[test]
    fn a_missing_cable_costs_little_and_a_remark_says_how_much() {
        let fabric = fabric("gft2,n=9,m=9,r=18,lmc=2");
        let links: Vec<_> = fabric.links().map(|(id, _)| id).collect();
        let is_between = |id: &fabdeck_fabric::LinkId| {
            fabric.ends(*id).iter().all(|(node, _)| fabric.node(*node).is_switch())
        };
        let between: Vec<_> = links.into_iter().filter(is_between).collect();
        for count in [1, 3, 8] {
            let mut faults = Faults::new();
            for at in 0..count {
                faults.mark(ElementId::Link(between[at * 37 % between.len()]));
            }
            let (answer, worst) = routed(&fabric, &faults);
            let remark = answer.remarks.iter().find(|remark| remark.contains("worst permutation")).unwrap();
            assert!(remark.contains("3 if no cable were missing"), "{remark}");
            assert!(remark.contains(&format!("worst permutation {},", worst.flows)), "{remark}: {worst:?}");
            assert!((4..=9).contains(&worst.flows), "{worst:?}");
        }
    }

    /// At the top the cable down follows from group and host, whichever parallel cable carried the packet up; what is
    /// reported counts these cables.
    #[test]
    fn with_parallel_cables_the_reported_permutation_is_that_of_the_tables() {
        let cases: Vec<(usize, &str)> = (0..24)
            .flat_map(|seed| {
                ["gft2,n=6,m=2,r=5,redundancy=2,lmc=1", "gft2,n=9,m=3,r=6,redundancy=3,lmc=2"]
                    .map(|name| (seed, name))
            })
            .collect();
        let worse: usize = cases
            .into_par_iter()
            .map(|(seed, name)| {
                let fabric = fabric(name);
                let between: Vec<_> =
                    fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect();
                let mut faults = Faults::new();
                for at in 0..2 + seed % 4 {
                    faults.mark(ElementId::Link(between[(seed * 31 + at * 17) % between.len()]));
                }
                let (answer, worst) = routed(&fabric, &faults);
                let said = format!("worst permutation {}", worst.flows);
                let has = |remark: &String| remark.ends_with(&said) || remark.contains(&format!("{said},"));
                assert!(answer.remarks.iter().any(has), "{name} {seed}: {worst:?} {:?}", answer.remarks);
                usize::from(answer.remarks.iter().any(|remark| remark.contains("if no cable")))
            })
            .sum();
        assert!(worse > 10, "{worse}");
    }

    #[test]
    fn refusals_name_the_lmc_or_the_level() {
        let refusal = |name: &str| {
            let (fabric, faults) = (fabric(name), Faults::new());
            route(&Problem::new(&fabric, &faults), &Request::default(), &NoProgress).unwrap_err().to_string()
        };
        for (name, wanted) in [
            ("gft2,n=9,m=9,r=18", "it needs LMC 2 here"),
            ("gft2,n=25,m=25,r=50,lmc=2", "it needs LMC 3 here, and some host has LMC 2"),
            ("kary,k=3,n=3,lmc=2", "is on a third level; mlid takes trees of any height"),
            ("gft2,n=2,m=2,r=4,hosts=0", "no host"),
        ] {
            let refused = refusal(name);
            assert!(refused.contains(wanted), "{name}: {refused}");
        }
    }
}
