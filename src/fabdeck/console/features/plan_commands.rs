//! Command lines that write and apply the plan of an engine.

use std::path::Path;

use crate::catalogue::shell_words::quote_for_shell;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::jobs::job_words;
use crate::console::model::state::SessionState;
use crate::operations::changes::changer::WriteAccess;
use crate::operations::plans::plan_request::StagedCommands;
use fabdeck_routing::Engine;

/// The option that keeps a command from requesting path records, because the console requests none.
pub(crate) fn lanes_argument(look: &Snapshot) -> &'static str {
    match look.observation.reading.is_some() && look.routes.is_none() {
        true => " --lanes-in-force assumed",
        false => "",
    }
}

/// The command line that writes the plan of an engine to a file.
pub fn route_line(state: &SessionState, engine: &Engine, file: &str) -> String {
    let marks = state.marks_as_arguments();
    let lanes = state.snapshot().map_or("", |look| lanes_argument(look));
    let jobs = job_words::jobs_argument(state);
    state.command_line(&format!(
        "route --engine {}{marks}{lanes}{jobs} -o {}",
        engine.id,
        quote_for_shell(file)
    ))
}

/// The command line that writes the plan of an engine in five phases to a file.
pub fn phased_route_line(state: &SessionState, engine: &Engine, file: &str) -> String {
    let marks = state.marks_as_arguments();
    let lanes = state.snapshot().map_or("", |look| lanes_argument(look));
    state.command_line(&format!(
        "route --engine {}{marks}{lanes} --lanes 1 --phases -o {}",
        engine.id,
        quote_for_shell(file)
    ))
}

/// The command line that applies the plan in a file.
pub fn apply_line(state: &SessionState, file: &str) -> String {
    let opted = if state.writing == WriteAccess::Asked { "--allow-write " } else { "" };
    state.command_line(&format!("{opted}apply {}", quote_for_shell(file)))
}

/// The commands that reach the routes of an engine in two plans, with files beside that of the single plan.
pub fn staged_commands(state: &SessionState, engine: &Engine, file: &str) -> StagedCommands {
    let path = Path::new(file);
    let end = path.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let beside = |which: &str| path.with_file_name(format!("{stem}-{which}{end}")).display().to_string();
    let [first, second] = ["first", "second"].map(beside);
    let lanes = state.snapshot().map_or("", |look| lanes_argument(look));
    // The intermediate plan writes only forwarding tables, so it has one lane.
    let behind = format!("{}{lanes} --lanes 1 -o {}", state.marks_as_arguments(), quote_for_shell(&first));
    let confirm = || state.command_line_without_source("confirm ID");
    StagedCommands {
        first: [state.command_line("route --engine "), behind],
        others: vec![
            apply_line(state, &first),
            confirm(),
            route_line(state, engine, &second),
            apply_line(state, &second),
            confirm(),
        ],
    }
}

/// The command line that runs the requested engines with the current marks. `whatif` requests no path records
/// either.
pub fn whatif_line(state: &SessionState) -> Option<String> {
    let asked: Vec<&str> = state.engines().keys().copied().collect();
    let engines = if asked.is_empty() { String::new() } else { format!(" --engine {}", asked.join(",")) };
    let jobs = job_words::jobs_argument(state);
    Some(state.command_line(&format!("whatif{}{engines}{jobs}", state.marks_as_arguments())))
}
