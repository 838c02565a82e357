//! The records of a journal, and the state that replaying them yields.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::journal_step::JournalStep;
use crate::clock::BootTime;
use crate::failed_element::FailedElement;
use crate::migration::Migration;
use crate::opensm_site::OpensmSite;
use crate::order::TransientLoss;
use crate::plan_lanes::from_hex;
use crate::plan_phases::{PlanPhases, SilentHostAction};
use crate::trail_mark::TrailMark;
use crate::writes::{AlteredWrites, PlanWrite};

/// Everything that a rollback needs, by any process and at any later time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BeginRecord {
    /// The id of the change, which confirming it takes.
    pub id: String,
    /// The host that began the change, and the boot id of that host. Both are empty in journals of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot: String,
    pub number: u64,
    pub time: String,
    pub user: String,
    pub pid: u32,
    pub source: String,
    /// The driver: direct MADs or OpenSM.
    pub via: String,
    /// Where OpenSM runs, for changes that go through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opensm: Option<OpensmSite>,
    /// Seconds from the last write to the rollback, unless the change is confirmed.
    pub window_s: u64,
    /// The hash of the plan.
    pub plan: String,
    pub engine: String,
    /// Findings that the user accepted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// The M_Key file that the source needs when it is opened again; the key itself is never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mkey_file: Option<String>,
    /// The switches of the fabric. No other change may be pending on any of them.
    pub switches: BTreeSet<String>,
    /// The simulator, because two simulators can have the same GUIDs. `None` for a live fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Number of pairs without a path before the change.
    #[serde(default)]
    pub lost_before: u64,
    /// The elements that the plan takes as failed; empty in journals of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedElement>,
    /// The pairs without a path before, during and after the writes, as the plan counts them. `None` where they were not
    /// counted, and in journals of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<TransientLoss>,
    /// Whether these pairs include those of switches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub covers_switches: bool,
    /// Flows that hosts move, and move back on a rollback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub migrations: Vec<Migration>,
    /// Hosts that leave the base LIDs while their tables change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<PlanPhases>,
    #[serde(default, skip_serializing_if = "SilentHostAction::is_stop")]
    pub unanswered: SilentHostAction,
    /// The end of the audit trail at the begin of the change, so that a later truncation is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<TrailMark>,
    /// Whether the journal has a `writing` record before the first write. Journals of older versions have none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marks_writing: bool,
    /// The writes, in the order in which they are applied.
    pub writes: Vec<PlanWrite>,
}

impl BeginRecord {
    /// The number by which hosts recognize repeated notices of this change. State folders number their changes
    /// independently, so the number is the FNV-1a hash of the random id.
    pub fn notice_number(&self) -> u32 {
        let bytes = self.id.bytes();
        bytes.fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Whether both changes are of one fabric: the same simulator, and more than half of the switches of the smaller
    /// set in both. One switch that moved to another fabric does not join the two. A fabric of which half is
    /// unreachable still counts as the same.
    pub fn is_of_fabric_of(&self, other: &Self) -> bool {
        self.simulator == other.simulator && have_most_in_common(&self.switches, &other.switches)
    }

    /// Whether the two changes share a switch, so that only one of them may be pending.
    pub fn meets(&self, other: &Self) -> bool {
        self.simulator == other.simulator && !self.switches.is_disjoint(&other.switches)
    }
}

/// Whether two sets of switch GUIDs are of one fabric.
pub fn have_most_in_common(first: &BTreeSet<String>, second: &BTreeSet<String>) -> bool {
    first.intersection(second).count() * 2 > first.len().min(second.len())
}

/// The process that wrote a record: its machine, the boot of that machine, and the epoch of the process. Each process
/// that opens the journal to write has a higher epoch than all before it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordWriter {
    pub host: String,
    pub boot: String,
    pub epoch: u64,
}

/// A record with its writer, as a line of a journal holds it. Older versions wrote no writer.
#[derive(Serialize)]
pub(crate) struct WrittenRecord<'r> {
    #[serde(flatten)]
    pub record: &'r JournalRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'r RecordWriter>,
}

