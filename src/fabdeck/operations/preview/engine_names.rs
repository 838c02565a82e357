//! The engine that an argument names.

use crate::catalogue::failure::Failure;
use fabdeck_fabric::{similar_words, suggest};
use fabdeck_routing::{ENGINES, Engine, NAMED_ENGINES, find_engine};

/// Finds an engine by its name.
pub fn engine_named(id: &str) -> Result<&'static Engine, Failure> {
    find_engine(id).ok_or_else(|| {
        let meant = suggest(&similar_words(id, engine_ids()));
        Failure::usage(format!(
            "FD-7912: there is no engine '{id}'{meant}; the engines are {}",
            engine_list()
        ))
    })
}

fn engine_ids() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().chain(NAMED_ENGINES).map(|engine| engine.id)
}

/// The names of all engines, for help.
pub fn engine_list() -> String {
    engine_ids().collect::<Vec<_>>().join(", ")
}

/// The named engines.
pub(crate) fn engines(named: &[String]) -> Result<Vec<&'static Engine>, Failure> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    // An empty item after a comma is ignored; a list of nothing but empty items, as from an unset variable, is a
    // mistake.
    let mut ids: Vec<&str> = Vec::new();
    for id in named.iter().map(|id| id.trim()).filter(|id| !id.is_empty()) {
        // A repeated name counts once.
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    match ids.as_slice() {
        [] => engine_named("").map(|engine| vec![engine]),
        ids => ids.iter().map(|id| engine_named(id)).collect(),
    }
}
