//! The role of a port that waits, in a word beside its gauge, and the colour of that word. All lists of waits take it from here.

use crate::console::drawing::theme::Role;
use crate::operations::watch::hot_ports::HotRole;

/// The word of a role, and its colour.
pub fn wait_role(role: HotRole) -> (&'static str, Role) {
    let colour = match role {
        HotRole::HotSpot | HotRole::Victim | HotRole::LikelyVictim => Role::Danger,
        HotRole::Undecided | HotRole::TooNarrow => Role::Warning,
        _ => Role::Dim,
    };
    (if role == HotRole::TooNarrow { "too narrow" } else { role.word() }, colour)
}
