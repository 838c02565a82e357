//! The running jobs, with a row for each: figures under the tables in force, and beside them under proposed routes.

use std::borrow::Cow;

use super::summary::JobSummary;
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;

type RowField = Field<JobSummary, ()>;

/// The jobs as `jobs` prints them.
pub const RUNNING_JOBS: View<JobSummary, ()> =
    View::new(JOB_FIELDS, "no job of the list has a host in the fabric");

/// The jobs with the figures that sar would give them, the most important first.
pub const JOB_GAINS: View<JobSummary, ()> =
    View::new(GAIN_FIELDS, "no job runs on several switches: none has a path between switches");

static JOB_FIELDS: &[RowField] = &[JOB, HOSTS, PORTS, MISSING, SWITCHES, LINKS, MAX, DARK_FIBER, LOST];

static GAIN_FIELDS: &[RowField] = &[
    JOB, HOSTS, MISSING, SWITCHES, LOST, WAITS, WAITING, WORST_WAIT, MAX, BUSIEST, SAR_MAX, CHANGE, LINKS,
    SAR_LINKS, DARK_FIBER, SAR_DARK, REASON,
];

const JOB: RowField = RowField::new(
    "job",
    "JOB",
    FieldKind::Text,
    "its name in the list; each task of Slurm's arrays, and each heterogeneous job as a whole",
    |(), job| Value::text(&job.job),
);

const HOSTS: RowField = RowField::new(
    "hosts",
    "HOSTS",
    FieldKind::Number,
    "its hosts that paths lead to, each counted once",
    |(), job| Value::count(job.hosts),
)
.shed(3)
.largest_first();

const PORTS: RowField = RowField::new(
    "ports",
    "PORTS",
    FieldKind::Number,
    "ports of these hosts that paths lead to",
    |(), job| Value::count(job.ports),
)
.largest_first()
.on_request();

const MISSING: RowField = RowField::new(
    "missing",
    "MISSING",
    FieldKind::Number,
    "its hosts that match no host of the fabric, or several",
    |(), job| Value::count(job.missing),
)
.largest_first()
.on_request();

const SWITCHES: RowField = RowField::new(
    "switches",
    "SWITCHES",
    FieldKind::Number,
    "switches of its hosts; a job on one switch has no path between switches",
    |(), job| Value::count(job.switches),
)
.shed(4)
.largest_first();

const LINKS: RowField = RowField::new(
    "links",
    "LINKS",
    FieldKind::Number,
    "directed channels between switches that paths between its hosts cross",
    |(), job| job.links.map(Value::count).into(),
)
.shed(2)
.largest_first();

const MAX: RowField = RowField::new(
    "max",
    "MOST PATHS",
    FieldKind::Number,
    "the largest number of its paths over one channel (its effective edge forwarding index)",
    |(), job| job.max.into(),
)
.largest_first();

const DARK_FIBER: RowField = RowField::new(
    "dark_fiber",
    "UNUSED %",
    FieldKind::Decimal,
    "percent of all channels between switches that none of its paths crosses (dark fiber)",
    |(), job| job.dark_fiber.map(Value::tenths).into(),
)
.shed(2)
.largest_first()
.unit("%");

const LOST: RowField = RowField::new(
    "lost",
    "LOST",
    FieldKind::Number,
    "ordered pairs of ports of its different hosts without a path; no other figure counts them",
    |(), job| job.lost.into(),
)
.toned_above_zero(Tone::Danger)
.largest_first()
.when_yes();

const WAITS: RowField = RowField::new(
    "waits",
    "HOSTS BY WAIT",
    FieldKind::Text,
    "how long each of its ports waits: a level for each, from 0 to 7",
    |(), job| job.waits.as_ref().map(|waits| Value::text(&waits.levels)).into(),
)
.levels()
.shed(5)
.when_known();

const WAITING: RowField =
    RowField::new("waiting", "WAITING", FieldKind::Number, "its hosts that wait", |(), job| {
        job.waits.as_ref().map(|waits| Value::count(waits.waiting)).into()
    })
    .toned_above_zero(Tone::Warning)
    .largest_first()
    .when_known();

const WORST_WAIT: RowField = RowField::new(
    "worst_wait",
    "WAIT %",
    FieldKind::Number,
    "the longest wait of its hosts, in percent of the time",
    |(), job| job.waits.as_ref().and_then(|waits| waits.worst).into(),
)
.largest_first()
.unit("%")
.when_known();

const BUSIEST: RowField = RowField::new(
    "busiest",
    "BUSIEST",
    FieldKind::Text,
    "the port that sends into the channel with the most of its paths",
    |(), job| job.busiest.as_deref().map(Value::text).into(),
)
.shed(3)
.when_known();

const REASON: RowField = RowField::new(
    "hit_by",
    "HIT BY",
    FieldKind::Text,
    "the worst problem that hits it, with its first element, and the number of the others",
    |(), job| job.waits.as_ref().map(|waits| Value::text(&waits.reason)).into(),
)
.keyword()
.when_known();

const SAR_MAX: RowField = RowField::new(
    "sar_max",
    "SAR PATHS",
    FieldKind::Number,
    "the largest number of its paths over one channel under sar's routes",
    |(), job| job.proposed.map(|proposed| proposed.max).into(),
)
.largest_first()
.when_known();

const CHANGE: RowField =
    RowField::new("change", "CHANGE", FieldKind::Text, "the difference in percent", |(), job| {
        let figures = job.max.zip(job.proposed);
        let words = figures.and_then(|(max, proposed)| percent_change(max as f64, proposed.max as f64));
        words.map(|words| Value::Text(Cow::Owned(words))).into()
    })
    .when_known();

const SAR_LINKS: RowField = RowField::new(
    "sar_links",
    "SAR LINKS",
    FieldKind::Number,
    "the channels that its paths would cross under sar's routes",
    |(), job| job.proposed.map(|proposed| Value::count(proposed.links)).into(),
)
.shed(1)
.largest_first()
.when_known();

const SAR_DARK: RowField = RowField::new(
    "sar_dark",
    "SAR UNUSED %",
    FieldKind::Decimal,
    "percent of channels that none of its paths would cross under sar's routes",
    |(), job| job.proposed.map(|proposed| Value::tenths(proposed.dark_fiber)).into(),
)
.shed(1)
.largest_first()
.when_known()
.unit("%");

/// Whether an order or a filter uses only columns that `jobs` prints too.
pub fn is_printed_by_jobs(text: &str) -> bool {
    [SAR_MAX, CHANGE, SAR_LINKS, SAR_DARK, WAITS, WAITING, WORST_WAIT, BUSIEST, REASON]
        .iter()
        .all(|field| !text.contains(&*field.column.id))
}

/// The change of a figure in percent: `-32 %`.
pub fn percent_change(before: f64, after: f64) -> Option<String> {
    let change = 100.0 * (after - before) / before;
    (before > 0.0).then(|| if change.round() == 0.0 { "0 %".to_owned() } else { format!("{change:+.0} %") })
}
