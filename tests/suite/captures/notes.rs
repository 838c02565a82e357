//! Operators' words, while something is recorded and afterwards.

use std::io::Write;
use std::process::Stdio;

use fabdeck_files::capture::{CaptureRange, Moments, OperatorEntry, Recorder, RewriteOptions, rewrite};
use fabdeck_files::capture_format::{CaptureReader, CaptureRecord, OperatorAction, flags};
use serde_json::Value;

use super::commands::{fabdeck, json, recorded, run};
use super::killed_recorders::{info, serve_simulator, signal, wait_for};
use super::sample_fabric::{BEGUN, Memory, Reference, assert_same, damaged, header, look, reference, sweep};

/// Notes with their times, and how many moments lie before each.
fn notes(bytes: &[u8]) -> Vec<(i64, String, usize)> {
    let mut reader = CaptureReader::open("f", bytes).unwrap();
    let moments = reader.moments().to_vec();
    let mut found = Vec::new();
    for slot in 0..reader.index().slots.len() {
        for (time, record) in reader.read_events(slot).unwrap() {
            if let CaptureRecord::Note(text) = record {
                found.push((time, text, moments.iter().filter(|moment| **moment < slot).count()));
            }
        }
    }
    found
}

#[test]
fn a_note_at_any_time_stands_at_its_place_and_moves_nothing() {
    let Reference { bytes, moments } = reference();
    let times: Vec<i64> = moments.iter().map(|moment| moment.time).collect();
    for (at, time) in times.iter().enumerate().flat_map(|(at, time)| [(at, *time), (at, time + 400)]) {
        let mut held = Moments::new(CaptureReader::open("f", bytes.as_slice()).unwrap());
        let (stretch, memory) = (CaptureRange::all(&held).unwrap(), Memory::default());
        let changes =
            RewriteOptions { edit: None, added: [(time, CaptureRecord::Note("here".into()))].into() };
        rewrite(&mut held, &stretch, changes, memory.clone()).unwrap();
        let made = memory.bytes.take();
        let mine: Vec<_> = notes(&made).into_iter().filter(|(_, text, _)| text == "here").collect();
        // Behind everything up to that time, as far as nothing later comes before it.
        let before = times.iter().position(|known| *known > time).unwrap_or(10);
        assert_eq!(mine, [(time, "here".to_owned(), before)], "{at}");
        assert_eq!(notes(&made).len(), 2);
        let mut reader = CaptureReader::open("made", made.as_slice()).unwrap();
        for (slot, moment) in reader.moments().to_vec().into_iter().zip(&moments) {
            reader.show_moment(slot).unwrap();
            assert_same(&reader, moment);
        }
        assert!(reader.has_end() && reader.notes().is_empty());
    }
}

#[test]
fn a_finished_capture_takes_notes_and_one_without_an_end_does_not() {
    let home = recorded();
    let file = home.path().join("demo.fdcap");
    let before = json(&home, &["capture", "info", "demo.fdcap"], 0);
    let told = json(&home, &["capture", "note", "demo.fdcap", "cable 3 was pulled", "--at", "-10s"], 0);
    assert_eq!((&told["schema"], &told["sweeps"]), (&"fabdeck.capture-note/1".into(), &31.into()));
    run(&home, &["capture", "note", "demo.fdcap", "over"], 0);
    let after = json(&home, &["capture", "info", "demo.fdcap"], 0);
    let events = |told: &Value| told["events"].as_u64().unwrap();
    assert!(events(&after) > events(&before) && after["sweeps"] == 31 && after["ended"] == true, "{after}");
    let bytes = std::fs::read(&file).unwrap();
    let held: Vec<(String, usize)> =
        notes(&bytes).into_iter().map(|(_, text, place)| (text, place)).collect();
    assert_eq!(held, [("cable 3 was pulled".to_owned(), 21), ("over".to_owned(), 31)]);
    let long = "x".repeat(66_000);
    let refused = run(&home, &["capture", "note", "demo.fdcap", &long], 64);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("FD-7967"));
    // Without an end it may still be written; with damage something would be lost.
    for (bytes, code) in [(bytes[..bytes.len() - 3000].to_vec(), 1), (damaged(&bytes), 7)] {
        std::fs::write(&file, &bytes).unwrap();
        let refused = run(&home, &["capture", "note", "demo.fdcap", "too late"], code);
        assert!(String::from_utf8(refused.stderr).unwrap().contains("FD-7969"));
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
    }
    let left = std::fs::read_dir(home.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(left.count(), 0);
}

