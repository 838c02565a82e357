//! Channels between switches that paths within jobs cross, with a row for each.

use std::sync::LazyLock;

use super::job_comparison::JobComparison;
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use fabdeck_fabric::ChannelId;

/// The columns of channels with job paths.
pub static JOB_CHANNEL_COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let column = |id: &'static str, title: &'static str, kind, about: &'static str| Column {
        largest_first: kind == FieldKind::Number,
        ..Column::new(id.into(), title.into(), kind, about.into())
    };
    vec![
        column("from", "FROM", FieldKind::Text, "the port that the channel leaves"),
        column("to", "TO", FieldKind::Text, "the port that it enters"),
        column(
            "paths",
            "EFI",
            FieldKind::Number,
            "effective edge forwarding index: paths within jobs over the channel",
        ),
        column("jobs", "JOBS", FieldKind::Number, "number of jobs of these paths"),
        column("most", "MOST", FieldKind::Number, "paths of the job with the most"),
        column("job", "JOB", FieldKind::Text, "that job; of equal ones the first by name"),
    ]
});

/// A channel that paths within jobs cross.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobChannel {
    pub from: String,
    pub to: String,
    pub paths: u64,
    pub jobs: u64,
    pub most: u64,
    pub job: String,
}

/// The channels under the tables in force, those with the most paths first; `None` without tables.
pub fn job_channels(look: &Snapshot, comparison: &JobComparison) -> Option<Vec<JobChannel>> {
    let loads = &comparison.in_force.as_ref()?.loads;
    let ends = |channel: &ChannelId| {
        let from = *comparison.channels.get(channel.index())?;
        let to = look.fabric().port(from).peer?;
        Some((look.unique_port_name(from), look.unique_port_name(to)))
    };
    let mut own = vec![(0, 0, 0); comparison.channels.len()];
    for (job, load) in loads.jobs.iter().enumerate() {
        for (channel, paths) in &load.loads {
            let (jobs, most, whose) = &mut own[channel.index()];
            *jobs += 1;
            if paths > most {
                (*most, *whose) = (*paths, job);
            }
        }
    }
    let mut rows: Vec<JobChannel> = loads
        .all
        .loads
        .iter()
        .filter_map(|(channel, paths)| {
            let (from, to) = ends(channel)?;
            let (jobs, most, whose) = own[channel.index()];
            let job = comparison.name(whose)?.clone();
            Some(JobChannel { from, to, paths: *paths, jobs, most, job })
        })
        .collect();
    // The sort is stable, so equal channels stay in their order.
    rows.sort_by_key(|row| std::cmp::Reverse(row.paths));
    Some(rows)
}

/// The channels as a listing.
#[derive(Clone, Copy, Debug)]
pub struct JobChannelRows<'c>(pub &'c [JobChannel]);

impl Listing for JobChannelRows<'_> {
    fn column_count(&self) -> usize {
        JOB_CHANNEL_COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &JOB_CHANNEL_COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let row = &self.0[row];
        match column {
            0 => Value::text(&row.from),
            1 => Value::text(&row.to),
            2 => Value::Number(row.paths),
            3 => Value::Number(row.jobs),
            4 => Value::Number(row.most),
            _ => Value::text(&row.job),
        }
    }

    fn empty_text(&self) -> &str {
        "no path within a job crosses a channel between switches"
    }
}
