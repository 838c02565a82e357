//! What `check` and `whatif` count, and the lists that engines are given.

use serde_json::Value;

use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;

fn json(args: &[&str]) -> Value {
    let ended = fabdeck(&[args, &["--json"]].concat());
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {} {}", ended.out, ended.err))
}

/// Three leaves below three spines, three hosts each.
const TREE: [&str; 4] = ["--source", "untold", "--assume", "ftree"];

/// Job 17 on the first hosts of two leaves, 18 on the first of the third.
fn two_jobs() -> String {
    let names = fabdeck(&["--source", "untold", "show", "hosts", "--fields", "name", "--json"]).out;
    let names: Value = serde_json::from_str(&names).unwrap();
    let name = |at: usize| names["rows"][at]["name"].as_str().unwrap().split(' ').next().unwrap().to_owned();
    format!("{} 17,{} 17,{} 18", name(0), name(3), name(1))
}

fn on_the_tree<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TREE[..], more].concat()
}

#[test]
fn a_failed_switch_takes_the_pairs_of_its_hosts_away() {
    let args = on_the_tree(&["whatif", "--fail", "switch:leaf0", "--engine", "updn", "--no-times"]);
    let told = json(&args);
    // 9 x 8 pairs before, 6 x 5 after.
    for key in ["lost_until_reroute", "cut_off_pairs", "failed_end_pairs"] {
        assert_eq!(told[key], 42, "{key}");
    }
    let certificate = &told["engines"][0]["certificate"];
    assert_eq!((&certificate["pairs"], &certificate["failed_pairs"]), (&30.into(), &42.into()));
    assert_eq!(certificate["by_cause"]["cut_off"], 0);
    // As many random links as the switch had.
    assert_eq!(told["expected"]["faults"], 3);
    assert_eq!(told["elements"], serde_json::json!([{ "element": "switch:leaf0", "pairs": 42 }]));
    let text = fabdeck(&args).out;
    assert!(text.contains("of these  42 pairs are cut off under any tables, as one end failed"), "{text}");
}

#[test]
fn a_loss_is_compared_with_the_given_number_of_random_links() {
    // 54 pairs cross 2 of the 9 links: with n of them gone C(7,n) of C(9,n) draws spare a pair.
    for (random, mean) in [("0", 0.0), ("1", 12.0), ("2", 22.5), ("9", 54.0)] {
        let whatif =
            ["whatif", "--fail", "switch:leaf0", "--engine", "updn", "--no-times", "--expect", random];
        let told = json(&on_the_tree(&whatif));
        assert_eq!(told["expected"]["faults"].to_string(), random);
        let told = told["expected"]["mean"].as_f64().unwrap();
        assert!((told - mean).abs() < 1e-9, "{random}: {told}");
    }
}

#[test]
fn what_is_in_use_is_reported() {
    let told = json(&on_the_tree(&["check"]));
    for (key, value) in
        [("channels", 18), ("channels_in_use", 18), ("unused_links", 0), ("partly_reached", 0)]
    {
        assert_eq!(told[key], value, "{key}");
    }
    assert_eq!(
        (&told["covers"], &told["loads"], &told["jobs"]),
        (&"unicast".into(), &Value::Null, &Value::Null)
    );
    assert_eq!((told["mean_stretch"].as_f64(), told["dark_fiber"].as_f64()), (Some(1.0), Some(0.0)));
    let text = fabdeck(&on_the_tree(&["check"])).out;
    assert!(text.contains("18 of 18 channels between switches, 0.0 % dark fiber"), "{text}");
    assert!(text.contains("72 ordered pairs, unicast only"), "{text}");
}

