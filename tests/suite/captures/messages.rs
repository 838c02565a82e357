//! What the command line says and takes where captures are concerned.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::commands::{fabdeck, json, recorded, run};
use super::killed_recorders::{serve_simulator, signal, wait_for};
use fabdeck::script::run::{CliResult, run as run_line};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::local_access::LocalSystemAccess;

fn stderr_text(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Three minutes of a small fabric from 09:00 on, a sweep every twenty seconds.
fn minutes() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let record = ["record", "-o", "nine.fdcap", "--interval", "20s", "--for", "3m"];
    let mut command = fabdeck(&home);
    command.args(["--source", "sim:kary,k=2,n=2"]).args(record);
    command.env("TZ", "UTC").env("SOURCE_DATE_EPOCH", "1792400400");
    assert!(command.output().unwrap().status.success());
    home
}

#[test]
fn a_folder_with_one_capture_and_nothing_else_is_that_capture() {
    let home = recorded();
    let path = |name: &str| home.path().join(name);
    fs::create_dir(path("night")).unwrap();
    fs::copy(path("demo.fdcap"), path("night/demo.fdcap")).unwrap();
    fs::write(path("night/README.md"), "What happened in this night\n").unwrap();
    for more in [&[][..], &["--at", "-10s"]] {
        let told = json(&home, &[&["--source", "night"], more, &["show", "fabric"]].concat(), 0);
        assert!(told["source"] == "night/demo.fdcap" && !told.to_string().contains("FN-50"), "{told}");
    }
    json(&home, &["--source", "night", "hotspots", "--interval", "5s"], 2);
    let folder = path("night").display().to_string();
    let words = ["fabdeck", "--source", &folder, "--at", "-10s"].map(OsString::from);
    let terminal = TerminalInfo { console: true, ..TerminalInfo::default() };
    match run_line(words, &LocalSystemAccess::default(), &terminal, &mut Vec::new(), &mut Vec::new()) {
        CliResult::Console(opening) => assert_eq!(opening.source, format!("{folder}/demo.fdcap")),
        CliResult::Exit(exit) => panic!("{exit:?}"),
    }
    // What else is a fabric there makes it one of files, and a past has to be asked for by name.
    fs::write(path("night/names"), "0x0002c90100000000 \"first\"\n").unwrap();
    let refused = stderr_text(&run(&home, &["--source", "night", "--at", "-10s", "show", "fabric"], 64));
    assert!(
        refused.contains("FD-5067") && refused.contains("a capture and other files of a fabric"),
        "{refused}"
    );
    assert!(refused.contains("--source night/demo.fdcap"), "{refused}");
    let told = json(&home, &["--source", "night", "show", "fabric"], 0);
    assert!(told["notes"].to_string().contains("FN-508") && told["source"] == "night", "{told}");
    fs::remove_file(path("night/names")).unwrap();
    fs::copy(path("demo.fdcap"), path("night/other.fdcap")).unwrap();
    let refused = stderr_text(&run(&home, &["--source", "night", "--at", "-10s", "show", "fabric"], 64));
    assert!(refused.contains("FD-5067") && refused.contains("holds 2 captures"), "{refused}");
    fs::create_dir(path("empty")).unwrap();
    let refused = stderr_text(&run(&home, &["--source", "empty", "--at", "-10s", "show", "fabric"], 64));
    assert!(refused.contains("FD-5065"), "{refused}");
}

#[test]
fn a_capture_written_over_itself_has_a_message_of_its_own() {
    let home = recorded();
    for command in ["cut", "anonymize"] {
        let over = ["capture", command, "demo.fdcap", "-o", "demo.fdcap"];
        let refused = stderr_text(&run(&home, &over, 1));
        assert!(refused.contains("FD-7922") && refused.contains("overwrite it with --force"), "{refused}");
        let told = stderr_text(&run(&home, &[&over[..], &["--force"]].concat(), 0));
        assert!(told.contains("demo.fdcap was rewritten, with 31 sweeps"), "{told}");
    }
    let told = stderr_text(&run(&home, &["capture", "note", "demo.fdcap", "cable 3"], 0));
    assert!(told.contains("the note was added to demo.fdcap, which has 31 sweeps as before"), "{told}");
    // Where there is no --force none is named.
    let refused =
        stderr_text(&run(&home, &["--source", "sim:demo", "record", "-o", "demo.fdcap", "--for", "1s"], 1));
    assert!(refused.contains("FD-7922") && !refused.contains("--force"), "{refused}");
}

