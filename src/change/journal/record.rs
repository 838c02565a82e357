//! What a journal holds, and what it adds up to.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clock::BootTime;
use crate::driver::{AlteredWrites, OpensmSite};
use crate::lanes::bytes;
use crate::migration::Migration;
use crate::phases::{PlanPhases, Unanswered};
use crate::trail_mark::TrailMark;
use crate::writes::Write;

/// Everything that undoing a change takes, whoever does it, and on which day.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Begun {
    /// By which a change is confirmed.
    pub id: String,
    /// The machine that it was begun on, and the id of the run of it; none in journals of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot: String,
    pub number: u64,
    pub time: String,
    pub user: String,
    pub pid: u32,
    pub source: String,
    /// The driver.
    pub via: String,
    /// Where OpenSM is, for changes that go through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opensm: Option<OpensmSite>,
    /// From the last write to the rollback, unless it is confirmed.
    pub window_s: u64,
    /// The hash of the plan.
    pub plan: String,
    pub engine: String,
    /// Findings that somebody accepted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// What the source has to be opened with again; never a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mkey_file: Option<String>,
    /// The switches of the fabric: no other change may be pending on any of them.
    pub switches: BTreeSet<String>,
    /// Simulators share GUIDs without being one fabric; what is live has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Pairs that had no path before it.
    #[serde(default)]
    pub lost_before: u64,
    /// Flows that hosts are told to move, and to move back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub migrations: Vec<Migration>,
    /// Who leaves the base LIDs while their tables change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<PlanPhases>,
    #[serde(default, skip_serializing_if = "Unanswered::is_stop")]
    pub unanswered: Unanswered,
    /// How far the audit trail was, so that a trail that was cut since is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<TrailMark>,
    /// Its journal has a `writing` record before the first write; journals of older versions have none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marks_writing: bool,
    /// In the order in which they are written.
    pub writes: Vec<Write>,
}

impl Begun {
    /// By which hosts know its notices again. Folders count their changes each on their own, so it comes from what is
    /// random: the hash (FNV-1a) of its id.
    pub fn notice_number(&self) -> u32 {
        let bytes = self.id.bytes();
        bytes.fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Whether both are of one fabric: of the smaller one more than half of the switches are in both, and a simulator where
    /// there is one. A switch that was moved from one fabric to another does not make them one; neither do two fabrics
    /// become of one of which half is out of sight.
    pub fn is_of_fabric_of(&self, other: &Self) -> bool {
        self.simulator == other.simulator && have_most_in_common(&self.switches, &other.switches)
    }

    /// Whether one may not be pending beside the other: they share a switch, whatever fabrics they are of.
    pub fn meets(&self, other: &Self) -> bool {
        self.simulator == other.simulator && !self.switches.is_disjoint(&other.switches)
    }
}

/// Whether two fabrics are one, by the GUIDs of their switches.
pub fn have_most_in_common(first: &BTreeSet<String>, second: &BTreeSet<String>) -> bool {
    first.intersection(second).count() * 2 > first.len().min(second.len())
}

/// Something that was not taken back, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Left {
    pub what: String,
    pub why: String,
}

/// One line of a journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    Begun(Box<Begun>),
    /// From here on some of it may be written.
    Writing {
        time: String,
    },
    /// So many writes were answered. Nothing rests on it: whoever takes over reads the fabric.
    Written {
        count: u64,
    },
    /// A device answered the Set of the write with this number (from 0) with other bytes than were sent: what it holds now is
    /// this change's doing too.
    Altered {
        time: String,
        write: u64,
        /// Two hexadecimal digits a byte.
        holds: String,
    },
    /// A guard is about to register the change with the subnet manager; each has a number higher than the one before.
    Registered {
        time: String,
        host: String,
        boot: String,
        epoch: u64,
    },
    /// Hosts are about to be told which flows to move, or to move back: from here on they may have heard of it.
    Notifying {
        time: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        back: bool,
    },
    /// They were told. Of those with an agent these have answered, and these have not.
    Notified {
        time: String,
        answered: Vec<String>,
        silent: Vec<String>,
    },
    /// Hosts that did not say that they left the base LIDs are waited for no longer.
    GoingOn {
        time: String,
        user: String,
    },
    /// From here on OpenSM is told by this process: its number, or the path of its pid file.
    OpensmNamed {
        time: String,
        user: String,
        process: String,
    },
    /// All is written and was read back; it is rolled back at the deadline.
    Applied {
        time: String,
        deadline: String,
        /// The deadline by the time since the machine started.
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
        /// Somebody asked for it, who knows what it loses.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        asked: bool,
    },
    /// It was rolled back, but for what is left.
    Returned {
        time: String,
        left: Vec<Left>,
    },
    /// What was left of a rollback is tried once more; `anyway`: even where that loses paths.
    Again {
        time: String,
        user: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anyway: bool,
    },
    /// Nothing was written, for this reason.
    Refused {
        time: String,
        why: String,
    },
}

