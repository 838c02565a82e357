//! What differs between two moments of a recording: problems, ports, cables and tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::replay_frame::{CANCELLED, ReplayFrame};
use crate::catalogue::quantity_words::short_number;
use crate::catalogue::query::Query;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::health::problem::{FabricProblem, ProblemKind, ProblemSeverity};
use crate::operations::health::ranked_problems::{RankedProblems, RankingRequest};
use crate::operations::health::short_port_name::short_port_name;
use crate::operations::health::table_certificate::{CertificateInForce, certify_tables};
use crate::operations::replay::changed_words::{NO_PORT, differing_entries};
use crate::operations::rowset::Rowset;
use crate::operations::watch::history::PortHistory;
use crate::operations::watch::port_values::port_identity;
use crate::operations::watch::watch_verdict::{VerdictRequest, WatchVerdict};
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::observe::{PortIdentity, digits_in_groups};
use fabdeck_fabric::{Guid, LinkId, PortId};
use fabdeck_routing::RouteProgress;

/// Most rows of a kind; the counts have all.
const MAX_ROWS: usize = 100;

/// Least difference of waits that has a row, in percent of the time.
const MIN_WAIT_CHANGE: f64 = 1.0;

/// How a thing differs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DifferenceTone {
    Worse,
    Better,
    Other,
}

/// A thing that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DifferenceRow {
    pub kind: &'static str,
    pub name: String,
    pub change: &'static str,
    pub then: String,
    pub now: String,
    pub tone: DifferenceTone,
}

/// Number of all differences, also of those without a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DifferenceCounts {
    pub new_problems: usize,
    pub gone_problems: usize,
    pub worse_problems: usize,
    pub better_problems: usize,
    pub ports: usize,
    pub cables: usize,
    pub entries: usize,
    pub switches: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MomentComparison {
    /// The times of both moments, by the recorder's clock.
    pub then_ms: i64,
    pub now_ms: i64,
    pub counts: DifferenceCounts,
    pub rows: Vec<DifferenceRow>,
}

impl MomentComparison {
    /// The counts in words.
    pub fn words(&self) -> String {
        let counts = &self.counts;
        let problems = [
            (counts.new_problems, "new"),
            (counts.gone_problems, "gone"),
            (counts.worse_problems, "worse"),
            (counts.better_problems, "better"),
        ];
        let problems: Vec<String> = problems
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{} {word}", digits_in_groups(*count)))
            .collect();
        let problems = if problems.is_empty() { "none changed".to_owned() } else { problems.join(", ") };
        let entries = match counts.switches {
            0 => "tables alike".to_owned(),
            switches => format!(
                "{} differ in {}",
                count_words(counts.entries, "table entry", "table entries"),
                count_words(switches, "switch", "switches")
            ),
        };
        format!(
            "problems: {problems}; {}; {}; {entries}",
            count_words(counts.ports, "port", "ports"),
            count_words(counts.cables, "cable", "cables"),
        )
    }
}

/// What is known of a moment.
struct MomentFacts {
    look: Arc<Snapshot>,
    ranked: RankedProblems,
    /// `None` where nothing was recorded right before the moment.
    reading: Option<Arc<WatchVerdict>>,
}

/// Compares two moments, which have these times.
pub fn compare_moments(
    (then, then_ms): (&ReplayFrame, i64),
    (now, now_ms): (&ReplayFrame, i64),
    thresholds: &Thresholds,
    progress: &dyn RouteProgress,
) -> Result<MomentComparison, String> {
    let certificate = |look: &Snapshot| -> Result<Arc<CertificateInForce>, String> {
        let certificate = certify_tables(look, progress).map_err(|refusal| refusal.to_string());
        if progress.is_cancelled() { Err(CANCELLED.to_owned()) } else { Ok(Arc::new(certificate)) }
    };
    let first = certificate(&then.look)?;
    let is_alike = then.look.fabric() == now.look.fabric()
        && then.look.observation.tables == now.look.observation.tables;
    let second = if is_alike { first.clone() } else { certificate(&now.look)? };
    let (then, now) = (MomentFacts::new(then, thresholds, first), MomentFacts::new(now, thresholds, second));
    let mut compared =
        MomentComparison { then_ms, now_ms, counts: DifferenceCounts::default(), rows: Vec::new() };
    compared.compare_sums(&then, &now);
    compared.compare_problems(&then, &now);
    compared.compare_ports(&then, &now);
    compared.compare_cables(&then, &now);
    compared.compare_tables(&then, &now);
    Ok(compared)
}

