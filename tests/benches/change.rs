//! What a journal adds to the writes of a plan: `cargo bench --bench change -- PLAN SOURCE [ROUNDS]`. In turns all of it is
//! compared, written and read back under a journal, as a guard does it, and the same without one; after each the fabric
//! is brought back, which is not counted. `tests/bench apply` makes the plan and says what the source is.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fabdeck_change::{
    BeginRecord, ChangeStore, DirectDriver, Disk, Driver, FileDisk, Journal, JournalRecord, LocalSystem,
    Plan, PlanWrite, WriteStep, verify_writes,
};
use fabdeck_live::{LiveActuator, LiveOptions, WriteRight, open_actuator};
use fabdeck_mad::access::{Actuator, DeviceAttribute, FabricIdentity, NoObserver, ReadOptions, Surveyor};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// As many parts are asked for at once as the guard asks for.
const STRIDE: usize = 64;

/// A plan and its writer.
struct PlanBench {
    plan: Plan,
    text: String,
    steps: Vec<WriteStep>,
    /// The way back, the last write first.
    back: Vec<WriteStep>,
    actuator: LiveActuator,
}

impl PlanBench {
    fn open(file: &str, source: &str) -> Outcome<Self> {
        let text = fs::read_to_string(file)?;
        let plan = Plan::read(&text)?;
        let steps = steps(&plan.writes)?;
        let turned =
            |step: &WriteStep| WriteStep { slot: step.slot, old: step.new.clone(), new: step.old.clone() };
        let back = steps.iter().rev().map(turned).collect();
        let mut switches: Vec<_> = steps.iter().map(|step| step.slot.at.guid()).collect();
        switches.sort_unstable();
        switches.dedup();
        let named = FabricIdentity { name: "bench".to_owned(), switches, ..FabricIdentity::default() };
        let right = WriteRight { asked: true, opted_in: vec![named], ..WriteRight::default() };
        let mut actuator = open_actuator(source, &LiveOptions::default(), &right)?;
        actuator.read_fabric(ReadOptions { tables: true, ..ReadOptions::default() }, &mut NoObserver)?;
        Ok(Self { plan, text, steps, back, actuator })
    }

    fn begin_record(&self) -> BeginRecord {
        BeginRecord { id: "bench".to_owned(), writes: self.plan.writes.clone(), ..BeginRecord::default() }
    }

    /// From a plan that was read to the record that says that all of it is read back. The time of all of it, until the
    /// journal was durable, and until its guard had read it again, being another process.
    fn run_with_journal(&mut self, folder: &Path) -> Outcome<[Duration; 3]> {
        let home = ChangeStore::open(folder)?;
        let begun = self.begin_record();
        let since = Instant::now();
        let (kept, keeping) = home.begin(begun, &self.text)?;
        let durable = since.elapsed();
        let (mut journal, read) = kept.journal()?;
        let again = since.elapsed() - durable;
        let plan = Plan::read(&fs::read_to_string(kept.plan())?)?;
        let steps = steps(&read.state.begun.writes)?;
        DirectDriver(&mut self.actuator).write(&steps, &mut journal, &mut |_| Ok(()))?;
        verify_writes(&mut DirectDriver(&mut self.actuator), &steps)?;
        journal.append_durably(&JournalRecord::Applied {
            time: String::new(),
            deadline: String::new(),
            ends: None,
        })?;
        let all = since.elapsed();
        assert!(plan.hash == self.plan.hash, "it is the plan that was begun");
        drop(keeping);
        Ok([all, durable, again])
    }

    /// The writer reads the plan here too, which is no part of the journal's cost.
    fn run_without_journal(&mut self, file: &str) -> Outcome<Duration> {
        let since = Instant::now();
        let steps = steps(&Plan::read(&fs::read_to_string(file)?)?.writes)?;
        write(&mut self.actuator, &steps)?;
        verify_writes(&mut DirectDriver(&mut self.actuator), &steps)?;
        Ok(since.elapsed())
    }

    fn roll_back(&mut self) -> Outcome<()> {
        write(&mut self.actuator, &self.back)?;
        verify_writes(&mut DirectDriver(&mut self.actuator), &self.back)?;
        Ok(())
    }
}

fn steps(writes: &[PlanWrite]) -> Result<Vec<WriteStep>, &'static str> {
    writes.iter().map(PlanWrite::to_step).collect()
}

