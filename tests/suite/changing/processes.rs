//! The program itself, over a simulator that another process serves: guards that are killed, terminals that go, and what
//! every command says.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A served fabric, a plan for it, and a state folder.
struct Lab {
    home: TempDir,
    server: Child,
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A guard that a failed test left behind goes with its fabric.
        for pid in self.guards() {
            let _ = Command::new("kill").args(["-s", "KILL", &pid]).status();
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Lab {
    fn new(source: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut server = command(home.path());
        server.args(["--source", source, "simulate", "--serve", "lab.sock"]).stderr(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(server.stderr.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.contains("serving"), "{ready}");
        let lab = Self { home, server };
        let made = lab.run(&["route", "--engine", "updn", "-o", "a.plan"]);
        assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
        lab
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.home.path());
        command.args(["--source", "sim:./lab.sock", "--state-dir", "./state"]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn ends(&self, args: &[&str], code: i32) -> String {
        let ended = self.run(args);
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {out}{err}{}", self.logs());
        format!("{out}{err}")
    }

    /// What guards said, for whoever reads of a failure.
    fn logs(&self) -> String {
        let folders =
            std::fs::read_dir(self.home.path().join("state/changes")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
        folders.sort();
        let log = |folder: PathBuf| {
            let names =
                std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            let said = std::fs::read_to_string(folder.join("guard.log")).unwrap_or_default();
            format!("\n{} {:?}\n{said}", folder.display(), names.collect::<Vec<_>>())
        };
        folders.into_iter().map(log).collect()
    }

    /// What switches hold, byte for byte.
    fn tables(&self) -> String {
        self.ends(&["convert", "sim:./lab.sock", "--to", "lfts", "-o", "-"], 0)
    }

    fn apply(&self) -> String {
        self.ends(&["apply", "a.plan", "--yes", "--accept", "transition"], 0);
        self.row()["id"].as_str().unwrap().to_owned()
    }

    /// The last change.
    fn row(&self) -> Value {
        let changes: Value = serde_json::from_str(&self.ends(&["changes", "--json"], 0)).unwrap();
        changes["rows"][0].clone()
    }

    fn state(&self) -> String {
        self.row()["state"].as_str().unwrap_or("none").to_owned()
    }

    /// Waits for a state.
    fn becomes(&self, state: &str, patience: Duration) {
        let since = Instant::now();
        while self.state() != state {
            assert!(since.elapsed() < patience, "{} instead of {state}", self.state());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("state/changes/000001")
    }

    /// The processes that keep changes here.
    fn guards(&self) -> Vec<String> {
        let folders =
            std::fs::read_dir(self.home.path().join("state/changes")).into_iter().flatten().flatten();
        let open = folders.map(|entry| entry.path()).filter(|folder| !folder.join("ended").exists());
        open.filter_map(|folder| std::fs::read_to_string(folder.join("guard.lock")).ok()).collect()
    }

    /// kill -9, and nobody keeps the change any more.
    fn kill_guard(&self) {
        let pids = self.guards();
        assert_eq!(pids.len(), 1);
        assert!(Command::new("kill").args(["-s", "KILL", &pids[0]]).status().unwrap().success());
        let lock = std::fs::File::open(self.folder().join("guard.lock")).unwrap();
        let since = Instant::now();
        while lock.try_lock().is_err() {
            assert!(since.elapsed() < Duration::from_secs(10), "the guard lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.current_dir(home).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).env("USER", "ada");
    command
}

const DEMO: &str = "sim:demo,traffic=none";

#[test]
fn a_change_is_applied_confirmed_and_listed() {
    let lab = Lab::new(DEMO);
    let before = lab.tables();
    let refused = lab.ends(&["apply", "a.plan", "--yes"], 4);
    assert!(refused.contains("FD-7983") && refused.contains("--accept transition"), "{refused}");
    let refused = lab.ends(&["apply", "a.plan", "--accept", "transition"], 4);
    assert!(refused.contains("FD-7989"), "{refused}");
    assert_eq!((lab.tables(), lab.state()), (before.clone(), "none".to_owned()));
    let id = lab.apply();
    assert_ne!(lab.tables(), before);
    let pending = lab.ends(&["apply", "a.plan", "--yes", "--accept", "transition"], 0);
    assert!(pending.contains("nothing to do"), "{pending}");
    // Another plan for the fabric as it is now has to wait.
    lab.ends(&["route", "--engine", "minhop", "-o", "b.plan"], 2);
    let pending = lab.ends(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 4);
    assert!(pending.contains("FD-5632") && pending.contains("ada") && pending.contains(&id), "{pending}");
    assert!(lab.ends(&["confirm", "00000000"], 64).contains("FD-5634"));
    lab.ends(&["extend", &id, "1m"], 0);
    lab.ends(&["confirm", &id], 0);
    assert_eq!(lab.state(), "confirmed");
    assert!(lab.ends(&["rollback", &id], 4).contains("FD-7985"));
    let trail = std::fs::read_to_string(lab.home.path().join("state/audit")).unwrap();
    for what in ["writing", "applied", "extended", "confirmed"] {
        assert!(trail.contains(&format!("\"what\":\"{what}\"")), "{what}: {trail}");
    }
    // The plan is for what the fabric was.
    assert!(lab.ends(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 0).contains("confirm"));
}

#[test]
fn a_stale_plan_and_what_is_no_fabric_are_refused() {
    let lab = Lab::new(DEMO);
    let id = lab.apply();
    lab.ends(&["rollback", &id], 0);
    assert_eq!(lab.state(), "rolled-back");
    lab.ends(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "c.plan"], 2);
    let id = lab.apply_plan("c.plan");
    lab.ends(&["confirm", &id], 0);
    let stale = lab.ends(&["apply", "a.plan", "--yes", "--accept", "transition"], 3);
    assert!(stale.contains("FD-7986"), "{stale}");
    let mut file = lab.command(&[]);
    let ended = file.args(["--source", "lab.txt", "apply", "a.plan", "--yes"]).output().unwrap();
    assert_ne!(ended.status.code(), Some(0));
}

impl Lab {
    fn apply_plan(&self, plan: &str) -> String {
        self.ends(&["apply", plan, "--yes", "--accept", "transition,unreachable,lanes"], 0);
        self.row()["id"].as_str().unwrap().to_owned()
    }
}

/// The guard dies in the window: whoever starts next gives the change another one, and it can be confirmed.
#[test]
fn a_guard_that_is_killed_has_a_successor() {
    let lab = Lab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guard();
    let said = lab.ends(&["changes"], 0);
    assert!(said.contains("its guard was gone"), "{said}");
    lab.ends(&["confirm", &id], 0);
    assert_eq!(lab.state(), "confirmed");
    assert_ne!(lab.tables(), before);
}

#[test]
fn a_change_whose_guard_is_gone_is_rolled_back_when_asked() {
    let lab = Lab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guard();
    lab.ends(&["rollback", &id], 0);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// kill -9 while it writes, at many moments.
#[test]
fn a_guard_that_is_killed_while_it_writes_leaves_something_to_take_back() {
    let rounds = if super::long() { 60 } else { 6 };
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for round in 0..rounds {
        let lab = Lab::new("sim:torus,dims=4x4,terminals=30,traffic=none");
        let before = lab.tables();
        let mut applying =
            lab.command(&["apply", "a.plan", "--yes", "--accept", "transition,cycle"]).spawn().unwrap();
        let since = Instant::now();
        // Whoever began it has the lock at first.
        let parent = applying.id().to_string();
        let taken = || lab.guards().iter().any(|pid| *pid != parent && !pid.is_empty());
        while !taken() && since.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20 + round * 17));
        for pid in lab.guards().iter().filter(|pid| **pid != parent) {
            let _ = Command::new("kill").args(["-s", "KILL", pid]).status();
        }
        applying.wait().unwrap();
        lab.ends(&["guard", "--resume"], 0);
        let row = lab.row();
        let state = row["state"].as_str().unwrap_or("none").to_owned();
        match state.as_str() {
            "applied" => {
                lab.ends(&["rollback", row["id"].as_str().unwrap()], 0);
            }
            "rolled-back" | "refused" | "none" => {}
            other => panic!("round {round}: {other}"),
        }
        assert_eq!(lab.tables(), before, "round {round}: {state}");
        *seen.entry(state).or_default() += 1;
    }
    println!("said: {seen:?}");
}

/// The session ends with its terminal; the guard does not, and takes the change back when its time is over.
#[test]
fn a_session_that_is_hung_up_ends_rolled_back() {
    let lab = Lab::new(DEMO);
    let before = lab.tables();
    let mut waiting = lab
        .command(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s", "--wait"])
        .spawn()
        .unwrap();
    lab.becomes("applied", Duration::from_secs(20));
    assert_ne!(lab.tables(), before);
    let begun = Instant::now();
    let pid = waiting.id().to_string();
    assert!(Command::new("kill").args(["-s", "HUP", &pid]).status().unwrap().success());
    assert_eq!(waiting.wait().unwrap().code(), Some(129));
    lab.becomes("rolled-back", Duration::from_secs(40));
    println!("said: rolled back {:?} after the hangup", begun.elapsed());
    assert_eq!(lab.tables(), before);
    let trail = std::fs::read_to_string(lab.home.path().join("state/audit")).unwrap();
    assert!(trail.contains("nobody confirmed it in time"), "{trail}");
}

/// A link out of service after a reroute, and back: the port is disabled, no pair loses its path, and a rollback enables it.
#[test]
fn a_link_goes_out_of_service_and_comes_back() {
    let lab = Lab::new(DEMO);
    let link = "link:rack1-leaf[8]";
    let used = lab.ends(&["disable", link, "-o", "early.plan"], 2);
    assert!(used.contains("have no path, though cables connect them"), "{used}");
    let refused = lab.ends(&["apply", "early.plan", "--yes"], 4);
    assert!(refused.contains("unreachable"), "{refused}");
    lab.ends(&["route", "--engine", "updn", "--fail", link, "-o", "around.plan"], 2);
    let id = lab.apply_plan("around.plan");
    lab.ends(&["confirm", &id], 0);
    lab.ends(&["disable", link, "-o", "out.plan"], 0);
    let before = lab.ends(&["show", "links", "--json", "--no-times"], 0);
    let id = lab.apply_plan("out.plan");
    let links = || lab.ends(&["show", "fabric", "--json", "--no-times"], 0);
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap()["links"].as_u64().unwrap();
    let out = number(&links());
    assert!(lab.ends(&["check"], 0).contains("unreachable   none"));
    lab.ends(&["rollback", &id], 0);
    assert_eq!(
        (number(&links()), lab.ends(&["show", "links", "--json", "--no-times"], 0)),
        (out + 1, before.clone())
    );
    lab.ends(&["disable", link, "-o", "out.plan", "--force"], 0);
    let id = lab.apply_plan("out.plan");
    lab.ends(&["confirm", &id], 0);
    assert_eq!(number(&links()), out);
    lab.ends(&["enable", "port:rack1-leaf[8]", "-o", "back.plan"], 0);
    let id = lab.apply_plan("back.plan");
    lab.ends(&["confirm", &id], 0);
    assert_eq!(lab.ends(&["show", "links", "--json", "--no-times"], 0), before);
    assert!(lab.ends(&["enable", "port:rack1-leaf[8]", "-o", "x.plan"], 1).contains("FD-7997"));
}
