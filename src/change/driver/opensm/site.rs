//! The ways to reach OpenSM: its console, or its configuration and a signal.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::conf::OpensmConf;
use super::console::{OpensmConsole, OpensmConsoleError};
use super::process;
use super::refusal::{OpensmError, OpensmRefusal};
use super::status::OpensmStatus;
use crate::opensm_site::OpensmSite;
use crate::system::{OpenMode, System};

/// The settings and the state of OpenSM.
#[derive(Debug)]
pub struct OpensmReport {
    pub config: OpensmConf,
    /// The output of the console's `status`, if there is a console.
    pub status: Option<OpensmStatus>,
    /// The path of the program, if it is known.
    pub program: Option<PathBuf>,
}

/// A request to OpenSM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpensmCommand {
    /// Load the file, and ignore the cache.
    Load,
    /// Sweep. Routing engines that prefer the present entry among equally short ones keep the tables in force. After
    /// `reroute` they compute all entries anew.
    Sweep,
}

/// Longest configuration in bytes; one with all options has about 20,000.
const MAX_CONF_BYTES: u64 = 4 << 20;
/// Longest pid file in bytes.
const MAX_PID_FILE_BYTES: u64 = 64;

/// A channel to send OpenSM a request. It is opened before the files are put in place.
#[derive(Debug)]
pub enum ReloadSignal {
    Console(Box<OpensmConsole>),
    Process(u32),
}

impl OpensmSite {
    /// Asks OpenSM for its settings and its state.
    pub fn query(&self, system: &dyn System) -> Result<OpensmReport, OpensmRefusal> {
        if let Some(at) = self.console {
            let asked = || {
                let mut console = OpensmConsole::open(at, &self.console_users(system))?;
                let status = OpensmStatus::read(&console.send_command("status")?);
                Ok((status, OpensmConf::read(&console.send_command("dump_conf")?)))
            };
            let (status, config) = asked().map_err(|error| console_refusal(at, error))?;
            return Ok(OpensmReport { config, status: Some(status), program: None });
        }
        let pid = self.find_process(system)?;
        let program = system.process_status(pid).and_then(|status| status.program);
        Ok(OpensmReport { config: self.config(system)?, status: None, program })
    }

    /// Reads the configuration file.
    pub fn config(&self, system: &dyn System) -> Result<OpensmConf, OpensmRefusal> {
        let file = system.resolve_links(&self.conf);
        let bytes = file.and_then(|file| system.open(&file, OpenMode::Read)?.read(MAX_CONF_BYTES));
        let bytes = bytes.map_err(|error| OpensmRefusal::NoConfig { file: self.conf.clone(), error })?;
        Ok(OpensmConf::read(&String::from_utf8_lossy(&bytes)))
    }

    /// The present output of `status`, if the console is free.
    pub fn status(&self, system: &dyn System) -> Option<OpensmStatus> {
        let mut console = OpensmConsole::open(self.console?, &self.console_users(system)).ok()?;
        console.send_command("status").ok().map(|text| OpensmStatus::read(&text))
    }

    pub fn open_signal(&self, system: &dyn System) -> Result<ReloadSignal, OpensmRefusal> {
        match self.console {
            Some(at) => {
                let opened = OpensmConsole::open(at, &self.console_users(system));
                let console = opened.map_err(|error| console_refusal(at, error))?;
                Ok(ReloadSignal::Console(Box::new(console)))
            }
            None => self.find_process(system).map(ReloadSignal::Process),
        }
    }

    /// The users whose process may answer as OpenSM's console: root, this user, and the user of a process that the
    /// operator named.
    fn console_users(&self, system: &dyn System) -> Vec<u32> {
        const ROOT: u32 = 0;
        let is_named = self.pid.is_some() || self.pid_file.is_some();
        let named = is_named.then(|| self.find_process(system).ok()).flatten();
        let named = named.and_then(|pid| system.process_status(pid)).map(|status| status.user);
        [ROOT, system.user()].into_iter().chain(named).collect()
    }

    /// Opens a channel for a rollback. It cannot wait until another client leaves the console, or until the operator
    /// names the process of a restarted OpenSM.
    pub fn open_any_signal(&self, system: &dyn System) -> Result<ReloadSignal, OpensmRefusal> {
        let by_signal = || self.find_process(system).or_else(|_| find_only_process(system));
        // The start script of OpenSM keeps its pid file up to date, so any other process is another subnet manager.
        if self.pid_file.is_some() && self.console.is_none() {
            return self.open_signal(system);
        }
        self.open_signal(system)
            .or_else(|refusal| by_signal().map(ReloadSignal::Process).map_err(|_| refusal))
    }

