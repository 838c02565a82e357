//! Describes the transition from old paths to new ones while traffic flows.

use serde::{Deserialize, Serialize};

use super::order::TransientLoss;

/// Whether traffic can flow while tables change, and the credit loop that speaks against it, by name. Neither old and new paths
/// together nor, in a plan, a mixture of old and new entries may have one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TransitionReport {
    /// Whether the transition is safe; `None` if unknown. A plan is safe only if `mixed` is true. So is a preview that had the
    /// time to order its writes; another one is safe if no order can close a credit loop, and unknown if some order can.
    pub safe: Option<bool>,
    /// What is missing to know it. If it is safe: why there is nothing to check.
    #[serde(default)]
    pub reason: Option<String>,
    /// How the lanes of the old paths are known: `one`, `level 0 assumed`, `QoS policy`, `levels of paths`, `assumed`,
    /// `path records, sampled`, `path records, every pair`, `SL2VL tables`, or `unknown`, with the reason.
    pub old_lanes: String,
    /// The channels of a credit loop: each waits for the next, the last for the first. If the safety is unknown, the
    /// loop that would exist if all paths shared one lane.
    #[serde(default)]
    pub cycle: Option<Vec<String>>,
    /// For each of these channels, an old or new path that uses it and then the next one.
    #[serde(default)]
    pub cycle_paths: Option<Vec<String>>,
    #[serde(default)]
    pub cycle_lane: Option<u8>,
    /// The states between the first write and the last; plans only.
    #[serde(default)]
    pub on_the_way: Option<TransientLoss>,
    /// Whether no lane has a credit loop of packets that meet old and new entries on one path, in the order of the
    /// writes. `None` if that is unknown, and for anything but a plan.
    #[serde(default)]
    pub mixed: Option<bool>,
    /// The channels of a credit loop that only mixed entries have.
    #[serde(default)]
    pub mixed_cycle: Option<Vec<String>>,
    /// For an unsafe plan: two changes that replace it.
    #[serde(default)]
    pub staged: Option<StagedTransition>,
}

/// What is known of packets while tables change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LiveSafety {
    /// Neither old and new paths together nor a mixture of their entries has a credit loop.
    Safe,
    /// Old and new paths together have no credit loop; a mixture of their entries can have one.
    MixedLoop,
    /// Old and new paths together have no credit loop; whether a mixture can have one is unknown.
    MixedUnknown,
    /// Old and new paths together have no credit loop. Without a plan there is no order of writes, and so no mixture to
    /// check.
    PathsOnly,
    Unsafe,
    Unknown,
}

/// Two changes in place of an unsafe one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StagedTransition {
    /// The engine whose routes have no credit loop with the old routes nor with the new ones. `None` if there is no
    /// such engine.
    pub through: Option<String>,
    /// The engines that were tried.
    pub asked: Vec<String>,
    /// The commands to run, one after the other, for plans from a command line.
    #[serde(default)]
    pub commands: Vec<String>,
}

impl StagedTransition {
    /// Lines, each with a label.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let commands = self.commands.iter().map(|command| ("  run", command.clone()));
        std::iter::once(("instead", self.words())).chain(commands).collect()
    }

    fn words(&self) -> String {
        match &self.through {
            Some(engine) if !self.commands.is_empty() => format!(
                "in two plans, each without a credit loop of old and new paths, through routes of {engine}; ID is what 'apply' says, and the second plan is \
                 made once the first is confirmed"
            ),
            Some(engine) => format!(
                "in two plans, each without a credit loop of old and new paths: 'fabdeck route --engine {engine}' first, applied and confirmed, then this one made again"
            ),
            None if self.asked.is_empty() => {
                "no routes are safe with both the old and the new ones, because one of them has a credit loop of its \
                 own, so traffic has to be drained"
                    .to_owned()
            }
            None => format!(
                "no routes of {} are safe with both the old and the new ones, so traffic has to be drained",
                self.asked.join(", ")
            ),
        }
    }
}

impl TransitionReport {
    /// The report for a transition that changes nothing, with the reason. Credit loops that exist already do not count.
    pub fn unchanged(reason: &str, old_lanes: &str) -> Self {
        let (reason, old_lanes) = (Some(reason.to_owned()), old_lanes.to_owned());
        Self { safe: Some(true), reason, old_lanes, ..Self::default() }
    }

