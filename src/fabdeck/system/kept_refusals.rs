//! What kinds of devices refused, in a file of the user's state folder: each line a question, for 24 hours. Devices that
//! are simulated have a file of their own. The file holds kinds of devices and versions of firmware, and no keys or names.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::state_lines::{read_lines, replace_lines};
use fabdeck_live::{KindRefusal, RefusalStore};

const FILE_NAME: &str = "refused-questions";
const SIMULATED_FILE_NAME: &str = "refused-questions-simulated";
/// The form of a line. Lines of another form are left out.
const VERSION: u64 = 1;
/// How long a refusal holds.
const MAX_AGE_S: i64 = 24 * 60 * 60;
/// Most refusals that are kept; the oldest go first.
const MAX_KEPT: usize = 2000;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptRefusal {
    version: u64,
    vendor: u32,
    device: u32,
    firmware: String,
    refused: String,
    /// The simulated fabric; devices of another one of the same kind may have other answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fabric: Option<String>,
    /// Seconds since 1970.
    at: i64,
}

/// The file of one user, and what of it holds for a source.
#[derive(Debug)]
pub struct KeptRefusals {
    file: PathBuf,
    /// The source, if it is simulated.
    fabric: Option<String>,
}

impl KeptRefusals {
    /// The file in a state folder for a source, by its text.
    pub fn in_folder(folder: PathBuf, source: &str) -> Self {
        let fabric = source.starts_with("sim:").then(|| source.to_owned());
        let name = if fabric.is_some() { SIMULATED_FILE_NAME } else { FILE_NAME };
        Self { file: folder.join(name), fabric }
    }

    /// Replaces a file that cannot be read: nothing in it is needed. Returns what to say about it.
    fn begin_anew(&self, error: &std::io::Error) -> String {
        let file = self.file.display();
        let again = "devices are asked again for what they refused in earlier sessions";
        let is_damaged = error.kind() == std::io::ErrorKind::InvalidData;
        match is_damaged.then(|| replace_lines(&self.file, Vec::<KeptRefusal>::new)) {
            Some(Ok(())) => format!("{file} was damaged and is begun anew: {again}"),
            _ => format!("{file} cannot be read ({error}): {again}"),
        }
    }

    /// The lines that hold now.
    fn read(&self) -> std::io::Result<Vec<KeptRefusal>> {
        let now = Timestamp::now().as_second();
        let lines = read_lines::<Value>(&self.file)?;
        let own = lines.into_iter().filter(|line| line["version"] == VERSION);
        let read: Vec<KeptRefusal> = own.map(serde_json::from_value).collect::<Result<_, _>>()?;
        // A line from the future is from a clock that was set back.
        Ok(read.into_iter().filter(|line| (0..MAX_AGE_S).contains(&now.saturating_sub(line.at))).collect())
    }
}

impl RefusalStore for KeptRefusals {
    fn load(&self) -> Result<Vec<KindRefusal>, String> {
        let mut lines = self.read().map_err(|error| self.begin_anew(&error))?;
        lines.retain(|line| line.fabric == self.fabric);
        let refusal = |line: KeptRefusal| KindRefusal {
            vendor: line.vendor,
            device: line.device,
            firmware: line.firmware,
            topic: line.refused,
        };
        Ok(lines.into_iter().map(refusal).collect())
    }

    fn add(&self, refusals: &[KindRefusal]) -> Result<(), String> {
        let at = Timestamp::now().as_second();
        let line = |refusal: &KindRefusal| KeptRefusal {
            version: VERSION,
            vendor: refusal.vendor,
            device: refusal.device,
            firmware: refusal.firmware.clone(),
            refused: refusal.topic.clone(),
            fabric: self.fabric.clone(),
            at,
        };
        // A damaged file is replaced: nothing in it is needed.
        let changed = replace_lines(&self.file, || {
            let mut lines = self.read().unwrap_or_default();
            lines.extend(refusals.iter().map(line));
            let old = lines.len().saturating_sub(MAX_KEPT);
            lines.drain(..old);
            lines
        });
        changed.map_err(|error| {
            format!("{} cannot be written ({error}): the next session asks again", self.file.display())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(topic: &str) -> KindRefusal {
        KindRefusal { vendor: 0x2C9, device: 0xD2F2, firmware: "31.1".to_owned(), topic: topic.to_owned() }
    }

    #[test]
    fn refusals_hold_for_a_day_and_a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = KeptRefusals::in_folder(folder.path().join("state"), "umad");
        assert_eq!(store.load().unwrap(), []);
        store.add(&[refusal("module")]).unwrap();
        store.add(&[refusal("system")]).unwrap();
        assert_eq!(store.load().unwrap(), [refusal("module"), refusal("system")]);
        let text = std::fs::read_to_string(&store.file).unwrap();
        let now = Timestamp::now().as_second();
        for (at, held) in [(now - MAX_AGE_S + 60, 1), (now - MAX_AGE_S - 1, 0), (now + 3600, 0)] {
            let line = serde_json::json!({"version": 1, "vendor": 713, "device": 1, "firmware": "1", "refused": "fec", "at": at});
            std::fs::write(&store.file, format!("{line}\n")).unwrap();
            assert_eq!(store.load().unwrap().len(), held, "{at}");
        }
        // Lines of another version are left out, whatever they hold.
        std::fs::write(&store.file, format!("{{\"version\":2,\"other\":1}}\n{text}")).unwrap();
        assert_eq!(store.load().unwrap().len(), 2);
        for damaged in ["{\"version\":1", "\u{0}\u{1}", "{\"version\":1,\"vendor\":\"x\"}", "[]["] {
            std::fs::write(&store.file, damaged).unwrap();
            let problem = store.load().unwrap_err();
            assert!(problem.contains("refused-questions was damaged and is begun anew"), "{problem}");
            assert_eq!(store.load().unwrap(), [], "it is said once");
            store.add(&[refusal("fec")]).unwrap();
            assert_eq!(store.load().unwrap(), [refusal("fec")]);
        }
        // A simulated device says nothing about real ones, nor about those of another simulated fabric.
        let of = |source| KeptRefusals::in_folder(folder.path().join("state"), source);
        assert_eq!(of("sim:demo").load().unwrap(), []);
        of("sim:demo").add(&[refusal("module")]).unwrap();
        assert_eq!(of("sim:demo").load().unwrap(), [refusal("module")]);
        assert_eq!(of("sim:demo,wire-optics=all").load().unwrap(), []);
    }
}
