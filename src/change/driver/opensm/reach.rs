//! How OpenSM is asked and told: over its console, or by its configuration and a signal.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::conf::Config;
use super::console::{Console, ConsoleError};
use super::process::{self, ManagerProcess};
use super::refusal::{Failed, Refusal};
use super::status::Status;

/// Where the OpenSM in charge is, on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpensmSite {
    /// Its configuration, which is read where no console says what is in force.
    pub conf: PathBuf,
    pub console: Option<SocketAddr>,
    /// The process that gets SIGHUP where there is no console, or where a rollback finds that taken; none: the only one
    /// that is called opensm.
    pub pid: Option<u32>,
    /// The file that holds the number of that process; it is read each time, so a restart of OpenSM does no harm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_file: Option<PathBuf>,
    /// How long it may take until the switches hold what the files say.
    pub patience: Duration,
}

impl Default for OpensmSite {
    fn default() -> Self {
        let patience = Duration::from_secs(120);
        Self { conf: "/etc/opensm/opensm.conf".into(), console: None, pid: None, pid_file: None, patience }
    }
}

/// What OpenSM says of itself.
#[derive(Debug)]
pub struct Told {
    pub config: Config,
    /// What its console says.
    pub status: Option<Status>,
    /// Where its process is known, the program that runs in it.
    pub program: Option<PathBuf>,
}

/// What OpenSM is told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// To load the file, whatever it keeps in its cache.
    Load,
    /// To sweep. Engines of its own that keep what is as short as anything else keep the tables in force so, which they do
    /// not when they are told to route anew.
    Sweep,
}

/// Where the kernel lists processes.
const PROC: &str = "/proc";

/// A way to say that there are new files, open before there are.
#[derive(Debug)]
pub enum Bell {
    Console(Box<Console>),
    Process(u32),
}

impl OpensmSite {
    /// As far as it can be asked.
    pub fn ask(&self) -> Result<Told, Refusal> {
        if let Some(at) = self.console {
            let asked = || {
                let mut console = Console::open(at)?;
                let status = Status::read(&console.ask("status")?);
                Ok((status, Config::read(&console.ask("dump_conf")?)))
            };
            let (status, config) = asked().map_err(|error| refused(at, error))?;
            return Ok(Told { config, status: Some(status), program: None });
        }
        let pid = self.process()?;
        // A process of somebody else's does not show its program.
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        Ok(Told { config: self.config()?, status: None, program })
    }

    /// The configuration on the disk.
    pub fn config(&self) -> Result<Config, Refusal> {
        let text = fs::read_to_string(&self.conf);
        let text = text.map_err(|error| Refusal::NoConfig { file: self.conf.clone(), error })?;
        Ok(Config::read(&text))
    }

    /// What the console says now, if there is one that has time.
    pub fn status(&self) -> Option<Status> {
        let mut console = Console::open(self.console?).ok()?;
        console.ask("status").ok().map(|text| Status::read(&text))
    }

    pub fn bell(&self) -> Result<Bell, Refusal> {
        match self.console {
            Some(at) => {
                let console = Console::open(at).map_err(|error| refused(at, error))?;
                Ok(Bell::Console(Box::new(console)))
            }
            None => self.process().map(Bell::Process),
        }
    }

    /// One for a rollback, which cannot wait until somebody leaves the console or names the process of an OpenSM that was
    /// started again.
    pub fn any_bell(&self) -> Result<Bell, Refusal> {
        let by_signal =
            || self.process().or_else(|_| Self { pid: None, pid_file: None, ..self.clone() }.process());
        // A pid file is kept up to date by whoever starts OpenSM: another process is another manager.
        if self.pid_file.is_some() && self.console.is_none() {
            return self.bell();
        }
        self.bell().or_else(|refusal| by_signal().map(Bell::Process).map_err(|_| refusal))
    }

    /// Names the process by its number or by the file that holds it, in place of the one that was named before.
    pub fn name_process(&mut self, process: &str) {
        (self.pid, self.pid_file) = match process.parse() {
            Ok(pid) => (Some(pid), None),
            Err(_) => (None, Some(std::path::absolute(process).unwrap_or_else(|_| process.into()))),
        };
    }

    /// OpenSM's process as it was named, for the audit trail.
    pub fn named_process(&self) -> Option<String> {
        let by_number = self.pid.map(|pid| format!("process {pid}"));
        self.pid_file.as_ref().map(|file| format!("the process of {}", file.display())).or(by_number)
    }

    /// Why the process that is named cannot be OpenSM's. What a pid file says is seen when it is needed: it may be written
    /// only once OpenSM is started again.
    pub(super) fn check_named(&self) -> Result<(), String> {
        match self.pid {
            Some(pid) => ManagerProcess::named(Path::new(PROC), pid).map(drop),
            None => Ok(()),
        }
    }

    fn process(&self) -> Result<u32, Refusal> {
        let named = match (&self.pid_file, self.pid) {
            (Some(file), _) => Some(process::read_pid_file(file).map_err(Refusal::NoProcess)?),
            (None, pid) => pid,
        };
        match named {
            Some(pid) => ManagerProcess::named(Path::new(PROC), pid).map_err(Refusal::NoProcess),
            None => ManagerProcess::only(Path::new(PROC)).map_err(Refusal::NoProcess),
        }
    }
}

fn refused(at: SocketAddr, error: ConsoleError) -> Refusal {
    let hint = match error {
        ConsoleError::Taken => "ask whoever has it to 'quit', or leave it out: then OpenSM is told by SIGHUP",
        _ => "'console loopback' and 'console_port' in OpenSM's configuration open one",
    };
    Refusal::Console { at, error, hint }
}

impl Bell {
    /// By signal it does either alike.
    pub fn ring(self, call: Call) -> Result<(), Failed> {
        let command = match call {
            Call::Load => "reroute",
            Call::Sweep => "resweep heavy",
        };
        match self {
            Self::Console(mut console) => {
                console.ask(command).map(drop).map_err(|error| Failed::NotTold(error.to_string()))
            }
            Self::Process(pid) => hang_up(pid).map_err(Failed::NotTold),
        }
    }
}

fn hang_up(pid: u32) -> Result<(), String> {
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    ManagerProcess::named(Path::new(PROC), pid)?;
    let Some(process) = process else { return Err(format!("{pid} is no process")) };
    let sent = rustix::process::kill_process(process, rustix::process::Signal::HUP);
    sent.map_err(|error| format!("SIGHUP to process {pid}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_gets_the_signal() {
        let own = std::process::id();
        let site = OpensmSite { pid: Some(own), ..OpensmSite::default() };
        assert!(site.bell().unwrap_err().to_string().contains("FD-5672"));
        assert!(hang_up(own).unwrap_err().contains("not called opensm"));
        assert!(hang_up(u32::MAX).is_err());
    }

    #[test]
    fn a_configuration_that_is_not_there_is_named() {
        let site = OpensmSite { conf: "/nowhere/opensm.conf".into(), ..OpensmSite::default() };
        let refused = site.config().unwrap_err().to_string();
        assert!(refused.contains("FD-5670") && refused.contains("/nowhere/opensm.conf"), "{refused}");
    }
}
