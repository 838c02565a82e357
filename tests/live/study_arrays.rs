//! A study as a job array of a real Slurm: the table is that of one process.

use std::path::Path;
use std::process::{Command, Output};

use crate::jobs::Cluster;

/// Runs fabdeck in a folder.
fn fabdeck(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    let output = command.args(args).current_dir(folder).env("HOME", folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn table(folder: &Path, study: &str) -> Vec<u8> {
    let file = format!("{study}.parquet");
    fabdeck(folder, &["--no-times", "study", "table", study, "-o", &file]);
    std::fs::read(folder.join(file)).unwrap()
}

#[test]
fn an_array_of_four_tasks_has_the_table_of_one_process() {
    let cluster = Cluster::started();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    fabdeck(folder, &["study", "run", "sample", "-o", "one"]);
    // A folder with a blank: script and submitted line quote it.
    let slurm =
        ["study", "slurm", "sample", "-o", "an array", "--array", "4", "--at-once", "3", "--time", "10:00"];
    let line = String::from_utf8(fabdeck(folder, &slurm).stdout).unwrap();
    submit(&cluster, &line);
    wait_for_end(&cluster);
    let errors = task_messages(&folder.join("an array"));
    assert_eq!(errors.len(), 4, "a task has a file for its messages");
    assert!(table(folder, "an array") == table(folder, "one"), "{errors:?}");
    let segments = std::fs::read_dir(folder.join("an array/segments")).unwrap().count();
    assert!((2..=4).contains(&segments), "{segments} segments: {errors:?}");
    a_cancelled_array_goes_on(&cluster, folder);
}

/// Submits an array and returns the number of its job.
fn submit(cluster: &Cluster, line: &str) -> String {
    let submitted = cluster.slurm("sh", &["-c", line]);
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    String::from_utf8(submitted.stdout).unwrap().split_whitespace().last().unwrap().to_owned()
}

/// What each task wrote to its file of messages.
fn task_messages(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|file| file.path());
    let messages = files.filter(|file| file.extension().is_some_and(|end| end == "err"));
    messages.map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

fn wait_for_end(cluster: &Cluster) {
    cluster.wait("the array", || cluster.tool_output("squeue", &["-h"]).trim().is_empty());
}

/// `scancel` ends tasks by SIGTERM: the cells that are done stay, and the array that is submitted again does the rest.
fn a_cancelled_array_goes_on(cluster: &Cluster, folder: &Path) {
    let study = "name = \"long\"\nabout = \"an exchange under failures\"\n\
                 [[topology]]\nname = \"kary,k=4,n=3\"\n\
                 [faults]\nlinks = [\"0\", \"2%\", \"5%\"]\nseeds = \"1..6\"\n\
                 [engines]\nuse = [\"updn\", \"dfsssp\"]\nlanes = [4]\n\
                 [[measure]]\nkind = \"exchange\"\nmessage = 120\n";
    std::fs::write(folder.join("long.toml"), study).unwrap();
    fabdeck(folder, &["study", "run", "long.toml", "-o", "long one"]);
    let slurm = ["study", "slurm", "long.toml", "-o", "long array", "--array", "2", "--time", "10:00"];
    let line = String::from_utf8(fabdeck(folder, &slurm).stdout).unwrap();
    let cells = |what: &str| {
        let status = fabdeck(folder, &["study", "status", "long array", "--json"]).stdout;
        let status: serde_json::Value = serde_json::from_slice(&status).unwrap();
        status[what].as_u64().unwrap()
    };
    let all = cells("left");
    let job = submit(cluster, &line);
    cluster.wait("the first cell", || cells("left") < all);
    assert!(cluster.slurm("scancel", &[&job]).status.success());
    wait_for_end(cluster);
    let left = cells("left");
    assert!(left > 0 && left < all, "{left} of {all} cells are left");
    let messages = task_messages(&folder.join("long array"));
    assert!(!messages.is_empty() && messages.iter().all(|text| !text.contains("panicked")), "{messages:?}");
    submit(cluster, &line);
    wait_for_end(cluster);
    assert_eq!(cells("left"), 0);
    assert!(table(folder, "long array") == table(folder, "long one"));
}
