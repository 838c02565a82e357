//! Plans in formats of other tools: ibdmchk judges the paths on their lanes, and OpenSM's file engine loads the
//! tables. OpenSM also assigns the LIDs that fabdeck assumes for a fabric without any.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fabdeck_change::Plan;
use fabdeck_fabric::{Fabric, Tables};
use fabdeck_files::ibsim as ibsim_file;

use crate::ibsim::{self, Stage};
use crate::opensm_routes::{bound, plain_of};

/// Runs the program in a folder and checks its exit code.
fn fabdeck(folder: &Path, words: &[&str], code: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for place in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(place, folder);
    }
    let output = command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Routes with lanes by destination and by pair; on one lane both would deadlock.
#[test]
fn ibdmchk_finds_the_lanes_of_plans_free_of_credit_loops() {
    for (name, engine) in [
        ("torus,dims=5", "dfsssp"),
        ("torus,dims=6", "nue"),
        ("torus,dims=4x4", "dfsssp"),
        ("torus,dims=4x4x3", "nue"),
        ("kautz,d=2,k=3", "dfsssp"),
    ] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let here = folder.path();
        fabdeck(here, &["generate", name, "-o", "site.topo", "--format", "ibnetdiscover"], 0);
        let route =
            ["--source", "site.topo", "--assume", "minhop", "route", "--engine", engine, "-o", "new.plan"];
        // The assumed tables have credit loops of their own, which are findings of the transition from them.
        fabdeck(here, &route, 2);
        for format in ["lst", "fdbs", "psl", "slvl"] {
            let file = format!("new.{format}");
            fabdeck(here, &["convert", "site.topo", "new.plan", "-o", &file, "--to", format], 0);
        }
        fs::write(here.join("none"), "").unwrap();
        let plain = ["-s", "new.lst", "-f", "new.fdbs", "-m", "none", "-l", "0"];
        let judged = |more: &[&str]| ibsim::ibdmchk(here, &[&plain[..], more].concat());
        let (alone, laned) = (judged(&[]), judged(&["-c", "new.psl", "-d", "new.slvl"]));
        println!("{name}, {engine}: one lane loops {}", alone.contains("Found credit loop"));
        assert!(alone.contains("Found credit loop"), "{name}, {engine}, without lanes: {alone}");
        assert!(!laned.contains("Found credit loop"), "{name}, {engine}: {laned}");
        assert!(laned.contains("no credit loops found"), "{name}, {engine}: {laned}");
        let errors: Vec<&str> = laned.lines().filter(|line| line.contains("-E-")).collect();
        assert_eq!(errors, [""; 0], "{name}, {engine}: {laned}");
    }
}

#[test]
fn opensm_loads_the_tables_of_a_plan() {
    let stage = Stage::play(&ibsim::fabric("switch648"));
    let here = stage.folder.path();
    stage.opensm(&["-R", "updn"]);
    let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
    fs::write(here.join("site.topo"), &seen).unwrap();
    let fabric = ibsim::topology("ibnetdiscover", seen.as_bytes()).fabric;
    fs::create_dir(here.join("site")).unwrap();
    for (from, to) in [("site.topo", "site/site.topo"), ("opensm-lfts.dump", "site/opensm-lfts.dump")] {
        fs::copy(here.join(from), here.join(to)).unwrap();
    }
    fabdeck(here, &["--source", "site", "route", "--engine", "sssp", "-o", "new.plan"], 0);
    fabdeck(here, &["--source", "site", "convert", "new.plan", "-o", "new.lft", "--to", "lfts"], 0);
    let plan = Plan::read(&fs::read_to_string(here.join("new.plan")).unwrap()).unwrap();
    assert!(!plan.writes.is_empty(), "sssp is another engine than updn");
    let (_, bytes) = stage.dump("opensm-lfts.dump");
    let after = plan.tables_after(&fabric, &bound("before", &fabric, &ibsim::tables("lfts", &bytes)));
    stage.opensm(&["-R", "file,no_fallback", "-U", &here.join("new.lft").display().to_string()]);
    let held = stage.run("dump_lfts", "infiniband-diags", &[] as &[&str]);
    let held = bound("held", &fabric, &ibsim::tables("dump_lfts", held.as_bytes()));
    assert_eq!(rows(&fabric, &held), rows(&fabric, &after));
}

/// Rows without the LIDs that are multiples of 64, because dump_lfts omits the last LID if it is one.
fn rows(fabric: &Fabric, tables: &Tables) -> BTreeMap<u64, BTreeMap<u32, u32>> {
    let mut rows: BTreeMap<_, BTreeMap<_, _>> =
        plain_of(fabric, tables).into_iter().map(|(guid, row)| (guid, row.into_iter().collect())).collect();
    rows.values_mut().for_each(|row| row.retain(|lid, _| lid % 64 != 0));
    rows
}

#[test]
fn lids_are_assumed_as_opensm_gives_them() {
    for name in ["demo", "kary,k=4,n=2", "torus,dims=4x4"] {
        let whole = ibsim::fabric(name);
        let text = without_lids(&ibsim_file::write(&whole).unwrap().text);
        let played = ibsim::topology("bare.net", text.as_bytes()).fabric;
        assert_eq!(played.top_lid(), None, "{name}: the net file has LIDs");
        let manager = played.nodes().find(|(_, node)| !node.is_switch()).unwrap().1.guid();
        // ibsim reads LIDs from comments of the net file, so OpenSM has to assign them anew.
        let stage = Stage::play(&whole);
        stage.opensm(&["-R", "minhop", "-r"]);
        let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
        let seen = ibsim::topology("ibnetdiscover", seen.as_bytes()).fabric;
        let assumed = played.with_fresh_lids(Some(manager));
        let lids = |fabric: &Fabric| -> BTreeMap<u16, u64> {
            let ports = fabric.ports().filter_map(|(_, port)| Some((port.facts.lid?.value(), port.node)));
            ports.map(|(lid, node)| (lid, fabric.node(node).guid().0)).collect()
        };
        assert_eq!(lids(&assumed), lids(&seen), "{name}");
    }
}

/// Replaces each `lid N` by `lid 0`, which means none.
fn without_lids(text: &str) -> String {
    let mut parts = text.split(" lid ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + " lid 0" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}
