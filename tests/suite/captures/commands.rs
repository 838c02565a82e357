//! `record`, `capture info`, `--at`, and every reading command on a capture, by the binary itself.

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::sample_fabric::reference;

/// The binary in a folder of its own.
pub fn fabdeck(home: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.current_dir(home.path()).stdin(Stdio::null()).env("HOME", home.path());
    for folder in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home.path());
    }
    command
}

pub fn run(home: &TempDir, args: &[&str], code: i32) -> Output {
    let output = fabdeck(home).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    output
}

pub fn json(home: &TempDir, args: &[&str], code: i32) -> Value {
    serde_json::from_slice(&run(home, &[args, &["--json"]].concat(), code).stdout).unwrap()
}

pub fn recorded() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let told = json(&home, &["--source", "sim:demo", "record", "-o", "demo.fdcap", "--for", "30s"], 0);
    assert_eq!((&told["schema"], &told["sweeps"]), (&"fabdeck.record/1".into(), &31.into()));
    home
}

const DEMO: [&str; 2] = ["--source", "demo.fdcap"];

/// Whether an answer says all that a live one does. A capture may know more: it has looked at everything.
fn is_reported(live: &Value, seen: &Value) -> bool {
    match (live, seen) {
        (Value::Null, _) => true,
        (Value::String(word), _) if word == "not asked" => true,
        (Value::Array(live), Value::Array(seen)) => {
            live.len() == seen.len() && live.iter().zip(seen).all(|(live, seen)| is_reported(live, seen))
        }
        (Value::Object(live), Value::Object(seen)) => {
            live.iter().all(|(key, live)| seen.get(key).is_some_and(|seen| is_reported(live, seen)))
        }
        (live, seen) => live == seen,
    }
}

/// What is read from a capture is what the live fabric said, but for the source, the times and the notes.
#[test]
fn every_reading_command_answers_on_a_capture_as_it_does_live() {
    let home = recorded();
    let mut told = json(&home, &["capture", "info", "demo.fdcap"], 0);
    assert_eq!(
        (&told["sweeps"], &told["ended"], &told["damage"]),
        (&31.into(), &true.into(), &Value::Array(vec![]))
    );
    assert_eq!((told["recorded"].take(), told["interval_ms"].take()), ("sim:demo".into(), 1000.into()));
    let shows =
        ["fabric", "switches", "hosts", "links", "ports", "tables", "lanes"].map(|what| vec!["show", what]);
    let others = [
        vec!["trace", "node01", "node02"],
        vec!["check", "--lanes", "one"],
        vec!["whatif", "--fail-random", "1", "--engine", "minhop,ftree", "--lanes-in-force", "one"],
    ];
    for args in shows.into_iter().chain(others) {
        let answer = |source: &[&str]| {
            let output =
                fabdeck(&home).args([source, &args, &["--no-times", "--json"]].concat()).output().unwrap();
            let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            for key in ["source", "notes", "reading", "silence", "virtual_time", "partial"] {
                answer.as_object_mut().unwrap().remove(key);
            }
            // A recording has the P_Key tables of ports only where it was asked for them.
            for key in ["partitions", "kept_apart", "partitions_from", "unknown_partitions"] {
                answer.as_object_mut().unwrap().remove(key);
            }
            (output.status.code(), answer)
        };
        let live = answer(&["--source", "sim:demo"]);
        for source in [&DEMO[..], &["--source", "demo.fdcap", "--at", "-20s"]] {
            let seen = answer(source);
            assert!(
                seen.0 == live.0 && is_reported(&live.1, &seen.1),
                "{args:?}: {seen:?}, and live {live:?}"
            );
        }
    }
    let ports = json(&home, &[&DEMO[..], &["show", "counters"]].concat(), 0);
    assert!(ports["rows"].as_array().unwrap().len() > 100);
    run(&home, &["convert", "demo.fdcap", "-o", "demo.topo", "--to", "ibnetdiscover"], 0);
    let listed = json(&home, &["sources"], 0);
    assert_eq!(listed["captures"][0]["format"], "fdcap");
}

