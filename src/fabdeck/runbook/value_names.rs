//! Names of the values that each kind of step sets, which are the values that guards can use.

use super::steps::StepTask;

/// Values of a certificate.
const CERTIFICATE: &[&str] = &[
    "pairs",
    "unreachable",
    "cut_off_pairs",
    "lost_pairs",
    "loops",
    "lanes",
    "deadlock_free",
    "longest_path",
    "unused_links",
    "dark_fiber",
    "findings",
    "edge_forwarding_index.min",
    "edge_forwarding_index.mean",
    "edge_forwarding_index.max",
    "edge_forwarding_index.stddev",
];
/// Values of a plan, besides those of its certificate.
const PLAN: &[&str] = &["writes", "moved_pairs", "transition_safe", "worst_broken"];
/// Values of an engine in a preview, besides those of its certificate.
const ENGINE: &[&str] = &["moved_pairs", "changed_entries", "changed_switches", "transition_safe"];
const PREVIEW: &[&str] = &["lost_until_reroute", "lost_share", "cut_off_pairs", "passing_pairs"];
/// Values of counters over a time.
pub const HOTSPOTS: &[&str] =
    &["hotspots", "contributors", "victims", "waiting_elsewhere", "links_in_trouble", "worst_wait", "ports"];
/// Values of jobs under the tables in force.
const JOBS: &[&str] = &[
    "jobs.listed",
    "jobs.placed",
    "jobs.multi_switch",
    "jobs.hosts",
    "jobs.missing",
    "jobs.links",
    "jobs.max",
    "jobs.mean_max",
    "jobs.mean_links",
    "jobs.dark_fiber",
    "jobs.lost",
];
/// Values of the jobs of an earlier step under a plan, and under an engine of a preview.
pub const JOBS_THEN: &[&str; 4] =
    &["jobs.then_max", "jobs.then_mean_max", "jobs.then_dark_fiber", "jobs.gain"];
pub const ENGINE_JOBS: &[&str; 4] = &["jobs.max", "jobs.mean_max", "jobs.dark_fiber", "jobs.gain"];
const LANES: &[&str] = &["migrations", "hotspots"];
/// Values of confirmed changes that were compared with the fabric.
pub const COMPARE: &[&str; 4] =
    &["changes.stand", "changes.no_longer_stand", "changes.not_known", "changes.entries_differ"];

/// Values of a certificate.
pub fn certificate() -> &'static [&'static str] {
    CERTIFICATE
}

/// All names of values, without prefixes of engines and of step ids.
pub fn names() -> Vec<&'static str> {
    let own = ["rows", "marked", "drifted", "sweeps", "exit_code"];
    let all = [CERTIFICATE, PLAN, ENGINE, PREVIEW, HOTSPOTS, LANES, COMPARE, JOBS, JOBS_THEN, ENGINE_JOBS];
    let mut names: Vec<_> = all.iter().flat_map(|list| list.iter().copied()).chain(own).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn to_strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Values of a plan, with those of its certificate.
pub fn plan() -> impl Iterator<Item = &'static str> {
    CERTIFICATE.iter().chain(PLAN).copied()
}

/// Whether the value exists only if a step names the jobs.
pub fn is_job_value(name: &str) -> bool {
    name.split('.').any(|part| part == "jobs")
}

/// Values that a step sets when it is done.
pub fn names_of_task(task: &StepTask) -> Vec<String> {
    match task {
        StepTask::Expect(super::steps::ExpectTask::Rows(_)) => to_strings(&["rows"]),
        StepTask::Fail(_) | StepTask::Unmark(_) => to_strings(&["marked"]),
        StepTask::Preview { engines } => {
            let of = |engine: &String| {
                let all = CERTIFICATE.iter().chain(ENGINE).chain(ENGINE_JOBS);
                all.map(|name| format!("{engine}.{name}")).collect::<Vec<_>>()
            };
            to_strings(PREVIEW).into_iter().chain(engines.iter().flat_map(of)).collect()
        }
        StepTask::Jobs(_) => to_strings(JOBS),
        StepTask::Route(_) => to_strings(&[CERTIFICATE, PLAN, JOBS_THEN].concat()),
        StepTask::Disable(_) | StepTask::Enable(_) => to_strings(&[CERTIFICATE, PLAN].concat()),
        StepTask::Lanes(_) => to_strings(&[CERTIFICATE, PLAN, LANES].concat()),
        StepTask::Apply(_) => to_strings(&["writes"]),
        StepTask::Verify { .. } => to_strings(&[CERTIFICATE, &["drifted"]].concat()),
        StepTask::Compare => to_strings(COMPARE),
        StepTask::Hotspots { .. } => to_strings(HOTSPOTS),
        StepTask::Record { .. } => to_strings(&["sweeps"]),
        StepTask::Run(_) => to_strings(&["exit_code"]),
        _ => Vec::new(),
    }
}
