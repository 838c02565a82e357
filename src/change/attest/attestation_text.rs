//! Sentences about a confirmed change and the fabric.

use super::verdict::{Attestation, AttestationVerdict, DeviceReport, DeviceState, OtherChange};
use crate::journal::ChangePhase;
use crate::manager_text::other_writer_words;

/// Number of devices that are listed; the JSON has all.
const MAX_NAMES: usize = 3;

impl Attestation {
    /// `no longer stands: 2 of 128 entries differ from what it wrote: switch leaf0 (0x1): 2 entries; ...`.
    pub fn summary(&self) -> String {
        let title = self.verdict.title();
        let all = count_text(self.entries);
        let found = match self.verdict {
            AttestationVerdict::Stands => format!("{title}: {all} as it wrote them"),
            AttestationVerdict::Superseded => title.to_owned(),
            AttestationVerdict::NotKnown => {
                format!("{title}: {} of {all} cannot be read: {}", self.unread, self.devices_text())
            }
            AttestationVerdict::NoLongerStands => format!(
                "{title}: {} of {all} differ from what it wrote: {}",
                self.differ,
                self.devices_text()
            ),
        };
        let parts = [Some(found), self.superseded_text(), self.writer_text()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// A line with a code, if the operator has to act.
    pub fn warning(&self, id: &str) -> Option<String> {
        let words = self.summary();
        match self.verdict {
            AttestationVerdict::NoLongerStands => Some(format!(
                "FD-5608: change {id} {words}; 'fabdeck check' judges the tables in force, and a new plan writes them again"
            )),
            AttestationVerdict::NotKnown => Some(format!(
                "FD-5609: whether change {id} is in force is {words}; check that its switches answer, then compare again"
            )),
            AttestationVerdict::Stands | AttestationVerdict::Superseded => None,
        }
    }

    fn devices_text(&self) -> String {
        let named = self.devices.iter().take(MAX_NAMES).map(DeviceReport::words);
        let more = self.devices.len().saturating_sub(MAX_NAMES);
        let more =
            (more > 0).then(|| format!("{more} more {}", if more == 1 { "device" } else { "devices" }));
        named.chain(more).collect::<Vec<_>>().join("; ")
    }

    fn superseded_text(&self) -> Option<String> {
        let ids = self.superseded_by.join(", ");
        let changes = if self.superseded_by.len() == 1 { "change" } else { "changes" };
        let entries = count_text(self.superseded);
        (self.superseded > 0).then(|| format!("{changes} {ids} wrote {entries} since"))
    }

    /// Who may have written the entries that no change from fabdeck's journals explains.
    fn writer_text(&self) -> Option<String> {
        let unexplained = |device: &DeviceReport| {
            let known: u64 = device.by.iter().map(|other| other.entries).sum();
            device.state == DeviceState::Overwritten && device.differ > known
        };
        self.devices.iter().any(unexplained).then(|| {
            let before = self.manager_before.as_ref();
            let before = before.map(|guid| format!("; it was {guid} when the plan was made"));
            other_writer_words(self.manager.as_deref()) + &before.unwrap_or_default()
        })
    }
}

impl DeviceReport {
    fn words(&self) -> String {
        let Self { name, differ, .. } = self;
        match self.state {
            DeviceState::Gone => format!("{name} is gone ({})", count_text(*differ)),
            DeviceState::Restarted => {
                format!("{name} was restarted: its tables are empty ({})", count_text(*differ))
            }
            DeviceState::Silent => format!("{name} does not answer ({})", count_text(self.unread)),
            DeviceState::Overwritten => {
                let before = (self.as_before > 0).then(|| format!("{} as before the change", self.as_before));
                let unread = (self.unread > 0).then(|| format!("{} more cannot be read", self.unread));
                let by = self.by.iter().map(OtherChange::words);
                let parts: Vec<String> = before.into_iter().chain(by).chain(unread).collect();
                let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
                format!("{name}: {}{parts}", count_text(*differ))
            }
        }
    }
}

impl OtherChange {
    fn words(&self) -> String {
        let Self { id, entries, .. } = self;
        match self.state {
            ChangePhase::Incomplete => format!("{entries} left by change {id}, whose rollback is incomplete"),
            _ => format!("{entries} put back by the rollback of change {id}"),
        }
    }
}

fn count_text(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}