/// The epoch that a line of a journal shows.
pub(crate) fn epoch_of_line(json: &str) -> u64 {
    #[derive(Deserialize)]
    struct Line {
        by: Option<RecordWriter>,
        /// Of a registration.
        #[serde(default)]
        epoch: u64,
    }
    serde_json::from_str(json).map_or(0, |line: Line| line.epoch.max(line.by.map_or(0, |by| by.epoch)))
}

/// Until when a rollback retries on a fabric that does not answer: by the wall clock, and in time since boot. It is in the
/// journal, so that no later guard begins to count anew.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RetryLimit {
    pub deadline: String,
    pub ends: BootTime,
}

/// A part that was not rolled back, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RollbackRemainder {
    pub what: String,
    pub why: String,
}

/// One line of a journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum JournalRecord {
    Begun(Box<BeginRecord>),
    /// Written before the first write: from here on parts of the change may be in the fabric.
    Writing {
        time: String,
    },
    /// Number of writes that were answered. The record may be lost: a guard that takes over reads the fabric.
    Written {
        count: u64,
    },
    /// A device answered the Set of the write with this number (from 0) with other bytes than were sent. A rollback
    /// overwrites those bytes too.
    Altered {
        time: String,
        write: u64,
        /// The bytes of the answer, two hexadecimal digits each.
        holds: String,
    },
    /// A guard is about to register the change with the subnet manager, under its epoch.
    Registered {
        time: String,
        host: String,
        boot: String,
        epoch: u64,
    },
    /// Notices to move flows, or to move them back, are about to go out: from here on hosts may have them.
    Notifying {
        time: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        back: bool,
    },
    /// The notices were sent. The hosts with an agent that answered, and those that did not.
    Notified {
        time: String,
        answered: Vec<String>,
        silent: Vec<String>,
    },
    /// The change no longer waits for hosts that did not say that they left the base LIDs.
    GoingOn {
        time: String,
        user: String,
    },
    /// From here on fabdeck uses this process of OpenSM: its PID, or the path of its pid file.
    OpensmNamed {
        time: String,
        user: String,
        process: String,
    },
    /// All writes were applied and read back. The change is rolled back at the deadline.
    Applied {
        time: String,
        deadline: String,
        /// The deadline in time since boot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<BootTime>,
    },
    Extended {
        time: String,
        user: String,
        deadline: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<BootTime>,
    },
    Confirmed {
        time: String,
        user: String,
    },
    Returning {
        time: String,
        why: String,
        /// Whether a user asked for the rollback and accepts that it may lose paths.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        asked: bool,
        /// Until when the rollback retries, once a try has failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retries: Option<RetryLimit>,
    },
    /// The change was rolled back, except for the parts in `left`.
    Returned {
        time: String,
        left: Vec<RollbackRemainder>,
    },
    /// The rest of an incomplete rollback is tried again; `anyway`: even where that loses paths.
    Again {
        time: String,
        user: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anyway: bool,
    },
    /// The change was refused for this reason, and nothing was written.
    Refused {
        time: String,
        why: String,
    },
}

impl JournalRecord {
    /// When the record was written; `None` for records without a time.
    pub fn time(&self) -> Option<&str> {
        match self {
            Self::Written { .. } => None,
            Self::Begun(begun) => Some(&begun.time),
            Self::Writing { time }
            | Self::Registered { time, .. }
            | Self::Altered { time, .. }
            | Self::Notifying { time, .. }
            | Self::Notified { time, .. }
            | Self::GoingOn { time, .. }
            | Self::OpensmNamed { time, .. }
            | Self::Applied { time, .. }
            | Self::Extended { time, .. }
            | Self::Confirmed { time, .. }
            | Self::Returning { time, .. }
            | Self::Returned { time, .. }
            | Self::Again { time, .. }
            | Self::Refused { time, .. } => Some(time),
        }
    }
}

