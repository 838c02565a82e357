//! Writes refused requests to the audit trail.

use jiff::Timestamp;

use super::change_exit::user;
use super::change_store;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{AuditEntry, ChangeStore};

/// Records a refused write to a source. A refusal creates no state folder; without a folder nothing was ever written
/// there.
pub fn audit_source_refusal(
    means: Env<'_>,
    source: &str,
    asked: &str,
    failure: Failure,
    say: &mut dyn FnMut(&str),
) -> Failure {
    if means.outside.is_own_simulator(source) {
        return failure;
    }
    let folder = change_store::state_folder(means, source.starts_with("sim:"));
    let there = Some(folder).filter(|folder| folder.join("changes").is_dir());
    match there.and_then(|folder| ChangeStore::open(&folder).ok()) {
        Some(home) => audit_refusal(&home, asked, None, failure, say),
        None => failure,
    }
}

/// Writes a failure to the audit trail if it is a refusal, and returns it.
pub fn audit_refusal(
    home: &ChangeStore,
    asked: &str,
    change: Option<&str>,
    failure: Failure,
    say: &mut dyn FnMut(&str),
) -> Failure {
    let message = failure.message.as_deref().unwrap_or_default();
    if matches!(failure.exit, Exit::Refused | Exit::Stale) || message.contains("FD-5634") {
        write_audit(home, "refused", change, &format!("{asked}: {message}"), say);
    }
    failure
}

/// Writes an entry; an error of the trail is reported and changes nothing else.
pub fn write_audit(
    home: &ChangeStore,
    what: &str,
    change: Option<&str>,
    detail: &str,
    say: &mut dyn FnMut(&str),
) {
    let entry = AuditEntry {
        time: Timestamp::now().to_string(),
        user: user(),
        pid: std::process::id(),
        what: what.to_owned(),
        // An argument is cut to the length of an id, whatever the operator typed.
        change: change.map(|id| id.chars().take(40).collect()),
        detail: detail.to_owned(),
    };
    if let Err(error) = home.audit(&entry) {
        say(&error.to_string());
    }
}
