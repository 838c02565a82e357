//! A problem of a fabric: what is wrong, why, who is hit, and what to do next.

use super::acknowledgements::Acknowledgement;
use crate::catalogue::json_type::json_type;
use crate::catalogue::quantity_words::both_ways_words;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::ElementId;

json_type! {
    /// How much a fabric suffers from a problem, the worst first.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ProblemSeverity {
        /// A host is hit now.
        Critical,
        /// Something is not as it should be, and no host is known to be hit by it now.
        Warning,
    }
}

impl ProblemSeverity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
        }
    }
}

json_type! {
    /// What is wrong. Of problems that hit equally many, those of an earlier kind come first.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum ProblemKind {
        /// Ports between switches wait and nothing moves.
        Stalled,
        /// Pairs of hosts have no path under the current tables.
        LostPaths,
        SilentNode,
        LinkDown,
        HotSpot,
        /// Hosts wait, and no adapter is a hot-spot.
        NarrowLinks,
        LinkErrors,
        /// The wire verdict on a link is bad: bit errors or a module beyond their limits.
        WireHealth,
        /// A device is too hot, or a fan or power supply of it has failed.
        DeviceHealth,
        /// A plane of an aggregated port is down, or a plane gave no answer.
        PlaneDown,
        /// Cables that are not as the plan has them.
        Miscabled,
        DegradedLink,
        /// The current tables have a credit loop.
        CreditLoop,
    }
}

impl ProblemKind {
    const WORDS: &'static [&'static str] = &[
        "stalled",
        "lost-paths",
        "silent-node",
        "link-down",
        "hot-spot",
        "narrow-links",
        "link-errors",
        "wire-health",
        "device-health",
        "plane-down",
        "miscabled",
        "degraded-link",
        "credit-loop",
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// The worst of what shows that a cable is bad, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CableSign {
    Errors,
    Flaps,
    ReducedRate,
}

impl CableSign {
    pub const ALL: [Self; 3] = [Self::Errors, Self::Flaps, Self::ReducedRate];

    /// The word in captures and in the state folder.
    pub fn word(self) -> &'static str {
        match self {
            Self::Errors => "errors",
            Self::Flaps => "flaps",
            Self::ReducedRate => "reduced-rate",
        }
    }
}

json_type! {
    /// How sure the cause of a problem is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum Certainty {
        Sure,
        Likely,
        #[serde(rename = "not known")]
        Unknown,
    }
}

impl Certainty {
    pub fn word(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Likely => "likely",
            Self::Unknown => "not known",
        }
    }
}

/// The cause of a problem, with what shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemCause {
    pub certainty: Certainty,
    pub text: String,
}

impl ProblemCause {
    pub fn sure(text: impl Into<String>) -> Self {
        Self { certainty: Certainty::Sure, text: text.into() }
    }

    pub fn likely(text: impl Into<String>) -> Self {
        Self { certainty: Certainty::Likely, text: text.into() }
    }

    pub fn unknown(text: impl Into<String>) -> Self {
        Self { certainty: Certainty::Unknown, text: text.into() }
    }
}

json_type! {
    /// What a problem does to a host.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum HitRole {
        /// It has no connection.
        CutOff,
        /// It waits although it does not send to the hot-spot.
        Victim,
        /// It waits, and by what the intervals before show it does not send to the hot-spot.
        LikelyVictim,
        /// It waits; whether it sends to the hot-spot is not known.
        Undecided,
        /// It waits, and by what the intervals before show it sends to the hot-spot.
        LikelyContributor,
        /// It waits because it sends to the hot-spot.
        Contributor,
        /// The problem is at its own cable.
        Attached,
    }
}

impl HitRole {
    pub const ALL: [Self; 7] = [
        Self::CutOff,
        Self::Victim,
        Self::LikelyVictim,
        Self::Undecided,
        Self::LikelyContributor,
        Self::Contributor,
        Self::Attached,
    ];

    /// The role in words, for after the number of hosts.
    pub fn words_of(self, hosts: usize) -> &'static str {
        match (self, hosts) {
            (Self::CutOff, _) => "cut off",
            (Self::Victim, 1) => "victim",
            (Self::Victim, _) => "victims",
            (Self::LikelyVictim, 1) => "likely victim",
            (Self::LikelyVictim, _) => "likely victims",
            (Self::LikelyContributor, 1) => "likely contributor",
            (Self::LikelyContributor, _) => "likely contributors",
            (Self::Undecided, 1) => "waits, undecided",
            (Self::Undecided, _) => "wait, undecided",
            (Self::Contributor, 1) => "contributor",
            (Self::Contributor, _) => "contributors",
            (Self::Attached, _) => "attached",
        }
    }
}

json_type! {
    /// A host that a problem hits.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HitHost {
        pub host: String,
        pub role: HitRole,
        /// Share of the time that it waits, where that is known.
        pub time_waited: Option<f64>,
    }
}

json_type! {
    /// A job that a problem hits.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct HitJob {
        pub job: String,
        /// Number of its hosts that are hit.
        pub hosts: usize,
        /// Number of paths between its hosts that cross the element.
        pub paths: u64,
    }
}

/// Everything that a problem hits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProblemHits {
    /// The hosts, those hit worst first.
    pub hosts: Vec<HitHost>,
    /// Paths between hosts that cross the element, where tables are known; those that are missing, for lost paths.
    pub paths: Option<u64>,
    /// The jobs, those hit worst first; `None` where the running jobs are not known, or not counted for
    /// this problem.
    pub jobs: Option<Vec<HitJob>>,
}

/// The next safe step, as a sentence and as a command that only reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextStep {
    pub text: String,
    pub command: String,
}

/// A problem of a fabric.
#[derive(Clone, PartialEq, Debug)]
pub struct FabricProblem {
    /// Identifies the problem in every reading: its kind, with GUIDs and ports.
    pub id: String,
    pub kind: ProblemKind,
    pub severity: ProblemSeverity,
    /// Elements with the problem; the first is the one to look at.
    pub elements: Vec<ElementId>,
    pub title: String,
    pub cause: ProblemCause,
    /// Of a bad cable alone.
    pub sign: Option<CableSign>,
    pub hits: ProblemHits,
    pub next: NextStep,
    pub acknowledged: Option<Acknowledgement>,
    /// An acknowledgement from when the problem was less bad: it no longer covers it.
    pub worse_since: Option<Acknowledgement>,
    /// What the ledger knows of the cable: how often it went down, and since when.
    pub history: Option<String>,
}

impl ProblemHits {
    /// `80 paths both ways`; the columns of cables count the direction with more of them. Lost paths are counted by pair: a sender
    /// and a receiver.
    pub fn paths_words(&self, kind: ProblemKind) -> Option<String> {
        let paths = usize::try_from(self.paths?).unwrap_or(usize::MAX);
        Some(match kind {
            ProblemKind::LostPaths => count_words(paths, "pair", "pairs"),
            _ => both_ways_words(paths),
        })
    }
}

impl FabricProblem {
    /// Order of problems: acknowledged ones last, then severity, then jobs, hosts and paths that are hit, then kind and id.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        use std::cmp::Reverse;
        let jobs = self.hits.jobs.as_ref().map_or(0, Vec::len);
        let hits = (Reverse(jobs), Reverse(self.hits.hosts.len()), Reverse(self.hits.paths.unwrap_or(0)));
        (self.acknowledged.is_some(), self.severity, hits, self.kind, self.id.clone())
    }
}
