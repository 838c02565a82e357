//! The engines, one line each.

use super::engine::{Engine, Request, RequestUse, RouteGuarantees};
use super::torus2qos::TorusCoordinates;
use super::{
    dfsssp, dor, ftree, lash, minhop, mlid, nue, opt, sar, sftree, sssp, stored_tables, torus2qos, updn,
};
use fabdeck_fabric::Fabric;

const SHORTEST: RouteGuarantees = RouteGuarantees {
    terminals: true,
    switches: true,
    shortest: true,
    deadlock_free: false,
    deadlock_free_switches: false,
};

const ACYCLIC: RouteGuarantees = RouteGuarantees {
    terminals: true,
    switches: true,
    shortest: false,
    deadlock_free: true,
    deadlock_free_switches: true,
};

const NO_OPTIONS: RequestUse = RequestUse {
    roots: false,
    compute_nodes: false,
    io_nodes: false,
    jobs: false,
    lanes_by: false,
    torus: false,
    lanes: false,
    dimension_ports: false,
    tables: false,
    plain_search: false,
    spread_lanes: false,
};
const TREE_OPTIONS: RequestUse =
    RequestUse { roots: true, compute_nodes: true, io_nodes: true, ..NO_OPTIONS };

/// The revision of the engines. It rises with every change after which an engine makes other routes for some fabric, so that
/// stored results of the old ones are not mistaken for those of the new ones.
pub const ENGINE_REVISION: u32 = 1;