/// The phase of a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangePhase {
    /// The writes are going out.
    Applying,
    /// All writes are in the fabric; the change waits to be confirmed.
    Applied,
    Confirmed,
    RollingBack,
    RolledBack,
    /// Some parts could not be rolled back: the operator has to act.
    Incomplete,
    /// The change was refused before the first write.
    Refused,
}

impl ChangePhase {
    /// Whether the change still has writes to do, or waits to be confirmed.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Applying | Self::Applied | Self::RollingBack)
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Applying => "applying",
            Self::Applied => "applied, not confirmed",
            Self::Confirmed => "confirmed",
            Self::RollingBack => "rolling back",
            Self::RolledBack => "rolled back",
            Self::Incomplete => "rollback incomplete",
            Self::Refused => "refused",
        }
    }
}

/// Which notices the hosts of a change may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostNotification {
    #[default]
    NotNotified,
    /// Notices to move flows were sent, or may have been.
    Notified,
    /// Notices to move flows back may have been sent.
    Recalling,
    /// Notices to move back were sent, and some hosts with an agent did not answer.
    PartlyRecalled,
    /// Notices to move back were sent, and all hosts with an agent answered.
    Recalled,
}

impl HostNotification {
    /// Whether hosts may have flows to move back.
    pub fn may_have_moved(self) -> bool {
        matches!(self, Self::Notified | Self::Recalling | Self::PartlyRecalled)
    }
}

/// The end of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EndRecord {
    pub time: String,
    pub left: Vec<RollbackRemainder>,
}

/// The state of a change, which the records of its journal yield.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeState {
    pub begun: BeginRecord,
    pub phase: ChangePhase,
    pub written: u64,
    /// Whether the journal has a `writing` record: parts of the change may be in the fabric.
    pub writing: bool,
    /// Bytes that devices answered instead of those that were sent.
    pub altered: AlteredWrites,
    /// The epoch of the last guard that registered the change; 0 if none did.
    pub epoch: u64,
    /// The host whose guard keeps the change; empty in journals of older versions.
    pub host: String,
    /// When the change is rolled back, unless it is confirmed.
    pub deadline: Option<String>,
    /// The deadline in time since boot, where the journal has it.
    pub ends: Option<BootTime>,
    /// The latest time of any record. The wall clock may have been set back between two records.
    pub latest_time: Option<String>,
    /// Why the change is or was rolled back, or refused.
    pub why: Option<String>,
    /// Whether the user who asked for the rollback accepts lost paths.
    pub asked: bool,
    /// Until when the rollback retries; `None` before the first failed try.
    pub retries: Option<RetryLimit>,
    pub hosts: HostNotification,
    /// Whether the journal has the answers to the last notices.
    pub heard: bool,
    /// Number of rounds of notices.
    pub rounds: u64,
    /// Hosts with an agent that did not answer the last notices.
    pub silent: Vec<String>,
    /// Hosts with an agent that did not answer the notices to move flows.
    pub silent_there: Vec<String>,
    /// Hosts that said that they moved or left, and did not say since that they are back.
    pub away: BTreeSet<String>,
    /// Whether the journal says which hosts left the base LIDs and which did not.
    pub knows_who_left: bool,
    /// Whether the change waits for no more hosts.
    pub going_on: bool,
    /// Of a change in five phases: whether all hosts left or are no longer waited for, so that writes may begin.
    pub way_is_free: bool,
    pub ended: Option<EndRecord>,
    /// What the records say, in their order.
    pub steps: Vec<JournalStep>,
}

impl ChangeState {
    /// The state of a change of which nothing is written yet.
    pub fn new(begun: BeginRecord) -> Self {
        Self {
            steps: vec![JournalStep::of_begin(&begun)],
            host: begun.host.clone(),
            begun,
            phase: ChangePhase::Applying,
            written: 0,
            writing: false,
            altered: AlteredWrites::new(),
            epoch: 0,
            deadline: None,
            ends: None,
            latest_time: None,
            why: None,
            asked: false,
            retries: None,
            hosts: HostNotification::NotNotified,
            heard: false,
            rounds: 0,
            silent: Vec::new(),
            silent_there: Vec::new(),
            away: BTreeSet::new(),
            knows_who_left: false,
            going_on: false,
            way_is_free: false,
            ended: None,
        }
    }

