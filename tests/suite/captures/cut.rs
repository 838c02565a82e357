//! Stretches of captures as captures of their own.

use fabdeck_files::capture::{CaptureRange, Moments, RewriteOptions, RewriteSummary, TimeSpec, rewrite};
use fabdeck_files::capture_format::{CaptureReader, CaptureRecord, NumberedRecord, flags};
use jiff::Timestamp;

use super::commands::{json, recorded, run};
use super::sample_fabric::{Memory, Moment, Reference, assert_same, damaged, reference};

fn cut(bytes: &[u8], stretch: impl Fn(&Moments<&[u8]>) -> CaptureRange) -> (Vec<u8>, RewriteSummary) {
    let mut moments = Moments::new(CaptureReader::open("f", bytes).unwrap());
    let (stretch, memory) = (stretch(&moments), Memory::default());
    let written = rewrite(&mut moments, &stretch, RewriteOptions::default(), memory.clone()).unwrap();
    (memory.bytes.take(), written)
}

/// Everything from a moment on.
pub fn from_place(bytes: &[u8], from: usize) -> Vec<u8> {
    let last = |moments: &Moments<&[u8]>| moments.reader.moments().len() - 1;
    cut(bytes, |moments| CaptureRange::from_places(moments, from..=last(moments))).0
}

fn whole(bytes: &[u8]) -> (Vec<u8>, RewriteSummary) {
    cut(bytes, |moments| CaptureRange::all(moments).unwrap())
}

fn at(millis: i64) -> Option<TimeSpec> {
    let time = Timestamp::from_millisecond(millis).unwrap();
    Some(TimeSpec::parse(&time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()).unwrap())
}

fn events(bytes: &[u8]) -> Vec<(i64, CaptureRecord)> {
    let mut reader = CaptureReader::open("f", bytes).unwrap();
    let slots = 0..reader.index().slots.len();
    slots.flat_map(|slot| reader.read_events(slot).unwrap()).collect()
}

#[track_caller]
fn assert_moments(bytes: &[u8], moments: &[Moment]) {
    let mut reader = CaptureReader::open("cut", bytes).unwrap();
    let slots = reader.moments().to_vec();
    assert_eq!(slots.len(), moments.len());
    for (slot, moment) in slots.into_iter().zip(moments).rev() {
        reader.show_moment(slot).unwrap();
        assert_same(&reader, moment);
    }
    assert!(reader.has_end() && reader.notes().is_empty(), "{:?}", reader.notes());
}

#[test]
fn every_stretch_shows_its_moments_and_what_was_said_in_it() {
    let Reference { bytes, moments } = reference();
    let times: Vec<i64> = moments.iter().map(|moment| moment.time).collect();
    let said = events(&bytes);
    for (from, to) in (0..10).flat_map(|from| (0..10).map(move |to| (from, to))) {
        let (since, until) = (times[from], times[to]);
        let begins = times.iter().position(|time| *time >= since).unwrap();
        let ends = times.iter().rposition(|time| *time <= until).unwrap();
        let within = |moments: &Moments<&[u8]>| CaptureRange::between(moments, at(since), at(until));
        if begins > ends {
            let refused =
                within(&Moments::new(CaptureReader::open("f", bytes.as_slice()).unwrap())).unwrap_err();
            assert!(refused.to_string().contains("FD-5066"), "{refused}");
            continue;
        }
        let (stretch, written) = cut(&bytes, |moments| within(moments).unwrap());
        assert_moments(&stretch, &moments[begins..=ends]);
        assert_eq!((written.recorded.bytes, written.lost), (stretch.len() as u64, 0));
        // News come with their sweep; words lie behind the third.
        let kept = events(&stretch);
        let news = kept.iter().filter(|(time, _)| *time == times[6]).count();
        assert_eq!(news, if (begins..=ends).contains(&6) { super::sample_fabric::news().len() } else { 0 });
        let words = kept.iter().filter(|(time, _)| [times[2] + 1, times[2] + 2].contains(time)).count();
        let spoken = begins <= 3 && (ends > 2 || ends == 2 && until > times[2] + 1);
        let spoken = spoken && since <= times[2] + 1;
        assert_eq!(words, if spoken { 2 } else { 0 }, "{from} {to}: {kept:?} of {said:?}");
        // What was cut out can be cut again, and all of it is the same file.
        assert_eq!(whole(&stretch).0, stretch, "{from} {to}");
        let lines = zstd::stream::decode_all(stretch.as_slice()).unwrap();
        for (number, line) in lines.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line: NumberedRecord = serde_json::from_slice(line).unwrap();
            assert_eq!(line.seq, number as u64);
        }
    }
}

