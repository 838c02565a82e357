//! What is said of a change.

use crate::script::Exit;
use fabdeck_change::{Begun, Phase, Status, users};

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

/// The user of this process as the kernel has it. What `sudo` says of who called it is added, and proves nothing.
pub fn user() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let name = users::name_of(uid);
    let claims = std::env::var("SUDO_USER").ok().filter(|claimed| uid == 0 && is_user_name(claimed));
    claims.map_or_else(|| name.clone(), |claimed| format!("{name} (sudo by {claimed})"))
}

fn is_user_name(text: &str) -> bool {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || "._-@".contains(sign);
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

/// By which a change is called: it is no secret, and cannot be mistaken for that of another.
pub fn id_of(begun: &Begun) -> String {
    let text = format!("{} {} {} {}", begun.plan, begun.time, begun.pid, begun.user);
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}
