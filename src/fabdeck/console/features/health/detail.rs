//! The page of a problem: all of it, then the details of the element that has it.

use super::card_text::certainty_words;
use super::loop_finding::LoopSearch;
use super::problem_age::{age_words, problem_relief};
use super::screen::{HealthPane, HealthScreen};
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::details::ElementDetail;
use crate::console::features::hotspots::detail::hot_lines;
use crate::console::model::detail_page::{DetailLine, DetailPage};
use crate::console::model::fabric_model::Model;
use crate::operations::health::problem::{FabricProblem, HitRole, ProblemKind};
use crate::operations::watch::interval_verdict::per_cent;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::digits_in_groups;

/// Cables of one problem that its page lists at most.
const MAX_CABLES: usize = 100;

/// The page of the problem at the cursor of Health.
pub fn problem_detail(health: &HealthScreen, known: &Model) -> Option<DetailPage> {
    if health.pane != HealthPane::Problems {
        return None;
    }
    let (_, problem) = health.problem()?;
    let look = known.look.as_deref()?;
    let mut pairs = problem_lines(problem, known.problems.ranked.as_ref()?.jobs.is_some());
    let since = age_words(known, &problem.id, u16::MAX);
    pairs.extend((!since.is_empty()).then(|| ("since", since.trim_start_matches("since ").to_owned())));
    pairs.extend(problem_relief(known, problem).map(|words| ("relief", words)));
    if let Some(search) = known.problems.loop_search.as_ref().filter(|_| problem.kind == ProblemKind::Stalled)
    {
        pairs.extend(loop_lines(search, look));
    }
    let mut ports = Vec::new();
    if let ([ElementId::Link(_), ElementId::Link(_), ..], false) = (&*problem.elements, health.is_outdated) {
        // The list of Links has all of them.
        let cables = problem.elements.iter().map(|element| ElementDetail(*element).title(look));
        pairs.extend(cables.take(MAX_CABLES).map(|title| ("cable", title)));
        return Some(DetailPage { title: problem.title.clone(), pairs, ports });
    }
    for element in problem.elements.iter().take(if health.is_outdated { 0 } else { 1 }) {
        let detail = ElementDetail(*element);
        // The role of a hot-spot is that of the port which leads to it, and so are its figures.
        let judged = problem.elements.get(1).unwrap_or(element);
        let figures = hot_lines(known, *judged);
        if judged != element && !figures.is_empty() {
            pairs.push(("", String::new()));
            pairs.push(("counted at", ElementDetail(*judged).title(look)));
        }
        let (of_judged, of_element) =
            if judged == element { (Vec::new(), figures) } else { (figures, Vec::new()) };
        pairs.extend(of_judged.into_iter().map(seen_from_the_host));
        pairs.push(("", String::new()));
        pairs.push(("element", detail.title(look)));
        pairs.extend(of_element);
        pairs.extend(detail.lines(known));
        ports = detail.ports(known);
    }
    Some(DetailPage { title: problem.title.clone(), pairs, ports })
}

/// The channels of a credit loop in the tables in force, or that they have none.
fn loop_lines(search: &LoopSearch, look: &Snapshot) -> Vec<DetailLine> {
    if !search.is_of(look) {
        return Vec::new();
    }
    let mut lines = vec![("credit loop", search.message().1)];
    if let Ok(Some(channels)) = &search.found {
        lines.extend(channels.iter().take(MAX_CABLES).map(|channel| ("", channel.clone())));
    }
    lines
}

/// A figure of the port that leads to a host, named from the host's side: what the port sends is sent to the host.
fn seen_from_the_host((label, text): DetailLine) -> DetailLine {
    match label {
        "sends" => ("sent to it", text),
        "receives" => ("sent by it", text),
        _ => (label, text),
    }
}

pub(in crate::console) fn problem_lines(problem: &FabricProblem, jobs_known: bool) -> Vec<DetailLine> {
    let mut lines = vec![
        (problem.severity.word(), problem.title.clone()),
        ("cause", format!("{}{}", certainty_words(problem.cause.certainty), problem.cause.text)),
    ];
    for role in HitRole::ALL {
        let names: Vec<String> =
            problem.hits.hosts.iter().filter(|host| host.role == role).map(host_words).collect();
        if !names.is_empty() {
            let count = digits_in_groups(names.len());
            lines.push(("hits", format!("{count} {}: {}", role.words_of(names.len()), names.join(", "))));
        }
    }
    lines.extend(problem.hits.paths_words(problem.kind).map(|paths| ("hits", paths)));
    let jobs = match problem.hits.jobs.as_deref() {
        Some([]) => "none".to_owned(),
        Some(jobs) => {
            let job = |hit: &crate::operations::health::problem::HitJob| match hit.hosts {
                0 => format!("{} ({} paths)", hit.job, digits_in_groups(hit.paths)),
                hosts => format!("{} ({} hosts)", hit.job, digits_in_groups(hosts)),
            };
            jobs.iter().map(job).collect::<Vec<_>>().join(", ")
        }
        None if jobs_known => "not counted for this problem".to_owned(),
        None => "not known: :jobs slurm asks Slurm, :jobs FILE reads a list".to_owned(),
    };
    lines.push(("jobs", jobs));
    lines.extend(problem.history.as_ref().map(|words| ("history", words.clone())));
    lines.push(("next", problem.next.text.clone()));
    lines.push(("", problem.next.command.clone()));
    lines.push(("id", problem.id.clone()));
    lines.extend(problem.acknowledged.as_ref().map(|by| ("acknowledged", by.words())));
    lines.extend(
        problem.worse_since.as_ref().map(|by| ("worse", format!("since it was acknowledged {}", by.words()))),
    );
    lines
}

fn host_words(host: &crate::operations::health::problem::HitHost) -> String {
    match host.time_waited {
        Some(waited) => format!("{} ({} of the time)", host.host, per_cent(waited)),
        None => host.host.clone(),
    }
}
