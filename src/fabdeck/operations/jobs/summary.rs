//! The running jobs with their figures under the tables in force (dissertation, definitions 5.1 and 5.2).

use super::job_comparison::max_lids;
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::certificate_text::{judged_lid_words, lost_words};
use crate::operations::check::loads::{JobFigures, JobReport, job_rows};
use crate::operations::health::job_hits::JobHit;
use fabdeck_fabric::Faults;
use fabdeck_fabric::observe::{NotePlace, digits_in_groups};
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::{HostIndex, JobPlacement};
use fabdeck_routing::Problem;
use fabdeck_routing::analysis::EffectiveIndex;

/// A job on the fabric. Fields about paths are `None` without forwarding tables.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSummary {
    pub job: String,
    pub hosts: usize,
    /// Number of ports of these hosts to which paths lead.
    pub ports: usize,
    /// Number of hosts of the job that match no host of the fabric, or several.
    pub missing: usize,
    pub switches: usize,
    pub links: Option<usize>,
    /// The effective edge forwarding index.
    pub max: Option<u64>,
    pub dark_fiber: Option<f64>,
    /// Number of ordered pairs without a path.
    pub lost: Option<u64>,
    /// The figures under proposed routes, where these are compared.
    pub proposed: Option<ProposedJob>,
    /// The port that sends into the channel with the most of its paths. This and the next field are known in the console.
    pub busiest: Option<String>,
    /// `None` where counters are not compared.
    pub waits: Option<JobWaits>,
}

/// How long the hosts of a job wait, and what hits it.
#[derive(Clone, PartialEq, Debug)]
pub struct JobWaits {
    /// A level from 0 to 7 for each of its ports, as a digit; `?` where it is not known.
    pub levels: String,
    /// Number of its hosts that wait.
    pub waiting: usize,
    /// The longest wait in percent of the time.
    pub worst: Option<u64>,
    pub reason: String,
}

impl From<&JobHit> for JobWaits {
    fn from(hit: &JobHit) -> Self {
        let level = |share: f64| match (share.clamp(0.0, 1.0) * 7.0).round() as u8 {
            0 if share >= 0.01 => 1,
            level => level,
        };
        let sign = |share: &Option<f64>| share.map_or('?', |share| char::from(b'0' + level(share)));
        Self {
            levels: hit.shares.iter().map(sign).collect(),
            waiting: hit.waiting,
            worst: hit.worst.map(|share| (share.min(1.0) * 100.0).round() as u64),
            reason: hit.reason.clone(),
        }
    }
}

/// The figures of a job under proposed routes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProposedJob {
    pub links: usize,
    pub max: u64,
    pub dark_fiber: f64,
}

impl From<&EffectiveIndex> for ProposedJob {
    fn from(job: &EffectiveIndex) -> Self {
        Self { links: job.used_channels(), max: job.max, dark_fiber: job.dark_fiber }
    }
}

json_type! {
    /// Totals over all jobs.
    #[derive(Clone, PartialEq, Debug)]
    pub struct JobTotals {
        /// Number of jobs in the list; the next field counts those with a host in the fabric.
        pub listed: usize,
        pub placed: usize,
        /// Number of these jobs that are on several switches.
        pub multi_switch: usize,
        /// Number of hosts in the fabric with a job.
        pub hosts: usize,
        /// Number of these hosts with several jobs.
        pub shared: usize,
        /// Number of listed hosts that the fabric does not have; the next field counts names that match several
        /// hosts.
        pub not_found: usize,
        pub ambiguous: usize,
        /// Channel loads of paths within jobs; null without forwarding tables.
        pub links: Option<usize>,
        pub max: Option<u64>,
        pub mean: Option<f64>,
        pub mean_max: Option<f64>,
        pub mean_links: Option<f64>,
        pub dark_fiber: Option<f64>,
        /// Number of ordered pairs within jobs that have no path.
        pub lost: Option<u64>,
        /// The first hosts of both kinds; the next field is the number of further ones.
        pub missing_hosts: Vec<MissingHost>,
        pub missing_hosts_more: usize,
    }

    /// A listed host that matches no host of the fabric, or several.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct MissingHost {
        pub host: String,
        /// The first of its jobs.
        pub jobs: Vec<String>,
        /// The hosts of the fabric that its name matches; empty where there is none.
        pub fits: Vec<String>,
    }
}

/// Maximum number of missing hosts that are listed; the next constant limits the jobs of each.
const MAX_MISSING_HOSTS: usize = 1000;
const MAX_JOBS_OF_HOST: usize = 20;

fn missing_hosts(placed: &JobPlacement) -> Vec<MissingHost> {
    let unknown = placed.unknown.iter().map(|host| (host, Vec::new()));
    let ambiguous = placed.ambiguous.iter().map(|(host, fits)| (host, fits.clone()));
    let missing = |(host, fits): (&String, Vec<String>)| MissingHost {
        jobs: placed.missing_in.get(host).into_iter().flatten().take(MAX_JOBS_OF_HOST).cloned().collect(),
        host: host.clone(),
        fits,
    };
    unknown.chain(ambiguous).take(MAX_MISSING_HOSTS).map(missing).collect()
}

