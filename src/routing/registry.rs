//! The engines, one line each.

use super::engine::{Engine, Promise};
use super::{ftree, minhop, sftree, updn};

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

/// In the order of help.
pub static ENGINES: &[Engine] = &[
    Engine {
        id: "minhop",
        title: "shortest paths, balanced per switch",
        promise: SHORTEST,
        route: minhop::route,
    },
    Engine { id: updn::ID, title: "Up*/Down*: any fabric, one lane", promise: ACYCLIC, route: updn::route },
    Engine {
        id: ftree::ID,
        title: "fat-trees, balanced for shifts; leaves pairs of upper switches out",
        promise: Promise { terminals: false, switches: false, ..ACYCLIC },
        route: ftree::route,
    },
    Engine {
        id: sftree::ID,
        title: "fat-trees with every switch connected, one lane",
        promise: ACYCLIC,
        route: sftree::route,
    },
];

/// The engine of a name.
pub fn engine(id: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.id == id)
}
