//! `study list`, `study show` and `study status`.

use std::path::PathBuf;

use clap::Args;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::study::built_in_studies::BUILT_IN_STUDIES;
use crate::operations::study::open_study::{read_status, study_text};
use crate::operations::study::study_file::read_study;
use crate::operations::study::study_status::{CellCost, StudyStatus, time_words};
use crate::script::answer::{Lines, SortedKeys, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::observe::digits_in_groups;

pub const STUDY_LIST: CommandEntry = CommandEntry::new(
    "study list",
    "List the built-in studies",
    "Each is a file of the package; `study show NAME` prints it, as a beginning for a study of your own.",
)
.examples(&["fabdeck study list"])
.runs(&CommandFunction(list))
.json(&[JsonSchema::answer::<StudiesAnswer<'_>>("studies").without_source()]);

pub const STUDY_SHOW: CommandEntry = CommandEntry::new(
    "study show",
    "Print the file of a study",
    "The file of a built-in study, of a study file, or of the folder of a study. Nothing runs.",
)
.examples(&["fabdeck study show domke-small"])
.runs(&CommandFunction(show))
.json(&[JsonSchema::answer::<StudyFileAnswer>("study-file").without_source()]);

pub const STUDY_STATUS: CommandEntry = CommandEntry::new(
    "study status",
    "How far a study is",
    "The number of cells by status, of those that are left, and the time that these take one thread at the pace of \
     cells like them so far. Other work on the machine makes it longer. Other processes may be running the study.",
)
.examples(&["fabdeck study status results"])
.runs(&CommandFunction(status))
.json(&[JsonSchema::answer::<StatusAnswer>("study-status").without_source()]);

#[derive(Debug, Args)]
pub struct StudyListArgs {}

/// The folder of a study.
#[derive(Debug, Args)]
pub struct StudyFolderArgs {
    /// Folder of a study, as `study run -o` makes it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct StudyShowArgs {
    /// Name of a built-in study, a study file, or the folder of a study
    #[arg(value_name = "STUDY")]
    pub study: String,
}

json_type! {
    struct StudyEntry<'a> {
        name: &'a str,
        about: String,
    }
}

json_answer! {
    struct StudiesAnswer<'a> {
        studies: Lines<'a, StudyEntry<'a>>,
    }

    struct StudyFileAnswer {
        study: String,
        text: String,
    }

    struct StatusAnswer {
        status: SortedKeys<StudyStatus>,
    }
}

fn list(context: &mut Context<'_, '_>, _: &StudyListArgs) -> Result<Exit, Failure> {
    let about = |text| read_study(text).map_or_else(|_| String::new(), |study| study.about);
    if context.output.json {
        let entry = |study: &'static crate::operations::study::built_in_studies::BuiltInStudy| StudyEntry {
            name: study.name,
            about: about(study.text),
        };
        let studies = Lines::of(BUILT_IN_STUDIES.iter().map(entry));
        context.write_plain_answer("studies", StudiesAnswer { studies })?;
    } else {
        let lines: Vec<_> = BUILT_IN_STUDIES.iter().map(|study| (study.name, about(study.text))).collect();
        context.output.write_pairs(&lines)?;
    }
    Ok(Exit::Done)
}

fn show(context: &mut Context<'_, '_>, args: &StudyShowArgs) -> Result<Exit, Failure> {
    let text = study_text(&args.study)?;
    match context.output.json {
        true => {
            context.write_plain_answer("study-file", StudyFileAnswer { study: args.study.clone(), text })?;
        }
        false => write!(context.output.out, "{}", text)?,
    }
    Ok(Exit::Done)
}

fn status(context: &mut Context<'_, '_>, args: &StudyFolderArgs) -> Result<Exit, Failure> {
    let status = read_status(context.env(), &args.folder)?;
    if context.output.json {
        context.write_plain_answer("study-status", StatusAnswer { status: SortedKeys(status) })?;
        return Ok(Exit::Done);
    }
    let mut lines =
        vec![("study", status.study.clone()), ("cells", digits_in_groups(status.cells).to_string())];
    lines.push(("results", status_words(&status.statuses)));
    let left = digits_in_groups(status.left).to_string();
    lines.push((
        "left",
        match status.left_seconds.filter(|_| status.left > 0) {
            Some(seconds) => {
                format!("{left}, about {} for one thread at the pace so far", time_words(seconds))
            }
            None => left,
        },
    ));
    lines.extend(cost_lines(&status.costs, context.globals.verbose));
    lines.push(("segments", digits_in_groups(status.segments).to_string()));
    if status.damaged > 0 {
        let damaged = digits_in_groups(status.damaged);
        lines.push(("damage", format!("{damaged} records have a wrong CRC; their cells run again")));
    }
    if status.foreign > 0 {
        let foreign = digits_in_groups(status.foreign);
        lines.push(("foreign", format!("{foreign} files are no segments of this version and are left out")));
    }
    context.output.write_pairs(&lines)?;
    Ok(Exit::Done)
}

/// What cells took, a line for each topology, engine and measure; without `-v` the dearest alone.
fn cost_lines(costs: &[CellCost], all: bool) -> Vec<(&'static str, String)> {
    let shown = if all { costs.len() } else { costs.len().min(1) };
    let line = |cost: &CellCost| {
        let CellCost { topology, engine, measure, cells, seconds, mean_seconds } = cost;
        format!(
            "{topology}, {engine}, {measure}: {} s for {} cells, {mean_seconds:.3} s each",
            digits_in_groups(format_args!("{seconds:.1}")),
            digits_in_groups(cells)
        )
    };
    let titles = std::iter::once("costs").chain(std::iter::repeat(""));
    let mut lines: Vec<_> = titles.zip(costs[..shown].iter().map(line)).collect();
    if let Some((_, words)) = lines.last_mut().filter(|_| shown < costs.len()) {
        words.push_str(&format!("; with -v {} others", costs.len() - shown));
    }
    lines
}

/// Cells by status, `52 done, 3 refused`.
pub fn status_words(statuses: &std::collections::BTreeMap<String, u64>) -> String {
    let words: Vec<String> =
        statuses.iter().map(|(status, count)| format!("{} {status}", digits_in_groups(count))).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
