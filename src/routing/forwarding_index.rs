//! What routes put on the busiest channel, without the rest of a certificate.

use rayon::prelude::*;

use super::problem::Problem;
use super::trees::{Distances, PortMap, TreeReader, switch_batches};
use fabdeck_fabric::Routes;

/// The maximum edge forwarding index: paths from adapters to LIDs of adapters over the busiest channel between switches.
pub(super) fn max_forwarding_index(problem: &Problem<'_>, routes: &Routes) -> u64 {
    let (graph, table) = (&problem.graph, PortMap::new(&problem.graph));
    let own: Vec<u64> = problem.switches().map(|switch| graph.terminals_of(switch).len() as u64).collect();
    let of_batch = |range: std::ops::Range<u32>| {
        let distances = Distances::measure(graph, range.clone());
        let mut reader = TreeReader::new(problem, &table, routes);
        let mut load = vec![0u64; graph.channels().len()];
        let mut passing = own.clone();
        for root in range.clone() {
            let wanted: Vec<_> =
                problem.destinations_behind(root).iter().copied().filter(|end| !end.is_switch()).collect();
            let near = distances.row(root);
            reader.read((root, near), &wanted, &|_, _| true, &mut |ends, tree| {
                passing.copy_from_slice(&own);
                for switch in tree.order.iter().rev().filter(|switch| **switch != tree.root) {
                    let paths = passing[*switch as usize];
                    load[tree.channel(graph, *switch)] += paths * ends.len() as u64;
                    passing[tree.ways[*switch as usize].switch() as usize] += paths;
                }
            });
        }
        load
    };
    let add = |mut one: Vec<u64>, other: Vec<u64>| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    let load = switch_batches(problem)
        .into_par_iter()
        .map(of_batch)
        .reduce(Vec::new, |one, other| if one.is_empty() { other } else { add(one, other) });
    load.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{LaneKnowledge, RouteScope, certify};
    use crate::{ENGINES, NoProgress, Request};
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn it_is_what_the_certificate_counts() {
        for name in ["kary,k=4,n=2", "torus,dims=4x3,terminals=5", "random,switches=70,links=110,seed=2"] {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            let faults = Faults::default();
            let problem = Problem::new(&fabric, &faults);
            for engine in ENGINES {
                let Ok(answer) = (engine.route)(&problem, &Request::default(), &NoProgress) else { continue };
                let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
                let seen = certify(&problem, &answer.routes, &scope, &NoProgress).unwrap();
                let most = seen.edge_forwarding_index.max;
                assert_eq!(max_forwarding_index(&problem, &answer.routes), most, "{name}, {}", engine.id);
            }
        }
    }
}
