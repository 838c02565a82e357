//! The state that an agent needs after a restart: the flows on the slow lane, and its answers to the last notices. The
//! file is rewritten as a whole each time.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use fabdeck_files::open_regular;

/// Number of notices whose outcome is kept.
const MAX_OUTCOMES: usize = 64;
/// Longest state file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The agent's own folder in the state folder, which other programs may share.
const FOLDER: &str = "agent";
/// The highest unicast LID; below, the highest service level.
const MAX_LID: u16 = 0xBFFF;
const MAX_LEVEL: u8 = 15;

/// Flows to a LID that are on the slow lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlowFlows {
    pub service_level: u8,
    pub number: u32,
}

/// Where the flows to a hot-spot are after a notice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneOfFlows {
    Slow(SlowFlows),
    Fast,
    AsBefore,
}

/// The outcome of a notice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoticeOutcome {
    pub number: u32,
    pub hot_spot: u16,
    pub back: bool,
    /// Missing in files of older agents.
    #[serde(default)]
    pub service_level: u8,
    pub standing: u8,
    pub moved: u16,
    /// When the notice ended, in seconds since the Unix epoch. Files of older agents have 0, which is too old for an
    /// answer.
    #[serde(default)]
    pub at: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct StateContent {
    #[serde(default)]
    slow: BTreeMap<u16, SlowFlows>,
    #[serde(default)]
    outcomes: Vec<NoticeOutcome>,
}

#[derive(Debug, Default)]
pub struct AgentState {
    file: Option<PathBuf>,
    content: StateContent,
}

impl AgentState {
    /// Reads the state of a port from the agent's own folder in the state folder; without a state folder nothing is
    /// stored. Only this user may write that folder, and the file must be a regular one of this user: its content
    /// decides which flows move.
    pub fn open(folder: Option<&Path>, port: &str) -> io::Result<Self> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let folder = folder.join(FOLDER);
        make_private(&folder)?;
        let file = folder.join(format!("agent-{port}.json"));
        let content = match open_regular(&file, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => StateContent::default(),
            Err(error) => return Err(error),
            Ok(open) => read_content(&file, &open)?,
        };
        Ok(Self { file: Some(file), content })
    }

    pub fn slow(&self) -> &BTreeMap<u16, SlowFlows> {
        &self.content.slow
    }

    pub fn outcomes(&self) -> &[NoticeOutcome] {
        &self.content.outcomes
    }

    /// Stores the outcome of a notice, and where flows to its hot-spot are now.
    pub fn record_outcome(&mut self, outcome: NoticeOutcome, now: LaneOfFlows) -> io::Result<()> {
        match now {
            LaneOfFlows::Slow(slow) => drop(self.content.slow.insert(outcome.hot_spot, slow)),
            LaneOfFlows::Fast => drop(self.content.slow.remove(&outcome.hot_spot)),
            LaneOfFlows::AsBefore => {}
        }
        self.content.outcomes.push(outcome);
        let over = self.content.outcomes.len().saturating_sub(MAX_OUTCOMES);
        self.content.outcomes.drain(..over);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let beside = file.with_extension("new");
        // The file is created anew, so a planted file or link of that name has no effect.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        new.write_all(&serde_json::to_vec(&self.content)?)?;
        new.sync_all()?;
        fs::rename(&beside, file)
    }
}

fn refusal_error(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{} {what}, and is left alone", path.display()))
}