#[test]
fn hot_spots_come_from_the_sweeps_before_the_time_asked_for() {
    let home = recorded();
    let hotspots = |more: &[&str], code| json(&home, &[&DEMO[..], more].concat(), code);
    let seconds = |told: &Value| -> Vec<f64> {
        told["sweeps"].as_array().unwrap().iter().map(|sweep| sweep["seconds"].as_f64().unwrap()).collect()
    };
    let usual = hotspots(&["hotspots"], 2);
    assert_eq!(seconds(&usual), [10.0]);
    assert_eq!(seconds(&hotspots(&["hotspots", "--interval", "2s", "--count", "15"], 2)), [2.0; 15]);
    assert_eq!(seconds(&hotspots(&["--at", "-20s", "hotspots"], 2)), [10.0]);
    for (args, what) in [
        (
            &["--at", "-21s", "hotspots"][..],
            "10 s between sweeps are needed, and 9 s were recorded before this moment (the default of 10 s, because no \
             --interval is given); use --interval 9s",
        ),
        (
            &["hotspots", "--interval", "31s"],
            "31 s between sweeps are needed, and 30 s were recorded before this moment; use --int",
        ),
        (&["--at", "-30s", "hotspots"], "this is the first moment: give a later --at"),
    ] {
        let refused = run(&home, &[&DEMO[..], args].concat(), 64);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains("FD-5064") && said.contains(what), "{said}");
    }
    let text = run(
        &home,
        &["--source", "demo.fdcap", "show", "counters", "--format", "prometheus", "--interval", "5s"],
        0,
    );
    assert!(String::from_utf8(text.stdout).unwrap().contains("bytes_per_second"));
}

#[test]
fn times_outside_and_times_of_what_has_none_are_refused() {
    let home = recorded();
    let info = json(&home, &["capture", "info", "demo.fdcap"], 0);
    let (from, to) = (info["from"].as_str().unwrap(), info["to"].as_str().unwrap());
    for at in [from, to, &from[11..19], "-0s", "-30s"] {
        let told = json(&home, &[&DEMO[..], &["--at", at, "show", "fabric"]].concat(), 0);
        assert!(told["time"].as_str().is_some_and(|time| time >= from && time <= to), "{at}: {told}");
    }
    assert_eq!(json(&home, &[&DEMO[..], &["--at", from, "show", "fabric"]].concat(), 0)["time"], from);
    for (args, what) in [
        (
            &["--source", "demo.fdcap", "--at", "-31s", "show", "fabric"][..],
            "before the capture begins; give a time from",
        ),
        (
            &["--source", "demo.fdcap", "--at", "2100-01-01T00:00:00Z", "show", "fabric"],
            "is after the capture ends",
        ),
        (&["--source", "demo.fdcap", "--at", "noon", "show", "fabric"], "FD-5062: 'noon' is no time"),
        (&["--source", "sim:demo", "--at", "-1s", "show", "fabric"], "FD-5065"),
        (&["--source", "demo.fdcap", "--at", "-1s", "generate", "demo"], "FD-7207"),
        (&["--source", "sim:demo", "record", "-o", "new.fdcap"], "FD-7961"),
        (&["--source", "sim:demo", "record", "-o", "-", "--for", "1s", "--rotate-every", "1h"], "FD-7963"),
        (&["--source", "sim:demo", "record", "-o", "-", "--for", "1s", "--json"], "FD-7501"),
        (&["--source", "sim:demo", "record", "-o", "new.fdcap", "--for", "1s", "--keep", "2"], "FD-7966"),
        (&["--source", "sim:demo", "record", "-o", "new.fdcap", "--for", "1s", "--notes"], "FD-7961"),
        (&["--source", "sim:demo", "record", "-o", "new.fdcap", "--notes", "--mkey-file", "-"], "FD-7965"),
        (&["convert", "demo.fdcap", "a.topo", "-o", "b", "--to", "ibsim", "--at", "-1s"], "FD-7507"),
        (&["capture", "cut", "demo.fdcap", "--from", "-1s", "--to", "-2s", "-o", "new.fdcap"], "FD-5066"),
        (&["capture", "cut", "demo.fdcap", "--from", "noon", "-o", "new.fdcap"], "FD-5062"),
        (&["capture", "note", "demo.fdcap", "later", "--at", "2100-01-01T00:00:00Z"], "FD-5063"),
        (&["capture", "note", "demo.fdcap", "  "], "FD-7967"),
        (&["capture", "info", "demo.fdcap", "--at", "-1s"], "FD-7207"),
        (&["record", "-o", "new.fdcap"], "FD-7201"),
        (
            &["--source", "demo.fdcap", "record", "-o", "new.fdcap"],
            "FD-7964: demo.fdcap is not live, so there is nothing to record; name a live fabric (umad, sim:NAME). `convert` writes the state of files in another format, and `capture cut` a part of one capture",
        ),
    ] {
        let said = String::from_utf8(run(&home, args, 64).stderr).unwrap();
        assert!(said.contains(what), "{args:?}: {said}");
    }
    assert!(!home.path().join("new.fdcap").exists());
    let taken = run(&home, &["--source", "sim:demo", "record", "-o", "demo.fdcap", "--for", "1s"], 1);
    assert!(String::from_utf8(taken.stderr).unwrap().contains("FD-7922"));
    let letter = home.path().join("letter.fdcap");
    std::fs::write(&letter, "Dear fabric,\n").unwrap();
    let said = String::from_utf8(run(&home, &["capture", "info", "letter.fdcap"], 7).stderr).unwrap();
    assert!(said.contains("letter.fdcap at byte 0: FD-2701"), "{said}");
    run(&home, &["capture", "info", "absent.fdcap"], 8);
}

