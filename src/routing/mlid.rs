//! MLID (Lin, Chung, Huang): each LID of a port has its own path up, and a host always adds the same number to the base
//! LID of its destinations. It is source-mod-k routing in tables that know destinations only. `dmodk` is its
//! counterpart: the number of the destination selects the path, for all LIDs of a port alike.
//!
//! Paths go up, then down. A channel up waits for higher ones or for channels down, so no LID closes a cycle of
//! dependencies, whatever hosts pick. The paper has no argument for this.

use std::hash::{Hash, Hasher};

use rayon::prelude::*;
use rustc_hash::FxHasher;

use super::acyclic::is_large;
use super::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use super::problem::{Destination, Problem};
use super::trees::{Distances, PortMap, RouteTree, TreeReader, switch_batches};
use super::up_digits::{DigitTree, PathNumber, TreeLevels, lmc_advice, lmc_for};
use fabdeck_fabric::{Lmc, PathBits, PortNum, Routes};

pub const ID: &str = "mlid";
pub const DMODK: &str = "dmodk";

pub fn route(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let tree = DigitTree::new(ID, problem, request, TreeLevels::Left, pulse)?;
    let paths = tree.paths_up();
    let lids =
        problem.graph.terminals().iter().filter(|end| end.lid.is_some()).map(|end| end.lmc.lid_count());
    let lids = lids.max().unwrap_or(1);
    if lids == 1 {
        let (needed, most) = (lmc_for(paths), u32::from(Lmc::MAX));
        let uses = match needed > most {
            true => format!("k = {most}, the most there is, uses {} of {paths} paths here", 1u64 << most),
            false => format!("k = {needed} uses all paths here"),
        };
        let what = format!("every port has one LID: {}; {uses}", lmc_advice("k"));
        return Err(EngineRefusal::Request { engine: ID, what });
    }
    let mut routes = tree.route(PathNumber::Offset, pulse)?;
    // In the plan too, so that a host that disappears changes nothing for the others.
    routes.path_bits = Some(PathBits::by_place(problem.fabric));
    let mut remarks = vec![tree.remark.clone(), format!("LIDs a port {lids}, paths up {paths}")];
    if !is_large(problem) {
        let SharedLids { shared, of } = count_shared(problem, &tree, &routes);
        if shared > 0 {
            remarks.push(format!(
                "{shared} of {of} LIDs of hosts share a path with another LID of the same port"
            ));
        }
    }
    Ok(EngineAnswer { routes, remarks, degraded: false, fell_back: None })
}

/// Destination-mod-k (Nienaber et al., theorem 2): SLID on an m-port n-tree.
pub fn route_by_destination(
    problem: &Problem<'_>,
    request: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let tree = DigitTree::new(DMODK, problem, request, TreeLevels::Left, pulse)?;
    let routes = tree.route(PathNumber::Destination, pulse)?;
    Ok(EngineAnswer { routes, remarks: vec![tree.remark], degraded: false, fell_back: None })
}

/// LIDs of hosts that have the same path as another LID of their port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct SharedLids {
    shared: u64,
    of: u64,
}

/// The paths to one LID, as hashes, from the leaves that are farthest from it: nearer ones have fewer paths than LIDs on
/// a whole tree too.
struct LidPaths {
    port: PortNum,
    hashes: Vec<u64>,
}