#[test]
fn loads_and_jobs_are_counted_where_they_are_asked_for() {
    let jobs = two_jobs();
    let args = on_the_tree(&["check", "--loads", "--jobs", &jobs]);
    let told = json(&args);
    let loads = &told["loads"];
    assert_eq!(
        (&loads["hosts"], &loads["shift_degree"], &loads["worst_permutation"]),
        (&9.into(), &1.into(), &2.into())
    );
    // What goes up to a spine is from three hosts, for one of each of two leaves.
    assert_eq!((&loads["worst_exact"], &loads["average_bisect"]["settled"]), (&true.into(), &true.into()));
    let used = &told["jobs"];
    assert_eq!((&used["count"], &used["hosts"], &used["max"]), (&2.into(), &3.into(), &1.into()));
    // Two hosts, up and down there and back: 4 of 18 channels.
    assert_eq!(
        (&used["multi_switch"], &used["mean_max"], &used["mean_links"]),
        (&1.into(), &1.0.into(), &4.0.into())
    );
    assert_eq!(used["histogram"], serde_json::json!([[1, 4]]));
    let first = &used["first"][0];
    assert_eq!((&first["switches"], &first["links"]), (&2.into(), &4.into()));
    assert_eq!((&first["job"], &first["max"]), (&"17".into(), &1.into()));
    assert!((first["dark_fiber"].as_f64().unwrap() - 100.0 * 14.0 / 18.0).abs() < 1e-9, "{first}");
    let text = fabdeck(&args).out;
    assert!(text.contains("1 flows of one step on one channel at most (every step)"), "{text}");
    assert!(text.contains("17 on 2 hosts: 1 at most, 77.8 % dark fiber"), "{text}");
    assert!(
        text.contains("one is on several switches: at most 1 path on a channel, over 4 channels"),
        "{text}"
    );
    let wrong = fabdeck(&on_the_tree(&["check", "--jobs", "# now,nobody 17"]));
    assert_eq!(wrong.exit, Exit::BadInput);
    assert!(wrong.err.contains(":2: FD-7903"), "{}", wrong.err);
}

#[test]
fn what_jobs_make_of_engines_stands_beside_the_tables_in_force() {
    let jobs = two_jobs();
    let args = on_the_tree(&["whatif", "--engine", "sar,minhop", "--jobs", &jobs, "--no-times"]);
    let told = json(&args);
    let figures = serde_json::json!({
        "multi_switch": 1, "max": 1, "mean_max": 1.0, "mean_links": 4.0, "dark_fiber": 100.0 * 14.0 / 18.0,
        "lost": 0,
    });
    assert_eq!((&told["jobs"], &told["engines"][0]["jobs"]), (&figures, &figures));
    assert_eq!(told["engines"][1]["jobs"]["max"], 1);
    let text = fabdeck(&args).out;
    let row = |name: &str| text.lines().rfind(|line| line.starts_with(name)).unwrap().to_owned();
    for tables in ["in force", "sar", "minhop"] {
        let row = row(tables);
        let cells: Vec<&str> = row[tables.len()..].split_whitespace().collect();
        assert_eq!(cells, ["1", "1.0", "4.0", "0", "77.8"], "{text}");
    }
    // A leaf that fails takes the job's paths with it, of the tables in force as of all others.
    let marked = json(&[&args[..], &["--fail", "switch:leaf0"]].concat());
    assert_eq!((&marked["jobs"]["max"], &marked["engines"][0]["jobs"]["max"]), (&0.into(), &0.into()));
    let asked = on_the_tree(&["whatif", "--engine", "minhop", "--no-times"]);
    let without = json(&asked);
    assert_eq!((&without["jobs"], &without["engines"][0]["jobs"]), (&Value::Null, &Value::Null));
    assert!(!fabdeck(&asked).out.lines().any(|line| line.starts_with("in force")));
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("sar.plan").display().to_string();
    let routed = on_the_tree(&["route", "--engine", "sar", "--jobs", &jobs, "--no-times", "-o", &plan]);
    let told = json(&routed);
    assert_eq!((&told["jobs_in_force"], &told["jobs"]), (&figures, &figures));
    let text = fabdeck(&[&routed[..], &["--force"]].concat()).out;
    assert!(
        text.contains("1 path on the busiest channel; of 1 job on several switches 1.0 as a mean"),
        "{text}"
    );
}

