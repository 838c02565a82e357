//! The script of a Slurm job array that runs a study, one shard for each task.

use std::path::Path;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::system::output_file;

/// The default MaxArraySize of Slurm. A task's index stays below it.
pub const USUAL_ARRAY_SIZE: u32 = 1001;

/// How the array is run.
#[derive(Clone, Debug)]
pub struct ArrayOptions<'a> {
    /// Number of tasks.
    pub tasks: u32,
    /// Most tasks at one time, `%LIMIT` of the array.
    pub at_once: Option<u32>,
    /// MaxArraySize of the cluster (`scontrol show config`).
    pub max_array_size: u32,
    pub partition: Option<&'a str>,
    /// Time of a task as Slurm writes it.
    pub time: &'a str,
    /// The program to run.
    pub program: &'a Path,
}

/// Writes `study.sbatch` into the folder and returns the line that submits it. The folder is named by its whole path,
/// because tasks start elsewhere.
pub fn write_script(folder: &Path, options: &ArrayOptions<'_>) -> Result<String, Failure> {
    if options.tasks > options.max_array_size.saturating_sub(1).max(1) {
        let what = format!(
            "FD-9440: {} tasks are more than this cluster takes: MaxArraySize is {}, so give at most {}; `scontrol show config` \
             prints it, and --max-array-size names another",
            options.tasks,
            options.max_array_size,
            options.max_array_size.saturating_sub(1)
        );
        return Err(Failure::usage(what));
    }
    let folder = folder.canonicalize().map_err(|error| {
        Failure::new(
            Exit::BadInput,
            format!("FD-9441: {}: {error}; name the folder of a study", folder.display()),
        )
    })?;
    let file = folder.join("study.sbatch");
    output_file::replace(&file, script(&folder, options).as_bytes())
        .map_err(|error| Failure::writing(&file.display().to_string(), &error))?;
    Ok(format!("sbatch {}", quoted(&file)))
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+".contains(sign);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

fn script(folder: &Path, options: &ArrayOptions<'_>) -> String {
    let ArrayOptions { tasks, at_once, partition, time, program, .. } = options;
    let at_once = at_once.map_or_else(String::new, |limit| format!("%{limit}"));
    let partition = partition.map_or_else(String::new, |name| format!("#SBATCH --partition={name}\n"));
    let (folder, program) = (quoted(folder), quoted(program));
    format!(
        "#!/bin/sh\n\
         # Runs the study of this folder: one shard for each task, one processor each. A task that ends early leaves its results;\n\
         # submit the array again for the rest.\n\
         #SBATCH --job-name=fabdeck-study\n\
         #SBATCH --array=0-{last}{at_once}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task=1\n\
         #SBATCH --time={time}\n\
         # SIGTERM two minutes before the end: the cells under way are left, everything before is synced.\n\
         #SBATCH --signal=TERM@120\n\
         {partition}#SBATCH --output=/dev/null\n\
         #SBATCH --error={folder}/task-%a.err\n\
         export RAYON_NUM_THREADS=1\n\
         exec srun --ntasks=1 {program} study run {folder} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\" --threads 1\n",
        last = tasks.saturating_sub(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_names_its_shards_and_the_line_submits_it() {
        let folder = tempfile::tempdir().unwrap();
        let options = ArrayOptions {
            tasks: 4,
            at_once: Some(2),
            max_array_size: USUAL_ARRAY_SIZE,
            partition: Some("all"),
            time: "04:00:00",
            program: Path::new("/usr/bin/fabdeck"),
        };
        let line = write_script(folder.path(), &options).unwrap();
        let path = folder.path().canonicalize().unwrap();
        assert_eq!(line, format!("sbatch {}/study.sbatch", path.display()));
        let text = std::fs::read_to_string(path.join("study.sbatch")).unwrap();
        for part in [
            "#SBATCH --array=0-3%2\n",
            "#SBATCH --partition=all\n",
            "--shard \"$SLURM_ARRAY_TASK_ID/4\" --threads 1\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let most = ArrayOptions { tasks: 1001, ..options.clone() };
        assert!(write_script(folder.path(), &most).is_err_and(|failure| failure.exit == Exit::Usage));
        assert!(write_script(&path.join("absent"), &options).is_err());
    }
}