#[test]
fn lines_of_stdin_are_notes_while_it_records() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    let mut command = fabdeck(&home);
    command.args([
        "--source",
        "sim:./fabric.sock",
        "record",
        "-o",
        "noted.fdcap",
        "--interval",
        "5ms",
        "--notes",
    ]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    wait_for(&home, "noted.fdcap", 3000);
    let long = "y".repeat(70_000);
    stdin.write_all(format!("one\n{long}\ntwo \"words\"\n").as_bytes()).unwrap();
    drop(stdin);
    let size = std::fs::metadata(home.path().join("noted.fdcap")).unwrap().len();
    wait_for(&home, "noted.fdcap", size + 20_000);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stderr).unwrap().contains("FD-7967: a note has more"));
    fabric.kill().unwrap();
    fabric.wait().unwrap();
    let told = info(&home, "noted.fdcap");
    assert!(told["ended"] == true && told["notes"] == serde_json::json!([]), "{told}");
    let bytes = std::fs::read(home.path().join("noted.fdcap")).unwrap();
    let held = notes(&bytes);
    let texts: Vec<&str> = held.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["one", "two \"words\""]);
    let reader = CaptureReader::open("f", bytes.as_slice()).unwrap();
    for (time, text, before) in &held {
        // It stands between the sweeps that it came between.
        let moments = reader.moments();
        let time_of = |moment: usize| reader.frame_slot(moments[moment]).lead.time;
        assert!(*before > 0 && time_of(before - 1) <= *time + 20, "{text}");
        assert!(*before == moments.len() || *time <= time_of(*before), "{text}");
    }
}

/// What an operator did stands at its place, in what is cut out too; a line that would be too long is left out of it.
#[test]
fn actions_stand_at_their_place_and_are_cut_out_with_it() {
    let look = look("kary,k=2,n=2");
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let acted = |what: &str, command: Option<String>| OperatorAction { what: what.to_owned(), command };
    let (short, long) =
        (acted("marked", Some("fabdeck whatif".into())), acted("much", Some("x".repeat(70_000))));
    for second in 0..6 {
        recorder.record_sweep(BEGUN + 1000 * second as i64, &look, &sweep(&look.fabric, second)).unwrap();
        let entry = if second == 1 { &short } else { &long };
        if second % 3 == 1 {
            recorder
                .record_entry(BEGUN + 1000 * second as i64 + 5, &OperatorEntry::Action(entry.clone()))
                .unwrap();
        }
    }
    recorder.finish(BEGUN + 9000).unwrap();
    let told = |bytes: &[u8]| -> Vec<CaptureRecord> {
        let mut reader = CaptureReader::open("f", bytes).unwrap();
        let all = (0..reader.index().slots.len()).flat_map(|slot| reader.read_events(slot).unwrap());
        all.map(|(_, record)| record).collect()
    };
    let bytes = memory.bytes.take();
    let cut_short = CaptureRecord::Action(acted("much", None));
    assert_eq!(told(&bytes), [CaptureRecord::Action(short), cut_short.clone()]);
    let text = String::from_utf8(zstd::stream::decode_all(bytes.as_slice()).unwrap()).unwrap();
    let line = r#""record":{"action":{"what":"marked","command":"fabdeck whatif"}}}"#;
    assert!(text.contains(line), "{text}");
    let mut held = Moments::new(CaptureReader::open("f", bytes.as_slice()).unwrap());
    let events = held.reader.index().slots.iter().filter(|slot| slot.lead.has_flag(flags::EVENT)).count();
    assert_eq!(events, 2);
    let (stretch, memory) = (CaptureRange::from_places(&held, 3..=5), Memory::default());
    rewrite(&mut held, &stretch, RewriteOptions::default(), memory.clone()).unwrap();
    assert_eq!(told(&memory.bytes.take()), [cut_short]);
}
