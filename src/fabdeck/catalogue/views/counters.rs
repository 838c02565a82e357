//! Counters: a row for each sample, a column for each counter that any sample has.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::catalogue::field::{Column, Field, ListedPort, Listing};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{RowContext, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::counters::{port_tick_seconds, sample_node, sample_port};
use fabdeck_fabric::observe::{Counter, CounterFigure, CounterSample, NotePlace, Notes};
use fabdeck_fabric::{Fabric, PortId};

type RowField = Field<CounterSample>;

/// The view without the columns of the source.
pub const COUNTERS: View<CounterSample> = View::new(COUNTER_FIELDS, "the source has no counters");

/// The fields that every sample has. The counters follow, with the names that tools print.
static COUNTER_FIELDS: &[RowField] = &[
    RowField::new("node", "NODE", FieldKind::Text, "name of the node", |l, sample| {
        sample_node(l.fabric(), sample).map(|node| l.name(node)).into()
    })
    .node_name(),
    RowField::new(
        "guid",
        "GUID",
        FieldKind::Guid,
        "GUID of the node, as the sample gives it or as the fabric knows it",
        |l, sample| {
            let known = || sample_node(l.fabric(), sample).map(|node| l.fabric().node(node).guid());
            sample.node.or_else(known).into()
        },
    )
    .when_ambiguous(),
    RowField::new("lid", "LID", FieldKind::Number, "LID, where the sample is named by LID", |_, sample| {
        sample.lid.into()
    })
    .identifier()
    .on_request(),
    RowField::new(
        "port",
        "PORT",
        FieldKind::Number,
        "port number; none for all ports of an adapter together",
        |_, sample| sample.port.into(),
    )
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, sample| {
        sample_port(l.fabric(), sample).map_or(Value::Missing, |port| label_value(l, port))
    })
    .when_known(),
    RowField::new(
        "tick_ps",
        "TICK",
        FieldKind::Number,
        "length of a tick of PortXmitWait, where the device reports it",
        |l, sample| {
            let port = sample_port(l.fabric(), sample);
            let tick = port.and_then(|port| port_tick_seconds(l.fabric(), &l.observation.ticks, port));
            tick.map(|seconds| (seconds * 1e12).round() as u64).into()
        },
    )
    .unit("ps")
    .on_request(),
    RowField::new(
        "saturated",
        "SATURATED",
        FieldKind::Text,
        "counters that are at their maximum: they may have counted more",
        |_, sample| saturated_counters(sample).into(),
    )
    .on_request(),
];

/// The names of the counters whose best value is at its maximum.
fn saturated_counters(sample: &CounterSample) -> Option<String> {
    let stuck = |(counter, value): (Counter, Option<u64>)| {
        value.filter(|value| counter.is_saturated(*value))?;
        let figure = sample.values.figure(&counter, &counter.clone().extended())?;
        figure.saturated.then(|| counter.name().to_owned())
    };
    let names: Vec<String> = sample.values.iter().filter_map(stuck).collect();
    (!names.is_empty()).then(|| names.join(","))
}

/// A counter, its 64-bit form (itself where there is none), and the column for both.
#[derive(Debug)]
struct CounterColumn {
    counter: Counter,
    wide: Counter,
    column: Column,
}

/// Counter samples, with a column for each counter that some sample has.
#[derive(Debug)]
pub struct CounterRows<'l> {
    look: &'l Snapshot,
    counters: Vec<CounterColumn>,
}

impl<'l> CounterRows<'l> {
    pub fn new(look: &'l Snapshot) -> Self {
        let samples = &look.observation.counters;
        let union: BTreeSet<Counter> =
            samples.iter().flat_map(|sample| sample.values.iter().map(|(counter, _)| counter)).collect();
        let counters = union.iter().map(|counter| CounterColumn::new(counter, &union)).collect();
        Self { look, counters }
    }
}

