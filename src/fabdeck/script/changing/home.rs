//! Where changes are kept, and what is still pending there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::foreign_changes;
use super::means::Means;
use super::prepared::simulator;
use crate::script::{Exit, Failure, GuardOf};
use fabdeck_change::{
    Begun, Home, HomeError, Keeper, Kept, Migration, Phase, Told, host_name, in_force as in_force_at, left_by,
};

/// The state folder of the machine: changes of live fabrics have one owner, and other users ask its guards.
const MACHINE: &str = "/var/lib/fabdeck";
/// Where guards of the machine's state folder listen.
const MACHINE_SOCKETS: &str = "/run/fabdeck";

/// The folder for changes of a source.
pub fn of_source(means: Means<'_>, simulated: bool) -> Result<Home, Failure> {
    let home = Home::open(&folder_of(means, simulated)).map_err(refused)?;
    Ok(home.with_system_log(means.given.system_log.clone()))
}

pub fn folder_of(means: Means<'_>, simulated: bool) -> PathBuf {
    let own = means.outside.user_state().filter(|_| simulated);
    let asked = means.given.state_dir.clone();
    asked.unwrap_or_else(|| own.unwrap_or_else(|| MACHINE.into()))
}

/// The folder of sockets that other users reach; `None`: guards of this state folder listen in it, for its owner alone.
pub fn socket_folder(means: Means<'_>, folder: &Path) -> Option<PathBuf> {
    let usual = (folder == Path::new(MACHINE)).then(|| PathBuf::from(MACHINE_SOCKETS));
    means.given.socket_dir.clone().or(usual)
}

/// Every folder that changes may be in and that is there, whether it can be entered or not.
pub fn all(means: Means<'_>) -> Vec<Home> {
    let usual = || [Some(MACHINE.into()), means.outside.user_state()].into_iter().flatten().collect();
    let folders: Vec<PathBuf> = means.given.state_dir.clone().map_or_else(usual, |folder| vec![folder]);
    let there = |folder: &PathBuf| Home::there(folder).with_system_log(means.given.system_log.clone());
    folders.iter().map(there).filter(Home::is_there).collect()
}

/// Refuses what meets another change that is pending on its fabric; `plan`: but for the change that this one made. Where no folder
/// is there none is.
pub fn refuse_beside(
    means: Means<'_>,
    simulated: bool,
    here: &Begun,
    plan: Option<&str>,
) -> Result<(), Failure> {
    let home = Home::there(&folder_of(means, simulated));
    if !home.is_there() {
        return Ok(());
    }
    let pending = home.pending().map_err(refused)?;
    let mut told = pending.into_iter().flatten().map(|kept| kept.read.told);
    let other = told.find(|told| told.begun.meets(here) && plan != Some(told.begun.plan.as_str()));
    other.map_or(Ok(()), |told| Err(refused(HomeError::pending(&told.begun, told.phase))))
}

/// So much of an id tells it, where no other begins so.
const PREFIX: usize = 4;

/// The id of the change that is meant: by its id, by the beginning of one, or by its number. What several answer to is
/// nobody's.
pub fn meant(means: Means<'_>, text: &str) -> Result<String, Failure> {
    let kept = all(means).into_iter().filter_map(|home| home.those(|_| true).ok()).flatten().flatten();
    let known: Vec<(String, u64)> =
        kept.map(|kept| (kept.read.told.begun.id, kept.read.told.begun.number)).collect();
    match meaning(&known, text).as_slice() {
        // Whoever looks for it says that there is none.
        [] => Ok(foreign_changes::find(means, text).map_or_else(|| text.to_owned(), |(_, id)| id)),
        [id] => Ok((*id).to_owned()),
        several => {
            let ids = several.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            Err(Failure::usage(format!("FD-7980: several changes are meant by '{text}': {ids}; give an id")))
        }
    }
}

/// A number is short, and the beginning of an id long enough to be meant.
fn meaning<'k>(known: &'k [(String, u64)], text: &str) -> Vec<&'k str> {
    if let Some((id, _)) = known.iter().find(|(id, _)| id == text) {
        return vec![id];
    }
    let begins = |id: &String| text.len() >= PREFIX && id.starts_with(text);
    let found = known.iter().filter(|(id, number)| text == number.to_string() || begins(id));
    found.map(|(id, _)| id.as_str()).collect()
}

