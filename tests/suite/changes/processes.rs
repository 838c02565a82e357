//! The program itself, over a simulator that another process serves: guards that are killed, terminals that go, and what
//! every command says.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A served fabric, a plan for it, and a state folder.
pub struct ServedLab {
    pub home: TempDir,
    server: Child,
    /// Further words of every command.
    more: Vec<String>,
}

impl Drop for ServedLab {
    fn drop(&mut self) {
        // A guard that a failed test left behind goes with its fabric.
        let own = std::process::id().to_string();
        let guards = ["state", "other"].into_iter().flat_map(|state| self.guards_of(state));
        for pid in guards.filter(|pid| *pid != own) {
            let _ = Command::new("kill").args(["-s", "KILL", &pid]).status();
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl ServedLab {
    /// A fabric with a change that was confirmed, and one that was rolled back.
    pub fn with_two_changes() -> Self {
        let lab = Self::new(DEMO);
        let id = lab.apply();
        lab.run_to_end(&["confirm", &id], 0);
        lab.run_to_end(&["route", "--engine", "minhop", "-o", "b.plan"], 2);
        lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 0);
        lab.run_to_end(&["rollback", "2"], 0);
        lab
    }

    pub fn new(source: &str) -> Self {
        Self::with(source, &[], |_| {})
    }

    /// `more` stands in every command line; what it names has to be made first.
    pub fn with(source: &str, more: &[&str], make: impl FnOnce(&Path)) -> Self {
        let home = tempfile::tempdir().unwrap();
        make(home.path());
        let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
        let server = serve(home.path(), source, &more);
        let lab = Self { home, server, more };
        let made = lab.run(&["route", "--engine", "updn", "-o", "a.plan"]);
        assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
        lab
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of("./state", args)
    }

    /// With a state folder of its own, as another machine has one.
    pub fn command_of(&self, state: &str, args: &[&str]) -> Command {
        let mut command = command(self.home.path());
        command.args(["--source", "sim:./lab.sock", "--state-dir", state]).args(&self.more).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn run_to_end(&self, args: &[&str], code: i32) -> String {
        let ended = self.run(args);
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {out}{err}{}", self.logs());
        format!("{out}{err}")
    }

    /// The logs of guards, for the report of a failure.
    pub fn logs(&self) -> String {
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
    pub fn tables(&self) -> String {
        self.run_to_end(&["convert", "sim:./lab.sock", "--to", "lfts", "-o", "-"], 0)
    }

    pub fn apply(&self) -> String {
        self.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 0);
        self.row()["id"].as_str().unwrap().to_owned()
    }

    /// The last change.
    pub fn row(&self) -> Value {
        let ended = self.run(&["changes", "--json"]);
        // 6: a rollback left something.
        assert!(matches!(ended.status.code(), Some(0 | 6)), "{ended:?}{}", self.logs());
        let changes: Value = serde_json::from_slice(&ended.stdout).unwrap();
        changes["rows"][0].clone()
    }

    pub fn state(&self) -> String {
        self.row()["state"].as_str().unwrap_or("none").to_owned()
    }

    /// Waits for a state.
    pub fn wait_for_state(&self, state: &str, patience: Duration) {
        let since = Instant::now();
        while self.state() != state {
            assert!(since.elapsed() < patience, "{} instead of {state}", self.state());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn folder(&self) -> PathBuf {
        self.home.path().join("state/changes/000001")
    }

    /// The fabric is gone, as one is whose adapter is not up yet.
    pub fn stop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// It is there again.
    pub fn start(&mut self, source: &str) {
        let _ = std::fs::remove_file(self.home.path().join("lab.sock"));
        self.server = serve(self.home.path(), source, &self.more);
    }

    pub fn trail(&self) -> String {
        std::fs::read_to_string(self.home.path().join("state/audit")).unwrap()
    }

    /// The processes that keep changes here.
    pub fn guards(&self) -> Vec<String> {
        self.guards_of("state")
    }

    fn guards_of(&self, state: &str) -> Vec<String> {
        let changes = self.home.path().join(state).join("changes");
        let folders = std::fs::read_dir(changes).into_iter().flatten().flatten();
        let open = folders.map(|entry| entry.path()).filter(|folder| !folder.join("ended").exists());
        open.filter_map(|folder| std::fs::read_to_string(folder.join("guard.lock")).ok()).collect()
    }

    /// kill -9, after which no change has a guard.
    pub fn kill_guard(&self) {
        // Who has just taken the lock writes its number next.
        while self.guards().iter().any(String::is_empty) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pids = self.guards();
        assert!(!pids.is_empty());
        for pid in pids {
            assert!(Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap().success());
        }
        let since = Instant::now();
        while self.count_kept() > 0 {
            assert!(since.elapsed() < Duration::from_secs(10), "the guard lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// kill -9 of every guard of this lab: one that came second waits for the lock, and takes it once the first is gone.
    pub fn kill_guards(&self) {
        while let Some(pid) = self.any_guard() {
            let _ = Command::new("kill").args(["-s", "KILL", &pid]).status();
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn any_guard(&self) -> Option<String> {
        let home = self.home.path().display().to_string();
        std::fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
            let line = std::fs::read(process.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).into_owned();
            let is_guard = line.split('\0').any(|word| word == "guard") && line.contains(&home);
            is_guard.then(|| process.file_name().to_string_lossy().into_owned())
        })
    }

    /// How many changes a process keeps that lives.
    fn count_kept(&self) -> usize {
        let folders = std::fs::read_dir(self.home.path().join("state/changes")).unwrap().flatten();
        let locks = folders.map(|folder| std::fs::File::open(folder.path().join("guard.lock")).unwrap());
        locks.filter(|lock| lock.try_lock().is_err()).count()
    }
}

fn serve(home: &Path, source: &str, more: &[String]) -> Child {
    let mut server = command(home);
    server.args(more).args(["--source", source, "simulate", "--serve", "lab.sock"]).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.contains("serving"), "{ready}");
    server
}

pub fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.current_dir(home).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).env("USER", "ada");
    command.envs(break_switches());
    command
}

/// The variables by which `tests/mutants/run` turns a break on, for programs that start with an empty environment.
pub fn break_switches() -> impl Iterator<Item = (String, String)> {
    std::env::vars().filter(|(name, _)| name.starts_with("FABDECK_MUTANT"))
}

/// The user of these tests, as the kernel has it.
pub fn user() -> String {
    fabdeck_change::user_names::user_label(rustix::process::geteuid().as_raw())
}

pub const DEMO: &str = "sim:demo,traffic=none";

#[test]
fn a_change_is_applied_confirmed_and_listed() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let refused = lab.run_to_end(&["apply", "a.plan", "--yes"], 4);
    assert!(refused.contains("FD-7983") && refused.contains("--accept transition"), "{refused}");
    let refused = lab.run_to_end(&["apply", "a.plan", "--accept", "transition"], 4);
    assert!(refused.contains("FD-7989"), "{refused}");
    assert_eq!((lab.tables(), lab.state()), (before.clone(), "none".to_owned()));
    let id = lab.apply();
    assert_ne!(lab.tables(), before);
    let log = std::fs::metadata(lab.folder().join("guard.log")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&log.permissions()) & 0o777, 0o600);
    // Its tables stand already, and go back unless it is confirmed.
    let again = lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 4);
    assert!(again.contains("FD-5632") && again.contains(&id), "{again}");
    // Another plan for the fabric as it is now has to wait.
    lab.run_to_end(&["route", "--engine", "minhop", "-o", "b.plan"], 2);
    let pending = lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 4);
    assert!(pending.contains("FD-5632") && pending.contains(&user()) && pending.contains(&id), "{pending}");
    assert!(lab.run_to_end(&["confirm", "00000000"], 64).contains("FD-5634"));
    lab.run_to_end(&["extend", "1", "1m"], 0);
    lab.run_to_end(&["confirm", &id[..4]], 0);
    assert_eq!(lab.state(), "confirmed");
    assert!(lab.run_to_end(&["rollback", &id], 4).contains("FD-7985"));
    let trail = std::fs::read_to_string(lab.home.path().join("state/audit")).unwrap();
    for what in ["writing", "applied", "extended", "confirmed"] {
        assert!(trail.contains(&format!("\"what\":\"{what}\"")), "{what}: {trail}");
    }
    // The plan is for what the fabric was.
    assert!(
        lab.run_to_end(&["apply", "b.plan", "--yes", "--accept", "transition,cycle"], 0).contains("confirm")
    );
}

#[test]
fn a_stale_plan_and_what_is_no_fabric_are_refused() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["rollback", &id], 0);
    assert_eq!(lab.state(), "rolled-back");
    lab.run_to_end(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "c.plan"], 0);
    let id = lab.apply_plan("c.plan");
    lab.run_to_end(&["confirm", &id], 0);
    let stale = lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 3);
    assert!(stale.contains("FD-7986"), "{stale}");
    let mut file = lab.command(&[]);
    let ended = file.args(["--source", "lab.txt", "apply", "a.plan", "--yes"]).output().unwrap();
    assert_ne!(ended.status.code(), Some(0));
}

