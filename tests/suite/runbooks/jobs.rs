//! The step `jobs`: what it gives, and that routes behind it are made for these jobs.

use super::{book, put, read_book, runs, states};
use crate::changes::processes::ServedLab;

const TREE: &str = "sim:kary,k=4,n=3";

/// A host of each leaf: under routes for all pairs they meet, which `sar` spreads.
fn list() -> String {
    (0..16).map(|leaf| format!("node{} a\n", leaf * 4)).collect()
}

const STEPS: &str = r#"
[[step]]
id = "now"
jobs = { file = "jobs.txt" }
guards = ["jobs.listed == 1", "jobs.placed == 1", "jobs.multi_switch == 1", "jobs.hosts == 16", "jobs.missing <= 1"]

[[step]]
expect = ["jobs.max > 0", "jobs.dark_fiber < 100", "jobs.mean_max >= 1", "jobs.links > 0", "jobs.mean_links > 0"]

[[step]]
preview = { engines = ["sar", "updn"] }
guards = ["sar.jobs.max <= jobs.max", "sar.jobs.gain >= updn.jobs.gain", "sar.jobs.dark_fiber < updn.jobs.dark_fiber"]

[[step]]
route = { engine = "sar", lanes_by = "destination", plan = "sar.plan" }
guards = ["jobs.then_max <= now.jobs.max", "jobs.gain >= 0", "jobs.then_dark_fiber < now.jobs.dark_fiber"]
"#;

#[test]
fn routes_behind_it_are_made_for_these_jobs() {
    let lab = ServedLab::new(TREE);
    put(lab.home.path(), "jobs.txt", &format!("{}gone a\n", list()));
    put(lab.home.path(), "jobs.toml", &book(STEPS));
    let (report, said) = runs(&lab, &["jobs.toml", "--dry-run"], 0);
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}{said}");
    assert!(said.contains("FN-541") && said.contains("gone"), "{said}");
    let values = &report["steps"][0]["values"];
    assert_eq!((&values["jobs.hosts"], &values["jobs.missing"]), (&16.into(), &1.into()), "{report:#}");
    assert!(!lab.home.path().join("sar.plan").exists());
    runs(&lab, &["jobs.toml"], 0);
    // As the command does that is given the same list.
    put(lab.home.path(), "there.txt", &list());
    let same = ["--lanes-by", "destination", "-o", "same.plan"];
    lab.run_to_end(
        &[&["--no-times", "route", "--engine", "sar", "--jobs", "there.txt"], &same[..]].concat(),
        0,
    );
    let read = |name| std::fs::read_to_string(lab.home.path().join(name)).unwrap();
    assert_eq!(read("sar.plan"), read("same.plan"));
    // Without the jobs it routes for all pairs.
    put(lab.home.path(), "all.toml", &book("[[step]]\nroute = { engine = \"sar\", plan = \"all.plan\" }\n"));
    runs(&lab, &["all.toml"], 0);
    let writes = |name| serde_json::from_str::<serde_json::Value>(&read(name)).unwrap()["writes"].clone();
    assert_ne!(writes("all.plan"), writes("same.plan"));
    put(lab.home.path(), "few.toml", &book(&STEPS.replace("jobs.missing <= 1", "jobs.missing <= 0")));
    let (report, _) = runs(&lab, &["few.toml", "--dry-run"], 2);
    assert!(report["why"].as_str().unwrap().contains("jobs.missing is 1"), "{report:#}");
}

