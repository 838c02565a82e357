//! What a policy does about nodes of Slurm: the conditions, and what programs are written.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::commands::binary::{fabdeck, home};
use fabdeck::operations::policy::link_decisions::PolicyRefusal;
use fabdeck::operations::policy::node_decisions::{
    DRAIN_REASON, DrainMemory, NodeDecision, NodeObservation, decide_nodes, drain_limit,
};
use fabdeck::operations::policy::policy_file::{NodePolicy, Policy};
use fabdeck_files::jobs::{SlurmNode, SlurmNodeUse, SlurmToolError, SlurmTools};

const HOUR_MS: i64 = 3_600_000;

fn policy(text: &str) -> NodePolicy {
    let good_for = if text.contains("good_for") { "" } else { "good_for = \"2h\"\n" };
    Policy::parse(&format!("[slurm]\nmode = \"apply\"\n{good_for}{text}")).unwrap().nodes.unwrap()
}

fn node(name: &str, state: &str, reason: &str) -> SlurmNode {
    SlurmNode { name: name.into(), state: state.into(), reason: reason.into() }
}

/// A observed of nodes that all have a cable, of which some are bad.
fn observed(nodes: Vec<SlurmNode>, bad: &[&str], hours: i64) -> NodeObservation {
    NodeObservation {
        time_ms: hours * HOUR_MS,
        bad: bad.iter().map(|name| ((*name).to_owned(), "it flaps".to_owned())).collect(),
        cabled: nodes.iter().map(|node| node.name.clone()).collect(),
        nodes,
        refusal: None,
    }
}

/// Decisions in short.
fn words(decisions: &[NodeDecision]) -> Vec<String> {
    let word = |decision: &NodeDecision| match decision {
        NodeDecision::Drain { node, .. } => format!("drain {}", node.name),
        NodeDecision::Undrain { node } => format!("undrain {}", node.name),
        NodeDecision::Refuse { node, name, .. } => format!("{name} {node}"),
    };
    decisions.iter().map(word).collect()
}

fn decide(observed: &NodeObservation) -> Vec<String> {
    words(&decide_nodes(observed, &policy(""), &mut DrainMemory::default()))
}

#[test]
fn only_nodes_in_use_are_drained() {
    for (state, reason, decided) in [
        ("idle", "", "drain n1"),
        ("mix", "", "drain n1"),
        ("alloc", "", "drain n1"),
        ("comp", "", "drain n1"),
        ("idle*", "", "node-state n1"),
        ("idle~", "", "node-state n1"),
        ("mix#", "", "node-state n1"),
        ("alloc@", "", "node-state n1"),
        ("idle%", "", "node-state n1"),
        ("idle!", "", "node-state n1"),
        ("down", "not responding", "node-state n1"),
        ("resv", "", "node-state n1"),
        ("maint", "", "node-state n1"),
        ("pow_dn", "", "node-state n1"),
        ("drain", "NHC: check_hw_ib", "drained-by-others n1"),
        ("drng", "bad disk", "drained-by-others n1"),
    ] {
        assert_eq!(decide(&observed(vec![node("n1", state, reason)], &["n1"], 10)), [decided], "{state}");
    }
    // It is drained by fabdeck already.
    assert!(decide(&observed(vec![node("n1", "drng", DRAIN_REASON)], &["n1"], 10)).is_empty());
    // A person drained it, in words that begin like those of fabdeck.
    let rma = node("n1", "drng", "fabdeck: RMA");
    assert_eq!(decide(&observed(vec![rma], &["n1"], 10)), ["drained-by-others n1"]);
    // It is no node of Slurm.
    assert!(decide(&observed(vec![node("n1", "idle", "")], &["n2"], 10)).is_empty());
}

#[test]
fn no_more_nodes_are_drained_than_the_policy_has() {
    let usual = policy("");
    assert_eq!([1, 99, 100, 250, 400, 9999].map(|nodes| drain_limit(&usual, nodes)), [1, 1, 1, 2, 4, 4]);
    let mut nodes: Vec<SlurmNode> = (0..250).map(|at| node(&format!("n{at:03}"), "idle", "")).collect();
    let bad = ["n001", "n002", "n003"];
    let decided = decide(&observed(nodes.clone(), &bad, 10));
    assert_eq!(decided, ["drain n001", "drain n002", "nodes-at-once n003"]);
    // Those that are drained count, and not those that others drained.
    nodes[1] = node("n001", "drain", DRAIN_REASON);
    nodes[9] = node("n009", "drain", "bad disk");
    assert_eq!(decide(&observed(nodes, &bad, 10)), ["drain n002", "nodes-at-once n003"]);
}

