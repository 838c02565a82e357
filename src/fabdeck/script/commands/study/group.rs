//! `study`, the group.

use crate::script::command_entry::CommandEntry;

pub const STUDY: CommandEntry = CommandEntry::new(
    "study",
    "Compare routings over failures, seeds and traffic",
    "A study is a file: topologies, failures, engines, lanes and measures. Its cells run on this machine, or as a job array \
     of Slurm over a shared folder, with the same table in the end. docs/studies.md has the keys and the columns.",
);
