//! Many seeds in parts: how far they are is printed, and noted in a file (`FABDECK_WORLD_NOTES`), so that a run which is cut
//! off goes on where it ended. Notes count for the program that made them alone.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Tally;

/// Seeds of one part.
const PART: u64 = 250;
const PRINTED_EVERY: Duration = Duration::from_secs(15);
/// A part of the long tests has an hour. What is left then is left to the next run.
const ENDS_AFTER: Duration = Duration::from_secs(57 * 60);

/// A part that is done.
#[derive(Serialize, Deserialize)]
struct Note {
    program: String,
    first: u64,
    end: u64,
    tally: Tally,
}

pub struct Progress {
    seeds: Range<u64>,
    since: Instant,
    notes: Option<PathBuf>,
    program: String,
    state: Mutex<State>,
}

struct State {
    /// Parts that were not begun, the first last.
    left: Vec<Range<u64>>,
    tally: Tally,
    /// Seeds of this run.
    ran: u64,
    printed: Instant,
}

impl Progress {
    pub fn begin(seeds: Range<u64>) -> Self {
        let program = std::env::current_exe().and_then(fs::metadata);
        let program = program.and_then(|held| Ok(format!("{:?} {}", held.modified()?, held.len()))).unwrap();
        let notes = std::env::var_os("FABDECK_WORLD_NOTES").map(PathBuf::from);
        let text = notes.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let known = text.lines().filter_map(|line| serde_json::from_str::<Note>(line).ok());
        let (mut tally, mut done) = (Tally::default(), BTreeSet::new());
        for note in known.filter(|note| note.program == program) {
            if done.insert((note.first, note.end)) {
                tally.add(note.tally);
            }
        }
        let parts = seeds.clone().step_by(PART as usize).map(|first| first..(first + PART).min(seeds.end));
        let mut left: Vec<Range<u64>> =
            parts.filter(|part| !done.contains(&(part.start, part.end))).collect();
        left.reverse();
        if !done.is_empty() {
            println!("said: {} seeds are noted as done, and are not run again", tally.runs);
        }
        let now = Instant::now();
        let state = Mutex::new(State { left, tally, ran: 0, printed: now });
        Self { seeds, since: now, notes, program, state }
    }

    pub fn next_part(&self) -> Option<Range<u64>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.since.elapsed() > ENDS_AFTER { None } else { state.left.pop() }
    }

    pub fn done(&self, part: Range<u64>, tally: Tally) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let note = Note { program: self.program.clone(), first: part.start, end: part.end, tally };
        if let Some(file) = &self.notes {
            let line = format!("{}\n", serde_json::to_string(&note).unwrap());
            let notes = OpenOptions::new().create(true).append(true).open(file);
            notes.and_then(|mut notes| notes.write_all(line.as_bytes())).unwrap();
        }
        state.tally.add(note.tally);
        state.ran += part.end - part.start;
        if state.printed.elapsed() >= PRINTED_EVERY {
            state.printed = Instant::now();
            let (tally, seconds) = (&state.tally, self.since.elapsed().as_secs_f64());
            println!(
                "said: {} of {} seeds, {:.0} a second, {} failed",
                tally.runs + tally.failed.len() as u64,
                self.seeds.end - self.seeds.start,
                state.ran as f64 / seconds,
                tally.failed.len()
            );
        }
    }

    /// What came of all, and how many seeds are left.
    pub fn end(self) -> (Tally, u64) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.tally, state.left.iter().map(|part| part.end - part.start).sum())
    }
}
