//! A whole folder of ibdiagnet, with the output of mlxlink and ibswinfo beside it: the views have what a live reading has,
//! `check` certifies over choices, and no key of a command line or table is ever shown or recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use fabdeck_fabric::observe::{Observation, Sweep};
use fabdeck_files::capture::Recorder;
use fabdeck_live::LiveOptions;
use fabdeck_mad::access::{NoObserver, ReadOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};
use crate::captures::sample_fabric::{BEGUN, Memory, header};

/// Part of the keys in the fixtures, as hexadecimal and decimal digits.
const SECRETS: [&str; 2] = ["5ec4e7ca11ab1e", "6828837790066351616"];

fn fixtures() -> PathBuf {
    Path::new(env!("FABDECK_ROOT")).join("tests/fixtures/ibdiagnet")
}

/// A copy of the folder, without the files whose names end so, and with the texts replaced.
fn folder(without: &[&str], replace: &[(&str, &str, &str)]) -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(fixtures()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if without.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let mut text = fs::read_to_string(entry.path()).unwrap();
        for (_, from, to) in replace.iter().filter(|(end, ..)| name.ends_with(end)) {
            assert!(text.contains(from), "{name} has no {from}");
            text = text.replace(from, to);
        }
        fs::write(copy.path().join(name), text).unwrap();
    }
    copy
}

fn run_on(source: &Path, args: &[&str]) -> Output {
    let home = home();
    let mut command = fabdeck(&home);
    command.arg("--source").arg(source).args(args).output().unwrap()
}

fn rows(source: &Path, args: &[&str]) -> Vec<Value> {
    let output = run_on(source, &[args, &["--json"]].concat());
    let mut answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    answer["rows"].take().as_array().cloned().unwrap_or_else(|| panic!("no rows: {output:?}"))
}

/// The row of a node, and of one of its ports.
fn row<'r>(rows: &'r [Value], key: &str, node: &str, port: Option<u64>) -> &'r Value {
    let wanted = |row: &&Value| row[key] == node && port.is_none_or(|port| row["port"] == port);
    rows.iter().find(wanted).unwrap_or_else(|| panic!("no {node} {port:?} in {rows:?}"))
}