#[test]
fn a_full_disk_is_said_with_what_was_kept() {
    let home = tempfile::tempdir().unwrap();
    let output = run(&home, &["--source", "sim:kary,k=2,n=2", "record", "-o", "/dev/full", "--for", "5s"], 1);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("FD-7962: /dev/full cannot be extended") && said.contains("0 sweeps"), "{said}");
}

/// The key that opens the fabric is nowhere in what was recorded, in whatever way it may be written.
#[test]
fn no_key_is_recorded() {
    let home = tempfile::tempdir().unwrap();
    let key = 0x5EC2_E7C0_FFEE_4B1D_u64;
    std::fs::write(home.path().join("keys"), format!("{key:#018x}\n")).unwrap();
    let source = ["--source", "sim:kary,k=2,n=2,protect=3", "--mkey-file", "keys"];
    run(&home, &[&source[..], &["record", "-o", "guarded.fdcap", "--for", "3s"]].concat(), 0);
    let bytes = std::fs::read(home.path().join("guarded.fdcap")).unwrap();
    let lines = zstd::stream::decode_all(bytes.as_slice()).unwrap();
    let text = String::from_utf8(lines.clone()).unwrap().to_lowercase();
    for written in [format!("{key:x}"), format!("{key}"), format!("{}", key.cast_signed())] {
        assert!(!text.contains(&written), "{written}");
    }
    for raw in [key.to_be_bytes(), key.to_le_bytes()] {
        assert!(![&bytes, &lines].iter().any(|held| held.windows(8).any(|eight| eight == raw)));
    }
    let told = json(&home, &["--source", "guarded.fdcap", "show", "fabric"], 0);
    assert_eq!((&told["hosts"], &told["partial"]), (&4.into(), &false.into()), "the key did open it: {told}");
}

fn incident(name: &str) -> String {
    format!("{}/captures/{name}/{name}.fdcap", env!("FABDECK_ROOT"))
}

