//! The folders of changes, and the changes that are pending in them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::foreign_changes;
use super::overdue::is_overdue;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::{Env, MACHINE_FOLDER, simulator_socket};
use crate::system::access::GuardOwner;
use fabdeck_change::{
    BeginRecord, ChangeAccess, ChangeDir, ChangePhase, ChangeState, ChangeStore, ChangeStoreError, Migration,
    host_name, migrations_in_force, remaining_migrations,
};

/// Folder of the sockets of guards of the machine's state folder.
const MACHINE_SOCKETS: &str = "/run/fabdeck";

/// Opens the folder for changes of a source.
pub fn open_for_source(means: Env<'_>, simulated: bool) -> Result<ChangeStore, Failure> {
    let home = ChangeStore::open(&state_folder(means, simulated)).map_err(store_failure)?;
    Ok(home.with_system_log(means.given.system_log.clone()))
}

pub fn state_folder(means: Env<'_>, simulated: bool) -> PathBuf {
    let own = means.outside.user_state().filter(|_| simulated);
    let asked = means.given.state_dir.clone();
    asked.unwrap_or_else(|| own.unwrap_or_else(|| MACHINE_FOLDER.into()))
}

/// Folder of the sockets that other users can reach. `None`: guards listen inside the state folder, for its owner
/// alone.
pub fn socket_folder(means: Env<'_>, folder: &Path) -> Option<PathBuf> {
    let usual = (folder == Path::new(MACHINE_FOLDER)).then(|| PathBuf::from(MACHINE_SOCKETS));
    means.given.socket_dir.clone().or(usual)
}

/// All state folders that exist, readable or not.
pub fn open_all(means: Env<'_>) -> Vec<ChangeStore> {
    let folders = means.state_folders();
    let there =
        |folder: &PathBuf| ChangeStore::open_existing(folder).with_system_log(means.given.system_log.clone());
    folders.iter().map(there).filter(ChangeStore::has_changes).collect()
}

/// Refuses an existing folder that takes no new change. Nothing is created before the question.
pub fn refuse_unfit_folder(means: Env<'_>, simulated: bool) -> Result<(), Failure> {
    let home = ChangeStore::open_existing(&state_folder(means, simulated));
    if home.has_changes() { home.check_fitness().map_err(store_failure) } else { Ok(()) }
}

/// Refuses if a change is pending on the same fabric. A folder that does not exist has no changes. Returns messages
/// about unreadable changes that are stepped over.
pub fn refuse_pending_change(
    means: Env<'_>,
    simulated: bool,
    here: &BeginRecord,
) -> Result<Vec<String>, Failure> {
    let home = ChangeStore::open_existing(&state_folder(means, simulated));
    if !home.has_changes() {
        return Ok(Vec::new());
    }
    home.refuse_second(here).map_err(store_failure)
}

/// Least number of characters of an id that can stand for it.
const MIN_PREFIX: usize = 4;

/// Resolves a change's id from the id, its beginning, or the number of the change. Ambiguous text is an error.
pub fn resolve_id(means: Env<'_>, text: &str) -> Result<String, Failure> {
    let kept = open_all(means).into_iter().filter_map(|home| home.select(|_| true).ok()).flatten().flatten();
    let known: Vec<(String, u64)> =
        kept.map(|kept| (kept.read.state.begun.id, kept.read.state.begun.number)).collect();
    match matching_ids(&known, text).as_slice() {
        // The caller reports an unknown id.
        [] => Ok(foreign_changes::find(means, text).map_or_else(|| text.to_owned(), |(_, id)| id)),
        [id] => Ok((*id).to_owned()),
        several => {
            let ids = several.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            Err(Failure::usage(format!("FD-7980: '{text}' fits several changes: {ids}; give an id")))
        }
    }
}

/// Ids that a text can stand for: by a change's number, or by a sufficiently long beginning of an id.
fn matching_ids<'k>(known: &'k [(String, u64)], text: &str) -> Vec<&'k str> {
    if let Some((id, _)) = known.iter().find(|(id, _)| id == text) {
        return vec![id];
    }
    let begins = |id: &String| text.len() >= MIN_PREFIX && id.starts_with(text);
    let found = known.iter().filter(|(id, number)| text == number.to_string() || begins(id));
    found.map(|(id, _)| id.as_str()).collect()
}

/// Migrations that changes in all folders left on the slow lane of this fabric, and messages about unreadable changes.
pub fn all_migrations_in_force(
    means: Env<'_>,
    source: &str,
    switches: BTreeSet<String>,
) -> Result<(Vec<Migration>, Vec<String>), Failure> {
    let here = BeginRecord { simulator: simulator_socket(source)?, switches, ..BeginRecord::default() };
    let (mut left, mut unread) = (Vec::new(), Vec::new());
    // Simulators have changes in folders of their own users; an unreadable folder belongs to the live fabric.
    for home in open_all(means).into_iter().filter(|home| here.simulator.is_none() || !home.is_unreadable()) {
        let (moved, messages) = migrations_in_force(&home, &here).map_err(store_failure)?;
        left.extend(moved);
        unread.extend(messages);
    }
    Ok((remaining_migrations(left), unread))
}

