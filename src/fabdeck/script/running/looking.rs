//! Steps that read: conditions over rows, costs of failures, the certificate of the tables in force, counters.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::crew::{Done, Hands};
use super::fabric::{wanted, with_paths};
use super::jobs::of_routes;
use crate::runbook::{Did, Found, RowsAre, RowsFound, Trouble, given};
use crate::script::args::HotspotArgs;
use crate::script::changing::{drifted, hides, hides_nodes, open_findings};
use crate::script::context::Context;
use crate::script::output::Output;
use crate::script::paint::Paint;
use crate::script::{Exit, Failure, Stop, hotspots, whatif};
use crate::session::{
    Asked, Comparison, EngineRow, Preview, Report, check_behind, check_in_force, cost, counted,
    job_figures_in_force, links, propose,
};
use fabdeck_change::{Plan, TransitionReport};
use fabdeck_mad::access::Wanted;
use fabdeck_routing::{NoPulse, Request};

pub type Given = Vec<(String, Found)>;

/// Values of a certificate, under the names that guards use.
pub fn certificate(report: &Report, prefix: &str) -> Given {
    let index = &report.edge_forwarding_index;
    let cut_off = report.by_cause.cut_off.min(report.unreachable);
    let each = [
        ("pairs", Found::count(report.pairs)),
        ("unreachable", Found::count(report.unreachable)),
        ("cut_off_pairs", Found::count(cut_off)),
        ("lost_pairs", Found::count(report.unreachable - cut_off)),
        ("loops", Found::count(report.loops)),
        ("lanes", Found::count(report.lanes as u64)),
        ("deadlock_free", Found::flag(report.deadlock_free)),
        ("longest_path", Found::count(u64::from(report.longest_path))),
        ("unused_links", Found::count(report.unused_links as u64)),
        ("dark_fiber", Found::Number(report.dark_fiber)),
        ("findings", Found::count(report.faults().len() as u64)),
        ("edge_forwarding_index.min", Found::count(index.min)),
        ("edge_forwarding_index.mean", Found::Number(index.mean)),
        ("edge_forwarding_index.max", Found::count(index.max)),
        ("edge_forwarding_index.stddev", Found::Number(index.stddev)),
    ];
    each.into_iter().map(|(name, found)| (format!("{prefix}{name}"), found)).collect()
}

/// Values of a plan, with those of its certificate.
pub fn of_plan(plan: &Plan, report: &Report) -> Given {
    let mut given = certificate(report, "");
    let TransitionReport { safe, on_the_way, .. } = &plan.transition;
    let worst = on_the_way.as_ref().map(|way| way.worst_broken);
    let count = |count: Option<u64>| count.map_or(Found::Unknown, Found::count);
    for (name, found) in [
        ("writes", Found::count(plan.writes.len() as u64)),
        ("moved_pairs", count(plan.impact["moved_pairs"].as_u64())),
        ("transition_safe", Found::flag(*safe)),
        ("worst_broken", count(worst)),
    ] {
        given.push((name.to_owned(), found));
    }
    given
}

fn of_engine(row: &EngineRow) -> Given {
    let engine = row.engine;
    let prefix = format!("{engine}.");
    let count = |count: Option<u64>| count.map_or(Found::Unknown, Found::count);
    let mut given: Given = match &row.certificate {
        Some(report) => certificate(report, &prefix),
        // An engine without routes leaves all values unknown.
        None => given::certificate().iter().map(|name| (format!("{prefix}{name}"), Found::Unknown)).collect(),
    };
    for (name, found) in [
        ("moved_pairs", count(row.moved_pairs)),
        ("changed_entries", count(row.changed_entries)),
        ("changed_switches", count(row.changed_switches)),
        ("transition_safe", Found::flag(row.transition_safe)),
    ] {
        given.push((format!("{prefix}{name}"), found));
    }
    given
}