    fn live_safety(&self) -> LiveSafety {
        let planned = self.on_the_way.is_some();
        match (self.paths_are_safe(), self.mixed) {
            (Some(false), _) => LiveSafety::Unsafe,
            (None, _) => LiveSafety::Unknown,
            (Some(true), _) if self.reason.is_some() => LiveSafety::Safe,
            (Some(true), Some(true)) => LiveSafety::Safe,
            (Some(true), Some(false)) => LiveSafety::MixedLoop,
            (Some(true), None) if planned => LiveSafety::MixedUnknown,
            (Some(true), None) => LiveSafety::PathsOnly,
        }
    }

    /// Whether old and new paths together are free of credit loops, whatever a mixture of their entries is.
    pub fn paths_are_safe(&self) -> Option<bool> {
        let loop_of_mixture = self.mixed == Some(false) && self.cycle.is_none();
        match self.safe {
            Some(false) if loop_of_mixture => Some(true),
            // An unknown verdict on paths always has a reason.
            None if self.reason.is_none() && self.cycle.is_none() && !self.old_lanes.is_empty() => Some(true),
            safe => safe,
        }
    }

    /// Adds the verdict on mixtures of old and new entries, which decides where the paths have no credit loop.
    #[must_use]
    pub fn with_mixture(self, mixed: Option<bool>, mixed_cycle: Option<Vec<String>>) -> Self {
        match self.paths_are_safe() {
            Some(true) => Self { safe: mixed, mixed, mixed_cycle, ..self },
            Some(false) => Self { mixed: Some(false), mixed_cycle: None, ..self },
            None => Self { mixed, mixed_cycle, ..self },
        }
    }

    /// The verdict in half a sentence.
    pub fn short_verdict(&self) -> String {
        if let (Some(true), Some(reason)) = (self.safe, &self.reason) {
            return reason.clone();
        }
        let verdict = match self.live_safety() {
            LiveSafety::Safe => "safe while traffic flows",
            LiveSafety::MixedLoop => "safe before and after, not while tables change",
            LiveSafety::MixedUnknown => {
                "safe before and after, and whether it is safe while tables change is not known"
            }
            LiveSafety::PathsOnly => "old and new paths together have no credit loop",
            LiveSafety::Unsafe => "not safe while traffic flows",
            LiveSafety::Unknown => "whether it is safe while traffic flows is not known",
        };
        format!("{verdict}{}", self.assumptions())
    }

    /// What the verdict assumes about the lanes of the old paths. Empty if all SL2VL tables or the path records of all
    /// pairs say it.
    fn assumptions(&self) -> String {
        let told = ["SL2VL tables", "path records, every pair"].contains(&self.old_lanes.as_str());
        if told || self.old_lanes.starts_with("unknown") || self.paths_are_safe().is_none() {
            return String::new();
        }
        let rests = match self.old_lanes.as_str() {
            "one" => "if all packets are on service level 0, as given",
            "level 0 assumed" => "if all packets are on service level 0, as no source states their levels",
            "path records, sampled" => "as far as sampled path records tell the lanes of the old paths",
            "QoS policy" => "if packets take the service levels of the QoS policy",
            "levels of paths" => "if packets take the levels that the list of paths has",
            "assumed" => "if the old paths are those that are assumed",
            "plan" => "if the old paths are on the lanes of the plan",
            other => return format!(", by lanes of the old paths from: {other}"),
        };
        format!(", {rests}")
    }

    /// Whether the old paths alone form the credit loop, so that it exists before the first write.
    pub fn is_old_loop(&self) -> bool {
        self.cycle_paths.as_ref().is_some_and(|paths| paths.iter().all(|path| path.starts_with("old ")))
    }