/// Errors and flaps are rare: what was recorded before the two sweeps of a verdict counts for them, as in the console.
#[test]
fn links_of_a_capture_are_judged_by_what_was_recorded_before() {
    let home = tempfile::tempdir().unwrap();
    let flapping = incident("flapping-link");
    let at = ["--source", &flapping, "--at", "09:02:55", "hotspots"];
    let told = json(&home, &at, 2);
    let links = told["sweeps"][0]["links"].as_array().unwrap();
    let flaps: Vec<&Value> =
        links.iter().filter(|link| link["why"] == "flaps").map(|link| &link["per_hour"]).collect();
    assert_eq!(flaps, [&Value::from(6.0), &Value::from(6.0)], "{links:?}");
    assert_eq!(told["sweeps"][0]["links_since"], "2026-10-23T09:00:00.000+00:00");
    let text = String::from_utf8(run(&home, &at, 2).stdout).unwrap();
    assert!(
        text.contains("two sweeps; links since 2026-10-23T09:00:00.000+00:00, an earlier sweep"),
        "{text}"
    );
    // One interval over all of it, several, or the last ten seconds: of links they say the same.
    for more in [&["--interval", "175s"][..], &["--interval", "10s", "--count", "3"]] {
        let told = json(&home, &[&at, more].concat(), 2);
        let last = told["sweeps"].as_array().unwrap().last().unwrap();
        assert_eq!(last["links"].as_array().unwrap(), links, "{more:?}");
    }
}

/// A note at a coarse time stands at the beginning of what was named, and within what was recorded.
#[test]
fn a_note_stands_at_the_beginning_of_the_time_that_was_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("noted.fdcap");
    for (at, stands) in [
        ("09:01", "2026-10-24T09:01:00.000+00:00"),
        ("09:01:57", "2026-10-24T09:01:57.000+00:00"),
        ("09:00:20.250", "2026-10-24T09:00:20.250+00:00"),
        ("09:00", "2026-10-24T09:00:00.000+00:00"),
    ] {
        std::fs::copy(incident("silent-host"), &file).unwrap();
        run(&home, &["capture", "note", "noted.fdcap", "here", "--at", at], 0);
        let told = json(&home, &["capture", "info", "noted.fdcap"], 0);
        assert_eq!(told["first_noted"][0]["time"], stands, "{at}");
    }
}

#[test]
fn a_time_within_a_gap_names_the_sweep_that_answers() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("gap.fdcap"), reference().bytes).unwrap();
    // Within the time of three sweeps after the last nothing was said of it once.
    for (at, within) in [("-62s", false), ("-61.5s", true), ("-40s", true), ("-1.5s", true), ("-1s", false)] {
        let asked = ["--source", "gap.fdcap", "--at", at, "show", "hosts"];
        let said = String::from_utf8(run(&home, &asked, 0).stderr).unwrap();
        let told = said.contains("is in a gap of 61 s") && said.contains("the sweep of 2026-11-22T");
        assert_eq!(told, within, "{at}: {said}");
    }
}

#[test]
fn counters_of_a_simulator_that_has_just_begun_say_why_they_are_zero() {
    let home = recorded();
    let told = |args: &[&str]| {
        let said = String::from_utf8(run(&home, args, 0).stderr).unwrap();
        said.matches("FN-602").count()
    };
    let demo = ["--source", "sim:demo", "show"];
    for args in [&["counters"][..], &["links", "--sort", "errors"], &["counters", "--format", "prometheus"]] {
        assert_eq!(told(&[&demo[..], args].concat()), 1, "{args:?}");
        assert_eq!(told(&[&DEMO[..], &["show"], args].concat()), 0, "{args:?}");
    }
    assert_eq!(told(&[&demo[..], &["links"]].concat()), 0);
    assert_eq!(told(&[&demo[..], &["counters", "--format", "prometheus", "--interval", "5s"]].concat()), 0);
}
