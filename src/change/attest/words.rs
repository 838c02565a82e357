//! Sentences about a confirmed change and the fabric.

use super::verdict::{Attestation, DeviceReport, DeviceState, OtherChange, Verdict};
use crate::journal::Phase;
use crate::manager::other_writer_words;

/// Number of devices that are listed; the JSON has all.
const NAMED: usize = 3;

impl Attestation {
    /// `no longer stands: 2 of 128 entries differ from what it wrote: switch leaf0 (0x1): 2 entries; ...`.
    pub fn words(&self) -> String {
        let title = self.verdict.title();
        let all = entries(self.entries);
        let found = match self.verdict {
            Verdict::Stands => format!("{title}: {all} as it wrote them"),
            Verdict::Superseded => title.to_owned(),
            Verdict::NotKnown => {
                format!("{title}: {} of {all} cannot be read: {}", self.unread, self.named_devices())
            }
            Verdict::NoLongerStands => format!(
                "{title}: {} of {all} differ from what it wrote: {}",
                self.differ,
                self.named_devices()
            ),
        };
        let parts = [Some(found), self.superseded_words(), self.writer_words()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// A line with a code, if the operator has to act.
    pub fn warning(&self, id: &str) -> Option<String> {
        let words = self.words();
        match self.verdict {
            Verdict::NoLongerStands => Some(format!(
                "FD-5608: change {id} {words}; 'fabdeck check' judges the tables in force, and a new plan writes them again"
            )),
            Verdict::NotKnown => Some(format!(
                "FD-5609: whether change {id} stands is {words}; see that its switches answer, then compare again"
            )),
            Verdict::Stands | Verdict::Superseded => None,
        }
    }

    fn named_devices(&self) -> String {
        let named = self.devices.iter().take(NAMED).map(DeviceReport::words);
        let more = self.devices.len().saturating_sub(NAMED);
        let more =
            (more > 0).then(|| format!("{more} more {}", if more == 1 { "device" } else { "devices" }));
        named.chain(more).collect::<Vec<_>>().join("; ")
    }

    fn superseded_words(&self) -> Option<String> {
        let ids = self.superseded_by.join(", ");
        let changes = if self.superseded_by.len() == 1 { "change" } else { "changes" };
        let entries = entries(self.superseded);
        (self.superseded > 0).then(|| format!("{changes} {ids} wrote {entries} since"))
    }

    /// Who may have written the entries that no change from fabdeck's journals explains.
    fn writer_words(&self) -> Option<String> {
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
            DeviceState::Gone => format!("{name} is gone ({})", entries(*differ)),
            DeviceState::Restarted => {
                format!("{name} was restarted: its tables are empty ({})", entries(*differ))
            }
            DeviceState::Silent => format!("{name} does not answer ({})", entries(self.unread)),
            DeviceState::Overwritten => {
                let before = (self.as_before > 0).then(|| format!("{} as before the change", self.as_before));
                let unread = (self.unread > 0).then(|| format!("{} more cannot be read", self.unread));
                let by = self.by.iter().map(OtherChange::words);
                let parts: Vec<String> = before.into_iter().chain(by).chain(unread).collect();
                let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
                format!("{name}: {}{parts}", entries(*differ))
            }
        }
    }
}

impl OtherChange {
    fn words(&self) -> String {
        let Self { id, entries, .. } = self;
        match self.state {
            Phase::Incomplete => format!("{entries} left by change {id}, whose rollback is incomplete"),
            _ => format!("{entries} put back by the rollback of change {id}"),
        }
    }
}

fn entries(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}
