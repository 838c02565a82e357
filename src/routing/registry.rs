//! The engines, one line each.

use super::engine::{Engine, Promise, Uses};
use super::{dfsssp, ftree, minhop, nue, sar, sftree, sssp, updn};

const SHORTEST: Promise = Promise {
    terminals: true,
    switches: true,
    shortest: true,
    deadlock_free: false,
    deadlock_free_switches: false,
};

const ACYCLIC: Promise = Promise {
    terminals: true,
    switches: true,
    shortest: false,
    deadlock_free: true,
    deadlock_free_switches: true,
};

const NOTHING: Uses =
    Uses { roots: false, compute_nodes: false, io_nodes: false, jobs: false, lanes_by: false, lanes: false };
const TREE: Uses = Uses { roots: true, compute_nodes: true, io_nodes: true, ..NOTHING };

/// All engines, in the order of the program's help.
pub static ENGINES: &[Engine] = &[
    Engine {
        id: "minhop",
        title: "shortest paths, balanced per switch",
        promise: SHORTEST,
        uses: NOTHING,
        route: minhop::route,
        again: Some(minhop::again),
    },
    Engine {
        id: updn::ID,
        title: "Up*/Down*: any fabric, one lane",
        promise: ACYCLIC,
        uses: TREE,
        route: updn::route,
        again: None,
    },
    Engine {
        id: ftree::ID,
        title: "fat-trees, balanced for shifts; leaves pairs of upper switches out",
        promise: Promise { terminals: false, switches: false, ..ACYCLIC },
        uses: TREE,
        route: ftree::route,
        again: None,
    },
    Engine {
        id: sftree::ID,
        title: "fat-trees with every switch connected, one lane",
        promise: ACYCLIC,
        uses: TREE,
        route: sftree::route,
        again: None,
    },
    Engine {
        id: "sssp",
        title: "shortest paths, balanced over the whole fabric",
        promise: SHORTEST,
        uses: NOTHING,
        route: sssp::route,
        again: None,
    },
    Engine {
        id: "dfsssp",
        title: "routes of sssp, on lanes without cycles",
        // Shortest between adapters, that is: paths to switches may have to follow a tree.
        promise: Promise { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: Uses { lanes: true, ..NOTHING },
        route: dfsssp::route,
        again: None,
    },
    Engine {
        id: sar::ID,
        title: "shortest paths balanced for the jobs that run, on lanes without cycles",
        promise: Promise { deadlock_free: true, deadlock_free_switches: true, ..SHORTEST },
        uses: Uses { io_nodes: true, jobs: true, lanes_by: true, lanes: true, ..NOTHING },
        route: sar::route,
        again: None,
    },
    Engine {
        id: "nue",
        title: "deadlock-free on any fabric with any number of lanes",
        promise: ACYCLIC,
        uses: Uses { lanes: true, ..TREE },
        route: nue::route,
        again: None,
    },
];

/// The engine with a name.
pub fn engine(id: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.id == id)
}
