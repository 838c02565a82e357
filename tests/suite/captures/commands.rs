//! `record`, `capture info`, `--at`, and every reading command on a capture, by the binary itself.

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

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
fn says(live: &Value, seen: &Value) -> bool {
    match (live, seen) {
        (Value::Null, _) => true,
        (Value::Array(live), Value::Array(seen)) => {
            live.len() == seen.len() && live.iter().zip(seen).all(|(live, seen)| says(live, seen))
        }
        (Value::Object(live), Value::Object(seen)) => {
            live.iter().all(|(key, live)| seen.get(key).is_some_and(|seen| says(live, seen)))
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
            (output.status.code(), answer)
        };
        let live = answer(&["--source", "sim:demo"]);
        for source in [&DEMO[..], &["--source", "demo.fdcap", "--at", "-20s"]] {
            let seen = answer(source);
            assert!(seen.0 == live.0 && says(&live.1, &seen.1), "{args:?}: {seen:?}, and live {live:?}");
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
        (&["--at", "-21s", "hotspots"][..], "10 s are asked for, and 9.000 s were recorded before"),
        (&["hotspots", "--interval", "31s"], "31 s are asked for, and 30.000 s"),
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
        (&["--source", "demo.fdcap", "record", "-o", "new.fdcap"], "FD-7964: demo.fdcap is not live"),
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
    assert!(said.contains("FD-7962: /dev/full cannot be written on") && said.contains("0 sweeps"), "{said}");
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
