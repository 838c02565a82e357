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
    /// Memory of a task as Slurm writes it; `None`: what the cluster gives.
    pub memory: Option<&'a str>,
    /// Time of a task as Slurm writes it.
    pub time: &'a str,
    /// The program to run.
    pub program: &'a Path,
}

/// The seconds of a time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on.
pub fn slurm_seconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no time of Slurm: write 30 (minutes), 10:00, 04:00:00 or 1-12");
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days), rest),
        None => (None, text),
    };
    let parts: Vec<&str> = rest.split(':').collect();
    let [first, second, third]: [&str; 3] = match (days, parts[..].len()) {
        (Some(_), 1) => [parts[0], "0", "0"],
        (Some(_), 2) => [parts[0], parts[1], "0"],
        (None, 1) => ["0", parts[0], "0"],
        (None, 2) => ["0", parts[0], parts[1]],
        (_, 3) => [parts[0], parts[1], parts[2]],
        _ => return Err(wrong()),
    };
    let number = |digits: &str| {
        let plain =
            !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|sign| sign.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|_| plain).ok_or_else(wrong)
    };
    let days = days.map_or(Ok(0), number)?;
    Ok(days * 86_400 + number(first)? * 3600 + number(second)? * 60 + number(third)?)
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
    let ArrayOptions { tasks, at_once, partition, memory, time, program, .. } = options;
    let at_once = at_once.map_or_else(String::new, |limit| format!("%{limit}"));
    let partition = partition.map_or_else(String::new, |name| format!("#SBATCH --partition={name}\n"));
    let memory = memory.map_or_else(String::new, |memory| format!("#SBATCH --mem={memory}\n"));
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
         {partition}{memory}#SBATCH --output=/dev/null\n\
         #SBATCH --error={folder}/task-%A-%a.err\n\
         export RAYON_NUM_THREADS=1\n\
         exec srun --ntasks=1 {program} study run {folder} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\" --threads 1\n",
        last = tasks.saturating_sub(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_slurm() {
        for (text, seconds) in [
            ("30", 1800),
            ("10:30", 630),
            ("04:00:00", 14_400),
            ("1-12", 129_600),
            ("2-0:30", 174_600),
            ("1-1:1:1", 90_061),
        ] {
            assert_eq!(slurm_seconds(text), Ok(seconds), "{text}");
        }
        for text in ["tomorrow", "", "-", "1-", "4h", "1:2:3:4", "1-2:3:4:5", "+3"] {
            assert!(slurm_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_script_names_its_shards_and_the_line_submits_it() {
        let folder = tempfile::tempdir().unwrap();
        let options = ArrayOptions {
            tasks: 4,
            at_once: Some(2),
            max_array_size: USUAL_ARRAY_SIZE,
            partition: Some("all"),
            memory: Some("1G"),
            time: "04:00:00",
            program: Path::new("/usr/bin/fabdeck"),
        };
        let line = write_script(folder.path(), &options).unwrap();
        let path = folder.path().canonicalize().unwrap();
        assert_eq!(line, format!("sbatch {}/study.sbatch", path.display()));
        let text = std::fs::read_to_string(path.join("study.sbatch")).unwrap();
        for part in [
            "#SBATCH --array=0-3%2\n",
            "#SBATCH --partition=all\n#SBATCH --mem=1G\n",
            "--shard \"$SLURM_ARRAY_TASK_ID/4\" --threads 1\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let most = ArrayOptions { tasks: 1001, ..options.clone() };
        assert!(write_script(folder.path(), &most).is_err_and(|failure| failure.exit == Exit::Usage));
        assert!(write_script(&path.join("absent"), &options).is_err());
    }
}
