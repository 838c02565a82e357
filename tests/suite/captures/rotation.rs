//! Recordings that go on in one file after the other, and into a pipe.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use super::commands::{fabdeck, json, run};
use super::killed_recorders::{info, serve_simulator, signal, wait_for};

fn files(home: &TempDir) -> Vec<String> {
    let names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".fdcap"));
    names.sort();
    names
}

const SOURCE: [&str; 3] = ["--source", "sim:kary,k=2,n=2", "record"];

#[test]
fn each_file_is_a_whole_capture_and_together_they_hold_every_sweep() {
    let home = tempfile::tempdir().unwrap();
    let told = json(
        &home,
        &[&SOURCE[..], &["-o", "night.fdcap", "--for", "30s", "--rotate-every", "10s"]].concat(),
        0,
    );
    let names = ["night-000001.fdcap", "night-000002.fdcap", "night-000003.fdcap", "night-000004.fdcap"];
    assert_eq!((files(&home), &told["sweeps"]), (names.map(str::to_owned).into(), &31.into()));
    assert_eq!((&told["files"], &told["file"]), (&serde_json::json!(names), &names[3].into()));
    let mut times: Vec<String> = Vec::new();
    for (name, sweeps) in names.into_iter().zip([10, 10, 10, 1]) {
        let told = info(&home, name);
        assert_eq!(
            (&told["sweeps"], &told["ended"], &told["notes"]),
            (&sweeps.into(), &true.into(), &serde_json::json!([]))
        );
        times.extend(["from", "to"].map(|key| told[key].as_str().unwrap().to_owned()));
        assert_eq!(json(&home, &["--source", name, "show", "fabric"], 0)["hosts"], 4);
    }
    assert!(times.is_sorted(), "{times:?}");
}

/// Each file has the acknowledgements in force when it begins: it may be the only one that is looked at.
#[test]
fn each_file_has_the_acknowledgements() {
    let home = tempfile::tempdir().unwrap();
    let demo = ["--source", "sim:demo"];
    let problems = json(&home, &[&demo[..], &["health"]].concat(), 2)["problems"].clone();
    let ids: Vec<&str> =
        problems.as_array().unwrap().iter().map(|problem| problem["id"].as_str().unwrap()).collect();
    let acknowledge = |id: &str| run(&home, &[&demo[..], &["health", "--acknowledge", id]].concat(), 2);
    acknowledge(ids[0]);
    let args = ["record", "-o", "night.fdcap", "--for", "20s", "--rotate-every", "10s"];
    run(&home, &[&demo[..], &args].concat(), 0);
    for name in files(&home) {
        assert_eq!(info(&home, &name)["acknowledged"], 1, "{name}");
    }
    assert_eq!(files(&home).len(), 3);
}

#[test]
fn the_oldest_go_where_that_is_asked_for_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("night-000000.fdcap"), "a letter").unwrap();
    std::fs::write(home.path().join("night.fdcap"), "another").unwrap();
    let by_size = |more: &[&str]| {
        let args = ["-o", "night.fdcap", "--for", "5s", "--rotate-size", "1kB"];
        run(&home, &[&SOURCE[..], &args, more].concat(), 0)
    };
    let said = String::from_utf8(by_size(&[]).stderr).unwrap();
    assert!(said.contains("recording to night-000006.fdcap") && !said.contains("deleted"), "{said}");
    assert_eq!(files(&home).len(), 2 + 6);
    // Another recording goes on with the numbers, and counts what is there.
    let said = String::from_utf8(by_size(&["--keep", "3"]).stderr).unwrap();
    assert!(said.contains("night-000001.fdcap is deleted"), "{said}");
    let left = ["night-000000", "night-000010", "night-000011", "night-000012", "night"];
    let mut left: Vec<String> = left.map(|name| format!("{name}.fdcap")).into();
    left.sort();
    assert_eq!(files(&home), left);
    assert_eq!(info(&home, "night-000012.fdcap")["sweeps"], 1);
}

#[test]
fn a_recorder_killed_during_rotation_leaves_whole_files() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    for turn in 0..6u64 {
        let (stem, size) = (format!("turn{turn}"), "2kB");
        let mut command = fabdeck(&home);
        let output = format!("{stem}.fdcap");
        command.args(["--source", "sim:./fabric.sock", "record", "-o", &output, "--interval", "2ms"]);
        command.args(["--rotate-size", size, "--keep", "4"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_for(&home, &format!("{stem}-{:06}.fdcap", 3 + 2 * turn), 1 + 500 * (turn % 3));
        signal(&child, "-KILL");
        child.wait().unwrap();
        let mine: Vec<String> = files(&home).into_iter().filter(|name| name.starts_with(&stem)).collect();
        assert!((3..=5).contains(&mine.len()), "{mine:?}");
        let (last, full) = mine.split_last().unwrap();
        for name in full {
            let told = info(&home, name);
            // The one before an empty file may not have come to its end yet.
            let late =
                name == full.last().unwrap() && std::fs::read(home.path().join(last)).unwrap().is_empty();
            assert!(told["ended"] == true || late, "{name}: {told}");
            assert_eq!((&told["damage"], &told["unreadable"]), (&serde_json::json!([]), &0.into()));
        }
    }
    fabric.kill().unwrap();
    fabric.wait().unwrap();
}

#[test]
fn a_pipe_gets_a_whole_capture_and_words_go_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let output = run(&home, &[&SOURCE[..], &["-o", "-", "--for", "5s"]].concat(), 0);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("6 sweeps written to stdout"), "{said}");
    std::fs::write(home.path().join("piped.fdcap"), &output.stdout).unwrap();
    let told = info(&home, "piped.fdcap");
    assert_eq!(
        (&told["sweeps"], &told["ended"], &told["notes"]),
        (&6.into(), &true.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_pipe_without_a_reader_ends_the_recording_quietly() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    let mut command = fabdeck(&home);
    command.args(["--source", "sim:./fabric.sock", "record", "-o", "-", "--interval", "2ms"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdout.take().unwrap();
    let mut first = [0; 3000];
    pipe.read_exact(&mut first).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
    fabric.kill().unwrap();
    fabric.wait().unwrap();
    std::fs::write(home.path().join("first.fdcap"), first).unwrap();
    let told: Value = info(&home, "first.fdcap");
    assert!(told["sweeps"].as_u64().unwrap() >= 1 && told["ended"] == false, "{told}");
}