#[test]
fn the_conditions_of_the_fabric_hold_for_nodes() {
    let refusals = [
        PolicyRefusal::PartialSweep("x".into()),
        PolicyRefusal::StaleSweep("x".into()),
        PolicyRefusal::ManyTogether { troubled: 9, links: 100 },
        PolicyRefusal::PendingChange("x".into()),
    ];
    for refusal in refusals {
        let name = refusal.name();
        let mut seen = observed(vec![node("n1", "idle", ""), node("n2", "drain", DRAIN_REASON)], &["n1"], 0);
        let mut memory = DrainMemory::default();
        decide_nodes(&seen, &policy("nodes_at_once = 4"), &mut memory);
        (seen.time_ms, seen.refusal) = (10 * HOUR_MS, Some(refusal));
        let decided = words(&decide_nodes(&seen, &policy(""), &mut memory));
        assert_eq!(decided, [format!("{name} n1")], "neither drained nor undrained");
    }
}

/// A node is undrained after its cable was good for a while, only if fabdeck drained it, and is not drained again at once.
#[test]
fn only_nodes_of_fabdeck_are_undrained_and_after_a_while() {
    let mut memory = DrainMemory::default();
    let mut at = |hours: i64, state: &str, reason: &str, bad: &[&str]| {
        words(&decide_nodes(&observed(vec![node("n1", state, reason)], bad, hours), &policy(""), &mut memory))
    };
    assert_eq!(at(0, "idle", "", &["n1"]), ["drain n1"]);
    assert!(at(1, "drain", DRAIN_REASON, &["n1"]).is_empty());
    assert!(at(2, "drain", DRAIN_REASON, &[]).is_empty());
    assert_eq!(at(3, "drain", DRAIN_REASON, &[]), ["undrain n1"]);
    // An operator took the reason over.
    assert!(at(4, "drain", "bad disk", &[]).is_empty());
    assert!(at(4, "down", DRAIN_REASON, &[]).is_empty());
    let mut memory = DrainMemory::default();
    let mut soon = |minutes: i64, state: &str, bad: &[&str]| {
        let seen =
            NodeObservation { time_ms: minutes * 60_000, ..observed(vec![node("n1", state, "")], bad, 0) };
        words(&decide_nodes(&seen, &policy("good_for = \"1s\""), &mut memory))
    };
    assert_eq!(soon(0, "idle", &["n1"]), ["drain n1"]);
    assert_eq!(soon(30, "idle", &["n1"]), ["node-pause n1"]);
    assert_eq!(soon(61, "idle", &["n1"]), ["drain n1"]);
    // A node without a cable in the fabric is not good.
    let mut memory = DrainMemory::default();
    let mut seen = observed(vec![node("n1", "drain", DRAIN_REASON)], &[], 0);
    seen.cabled.clear();
    decide_nodes(&seen, &policy(""), &mut memory);
    seen.time_ms = 20 * HOUR_MS;
    assert!(decide_nodes(&seen, &policy(""), &mut memory).is_empty());
}

/// Programs in place of those of Slurm, over files: a line of each node, and what scontrol was written.
pub fn write_tools(folder: &Path, nodes: &str) -> [String; 2] {
    std::fs::write(folder.join("nodes"), nodes).unwrap();
    let scripts = [
        (
            "sinfo",
            "here=$(dirname \"$0\"); case \"$*\" in *\"-n \"*) for name; do :; done; grep \"^$name|\" \"$here/nodes\";; \
             *) cat \"$here/nodes\";; esac",
        ),
        (
            "scontrol",
            "here=$(dirname \"$0\"); echo \"$*\" >>\"$here/written\"; name=${2#NodeName=}\n\
             case \"$3\" in State=DRAIN) line=\"$name|drain|${4#Reason=}\";; *) line=\"$name|idle|none\";; esac\n\
             sed \"s#^$name|.*#$line#\" \"$here/nodes\" >\"$here/next\" && mv \"$here/next\" \"$here/nodes\"",
        ),
    ];
    scripts.map(|(name, text)| {
        let file = folder.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        file.display().to_string()
    })
}

fn tools(folder: &Path, nodes: &str, timeout: Duration) -> SlurmTools {
    let [sinfo, scontrol] = write_tools(folder, nodes);
    SlurmTools { sinfo: sinfo.into(), scontrol: scontrol.into(), timeout }
}

