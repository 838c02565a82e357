//! `study table`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Listing;
use crate::catalogue::query::Columns;
use crate::catalogue::summary::count_words;
use crate::operations::study::linear_fit::{STUDY_FITS, fit_rows};
use crate::operations::study::open_study::{StudyTable, read_table};
use crate::operations::study::study_row::STUDY_CELLS;
use crate::operations::study::table_export::{TableForm, export_table};
use crate::operations::view_id::ViewId;
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::row_args::RowArgs;
use crate::script::rows::FIELDS_HELP;
use crate::system::output_file;

pub const STUDY_TABLE: CommandEntry = CommandEntry::new(
    "study table",
    "The table of a study, or its fits",
    "A row for each cell with a result, in the order of the study. With -o all columns go into a file: FILE.parquet, FILE.csv or \
     FILE.jsonl; --fields, --filter, --sort and --top apply there too. With --fit the rows are lines of least squares of \
     throughput over the number of failures, for each engine and topology, with the engine that comes to lie above. Without \
     the seconds of engines (--no-times) the table has the same bytes however the study was run.",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck study table results",
    "fabdeck study table results --fit",
    "fabdeck --no-times study table results -o results.parquet",
])
.runs(&CommandFunction(run))
.filter(FilterUse::Rows)
.json(&[
    JsonSchema::rows::<StudyTableAnswer>(ViewId::StudyCells),
    JsonSchema::rows::<StudyTableAnswer>(ViewId::StudyFits),
]);

#[derive(Debug, Args)]
pub struct StudyTableArgs {
    /// Folder of a study, as `study run -o` makes it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Lines of least squares instead of cells
    #[arg(long)]
    pub fit: bool,
    /// Output file, by its end: .parquet, .csv or .jsonl
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub rows: RowArgs,
}

json_answer! {
    /// What JSON has beside the rows.
    struct StudyTableAnswer {
        study: String,
        cells: u64,
        missing: u64,
    }
}

fn run(context: &mut Context<'_, '_>, args: &StudyTableArgs) -> Result<Exit, Failure> {
    let view = if args.fit { ViewId::StudyFits } else { ViewId::StudyCells };
    if args.rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(view)?;
        return Ok(Exit::Done);
    }
    let form = args.output.as_deref().map(TableForm::of_file).transpose()?;
    let table = read_table(context.env(), &args.folder)?;
    let missing = table.cells - table.rows.len() as u64;
    let fits = if args.fit { fit_rows(&table.rows) } else { Vec::new() };
    let listing: Box<dyn Listing + '_> = match args.fit {
        true => Box::new(STUDY_FITS.of(&fits)),
        false => Box::new(STUDY_CELLS.of(&table.rows)),
    };
    match (form, args.output.as_deref()) {
        (Some(form), Some(file)) => write_file(context, args, (form, file), &table, listing.as_ref())?,
        _ => {
            let answer = StudyTableAnswer { study: table.study.name.clone(), cells: table.cells, missing };
            let source = args.folder.display().to_string();
            let query = context.query(&args.rows);
            context.write_rows_of(view.id(), &source, listing.as_ref(), &query, answer)?;
        }
    }
    if missing > 0 && !context.output.json {
        let cells = count_words(missing as usize, "cell has", "cells have");
        context.output.print_message(&format!("{cells} no result yet; `study run` continues"));
    }
    let unread = table.segments.damaged + table.segments.foreign;
    if unread > 0 && missing > 0 && !context.output.json {
        context
            .output
            .print_message("some results cannot be read (`study status` counts them); their cells run again");
    }
    Ok(Exit::Done)
}

fn write_file(
    context: &mut Context<'_, '_>,
    args: &StudyTableArgs,
    (form, file): (TableForm, &Path),
    table: &StudyTable,
    listing: &dyn Listing,
) -> Result<(), Failure> {
    let selection = context.query(&args.rows).select(listing, Columns::All)?;
    let bytes = export_table(form, listing, &selection, &table.study.name)?;
    output_file::write(context.output.out, file, &bytes)?;
    let rows = count_words(selection.rows.len(), "row", "rows");
    context.output.print_message(&format!("{} is written: {rows}", file.display()));
    Ok(())
}
