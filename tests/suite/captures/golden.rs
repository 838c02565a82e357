//! Incidents: each folder of `captures/` has its story, a drawing, a small capture and how it is made again, and what every
//! reading command says of it at its beginning, in its middle and at its end is what it said before.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fabdeck::script::run::{CliResult, run};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::local_access::LocalSystemAccess;
use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use super::command_cases::{Case, CaseValues, cases};
use super::commands::fabdeck;

/// Bytes of a capture at the most.
const LARGEST: u64 = 2_000_000;
/// Lines of an answer that are shown; the rest is in a digest.
const SHOWN: usize = 6;
/// Characters of a line that are shown.
const WIDE: usize = 110;

/// Environment variable with the file of the command lines that `command_lines_are_answered` runs; unset elsewhere.
const LINES: &str = "FABDECK_GOLDEN_LINES";
/// What that test writes beside it.
const ANSWERS: &str = "answers.json";

/// What a command line comes to: exit code, output, messages.
type CommandAnswer = (i32, String, String);

/// The folders of incidents in the order of their names. A new folder is a new case of every test that asks here.
pub fn incidents() -> Vec<PathBuf> {
    let captures = Path::new(env!("FABDECK_ROOT")).join("captures");
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

    fn rows(&self, view: &str, more: &[&str]) -> Vec<Value> {
        let args = [&["--source", &self.name, "--json", "show", view][..], more].concat();
        let told: Value = serde_json::from_slice(&self.output(&args).stdout).unwrap();
        told["rows"].as_array().unwrap().clone()
    }

    /// The command line of a case at a moment.
    fn line(&self, (at, case): &(Option<&str>, &Case)) -> Vec<String> {
        let moment = at.map(|at| vec!["--source", self.name.as_str(), "--at", at]).unwrap_or_default();
        let moment = ["fabdeck"].iter().chain(&moment).chain(&["--no-times"]).map(|word| (*word).to_owned());
        moment.chain(case.words.iter().cloned()).collect()
    }

    /// What command lines come to, one after the other in one process: a process each would cost more than the answers.
    fn answers(&self, asked: &[(Option<&str>, &Case)]) -> Vec<CommandAnswer> {
        let lines: Vec<Vec<String>> = asked.iter().map(|one| self.line(one)).collect();
        let file = self.home.path().join("lines.json");
        fs::write(&file, serde_json::to_vec(&lines).unwrap()).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "captures::golden::command_lines_are_answered"]).env(LINES, &file);
        for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(folder, self.home.path());
        }
        let done = command.current_dir(self.home.path()).env("TZ", "UTC").output().unwrap();
        assert!(done.status.success(), "{}: {done:?}", self.name);
        serde_json::from_slice(&fs::read(self.home.path().join(ANSWERS)).unwrap()).unwrap()
    }

    /// What a command answers, short.
    fn describe(&self, (at, case): (Option<&str>, &Case), (code, text, said): CommandAnswer) -> String {
        let words = &case.words;
        let refused = said.lines().find(|line| line.contains(" error: ")).unwrap_or_default();
        // Before the first sweep there is none to compare with, what lanes paths take is in plans alone, and hosts choose
        // nothing where ports have one LID.
        let fine = ["FD-5064", "FD-7605", "FD-7608"].iter().any(|known| refused.contains(known));
        let name = &self.name;
        // A plan of another moment is stale: 3.
        assert!(matches!(code, 0 | 2 | 3) || fine, "{name} --at {at:?} {words:?}: {code:?} {said}");
        let at = at.map(|at| format!("--at {at} ")).unwrap_or_default();
        let shown = if case.file && !text.is_empty() { digest(&text) } else { short(&text) };
        let refused = short(refused);
        format!("$ {at}{}\n{shown}{refused}  exit code {}\n", words.join(" "), code)
    }
}

/// The first lines of an answer, and a digest of all where there are more.
fn short(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines().take(SHOWN) {
        let cut: String = line.chars().take(WIDE).collect();
        shown += &format!("  {}\n", cut.trim_end());
    }
    if text.lines().count() > SHOWN || text.lines().any(|line| line.chars().count() > WIDE) {
        shown += &digest(text);
    }
    shown
}

fn digest(text: &str) -> String {
    format!("  ({} lines, {})\n", text.lines().count(), &blake3::hash(text.as_bytes()).to_hex()[..12])
}

