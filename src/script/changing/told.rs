//! What is said of a change.

use crate::change::{Begun, Phase, Status};
use crate::script::Exit;

/// What a guard says of a plan that the fabric has moved away from.
const STALE: &str = "FD-5625";

/// How a command ends that saw a change to this phase.
pub fn exit(phase: Phase) -> Exit {
    match phase {
        Phase::Applying | Phase::Applied | Phase::Confirmed => Exit::Done,
        Phase::RollingBack | Phase::RolledBack => Exit::RolledBack,
        Phase::Incomplete => Exit::RollbackIncomplete,
        Phase::Refused => Exit::Stale,
    }
}

/// The same for whoever applied it: what the guard refused is stale only where the guard says so.
pub fn exit_of(status: &Status) -> Exit {
    let stale = status.why.as_ref().is_some_and(|why| why.contains(STALE));
    match status.phase {
        Phase::Refused if !stale => Exit::Refused,
        phase => exit(phase),
    }
}

/// Who does this: the name that the system has for the user.
pub fn user() -> String {
    let named = std::env::var("USER").ok().filter(|name| !name.is_empty());
    named.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}

/// By which a change is called: it is no secret, and cannot be mistaken for that of another.
pub fn id_of(begun: &Begun) -> String {
    let text = format!("{} {} {} {}", begun.plan, begun.time, begun.pid, begun.user);
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}
