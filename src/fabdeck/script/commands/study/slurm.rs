//! `study slurm`.

use std::path::PathBuf;

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::study::open_study::{OpenStudy, open_to_run};
use crate::operations::study::slurm_script::{ArrayOptions, USUAL_ARRAY_SIZE, slurm_seconds, write_script};
use crate::operations::study::study_status::time_words;
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;

pub const STUDY_SLURM: CommandEntry = CommandEntry::new(
    "study slurm",
    "Write the script of a job array that runs a study",
    "Makes the folder of the study, writes `study.sbatch` into it and prints the line that submits it. Nothing is submitted. Each \
     task runs one shard with one processor; the folder has to be on a file system that all nodes share. A task ends cleanly \
     at SIGTERM, and the array can be submitted again for the rest.",
)
.danger(Danger::WritesFile)
.examples(&["fabdeck study slurm tsubame2 -o /shared/tsubame2 --array 1000 --at-once 200"])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<StudySlurmAnswer>("study-slurm").without_source()]);

#[derive(Debug, Args)]
pub struct StudySlurmArgs {
    /// Name of a built-in study, a study file, or the folder of a study (default with --source: next-failures)
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
    /// Folder of the results, on a shared file system (default: that of the study, if STUDY is one)
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Number of tasks, one shard each
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    pub array: u32,
    /// Most tasks at one time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
    /// MaxArraySize of the cluster, as `scontrol show config` prints it
    #[arg(long, value_name = "N", default_value_t = USUAL_ARRAY_SIZE)]
    pub max_array_size: u32,
    /// Partition of the tasks
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Memory of a task: 1G (default: what the cluster gives)
    #[arg(long, value_name = "SIZE", value_parser = slurm_memory)]
    pub memory: Option<String>,
    /// Time of a task, as Slurm writes it
    #[arg(long, value_name = "TIME", default_value = "04:00:00", value_parser = |text: &str| slurm_seconds(text).map(|_| text.to_owned()))]
    pub time: String,
    /// Replace the study of the folder; results of cells that both have stay
    #[arg(long)]
    pub update: bool,
}

json_answer! {
    struct StudySlurmAnswer {
        submit: String,
        tasks: u32,
        cells: u64,
    }
}

/// Accepts a number of megabytes, or one with a unit.
fn slurm_memory(text: &str) -> Result<String, String> {
    let digits = text.strip_suffix(['K', 'M', 'G', 'T']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|sign| sign.is_ascii_digit());
    is_number
        .then(|| text.to_owned())
        .ok_or_else(|| format!("'{text}' is no memory of Slurm: write 1G or 800M"))
}

fn run(context: &mut Context<'_, '_>, args: &StudySlurmArgs) -> Result<Exit, Failure> {
    let OpenStudy { plan, folder } =
        open_to_run(&mut context.operation(), args.study.as_deref(), args.output.as_deref(), args.update)?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("fabdeck"));
    let submit = write_script(
        &folder.path,
        &ArrayOptions {
            tasks: args.array,
            at_once: args.at_once,
            max_array_size: args.max_array_size,
            partition: args.partition.as_deref(),
            memory: args.memory.as_deref(),
            time: &args.time,
            program: &program,
        },
    )?;
    let (wall, time) = (plan.study.settings.wall, slurm_seconds(&args.time).unwrap_or(0));
    if wall.as_secs() > time {
        context.output.print_message(&format!(
            "a cell may take {} (`wall` of the study) and a task only {}: longer cells never end; give more --time",
            time_words(wall.as_secs_f64()),
            time_words(time as f64)
        ));
    }
    match context.output.json {
        true => {
            let cells = plan.cell_count() as u64;
            context
                .write_plain_answer("study-slurm", StudySlurmAnswer { submit, tasks: args.array, cells })?;
        }
        false => writeln!(context.output.out, "{submit}")?,
    }
    Ok(Exit::Done)
}
