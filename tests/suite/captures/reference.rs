//! One capture with everything in it, as this version writes it and as the first version wrote it.

use std::path::Path;
use std::time::Duration;

use fabdeck_fabric::observe::{Observation, PolicyLevels, SubnetManager, TickKind, Ticks};
use fabdeck_fabric::{Guid, LinkSpeed};
use fabdeck_files::capture::{CaptureSource, Cursor, CursorStep, MomentStore, Moments, Recorder};
use fabdeck_files::capture_format::{CaptureReader, CaptureRecord, NumberedRecord};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source};

use super::sample_fabric::{BEGUN, Memory, Reference, assert_same, header, look, news, reference, sweep};

const FIRST: &str = "tests/fixtures/capture/first.fdcap";

/// All moments, forward, back and in leaps.
fn assert_holds(bytes: &[u8], moments: &[super::sample_fabric::Moment]) {
    let mut reader = CaptureReader::open("reference", bytes).unwrap();
    let slots = reader.moments().to_vec();
    assert_eq!(slots.len(), moments.len());
    let all = || 0..moments.len();
    for at in all().chain(all().rev()).chain([9, 0, 5, 2, 8, 7, 1]) {
        reader.show_moment(slots[at]).unwrap();
        assert_same(&reader, &moments[at]);
    }
    assert!(reader.has_end());
}

#[test]
fn what_goes_in_comes_out_at_any_moment() {
    let Reference { bytes, moments } = reference();
    assert!(bytes.len() <= 16 * 1024, "{} bytes", bytes.len());
    assert_holds(&bytes, &moments);
}

/// What later versions know more of: how long a tick is, the priority of the subnet manager, and the levels of a QoS
/// policy, as they change too.
#[test]
fn ticks_the_managers_priority_and_the_policy_are_kept() {
    let first = look("torus,dims=3,terminals=1");
    let kind = TickKind { vendor: Some(0x2c9), device: None, revision: Some(1), speed: LinkSpeed::Hdr };
    let silent = TickKind { vendor: None, ..kind };
    let ticks = Ticks { by_kind: [(kind, Some(255)), (silent, None)].into() };
    let manager = first.subnet_manager.clone().map(|manager| SubnetManager { priority: Some(8), ..manager });
    let policy = Some(PolicyLevels::ByDestination([(Guid(7), 3), (Guid(9), 15)].into()));
    let later = Observation { ticks, subnet_manager: manager, policy, ..first.clone() };
    let last = Observation { policy: Some(PolicyLevels::Undecided), ..first.clone() };
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let looks = [&first, &later, &last, &first];
    for (second, look) in (0..).zip(looks) {
        recorder.record_sweep(BEGUN + 1000 * second as i64, look, &sweep(&look.fabric, second)).unwrap();
    }
    recorder.finish(BEGUN + 9000).unwrap();
    let bytes = memory.bytes.borrow().clone();
    let mut reader = CaptureReader::open("later", bytes.as_slice()).unwrap();
    for (slot, look) in reader.moments().to_vec().into_iter().zip(looks) {
        reader.show_moment(slot).unwrap();
        let seen = reader.observation();
        assert_eq!((&seen.ticks, &seen.subnet_manager), (&look.ticks, &look.subnet_manager));
        assert_eq!(seen.policy, look.policy);
    }
}

