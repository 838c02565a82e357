//! Rewrites of captures report their progress, and leave all files as they were when a signal ends them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use fabdeck::catalogue::exit::Exit;
use fabdeck::script::run::{CliResult, run};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::access::SystemAccess;
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_files::capture::{
    Aliases, CaptureRange, Moments, RewriteError, RewriteOptions, rewrite, rewrite_observed,
};
use fabdeck_files::capture_format::CaptureReader;
use fabdeck_mad::access::{ReadObserver, ReadProgress, SourceError};

use super::sample_fabric::{Memory, reference};

/// Cancels after a number of reports.
struct Canceller {
    reports: Vec<ReadProgress>,
    after: usize,
}

impl Canceller {
    fn after(after: usize) -> Self {
        Self { reports: Vec::new(), after }
    }

    /// The last report of a phase.
    fn last(&self, phase: &str) -> ReadProgress {
        *self.reports.iter().rfind(|report| report.phase == phase).unwrap()
    }
}

impl ReadObserver for Canceller {
    fn report_progress(&mut self, progress: ReadProgress) {
        self.reports.push(progress);
    }

    fn is_cancelled(&self) -> bool {
        self.reports.len() > self.after
    }
}

fn rewritten(bytes: &[u8], observer: &mut Canceller) -> Result<Vec<u8>, RewriteError> {
    let mut moments = Moments::new(CaptureReader::open("f", bytes).unwrap());
    let (all, memory) = (CaptureRange::all(&moments).unwrap(), Memory::default());
    rewrite_observed(&mut moments, &all, RewriteOptions::default(), memory.clone(), observer)?;
    Ok(memory.bytes.take())
}

#[test]
fn a_rewrite_counts_its_sweeps_and_can_be_cancelled_at_each_report() {
    let bytes = reference().bytes;
    let mut whole = Canceller::after(usize::MAX);
    let copy = rewritten(&bytes, &mut whole).unwrap();
    let mut moments = Moments::new(CaptureReader::open("f", &bytes[..]).unwrap());
    let sweeps = moments.reader.moments().len() as u64;
    let (all, memory) = (CaptureRange::all(&moments).unwrap(), Memory::default());
    rewrite(&mut moments, &all, RewriteOptions::default(), memory.clone()).unwrap();
    assert_eq!(copy, memory.bytes.take(), "the observer changes no byte");
    let checked = whole.last("checking sweeps");
    assert_eq!((checked.done, checked.known), (sweeps - 1, sweeps));
    assert_eq!(whole.last("writing sweeps").known, sweeps);
    assert!(whole.reports.iter().all(|report| report.done <= report.known));
    for after in 0..whole.reports.len() {
        let mut observer = Canceller::after(after);
        let cancelled = rewritten(&bytes, &mut observer);
        assert!(matches!(cancelled, Err(RewriteError::Read(SourceError::Cancelled))), "{after}");
        assert_eq!(observer.reports.len(), after + 1, "nothing follows");
    }
}

#[test]
fn the_names_for_an_anonymous_capture_are_read_frame_by_frame() {
    let bytes = reference().bytes;
    let mut moments = Moments::new(CaptureReader::open("f", &bytes[..]).unwrap());
    let frames = moments.reader.index().slots.len() as u64;
    let mut observer = Canceller::after(usize::MAX);
    Aliases::from_capture(&mut moments, &mut observer).unwrap();
    let last = observer.last("reading names");
    assert_eq!((last.done, last.known), (frames - 1, frames));
    let cancelled = Aliases::from_capture(&mut moments, &mut Canceller::after(1));
    assert!(matches!(cancelled, Err(SourceError::Cancelled)));
}

/// All files of a folder, with their bytes.
fn files(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect()
}

/// Runs a command line in this process, to which a signal was sent.
fn run_interrupted(args: &[&str]) -> (Exit, String, String) {
    let machine = LocalSystemAccess::default();
    machine.stop().request();
    let args = std::iter::once("fabdeck").chain(args.iter().copied()).map(OsString::from);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = run(args, &machine, &TerminalInfo::default(), &mut out, &mut err);
    let CliResult::Exit(exit) = ended else { panic!("a console") };
    assert!(machine.stop().has_listener(), "the process waits until the temporary file is removed");
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn an_interrupted_rewrite_leaves_all_files_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (capture, old, new) = (path("a.fdcap"), path("old"), path("new"));
    std::fs::write(&capture, reference().bytes).unwrap();
    std::fs::write(&old, "kept").unwrap();
    let before = files(folder.path());
    for args in [
        &["capture", "cut", &capture, "-o", &new][..],
        &["capture", "cut", &capture, "-o", &old, "--force"],
        &["capture", "anonymize", &capture, "-o", &new],
        &["capture", "anonymize", &capture, "-o", &old, "--force", "--json"],
        &["capture", "note", &capture, "a cable was pulled"],
    ] {
        let ended = run_interrupted(args);
        assert_eq!(ended, (Exit::Interrupted, String::new(), String::new()), "{args:?}");
        assert_eq!(files(folder.path()), before, "{args:?}");
    }
}
