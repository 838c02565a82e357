//! A recording in memory keeps to its room, and what it keeps is as it was.

use fabdeck_fabric::observe::Observation;
use fabdeck_files::capture::{RecordingPlayer, RingRecording};
use fabdeck_files::capture_format::CaptureReader;

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