/// The observation that a capture of the folder would hold.
fn observe(source: &Path) -> Observation {
    let mut source = fabdeck_live::open(source.to_str().unwrap(), &LiveOptions::default()).unwrap();
    source.observe(ReadOptions::default(), &mut NoObserver).unwrap()
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const MODULE_FIELDS: &str = "node,port,wire,module,part,serial,temperature,rx_power,fec,raw_ber,symbol_ber,evidence,rcv_errors,discards";

#[test]
fn modules_and_bit_errors_come_from_every_file_of_the_folder() {
    let all = rows(&fixtures(), &["show", "modules", "--fields", MODULE_FIELDS]);
    // CABLE_INFO: a lane with too little light.
    let dark = row(&all, "node", "leaf1", Some(3));
    assert_eq!(
        (&dark["wire"], &dark["serial"], &dark["rx_power"]),
        (&"bad".into(), &"Ca13".into(), &50.into())
    );
    assert!(dark["evidence"].as_str().unwrap().starts_with("rx power of lane 3 50 uW"), "{dark}");
    // Light that no lane states is unknown, and not dark.
    let unknown = row(&all, "node", "leaf2", Some(2));
    assert_eq!((&unknown["wire"], &unknown["rx_power"]), (&"healthy".into(), &Value::Null));
    // .net_dump_ext: rates without counts.
    let noisy = row(&all, "node", "spine1", Some(1));
    assert_eq!(
        (&noisy["wire"], &noisy["raw_ber"], &noisy["fec"]),
        (&"bad".into(), &"2e-5".into(), &"RS(544)+PLR".into())
    );
    let text = noisy["evidence"].as_str().unwrap();
    assert!(
        text.starts_with("raw BER 2e-5 over a time that the source does not state (limit 1e-5"),
        "{text}"
    );
    // .cables: a module that CABLE_INFO does not have.
    let hot = row(&all, "node", "spine1", Some(2));
    assert_eq!((&hot["wire"], &hot["serial"]), (&"bad".into(), &"S32".into()));
    // mlxlink, by the name of its file; FEC_MODE has 255 there.
    let host = row(&all, "node", "n2 mlx5_0", Some(1));
    assert_eq!(
        (&host["serial"], &host["raw_ber"], &host["fec"]),
        (&"MB21".into(), &"2e-9".into(), &"RS(544)+PLR".into())
    );
    assert_eq!(host["wire"], "bad", "lane 3 has -9 dBm, its limit is -8: {host}");
    // PM_INFO.
    let leaf = row(&all, "node", "leaf1", Some(2));
    assert_eq!(
        (&leaf["rcv_errors"], &leaf["discards"]),
        (&"4 local physical".into(), &"1 port inactive".into())
    );
    assert_eq!(leaf["wire"], "healthy");
}

#[test]
fn fec_counters_give_a_rate_where_no_other_file_has_one() {
    let held = folder(&["net_dump_ext", "mlxlink.json"], &[]);
    let all = rows(held.path(), &["show", "modules", "--fields", "node,port,raw_ber,over"]);
    let leaf = row(&all, "node", "leaf1", Some(1));
    // 80 symbols in the 60 s of --pm_pause_time, on 4 lanes of NDR.
    assert_eq!((&leaf["raw_ber"], &leaf["over"]), (&"at least 3e-12".into(), &"60 s".into()), "{leaf}");
}

#[test]
fn sensors_have_temperatures_fans_power_and_firmware() {
    let fields = "node,sensors,temperature,highest,limit,hottest,fans,slowest_fan,power,firmware,psid,uptime,serial,product";
    let all = rows(&fixtures(), &["show", "sensors", "--fields", fields]);
    let leaf1 = row(&all, "node", "leaf1", None);
    assert_eq!(
        (&leaf1["sensors"], &leaf1["fans"], &leaf1["power"]),
        (&"ok".into(), &"3".into(), &"2 ok".into())
    );
    assert_eq!((&leaf1["temperature"], &leaf1["limit"]), (&46.0.into(), &105.0.into()), "{leaf1}");
    assert_eq!((&leaf1["firmware"], &leaf1["psid"]), (&"31.2012.1024".into(), &"MT_0000000577".into()));
    assert_eq!((&leaf1["serial"], &leaf1["product"]), (&"MT240X001".into(), &"Gorilla 64-port".into()));
    let leaf2 = row(&all, "node", "leaf2", None);
    assert_eq!((&leaf2["sensors"], &leaf2["fans"]), (&"hot".into(), &"3 (1 failed)".into()));
    assert_eq!(leaf2["power"], "power supply 1: AC input ERROR, DC power ERROR, as the device reports");
    assert_eq!(leaf2["hottest"], "Ambient fan side at 72.0 °C (its own limit is 70.0 °C)");
    // Without the hot sensor its other faults are its state.
    let cool = folder(&[], &[("db_csv", "72,74,0,70", "32,34,0,70")]);
    let all = rows(cool.path(), &["show", "sensors", "--fields", fields]);
    assert_eq!(row(&all, "node", "leaf2", None)["sensors"], "fault");
    // ibswinfo, by the name of its file; TEMP_SENSING has the temperature already.
    let spine1 = row(&all, "node", "spine1", None);
    assert_eq!(
        (&spine1["fans"], &spine1["power"], &spine1["temperature"]),
        (&"2".into(), &"2 ok".into(), &48.0.into())
    );
    // N/A is no temperature.
    assert_eq!(row(&all, "node", "spine2", None)["sensors"], "not asked");
    // .nodes_info has the adapters.
    assert_eq!(row(&all, "node", "n1 mlx5_0", None)["firmware"], "28.40.1000");
}

#[test]
fn health_reports_the_devices_of_a_folder() {
    let ended = run_on(&fixtures(), &["health", "--json"]);
    let health: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let all =
        health["problems"].as_array().unwrap().iter().filter(|problem| problem["kind"] == "device-health");
    let titles: Vec<&str> = all.map(|problem| problem["title"].as_str().unwrap()).collect();
    for title in [
        "leaf2: Ambient fan side at 72.0 °C (its own limit is 70.0 °C)",
        "leaf2: fan 0 at 6,000 rpm (its own limits are 6,050 to 26,000 rpm)",
        "leaf2: power supply 1: AC input ERROR, DC power ERROR, as the device reports",
    ] {
        assert!(titles.contains(&title), "{title}: {titles:?}");
    }
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert_eq!(ended.status.code(), Some(2));
    // ibswinfo of another switch: power supplies of two devices are one problem.
    let held = folder(&[], &[("ibswinfo.out", "psu1.power (W)     : 102", "PSU1 status        : ERROR")]);
    let text = String::from_utf8(run_on(held.path(), &["health"]).stdout).unwrap();
    assert!(text.contains("2 devices have a failed power supply: "), "{text}");
}

#[test]
fn health_reports_links_of_a_folder() {
    let output = run_on(&fixtures(), &["health"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["2 cables have light outside the limits of their modules", "raw BER 2e-5", "84.0 °C"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

const ADAPTIVE_FIELDS: &str = "switch,state,levels,groups,shield,hbf,pfrn,plfts,tables,sub_groups,lane_input";

fn certified(source: &Path) -> (Value, String) {
    let output = run_on(source, &["check", "--json"]);
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let choices = &answer["choices"];
    (choices["certified"].clone(), choices["reason"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn adaptive_tables_of_a_folder_are_certified_over_choices() {
    let all = rows(&fixtures(), &["show", "adaptive", "--fields", ADAPTIVE_FIELDS]);
    let leaf = row(&all, "switch", "leaf1", None);
    let found = ["state", "levels", "shield", "hbf", "pfrn", "plfts", "tables", "sub_groups", "lane_input"];
    let found: Vec<String> = found.iter().map(|field| leaf[field].to_string()).collect();
    assert_eq!(found, ["\"on\"", "\"0-7\"", "false", "\"no\"", "true", "1", "\"read\"", "1", "0"]);
    // A mask of capabilities without PLFT and ExtNodeInfo.
    let spine = row(&all, "switch", "spine1", None);
    assert_eq!((&spine["state"], &spine["lane_input"]), (&"off".into(), &0.into()));
    assert_eq!(certified(&fixtures()), (true.into(), String::new()));
}

#[test]
fn without_a_file_the_certificate_says_what_is_missing() {
    for (without, replace, reason) in [
        (&["far"][..], &[][..], "tables were not read at 2 switches"),
        // .fdbs numbers its tables too.
        (&[], &[("far", "PLFT_NUM: 0, top: 0x0006\n", "")], ""),
        (
            &[],
            &[("far", "PLFT_NUM: 0, top: 0x0006\n", ""), ("fdbs", "PLFT_NUM: 0\n", "")],
            "how many private tables",
        ),
        (&[], &[("far", "0x0002   2", "0x0002   3")], "the static port of LID 2 differs"),
        (&[], &[("far", "Free        1", "Free        9")], "has group 9, which is not defined"),
        (&[], &[("far", "Free        1", "Wild        1")], "tables were not read at 2 switches"),
        (&[], &[("far", "# File closed at", "# File at")], ""),
        (&[], &[("db_csv", "0x07,0x00,0,0,0", "0x07,0x01,0,0,0")], "may select lanes by virtual lane"),
        (&[], &[("db_csv", "sl2vl_act", "sl2vl_new")], "what selects lanes"),
        (
            &[],
            &[("fdbs", "yes\n\n", "yes\nPLFT_NUM: 1\n0x0002 : 003  : 00   : yes\n\n")],
            "tables were not read",
        ),
    ] {
        let held = folder(without, replace);
        let (certified, found) = certified(held.path());
        match reason {
            // The last switch of the cut file has adaptive routing off, so that its tables change nothing.
            "" => assert_eq!(certified, true, "{found}"),
            reason => assert!(certified == false && found.contains(reason), "{reason}: {found}"),
        }
    }
}

#[test]
fn what_is_not_read_is_named() {
    let said = talk(&run_on(&fixtures(), &["-v", "show", "fabric"]));
    for part in [
        "FN-439: tables that only `show ibdiagnet` has, with their rows: HBF_PORT_COUNTERS (1); tables of keys, never read: \
         N2N_KEY_INFO (1)",
        "FN-442: ibdiagnet itself reports 2 NODE_WRONG_FW_VERSION, 1 BER_VALUE_ABOVE_THRESHOLD",
        "FN-443: the subnet manager set port 2 of 0x00000000000000a3 aside: raw bit errors",
        "FN-432: adaptive routing is enabled on 2 of 4 switches",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let other = folder(&[], &[("db_csv", "is_pfrn_supported,pfrn_enabled", "is_pfrn_supported,new_mode")]);
    let said = talk(&run_on(other.path(), &["-v", "show", "fabric"]));
    assert!(said.contains("FN-440: columns of AR_INFO that are not read: new_mode"), "{said}");
    // Files about ports that nothing names.
    let held = folder(&[], &[]);
    fs::rename(held.path().join("n2_mlx5_0.mlxlink.json"), held.path().join("one.json")).unwrap();
    let said = talk(&run_on(held.path(), &["-v", "show", "fabric"]));
    assert!(said.contains("one.json: FN-447"), "{said}");
}

/// Tables of aggregation nodes and routers in front of another table. The second row names a node by its port GUID.
const NODE_TABLES: &str = "START_SHARP_AN_INFO\n\
    GUID,LID,endianness,tree_table_size,tree_radix,max_group_num,num_of_jobs,max_num_qps,am_key,new_column\n\
    0x00000000000000b1,5,0,64,252,256,64,0x400,1,7\n\
    0x00000000000100b2,6,0,N/A,126,-1,32,512,1,7\n\
    0x00000000000000ff,7,0,1,1,1,1,1,1,1\n\
    END_SHARP_AN_INFO\n\n\n\
    START_ROUTERS_INFO\nNodeGUID,CapabilityMask,global_router_lid_start,global_router_lid_end,SubnetPrefix\n\
    0x00000000000000a4,0x3,0xc001,0xd000,0xfe80000000000000\n\
    END_ROUTERS_INFO\n\n\nSTART_TEMP_SENSING";

#[test]
fn tables_of_aggregation_nodes_and_routers_are_shown_by_column() {
    let held = folder(&[], &[("db_csv", "START_TEMP_SENSING", NODE_TABLES)]);
    let fields = "node,lid,switch,trees,radix,groups,jobs,queue_pairs,stated";
    let all = rows(held.path(), &["show", "aggregation", "--fields", fields]);
    let of = |node: &str| -> Vec<String> {
        let row = row(&all, "node", node, None);
        ["switch", "trees", "radix", "groups", "jobs", "queue_pairs"]
            .iter()
            .map(|key| row[*key].to_string())
            .collect()
    };
    assert_eq!(of("n1 mlx5_0"), ["\"leaf1\"", "64", "252", "256", "64", "1024"]);
    assert_eq!(of("n2 mlx5_0"), ["\"leaf2\"", "null", "126", "null", "32", "512"]);
    assert_eq!(all.len(), 2);
    let stated = row(&all, "node", "n2 mlx5_0", None)["stated"].as_str().unwrap().to_owned();
    assert_eq!(stated, "endianness 0, max_num_qps 512, new_column 7, num_of_jobs 32, tree_radix 126");
    let routers = rows(held.path(), &["show", "routers"]);
    assert_eq!((routers.len(), &routers[0]["node"]), (1, &"spine2".into()));
    assert_eq!(
        routers[0]["stated"],
        "CapabilityMask 3, global_router_lid_end 53248, global_router_lid_start 49153"
    );
    let said = talk(&run_on(held.path(), &["-v", "show", "fabric"]));
    assert!(said.contains("FN-448") || said.contains("0x00000000000000ff is not in this fabric"), "{said}");
    assert!(!said.contains("SHARP_AN_INFO ("), "it is read: {said}");
    // Without the tables there is neither, and sensors have no row for them.
    assert!(rows(&fixtures(), &["show", "aggregation"]).is_empty());
    assert_eq!(rows(held.path(), &["show", "sensors"]), rows(&fixtures(), &["show", "sensors"]));
    // A capture has them, and an anonymous one too.
    let captures = tempfile::tempdir().unwrap();
    let [plain, anonymous] = ["plain.fdcap", "anonymous.fdcap"].map(|name| captures.path().join(name));
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    recorder.record_sweep(BEGUN, &observe(held.path()), &Sweep::default()).unwrap();
    recorder.finish(BEGUN + 1_000).unwrap();
    fs::write(&plain, &*memory.bytes.borrow()).unwrap();
    let home = home();
    let mut command = fabdeck(&home);
    let done = command.args(["capture", "anonymize"]).arg(&plain).arg("-o").arg(&anonymous).output().unwrap();
    assert!(done.status.success(), "{}", talk(&done));
    let texts = |rows: &[Value]| {
        let mut texts: Vec<_> = rows.iter().map(|row| row["stated"].to_string()).collect();
        texts.sort_unstable();
        texts
    };
    for capture in [plain, anonymous] {
        assert_eq!(texts(&rows(&capture, &["show", "aggregation"])), texts(&all), "{}", capture.display());
    }
}

#[test]
fn one_bad_line_takes_no_other_and_fails_no_file() {
    let all =
        |held: &TempDir| rows(held.path(), &["show", "sensors", "--fields", "node,temperature,power,fans"]);
    let whole = all(&folder(&[], &[]));
    for (from, to) in [
        ("0x00000000000000a1,46\n", "0x00000000000000a1,hot\n"),
        ("0x00000000000000a1,46\n", "0x00000000000000a1\n"),
        ("0x00000000000000a1,46\n", "zz,46\n"),
    ] {
        let broken = all(&folder(&[], &[("db_csv", from, to)]));
        for node in ["leaf2", "spine1"] {
            assert_eq!(row(&broken, "node", node, None), row(&whole, "node", node, None), "{to}");
        }
        assert_eq!(row(&broken, "node", "leaf1", None)["power"], "2 ok", "{to}");
    }
}

#[test]
fn counters_are_there_once_and_have_ticks() {
    let all = rows(&fixtures(), &["show", "counters"]);
    assert_eq!(all.len(), 12, "PM_INFO and .pm are the same counters");
    let held = folder(&["db_csv"], &[]);
    let net = "Switch 4 \"S-00000000000000a1\" # \"leaf1\" enhanced port 0 lid 1 lmc 0\n[1] \"H-00000000000000b1\"[1](100b1) # \"n1 mlx5_0\" lid 5 4xNDR\n\nCa 1 \"H-00000000000000b1\" # \"n1 mlx5_0\"\n[1](100b1) \"S-00000000000000a1\"[1] # lid 5 lmc 0 \"leaf1\" lid 1 4xNDR\n";
    fs::write(held.path().join("net.ibnetdiscover"), net).unwrap();
    let all = rows(held.path(), &["show", "counters", "--filter", "node=leaf1"]);
    assert!(!all.is_empty(), "without the tables .pm has the counters");
}

#[test]
fn no_key_of_a_folder_is_shown_or_recorded() {
    let mut said = String::new();
    let mut add = |output: Output| {
        said += &String::from_utf8_lossy(&output.stdout);
        said += &talk(&output);
    };
    for view in ["fabric", "nodes", "ports", "links", "modules", "sensors", "adaptive", "counters", "tables"]
    {
        add(run_on(&fixtures(), &["-v", "show", view, "--json"]));
    }
    for args in [&["-v", "check"][..], &["-v", "health"], &["-v", "report"], &["-v", "sources"]] {
        add(run_on(&fixtures(), args));
    }
    // A capture holds what was read, and nothing else.
    let read = format!("{:?}", observe(&fixtures()));
    assert!(read.contains("MT_0000000577") && read.contains("OSFP-SR4"));
    for secret in SECRETS {
        assert!(!said.contains(secret), "{secret} is shown");
        assert!(!read.to_lowercase().contains(secret), "{secret} is read");
    }
    // The same with keys where rows and headers are out of step.
    for (end, from, to) in [
        ("db_csv", "0x00000000000000a1,46\n", "0x00000000000000a1,0x5ec4e7ca11ab1e00\n"),
        ("db_csv", "0x00000000000000a1,46\n", "46,0x5ec4e7ca11ab1e00,\n"),
        ("db_csv", "NODE_WRONG_FW_VERSION", "--m_key 0x5ec4e7ca11ab1e00"),
        ("db_csv", ",\"2026-03-02 14:05:09 UTC +0000\",", ",\"--m_key 0x5ec4e7ca11ab1e00\","),
    ] {
        let held = folder(&[], &[(end, from, to)]);
        let output = run_on(held.path(), &["-v", "show", "fabric"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &talk(&output);
        assert!(!said.contains(SECRETS[0]), "{to}: {said}");
    }
}

/// Tables and columns that nothing else reads are visible by their names, and nothing in them that may be a key.
#[test]
fn tables_and_columns_that_nothing_reads_are_shown_by_name() {
    let all = rows(&fixtures(), &["show", "ibdiagnet", "--fields", "table,node,port,label,stated"]);
    let of = |table: &str| -> Vec<&Value> { all.iter().filter(|row| row["table"] == table).collect() };
    let hashed = of("HBF_PORT_COUNTERS");
    assert_eq!((hashed.len(), &hashed[0]["node"], &hashed[0]["port"]), (1, &"leaf1".into(), &1.into()));
    assert_eq!((&hashed[0]["label"]), &Value::from("1/1/1"));
    let counters = "rx_pkt_forwarding_static 10, rx_pkt_forwarding_hbf 0, rx_pkt_forwarding_ar 20";
    assert_eq!(hashed[0]["stated"], counters);
    // What ibdiagnet itself found, without its free text.
    let found = of("WARNINGS_FW_CHECK");
    assert_eq!((found.len(), &found[1]["node"]), (2, &"leaf2".into()), "{found:?}");
    assert_eq!(found[0]["stated"], "Scope NODE, EventName NODE_WRONG_FW_VERSION");
    let worst = of("ERRORS_SYMBOL_BER_CHECK");
    assert_eq!((worst.len(), &worst[0]["port"]), (1, &2.into()));
    assert_eq!(worst[0]["stated"], "Scope PORT, EventName BER_VALUE_ABOVE_THRESHOLD");
    let text = serde_json::to_string(&all).unwrap();
    assert!(!text.contains("5ec4e7") && !text.contains("latest") && of("N2N_KEY_INFO").is_empty(), "{text}");
    // Columns of tables that other views have, also those of a newer version.
    let unread =
        |source: &Path| rows(source, &["show", "ibdiagnet", "--filter", "table=TEMPERATURE_SENSORS"]);
    assert_eq!(unread(&fixtures())[0]["stated"], "not read: LowThreshold");
    let newer = folder(&[], &[("db_csv", "MaxTemperature,LowThreshold", "NewColumn,LowThreshold")]);
    assert_eq!(unread(newer.path())[0]["stated"], "not read: NewColumn, LowThreshold");
    assert!(of("SHARP_AN_INFO").is_empty() && of("RUN_INFO").is_empty(), "{all:?}");
}
