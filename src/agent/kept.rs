//! What an agent has to know after it was started again: which flows are on the slow lane, and what it said of the last
//! notices. One file, written whole each time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Notices whose outcome is kept.
const OUTCOMES_MOST: usize = 64;
/// No file of ours is longer.
const FILE_MOST: u64 = 1 << 20;

/// Flows to a LID that are on the slow lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Slow {
    pub service_level: u8,
    pub number: u32,
}

/// What came of a notice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub number: u32,
    pub hot_spot: u16,
    pub back: bool,
    /// Not in what older agents left.
    #[serde(default)]
    pub service_level: u8,
    pub standing: u8,
    pub moved: u16,
    /// When it came, in seconds of the world (Unix); older agents left none, and then it is too old to be an answer.
    #[serde(default)]
    pub at: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    slow: BTreeMap<u16, Slow>,
    #[serde(default)]
    outcomes: Vec<Outcome>,
}

#[derive(Debug, Default)]
pub struct Kept {
    file: Option<PathBuf>,
    content: Content,
}

impl Kept {
    /// Of a port, in a folder that is made where there is none; without a folder nothing is kept.
    pub fn open(folder: Option<&Path>, port: &str) -> io::Result<Self> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("agent-{port}.json"));
        let content = match fs::metadata(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::default(),
            Err(error) => return Err(error),
            Ok(facts) if facts.len() > FILE_MOST => return Err(io::ErrorKind::FileTooLarge.into()),
            Ok(_) => serde_json::from_slice(&fs::read(&file)?)?,
        };
        Ok(Self { file: Some(file), content })
    }

    pub fn slow(&self) -> &BTreeMap<u16, Slow> {
        &self.content.slow
    }

    pub fn outcomes(&self) -> &[Outcome] {
        &self.content.outcomes
    }

    /// What came of a notice, and where flows to its hot-spot are now: on the slow lane, not there any more, or as before.
    pub fn note(&mut self, outcome: Outcome, now: Option<Option<Slow>>) -> io::Result<()> {
        match now {
            Some(Some(slow)) => drop(self.content.slow.insert(outcome.hot_spot, slow)),
            Some(None) => drop(self.content.slow.remove(&outcome.hot_spot)),
            None => {}
        }
        self.content.outcomes.push(outcome);
        let over = self.content.outcomes.len().saturating_sub(OUTCOMES_MOST);
        self.content.outcomes.drain(..over);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let beside = file.with_extension("new");
        let mut new = fs::File::create(&beside)?;
        new.write_all(&serde_json::to_vec(&self.content)?)?;
        new.sync_all()?;
        fs::rename(&beside, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = |number, back| Outcome {
            number,
            hot_spot: 9,
            back,
            service_level: 1,
            standing: 2,
            moved: 1,
            at: 7,
        };
        let slow = Slow { service_level: 1, number: 5 };
        let open = || Kept::open(Some(&folder.path().join("deep")), "0x1").unwrap();
        let mut kept = open();
        kept.note(outcome(5, false), Some(Some(slow.clone()))).unwrap();
        kept.note(outcome(6, false), None).unwrap();
        assert_eq!((open().slow().get(&9), open().outcomes().len()), (Some(&slow), 2));
        open().note(outcome(7, true), Some(None)).unwrap();
        assert_eq!(open().slow().len(), 0);
        (0..200).for_each(|number| kept.note(outcome(number, true), None).unwrap());
        assert_eq!(open().outcomes().len(), OUTCOMES_MOST);
        fs::write(folder.path().join("deep/agent-0x1.json"), "{\"slow\":7").unwrap();
        assert!(Kept::open(Some(&folder.path().join("deep")), "0x1").is_err());
    }
}
