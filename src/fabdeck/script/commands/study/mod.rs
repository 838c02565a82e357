//! `study`: routings compared over failures, seeds and traffic.

pub(crate) mod listing;
pub(crate) mod run;
pub(crate) mod slurm;
pub(crate) mod table;

use std::path::PathBuf;

use clap::Args;

use crate::script::command_entry::CommandEntry;

pub const STUDY: CommandEntry = CommandEntry::new(
    "study",
    "Compare routings over failures, seeds and traffic",
    "A study is a file: topologies, failures, engines, lanes and measures. Its cells run on this machine, or as a job array \
     of Slurm over a shared folder, with the same table in the end. docs/studies.md has the keys and the columns.",
);

/// The folder of a study.
#[derive(Debug, Args)]
pub struct StudyFolderArgs {
    /// Folder of a study, as `study run -o` makes it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
