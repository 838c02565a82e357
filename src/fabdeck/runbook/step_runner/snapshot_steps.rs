//! Steps that read: conditions over rows, costs of failures, the certificate of the tables in force, counters.

use std::time::{Duration, Instant};

use super::job_steps::values_of_routes;
use super::runner::{Runner, StepResult};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::catalogue::views::links::links;
use crate::operations::changes::verification::{drift_message, hides_nodes, hides_part, open_findings};
use crate::operations::check::judgement::CertificateReport;
use crate::operations::check::known_partitions::add_partition_tables;
use crate::operations::check::loads::job_figures_in_force;
use crate::operations::lanes::levels::check_in_force;
use crate::operations::plans::plan_verdict::check_after_change;
use crate::operations::preview::engine_names;
use crate::operations::preview::engine_table::defect_words;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::whatif::{EngineRow, ProposalOptions, propose};
use crate::operations::watch::counter_watch::{
    CONTRIBUTOR_ROLES, HotspotInterval, VICTIM_ROLES, WatchRequest, uncounted_failure, watch_counters,
};
use crate::runbook::execute::{StepFailure, StepOutput};
use crate::runbook::row_condition::{RowCondition, RowResult};
use crate::runbook::value_names;
use crate::runbook::values::StepValue;
use fabdeck_change::{Plan, TransitionReport};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::{NoProgress, Request};

pub type StepValues = Vec<(String, StepValue)>;

/// Values of a certificate, under the names that guards use.
pub fn values_of_certificate(report: &CertificateReport, prefix: &str) -> StepValues {
    let index = &report.edge_forwarding_index;
    let cut_off = report.by_cause.cut_off.min(report.unreachable);
    let each = [
        ("pairs", StepValue::count(report.pairs)),
        ("unreachable", StepValue::count(report.unreachable)),
        ("cut_off_pairs", StepValue::count(cut_off)),
        ("lost_pairs", StepValue::count(report.unreachable - cut_off)),
        ("loops", StepValue::count(report.loops)),
        ("lanes", StepValue::count(report.lanes as u64)),
        ("deadlock_free", StepValue::flag(report.deadlock_free)),
        ("longest_path", StepValue::count(u64::from(report.longest_path))),
        ("unused_links", StepValue::count(report.unused_links as u64)),
        ("dark_fiber", StepValue::Number(report.dark_fiber)),
        ("findings", StepValue::count(report.defect_words().len() as u64)),
        ("edge_forwarding_index.min", StepValue::count(index.min)),
        ("edge_forwarding_index.mean", StepValue::Number(index.mean)),
        ("edge_forwarding_index.max", StepValue::count(index.max)),
        ("edge_forwarding_index.stddev", StepValue::Number(index.stddev)),
    ];
    each.into_iter().map(|(name, found)| (format!("{prefix}{name}"), found)).collect()
}

/// Values of a plan, with those of its certificate.
pub fn values_of_plan(plan: &Plan, report: &CertificateReport) -> StepValues {
    let mut given = values_of_certificate(report, "");
    let TransitionReport { safe, on_the_way, .. } = &plan.transition;
    let worst = on_the_way.as_ref().map(|way| way.worst_broken);
    let count = |count: Option<u64>| count.map_or(StepValue::Unknown, StepValue::count);
    for (name, found) in [
        ("writes", StepValue::count(plan.writes.len() as u64)),
        ("moved_pairs", count(plan.impact["moved_pairs"].as_u64())),
        ("transition_safe", StepValue::flag(*safe)),
        ("worst_broken", count(worst)),
    ] {
        given.push((name.to_owned(), found));
    }
    given
}

fn values_of_engine(row: &EngineRow) -> StepValues {
    let engine = row.engine;
    let prefix = format!("{engine}.");
    let count = |count: Option<u64>| count.map_or(StepValue::Unknown, StepValue::count);
    let mut given: StepValues = match &row.certificate {
        Some(report) => values_of_certificate(report, &prefix),
        // An engine without routes leaves all values unknown.
        None => value_names::certificate()
            .iter()
            .map(|name| (format!("{prefix}{name}"), StepValue::Unknown))
            .collect(),
    };
    for (name, found) in [
        ("moved_pairs", count(row.moved_pairs)),
        ("changed_entries", count(row.changed_entries)),
        ("changed_switches", count(row.changed_switches)),
        ("transition_safe", StepValue::flag(row.transition_safe)),
    ] {
        given.push((format!("{prefix}{name}"), found));
    }
    given
}