/// Finds a change by its id in all folders.
pub fn find_change(means: Env<'_>, id: &str) -> Result<(ChangeStore, ChangeDir), Failure> {
    let mut unknown = None;
    for home in open_all(means) {
        if home.is_unreadable() {
            unknown.get_or_insert_with(|| {
                ChangeStoreError::FolderProblem(foreign_changes::unknown_reason(
                    &home,
                    "no guard of this change answers",
                ))
            });
            continue;
        }
        match home.find(id) {
            Ok(kept) => return Ok((home, kept)),
            Err(ChangeStoreError::Unknown(_)) => {}
            Err(error) => unknown = Some(error),
        }
    }
    Err(store_failure(unknown.unwrap_or_else(|| ChangeStoreError::Unknown(id.chars().take(40).collect()))))
}

pub fn store_failure(error: ChangeStoreError) -> Failure {
    let exit = match &error {
        ChangeStoreError::Folder { .. }
        | ChangeStoreError::Pending { .. }
        | ChangeStoreError::Unread { .. }
        | ChangeStoreError::Unseen { .. }
        | ChangeStoreError::FolderProblem(_)
        | ChangeStoreError::Kept { .. } => Exit::Refused,
        ChangeStoreError::Journal(_) => Exit::Failed,
        ChangeStoreError::Unknown(_) => Exit::Usage,
    };
    Failure::new(exit, error.to_string())
}

/// Messages about audit trails in this user's folders that were truncated.
pub fn truncated_trails(means: Env<'_>) -> Vec<String> {
    let open = open_all(means).into_iter().filter(|home| !home.is_unreadable());
    open.filter_map(|home| home.check_trail().err()).map(|error| error.to_string()).collect()
}

/// Names of files that look like rotated audit trails and cannot be read.
pub fn unread_trails(means: Env<'_>) -> Vec<String> {
    let open = open_all(means).into_iter().filter(|home| !home.is_unreadable());
    open.flat_map(|home| home.unread_trails()).collect()
}

/// Messages about entries that the system log proves and the audit trails lack.
pub fn truncated_trails_by_log(means: Env<'_>, file: &Path) -> Vec<String> {
    let log = match read_log(file) {
        Ok(log) => log,
        Err(error) => {
            return vec![format!("{}: FD-7315: the system log cannot be read: {error}", file.display())];
        }
    };
    let open = open_all(means).into_iter().filter(|home| !home.is_unreadable());
    let checked: Vec<_> = open.map(|home| home.check_trail_by_log(&log)).collect();
    let mut lines: Vec<String> =
        checked.iter().filter_map(|one| one.as_ref().err()).map(ToString::to_string).collect();
    if lines.is_empty() && checked.iter().all(|one| one.as_ref().is_ok_and(|marks| *marks == 0)) {
        let folders = open_all(means)
            .iter()
            .map(|home| home.folder().display().to_string())
            .collect::<Vec<_>>()
            .join(", ");
        lines.push(format!(
            "{}: FD-7316: no line has the length of the audit trail of {folders}, so nothing was compared; with \
             system-log in the configuration guards write such lines",
            file.display()
        ));
    }
    lines
}

