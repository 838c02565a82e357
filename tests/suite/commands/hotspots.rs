//! `hotspots`: over the real path to a simulator, from files, and what it refuses.

use serde_json::Value;

use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;

fn json(args: &[&str], exit: Exit) -> Value {
    let ended = fabdeck(&[args, &["--json"]].concat());
    assert_eq!(ended.exit, exit, "{} {}", ended.out, ended.err);
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {} {}", ended.out, ended.err))
}

#[test]
fn a_hot_spot_is_reported_with_its_reason_and_its_victims() {
    let ended = fabdeck(&["--source", "hot", "hotspots"]);
    assert_eq!((ended.exit, ended.err.as_str()), (Exit::Findings, ""));
    let told = json(&["--source", "hot", "hotspots", "--no-times"], Exit::Findings);
    let sweep = &told["sweeps"][0];
    let count = |key: &str| sweep[key].as_array().unwrap().len();
    let counts = ["hotspots", "waiting_adapters", "on_the_path", "links", "untold", "cleared"].map(count);
    assert_eq!(counts, [1, 3, 0, 1, 0, 0], "{sweep}");
    let roles: Vec<&str> = sweep["waiting_adapters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| held["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["undecided", "undecided", "fair-share"], "{sweep}");
    assert_eq!(["contributors", "victims"].map(count), [2, 0], "{sweep}");
    assert!(
        ended.out.starts_with("from      0.0 s to 10.0 s of simulated time, the starts of two sweeps\n"),
        "{}",
        ended.out
    );
    assert_eq!(
        (&sweep["links"][0]["why"], &sweep["links"][0]["per_hour"]),
        (&"errored".into(), &50.0.into())
    );
    assert_eq!(sweep["links_too_narrow"], false);
    assert!(sweep.get("seconds").is_none() && told["thresholds"]["congestion"] == 100_000.0, "{told}");
}

#[test]
fn links_that_wait_without_a_hot_spot_are_too_narrow() {
    let ended = fabdeck(&["--source", "rail", "hotspots"]);
    assert!(ended.exit == Exit::Findings && ended.out.contains("\ntoo narrow   links between switches wait"));
    let told = json(&["--source", "rail", "hotspots"], Exit::Findings);
    let sweep = &told["sweeps"][0];
    assert_eq!((&sweep["links_too_narrow"], &sweep["hotspots"]), (&true.into(), &Value::Array(Vec::new())));
    let held = sweep["waiting_adapters"].as_array().unwrap();
    assert_eq!(
        (&sweep["victims"], &sweep["contributors"]),
        (&sweep["waiting_adapters"], &Value::Array(Vec::new()))
    );
    assert!(held.len() == 1 && held[0]["role"] == "victim", "without a hot-spot nobody contributes: {sweep}");
}

/// The first interval ends before anything rises, the second has it, and in the third nothing grows any more.
#[test]
fn each_interval_is_judged_by_itself_and_errors_since_the_first() {
    let told = json(&["--source", "hot", "hotspots", "--interval", "4s", "--count", "3"], Exit::Findings);
    let sweeps = told["sweeps"].as_array().unwrap();
    let hot: Vec<usize> = sweeps.iter().map(|sweep| sweep["hotspots"].as_array().unwrap().len()).collect();
    let links: Vec<usize> = sweeps.iter().map(|sweep| sweep["links"].as_array().unwrap().len()).collect();
    assert_eq!((hot, links), (vec![0, 1, 0], vec![0, 1, 1]));
    assert!(sweeps.iter().all(|sweep| (sweep["seconds"].as_f64().unwrap() - 4.0).abs() < 1e-6), "{sweeps:?}");
    let text = fabdeck(&["--source", "hot", "hotspots", "--interval", "4s", "--count", "2"]).out;
    let since = "from      4.0 s to 8.0 s of simulated time, the starts of two sweeps; links since 0.0 s, the first sweep\n";
    assert!(text.contains(since), "{text}");
    let quiet = fabdeck(&["--source", "hot", "hotspots", "--interval", "1s"]);
    assert!(quiet.exit == Exit::Done && quiet.out.contains("\nverdict  quiet"), "{}", quiet.out);
}

#[test]
fn what_changed_between_two_sweeps_is_reported_and_is_a_finding() {
    let args = ["--source", "moving", "hotspots", "--interval", "4s", "--count", "2"];
    let told = json(&args, Exit::Findings);
    let sweeps = told["sweeps"].as_array().unwrap();
    assert_eq!(sweeps[0]["news"], Value::Array(Vec::new()));
    let news = sweeps[1]["news"].as_array().unwrap();
    let words: Vec<&str> = news.iter().map(|news| news["what"].as_str().unwrap()).collect();
    assert_eq!(words, ["link-down", "table-drift"], "{news:?}");
    assert_eq!(news[0]["ports"].as_array().unwrap().len(), 2);
    let drift = &news[1]["drift"];
    assert_eq!(
        (&drift["blocks"][0], &drift["entries"], &drift["first"][0]["lid"]),
        (&0.into(), &1.into(), &9.into())
    );
    assert!(drift["first"][0]["now"] == 3 && drift["manager_lid"].is_u64(), "{drift}");
    let text = fabdeck(&args);
    assert!(text.exit == Exit::Findings && text.out.contains("\nlink down  "), "{}", text.out);
    assert!(
        text.out.contains(
            "1 LID differently than when its table was last read, in block 0: LID 9 to port 3, before to port "
        ),
        "{}",
        text.out
    );
    assert!(text.out.contains("; the subnet manager is at LID "), "{}", text.out);
}

#[test]
fn thresholds_of_the_configuration_count() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let quiet = "[hotspots]\ncongestion = 400_000_000\nerrors-per-hour = 51\n";
    std::fs::write(&file, quiet).unwrap();
    let file = file.to_str().unwrap();
    let told = json(&["--config", file, "--source", "hot", "hotspots"], Exit::Done);
    assert_eq!(told["thresholds"]["errors_per_hour"], 51.0);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let ended = fabdeck(&["--source", "small", "hotspots"]);
    assert_eq!(ended.exit, Exit::Usage);
    assert!(ended.err.contains("FD-5013") && ended.err.contains("--before FILE"), "{}", ended.err);
    for args in [
        &["--before", "a"][..],
        &["--before", "a", "--after", "b"],
        &["--after", "b"],
        &["--seconds", "3"],
        &["--before", "a", "--after", "b", "--seconds", "0"],
        &["--before", "a", "--after", "b", "--seconds", "9", "--interval", "9"],
    ] {
        let ended = fabdeck(&[&["--source", "small", "hotspots"], args].concat());
        assert_eq!(ended.exit, Exit::Usage, "{args:?} {}", ended.out);
    }
    // Counters of some other fabric.
    let files = ["--before", "a", "--after", "b", "--seconds", "9"];
    let ended = fabdeck(&[&["--source", "ring", "hotspots"], &files[..]].concat());
    assert!(ended.exit == Exit::Failed && ended.err.contains("FD-7941"), "{} {}", ended.out, ended.err);
}
