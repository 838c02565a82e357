//! The binary itself: streams, exit codes, pipes, signals.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The binary with a home of its own, so that neither a configuration nor a log of this machine matters.
pub fn fabdeck(home: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.current_dir(home.path()).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env("HOME", home.path());
    for folder in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home.path());
    }
    command
}

pub fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

const SHOWS: &[&str] = &["fabric", "switches", "hosts", "links", "ports", "tables", "counters", "lanes"];

#[test]
fn nothing_is_coloured_and_nothing_fails_without_a_terminal() {
    let home = home();
    let shows = SHOWS.iter().map(|what| vec!["--source", "sim:demo", "show", what]);
    let others = [
        vec![],
        vec!["sources"],
        vec!["generate", "demo"],
        vec!["generate", "demo", "--json"],
        vec!["completions", "bash"],
        vec!["man"],
    ];
    for args in shows.chain(others) {
        let ended =
            assert_cmd::Command::from_std(fabdeck(&home)).args(&args).assert().code(0).get_output().clone();
        assert!(!ended.stdout.contains(&0x1b) && !ended.stderr.contains(&0x1b), "{args:?}");
    }
}

/// The examples of help and docs, but for those that name files, ask Slurm, or run until they are stopped.
#[test]
fn examples_work_as_they_stand() {
    let home = home();
    let names_files = |line: &str| {
        [
            "capture/",
            "ibdiagnet2/",
            ".fdcap",
            ".topo",
            ".dump",
            " -o ",
            "man ",
            "--serve",
            "--hook",
            "--slurm",
            " results",
            " --follow",
        ]
        .iter()
        .any(|sign| line.contains(sign))
    };
    let reads = fabdeck::script::commands::COMMANDS
        .iter()
        .filter(|command| command.danger != fabdeck::catalogue::danger::Danger::WritesFabric);
    let examples = reads.flat_map(|command| command.examples);
    for example in examples.filter(|line| !names_files(line)) {
        let mut shell = Command::new("sh");
        let line = example.replacen("fabdeck", env!("CARGO_BIN_EXE_fabdeck"), 1);
        shell.args(["-c", &line]).env("HOME", home.path()).env("XDG_STATE_HOME", home.path());
        let ended = shell.env("XDG_CONFIG_HOME", home.path()).current_dir(home.path()).output().unwrap();
        // Whoever looks for something and finds it ends with 2, as on the demo.
        let code = ended.status.code();
        let looks = [" check", "sim:demo health", "sim:demo hotspots", "sim:demo lanes propose"]
            .iter()
            .any(|words| example.contains(words));
        let done = code == Some(0) || code == Some(2) && looks;
        assert!(done && !ended.stdout.is_empty(), "{example}: {ended:?}");
    }
}

