//! Acknowledged problems in captures: what they change, which of several counts, and what damage does to them.

use fabdeck_files::capture::{
    CaptureRange, Moments, OperatorEntry, Recorder, RecordingPlayer, RewriteOptions, examine,
    fits_acknowledgement, read_acknowledgements, rewrite,
};
use fabdeck_files::capture_format::{AcknowledgementRecord, CaptureReader, CaptureRecord, flags};

use super::commands::{fabdeck, json, recorded, run};
use super::sample_fabric::{BEGUN, Memory, assert_same, header, look, reference, sweep};

fn acknowledgement(problem: &str, made: i64) -> AcknowledgementRecord {
    let note = Some("cable ordered".to_owned());
    AcknowledgementRecord {
        problem: problem.into(),
        by: "anna".into(),
        made,
        note,
        extent: None,
        removed: false,
    }
}

fn taken_back(problem: &str, made: i64) -> AcknowledgementRecord {
    AcknowledgementRecord { note: None, removed: true, ..acknowledgement(problem, made) }
}

/// The capture with further acknowledgements at their times.
fn acknowledged(bytes: &[u8], all: &[(i64, AcknowledgementRecord)]) -> Vec<u8> {
    let mut held = Moments::new(CaptureReader::open("f", bytes).unwrap());
    let (stretch, memory) = (CaptureRange::all(&held).unwrap(), Memory::default());
    let record =
        |(at, one): &(i64, AcknowledgementRecord)| (*at, CaptureRecord::Acknowledgement(one.clone()));
    let options = RewriteOptions { added: all.iter().map(record).collect(), ..RewriteOptions::default() };
    rewrite(&mut held, &stretch, options, memory.clone()).unwrap();
    memory.bytes.take()
}

