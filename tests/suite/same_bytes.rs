//! Same input, same bytes: `generate`, every `show`, `convert`, `check`, `whatif` with every engine and `route` run with
//! one thread and with two on a few fabrics, as processes of their own (so with other addresses and other random
//! states), and print the same. With `FABDECK_LONG=1` each runs twice.

use std::process::{Command, Stdio};

const FABRICS: &[&str] = &[
    "demo",
    "kary,k=4,n=3,faults=5,seed=7",
    "mport,m=4,n=3",
    "random,switches=60,links=180,seed=3,faults=5%,switch-faults=2,aggregation=yes",
    "dragonfly,a=4,p=2,h=2,g=9,redundancy=2",
    "kautz,d=3,k=3,seed=9,faults=1%",
    "taurus",
];
const SHOWS: &[&str] = &["fabric", "switches", "hosts", "links", "ports", "tables", "counters", "lanes"];
const WRITTEN: &[&str] = &["ibnetdiscover", "ibsim", "lst", "guids", "slurm-topology", "slurm-topology-yaml"];

/// What a run says and how it ends.
fn said(args: &[&str], threads: &str) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(args).stdin(Stdio::null()).env("RAYON_NUM_THREADS", threads).env("HOME", home.path());
    for folder in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home.path());
    }
    let output = command.current_dir(env!("FABDECK_ROOT")).output().unwrap();
    (output.status.code(), output.stdout, output.stderr)
}

fn always_the_same(args: &[&str]) {
    let first = said(args, "1");
    // A check that finds something is as good.
    let judges = ["check", "whatif", "route"].iter().any(|word| args.contains(word));
    let done = first.0 == Some(0) || first.0 == Some(2) && judges;
    assert!(done, "{args:?}: {:?} {}", first.0, String::from_utf8_lossy(&first.2));
    assert!(!first.1.is_empty(), "{args:?} printed nothing");
    let more: &[&str] = if crate::changes::long() { &["2", "1", "2"] } else { &["2"] };
    for threads in more {
        assert!(said(args, threads) == first, "{args:?} with {threads} threads: other bytes");
    }
}

#[test]
fn generated_fabrics_are_the_same_bytes() {
    for name in FABRICS {
        always_the_same(&["generate", name, "-o", "-"]);
        always_the_same(&["generate", name, "--json", "--no-times"]);
    }
}

#[test]
fn another_seed_gives_another_fabric() {
    let random = |seed: &str| said(&["generate", &format!("random,seed={seed}"), "-o", "-"], "1").1;
    assert!(random("1") != random("2"), "the seed does not matter");
}

#[test]
fn shown_fabrics_are_the_same_bytes() {
    for name in FABRICS {
        // Taurus is large, and its lanes and counters say nothing that those of the others do not.
        let large = |what: &str| *name == "taurus" && ["lanes", "counters"].contains(&what);
        for what in SHOWS.iter().filter(|what| !large(what)) {
            always_the_same(&["--source", &format!("sim:{name}"), "show", what, "--json", "--no-times"]);
        }
    }
}

/// Lines that lose and repeat by a seed do so alike each time.
#[test]
fn looks_over_bad_lines_are_the_same_bytes() {
    for line in ["loss=10%,seed=3", "delay=900ms,duplicate=20%,reorder=20%,foreign=20%,seed=4"] {
        for what in ["ports", "tables", "counters"] {
            always_the_same(&["--source", &format!("sim:demo,{line}"), "show", what, "--json", "--no-times"]);
        }
    }
}

#[test]
fn converted_files_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("fabric.net").display().to_string();
    for name in FABRICS {
        assert_eq!(said(&["generate", name, "-o", &net], "1").0, Some(0), "{name}");
        for format in WRITTEN {
            always_the_same(&["convert", &net, "--to", format, "-o", "-"]);
        }
    }
}