/// All engines, in the order of the program's help.
pub static ENGINES: &[Engine] = &[
    Engine {
        id: "minhop",
        title: "shortest paths, balanced per switch",
        guarantees: SHORTEST,
        uses: NO_OPTIONS,
        route: minhop::route,
        incremental: Some(minhop::route_incrementally),
    },
    Engine {
        id: updn::ID,
        title: "Up*/Down*: any fabric, one lane",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        route: updn::route,
        incremental: None,
    },
    Engine {
        id: ftree::ID,
        title: "fat-trees, balanced for shifts; pairs of upper switches may have no path",
        guarantees: RouteGuarantees { terminals: false, switches: false, ..ACYCLIC },
        uses: TREE_OPTIONS,
        route: ftree::route,
        incremental: None,
    },
    Engine {
        id: sftree::ID,
        title: "fat-trees with every switch connected, one lane",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        route: sftree::route,
        incremental: None,
    },
    Engine {
        id: "sssp",
        title: "shortest paths, balanced over the whole fabric",
        guarantees: SHORTEST,
        uses: NO_OPTIONS,
        route: sssp::route,
        incremental: None,
    },
    Engine {
        id: "dfsssp",
        title: "routes of sssp, on lanes without cycles",
        // Shortest between adapters, that is: paths to switches may have to follow a tree.
        guarantees: RouteGuarantees { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: RequestUse { lanes: true, spread_lanes: true, ..NO_OPTIONS },
        route: dfsssp::route,
        incremental: None,
    },
    Engine {
        id: sar::ID,
        title: "shortest paths balanced for the jobs that run, on lanes without cycles",
        guarantees: RouteGuarantees { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: RequestUse {
            io_nodes: true,
            jobs: true,
            lanes_by: true,
            lanes: true,
            spread_lanes: true,
            ..NO_OPTIONS
        },
        route: sar::route,
        incremental: None,
    },
    Engine {
        id: "nue",
        title: "deadlock-free on any fabric with any number of lanes",
        guarantees: ACYCLIC,
        uses: RequestUse { lanes: true, plain_search: true, ..TREE_OPTIONS },
        route: nue::route,
        incremental: None,
    },
    Engine {
        id: mlid::DMODK,
        title: "trees, the path by the number of the destination",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        route: mlid::route_by_destination,
        incremental: None,
    },
    Engine {
        id: mlid::ID,
        title: "trees, a path up for each LID of a port; hosts pick by one number each",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        route: mlid::route,
        incremental: None,
    },
    Engine {
        id: opt::ID,
        title: "two-level trees, the least worst permutation; hosts pick by one number each",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        route: opt::route,
        incremental: None,
    },
    Engine {
        id: torus2qos::ID,
        title: "tori and meshes in dimension order, on lanes that change on the way",
        guarantees: ACYCLIC,
        uses: RequestUse { torus: true, lanes: true, ..NO_OPTIONS },
        route: torus2qos::route,
        incremental: None,
    },
    Engine {
        id: dor::ID,
        title: "shortest paths, in the order of dimensions",
        guarantees: SHORTEST,
        uses: RequestUse { dimension_ports: true, ..NO_OPTIONS },
        route: dor::route,
        incremental: None,
    },
    Engine {
        id: lash::ID,
        title: "shortest paths without balance, on lanes without cycles",
        guarantees: RouteGuarantees { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: RequestUse { lanes: true, ..NO_OPTIONS },
        route: lash::route,
        incremental: None,
    },
];

/// Engines that are found by name alone: variants of others, and what needs a file of its own.
pub static NAMED_ENGINES: &[Engine] = &[
    Engine {
        id: updn::BOTTOM_UP_ID,
        title: "Up*/Down* with ranks above the switches with hosts, one lane",
        guarantees: ACYCLIC,
        uses: RequestUse { roots: false, ..TREE_OPTIONS },
        route: updn::route_bottom_up,
        incremental: None,
    },
    Engine {
        id: stored_tables::ID,
        title: "the tables of a file",
        guarantees: RouteGuarantees {
            terminals: false,
            switches: false,
            shortest: false,
            deadlock_free: false,
            deadlock_free_switches: false,
        },
        uses: RequestUse { tables: true, lanes: true, ..NO_OPTIONS },
        route: stored_tables::route,
        incremental: None,
    },
];

impl Engine {
    /// Whether its routes are made for hosts that pick among the LIDs of a port by path bits.
    pub fn uses_path_bits(&self) -> bool {
        [mlid::ID, opt::ID].contains(&self.id)
    }

    /// Whether it needs coordinates on a torus or mesh to do what it is for.
    fn needs_dimensions(&self) -> bool {
        self.uses.torus || self.uses.dimension_ports
    }
}

/// The engines that are run where none is named: not those for several LIDs a port where there is one, nor those for tori
/// and meshes elsewhere. What a request describes counts.
pub fn suitable_engines(fabric: &Fabric, request: &Request) -> Vec<&'static Engine> {
    let has_path_bits = fabric.ports().any(|(_, port)| port.facts.lmc.value() > 0);
    let is_described = request.torus.is_some() || !request.dimension_ports.is_empty();
    let has_dimensions = is_described || TorusCoordinates::find(fabric, None).is_ok();
    let suits = |engine: &&Engine| {
        (has_path_bits || !engine.uses_path_bits()) && (has_dimensions || !engine.needs_dimensions())
    };
    ENGINES.iter().filter(suits).collect()
}

/// The engine with a name.
pub fn find_engine(id: &str) -> Option<&'static Engine> {
    ENGINES.iter().chain(NAMED_ENGINES).find(|engine| engine.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn engines_for_tori_and_for_several_lids_run_where_they_have_any() {
        let suitable = |name: &str| -> Vec<&str> {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            suitable_engines(&fabric, &Request::default()).iter().map(|engine| engine.id).collect()
        };
        let special = ["mlid", "opt", "torus2qos", "dor"];
        let found = |name: &str| {
            let all = suitable(name);
            assert_eq!(all.len(), ENGINES.len() - special.iter().filter(|id| !all.contains(id)).count());
            special.map(|id| all.contains(&id))
        };
        assert_eq!(found("kary,k=4,n=2"), [false, false, false, false]);
        assert_eq!(found("mport,m=4,n=3"), [true, true, false, false]);
        assert_eq!(found("torus,dims=4x4"), [false, false, true, true]);
        assert_eq!(found("torus,dims=4x4,lmc=1"), [true, true, true, true]);
        assert_eq!(found("random,switches=9,links=16,terminals=2"), [false, false, false, false]);
    }
}
