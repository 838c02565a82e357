//! OpenSM is replaced before a change is rolled back, and a second process has its name. The guard retries, and rolls
//! back once the operator names the right process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::changes::{block_entries, opt_in, run};
use crate::opensm_driver::Site;

const OPTED: [&str; 3] = ["--config", "site.toml", "--allow-write"];

/// A process that is named opensm and is another program; it ends with the test.
struct Decoy(Child);

impl Decoy {
    fn start(folder: &Path) -> Self {
        let program = folder.join("opensm");
        fs::copy("/bin/sleep", &program).unwrap();
        Self(Command::new(program).arg("600").stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Decoy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Applies a change through an OpenSM named by its process id, replaces that OpenSM by another, and starts a decoy.
fn replaced(within: &str) -> (Site, Decoy, String, Vec<Value>) {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    site.plan("sssp", &[], 0);
    opt_in(&site.stage);
    let before = block_entries(&site.stage);
    let process = site.process().to_string();
    let apply = ["apply", "new.plan", "--yes", "--accept", "transition,cycle", "--confirm-within", within];
    let road = ["--via", "opensm", "--opensm-conf", "road.conf", "--opensm-process", &process];
    run(&site.stage, &[&OPTED[..], &apply, &road].concat(), 0);
    assert_ne!(block_entries(&site.stage), before);
    let id = change(&site)["id"].as_str().unwrap().to_owned();
    site.start();
    let decoy = Decoy::start(site.stage.folder.path());
    (site, decoy, id, before)
}

/// The only change.
fn change(site: &Site) -> Value {
    let said = run(&site.stage, &["changes", "--json"], 0);
    let json = said.lines().next().unwrap();
    serde_json::from_str::<Value>(json).or_else(|_| serde_json::from_str(&said)).unwrap()["rows"][0].clone()
}

fn folder(site: &Site) -> PathBuf {
    let mut folders = fs::read_dir(site.path("state/changes")).unwrap().flatten().map(|entry| entry.path());
    folders.find(|path| path.join("journal").exists()).unwrap()
}

/// Waits until a condition holds.
fn wait_until<T>(what: &str, so: impl Fn() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = so() {
            return found;
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(100));
    }
}

/// The process with these words in its command line.
fn process_of(words: &[&str]) -> Option<u32> {
    let words: String = words.iter().map(|word| format!("\0{word}")).collect();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_it = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(&words))
    };
    pids.find(is_it)
}

#[test]
fn a_rollback_waits_for_opensm_and_goes_on_once_its_process_is_named() {
    let (site, decoy, id, before) = replaced("10m");
    // The operator's command waits; the guard goes on after it is killed.
    let mut asker = site.stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    asker.args(["--source", "umad", "--state-dir", "state", "--config", "site.toml", "rollback", &id]);
    asker.env("HOME", site.path("home")).env("XDG_CONFIG_HOME", site.path("home"));
    let mut asker = asker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the guard cannot tell OpenSM", || {
        change(&site)["trouble"].as_str().filter(|trouble| trouble.contains("FD-5672")).map(drop)
    });
    asker.kill().unwrap();
    asker.wait().unwrap();
    assert_ne!(block_entries(&site.stage), before, "nobody told OpenSM yet");
    let named = |process: &str, exit| {
        run(&site.stage, &["--config", "site.toml", "rollback", &id, "--opensm-process", process], exit)
    };
    let refused = named(&std::process::id().to_string(), 4);
    assert!(refused.contains("FD-5672") && refused.contains("not called opensm"), "{refused}");
    named(&site.process().to_string(), 0);
    assert_eq!(block_entries(&site.stage), before);
    let journal = fs::read_to_string(folder(&site).join("journal")).unwrap();
    assert_eq!(journal.matches("opensm-named").count(), 1, "{journal}");
    // The audit trail has the process of apply and the one named later.
    let trail = fs::read_to_string(site.path("state/audit")).unwrap();
    let writing = trail.lines().find(|line| line.contains("\"writing\"")).unwrap();
    assert!(writing.contains("; OpenSM is process "), "{trail}");
    assert!(trail.contains("OpenSM's process named"), "{trail}");
    drop(decoy);
}

#[test]
fn a_new_guard_is_given_the_process_of_opensm() {
    let (site, decoy, id, before) = replaced("10m");
    // The second process is killed first, because it would take the change over.
    for keeper in ["--second", "--begin"] {
        let pid = wait_until(keeper, || process_of(&["guard", keeper, &id]));
        let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
        assert!(killed.success(), "{keeper}: {pid}");
    }
    let pid_file = site.path("of-opensm.pid");
    fs::write(&pid_file, format!("{}\n", site.process())).unwrap();
    // The path is relative to this folder, not to the one in which the guard starts.
    let resume = ["--config", "site.toml", "guard", "--resume", "--opensm-process", "of-opensm.pid"];
    let said = run(&site.stage, &resume, 0);
    assert!(said.contains(&id) && said.contains("of-opensm.pid"), "{said}");
    run(&site.stage, &["--config", "site.toml", "rollback", &id], 0);
    assert_eq!(block_entries(&site.stage), before);
    drop(decoy);
}