impl Runner<'_> {
    fn rows(&mut self, rows: &RowCondition) -> Result<RowResult, Failure> {
        let mut wanted = rows.table.read_options(|field| rows.names(field));
        // The effects of rehearsed plans are in the tables.
        wanted.tables |= !self.rehearsed_plans.is_empty();
        let (snapshot, _) = self.read_snapshot(wanted)?;
        let bad = |what: String| Failure::new(Exit::BadInput, what);
        let judged = if rows.table.needs_paths(|field| rows.names(field)) {
            let paths = Preview::new(&snapshot, &snapshot.observation.tables, &NoProgress)?;
            rows.judge(&links(&snapshot, Some(paths.paths())))
        } else {
            match rows.table.listing(&snapshot) {
                Some(listing) => rows.judge(listing.as_ref()),
                None => Err(format!("the table {} cannot be read in a runbook", rows.table.id())),
            }
        };
        let mut found = judged.map_err(bad)?;
        if hides_part(&snapshot.observation) {
            // The missing part may contain exactly the rows in question, whatever the other rows say.
            found.wrong.insert(0, "part of the fabric did not answer, so the result is unknown".to_owned());
        }
        Ok(found)
    }

    pub fn expect(&mut self, rows: &RowCondition) -> StepResult {
        let found = self.rows(rows)?;
        let counted = count_words(found.rows as usize, "row", "rows");
        let values = vec![("rows".to_owned(), StepValue::count(found.rows))];
        let wrong = found.wrong.join("; ");
        let table = rows.table.id();
        match (&self.uncertain, wrong.is_empty()) {
            (_, true) => Ok(StepOutput {
                values,
                ..StepOutput::with_text(format!("{counted} of {table}, as expected"))
            }),
            (Some(why), false) => {
                let words = format!("not true now ({wrong}), and unknown in a rehearsal: {why}");
                let values = vec![("rows".to_owned(), StepValue::Unrehearsed)];
                Ok(StepOutput { values, rehearsed: true, ..StepOutput::with_text(words) })
            }
            (None, false) => {
                let filter = if rows.filter.is_empty() { "all rows" } else { &rows.filter };
                Err(StepFailure::unexpected(format!(
                    "FD-9232: the rows are not as expected: {table}, {filter}: {wrong}"
                ))
                .into())
            }
        }
    }

    pub fn wait_until(&mut self, rows: &RowCondition, timeout: Duration, every: Duration) -> StepResult {
        let since = Instant::now();
        let mut held = false;
        loop {
            // An update under way can hide nodes from a reading, or make it fail.
            let last = match self.rows(rows) {
                // One reading can hit a transient state, so the next one has to agree.
                Ok(found) if found.wrong.is_empty() && (held || self.dry) => {
                    // Earlier readings may have been partial; the result depends only on these two.
                    *self.operation.partial = false;
                    let twice = if held { " in two consecutive readings" } else { "" };
                    return Ok(StepOutput::with_text(format!("{} as expected{twice}", rows.table.id())));
                }
                Ok(found) if found.wrong.is_empty() => {
                    held = true;
                    self.pause(every.min(timeout.saturating_sub(since.elapsed())));
                    self.check_stop()?;
                    continue;
                }
                Ok(found) => found.wrong.join("; "),
                Err(failure) if failure.exit == Exit::Unreachable => failure.message.unwrap_or_default(),
                Err(failure) => return Err(failure.into()),
            };
            held = false;
            if self.dry {
                let why = format!("line {} waits for an event outside the rehearsal", rows.line);
                self.uncertain.get_or_insert(why);
                let words =
                    format!("not true now ({last}); the step would wait up to {} s", timeout.as_secs());
                return Ok(StepOutput { rehearsed: true, ..StepOutput::with_text(words) });
            }
            if since.elapsed() >= timeout {
                let table = rows.table.id();
                let what = format!(
                    "FD-9233: timeout after {} s: the rows are not as expected: {table}, {}: {last}",
                    timeout.as_secs(),
                    rows.filter
                );
                return Err(StepFailure::unexpected(what).into());
            }
            self.pause(every.min(timeout.saturating_sub(since.elapsed())));
            self.check_stop()?;
        }
    }

    /// Ends the step if the stop flag is set.
    pub fn check_stop(&self) -> Result<(), StepFailure> {
        match self.stop.is_requested() {
            false => Ok(()),
            true => Err(StepFailure {
                exit: Exit::Interrupted.code(),
                words: "FD-9237: the run was interrupted during this step".to_owned(),
                change: self.pending.clone(),
            }),
        }
    }

    pub fn preview(&mut self, engines: &[String]) -> StepResult {
        let wanted = ReadOptions { tables: true, partitions: true, ..ReadOptions::default() };
        let (mut snapshot, in_force) = self.read_snapshot(wanted)?;
        add_partition_tables(&mut snapshot, false);
        let faults = self.faults(&snapshot);
        let tables = snapshot.observation.tables.clone();
        let cost = Preview::with_marks(&snapshot, &tables, &faults)?.cost(None);
        // Pairs that neither end at a marked element nor are cut off by one, and have no path without it.
        let report = check_in_force(&snapshot, &tables, &faults, false, in_force.sent(), &NoProgress)?;
        let passing = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
        let mut values = vec![
            ("lost_until_reroute".to_owned(), StepValue::count(cost.lost_pairs())),
            ("lost_share".to_owned(), StepValue::Number(cost.lost_share())),
            ("cut_off_pairs".to_owned(), StepValue::count(report.by_cause.cut_off)),
            ("passing_pairs".to_owned(), StepValue::count(passing)),
        ];
        let others = count_words(passing as usize, "pair with other ends", "pairs with other ends");
        let mut words = vec![cost.lost_words(), format!("without a path around the marks: {others}")];
        let jobs = self.running_jobs(&snapshot);
        let request = Request { manager: snapshot.manager(), jobs, ..Request::default() }
            .with_lanes(None, self.operation.env.given.supposed_lanes);
        let now = job_figures_in_force(&snapshot, &tables, &faults, &request.jobs);
        let mut compared = Vec::new();
        for id in engines {
            let engine = engine_names::engine_named(id)?;
            let asked = ProposalOptions { request: &request, switches: false, sent: in_force.sent() };
            let outcome = self.operation.run_with_progress(engine.id, |progress| {
                propose(&snapshot, &tables, &faults, engine, asked, progress)
            });
            self.check_stop()?;
            let row = EngineRow::new(engine.id, outcome.as_ref(), None);
            values.extend(values_of_engine(&row));
            if self.jobs.is_some() {
                let prefix = format!("{id}.");
                values.extend(values_of_routes(
                    &prefix,
                    value_names::ENGINE_JOBS,
                    now.as_ref(),
                    row.jobs.as_ref(),
                ));
            }
            let moved = row
                .moved_pairs
                .map(|moved| format!("{id} moves {}", count_words(moved as usize, "pair", "pairs")));
            words.push(moved.unwrap_or_else(|| format!("{id}: {}", row.refused.clone().unwrap_or_default())));
            compared.push(row);
        }
        words.extend(defect_words(&compared));
        Ok(StepOutput {
            values,
            rehearsed: self.dry && !self.rehearsed_plans.is_empty(),
            ..StepOutput::with_text(words.join("; "))
        })
    }

    pub fn verify(&mut self, accept: &[String]) -> StepResult {
        let wanted = ReadOptions { tables: true, partitions: true, ..ReadOptions::default() };
        let (mut snapshot, in_force) = self.read_snapshot(wanted)?;
        add_partition_tables(&mut snapshot, false);
        let faults = self.faults(&snapshot);
        let report = check_after_change(&snapshot, self.applied.as_ref(), &faults, in_force.sent())?;
        let mut values = values_of_certificate(&report, "");
        let drift = self.applied.as_ref().and_then(|plan| drift_message(&snapshot, plan));
        values.push(("drifted".to_owned(), StepValue::Flag(drift.is_some())));
        // The values are known even if the step ends the run.
        self.found.clone_from(&values);
        if let Some(drift) = drift {
            let words = format!(
                "FD-9235: the fabric differs from the applied plan: {drift}; find the tool that wrote there, often the subnet manager"
            );
            let exit = Exit::Stale.code();
            return Err(StepFailure { exit, words, change: self.pending.clone() }.into());
        }
        let open = open_findings(&report, accept);
        if !open.is_empty() {
            return Err(StepFailure::unexpected(format!(
                "FD-9234: the tables in force have findings: {}",
                open.join("; ")
            ))
            .into());
        }
        let held = if self.applied.is_some() { ", and the applied plan is in force" } else { "" };
        let lost = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
        let words = format!("{lost} of {} pairs lost{held}", report.pairs);
        Ok(StepOutput {
            values,
            rehearsed: self.dry && !self.rehearsed_plans.is_empty(),
            ..StepOutput::with_text(words)
        })
    }

    pub fn hotspots(&mut self, interval: Duration, count: u32) -> StepResult {
        let names = value_names::HOTSPOTS;
        if self.dry && !self.rehearsed_plans.is_empty() {
            let values = names.iter().map(|name| ((*name).to_owned(), StepValue::Unrehearsed)).collect();
            let words = "not rehearsed: the counters are those of the current fabric, not of the plan";
            return Ok(StepOutput { values, rehearsed: true, ..StepOutput::with_text(words) });
        }
        let request = WatchRequest::Sweeps { interval: Some(interval), count, whole: false };
        let report = watch_counters(&mut self.operation, request)?;
        self.operation.count_reading(&report.snapshot);
        report.refuse_uncounted()?;
        let Some(last) = report.intervals.last() else { return Err(uncounted_failure().into()) };
        let (verdict, ports) = (&last.watched.verdict, last.watched.ports);
        let mut words = format!(
            "{}, {}, {}, {} in trouble, of {}",
            count_words(verdict.hot_spots.len(), "hot-spot", "hot-spots"),
            count_words(last.adapters_with_role(CONTRIBUTOR_ROLES).count(), "contributor", "contributors"),
            count_words(last.adapters_with_role(VICTIM_ROLES).count(), "victim", "victims"),
            count_words(last.watched.troubles.len(), "link", "links"),
            count_words(ports, "port", "ports"),
        );
        let mut values = values_of_counters(last);
        let hidden = report.snapshot.observation.notes.iter().filter(|note| note.partial);
        if hidden.map(|note| note.code).any(hides_nodes) {
            // A port that did not answer may be the one that waits, so no value is certain.
            values.iter_mut().for_each(|(_, found)| *found = StepValue::Unknown);
            words.push_str("; part of the fabric did not answer, so there may be more");
        }
        values.push(("ports".to_owned(), StepValue::count(ports as u64)));
        Ok(StepOutput { values, ..StepOutput::with_text(words) })
    }
}