impl MomentFacts {
    fn new(frame: &ReplayFrame, thresholds: &Thresholds, certificate: Arc<CertificateInForce>) -> Self {
        let look = frame.look.clone();
        let reading = frame.before.as_ref().ok().map(|before| {
            let request = VerdictRequest {
                look: look.clone(),
                first: frame.first.clone(),
                before: before.clone(),
                after: frame.after.clone(),
                thresholds: thresholds.clone(),
                history: PortHistory::default(),
                earlier: None,
                flows: Some(frame.flows.clone()),
                links: (Arc::new(Rowset::links(&look, None)), Query::default()),
                ports: Query::default(),
                pinned: Vec::new(),
                at_ms: frame.at_ms,
            };
            Arc::new(request.run())
        });
        let request = RankingRequest {
            look: look.clone(),
            at: None,
            reading: reading.clone(),
            news: frame.after.news.clone(),
            certificate: Some(certificate),
            paths: None,
            jobs: None,
            recorded: Arc::default(),
            acknowledgements: 0,
            write: None,
        };
        Self { ranked: request.run(None, None), look, reading }
    }

    /// Wait in percent and errors a second of each port, as far as they are known.
    fn port_values(&self) -> BTreeMap<PortIdentity, (PortId, Option<f64>, Option<f64>)> {
        let Some(reading) = &self.reading else { return BTreeMap::new() };
        let Rowset::Hot(ports) = &*reading.ports.rows else { return BTreeMap::new() };
        let fabric = self.look.fabric();
        let values = |port: &crate::operations::watch::hot_ports::HotPort| {
            let identity = port_identity(fabric, port.port);
            let wait = port.time_waited.map(|share| (share * 100.0).min(100.0));
            (identity, (port.port, wait, reading.sums.errors_of(&[identity])))
        };
        ports.iter().map(values).collect()
    }

    /// The state of each cable, by the identities of its ends.
    fn cables(&self) -> BTreeMap<(PortIdentity, PortIdentity), (String, CableHealth)> {
        let fabric = self.look.fabric();
        let cable = |(id, link): (LinkId, &fabdeck_fabric::Link)| {
            let (a, b) = (port_identity(fabric, link.a), port_identity(fabric, link.b));
            let rate = || {
                let width = self.look.width_in_use(id).map_or("?", |width| width.word());
                let speed = self.look.speed_in_use(id).map_or("?", |speed| speed.word());
                format!("{width} {speed}")
            };
            let state = match (self.look.is_down(id), self.look.is_degraded(id)) {
                (true, _) => ("down".to_owned(), CableHealth::Down),
                (false, Some(true)) => (format!("degraded, {}", rate()), CableHealth::Degraded),
                (false, _) => (rate(), CableHealth::Up),
            };
            ((a.min(b), a.max(b)), state)
        };
        fabric.links().map(cable).collect()
    }

    fn end_name(&self, port: PortIdentity) -> Option<String> {
        let fabric = self.look.fabric();
        let node = fabric.node_by_guid(port.0)?;
        Some(self.look.port_name(fabric.port_of(node, port.1)?))
    }
}

/// How well a cable is, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum CableHealth {
    Up,
    Degraded,
    Absent,
    Down,
}

const UNKNOWN: &str = "not known";

impl MomentComparison {
    fn add(&mut self, row: DifferenceRow) {
        self.rows.push(row);
    }

