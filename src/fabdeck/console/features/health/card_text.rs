//! The texts of a card, as runs with their roles.

use std::cell::LazyCell;

pub use crate::catalogue::quantity_words::{length_words, short_number};
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::width;
use crate::console::drawing::theme::Role;
use crate::operations::health::problem::{
    Certainty, FabricProblem, HitHost, HitRole, ProblemHits, ProblemKind,
};
use fabdeck_fabric::observe::digits_in_groups;

/// A text with its role.
pub type OwnedRun = (String, Role);

/// How sure a cause is, before its text.
pub fn certainty_words(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Sure => "",
        Certainty::Likely => "likely: ",
        Certainty::Unknown => "not known: ",
    }
}

/// Most hosts of a role that are named, and in the next constant most jobs.
const MAX_HOSTS: usize = 4;
const MAX_JOBS: usize = 5;

/// Who is hit: hosts by role, paths, jobs. Where there is little room, the number of contributors gives way to the names of
/// those that are hit, and these to their number.
pub fn hit_runs(problem: &FabricProblem, jobs_known: bool, room: u16) -> Vec<OwnedRun> {
    fitting_runs((problem.kind, &problem.hits), jobs_known, room)
}

fn fitting_runs((kind, hits): (ProblemKind, &ProblemHits), jobs_known: bool, room: u16) -> Vec<OwnedRun> {
    let fits = |runs: &Vec<OwnedRun>| runs.iter().map(|(text, _)| width(text)).sum::<u16>() <= room;
    let of = |named: usize| runs_of((kind, hits), jobs_known, named.min(MAX_HOSTS), named.min(MAX_JOBS));
    let hosts = &hits.hosts;
    let hits_alone = LazyCell::new(|| {
        let hosts = hosts.iter().filter(|host| !is_cause(host.role)).cloned().collect();
        ProblemHits { hosts, paths: hits.paths, jobs: hits.jobs.clone() }
    });
    let of_hit =
        |named: usize| runs_of((kind, &hits_alone), jobs_known, named.min(MAX_HOSTS), named.min(MAX_JOBS));
    let has_hit_host = hosts.iter().any(|host| !is_cause(host.role));
    let all = (2..=MAX_JOBS).rev().map(of);
    let hit_alone = (1..=MAX_JOBS).rev().filter(|_| has_hit_host).map(of_hit);
    all.chain(hit_alone).chain([of(1)]).find(fits).unwrap_or_else(|| of(0))
}

/// Whether hosts of a role cause the waiting.
fn is_cause(role: HitRole) -> bool {
    matches!(role, HitRole::Contributor | HitRole::LikelyContributor)
}

fn runs_of(
    (kind, hits): (ProblemKind, &ProblemHits),
    jobs_known: bool,
    hosts: usize,
    jobs: usize,
) -> Vec<OwnedRun> {
    let mut runs = Vec::new();
    let mut worst = true;
    for role in HitRole::ALL {
        let own: Vec<&HitHost> = hits.hosts.iter().filter(|host| host.role == role).collect();
        if own.is_empty() {
            continue;
        }
        let role_of = match role {
            HitRole::CutOff | HitRole::Victim | HitRole::LikelyVictim => Role::Danger,
            HitRole::Undecided => Role::Warning,
            HitRole::LikelyContributor | HitRole::Contributor | HitRole::Attached => Role::Text,
        };
        runs.push((format!("{} {}", digits_in_groups(own.len()), short_role(role, own.len())), role_of));
        // Only those that are hit worst have names.
        for host in own.iter().take(if worst { hosts } else { 0 }) {
            let name = host.host.split(' ').next().unwrap_or_default();
            runs.push((format!(" {name}"), Role::Text));
            runs.extend(host.time_waited.map(|share| (format!(" {:.0} %", share * 100.0), Role::Wait)));
        }
        runs.push(("   ".to_owned(), Role::Dim));
        worst = false;
    }
    if let Some(paths) = hits.paths_words(kind) {
        let role = if worst { Role::Warning } else { Role::Text };
        runs.push((paths, role));
        runs.push(("   ".to_owned(), Role::Dim));
    }
    if runs.is_empty() {
        runs.push(("no host is known to be hit   ".to_owned(), Role::Dim));
    }
    match hits.jobs.as_deref() {
        Some([]) => runs.push(("no job".to_owned(), Role::Dim)),
        Some(all) => {
            let names: Vec<&str> = all.iter().take(jobs).map(|hit| hit.job.as_str()).collect();
            let more = all.len() - names.len();
            let count = digits_in_groups(more);
            // A number behind the word is the name of a job; how many there are stands before it.
            if names.is_empty() {
                runs.push((count_words(all.len(), "job", "jobs"), Role::Text));
                return runs;
            }
            runs.push((if all.len() == 1 { "job " } else { "jobs " }.to_owned(), Role::Dim));
            runs.push((names.join(" "), Role::Text));
            if more > 0 {
                runs.push((format!(" and {count} more"), Role::Dim));
            }
        }
        None if jobs_known => runs.push(("jobs not counted".to_owned(), Role::Dim)),
        None => runs.push(("jobs not known".to_owned(), Role::Dim)),
    }
    runs
}

