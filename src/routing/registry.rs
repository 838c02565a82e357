//! The engines, one line each.

use super::engine::{Engine, EngineRefusal, FabricNeeds, Request, RequestUse, RouteGuarantees};
use super::problem::Problem;
use super::torus2qos::TorusCoordinates;
use super::{
    dfsssp, dor, ftree, lash, minhop, mlid, nue, opt, ranks, sar, sftree, sssp, stored_tables, torus2qos,
    updn,
};
use fabdeck_fabric::{Fabric, Faults};

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

const ANY: FabricNeeds =
    FabricNeeds { tree: false, two_levels: false, several_lids: false, dimensions: false };
const TREES: FabricNeeds = FabricNeeds { tree: true, ..ANY };
const TORI: FabricNeeds = FabricNeeds { dimensions: true, ..ANY };

/// The revision of the engines. It rises with every change after which an engine makes other routes for some fabric, so that
/// stored results of the old ones are not mistaken for those of the new ones.
pub const ENGINE_REVISION: u32 = 2;

/// All engines, in the order of the program's help.
pub static ENGINES: &[Engine] = &[
    Engine {
        id: "minhop",
        title: "shortest paths, balanced per switch",
        guarantees: SHORTEST,
        uses: NO_OPTIONS,
        needs: ANY,
        writes_lane_tables: false,
        route: minhop::route,
        incremental: Some(minhop::route_incrementally),
    },
    Engine {
        id: updn::ID,
        title: "Up*/Down*: any fabric, one lane",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        needs: ANY,
        writes_lane_tables: false,
        route: updn::route,
        incremental: None,
    },
    Engine {
        id: ftree::ID,
        title: "fat-trees, balanced for shifts; pairs of upper switches may have no path",
        guarantees: RouteGuarantees { terminals: false, switches: false, ..ACYCLIC },
        uses: TREE_OPTIONS,
        needs: TREES,
        writes_lane_tables: false,
        route: ftree::route,
        incremental: None,
    },
    Engine {
        id: sftree::ID,
        title: "fat-trees with every switch connected, one lane",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        needs: TREES,
        writes_lane_tables: false,
        route: sftree::route,
        incremental: None,
    },
    Engine {
        id: "sssp",
        title: "shortest paths, balanced over the whole fabric",
        guarantees: SHORTEST,
        uses: NO_OPTIONS,
        needs: ANY,
        writes_lane_tables: false,
        route: sssp::route,
        incremental: None,
    },
    Engine {
        id: "dfsssp",
        title: "routes of sssp, on lanes without cycles",
        // Shortest between adapters, that is: paths to switches may have to follow a tree.
        guarantees: RouteGuarantees { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: RequestUse { lanes: true, spread_lanes: true, ..NO_OPTIONS },
        needs: ANY,
        writes_lane_tables: false,
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
        needs: ANY,
        writes_lane_tables: false,
        route: sar::route,
        incremental: None,
    },
    Engine {
        id: "nue",
        title: "deadlock-free on any fabric with any number of lanes",
        guarantees: ACYCLIC,
        uses: RequestUse { lanes: true, plain_search: true, ..TREE_OPTIONS },
        needs: ANY,
        writes_lane_tables: false,
        route: nue::route,
        incremental: None,
    },
    Engine {
        id: mlid::DMODK,
        title: "trees, the path by the number of the destination",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        needs: TREES,
        writes_lane_tables: false,
        route: mlid::route_by_destination,
        incremental: None,
    },
    Engine {
        id: mlid::ID,
        title: "trees, a path up for each LID of a port; hosts pick by one number each",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        needs: FabricNeeds { several_lids: true, ..TREES },
        writes_lane_tables: false,
        route: mlid::route,
        incremental: None,
    },
    Engine {
        id: opt::ID,
        title: "two-level trees, the least worst permutation; hosts pick by one number each",
        guarantees: ACYCLIC,
        uses: TREE_OPTIONS,
        needs: FabricNeeds { several_lids: true, two_levels: true, ..TREES },
        writes_lane_tables: false,
        route: opt::route,
        incremental: None,
    },
    Engine {
        id: torus2qos::ID,
        title: "tori and meshes in dimension order, on lanes that change on the way",
        guarantees: ACYCLIC,
        uses: RequestUse { torus: true, lanes: true, ..NO_OPTIONS },
        needs: TORI,
        writes_lane_tables: true,
        route: torus2qos::route,
        incremental: None,
    },
    Engine {
        id: dor::ID,
        title: "shortest paths, in the order of dimensions",
        guarantees: SHORTEST,
        uses: RequestUse { dimension_ports: true, ..NO_OPTIONS },
        needs: TORI,
        writes_lane_tables: false,
        route: dor::route,
        incremental: None,
    },
    Engine {
        id: lash::ID,
        title: "shortest paths without balance, on lanes without cycles",
        guarantees: RouteGuarantees { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: RequestUse { lanes: true, ..NO_OPTIONS },
        needs: ANY,
        writes_lane_tables: false,
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
        needs: ANY,
        writes_lane_tables: false,
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
        needs: ANY,
        writes_lane_tables: false,
        route: stored_tables::route,
        incremental: None,
    },
];

impl Engine {
    /// Whether its routes are made for hosts that pick among the LIDs of a port by path bits.
    pub fn uses_path_bits(&self) -> bool {
        self.needs.several_lids
    }
}

/// The engines that are run where none is named: those that have what they need of the fabric, failures aside. What a
/// request describes counts.
pub fn suitable_engines(fabric: &Fabric, request: &Request) -> Vec<&'static Engine> {
    let none = Faults::new();
    let problem = Problem::new(fabric, &none);
    // A list that does not fit is the engines' to refuse.
    let ranks = match ranks::find_ranks(ftree::ID, &problem, request) {
        Err(EngineRefusal::Unfit { .. }) => None,
        found => Some(found.map(|ranks| ranks.height).unwrap_or_default()),
    };
    let several_lids = fabric.has_several_lids();
    let is_described = request.torus.is_some() || !request.dimension_ports.is_empty();
    let has = FabricNeeds {
        two_levels: several_lids && ranks.as_ref().is_some_and(|height| opt::suits(&problem, height)),
        tree: ranks.is_some(),
        several_lids,
        dimensions: is_described || TorusCoordinates::find(fabric, None).is_ok(),
    };
    ENGINES.iter().filter(|engine| engine.needs.are_met_by(has)).collect()
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
    fn engines_run_where_they_have_what_they_need() {
        let suitable = |name: &str| -> Vec<&str> {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            suitable_engines(&fabric, &Request::default()).iter().map(|engine| engine.id).collect()
        };
        let special = ["ftree", "sftree", "dmodk", "mlid", "opt", "torus2qos", "dor"];
        let found = |name: &str| -> Vec<&str> {
            let all = suitable(name);
            let (special, any): (Vec<&str>, Vec<&str>) = all.iter().partition(|id| special.contains(id));
            assert_eq!(any.len(), ENGINES.len() - 7, "{name}: engines for any fabric");
            special
        };
        let trees = ["ftree", "sftree", "dmodk"];
        assert_eq!(found("kary,k=4,n=2"), trees);
        assert_eq!(found("mport,m=4,n=3"), [&trees[..], &["mlid"]].concat(), "opt is for two levels");
        assert_eq!(found("gft2,n=9,m=9,r=18,lmc=1"), [&trees[..], &["mlid"]].concat(), "opt takes LMC 2");
        assert_eq!(found("gft2,n=9,m=9,r=18,lmc=2"), [&trees[..], &["mlid", "opt"]].concat());
        assert_eq!(found("torus,dims=5x5"), ["torus2qos", "dor"]);
        assert_eq!(found("torus,dims=5x5,lmc=1"), ["torus2qos", "dor"]);
        assert_eq!(found("dragonfly,a=4,p=2,h=2,g=9"), [""; 0]);
    }
}
