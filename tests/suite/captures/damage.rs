//! Every cut and every flipped bit: what is read is right, and what is missing is told with its place.

use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::{CaptureReader, flags, read};
use fabdeck_files::text::Input;
use rayon::prelude::*;

use super::sample_fabric::{BEGUN, Memory, Moment, Reference, assert_same, header, look, reference, sweep};

/// Which moment of the reference begins with a record.
fn numbers(reference: &Reference) -> Vec<u64> {
    let whole = CaptureReader::open("f", reference.bytes.as_slice()).unwrap();
    whole.moments().iter().map(|slot| whole.frame_slot(*slot).lead.first).collect()
}

/// Shows every moment that the reader has. Each is as it was recorded, or the reader says where it is damaged; and where
/// any is missing, somebody is told.
fn judge(bytes: &[u8], reference: &Reference, numbers: &[u64], why: &str) {
    let number = |first: u64| numbers.iter().position(|known| *known == first);
    let mut reader = match CaptureReader::open("f", bytes) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(error.code.starts_with("FD-27") && error.place.offset.is_some(), "{why}: {error}");
            assert!(read(Input::new("f", bytes)).is_err(), "{why}");
            return;
        }
    };
    let slots = reader.moments().to_vec();
    let (mut shown, mut told) = (Vec::new(), !reader.notes().is_empty());
    for slot in slots {
        let first = reader.frame_slot(slot).lead.first;
        match reader.show_moment(slot) {
            Ok(()) => {
                let at =
                    number(first).unwrap_or_else(|| panic!("{why}: a moment of nobody's, record {first}"));
                assert_same(&reader, &reference.moments[at]);
                shown.push(at);
            }
            Err(damage) => {
                assert!(!damage.what.is_empty() && damage.offset <= bytes.len() as u64, "{why}: {damage}");
                told = true;
            }
        }
    }
    assert!(shown.is_sorted() && (told || shown.len() == reference.moments.len()), "{why}: {shown:?}");
    let last: Option<&Moment> = shown.last().map(|at| &reference.moments[*at]);
    match (read(Input::new("f", bytes)), last) {
        (Ok(seen), Some(last)) => {
            assert_eq!(seen.fabric, last.look.fabric, "{why}");
            assert_eq!(seen.counters, last.sweep.samples, "{why}");
            let notes = ["FN-381", "FN-382", "FN-383", "FN-384", "FN-386"];
            let noted = notes.iter().any(|code| seen.notes.has(code));
            assert!(
                noted || shown.last() == Some(&(reference.moments.len() - 1)),
                "{why}: an earlier end, unsaid"
            );
        }
        (Err(error), None) => assert_eq!(error.code, "FD-2703", "{why}: {error}"),
        (read, _) => panic!("{why}: {read:?}"),
    }
}

/// Whether there is time for every cut and every bit (`FABDECK_LONG=1`).
fn long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}

/// Every third cut here, every cut where there is time.
#[test]
fn every_cut_is_read_as_far_as_it_goes() {
    let reference = reference();
    let numbers = numbers(&reference);
    let cuts = (0..reference.bytes.len()).into_par_iter().step_by(if long() { 1 } else { 3 });
    cuts.for_each(|cut| {
        judge(&reference.bytes[..cut], &reference, &numbers, &format!("cut at {cut}"));
    });
}

/// One bit of every fourth byte here, every bit where there is time.
#[test]
fn every_flipped_bit_is_harmless_or_reported() {
    let reference = reference();
    let numbers = numbers(&reference);
    let bits = (0..reference.bytes.len() * 8).into_par_iter();
    bits.filter(|bit| long() || bit % 32 == bit / 32 % 8).for_each(|bit| {
        let mut bytes = reference.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        judge(&bytes, &reference, &numbers, &format!("bit {} of byte {}", bit % 8, bit / 8));
    });
}

/// Without the table at the end the leads have to say where a flipped bit lies.
#[test]
fn every_damaged_byte_of_a_recording_that_was_killed_is_reported() {
    let reference = reference();
    let numbers = numbers(&reference);
    let table = reference.bytes.windows(8).rposition(|eight| eight == b"fdseek/1").unwrap() - 8;
    (0..table).into_par_iter().step_by(if long() { 1 } else { 5 }).for_each(|at| {
        let mut bytes = reference.bytes[..table].to_vec();
        bytes[at] ^= 0x55;
        judge(&bytes, &reference, &numbers, &format!("byte {at}, no table"));
    });
}

