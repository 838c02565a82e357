//! The engines side by side, as a table.

use std::collections::BTreeMap;

use super::whatif::EngineRow;
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{RowContext, View};
use crate::operations::check::judgement::CertificateReport;

/// The state of each engine, by its id, where a front end shows it beside the figures.
pub type EngineStates = BTreeMap<&'static str, String>;

impl RowContext for EngineStates {}

pub type EngineField = Field<EngineRow, EngineStates>;

/// The engines as commands print them.
pub const ENGINE_TABLE: View<EngineRow, EngineStates> = View::new(ENGINE_FIELDS, "no engine was run");

/// Tables, blocks and dark fiber do not fit into 80 characters; JSON, plans and wide screens have them.
static ENGINE_FIELDS: &[EngineField] = &[
    ENGINE,
    LOST,
    DEADLOCK_FREE,
    LANES,
    LONGEST,
    MAX_EFI,
    SWITCHES,
    ENTRIES.on_request(),
    BLOCKS.on_request(),
    MOVED,
    TRANSITION,
    DARK_FIBER.on_request(),
    SECONDS,
];

pub const ENGINE: EngineField =
    EngineField::new("engine", "ENGINE", FieldKind::Text, "the engine", |_, row| row.engine.into());

pub const LOST: EngineField = EngineField::new(
    "lost",
    "NO PATH",
    FieldKind::Number,
    "pairs without a path after it, except pairs that are cut off",
    |_, row| match &row.certificate {
        Some(report) if report.is_disconnected() => Value::text("all"),
        report => report.as_ref().map(|report| report.unreachable - report.by_cause.cut_off).into(),
    },
)
.toned_above_zero(Tone::Danger)
.largest_first();

pub const DEADLOCK_FREE: EngineField = EngineField::new(
    "deadlock_free",
    "DEADLOCK",
    FieldKind::Flag,
    "free: no credit loop, so packets cannot wait for each other forever",
    |_, row| of_certificate(row, |report| report.deadlock_free),
)
.toned(&[("yes", Tone::Good), ("no", Tone::Danger)])
.flag_words("free", "possible");

pub const LANES: EngineField =
    EngineField::new("lanes", "LANES", FieldKind::Number, "lanes that it uses", |_, row| row.lanes_cell())
        .largest_first();

pub const LONGEST: EngineField = EngineField::new(
    "longest",
    "HOPS",
    FieldKind::Number,
    "hops between switches of the longest path",
    |_, row| of_certificate(row, |report| Some(u64::from(report.longest_path))),
)
.largest_first();

pub const MAX_EFI: EngineField = EngineField::new(
    "max_efi",
    "BUSIEST",
    FieldKind::Number,
    "paths over the busiest channel (EFI, its edge forwarding index)",
    |_, row| of_certificate(row, |report| Some(report.edge_forwarding_index.max)),
)
.largest_first()
.gauge();

pub const SWITCHES: EngineField = EngineField::new(
    "switches",
    "WRITES",
    FieldKind::Number,
    "switches whose table changes; the tables in force are those that the switches hold now",
    |_, row| row.changed_switches.into(),
)
.largest_first();

pub const ENTRIES: EngineField =
    EngineField::new("entries", "ENTRIES", FieldKind::Number, "entries of tables that change", |_, row| {
        row.changed_entries.into()
    })
    .largest_first();

pub const BLOCKS: EngineField =
    EngineField::new("blocks", "BLOCKS", FieldKind::Number, "blocks of 64 LIDs to write", |_, row| {
        row.changed_blocks.into()
    })
    .largest_first();

pub const MOVED: EngineField =
    EngineField::new("moved", "MOVED", FieldKind::Number, "pairs whose path changes", |_, row| {
        row.moved_pairs.into()
    })
    .largest_first()
    .gauge();

pub const TRANSITION: EngineField = EngineField::new(
    "transition",
    "LIVE",
    FieldKind::Flag,
    "safe: the tables can be written while traffic flows, for no mixture of old and new entries has a credit loop; -: not \
     known, or on a large fabric not checked yet, and a plan reports it",
    |_, row| row.transition_safe.into(),
).toned(&[("yes", Tone::Good), ("no", Tone::Danger)])
.flag_words("safe", "unsafe");

pub const DARK_FIBER: EngineField = EngineField::new(
    "dark_fiber",
    "UNUSED %",
    FieldKind::Text,
    "dark fiber: percent of channels between switches that carry no path",
    |_, row| digits_or_dash(row.certificate.as_ref().map(|report| report.dark_fiber), 1),
);

pub const SECONDS: EngineField = EngineField::new(
    "seconds",
    "SEC",
    FieldKind::Text,
    "to compute the routes and their certificate",
    |_, row| digits_or_dash(row.seconds, 3),
);

fn of_certificate<'r, T: Into<Value<'r>>>(
    row: &EngineRow,
    figure: fn(&CertificateReport) -> Option<T>,
) -> Value<'r> {
    row.certificate.as_ref().and_then(figure).into()
}

fn digits_or_dash(figure: Option<f64>, decimals: usize) -> Value<'static> {
    Value::Text(figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}")).into())
}

/// The defects in the certificates, with the engine of each.
pub fn defect_words(rows: &[EngineRow]) -> Vec<String> {
    let judged = rows.iter().filter_map(|row| Some((row.engine, row.certificate.as_ref()?)));
    judged
        .flat_map(|(engine, report)| {
            report.defect_words().into_iter().map(move |fault| format!("{engine}: {fault}"))
        })
        .collect()
}
