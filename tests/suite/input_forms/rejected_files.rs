//! Files that lie beside dumps and are no fabric: each is named, with what to give instead. All were written here,
//! in the forms that the tools write.

use super::{NET, codes, folder, look, look_at};
use crate::commands::binary::{fabdeck, home};

const FILES: [(&str, &str); 9] = [
    (
        "topology.conf",
        "# made by a script\nSwitchName=leaf1 Nodes=0x20,0x30\nSwitchName=root Switches=leaf1\n",
    ),
    (
        "sheet.csv",
        ",rack #,U height,#Fields:StartDevice,StartPort,EndDevice,EndPort,LinkType\n,rack 1,U1,leaf1,Port 21,spine1,Blade 1_Port 1/1,Data\n",
    ),
    (
        "bare.ndt",
        "#StartDevice,StartPort,EndDevice,EndPort,LinkType\nleaf1,Port 21,spine1,Blade 16_Port 2/20,Data\n",
    ),
    (
        "report.json",
        "{\"error\": \"\", \"report\": {\"miss_wired\": [{\"expected\": \"a/1 - b/2\", \"actual\": \"A/1 - B/3\"}]}}\n",
    ),
    ("intended.topo", "# two switches\nMTS2400 leaf1\n   P1 -4x-10G-> MTS2400 spine1 P7\n"),
    ("Model.ibnl", "SYSTEM LEAF,LEAF:4x\n\nNODE SW 8 MT43132 U1\n   1 -> P1\n   2 -> P2\n"),
    (
        "ibswinfo.out",
        "=====\nSwitchIB Mellanox Technologies\n=====\npart number        | MSB0000\nGUID               | 0x0000000000000010\n",
    ),
    ("vitals.out", "uptime (sec)       : 17\npsu0.power (W)     : 92\ncur.temp (C)       : 73\n"),
    ("squeue.json", "{\"meta\": {}, \"jobs\": [{\"job_id\": 7, \"nodes\": \"host1\"}]}\n"),
];

#[test]
fn what_is_no_fabric_is_named() {
    let mut said = String::new();
    for (name, text) in FILES {
        let error = look_at(text).unwrap_err().to_string();
        let (_, what) = error.split_once("FD-").unwrap();
        said +=
            &format!("{name}\n    FD-{}\n", what.split_once("; known are").map_or(what, |(what, _)| what));
    }
    insta::assert_snapshot!(said);
}

/// Beside a dump they are named, and the dump is whole. A report of ibswinfo is read, but names no switch of the dump.
#[test]
fn what_is_no_fabric_takes_nothing_from_a_dump_beside_it() {
    let mut files: Vec<(&str, &[u8])> = FILES.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    files.push(("net", NET.as_bytes()));
    let held = folder(&files);
    let seen = look(held.path()).unwrap();
    assert_eq!(
        (codes(&seen), seen.is_partial(), seen.fabric.nodes().count()),
        (vec!["FN-501", "FN-447"], false, 3)
    );
}

/// An engine has no routes for counters alone, and says what is missing.
#[test]
fn counters_alone_are_nothing_to_check_and_an_engine_does_not_help() {
    let counters = "# Port extended counters: Lid 7 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)\nPortSelect:......................1\nPortXmitData:....................17\nPortMulticastRcvPkts:............0\n";
    let held = folder(&[("counters", counters.as_bytes())]);
    for more in [vec![], vec!["--assume", "updn"]] {
        let ended =
            fabdeck(&home()).args(["check", "--source"]).arg(held.path()).args(&more).output().unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(text.contains("FD-7901: the source has no switch"), "{text}");
        assert!(!text.contains("--assume"), "{text}");
    }
}

/// Tables that were left out as damaged are named where they are missed.
#[test]
fn what_needs_tables_names_the_damaged_file_that_has_some() {
    let damaged = "Unicast lids [0-3] of switch Lid 1 guid 0x0000000000000001 ('a'):\n0x0001 000 : (Switch portguid 0x1: 'a')\n0x0002 \nUnicast lids [0-3] of switch Lid 1 guid 0x0000000000000001 ('a'):\n";
    let held = folder(&[("net", NET.as_bytes()), ("tables", damaged.as_bytes())]);
    let jobs = held.path().join("jobs");
    let channels = ["jobs", "channels", "--file", jobs.to_str().unwrap()];
    std::fs::write(held.path().join("jobs"), "host 7\n").unwrap();
    for (args, code) in
        [(&["check"][..], "FD-7901"), (&["trace", "host a", "leaf"], "FD-7401"), (&channels, "FD-7821")]
    {
        let ended = fabdeck(&home()).arg("--source").arg(held.path()).args(args).output().unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(text.contains(code) && text.contains("FN-509: this file is not used"), "{text}");
    }
}

/// Files of no text, and a plan, which is no fabric.
#[test]
fn empty_files_caches_and_plans_are_named() {
    let cache = [&[0x2B, 0x83, 0xE7, 0x8F][..], &[1, 0, 0, 0, 2, 0, 0, 0]].concat();
    for (bytes, words) in [
        (&b" \n\n"[..], "FD-2002: the file is empty"),
        (&cache, "FD-2002: this is a binary cache of 'ibnetdiscover --cache'"),
        (b"\x00\x01\x02\xff", "FD-2002: the file is binary, in an unknown format"),
        (b"{\"schema\": \"fabdeck.plan/1\"}\n", "FD-2002: this is a plan, not a fabric"),
    ] {
        let error = look_at(bytes).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}
