//! `show modules`, `show sensors` and `health` on simulated fabrics whose devices answer about their links.

use serde_json::Value;

use super::binary::{fabdeck as program, home};

const OPTICS: &str = "sim:kary,k=2,n=2,speed=ndr,wire-optics=all";

/// The answer of a command, and what it wrote besides.
fn answer(args: &[&str]) -> (Value, String) {
    let ended = program(&home()).args(args).arg("--json").output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {said}")), said)
}

fn rows(source: &str, view: &str, more: &[&str]) -> Vec<Value> {
    let (rows, _) = answer(&[&["--source", source, "show", view][..], more].concat());
    rows["rows"].as_array().unwrap().clone()
}

#[test]
fn a_worn_lane_and_a_hot_module_are_bad_with_their_evidence() {
    let all = rows(
        OPTICS,
        "modules",
        &["--fields", "node,port,wire,module,temperature,raw_ber,over,evidence,serial"],
    );
    let bad: Vec<&Value> = all.iter().filter(|row| row["wire"] == "bad").collect();
    // Of each of the six nodes one lane is worn; switches have a second cabled port, whose module is hot.
    let nodes =
        all.iter().map(|row| row["node"].as_str().unwrap()).collect::<std::collections::BTreeSet<_>>();
    assert!(bad.len() > nodes.len() && bad.len() < all.len(), "{} of {}", bad.len(), all.len());
    let evidence =
        |words: &str| bad.iter().filter(|row| row["evidence"].as_str().unwrap().contains(words)).count();
    assert_eq!(evidence("raw BER") + evidence("effective BER") + evidence("module at 78.0 °C"), bad.len());
    assert!(evidence("(its own limit is 75.0 °C)") > 0 && evidence("PDR thresholds V06") > 0, "{bad:?}");
    for row in &all {
        assert_eq!(row["module"], "optical");
        assert_eq!(row["over"], "60 min since the counters were cleared");
        assert!(row["serial"].as_str().unwrap().starts_with("SIM"));
        let well = row["wire"] == "healthy";
        assert_eq!(well, row["raw_ber"] == "1e-8" && row["temperature"].as_f64().unwrap() < 75.0, "{row}");
    }
    // Links and ports are asked for it where a filter needs it.
    for view in ["links", "ports"] {
        assert!(!rows(OPTICS, view, &["--filter", "wire=bad"]).is_empty(), "{view}");
    }
    let filtered = rows(OPTICS, "modules", &["--filter", "wire=bad"]);
    assert_eq!(filtered.len(), bad.len());
}

#[test]
fn metrics_have_the_values_that_were_read_and_no_line_for_others() {
    let metrics = |source: &str, more: &[&str]| {
        let args = [&["--source", source, "show", "modules", "--format", "prometheus"][..], more].concat();
        let ended = program(&home()).args(args).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    let (code, text) = metrics(OPTICS, &[]);
    let values = |name: &str| -> Vec<f64> {
        let lines = text.lines().filter(|line| line.starts_with(&format!("infiniband_switch_port_{name}{{")));
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap()).collect()
    };
    assert_eq!(code, Some(0));
    let verdicts = values("wire_verdict");
    assert!(verdicts.contains(&0.0) && verdicts.contains(&2.0) && !verdicts.contains(&1.0), "{verdicts:?}");
    assert!(
        values("module_temperature_celsius").contains(&78.0) && values("module_voltage_volts").contains(&3.3)
    );
    assert!(values("raw_bit_error_ratio").iter().any(|rate| (rate / 1e-8 - 1.0).abs() < 1e-6), "{text}");
    // Nothing is 0 because it is not known.
    let (code, text) = metrics("sim:kary,k=2,n=2", &[]);
    assert_eq!((code, text.lines().filter(|line| !line.starts_with('#')).count()), (Some(0), 0), "{text}");
    assert_eq!(metrics(OPTICS, &["--top", "1"]).0, Some(64), "metrics are those of every port");
}

