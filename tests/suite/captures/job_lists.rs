//! Lists of jobs in captures: when they are written, what is read at each moment, and what becomes of them in captures made
//! of captures.

use std::collections::BTreeSet;

use fabdeck_fabric::observe::{FabricEvent, JobHosts, JobListState, Observation};
use fabdeck_fabric::{Fabric, Names, NodeKind};
use fabdeck_files::capture::{
    Aliases, CaptureRange, Moments, Recorder, RecordingPlayer, RewriteOptions, TimelineEvent,
    recordable_jobs, rewrite,
};
use fabdeck_files::capture_format::{CaptureReader, ParsedLine, flags};
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::HostIndex;
use fabdeck_mad::access::NoObserver;

use super::sample_fabric::{BEGUN, Memory, header, look, sweep};

fn jobs(list: &[(&str, &[&str])]) -> JobHosts {
    let hosts = |hosts: &[&str]| hosts.iter().map(|host| (*host).to_owned()).collect();
    list.iter().map(|(job, of)| ((*job).to_owned(), hosts(of))).collect()
}

/// The hosts of a fabric by the names that a batch system has for them.
fn names(fabric: &Fabric) -> Vec<&str> {
    let hosts = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    hosts.map(|(_, node)| node.facts.description.split(' ').next().unwrap()).collect()
}

/// Nothing is heard before the third sweep; then a list, another one, a silence, and the second again.
fn recorded() -> (Vec<u8>, Observation) {
    let mut look = look("kary,k=2,n=2");
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(4, 200);
    let own = look.clone();
    let hosts = names(&own.fabric);
    let mut said = JobListState::default();
    for second in 0..12 {
        let time = BEGUN + 1000 * second;
        match second {
            2 | 3 => said.update(time, Ok(jobs(&[("4711", &hosts[..2]), ("quux", &["gone7"])]))),
            5 => said.update(time, Ok(jobs(&[("4711", &hosts[..2]), ("4712", &hosts[2..])]))),
            7 | 8 => said.update(time, Err("FD-4602: quux7 is silent".to_owned())),
            10 => said.update(time, Ok(jobs(&[("4711", &hosts[..2]), ("4712", &hosts[2..])]))),
            _ => {}
        }
        look.jobs = said.last().cloned();
        recorder.record_sweep(time, &look, &sweep(&look.fabric, second as u64)).unwrap();
    }
    recorder.finish(BEGUN + 12_000).unwrap();
    (memory.bytes.take(), look)
}

/// When the list was heard, which jobs it has, and whether anybody says so still, moment by moment.
fn job_lists_in(bytes: &[u8]) -> Vec<Option<(i64, Vec<String>, bool)>> {
    let mut reader = CaptureReader::open("heard", bytes).unwrap();
    let mut all = Vec::new();
    for slot in reader.moments().to_vec() {
        reader.show_moment(slot).unwrap();
        let jobs = reader.observation().jobs;
        all.push(jobs.map(|jobs| {
            let heard = (jobs.read_at.unwrap() - BEGUN) / 1000;
            (heard, jobs.jobs.keys().cloned().collect(), jobs.failure.is_some())
        }));
    }
    all
}

/// The lines of lists: whether each has the list itself.
fn lines(bytes: &[u8]) -> Vec<bool> {
    let reader = CaptureReader::open("heard", bytes).unwrap();
    let mut lines = Vec::new();
    for slot in 0..reader.index().slots.len() {
        for line in reader.frame_text(slot).unwrap().split_inclusive(|byte| *byte == b'\n') {
            if let ParsedLine::Known(line) = ParsedLine::parse(line, flags::JOBS).unwrap() {
                lines.push(serde_json::to_string(&line.record).unwrap().contains("\"list\""));
            }
        }
    }
    lines
}

#[test]
fn every_moment_has_the_jobs_that_were_heard_by_then() {
    let (bytes, _) = recorded();
    let seen = job_lists_in(&bytes);
    let first = |silent| Some((2, vec!["4711".to_owned(), "quux".to_owned()], silent));
    let second = |heard, silent| Some((heard, vec!["4711".to_owned(), "4712".to_owned()], silent));
    let wanted = [
        None,
        None,
        first(false),
        first(false),
        first(false),
        second(5, false),
        second(5, false),
        second(5, true),
        second(5, true),
        second(5, true),
        second(10, false),
        second(10, false),
    ];
    assert_eq!(seen, wanted);
    // A list is written when it is another one, and where everything stands whole.
    let lines = lines(&bytes);
    let lists = lines.iter().filter(|list| **list).count();
    assert!((2..=12).contains(&lists) && lines.len() > lists, "{lines:?}");
}