impl Hands<'_, '_, '_> {
    fn rows(&mut self, rows: &RowsAre) -> Result<RowsFound, Failure> {
        let mut wanted = wanted(rows);
        // The effects of rehearsed plans are in the tables.
        wanted.tables |= !self.led.is_empty();
        let (look, _) = self.look(wanted)?;
        let bad = |what: String| Failure::new(Exit::BadInput, what);
        let judged = if with_paths(rows) {
            let paths = Preview::new(&look, &look.observation.tables, &NoPulse)?;
            rows.judge(&links(&look, Some(paths.paths())))
        } else {
            match rows.table.listing(&look) {
                Some(listing) => rows.judge(listing.as_ref()),
                None => Err(format!("the table {} needs more than a look", rows.table.id())),
            }
        };
        let mut found = judged.map_err(bad)?;
        if hides(&look.observation) {
            // The missing part may contain exactly the rows in question, whatever the other rows say.
            found.wrong.insert(0, "part of the fabric did not answer, so nobody can tell".to_owned());
        }
        Ok(found)
    }

    pub fn expect(&mut self, rows: &RowsAre) -> Done {
        let found = self.rows(rows)?;
        let counted = counted(found.rows as usize, "row", "rows");
        let values = vec![("rows".to_owned(), Found::count(found.rows))];
        let wrong = found.wrong.join("; ");
        let table = rows.table.id();
        match (&self.uncertain, wrong.is_empty()) {
            (_, true) => Ok(Did { values, ..Did::said(format!("{counted} of {table}, as expected")) }),
            (Some(why), false) => {
                let words = format!("not so now ({wrong}), which a rehearsal cannot tell: {why}");
                let values = vec![("rows".to_owned(), Found::Unrehearsed)];
                Ok(Did { values, rehearsed: true, ..Did::said(words) })
            }
            (None, false) => {
                let filter = if rows.filter.is_empty() { "all rows" } else { &rows.filter };
                Err(Trouble::found(format!("FD-9232: {table}, {filter}: {wrong}")).into())
            }
        }
    }

    pub fn wait_until(&mut self, rows: &RowsAre, timeout: Duration, every: Duration) -> Done {
        let since = Instant::now();
        let mut held = false;
        loop {
            // An update under way can hide nodes from a reading, or make it fail.
            let last = match self.rows(rows) {
                // One reading can hit a transient state, so the next one has to agree.
                Ok(found) if found.wrong.is_empty() && (held || self.dry) => {
                    // Earlier readings may have been partial; the result depends only on these two.
                    self.context.partial = false;
                    let looks = if held { " in two looks, one after the other" } else { "" };
                    return Ok(Did::said(format!("{} are so{looks}", rows.table.id())));
                }
                Ok(found) if found.wrong.is_empty() => {
                    held = true;
                    self.pause(every.min(timeout.saturating_sub(since.elapsed())));
                    self.heed()?;
                    continue;
                }
                Ok(found) => found.wrong.join("; "),
                Err(failure) if failure.exit == Exit::Unreachable => failure.message.unwrap_or_default(),
                Err(failure) => return Err(failure.into()),
            };
            held = false;
            if self.dry {
                let why = format!("line {} waits for what only happens then", rows.line);
                self.uncertain.get_or_insert(why);
                let words = format!("not so now ({last}); it would wait up to {} s", timeout.as_secs());
                return Ok(Did { rehearsed: true, ..Did::said(words) });
            }
            if since.elapsed() >= timeout {
                let table = rows.table.id();
                let what = format!(
                    "FD-9233: waited {} s in vain: {table}, {}: {last}",
                    timeout.as_secs(),
                    rows.filter
                );
                return Err(Trouble::found(what).into());
            }
            self.pause(every.min(timeout.saturating_sub(since.elapsed())));
            self.heed()?;
        }
    }

    /// Ends the step if the run was asked to end.
    pub fn heed(&self) -> Result<(), Trouble> {
        match self.stop.is_asked() {
            false => Ok(()),
            true => Err(Trouble {
                exit: Exit::Interrupted.code(),
                words: "FD-9237: somebody ended the run here".to_owned(),
                change: self.pending.clone(),
            }),
        }
    }

    pub fn preview(&mut self, engines: &[String]) -> Done {
        let (look, in_force) = self.look(Wanted { tables: true, ..Wanted::default() })?;
        let faults = self.faults(&look);
        let tables = look.observation.tables.clone();
        let cost = cost(&look, &tables, &faults, None)?;
        // Pairs that neither end at a marked element nor are cut off by one, and have no path without it.
        let report = check_in_force(&look, &tables, &faults, false, in_force.sent(), &NoPulse)?;
        let passing = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
        let mut values = vec![
            ("lost_until_reroute".to_owned(), Found::count(cost.lost_pairs())),
            ("lost_share".to_owned(), Found::Number(cost.lost_share())),
            ("cut_off_pairs".to_owned(), Found::count(report.by_cause.cut_off)),
            ("passing_pairs".to_owned(), Found::count(passing)),
        ];
        let mut words =
            vec![cost.lost_words(), format!("{passing} that end elsewhere have no path without it")];
        let jobs = self.running(&look);
        let request = Request { manager: look.manager(), jobs, ..Request::default() }
            .with_lanes(None, self.context.config.supposed_lanes);
        let now = job_figures_in_force(&look, &tables, &faults, &request.jobs);
        let mut compared = Vec::new();
        for id in engines {
            let engine = whatif::engine_named(id)?;
            let asked = Asked { request: &request, switches: false, sent: in_force.sent() };
            let outcome = self
                .context
                .watched(engine.id, |pulse| propose(&look, &tables, &faults, engine, asked, pulse));
            self.heed()?;
            let row = EngineRow::new(engine.id, outcome.as_ref(), None);
            values.extend(of_engine(&row));
            if self.jobs.is_some() {
                let prefix = format!("{id}.");
                values.extend(of_routes(&prefix, given::ENGINE_JOBS, now.as_ref(), row.jobs.as_ref()));
            }
            let moved = row.moved_pairs.map(|moved| format!("{id} moves {moved} pairs"));
            words.push(moved.unwrap_or_else(|| format!("{id}: {}", row.refused.clone().unwrap_or_default())));
            compared.push(row);
        }
        words.extend(Comparison::new(compared).faults());
        Ok(Did { values, rehearsed: self.dry && !self.led.is_empty(), ..Did::said(words.join("; ")) })
    }

    pub fn verify(&mut self, accept: &[String]) -> Done {
        let (look, in_force) = self.look(Wanted { tables: true, ..Wanted::default() })?;
        let faults = self.faults(&look);
        let report = check_behind((&look, self.applied.as_ref()), &faults, in_force.sent())?;
        let mut values = certificate(&report, "");
        let drift = self.applied.as_ref().and_then(|plan| drifted(&look, plan));
        values.push(("drifted".to_owned(), Found::Flag(drift.is_some())));
        // The values are known even if the step ends the run.
        self.found.clone_from(&values);
        if let Some(drift) = drift {
            let words = format!("FD-9235: the fabric is not what was applied: {drift}");
            let exit = Exit::Stale.code();
            return Err(Trouble { exit, words, change: self.pending.clone() }.into());
        }
        let open = open_findings(&report, accept);
        if !open.is_empty() {
            return Err(Trouble::found(format!("FD-9234: {}", open.join("; "))).into());
        }
        let held = if self.applied.is_some() { ", and what was applied stands there" } else { "" };
        let lost = report.unreachable - report.by_cause.cut_off.min(report.unreachable);
        let words = format!("{lost} of {} pairs lost{held}", report.pairs);
        Ok(Did { values, rehearsed: self.dry && !self.led.is_empty(), ..Did::said(words) })
    }

    pub fn hotspots(&mut self, interval: Duration, count: u32) -> Done {
        let names = given::HOTSPOTS;
        if self.dry && !self.led.is_empty() {
            let values = names.iter().map(|name| ((*name).to_owned(), Found::Unrehearsed)).collect();
            let words = "not rehearsed: counters tell of the fabric as it is, not of the plan";
            return Ok(Did { values, rehearsed: true, ..Did::said(words) });
        }
        let args = HotspotArgs {
            interval: Some(interval),
            count,
            before: None,
            after: None,
            seconds: None,
            top: usize::MAX,
        };
        let told = told(self.context, &self.stop, |inner| hotspots::run(inner, &args))?;
        let last = told["sweeps"].as_array().and_then(|sweeps| sweeps.last()).cloned().unwrap_or_default();
        let of = |key: &str| last[key].as_array().map_or(0, Vec::len) as u64;
        let ports = last["ports"].as_u64().unwrap_or(0);
        let mut words = format!(
            "{}, {} that contribute, {} victims, {} in trouble, by {}",
            counted(of("hotspots") as usize, "hot-spot", "hot-spots"),
            of("contributors"),
            of("victims"),
            counted(of("links") as usize, "link", "links"),
            counted(ports as usize, "port", "ports"),
        );
        let mut values = of_counters(&last);
        let notes = told["notes"].as_array().into_iter().flatten();
        let hidden = notes.filter(|note| note["partial"] == true);
        if hidden.filter_map(|note| note["code"].as_str()).any(hides_nodes) {
            // A port that did not answer may be the one that waits, so no value is certain.
            values.iter_mut().for_each(|(_, found)| *found = Found::Unknown);
            words.push_str("; part of the fabric did not answer, so there may be more");
        }
        values.push(("ports".to_owned(), Found::count(ports)));
        Ok(Did { values, ..Did::said(words) })
    }
}