fn count_shared(problem: &Problem<'_>, tree: &DigitTree<'_>, routes: &Routes) -> SharedLids {
    let table = PortMap::new(&problem.graph);
    let leaves: Vec<u32> = tree.places.leaves.iter().map(|leaf| leaf.switch).collect();
    let of_batch = |range: std::ops::Range<u32>| {
        let distances = Distances::measure(&problem.graph, range.clone());
        let mut reader = TreeReader::new(problem, &table, routes);
        let mut hash = vec![0u64; problem.graph.switch_count()];
        let mut counts = SharedLids::default();
        for root in range {
            let mut wanted: Vec<Destination> = problem.destinations_behind(root).to_vec();
            wanted.retain(|end| !end.is_switch());
            wanted.sort_by_key(|end| (end.port, end.lid));
            let near = distances.row(root);
            let steps =
                |leaf: &u32| Some(near[*leaf as usize]).filter(|steps| *steps != super::trees::UNREACHABLE);
            let farthest = leaves.iter().filter_map(steps).max().unwrap_or(0);
            let far: Vec<u32> = leaves.iter().copied().filter(|leaf| steps(leaf) == Some(farthest)).collect();
            let mut paths = Vec::new();
            reader.read((root, near), &wanted, &|_, _| false, &mut |ends, tree| {
                hash_paths(tree, &mut hash);
                let hashes = || far.iter().map(|leaf| hash[*leaf as usize]).collect();
                paths.extend(ends.iter().map(|end| LidPaths { port: end.port, hashes: hashes() }));
            });
            for port in paths.chunk_by(|a, b| a.port == b.port) {
                counts.of += port.len() as u64;
                counts.shared += count_equal(port, far.len());
            }
        }
        counts
    };
    let add = |a: SharedLids, b: SharedLids| SharedLids { shared: a.shared + b.shared, of: a.of + b.of };
    switch_batches(problem).into_par_iter().map(of_batch).reduce(SharedLids::default, add)
}

/// The path of each switch to the root, as a hash; 0 without one.
fn hash_paths(tree: &RouteTree<'_>, hash: &mut [u64]) {
    hash.fill(0);
    for switch in tree.order {
        let mut hasher = FxHasher::default();
        if *switch != tree.root {
            let way = tree.ways[*switch as usize];
            (hash[way.switch() as usize], way.place()).hash(&mut hasher);
        }
        (*switch, 1u8).hash(&mut hasher);
        hash[*switch as usize] = hasher.finish();
    }
}