    /// Replays records. `None` if the first one does not begin a change.
    pub fn from_records(records: &[JournalRecord]) -> Option<Self> {
        let (JournalRecord::Begun(begun), rest) = records.split_first()? else { return None };
        let mut told = Self::new((**begun).clone());
        rest.iter().for_each(|record| told.apply(record));
        Some(told)
    }

    fn note_time(&mut self, time: &str) {
        let parse = |text: &str| text.parse::<Timestamp>().ok();
        let is_later = |latest: &String| parse(latest) <= parse(time);
        if self.latest_time.as_ref().is_none_or(is_later) {
            self.latest_time = Some(time.to_owned());
        }
    }

    pub fn apply(&mut self, record: &JournalRecord) {
        if let Some(time) = record.time() {
            self.note_time(time);
        }
        JournalStep::push(&mut self.steps, record);
        match record {
            JournalRecord::Begun(_) => {}
            JournalRecord::Writing { .. } => self.writing = true,
            JournalRecord::Written { count } => self.written = *count,
            JournalRecord::Altered { write, holds, .. } => {
                let holds = usize::try_from(*write).ok().zip(from_hex(holds));
                self.altered.extend(holds);
            }
            JournalRecord::Registered { epoch, host, .. } => {
                self.epoch = *epoch;
                self.host.clone_from(host);
            }
            JournalRecord::Notifying { back, .. } => {
                self.hosts = if *back { HostNotification::Recalling } else { HostNotification::Notified };
                self.silent.clear();
                self.heard = false;
                self.rounds += 1;
            }
            JournalRecord::Notified { answered, silent, .. } => self.take_answers(answered, silent),
            JournalRecord::GoingOn { .. } => (self.going_on, self.way_is_free) = (true, true),
            JournalRecord::OpensmNamed { process, .. } => {
                self.begun.opensm.iter_mut().for_each(|site| site.name_process(process));
            }
            JournalRecord::Applied { deadline, ends, .. } => {
                self.ends.clone_from(ends);
                self.written = self.begun.writes.len() as u64;
                (self.phase, self.deadline) = (ChangePhase::Applied, Some(deadline.clone()));
            }
            JournalRecord::Extended { deadline, ends, .. } => {
                (self.deadline, self.ends) = (Some(deadline.clone()), ends.clone());
            }
            JournalRecord::Confirmed { time, .. } => self.set_end(ChangePhase::Confirmed, time, &[]),
            JournalRecord::Returning { why, asked, retries, .. } => {
                (self.phase, self.why, self.asked) = (ChangePhase::RollingBack, Some(why.clone()), *asked);
                if retries.is_some() {
                    self.retries.clone_from(retries);
                }
            }
            JournalRecord::Returned { time, left } => {
                let phase = if left.is_empty() { ChangePhase::RolledBack } else { ChangePhase::Incomplete };
                self.set_end(phase, time, left);
            }
            JournalRecord::Again { user, anyway, .. } => {
                let why = format!("requested again by {user}");
                (self.phase, self.why, self.asked) = (ChangePhase::RollingBack, Some(why), *anyway);
                let all = self.begun.writes.len() as u64;
                self.written = if self.has_possible_writes() { all } else { 0 };
                (self.ended, self.retries) = (None, None);
            }
            JournalRecord::Refused { time, why } => {
                self.why = Some(why.clone());
                self.set_end(ChangePhase::Refused, time, &[]);
            }
        }
    }

    /// Applies the answers of the hosts to a notice: to leave the lanes of a change, or to come back to them.
    fn take_answers(&mut self, answered: &[String], silent: &[String]) {
        self.silent = silent.to_vec();
        self.heard = true;
        if self.hosts == HostNotification::Recalling {
            self.away.retain(|host| !answered.contains(host));
            self.hosts =
                if silent.is_empty() { HostNotification::Recalled } else { HostNotification::PartlyRecalled };
        } else {
            self.away.extend(answered.iter().cloned());
            self.silent_there = silent.to_vec();
            self.knows_who_left = true;
            self.way_is_free |= silent.is_empty();
        }
    }

