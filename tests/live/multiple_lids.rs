//! OpenSM gives the ports of hosts several LIDs and loads the tables of `mlid` with its file engine. The LID that each
//! host picks has a path record, and `check` has no findings.

use std::collections::BTreeMap;
use std::fs;

use fabdeck_fabric::{Fabric, Lid, NodeKind};

use crate::discovery::fabdeck;
use crate::ibsim::{self, Stage};
use crate::opensm_routes::{bound, plain_of};

/// The fabric, and the LMC of its hosts.
const SHORT: (&str, &str) = ("mport,m=4,n=3", "2");
const LONG: (&str, &str) = ("mport,m=8,n=3", "4");

#[test]
fn opensm_carries_tables_of_mlid_and_has_records_of_the_lids_that_hosts_pick() {
    for (name, lmc) in [SHORT].into_iter().chain(ibsim::long().then_some(LONG)) {
        let stage = Stage::play(&ibsim::fabric(name));
        stage.opensm(&["-R", "minhop", "-l", lmc]);
        let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
        let site = stage.folder.path().join("site");
        fs::create_dir(&site).unwrap();
        fs::write(site.join("site.topo"), &seen).unwrap();
        fs::write(site.join("opensm-lfts.dump"), stage.dump("opensm-lfts.dump").1).unwrap();
        let fabric = ibsim::topology("ibnetdiscover", seen.as_bytes()).fabric;
        run(&stage, &["--source", "site", "route", "--engine", "mlid", "-o", "mlid.plan"]);
        for (format, file) in [("lfts", "mlid.lft"), ("path-bits", "bits")] {
            run(&stage, &["convert", "site", "mlid.plan", "-o", file, "--to", format]);
        }
        let file = stage.folder.path().join("mlid.lft").display().to_string();
        let args = ["-R", "file,no_fallback", "-U", &file, "-l", lmc];
        stage.opensm(&args);
        tables_are_those_of_the_plan(name, &stage, &fabric);
        let (checked, _) = fabdeck(&stage, &["check"], 0);
        println!("{name}, LMC {lmc}: {}", checked["schema"]);
        let _manager = stage.opensm_stays(&args);
        records_are_of_picked_lids(name, &stage, &fabric, lmc);
    }
}

/// Runs the program on files.
fn run(stage: &Stage, words: &[&str]) {
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    command.args(words);
    let output = ibsim::finish(command);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn tables_are_those_of_the_plan(name: &str, stage: &Stage, fabric: &Fabric) {
    let (_, bytes) = stage.dump("mlid.lft");
    let mut planned = plain_of(fabric, &bound(name, fabric, &ibsim::tables("mlid.lft", &bytes)));
    let held = stage.run("dump_lfts", "infiniband-diags", &[] as &[&str]);
    let mut held = plain_of(fabric, &bound(name, fabric, &ibsim::tables("dump_lfts", held.as_bytes())));
    // dump_lfts omits the last LID if it is a multiple of 64.
    for row in planned.values_mut().chain(held.values_mut()) {
        row.retain(|lid, _| lid % 64 != 0);
    }
    assert!(planned.values().all(|row| !row.is_empty()), "{name}: every switch has entries");
    assert_eq!(held, planned, "{name}");
}

/// Each host sends from its own base LID and path bits to those bits of three other hosts.
fn records_are_of_picked_lids(name: &str, stage: &Stage, fabric: &Fabric, lmc: &str) {
    let text = fs::read_to_string(stage.folder.path().join("bits")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let bits = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap().parse().unwrap())
    };
    let bits: BTreeMap<String, u32> = lines.map(bits).collect();
    let hosts: Vec<(&str, Lid)> = fabric
        .nodes()
        .filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter)
        .map(|(id, node)| {
            let lid = fabric.ports_of(id).find_map(|(_, port)| port.facts.lid).unwrap();
            (node.facts.description.split(' ').next().unwrap(), lid)
        })
        .collect();
    assert_eq!(bits.len(), hosts.len(), "{name}: {text}");
    let most = (1 << lmc.parse::<u32>().unwrap()) - 1;
    assert_eq!(bits.values().max(), Some(&most), "{name}: hosts pick all LIDs");
    for (at, (source, from)) in hosts.iter().enumerate() {
        let own = bits[*source];
        for step in [1, 5, 11] {
            let (_, to) = hosts[(at + step) % hosts.len()];
            let [slid, dlid] = [*from, to].map(|lid| (u32::from(lid.value()) + own).to_string());
            let said = stage.run("saquery", "infiniband-diags", &["PR", "--slid", &slid, "--dlid", &dlid]);
            assert_eq!(
                [lids_of("slid", &said), lids_of("dlid", &said)],
                [[slid.clone()], [dlid.clone()]],
                "{name}: {source}: {said}"
            );
        }
    }
}

/// The values of a field in the path records that saquery prints: `dlid....................49`.
fn lids_of(field: &str, said: &str) -> Vec<String> {
    let lines = said.lines().map(str::trim).filter(|line| line.starts_with(&format!("{field}.")));
    lines.map(|line| line.rsplit('.').next().unwrap_or_default().to_owned()).collect()
}

/// OpenSM's own engines give every LID of a port a path as well, and hosts may pick among them. The paths that they pick
/// are counted as those of `mlid`: no channel of the paper's trees has fewer at its busiest.
#[test]
fn tables_of_opensm_for_several_lids_are_judged_by_the_lids_that_hosts_pick() {
    for (name, lmc) in [SHORT].into_iter().chain(ibsim::long().then_some(LONG)) {
        let stage = Stage::play(&ibsim::fabric(name));
        let figures = |checked: &serde_json::Value| -> (u64, u64) {
            let (picked, all) = (&checked["edge_forwarding_index_picked"], &checked["edge_forwarding_index"]);
            (picked["max"].as_u64().unwrap(), all["max"].as_u64().unwrap())
        };
        let mut busiest = Vec::new();
        for engine in ["minhop", "updn", "ftree"] {
            stage.opensm(&["-R", engine, "-l", lmc]);
            let (checked, _) = fabdeck(&stage, &["check"], 0);
            let (picked, all) = figures(&checked);
            println!("{name}, LMC {lmc}, {engine}: picked {picked}, all LIDs {all}");
            assert!(checked["unreachable"] == 0 && checked["lost_lids"] == 0, "{name} {engine}: {checked}");
            assert!(picked < all, "{name} {engine}: one LID a pair is counted of {lmc} bits");
            busiest.push(picked);
        }
        let (whatif, _) = fabdeck(&stage, &["whatif", "--engine", "mlid"], 0);
        let (ours, _) = figures(&whatif["engines"][0]["certificate"]);
        println!("{name}, LMC {lmc}, mlid: picked {ours}");
        assert!(busiest.iter().all(|theirs| ours <= *theirs), "{name}: {ours} {busiest:?}");
    }
}