/// The lines of a capture without the numbers that count them, and without acknowledgements.
fn other_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(zstd::stream::decode_all(bytes).unwrap()).unwrap();
    let unnumbered = |line: &str| line[line.find(",\"time\"").unwrap()..].to_owned();
    text.lines().filter(|line| !line.contains(r#""record":{"acknowledgement""#)).map(unnumbered).collect()
}

fn shown(bytes: &[u8]) -> Vec<AcknowledgementRecord> {
    let in_order = RecordingPlayer::from_reader(CaptureReader::open("f", bytes).unwrap()).timeline();
    let read = read_acknowledgements(&mut CaptureReader::open("f", bytes).unwrap());
    assert_eq!(in_order.acknowledgements(), read);
    read
}

#[test]
fn acknowledgements_change_nothing_else() {
    let reference = reference();
    let times: Vec<i64> = reference.moments.iter().map(|moment| moment.time).collect();
    let all =
        [(times[1], acknowledgement("hot-spot:0x1/1", 7)), (times[3], acknowledgement("stalled:0x2/1", 8))];
    let bytes = acknowledged(&reference.bytes, &all);
    assert_eq!(shown(&bytes), all.clone().map(|(_, record)| record));
    assert_eq!(other_lines(&bytes), other_lines(&acknowledged(&reference.bytes, &[])));
    // Against the recording itself, only the time of the end differs.
    let (made, mut recorded) = (other_lines(&bytes), other_lines(&reference.bytes));
    recorded.truncate(made.len() - 1);
    assert_eq!(made[..made.len() - 1], recorded);
    let mut reader = CaptureReader::open("made", bytes.as_slice()).unwrap();
    for (slot, moment) in reader.moments().to_vec().into_iter().zip(&reference.moments) {
        reader.show_moment(slot).unwrap();
        assert_same(&reader, moment);
    }
    assert!(reader.has_end() && reader.notes().is_empty());
    let text = String::from_utf8(zstd::stream::decode_all(bytes.as_slice()).unwrap()).unwrap();
    let line = r#""record":{"acknowledgement":{"problem":"hot-spot:0x1/1","by":"anna","made":7,"note":"cable ordered"}}}"#;
    assert!(text.contains(line), "{text}");
}

/// The one that was made last counts, wherever in the recording it stands.
#[test]
fn the_latest_acknowledgement_of_a_problem_counts() {
    let reference = reference();
    let times: Vec<i64> = reference.moments.iter().map(|moment| moment.time).collect();
    let first = acknowledged(&reference.bytes, &[(times[4], acknowledgement("a", 10))]);
    assert_eq!(shown(&first).len(), 1);
    let second =
        acknowledged(&first, &[(times[1], taken_back("a", 20)), (times[1], acknowledgement("b", 21))]);
    assert_eq!(shown(&second), [acknowledgement("b", 21)]);
    let third = acknowledged(&second, &[(times[0], acknowledgement("a", 30))]);
    assert_eq!(shown(&third), [acknowledgement("a", 30), acknowledgement("b", 21)]);
    // Two of the same millisecond count in their order.
    let both = [(times[0], taken_back("b", 40)), (times[0], acknowledgement("b", 40))];
    assert_eq!(shown(&acknowledged(&third, &both)).len(), 2);
}

/// An acknowledgement counts at every moment, so a part of a capture has those that the whole one has, and no other.
#[test]
fn a_part_has_the_acknowledgements_of_the_whole_capture() {
    let reference = reference();
    let times: Vec<i64> = reference.moments.iter().map(|moment| moment.time).collect();
    let all = [
        (times[0], acknowledgement("early", 10)),
        (times[2], acknowledgement("revoked", 20)),
        (times[5], acknowledgement("late", 30)),
        (times[6], taken_back("revoked", 40)),
    ];
    let bytes = acknowledged(&reference.bytes, &all);
    let wanted = [acknowledgement("early", 10), acknowledgement("late", 30)];
    let last = times.len() - 1;
    for places in [0..=3, 2..=4, 3..=last, 0..=last] {
        let mut moments = Moments::new(CaptureReader::open("f", bytes.as_slice()).unwrap());
        let (part, memory) = (CaptureRange::from_places(&moments, places.clone()), Memory::default());
        rewrite(&mut moments, &part, RewriteOptions::default(), memory.clone()).unwrap();
        let cut = memory.bytes.take();
        assert_eq!(shown(&cut), wanted, "{places:?}");
        let mut reader = CaptureReader::open("cut", cut.as_slice()).unwrap();
        let slots = reader.moments().to_vec();
        assert_eq!(slots.len(), places.clone().count());
        for (slot, moment) in slots.into_iter().zip(&reference.moments[places]) {
            reader.show_moment(slot).unwrap();
            assert_same(&reader, moment);
        }
    }
}

/// Whatever byte of its frame is damaged, the acknowledgement is read as it was or not at all.
#[test]
fn a_damaged_acknowledgement_is_read_right_or_not_at_all() {
    let reference = reference();
    let record = acknowledgement("hot-spot:0x1/1", 7);
    let bytes = acknowledged(&reference.bytes, &[(reference.moments[1].time, record.clone())]);
    assert_eq!(shown(&bytes), std::slice::from_ref(&record));
    let reader = CaptureReader::open("f", bytes.as_slice()).unwrap();
    let slots = reader.index().slots.clone();
    let own = |slot: &&fabdeck_files::capture_format::FrameSlot| slot.lead.flags == flags::EVENT;
    let slot = slots.iter().find(own).unwrap();
    let (from, packed) = (usize::try_from(slot.offset).unwrap(), slot.lead.packed as usize);
    let mut lost = 0;
    for at in from..from + packed {
        for bit in [1u8, 0x80] {
            let mut bytes = bytes.clone();
            bytes[at] ^= bit;
            let Ok(reader) = CaptureReader::open("f", bytes) else { continue };
            let mut player = RecordingPlayer::from_reader(reader);
            match player.timeline().acknowledgements().as_slice() {
                [] => lost += 1,
                [read] => assert_eq!(*read, record, "byte {at}"),
                more => panic!("byte {at}: {more:?}"),
            }
        }
    }
    assert!(lost > packed, "most damage loses it: {lost} of {}", 2 * packed);
}

/// A recording has what is acknowledged while it runs; a note that is too long to be read again is left out.
#[test]
fn a_recorder_writes_acknowledgements() {
    let look = look("torus,dims=3,terminals=1");
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    recorder.record_sweep(BEGUN, &look, &sweep(&look.fabric, 0)).unwrap();
    let long = AcknowledgementRecord { note: Some("n".repeat(70_000)), ..acknowledgement("b", 2) };
    assert!(!fits_acknowledgement(&long) && fits_acknowledgement(&acknowledgement("a", 1)));
    for record in [acknowledgement("a", 1), long.clone()] {
        recorder.record_entry(BEGUN + 5, &OperatorEntry::Acknowledgement(record)).unwrap();
    }
    recorder.finish(BEGUN + 6).unwrap();
    let bytes = memory.bytes.take();
    assert_eq!(shown(&bytes), [acknowledgement("a", 1), AcknowledgementRecord { note: None, ..long }]);
}

/// `health --acknowledge` on a capture writes into it, so that it counts for all who read it.
#[test]
fn a_capture_keeps_its_acknowledgements() {
    let home = recorded();
    let source = ["--source", "demo.fdcap", "health"];
    let before = json(&home, &source, 2);
    let ids: Vec<String> = before["problems"].as_array().unwrap().iter().map(id_of).collect();
    for id in &ids {
        let arguments = [&source[..], &["--acknowledge", id, "--note", "seen"]].concat();
        let code = if Some(id) == ids.last() { 0 } else { 2 };
        json(&home, &arguments, code);
    }
    let info = json(&home, &["capture", "info", "demo.fdcap"], 0);
    assert_eq!((&info["acknowledged"], &info["sweeps"]), (&ids.len().into(), &31.into()), "{info}");
    let words = info["first_acknowledged"][0]["words"].as_str().unwrap();
    assert!(words.contains(" by ") && words.ends_with(": seen"), "{info}");
    let text = String::from_utf8(run(&home, &["capture", "info", "demo.fdcap"], 0).stdout).unwrap();
    assert!(text.contains("acknowledged problem"), "{text}");
    // Another user finds them, also at another moment.
    let other = tempfile::tempdir().unwrap();
    std::fs::copy(home.path().join("demo.fdcap"), other.path().join("demo.fdcap")).unwrap();
    let seen = json(&other, &source, 0);
    assert_eq!(seen["problems"].as_array().unwrap().len(), ids.len(), "{seen}");
    assert_eq!(seen["problems"][0]["acknowledged"]["note"], "seen");
    json(&other, &[&source[..], &["--unacknowledge", &ids[0]]].concat(), 2);
    assert_eq!(examine(&other.path().join("demo.fdcap")).unwrap().acknowledged, ids.len() - 1);
    assert_eq!(examine(&home.path().join("demo.fdcap")).unwrap().acknowledged, ids.len());
}

fn id_of(problem: &serde_json::Value) -> String {
    problem["id"].as_str().unwrap().to_owned()
}

/// A capture that is still recorded is not changed; the state folder has the acknowledgement, and the answer says so.
#[test]
fn a_capture_without_an_end_leaves_acknowledgements_to_the_state_folder() {
    let home = recorded();
    let file = home.path().join("demo.fdcap");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 3000]).unwrap();
    let before = std::fs::read(&file).unwrap();
    let source = ["--source", "demo.fdcap", "health"];
    let problems = json(&home, &source, 2)["problems"].clone();
    let id = id_of(&problems[0]);
    let ended = fabdeck(&home).args(source).args(["--acknowledge", &id]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("acknowledged in your state folder only: FD-7969"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let code = if problems.as_array().unwrap().len() == 1 { 0 } else { 2 };
    let after = json(&home, &source, code);
    let last = after["problems"].as_array().unwrap().last().unwrap();
    assert!(last["id"] == id.as_str() && last["acknowledged"].is_object(), "{after}");
}