/// What every reading command says of a capture over time, and as a whole.
fn describe_incident(name: &str, capture: &Path) -> String {
    let reader = Reader::new(name, capture);
    let text = |row: Option<&Value>, key: &str| row.unwrap()[key].as_str().unwrap().to_owned();
    let hosts = reader.rows("hosts", &[]);
    let [first, last] = [hosts.first(), hosts.last()].map(|row| text(row, "name"));
    let switch = text(reader.rows("switches", &[]).first(), "name");
    let links = reader.rows("links", &["--filter", "kind=switch-switch"]);
    let link = format!("link:{}[{}]", text(links.first(), "a"), links[0]["a_port"]);
    let plan = format!("{name}.plan");
    let given = CaseValues {
        capture: &reader.name,
        plan: &plan,
        hosts: [&first, &last],
        switch: &switch,
        link: &link,
    };
    let (whole, moments): (Vec<Case>, Vec<Case>) = cases(&given).into_iter().partition(|case| case.whole);
    let length = reader.length_ms();
    let times = [length, length / 2, 0].map(|back| format!("-{back}ms"));
    // Plans are for the fabric as it was at the beginning.
    let route = ["--source", &reader.name, "--at", &times[0], "--no-times", "route"];
    let made = reader.output(&[&route[..], &["--engine", "updn", "-o", &plan]].concat());
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let whole = whole.iter().map(|case| (None, case));
    let moments = times.iter().flat_map(|at| moments.iter().map(move |case| (Some(at.as_str()), case)));
    let asked: Vec<(Option<&str>, &Case)> = whole.chain(moments).collect();
    let answers = reader.answers(&asked);
    assert_eq!(answers.len(), asked.len());
    asked.into_iter().zip(answers).map(|(asked, answer)| reader.describe(asked, answer)).collect()
}

/// What is said of an incident, all of them at a time.
fn describe_all_incidents() -> Vec<(String, String)> {
    let folders = incidents();
    let told = folders.par_iter().map(|folder| {
        let (name, capture) = name_and_capture(folder);
        let told = describe_incident(&name, &capture);
        (name, told)
    });
    told.collect()
}

/// The process that answers the lines of an incident. Without them it does nothing.
#[test]
fn command_lines_are_answered() {
    let Ok(file) = std::env::var(LINES) else { return };
    let lines: Vec<Vec<String>> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let answer = |line: &Vec<String>| -> CommandAnswer {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (args, terminal) = (line.iter().map(OsString::from), TerminalInfo::default());
        let ended = run(args, &LocalSystemAccess::default(), &terminal, &mut out, &mut err);
        let CliResult::Exit(exit) = ended else { panic!("{line:?} opened a console") };
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (i32::from(exit.code()), text(out), text(err))
    };
    let answers: Vec<CommandAnswer> = lines.iter().map(answer).collect();
    fs::write(ANSWERS, serde_json::to_vec(&answers).unwrap()).unwrap();
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
    for (name, told) in describe_all_incidents() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots/incidents");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, told));
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

/// An incident of the simulator is made again by its script: the same bytes, whoever makes it and whenever. Those over ibsim
/// have times of the clock, and what their stories quote is what holds.
#[test]
fn every_incident_of_the_simulator_made_again_is_the_same() {
    let (over_ibsim, simulated): (Vec<PathBuf>, Vec<PathBuf>) = incidents().into_iter().partition(|folder| {
        let make = fs::read_to_string(folder.join("make")).unwrap();
        !make.contains("SOURCE_DATE_EPOCH")
    });
    assert_eq!((over_ibsim.len(), simulated.len() >= 6), (1, true), "{over_ibsim:?}");
    simulated.par_iter().for_each(|folder| {
        let (name, capture) = name_and_capture(folder);
        let home = tempfile::tempdir().unwrap();
        let again = home.path().join("again.fdcap");
        let mut make = Command::new(folder.join("make"));
        make.arg(&again).env("FABDECK", env!("CARGO_BIN_EXE_fabdeck"));
        for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            make.env(folder, home.path());
        }
        let made = make.output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let [before, after] = [&capture, &again].map(|path| fs::read(path).unwrap());
        assert!(before == after, "{name} is {} bytes now; see captures/README.md", after.len());
    });
}

/// The story of the failed link: its victim is alone on the second cable, and behind a contributor on the first.
#[test]
fn the_victim_of_a_failed_link_moves_onto_the_congested_cable() {
    let captures = Path::new(env!("FABDECK_ROOT")).join("captures/failed-link");
    let (name, capture) = name_and_capture(&captures);
    let reader = Reader::new(&name, &capture);
    let at = |time: &str| {
        let of = |args: &[&str]| -> Value {
            let source = ["--json", "--source", &reader.name, "--at", time];
            serde_json::from_slice(&reader.output(&[&source[..], args].concat()).stdout).unwrap()
        };
        let port = of(&["trace", "node1", "node3"])["rows"][1]["port"].clone();
        (port, of(&["hotspots"]).to_string().contains("node1 HCA-1"))
    };
    assert_eq!(at("09:00:55"), (4.into(), false));
    assert_eq!(at("09:01:55"), (3.into(), true));
    let other =
        reader.output(&["--json", "--source", &reader.name, "--at", "09:00:55", "trace", "node0", "node4"]);
    let other: Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_eq!(other["rows"][1]["port"], 3, "{other}");
}