/// Reads a system log; `-` is stdin.
fn read_log(file: &Path) -> std::io::Result<String> {
    const MAX_LOG_BYTES: u64 = 256 << 20;
    let mut bytes = Vec::new();
    match file == Path::new("-") {
        true => {
            std::io::Read::read_to_end(&mut std::io::Read::take(std::io::stdin(), MAX_LOG_BYTES), &mut bytes)?
        }
        false => std::io::Read::read_to_end(
            &mut std::io::Read::take(std::fs::File::open(file)?, MAX_LOG_BYTES),
            &mut bytes,
        )?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Message that only the user who began a change can continue it.
pub fn other_user_reason(kept: &ChangeDir) -> String {
    let begun = &kept.read.state.begun;
    let (id, user) = (&begun.id, &begun.user);
    if kept.read.state.phase == ChangePhase::Incomplete {
        return format!(
            "FD-7998: the rollback of change {id} is incomplete; only its owner, {user}, can begin it again: \
             'fabdeck rollback {id}'"
        );
    }
    let state = if is_overdue(kept) { "OVERDUE" } else { kept.read.state.phase.title() };
    format!(
        "FD-7998: change {id} is {state} and has no guard; only its owner, {user}, or root can start one: 'fabdeck guard \
         --resume'"
    )
}

/// Starts the guard of a change in a folder. Returns a remark for the operator, if there is one.
pub fn start_guard(
    means: Env<'_>,
    home: &ChangeStore,
    errand: &[&str],
    log: &Path,
) -> Result<Option<String>, Failure> {
    start_guard_process(means, home, errand, GuardOwner::Own(log))
}

/// Reason why a change of another machine gets no guard on this one. Its guard is unreachable from here: sockets end
/// at the machine, and locks of a shared folder may end there too.
pub fn other_machine_reason(kept: &ChangeDir) -> Option<String> {
    let ChangeState { host, begun, phase, .. } = &kept.read.state;
    let other = !host.is_empty() && *host != host_name();
    other.then(|| {
        format!(
            "FD-7979: change {} is {}, and its guard is on machine {host}: confirm it or roll it back there; if that \
             machine is gone for good, 'fabdeck guard --resume --gone {host}' takes it over, once the subnet manager \
             shows that its guard is gone",
            begun.id,
            phase.title()
        )
    })
}

/// Starts a guard for a change without one, as the user who owns the change.
pub fn start_successor(
    means: Env<'_>,
    home: &ChangeStore,
    kept: &ChangeDir,
) -> Result<Option<String>, Failure> {
    match other_machine_reason(kept) {
        Some(why) => Err(Failure::new(Exit::Refused, why)),
        None => start_successor_here(means, home, kept),
    }
}

/// Does the same for a change of any machine.
pub fn start_successor_here(
    means: Env<'_>,
    home: &ChangeStore,
    kept: &ChangeDir,
) -> Result<Option<String>, Failure> {
    let errand = ["--keep", kept.read.state.begun.id.as_str()];
    match kept.access() {
        ChangeAccess::Here => start_guard_process(means, home, &errand, GuardOwner::Own(&kept.log())),
        ChangeAccess::As(owner) => start_guard_process(means, home, &errand, GuardOwner::Other(owner)),
        ChangeAccess::Nobody => Err(Failure::new(Exit::Refused, other_user_reason(kept))),
    }
}

fn start_guard_process(
    means: Env<'_>,
    home: &ChangeStore,
    errand: &[&str],
    of: GuardOwner<'_>,
) -> Result<Option<String>, Failure> {
    let given = means.given;
    let mut args: Vec<OsString> = vec!["guard".into()];
    args.extend(errand.iter().map(OsString::from));
    let mut flag = |name: &str, value: Option<OsString>| {
        let Some(value) = value else { return };
        args.extend([name.into(), value]);
    };
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    flag("--state-dir", Some(full(home.folder())));
    // A systemd unit has no home folder to search. Another user has a configuration of their own.
    let own = matches!(of, GuardOwner::Own(_));
    let usual = means.outside.config_file().filter(|file| own && file.is_file());
    flag("--config", given.config.as_ref().or(usual.as_ref()).map(|file| full(file)));
    flag("--mkey-file", given.mkey_file.as_deref().map(full));
    flag("--timeout", given.reach.timeout.map(|time| format!("{}ms", time.as_millis()).into()));
    flag("--retries", given.reach.retries.map(|retries| retries.to_string().into()));
    means.outside.start_guard(&args, of).map_err(|error| {
        Failure::new(Exit::Failed, format!("FD-7981: the guard of the change cannot be started: {error}"))
    })
}

/// Gives every pending change without a guard a new one. Commands call this at their start.
pub fn resume_abandoned(means: Env<'_>, say: &mut dyn FnMut(&str)) {
    for home in open_all(means).into_iter().filter(|home| !home.is_unreadable()) {
        let pending = match home.list_pending() {
            Ok(pending) => pending,
            Err(error) => {
                say(&error.to_string());
                continue;
            }
        };
        for kept in pending.into_iter().flatten() {
            if !kept.is_abandoned() {
                continue;
            }
            if let Some(why) = other_machine_reason(&kept) {
                say(&why);
                continue;
            }
            if !kept.may_have_guard() {
                say(&other_user_reason(&kept));
                continue;
            }
            let begun = &kept.read.state.begun;
            say(&format!(
                "change {} of {} is {} and its guard was gone; another one takes over",
                begun.id,
                begun.user,
                kept.read.state.phase.title()
            ));
            match start_successor(means, &home, &kept) {
                Ok(remark) | Err(Failure { message: remark, .. }) => {
                    remark.iter().for_each(|remark| say(remark));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matching_ids;

    #[test]
    fn a_change_is_found_by_its_id_its_number_or_the_beginning_of_its_id() {
        let known = [("12ab34cd", 7), ("12abffff", 12), ("7777aaaa", 7), ("9999bbbb", 9999)];
        let known = known.map(|(id, number)| (id.to_owned(), number));
        let cases: [(&str, &[&str]); 7] = [
            ("12ab34cd", &["12ab34cd"]),
            ("12", &["12abffff"]),
            ("12ab3", &["12ab34cd"]),
            ("12ab", &["12ab34cd", "12abffff"]),
            ("7", &["12ab34cd", "7777aaaa"]),
            ("9999", &["9999bbbb"]),
            ("", &[]),
        ];
        for (text, ids) in cases {
            assert_eq!(matching_ids(&known, text), ids, "{text}");
        }
    }
}