/// Compares and writes, in the order of the plan.
fn write(actuator: &mut dyn Actuator, steps: &[WriteStep]) -> Outcome<()> {
    for steps in steps.chunks(STRIDE) {
        let slots: Vec<DeviceAttribute> = steps.iter().map(|step| step.slot).collect();
        for (step, held) in steps.iter().zip(actuator.read(&slots)) {
            assert!(held? == step.old, "{} is not as it was planned", step.slot);
            actuator.write(&step.slot, &step.new)?;
        }
    }
    Ok(())
}

/// A disk that counts what it costs: appends, syncs.
struct TimedDisk(FileDisk, Arc<Mutex<[Duration; 2]>>);

impl TimedDisk {
    fn take<T>(&mut self, at: usize, work: impl FnOnce(&mut FileDisk) -> T) -> T {
        let since = Instant::now();
        let done = work(&mut self.0);
        if let Ok(mut spent) = self.1.lock() {
            spent[at] += since.elapsed();
        }
        done
    }
}

impl Disk for TimedDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.take(0, |disk| disk.append(bytes))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.take(1, FileDisk::sync)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.take(1, |disk| disk.cut(length))
    }
}

/// What the parts of a journal cost, one after the other.
fn parts(bench: &PlanBench, folder: &Path) -> Outcome<String> {
    let path = folder.join("journal");
    let spent = Arc::new(Mutex::new([Duration::ZERO; 2]));
    let mut journal = Journal::on_empty_disk(
        "journal",
        Box::new(TimedDisk(FileDisk::create(&LocalSystem, &path)?, Arc::clone(&spent))),
    );
    let told = || spent.lock().map(|spent| *spent).unwrap_or_default();
    let record = JournalRecord::Begun(Box::new(bench.begin_record()));
    let since = Instant::now();
    journal.append_durably(&record)?;
    let (all, [append, sync]) = (since.elapsed(), told());
    let since = Instant::now();
    let marks = bench.steps.chunks(STRIDE).count();
    (0..marks)
        .try_for_each(|count| journal.append_record(&JournalRecord::Written { count: count as u64 }))?;
    let marked = since.elapsed();
    let since = Instant::now();
    Journal::load(&LocalSystem, &path)?;
    Ok(format!(
        "encoded {:.0} ms, written {:.0} ms, synced {:.0} ms, {marks} marks {:.1} ms, read again {:.0} ms; {:.1} MB",
        ms(all - append - sync),
        ms(append),
        ms(sync),
        ms(marked),
        ms(since.elapsed()),
        fs::metadata(&path)?.len() as f64 / 1e6
    ))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [file, source, rounds @ ..] = words.as_slice() else {
        return Err("give PLAN SOURCE [ROUNDS]".into());
    };
    let rounds = rounds.first().map_or(Ok(5), |rounds| rounds.parse::<usize>())?;
    let mut bench = PlanBench::open(file, source)?;
    // Beside the target, which lies on a disk: a sync to memory costs nothing.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (mut with, mut durable, mut again, mut without) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        for turn in [round % 2, 1 - round % 2] {
            if turn == 0 {
                let [all, begun, read] =
                    bench.run_with_journal(&folder.path().join(format!("round{round}")))?;
                with.push(all);
                durable.push(begun);
                again.push(read);
            } else {
                without.push(bench.run_without_journal(file)?);
            }
            bench.roll_back()?;
        }
        let (a, b) = (with[round], without[round]);
        writeln!(io::stdout(), "  round {}: {:.0} and {:.0} ms", round + 1, ms(a), ms(b))?;
    }
    let [with, durable, again, without] = [with, durable, again, without].map(|mut times| median(&mut times));
    let mut out = io::stdout();
    writeln!(
        out,
        "{source}, {} writes compared, written, read back, {rounds} rounds in turns, medians: {:.0} ms under a journal, {:.0} \
         ms without: {:.3} times",
        bench.steps.len(),
        ms(with),
        ms(without),
        with.as_secs_f64() / without.as_secs_f64()
    )?;
    writeln!(
        out,
        "  journal and plan kept durably {:.0} ms, the journal read again by the guard {:.0} ms",
        ms(durable),
        ms(again)
    )?;
    writeln!(out, "  the journal alone: {}", parts(&bench, folder.path())?)?;
    Ok(())
}
