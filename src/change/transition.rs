//! What is told of the way from old paths to new ones while traffic flows.

use serde::{Deserialize, Serialize};

/// Whether packets on old and new paths together can wait for each other, and the circle that shows it, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TransitionReport {
    /// `None` where it depends on lanes that are not known, or on tables that were not read.
    pub safe: Option<bool>,
    /// How the lanes of the old paths are known: `one`, `assumed`, `path records, sampled`, `path records, every pair`,
    /// `SL2VL tables`, or `unknown`, with the reason.
    pub old_lanes: String,
    /// Channels of which each waits for the next, the last for the first. Where nothing is safe or unsafe for certain:
    /// as if all paths shared one lane.
    #[serde(default)]
    pub cycle: Option<Vec<String>>,
    /// For each of them an old or a new path that uses it and then the next.
    #[serde(default)]
    pub cycle_paths: Option<Vec<String>>,
    #[serde(default)]
    pub cycle_lane: Option<u8>,
}

impl TransitionReport {
    /// In half a sentence.
    pub fn word(&self) -> &'static str {
        match self.safe {
            Some(true) => "safe while traffic flows",
            Some(false) => "not safe while traffic flows",
            None => "whether it is safe while traffic flows is not known",
        }
    }

    /// In full: a label and what it says, line by line.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let channels = self.cycle.as_deref().unwrap_or_default();
        let waiting = channels.len();
        let verdict = match (self.safe, self.cycle_lane) {
            (Some(true), _) => {
                "safe while traffic flows: old and new paths together have no circle".to_owned()
            }
            (Some(false), lane) => format!(
                "not safe while traffic flows: {waiting} channels of lane {} wait for each other; drain first",
                lane.unwrap_or(0)
            ),
            (None, _) if channels.is_empty() => {
                "not known whether safe: tables that were not read may close a circle".to_owned()
            }
            (None, _) => format!(
                "not known whether safe: the lanes of the old paths are {}, and {waiting} channels wait for each other \
                 if all paths share a lane",
                self.old_lanes
            ),
        };
        let waits = channels.iter().zip(self.cycle_paths.iter().flatten());
        let waits = waits.map(|(channel, path)| ("  waits", format!("{channel}, by the {path}")));
        std::iter::once(("live", verdict)).chain(waits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_has_its_words_and_a_circle_its_names() {
        let told = |safe, cycle: Option<&str>| TransitionReport {
            safe,
            old_lanes: "unknown".into(),
            cycle: cycle.map(|channel| vec![channel.to_owned()]),
            cycle_paths: cycle.map(|_| vec!["old path from a to b (LID 3)".to_owned()]),
            cycle_lane: cycle.map(|_| 2),
        };
        let lines = told(Some(false), Some("a[1] -> b[2]")).lines();
        assert!(lines[0].1.contains("1 channels of lane 2"), "{lines:?}");
        assert_eq!(lines[1].1, "a[1] -> b[2], by the old path from a to b (LID 3)");
        assert!(told(Some(true), None).lines()[0].1.starts_with("safe"));
        assert!(told(None, None).lines()[0].1.contains("not read"));
        assert!(told(None, Some("x")).lines()[0].1.contains("lanes of the old paths are unknown"));
    }
}
