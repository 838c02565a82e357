//! Exit codes, user names and ids of changes.

use crate::catalogue::exit::Exit;
use fabdeck_change::{BeginRecord, ChangePhase, ChangeStatus, user_names};

/// Code in a guard's message about a plan that no longer fits the fabric.
const STALE: &str = "FD-5625";

/// Exit code of a command that saw a change in this phase.
pub fn exit_of_phase(phase: ChangePhase) -> Exit {
    match phase {
        ChangePhase::Applying | ChangePhase::Applied | ChangePhase::Confirmed => Exit::Done,
        ChangePhase::RollingBack | ChangePhase::RolledBack => Exit::RolledBack,
        ChangePhase::Incomplete => Exit::RollbackIncomplete,
        ChangePhase::Refused => Exit::Stale,
    }
}

/// Exit code of a command that applied a change: a refusal counts as stale only if the guard says so.
pub fn exit_of_status(status: &ChangeStatus) -> Exit {
    let stale = status.why.as_ref().is_some_and(|why| why.contains(STALE));
    match status.phase {
        ChangePhase::Refused if !stale => Exit::Refused,
        phase => exit_of_phase(phase),
    }
}

/// The user of this process by its effective user id. The user that `sudo` names is added, and proves nothing.
pub fn user() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let name = user_names::user_label(uid);
    let claims = std::env::var("SUDO_USER").ok().filter(|claimed| uid == 0 && is_user_name(claimed));
    claims.map_or_else(|| name.clone(), |claimed| format!("{name} (sudo by {claimed})"))
}

fn is_user_name(text: &str) -> bool {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || "._-@".contains(sign);
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

/// Id of a change. It is not secret, and different changes have different ids.
pub fn change_id(begun: &BeginRecord) -> String {
    let text = format!("{} {} {} {}", begun.plan, begun.time, begun.pid, begun.user);
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}
