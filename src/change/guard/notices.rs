//! The notices to hosts of a change that moves flows: after its tables are written, and before they are rolled back.

use std::collections::BTreeMap;
use std::time::Duration;

use super::guard_run::Guard;
use crate::driver::Halt;
use crate::journal::{JournalRecord, RollbackRemainder};
use crate::migration::FollowMode;
use fabdeck_fabric::Lid;
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::WriteError;

/// Timeout for the answers of agents. Requests to the guard wait as long.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The names of the hosts whose agents answered, and of those whose agents did not.
pub(crate) type HostAnswers = (Vec<String>, Vec<String>);
/// Number of hosts that a line of the trail lists.
const MAX_NAMES: usize = 8;

impl Guard<'_> {
    /// Sends hosts the notices to move flows. Hosts without an answer are logged, and do not stop the change.
    pub(crate) fn notify_hosts(&mut self) -> Result<(), Halt> {
        let flows = self.state.begun.migrations.iter().map(|migration| migration.flows.len()).sum::<usize>();
        if flows == 0 {
            return Ok(());
        }
        let (time, user) = (self.time(), self.user());
        let record = JournalRecord::Notifying { time, back: false };
        self.record(record, "notifying", &user, &format!("{flows} flows are to move"))?;
        let told = self.send_migration_notices(false).map_err(|error| {
            // A port that failed may have sent the notices first.
            self.memory.unheard = !matches!(error, WriteError::Gone(_));
            Halt::Write(error)
        })?;
        let (record, words) = self.answers_record(told);
        Ok(self.record(record, "notified", &user, &words)?)
    }

    /// Sends the notices to move flows back, if any may have moved. Returns the hosts whose flows may not be back. A
    /// journal that fails does not stop the notices.
    pub(crate) fn recall_hosts(&mut self) -> Vec<RollbackRemainder> {
        // In five phases, hosts return to base LIDs only after the old tables are back.
        if !self.state.hosts.may_have_moved() || self.state.begun.phases.is_some() {
            return Vec::new();
        }
        let (time, user) = (self.time(), self.user());
        self.record_or_log(
            JournalRecord::Notifying { time, back: true },
            "notifying",
            &user,
            "flows are to move back",
        );
        match self.send_migration_notices(true) {
            Ok(told) => {
                let left = if self.memory.unheard { Vec::new() } else { hosts_not_back(told.1.iter()) };
                let (record, words) = self.answers_record(told);
                self.record_or_log(record, "notified", &user, &words);
                left
            }
            Err(_) if self.memory.unheard => Vec::new(),
            Err(error) => {
                let why = format!("they got no notice to move their flows back: {error}");
                vec![RollbackRemainder { what: "hosts".to_owned(), why }]
            }
        }
    }

    pub(crate) fn record_or_log(&mut self, record: JournalRecord, what: &str, user: &str, detail: &str) {
        if let Err(error) = self.record(record.clone(), what, user, detail) {
            self.state.apply(&record);
            (self.log)(&error.to_string());
        }
    }

    /// Sends the notices of the migrations.
    fn send_migration_notices(&mut self, undo: bool) -> Result<HostAnswers, WriteError> {
        let number = self.next_round();
        let begun = &self.state.begun;
        let mut notices: Vec<PathNotice> =
            begun.migrations.iter().flat_map(|migration| migration.notices(number, undo)).collect();
        if undo {
            notices.reverse();
        }
        let flows = begun.migrations.iter().flat_map(|migration| &migration.flows);
        let agents = flows.filter(|flow| flow.follows == FollowMode::Agent).map(|flow| &flow.host);
        let agents =
            agents.filter_map(|host| Some((Lid::new(host.lid.into())?, host.name.clone()))).collect();
        self.send_notices(&notices, agents)
    }

    /// The number of the notices that go out now. The journal has the record of the previous round, so every round has
    /// its own number, whichever guard sends it.
    pub(crate) fn next_round(&self) -> u32 {
        PathNotice::notice_number(self.state.begun.notice_number(), self.state.rounds)
    }

    /// Sends notices, and waits for the answers of these hosts.
    pub(crate) fn send_notices(
        &mut self,
        notices: &[PathNotice],
        hosts: BTreeMap<Lid, String>,
    ) -> Result<HostAnswers, WriteError> {
        let whom: Vec<Lid> = hosts.keys().copied().collect();
        let answered = self.driver.notify(notices, &whom, ANSWER_TIMEOUT)?;
        let (heard, silent): (Vec<_>, Vec<_>) =
            hosts.into_iter().partition(|(lid, _)| answered.contains(lid));
        let names = |hosts: Vec<(Lid, String)>| hosts.into_iter().map(|(_, name)| name).collect();
        Ok((names(heard), names(silent)))
    }

    pub(crate) fn answers_record(&self, (answered, silent): HostAnswers) -> (JournalRecord, String) {
        let words = match silent.len() {
            0 => format!("{} agents answered", answered.len()),
            some => format!("{} agents answered, {some} did not: {}", answered.len(), list_names(&silent)),
        };
        (JournalRecord::Notified { time: self.time(), answered, silent }, words)
    }
}

/// The names of the first hosts.
pub(crate) fn list_names(hosts: &[String]) -> String {
    let named = hosts.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if hosts.len() > MAX_NAMES { ", ..." } else { "" };
    format!("{named}{more}")
}

/// What a rollback leaves undone: hosts whose flows may still be where the change moved them.
pub(crate) fn hosts_not_back<'h>(silent: impl Iterator<Item = &'h String>) -> Vec<RollbackRemainder> {
    let left = |host: &String| RollbackRemainder {
        what: format!("host {host}"),
        why: "its agent did not say that its flows went back".to_owned(),
    };
    silent.map(left).collect()
}