#[test]
fn an_interval_is_written_as_every_time_is() {
    let home = tempfile::tempdir().unwrap();
    for (interval, time) in [("1h", "2h"), ("2m", "4m"), ("1d", "2d")] {
        let record = ["--source", "sim:kary,k=2,n=2", "record", "-o", "-", "--for", time];
        let message = stderr_text(&run(&home, &[&record[..], &["--interval", interval]].concat(), 0));
        assert!(message.contains("3 sweeps written to stdout"), "{interval}: {message}");
    }
    let endless = "9".repeat(400);
    for (interval, wrong) in [("-1s", "above 0"), ("0s", "above 0"), (&endless, "of at most 1h")] {
        let message =
            stderr_text(&run(&home, &["--source", "sim:demo", "hotspots", "--interval", interval], 64));
        assert!(message.contains(&format!("write a time {wrong}")), "{message}");
    }
}

#[test]
fn a_simulator_asks_for_what_is_missing_and_no_more() {
    let home = tempfile::tempdir().unwrap();
    let record = ["--source", "sim:demo", "record", "-o", "new.fdcap"];
    let told = stderr_text(&run(&home, &record, 64));
    assert!(told.contains("FD-7961") && told.contains("--for 10m") && !told.contains("--notes"), "{told}");
    let told = stderr_text(&run(&home, &[&record[..], &["--for", "1s", "--notes"]].concat(), 64));
    assert!(
        told.contains("FD-7961") && told.contains("leave out --notes") && !told.contains("--for"),
        "{told}"
    );
}

#[test]
fn a_capture_may_come_through_a_pipe() {
    let home = recorded();
    let bytes = fs::read(home.path().join("demo.fdcap")).unwrap();
    let piped = |bytes: &[u8], args: &[&str]| {
        let mut command = fabdeck(&home);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who refuses at once does not read it.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        child.wait_with_output().unwrap()
    };
    let mut told: Value =
        serde_json::from_slice(&piped(&bytes, &["capture", "info", "-", "--json"]).stdout).unwrap();
    let mut file = json(&home, &["capture", "info", "demo.fdcap"], 0);
    assert_eq!((told["source"].take(), file["source"].take()), ("-".into(), "demo.fdcap".into()));
    assert_eq!(told.to_string().replace("standard input", "demo.fdcap"), file.to_string());
    for (args, file) in [
        (
            &["capture", "cut", "-", "--from", "-5s", "-o", "-"][..],
            &["capture", "cut", "demo.fdcap", "--from", "-5s", "-o", "-"][..],
        ),
        (&["capture", "export", "-", "-o", "-"], &["capture", "export", "demo.fdcap", "-o", "-"]),
    ] {
        let told = piped(&bytes, args);
        assert!(
            told.status.success() && told.stdout == run(&home, file, 0).stdout,
            "{args:?}: {}",
            stderr_text(&told)
        );
    }
    let told = piped(b"", &["capture", "info", "-"]);
    assert!(stderr_text(&told).contains("standard input at byte 0: FD-2701"), "{}", stderr_text(&told));
    let told = piped(&bytes, &["capture", "note", "-", "cable 3"]);
    assert!(
        told.status.code() == Some(64) && stderr_text(&told).contains("FD-7970"),
        "{}",
        stderr_text(&told)
    );
    assert!(!home.path().join("-").exists());
}

#[test]
fn operators_notes_are_shown_with_their_first_words() {
    let home = recorded();
    let info = || json(&home, &["capture", "info", "demo.fdcap"], 0);
    assert_eq!((&info()["noted"], &info()["first_noted"]), (&0.into(), &Value::Array(vec![])));
    let text =
        |home: &TempDir| String::from_utf8(run(home, &["capture", "info", "demo.fdcap"], 0).stdout).unwrap();
    assert!(!text(&home).contains("noted"));
    let long = format!("much\n is\u{7} {}", "said ".repeat(50));
    for (at, note) in [("-9s", "cable 3 was pulled"), ("-8s", &long), ("-7s", "three"), ("-6s", "four")] {
        run(&home, &["capture", "note", "demo.fdcap", note, "--at", at], 0);
    }
    let told = info();
    let first = told["first_noted"].as_array().unwrap();
    assert_eq!(
        (&told["noted"], first.len(), &first[0]["words"]),
        (&4.into(), 3, &"cable 3 was pulled".into())
    );
    assert!(
        first[1]["words"].as_str().unwrap().len() < 110
            && first[0]["time"].as_str() < first[1]["time"].as_str()
    );
    let text = text(&home);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("notes")).take(5).collect();
    assert!(lines[0].contains("4 notes of operators") && lines[1].contains("cable 3 was pulled"), "{text}");
    assert!(
        lines[2].contains("much is") && lines[2].ends_with("said...") && !text.contains('\u{7}'),
        "{text}"
    );
    assert!(lines[3].contains("three") && lines[4].contains("and 1 more"), "{text}");
}

