//! Exit codes, user names and ids of changes.

use crate::script::Exit;
use fabdeck_change::{Begun, Phase, Status, users};

/// Code in a guard's message about a plan that no longer fits the fabric.
const STALE: &str = "FD-5625";

/// Exit code of a command that saw a change in this phase.
pub fn exit(phase: Phase) -> Exit {
    match phase {
        Phase::Applying | Phase::Applied | Phase::Confirmed => Exit::Done,
        Phase::RollingBack | Phase::RolledBack => Exit::RolledBack,
        Phase::Incomplete => Exit::RollbackIncomplete,
        Phase::Refused => Exit::Stale,
    }
}

/// Exit code of a command that applied a change: a refusal counts as stale only if the guard says so.
pub fn exit_of(status: &Status) -> Exit {
    let stale = status.why.as_ref().is_some_and(|why| why.contains(STALE));
    match status.phase {
        Phase::Refused if !stale => Exit::Refused,
        phase => exit(phase),
    }
}

/// The user of this process by its effective user id. The user that `sudo` names is added, and proves nothing.
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

/// Id of a change. It is not secret, and different changes have different ids.
pub fn id_of(begun: &Begun) -> String {
    let text = format!("{} {} {} {}", begun.plan, begun.time, begun.pid, begun.user);
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}