/// What can be read of a damaged capture is a whole capture, and says what is missing.
#[test]
fn of_a_damaged_capture_everything_that_can_be_read_is_kept_and_the_rest_is_reported() {
    let Reference { bytes, moments } = reference();
    let slots = CaptureReader::open("f", bytes.as_slice()).unwrap().index().slots.clone();
    for (slot, within) in slots.iter().flat_map(|slot| [(slot, true), (slot, false)]) {
        let mut damaged = bytes.clone();
        // The frame itself, or its lead, with the table gone that repeats it.
        let hit = if within { slot.offset as usize + 20 } else { slot.offset as usize - 20 };
        damaged[hit] ^= 0x40;
        if !within {
            let table = damaged.windows(8).rposition(|eight| eight == b"fdseek/1").unwrap() - 8;
            damaged.truncate(table);
        }
        if slot.lead.has_flag(flags::END) {
            continue;
        }
        let mut reader = CaptureReader::open("f", damaged.as_slice()).unwrap();
        let mut shown = Vec::new();
        for slot in reader.moments().to_vec() {
            if reader.show_moment(slot).is_ok() {
                shown.push(reader.frame_slot(slot).lead.first);
            }
        }
        let original = CaptureReader::open("f", bytes.as_slice()).unwrap();
        let number = |first: &u64| {
            original
                .moments()
                .iter()
                .position(|slot| original.frame_slot(*slot).lead.first == *first)
                .unwrap()
        };
        let (made, written) = whole(&damaged);
        assert!(!written.damage.is_empty(), "{slot:?}");
        let mut reader = CaptureReader::open("made", made.as_slice()).unwrap();
        assert!(reader.notes().is_empty() && reader.has_end());
        let slots = reader.moments().to_vec();
        assert_eq!(slots.len(), shown.len(), "{slot:?} {within}");
        for (slot, first) in slots.into_iter().zip(&shown) {
            reader.show_moment(slot).unwrap();
            assert_same(&reader, &moments[number(first)]);
            let notes = reader.observation().notes;
            let told = notes.iter().filter(|note| note.text.contains("FN-382")).count();
            assert!(told > 0 || notes.iter().any(|note| note.count > 1), "{notes:?}");
            assert!(reader.state().remarks.iter().any(|remark| remark.code == "FN-382" && remark.partial));
        }
    }
}

#[test]
fn the_command_cuts_tells_damage_and_writes_over_nothing() {
    let home = recorded();
    let cut = |more: &[&str], code| run(&home, &[&["capture", "cut", "demo.fdcap"], more].concat(), code);
    cut(&["--from", "-20s", "--to", "-11s", "-o", "part.fdcap"], 0);
    let (all, part) = (
        json(&home, &["capture", "info", "demo.fdcap"], 0),
        json(&home, &["capture", "info", "part.fdcap"], 0),
    );
    assert_eq!(
        (&part["sweeps"], &part["ended"], &part["fabdeck"]),
        (&10.into(), &true.into(), &all["fabdeck"])
    );
    let counters = |file: &str, at: &str| {
        let mut told = json(&home, &["--source", file, "--at", at, "show", "counters"], 0);
        told["rows"].take()
    };
    let time = part["to"].as_str().unwrap();
    assert_eq!(counters("part.fdcap", time), counters("demo.fdcap", time));
    let hot = |args: &[&str]| {
        let mut sweep =
            json(&home, &[args, &["hotspots", "--interval", "5s"]].concat(), 2)["sweeps"][0].take();
        // What is cut away is no past that links are judged by any more.
        for key in ["links", "links_since"] {
            assert!(sweep.as_object_mut().unwrap().remove(key).is_some(), "{sweep}");
        }
        sweep
    };
    assert_eq!(hot(&["--source", "part.fdcap"]), hot(&["--source", "demo.fdcap", "--at", time]));
    let said = String::from_utf8(cut(&["-o", "part.fdcap"], 1).stderr).unwrap();
    assert!(said.contains("FD-7922"), "{said}");
    assert_eq!(json(&home, &["capture", "info", "part.fdcap"], 0)["sweeps"], 10);
    cut(&["-o", "part.fdcap", "--force"], 0);
    assert_eq!(json(&home, &["capture", "info", "part.fdcap"], 0)["sweeps"], 31);
    // A pipe is as good; it gets the bytes that the file has.
    let piped = cut(&["-o", "-"], 0).stdout;
    assert_eq!(piped, std::fs::read(home.path().join("part.fdcap")).unwrap());
    std::fs::write(home.path().join("demo.fdcap"), damaged(&piped)).unwrap();
    let told = json(&home, &["capture", "cut", "demo.fdcap", "-o", "rest.fdcap"], 0);
    assert!(told["partial"] == true && told["unreadable"].as_u64().unwrap() > 0, "{told}");
    cut(&["-o", "rest.fdcap", "--force", "--strict"], 2);
    let rest = json(&home, &["capture", "info", "rest.fdcap"], 0);
    assert_eq!((&rest["damage"], &rest["partial"]), (&serde_json::json!([]), &true.into()));
    assert!(rest["notes"].to_string().contains("could not be read when this part was written"), "{rest}");
}
