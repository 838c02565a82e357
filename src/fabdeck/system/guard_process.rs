//! Opens actuators, and starts the guard process of a change.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::access::{GuardOwner, SourceOptions};
use super::descriptors::close_files_on_exec;
use super::open_sources::live_options;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use fabdeck_change::Owner;
use fabdeck_files::open_regular;
use fabdeck_live::{LiveOptions, SimulatorPool, WriteAccessError, WriteRight, open_actuator};
use fabdeck_mad::access::Actuator;

/// This folder exists while systemd is the init process of the machine.
const SYSTEMD_FOLDER: &str = "/run/systemd/system";
/// The program of this process, even if its file was replaced or deleted.
const RUNNING_PROGRAM: &str = "/proc/self/exe";
/// This folder has a file for each user whose services continue after a logout.
const LINGER_FOLDER: &str = "/var/lib/systemd/linger";

const LOGOUT_WARNING: &str = "systemd may end the guard when you have logged out everywhere, and then nothing is rolled back until \
                            fabdeck starts again; 'loginctl enable-linger' lets the guard run on";

pub fn connect_actuator(
    source: &str,
    reach: &SourceOptions,
    right: &WriteRight,
    own: Option<SimulatorPool>,
) -> Result<Box<dyn Actuator>, Failure> {
    match open_actuator(source, &LiveOptions { own, ..live_options(reach)? }, right) {
        Ok(actuator) => Ok(Box::new(actuator)),
        Err(WriteAccessError::Source(error)) => Err(error.into()),
        Err(refused) => Err(Failure::new(Exit::Refused, refused.to_string())),
    }
}

/// How a guard is separated from the session that starts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum GuardIsolation {
    /// A unit of the machine's systemd.
    Unit,
    /// A unit of the user's systemd, for a user with lingering enabled.
    UserUnit,
    /// A session of its own on a machine with systemd, which may end the guard at the user's logout.
    UntilLogout,
    /// A session of its own on a machine without systemd, where a logout does not end it.
    Session,
}

impl GuardIsolation {
    fn of(booted: bool, root: bool, lingers: bool) -> Self {
        match (booted, root, lingers) {
            (false, ..) => Self::Session,
            (true, true, _) => Self::Unit,
            (true, false, true) => Self::UserUnit,
            (true, false, false) => Self::UntilLogout,
        }
    }

    fn detect() -> Self {
        let user = std::env::var_os("USER").filter(|user| !user.is_empty());
        let lingers = user.is_some_and(|user| Path::new(LINGER_FOLDER).join(user).exists());
        Self::of(Path::new(SYSTEMD_FOLDER).is_dir(), rustix::process::geteuid().is_root(), lingers)
    }
}

/// Starts a guard: with systemd as a unit, so that a logout does not end it, otherwise as a process that makes its
/// own session. Returns a remark for the operator, if there is one.
pub fn start_guard(
    program: Option<&Path>,
    args: &[OsString],
    of: GuardOwner<'_>,
) -> io::Result<Option<String>> {
    let program = &program.map_or_else(std::env::current_exe, |program| Ok(program.to_owned()))?;
    let log = match of {
        GuardOwner::Own(log) => log,
        GuardOwner::Other(owner) => {
            return wait_until_started(&mut command_as_owner(program, args, owner)).map(|()| None);
        }
    };
    // A unit runs in another working directory, so its log needs an absolute path.
    let log = &std::path::absolute(log)?;
    // This process creates the log, so that only its owner can read it, whatever the umask and systemd do.
    let mut opened = open_regular(log, OpenOptions::new().create(true).append(true).mode(0o600))?;
    let remark = match GuardIsolation::detect() {
        GuardIsolation::Session => None,
        GuardIsolation::UntilLogout => Some(LOGOUT_WARNING.to_owned()),
        isolation => match start_unit(program, isolation, args, log) {
            Ok(()) => return Ok(None),
            Err(why) => Some(format!(
                "systemd-run did not start the guard as a unit ({why}); the guard has a session of its own, which systemd \
                 may end when you have logged out"
            )),
        },
    };
    if let Some(remark) = &remark {
        writeln!(opened, "fabdeck: {remark}")?;
    }
    let mut guard = command_of(program);
    guard.args(args).stdin(Stdio::null()).stdout(opened.try_clone()?).stderr(opened);
    wait_until_started(&mut guard).map(|()| remark)
}