impl Record {
    /// When it was written, for those that have a time.
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

/// How far a change is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Some of it may be written.
    Applying,
    /// It waits to be confirmed.
    Applied,
    Confirmed,
    RollingBack,
    RolledBack,
    /// Something could not be rolled back: a person is needed.
    Incomplete,
    /// Nothing was written.
    Refused,
}

impl Phase {
    /// Whether something is still to be done or decided.
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

/// What hosts know of the flows that a change moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hosts {
    #[default]
    Untold,
    /// They were told to move them, or may have been.
    Told,
    /// They may have been told to move them back.
    CallingBack,
    /// They were told to move them back, and some with an agent did not say that they did.
    PartlyBack,
    /// They were told to move them back, and all with an agent did.
    CalledBack,
}

impl Hosts {
    /// Whether there is something to move back.
    pub fn may_have_moved(self) -> bool {
        matches!(self, Self::Told | Self::CallingBack | Self::PartlyBack)
    }
}

/// The end of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    pub time: String,
    pub left: Vec<Left>,
}

/// What the records of a journal add up to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    pub begun: Begun,
    pub phase: Phase,
    pub written: u64,
    /// The guard was about to write.
    pub writing: bool,
    /// What devices answered instead of what was sent.
    pub altered: AlteredWrites,
    /// The number of the last guard that registered it; 0: none did.
    pub epoch: u64,
    /// The machine that keeps it; empty in journals of older versions.
    pub host: String,
    /// Where it waits to be confirmed.
    pub deadline: Option<String>,
    /// The same by the time since the machine started, where the journal has it.
    pub ends: Option<BootTime>,
    /// The latest time of any record: the wall clock may have been set back between two of them.
    pub latest_time: Option<String>,
    /// Why it is or was rolled back, or refused.
    pub why: Option<String>,
    /// Whoever wants it rolled back wants it even where that loses paths.
    pub asked: bool,
    pub hosts: Hosts,
    /// It stands whose agents answered when they were told last.
    pub heard: bool,
    /// How often hosts were told something.
    pub rounds: u64,
    /// Hosts with an agent that did not answer when they were told last.
    pub silent: Vec<String>,
    /// Those that did not when they were told to move flows.
    pub silent_there: Vec<String>,
    /// Hosts that said that they moved or left, and did not say since that they are back.
    pub away: BTreeSet<String>,
    /// It stands who said that they left the base LIDs, and who did not.
    pub knows_who_left: bool,
    /// Nobody is waited for any more.
    pub going_on: bool,
    /// Of a change in five phases: all hosts left, or are not waited for, so that some of it may be written.
    pub way_is_free: bool,
    pub ended: Option<Ended>,
}