    /// Why the named process cannot be OpenSM. A pid file is not checked here: it may be written only when OpenSM
    /// starts again.
    pub(crate) fn check_named_process(&self, system: &dyn System) -> Result<(), String> {
        match self.pid {
            Some(pid) => process::check_named(pid, system.process_status(pid)).map(drop),
            None => Ok(()),
        }
    }

    fn find_process(&self, system: &dyn System) -> Result<u32, OpensmRefusal> {
        let named = match (&self.pid_file, self.pid) {
            (Some(file), _) => Some(read_pid_file(system, file).map_err(OpensmRefusal::NoProcess)?),
            (None, pid) => pid,
        };
        match named {
            Some(pid) => {
                process::check_named(pid, system.process_status(pid)).map_err(OpensmRefusal::NoProcess)
            }
            None => find_only_process(system),
        }
    }
}

fn find_only_process(system: &dyn System) -> Result<u32, OpensmRefusal> {
    let listed = system.list_pids().into_iter().filter_map(|pid| Some((pid, system.process_status(pid)?)));
    process::find_only(listed, system.user()).map_err(OpensmRefusal::NoProcess)
}

fn read_pid_file(system: &dyn System, file: &Path) -> Result<u32, String> {
    let bytes = system.open(file, OpenMode::Read).and_then(|open| open.read(MAX_PID_FILE_BYTES));
    let bytes = bytes.map_err(|error| format!("{}: {error}", file.display()))?;
    process::parse_pid_file(&bytes)
        .ok_or_else(|| format!("{} does not hold the number of a process", file.display()))
}

fn console_refusal(at: SocketAddr, error: OpensmConsoleError) -> OpensmRefusal {
    let hint = match error {
        OpensmConsoleError::Taken => {
            "end its other client with 'quit', or leave the option out: then OpenSM gets SIGHUP"
        }
        OpensmConsoleError::Foreign { .. } | OpensmConsoleError::Unidentified => {
            "end that process and start OpenSM, or leave the option out: then OpenSM gets SIGHUP"
        }
        _ => "'console loopback' and 'console_port' in OpenSM's configuration open one",
    };
    OpensmRefusal::Console { at, error, hint }
}

impl ReloadSignal {
    /// Sends the request. A signal means the same for both.
    pub fn send(self, system: &dyn System, call: OpensmCommand) -> Result<(), OpensmError> {
        let command = match call {
            OpensmCommand::Load => "reroute",
            OpensmCommand::Sweep => "resweep heavy",
        };
        match self {
            Self::Console(mut console) => console
                .send_command(command)
                .map(drop)
                .map_err(|error| OpensmError::NotNotified(error.to_string())),
            Self::Process(pid) => send_hangup(system, pid).map_err(OpensmError::NotNotified),
        }
    }
}

fn send_hangup(system: &dyn System, pid: u32) -> Result<(), String> {
    process::check_named(pid, system.process_status(pid))?;
    system.hang_up(pid).map_err(|error| format!("SIGHUP to process {pid}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::LocalSystem;

    #[test]
    fn nothing_else_gets_the_signal() {
        let own = std::process::id();
        let site = OpensmSite { pid: Some(own), ..OpensmSite::default() };
        assert!(site.open_signal(&LocalSystem).unwrap_err().to_string().contains("FD-5672"));
        assert!(send_hangup(&LocalSystem, own).unwrap_err().contains("not called opensm"));
        assert!(send_hangup(&LocalSystem, u32::MAX).is_err());
    }

    #[test]
    fn a_pid_file_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("opensm.pid");
        let read = |file: &Path| read_pid_file(&LocalSystem, file);
        assert!(read(&file).unwrap_err().contains("opensm.pid"));
        std::fs::write(&file, "4711\n").unwrap();
        assert_eq!(read(&file), Ok(4711));
        std::fs::write(&file, "none").unwrap();
        assert!(read(&file).unwrap_err().contains("does not hold"));
        assert!(read(Path::new("/dev/zero")).is_err(), "a device is no pid file");
    }

    #[test]
    fn a_configuration_that_is_not_there_is_named() {
        let site = OpensmSite { conf: "/nowhere/opensm.conf".into(), ..OpensmSite::default() };
        let refused = site.config(&LocalSystem).unwrap_err().to_string();
        assert!(refused.contains("FD-5670") && refused.contains("/nowhere/opensm.conf"), "{refused}");
    }

    #[test]
    fn a_console_may_be_of_root_of_this_user_and_of_the_named_process() {
        let own = LocalSystem.user();
        let site = OpensmSite::default();
        assert_eq!(site.console_users(&LocalSystem), [0, own]);
        // This process is not called opensm.
        let named = OpensmSite { pid: Some(std::process::id()), ..OpensmSite::default() };
        assert_eq!(named.console_users(&LocalSystem), [0, own]);
    }
}
