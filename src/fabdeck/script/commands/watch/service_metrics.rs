//! The metrics of the fabric as a whole, and of the service itself, beside those of ports. A value that is not known has no
//! line.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::operations::health::problem::ProblemSeverity;
use crate::operations::service::watch_service::{ServiceStatistics, WatchedSweep};
use crate::operations::watch::fabric_events::FABRIC_EVENT_WORDS;
use fabdeck_fabric::counters::PortRates;
use fabdeck_files::prometheus::write_label;

/// Most jobs with a series of their own: those that are hit worst.
const MAX_JOBS: usize = 20;

/// Writes families of metrics.
struct MetricWriter {
    text: String,
}

/// Labels of a series, and its value.
type Series = (Vec<(&'static str, String)>, f64);

impl MetricWriter {
    fn family(&mut self, name: &str, kind: &str, help: &str, series: impl IntoIterator<Item = Series>) {
        let mut series = series.into_iter().peekable();
        if series.peek().is_none() {
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in series {
            self.text.push_str(name);
            for (at, (label, words)) in labels.iter().enumerate() {
                self.text.push(if at == 0 { '{' } else { ',' });
                write_label(&mut self.text, label, words);
            }
            self.text.push_str(if labels.is_empty() { " " } else { "} " });
            let _ = writeln!(self.text, "{value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Into<Option<f64>>) {
        self.family(name, "gauge", help, value.into().map(|value| (Vec::new(), value)));
    }

    fn flag(&mut self, name: &str, help: &str, value: Option<bool>) {
        self.gauge(name, help, value.map(|is_set| f64::from(u8::from(is_set))));
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help, [(Vec::new(), value as f64)]);
    }
}

/// The metrics of the service: all that is known while the fabric cannot be read.
pub fn write_service_metrics(statistics: &ServiceStatistics, is_up: bool) -> String {
    let mut out = MetricWriter { text: String::new() };
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    out.family("fabdeck_build_info", "gauge", "the version of fabdeck", [(version, 1.0)]);
    out.flag("fabdeck_up", "1 if the fabric could be read the last time", Some(is_up));
    out.counter("fabdeck_sweeps_total", "sweeps of the fabric", statistics.sweeps);
    out.counter(
        "fabdeck_sweep_failures_total",
        "times that the fabric could not be read",
        statistics.failures,
    );
    out.gauge(
        "fabdeck_unstored_events",
        "events that wait for room on the disk of the store",
        statistics.unstored_events.map(|events| events as f64),
    );
    // Every kind has a line from the beginning, so that the first event is an increase.
    let events = FABRIC_EVENT_WORDS.iter().map(|kind| {
        let count = statistics.events.get(kind).copied().unwrap_or(0);
        (vec![("kind", (*kind).to_owned())], count as f64)
    });
    out.family("fabdeck_events_total", "counter", "changes that the fabric reported, by kind", events);
    out.text
}

/// The metrics of the whole fabric after a sweep.
pub fn write_fabric_metrics(watched: &WatchedSweep<'_>) -> String {
    let mut out = MetricWriter { text: String::new() };
    write_sweep(&mut out, watched);
    write_problems(&mut out, watched);
    write_routes(&mut out, watched);
    write_congestion(&mut out, watched);
    write_changes(&mut out, watched);
    out.text
}

fn write_sweep(out: &mut MetricWriter, watched: &WatchedSweep<'_>) {
    let WatchedSweep { sweep, report, snapshot, .. } = watched;
    out.gauge(
        "fabdeck_last_sweep_timestamp_seconds",
        "time of the last sweep",
        watched.time_ms as f64 / 1000.0,
    );
    out.gauge("fabdeck_sweep_duration_seconds", "duration of the last sweep", sweep.took.as_secs_f64());
    let unanswered = sweep.ports.saturating_sub(watched.interval.watched.ports as u64);
    out.gauge("fabdeck_sweep_ports", "ports that were asked for their counters", sweep.ports as f64);
    out.gauge(
        "fabdeck_sweep_unanswered_ports",
        "ports without counters in one of the last two sweeps",
        unanswered as f64,
    );
    out.flag(
        "fabdeck_partial",
        "1 if part of the fabric did not answer when it was read",
        Some(snapshot.observation.is_partial()),
    );
    out.gauge("fabdeck_links", "cables of the fabric", report.checks.links as f64);
    let fabric = snapshot.fabric();
    let switches = fabric.nodes().filter(|(_, node)| node.is_switch()).count();
    out.gauge("fabdeck_switches", "switches of the fabric", switches as f64);
    out.gauge("fabdeck_adapters", "adapters of the fabric", (fabric.nodes().len() - switches) as f64);
}

fn write_problems(out: &mut MetricWriter, watched: &WatchedSweep<'_>) {
    let report = watched.report;
    let counts = [ProblemSeverity::Critical, ProblemSeverity::Warning]
        .map(|severity| (vec![("severity", severity.word().to_owned())], report.count(severity) as f64));
    out.family("fabdeck_problems", "gauge", "problems that are not acknowledged, by severity", counts);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for problem in report.open_problems() {
        *kinds.entry(problem.kind.word()).or_default() += 1;
    }
    let kinds = kinds.into_iter().map(|(kind, count)| (vec![("kind", kind.to_owned())], count as f64));
    out.family("fabdeck_problems_by_kind", "gauge", "problems that are not acknowledged, by kind", kinds);
    let mut jobs: BTreeMap<&str, usize> = BTreeMap::new();
    for job in report.open_problems().flat_map(|problem| problem.hits.jobs.iter().flatten()) {
        let hosts = jobs.entry(&job.job).or_default();
        *hosts = (*hosts).max(job.hosts);
    }
    out.gauge(
        "fabdeck_jobs_hit",
        "running jobs that problems hit",
        report.checks.jobs.is_ok().then_some(jobs.len() as f64),
    );
    let mut worst: Vec<(&str, usize)> = jobs.into_iter().collect();
    worst.sort_by_key(|(job, hosts)| (std::cmp::Reverse(*hosts), *job));
    worst.truncate(MAX_JOBS);
    let worst = worst.into_iter().map(|(job, hosts)| (vec![("job", job.to_owned())], hosts as f64));
    out.family(
        "fabdeck_job_hosts_hit",
        "gauge",
        "hosts of a job that one problem hits, of the jobs hit worst",
        worst,
    );
}

fn write_routes(out: &mut MetricWriter, watched: &WatchedSweep<'_>) {
    let Some(certificate) = watched.tables.certificate() else { return };
    out.gauge("fabdeck_pairs", "ordered pairs of hosts", certificate.pairs as f64);
    out.gauge("fabdeck_lost_pairs", "ordered pairs of hosts without a path", certificate.unreachable as f64);
    out.gauge("fabdeck_forwarding_loops", "forwarding loops", certificate.loops as f64);
    out.flag(
        "fabdeck_credit_loop",
        "1 if packets can block each other in a credit loop",
        certificate.deadlock_free.map(|is_free| !is_free),
    );
    let certified = watched.report.checks.uncertified.is_none() && certificate.deadlock_free.is_some();
    out.flag("fabdeck_routes_certified", "1 if nothing about the routes is left open", Some(certified));
    out.flag("fabdeck_routes_clean", "1 if the routes have no finding", Some(!certificate.has_findings()));
}

fn write_congestion(out: &mut MetricWriter, watched: &WatchedSweep<'_>) {
    let (interval, rates) = (watched.interval, watched.rates);
    if interval.watched.ports == 0 {
        return;
    }
    let count = |role: &str| interval.adapters_with_role(&[role]).count() as f64;
    let mut roles = vec![("hot-spot", interval.watched.verdict.hot_spots.len() as f64)];
    roles.extend(["contributor", "victim", "undecided"].map(|role| (role, count(role))));
    let roles = roles.into_iter().map(|(role, count)| (vec![("role", role.to_owned())], count));
    out.family("fabdeck_congested_adapters", "gauge", "adapters by their role in hot-spots", roles);
    let worst = rates.ports.iter().filter_map(PortRates::wait_share).reduce(f64::max);
    out.gauge("fabdeck_worst_wait_ratio", "the longest wait of a port, as a share of the time", worst);
    let fabric = watched.snapshot.fabric();
    let adapters = rates.ports.iter().filter(|port| !fabric.node(fabric.port(port.port).node).is_switch());
    let sent: Vec<f64> = adapters.filter_map(PortRates::bandwidth).collect();
    let sent = (!sent.is_empty()).then(|| sent.iter().sum::<f64>());
    out.gauge("fabdeck_traffic_bytes_per_second", "what all adapters send", sent);
}

fn write_changes(out: &mut MetricWriter, watched: &WatchedSweep<'_>) {
    let rows = &watched.report.changes.rows;
    out.gauge("fabdeck_changes_pending", "changes that wait to be decided", rows.len() as f64);
    out.gauge(
        "fabdeck_changes_overwritten",
        "confirmed changes that the fabric does not hold any more",
        watched.statistics.overwritten_changes.map(|changes| changes as f64),
    );
    let overdue = rows.iter().filter(|row| row.overdue).count();
    out.gauge(
        "fabdeck_changes_overdue",
        "changes beyond their deadline that are still in force",
        overdue as f64,
    );
}
