//! Records, each a line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adaptive_tables::AdaptiveTableRecord;
use super::counters::Counters;
use super::frame::flags;
use super::groups::GroupRecord;
use super::labels::LabelRecord;
use super::partitions::PartitionRecord;
use super::path_levels::PathLevelRecord;
use super::planes::PlaneRecord;
use super::switching::{Forwarding, LaneTables};
use super::topology::Topology;
use super::wire::WireRecord;
use fabdeck_fabric::observe::{AdaptiveRouting, FlowLists, JobHosts, Note, PolicyLevels, TickKind};
use fabdeck_fabric::{Guid, Lid, PortNum};

/// Most bytes of a note, an acknowledgement or news.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Most bytes of a list of jobs. That is far less than a record's limit, because it holds many short names, which take
/// more memory.
pub const MAX_JOBS_BYTES: usize = 16 << 20;

/// A record with its number and its time in milliseconds since 1970 began. Keys have this order, without blanks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NumberedRecord {
    pub seq: u64,
    pub time: i64,
    pub record: CaptureRecord,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureRecord {
    /// Begins a whole state.
    Header(CaptureHeader),
    Topology(Topology),
    Manager(Option<ManagerRecord>),
    Names(BTreeMap<String, String>),
    Tables(Forwarding),
    Lanes(LaneTables),
    Adaptive(Option<AdaptiveRecord>),
    /// What each switch states about adaptive routing, and its adaptive tables.
    AdaptiveTables(AdaptiveTableRecord),
    /// Service levels set by a QoS policy.
    Policy(Option<PolicyRecord>),
    /// Service levels set by a list of paths.
    PathLevels(PathLevelRecord),
    /// The ticks in which ports count waiting.
    Ticks(Vec<TickRecord>),
    /// The health of links and devices that changed.
    Wire(WireRecord),
    /// The P_Key tables of ports that changed.
    Partitions(PartitionRecord),
    /// Labels of ports and places of nodes that changed.
    Labels(LabelRecord),
    /// The planes beside the one of the topology.
    Planes(PlaneRecord),
    /// Multicast groups and their members.
    Groups(GroupRecord),
    /// Notes of the recorded reading.
    Remarks(Vec<NoteRecord>),
    /// The running jobs.
    Jobs(JobsRecord),
    /// The open flows of hosts.
    Flows(FlowsRecord),
    Counters(Box<Counters>),
    /// An operator's note.
    Note(String),
    /// An operator's action at a console.
    Action(OperatorAction),
    /// A note or a bookmark of an operator, at a time that may lie before that of the record.
    Annotation(Annotation),
    /// A problem that an operator acknowledged, or no longer does.
    Acknowledgement(AcknowledgementRecord),
    /// News of a sweep. It stays JSON, because a later version may have written kinds that this one does not know.
    News(Value),
    End(RecordingEnd),
}

/// Bytes of a note, an action, an annotation, an acknowledgement or a list of jobs in a line. Readers refuse lines beyond the limits above.
pub fn encoded_size(record: CaptureRecord) -> usize {
    let longest = NumberedRecord { seq: u64::MAX, time: i64::MIN, record };
    // A text always converts to JSON.
    serde_json::to_vec(&longest).map_or(usize::MAX, |line| line.len() + 1)
}

/// The kinds of records, with the flags that their frames need.
const KINDS: &[(&str, u32)] = &[
    ("header", flags::STATE_WHOLE),
    ("topology", flags::STATE_MOVED),
    ("manager", flags::STATE_MOVED),
    ("names", flags::STATE_MOVED),
    ("tables", flags::STATE_MOVED),
    ("lanes", flags::STATE_MOVED),
    ("adaptive", flags::STATE_MOVED),
    ("adaptive_tables", flags::STATE_MOVED),
    ("policy", flags::STATE_MOVED),
    ("path_levels", flags::STATE_MOVED),
    ("ticks", flags::STATE_MOVED),
    ("wire", flags::STATE_MOVED | flags::BESIDE),
    ("partitions", flags::STATE_MOVED),
    ("labels", flags::STATE_MOVED),
    ("planes", flags::STATE_MOVED),
    ("groups", flags::STATE_MOVED),
    ("remarks", flags::STATE_MOVED),
    ("jobs", flags::STATE_MOVED | flags::JOBS),
    ("flows", flags::STATE_MOVED | flags::BESIDE),
    ("counters", flags::COUNTERS),
    ("note", flags::EVENT),
    ("action", flags::EVENT),
    ("annotation", flags::EVENT),
    ("acknowledgement", flags::EVENT),
    ("news", flags::EVENT),
    ("end", flags::END),
];

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CaptureHeader {
    /// `fabdeck.capture/1`.
    pub format: String,
    /// The version of fabdeck that wrote it.
    pub fabdeck: String,
    /// The source, as the operator named it; it never contains a key.
    pub source: String,
    pub interval_ms: u64,
    /// Offset of the recorder's clock from UTC, in seconds; times are shown with it.
    pub utc_offset_s: i32,
}