    /// Lines, each with a label.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let channels = self.cycle.as_deref().unwrap_or_default();
        let waiting = channels.len();
        let resting = self.assumptions();
        let together = "old and new paths together have no credit loop";
        let verdict = match (self.live_safety(), &self.reason) {
            (LiveSafety::Safe, Some(reason)) => format!("safe while traffic flows: {reason}"),
            (LiveSafety::Safe, None) => format!("safe while traffic flows: {together}{resting}"),
            (LiveSafety::MixedLoop, _) => {
                format!(
                    "safe before and after, not while tables change: {together}{resting}, and a mixture can"
                )
            }
            (LiveSafety::MixedUnknown, _) => format!(
                "safe before and after; whether it is safe while tables change is not known: {together}{resting}"
            ),
            (LiveSafety::PathsOnly, _) => {
                format!("{together}{resting}; a plan reports whether a mixture of their entries has one")
            }
            (LiveSafety::Unsafe, _) => {
                let lane = self.cycle_lane.unwrap_or(0);
                let why = if self.is_old_loop() { ", by the old paths alone" } else { "" };
                format!(
                    "not safe while traffic flows: {waiting} channels of lane {lane} wait for each other{why}{resting}; drain first"
                )
            }
            (LiveSafety::Unknown, reason) => {
                let reason = reason.as_deref().unwrap_or("the lanes of paths are not known");
                let waits = format!(", and {waiting} channels wait for each other if all paths share a lane");
                let waits = if channels.is_empty() { "" } else { &waits };
                format!("not known whether safe: {reason}{waits}")
            }
        };
        let waits = channels.iter().zip(self.cycle_paths.iter().flatten());
        let waits = waits.map(|(channel, path)| ("  waits", format!("{channel}, by the {path}")));
        std::iter::once(("live", verdict)).chain(waits).chain(self.intermediate_state_lines()).collect()
    }

    /// Lines about the states between the writes, for plans.
    fn intermediate_state_lines(&self) -> Vec<(&'static str, String)> {
        let way = self.on_the_way.as_ref().map(|way| ("while written", way.words()));
        let closed = self.mixed_cycle.as_ref().map(Vec::len);
        let mixed = match (self.mixed, closed) {
            _ if self.paths_are_safe() == Some(false) => None,
            (None, _) if self.on_the_way.is_none() => None,
            (Some(true), _) => Some("no mixture of old and new entries has a credit loop either".to_owned()),
            (Some(false), Some(channels)) => Some(format!(
                "{channels} channels can wait for each other while some switches have new entries and others old ones: a \
                 credit loop is possible on the way; drain first"
            )),
            _ => Some("whether a mixture of old and new entries has a credit loop is not known".to_owned()),
        };
        let staged = self.staged.iter().flat_map(StagedTransition::lines);
        way.into_iter().chain(mixed.map(|words| ("mixed", words))).chain(staged).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intermediate_states_are_described_and_may_be_missing() {
        let old: TransitionReport = serde_json::from_str(r#"{"safe":true,"old_lanes":"one"}"#).unwrap();
        assert_eq!((old.on_the_way.as_ref(), old.mixed, old.lines().len()), (None, None, 1));
        let way = TransientLoss { pairs: 12, writes: 4, ordered: "any".into(), ..TransientLoss::default() };
        let told = |safe, mixed, staged| TransitionReport {
            safe,
            mixed,
            staged,
            mixed_cycle: (mixed == Some(false)).then(|| vec!["a".to_owned(); 3]),
            on_the_way: Some(way.clone()),
            ..old.clone()
        };
        let words = |report: TransitionReport| {
            let lines = report.lines().into_iter().skip(1).map(|(label, words)| format!("{label}: {words}"));
            lines.collect::<Vec<_>>()
        };
        let quiet = words(told(Some(true), Some(true), None));
        assert_eq!(quiet[0], "while written: every pair has a path after each of the 4 writes, in any order");
        assert_eq!(quiet[1], "mixed: no mixture of old and new entries has a credit loop either");
        let mixed = words(told(Some(false), Some(false), None));
        // Plans of before have the verdict over paths alone.
        assert_eq!(mixed, words(told(Some(true), Some(false), None)));
        assert!(mixed[1].starts_with("mixed: 3 channels can wait for each other while"), "{mixed:?}");
        assert!(words(told(None, None, None))[1].ends_with("is not known"));
        // If a mixture can have a credit loop, or that is unknown, no line may say that it is safe while traffic flows.
        for (report, word, live) in [
            (
                told(Some(true), Some(true), None),
                "safe while traffic flows, if all packets",
                "safe while traffic flows: old and new paths together have no credit loop",
            ),
            (
                told(Some(false), Some(false), None),
                "safe before and after, not while tables change, if all packets",
                "safe before and after, not while tables change: old and new paths together have no",
            ),
            (
                told(None, None, None),
                "safe before and after, and whether it is safe while tables change is not known, if",
                "safe before and after; whether it is safe while tables change is not known: old and",
            ),
            (
                TransitionReport { on_the_way: None, ..told(None, None, None) },
                "old and new paths together have no credit loop, if all packets",
                "old and new paths together have no credit loop, if all packets",
            ),
        ] {
            assert!(report.short_verdict().starts_with(word), "{}", report.short_verdict());
            let all: Vec<String> = report.lines().into_iter().map(|(_, words)| words).collect();
            assert!(all[0].starts_with(live), "{all:?}");
            let verdict = report.short_verdict();
            let claimed = all.iter().chain([&verdict]).any(|words| words.contains("while traffic flows"));
            assert_eq!(claimed, report.mixed == Some(true), "{all:?}");
        }
        let staged = |through: Option<&str>, asked: &[&str]| {
            let (through, asked) = (through.map(str::to_owned), asked.iter().map(|id| (*id).to_owned()));
            let staged = StagedTransition { through, asked: asked.collect(), commands: Vec::new() };
            words(told(Some(false), Some(false), Some(staged)))
        };
        let through = staged(Some("updn"), &["updn"]);
        assert!(
            through.len() == 3 && through[2].contains("'fabdeck route --engine updn' first"),
            "{through:?}"
        );
        assert!(staged(None, &["updn", "nue"])[2].contains("no routes of updn, nue are safe"));
        assert!(staged(None, &[])[2].contains("a credit loop of its own"));
    }

    #[test]
    fn a_mixture_decides_where_paths_have_no_credit_loop() {
        let of = |safe: Option<bool>| TransitionReport {
            safe,
            reason: safe.is_none().then(|| "the lanes of the old paths are unknown".to_owned()),
            cycle: (safe == Some(false)).then(|| vec!["a[1] -> b[2]".to_owned()]),
            old_lanes: "one".to_owned(),
            ..TransitionReport::default()
        };
        for mixed in [Some(true), Some(false), None] {
            let cycle = (mixed == Some(false)).then(|| vec!["x".to_owned()]);
            let told = |safe| of(safe).with_mixture(mixed, cycle.clone());
            assert_eq!(
                [Some(true), Some(false), None].map(|safe| told(safe).safe),
                [mixed, Some(false), None]
            );
            // What paths alone are is known still.
            for safe in [Some(true), Some(false), None] {
                assert_eq!(told(safe).paths_are_safe(), safe, "{safe:?} {mixed:?}");
                assert_eq!(told(safe).with_mixture(Some(true), None).safe, of(safe).safe);
            }
        }
    }

    #[test]
    fn each_verdict_has_its_text_and_a_loop_its_names() {
        let told = |safe, cycle: Option<&str>| TransitionReport {
            safe,
            reason: safe.is_none().then(|| "something was not read".to_owned()),
            old_lanes: "unknown".into(),
            cycle: cycle.map(|channel| vec![channel.to_owned()]),
            cycle_paths: cycle.map(|_| vec!["old path from a to b (LID 3)".to_owned()]),
            cycle_lane: cycle.map(|_| 2),
            ..TransitionReport::default()
        };
        let lines = told(Some(false), Some("a[1] -> b[2]")).lines();
        assert!(lines[0].1.contains("1 channels of lane 2 wait for each other, by the old"), "{lines:?}");
        let mut mixed = told(Some(false), Some("x"));
        mixed.cycle_paths = Some(vec!["old path".into(), "new path".into()]);
        assert!(!mixed.lines()[0].1.contains("alone"));
        assert_eq!(lines[1].1, "a[1] -> b[2], by the old path from a to b (LID 3)");
        let paths = "old and new paths together have no credit loop; a plan reports whether a mixture of their entries has one";
        assert_eq!(told(Some(true), None).lines()[0].1, paths);
        let idle = TransitionReport::unchanged("nothing changes", "one");
        assert_eq!(idle.lines(), [("live", "safe while traffic flows: nothing changes".to_owned())]);
        assert_eq!(idle.short_verdict(), "nothing changes");
        let rests = |old_lanes: &str| {
            TransitionReport { old_lanes: old_lanes.into(), ..told(Some(true), None) }.lines().remove(0).1
        };
        for (old, words) in [
            ("one", "level 0"),
            ("path records, sampled", "sampled"),
            ("assumed", "assumed"),
            ("QoS policy", "service levels of"),
            ("levels of paths", "list of paths"),
        ] {
            assert!(rests(old).contains(words), "{old}: {}", rests(old));
            let unsafe_now = TransitionReport { old_lanes: old.into(), ..told(Some(false), Some("x")) };
            assert!(
                unsafe_now.lines()[0].1.contains(words) && unsafe_now.short_verdict().contains(words),
                "{old}"
            );
        }
        for old in ["SL2VL tables", "path records, every pair"] {
            assert_eq!(rests(old), paths, "{old}");
        }
        assert!(told(None, None).lines()[0].1.ends_with("not read"));
        assert!(told(None, Some("x")).lines()[0].1.contains("not read, and 1 channels wait"));
    }
}