    /// The sums of the fabric, also where they are alike.
    fn compare_sums(&mut self, then: &MomentFacts, now: &MomentFacts) {
        let sums =
            |facts: &MomentFacts| facts.reading.as_ref().map(|reading| reading.sums.sums).unwrap_or_default();
        let (a, b) = (sums(then), sums(now));
        let lost = |facts: &MomentFacts| facts.ranked.lost_pairs.map(|pairs| pairs as f64);
        let percent = |value: f64| format!("{value:.0} %");
        let per_s = |value: f64| format!("{} /s", short_number(value));
        let gbps = |value: f64| format!("{} Gb/s", short_number(value));
        let count = |value: f64| digits_in_groups(value as u64);
        type Words<'w> = &'w dyn Fn(f64) -> String;
        type SumRow<'w> = (&'static str, Option<f64>, Option<f64>, Words<'w>, bool);
        let all: [SumRow<'_>; 4] = [
            ("worst wait", a.worst_wait, b.worst_wait, &percent, true),
            ("traffic", a.traffic_gbps, b.traffic_gbps, &gbps, false),
            ("errors", a.errors_per_s, b.errors_per_s, &per_s, true),
            ("pairs without a path", lost(then), lost(now), &count, true),
        ];
        for (name, a, b, words, is_bad) in all {
            let text = |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), words);
            let (then, now) = (text(a), text(b));
            let (change, tone) = match (a, b) {
                _ if then == now => ("alike", DifferenceTone::Other),
                (Some(a), Some(b)) if a < b && is_bad => ("worse", DifferenceTone::Worse),
                (Some(a), Some(b)) if a > b && is_bad => ("better", DifferenceTone::Better),
                _ => ("differs", DifferenceTone::Other),
            };
            self.add(DifferenceRow { kind: "fabric", name: name.to_owned(), change, then, now, tone });
        }
    }

    fn compare_problems(&mut self, then: &MomentFacts, now: &MomentFacts) {
        fn by_key(facts: &MomentFacts) -> BTreeMap<String, &FabricProblem> {
            facts.ranked.problems.iter().map(|problem| (problem_key(problem), problem)).collect()
        }
        let (a, b) = (by_key(then), by_key(now));
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        let mut rows = Vec::new();
        for key in keys {
            let (before, after) = (a.get(key), b.get(key));
            let none = || "none".to_owned();
            let (change, tone, count) = match (before, after) {
                (None, Some(_)) => ("new", DifferenceTone::Worse, &mut self.counts.new_problems),
                (Some(_), None) => ("gone", DifferenceTone::Better, &mut self.counts.gone_problems),
                (Some(a), Some(b)) if extent(b) > extent(a) => {
                    ("worse", DifferenceTone::Worse, &mut self.counts.worse_problems)
                }
                (Some(a), Some(b)) if extent(b) < extent(a) => {
                    ("better", DifferenceTone::Better, &mut self.counts.better_problems)
                }
                _ => continue,
            };
            *count += 1;
            let name = after.or(before).map_or_else(String::new, |problem| problem.title.clone());
            let words =
                |problem: Option<&&FabricProblem>| problem.map_or_else(none, |problem| hit_words(problem));
            rows.push(DifferenceRow {
                kind: "problem",
                name,
                change,
                then: words(before),
                now: words(after),
                tone,
            });
        }
        rows.sort_by_key(|row| row.tone);
        rows.truncate(MAX_ROWS);
        self.rows.extend(rows);
    }

    fn compare_ports(&mut self, then: &MomentFacts, now: &MomentFacts) {
        let (a, b) = (then.port_values(), now.port_values());
        let mut rows: Vec<(f64, DifferenceRow)> = Vec::new();
        let ports: BTreeSet<&PortIdentity> = a.keys().chain(b.keys()).collect();
        for port in ports {
            let of = |values: &BTreeMap<PortIdentity, (PortId, Option<f64>, Option<f64>)>| {
                values.get(port).map_or((None, None), |(_, wait, errors)| (*wait, *errors))
            };
            let ((wait_a, errors_a), (wait_b, errors_b)) = (of(&a), of(&b));
            let waits = wait_a.zip(wait_b).map_or(0.0, |(a, b)| b - a);
            let errors = errors_a.zip(errors_b).map_or(0.0, |(a, b)| b - a);
            if waits.abs() < MIN_WAIT_CHANGE && errors == 0.0 {
                continue;
            }
            let name = match (b.get(port), a.get(port)) {
                (Some((id, ..)), _) => short_port_name(&now.look, *id),
                (None, Some((id, ..))) => short_port_name(&then.look, *id),
                (None, None) => continue,
            };
            let words = |wait: Option<f64>, errors: Option<f64>| {
                let wait = wait.map_or_else(|| UNKNOWN.to_owned(), |wait| format!("{wait:.0} %"));
                match errors {
                    Some(errors) if errors > 0.0 => format!("{wait}, {} errors/s", short_number(errors)),
                    _ => wait,
                }
            };
            let is_worse = waits >= MIN_WAIT_CHANGE || waits > -MIN_WAIT_CHANGE && errors > 0.0;
            let (change, tone) = match is_worse {
                true => ("worse", DifferenceTone::Worse),
                false => ("better", DifferenceTone::Better),
            };
            let row = DifferenceRow {
                kind: "port",
                name,
                change,
                then: words(wait_a, errors_a),
                now: words(wait_b, errors_b),
                tone,
            };
            rows.push((waits.abs().max(errors.abs().ln_1p()), row));
        }
        self.counts.ports = rows.len();
        rows.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        self.rows.extend(rows.into_iter().take(MAX_ROWS).map(|(_, row)| row));
    }

    fn compare_cables(&mut self, then: &MomentFacts, now: &MomentFacts) {
        let (a, b) = (then.cables(), now.cables());
        let absent = || ("not in the fabric".to_owned(), CableHealth::Absent);
        let keys: BTreeSet<&(PortIdentity, PortIdentity)> = a.keys().chain(b.keys()).collect();
        let mut rows = Vec::new();
        for key in keys {
            let (before, after) =
                (a.get(key).cloned().unwrap_or_else(absent), b.get(key).cloned().unwrap_or_else(absent));
            if before == after {
                continue;
            }
            let end = |port: PortIdentity| {
                let name = now.end_name(port).or_else(|| then.end_name(port));
                name.unwrap_or_else(|| format!("{}[{}]", port.0, port.1.0))
            };
            let (change, tone) = match after.1.cmp(&before.1) {
                std::cmp::Ordering::Greater => ("worse", DifferenceTone::Worse),
                std::cmp::Ordering::Less => ("better", DifferenceTone::Better),
                std::cmp::Ordering::Equal => ("differs", DifferenceTone::Other),
            };
            let name = format!("{} to {}", end(key.0), end(key.1));
            rows.push(DifferenceRow { kind: "cable", name, change, then: before.0, now: after.0, tone });
        }
        self.counts.cables = rows.len();
        rows.sort_by_key(|row| row.tone);
        rows.truncate(MAX_ROWS);
        self.rows.extend(rows);
    }

    /// The switches whose forwarding tables differ, those with the most entries first.
    fn compare_tables(&mut self, then: &MomentFacts, now: &MomentFacts) {
        let by_guid = |facts: &MomentFacts| -> BTreeMap<Guid, Vec<u8>> {
            let tables = &facts.look.observation.tables;
            let row = |(id, node): (fabdeck_fabric::NodeId, &fabdeck_fabric::Node)| {
                Some((node.guid(), tables.lft(id)?.bytes().to_vec()))
            };
            facts.look.fabric().switches().filter_map(row).collect()
        };
        let (a, b) = (by_guid(then), by_guid(now));
        let mut rows: Vec<(usize, DifferenceRow)> = Vec::new();
        for (guid, after) in &b {
            let Some(before) = a.get(guid) else { continue };
            let differ = differing_entries(before, after);
            if differ == 0 {
                continue;
            }
            let routed = |row: &[u8]| row.iter().filter(|port| **port != NO_PORT).count();
            let fabric = now.look.fabric();
            let name = fabric
                .node_by_guid(*guid)
                .map_or_else(|| guid.to_string(), |node| now.look.name(node).to_owned());
            let row = DifferenceRow {
                kind: "table",
                name,
                change: "differs",
                then: count_words(routed(before), "entry", "entries"),
                now: format!("{} of {} differ", digits_in_groups(differ), digits_in_groups(routed(after))),
                tone: DifferenceTone::Other,
            };
            rows.push((differ, row));
        }
        self.counts.switches = rows.len();
        self.counts.entries = rows.iter().map(|(differ, _)| differ).sum();
        rows.sort_by_key(|(differ, _)| std::cmp::Reverse(*differ));
        self.rows.extend(rows.into_iter().take(MAX_ROWS).map(|(_, row)| row));
    }
}

/// What makes two problems the same one. Another number of pairs without a path is the same problem, larger or smaller.
fn problem_key(problem: &FabricProblem) -> String {
    match problem.kind {
        ProblemKind::LostPaths => problem.id.rsplit_once(':').map_or(&*problem.id, |(key, _)| key).to_owned(),
        _ => problem.id.clone(),
    }
}

/// How bad a problem is.
fn extent(problem: &FabricProblem) -> (bool, usize, u64) {
    let is_critical = problem.severity == ProblemSeverity::Critical;
    (is_critical, problem.hits.hosts.len(), problem.hits.paths.unwrap_or(0))
}

fn hit_words(problem: &FabricProblem) -> String {
    match (problem.hits.hosts.len(), problem.hits.paths) {
        (0, Some(pairs)) => count_words(usize::try_from(pairs).unwrap_or(usize::MAX), "pair", "pairs"),
        (0, None) => problem.severity.word().to_owned(),
        (hosts, _) => count_words(hosts, "host", "hosts"),
    }
}