/// What changes have left on the slow lane of the fabric of these switches, over all folders.
pub fn in_force(
    means: Means<'_>,
    source: &str,
    switches: BTreeSet<String>,
) -> Result<Vec<Migration>, Failure> {
    let here = Begun { simulator: simulator(source)?, switches, ..Begun::default() };
    let mut left = Vec::new();
    // Simulators have folders of their users; another user's folder is of the fabric.
    for home in all(means).into_iter().filter(|home| here.simulator.is_none() || !home.is_closed()) {
        left.extend(in_force_at(&home, &here).map_err(refused)?);
    }
    Ok(left_by(left))
}

/// The change of an id, wherever it is.
pub fn find(means: Means<'_>, id: &str) -> Result<(Home, Kept), Failure> {
    let mut unknown = None;
    for home in all(means) {
        if home.is_closed() {
            unknown.get_or_insert_with(|| {
                HomeError::FolderProblem(foreign_changes::unknown(&home, "no guard of this change answers"))
            });
            continue;
        }
        match home.find(id) {
            Ok(kept) => return Ok((home, kept)),
            Err(HomeError::Unknown(_)) => {}
            Err(error) => unknown = Some(error),
        }
    }
    Err(refused(unknown.unwrap_or_else(|| HomeError::Unknown(id.chars().take(40).collect()))))
}

pub fn refused(error: HomeError) -> Failure {
    let exit = match &error {
        HomeError::Folder { .. }
        | HomeError::Pending { .. }
        | HomeError::Unread { .. }
        | HomeError::Unseen { .. }
        | HomeError::FolderProblem(_)
        | HomeError::Kept { .. } => Exit::Refused,
        HomeError::Journal(_) => Exit::Failed,
        HomeError::Unknown(_) => Exit::Usage,
    };
    Failure::new(exit, error.to_string())
}

/// Audit trails of this user's folders whose ends were cut off.
pub fn cut_trails(means: Means<'_>) -> Vec<String> {
    let open = all(means).into_iter().filter(|home| !home.is_closed());
    open.filter_map(|home| home.check_trail().err()).map(|error| error.to_string()).collect()
}

/// Files beside these trails that are named like trails that were set aside and cannot be read.
pub fn unread_trails(means: Means<'_>) -> Vec<String> {
    let open = all(means).into_iter().filter(|home| !home.is_closed());
    open.flat_map(|home| home.unread_trails()).collect()
}

/// What the trails of these folders lack of what a system log says of them.
pub fn cut_trails_by_log(means: Means<'_>, file: &Path) -> Vec<String> {
    let log = match read_log(file) {
        Ok(log) => log,
        Err(error) => {
            return vec![format!("{}: FD-7315: the system log cannot be read: {error}", file.display())];
        }
    };
    let open = all(means).into_iter().filter(|home| !home.is_closed());
    let checked: Vec<_> = open.map(|home| home.check_trail_by_log(&log)).collect();
    let mut lines: Vec<String> =
        checked.iter().filter_map(|one| one.as_ref().err()).map(ToString::to_string).collect();
    if lines.is_empty() && checked.iter().all(|one| one.as_ref().is_ok_and(|marks| *marks == 0)) {
        let folders =
            all(means).iter().map(|home| home.folder().display().to_string()).collect::<Vec<_>>().join(", ");
        lines.push(format!(
            "{}: FD-7316: no line says how long the audit trail of {folders} was, so nothing was compared; system-log in the \
             configuration has it written",
            file.display()
        ));
    }
    lines
}

