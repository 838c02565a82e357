//! Incidents: each folder of `captures/` has its story, a drawing, a small capture and how it is made again, and what every
//! reading command says of it at its beginning, in its middle and at its end is what it said before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::commands::fabdeck;

/// Bytes of a capture at the most.
const LARGEST: u64 = 2_000_000;
/// Lines of an answer that are shown; the rest is in a digest.
const SHOWN: usize = 8;
/// Characters of a line that are shown.
const WIDE: usize = 110;

/// The folders of incidents in the order of their names. A new folder is a new case of every test that asks here.
pub fn incidents() -> Vec<PathBuf> {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    let entries = fs::read_dir(captures).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// What an incident is called, and its capture.
pub fn name_and_capture(folder: &Path) -> (String, PathBuf) {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let capture = folder.join(format!("{name}.fdcap"));
    (name, capture)
}

/// A command on a capture, in a folder that has the name of the capture and nothing else.
struct Reader {
    home: TempDir,
    name: String,
}

impl Reader {
    fn new(name: &str, capture: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let file = format!("{name}.fdcap");
        fs::copy(capture, home.path().join(&file)).unwrap();
        Self { home, name: file }
    }

    fn output(&self, args: &[&str]) -> Output {
        fabdeck(&self.home).env("TZ", "UTC").args(args).output().unwrap()
    }

    /// Its milliseconds from the first moment to the last.
    fn length_ms(&self) -> i64 {
        let told = self.output(&["--json", "capture", "info", &self.name]).stdout;
        let told: Value = serde_json::from_slice(&told).unwrap();
        let at = |key: &str| told[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
        at("to") - at("from")
    }

    /// What a command answers at a moment, short.
    fn answer(&self, at: &str, command: &[&str]) -> String {
        let output = self.output(&[&["--source", &self.name, "--at", at], command].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let code = output.status.code().unwrap();
        assert!(
            code == 0 || code == 2,
            "{} {command:?}: {}",
            self.name,
            String::from_utf8_lossy(&output.stderr)
        );
        format!("$ --at {at} {}\n{}", command.join(" "), short(&text, code))
    }
}

/// The first lines of an answer, and a digest of all where there are more.
fn short(text: &str, code: i32) -> String {
    let mut shown = String::new();
    for line in text.lines().take(SHOWN) {
        let cut: String = line.chars().take(WIDE).collect();
        shown += &format!("  {}\n", cut.trim_end());
    }
    let lines = text.lines().count();
    let cut = lines > SHOWN || text.lines().any(|line| line.chars().count() > WIDE);
    let digest = || blake3::hash(text.as_bytes()).to_hex()[..12].to_owned();
    if cut {
        shown += &format!("  ({lines} lines, {})\n", digest());
    }
    format!("{shown}  exit code {code}\n")
}

/// What every reading command says of a capture over time.
fn told(name: &str, capture: &Path) -> String {
    let reader = Reader::new(name, capture);
    let length = reader.length_ms();
    let hosts = reader.output(&["--source", &reader.name, "--json", "show", "hosts"]).stdout;
    let hosts: Value = serde_json::from_slice(&hosts).unwrap();
    let rows = hosts["rows"].as_array().unwrap();
    let [first, last] = [rows.first(), rows.last()].map(|row| row.unwrap()["name"].as_str().unwrap());
    let info = reader.output(&["capture", "info", &reader.name]);
    let info = short(&String::from_utf8(info.stdout).unwrap(), info.status.code().unwrap());
    let mut all = format!("$ capture info\n{info}");
    for at in [length, length / 2, 0] {
        let at = format!("-{at}ms");
        for command in [
            &["show", "fabric"][..],
            &["show", "links"],
            &["show", "switches"],
            &["show", "hosts"],
            &["show", "counters"],
            &["show", "tables"],
            &["trace", first, last],
            &["check"],
        ] {
            all += &reader.answer(&at, command);
        }
        // What grew since the sweep before: at the first there is none.
        if at != format!("-{length}ms") {
            all += &reader.answer(&at, &["hotspots"]);
        }
    }
    all
}

#[test]
fn every_incident_has_a_story_a_drawing_a_small_capture_and_how_it_is_made() {
    use std::os::unix::fs::PermissionsExt;
    let all = incidents();
    assert!(all.len() >= 7, "{all:?}");
    let list = fs::read_to_string(all[0].parent().unwrap().join("README.md")).unwrap();
    let mut over_ibsim = 0;
    for folder in all {
        let (name, capture) = name_and_capture(&folder);
        assert!(list.contains(&format!("({name}/README.md)")), "captures/README.md does not name {name}");
        let story = fs::read_to_string(folder.join("README.md")).unwrap();
        for part in ["## What happened", "## The fabric", "## Where to look", "## The cause"] {
            assert!(story.contains(part), "{name}: no '{part}'");
        }
        let drawing = story.split("## The fabric").nth(1).unwrap().split("## ").next().unwrap();
        assert!(drawing.matches("```").count() >= 2 && drawing.lines().count() > 8, "{name}: no drawing");
        let size = fs::metadata(&capture).unwrap().len();
        assert!((1..=LARGEST).contains(&size), "{name}: {size} bytes");
        let make = folder.join("make");
        let mode = fs::metadata(&make).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name}: make cannot be run");
        over_ibsim += usize::from(fs::read_to_string(make).unwrap().contains("ibsim"));
    }
    assert!(over_ibsim > 0, "none is recorded over ibsim");
}

#[test]
fn every_reading_command_says_of_every_incident_what_it_said_before() {
    for folder in incidents() {
        let (name, capture) = name_and_capture(&folder);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots/incidents");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name.clone(), told(&name, &capture)));
    }
}

/// What is said in a story with `$` before it is what fabdeck answers.
#[test]
fn every_story_quotes_what_fabdeck_answers() {
    for folder in incidents() {
        let (name, capture) = name_and_capture(&folder);
        let reader = Reader::new(&name, &capture);
        let story = fs::read_to_string(folder.join("README.md")).unwrap();
        let (mut quoted, mut answer) = (0, None::<String>);
        for line in story.lines() {
            if let Some(command) = line.strip_prefix("$ fabdeck ") {
                let words: Vec<&str> = command.split_whitespace().collect();
                let output = reader.output(&words);
                answer = Some(String::from_utf8(output.stdout).unwrap());
                continue;
            }
            if line.starts_with("```") {
                answer = None;
            }
            if let Some(answer) = &answer {
                let said = line.trim_end_matches("...").trim_end();
                quoted += 1;
                assert!(said.is_empty() || answer.contains(said), "{name}: '{said}' is not in\n{answer}");
            }
        }
        assert!(quoted > 5, "{name} quotes {quoted} lines");
    }
}

/// An incident of the simulator is made again by its script: the same recording, whoever makes it and whenever.
#[test]
fn an_incident_made_again_is_the_same() {
    let folder = incidents().into_iter().find(|folder| folder.ends_with("failed-link")).unwrap();
    let (name, capture) = name_and_capture(&folder);
    let home = tempfile::tempdir().unwrap();
    let again = home.path().join("again.fdcap");
    let mut make = Command::new(folder.join("make"));
    let program = env!("CARGO_BIN_EXE_fabdeck");
    let made = make.arg(&again).env("FABDECK", program).env("HOME", home.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    // How many bytes it takes, and what version wrote it, is the recorder's affair.
    let said = |capture: &Path| -> Vec<String> {
        let all = told(&name, capture);
        let own = all.lines().filter(|line| !line.starts_with("  size ") && !line.starts_with("  capture "));
        own.map(str::to_owned).collect()
    };
    assert_eq!(said(&again), said(&capture));
}