/// Creates the folder if it is missing; refuses a folder that other users can write.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let held = fs::symlink_metadata(folder)?;
    match () {
        () if !held.is_dir() => Err(refusal_error(folder, "is no folder")),
        () if held.uid() != own_user() => Err(refusal_error(folder, "belongs to another user")),
        () if held.mode() & 0o022 != 0 => Err(refusal_error(folder, "can be written by other users")),
        () => Ok(()),
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn read_content(path: &Path, file: &File) -> io::Result<StateContent> {
    if file.metadata()?.uid() != own_user() {
        return Err(refusal_error(path, "belongs to another user"));
    }
    let mut bytes = Vec::new();
    // The file may grow after its size was read.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let content: StateContent = serde_json::from_slice(&bytes)?;
    match content.find_flaw() {
        None => Ok(content),
        Some(flaw) => Err(refusal_error(path, &format!("was not written by an agent ({flaw})"))),
    }
}

impl StateContent {
    /// Finds content that no agent writes.
    fn find_flaw(&self) -> Option<String> {
        let lids = self.slow.keys().copied().chain(self.outcomes.iter().map(|outcome| outcome.hot_spot));
        let level = |level: u8| level > MAX_LEVEL;
        let mut levels = self.slow.values().map(|slow| slow.service_level);
        let mut lids = lids.filter(|lid| *lid > MAX_LID);
        if let Some(lid) = lids.next() {
            return Some(format!("{lid} is not the LID of a host"));
        }
        if levels.any(level) || self.outcomes.iter().any(|outcome| level(outcome.service_level)) {
            return Some(format!("a service level above {MAX_LEVEL}"));
        }
        (self.outcomes.len() > MAX_OUTCOMES).then(|| format!("more than {MAX_OUTCOMES} outcomes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(folder: &Path) -> String {
        AgentState::open(Some(folder), "0x1").unwrap_err().to_string()
    }

    #[test]
    fn planted_state_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, own) = (folder.path(), folder.path().join(FOLDER));
        AgentState::open(Some(folder), "0x1").unwrap();
        let file = own.join("agent-0x1.json");
        let target = folder.join("target");
        fs::write(&target, "{}").unwrap();
        for planted in [target.as_path(), Path::new("/dev/zero"), Path::new("/nowhere")] {
            std::os::unix::fs::symlink(planted, &file).unwrap();
            assert!(refusal(folder).contains("no regular file"), "{}", planted.display());
            fs::remove_file(&file).unwrap();
        }
        // To open a pipe without a writer would block forever.
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).unwrap();
        assert!(refusal(folder).contains("no regular file"));
        fs::remove_file(&file).unwrap();
        fs::write(&file, vec![b' '; 2 << 20]).unwrap();
        assert!(refusal(folder).contains("too large"), "{}", refusal(folder));
        for forged in [
            "{\"slow\":{\"65535\":{\"service_level\":1,\"number\":1}}}",
            "{\"slow\":{\"9\":{\"service_level\":16,\"number\":1}}}",
        ] {
            fs::write(&file, forged).unwrap();
            assert!(refusal(folder).contains("not written by an agent"), "{forged}");
        }
        fs::write(&file, "{}").unwrap();
        AgentState::open(Some(folder), "0x1").unwrap();
        // Only root can give a file away; tests run as root in CI.
        if own_user() == 0 {
            std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
            assert!(refusal(folder).contains("another user"));
            std::os::unix::fs::chown(&file, Some(0), None).unwrap();
        }
        fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(refusal(folder).contains("can be written by other users"));
    }

    #[test]
    fn a_link_planted_where_the_new_file_goes_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let mut kept = AgentState::open(Some(folder.path()), "0x1").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("agent/agent-0x1.new")).unwrap();
        let (number, hot_spot, back, service_level, standing, moved, at) = (5, 9, false, 1, 2, 1, 7);
        let outcome = NoticeOutcome { number, hot_spot, back, service_level, standing, moved, at };
        kept.record_outcome(outcome, LaneOfFlows::AsBefore).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(AgentState::open(Some(folder.path()), "0x1").unwrap().outcomes().len(), 1);
    }

    #[test]
    fn stored_state_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = |number, back| NoticeOutcome {
            number,
            hot_spot: 9,
            back,
            service_level: 1,
            standing: 2,
            moved: 1,
            at: 7,
        };
        let slow = SlowFlows { service_level: 1, number: 5 };
        let open = || AgentState::open(Some(&folder.path().join("deep")), "0x1").unwrap();
        let mut kept = open();
        kept.record_outcome(outcome(5, false), LaneOfFlows::Slow(slow.clone())).unwrap();
        kept.record_outcome(outcome(6, false), LaneOfFlows::AsBefore).unwrap();
        assert_eq!((open().slow().get(&9), open().outcomes().len()), (Some(&slow), 2));
        open().record_outcome(outcome(7, true), LaneOfFlows::Fast).unwrap();
        assert_eq!(open().slow().len(), 0);
        (0..200)
            .for_each(|number| kept.record_outcome(outcome(number, true), LaneOfFlows::AsBefore).unwrap());
        assert_eq!(open().outcomes().len(), MAX_OUTCOMES);
        fs::write(folder.path().join("deep/agent/agent-0x1.json"), "{\"slow\":7").unwrap();
        assert!(AgentState::open(Some(&folder.path().join("deep")), "0x1").is_err());
    }
}