/// A minute is all of it: `--at` shows its last sweep, a stretch begins with its first and ends with its last.
#[test]
fn a_time_lasts_as_long_as_it_is_written() {
    let home = minutes();
    for (at, time) in
        [("09:01", "09:01:40"), ("09:01:00", "09:01:00"), ("09:01:19.9", "09:01:00"), ("09:03", "09:03:00")]
    {
        let told = json(&home, &["--source", "nine.fdcap", "--at", at, "show", "fabric"], 0);
        assert!(told["time"].as_str().unwrap().contains(time), "{at}: {told}");
    }
    run(
        &home,
        &["capture", "cut", "nine.fdcap", "--from", "09:01", "--to", "09:01", "-o", "minute.fdcap"],
        0,
    );
    let told = json(&home, &["capture", "info", "minute.fdcap"], 0);
    let time = |key: &str| told[key].as_str().unwrap()[11..19].to_owned();
    assert_eq!(
        (time("from"), time("to"), &told["sweeps"]),
        ("09:01:00".into(), "09:01:40".into(), &3.into())
    );
    for command in [&["--help"][..], &["capture", "cut", "--help"]] {
        let help = String::from_utf8(run(&home, command, 0).stdout).unwrap();
        let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(help.contains("02:13 means the end of that minute"), "{help}");
    }
}

