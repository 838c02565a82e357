//! A disk that fills up, at any byte.

use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::CaptureReader;

use super::sample_fabric::{BEGUN, Memory, assert_same, header, look, reference, sweep};

/// Records until nothing more goes in; how many sweeps the recorder says are kept.
fn fill(memory: &Memory) -> (u64, String) {
    let look = look("kary,k=2,n=2");
    let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(4, 200);
    for second in 0..10 {
        let failed = recorder.record_sweep(BEGUN + 1000 * second as i64, &look, &sweep(&look.fabric, second));
        if let Err(error) = failed {
            return (error.kept.sweeps, error.to_string());
        }
    }
    match recorder.finish(BEGUN) {
        Ok(kept) => (kept.sweeps, String::new()),
        Err(error) => (error.kept.sweeps, error.to_string()),
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_kept_before_it() {
    let whole = Memory::default();
    assert_eq!(fill(&whole), (10, String::new()));
    let size = whole.bytes.borrow().len();
    let look = look("kary,k=2,n=2");
    for (room, stiff) in (0..size).step_by(13).flat_map(|room| [(room, false), (room, true)]) {
        let memory = Memory { room: Some(room), stiff, ..Memory::default() };
        let (kept, said) = fill(&memory);
        assert!(
            said.contains("recording before it is kept") && said.contains(&format!("sweeps: {kept},")),
            "{room}: {said}"
        );
        let bytes = memory.bytes.take();
        let Ok(mut reader) = CaptureReader::open("full", bytes.as_slice()) else {
            assert_eq!(kept, 0, "{room}");
            continue;
        };
        let slots = reader.moments().to_vec();
        assert_eq!(slots.len() as u64, kept, "{room}");
        for (second, slot) in slots.into_iter().enumerate() {
            reader.show_moment(slot).unwrap();
            let moment = super::sample_fabric::Moment {
                time: BEGUN + 1000 * second as i64,
                look: look.clone(),
                sweep: sweep(&look.fabric, second as u64),
            };
            assert_same(&reader, &moment);
        }
        // Half a frame is left only where it could not be taken away.
        assert!(stiff || !reader.notes().has("FN-381"), "{room}");
    }
}

/// Two recordings, one hung on to the other: both can be read.
#[test]
fn recordings_can_be_joined() {
    let reference = reference();
    let joined = reference.bytes.repeat(2);
    let mut reader = CaptureReader::open("joined", joined.as_slice()).unwrap();
    let slots = reader.moments().to_vec();
    assert_eq!(slots.len(), 20);
    for (at, slot) in slots.into_iter().enumerate().rev() {
        reader.show_moment(slot).unwrap();
        assert_same(&reader, &reference.moments[at % 10]);
    }
}