    /// Whether parts of the change may be in the fabric, by the journal. Its records are durable before a Set goes out.
    pub fn has_possible_writes(&self) -> bool {
        let way_is_free = self.begun.phases.is_none() || self.way_is_free;
        self.written > 0 || (way_is_free && (self.writing || !self.begun.marks_writing))
    }

    /// The present phase (1 to 5) of an update in five phases. `None` for other changes, and during a rollback.
    pub fn current_phase(&self) -> Option<u8> {
        self.begun.phases.as_ref()?;
        let left = self.heard && (self.silent.is_empty() || self.going_on || self.written > 0);
        match (self.phase, self.hosts) {
            (ChangePhase::Applying, HostNotification::NotNotified) => Some(1),
            (ChangePhase::Applying, HostNotification::Notified) => Some(if left { 3 } else { 2 }),
            (ChangePhase::Applying, _) => Some(4),
            (ChangePhase::Applied | ChangePhase::Confirmed, _) => Some(5),
            _ => None,
        }
    }

    /// Whether the change waits, with nothing written, for hosts that did not answer.
    pub fn is_waiting(&self) -> bool {
        let asked = self.begun.phases.is_some() && self.begun.unanswered == SilentHostAction::Wait;
        asked
            && self.phase == ChangePhase::Applying
            && self.hosts == HostNotification::Notified
            && !self.silent.is_empty()
            && !self.going_on
    }

    fn set_end(&mut self, phase: ChangePhase, time: &str, left: &[RollbackRemainder]) {
        self.phase = phase;
        self.ended = Some(EndRecord { time: time.to_owned(), left: left.to_vec() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fabric(switches: std::ops::Range<u64>) -> BeginRecord {
        BeginRecord {
            switches: switches.map(|guid| format!("0x{guid:016x}")).collect(),
            ..BeginRecord::default()
        }
    }

    #[test]
    fn a_switch_that_two_fabrics_share_does_not_make_them_one() {
        let lab = fabric(0..10);
        // One switch, or half of the switches, of the other fabric; more in common; parts of the fabric; all of it; a
        // grown one; another one.
        for (other, is_one) in [
            (9..20, false),
            (5..15, false),
            (4..14, true),
            (0..3, true),
            (0..10, true),
            (0..40, true),
            (10..12, false),
        ] {
            let here = fabric(other.clone());
            assert_eq!(
                (lab.is_of_fabric_of(&here), here.is_of_fabric_of(&lab)),
                (is_one, is_one),
                "{other:?}"
            );
            assert_eq!(lab.meets(&here), other.start < 10, "{other:?}");
        }
        assert!(!fabric(0..0).is_of_fabric_of(&fabric(0..0)));
        let simulated = BeginRecord { simulator: Some("a.sock".to_owned()), ..lab.clone() };
        assert!(!lab.is_of_fabric_of(&simulated) && !lab.meets(&simulated));
    }

    #[test]
    fn the_third_phase_begins_when_no_silent_host_is_waited_for() {
        let phases = PlanPhases { base_level: 0, high_level: 1, safe_without: Some(true), hosts: Vec::new() };
        let asked = ChangeState {
            hosts: HostNotification::Notified,
            ..ChangeState::new(BeginRecord { phases: Some(phases), ..BeginRecord::default() })
        };
        let silent = ChangeState { heard: true, silent: vec!["host".to_owned()], ..asked.clone() };
        let answered = ChangeState { heard: true, ..asked.clone() };
        let going_on = ChangeState { going_on: true, ..silent.clone() };
        let written = ChangeState { written: 1, ..silent.clone() };
        assert_eq!([&asked, &silent].map(|state| state.current_phase()), [Some(2); 2]);
        assert_eq!([&answered, &going_on, &written].map(|state| state.current_phase()), [Some(3); 3]);
    }
}
