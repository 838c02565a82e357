//! The values that steps give, by kind: what guards may be over.

use super::book::Task;

/// Of a certificate.
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
/// Of a plan, beside its certificate.
const PLAN: &[&str] = &["writes", "moved_pairs", "transition_safe", "worst_broken"];
/// Of an engine in a preview, beside its certificate.
const ENGINE: &[&str] = &["moved_pairs", "changed_entries", "changed_switches", "transition_safe"];
const PREVIEW: &[&str] = &["lost_until_reroute", "lost_share", "cut_off_pairs", "passing_pairs"];
/// Of counters over a while.
pub const HOTSPOTS: &[&str] =
    &["hotspots", "contributors", "victims", "held_up_elsewhere", "links_in_trouble", "worst_wait", "ports"];
const LANES: &[&str] = &["migrations", "hotspots"];

/// What a certificate gives.
pub fn certificate() -> &'static [&'static str] {
    CERTIFICATE
}

/// Every value there is, without those behind the name of an engine or the id of a step.
pub fn names() -> Vec<&'static str> {
    let own = ["rows", "marked", "drifted", "sweeps", "exit_code"];
    let all = [CERTIFICATE, PLAN, ENGINE, PREVIEW, HOTSPOTS, LANES];
    let mut names: Vec<_> = all.iter().flat_map(|list| list.iter().copied()).chain(own).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What a plan gives, its certificate with it.
pub fn plan() -> impl Iterator<Item = &'static str> {
    CERTIFICATE.iter().chain(PLAN).copied()
}

/// What a step gives when it is done.
pub fn by(task: &Task) -> Vec<String> {
    match task {
        Task::Expect(super::book::Expected::Rows(_)) => own(&["rows"]),
        Task::Fail(_) | Task::Unmark(_) => own(&["marked"]),
        Task::Preview { engines } => {
            let of = |engine: &String| {
                CERTIFICATE.iter().chain(ENGINE).map(|name| format!("{engine}.{name}")).collect::<Vec<_>>()
            };
            own(PREVIEW).into_iter().chain(engines.iter().flat_map(of)).collect()
        }
        Task::Route(_) | Task::Disable(_) | Task::Enable(_) => own(&[CERTIFICATE, PLAN].concat()),
        Task::Lanes(_) => own(&[CERTIFICATE, PLAN, LANES].concat()),
        Task::Apply(_) => own(&["writes"]),
        Task::Verify { .. } => own(&[CERTIFICATE, &["drifted"]].concat()),
        Task::Hotspots { .. } => own(HOTSPOTS),
        Task::Record { .. } => own(&["sweeps"]),
        Task::Run(_) => own(&["exit_code"]),
        _ => Vec::new(),
    }
}
