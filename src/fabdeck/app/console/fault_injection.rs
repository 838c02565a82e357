//! Injected faults: tests use them to see what a bug or a slow disk does to a session. A release build has none.

/// Environment variable that names the place of the fault.
const VARIABLE: &str = "FABDECK_BREAK";

/// Whether a fault is wanted at this place.
pub fn is_injected(place: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os(VARIABLE).is_some_and(|wanted| wanted == place)
}

/// Panics if a fault is wanted at this place.
pub fn panic_if_injected(place: &str) {
    assert!(!is_injected(place), "broken on purpose");
}
