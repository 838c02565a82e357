//! Who writes, and the process that keeps a change.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::sources::live_options;
use crate::access::Actuator;
use crate::script::{Exit, Failure, Reach};
use crate::source::{Right, Unwritable, open_actuator};

pub fn actuator(source: &str, reach: &Reach, right: &Right) -> Result<Box<dyn Actuator>, Failure> {
    match open_actuator(source, &live_options(reach)?, right) {
        Ok(actuator) => Ok(Box::new(actuator)),
        Err(Unwritable::Source(error)) => Err(error.into()),
        Err(refused) => Err(Failure::new(Exit::Refused, refused.to_string())),
    }
}

/// Where systemd runs, the guard is a unit of its own, so that a logout does not end it; elsewhere a session of its own has
/// to do, which it makes itself.
pub fn start(args: &[OsString], log: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    if Path::new("/run/systemd/system").is_dir() && unit(&program, args).is_ok_and(|ended| ended) {
        return Ok(());
    }
    let log = OpenOptions::new().create(true).append(true).open(log)?;
    let started =
        Command::new(program).args(args).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
    started.map(drop)
}

/// Whether systemd took it.
fn unit(program: &Path, args: &[OsString]) -> io::Result<bool> {
    let mut line = Command::new("systemd-run");
    line.args(["--quiet", "--collect", "--description=fabdeck guard"]);
    if !rustix::process::geteuid().is_root() {
        line.arg("--user");
    }
    line.arg("--").arg(program).args(args);
    let ended = line.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok(ended.success())
}
