//! A recording in memory keeps to its room, and what it keeps is as it was.

use fabdeck_fabric::observe::Observation;
use fabdeck_files::capture::{OperatorEntry, RecordingPlayer, RingRecording, read_acknowledgements};
use fabdeck_files::capture_format::{AcknowledgementRecord, CaptureReader};

use super::sample_fabric::{BEGUN, header, look, sweep};

const SWEEPS: u64 = 300;

#[test]
fn the_older_half_is_forgotten() {
    let (first, second) =
        (look("torus,dims=3,terminals=1"), look("torus,dims=3,terminals=1,faults=1,seed=3"));
    // The fabric changes now and then, and goes back.
    let at = |second_of: u64| -> &Observation { if second_of % 40 < 20 { &first } else { &second } };
    let most = 24_000;
    let mut ring = RingRecording::new(header(), most);
    let mut largest = 0;
    for time in 0..SWEEPS {
        ring.record_sweep(BEGUN + 1000 * time as i64, at(time), &sweep(&at(time).fabric, time)).unwrap();
        largest = largest.max(ring.size());
    }
    assert!(largest <= most && largest > most / 2, "{largest} of {most} bytes");
    let mut tape = RecordingPlayer::from_reader(CaptureReader::open("ring", ring.bytes()).unwrap());
    let timeline = tape.timeline();
    let kept = timeline.times.len() as u64;
    assert!((10..SWEEPS).contains(&kept), "{kept} sweeps are kept");
    assert!(timeline.damaged.is_empty() && timeline.broken.is_empty(), "{timeline:?}");
    // In an order that leaps.
    for step in 0..kept {
        let place = (step * 7) % kept;
        let time = SWEEPS - kept + place;
        tape.show_moment(place as usize).unwrap();
        assert_eq!(timeline.times[place as usize], BEGUN + 1000 * time as i64);
        assert_eq!(tape.sweep(), sweep(&at(time).fabric, time), "{time}");
        assert_eq!(*tape.fabric(), at(time).fabric, "{time}");
    }
    println!("{kept} of {SWEEPS} sweeps in {} bytes", ring.size());
}

/// Acknowledgements count at every moment, so they stay when the beginning that has them is dropped.
#[test]
fn acknowledgements_outlive_the_older_half() {
    let seen = look("torus,dims=3,terminals=1");
    for most in [24_000, 100] {
        let mut ring = RingRecording::new(header(), most);
        let record = |problem: &str, made: i64, removed: bool| {
            let (problem, by) = (problem.to_owned(), "anna".to_owned());
            AcknowledgementRecord { problem, by, made, note: None, extent: None, removed }
        };
        let shown = |ring: &RingRecording| {
            read_acknowledgements(&mut CaptureReader::open("ring", ring.bytes()).unwrap())
        };
        let (first, revoked) = (record("first", 1, false), record("revoked", 2, false));
        for time in 0..SWEEPS {
            ring.record_sweep(BEGUN + 1000 * time as i64, &seen, &sweep(&seen.fabric, time)).unwrap();
            let entries: &[AcknowledgementRecord] = match time {
                1 => &[first.clone(), revoked.clone()],
                250 => &[record("revoked", 3, true)],
                _ => &[],
            };
            for entry in entries {
                let entry = OperatorEntry::Acknowledgement(entry.clone());
                ring.record_entry(BEGUN + 1000 * time as i64, &entry).unwrap();
            }
            match time {
                0 => {}
                1..250 => assert_eq!(shown(&ring), [first.clone(), revoked.clone()], "{most} {time}"),
                _ => assert_eq!(shown(&ring), std::slice::from_ref(&first), "{most} {time}"),
            }
        }
    }
}

/// A state that is larger than the room that there is: the last moments are there all the same.
#[test]
fn too_little_room_keeps_the_last() {
    let seen = look("torus,dims=3,terminals=1");
    let mut ring = RingRecording::new(header(), 100);
    for time in 0..20 {
        ring.record_sweep(BEGUN + 1000 * time as i64, &seen, &sweep(&seen.fabric, time)).unwrap();
        assert!(ring.size() < 20_000, "{}", ring.size());
    }
    let mut tape = RecordingPlayer::from_reader(CaptureReader::open("ring", ring.bytes()).unwrap());
    let last = tape.timeline().times.len();
    if let Some(last) = last.checked_sub(1) {
        tape.show_moment(last).unwrap();
        assert_eq!(tape.sweep(), sweep(&seen.fabric, 19));
    }
}
