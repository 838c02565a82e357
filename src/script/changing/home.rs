//! Where changes are kept, and what is still pending there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::change::{Home, HomeError, Kept};
use crate::script::context::Context;
use crate::script::{Exit, Failure};

/// One folder for all users, so that nobody changes a live fabric behind another's back.
const ALL_USERS: &str = "/var/lib/fabdeck";

/// The folder for changes of a source.
pub fn of_source(context: &Context<'_, '_>, simulated: bool) -> Result<Home, Failure> {
    let own = context.outside.user_state().filter(|_| simulated);
    let folder = asked(context).unwrap_or_else(|| own.unwrap_or_else(|| ALL_USERS.into()));
    Home::open(&folder).map_err(refused)
}

fn asked(context: &Context<'_, '_>) -> Option<PathBuf> {
    context.globals.state_dir.as_ref().or(context.config.state_dir.as_ref()).cloned()
}

/// Every folder that changes may be in and that is there.
pub fn all(context: &Context<'_, '_>) -> Vec<Home> {
    let usual = || [Some(ALL_USERS.into()), context.outside.user_state()].into_iter().flatten().collect();
    let folders: Vec<PathBuf> = asked(context).map_or_else(usual, |folder| vec![folder]);
    let there = folders.into_iter().filter(|folder| folder.join("changes").is_dir());
    there.filter_map(|folder| Home::open(&folder).ok()).collect()
}

/// The change of an id, wherever it is.
pub fn find(context: &Context<'_, '_>, id: &str) -> Result<(Home, Kept), Failure> {
    let mut unknown = None;
    for home in all(context) {
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
        HomeError::Folder { .. } | HomeError::Pending { .. } | HomeError::Unread { .. } => Exit::Refused,
        HomeError::Journal(_) => Exit::Failed,
        HomeError::Unknown(_) => Exit::Usage,
    };
    Failure::new(exit, error.to_string())
}

/// Starts a process that keeps what is begun in a folder.
pub fn start_guard(
    context: &Context<'_, '_>,
    home: &Home,
    errand: &[&str],
    log: &Path,
) -> Result<(), Failure> {
    let globals = context.globals;
    let mut args: Vec<OsString> = vec!["guard".into()];
    args.extend(errand.iter().map(OsString::from));
    let mut flag = |name: &str, value: Option<OsString>| {
        let Some(value) = value else { return };
        args.extend([name.into(), value]);
    };
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    flag("--state-dir", Some(full(home.folder())));
    flag("--config", globals.config.as_deref().map(full));
    flag("--mkey-file", globals.mkey_file.as_deref().map(full));
    flag("--timeout", globals.timeout.map(|time| format!("{}ms", time.as_millis()).into()));
    flag("--retries", globals.retries.map(|retries| retries.to_string().into()));
    context.outside.start_guard(&args, log).map_err(|error| {
        Failure::new(Exit::Failed, format!("FD-7981: the guard of the change cannot be started: {error}"))
    })
}

/// Whoever starts finds what was left behind: a change that is pending and that nobody keeps gets a guard again.
pub fn resume(context: &mut Context<'_, '_>) {
    for home in all(context) {
        let Ok(pending) = home.pending() else { continue };
        for kept in pending.into_iter().flatten() {
            if !kept.is_abandoned() {
                continue;
            }
            let begun = &kept.read.told.begun;
            context.output.say(&format!(
                "change {} of {} is {} and its guard was gone; another one takes over",
                begun.id,
                begun.user,
                kept.read.told.phase.title()
            ));
            if let Err(Failure { message: Some(message), .. }) =
                start_guard(context, &home, &["--resume"], &kept.log())
            {
                context.output.say(&message);
            }
        }
    }
}
