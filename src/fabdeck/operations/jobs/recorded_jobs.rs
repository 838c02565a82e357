//! The job list of a recording at one of its moments, with its age.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::JobSnapshot;

/// The jobs of a capture, with the moment at which it is viewed.
#[derive(Clone, Copy, Debug)]
pub struct RecordedJobs<'l> {
    pub said: &'l JobSnapshot,
    /// The moment, in the recorder's clock.
    at: Option<(Timestamp, Offset)>,
}

impl<'l> RecordedJobs<'l> {
    pub fn from_snapshot(look: &'l Snapshot) -> Option<Self> {
        let list = look.observation.jobs.as_deref()?;
        let at = look.observation.time.as_deref().and_then(|text| {
            let offset = Pieces::parse(text).ok()?.to_numeric_offset()?;
            Some((text.parse().ok()?, offset))
        });
        Some(Self { said: list, at })
    }

    /// Time at which the list was last received.
    pub fn heard_time(&self) -> Option<String> {
        let offset = self.at.map_or(Offset::UTC, |(_, offset)| offset);
        let received =
            Timestamp::from_millisecond(self.said.read_at?).ok()?.to_zoned(TimeZone::fixed(offset));
        Some(received.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string())
    }

    /// Age of the list at the moment, in seconds.
    pub fn age_seconds(&self) -> Option<u64> {
        let (at, _) = self.at?;
        let passed = at.as_millisecond().saturating_sub(self.said.read_at?);
        Some(u64::try_from(passed).unwrap_or(0) / 1000)
    }

    /// Text about the list for the operator.
    pub fn words(&self) -> String {
        let age = self.age_seconds().map(|age| format!(", {age} s before")).unwrap_or_default();
        match (self.heard_time(), &self.said.failure) {
            (Some(received), None) => format!("recorded; received at {received}{age}, and no other since"),
            (Some(received), Some(why)) => {
                format!("recorded; received at {received}{age}, and no list since: {why}")
            }
            (None, why) => format!("none was received: {}", why.as_deref().unwrap_or_default()),
        }
    }
}