impl Listing for CounterRows<'_> {
    fn column_count(&self) -> usize {
        COUNTER_FIELDS.len() + self.counters.len()
    }

    fn column(&self, at: usize) -> &Column {
        match COUNTER_FIELDS.get(at) {
            Some(field) => &field.column,
            None => &self.counters[at - COUNTER_FIELDS.len()].column,
        }
    }

    fn row_count(&self) -> usize {
        self.look.observation.counters.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        match COUNTER_FIELDS.get(column) {
            Some(field) => (field.value)(self.look, &self.look.observation.counters[row]),
            None => self.counters[column - COUNTER_FIELDS.len()].value(&self.look.observation.counters[row]),
        }
    }

    /// Tools print a counter and its 64-bit form under one name, so each name finds whichever the source has.
    fn find_alias(&self, name: &str) -> Option<usize> {
        let wanted = Counter::from_name(name);
        let wide = wanted.clone().extended();
        let same = |known: &CounterColumn| known.counter == wanted || known.wide == wide;
        self.counters.iter().position(same).map(|at| at + COUNTER_FIELDS.len())
    }

    fn find_port(&self, text: &str) -> Option<ListedPort> {
        self.look.find_port(text)
    }

    fn is_distinguishing(&self, column: usize) -> bool {
        let field = COUNTER_FIELDS.get(column);
        field.is_some_and(|field| field.column.tells_apart) && self.look.names.has_duplicate_switches()
    }

    fn is_hidden_when_zero(&self, column: usize) -> bool {
        column >= COUNTER_FIELDS.len()
    }

    fn empty_text(&self) -> &str {
        COUNTERS.when_empty
    }
}

impl CounterColumn {
    /// A counter and its 64-bit form share the column of the counter; a table shows the form's own column on
    /// request.
    fn new(counter: &Counter, union: &BTreeSet<Counter>) -> Self {
        let name = || counter.name().to_owned().into();
        let wide = counter.clone().extended();
        let about = match wide != *counter && union.contains(&wide) {
            true => format!("counter {}, or {} where that has the larger range", counter.name(), wide.name()),
            false => format!("counter {}, raw", counter.name()),
        };
        let is_form = union.iter().any(|narrow| narrow != counter && narrow.clone().extended() == *counter);
        let column = Column::new(name(), name(), FieldKind::Number, about.into());
        let column = Column { largest_first: true, shown: !is_form, ..column };
        Self { counter: counter.clone(), wide, column }
    }

    /// The best value in a sample; values that are no counts are returned unchanged.
    fn value(&self, sample: &CounterSample) -> Value<'static> {
        match sample.values.figure(&self.counter, &self.wide) {
            Some(CounterFigure { value, saturated: true }) => Value::AtLeast(value),
            Some(CounterFigure { value, .. }) => Value::Number(value),
            None => sample.values.get(&self.counter).into(),
        }
    }
}

/// Number of link errors, by the port that counted them.
pub fn errors_by_port(fabric: &Fabric, samples: &[CounterSample]) -> FxHashMap<PortId, u64> {
    let counted = |sample| Some((sample_port(fabric, sample)?, sample.values.link_errors()?));
    samples.iter().filter_map(counted).collect()
}

/// The note for a simulator that began with this command, whose counters are all 0.
pub fn fresh_counters(look: &Snapshot) -> Notes {
    let mut notes = Notes::new();
    let counters = &look.observation.counters;
    let simulated = look.observation.reading.as_ref().is_some_and(|reading| reading.virtual_time);
    let quiet =
        |sample: &CounterSample| sample.values.iter().all(|(_, value)| value.is_none_or(|value| value == 0));
    if simulated && !counters.is_empty() && counters.iter().all(quiet) {
        notes.add("FN-602", NotePlace::file(look.source.clone()), || {
            "all counters are 0, because this simulator starts with the command; its time passes with --interval \
             (hotspots, show counters --format prometheus) and with 'record', whose capture --at reads"
                .to_owned()
        });
    }
    notes
}

/// The notes about samples with a LID that no port owns. Counters without a fabric are no mistake.
pub fn unplaced_counters(look: &Snapshot) -> Notes {
    let mut notes = Notes::new();
    let fabric = look.fabric();
    if fabric.is_empty() {
        return notes;
    }
    for sample in &look.observation.counters {
        let Some(lid) = sample.lid.filter(|_| sample_node(fabric, sample).is_none()) else { continue };
        notes.add("FN-601", NotePlace::file(look.source.clone()), || {
            format!("counters of LID {lid}: no port of this fabric has this LID, so their rows name no node; the topology may be older than the counters")
        });
    }
    notes
}
