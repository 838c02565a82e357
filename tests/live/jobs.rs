//! Jobs of a real Slurm: host lists that both parse, a controller with eight nodes on this machine, and its failures.
//! Needs root, because slurmd starts jobs as their owner.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck_files::slurm::{compress, expand};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use tempfile::TempDir;

use crate::changes::opt_in;
use crate::ibsim::{Stage, fabric, finish, program};

const PATIENCE: Duration = Duration::from_secs(60);
const NODES: usize = 8;

/// Processes that end with this value, by their ids.
pub struct Cluster {
    folder: TempDir,
    children: Vec<(&'static str, Child)>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Jobs and their step daemons are no children of this process, and outlive their controller.
        for file in fs::read_dir(self.folder.path()).into_iter().flatten().flatten() {
            let ids =
                if file.file_name().to_string_lossy().ends_with(".ids") { file.path() } else { continue };
            let ids = fs::read_to_string(ids).unwrap_or_default();
            let ids =
                ids.split_whitespace().filter_map(|id| rustix::process::Pid::from_raw(id.parse().ok()?));
            for id in ids {
                let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
        for (_, child) in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn configuration(folder: &Path, ports: [u16; 2]) -> String {
    let at = folder.display();
    let [controller, first] = ports;
    let last = usize::from(first) + NODES - 1;
    format!(
        "ClusterName=fabdeck\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\n\
         SlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nCredType=cred/munge\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool-%n\nSlurmctldPidFile={at}/slurmctld.pid\n\
         SlurmdPidFile={at}/slurmd-%n.pid\nSlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/slurmd-%n.log\n\
         ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\nMpiDefault=none\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
         SlurmdParameters=config_overrides\nReturnToService=2\nSlurmdTimeout=0\nMessageTimeout=30\n\
         NodeName=node[0-{}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES State=UP\n",
        NODES - 1
    )
}

/// A free port for the controller, and the first of the free ports for the nodes.
fn ports() -> [u16; 2] {
    let free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = 20_000 + (std::process::id() % 20_000) as u16;
    let all = |first: &u16| (0..=NODES as u16).all(|at| free(first + at));
    let first = (start..start + 2_000).step_by(NODES + 1).find(all).expect("no ports are free");
    [first, first + 1]
}

impl Cluster {
    /// Writes the configuration, without starting anything.
    fn written() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        fs::write(folder.path().join("slurm.conf"), configuration(folder.path(), ports())).unwrap();
        Self { folder, children: Vec::new() }
    }

    pub fn started() -> Self {
        let mut cluster = Self::written();
        let at = cluster.folder.path().to_owned();
        // munged accepts no socket in a folder that other users cannot enter.
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
        let key = at.join("munge.key");
        fs::write(&key, b"a key of this test alone, long enough for munged").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let of = |flag: &str, name: &str| format!("--{flag}={}", at.join(name).display());
        let mut munged = Command::new(program("munged", "munge"));
        munged.args(["--foreground", "--force"]);
        munged.args([of("key-file", "munge.key"), of("socket", "munge.socket"), of("pid-file", "munge.pid")]);
        munged.args([of("log-file", "munge.log"), of("seed-file", "munge.seed")]);
        cluster.start("munged", munged);
        let mut controller = Command::new(program("slurmctld", "slurmctld"));
        controller.args(["-D", "-i"]);
        cluster.start("slurmctld", controller);
        for node in 0..NODES {
            let mut slurmd = Command::new(program("slurmd", "slurmd"));
            slurmd.args(["-D", "-N", &format!("node{node}")]);
            cluster.start("slurmd", slurmd);
        }
        cluster.wait("nodes", || {
            cluster.tool_output("sinfo", &["-h", "-t", "idle", "-o", "%D"]).trim() == NODES.to_string()
        });
        cluster
    }

    fn configured(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn start(&mut self, name: &'static str, mut command: Command) {
        let log =
            fs::File::create(self.folder.path().join(format!("{name}-{}.out", self.children.len()))).unwrap();
        command.env("SLURM_CONF", self.configured()).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.children.push((name, command.spawn().unwrap()));
    }

    pub fn wait(&self, what: &str, holds: impl Fn() -> bool) {
        let since = Instant::now();
        while !holds() {
            let log = || fs::read_to_string(self.folder.path().join("slurmctld.log")).unwrap_or_default();
            assert!(since.elapsed() < PATIENCE, "{what}: {}", log());
            sleep(Duration::from_millis(100));
        }
    }

    pub fn slurm(&self, tool: &str, args: &[&str]) -> Output {
        let mut command = Command::new(program(tool, "slurm-client"));
        command.args(args).env("SLURM_CONF", self.configured()).output().unwrap()
    }

    pub fn tool_output(&self, tool: &str, args: &[&str]) -> String {
        String::from_utf8(self.slurm(tool, args).stdout).unwrap()
    }

    fn submit(&self, args: &[&str]) {
        let job = self.folder.path().join("job.sh");
        let ids = format!("{}/$SLURM_JOB_ID.ids", self.folder.path().display());
        fs::write(&job, format!("#!/bin/sh\necho $$ $PPID > {ids}\nexec sleep 600\n")).unwrap();
        let output = format!("--output={}/%j.out", self.folder.path().display());
        let job = job.to_str().unwrap();
        let submitted = self.slurm("sbatch", &[args, &[&output, job]].concat());
        assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    }

    /// Runs fabdeck on a fabric whose hosts have the names of the nodes.
    fn fabdeck(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
        command.args(["--source", "sim:kary,k=2,n=3"]).args(args);
        command.env("SLURM_CONF", self.configured()).env_remove("XDG_CONFIG_HOME").output().unwrap()
    }

    fn id(&self, name: &str) -> rustix::process::Pid {
        let (_, child) = self.children.iter().find(|(known, _)| *known == name).unwrap();
        rustix::process::Pid::from_child(child)
    }
}

/// The state and reason of a node.
fn state_of(cluster: &Cluster, node: &str) -> String {
    cluster.tool_output("sinfo", &["-h", "-N", "-n", node, "-o", "%t|%E"]).trim().to_owned()
}

/// A watch with a policy drains the node of a cable that counts errors, and undrains it once the cable is good. A node that
/// an operator drained is left alone. Simulated hours pass within seconds.
#[test]
fn a_node_of_a_real_slurm_is_drained_and_undrained_by_its_cable() {
    let cluster = Cluster::started();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = folder.path();
    let story = "0s errors leaf0/1 6000000\n0s errors leaf1/1 6000000\n1800s errors leaf0/1 0\n1800s errors leaf1/1 0\n";
    fs::write(at.join("story"), story).unwrap();
    let source = format!("sim:kary,k=2,n=3,traffic=none,story={}", at.join("story").display());
    let tools = ["sinfo", "scontrol"]
        .map(|tool| format!("{tool} = \"{}\"\n", program(tool, "slurm-client").display()));
    let policy = format!(
        "fabrics = [\"{source}\"]\nbad_together = \"90%\"\n[slurm]\nmode = \"apply\"\nevery = \"100ms\"\n\
         good_for = \"1m\"\n{}{}",
        tools[0], tools[1]
    );
    fs::write(at.join("policy.toml"), policy).unwrap();
    // An operator drained the node of the second cable.
    let update = ["update", "NodeName=node2", "State=DRAIN", "Reason=bad disk"];
    assert!(cluster.slurm("scontrol", &update).status.success());
    cluster.wait("the operator's drain", || state_of(&cluster, "node2") == "drain|bad disk");
    let mut watch = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    watch.args(["--source", &source, "--allow-write", "--state-dir"]).arg(at.join("state"));
    watch.args(["watch", "--interval", "10s", "--count", "100000", "--policy"]).arg(at.join("policy.toml"));
    watch.env("SLURM_CONF", cluster.configured()).env_remove("XDG_CONFIG_HOME").stdin(Stdio::null());
    let log = fs::File::create(at.join("events")).unwrap();
    let mut watch = watch.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
    let events = || fs::read_to_string(at.join("events")).unwrap();
    let since = Instant::now();
    while !events().contains("policy-undrained") {
        assert!(since.elapsed() < PATIENCE && watch.try_wait().unwrap().is_none(), "{}", events());
        sleep(Duration::from_millis(50));
    }
    watch.kill().unwrap();
    watch.wait().unwrap();
    let events = events();
    assert!(events.contains("policy-drained: node node0 is drained"), "{events}");
    assert!(events.contains("drained-by-others") && !events.contains("node node2 is drained"), "{events}");
    assert_eq!(state_of(&cluster, "node2"), "drain|bad disk");
    cluster.wait("the node is in use", || state_of(&cluster, "node0").starts_with("idle"));
}

/// Generates host lists, some of which Slurm refuses.
fn lists() -> impl Strategy<Value = String> {
    let range = prop_oneof!["0{0,2}[0-9]{1,3}", "0{0,2}[0-9]{1,2}-0{0,2}[0-9]{1,2}", "-[0-9]", "", "x"];
    let bracket = vec(range, 1..4).prop_map(|ranges| format!("[{}]", ranges.join(",")));
    let name =
        ("[a-z]{1,3}[0-9]{0,2}-?", vec(bracket, 0..3)).prop_map(|(text, brackets)| text + &brackets.concat());
    vec(name, 1..4).prop_map(|names| names.join(","))
}

/// fabdeck and Slurm expand the same list to the same names.
#[test]
fn host_lists_are_what_slurm_says() {
    let cluster = Cluster::written();
    let by_slurm = |list: &str| -> Vec<String> {
        let output = cluster.slurm("scontrol", &["show", "hostnames", list]);
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    for list in [
        "h[0-3,7]",
        "h[08-11]",
        "h[8-011]",
        "h[08-9]",
        "r[1-2]n[1-2]",
        "n[1-2][3-4]",
        "n[1-2],m",
        "n1,,n2",
        "n[1,02],n1",
        "[1-3]",
        "n[98-101]",
        "n[098-101]",
        "a[1-3]b[0-1]c[2,4]",
        "n0[1-2]",
        "n[000000000000000001-3]",
        "a-1.b,c",
    ] {
        let (mut slurm, mut own) = (by_slurm(list), expand(list).unwrap());
        // With several brackets Slurm varies another one fastest, so both lists are sorted.
        slurm.sort_unstable();
        own.sort_unstable();
        assert_eq!(own, slurm, "{list}");
    }
    let cases = Config { cases: 500, failure_persistence: None, ..Config::default() };
    let same = |list: String| {
        let mut slurm = by_slurm(&list);
        slurm.sort_unstable();
        let mut own = expand(&list).unwrap_or_default();
        own.sort_unstable();
        prop_assert_eq!(own, slurm, "{}", list);
        Ok(())
    };
    TestRunner::new(cases).run(&lists(), same).unwrap_or_else(|error| panic!("{error}"));
    for list in ["n[]", "n[3-1]", "n[a-b]", "n[1-2]]", "n[[1-2]]", "n[1-70000]", "n[1-2-3]", "n[1-2,]"] {
        assert_eq!((expand(list).is_err(), by_slurm(list)), (true, Vec::new()), "{list}");
    }
    let names: Vec<String> =
        (0..300).map(|at: usize| format!("r{}n{:0w$}", at % 7, at * at % 211, w = 1 + at % 3)).collect();
    let mut slurm = by_slurm(&compress(&names));
    let mut names = names;
    [&mut slurm, &mut names].into_iter().for_each(|list| (list.sort_unstable(), list.dedup()).1);
    assert_eq!(slurm, names);
}

#[test]
fn jobs_are_those_of_a_real_slurm_and_its_silence_is_bounded() {
    let mut cluster = Cluster::started();
    cluster.submit(&["-N4", "--nodelist=node[0-3]"]);
    cluster.submit(&["-N1", "--array=1-2", "--nodelist=node4"]);
    cluster.submit(&["-N1", "--nodelist=node5", ":", "-N2", "--nodelist=node[6-7]"]);
    cluster.submit(&["-N8"]);
    cluster.wait("jobs", || cluster.tool_output("squeue", &["-h", "-t", "R"]).lines().count() >= 4);
    let told = cluster.fabdeck(&["jobs", "--slurm", "--json"]);
    let report: Value = serde_json::from_slice(&told.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&told.stderr)));
    let rows: Vec<(String, u64)> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["job"].as_str().unwrap().to_owned(), row["hosts"].as_u64().unwrap()))
        .collect();
    // Waiting jobs are not on the fabric; the array has one task on a node; the two components are one job.
    assert_eq!(rows[0], ("1".to_owned(), 4), "{report}");
    assert_eq!(rows.len(), 3, "{report}");
    assert!(rows[1].0.parse::<u64>().is_ok() && rows[1].1 == 3, "{report}");
    assert!(rows[2].0.starts_with("2_") && rows[2].1 == 1, "{report}");
    assert!(report["rows"][0]["max"].as_u64().unwrap() > 0, "{report}");

    let text = cluster.folder.path().join("list");
    fs::write(&text, cluster.tool_output("squeue", &["-h", "-t", "R", "-o", "%i %N"])).unwrap();
    let from_file = cluster.fabdeck(&["jobs", "--file", text.to_str().unwrap(), "--json"]);
    let from_file: Value = serde_json::from_slice(&from_file.stdout).unwrap();
    assert_eq!((&from_file["rows"], &from_file["totals"]), (&report["rows"], &report["totals"]));

    // The controller hangs; squeue itself would wait for half a minute.
    rustix::process::kill_process(cluster.id("slurmctld"), rustix::process::Signal::STOP).unwrap();
    let since = Instant::now();
    let hung = cluster.fabdeck(&["jobs", "--slurm", "--slurm-timeout", "2s"]);
    let said = String::from_utf8_lossy(&hung.stderr).into_owned();
    assert_eq!(hung.status.code(), Some(8), "{said}");
    assert!(said.contains("FD-4602: squeue did not answer within 2 s"), "{said}");
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    rustix::process::kill_process(cluster.id("slurmctld"), rustix::process::Signal::CONT).unwrap();
    cluster.wait("it goes on", || cluster.fabdeck(&["jobs", "--slurm"]).status.success());

    watched_while_it_dies(&mut cluster);
}

/// Checks that the last list stays valid, with its age, and that the watch goes on.
fn watched_while_it_dies(cluster: &mut Cluster) {
    let mut watch = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    let plans = cluster.folder.path().join("plans");
    fs::create_dir(&plans).unwrap();
    let out = cluster.folder.path().join("watch.out");
    watch.args(["--source", "sim:kary,k=2,n=3", "jobs", "watch", "--slurm", "--slurm-timeout", "20s"]);
    watch.args(["--interval", "1s", "--gain", "0", "--json", "-o"]).arg(&plans);
    watch.env("SLURM_CONF", cluster.configured()).env_remove("XDG_CONFIG_HOME").stdin(Stdio::null());
    watch.stdout(fs::File::create(&out).unwrap()).stderr(Stdio::null());
    cluster.children.push(("watch", watch.spawn().unwrap()));
    let events = || -> Vec<Value> {
        let text = fs::read_to_string(&out).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let has = |event: &str| events().iter().any(|line| line["event"] == event);
    cluster.wait("a second list", || has("unchanged"));
    let first = events()[0].clone();
    assert_eq!(first["event"], "proposed", "{first}");
    assert!(Path::new(first["plan"].as_str().unwrap()).is_file(), "{first}");
    rustix::process::kill_process(cluster.id("slurmctld"), rustix::process::Signal::KILL).unwrap();
    cluster.wait("it is told", || has("unheard"));
    let unheard = events().into_iter().find(|line| line["event"] == "unheard").unwrap();
    assert!(unheard["why"].as_str().unwrap().contains("FD-460"), "{unheard}");
    assert!(unheard["age_seconds"].as_u64().is_some(), "{unheard}");
    let (_, mut watch) = cluster.children.pop().unwrap();
    let id = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(143));
}

/// A watch with the right to write applies its proposal over a port of ibsim. The change is confirmed in the journal,
/// and the jobs get the proposed figures.
#[test]
fn routes_for_the_jobs_of_a_real_slurm_are_applied_over_a_real_port() {
    let cluster = Cluster::started();
    cluster.submit(&["-N6", "--nodelist=node[0-5]"]);
    cluster.wait("a job", || !cluster.tool_output("squeue", &["-h", "-t", "R"]).is_empty());
    let stage = Stage::play(&fabric("kary,k=2,n=3"));
    stage.opensm(&["-R", "minhop"]);
    opt_in(&stage);
    let slurm = |args: &[&str]| {
        let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
        command.args(["--source", "umad", "--json"]).args(args).env("SLURM_CONF", cluster.configured());
        finish(command)
    };
    let opted = ["--allow-write", "--config", "site.toml", "--state-dir", "state"];
    let watch = ["jobs", "watch", "--slurm", "--gain", "0", "--count", "2", "--interval", "1s", "--apply"];
    let ended = slurm(&[&opted[..], &watch, &["--beside-manager"]].concat());
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    let told = String::from_utf8(ended.stdout).unwrap();
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["proposed", "applied", "confirmed", "unchanged"], "{lines:#?}{said}");
    let changes: Value = serde_json::from_slice(&slurm(&[&opted[..], &["changes"]].concat()).stdout).unwrap();
    let row = &changes["rows"][0];
    assert_eq!((&row["id"], &row["state"]), (&lines[2]["change"], &"confirmed".into()), "{changes:#}");
    let jobs: Value = serde_json::from_slice(&slurm(&["jobs", "--slurm"]).stdout).unwrap();
    assert_eq!(jobs["totals"]["max"], lines[0]["proposed"]["max"], "{jobs:#}");
    println!("said: {} writes for the jobs of a real Slurm", lines[1]["writes"]);
}