/// Values of an interval of counters, under the names that guards use.
fn of_counters(last: &Value) -> Given {
    let rows = |key: &str| last[key].as_array().into_iter().flatten();
    let of = |key: &str| Found::count(rows(key).count() as u64);
    let ticks = |at: &Value| at["ticks_per_second"].as_f64();
    let all = ["hotspots", "held_up", "on_the_way"].into_iter().flat_map(rows);
    let worst = all.filter_map(ticks).fold(0.0, f64::max);
    // A hot-spot and its certain contributors wait under any lanes, so they do not count.
    let others = rows("held_up").filter(|held| held["role"] != "contributor");
    let elsewhere = others.filter_map(ticks).sum();
    [
        ("hotspots", of("hotspots")),
        ("contributors", of("contributors")),
        ("victims", of("victims")),
        ("held_up_elsewhere", Found::Number(elsewhere)),
        ("links_in_trouble", of("links")),
        ("worst_wait", Found::Number(worst)),
    ]
    .map(|(name, found)| (name.to_owned(), found))
    .into()
}

/// Runs a command and parses its JSON output. Findings do not make the step fail.
pub fn told(
    context: &mut Context<'_, '_>,
    stop: &Stop,
    command: impl FnOnce(&mut Context<'_, '_>) -> Result<Exit, Failure>,
) -> Result<Value, Failure> {
    serde_json::from_str(&captured(context, stop, command)?)
        .map_err(|error| Failure::new(Exit::Bug, format!("FD-9241: a step said what is no JSON: {error}")))
}

/// Runs a command with `--json` and returns its output.
pub fn captured(
    context: &mut Context<'_, '_>,
    stop: &Stop,
    command: impl FnOnce(&mut Context<'_, '_>) -> Result<Exit, Failure>,
) -> Result<String, Failure> {
    let mut out = Vec::new();
    let mut inner = Context {
        globals: context.globals,
        config: context.config.clone(),
        outside: context.outside,
        output: Output {
            out: &mut out,
            err: &mut *context.output.err,
            paint: Paint::default(),
            page: context.output.page,
            margin: context.output.margin,
            json: true,
            verbose: false,
        },
        progress: context.progress,
        asks: false,
        stop: Some(stop.clone()),
        partial: false,
    };
    let ended = command(&mut inner);
    let partial = inner.partial;
    context.partial |= partial;
    ended?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