#[test]
fn metrics_of_sensors_have_their_parts_and_no_line_for_what_was_not_read() {
    let metrics = |source: &str| {
        let args = ["--source", source, "show", "sensors", "--format", "prometheus"];
        let ended = program(&home()).args(args).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    let (code, text) = metrics("sim:kary,k=2,n=2,wire=all");
    assert_eq!(code, Some(0));
    let lines = |name: &str| {
        let begin = format!("infiniband_switch_{name}{{guid=\"0x");
        text.lines().filter(|line| line.starts_with(&begin)).count()
    };
    for (name, least) in [
        ("temperature_celsius", 4),
        ("temperature_limit_celsius", 4),
        ("fan_speed_rpm", 4),
        ("sensor_faults", 4),
        ("uptime_seconds", 4),
    ] {
        assert!(lines(name) >= least, "{name}: {text}");
    }
    assert!(text.contains("sensor=\"chip\"} ") && text.contains(",fan=\""), "{text}");
    let (code, text) = metrics("sim:kary,k=2,n=2");
    let values = text.lines().filter(|line| !line.starts_with('#') && !line.contains("sensor_faults"));
    assert_eq!((code, values.count()), (Some(0), 0), "{text}");
}

/// Whether a value is this word, or that of a device that was not asked because another one of its kind has this word.
fn is_word(value: &Value, word: &str) -> bool {
    let of_kind = match word {
        "absent" => "absent in its kind",
        "did not answer" => "its kind did not answer",
        other => other,
    };
    value == word || value == of_kind
}

#[test]
fn missing_values_have_their_word_and_are_never_zero() {
    for (profile, module, raw) in [
        ("wire-keyed", "did not answer", "did not answer"),
        ("wire-counters", "absent", "absent"),
        ("wire-nonsense", "not understood", "not understood"),
        ("wire-no-modules", "absent", "1e-8"),
        // Devices that have none of it.
        ("silent=0%,seed", "absent", "absent"),
    ] {
        let value = if profile.contains('=') { "1" } else { "all" };
        let source = format!("sim:kary,k=2,n=2,speed=ndr,{profile}={value}");
        for row in rows(&source, "modules", &["--fields", "wire,module,raw_ber,temperature,rx_power"]) {
            assert!(is_word(&row["module"], module) && is_word(&row["raw_ber"], raw), "{source}: {row}");
            assert!(row["temperature"].is_null() && row["rx_power"].is_null(), "{row}");
            let verdict = if raw == "1e-8" { "healthy" } else { "not known" };
            assert_eq!(row["wire"], verdict, "{source}");
        }
    }
}

#[test]
fn sensors_show_fans_of_switches_and_firmware_of_all() {
    let all = rows(
        "sim:kary,k=2,n=2,wire=all",
        "sensors",
        &["--fields", "node,kind,sensors,temperature,limit,fans,slowest_fan,firmware,uptime,serial"],
    );
    let of = |kind: &str| all.iter().filter(|row| row["kind"] == kind).cloned().collect::<Vec<_>>();
    let (switches, hosts) = (of("switch"), of("host"));
    assert!(!switches.is_empty() && !hosts.is_empty());
    for row in &switches {
        assert_eq!(
            (&row["fans"], &row["slowest_fan"], &row["sensors"]),
            (&"2".into(), &6350.into(), &"ok".into())
        );
        assert_eq!(
            (&row["firmware"], &row["limit"], &row["uptime"]),
            (&"31.2012.4036".into(), &105.0.into(), &240.into())
        );
        assert!(row["serial"].as_str().unwrap().starts_with("SIM"), "{row}");
    }
    for row in &hosts {
        assert!(is_word(&row["fans"], "absent") && row["firmware"] == "28.39.2048", "{row}");
        assert!(row["serial"].is_null() && row["temperature"].is_number(), "{row}");
    }
}

#[test]
fn the_cost_is_printed() {
    let ended = program(&home()).args(["-v", "--source", OPTICS, "show", "modules"]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.lines().any(|line| line.contains("link health: ") && line.contains(" MADs sent")), "{said}");
    assert!(said.contains("0 of them able to write"), "{said}");
}

#[test]
fn a_recording_shows_the_verdict_and_health_names_the_lane() {
    let home = home();
    let run = |args: &[&str]| {
        let ended = program(&home).args(args).output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        (text, String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    run(&["--source", OPTICS, "record", "-o", "it.fdcap", "--interval", "10s", "--for", "11m"]);
    let (health, said) = run(&["--source", "it.fdcap", "--json", "health"]);
    let health: Value =
        serde_json::from_str(&health).unwrap_or_else(|error| panic!("{error}: {health} {said}"));
    let problems = health["problems"].as_array().unwrap();
    let wire: Vec<&Value> = problems.iter().filter(|problem| problem["kind"] == "wire-health").collect();
    assert!(!wire.is_empty(), "{problems:?}");
    let text = |problem: &Value| problem.to_string();
    assert!(wire.iter().any(|problem| text(problem).contains("nearly all errors are on lane 3")), "{wire:?}");
    let (rows, _) = run(&["--source", "it.fdcap", "--json", "show", "modules", "--fields", "wire,over"]);
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let over: Vec<&str> =
        rows["rows"].as_array().unwrap().iter().filter_map(|row| row["over"].as_str()).collect();
    assert!(over.iter().any(|over| !over.contains("cleared")), "windows between two readings: {over:?}");
}

/// The problems of devices that `health` finds, of a source that is read once or swept.
fn device_problems(source: &str, more: &[&str]) -> Vec<Value> {
    let (health, _) = answer(&[&["--source", source, "health"][..], more].concat());
    let problems = health["problems"].as_array().unwrap().iter();
    problems.filter(|problem| problem["kind"] == "device-health").cloned().collect()
}

#[test]
fn hot_switches_and_failed_fans_of_a_live_fabric_are_problems() {
    let source = "sim:kary,k=2,n=2,wire-hot=all";
    let all = device_problems(source, &["--interval", "1s"]);
    let texts: Vec<String> = all.iter().map(Value::to_string).collect();
    assert_eq!(all.len(), 2, "{texts:?}");
    let of = |word: &str| all.iter().find(|problem| problem["id"].as_str().unwrap().contains(word)).unwrap();
    let (hot, fan) = (of(":hot-sensor:"), of(":fan:"));
    let (title, cause) = (hot["title"].as_str().unwrap(), hot["cause"].to_string());
    assert!(title.contains(" devices are too hot: "), "{title}");
    assert!(title.contains(" °C (its own limit is 105.0 °C)") && cause.contains("fan"), "{title} {cause}");
    let title = fan["title"].as_str().unwrap();
    assert!(
        title.contains(" devices have a failed fan: ") && title.contains("fan 1 stands still (0 rpm)"),
        "{title}"
    );
    for problem in &all {
        assert_eq!(problem["severity"], "warning");
        let hosts: Vec<&Value> = problem["hosts"]["first"].as_array().unwrap().iter().collect();
        assert!(hosts.len() == 4 && problem["hosts"]["count"] == 4, "each host once: {problem}");
        // The next step lists the devices.
        let command = problem["command"].as_str().unwrap();
        let (_, filter) = command.rsplit_once("--filter ").unwrap();
        let listed =
            rows(source, "sensors", &["--fields", "node,faults", "--filter", filter.trim_matches('\'')]);
        let faults = |row: &Value| row["faults"].as_str().is_some_and(|text| !text.is_empty());
        assert!(!listed.is_empty() && listed.iter().all(faults), "{command}: {listed:?}");
    }
    assert!(device_problems("sim:kary,k=2,n=2,wire=all", &["--interval", "1s"]).is_empty());
}

#[test]
fn one_hot_switch_names_its_sensor_and_can_be_acknowledged() {
    let home = home();
    let run = |args: &[&str]| {
        let source = ["--source", "sim:kary,k=2,n=2,wire-hot=leaf0", "health", "--interval", "1s"];
        let ended = program(&home).args(source).args(args).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    let (code, text) = run(&["--json"]);
    let health: Value = serde_json::from_str(&text).unwrap();
    let problems = health["problems"].as_array().unwrap();
    let own: Vec<&Value> = problems.iter().filter(|problem| problem["kind"] == "device-health").collect();
    assert_eq!((code, own.len(), problems.len()), (Some(2), 2, 2), "{problems:?}");
    assert!(
        own.iter().any(|problem| problem["title"].as_str().unwrap().starts_with("leaf0: chip at ")),
        "{own:?}"
    );
    assert!(own.iter().any(|problem| problem["title"] == "leaf0: fan 1 stands still (0 rpm)"), "{own:?}");
    let (code, line) = run(&["--format", "nagios"]);
    assert!(
        code == Some(1) && line.starts_with("FABDECK WARNING") && line.contains("leaf0: "),
        "{code:?} {line}"
    );
    let ids: Vec<&str> = own.iter().map(|problem| problem["id"].as_str().unwrap()).collect();
    assert_eq!(run(&["--acknowledge", ids[0]]).0, Some(2));
    assert_eq!(run(&["--acknowledge", ids[1]]).0, Some(0), "all of them are acknowledged");
}

/// Datagrams about the health of links that `show modules` sends with this home, by `-v`, and what it wrote besides.
fn asked_about_links(home: &tempfile::TempDir, source: &str) -> (u64, String) {
    let ended = program(home).args(["-v", "--source", source, "show", "modules"]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let sent = said.lines().filter_map(|line| {
        let (_, rest) = line.split_once("link health: ")?;
        rest.split(' ').next()?.replace(',', "").parse::<u64>().ok()
    });
    let sent: Vec<u64> = sent.collect();
    assert_eq!(sent.len(), 1, "one line a reading: {said}");
    (sent[0], said)
}

/// A refusal holds for a day and for the firmware of the device that refused.
#[test]
fn a_second_session_does_not_ask_what_devices_refused() {
    const SOURCE: &str = "sim:kary,k=2,n=2,speed=ndr,wire-no-modules=all";
    let home = home();
    let file = home.path().join("fabdeck/refused-questions-simulated");
    let (first, _) = asked_about_links(&home, SOURCE);
    let (second, said) = asked_about_links(&home, SOURCE);
    assert_eq!(second, first - 2, "modules of one switch and one host: {said}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.lines().count() == 2 && text.contains("\"refused\":\"module\""), "{text}");
    let rows = |home| {
        let args = ["--source", SOURCE, "show", "modules", "--json", "--fields", "wire,module,raw_ber"];
        let text = program(home).args(args).output().unwrap().stdout;
        serde_json::from_slice::<Value>(&text).unwrap()["rows"].clone()
    };
    for row in rows(&home).as_array().unwrap() {
        assert!(is_word(&row["module"], "absent") && row["wire"] == "healthy", "{row}");
    }
    // Another firmware, a day later, and without the file.
    let old: i64 = 24 * 60 * 60 + 1;
    let later = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["at"] = (line["at"].as_i64().unwrap() - old).into();
        format!("{line}\n")
    });
    let later: String = later.collect();
    for other in [text.replace("4036", "4037").replace("2048", "2049"), later, String::new()] {
        std::fs::write(&file, other).unwrap();
        assert_eq!(asked_about_links(&home, SOURCE).0, first);
        assert_eq!(asked_about_links(&home, SOURCE).0, second, "what was refused now is kept");
    }
    std::fs::write(&file, "{\"version\":1,\"vend").unwrap();
    let (sent, said) = asked_about_links(&home, SOURCE);
    assert!(
        sent == first && said.contains("FN-577") && said.contains("refused-questions-simulated"),
        "{said}"
    );
    let (sent, said) = asked_about_links(&home, SOURCE);
    assert!(sent == second && !said.contains("FN-577"), "a damaged file is replaced: {said}");
}

#[test]
fn silence_and_keys_are_not_kept() {
    for profile in ["wire-keyed", "wire-counters", "wire-nonsense", "silent=0%,seed"] {
        let home = home();
        let source = match profile.contains('=') {
            true => format!("sim:kary,k=2,n=2,speed=ndr,{profile}=1"),
            false => format!("sim:kary,k=2,n=2,speed=ndr,{profile}=all"),
        };
        let (first, _) = asked_about_links(&home, &source);
        assert_eq!(asked_about_links(&home, &source).0, first, "{profile}");
        let folder = home.path().join("fabdeck");
        let kept = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let kept: Vec<String> = kept.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        assert!(!kept.iter().any(|name| name.starts_with("refused-questions")), "{profile}: {kept:?}");
    }
}

#[test]
fn the_course_of_links_has_columns_with_units_and_no_number_that_is_not_known() {
    const FIELDS: &str =
        "node,port,fecn,becn,uncorrectable,recoveries,link_downs,retries,retry_losses,trouble,last_down";
    let all = rows(OPTICS, "modules", &["--fields", FIELDS]);
    assert!(all.iter().all(|row| row["becn"] == 0 && row["link_downs"] == 0 && row["trouble"] == "nothing"));
    let worn: Vec<&Value> = all.iter().filter(|row| row["last_down"] != "none recorded").collect();
    assert!(!worn.is_empty() && worn.len() < all.len());
    for row in worn {
        assert_eq!(row["last_down"], "by this end, not intended: high bit error rate");
        assert!(row["uncorrectable"].as_u64() > Some(0) && row["retries"].as_u64() > Some(0), "{row}");
    }
    for row in rows("sim:kary,k=2,n=2,wire-counters=all", "modules", &["--fields", FIELDS]) {
        assert!(
            row["fecn"].is_number() && row["retries"].is_null() && row["uncorrectable"].is_null(),
            "{row}"
        );
        assert!(is_word(&row["last_down"], "absent") && is_word(&row["trouble"], "absent"), "{row}");
    }
    for row in rows("sim:kary,k=2,n=2", "modules", &["--fields", FIELDS]) {
        assert!(row["fecn"].is_null() && row["recoveries"].is_null(), "{row}");
    }
}

/// A check reads a few ports of each sweep: those without a verdict do not pass for healthy ones.
#[test]
fn health_says_at_how_many_ports_links_were_judged() {
    let checked = |source: &str, more: &[&str]| {
        let home = home();
        let mut command = program(&home);
        command.args(["--source", source, "health", "--interval", "1s"]).args(more);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for profile in ["wire-keyed", "wire-nonsense"] {
        let source = format!("sim:kary,k=2,n=2,speed=ndr,{profile}=all");
        let text = checked(&source, &[]);
        assert!(text.contains("\nunchecked  link health: known at 0 of 16 ports; "), "{text}");
        let line = checked(&source, &["--format", "nagios"]);
        assert!(line.starts_with("FABDECK OK - no problem, link health known at 0 of 16 ports | "), "{line}");
        let json: Value = serde_json::from_str(&checked(&source, &["--json"])).unwrap();
        assert_eq!(json["checked"]["link_health"], serde_json::json!({"judged": 0, "ports": 16}));
    }
    let many = checked("sim:kary,k=6,n=2,speed=ndr,wire-optics=all", &[]);
    assert!(
        many.contains("\nunchecked  link health: known at ") && many.contains(" of 144 ports; "),
        "{many}"
    );
    // Devices that refuse such questions have nothing to judge.
    assert!(!checked("sim:kary,k=2,n=2", &[]).contains("link health"));
}

/// What one simulated fabric refused is not supposed of another one of the same devices.
#[test]
fn refusals_of_one_simulated_fabric_are_not_those_of_another() {
    let home = home();
    let modules = |source: &str| {
        let mut command = program(&home);
        command.args(["--source", source, "show", "modules", "--json"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let before = modules(OPTICS);
    let without = modules("sim:kary,k=2,n=2,speed=ndr,wire-no-modules=all");
    assert_ne!(before, without);
    assert_eq!(modules(OPTICS), before);
}

/// Ports of a fabric that was asked for with a width support no more than that.
#[test]
fn a_simulated_fabric_of_narrow_cables_is_not_degraded() {
    for (keys, problems) in [("kary,k=2,n=2,width=1x", 0), ("kary,k=2,n=2,width=8x", 0), ("demo", 1)] {
        let source = format!("sim:{keys}");
        let (health, _) = answer(&["--source", &source, "health", "--interval", "1s"]);
        let degraded = health["problems"].as_array().unwrap().iter();
        assert_eq!(degraded.filter(|problem| problem["kind"] == "degraded-link").count(), problems, "{keys}");
    }
}

/// The counts behind a verdict are fields of their own: errors by lane, and the counters of extended speeds where a device has
/// no registers.
#[test]
fn counts_by_lane_and_of_fec_are_shown_or_have_their_word() {
    let fields = ["--fields", "lane_errors,fec_counts"];
    let lanes = rows(OPTICS, "modules", &fields);
    let counts = |row: &Value| -> Vec<u64> {
        row["lane_errors"].as_str().unwrap().split(", ").map(|lane| lane.parse().unwrap()).collect()
    };
    assert!(lanes.iter().all(|row| counts(row).len() == 4), "{lanes:?}");
    let worn = lanes.iter().map(counts).filter(|lanes| lanes[2] > 10 * (lanes[0] + lanes[1] + lanes[3]));
    assert!(worn.count() > 0, "{lanes:?}");
    for row in rows("sim:kary,k=2,n=2,speed=ndr,wire-counters=all", "modules", &fields) {
        let text = row["fec_counts"].as_str().unwrap();
        assert!(is_word(&row["lane_errors"], "absent") && text.contains("uncorrected blocks "), "{row}");
    }
}
