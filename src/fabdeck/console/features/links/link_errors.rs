//! The error counters of a link, line by line: each counter above zero with its values at both ends, and their growth.
//!
//! ```text
//! errors   rack2-leaf[3], node10 mlx5_0[1]; growth in 42 s
//!          SymbolErrorCounter: 20 +3 | 0 +0
//!          9 other counters are 0 at both ends
//! ```

use std::collections::BTreeMap;

use crate::catalogue::quantity_words::length_words;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::counters::{Growth, find_sample, growth_between};
use fabdeck_fabric::observe::{Counter, CounterKind, CounterValues, Sweep, digits_in_groups};
use fabdeck_fabric::{LinkId, PortId};

/// Both forms of a counter: the narrow one, whose name tools print, and the 64-bit one.
pub(super) type CounterForms = (Counter, Counter);

/// The counters of a port now, and at the baseline of their growth.
struct PortCounts<'s> {
    now: Option<&'s CounterValues>,
    before: Option<&'s CounterValues>,
}

/// The error counters of both ends of a link; empty where no counters were read.
pub fn error_lines(look: &Snapshot, known: &Model, id: LinkId) -> Vec<DetailLine> {
    let link = look.fabric().link(id);
    let (first, after) = (known.watch.baseline.first(), known.watch.judged.as_ref());
    let after = after.map(|judged| judged.after.as_ref());
    let ends = [link.a, link.b].map(|port| PortCounts {
        now: after
            .and_then(|sweep| values_in_sweep(look, sweep, port))
            .or_else(|| values_in_snapshot(look, port)),
        before: first.and_then(|sweep| values_in_sweep(look, sweep, port)),
    });
    let forms = error_counters(ends.iter().filter_map(|end| end.now));
    if forms.is_empty() {
        return Vec::new();
    }
    let names = [link.a, link.b].map(|port| look.port_name(port)).join(", ");
    let span = first.zip(after).map(|(first, after)| after.began.saturating_sub(first.began).as_secs());
    let span = span.filter(|span| *span > 0);
    let length = span.map(|span| length_words(span.saturating_mul(1000)));
    let cells_of =
        |(narrow, wide): &CounterForms| ends.each_ref().map(|end| cell(end, (narrow, wide), span.is_some()));
    let (quiet, forms): (Vec<_>, Vec<_>) = forms
        .into_iter()
        .partition(|form| cells_of(form).iter().all(|cell| QUIET_CELLS.contains(&cell.as_str())));
    let lacks = quiet.iter().any(|form| cells_of(form).contains(&"?".to_owned()));
    let quiet = quiet_words(quiet.len(), forms.is_empty(), lacks);
    if forms.is_empty() {
        let none = length.map_or_else(|| "none".to_owned(), |length| format!("none in {length}"));
        return vec![("errors", format!("{none}; {quiet}"))];
    }
    let growth = length.map_or_else(String::new, |length| format!("; growth in {length}"));
    let header = ("errors", format!("{names}{growth}"));
    let line = |form: &CounterForms| {
        let (cells, narrow) = (cells_of(form), &form.0);
        let name = narrow.name();
        // Tools print both forms with the same name.
        ("", format!("{}: {} | {}", name.strip_suffix("Ext").unwrap_or(name), cells[0], cells[1]))
    };
    let rest = (!quiet.is_empty()).then_some(("", quiet));
    std::iter::once(header).chain(forms.iter().map(line)).chain(rest).collect()
}

/// What a counter says that neither stands above zero nor grew: 0, or that the device lacks it.
const QUIET_CELLS: [&str; 3] = ["0", "0 +0", "?"];

/// How many counters are 0 at both ends; `lacks`: some end does not have all of them.
fn quiet_words(count: usize, are_all: bool, lacks: bool) -> String {
    let counters = match are_all {
        true => count_words(count, "counter", "counters"),
        false => count_words(count, "other counter", "other counters"),
    };
    let are = if count == 1 { "is" } else { "are" };
    match (count, lacks) {
        (0, _) => String::new(),
        (_, false) => format!("{counters} {are} 0 at both ends"),
        (_, true) => format!("{counters} {are} 0, or not counted by the device"),
    }
}

/// The value and its growth, `1,020 +3`; `?` where the device lacks the counter, `>=` where it is at its
/// maximum.
fn cell(end: &PortCounts<'_>, (narrow, wide): (&Counter, &Counter), with_growth: bool) -> String {
    let Some(figure) = end.now.and_then(|now| now.figure(narrow, wide)) else { return "?".to_owned() };
    let least = if figure.saturated { ">=" } else { "" };
    let grew = end.before.zip(end.now).filter(|_| with_growth);
    let grew = grew.map(|(before, now)| match growth_between(narrow, wide, before, now) {
        Growth::By(count) => format!(" +{}", digits_in_groups(count)),
        Growth::AtLeast(count) | Growth::Cleared(count) => format!(" +{} or more", digits_in_groups(count)),
        Growth::Stuck | Growth::NoCount | Growth::Absent => " +?".to_owned(),
    });
    format!("{least}{}{}", digits_in_groups(figure.value), grew.unwrap_or_default())
}

/// The error counters that some sample has, by the narrow form where there is one.
pub(super) fn error_counters<'s>(samples: impl Iterator<Item = &'s CounterValues>) -> Vec<CounterForms> {
    let mut forms: BTreeMap<Counter, Counter> = BTreeMap::new();
    let counters = samples.flat_map(|values| values.iter().map(|(counter, _)| counter));
    for counter in counters.filter(|counter| counter.kind() == Some(CounterKind::Error)) {
        let wide = counter.clone().extended();
        let narrow = forms.entry(wide.clone()).or_insert_with(|| counter.clone());
        if counter != wide {
            *narrow = counter;
        }
    }
    let mut forms: Vec<CounterForms> = forms.into_iter().map(|(wide, narrow)| (narrow, wide)).collect();
    forms.sort();
    forms
}

pub(super) fn values_in_sweep<'s>(
    look: &Snapshot,
    sweep: &'s Sweep,
    port: PortId,
) -> Option<&'s CounterValues> {
    Some(&find_sample(look.fabric(), &sweep.samples, port)?.values)
}

pub(super) fn values_in_snapshot(look: &Snapshot, port: PortId) -> Option<&CounterValues> {
    Some(&find_sample(look.fabric(), &look.observation.counters, port)?.values)
}
