//! Which LID a host sends to, from end to end: every command picks the same one.

use serde_json::Value;

use super::plans::binary_says;

fn says(here: &std::path::Path, words: &[&str]) -> String {
    let (code, out, err) = binary_says(here, words);
    assert!(matches!(code, Some(0 | 2)), "{words:?}: {code:?} {out} {err}");
    out + &err
}

/// Host and path bits of each line of a file for hosts.
fn bits_of(here: &std::path::Path, file: &str) -> Vec<(String, u8)> {
    let text = std::fs::read_to_string(here.join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), words[1].parse().unwrap())
        })
        .collect()
}

#[test]
fn a_plan_of_opt_keeps_which_lids_its_hosts_pick() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    says(here, &["generate", "gft2,n=4,m=4,r=6,lmc=1", "-o", "site.net"]);
    says(here, &["--source", "site.net", "--assume", "minhop", "route", "--engine", "opt", "-o", "opt.plan"]);
    let shown = says(here, &["plan", "show", "opt.plan"]);
    assert!(shown.contains("hosts pick LIDs"), "{shown}");
    says(here, &["convert", "site.net", "opt.plan", "-o", "bits", "--to", "path-bits"]);
    let bits = bits_of(here, "bits");
    assert_eq!(bits.len(), 24);
    assert_eq!(bits.iter().map(|(_, bits)| *bits).collect::<Vec<_>>(), [0, 0, 1, 1].repeat(6));
    // By place, as without a plan.
    says(here, &["convert", "site.net", "-o", "places", "--to", "path-bits"]);
    let places: Vec<u8> = bits_of(here, "places").into_iter().map(|(_, bits)| bits).collect();
    assert_eq!(places, [0, 1, 0, 1].repeat(6));
    // The path that a host takes is that of its group.
    let hosts: Vec<&str> = bits.iter().map(|(host, _)| host.as_str()).collect();
    let lid = |words: &[&str]| -> (u64, u64) {
        let text = says(here, &[&["--source", "site.net", "--assume", "minhop"][..], words].concat());
        let value: Value =
            serde_json::from_str(&text[text.find('{').unwrap()..=text.rfind('}').unwrap()]).unwrap();
        (value["lid"].as_u64().unwrap(), value["to"]["lid"].as_u64().unwrap())
    };
    for (from, by_group, by_place) in [(1, 0, 1), (2, 1, 0), (3, 1, 1)] {
        let trace = ["trace", hosts[from], hosts[9], "--json"];
        let (lid_by_place, base) = lid(&trace);
        assert_eq!(lid_by_place - base, by_place, "host {from}");
        let (lid_by_group, base) = lid(&[&trace[..], &["--tables", "opt.plan"]].concat());
        assert_eq!(lid_by_group - base, by_group, "host {from}");
    }
    // What is counted of a plan are the LIDs that its hosts pick: over each of the 24 cables between switches as many paths
    // of 480 in each direction. By place the groups of sources would mix.
    let picked = |engine: &str| -> Value {
        let text = says(here, &["--source", "site.net", "whatif", "--engine", engine, "--json"]);
        let value: Value =
            serde_json::from_str(&text[text.find('{').unwrap()..=text.rfind('}').unwrap()]).unwrap();
        value["engines"][0]["certificate"]["edge_forwarding_index_picked"].clone()
    };
    assert_eq!(picked("opt")["max"], 20, "{}", picked("opt"));
    let judged = says(here, &["--source", "site.net", "plan", "check", "opt.plan"]);
    let line = judged.lines().find(|line| line.trim().starts_with("picked")).unwrap();
    assert!(line.contains("20") && !line.contains("40"), "{judged}");
}

#[test]
fn path_bits_need_several_lids_and_phases_leave_some_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    says(here, &["generate", "gft2,n=4,m=4,r=6", "-o", "one.net"]);
    let (code, _, err) = binary_says(here, &["convert", "one.net", "-o", "bits", "--to", "path-bits"]);
    assert!(code != Some(0) && err.contains("FD-7608"), "{err}");
    let (_, _, err) = binary_says(
        here,
        &["--source", "one.net", "--assume", "minhop", "route", "--engine", "mlid", "-o", "x"],
    );
    assert!(err.contains("FD-8003: mlid: every port has one LID: give hosts 2^k"), "{err}");
    says(here, &["generate", "gft2,n=4,m=4,r=6,lmc=1", "-o", "two.net"]);
    let phased =
        ["--source", "two.net", "--assume", "minhop", "route", "--engine", "mlid", "--high-lids", "-o", "x"];
    let (code, _, err) = binary_says(here, &phased);
    assert!(code != Some(0) && err.contains("FD-7919: mlid uses every LID of a port"), "{err}");
}
