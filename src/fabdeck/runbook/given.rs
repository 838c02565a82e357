//! Names of the values that each kind of step gives, which are the values that guards can use.

use super::book::Task;

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
    &["hotspots", "contributors", "victims", "held_up_elsewhere", "links_in_trouble", "worst_wait", "ports"];
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

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Values of a plan, with those of its certificate.
pub fn plan() -> impl Iterator<Item = &'static str> {
    CERTIFICATE.iter().chain(PLAN).copied()
}

/// Whether the value exists only if a step names the jobs.
pub fn is_of_jobs(name: &str) -> bool {
    name.split('.').any(|part| part == "jobs")
}

/// Values that a step gives when it is done.
pub fn by(task: &Task) -> Vec<String> {
    match task {
        Task::Expect(super::book::Expected::Rows(_)) => own(&["rows"]),
        Task::Fail(_) | Task::Unmark(_) => own(&["marked"]),
        Task::Preview { engines } => {
            let of = |engine: &String| {
                let all = CERTIFICATE.iter().chain(ENGINE).chain(ENGINE_JOBS);
                all.map(|name| format!("{engine}.{name}")).collect::<Vec<_>>()
            };
            own(PREVIEW).into_iter().chain(engines.iter().flat_map(of)).collect()
        }
        Task::Jobs(_) => own(JOBS),
        Task::Route(_) => own(&[CERTIFICATE, PLAN, JOBS_THEN].concat()),
        Task::Disable(_) | Task::Enable(_) => own(&[CERTIFICATE, PLAN].concat()),
        Task::Lanes(_) => own(&[CERTIFICATE, PLAN, LANES].concat()),
        Task::Apply(_) => own(&["writes"]),
        Task::Verify { .. } => own(&[CERTIFICATE, &["drifted"]].concat()),
        Task::Compare => own(COMPARE),
        Task::Hotspots { .. } => own(HOTSPOTS),
        Task::Record { .. } => own(&["sweeps"]),
        Task::Run(_) => own(&["exit_code"]),
        _ => Vec::new(),
    }
}