/// Of a log nothing is needed but its lines; `-` is stdin.
fn read_log(file: &Path) -> std::io::Result<String> {
    const LOG_MOST: u64 = 256 << 20;
    let mut bytes = Vec::new();
    match file == Path::new("-") {
        true => std::io::Read::read_to_end(&mut std::io::Read::take(std::io::stdin(), LOG_MOST), &mut bytes)?,
        false => std::io::Read::read_to_end(
            &mut std::io::Read::take(std::fs::File::open(file)?, LOG_MOST),
            &mut bytes,
        )?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Only whoever began a change can write its journal.
pub fn of_another(kept: &Kept) -> String {
    let begun = &kept.read.told.begun;
    let (id, user) = (&begun.id, &begun.user);
    if kept.read.told.phase == Phase::Incomplete {
        return format!(
            "FD-7998: the rollback of change {id} is incomplete; it is {user}'s, and only they can begin it again: 'fabdeck \
             rollback {id}'"
        );
    }
    format!(
        "FD-7998: change {id} is {} and has no guard; it is {user}'s, and only they or root can give it another: \
         'fabdeck guard --resume'",
        kept.read.told.phase.title()
    )
}

/// Starts a process that keeps what is begun in a folder. Gives what should be known of it.
pub fn start_guard(
    means: Means<'_>,
    home: &Home,
    errand: &[&str],
    log: &Path,
) -> Result<Option<String>, Failure> {
    start(means, home, errand, GuardOf::Own(log))
}

/// Why a change that another machine keeps gets no guard on this one. Its guard cannot be asked from here: sockets end at
/// the machine, and locks of a shared folder may too.
pub fn of_other_machine(kept: &Kept) -> Option<String> {
    let Told { host, begun, phase, .. } = &kept.read.told;
    let other = !host.is_empty() && *host != host_name();
    other.then(|| {
        format!(
            "FD-7979: change {} is {} and kept on machine {host}: confirm it or roll it back there; where that machine is gone for \
             good, 'fabdeck guard --resume --gone {host}' takes it over, once the subnet manager shows that its guard is gone",
            begun.id,
            phase.title()
        )
    })
}

/// Starts a guard for a change that has none, as the user whose change it is.
pub fn start_keeper(means: Means<'_>, home: &Home, kept: &Kept) -> Result<Option<String>, Failure> {
    match of_other_machine(kept) {
        Some(why) => Err(Failure::new(Exit::Refused, why)),
        None => start_keeper_here(means, home, kept),
    }
}

/// The same for a change of whatever machine.
pub fn start_keeper_here(means: Means<'_>, home: &Home, kept: &Kept) -> Result<Option<String>, Failure> {
    let errand = ["--keep", kept.read.told.begun.id.as_str()];
    match kept.keeper() {
        Keeper::Here => start(means, home, &errand, GuardOf::Own(&kept.log())),
        Keeper::As(owner) => start(means, home, &errand, GuardOf::Other(owner)),
        Keeper::Nobody => Err(Failure::new(Exit::Refused, of_another(kept))),
    }
}

fn start(means: Means<'_>, home: &Home, errand: &[&str], of: GuardOf<'_>) -> Result<Option<String>, Failure> {
    let given = means.given;
    let mut args: Vec<OsString> = vec!["guard".into()];
    args.extend(errand.iter().map(OsString::from));
    let mut flag = |name: &str, value: Option<OsString>| {
        let Some(value) = value else { return };
        args.extend([name.into(), value]);
    };
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    flag("--state-dir", Some(full(home.folder())));
    // A unit of systemd's has no home to look in. Another user has a configuration of their own.
    let own = matches!(of, GuardOf::Own(_));
    let usual = means.outside.config_file().filter(|file| own && file.is_file());
    flag("--config", given.config.as_ref().or(usual.as_ref()).map(|file| full(file)));
    flag("--mkey-file", given.mkey_file.as_deref().map(full));
    flag("--timeout", given.reach.timeout.map(|time| format!("{}ms", time.as_millis()).into()));
    flag("--retries", given.reach.retries.map(|retries| retries.to_string().into()));
    means.outside.start_guard(&args, of).map_err(|error| {
        Failure::new(Exit::Failed, format!("FD-7981: the guard of the change cannot be started: {error}"))
    })
}

/// Whoever starts finds what was left behind: a change that is pending and that nobody keeps gets a guard again.
pub fn resume(means: Means<'_>, say: &mut dyn FnMut(&str)) {
    for home in all(means).into_iter().filter(|home| !home.is_closed()) {
        let pending = match home.pending() {
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
            if let Some(why) = of_other_machine(&kept) {
                say(&why);
                continue;
            }
            if !kept.may_have_guard() {
                say(&of_another(&kept));
                continue;
            }
            let begun = &kept.read.told.begun;
            say(&format!(
                "change {} of {} is {} and its guard was gone; another one takes over",
                begun.id,
                begun.user,
                kept.read.told.phase.title()
            ));
            match start_keeper(means, &home, &kept) {
                Ok(remark) | Err(Failure { message: remark, .. }) => {
                    remark.iter().for_each(|remark| say(remark));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn a_change_is_meant_by_its_id_its_number_or_the_beginning_of_its_id() {
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
            assert_eq!(meaning(&known, text), ids, "{text}");
        }
    }
}
