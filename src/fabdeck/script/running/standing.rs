//! The step `compare`: compares confirmed changes with the fabric.

use super::crew::{Done, Hands};
use crate::runbook::{Did, Found, Trouble, given};
use crate::script::Exit;
use crate::script::changing::{Comparison, compare};
use crate::script::progress::Meter;
use crate::session::counted;
use fabdeck_change::Verdict;

impl Hands<'_, '_, '_> {
    /// Ends the run with exit code 3 if a confirmed change no longer stands, and with 8 if that is unknown.
    pub fn compare(&mut self) -> Done {
        if self.dry && !self.led.is_empty() {
            let values = given::COMPARE.iter().map(|name| ((*name).to_owned(), Found::Unrehearsed)).collect();
            let words = "not rehearsed: the tables are those of the fabric as it is, not of the plan";
            return Ok(Did { values, rehearsed: true, ..Did::said(words) });
        }
        let (means, output) = (self.given.clone(), &mut self.context.output);
        let means = crate::script::changing::Means { outside: self.context.outside, given: &means };
        let mut meter = Meter::new(output.err, self.context.progress).heeding(Some(&self.stop));
        let compared = compare(means, &self.source, &mut meter);
        meter.clear();
        let comparison = compared?;
        self.context.partial |= comparison.partial;
        let values = values(&comparison);
        // The values are known even if the step ends the run.
        self.found.clone_from(&values);
        if comparison.exit() != Exit::Done {
            let warnings = comparison.by_change.iter().filter_map(|(id, change)| change.warning(id));
            let words = warnings.collect::<Vec<_>>().join("\n");
            let exit = comparison.exit().code();
            return Err(Trouble { exit, words, change: self.pending.clone() }.into());
        }
        let count = comparison.by_change.len();
        let words = match count {
            0 => "no confirmed change is of this fabric".to_owned(),
            _ => format!(
                "{}, and none has lost an entry",
                counted(count, "confirmed change", "confirmed changes")
            ),
        };
        Ok(Did { values, ..Did::said(words) })
    }
}

/// Values in the order of their names.
fn values(comparison: &Comparison) -> Vec<(String, Found)> {
    let count = |verdict: Verdict| {
        comparison.by_change.values().filter(|change| change.verdict == verdict).count() as u64
    };
    let counts = [
        count(Verdict::Stands),
        count(Verdict::NoLongerStands),
        count(Verdict::NotKnown),
        comparison.by_change.values().map(|change| change.differ).sum(),
    ];
    let named = given::COMPARE.iter().zip(counts);
    named.map(|(name, count)| ((*name).to_owned(), Found::count(count))).collect()
}
