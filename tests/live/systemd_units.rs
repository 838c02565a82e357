//! The guard of a change on a machine with systemd, which the test environment lacks. A folder stands for systemd's,
//! and `systemd-run` is a script. The script records its arguments and starts the program as systemd does: in a
//! session of its own, with nothing of this one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::ibsim;
use crate::umad_folders::redirect;

const PATIENCE: Duration = Duration::from_secs(30);

/// A `systemd-run` that starts the program.
const TAKES: &str = r#"#!/bin/sh
printf '%s\n' "$@" >"$0.given"
for word in "$@"; do
  case $word in
  --property=StandardOutput=append:*) log=${word#*append:} ;;
  esac
done
while [ "$1" != -- ]; do shift; done
shift
cd /
env -i setsid "$@" </dev/null >>"$log" 2>&1 &
"#;

const REFUSES: &str = r#"#!/bin/sh
printf '%s\n' "$@" >"$0.given"
echo 'Failed to connect to bus: no medium found' >&2
exit 1
"#;

/// A served fabric with a plan for it, and a machine.
struct SystemdHost {
    home: TempDir,
    library: PathBuf,
    server: Child,
}

impl Drop for SystemdHost {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl SystemdHost {
    /// Creates a host. `runner` is the script `systemd-run`; without one the machine has no systemd.
    fn new(runner: Option<&str>) -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let library = redirect(home.path());
        let tools = home.path().join("tools");
        fs::create_dir(&tools).unwrap();
        let script = tools.join("systemd-run");
        fs::write(&script, runner.unwrap_or(TAKES)).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        if runner.is_some() {
            fs::create_dir_all(home.path().join("run/systemd/system")).unwrap();
        }
        let config = home.path().join(".config/fabdeck");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("config.toml"), "").unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
        server.current_dir(home.path()).args(["--source", "sim:demo,traffic=none", "simulate"]);
        server.args(["--serve", "lab.sock"]).env("HOME", home.path());
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let since = Instant::now();
        while !home.path().join("lab.sock").exists() {
            assert!(since.elapsed() < PATIENCE, "nothing is served");
            std::thread::sleep(Duration::from_millis(10));
        }
        let host = Self { home, library, server };
        assert_eq!(host.run(&["route", "--engine", "updn", "-o", "a.plan"]).status.code(), Some(2));
        host
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
        let tools = format!("{}:/usr/sbin:/usr/bin:/bin", self.path("tools").display());
        command.current_dir(self.home.path()).env_clear().env("PATH", tools).env("HOME", self.home.path());
        command.env("LD_PRELOAD", &self.library).env("FABDECK_MACHINE", self.home.path());
        command.args(["--source", "sim:./lab.sock", "--state-dir", "state"]).args(args);
        ibsim::finish(command)
    }

    /// Applies the plan; returns the change's id and the messages.
    fn apply(&self) -> (String, String) {
        let ended = self.run(&["apply", "a.plan", "--yes", "--accept", "transition", "--json"]);
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(0), "{said}");
        let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(told["state"], "applied");
        (told["id"].as_str().unwrap().to_owned(), said)
    }

    /// Arguments of `systemd-run`, if it was called.
    fn systemd_run_arguments(&self) -> Option<Vec<String>> {
        let given = fs::read_to_string(self.path("tools/systemd-run.given")).ok()?;
        Some(given.lines().map(str::to_owned).collect())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("state/changes/000001/guard.log")).unwrap_or_default()
    }

    /// Whether the guard leads a session of its own.
    fn leads_its_session(&self) -> bool {
        let pid = fs::read_to_string(self.path("state/changes/000001/guard.lock")).unwrap();
        let stat = fs::read_to_string(Path::new("/proc").join(&pid).join("stat")).unwrap();
        let behind = stat.rsplit(") ").next().unwrap_or_default().to_owned();
        // State, parent, group, session.
        behind.split(' ').nth(3) == Some(pid.as_str())
    }

    fn ends(&self, id: &str) {
        let ended = self.run(&["confirm", id]);
        assert_eq!(ended.status.code(), Some(0), "{}{}", String::from_utf8_lossy(&ended.stderr), self.log());
    }
}