/// Two seconds of the demo are enough to see something, and a script gets the same bytes each time.
#[test]
fn the_demo_shows_a_hot_spot_its_victims_and_a_bad_cable() {
    let home = home();
    let look = || {
        let args = ["--source", "sim:demo", "hotspots", "--interval", "2s"];
        let ended = assert_cmd::Command::from_std(fabdeck(&home)).args(args).assert().code(2);
        String::from_utf8(ended.get_output().stdout.clone()).unwrap()
    };
    let said = look();
    for words in [
        "hot-spot     storage01 mlx5_0[1], which rack6-leaf",
        "waits        node02 mlx5_0[1]: PortXmitWait",
        "contributor: the paths of all others carried",
        "link         rack2-leaf[7] to spine-1[3]: 20 errors in 2 s",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(look(), said);
}

/// The fabric of the file has adaptive routing on at two of its switches: its tables are read, and nothing is said
/// of deadlock.
#[test]
fn tables_of_a_fabric_with_adaptive_routing_are_not_judged() {
    let home = home();
    let fabric = concat!(env!("FABDECK_ROOT"), "/tests/fixtures/incident/fabric.db_csv");
    let rows = |guid: &str, ports: [u8; 4]| {
        let lids = ["0x0001", "0x0002", "0x0008", "0x000c"];
        let rows: String =
            lids.iter().zip(ports).map(|(lid, port)| format!("{lid} {port:03} # \n")).collect();
        format!("Unicast lids [0-12] of switch Lid 1 guid {guid} ('a switch'):\n{rows}12 lids dumped\n")
    };
    let tables = rows("0x00000000000a0001", [0, 3, 1, 3])
        + &rows("0x00000000000a0002", [3, 0, 3, 1])
        + &rows("0x00000000000a0003", [1, 2, 1, 2]);
    std::fs::write(home.path().join("fabric.lft"), tables).unwrap();
    let check = ["--source", fabric, "check", "--tables", "fabric.lft", "--lanes", "one"];
    let said = |more: &[&str]| {
        let output = fabdeck(&home).args(check).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = said(&[]);
    let reason = "adaptive routing is on and its tables were not read at 2 switches (such as leaf0, rack 1)";
    assert!(text.contains("deadlock      not certified, because ") && text.contains(reason), "{text}");
    let json: serde_json::Value = serde_json::from_str(&said(&["--json"])).unwrap();
    assert_eq!((&json["deadlock_free"], &json["adaptive_routing"]), (&serde_json::Value::Null, &2.into()));
    assert!(json["pairs"].as_u64().is_some_and(|pairs| pairs > 0), "{json}");

    // What picks ports besides, and a switch that did not say, which ibdiagnet writes as N/A.
    let text = std::fs::read_to_string(fabric).unwrap();
    let of_table = text.find("NodeGUID,e,is_arn_sup").unwrap()..text.find("END_AR_INFO").unwrap();
    let held = |rows: [&str; 3]| {
        let mut table = "NodeGUID,e,fr_enabled,by_sl_hbf_en,whbf_en\n".to_owned();
        for (at, row) in (1..).zip(rows) {
            table += &format!("0x00000000000a000{at},{row}\n");
        }
        let mut text = text.clone();
        text.replace_range(of_table.clone(), &table);
        std::fs::write(home.path().join("changed.db_csv"), text).unwrap();
        let args =
            ["--source", "changed.db_csv", "check", "--tables", "fabric.lft", "--lanes", "one", "--json"];
        let said = fabdeck(&home).args(args).output().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
        (
            json["deadlock_free"].as_bool(),
            json["adaptive_routing"].as_u64(),
            json["adaptive_unknown"].as_u64().unwrap(),
        )
    };
    let off = "0,0,0,0";
    let judged = held([off, off, off]);
    assert_eq!((judged.0.is_some(), judged.1, judged.2), (true, None, 0));
    for on in ["1,0,0,0", "0,1,0,0", "0,0,1,0", "0,0,0,1"] {
        assert_eq!(held([off, on, "N/A,N/A,N/A,N/A"]), (None, Some(1), 0), "{on}");
    }
    assert_eq!(held(["N/A,N/A,N/A,N/A", off, "N/A,N/A,N/A,N/A"]), (None, Some(0), 2));
}

/// Two outputs of perfquery, narrow and extended of each port, which count together.
#[test]
fn two_files_of_counters_are_compared_on_a_fabric() {
    let home = home();
    let said = |args: &[&str]| fabdeck(&home).args(args).output().unwrap();
    let source = ["--source", "sim:kary,k=3,n=2"];
    let hosts = said(&[&source[..], &["show", "hosts", "--json", "--fields", "name,lid"]].concat());
    let hosts: serde_json::Value = serde_json::from_slice(&hosts.stdout).unwrap();
    let lid = hosts["rows"][0]["lid"].as_u64().unwrap();
    let name = hosts["rows"][0]["name"].as_str().unwrap();
    for (file, wait, data) in [("first.txt", 1_000_000, 5), ("second.txt", 7_000_000, 1_000_005)] {
        let text = format!(
            "# Port counters: Lid {lid} port 1 (CapMask: 0x5300)\nPortSelect:......................1\n\
             PortXmitWait:....................{wait}\n\
             # Port extended counters: Lid {lid} port 1 (CapMask: 0x5300)\n\
             PortSelect:......................1\nPortXmitData:....................{data}\n"
        );
        std::fs::write(home.path().join(file), text).unwrap();
    }
    let files = ["hotspots", "--before", "first.txt", "--after", "second.txt", "--seconds"];
    let found = said(&[&source[..], &files, &["20"]].concat());
    assert_eq!(found.status.code(), Some(2), "{found:?}");
    let text = String::from_utf8(found.stdout).unwrap();
    let line = format!("{name}[1]: PortXmitWait 300,000 ticks/s, above 100,000; 0 % of its link in use");
    assert!(text.lines().any(|row| row.starts_with("waits ") && row.contains(&line)), "{text}");
    let quiet = said(&[&source[..], &files, &["200"]].concat());
    assert_eq!(quiet.status.code(), Some(0), "{quiet:?}");
}

#[test]
fn usage_errors_end_with_64() {
    let home = home();
    for args in
        [&["nonsense"][..], &["show", "links"], &["--source", "sim:nothing", "show", "links"], &["check"]]
    {
        let ended =
            assert_cmd::Command::from_std(fabdeck(&home)).args(args).assert().code(64).get_output().clone();
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_source_that_is_not_there_and_one_that_is_no_fabric() {
    let home = home();
    std::fs::write(home.path().join("letter.txt"), "Dear fabric,\n").unwrap();
    let run = |source: &str| {
        assert_cmd::Command::from_std(fabdeck(&home)).args(["--source", source, "show", "fabric"]).assert()
    };
    run("absent.topo").code(8);
    let ended = run("letter.txt").code(7).get_output().clone();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("letter.txt:1"), "{ended:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = home();
    for args in [&["--source", "sim:demo", "show", "ports", "--json"][..], &["completions", "bash"], &["man"]]
    {
        let mut child =
            fabdeck(&home).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn two_runs_give_equal_bytes() {
    let home = home();
    for what in SHOWS {
        let run =
            || fabdeck(&home).args(["--source", "sim:demo", "show", what, "--json"]).output().unwrap().stdout;
        assert_eq!(run(), run(), "{what}");
    }
}

#[test]
fn the_log_goes_to_the_state_folder_and_may_fail() {
    let home = home();
    let run = |home: &TempDir| {
        assert_cmd::Command::from_std(fabdeck(home))
            .args(["-v", "sources"])
            .assert()
            .code(0)
            .get_output()
            .clone()
    };
    let said = String::from_utf8(run(&home).stderr).unwrap();
    let folder = home.path().join("fabdeck");
    assert_eq!(said, format!("fabdeck: the log is in {}\n", folder.display()));
    let logs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(logs.len(), 1);
    assert!(std::fs::read_to_string(&logs[0]).unwrap().contains("ended code=0"));

    let barred = self::home();
    std::fs::write(barred.path().join("fabdeck"), "a file where the folder should be").unwrap();
    let said = String::from_utf8(run(&barred).stderr).unwrap();
    assert!(said.starts_with("fabdeck: no log is written to "), "{said}");
}

#[test]
fn signals_have_codes_of_their_own() {
    let home = home();
    let fifo = home.path().join("fabric.topo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        // A named pipe that nobody writes to keeps the command waiting.
        let mut child = fabdeck(&home).args(["--source", "fabric.topo", "show", "fabric"]).spawn().unwrap();
        wait_until_it_waits(child.id());
        assert!(
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

/// Until the signal is caught: the process' own mask says so.
fn wait_until_it_waits(process: u32) {
    for _ in 0..2000 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        let mask = u64::from_str_radix(caught.trim(), 16).unwrap();
        // SIGHUP, SIGINT and SIGTERM are 1, 2 and 15.
        if mask & 0x4003 == 0x4003 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("the process never caught its signals");
}

/// The tree of the demo's group goes over one of its spines.
#[test]
fn groups_that_a_failure_tears_are_named() {
    let home = home();
    let said = |element: &str, more: &[&str]| {
        let line = ["--source", "sim:demo", "whatif", "--engine", "updn", "--no-times", "--fail", element];
        let output = fabdeck(&home).args(line).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let torn = said("switch:spine-1", &[]);
    assert!(torn.contains("groups    1 of 1 multicast group cut until"), "{torn}");
    assert!(said("switch:spine-2", &[]).contains("groups    none of 1 multicast group cut\n"));
    let json: serde_json::Value = serde_json::from_str(&said("switch:spine-1", &["--json"])).unwrap();
    assert_eq!(json["groups_cut"], serde_json::json!({ "known": 1, "count": 1, "first": ["0xc000"] }));
}

#[test]
fn a_mark_on_a_port_without_a_cable_takes_nothing_and_says_so() {
    let whatif = ["--source", "sim:torus,dims=3", "whatif", "--engine", "minhop", "--fail"];
    for (port, bare) in [("port:sw_0[36]", true), ("port:sw_0[1]", false)] {
        let ended = fabdeck(&home()).args(whatif).arg(port).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(said.contains("has no cable, so its failure affects no path"), bare, "{port}: {said}");
    }
}

#[test]
fn a_given_root_that_is_failed_is_named() {
    let home = home();
    std::fs::write(home.path().join("roots"), "0x0002c90100000003\n").unwrap();
    for engine in ["updn", "nue", "ftree"] {
        let whatif = ["--source", "sim:kary,k=3,n=2", "-v", "whatif", "--engine", engine];
        let ended =
            fabdeck(&home).args(whatif).args(["--roots", "roots", "--fail", "switch:spine0"]).output();
        let said = String::from_utf8_lossy(&ended.unwrap().stderr).into_owned();
        assert!(
            said.contains("roots that were given and have failed: 0x0002c90100000003"),
            "{engine}: {said}"
        );
    }
}

/// What did not answer is not what is gone: no plan takes its routes away, and verdicts say what they are about.
#[test]
fn a_fabric_that_answers_in_part_gets_no_plan() {
    let home = home();
    let said = |args: &[&str], code: i32| {
        let args = [&["--source", "sim:demo,silent=20%,seed=7"][..], args].concat();
        let ended = assert_cmd::Command::from_std(fabdeck(&home))
            .args(&args)
            .assert()
            .code(code)
            .get_output()
            .clone();
        [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let [checked, _] = said(&["check"], 0);
    assert!(checked.contains("partial"), "{checked}");
    let [_, refused] = said(&["route", "--engine", "nue", "-o", "half.plan"], 1);
    assert!(refused.contains("FD-7924") && refused.contains("9 LIDs"), "{refused}");
    assert!(!home.path().join("half.plan").exists());
}

/// A mistyped path, or a planted link, must not fill the memory of a machine.
#[test]
fn endless_files_are_refused() {
    let home = tempfile::tempdir().unwrap();
    for (args, code) in [
        (&["--config", "/dev/zero", "sources"][..], "FD-7101"),
        (&["--source", "sim:demo", "run", "/dev/zero"], "FD-9201"),
    ] {
        let output = fabdeck(&home).args(args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(code) && text.contains("more than the limit of"), "{args:?}: {text}");
    }
}

/// Any user can set `$USER`, so a plan names the user of the process, as the journal of a change does.
#[test]
fn the_author_of_a_plan_is_the_user_of_the_process() {
    let home = home();
    let user = fabdeck_change::user_names::user_label(rustix::process::geteuid().as_raw());
    for args in [&["route", "--engine", "minhop"][..], &["disable", "link:rack1-leaf[8]"]] {
        let mut command = fabdeck(&home);
        command.env("USER", "mallory").env_remove("SUDO_USER").args(["--source", "sim:demo"]).args(args);
        let ended = command.args(["-o", "-"]).output().unwrap();
        let plan: serde_json::Value = serde_json::from_slice(&ended.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ended.stderr)));
        assert_eq!(plan["author"], user.as_str(), "{args:?}");
    }
}
