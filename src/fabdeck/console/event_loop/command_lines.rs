//! Command lines that show what the screen shows, or that repeat the last action.

use crate::catalogue::shell_words::quote_for_shell;
use crate::console::features::hotspots::screen::HotspotsView;
use crate::console::features::jobs::{job_words, running_jobs};
use crate::console::features::plan_commands::{route_line, whatif_line};
use crate::console::features::screens::ScreenId;
use crate::console::features::whatif::screen::WhatifPane;
use crate::console::model::state::SessionState;
use crate::operations::changes::changer::WriteAccess;
use fabdeck_routing::Engine;

/// The same command line with the engines that the list shows, in its order.
fn listed_line(state: &SessionState) -> Option<String> {
    let table = state.current().table();
    let shown =
        (state.screen == ScreenId::Whatif && state.screens.whatif.pane == WhatifPane::Engines).then(|| {
            table
                .selection
                .rows
                .iter()
                .filter_map(|row| state.screens.whatif.engine_at(*row))
                .collect::<Vec<_>>()
        });
    let asked =
        |engine: &&&'static Engine| state.engines().is_empty() || state.engines().contains_key(engine.id);
    let shown: Vec<&str> = shown?.iter().filter(asked).map(|engine| engine.id).collect();
    let own = !table.filter.is_empty() || table.sort.is_some();
    let marks = state.marks_as_arguments();
    let jobs = job_words::jobs_argument(state);
    (own && !shown.is_empty())
        .then(|| state.command_line(&format!("whatif{marks} --engine {}{jobs}", shown.join(","))))
}

/// The command line that follows a path under a proposal. It needs the tables in the plan, so it writes the
/// plan first where no file has it.
fn proposed_path(state: &SessionState) -> Option<String> {
    let paths = &state.screens.paths;
    let engine = paths.under.filter(|_| state.screen == ScreenId::Paths && paths.users.is_none())?;
    let (from, to) = (quote_for_shell(paths.from.as_ref()?), quote_for_shell(paths.to.as_ref()?));
    let follow =
        |file: &str| state.command_line(&format!("trace {from} {to} --tables {}", quote_for_shell(file)));
    if let Some(written) = state.plan_file(engine) {
        return Some(follow(&written.display().to_string()));
    }
    let file = state.plan_name(engine.id);
    Some(format!("{}; {}", route_line(state, engine, &file), follow(&file)))
}

pub fn equivalent_line(state: &SessionState) -> Option<String> {
    // For selected rows, the command line shows the cost of their failure.
    if let (Some(look), false) = (state.snapshot(), state.selected().is_empty()) {
        let names = |what| fabdeck_fabric::Element::from_id(look.fabric(), &look.names, what).to_string();
        let marks = state.selected().iter().map(|what| format!(" --fail {}", quote_for_shell(&names(*what))));
        return Some(state.command_line(&format!("whatif{}", marks.collect::<String>())));
    }
    if state.screen == ScreenId::Whatif {
        return match state.screens.whatif.page {
            Some(engine) => Some(route_line(state, engine, &state.plan_name(engine.id))),
            None => listed_line(state).or_else(|| whatif_line(state)),
        };
    }
    if state.screen == ScreenId::Changes {
        return (state.writing != WriteAccess::Own).then(|| state.command_line_without_source("changes"));
    }
    if let Some(lines) = proposed_path(state) {
        return Some(lines);
    }
    let mut line = state.command_line(&state.current().command(&state.known)?);
    let table = state.current().table();
    // Fields of a list that no command prints cannot be in a command line.
    if !state.current().is_printed() {
        return Some(line);
    }
    if !table.filter.is_empty() {
        line.push_str(&format!(" --filter {}", quote_for_shell(&table.filter)));
    }
    if let Some(order) = table.sort_words() {
        line.push_str(&format!(" --sort {order}"));
    }
    Some(line)
}

/// The differences between the copied command line and the screen.
pub fn line_differences(state: &SessionState) -> Vec<&'static str> {
    let table = state.current().table();
    let hot = state.screen == ScreenId::Hotspots;
    let sorted = table.sort.is_some() || state.screens.hotspots.view != HotspotsView::Verdicts;
    let own = hot && state.selected().is_empty();
    let listed = state.screen == ScreenId::Changes && (!table.filter.is_empty() || table.sort.is_some());
    let all = listed.then_some("without filter and order, which the command does not have");
    let without = match (own && !table.filter.is_empty(), own && sorted) {
        (true, true) => Some("without filter and order, which the command does not have"),
        (true, false) => Some("without the filter, which the command does not have"),
        (false, true) => Some("without the order, which the command does not have"),
        (false, false) => None,
    };
    let reading = state.snapshot().and_then(|look| look.observation.reading.as_ref());
    let simulated = reading.is_some_and(|reading| reading.virtual_time) && state.known.watch.sweeps > 0;
    let anew = simulated.then_some("with a new simulator, at the time 0");
    let jobs = running_jobs::has_unnamed_jobs(state).then_some("without the jobs, which are in no file");
    all.into_iter().chain(without).chain(anew).chain(jobs).collect()
}