/// Whoever reads a plan later sees for which jobs it was made, and what they gain.
#[test]
fn a_plan_says_for_which_jobs_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let (list, plan) = (two_jobs(), folder.path().join("sar.plan").display().to_string());
    let routed =
        json(&on_the_tree(&["route", "--engine", "sar", "--jobs", &list, "--no-times", "-o", &plan]));
    let told = json(&["plan", "show", &plan]);
    let jobs = &told["plan"]["jobs"];
    assert_eq!((&jobs["count"], &jobs["then"]), (&2.into(), &routed["jobs"]), "{jobs}");
    assert_eq!(jobs["now"], routed["jobs_in_force"]);
    let text = fabdeck(&["plan", "show", &plan]).out;
    for words in ["for jobs", "2 jobs that ran when the plan was made", "jobs now", "jobs then"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    fabdeck(&on_the_tree(&["route", "--engine", "updn", "--no-times", "-o", &plan, "--force"]));
    assert!(!fabdeck(&["plan", "show", &plan]).out.contains("for jobs"));
}

#[test]
fn lists_without_a_host_of_the_fabric_are_refused_with_their_line() {
    for (list, code) in [
        ("# nobody", "FD-7918"),
        ("0x00fab1", "list:1: FD-2303"),
        ("#,nonsense,", "list:2: FD-2303"),
        ("# x,0x00000000000000ff", ":2: FD-7915"),
        ("missing", "FD-1"),
    ] {
        for option in ["--roots", "--compute-nodes", "--io-nodes"] {
            let ended = fabdeck(&on_the_tree(&["whatif", "--engine", "updn", option, list]));
            let cut = list == "0x00fab1";
            let code = if cut { ":1: FD-7917" } else { code };
            assert_eq!(ended.exit, Exit::BadInput, "{option} {list}: {}", ended.err);
            assert!(ended.err.contains(code), "{option} {list}: {}", ended.err);
        }
    }
}

#[test]
fn jobs_are_for_the_engine_that_knows_what_to_do_with_them() {
    let names = fabdeck(&["--source", "untold", "show", "hosts", "--fields", "name", "--json"]).out;
    let names: Value = serde_json::from_str(&names).unwrap();
    let name = |at: usize| names["rows"][at]["name"].as_str().unwrap().split(' ').next().unwrap().to_owned();
    let jobs = format!("{} 17,{} 17", name(0), name(3));
    let asked = ["whatif", "--engine", "minhop,sar", "--no-times"];
    let args = on_the_tree(&[&asked[..], &["--jobs", &jobs, "--lanes-by", "destination"]].concat());
    let told = json(&args);
    assert_eq!(told["engines"][0]["not_used"], serde_json::json!(["--jobs", "--lanes-by"]));
    assert_eq!(told["engines"][1]["not_used"], serde_json::json!([]));
    assert!(fabdeck(&args).err.contains("minhop: options without effect: --jobs, --lanes-by"));
    let said =
        |told: &Value| told["engines"][1]["remarks"].to_string().contains("none is given (--jobs FILE)");
    assert!(!said(&told) && said(&json(&on_the_tree(&asked))));
    let wrong = fabdeck(&on_the_tree(&[&asked[..], &["--jobs", "# now,nobody 17"]].concat()));
    assert_eq!(wrong.exit, Exit::BadInput);
    assert!(wrong.err.contains(":2: FD-7903"), "{}", wrong.err);
}

#[test]
fn what_an_engine_has_no_use_for_is_reported() {
    let names = fabdeck(&["--source", "untold", "show", "hosts", "--fields", "guid", "--json"]).out;
    let names: Value = serde_json::from_str(&names).unwrap();
    let guid = names["rows"][0]["guid"].as_str().unwrap();
    let args = on_the_tree(&["whatif", "--engine", "minhop,ftree", "--io-nodes", guid, "--no-times"]);
    let told = json(&args);
    assert_eq!(told["engines"][0]["not_used"], serde_json::json!(["--io-nodes"]));
    assert_eq!(told["engines"][1]["not_used"], serde_json::json!([]));
    assert!(fabdeck(&args).err.contains("minhop: options without effect: --io-nodes"));
    let both = on_the_tree(&["whatif", "--io-nodes", guid, "--compute-nodes", guid]);
    assert!(fabdeck(&both).err.contains("FD-7916"));
}