impl ServedLab {
    pub fn apply_plan(&self, plan: &str) -> String {
        self.run_to_end(&["apply", plan, "--yes", "--accept", "transition,unreachable,lanes"], 0);
        self.row()["id"].as_str().unwrap().to_owned()
    }
}

/// The guard dies in the window: the next command starts another one, and the change can be confirmed.
#[test]
fn a_guard_that_is_killed_has_a_successor() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guard();
    let said = lab.run_to_end(&["changes"], 0);
    assert!(said.contains("its guard was gone"), "{said}");
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(lab.state(), "confirmed");
    assert_ne!(lab.tables(), before);
}

/// `systemctl stop`, or a person who ends what they do not know: another guard keeps the change, and the trail says why.
#[test]
fn a_guard_that_is_ended_by_a_signal_leaves_a_line_and_a_successor() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    let first = lab.guards().remove(0);
    assert!(Command::new("kill").args(["-s", "TERM", &first]).status().unwrap().success());
    let since = Instant::now();
    // No command of this test starts a guard: the first one does.
    // Until the first one has ended, a request may still reach its socket.
    let has_ended = || match std::fs::read_to_string(format!("/proc/{first}/stat")) {
        Ok(stat) => stat.rsplit(") ").next().is_some_and(|state| state.starts_with('Z')),
        Err(_) => true,
    };
    while !has_ended() || lab.guards().first().is_none_or(|pid| *pid == first || pid.is_empty()) {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    let trail = lab.trail();
    assert!(trail.contains("\"what\":\"guard ended\"") && trail.contains("by a signal"), "{trail}");
    lab.run_to_end(&["rollback", &id], 0);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

#[test]
fn a_change_whose_guard_is_gone_is_rolled_back_when_asked() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guard();
    lab.run_to_end(&["rollback", &id], 0);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// As after a boot: two changes want a guard, and one that waits does not hold up the other.
#[test]
fn each_change_that_was_left_behind_has_a_guard_of_its_own() {
    let (lab, other) = (ServedLab::new(DEMO), ServedLab::new(DEMO));
    let state = lab.home.path().join("state");
    let there = other
        .command_of(state.to_str().unwrap(), &["apply", "a.plan", "--yes", "--accept", "transition"])
        .output();
    assert!(there.unwrap().status.success());
    lab.apply();
    lab.kill_guard();
    let mut resumed = lab.command(&["guard", "--resume"]).spawn().unwrap();
    let since = Instant::now();
    while lab.count_kept() < 2 {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    lab.kill_guard();
    resumed.wait().unwrap();
}

/// kill -9 while it writes, at many moments.
#[test]
fn a_guard_that_is_killed_while_it_writes_leaves_something_to_take_back() {
    let rounds = if super::long() { 60 } else { 6 };
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for round in 0..rounds {
        let lab = ServedLab::new("sim:torus,dims=4x4,terminals=30,traffic=none");
        let before = lab.tables();
        let mut applying =
            lab.command(&["apply", "a.plan", "--yes", "--accept", "transition,cycle"]).spawn().unwrap();
        let since = Instant::now();
        // The process that began it has the lock at first.
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
        lab.run_to_end(&["guard", "--resume"], 0);
        let row = lab.row();
        let state = row["state"].as_str().unwrap_or("none").to_owned();
        match state.as_str() {
            "applied" => {
                lab.run_to_end(&["rollback", row["id"].as_str().unwrap()], 0);
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
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let mut waiting = lab
        .command(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s", "--wait"])
        .spawn()
        .unwrap();
    lab.wait_for_state("applied", Duration::from_secs(20));
    assert_ne!(lab.tables(), before);
    let begun = Instant::now();
    let pid = waiting.id().to_string();
    assert!(Command::new("kill").args(["-s", "HUP", &pid]).status().unwrap().success());
    assert_eq!(waiting.wait().unwrap().code(), Some(129));
    lab.wait_for_state("rolled-back", Duration::from_secs(40));
    println!("said: rolled back {:?} after the hangup", begun.elapsed());
    assert_eq!(lab.tables(), before);
    let trail = std::fs::read_to_string(lab.home.path().join("state/audit")).unwrap();
    assert!(trail.contains("it was not confirmed in time"), "{trail}");
}

/// A link out of service after a reroute, and back: the port is disabled, no pair loses its path, and a rollback enables it.
#[test]
fn a_link_goes_out_of_service_and_comes_back() {
    let lab = ServedLab::new(DEMO);
    let link = "link:rack1-leaf[8]";
    let used = lab.run_to_end(&["disable", link, "-o", "early.plan"], 2);
    assert!(used.contains("have no path, though cables connect them"), "{used}");
    let refused = lab.run_to_end(&["apply", "early.plan", "--yes"], 4);
    assert!(refused.contains("unreachable"), "{refused}");
    lab.run_to_end(&["route", "--engine", "updn", "--fail", link, "-o", "around.plan"], 2);
    let id = lab.apply_plan("around.plan");
    lab.run_to_end(&["confirm", &id], 0);
    lab.run_to_end(&["disable", link, "-o", "out.plan"], 0);
    let before = lab.run_to_end(&["show", "links", "--json", "--no-times"], 0);
    let id = lab.apply_plan("out.plan");
    let links = || lab.run_to_end(&["show", "fabric", "--json", "--no-times"], 0);
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap()["links"].as_u64().unwrap();
    let out = number(&links());
    assert!(lab.run_to_end(&["check"], 0).contains("unreachable   none"));
    lab.run_to_end(&["rollback", &id], 0);
    assert_eq!(
        (number(&links()), lab.run_to_end(&["show", "links", "--json", "--no-times"], 0)),
        (out + 1, before.clone())
    );
    lab.run_to_end(&["disable", link, "-o", "out.plan", "--force"], 0);
    let id = lab.apply_plan("out.plan");
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(number(&links()), out);
    // What is in place is not written again and needs no confirmation.
    let again = |plan: &str| {
        let said = lab.run_to_end(&["apply", plan, "--yes"], 0);
        assert!(said.contains("nothing to do"), "{plan}: {said}");
        assert_eq!(lab.state(), "confirmed");
        assert!(lab.run_to_end(&["plan", "check", plan], 0).contains("applied already"));
    };
    again("out.plan");
    lab.run_to_end(&["enable", "port:rack1-leaf[8]", "-o", "back.plan"], 0);
    let id = lab.apply_plan("back.plan");
    lab.run_to_end(&["confirm", &id], 0);
    again("back.plan");
    assert!(lab.run_to_end(&["apply", "around.plan", "--yes"], 0).contains("nothing to do"));
    assert_eq!(lab.run_to_end(&["show", "links", "--json", "--no-times"], 0), before);
    assert!(lab.run_to_end(&["enable", "port:rack1-leaf[8]", "-o", "x.plan"], 1).contains("FD-7997"));
}
