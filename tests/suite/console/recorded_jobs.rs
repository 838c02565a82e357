//! Jobs that a capture holds, on the screens: those of the moment shown; and What-if, which asks who knows them by itself.

use std::fs::File;
use std::path::Path;

use super::fixture::open_session;
use super::pty::Session;
use super::replays::played;
use super::test_session::{JobLister, TestSession};
use super::watches::shown;
use crate::captures::recorded_jobs::{assert_gone, child, hanging};
use crate::captures::sample_fabric::BEGUN;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::observe::JobListState;
use fabdeck_files::capture::{Recorder, create};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_files::job_lists;
use fabdeck_files::text::Input;
use fabdeck_mad::access::{NoObserver, ReadOptions};

const LIST: &str = "4711 node[01-04,07-12]\n4712 node[05-06,13-20]\n";
const LATER: &str = "4712 node[05-06,13-20]\n4713 node[01-04,21-22]\n";

fn list(text: &str) -> job_lists::JobList {
    job_lists::read(Input::new("list", text.as_bytes())).unwrap()
}

/// Eight sweeps five seconds apart: no list in the first two, another from the fifth on, silence from the seventh on.
fn record(file: &Path) {
    let mut source = LocalSystemAccess::default().open("sim:demo", &SourceOptions::default()).unwrap();
    let wanted = ReadOptions {
        tables: true,
        counters: true,
        multicast: true,
        lanes: false,
        adaptive: false,
        partitions: false,
        groups: false,
    };
    let mut look = source.observe(wanted, &mut NoObserver).unwrap();
    let header = CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: "0.1.0".into(),
        source: "sim:demo".to_owned(),
        interval_ms: 5000,
        utc_offset_s: 0,
    };
    let mut recorder: Recorder<File> = Recorder::new(create(file).unwrap(), header);
    let (mut said, mut next) = (JobListState::default(), std::time::Duration::ZERO);
    for at in 0..8 {
        let time = BEGUN + 5000 * at;
        match at {
            2 => said.update(time, Ok(list(LIST).hosts_of_jobs())),
            4 => said.update(time, Ok(list(LATER).hosts_of_jobs())),
            6 => said.update(time, Err("FD-4603: nobody answers".to_owned())),
            _ => {}
        }
        let sweep = source.sweep(&mut look, next, &mut NoObserver).unwrap();
        next = sweep.began + std::time::Duration::from_secs(5);
        look.jobs = said.last().cloned();
        recorder.record_sweep(time, &look, &sweep).unwrap();
    }
    recorder.finish(BEGUN + 40_000).unwrap();
}

fn go_to_time(driver: &mut TestSession, at: &str) {
    driver.press(":at space").send_input(SessionInput::Paste(at.to_owned())).press("enter");
}

#[test]
fn a_replay_shows_the_jobs_of_its_moment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.fdcap");
    record(&file);
    let mut driver = played(&file, None);
    driver.press("8");
    let seen = shown(&driver);
    assert!(seen.contains("jobs recorded 15 s before: 2 on"), "{seen}");
    assert!(seen.contains("no list of jobs since then: FD-4603") && seen.contains("4713"), "{seen}");
    go_to_time(&mut driver, "-25s");
    let seen = shown(&driver);
    assert!(seen.contains("4711") && !seen.contains("4713") && !seen.contains("FD-4603"), "{seen}");
    go_to_time(&mut driver, "-35s");
    let seen = shown(&driver);
    assert!(!seen.contains("4711") && seen.contains("This capture holds no jobs at this moment"), "{seen}");
    go_to_time(&mut driver, "-10s");
    driver.press("c");
    assert!(shown(&driver).contains("4713"));
    let line = driver.copied.last().unwrap();
    assert!(line.contains(" jobs ") && line.contains("--at ") && !line.contains("--file"), "{line}");
    // The timeline tells of it.
    driver.press("0");
    let seen = shown(&driver);
    assert!(seen.contains("1 began and 1 ended, 2 run") && seen.contains("the list of running"), "{seen}");
}

/// Engines are asked with the jobs of the moment although nobody looked at the screen Jobs.
#[test]
fn what_if_asks_with_the_jobs_of_the_moment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.fdcap");
    record(&file);
    let mut driver = played(&file, None);
    go_to_time(&mut driver, "-25s");
    driver.press("6 p enter");
    let seen = shown(&driver);
    assert!(
        seen.contains("run with") && seen.contains("jobs recorded") && seen.contains("jobs then"),
        "{seen}"
    );
}

/// Of whoever is named What-if asks by itself; where nobody is, it says so.
#[test]
fn what_if_asks_the_named_job_source() {
    let mut driver = open_session("sim:demo");
    driver.press("6 p enter");
    let seen = shown(&driver);
    assert!(seen.contains("no jobs: those of this simulated"), "{seen}");
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 140, height: 40 }));
    driver.state.known.jobs.settings.from =
        Some(fabdeck::operations::jobs::job_request::JobListSource::Slurm(None));
    driver.lister = JobLister(Box::new(|_| Ok(list(LIST))));
    driver.press("6 p enter");
    let seen = shown(&driver);
    assert!(seen.contains("run with      jobs of Slurm, just now: 2 on"), "{seen}");
    driver.lister = JobLister(Box::new(|_| Ok(list(LATER))));
    driver.advance_ms(31_000);
    let seen = shown(&driver);
    assert!(seen.contains("other jobs run now") && seen.contains("runs the engines with them"), "{seen}");
}

/// A squeue that hangs ends with the session, with all that it started.
#[test]
fn a_squeue_that_hangs_ends_with_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let squeue = hanging(folder.path());
    std::fs::write(&config, format!("[jobs]\nslurm = true\nsqueue = \"{}\"\n", squeue.display())).unwrap();
    for (screen, end) in [("8", "q"), ("6", "TERM")] {
        let args = ["--source", "sim:demo", "--config", config.to_str().unwrap()];
        let mut session = Session::open(&args, 80, 24);
        session.open_map();
        session.press(screen);
        let stat = child(folder.path());
        assert!(stat.exists(), "it hangs");
        match end {
            "q" => session.press("\x03"),
            signal => session.signal(signal),
        }
        session.ended();
        assert_gone(&stat);
        std::fs::remove_file(folder.path().join("child")).unwrap();
    }
}
