//! The notices to hosts of a change that moves flows: after its tables are written, and before they are rolled back.

use std::collections::BTreeMap;
use std::time::Duration;

use super::keeper::Keeper;
use crate::driver::Halt;
use crate::journal::{Left, Record};
use crate::migration::Follows;
use fabdeck_fabric::Lid;
use fabdeck_mad::Repath;
use fabdeck_mad::access::WriteError;

/// Timeout for the answers of agents. Requests to the guard wait as long.
pub(super) const ANSWERS: Duration = Duration::from_secs(5);
/// The names of the hosts whose agents answered, and of those whose agents did not.
pub(super) type Answers = (Vec<String>, Vec<String>);
/// Number of hosts that a line of the trail lists.
const NAMED: usize = 8;

impl Keeper<'_> {
    /// Sends hosts the notices to move flows. Hosts without an answer are logged, and do not stop the change.
    pub(super) fn tell_hosts(&mut self) -> Result<(), Halt> {
        let flows = self.told.begun.migrations.iter().map(|migration| migration.flows.len()).sum::<usize>();
        if flows == 0 {
            return Ok(());
        }
        let (time, user) = (self.time(), self.user());
        let record = Record::Notifying { time, back: false };
        self.record(record, "notifying", &user, &format!("{flows} flows are to move"))?;
        let told = self.say_to_hosts(false).map_err(|error| {
            // A port that failed may have sent the notices first.
            self.unheard = !matches!(error, WriteError::Gone(_));
            Halt::Write(error)
        })?;
        let (record, words) = self.answers(told);
        Ok(self.record(record, "notified", &user, &words)?)
    }

    /// Sends the notices to move flows back, if any may have moved. Returns the hosts whose flows may not be back. A
    /// journal that fails does not stop the notices.
    pub(super) fn call_hosts_back(&mut self) -> Vec<Left> {
        // In five phases, hosts return to base LIDs only after the old tables are back.
        if !self.told.hosts.may_have_moved() || self.told.begun.phases.is_some() {
            return Vec::new();
        }
        let (time, user) = (self.time(), self.user());
        self.keep_or_say(
            Record::Notifying { time, back: true },
            "notifying",
            &user,
            "flows are to move back",
        );
        match self.say_to_hosts(true) {
            Ok(told) => {
                let left = if self.unheard { Vec::new() } else { not_back(told.1.iter()) };
                let (record, words) = self.answers(told);
                self.keep_or_say(record, "notified", &user, &words);
                left
            }
            Err(_) if self.unheard => Vec::new(),
            Err(error) => {
                let why = format!("they were not told to move their flows back: {error}");
                vec![Left { what: "hosts".to_owned(), why }]
            }
        }
    }

    pub(super) fn keep_or_say(&mut self, record: Record, what: &str, user: &str, detail: &str) {
        if let Err(error) = self.record(record.clone(), what, user, detail) {
            self.told.take(&record);
            (self.say)(&error.to_string());
        }
    }

    /// Sends the notices of the migrations.
    fn say_to_hosts(&mut self, undo: bool) -> Result<Answers, WriteError> {
        let number = self.round();
        let begun = &self.told.begun;
        let mut notices: Vec<Repath> =
            begun.migrations.iter().flat_map(|migration| migration.notices(number, undo)).collect();
        if undo {
            notices.reverse();
        }
        let flows = begun.migrations.iter().flat_map(|migration| &migration.flows);
        let agents = flows.filter(|flow| flow.follows == Follows::Agent).map(|flow| &flow.host);
        let agents =
            agents.filter_map(|host| Some((Lid::new(host.lid.into())?, host.name.clone()))).collect();
        self.notified(&notices, agents)
    }

    /// The number of the notices that go out now. The journal has the record of the previous round, so every round has
    /// its own number, whichever guard sends it.
    pub(super) fn round(&self) -> u32 {
        Repath::number_of(self.told.begun.notice_number(), self.told.rounds)
    }

    /// Sends notices, and waits for the answers of these hosts.
    pub(super) fn notified(
        &mut self,
        notices: &[Repath],
        hosts: BTreeMap<Lid, String>,
    ) -> Result<Answers, WriteError> {
        let whom: Vec<Lid> = hosts.keys().copied().collect();
        let answered = self.driver.notify(notices, &whom, ANSWERS)?;
        let (heard, silent): (Vec<_>, Vec<_>) =
            hosts.into_iter().partition(|(lid, _)| answered.contains(lid));
        let names = |hosts: Vec<(Lid, String)>| hosts.into_iter().map(|(_, name)| name).collect();
        Ok((names(heard), names(silent)))
    }

    pub(super) fn answers(&self, (answered, silent): Answers) -> (Record, String) {
        let words = match silent.len() {
            0 => format!("{} agents answered", answered.len()),
            some => format!("{} agents answered, {some} did not: {}", answered.len(), names_of(&silent)),
        };
        (Record::Notified { time: self.time(), answered, silent }, words)
    }
}

/// The names of the first hosts.
pub(super) fn names_of(hosts: &[String]) -> String {
    let named = hosts.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if hosts.len() > NAMED { ", ..." } else { "" };
    format!("{named}{more}")
}

/// Hosts whose flows may still be where the change moved them.
pub(super) fn not_back<'h>(silent: impl Iterator<Item = &'h String>) -> Vec<Left> {
    let left = |host: &String| Left {
        what: format!("host {host}"),
        why: "its agent did not say that its flows went back".to_owned(),
    };
    silent.map(left).collect()
}
