//! Which service levels count as in use where a folder is the source: those of a QoS policy, and level 0 where nothing
//! sets any.

use std::path::Path;

use fabdeck_fabric::observe::Sweep;
use fabdeck_files::capture::Recorder;
use fabdeck_live::LiveOptions;
use fabdeck_mad::access::{NoObserver, ReadOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::binary;
use crate::captures::sample_fabric::{BEGUN, Memory, header};

/// Levels by the service that traffic is of: no LID tells which path has which.
const BY_SERVICE: &str = "# What storage and IPoIB run on.
qos-ulps
    default : 0
    sdp, port-num 30000 : 1
    srp, target-port-guid 0x1234 : 3 # storage
    ipoib : 2
end-qos-ulps
";

/// The output of the program in the folder of a site, and how it ended.
fn run(site: &TempDir, args: &[&str]) -> (String, String, i32) {
    let ended = binary::fabdeck(site).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(ended.stdout), text(ended.stderr), ended.status.code().unwrap())
}

fn answer(site: &TempDir, args: &[&str], code: i32) -> Value {
    let (out, err, ended) = run(site, &[args, &["--json"]].concat());
    assert_eq!(ended, code, "{args:?}: {out} {err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// A torus of 16 switches in `site`, a plan of an engine beside it, and the plan's forwarding tables.
fn site(engine: &str) -> TempDir {
    let folder = binary::home();
    std::fs::create_dir(folder.path().join("site")).unwrap();
    let net = "site/net.txt";
    let (_, err, code) =
        run(&folder, &["generate", "torus,dims=4x4", "--format", "ibnetdiscover", "-o", net]);
    assert_eq!(code, 0, "{err}");
    run(&folder, &["--source", net, "route", "--engine", engine, "--lanes", "4", "-o", "it.plan"]);
    convert(&folder, "lfts", "site/opensm-lfts.dump");
    folder
}

/// Writes a part of what the plan leads to.
fn convert(folder: &TempDir, format: &str, to: &str) {
    let (_, err, code) = run(folder, &["convert", "site/net.txt", "it.plan", "--to", format, "-o", to]);
    assert_eq!(code, 0, "{err}");
}

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(Path::new(folder.path()).join("site").join(name), text).unwrap();
}

const CHECK: [&str; 3] = ["--source", "site", "check"];
const STRICT: [&str; 4] = ["--source", "site", "check", "--strict"];

fn codes(answer: &Value) -> Vec<&str> {
    answer["notes"].as_array().unwrap().iter().map(|note| note["code"].as_str().unwrap()).collect()
}

/// Stock OpenSM uses one lane, whatever its SL2VL tables could do with more.
#[test]
fn a_credit_loop_in_a_folder_is_a_finding() {
    let site = site("minhop");
    let loops = |site: &TempDir| {
        let check = answer(site, &CHECK, 2);
        assert_eq!(
            (&check["deadlock_free"], &check["lanes_from"]),
            (&false.into(), &"level 0 assumed".into())
        );
        assert!(check["findings"].to_string().contains("there is a credit loop"), "{check}");
        assert!(check["cycle"].as_array().unwrap().len() > 2, "{check}");
        // A known verdict needs no finding of an open one.
        assert_eq!(answer(site, &STRICT, 2)["findings"], check["findings"]);
    };
    loops(&site);
    // Tables of a plan on several lanes, which put each level on the lane of its number.
    let laned = self::site("nue");
    convert(&laned, "sl2vl", "it.dump");
    std::fs::copy(laned.path().join("it.dump"), site.path().join("site/opensm-sl2vl.dump")).unwrap();
    loops(&site);
    let (text, _, code) = run(&site, &CHECK);
    assert_eq!(code, 2);
    assert!(text.contains("(level 0 assumed: no source states levels)"), "{text}");
}

/// A policy by service puts several levels in use, and the folder does not say which path is on which.
#[test]
fn a_policy_that_leaves_levels_open_leaves_the_verdict_open() {
    let site = site("minhop");
    write(&site, "qos-policy.conf", BY_SERVICE);
    let check = answer(&site, &CHECK, 0);
    assert_eq!((&check["deadlock_free"], &check["lanes_from"]), (&Value::Null, &"unknown".into()), "{check}");
    assert!(codes(&check).contains(&"FN-261") && check["findings"] == Value::Array(vec![]), "{check}");
    assert!(check["notes"].to_string().contains("service levels 0, 1, 2, 3 in rules"), "{check}");

    let strict = answer(&site, &STRICT, 2);
    let findings = strict["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{strict}");
    assert!(findings[0].as_str().unwrap().starts_with("FN-707: deadlock is not known: "), "{strict}");
    let (text, _, code) = run(&site, &STRICT);
    assert!(code == 2 && text.contains("\nfinding       FN-707: deadlock is not known: "), "{text}");

    // Without a cycle no lanes close one.
    let tree = binary::home();
    std::fs::create_dir(tree.path().join("site")).unwrap();
    run(&tree, &["generate", "kary,k=2,n=2", "--format", "ibnetdiscover", "-o", "site/net.txt"]);
    run(&tree, &["--source", "site/net.txt", "route", "--engine", "updn", "-o", "it.plan"]);
    convert(&tree, "lfts", "site/opensm-lfts.dump");
    write(&tree, "qos-policy.conf", BY_SERVICE);
    assert_eq!(answer(&tree, &STRICT, 0)["deadlock_free"], true);
}

/// Whatever its rules ask for, a policy whose levels are all 0 puts no lane in use.
#[test]
fn a_policy_of_level_0_alone_changes_nothing() {
    let site = site("minhop");
    let zero: String = BY_SERVICE
        .lines()
        .map(|line| match line.split_once(" : ") {
            Some((what, _)) => format!("{what} : 0\n"),
            None => format!("{line}\n"),
        })
        .collect();
    write(&site, "qos-policy.conf", &zero);
    let check = answer(&site, &CHECK, 2);
    assert_eq!(
        (&check["deadlock_free"], &check["lanes_from"]),
        (&false.into(), &"QoS policy".into()),
        "{check}"
    );
    assert!(!codes(&check).contains(&"FN-261"), "{check}");
}

/// Nue's tables on a torus are free of deadlock on their lanes alone, which a policy by destination sets.
#[test]
fn a_policy_by_destination_sets_the_levels_of_paths() {
    let site = site("nue");
    convert(&site, "sl2vl", "site/opensm-sl2vl.dump");
    let check = answer(&site, &CHECK, 2);
    assert_eq!((&check["deadlock_free"], &check["lanes_from"]), (&false.into(), &"level 0 assumed".into()));
    convert(&site, "qos-policy", "site/qos-policy.conf");
    let check = answer(&site, &STRICT, 0);
    assert_eq!(
        (&check["deadlock_free"], &check["lanes_from"]),
        (&true.into(), &"QoS policy".into()),
        "{check}"
    );
    assert!(check["lanes"].as_u64().unwrap() > 1, "{check}");
    let text = run(&site, &CHECK).0;
    assert!(text.contains("lanes (service levels of the QoS policy)"), "{text}");
    // Of two policies that differ it is not known which one the subnet manager reads.
    write(&site, "qos-policy.old", BY_SERVICE);
    let check = answer(&site, &CHECK, 0);
    assert!(check["deadlock_free"].is_null() && codes(&check).contains(&"FN-559"), "{check}");
    answer(&site, &STRICT, 2);
}

/// A damaged policy takes nothing else with it, and says that levels are in use: which is not known.
#[test]
fn a_policy_that_cannot_be_read_leaves_the_verdict_open() {
    let site = site("minhop");
    let open = |name: &str, text: &[u8]| {
        let path = site.path().join("site").join(name);
        std::fs::write(&path, text).unwrap();
        let check = answer(&site, &CHECK, 0);
        assert_eq!(
            (&check["deadlock_free"], &check["lanes_from"], &check["partial"]),
            (&Value::Null, &"unknown".into(), &true.into()),
            "{name}: {check}"
        );
        let codes = codes(&check);
        assert!(codes.contains(&"FN-509") && codes.contains(&"FN-559"), "{name}: {check}");
        assert!(check["notes"].to_string().contains("cannot be read, so the levels of paths are not known"));
        answer(&site, &STRICT, 2);
        std::fs::remove_file(path).unwrap();
    };
    let cut = b"qos-ulps\n    default : 0\n    ipoib : 2\n";
    open("qos-policy.conf", cut);
    // Told by its content under any name, and by its name where its content cannot be unpacked.
    open("policy.txt", cut);
    open("qos-policy.conf.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01\x02");
    let check = answer(&site, &CHECK, 2);
    assert_eq!(check["lanes_from"], "level 0 assumed");
}

/// Levels that no rule uses: the rules stand at the end of a policy.
#[test]
fn a_policy_that_ends_before_its_rules_leaves_the_verdict_open() {
    let site = site("nue");
    convert(&site, "sl2vl", "site/opensm-sl2vl.dump");
    convert(&site, "qos-policy", "whole");
    let whole = std::fs::read_to_string(site.path().join("whole")).unwrap();
    write(&site, "qos-policy.conf", &whole);
    assert_eq!(answer(&site, &CHECK, 0)["deadlock_free"], true);
    let mut open = 0;
    for end in (1..whole.len()).step_by(97).chain(whole.find("qos-match-rules")) {
        write(&site, "qos-policy.conf", &whole[..end]);
        let (out, err, _) = run(&site, &[&CHECK[..], &["--json"]].concat());
        let check: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        // Before its first word is whole it is a text like any other.
        if whole[..end].contains("port-groups\n") {
            assert_eq!(check["lanes_from"], "unknown", "{end}: {check}");
            open += 1;
        }
    }
    assert!(open > 5, "{open}");
}

/// A policy that sets the levels of ports of another fabric leaves all paths of this one on level 0.
#[test]
fn a_policy_for_ports_elsewhere_changes_nothing() {
    let site = site("minhop");
    let elsewhere = "port-groups\n    port-group\n        name: a\n        port-guid: 0xabc\n    end-port-group\n\
                     end-port-groups\nqos-levels\n    qos-level\n        name: DEFAULT\n        sl: 0\n    \
                     end-qos-level\n    qos-level\n        name: a\n        sl: 3\n    end-qos-level\nend-qos-levels\n\
                     qos-match-rules\n    qos-match-rule\n        destination: a\n        qos-level-name: a\n    \
                     end-qos-match-rule\nend-qos-match-rules\n";
    write(&site, "qos-policy.conf", elsewhere);
    let check = answer(&site, &CHECK, 2);
    assert_eq!(
        (&check["deadlock_free"], &check["lanes_from"]),
        (&false.into(), &"QoS policy".into()),
        "{check}"
    );
    let text = run(&site, &CHECK).0;
    assert!(text.contains("wait for each other (service levels of the QoS policy)"), "{text}");
}

/// What a folder's policy says goes into a capture, and is judged there as in the folder; an older capture has none.
#[test]
fn a_capture_has_the_policy_of_what_was_recorded() {
    let site = site("nue");
    convert(&site, "sl2vl", "site/opensm-sl2vl.dump");
    let of_capture = |site: &TempDir, name: &str| {
        let seen = fabdeck_live::open(site.path().join("site").to_str().unwrap(), &LiveOptions::default())
            .and_then(|mut source| source.observe(ReadOptions::default(), &mut NoObserver))
            .unwrap();
        let memory = Memory::default();
        let mut recorder = Recorder::new(memory.clone(), header());
        recorder.record_sweep(BEGUN, &seen, &Sweep::default()).unwrap();
        recorder.finish(BEGUN + 1000).unwrap();
        std::fs::write(site.path().join(name), memory.bytes.take()).unwrap();
        let given = format!("{name}.given");
        let (_, err, code) = run(site, &["capture", "anonymize", name, "-o", &given]);
        assert_eq!(code, 0, "{err}");
        [name, &given].map(|name| {
            let (out, _, _) = run(site, &["--source", name, "check", "--json"]);
            let check: Value = serde_json::from_str(&out).unwrap();
            (check["deadlock_free"].clone(), check["lanes_from"].clone())
        })
    };
    let assumed = (Value::Bool(false), Value::from("level 0 assumed"));
    assert_eq!(of_capture(&site, "none.fdcap"), [assumed.clone(), assumed]);
    convert(&site, "qos-policy", "site/qos-policy.conf");
    let set = (Value::Bool(true), Value::from("QoS policy"));
    assert_eq!(of_capture(&site, "set.fdcap"), [set.clone(), set]);
    write(&site, "qos-policy.conf", BY_SERVICE);
    let open = (Value::Null, Value::from("unknown"));
    assert_eq!(of_capture(&site, "open.fdcap"), [open.clone(), open]);
    std::fs::remove_file(site.path().join("site/qos-policy.conf")).unwrap();
    convert(&site, "psl", "site/torus.psl");
    let listed = (Value::Bool(true), Value::from("levels of paths"));
    assert_eq!(of_capture(&site, "listed.fdcap"), [listed.clone(), listed]);
}

/// What a change leads through depends on the levels of the paths in force.
#[test]
fn a_watch_over_jobs_says_what_is_not_known_of_the_transition() {
    let watched = |site: &TempDir| {
        std::fs::write(site.path().join("jobs.txt"), "node0 a\nnode20 a\nnode40 a\nnode60 a\n").unwrap();
        let args = ["jobs", "watch", "--file", "jobs.txt", "--count", "1", "--gain", "0"];
        let event = answer(site, &[&["--source", "site"], &args[..]].concat(), 0);
        assert_eq!(event["event"], "proposed", "{event}");
        event["findings"].clone()
    };
    let site = site("minhop");
    assert_eq!(watched(&site), serde_json::json!(["it is not safe while traffic flows"]));
    write(&site, "qos-policy.conf", BY_SERVICE);
    assert_eq!(watched(&site), serde_json::json!(["whether it is safe while traffic flows is not known"]));
}

/// Paths each on its own level: tables of `dfsssp`, whose lanes follow the source too, and of `nue`.
#[test]
fn a_list_of_levels_of_paths_sets_each() {
    for engine in ["dfsssp", "nue"] {
        let site = site(engine);
        convert(&site, "sl2vl", "site/opensm-sl2vl.dump");
        let check = answer(&site, &CHECK, 2);
        assert_eq!(
            (&check["deadlock_free"], &check["lanes_from"]),
            (&false.into(), &"level 0 assumed".into()),
            "{engine}"
        );
        convert(&site, "psl", "site/torus.psl");
        let check = answer(&site, &STRICT, 0);
        assert_eq!(
            (&check["deadlock_free"], &check["lanes_from"], &check["unsaid_paths"]),
            (&true.into(), &"levels of paths".into(), &0.into()),
            "{engine}: {check}"
        );
        assert!(check["lanes"].as_u64().unwrap() > 1 && codes(&check).is_empty(), "{engine}: {check}");
        let (text, _, code) = run(&site, &[&CHECK[..], &["--switches"]].concat());
        assert!(code == 0 && text.contains("lanes (levels of a list of paths)"), "{engine}: {text}");
    }
}

/// The engine's lanes as paths have them: with a level for every path but some.
fn listed(site: &TempDir, keep: impl Fn(&str) -> bool) {
    convert(site, "psl", "whole");
    let whole = std::fs::read_to_string(site.path().join("whole")).unwrap();
    std::fs::remove_file(site.path().join("whole")).unwrap();
    let kept = whole.lines().filter(|line| keep(line));
    let text: String = kept.map(|line| format!("{line}\n")).collect();
    write(site, "torus.psl", &text);
}

#[test]
fn a_path_that_is_not_listed_leaves_the_verdict_open() {
    let site = site("dfsssp");
    convert(&site, "sl2vl", "site/opensm-sl2vl.dump");
    // A path of one host, beside paths of others at its switch.
    let net = std::fs::read_to_string(site.path().join("site/net.txt")).unwrap();
    let host = net.lines().find_map(|line| line.strip_prefix("caguid=0x")).unwrap();
    let host = format!("0x{host:0>16}");
    let mut of_hosts = net.lines().filter(|line| line.starts_with("[1]("));
    let lid = of_hosts.next_back().and_then(|line| line.split("# lid ").nth(1)?.split(' ').next()).unwrap();
    let path = format!("{host} {lid} ");
    listed(&site, |line| !line.starts_with(&path));
    let check = answer(&site, &CHECK, 0);
    assert_eq!(
        (&check["deadlock_free"], &check["lanes_from"], &check["unsaid_paths"]),
        (&Value::Null, &"levels of paths".into(), &1.into()),
        "{check}"
    );
    assert!(codes(&check).contains(&"FN-362") && check["partial"] == false, "{check}");
    assert!(check["notes"].to_string().contains("no level for 1 path of the fabric"), "{check}");
    let strict = answer(&site, &STRICT, 2);
    let finding = strict["findings"][0].as_str().unwrap();
    assert!(finding.starts_with("FN-707: ") && finding.contains("1 paths are not in the list"), "{strict}");

    // A credit loop of paths that are listed stays a finding.
    let minhop = self::site("minhop");
    convert(&site, "sl2vl", "it.dump");
    std::fs::copy(site.path().join("it.dump"), minhop.path().join("site/opensm-sl2vl.dump")).unwrap();
    listed(&minhop, |line| !line.starts_with(&path));
    let check = answer(&minhop, &CHECK, 2);
    assert_eq!((&check["deadlock_free"], &check["unsaid_paths"]), (&false.into(), &1.into()), "{check}");
    // All paths on level 0 need no tables of lanes.
    std::fs::remove_file(minhop.path().join("site/opensm-sl2vl.dump")).unwrap();
    listed(&minhop, |_| true);
    let check = answer(&minhop, &CHECK, 2);
    assert_eq!(
        (&check["deadlock_free"], &check["lanes_from"]),
        (&false.into(), &"levels of paths".into()),
        "{check}"
    );
    // Nothing of another fabric is taken for a level here.
    write(&minhop, "torus.psl", "0x0000000000000abc 3 1\n0x0000000000000abc 40000 1\n");
    let check = answer(&minhop, &CHECK, 0);
    assert!(check["deadlock_free"].is_null() && codes(&check).contains(&"FN-363"), "{check}");
}

/// A list of paths that cannot be read says that levels are in use, and takes nothing else with it.
#[test]
fn a_damaged_list_of_paths_leaves_the_verdict_open() {
    let site = site("minhop");
    convert(&site, "psl", "whole");
    let whole = std::fs::read_to_string(site.path().join("whole")).unwrap();
    let open = |name: &str, text: &[u8]| {
        std::fs::write(site.path().join("site").join(name), text).unwrap();
        let check = answer(&site, &CHECK, 0);
        assert_eq!(
            (&check["deadlock_free"], &check["lanes_from"], &check["partial"]),
            (&Value::Null, &"unknown".into(), &true.into()),
            "{name}: {check}"
        );
        assert!(codes(&check).contains(&"FN-559") && codes(&check).contains(&"FN-509"), "{name}: {check}");
    };
    let damaged = format!("{whole}0x0002c90000000201 17 99\n");
    open("torus.psl", damaged.as_bytes());
    std::fs::remove_file(site.path().join("site/torus.psl")).unwrap();
    open("paths.txt", damaged.as_bytes());
    std::fs::remove_file(site.path().join("site/paths.txt")).unwrap();
    open("torus.psl.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01\x02");
}

/// What a policy by destination and a list of paths say has to agree; what rules leave open the list tells.
#[test]
fn a_policy_and_a_list_of_paths_are_held_against_each_other() {
    let site = site("nue");
    convert(&site, "sl2vl", "site/opensm-sl2vl.dump");
    convert(&site, "qos-policy", "site/qos-policy.conf");
    convert(&site, "psl", "site/torus.psl");
    let check = answer(&site, &STRICT, 0);
    assert_eq!((&check["deadlock_free"], &check["lanes_from"]), (&true.into(), &"QoS policy".into()));
    write(&site, "qos-policy.conf", BY_SERVICE);
    let check = answer(&site, &STRICT, 0);
    assert_eq!((&check["deadlock_free"], &check["lanes_from"]), (&true.into(), &"levels of paths".into()));
    std::fs::remove_file(site.path().join("site/qos-policy.conf")).unwrap();
    convert(&site, "qos-policy", "site/qos-policy.conf");
    let psl = std::fs::read_to_string(site.path().join("site/torus.psl")).unwrap();
    write(&site, "torus.psl", &psl.replace(" 3\n", " 2\n"));
    let check = answer(&site, &CHECK, 0);
    assert!(check["deadlock_free"].is_null() && codes(&check).contains(&"FN-559"), "{check}");
    // Two lists that differ.
    std::fs::remove_file(site.path().join("site/qos-policy.conf")).unwrap();
    write(&site, "other.psl", &psl);
    let check = answer(&site, &CHECK, 0);
    assert_eq!((&check["deadlock_free"], &check["lanes_from"]), (&Value::Null, &"unknown".into()));
    assert!(codes(&check).contains(&"FN-559"), "{check}");
}