#[test]
fn certificates_and_engines_are_the_same_bytes() {
    for name in ["demo", "random,switches=40,links=120,seed=5"] {
        let source = format!("sim:{name}");
        always_the_same(&["--source", &source, "check", "--json", "--no-times"]);
        always_the_same(&["--source", &source, "whatif", "--fail-random", "2", "--json", "--no-times"]);
        let route = ["--source", &source, "route", "--engine", "nue", "-o", "-", "--no-times"];
        always_the_same(&route);
        let plain = said(&route, "1");
        for threads in ["1", "3"] {
            let flagged = said(&[&route[..], &["--threads", threads]].concat(), "2");
            assert!(flagged == plain, "--threads {threads}: other bytes");
        }
    }
}

#[test]
fn routes_for_jobs_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs");
    let list: String = (0..9).map(|job| format!("{job} node[{job}-{},{}]\n", job + 3, 20 - job)).collect();
    std::fs::write(&file, list).unwrap();
    let file = file.to_str().unwrap();
    for name in ["kary,k=3,n=3", "random,switches=20,links=60,seed=5"] {
        let source = ["--source", &format!("sim:{name}")];
        let asked = |args: &[&str]| always_the_same(&[&source[..], args, &["--json", "--no-times"]].concat());
        asked(&["jobs", "--file", file]);
        asked(&["jobs", "watch", "--file", file, "--count", "1"]);
        asked(&["whatif", "--jobs", file]);
        for by in ["pair", "destination"] {
            asked(&["route", "--engine", "sar", "--jobs", file, "--lanes-by", by, "-o", "-"]);
        }
    }
}

/// (Engine, its options, a fabric that it serves.)
const ENGINES_ALONE: &[(&str, &[&str], &str)] = &[
    ("dor", &[], "torus,dims=4x4,redundancy=2,faults=2"),
    ("lash", &[], "random,switches=40,links=90,seed=5"),
    ("lash", &["--lanes", "8"], "torus,dims=5x5"),
    ("dnup", &[], "random,switches=40,links=90,seed=5"),
    ("torus2qos", &["--lanes", "4"], "torus,dims=5x4,faults=1"),
    ("dmodk", &[], "kary,k=4,n=2,faults=3"),
    ("mlid", &[], "kary,k=3,n=2,lmc=2"),
    ("opt", &[], "gft2,n=4,m=4,r=6,lmc=1"),
];

/// Each in `route` by itself; a plan has every byte of the tables and lanes.
#[test]
fn plans_of_each_engine_are_the_same_bytes() {
    for (engine, options, name) in ENGINES_ALONE {
        let source = format!("sim:{name}");
        let route = ["--source", &source, "route", "--engine", engine, "-o", "-", "--no-times"];
        always_the_same(&[&route[..], options].concat());
    }
}

/// `file` reads tables and levels that another engine made.
#[test]
fn plans_of_stored_tables_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (plan, lfts, psl) = (file("lash.plan"), file("lash.lfts"), file("lash.psl"));
    let source = "sim:torus,dims=5,terminals=2";
    let made = |args: &[&str]| {
        let (code, _, messages) = said(args, "1");
        assert!(
            code == Some(0) || code == Some(2),
            "{args:?}: {code:?} {}",
            String::from_utf8_lossy(&messages)
        );
    };
    made(&["--source", source, "route", "--engine", "lash", "-o", &plan]);
    for (format, to) in [("lfts", &lfts), ("psl", &psl)] {
        made(&["--source", source, "convert", &plan, "--to", format, "-o", to]);
    }
    let route = ["--source", source, "route", "--engine", "file", "--tables", &lfts, "-o", "-", "--no-times"];
    always_the_same(&route);
    let laned = [&route[..], &["--levels", &psl, "--lanes", "8"]].concat();
    always_the_same(&laned);
    assert!(said(&laned, "1").1 != said(&route, "1").1, "the plan has the lanes of the list");
}