/// Values of an interval of counters, under the names that guards use.
fn values_of_counters(last: &HotspotInterval) -> StepValues {
    let verdict = &last.watched.verdict;
    let count = |count: usize| StepValue::count(count as u64);
    let hot_spots = verdict.hot_spots.iter().map(|hot| &hot.at);
    let adapters = verdict.congested_adapters.iter().map(|held| &held.at);
    let all = hot_spots.chain(adapters).chain(&verdict.congested_ports);
    let worst = all.map(|at| at.congestion).fold(0.0, f64::max);
    // A hot-spot and its certain contributors wait under any lanes, so they do not count.
    let others = verdict.congested_adapters.iter().filter(|held| last.role_of(held) != "contributor");
    let elsewhere = others.map(|held| held.at.congestion).sum();
    [
        ("hotspots", count(verdict.hot_spots.len())),
        ("contributors", count(last.adapters_with_role(CONTRIBUTOR_ROLES).count())),
        ("victims", count(last.adapters_with_role(VICTIM_ROLES).count())),
        ("waiting_elsewhere", StepValue::Number(elsewhere)),
        ("links_in_trouble", count(last.watched.troubles.len())),
        ("worst_wait", StepValue::Number(worst)),
    ]
    .map(|(name, found)| (name.to_owned(), found))
    .into()
}
