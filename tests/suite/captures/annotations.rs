//! Notes and bookmarks at a time of a capture: where they stand, what takes them back, and what a kill leaves.

use std::time::{Duration, Instant};

use fabdeck_files::capture::{
    CaptureRange, Moments, RecordingPlayer, RewriteOptions, TimelineEvent, rewrite,
};
use fabdeck_files::capture_format::{Annotation, CaptureReader, CaptureRecord};

use super::commands::{fabdeck, json, recorded};
use super::killed_recorders::{info, signal};
use super::sample_fabric::{BEGUN, Memory, assert_same, reference};

fn annotation(at: i64, text: Option<&str>) -> Annotation {
    Annotation { at, by: "anna".into(), made: BEGUN + 99_000, text: text.map(str::to_owned), removed: false }
}

/// The capture with further annotations.
fn annotated(bytes: &[u8], all: &[Annotation]) -> Vec<u8> {
    let mut held = Moments::new(CaptureReader::open("f", bytes).unwrap());
    let (stretch, memory) = (CaptureRange::all(&held).unwrap(), Memory::default());
    let added = all.iter().map(|one| (one.at, CaptureRecord::Annotation(one.clone()))).collect();
    let options = RewriteOptions { added, ..RewriteOptions::default() };
    rewrite(&mut held, &stretch, options, memory.clone()).unwrap();
    memory.bytes.take()
}

/// The annotations of the timeline with their moments.
fn shown(bytes: &[u8]) -> Vec<(usize, i64, Option<String>)> {
    let timeline = RecordingPlayer::from_reader(CaptureReader::open("f", bytes).unwrap()).timeline();
    let one = |entry: &fabdeck_files::capture::TimelineEntry| match &entry.event {
        TimelineEvent::Annotation(annotation) => Some((entry.place, entry.time, annotation.text.clone())),
        _ => None,
    };
    timeline.happened.iter().filter_map(one).collect()
}

#[test]
fn annotations_stand_at_their_moments_and_change_nothing_else() {
    let reference = reference();
    let times: Vec<i64> = reference.moments.iter().map(|moment| moment.time).collect();
    let all = [annotation(times[1], None), annotation(times[2] + 100, Some("cable pulled"))];
    let bytes = annotated(&reference.bytes, &all);
    let wanted = [(1, times[1], None), (2, times[2] + 100, Some("cable pulled".to_owned()))];
    assert_eq!(shown(&bytes), wanted);
    let mut reader = CaptureReader::open("made", bytes.as_slice()).unwrap();
    for (slot, moment) in reader.moments().to_vec().into_iter().zip(&reference.moments) {
        reader.show_moment(slot).unwrap();
        assert_same(&reader, moment);
    }
    assert!(reader.has_end() && reader.notes().is_empty());
    // A bookmark can be taken back; a note at the same time stays, and so does a later bookmark.
    let removal = Annotation { removed: true, ..annotation(times[1], None) };
    let more = annotated(&bytes, &[annotation(times[1], Some("here")), removal]);
    let left = shown(&more);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.contains(&(1, times[1], Some("here".to_owned()))), "{left:?}");
    assert_eq!(shown(&annotated(&more, &[annotation(times[1], None)])).len(), 3);
    // The record says who left it and when.
    let text = String::from_utf8(zstd::stream::decode_all(bytes.as_slice()).unwrap()).unwrap();
    let made = BEGUN + 99_000;
    let line = format!(r#""record":{{"annotation":{{"at":{},"by":"anna","made":{made}}}}}}}"#, times[1]);
    assert!(text.contains(&line), "{text}");
}

#[test]
fn info_lists_notes_and_bookmarks() {
    let home = recorded();
    let file = home.path().join("demo.fdcap");
    let bytes = std::fs::read(&file).unwrap();
    let time = Moments::new(CaptureReader::open("f", bytes.as_slice()).unwrap()).bounds().unwrap().0;
    let all: Vec<Annotation> = (0..4).map(|second| annotation(time + 1000 * second, None)).collect();
    let noted = [annotation(time + 9000, Some("called the cabling team"))];
    std::fs::write(&file, annotated(&annotated(&bytes, &all), &noted)).unwrap();
    let answer = json(&home, &["capture", "info", "demo.fdcap"], 0);
    assert_eq!((&answer["bookmarked"], &answer["noted"]), (&4.into(), &1.into()), "{answer}");
    assert_eq!(answer["first_bookmarked"].as_array().unwrap().len(), 3, "{answer}");
    assert_eq!(answer["first_bookmarked"][0]["by"], "anna");
    assert_eq!(answer["first_noted"][0]["words"], "called the cabling team");
    let text = super::commands::run(&home, &["capture", "info", "demo.fdcap"], 0);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("4 bookmarks of operators") && text.contains("and 1 more"), "{text}");
}

/// The old capture is there until the new one is complete.
#[test]
fn a_kill_while_a_note_is_written_leaves_a_whole_capture() {
    let home = recorded();
    let before = info(&home, "demo.fdcap");
    let mut noted = 0;
    for turn in 0..16u64 {
        let mut child = fabdeck(&home).args(["capture", "note", "demo.fdcap", "still here"]).spawn().unwrap();
        let begun = Instant::now();
        let is_writing = || {
            let files = std::fs::read_dir(home.path()).unwrap();
            files.flatten().any(|file| file.file_name().to_string_lossy().ends_with(".part"))
        };
        while begun.elapsed() < Duration::from_secs(20)
            && !is_writing()
            && child.try_wait().unwrap().is_none()
        {}
        std::thread::sleep(Duration::from_micros(100 * turn));
        signal_if_running(&mut child);
        let answer = info(&home, "demo.fdcap");
        let now = answer["noted"].as_u64().unwrap();
        assert!(now == noted || now == noted + 1, "{now} after {noted}");
        assert!(answer["ended"] == true && answer["sweeps"] == before["sweeps"], "{answer}");
        assert_eq!(
            (&answer["unreadable"], &answer["damage"]),
            (&0.into(), &serde_json::json!([])),
            "{answer}"
        );
        noted = now;
        for file in std::fs::read_dir(home.path()).unwrap().flatten() {
            if file.file_name().to_string_lossy().ends_with(".part") {
                std::fs::remove_file(file.path()).unwrap();
            }
        }
    }
}

fn signal_if_running(child: &mut std::process::Child) {
    if child.try_wait().unwrap().is_none() {
        signal(child, "-KILL");
    }
    child.wait().unwrap();
}