/// Note: host ports have several LIDs, and job figures use one LID for each pair.
pub const JUDGED_LIDS: &str = "FN-708";

/// Adds a note about the LID that job figures use, where ports have several.
pub fn note_judged_lids(look: &mut Snapshot) {
    let faults = Faults::new();
    let most = max_lids(&Problem::new(look.fabric(), &faults));
    if most > 1 {
        let place = NotePlace::file(look.source.clone());
        look.observation
            .notes
            .add(JUDGED_LIDS, place, || format!("LIDs in the figures of jobs: {}", judged_lid_words(most)));
    }
}

/// Jobs under the tables of a snapshot: those with the most paths over a channel first, equal ones by name.
pub fn summarize_jobs(look: &Snapshot, placed: &JobPlacement) -> (Vec<JobSummary>, JobTotals) {
    let tables = &look.observation.tables;
    let known = tables.has_forwarding();
    let (report, rows) = job_rows(look, tables, &placed.jobs);
    let seen = rows.into_iter().map(|row| JobSummary {
        missing: placed.missing.get(&row.job).copied().unwrap_or(0),
        job: row.job,
        hosts: row.hosts,
        ports: row.ports,
        switches: row.switches,
        links: known.then_some(row.links),
        max: known.then_some(row.max),
        dark_fiber: known.then_some(row.dark_fiber),
        lost: known.then_some(row.lost),
        proposed: None,
        busiest: None,
        waits: None,
    });
    let JobReport { count, hosts, links, mean, figures, .. } = report;
    let JobFigures { multi_switch, max, mean_max, dark_fiber, mean_links, lost } = figures;
    let missing_hosts = missing_hosts(placed);
    let totals = JobTotals {
        listed: placed.listed,
        placed: count,
        multi_switch,
        hosts,
        shared: placed.shared.len(),
        not_found: placed.unknown.len(),
        ambiguous: placed.ambiguous.len(),
        links: known.then_some(links),
        max: known.then_some(max),
        mean: known.then_some(mean),
        mean_max: known.then_some(mean_max),
        mean_links: known.then_some(mean_links),
        dark_fiber: known.then_some(dark_fiber),
        lost: known.then_some(lost),
        missing_hosts_more: placed.unknown.len() + placed.ambiguous.len() - missing_hosts.len(),
        missing_hosts,
    };
    (seen.collect(), totals)
}

impl JobTotals {
    /// The totals as label and text pairs.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let Self { listed, placed, multi_switch, hosts, not_found, ambiguous, .. } = self;
        let of = if listed == placed { String::new() } else { format!(" of {listed}") };
        let hosts = count_words(*hosts, "host", "hosts");
        let mut lines =
            vec![("jobs", format!("{placed}{of} on {hosts}, {multi_switch} of them on several switches"))];
        let tenths = |number: f64| digits_in_groups(format_args!("{number:.1}"));
        if not_found + ambiguous > 0 {
            let not_found = count_words(*not_found, "is not in the fabric", "are not in the fabric");
            let ambiguous = count_words(*ambiguous, "matches several hosts", "match several hosts");
            lines.push(("other hosts", format!("{not_found}, {ambiguous}")));
        }
        let (Some(max), Some(mean_max), Some(links), Some(dark)) =
            (self.max, self.mean_max, self.links, self.dark_fiber)
        else {
            lines.push((
                "paths",
                "not known: the source has no forwarding tables (--assume ENGINE)".to_owned(),
            ));
            return lines;
        };
        let mean_links = self.mean_links.unwrap_or_default();
        lines.push((
            "busiest cable",
            format!(
                "{} paths on the busiest channel of all jobs; on average {} on that of a job on several switches",
                digits_in_groups(max),
                tenths(mean_max)
            ),
        ));
        lines.push((
            "channels used",
            format!(
                "{} by all jobs; on average {} by a job on several switches",
                digits_in_groups(links),
                tenths(mean_links)
            ),
        ));
        lines.push(("unused", format!("{dark:.1} % of the channels between switches (dark fiber)")));
        lines.extend(self.lost.and_then(lost_words).map(|words| ("lost", words)));
        lines
    }

    /// All listed hosts that are not in the fabric, for the detailed output.
    pub fn missing_lines(&self) -> Vec<(&'static str, String)> {
        let label = |host: &MissingHost| if host.fits.is_empty() { "not found" } else { "ambiguous" };
        let line = |host: &MissingHost| {
            let fits =
                if host.fits.is_empty() { String::new() } else { format!(" ({})", host.fits.join(", ")) };
            (label(host), format!("{}{fits}, of {}", host.host, host.jobs.join(", ")))
        };
        let more =
            (self.missing_hosts_more > 0).then(|| ("", format!("and {} more", self.missing_hosts_more)));
        self.missing_hosts.iter().map(line).chain(more).collect()
    }
}

/// Places the jobs of a list on a fabric and adds notes about missing hosts.
pub fn place_jobs(snapshot: &mut Snapshot, list: &JobList, place: &NotePlace) -> JobPlacement {
    let placed = HostIndex::new(snapshot.fabric(), &snapshot.names).place_jobs(list);
    snapshot.observation.notes.extend(placed.notes(place));
    note_judged_lids(snapshot);
    placed
}
