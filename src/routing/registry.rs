//! The engines, one line each.

use super::engine::{Engine, Promise};
use super::{minhop, nue};

const SHORTEST: Promise = Promise {
    terminals: true,
    switches: true,
    shortest: true,
    deadlock_free: false,
    deadlock_free_switches: false,
};

/// Nue's, for any number of lanes from one on.
const NUE: Promise = Promise {
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
    Engine {
        id: "nue",
        title: "deadlock-free on any fabric with any number of lanes",
        promise: NUE,
        route: nue::route,
    },
];

/// The engine of a name.
pub fn engine(id: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.id == id)
}
