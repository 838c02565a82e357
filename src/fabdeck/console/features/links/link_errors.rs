//! The error counters of a link, line by line: each counter with its values at both ends, and their growth.
//!
//! ```text
//! errors   rack2-leaf[3], node10 mlx5_0[1]; growth in 42 s
//!          SymbolErrorCounter: 20 +3 | 0 +0
//!          LinkDownedCounter: 0 +0 | 0 +0
//! ```

use std::collections::BTreeMap;

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::fabric_model::Model;
use crate::operations::changes::change_row::span_words;
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
    let mut forms = error_counters(ends.iter().filter_map(|end| end.now));
    if forms.is_empty() {
        return Vec::new();
    }
    // Counters above zero come first, as the pane may show only some lines.
    forms.sort_by_key(|(narrow, wide)| {
        let counted = |end: &PortCounts<'_>| Some(end.now?.figure(narrow, wide)?.value);
        ends.iter().all(|end| counted(end).unwrap_or(0) == 0)
    });
    let names = [link.a, link.b].map(|port| look.port_name(port)).join(", ");
    let span = first.zip(after).map(|(first, after)| after.began.saturating_sub(first.began).as_secs());
    let span = span.filter(|span| *span > 0);
    let growth = span.map_or_else(String::new, |span| format!("; growth in {}", span_words(span as i64)));
    let header = ("errors", format!("{names}{growth}"));
    let line = |(narrow, wide): &CounterForms| {
        let cells = ends.each_ref().map(|end| cell(end, (narrow, wide), span.is_some()));
        let name = narrow.name();
        // Tools print both forms with the same name.
        ("", format!("{}: {} | {}", name.strip_suffix("Ext").unwrap_or(name), cells[0], cells[1]))
    };
    std::iter::once(header).chain(forms.iter().map(line)).collect()
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