/// Of few ports a recording stands whole again so often that a damaged frame takes little with it, and the state too.
#[test]
fn a_damaged_frame_of_a_small_fabric_costs_ten_sweeps() {
    const SECONDS: u64 = 400;
    let look = look("torus,dims=3,terminals=1");
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    for second in 0..SECONDS {
        let swept = sweep(&look.fabric, second);
        recorder.record_sweep(BEGUN + 1000 * second as i64, &look, &swept).unwrap();
    }
    recorder.finish(BEGUN + 1000 * SECONDS as i64).unwrap();
    let bytes = memory.bytes.take();
    let whole = CaptureReader::open("f", bytes.as_slice()).unwrap();
    let states =
        whole.moments().iter().filter(|slot| whole.frame_slot(**slot).lead.has_flag(flags::STATE_WHOLE));
    let states: Vec<usize> = states.copied().collect();
    assert!(states.len() >= 2 && whole.frame_slot(states[1]).offset < 64 << 10, "{states:?}");
    let lost = |slot: usize| {
        let mut damaged = bytes.clone();
        damaged[whole.frame_slot(slot).offset as usize + 9] ^= 1;
        let mut reader = CaptureReader::open("f", damaged.as_slice()).unwrap();
        let slots = reader.moments().to_vec();
        slots.into_iter().filter(|slot| reader.show_moment(*slot).is_err()).count()
    };
    let behind_the_first = whole.moments().iter().filter(|slot| !states.contains(slot));
    let worst = behind_the_first.map(|slot| lost(*slot)).max();
    assert_eq!(worst, Some(10));
    // Nobody knows how the fabric is until its state stands whole again.
    assert!(lost(0) <= states[1], "{} of {SECONDS}", lost(0));
}

/// Counters that stand whole again do not hide that nobody knows how the fabric is by then.
#[test]
fn a_change_of_the_fabric_that_is_lost_is_reported_at_every_later_moment() {
    let looks = ["torus,dims=3,terminals=1", "torus,dims=3,terminals=1,faults=1,seed=3"].map(look);
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(2, u64::MAX);
    for second in 0..7 {
        let look = &looks[usize::from(second > 0)];
        recorder.record_sweep(BEGUN + 1000 * second as i64, look, &sweep(&look.fabric, second)).unwrap();
    }
    let mut bytes = memory.bytes.take();
    let reader = CaptureReader::open("f", bytes.as_slice()).unwrap();
    let lost = reader.frame_slot(reader.moments()[1]);
    assert!(reader.index().slots[4..].iter().any(|slot| slot.lead.has_flag(flags::COUNTERS_WHOLE)));
    bytes[lost.offset as usize - 64..lost.offset as usize].fill(0);
    let mut reader = CaptureReader::open("f", bytes.as_slice()).unwrap();
    let shown: Vec<_> = reader.moments().to_vec().into_iter().map(|slot| reader.show_moment(slot)).collect();
    assert!(shown.len() == 6 && shown[0].is_ok(), "{shown:?}");
    for damage in &shown[1..] {
        let damage = damage.as_ref().unwrap_err();
        assert_eq!((damage.record, damage.offset), (lost.lead.first, lost.offset - 64), "{damage}");
    }
}

/// A stretch in the middle that is gone, and one of zeros, as a file system leaves them.
#[test]
fn stretches_that_are_missing_or_zero_are_reported() {
    let reference = reference();
    let numbers = numbers(&reference);
    let length = reference.bytes.len();
    for from in (0..length).step_by(149) {
        for size in [1, 64, 700] {
            let to = (from + size).min(length);
            let mut zero = reference.bytes.clone();
            zero[from..to].fill(0);
            judge(&zero, &reference, &numbers, &format!("zeros at {from}, {size}"));
            let gone = [&reference.bytes[..from], &reference.bytes[to..]].concat();
            judge(&gone, &reference, &numbers, &format!("gone at {from}, {size}"));
        }
    }
}
