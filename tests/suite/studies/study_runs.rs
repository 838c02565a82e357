//! Runs of a study as processes of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with a home, in which studies run.
pub struct StudyHome(pub TempDir);

impl StudyHome {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program with these arguments, in the folder.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_fabdeck"), args)
    }

    pub fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null()).env("HOME", self.0.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        for folder in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(folder, self.0.path());
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    pub fn text(&self, args: &[&str]) -> String {
        String::from_utf8(self.run(args).stdout).unwrap()
    }

    /// The table of a study in all forms of a file, without times.
    pub fn table(&self, folder: &str) -> [Vec<u8>; 3] {
        ["csv", "jsonl", "parquet"].map(|form| {
            let file = format!("{folder}.{form}");
            self.run(&["--no-times", "study", "table", folder, "-o", &file]);
            std::fs::read(self.path(&file)).unwrap()
        })
    }

    /// The number of cells without a result.
    pub fn left(&self, folder: &str) -> u64 {
        let status = self.text(&["study", "status", folder, "--json"]);
        serde_json::from_str::<serde_json::Value>(&status).unwrap()["left"].as_u64().unwrap()
    }
}

/// The cells of the sample in one process: what every other way has to come to.
pub fn whole_sample(home: &StudyHome) -> [Vec<u8>; 3] {
    home.run(&["study", "run", "sample", "-o", "whole"]);
    home.table("whole")
}

pub fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("segments")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_sixty_cells_have_the_results_of_before() {
    let home = StudyHome::new();
    let [csv, ..] = whole_sample(&home);
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 61);
    // After a change of generator, engines or simulator that changes a result, its revision has to rise too.
    insta::assert_snapshot!("sample", csv);
    assert_eq!(home.left("whole"), 0);
    let fits = home.text(&["study", "table", "whole", "--fit"]);
    insta::assert_snapshot!("sample_fits", fits);
    // What has a result does not run again.
    let again = home.text(&["study", "run", "whole"]);
    assert!(again.contains("60 had a result before") && again.contains("none"), "{again}");
    assert_eq!(segments(&home.path("whole")).len(), 1);
}

#[test]
fn built_in_studies_are_listed_shown_and_whole() {
    let home = StudyHome::new();
    let list: serde_json::Value = serde_json::from_str(&home.text(&["study", "list", "--json"])).unwrap();
    let studies = list["studies"].as_array().unwrap();
    let names: Vec<&str> = studies.iter().map(|study| study["name"].as_str().unwrap()).collect();
    for wanted in [
        "domke-small",
        "domke-small-uniform",
        "domke-large",
        "tsubame2",
        "deimos",
        "nue-6.2",
        "nue-6.10",
        "nue-6.11",
        "nue-6.12",
        "opt-II",
        "lost-4.2",
        "mlid",
    ] {
        assert!(names.contains(&wanted), "{wanted}: {names:?}");
    }
    for study in studies {
        let name = study["name"].as_str().unwrap();
        assert!(
            !study["about"].as_str().unwrap().is_empty(),
            "{name}: a study that cannot be read has no text"
        );
        assert!(home.text(&["study", "show", name]).contains(&format!("name = \"{name}\"")), "{name}");
    }
}

#[test]
fn the_counts_of_table_4_2_are_those_of_the_small_study() {
    let home = StudyHome::new();
    // No cell begins, so the plan alone is made: nine topologies, nine engines, 61 numbers of failures and seeds.
    let run = home.text(&["study", "run", "domke-small", "-o", "small", "--limit", "1ms", "--json"]);
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!((run["cells"].as_u64(), run["stopped"].as_bool()), (Some(9 * 9 * 61), Some(true)));
}