/// Time of the process.
fn clock() -> Duration {
    static BEGUN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    BEGUN.elapsed()
}

#[test]
fn slurm_is_compared_before_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "n2|idle|none\nn1|idle|none\nn1|idle|none\nn3|drain|a|b\n";
    let tools = tools(folder.path(), nodes, Duration::from_secs(20));
    let read = tools.read_nodes(None, &clock).unwrap();
    assert_eq!(read, [node("n1", "idle", ""), node("n2", "idle", ""), node("n3", "drain", "a|b")]);
    assert_eq!(tools.drain(&read[0], DRAIN_REASON, &clock), Ok(true));
    assert_eq!(tools.read_nodes(Some("n1"), &clock).unwrap(), [node("n1", "drain", DRAIN_REASON)]);
    // Of a node that changed since it was read nothing is written.
    assert_eq!(tools.drain(&read[0], DRAIN_REASON, &clock), Ok(false));
    assert_eq!(tools.undrain(&node("n3", "drain", DRAIN_REASON), &clock), Ok(false));
    assert_eq!(tools.undrain(&node("n1", "drain", DRAIN_REASON), &clock), Ok(true));
    let written = std::fs::read_to_string(folder.path().join("written")).unwrap();
    assert_eq!(
        written,
        "update NodeName=n1 State=DRAIN Reason=fabdeck: bad cable\nupdate NodeName=n1 State=UNDRAIN\n"
    );
    assert_eq!(read[0].node_use(), SlurmNodeUse::InUse);
}

#[test]
fn a_slurm_that_hangs_or_fails_is_bounded_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| {
        let tools = tools(folder.path(), "", Duration::from_millis(300));
        std::fs::write(folder.path().join("sinfo"), format!("#!/bin/sh\n{text}\n")).unwrap();
        tools.read_nodes(None, &clock).unwrap_err()
    };
    let since = Instant::now();
    assert!(matches!(asked("sleep 600"), SlurmToolError::Silent { .. }));
    assert!(since.elapsed() < Duration::from_secs(20));
    let failed = asked("echo 'Unable to contact slurm controller' >&2; exit 1").to_string();
    assert!(failed.contains("FD-4608") && failed.contains("Unable to contact"), "{failed}");
    assert!(asked("echo what is this").to_string().contains("FD-4609"));
    let absent = SlurmTools {
        sinfo: "/nowhere/sinfo".into(),
        scontrol: "/nowhere".into(),
        timeout: Duration::from_secs(1),
    };
    assert!(absent.read_nodes(None, &clock).unwrap_err().to_string().contains("FD-4606: /nowhere/sinfo"));
}

/// A watch whose simulated cable of node0 counts errors, until it reports a node.
fn watch_until_drained(home: &tempfile::TempDir, mode: &str) -> String {
    let at = home.path();
    let [sinfo, scontrol] = write_tools(at, "node0|idle|none\nnode1|idle|none\n");
    std::fs::write(at.join("story"), "0s errors leaf0/1 60000000\n").unwrap();
    let source = "sim:kary,k=3,n=2,traffic=none,story=story";
    let policy = format!(
        "fabrics = [\"{source}\"]\n[slurm]\nmode = \"{mode}\"\nevery = \"100ms\"\nsinfo = \"{sinfo}\"\nscontrol = \"{scontrol}\"\n"
    );
    std::fs::write(at.join("policy.toml"), policy).unwrap();
    let mut watch = fabdeck(home)
        .args([
            "--source",
            source,
            "--allow-write",
            "--state-dir",
            "state",
            "watch",
            "--policy",
            "policy.toml",
        ])
        .args(["--interval", "100ms"])
        .current_dir(at)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let drained = lines.find_map(|line| line.ok().filter(|line| line.contains("policy-drained")));
    watch.kill().unwrap();
    watch.wait().unwrap();
    drained.unwrap()
}

#[test]
fn a_watch_drains_the_node_of_a_bad_cable_and_a_dry_run_does_not() {
    let home = home();
    let dry = watch_until_drained(&home, "dry-run");
    assert!(dry.contains("node node0 would be drained (dry run), because of its cable"), "{dry}");
    assert!(!home.path().join("written").exists());
    let drained = watch_until_drained(&home, "apply");
    assert!(drained.contains("node node0 is drained"), "{drained}");
    let written = std::fs::read_to_string(home.path().join("written")).unwrap();
    assert_eq!(written, "update NodeName=node0 State=DRAIN Reason=fabdeck: bad cable\n");
}