#[test]
fn what_it_says_of_jobs_is_checked_before_the_first_step() {
    for (steps, code) in [
        ("[[step]]\njobs = {}\n", "FD-9205"),
        ("[[step]]\njobs = { file = \"a\", slurm = true }\n", "FD-9205"),
        ("[[step]]\njobs = { file = \"a\", timeout = \"2s\" }\n", "FD-9205"),
        ("[[step]]\njobs = { pbs = true }\n", "FD-9203"),
        ("[[step]]\nroute = { engine = \"sar\", lanes_by = \"luck\" }\n", "FD-9206"),
        ("[[step]]\nroute = { engine = \"sar\" }\nguards = [\"jobs.gain > 3\"]\n", "FD-9210"),
        ("[[step]]\npreview = { engines = [\"sar\"] }\nguards = [\"sar.jobs.max > 3\"]\n", "FD-9210"),
    ] {
        let faults = read_book(&book(steps)).unwrap_err();
        assert!(faults.iter().any(|fault| fault.what.contains(code)), "{steps}: {faults:?}");
    }
    read_book(&book("[[step]]\njobs = { slurm = true, squeue = \"/opt/squeue\", timeout = \"9s\" }\n"))
        .unwrap();
    let lab = ServedLab::new("sim:kary,k=2,n=2");
    let refused = |text: &str, code: &str| {
        put(lab.home.path(), "wrong.toml", &book(text));
        let said = lab.run_to_end(&["run", "wrong.toml"], 7);
        assert!(said.contains(code) && said.contains("wrong.toml:3: "), "{said}");
    };
    refused("[[step]]\njobs = { file = \"nowhere.txt\" }\n", "FD-9220");
    refused("[[step]]\njobs = { slurm = true, squeue = \"/nowhere/squeue\" }\n", "FD-9219");
    // A program before may make it.
    let makes = "[[step]]\nrun = { program = \"sh\", args = [\"-c\", \"echo node0 a > made.txt\"] }\n";
    let takes = "[[step]]\njobs = { file = \"made.txt\" }\nguards = [\"jobs.hosts == 1\"]\n";
    put(lab.home.path(), "makes.toml", &book(&format!("{makes}{takes}")));
    runs(&lab, &["makes.toml"], 0);
}

/// Both halves of the LIDs close a credit loop on one lane, where path records have them. Hosts get another level for the high ones.
#[test]
fn a_plan_in_five_phases_is_verified_by_the_levels_that_hosts_receive() {
    let lab = ServedLab::new("sim:torus,dims=3x3,terminals=3,lmc=1,agents=all");
    put(lab.home.path(), "jobs.txt", "node[0-26] all\n");
    lab.run_to_end(
        &["route", "--engine", "sar", "--jobs", "jobs.txt", "--lanes", "1", "--phases", "-o", "new.plan"],
        0,
    );
    let steps = "[[step]]\napply = { plan = \"new.plan\", window = \"60s\" }\n[[step]]\nverify = true\n\
                 guards = [\"deadlock_free\"]\n[[step]]\nconfirm = true\n";
    put(lab.home.path(), "phases.toml", &book(steps));
    runs(&lab, &["phases.toml", "--dry-run"], 0);
    runs(&lab, &["phases.toml"], 0);
    assert_eq!(lab.state(), "confirmed");
}

/// With an LMC above 0 the figures are of one LID of several.
#[test]
fn it_says_which_lid_its_figures_are_of() {
    let lmc = |lmc: u8| {
        let lab = ServedLab::new(&format!("sim:kary,k=2,n=2,lmc={lmc}"));
        put(lab.home.path(), "jobs.txt", "node0 7\nnode1 7\nnode2 7\n");
        put(lab.home.path(), "jobs.toml", &book("[[step]]\njobs = { file = \"jobs.txt\" }\n"));
        let (report, said) = runs(&lab, &["jobs.toml", "--dry-run"], 0);
        (report["steps"][0].to_string(), said)
    };
    let words = "LIDs in the figures of jobs: each sender uses one of up to 4 of a port";
    let (step, said) = lmc(2);
    assert!(step.contains(words) && said.contains(&format!("FN-708: {words}")), "{step} {said}");
    let (step, said) = lmc(0);
    assert!(!step.contains("LIDs") && !said.contains("FN-708"), "{step} {said}");
}