/// How many LIDs of a port have the path of another one from some leaf.
fn count_equal(lids: &[LidPaths], leaves: usize) -> u64 {
    let mut is_shared = vec![false; lids.len()];
    for leaf in 0..leaves {
        let mut paths: Vec<(u64, usize)> = lids
            .iter()
            .enumerate()
            .map(|(at, lid)| (lid.hashes[leaf], at))
            .filter(|path| path.0 != 0)
            .collect();
        paths.sort_unstable();
        let several = paths.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1);
        several.flatten().for_each(|(_, at)| is_shared[*at] = true);
    }
    is_shared.iter().filter(|shared| **shared).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{FlowPaths, PermutationLoads};
    use crate::certificate::{Certificate, LaneKnowledge, RouteScope, certify};
    use crate::{NoProgress, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Fabric, Faults, Lid, Node, PathBits, Terminal, pick_lid};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn answer(fabric: &Fabric, by: &str) -> EngineAnswer {
        let faults = Faults::new();
        let problem = Problem::new(fabric, &faults);
        (find_engine(by).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap()
    }

    fn certificate(fabric: &Fabric, routes: &Routes) -> Certificate {
        let faults = Faults::new();
        let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
        certify(&Problem::new(fabric, &faults), routes, &scope, &NoProgress).unwrap()
    }

    /// The digits of the paper's switch <w, l> of an m-port n-tree: heights from the bottom, here by name.
    fn switch_by_label(fabric: &Fabric, name: &str) -> u32 {
        let is_named = |node: &Node| node.facts.description.trim() == name;
        fabric.switches().find(|(_, node)| is_named(node)).unwrap().0.0
    }

    /// Ports of a switch for LIDs 49 to 52, as in the paper's section 4.3.
    fn ports_to_p300(routes: &Routes, switch: u32) -> Vec<u8> {
        (49..53).map(|lid| routes.get(switch, Lid::new(lid).unwrap()).unwrap().value()).collect()
    }

    #[test]
    fn tables_of_ft_4_3_are_those_of_the_paper() {
        let fabric = fabric("mport,m=4,n=3");
        let routes = answer(&fabric, "mlid").routes;
        // Labels <w0 w1, l>: the number of a switch within its level is w0 * 2 + w1.
        let at = |level: &str, w0: u32, w1: u32| {
            ports_to_p300(&routes, switch_by_label(&fabric, &format!("{level}{}", w0 * 2 + w1)))
        };
        for (w0, w1) in (0..4).flat_map(|w0| (0..2).map(move |w1| (w0, w1))) {
            if w0 < 2 {
                assert_eq!(at("spine", w0, w1), [4, 4, 4, 4], "<{w0}{w1},0>");
            }
            let below = if w0 == 3 { [1, 1, 1, 1] } else { [3, 3, 4, 4] };
            assert_eq!(at("mid", w0, w1), below, "<{w0}{w1},1>");
            let bottom = if (w0, w1) == (3, 0) { [1, 1, 1, 1] } else { [3, 4, 3, 4] };
            assert_eq!(at("leaf", w0, w1), bottom, "<{w0}{w1},2>");
        }
    }

    /// The path of a host to a LID, as names of switches and ports.
    fn path(fabric: &Fabric, routes: &Routes, from: &Terminal, lid: Lid) -> Vec<(String, u8)> {
        let faults = Faults::new();
        let (problem, mut at, mut path) = (Problem::new(fabric, &faults), from.switch, Vec::new());
        let table = PortMap::new(&problem.graph);
        loop {
            let name = fabric.node(fabdeck_fabric::NodeId(at)).facts.description.trim().to_owned();
            path.push((name, routes.get(at, lid).unwrap().value()));
            let Some((_, next)) = table.next(&problem.graph, routes, at, lid) else { return path };
            at = next;
        }
    }

    #[test]
    fn paths_of_figure_11_are_those_of_the_paper() {
        let fabric = fabric("mport,m=4,n=3");
        let routes = answer(&fabric, "mlid").routes;
        let graph = fabdeck_fabric::SwitchGraph::new(&fabric, &Faults::new());
        // P(000), P(001), P(010), P(011) are the first four hosts; <w0 w1, l> is number 2 w0 + w1 of its level.
        let figure: [[(&str, u8); 5]; 4] = [
            [("leaf0", 3), ("mid0", 3), ("spine0", 4), ("mid6", 1), ("leaf6", 1)],
            [("leaf0", 4), ("mid1", 3), ("spine2", 4), ("mid7", 1), ("leaf6", 1)],
            [("leaf1", 3), ("mid0", 4), ("spine1", 4), ("mid6", 1), ("leaf6", 1)],
            [("leaf1", 4), ("mid1", 4), ("spine3", 4), ("mid7", 1), ("leaf6", 1)],
        ];
        let bits = PathBits::by_place(&fabric);
        // PIDs 0 to 15, modulo the 4 LIDs of a port.
        let places: Vec<u8> = graph.terminals().iter().map(|end| bits.get(end.port)).collect();
        assert_eq!(places, (0..16).map(|pid| pid % 4).collect::<Vec<u8>>());
        for (from, wanted) in graph.terminals().iter().zip(figure) {
            let lid = pick_lid(bits.get(from.port), Lid::new(49).unwrap(), 4);
            let wanted: Vec<(String, u8)> = wanted.map(|(name, port)| (name.to_owned(), port)).into();
            assert_eq!(path(&fabric, &routes, from, lid), wanted, "LID {lid}");
        }
    }

    /// Hosts that share the first digits of their labels, `a` of them, reach each other over a switch of level a.
    fn common_digits(m: u32, n: u32, one: u32, other: u32) -> u32 {
        let half = m / 2;
        (0..n).find(|digit| one / half.pow(n - 1 - digit) != other / half.pow(n - 1 - digit)).unwrap_or(n)
    }

    #[test]
    fn every_lid_of_whole_trees_has_a_path_of_its_own_and_picked_paths_are_even() {
        // Paths over a channel by picked LIDs, least and most (section 5 of the notes on the paper's tables).
        let trees =
            [(4, 2, (6, 6)), (4, 3, (12, 14)), (4, 4, (24, 30)), (8, 2, (28, 28)), (8, 3, (112, 124))];
        for (m, n, picked) in trees {
            let fabric = fabric(&format!("mport,m={m},n={n}"));
            let (faults, EngineAnswer { routes, remarks, .. }) = (Faults::new(), answer(&fabric, "mlid"));
            assert!(remarks.iter().all(|remark| !remark.contains("share a path")), "{remarks:?}");
            let problem = Problem::new(&fabric, &faults);
            let (graph, table) = (&problem.graph, PortMap::new(&problem.graph));
            let hosts = graph.terminals();
            let half: u32 = m / 2;
            for (d, to) in (0u32..).zip(hosts) {
                let mut uplinks: std::collections::BTreeSet<(u32, u8, u32)> = Default::default();
                for (s, from) in (0u32..).zip(hosts).filter(|(s, _)| *s != d) {
                    let common = common_digits(m, n, s, d);
                    let mut tops = std::collections::BTreeSet::new();
                    for offset in 0..to.lmc.lid_count() {
                        let lid = Lid::new(u32::from(to.lid.unwrap().value() + offset)).unwrap();
                        let (mut at, mut path) = (from.switch, vec![from.switch]);
                        while let Some((_, next)) = table.next(graph, &routes, at, lid) {
                            at = next;
                            path.push(at);
                        }
                        assert_eq!(at, to.switch, "FT({m},{n}): {s} to {d}");
                        assert_eq!(path.len() as u32, 2 * (n - 1).saturating_sub(common) + 1);
                        tops.insert(path[path.len() / 2]);
                    }
                    let above = half.pow((n - 1).saturating_sub(common));
                    assert_eq!(tops.len() as u32, above, "FT({m},{n}): {s} to {d}");
                    let own = pick_lid(
                        PathBits::by_place(&fabric).get(from.port),
                        to.lid.unwrap(),
                        to.lmc.lid_count(),
                    );
                    if from.switch != to.switch {
                        let port = routes.get(from.switch, own).unwrap().value();
                        assert!(
                            uplinks.insert((from.switch, port, d)),
                            "two sources of a leaf share an uplink"
                        );
                    }
                }
            }
            let seen = certificate(&fabric, &routes);
            assert!(seen.is_clean() && seen.deadlock_free == Some(true), "FT({m},{n})");
            let index = seen.picked_forwarding_index.unwrap();
            assert_eq!((index.min, index.max, index.unused), (picked.0, picked.1, 0), "FT({m},{n})");
        }
    }

    #[test]
    fn with_one_lid_a_port_mlid_is_refused_with_the_lmc_that_it_takes() {
        let fabric = fabric("kary,k=4,n=3");
        let faults = Faults::new();
        let problem = Problem::new(&fabric, &faults);
        let refused = route(&problem, &Request::default(), &NoProgress).unwrap_err().to_string();
        assert!(refused.contains("lmc k") && refused.contains("k = 4 uses all paths here"), "{refused}");
    }

    #[test]
    fn with_fewer_lids_than_paths_destinations_share_what_sources_cannot() {
        // 16 paths up, and 2 LIDs a port.
        let fabric = fabric("kary,k=4,n=3,lmc=1");
        let [few, by_destination] = ["mlid", "dmodk"].map(|id| answer(&fabric, id).routes);
        let seen = [&few, &by_destination].map(|routes| certificate(&fabric, routes));
        assert!(seen.iter().all(|seen| seen.is_clean() && seen.deadlock_free == Some(true)));
        assert_ne!(few, by_destination);
        // As on whole trees, channels differ by the hosts of one switch at most.
        for index in seen.map(|seen| seen.picked_forwarding_index.unwrap()) {
            assert_eq!((index.unused, index.min, index.max), (0, 48, 60));
        }
    }

    /// Marks some links of a fabric by a seed.
    fn marked(fabric: &Fabric, seed: usize) -> Faults {
        let mut faults = Faults::new();
        let links: Vec<_> = fabric.links().map(|(id, _)| id).collect();
        for at in 0..3 + seed % 4 {
            faults.mark(fabdeck_fabric::ElementId::Link(links[(seed * 131 + at * 977) % links.len()]));
        }
        faults
    }

    #[test]
    fn every_pair_is_reached_without_credit_loops_on_hundreds_of_faulty_trees() {
        let names = |seed: usize| match seed % 4 {
            0 => format!("irregular,seed={seed},lmc=1"),
            1 => format!("kary,k=3,n=3,lmc=3,faults=8%,seed={seed}"),
            2 => "mport,m=4,n=3,aggregation=yes".to_owned(),
            _ => format!("gft2,n=4,m=5,r=6,redundancy=2,lmc=2,faults=5%,seed={seed}"),
        };
        let routed: usize = (0..240usize)
            .into_par_iter()
            .map(|seed| {
                let fabric = fabric(&names(seed));
                let faults = marked(&fabric, seed);
                let problem = Problem::new(&fabric, &faults);
                let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
                let mut routed = 0;
                for engine in [ID, DMODK, "opt"].map(|id| find_engine(id).unwrap()) {
                    let Ok(found) = (engine.route)(&problem, &Request::default(), &NoProgress) else {
                        continue;
                    };
                    let seen = certify(&problem, &found.routes, &scope, &NoProgress).unwrap();
                    let cut = seen.lost.by_cause(crate::Cause::CutOff);
                    assert_eq!(seen.lost.total(), cut, "{}, {}", names(seed), engine.id);
                    assert_eq!(
                        (seen.loops.count, seen.deadlock_free),
                        (0, Some(true)),
                        "{}, {}",
                        names(seed),
                        engine.id
                    );
                    routed += 1;
                }
                routed
            })
            .sum();
        assert!(routed > 400, "{routed}");
    }

    #[test]
    fn with_more_lids_than_paths_lids_share_them() {
        let found = answer(&fabric("kary,k=2,n=2,lmc=3"), "mlid");
        assert!(
            found.remarks.iter().any(|remark| remark.starts_with("32 of 32 LIDs of hosts share")),
            "{:?}",
            found.remarks
        );
    }

    /// The fifteen trees of table I (Nienaber et al.).
    const TREES: [(usize, usize, usize); 15] = [
        (9, 9, 18),
        (16, 16, 32),
        (25, 25, 50),
        (12, 12, 24),
        (24, 24, 48),
        (12, 4, 16),
        (24, 9, 33),
        (24, 16, 40),
        (16, 8, 24),
        (24, 8, 32),
        (8, 16, 24),
        (12, 16, 28),
        (10, 25, 35),
        (8, 24, 32),
        (16, 32, 48),
    ];

    #[test]
    fn under_dmodk_all_hosts_of_a_leaf_meet_in_the_worst_permutation_of_table_1() {
        TREES.into_par_iter().for_each(|(n, m, r)| {
            let fabric = fabric(&format!("gft2,n={n},m={m},r={r}"));
            let faults = Faults::new();
            let problem = Problem::new(&fabric, &faults);
            let routes = route_by_destination(&problem, &Request::default(), &NoProgress).unwrap().routes;
            let worst = PermutationLoads::worst_permutation(&FlowPaths::new(&problem, &routes));
            assert_eq!((worst.flows, worst.exact), (n as u64, true), "T({n}+{m},{r})");
        });
    }

    #[test]
    fn a_missing_host_moves_no_path_of_dmodk() {
        let fabric = fabric("gft2,n=4,m=4,r=6");
        let host = fabdeck_fabric::SwitchGraph::new(&fabric, &Faults::new()).terminals()[5];
        let whole = answer(&fabric, DMODK).routes;
        let mut faults = Faults::new();
        faults.mark(fabdeck_fabric::ElementId::Node(fabric.port(host.port).node));
        let problem = Problem::new(&fabric, &faults);
        let without = route_by_destination(&problem, &Request::default(), &NoProgress).unwrap().routes;
        let lids = (1..whole.stride() as u32).filter_map(Lid::new).filter(|lid| Some(*lid) != host.lid);
        for lid in lids {
            assert!(problem.switches().all(|at| whole.get(at, lid) == without.get(at, lid)), "LID {lid}");
        }
    }

    #[test]
    fn parallel_cables_are_ways_up_and_down() {
        let fabric = fabric("gft2,n=4,m=2,r=4,redundancy=2");
        let seen = certificate(&fabric, &answer(&fabric, DMODK).routes);
        let index = seen.edge_forwarding_index;
        assert_eq!(
            (index.unused, index.min, index.max),
            (0, index.min, index.min),
            "all cables carry as much"
        );
    }

    #[test]
    fn tables_are_the_same_with_any_number_of_threads() {
        let fabric = fabric("mport,m=8,n=3");
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| answer(&fabric, "mlid"))
        };
        assert_eq!(with(1), with(4));
    }
}
