//! `study plot`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::terminal_plot::draw_plot;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::catalogue::query::Columns;
use crate::catalogue::summary::count_words;
use crate::operations::study::open_study::read_table;
use crate::operations::study::plot::plot_files::{PLOT_PAGE, StudyPlots};
use crate::operations::study::study_row::{STUDY_CELLS, StudyRow};
use crate::script::answer::{Lines, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::row_args::RowArgs;
use crate::system::output_file;

pub const STUDY_PLOT: CommandEntry = CommandEntry::new(
    "study plot",
    "Draw the results of a study: SVG pictures and one HTML page, or in the terminal",
    "Whatever the rows have values for: bars of throughput with intervals of 95 %, fits with their lines and crossings, whiskers \
     of what hosts receive, latency against accepted traffic, the edge forwarding index and throughput over lanes, lost pairs \
     over failures, seconds of engines. Cells without a value (deadlock, incomplete, refused) are named below each figure. \
     The page has all figures with the tables, seeds, versions and commands that make it again; it needs no network and no \
     scripts, and is light or dark as its reader's screen is. --terminal draws the same figures in the shell. --filter takes \
     the fields of `study table`.",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck study plot results -o plots",
    "fabdeck study plot results --terminal --filter topology~torus",
])
.runs(&CommandFunction(run))
.filter(FilterUse::Rows)
.json(&[JsonSchema::answer::<StudyPlotAnswer<'_>>("study-plot").without_source()]);

#[derive(Debug, Args)]
pub struct StudyPlotArgs {
    /// Folder of a study, as `study run -o` makes it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Folder for the pictures and the page; it is made if it is missing
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "terminal")]
    pub output: Option<PathBuf>,
    /// Draw in the terminal, as wide as it is
    #[arg(long, conflicts_with = "output")]
    pub terminal: bool,
    /// Overwrite the plots of an earlier run
    #[arg(long)]
    pub force: bool,
}

json_type! {
    struct PlotEntry {
        file: String,
        title: String,
    }
}

json_answer! {
    struct StudyPlotAnswer<'a> {
        study: String,
        page: String,
        figures: Lines<'a, PlotEntry>,
    }
}

fn run(context: &mut Context<'_, '_>, args: &StudyPlotArgs) -> Result<Exit, Failure> {
    if args.terminal && context.output.json {
        return Err(Failure::usage(
            "FD-9451: a plot in the terminal has no JSON; `study table --json` has the values",
        ));
    }
    let table = read_table(context.env(), &args.folder)?;
    let selection = context.query(&RowArgs::default()).select(&STUDY_CELLS.of(&table.rows), Columns::All)?;
    let rows: Vec<StudyRow> = selection.rows.iter().map(|row| table.rows[*row].clone()).collect();
    let filters = &context.globals.filter;
    let plots = StudyPlots::new((&table.study, &table.text), &rows, table.cells, filters)?;
    match args.output.as_deref() {
        Some(folder) => write_plots(context, &plots, (folder, args.force))?,
        None => {
            let utf8 = context.output.page.has_utf8() && !context.globals.ascii;
            let width = context.output.page.plot_width();
            for figure in &plots.figures {
                write!(context.output.out, "{}", draw_plot(figure, width, utf8))?;
            }
        }
    }
    let missing = table.cells - table.rows.len() as u64;
    if missing > 0 && !context.output.json {
        let cells = count_words(missing as usize, "cell has", "cells have");
        context.output.print_message(&format!("{cells} no result yet; `study run` continues"));
    }
    Ok(Exit::Done)
}

fn write_plots(
    context: &mut Context<'_, '_>,
    plots: &StudyPlots<'_>,
    (folder, force): (&Path, bool),
) -> Result<(), Failure> {
    let page = folder.join(PLOT_PAGE);
    output_file::refuse_unless_forced(&page, force)?;
    let failed = |path: &Path, error: &std::io::Error| Failure::writing(&path.display().to_string(), error);
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let files = plots.files();
    for file in &files {
        let path = folder.join(&file.name);
        output_file::replace(&path, file.content.as_bytes()).map_err(|error| failed(&path, &error))?;
    }
    let page = page.display().to_string();
    if context.output.json {
        let figures = files.into_iter().filter(|file| file.name != PLOT_PAGE);
        let figures = Lines::of(figures.map(|file| PlotEntry { file: file.name, title: file.title }));
        let study = plots.study.name.clone();
        context.write_plain_answer("study-plot", StudyPlotAnswer { study, page, figures })?;
    } else {
        let figures = count_words(plots.figures.len(), "figure", "figures");
        context.output.print_message(&format!("{page} is written with {figures}; any browser opens it"));
    }
    Ok(())
}