impl Told {
    /// Of a change of which nothing is written yet.
    pub fn begun(begun: Begun) -> Self {
        Self {
            host: begun.host.clone(),
            begun,
            phase: Phase::Applying,
            written: 0,
            writing: false,
            altered: AlteredWrites::new(),
            epoch: 0,
            deadline: None,
            ends: None,
            latest_time: None,
            why: None,
            asked: false,
            hosts: Hosts::Untold,
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

    /// `None` where the first record is not that of a beginning.
    pub fn of(records: &[Record]) -> Option<Self> {
        let (Record::Begun(begun), rest) = records.split_first()? else { return None };
        let mut told = Self::begun((**begun).clone());
        rest.iter().for_each(|record| told.take(record));
        Some(told)
    }

    fn note_time(&mut self, time: &str) {
        let parse = |text: &str| text.parse::<Timestamp>().ok();
        let is_later = |latest: &String| parse(latest) <= parse(time);
        if self.latest_time.as_ref().is_none_or(is_later) {
            self.latest_time = Some(time.to_owned());
        }
    }

    pub fn take(&mut self, record: &Record) {
        if let Some(time) = record.time() {
            self.note_time(time);
        }
        match record {
            Record::Begun(_) => {}
            Record::Writing { .. } => self.writing = true,
            Record::Written { count } => self.written = *count,
            Record::Altered { write, holds, .. } => {
                let holds = usize::try_from(*write).ok().zip(bytes(holds));
                self.altered.extend(holds);
            }
            Record::Registered { epoch, host, .. } => {
                self.epoch = *epoch;
                self.host.clone_from(host);
            }
            Record::Notifying { back, .. } => {
                self.hosts = if *back { Hosts::CallingBack } else { Hosts::Told };
                self.silent.clear();
                self.heard = false;
                self.rounds += 1;
            }
            Record::Notified { answered, silent, .. } => self.take_answers(answered, silent),
            Record::GoingOn { .. } => (self.going_on, self.way_is_free) = (true, true),
            Record::OpensmNamed { process, .. } => {
                self.begun.opensm.iter_mut().for_each(|site| site.name_process(process));
            }
            Record::Applied { deadline, ends, .. } => {
                self.ends.clone_from(ends);
                self.written = self.begun.writes.len() as u64;
                (self.phase, self.deadline) = (Phase::Applied, Some(deadline.clone()));
            }
            Record::Extended { deadline, ends, .. } => {
                (self.deadline, self.ends) = (Some(deadline.clone()), ends.clone());
            }
            Record::Confirmed { time, .. } => self.end(Phase::Confirmed, time, &[]),
            Record::Returning { why, asked, .. } => {
                (self.phase, self.why, self.asked) = (Phase::RollingBack, Some(why.clone()), *asked);
            }
            Record::Returned { time, left } => {
                let phase = if left.is_empty() { Phase::RolledBack } else { Phase::Incomplete };
                self.end(phase, time, left);
            }
            Record::Again { user, anyway, .. } => {
                let why = format!("asked for again by {user}");
                (self.phase, self.why, self.asked) = (Phase::RollingBack, Some(why), *anyway);
                let all = self.begun.writes.len() as u64;
                self.written = if self.may_be_written() { all } else { 0 };
                self.ended = None;
            }
            Record::Refused { time, why } => {
                self.why = Some(why.clone());
                self.end(Phase::Refused, time, &[]);
            }
        }
    }

    /// Applies the answers of the hosts to a notice: to leave the lanes of a change, or to come back to them.
    fn take_answers(&mut self, answered: &[String], silent: &[String]) {
        self.silent = silent.to_vec();
        self.heard = true;
        if self.hosts == Hosts::CallingBack {
            self.away.retain(|host| !answered.contains(host));
            self.hosts = if silent.is_empty() { Hosts::CalledBack } else { Hosts::PartlyBack };
        } else {
            self.away.extend(answered.iter().cloned());
            self.silent_there = silent.to_vec();
            self.knows_who_left = true;
            self.way_is_free |= silent.is_empty();
        }
    }

    /// Whether some of it may be written, by what the journal says: each of these records is durable before a Set goes out.
    pub fn may_be_written(&self) -> bool {
        let way_is_free = self.begun.phases.is_none() || self.way_is_free;
        self.written > 0 || (way_is_free && (self.writing || !self.begun.marks_writing))
    }

    /// Which of the five phases it is in, of an update that has them and is on its way there.
    pub fn phase_of_five(&self) -> Option<u8> {
        self.begun.phases.as_ref()?;
        let left = self.heard && (self.silent.is_empty() || self.going_on || self.written > 0);
        match (self.phase, self.hosts) {
            (Phase::Applying, Hosts::Untold) => Some(1),
            (Phase::Applying, Hosts::Told) => Some(if left { 3 } else { 2 }),
            (Phase::Applying, _) => Some(4),
            (Phase::Applied | Phase::Confirmed, _) => Some(5),
            _ => None,
        }
    }

    /// Whether hosts that did not answer are asked again, with nothing written.
    pub fn waits(&self) -> bool {
        let asked = self.begun.phases.is_some() && self.begun.unanswered == Unanswered::Wait;
        asked
            && self.phase == Phase::Applying
            && self.hosts == Hosts::Told
            && !self.silent.is_empty()
            && !self.going_on
    }

    fn end(&mut self, phase: Phase, time: &str, left: &[Left]) {
        self.phase = phase;
        self.ended = Some(Ended { time: time.to_owned(), left: left.to_vec() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fabric(switches: std::ops::Range<u64>) -> Begun {
        Begun { switches: switches.map(|guid| format!("0x{guid:016x}")).collect(), ..Begun::default() }
    }

    #[test]
    fn a_switch_that_two_fabrics_share_does_not_make_them_one() {
        let lab = fabric(0..10);
        // One switch, or half of them, came from the other fabric; a part of the fabric is out of sight; it has grown.
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
        let simulated = Begun { simulator: Some("a.sock".to_owned()), ..lab.clone() };
        assert!(!lab.is_of_fabric_of(&simulated) && !lab.meets(&simulated));
    }
}
