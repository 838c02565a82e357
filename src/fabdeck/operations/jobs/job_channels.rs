//! Channels between switches that paths within jobs cross, with a row for each.

use super::job_comparison::JobComparison;
use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use fabdeck_fabric::ChannelId;

/// A channel that paths within jobs cross.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobChannel {
    pub from: String,
    pub to: String,
    /// The labels of both ports.
    pub labels: [Option<String>; 2],
    pub paths: u64,
    pub jobs: u64,
    pub most: u64,
    pub job: String,
}

type RowField = Field<JobChannel, ()>;

pub const JOB_CHANNELS: View<JobChannel, ()> =
    View::new(JOB_CHANNEL_FIELDS, "no path within a job crosses a channel between switches");

static JOB_CHANNEL_FIELDS: &[RowField] = &[
    RowField::new("from", "FROM", FieldKind::Text, "the port that the channel leaves", |(), row| {
        Value::text(&row.from)
    }),
    RowField::new("from_label", "FROM LABEL", FieldKind::Text, "label of that port", |(), row| {
        row.labels[0].as_deref().map_or(Value::Missing, Value::text)
    })
    .when_known(),
    RowField::new("to", "TO", FieldKind::Text, "the port that it enters", |(), row| Value::text(&row.to)),
    RowField::new("to_label", "TO LABEL", FieldKind::Text, "label of that port", |(), row| {
        row.labels[1].as_deref().map_or(Value::Missing, Value::text)
    })
    .when_known(),
    RowField::new(
        "paths",
        "PATHS",
        FieldKind::Number,
        "effective edge forwarding index: paths within jobs over the channel",
        |(), row| row.paths.into(),
    )
    .largest_first(),
    RowField::new("jobs", "JOBS", FieldKind::Number, "number of jobs of these paths", |(), row| {
        row.jobs.into()
    })
    .largest_first(),
    RowField::new("most", "MOST", FieldKind::Number, "paths of the job with the most", |(), row| {
        row.most.into()
    })
    .largest_first(),
    RowField::new("job", "JOB", FieldKind::Text, "that job; of equal ones the first by name", |(), row| {
        Value::text(&row.job)
    }),
];

/// The channels under the tables in force, those with the most paths first; `None` without tables.
pub fn job_channels(look: &Snapshot, comparison: &JobComparison) -> Option<Vec<JobChannel>> {
    let loads = &comparison.in_force.as_ref()?.loads;
    let ends = |channel: &ChannelId| {
        let from = *comparison.channels.get(channel.index())?;
        let to = look.fabric().port(from).peer?;
        Some([from, to])
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
            let ports = ends(channel)?;
            let [from, to] = ports.map(|port| look.unique_port_name(port));
            let labels = ports.map(|port| look.label(port).map(|label| label.shown()));
            let (jobs, most, whose) = own[channel.index()];
            let job = comparison.name(whose)?.clone();
            Some(JobChannel { from, to, labels, paths: *paths, jobs, most, job })
        })
        .collect();
    // The sort is stable, so equal channels stay in their order.
    rows.sort_by_key(|row| std::cmp::Reverse(row.paths));
    Some(rows)
}
