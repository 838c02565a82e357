//! The details of an engine, and of the cost of the marks, line by line.

use super::engines::verdict_words;
use crate::catalogue::summary::count_words;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::fabric_model::{Model, ProposalState};
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::{
    groups_line, job_figures_words, kept_apart_line, report_lines,
};
use crate::operations::check::loads::JobFigures;
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::whatif::{Proposal, cut_off_words};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_routing::Engine;

/// The cost of the marks before a reroute, with multicast groups.
pub fn loss_lines(known: &Model) -> Vec<DetailLine> {
    let mut lines = vec![("marked", count_words(known.marks.len(), "element", "elements"))];
    if let Some(cost) = &known.cost {
        lines.push(("lost", cost.lost_words()));
        lines.extend(cost.kept_apart.map(kept_apart_line));
        lines.push(("of these", cost.cut_off_words()));
    }
    lines.extend(known.cut_off.map(|cut| ("at least", cut_off_words(cut))));
    lines.extend(known.choices.iter().map(|choices| ("choices", choices.words())));
    let groups = known.groups.as_ref().map(groups_line);
    lines.push(("groups", groups.unwrap_or_else(|| "not known: no multicast table was read".to_owned())));
    lines
}

/// The figures of the request's jobs under the engine's routes and under the tables in force.
fn job_lines(known: &Model, then: Option<&JobFigures>) -> Vec<DetailLine> {
    let asked = ("run with", engine_jobs_words(known));
    let Some(then) = then else { return vec![asked] };
    let comparison =
        known.jobs.comparison.as_ref().filter(|comparison| *comparison.jobs == *known.jobs.asked_with);
    let now = comparison.and_then(|comparison| comparison.in_force.as_ref()).map(|over| over.metrics.into());
    let now = now.map(|now: JobFigures| ("jobs now", job_figures_words(&now)));
    [asked].into_iter().chain(now).chain([("jobs then", job_figures_words(then))]).collect()
}

/// Text about the jobs in the request of engines, and whether other jobs run now.
fn engine_jobs_words(known: &Model) -> String {
    let jobs = &known.jobs;
    let is_simulated = known.look.as_ref().is_some_and(|look| look.source.starts_with("sim:"));
    let others = jobs.engines_have_other_jobs();
    match (jobs.asked_with.is_empty(), others) {
        (true, true) if is_simulated => {
            "no jobs: those of this simulated fabric are in no list that a command could name; open 8 Jobs, then p \
             counts them"
                .to_owned()
        }
        (true, true) => "no jobs: none were known; p runs the engines with the current ones".to_owned(),
        (true, false) => "no jobs: none were known (:jobs FILE names some)".to_owned(),
        (false, true) => {
            format!("{}; other jobs run now, p runs the engines with them", jobs.asked_words)
        }
        (false, false) => jobs.asked_words.clone(),
    }
}

/// Text about the changes of a proposal, where tables in force are known.
fn change_words(known: &Model, proposal: &Proposal) -> String {
    if !known.tables {
        return format!("{NO_TABLES}, so what would change is not known");
    }
    let difference = &proposal.difference;
    format!(
        "{} entries in {} blocks on {}; {} pairs move",
        digits_in_groups(difference.entries),
        digits_in_groups(difference.blocks),
        count_words(difference.switches as usize, "switch", "switches"),
        digits_in_groups(difference.moved_pairs)
    )
}

/// The certificate of an engine's proposal, and its changes.
pub fn engine_lines(known: &Model, engine: &'static Engine) -> Vec<DetailLine> {
    let Some(ProposalState::Done { outcome, row }) = known.proposed.get(engine.id) else {
        let state = verdict_words(known, engine);
        return vec![("state", if state == "-" { NOT_RUN.to_owned() } else { state })];
    };
    let proposal = match outcome {
        Err(refusal) => return vec![("refused", refusal.to_string())],
        Ok(proposal) => proposal,
    };
    let mut lines = report_lines(&proposal.report);
    lines.push(("changes", change_words(known, proposal)));
    lines.extend(job_lines(known, row.jobs.as_ref()));
    lines.extend(proposal.transition.lines());
    lines.push(("ran", proposal.ran.sentence(engine)));
    lines.extend(row.seconds.map(|seconds| ("took", format!("{seconds:.3} s"))));
    lines.extend(proposal.remarks.iter().map(|remark| ("remark", remark.clone())));
    lines
}

const NOT_RUN: &str = "not run: p runs all of them";

/// The title and the text below the engines: whether the routes of the engine at the cursor can be pushed live, and why.
pub fn engine_reason(state: &SessionState) -> Option<(String, String)> {
    let engine = state.screens.whatif.engine()?;
    let title = |words: &str| format!("{}, {words}", engine.id);
    let Some(ProposalState::Done { outcome, .. }) = state.known.proposed.get(engine.id) else {
        return Some(match state.known.outdated_row(engine) {
            Some(outdated) => {
                (title("old"), format!("{}: {}", outdated.verdict, state.known.no_proposal_words(engine)))
            }
            None => (engine.id.to_owned(), format!("{}; {NOT_RUN}", engine.title)),
        });
    };
    let proposal = match outcome {
        Err(refusal) => return Some((title("why it has no routes"), refusal.to_string())),
        Ok(proposal) => proposal,
    };
    if !state.known.tables {
        return Some((title("pushed live"), format!("not known: {NO_TABLES}")));
    }
    let transition = &proposal.transition;
    // Only a plan has an order of writes, so its dialog may find a credit loop that is not known here.
    if transition.safe.is_none() && transition.paths_are_safe() == Some(true) {
        let text = "Old and new paths together have no credit loop. A mixture of old and new entries is not checked yet: \
                    it can have one. Apply checks it in the order of the writes, and asks before anything is written";
        return Some((title("pushed live: not checked yet"), text.to_owned()));
    }
    let words = match transition.safe {
        Some(true) => "safe to push live",
        Some(false) => "why it is unsafe to push live",
        None => "why pushed live is not known",
    };
    let mut text: Vec<String> = transition.lines().into_iter().map(|(_, text)| text).collect();
    if text.is_empty() {
        text.push(transition.short_verdict());
    }
    let adaptive = state.known.look.as_ref().is_some_and(|look| look.observation.adaptive.is_some());
    if adaptive {
        text.push("No plan is made for switches that route adaptively".to_owned());
    } else if transition.safe != Some(true) {
        text.push("Safe instead: write it while no traffic uses what changes, or in two plans where the details of Apply have a way".to_owned());
    }
    let sentences: Vec<String> = text.iter().map(|text| as_sentence(text)).collect();
    Some((title(words), sentences.join(". ")))
}

/// A text that begins with a capital, unless it begins with the name of a port.
fn as_sentence(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('[')) {
        return text.to_owned();
    }
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}
