//! A capture that is four times as long takes about four times the work, whatever is in it: shapes of which each record or
//! each frame cost as much as all that came before it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use fabdeck_files::capture::{Moments, survey};
use fabdeck_files::capture_format::{ByteSource, CaptureReader, Lead, flags};

use rustix::time::{ClockId, clock_gettime};

use super::hostile_captures::{HEADER, frame_from, frame_of};

const WHOLE: u32 = flags::STATE_WHOLE | flags::STATE_MOVED | flags::COUNTERS | flags::COUNTERS_WHOLE;

fn counters(at: &str, values: &str) -> String {
    format!(r#"{{"counters":{{"began":1,"took":1,"asked":1,"sent":1,"at":[{at}],"values":{{{values}}}}}}}"#)
}

/// One sample of port 1.
fn sample(kind: &str) -> String {
    counters("0", &format!(r#""{kind}":[{{"counters":[],"ports":[[null,1,1,[]]]}}]"#))
}

fn node(guid: usize) -> String {
    format!(
        r#"{{"kind":"host","guid":"0x{guid:x}","name":"n","port_count":1,"answered":true,"ports":[{{"number":1}}]}}"#
    )
}

/// Seconds of processor time of the best of three readings.
fn seconds(bytes: &[u8], read: impl Fn(&[u8])) -> f64 {
    let used = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let once = || {
        let since = used();
        read(bytes);
        used() - since
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Four times the records take less than nine times as long; sixteen times is what squares take.
fn grows_evenly(what: &str, records: usize, capture: impl Fn(usize) -> Vec<u8>) {
    let last = |bytes: &[u8]| _ = CaptureReader::open("linear", bytes).unwrap().show_last().unwrap();
    grows_evenly_by(what, records, capture, last);
}

fn grows_evenly_by(what: &str, records: usize, capture: impl Fn(usize) -> Vec<u8>, read: impl Fn(&[u8])) {
    let (short, long) = (seconds(&capture(records), &read), seconds(&capture(4 * records), &read));
    println!("said: {what}: {records} records in {short:.3} s, four times as many in {long:.3} s");
    assert!(long < 9.0 * short.max(0.01), "{what}: {short:.3} s, {long:.3} s");
}

#[test]
fn a_fabric_in_many_small_parts() {
    grows_evenly("parts of a fabric", 4000, |count| {
        let part = |at: usize| format!(r#"{{"topology":{{"of":{count},"nodes":[{}]}}}}"#, node(at + 1));
        let records: Vec<String> =
            [HEADER.to_owned()].into_iter().chain((0..count).map(part)).chain([sample("whole")]).collect();
        frame_from(WHOLE | flags::MOMENT, 0, &records)
    });
}

#[test]
fn lanes_that_are_forgotten_again_and_again() {
    grows_evenly("lanes forgotten", 2000, |count| {
        let nodes: Vec<String> = (1..=count).map(node).collect();
        let tables: Vec<String> = (1..=count).map(|guid| format!("\"host 0x{guid:016x}\":{{}}")).collect();
        let mut records = vec![
            HEADER.to_owned(),
            format!(r#"{{"topology":{{"nodes":[{}]}}}}"#, nodes.join(",")),
            format!(r#"{{"tables":{{"whole":true,"nodes":{{{}}}}}}}"#, tables.join(",")),
        ];
        records.extend(vec![r#"{"lanes":{"whole":true,"nodes":{}}}"#.to_owned(); count]);
        records.push(sample("whole"));
        frame_from(WHOLE | flags::MOMENT, 0, &records)
    });
}

/// GUIDs that nothing makes shorter: a capture of 348 kB took 32 s.
#[test]
fn levels_of_paths_that_come_source_by_source() {
    let capture = |count: usize| {
        let mut guid = 0u64;
        let mut levels = || {
            guid = guid.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!(r#"{{"path_levels":{{"whole":false,"sources":{{"0x{:x}":"0"}}}}}}"#, guid | 1)
        };
        let mut records = vec![HEADER.to_owned(), r#"{"topology":{"nodes":[]}}"#.to_owned()];
        records.extend((0..count).map(|_| levels()));
        records.push(sample("whole"));
        frame_from(WHOLE | flags::MOMENT, 0, &records)
    };
    let bytes = capture(32_000).len();
    assert!((250_000..400_000).contains(&bytes), "{bytes} bytes");
    grows_evenly("levels of paths", 8000, capture);
}

/// Each moment goes on from the one before it, from the first to the last.
#[test]
fn moments_that_all_go_on_from_the_first() {
    let capture = |count: usize| {
        let moved = counters("0", r#""moved":{"silent":[],"ports":[],"by":{}}"#);
        broken(count as u64, flags::COUNTERS, &moved, &moved)
    };
    let walk = |bytes: &[u8]| {
        let mut moments = Moments::new(CaptureReader::open("linear", bytes).unwrap());
        let last = moments.reader.moments().len() - 1;
        assert_eq!(survey(&mut moments, 0..=last).lost, 0);
    };
    grows_evenly_by("moments", 6000, capture, walk);
}

/// Counts what is read.
struct CountedReads<'b>(&'b [u8], &'b AtomicU64);

impl ByteSource for CountedReads<'_> {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.1.fetch_add(length as u64, Ordering::Relaxed);
        self.0.read(offset, length)
    }
}

/// How often each byte is read on the average where every moment is shown, and how many moments cannot be.
fn rereads(bytes: &[u8]) -> (u64, usize) {
    let read = AtomicU64::new(0);
    let mut moments = Moments::new(CaptureReader::open("linear", CountedReads(bytes, &read)).unwrap());
    let last = moments.reader.moments().len() - 1;
    let lost = survey(&mut moments, 0..=last).lost;
    (read.load(Ordering::Relaxed) / bytes.len() as u64, lost)
}

/// Frames that go on from the first, of which the one in the middle is wrong: those behind it cannot be shown.
fn broken(count: u64, says: u32, record: &str, wrong: &str) -> Vec<u8> {
    let begin = [HEADER.to_owned(), sample("whole")];
    let mut bytes = frame_from(WHOLE | flags::MOMENT, 0, &begin);
    let mut state = 0;
    for at in 0..count {
        let (first, record) = (2 + at, if at == count / 2 { wrong } else { record });
        let line = format!("{{\"seq\":{first},\"time\":0,\"record\":{record}}}\n");
        let (flags, raw) = (says | flags::MOMENT, line.len() as u32);
        bytes.extend(frame_of(
            Lead { flags, first, state, records: 1, raw, ..Lead::default() },
            line.as_bytes(),
        ));
        if says & flags::STATE_MOVED != 0 {
            state = first;
        }
    }
    bytes
}

#[test]
fn what_builds_upon_damage_is_not_read_once_more_for_every_moment() {
    let moved = |at: &str| counters(at, r#""moved":{"silent":[],"ports":[],"by":{}}"#);
    let sweeps = broken(600, flags::COUNTERS, &moved("0"), &moved("0,0"));
    let names = |guid: &str| format!(r#"{{"names":{{"{guid}":"n"}}}}"#);
    let states = broken(600, flags::STATE_MOVED, &names("0x1"), &names("no GUID"));
    for (what, bytes) in [("sweeps", sweeps), ("states", states)] {
        let (often, lost) = rereads(&bytes);
        println!("said: {what}: {} bytes, each read {often} times; {lost} moments lost", bytes.len());
        assert_eq!(lost, 300, "{what}");
        assert!(often < 8, "{what}: each byte was read {often} times");
    }
}

#[test]
fn holes_between_frames_are_not_read_to_the_end_of_the_file() {
    let one = frame_from(WHOLE | flags::MOMENT, 0, &[HEADER.to_owned(), sample("whole")]);
    let bytes = [one, vec![0]].concat().repeat(1000);
    let (often, lost) = rereads(&bytes);
    println!("said: {} bytes with 1000 holes, each read {often} times", bytes.len());
    assert_eq!(lost, 0);
    assert!(often < 12, "each byte was read {often} times");
}