/// A role in a short form, for after the number of hosts.
fn short_role(role: HitRole, hosts: usize) -> &'static str {
    match (role, hosts) {
        (HitRole::Attached, 1) => "host attached",
        (HitRole::Attached, _) => "hosts attached",
        (role, hosts) => role.words_of(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of victims stay longer than the number of contributors.
    #[test]
    fn the_number_of_contributors_gives_way_to_names() {
        let host = |at: usize, role| HitHost { host: format!("node0{at}"), role, time_waited: Some(0.5) };
        let mut hosts: Vec<HitHost> = (1..=2).map(|at| host(at, HitRole::LikelyVictim)).collect();
        hosts.extend((3..=9).map(|at| host(at, HitRole::LikelyContributor)));
        let hits = ProblemHits { hosts, ..ProblemHits::default() };
        let text = |room: u16| {
            let of = |named: usize| runs_of((ProblemKind::HotSpot, &hits), false, named, named);
            let runs = fitting_runs((ProblemKind::HotSpot, &hits), false, room);
            assert!(runs == of(0) || runs.iter().map(|(text, _)| width(text)).sum::<u16>() <= room);
            runs.into_iter().map(|(text, _)| text).collect::<String>()
        };
        let (named, counted) = ("2 likely victims node01 50 % node02 50 %", "7 likely contributors");
        assert_eq!(text(100), format!("{named}   {counted}   jobs not known"));
        assert_eq!(text(70), format!("{named}   jobs not known"));
        assert_eq!(text(50), "2 likely victims node01 50 %   jobs not known");
    }

    #[test]
    fn names_give_way_to_counts() {
        let host = |name: &str, role| HitHost { host: name.to_owned(), role, time_waited: Some(0.87) };
        let hits = ProblemHits {
            hosts: vec![
                host("node01 mlx5_0", HitRole::Victim),
                host("node07 mlx5_0", HitRole::Victim),
                host("node09 mlx5_0", HitRole::Contributor),
            ],
            paths: None,
            jobs: None,
        };
        let text = |runs: Vec<OwnedRun>| runs.into_iter().map(|(text, _)| text).collect::<String>();
        assert_eq!(
            text(runs_of((ProblemKind::HotSpot, &hits), false, 2, 2)),
            "2 victims node01 87 % node07 87 %   1 contributor   jobs not known"
        );
        assert_eq!(
            text(runs_of((ProblemKind::HotSpot, &hits), true, 0, 0)),
            "2 victims   1 contributor   jobs not counted"
        );
        let none = ProblemHits { jobs: Some(Vec::new()), ..ProblemHits::default() };
        assert_eq!(
            text(runs_of((ProblemKind::HotSpot, &none), true, 2, 2)),
            "no host is known to be hit   no job"
        );
        let over = ProblemHits { paths: Some(80), ..ProblemHits::default() };
        let of = |kind| text(runs_of((kind, &over), true, 2, 2));
        assert_eq!(of(ProblemKind::LinkErrors), "80 paths both ways   jobs not counted");
        assert_eq!(of(ProblemKind::LostPaths), "80 pairs   jobs not counted");
    }
}
