//! Figures of real fabrics: counters in two forms, switches of one name, growth that a file states, uplinks that are too
//! narrow; hosts with several rails; lists of hosts; a topology without tables.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};

fn run_command(home: &TempDir, args: &[&str]) -> Output {
    fabdeck(home).args(args).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn talk(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(home: &TempDir, args: &[&str]) -> Value {
    let output = run_command(home, &[args, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// One table of ibdiagnet.
fn table(name: &str, columns: &str, rows: &[String]) -> String {
    format!("START_{name}\n{columns}\n{}\nEND_{name}\n\n", rows.join("\n"))
}

/// Two switches of one description with a cable between them, and `hosts` hosts on the first, one on the second.
fn leaf_and_spine(hosts: usize) -> String {
    let switch = |guid: &str| format!("\"same\",40,2,{guid},713,54000,{guid}");
    let host = |at: usize| format!("\"h{at}\",1,1,0x{:x},713,4123,0x{:x}", 0x1000 + at, 0x1000 + at);
    let mut nodes = vec![switch("0xa1"), switch("0xb2")];
    nodes.extend((0..=hosts).map(host));
    let port =
        |guid: String, number: usize, lid: usize| format!("{guid},{guid},{number},{lid},0,4,5,2,32,2,32");
    let (mut ports, mut links) = (Vec::new(), Vec::new());
    for at in 0..=hosts {
        let (switch, number) = if at < hosts { ("0xa1", at + 1) } else { ("0xb2", 1) };
        let guid = format!("0x{:x}", 0x1000 + at);
        ports.push(port(switch.into(), number, if at < hosts { 1 } else { 2 }));
        ports.push(port(guid.clone(), 1, at + 3));
        links.push(format!("{guid},1,{switch},{number}"));
    }
    ports.extend([port("0xa1".into(), 40, 1), port("0xb2".into(), 40, 2)]);
    links.push("0xa1,40,0xb2,40".to_owned());
    table("NODES", "NodeDesc,NumPorts,NodeType,NodeGUID,VendorID,DeviceID,SystemImageGUID", &nodes)
        + &table(
            "PORTS",
            "NodeGuid,PortGuid,PortNum,LID,LMC,PortState,PortPhyState,LinkWidthActv,LinkSpeedActv,LinkWidthSup,LinkSpeedSup",
            &ports,
        )
        + &table("LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2", &links)
}

fn write(home: &TempDir, file: &str, text: &str) {
    std::fs::write(home.path().join(file), text).unwrap();
}

const WAITS: &str = "NodeGUID,PortGUID,PortNumber,PortXmitData,PortXmitWait,PortXmitWaitExt";

#[test]
fn a_saturated_counter_gives_way_to_its_wide_form_and_is_marked_otherwise() {
    let home = home();
    let stuck = 4_294_967_295u64;
    let rows = [
        format!("0xa1,0xa1,1,5,{stuck},9000000000"),
        format!("0xa1,0xa1,2,5,{stuck},70000000000"),
        format!("0xb2,0xb2,1,5,{stuck},N/A"),
        "0xb2,0xb2,40,5,17,N/A".to_owned(),
        // A difference below zero is no count.
        "0xa1,0xa1,40,5,18,18446744073709551576".to_owned(),
    ];
    write(&home, "x.db_csv", &(leaf_and_spine(3) + &table("PM_INFO", WAITS, &rows)));
    let show = ["--source", "x.db_csv", "show", "counters", "--sort", "PortXmitWait"];
    let rows = json(&home, &show)["rows"].clone();
    let waits: Vec<u64> =
        rows.as_array().unwrap().iter().map(|row| row["PortXmitWait"].as_u64().unwrap()).collect();
    assert_eq!(waits, [70_000_000_000, 9_000_000_000, stuck, 18, 17]);
    let marks: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["saturated"]).collect();
    assert_eq!(marks, [&Value::Null, &Value::Null, &"PortXmitWait".into(), &Value::Null, &Value::Null]);
    let shown = text(&run_command(&home, &show));
    let mut lines = shown.lines();
    let heading = lines.next().unwrap();
    assert!(heading.contains("PortXmitWait") && !heading.contains("PortXmitWaitExt"), "{shown}");
    // Both switches are called the same: their GUIDs stand in the rows.
    assert!(heading.contains("GUID"), "{shown}");
    assert!(lines.next().unwrap().contains("0x00000000000000a1"), "{shown}");
    // Digits in groups in tables, and alone in JSON.
    assert!(shown.contains(">=4,294,967,295") && shown.contains("70,000,000,000"), "{shown}");
    assert!(!rows.to_string().contains("4,294") && rows.to_string().contains(":70000000000"), "{rows}");
}

/// What perfquery prints of one port: PortCounters of 32 bits, and PortCountersExtended.
fn blocks(lid: u32, port: u8, narrow: &[(&str, u64)], wide: &[(&str, u64)]) -> [String; 2] {
    [("Port counters", narrow), ("Port extended counters", wide)].map(|(title, values)| {
        let heading = format!("# {title}: Lid {lid} port {port} (CapMask: 0x5300)\nPortSelect:...{port}\n");
        // PortRcvPkts ends both attributes.
        let values = values.iter().chain(&[("PortRcvPkts", 5)]);
        values.fold(heading, |text, (name, value)| format!("{text}{name}:......{value}\n"))
    })
}

#[test]
fn both_forms_of_the_counters_of_a_port_are_one_row() {
    let home = home();
    let stuck = 4_294_967_295u64;
    let first = blocks(
        1,
        1,
        &[("SymbolErrorCounter", 65_535), ("PortXmitData", stuck), ("PortXmitWait", stuck)],
        &[("SymbolErrorCounter", 0), ("PortXmitData", 178_791_657_177), ("PortXmitWait", 41_864_608)],
    );
    let second = blocks(2, 1, &[("PortXmitData", stuck), ("PortXmitWait", 7)], &[("PortXmitData", 44)]);
    let all = [&first[0], &second[0], &first[1], &second[1]].map(String::as_str).concat();
    write(&home, "both.txt", &all);
    let rows_of = |source: &str| json(&home, &["--source", source, "show", "counters"])["rows"].clone();
    let rows = rows_of("both.txt");
    let row = |at: usize, name: &str| rows[at][name].clone();
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");
    for (at, name, value) in [
        (0, "lid", 1u64),
        (0, "PortXmitData", 178_791_657_177),
        (0, "PortXmitWait", 41_864_608),
        (0, "SymbolErrorCounter", 65_535),
        (1, "lid", 2),
        (1, "PortXmitData", 44),
        (1, "PortXmitWait", 7),
    ] {
        assert_eq!(row(at, name), value, "{at} {name}: {rows}");
    }
    assert_eq!((row(0, "saturated"), row(1, "saturated")), ("SymbolErrorCounter".into(), Value::Null));
    let shown = text(&run_command(&home, &["--source", "both.txt", "show", "counters"]));
    assert!(shown.contains(">=65,535") && !shown.contains("4,294,967,295"), "{shown}");

    // An attribute in a file of its own; and two moments in one file, which stay apart.
    std::fs::create_dir(home.path().join("apart")).unwrap();
    write(&home, "apart/narrow.txt", &(first[0].clone() + &second[0]));
    write(&home, "apart/wide.txt", &(first[1].clone() + &second[1]));
    assert_eq!(rows_of("apart"), rows);
    write(&home, "twice.txt", &all.repeat(2));
    assert_eq!(rows_of("twice.txt").as_array().unwrap().len(), 4);
}

#[test]
fn guids_stand_beside_switches_of_one_name_alone() {
    let home = home();
    write(&home, "x.db_csv", &leaf_and_spine(2));
    for view in ["links", "ports"] {
        let alike = text(&run_command(&home, &["--source", "x.db_csv", "show", view]));
        assert!(alike.contains("0x00000000000000b2"), "{alike}");
        let named = text(&run_command(&home, &["--source", "sim:kary,k=2,n=2", "show", view]));
        assert!(!named.lines().next().unwrap().contains("GUID"), "{named}");
    }
}

/// A host's leaf, a hop and the end of a cable name switches too.
#[test]
fn hosts_hops_and_users_of_a_cable_tell_switches_of_one_name_apart() {
    let home = home();
    write(&home, "x.db_csv", &leaf_and_spine(2));
    assert!(run_command(&home, &["generate", "kary,k=2,n=2", "-o", "named.topo"]).status.success());
    let assumed = ["--assume", "minhop", "--source"];
    let hosts: Vec<String> = json(&home, &["--source", "x.db_csv", "show", "hosts"])["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap().to_owned())
        .collect();
    let trace: Vec<&str> = vec!["trace", &hosts[0], hosts.last().unwrap()];
    for (args, named) in [
        (vec!["show", "hosts"], vec!["show", "hosts"]),
        (vec!["show", "users", "link:0xa1[40]"], vec!["show", "users", "link:leaf0[3]"]),
        (trace, vec!["trace", "node0 HCA-1", "node3 HCA-1"]),
    ] {
        // Tables are assumed where rows are of paths.
        let words = if args == ["show", "hosts"] { &assumed[2..] } else { &assumed[..] };
        let alike = text(&run_command(&home, &[words, &["x.db_csv"], &args].concat()));
        assert!(alike.contains("0x00000000000000a1"), "{args:?}: {alike}");
        let apart = text(&run_command(&home, &[words, &["named.topo"], &named].concat()));
        assert!(!apart.is_empty() && !apart.contains("SWITCH GUID"), "{apart}");
        assert!(!apart.contains("OVER GUID") && !apart.contains("PEER GUID"), "{apart}");
    }
}

/// 32 hosts send over one uplink; a host takes in a little slower than packets come.
fn crowded() -> String {
    let mut rows = vec!["0xa1,0xa1,40,15000000000,20000000000,20000000000".to_owned()];
    rows.push("0xa1,0xa1,1,300000000,1000000,1000000".to_owned());
    rows.extend((2..=32).map(|port| format!("0xa1,0xa1,{port},300000000,0,0")));
    leaf_and_spine(32) + &table("PM_DELTA", WAITS, &rows)
}

#[test]
fn growth_that_a_file_states_is_judged_over_the_pause_that_it_states() {
    let home = home();
    let run = |args: &str| {
        table("RUN_INFO", "IBDIAGNET_Version,Date,Args", &[format!("\"2.10\",\"2026-03-31\",\"{args}\"")])
    };
    write(&home, "five.db_csv", &(crowded() + &run("ibdiagnet --m_key 0x5ec4e7 --pm_pause_time 5")));
    let five = run_command(&home, &["--source", "five.db_csv", "hotspots"]);
    assert!(text(&five).contains("over 5 s, from --pm_pause_time"), "{five:?}");
    assert!(text(&five).contains("PortXmitWait 4,000 M ticks/s"), "{five:?}");
    assert!(!text(&five).contains("5ec4e7") && !talk(&five).contains("5ec4e7"));
    write(&home, "usual.db_csv", &crowded());
    let usual = run_command(&home, &["--source", "usual.db_csv", "hotspots"]);
    assert!(text(&usual).contains("PortXmitWait 20,000 M ticks/s"), "{usual:?}");
    assert!(talk(&usual).contains("FN-438"), "{usual:?}");
}

#[test]
fn an_uplink_that_its_leaf_oversubscribes_comes_before_hosts_that_hardly_wait() {
    let home = home();
    write(&home, "x.db_csv", &crowded());
    let output = run_command(&home, &["--source", "x.db_csv", "hotspots"]);
    let lines = text(&output);
    let at = |word: &str| lines.find(word).unwrap_or_else(|| panic!("{word} in {lines}"));
    assert!(at("oversubscribed  same 0x00000000000000a1[40]") < at("hot-spot "), "{lines}");
    assert!(
        lines.contains("32 hosts on same 0x00000000000000a1 share 1 link to other switches, 32.0 to 1"),
        "{lines}"
    );
    let sweep = json(&home, &["--source", "x.db_csv", "hotspots"])["sweeps"][0].clone();
    let leaf = &sweep["oversubscribed"][0];
    assert_eq!((&leaf["hosts"], &leaf["uplinks"], &leaf["ratio"]), (&32.into(), &1.into(), &32.0.into()));
    assert_eq!(sweep["hotspots"][0]["adapter_guid"], "0x0000000000001000");
}

/// Four hosts with two rails: mlx5_0 on one leaf, mlx5_1 on the other; the GUIDs of adapters say nothing of rails. The last
/// host has lost a cable, and a fifth has one adapter on the second leaf.
fn rails() -> String {
    let mut out = String::new();
    let adapters = [(0u32, 0u32), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1)];
    for rail in 0..2 {
        out += &format!(
            "switchguid=0x{0}0\nSwitch 8 \"S-{0}0\" # \"leaf{rail}\" base port 0 lid {0} lmc 0\n",
            rail + 1
        );
        for (at, (host, _)) in adapters.iter().enumerate().filter(|(_, (_, of))| *of == rail) {
            let device = if *host == 4 { 0 } else { rail };
            out += &format!(
                "[{}] \"H-{:x}\"[1] # \"node{host} mlx5_{device}\" lid {} 4xHDR\n",
                host + 1,
                0x100 + at,
                10 + at
            );
        }
        out += &format!("[8] \"S-{}0\"[8] # \"leaf{}\" lid {} 4xHDR\n\n", 2 - rail, 1 - rail, 2 - rail);
    }
    for (at, (host, rail)) in adapters.iter().enumerate() {
        let device = if *host == 4 { 0 } else { *rail };
        out += &format!(
            "caguid=0x{guid:x}\nCa 1 \"H-{guid:x}\" # \"node{host} mlx5_{device}\"\n[1](1{guid:x}) \"S-{0}0\"[{1}] # lid {2} lmc 0 \"leaf{rail}\" lid {0} 4xHDR\n\n",
            rail + 1,
            host + 1,
            10 + at,
            guid = 0x100 + at,
        );
    }
    out
}

#[test]
fn hosts_on_the_same_leaves_stay_together_in_slurms_topology() {
    let home = home();
    write(&home, "rails.topo", &rails());
    let to = |more: &[&str]| {
        let output = run_command(
            &home,
            &[&["convert", "rails.topo", "-o", "-", "--to", "slurm-topology"], more].concat(),
        );
        text(&output)
    };
    assert!(
        to(&[]).contains("SwitchName=leaf0 Nodes=node[0-2]\nSwitchName=leaf1 Nodes=node[3-4]\n"),
        "{}",
        to(&[])
    );
    let second = to(&["--rail", "2"]);
    assert!(
        second.contains("SwitchName=leaf1 Nodes=node[0-4]\n") && !second.contains("SwitchName=leaf0 Nodes"),
        "{second}"
    );
    let refused = run_command(&home, &["convert", "rails.topo", "-o", "-", "--to", "csv", "--rail", "1"]);
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

/// Two hosts with two rails, each adapter on a leaf of its own, and all leaves on one spine.
fn spine() -> String {
    let mut out = "switchguid=0x90\nSwitch 8 \"S-90\" # \"spine\" base port 0 lid 9 lmc 0\n".to_owned();
    let leaves = [(0, 0), (0, 1), (1, 0), (1, 1)];
    for at in 1..=4 {
        out += &format!("[{at}] \"S-{at}0\"[8] # \"leaf{at}\" lid {at} 4xHDR\n");
    }
    for (at, (host, rail)) in (1..).zip(leaves) {
        out += &format!(
            "\nswitchguid=0x{at}0\nSwitch 8 \"S-{at}0\" # \"leaf{at}\" base port 0 lid {at} lmc 0\n\
             [1] \"H-{at}1\"[1] # \"node{host} mlx5_{rail}\" lid {lid} 4xHDR\n[8] \"S-90\"[{at}] # \"spine\" lid 9 4xHDR\n\n\
             caguid=0x{at}1\nCa 1 \"H-{at}1\" # \"node{host} mlx5_{rail}\"\n\
             [1](1{at}1) \"S-{at}0\"[1] # lid {lid} lmc 0 \"leaf{at}\" lid {at} 4xHDR\n",
            lid = at + 10
        );
    }
    out
}

#[test]
fn a_path_between_hosts_of_several_adapters_takes_one_rail_and_says_so() {
    let home = home();
    write(&home, "rails.topo", &rails());
    let trace = ["--source", "rails.topo", "--assume", "minhop", "trace", "node1", "node3"];
    let found = run_command(&home, &trace);
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    let ends = json(&home, &trace);
    // node3 has its second adapter alone, so node1 sends from that rail.
    assert_eq!(
        (&ends["from"]["node"], &ends["to"]["node"]),
        (&"node1 mlx5_1".into(), &"node3 mlx5_1".into())
    );
    assert!(talk(&found).contains("FN-603") && talk(&found).contains("'node1' has 2 adapters"), "{found:?}");
    // Where rails meet at a spine every pair has as few switches: the adapter that was named has its own rail's at the other
    // host.
    write(&home, "spine.topo", &spine());
    for (from, to, ends) in [
        ("node0 mlx5_1", "node1", ["node0 mlx5_1", "node1 mlx5_1"]),
        ("node1", "node0 mlx5_1", ["node1 mlx5_1", "node0 mlx5_1"]),
        ("node0", "node1", ["node0 mlx5_0", "node1 mlx5_0"]),
    ] {
        let found = json(&home, &["--source", "spine.topo", "--assume", "minhop", "trace", from, to]);
        assert_eq!([&found["from"]["node"], &found["to"]["node"]], ends, "{from} {to}: {found}");
        assert!(found["notes"].to_string().contains("on one rail"), "{found}");
    }
    // Adapters of one name that tells no host stay ambiguous.
    write(&home, "alike.topo", &rails().replace("node0 ", "").replace("node1 ", ""));
    let refused =
        run_command(&home, &["--source", "alike.topo", "--assume", "minhop", "trace", "mlx5_0", "node2"]);
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

#[test]
fn hosts_alone_are_one_job_and_missing_ones_are_named_at_once() {
    let home = home();
    let source = ["--source", "sim:kary,k=4,n=2"];
    let hosts = json(&home, &[&source[..], &["show", "hosts", "--fields", "name"]].concat());
    let names: Vec<&str> =
        hosts["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let host = |at: usize| names[at].split(' ').next().unwrap();
    // As $PBS_NODEFILE has them: a line for each core.
    write(&home, "nodes", &format!("{0}\n{0}\n{1}\n{2}\n", host(0), host(1), host(7)));
    let jobs = json(&home, &[&source[..], &["show", "jobs", "--file", "nodes"]].concat());
    assert_eq!(jobs["rows"].as_array().unwrap().len(), 1, "{jobs}");
    assert_eq!((&jobs["rows"][0]["job"], &jobs["rows"][0]["hosts"]), (&"list".into(), &3.into()), "{jobs}");
    write(&home, "strange", &format!("{}\ngone[1-2]\n{}\nlost7\n", host(0), host(5)));
    let check =
        |more: &[&str]| run_command(&home, &[&source[..], &["check", "--jobs", "strange"], more].concat());
    let refused = check(&[]);
    assert_eq!(refused.status.code(), Some(7), "{refused:?}");
    for named in
        ["strange:2: FD-7903: 3 hosts", "gone1 (line 2), gone2 (line 2), lost7 (line 4)", "--missing skip"]
    {
        assert!(talk(&refused).contains(named), "{named}: {refused:?}");
    }
    let skipped = check(&["--missing", "skip"]);
    assert_eq!(skipped.status.code(), Some(0), "{skipped:?}");
    assert!(talk(&skipped).contains("FN-541"), "{skipped:?}");
}

#[test]
fn cables_alone_say_what_is_cut_off_where_there_are_no_tables() {
    let home = home();
    assert!(run_command(&home, &["generate", "kary,k=4,n=2", "-o", "bare.topo"]).status.success());
    let marks = ["link:leaf0[5]", "link:leaf0[6]", "link:leaf0[7]", "link:leaf0[8]"];
    let marks: Vec<&str> = marks.iter().flat_map(|mark| ["--fail", mark]).collect();
    let bare = |args: &[&'static str]| [&["--source", "bare.topo"], args, &marks].concat();
    let assumed =
        |args: &[&'static str]| [&["--source", "bare.topo", "--assume", "minhop"], args, &marks].concat();
    let whatif = ["whatif", "--engine", "updn"];
    let [without, with] = [json(&home, &bare(&whatif)), json(&home, &assumed(&whatif))];
    assert_eq!((&without["cut_off_pairs"], &with["cut_off_pairs"]), (&96.into(), &96.into()));
    assert_eq!((&without["failed_end_pairs"], &without["lost_until_reroute"]), (&0.into(), &Value::Null));
    let shown = text(&run_command(&home, &bare(&whatif)));
    assert!(shown.contains("at least  96 pairs are cut off under any tables"), "{shown}");
    // The plan names whom it leaves, and counts nothing against a switch whose table is not known.
    let route = run_command(&home, &bare(&["route", "--engine", "updn", "-o", "new.plan"]));
    let shown = text(&route);
    assert_eq!(route.status.code(), Some(0), "{route:?}");
    assert!(
        shown
            .contains("will be cut off: leaf0, node0 HCA-1, node1 HCA-1, node2 HCA-1, 1 more host, 96 pairs"),
        "{shown}"
    );
    assert!(shown.contains("not read      the tables of 1 switch; 12 pairs lead there"), "{shown}");
    let host =
        ["--source", "bare.topo", "route", "--engine", "updn", "--fail", "host:node0 HCA-1", "-o", "h.plan"];
    let shown = text(&run_command(&home, &host));
    assert!(shown.contains("will be cut off: node0 HCA-1, 30 pairs"), "{shown}");
    let users = run_command(&home, &["--source", "bare.topo", "show", "users", "link:leaf0[5]"]);
    assert!(users.status.code() == Some(64) && talk(&users).contains("FD-7317"), "{users:?}");
}

#[test]
fn a_topology_without_tables_is_routed_at_once() {
    let home = home();
    assert!(run_command(&home, &["generate", "kary,k=3,n=2", "-o", "bare.topo"]).status.success());
    let whatif = ["--source", "bare.topo", "whatif", "--fail-random", "1", "--engine", "updn,nue"];
    let shown = run_command(&home, &whatif);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    assert!(text(&shown).contains("no tables in force"), "{shown:?}");
    let answer = json(&home, &whatif);
    assert_eq!((&answer["tables_in_force"], &answer["lost_until_reroute"]), (&false.into(), &Value::Null));
    for row in answer["engines"].as_array().unwrap() {
        assert_eq!(
            (&row["certificate"]["unreachable"], &row["moved_pairs"]),
            (&0.into(), &Value::Null),
            "{row}"
        );
        assert!(row["certificate"]["edge_forwarding_index"]["max"].as_u64().unwrap() > 0, "{row}");
    }
    let route =
        run_command(&home, &["--source", "bare.topo", "route", "--engine", "updn", "-o", "bare.plan"]);
    assert_eq!(route.status.code(), Some(0), "{route:?}");
    assert!(text(&route).contains("no tables in force"), "{route:?}");
    assert!(Path::new(&home.path().join("bare.plan")).exists());
    let plan = run_command(&home, &["plan", "show", "bare.plan"]);
    assert!(text(&plan).contains("\nmoved pairs    not known: no tables in force\n"), "{plan:?}");
    let tables = run_command(&home, &["convert", "bare.topo", "bare.plan", "-o", "-", "--to", "lfts"]);
    assert!(tables.status.success() && !tables.stdout.is_empty(), "{tables:?}");
}
