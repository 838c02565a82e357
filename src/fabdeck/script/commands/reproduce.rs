//! `reproduce`: the papers' tables and figures, computed anew.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::catalogue::query::{Columns, Query};
use crate::operations::reproduction::headline::Headline;
use crate::operations::reproduction::headline_table::find_headlines;
use crate::operations::reproduction::reproduction_page::write_page;
use crate::operations::reproduction::reproduction_row::{REPRODUCTION, ReproductionRow};
use crate::operations::reproduction::reproduction_run::{
    Reproduction, ReproductionCounts, ReproductionOptions, count_rows, reproduce,
};
use crate::operations::study::table_export::{TableForm, export_table};
use crate::operations::view_id::ViewId;
use crate::script::answer::{Lines, SortedKeys, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::row_args::RowArgs;
use crate::script::rows::FIELDS_HELP;
use crate::system::output_file;

pub const REPRODUCE: CommandEntry = CommandEntry::new(
    "reproduce",
    "Compute the papers' tables and figures anew, beside their values",
    "A row for each value: the paper's, ours, how the two have to relate, and whether that holds. A value that cannot be \
     compared has its reason. ID names a table or figure (`opt-II`) or a paper (`opt`); without ID all are computed, which \
     takes hours. With --quick fewer seeds and samples are taken, and each row says so; that takes minutes. The same \
     command gives the same rows; times are left out with --no-times. The exit code is 2 if a row that must hold does not. \
     With -o the rows go into a folder too: reproduction.md, .csv and .jsonl. docs/reproduction.md is such a page.",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck reproduce mlid-10 sftree-3",
    "fabdeck reproduce --list",
    "fabdeck --no-times reproduce opt-I --quick -o results",
])
.runs(&CommandFunction(run))
.filter(FilterUse::Rows)
.json(&[
    JsonSchema::rows::<ReproductionAnswer<'_>>(ViewId::Reproduction),
    JsonSchema::answer::<HeadlinesAnswer<'_>>("headlines").without_source().titled("reproduce --list"),
]);

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Tables and figures, as --list names them, or papers (default: all)
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// List the tables and figures, and compute nothing
    #[arg(long, conflicts_with_all = ["quick", "output", "fields", "sort", "top"])]
    pub list: bool,
    /// Take fewer seeds and samples
    #[arg(long)]
    pub quick: bool,
    /// Folder for the rows as Markdown, CSV and JSON Lines; it is made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub rows: RowArgs,
}

json_type! {
    struct HeadlineEntry<'a> {
        id: &'a str,
        place: &'a str,
        shows: &'a str,
        inputs: &'a str,
    }
}

json_answer! {
    struct HeadlinesAnswer<'a> {
        headlines: Lines<'a, HeadlineEntry<'a>>,
    }

    /// What JSON has beside the rows.
    struct ReproductionAnswer<'a> {
        quick: bool,
        counts: SortedKeys<ReproductionCounts>,
        /// Headlines that a signal left; all others are whole.
        left: Vec<&'a str>,
    }
}

fn run(context: &mut Context<'_, '_>, args: &ReproduceArgs) -> Result<Exit, Failure> {
    if args.rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(ViewId::Reproduction)?;
        return Ok(Exit::Done);
    }
    let headlines = find_headlines(&args.ids)?;
    if args.list {
        return list(context, &headlines);
    }
    let query = context.query(&args.rows);
    query.check(&REPRODUCTION.of(&[]))?;
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::writing(&folder.display().to_string(), &error))?;
    }
    let options = ReproductionOptions { quick: args.quick, times: !context.options.no_times };
    let Reproduction { rows, left } = reproduce(&mut context.operation(), &headlines, options)?;
    let done = &headlines[..headlines.len() - left.len()];
    if let Some(folder) = &args.output {
        write_folder(context, folder, (done, &rows), options)?;
    }
    let counts = count_rows(&rows);
    let left: Vec<&str> = left.iter().map(|headline| headline.id).collect();
    let answer = ReproductionAnswer { quick: args.quick, counts: SortedKeys(counts), left: left.clone() };
    context.write_rows_of(ViewId::Reproduction.id(), "papers", &REPRODUCTION.of(&rows), &query, answer)?;
    if !context.output.json {
        let ReproductionCounts { headlines, row_count, holds, differs, cannot_be_compared, findings, .. } =
            counts;
        context.output.print_message(&format!(
            "{row_count} rows of {headlines} headlines: {holds} hold, {differs} differ, {cannot_be_compared} cannot be compared; \
             {findings} that must hold do not"
        ));
    }
    if !left.is_empty() {
        let words = left.join(" ");
        context
            .output
            .print_message(&format!("the run was ended; `fabdeck reproduce {words}` computes the rest"));
        return Ok(Exit::Interrupted);
    }
    Ok(if counts.findings > 0 { Exit::Findings } else { Exit::Done })
}

fn list(context: &mut Context<'_, '_>, headlines: &[&'static Headline]) -> Result<Exit, Failure> {
    if context.output.json {
        let entry = |headline: &&'static Headline| {
            let Headline { id, place, shows, inputs, .. } = **headline;
            HeadlineEntry { id, place, shows, inputs }
        };
        let headlines = Lines::of(headlines.iter().map(entry));
        context.write_plain_answer("headlines", HeadlinesAnswer { headlines })?;
    } else {
        let line = |headline: &&Headline| (headline.id, format!("{}: {}", headline.place, headline.shows));
        let lines: Vec<_> = headlines.iter().map(line).collect();
        context.output.write_pairs(&lines)?;
    }
    Ok(Exit::Done)
}

fn write_folder(
    context: &mut Context<'_, '_>,
    folder: &Path,
    (headlines, rows): (&[&'static Headline], &[ReproductionRow]),
    options: ReproductionOptions,
) -> Result<(), Failure> {
    let listing = REPRODUCTION.of(rows);
    let selection = Query::default().select(&listing, Columns::All)?;
    let page = write_page(headlines, rows, options).into_bytes();
    let mut files = vec![("reproduction.md", page)];
    for (name, form) in [("reproduction.csv", TableForm::Csv), ("reproduction.jsonl", TableForm::JsonLines)] {
        files.push((name, export_table(form, &listing, &selection, "reproduction")?));
    }
    for (name, bytes) in files {
        output_file::write(context.output.out, &folder.join(name), &bytes)?;
    }
    context.output.print_message(&format!("{} has reproduction.md, .csv and .jsonl", folder.display()));
    Ok(())
}
