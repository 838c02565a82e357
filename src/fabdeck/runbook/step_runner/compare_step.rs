//! The step `compare`: compares confirmed changes with the fabric.

use super::runner::{Runner, StepResult};
use crate::catalogue::exit::Exit;
use crate::catalogue::summary::count_words;
use crate::operations::changes::change_comparison::{ChangeComparison, compare};
use crate::operations::progress::ReadingProgress;
use crate::runbook::execute::{StepFailure, StepOutput};
use crate::runbook::value_names;
use crate::runbook::values::StepValue;
use fabdeck_change::AttestationVerdict;

impl Runner<'_> {
    /// Ends the run with exit code 3 if a confirmed change no longer stands, and with 8 if that is unknown.
    pub fn compare(&mut self) -> StepResult {
        if self.dry && !self.rehearsed_plans.is_empty() {
            let values = value_names::COMPARE
                .iter()
                .map(|name| ((*name).to_owned(), StepValue::Unrehearsed))
                .collect();
            let words = "not rehearsed: the tables are those of the current fabric, not of the plan";
            return Ok(StepOutput { values, rehearsed: true, ..StepOutput::with_text(words) });
        }
        let mut watch = ReadingProgress::new(self.operation.reporter.begin_progress(), Some(&self.stop));
        let compared = compare(self.operation.env, &self.source, &mut watch);
        drop(watch);
        let comparison = compared?;
        *self.operation.partial |= comparison.partial;
        let values = comparison_values(&comparison);
        // The values are known even if the step ends the run.
        self.found.clone_from(&values);
        if comparison.exit() != Exit::Done {
            let warnings = comparison.by_change.iter().filter_map(|(id, change)| change.warning(id));
            let words = warnings.collect::<Vec<_>>().join("\n");
            let exit = comparison.exit().code();
            return Err(StepFailure { exit, words, change: self.pending.clone() }.into());
        }
        let count = comparison.by_change.len();
        let words = match count {
            0 => "this fabric has no confirmed change".to_owned(),
            _ => format!(
                "{}, and none has lost an entry",
                count_words(count, "confirmed change", "confirmed changes")
            ),
        };
        Ok(StepOutput { values, ..StepOutput::with_text(words) })
    }
}

/// Values in the order of their names.
fn comparison_values(comparison: &ChangeComparison) -> Vec<(String, StepValue)> {
    let count = |verdict: AttestationVerdict| {
        comparison.by_change.values().filter(|change| change.verdict == verdict).count() as u64
    };
    let counts = [
        count(AttestationVerdict::Stands),
        count(AttestationVerdict::NoLongerStands),
        count(AttestationVerdict::NotKnown),
        comparison.by_change.values().map(|change| change.differ).sum(),
    ];
    let named = value_names::COMPARE.iter().zip(counts);
    named.map(|(name, count)| ((*name).to_owned(), StepValue::count(count))).collect()
}