#[test]
fn what_is_converted_is_not_written_over_a_file_by_a_slip() {
    let home = recorded();
    let file = home.path().join("site.topo");
    fs::write(&file, "somebody's").unwrap();
    let convert = ["convert", "demo.fdcap", "--to", "ibnetdiscover", "-o", "site.topo"];
    let refused = stderr_text(&run(&home, &convert, 1));
    assert!(refused.contains("FD-7922") && refused.contains("overwrite it with --force"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "somebody's");
    run(&home, &[&convert[..], &["--force"]].concat(), 0);
    assert!(fs::read_to_string(&file).unwrap().contains("vendid"));
}

#[test]
fn two_recordings_do_not_share_a_name() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    let record = |more: &[&str]| {
        let mut command = fabdeck(&home);
        command.args(["--source", "sim:./fabric.sock", "record", "-o", "night.fdcap", "--interval", "5ms"]);
        command.args(["--rotate-size", "4kB"]).args(more).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut first = record(&["--keep", "50"]).spawn().unwrap();
    wait_for(&home, "night-000003.fdcap", 1);
    let second = record(&["--for", "1s"]).stderr(Stdio::piped()).output().unwrap();
    assert!(second.status.code() == Some(4), "{second:?}");
    assert!(
        stderr_text(&second).contains("FD-7971: another recording writes night-"),
        "{}",
        stderr_text(&second)
    );
    // The other goes on, and none of its files are in the way of it.
    let held = |home: &Path| {
        let names =
            fs::read_dir(home).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".fdcap")).max().unwrap()
    };
    let last = held(home.path());
    while held(home.path()) <= last {
        assert!(first.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signal(&first, "-KILL");
    first.wait().unwrap();
    // Of one that is gone the files may be gone on with.
    let third = record(&["--for", "100ms", "--keep", "2"]).output().unwrap();
    assert!(third.status.success(), "{third:?}");
    fabric.kill().unwrap();
    fabric.wait().unwrap();
}

/// Stalled ports are no narrow links, in JSON as in text.
#[test]
fn json_separates_stalled_ports_from_narrow_links() {
    let home = tempfile::tempdir().unwrap();
    let loop_of = concat!(env!("FABDECK_ROOT"), "/captures/credit-loop");
    let told = |at: &str| {
        let ended =
            fabdeck(&home).args(["--source", loop_of, "--at", at, "hotspots", "--json"]).output().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        let sweep = &value["sweeps"][0];
        assert!(sweep["time"].is_string(), "{sweep}");
        (sweep["stalled"].as_bool().unwrap(), sweep["links_too_narrow"].as_bool().unwrap())
    };
    assert_eq!((told("09:01:05"), told("09:02:00")), ((true, false), (false, true)));
}

/// Nobody waits for a pipe that lies in a folder.
#[test]
fn a_pipe_in_a_folder_is_no_file_of_it() {
    let home = tempfile::tempdir().unwrap();
    let incast = concat!(env!("FABDECK_ROOT"), "/captures/incast/incast.fdcap");
    std::fs::copy(incast, home.path().join("incast.fdcap")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.path().join("a-pipe")).status().unwrap();
    assert!(made.success());
    let ended = fabdeck(&home).args(["--source", ".", "--at", "09:01", "show", "fabric"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

/// What comes through a pipe has a past too, and what lies behind the place where a capture is cut is not its end.
#[test]
fn a_piped_capture_has_a_past_and_a_cut_one_no_end() {
    let home = tempfile::tempdir().unwrap();
    let silent = concat!(env!("FABDECK_ROOT"), "/captures/silent-host/silent-host.fdcap");
    let whole = fs::read(silent).unwrap();
    let asked = |bytes: &[u8], at: &str| {
        let mut command = assert_cmd::Command::from_std(fabdeck(&home));
        command.args(["--source", "-", "--at", at, "show", "fabric"]).write_stdin(bytes);
        let ended = command.output().unwrap();
        (ended.status.code(), stderr_text(&ended))
    };
    assert_eq!(asked(&whole, "09:00:30").0, Some(0));
    let (code, words) = asked(&whole, "09:05:00");
    assert!(code == Some(64) && words.contains("is after the capture ends"), "{words}");
    let (code, words) = asked(&whole[..12_000], "09:01:55");
    assert!(code == Some(64) && words.contains("a capture without an end"), "{words}");
    assert!(asked(b"no capture\n", "09:00").1.contains("FD-27"), "{}", asked(b"no capture\n", "09:00").1);
}

#[test]
fn that_time_is_simulated_is_said_once() {
    let home = tempfile::tempdir().unwrap();
    let record = ["--source", "sim:kary,k=2,n=2", "record", "--for", "20s", "-o"];
    let told = stderr_text(&run(&home, &[&record[..], &["a.fdcap"]].concat(), 0));
    assert_eq!(told.matches("the time of this simulator is simulated").count(), 1, "{told}");
    let told = stderr_text(&run(&home, &[&record[..], &["b.fdcap", "--json"]].concat(), 0));
    assert_eq!(told, "");
}

/// Who names a folder where a capture is meant is told which there are.
#[test]
fn captures_in_folders_are_named() {
    let home = tempfile::tempdir().unwrap();
    let captures = std::path::Path::new(env!("FABDECK_ROOT")).join("captures");
    for name in ["incast", "credit-loop"] {
        let folder = home.path().join("night").join(name);
        fs::create_dir_all(&folder).unwrap();
        let file = format!("{name}.fdcap");
        fs::copy(captures.join(name).join(&file), folder.join(&file)).unwrap();
    }
    let both = "night/credit-loop/credit-loop.fdcap, night/incast/incast.fdcap";
    for (args, code, what) in [
        (&["capture", "info", "night"][..], 64, "FD-5068: night is a folder"),
        (&["--source", "night", "show", "fabric"], 7, "FD-5006"),
        (&["--source", "night", "--at", "09:00:40", "show", "fabric"], 64, "FD-5065"),
    ] {
        let told = stderr_text(&run(&home, args, code));
        assert!(told.contains(what) && told.contains(both), "{told}");
    }
    let told = stderr_text(&run(&home, &["capture", "info", "night/incast"], 64));
    assert!(told.contains("give one of its captures: night/incast/incast.fdcap"), "{told}");
    fs::create_dir(home.path().join("empty")).unwrap();
    let told = stderr_text(&run(&home, &["capture", "info", "empty"], 64));
    assert!(told.contains("this command reads one capture; give a capture file\n"), "{told}");
}