#[test]
fn the_timeline_tells_when_jobs_change_and_fall_silent() {
    let (bytes, _) = recorded();
    let timeline =
        RecordingPlayer::from_reader(CaptureReader::open("heard", bytes.as_slice()).unwrap()).timeline();
    let told: Vec<(usize, &TimelineEvent)> =
        timeline.happened.iter().map(|one| (one.place, &one.event)).collect();
    let news = |place: usize| {
        let mut news = told.iter().filter(|(at, _)| *at == place).filter_map(|(_, told)| match told {
            TimelineEvent::News(
                news @ (FabricEvent::JobsChanged { .. } | FabricEvent::JobsSilent { .. }),
            ) => Some(news.clone()),
            _ => None,
        });
        news.next()
    };
    assert_eq!(news(5), Some(FabricEvent::JobsChanged { began: 1, ended: 1, running: 2 }));
    assert!(matches!(news(7), Some(FabricEvent::JobsSilent { why }) if why.contains("quux7")));
    assert_eq!(news(10), Some(FabricEvent::JobsChanged { began: 0, ended: 0, running: 2 }));
    assert_eq!([0, 1, 2, 3, 8, 9, 11].map(news), [const { None }; 7]);
    // What is said of jobs explains that something is otherwise.
    assert!(!told.iter().any(|(place, told)| *place == 5 && **told == TimelineEvent::Changed), "{told:?}");
}

#[test]
fn what_is_cut_out_has_the_jobs_of_its_beginning() {
    let (bytes, _) = recorded();
    let whole = job_lists_in(&bytes);
    for from in 0..12 {
        let mut moments = Moments::new(CaptureReader::open("heard", bytes.as_slice()).unwrap());
        let stretch = CaptureRange::from_places(&moments, from..=11);
        let memory = Memory::default();
        rewrite(&mut moments, &stretch, RewriteOptions::default(), memory.clone()).unwrap();
        assert_eq!(job_lists_in(&memory.bytes.take()), whole[from..], "from {from}");
    }
}

/// Nobody is named, and every job has as many ports of the fabric as before.
#[test]
fn anonymous_jobs_are_on_the_adapters_of_their_hosts() {
    let (bytes, look) = recorded();
    let mut moments = Moments::new(CaptureReader::open("heard", bytes.as_slice()).unwrap());
    let aliases = Aliases::from_capture(&mut moments, &mut NoObserver).unwrap();
    let stretch = CaptureRange::all(&moments).unwrap();
    let memory = Memory::default();
    let mut edit = |record| aliases.anonymize(record, false);
    let changes = RewriteOptions { edit: Some(&mut edit), ..RewriteOptions::default() };
    rewrite(&mut moments, &stretch, changes, memory.clone()).unwrap();
    let made = memory.bytes.take();
    let mut reader = CaptureReader::open("made", made.as_slice()).unwrap();
    let text: Vec<u8> =
        (0..reader.index().slots.len()).flat_map(|slot| reader.frame_text(slot).unwrap()).collect();
    let text = String::from_utf8(text).unwrap();
    for word in ["4711", "4712", "quux", "gone7", "FD-4602"].into_iter().chain(names(&look.fabric)) {
        assert!(!text.contains(&format!("\"{word}\"")) && !text.contains("quux"), "{word}: {text}");
    }
    assert!(text.contains("elsewhere-1") && text.contains("\"job-1\""), "{text}");
    // Names of switches are other ones, and GUIDs: ports are counted.
    let sizes = |seen: &Observation| {
        let list = JobList::from_recording(&seen.jobs.as_ref().unwrap().jobs);
        let placed = HostIndex::new(&seen.fabric, &Names::new(&seen.fabric, &seen.names)).place_jobs(&list);
        let sizes: Vec<usize> = placed.jobs.iter().map(|(_, ports)| ports.len()).collect();
        (sizes, placed.unknown.len())
    };
    let mut original = CaptureReader::open("heard", bytes.as_slice()).unwrap();
    for place in [3, 6, 8, 11] {
        for reader in [&mut original, &mut reader] {
            let slot = reader.moments()[place];
            reader.show_moment(slot).unwrap();
        }
        assert_eq!(sizes(&reader.observation()), sizes(&original.observation()), "{place}");
        assert!(!sizes(&reader.observation()).0.is_empty());
    }
}

/// A list that no reader would take is never written.
#[test]
fn a_list_that_is_too_large_is_a_silence() {
    let list = |jobs: usize| {
        let long: BTreeSet<String> = (0..jobs).map(|job| format!("{job:0>200}")).collect();
        JobList::from_recording(&JobHosts::from([("7".to_owned(), long)]))
    };
    assert!(recordable_jobs(Ok(&list(1000))).is_ok());
    let refused = recordable_jobs(Ok(&list(90_000))).unwrap_err();
    assert!(refused.contains("FD-2706"), "{refused}");
    let line = format!(
        "{{\"seq\":0,\"time\":0,\"record\":{{\"jobs\":{{\"heard\":0,\"list\":{{\"a\":[\"{}\"]}}}}}}}}",
        "x".repeat(17 << 20)
    );
    assert!(ParsedLine::parse(line.as_bytes(), flags::JOBS).is_err());
}