/// An operator's action, in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OperatorAction {
    pub what: String,
    /// The command line with the same effect, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// What an operator left at a time: a note, or a bookmark where it has no text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Annotation {
    /// The time that it is about, in milliseconds since 1970 by the recorder's clock.
    pub at: i64,
    /// The user who left it, and in the next field when, in milliseconds since 1970.
    pub by: String,
    pub made: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether it takes back the bookmark at this time. Records are only added, so none is lost.
    #[serde(default, skip_serializing_if = "is_false")]
    pub removed: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Annotation {
    pub fn is_bookmark(&self) -> bool {
        self.text.is_none()
    }

    /// Whether it takes back another annotation.
    pub fn takes_back(&self, other: &Self) -> bool {
        self.removed && other.is_bookmark() && self.at == other.at
    }
}

/// A problem that an operator acknowledged. It counts at every moment of the capture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AcknowledgementRecord {
    /// The ID of the problem, as `fabdeck health` prints it.
    pub problem: String,
    /// The user who acknowledged it, and in the next field when, in milliseconds since 1970.
    pub by: String,
    pub made: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How bad the problem was; without it, the acknowledgement covers the problem however bad it becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ProblemExtent>,
    /// Whether it takes back earlier acknowledgements of this problem.
    #[serde(default, skip_serializing_if = "is_false")]
    pub removed: bool,
}

/// How bad a problem is, in the words of the program that judged it. Of each field a later value is worse.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProblemExtent {
    /// `warning` or `critical`.
    pub severity: String,
    /// The worst sign of a bad cable: `errors`, `flaps` or `reduced-rate`. Left out for other problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<String>,
    /// Whether hosts of a running job wait. Left out where jobs are not known or not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits_job: Option<bool>,
}

