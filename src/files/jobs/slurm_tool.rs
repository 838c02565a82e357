//! Slurm's programs for nodes: `sinfo` states them, and `scontrol` changes them. Each runs within a timeout.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::slurm_process::{MOST_BYTES, SlurmProcess, failure_words};

/// Time between two polls of a running program.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Marks of a state: it does not answer, or is powered, rebooted or reserved for maintenance.
const MARKS: &[char] = &['*', '~', '#', '!', '%', '$', '@', '^'];

/// A monotonic clock.
pub type SlurmClock<'c> = &'c dyn Fn() -> Duration;

/// The programs, and the time that each may take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlurmTools {
    /// A bare name is looked up in PATH.
    pub sinfo: PathBuf,
    pub scontrol: PathBuf,
    pub timeout: Duration,
}

/// Why a program gave no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SlurmToolError {
    #[error("FD-4606: {program} cannot be run: {why}; give its path in [slurm] of the policy")]
    NoProgram { program: String, why: String },
    #[error(
        "FD-4607: {program} did not answer within {} s and was killed; check Slurm's controller (scontrol ping)",
        .timeout.as_secs_f64()
    )]
    Silent { program: String, timeout: Duration },
    #[error(
        "FD-4608: {program} failed: {message}; check Slurm's controller (scontrol ping), and that this user is an operator"
    )]
    Failed { program: String, message: String },
    #[error(
        "FD-4609: {program} printed '{line}', which is no line of a node; check that it is Slurm's sinfo"
    )]
    NoNode { program: String, line: String },
}

/// What may be done about a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlurmNodeUse {
    /// It runs jobs, or could.
    InUse,
    /// It is drained, and some jobs may still run there.
    Drained,
    /// It is down, reserved, powered, in maintenance, or in a state that is not known here: it is left alone.
    Other,
}

/// A node of Slurm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlurmNode {
    pub name: String,
    /// The state as `sinfo` writes it.
    pub state: String,
    /// Why it is drained or down; empty without a reason.
    pub reason: String,
}

impl SlurmNode {
    pub fn node_use(&self) -> SlurmNodeUse {
        if self.state.contains(MARKS) {
            return SlurmNodeUse::Other;
        }
        match self.state.as_str() {
            "idle" | "alloc" | "mix" | "comp" | "plnd" | "idle-" | "mix-" | "alloc+" => SlurmNodeUse::InUse,
            "drain" | "drng" | "drained" | "draining" => SlurmNodeUse::Drained,
            _ => SlurmNodeUse::Other,
        }
    }
}

impl SlurmTools {
    /// All nodes, or one of them. A node of several partitions has a line in each.
    pub fn read_nodes(
        &self,
        only: Option<&str>,
        now: SlurmClock<'_>,
    ) -> Result<Vec<SlurmNode>, SlurmToolError> {
        let mut args = vec!["-h", "-a", "-N", "-o", "%N|%t|%E"];
        if let Some(node) = only {
            args.extend(["-n", node]);
        }
        let text = self.run(&self.sinfo, &args, "SINFO_", now)?;
        let mut nodes: Vec<SlurmNode> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let node = read_node(line).ok_or_else(|| SlurmToolError::NoNode {
                program: self.sinfo.display().to_string(),
                line: line.chars().take(200).collect(),
            })?;
            nodes.push(node);
        }
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        nodes.dedup_by(|a, b| a.name == b.name);
        Ok(nodes)
    }

    /// Drains a node, where it still is as it was read. Returns whether it was.
    pub fn drain(
        &self,
        before: &SlurmNode,
        reason: &str,
        now: SlurmClock<'_>,
    ) -> Result<bool, SlurmToolError> {
        let reason = format!("Reason={reason}");
        self.update(before, &["State=DRAIN", &reason], now)
    }

    /// Undrains a node, where it still is as it was read. Returns whether it was.
    pub fn undrain(&self, before: &SlurmNode, now: SlurmClock<'_>) -> Result<bool, SlurmToolError> {
        self.update(before, &["State=UNDRAIN"], now)
    }

    fn update(&self, before: &SlurmNode, what: &[&str], now: SlurmClock<'_>) -> Result<bool, SlurmToolError> {
        let present = self.read_nodes(Some(&before.name), now)?;
        let is_same = |node: &SlurmNode| node.node_use() == before.node_use() && node.reason == before.reason;
        if !present.iter().any(is_same) {
            return Ok(false);
        }
        let name = format!("NodeName={}", before.name);
        self.run(&self.scontrol, &[&["update", &name], what].concat(), "SCONTROL_", now)?;
        Ok(true)
    }

    /// Runs a program to its end, or to the timeout.
    fn run(
        &self,
        program: &Path,
        args: &[&str],
        filters: &str,
        now: SlurmClock<'_>,
    ) -> Result<String, SlurmToolError> {
        let name = || program.display().to_string();
        let mut running = SlurmProcess::start(program, args, filters)
            .map_err(|error| SlurmToolError::NoProgram { program: name(), why: error.to_string() })?;
        let began = now();
        loop {
            let elapsed = now().saturating_sub(began);
            if let Some(status) = running.read_output(elapsed) {
                return match status.success() {
                    true => Ok(String::from_utf8_lossy(&running.out).into_owned()),
                    false => Err(SlurmToolError::Failed {
                        program: name(),
                        message: failure_words(&running, status),
                    }),
                };
            }
            if elapsed >= self.timeout || running.out.len() > MOST_BYTES {
                return Err(SlurmToolError::Silent { program: name(), timeout: self.timeout });
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// A line `node1|idle|none`. A reason may have bars itself.
fn read_node(line: &str) -> Option<SlurmNode> {
    let mut parts = line.splitn(3, '|').map(str::trim);
    let (name, state, reason) = (parts.next()?, parts.next()?, parts.next()?);
    let reason = if reason == "none" { "" } else { reason };
    let is_named = !name.is_empty() && !name.contains(char::is_whitespace) && !state.is_empty();
    is_named.then(|| SlurmNode { name: name.to_owned(), state: state.to_owned(), reason: reason.to_owned() })
}