/// A command that runs this program. An update may have deleted its file since this process began; the kernel still has
/// the program then.
fn command_of(program: &Path) -> Command {
    let mut command = Command::new(if program.exists() { program } else { Path::new(RUNNING_PROGRAM) });
    command.arg0(program);
    command
}

fn wait_until_started(guard: &mut Command) -> io::Result<()> {
    close_files_on_exec()?;
    let mut guard = guard.spawn()?;
    // A console outlives many guards and has to reap them.
    std::thread::spawn(move || guard.wait());
    Ok(())
}

/// Command for the guard of another user's change. It runs as that user, without the user's further groups and
/// without files or environment of root. The group is that of the folder, or
/// no group if the folder has root's group.
fn command_as_owner(program: &Path, args: &[OsString], owner: Owner) -> Command {
    const NO_GROUP: u32 = 65534;
    let mut guard = command_of(program);
    guard.args(args).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    guard.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Setting the user makes the child drop root's groups.
    guard.gid(if owner.group == 0 { NO_GROUP } else { owner.group }).uid(owner.user);
    guard
}

/// Warning that systemd may end the guard at logout, if the user has no lingering enabled.
pub fn lifetime_warning() -> Option<String> {
    (GuardIsolation::detect() == GuardIsolation::UntilLogout).then(|| LOGOUT_WARNING.to_owned())
}

/// Starts the guard with `systemd-run`; the error says why it failed.
fn start_unit(
    program: &Path,
    isolation: GuardIsolation,
    args: &[OsString],
    log: &Path,
) -> Result<(), String> {
    let mut line = Command::new("systemd-run");
    line.args(unit_arguments(isolation, log)).arg("--").arg(program).args(args);
    let ended = line.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&ended.stderr);
    let first = output.lines().map(str::trim).find(|line| !line.is_empty());
    Err(first.map_or_else(|| ended.status.to_string(), str::to_owned))
}

/// Arguments of `systemd-run`: it returns once the program runs, and the output of the guard goes to the log of the
/// change.
fn unit_arguments(isolation: GuardIsolation, log: &Path) -> Vec<OsString> {
    let fixed = [
        "--quiet",
        "--collect",
        "--service-type=exec",
        "--description=fabdeck guard",
        // As long as a guard may take to complete what it writes or restores after SIGTERM.
        "--property=TimeoutStopSec=600",
    ];
    let stream = |name: &str| {
        let mut word = OsString::from(format!("--property=Standard{name}=append:"));
        word.push::<&OsStr>(log.as_ref());
        word
    };
    let own = (isolation == GuardIsolation::UserUnit).then(|| OsString::from("--user"));
    let fixed = fixed.map(OsString::from).into_iter();
    fixed.chain([stream("Output"), stream("Error")]).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_chosen_where_a_logout_does_not_end_it() {
        for (booted, root, lingers, isolation) in [
            (false, true, true, GuardIsolation::Session),
            (false, false, false, GuardIsolation::Session),
            (true, true, false, GuardIsolation::Unit),
            (true, false, true, GuardIsolation::UserUnit),
            (true, false, false, GuardIsolation::UntilLogout),
        ] {
            assert_eq!(GuardIsolation::of(booted, root, lingers), isolation, "{booted} {root} {lingers}");
        }
        let words = |isolation| unit_arguments(isolation, Path::new("/var/a log"));
        assert!(!words(GuardIsolation::Unit).iter().any(|word| word == "--user"));
        assert_eq!(words(GuardIsolation::UserUnit).last().unwrap(), "--user");
        assert!(
            words(GuardIsolation::Unit)
                .iter()
                .any(|word| word == "--property=StandardError=append:/var/a log")
        );
    }
}
