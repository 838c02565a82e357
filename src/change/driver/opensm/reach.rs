//! The ways to reach OpenSM: its console, or its configuration and a signal.

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

/// How to reach the OpenSM in charge, on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpensmSite {
    /// OpenSM's configuration, which fabdeck reads if there is no console to ask.
    pub conf: PathBuf,
    pub console: Option<SocketAddr>,
    /// The process that gets SIGHUP if there is no console, or if the console is taken during a rollback. `None`: the
    /// only process with the name opensm.
    pub pid: Option<u32>,
    /// The file with the PID of that process. It is read each time, so OpenSM may restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_file: Option<PathBuf>,
    /// How long the switches may take until they hold the tables of the files.
    pub patience: Duration,
}

impl Default for OpensmSite {
    fn default() -> Self {
        let patience = Duration::from_secs(120);
        Self { conf: "/etc/opensm/opensm.conf".into(), console: None, pid: None, pid_file: None, patience }
    }
}

/// The settings and the state of OpenSM.
#[derive(Debug)]
pub struct Told {
    pub config: Config,
    /// The output of the console's `status`, if there is a console.
    pub status: Option<Status>,
    /// The path of the program, if it is known.
    pub program: Option<PathBuf>,
}

/// A request to OpenSM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// Load the file, and ignore the cache.
    Load,
    /// Sweep. Routing engines that prefer the present entry among equally short ones keep the tables in force. After
    /// `reroute` they compute all entries anew.
    Sweep,
}

/// Where the kernel lists processes.
const PROC: &str = "/proc";

/// A channel to send OpenSM a request. It is opened before the files are put in place.
#[derive(Debug)]
pub enum Bell {
    Console(Box<Console>),
    Process(u32),
}

impl OpensmSite {
    /// Asks OpenSM for its settings and its state.
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
        // The program of another user's process is not visible.
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        Ok(Told { config: self.config()?, status: None, program })
    }

    /// Reads the configuration file.
    pub fn config(&self) -> Result<Config, Refusal> {
        let text = fs::read_to_string(&self.conf);
        let text = text.map_err(|error| Refusal::NoConfig { file: self.conf.clone(), error })?;
        Ok(Config::read(&text))
    }

    /// The present output of `status`, if the console is free.
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

    /// Opens a channel for a rollback. It cannot wait until another client leaves the console, or until the operator
    /// names the process of a restarted OpenSM.
    pub fn any_bell(&self) -> Result<Bell, Refusal> {
        let by_signal =
            || self.process().or_else(|_| Self { pid: None, pid_file: None, ..self.clone() }.process());
        // The start script of OpenSM keeps its pid file up to date, so any other process is another subnet manager.
        if self.pid_file.is_some() && self.console.is_none() {
            return self.bell();
        }
        self.bell().or_else(|refusal| by_signal().map(Bell::Process).map_err(|_| refusal))
    }

    /// Names the process by its PID or by its pid file, in place of the one before.
    pub fn name_process(&mut self, process: &str) {
        (self.pid, self.pid_file) = match process.parse() {
            Ok(pid) => (Some(pid), None),
            Err(_) => (None, Some(std::path::absolute(process).unwrap_or_else(|_| process.into()))),
        };
    }

    /// The process that was named, for the audit trail.
    pub fn named_process(&self) -> Option<String> {
        let by_number = self.pid.map(|pid| format!("process {pid}"));
        self.pid_file.as_ref().map(|file| format!("the process of {}", file.display())).or(by_number)
    }

    /// Why the named process cannot be OpenSM. A pid file is not checked here: it may be written only when OpenSM
    /// starts again.
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
    /// Sends the request. A signal means the same for both.
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