impl AcknowledgementRecord {
    /// The acknowledgements that count: the one of each problem that was made last, unless it takes the others back.
    pub fn in_force(records: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut latest: BTreeMap<String, Self> = BTreeMap::new();
        for record in records {
            // Records stand at the times that they are about, so a later one may have been made earlier.
            if latest.get(&record.problem).is_none_or(|known| known.made <= record.made) {
                latest.insert(record.problem.clone(), record);
            }
        }
        latest.into_values().filter(|record| !record.removed).collect()
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ManagerRecord {
    pub guid: Guid,
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdaptiveRecord {
    Seen,
    On(u64),
    Unknown(u64),
}

/// The service levels of paths as a QoS policy sets them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyRecord {
    /// By the GUID of the destination's port; only levels above 0.
    ByDestination(BTreeMap<Guid, u8>),
    Undecided,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoteRecord {
    pub code: String,
    pub text: String,
    pub count: u64,
    pub partial: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TickRecord {
    #[serde(flatten)]
    pub kind: TickKind,
    pub tick: Option<u8>,
}

/// The running jobs, or that job lists stopped coming.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobsRecord {
    /// Time of the last list; `None` if there was none.
    pub heard: Option<i64>,
    /// Reason for the silence since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
    /// The hosts of each job; left out if the list is that of the record before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<JobHosts>,
}

/// How a recording ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordingEnd {
    pub sweeps: u64,
}

/// The open flows of hosts that their agents list: GUID and port of each adapter, and the LIDs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FlowsRecord(pub Vec<(Guid, PortNum, Vec<Lid>)>);

impl From<&FlowLists> for FlowsRecord {
    fn from(lists: &FlowLists) -> Self {
        Self(lists.0.iter().map(|((guid, port), to)| (*guid, *port, to.clone())).collect())
    }
}

impl From<FlowsRecord> for FlowLists {
    fn from(record: FlowsRecord) -> Self {
        let list = |(guid, port, mut to): (Guid, PortNum, Vec<Lid>)| {
            to.sort_unstable();
            to.dedup();
            ((guid, port), to)
        };
        Self(record.0.into_iter().map(list).collect())
    }
}

impl From<AdaptiveRouting> for AdaptiveRecord {
    fn from(adaptive: AdaptiveRouting) -> Self {
        match adaptive {
            AdaptiveRouting::Seen => Self::Seen,
            AdaptiveRouting::On(switches) => Self::On(switches),
            AdaptiveRouting::Unknown(switches) => Self::Unknown(switches),
        }
    }
}

impl From<AdaptiveRecord> for AdaptiveRouting {
    fn from(record: AdaptiveRecord) -> Self {
        match record {
            AdaptiveRecord::Seen => Self::Seen,
            AdaptiveRecord::On(switches) => Self::On(switches),
            AdaptiveRecord::Unknown(switches) => Self::Unknown(switches),
        }
    }
}

impl From<&PolicyLevels> for PolicyRecord {
    fn from(levels: &PolicyLevels) -> Self {
        match levels {
            PolicyLevels::ByDestination(by_guid) => Self::ByDestination(by_guid.clone()),
            // Levels of paths follow in records of their own, which versions that do not know the kind skip.
            PolicyLevels::ByPath(_) | PolicyLevels::Undecided => Self::Undecided,
        }
    }
}

impl PolicyRecord {
    /// The same levels with other GUIDs.
    pub fn anonymize(self, guid: impl Fn(Guid) -> Guid) -> Self {
        match self {
            Self::ByDestination(by_guid) => {
                Self::ByDestination(by_guid.into_iter().map(|(old, level)| (guid(old), level)).collect())
            }
            Self::Undecided => Self::Undecided,
        }
    }

    /// The levels; an error if one is no service level.
    pub(crate) fn into_levels(self) -> Result<PolicyLevels, String> {
        match self {
            Self::ByDestination(by_guid) => match by_guid.values().find(|level| **level > 15) {
                Some(level) => Err(format!("there is no service level {level}")),
                None => Ok(PolicyLevels::ByDestination(by_guid)),
            },
            Self::Undecided => Ok(PolicyLevels::Undecided),
        }
    }
}

impl From<&Note> for NoteRecord {
    fn from(note: &Note) -> Self {
        let Note { code, text, count, partial, .. } = note;
        Self { code: (*code).to_owned(), text: text.clone(), count: *count, partial: *partial }
    }
}

impl CaptureRecord {
    /// The flags that the frame of this record needs.
    pub fn frame_flags(&self) -> u32 {
        match self {
            Self::Header(_) => flags::STATE_WHOLE,
            Self::Counters(counters) if counters.is_whole() => flags::COUNTERS | flags::COUNTERS_WHOLE,
            Self::Counters(_) => flags::COUNTERS,
            Self::Note(_)
            | Self::Action(_)
            | Self::Annotation(_)
            | Self::Acknowledgement(_)
            | Self::News(_) => flags::EVENT,
            Self::End(_) => flags::END,
            Self::Wire(_) | Self::Flows(_) => flags::STATE_MOVED | flags::BESIDE,
            _ => flags::STATE_MOVED,
        }
    }
}

/// A line, as far as this version understands it.
#[derive(Clone, PartialEq, Debug)]
pub enum ParsedLine {
    Known(Box<NumberedRecord>),
    /// A kind of a later version.
    Later(String),
    /// A kind that was not wanted.
    Other,
}

impl ParsedLine {
    /// Reads a line if its kind has one of the wanted flags.
    pub fn parse(bytes: &[u8], wanted: u32) -> Result<Self, String> {
        let kind = line_kind(bytes).ok_or("a line that does not begin as a record")?;
        let Some((_, kind_flags)) = KINDS.iter().find(|(known, _)| *known == kind) else {
            return Ok(Self::Later(kind.to_owned()));
        };
        if kind_flags & wanted == 0 {
            return Ok(Self::Other);
        }
        // A small JSON text can become a large value, and notes and news need not be large.
        if *kind_flags == flags::EVENT && bytes.len() > MAX_TEXT_BYTES {
            return Err(format!("a {kind} of {} bytes", bytes.len()));
        }
        if kind == "jobs" && bytes.len() > MAX_JOBS_BYTES {
            return Err(format!("a list of jobs of {} bytes", bytes.len()));
        }
        serde_json::from_slice(bytes).map(Self::Known).map_err(|error| error.to_string())
    }
}

/// The part of a line from its kind on, if the kind has one of the wanted flags.
pub fn line_body(line: &[u8], wanted: u32) -> Option<&[u8]> {
    let kind = line_kind(line)?;
    let (_, kind_flags) = KINDS.iter().find(|(known, _)| *known == kind)?;
    // Only numbers and fixed keys come before the kind, so the first match is the kind.
    let at = line.windows(kind.len()).position(|part| part == kind.as_bytes())?;
    (kind_flags & wanted != 0).then(|| &line[at..])
}

/// The kind of a record, from the beginning of its line.
fn line_kind(line: &[u8]) -> Option<&str> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let rest = rest[digits(rest)..].strip_prefix(b",\"time\":")?;
    let rest = rest[digits(rest)..].strip_prefix(b",\"record\":{\"")?;
    let end = rest.iter().take(32).position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}