#[test]
fn where_systemd_runs_the_guard_is_a_unit() {
    let host = SystemdHost::new(Some(TAKES));
    let (id, said) = host.apply();
    assert_eq!(said, "", "nothing is to be known");
    assert!(host.leads_its_session());
    host.ends(&id);
    let given = host.systemd_run_arguments().expect("systemd-run is called");
    let state = host.path("state").canonicalize().unwrap().display().to_string();
    let log = "state/changes/000001/guard.log".to_owned();
    let at = given.iter().position(|word| word == "--").unwrap();
    let (own, line) = given.split_at(at);
    let root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    assert_eq!(own[..4], ["--quiet", "--collect", "--service-type=exec", "--description=fabdeck guard"]);
    assert_eq!(own[4], "--property=TimeoutStopSec=600");
    assert!(own[5].starts_with("--property=StandardOutput=append:/") && own[5].ends_with(&log), "{own:?}");
    assert!(own[6].starts_with("--property=StandardError=append:/") && own[6].ends_with(&log), "{own:?}");
    assert_eq!(own.get(7).map(String::as_str), (!root).then_some("--user"));
    assert_eq!(line[1], env!("CARGO_BIN_EXE_fabdeck"));
    assert_eq!(line[2..6], ["guard", "--begin", &id, "--state-dir"]);
    assert_eq!(Path::new(&line[6]).canonicalize().unwrap().display().to_string(), state);
    // The unit has no home folder to search for the configuration.
    assert_eq!(line[7], "--config");
    assert!(line[8].ends_with(".config/fabdeck/config.toml") && line.len() == 9, "{line:?}");
    assert!(host.log().contains("applied") && host.log().contains("confirmed"), "{}", host.log());
}

#[test]
fn a_guard_that_systemd_does_not_take_has_a_session_of_its_own_and_that_is_said() {
    let host = SystemdHost::new(Some(REFUSES));
    let (id, said) = host.apply();
    assert!(host.systemd_run_arguments().is_some(), "it was asked");
    for told in [&said, &host.log()] {
        assert!(told.contains("Failed to connect to bus: no medium found"), "{told}");
        assert!(told.contains("session of its own"), "{told}");
    }
    assert!(host.leads_its_session());
    host.ends(&id);
}

#[test]
fn without_systemd_no_unit_is_requested() {
    let host = SystemdHost::new(None);
    let (id, said) = host.apply();
    assert_eq!((host.systemd_run_arguments(), said.as_str()), (None, ""));
    assert!(host.leads_its_session());
    host.ends(&id);
}

/// Checks each key of the boot unit, because systemd ignores unknown keys and a typing error would go unnoticed.
#[test]
fn the_unit_for_the_boot_says_what_systemd_knows() {
    let path = Path::new(env!("FABDECK_ROOT")).join("docs/systemd/fabdeck-guard.service");
    let text = fs::read_to_string(path).unwrap();
    let known = |section: &str| match section {
        "[Unit]" => &["Description", "After", "ConditionDirectoryNotEmpty"][..],
        "[Service]" => &[
            "Type",
            "ExecStart",
            "Restart",
            "RestartSec",
            "KillMode",
            "TimeoutStartSec",
            "RuntimeDirectory",
            "RuntimeDirectoryMode",
            "RuntimeDirectoryPreserve",
        ],
        "[Install]" => &["WantedBy"],
        other => panic!("no section {other}"),
    };
    let (mut section, mut said) = (String::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            line.clone_into(&mut section);
            continue;
        }
        let (key, value) = line.split_once('=').unwrap();
        assert!(known(&section).contains(&key) && !value.is_empty(), "{section} {line}");
        said.push((key, value));
    }
    let value = |key: &str| said.iter().find(|(found, _)| *found == key).map(|(_, value)| *value).unwrap();
    // The timer starts no unit that still runs, so the command ends, and systemd ends one that does not.
    assert_eq!((value("Type"), value("TimeoutStartSec")), ("oneshot", "120"));
    assert_eq!((value("Restart"), value("WantedBy")), ("on-failure", "multi-user.target"));
    // Guards that the unit starts for others outlive it.
    assert_eq!(value("KillMode"), "process");
    assert_eq!(value("ConditionDirectoryNotEmpty"), "/var/lib/fabdeck/changes");
    let line: Vec<&str> = value("ExecStart").split(' ').collect();
    assert!(line[0].starts_with('/'), "systemd wants the whole path");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    let home = tempfile::tempdir().unwrap();
    command
        .args(["--state-dir", "nowhere"])
        .args(&line[1..])
        .env("HOME", home.path())
        .current_dir(home.path());
    let ended = ibsim::finish(command);
    assert_eq!(ended.status.code(), Some(0), "what it starts is a command");
}
