//! Where OpenSM runs and how it is reached, as the journal of a change holds it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

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

impl OpensmSite {
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
}
