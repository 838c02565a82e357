//! Faults on purpose: what a bug or a slow disk does to a session cannot be tried without one. A program that is built
//! for release has none of them.

/// Names the place that is to fail.
const VARIABLE: &str = "FABDECK_BREAK";

/// Whether this place is to fail.
pub fn wanted(place: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os(VARIABLE).is_some_and(|wanted| wanted == place)
}

/// Panics where that is wanted.
pub fn panics(place: &str) {
    assert!(!wanted(place), "broken on purpose");
}