/// Later versions read what the first one wrote. The file is written once and stays.
#[test]
fn a_capture_of_the_first_version_is_read() {
    let path = Path::new(env!("FABDECK_ROOT")).join(FIRST);
    let Reference { bytes, moments } = reference();
    if !path.exists() && std::env::var_os("FABDECK_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_holds(&std::fs::read(&path).unwrap(), &moments);
}

/// Anybody can read it: frames of zstd, a record a line, numbered through, and leads that zstd passes over.
#[test]
fn unpacked_it_is_lines_of_json() {
    let bytes = reference().bytes;
    let text = zstd::stream::decode_all(bytes.as_slice()).unwrap();
    let lines: Vec<NumberedRecord> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert!(lines.iter().enumerate().all(|(at, line)| line.seq == at as u64), "{lines:?}");
    assert!(matches!(lines[0].record, CaptureRecord::Header(_)) && lines[0].time == BEGUN);
    assert!(matches!(lines.last().unwrap().record, CaptureRecord::End(_)));
    let kinds = |wanted: fn(&CaptureRecord) -> bool| lines.iter().filter(|line| wanted(&line.record)).count();
    assert_eq!(kinds(|record| matches!(record, CaptureRecord::Counters(_))), 10);
    assert!(
        kinds(|record| matches!(record, CaptureRecord::Header(_))) > 1,
        "the state stands whole more than once"
    );
    assert_eq!(kinds(|record| matches!(record, CaptureRecord::Note(_))), 1);
    assert_eq!(kinds(|record| matches!(record, CaptureRecord::News(_))), 1 + news().len());
}

#[test]
fn gaps_events_and_a_clock_that_was_set_back_are_distinguished() {
    let Reference { bytes, moments } = reference();
    let mut cursor = Cursor::new(Moments::new(CaptureReader::open("reference", bytes.as_slice()).unwrap()));
    let answers: Vec<_> = (0..11).map(|_| cursor.step_forward()).collect();
    let gaps = answers.iter().filter(|answer| matches!(answer, CursorStep::Gap { .. })).count();
    assert_eq!((gaps, answers.last()), (1, Some(&CursorStep::End)));
    assert_eq!(answers[7], CursorStep::Gap { from: moments[7].time, to: moments[8].time });
    cursor.seek_time(i64::MIN);
    let mut events = Vec::new();
    while cursor.seek_next_event() != CursorStep::End {
        events.push(cursor.place());
    }
    // The words after the third sweep come to light with the fourth; the cable fails with the seventh.
    assert_eq!(events, [3, 6]);
    let store = cursor.store_mut();
    let said = (0..store.reader.index().slots.len()).flat_map(|slot| store.reader.read_events(slot).unwrap());
    let said: Vec<_> = said.map(|(_, record)| record).collect();
    assert_eq!(said[0], CaptureRecord::Note("somebody at the rack\npulls a cable".into()));
    assert!(said.len() == 2 + news().len() && store.is_eventful(3));
}

/// Sweeps of a capture come as those of the live fabric came, with what they told and the fabric as it was then.
#[test]
fn sweeps_are_had_again_with_their_news() {
    let Reference { bytes, moments } = reference();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("again.fdcap");
    std::fs::write(&file, &bytes).unwrap();
    let mut source = CaptureSource::open(&file, None).unwrap();
    let mut look = source.observe(ReadOptions::default(), &mut NoObserver).unwrap();
    source.rewind(&mut look, Duration::from_secs(9)).unwrap();
    for (second, moment) in moments.iter().enumerate() {
        let mut swept = source.sweep(&mut look, Duration::ZERO, &mut NoObserver).unwrap();
        assert_eq!((&look.fabric, &look.tables), (&moment.look.fabric, &moment.look.tables), "{second}");
        assert_eq!(swept.fabric.take().is_some(), second == 0 || second == 6, "{second}");
        // What was said by others is no news of a sweep that this version knows.
        assert_eq!(std::mem::take(&mut swept.news), if second == 6 { news() } else { Vec::new() });
        assert_eq!(swept, moment.sweep, "{second}");
    }
    assert!(source.sweep(&mut look, Duration::ZERO, &mut NoObserver).is_err());
    // Over a sweep that nobody wanted its news are told with the next.
    let mut look = source.observe(ReadOptions::default(), &mut NoObserver).unwrap();
    source.rewind(&mut look, Duration::from_secs(4)).unwrap();
    source.sweep(&mut look, Duration::ZERO, &mut NoObserver).unwrap();
    let late = source.sweep(&mut look, moments[8].sweep.began, &mut NoObserver).unwrap();
    assert_eq!((late.began, late.news), (moments[8].sweep.began, news()));
}
