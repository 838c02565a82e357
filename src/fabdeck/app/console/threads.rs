//! Background jobs of the console, each in a thread of its own.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::job_list::list_jobs;
use super::keeper::{Kept, Order, Wish, Work, keep, play};
use super::{fault, plan_file};
use crate::script::{Clerk, Machine, Opening, Outside, welcome};
use crate::session::interactive::{
    Changer, Happening, Job, Looking, Outcome, Past, PlanFor, Recorded, Scene, Scenes, Seek, TaskId, Unrolled,
};
use crate::session::{Look, Made, assume, assume_lids};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, NameMap};
use fabdeck_files::capture::{At, Entry, Tape, is_capture};
use fabdeck_files::capture_format::Header;
use fabdeck_mad::access::{Progress, Source, Wanted, Watch};
use fabdeck_routing::Pulse;

/// Message from a thread to the event loop.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "words are few, and each is read once")]
pub enum Word {
    /// Result or progress of a task, or a message.
    Happened(Happening),
    /// The terminal writer wrote its output, or failed.
    Sent(io::Result<()>),
    /// The terminal is closed.
    HungUp,
    /// A thread panicked; the hook has reported it.
    Panicked,
}

/// Shortest interval between two progress reports of a job.
const BETWEEN: Duration = Duration::from_millis(100);

pub struct Threads {
    machine: Arc<Machine>,
    opening: Arc<Opening>,
    words: UnboundedSender<Word>,
    cancelled: HashMap<TaskId, Arc<AtomicBool>>,
    /// Threads that own a source: the one of the current snapshot, and the one that reads a newer snapshot.
    keeper: Option<Sender<Order>>,
    next: Option<(TaskId, Sender<Order>)>,
    /// Recording of the watch, which goes on over several snapshots.
    kept: Kept,
    clerk: Clerk,
    /// Each thread that owns a source holds the other end.
    ends: (SyncSender<()>, Receiver<()>),
    /// Threads that read the running jobs and may have started a `squeue`.
    asking: Vec<(Arc<AtomicBool>, JoinHandle<()>)>,
    /// Plans that are being written to files.
    plans: BTreeMap<TaskId, PathBuf>,
}

impl Threads {
    pub fn new(machine: Arc<Machine>, opening: Arc<Opening>, words: UnboundedSender<Word>) -> Self {
        let (cancelled, plans) = (HashMap::new(), BTreeMap::new());
        let (kept, ends) = (Kept::default(), sync_channel(0));
        let to = words.clone();
        let bug = Arc::new(move || {
            let _ = to.send(Word::Panicked);
        });
        let clerk = (opening.source.as_str(), &opening.given, opening.no_times);
        let clerk = Clerk::new(machine.clone(), clerk, bug);
        let asking = Vec::new();
        Self {
            machine,
            opening,
            words,
            cancelled,
            keeper: None,
            next: None,
            kept,
            clerk,
            ends,
            asking,
            plans,
        }
    }

    pub fn begin(&mut self, task: TaskId, job: Job) {
        let stop = Arc::new(AtomicBool::new(false));
        self.cancelled.insert(task, stop.clone());
        if let Job::Write { to, .. } | Job::Save { to } = &job {
            self.plans.insert(task, to.clone());
        }
        if let Some(wish) = wish(&job) {
            return self.order(task, wish, stop);
        }
        let (machine, opening, words) = (self.machine.clone(), self.opening.clone(), self.words.clone());
        let asks = matches!(job, Job::ListJobs(_)).then(|| stop.clone());
        let pace = Pace { task, words: words.clone(), stop, last: Mutex::new(Instant::now()) };
        if matches!(job, Job::Look) {
            let (orders, ordered) = channel();
            self.next = Some((task, orders));
            let (end, kept) = (self.ends.0.clone(), self.kept.clone());
            std::thread::spawn(move || {
                let _end = end;
                let all = || look_and_keep(&machine, &opening, &pace, (&ordered, &kept));
                if catch_unwind(AssertUnwindSafe(all)).is_err() {
                    let _ = words.send(Word::Panicked);
                }
            });
            return;
        }
        let (clerk, kept) = (self.clerk.clone(), self.kept.clone());
        let thread = std::thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work((&machine, &opening, clerk), &job, &pace)));
            if let Ok(Some(Outcome::Listed(came))) = &outcome {
                kept.hear(came.as_deref().map_err(String::as_str));
            }
            // The loop may have ended in the meantime.
            let _ = words.send(match outcome {
                Ok(Some(outcome)) => Word::Happened(Happening::Finished { task, outcome }),
                Ok(None) => return,
                Err(_) => Word::Panicked,
            });
        });
        if let Some(stop) = asks {
            self.asking.retain(|(_, thread)| !thread.is_finished());
            self.asking.push((stop, thread));
        }
    }

    /// Makes the snapshot of this task the current one: from now on the counters of its source are read.
    pub fn looked(&mut self, task: TaskId, look: &Look) {
        self.clerk.looked(look);
        if let Some((_, orders)) = self.next.take_if(|(next, _)| *next == task) {
            self.keeper = Some(orders);
        }
    }

    /// Adds an entry to the recording; does nothing if no thread owns a source.
    pub fn enter(&self, entry: Entry) {
        if let Some(keeper) = &self.keeper {
            let _ = keeper.send(Order::Enter(entry, Instant::now()));
        }
    }

    fn order(&self, task: TaskId, wish: Wish, stop: Arc<AtomicBool>) {
        let order = Order::Work(Work { task, wish: wish.clone(), stop });
        let kept = self.keeper.as_ref().is_some_and(|keeper| keeper.send(order).is_ok());
        if !kept {
            let error = "FD-9005: the source is not open any more; r looks again".to_owned();
            let outcome = match wish {
                Wish::Sweep(_) => Outcome::Swept(Err(error)),
                // Sources from files have no recording.
                Wish::Unroll => Outcome::Unrolled(Ok(None)),
                Wish::Seek(_) => Outcome::Sought(Err(error)),
                Wish::Save(to) => Outcome::Saved { to, result: Err(error) },
            };
            let _ = self.words.send(Word::Happened(Happening::Finished { task, outcome }));
        }
    }

    /// Reports the adapters of this machine, if the command line names no source. A library that is slow to list
    /// adapters delays nothing else.
    pub fn look_for_adapters(&self) {
        let (machine, words) = (self.machine.clone(), self.words.clone());
        std::thread::spawn(move || {
            let adapters = catch_unwind(AssertUnwindSafe(|| machine.adapters()));
            let _ = words.send(match adapters {
                Ok(adapters) => Word::Happened(Happening::Told(welcome(&adapters.unwrap_or_default()))),
                Err(_) => Word::Panicked,
            });
        });
    }

    /// Ends the session: a source that subscribed to traps unsubscribes, within a short time.
    pub fn leave(&mut self) {
        const FAREWELL: Duration = Duration::from_millis(500);
        if !self.opening.given.reach.traps {
            return;
        }
        self.cancelled.values().for_each(|stop| stop.store(true, Ordering::SeqCst));
        (self.keeper, self.next) = (None, None);
        let (_, ended) = std::mem::replace(&mut self.ends, sync_channel(0));
        // Nothing is sent over the channel; the wait ends when the last thread drops its end.
        let _ = ended.recv_timeout(FAREWELL);
    }

    /// Ends the running `squeue` processes, which would otherwise outlive the session.
    fn end_asking(&mut self) {
        const FAREWELL: Duration = Duration::from_millis(500);
        self.asking.iter().for_each(|(stop, _)| stop.store(true, Ordering::SeqCst));
        let until = Instant::now() + FAREWELL;
        while self.asking.iter().any(|(_, thread)| !thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn cancel(&mut self, task: TaskId) {
        if let Some(stop) = self.cancelled.get(&task) {
            stop.store(true, Ordering::SeqCst);
        }
    }

    pub fn ended(&mut self, task: TaskId) {
        self.cancelled.remove(&task);
        self.plans.remove(&task);
    }

    /// The plans that are not written yet, with their files.
    pub fn plans(&self) -> impl Iterator<Item = (TaskId, &Path)> {
        self.plans.iter().map(|(task, to)| (*task, to.as_path()))
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.end_asking();
    }
}

/// The request that only the thread with the source can answer.
fn wish(job: &Job) -> Option<Wish> {
    match job {
        Job::Sweep { not_before } => Some(Wish::Sweep(*not_before)),
        Job::Unroll => Some(Wish::Unroll),
        Job::Seek(seek) => Some(Wish::Seek(*seek)),
        Job::Save { to } => Some(Wish::Save(to.clone())),
        _ => None,
    }
}

/// Reports the progress of a task, no faster than a screen can follow.
struct Pace {
    task: TaskId,
    words: UnboundedSender<Word>,
    stop: Arc<AtomicBool>,
    last: Mutex<Instant>,
}

impl Pace {
    fn tell(&self, done: u64, of: u64) {
        // Another thread is reporting at this moment, which is enough.
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.elapsed() >= BETWEEN {
            *last = Instant::now();
            let _ = self.words.send(Word::Happened(Happening::Progress { task: self.task, done, of }));
        }
    }
}

impl Pulse for Pace {
    fn step(&self, done: usize, of: usize) {
        self.tell(done as u64, of as u64);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reports the progress of a reading that is one part of a task.
struct Passing<'p>(&'p Pace);

impl Watch for Passing<'_> {
    fn progress(&mut self, progress: Progress) {
        self.0.tell(progress.done, progress.known);
    }

    fn cancelled(&self) -> bool {
        Pulse::cancelled(self.0)
    }
}

/// Reports the progress of a snapshot, and shows the fabric as soon as it is known.
struct Waiting<'p> {
    pace: &'p Pace,
    source: String,
    names: &'p NameMap,
}

impl Watch for Waiting<'_> {
    fn progress(&mut self, progress: Progress) {
        self.pace.tell(progress.done, progress.known);
    }

    fn sighted(&mut self, fabric: &Fabric) {
        let observation = Observation { fabric: fabric.clone(), ..Observation::default() };
        let look = Arc::new(Look::new(&self.source, observation, self.names));
        let _ = self.pace.words.send(Word::Happened(Happening::Sighted { task: self.pace.task, look }));
    }

    fn cancelled(&self) -> bool {
        Pulse::cancelled(self.pace)
    }
}

/// Reads a snapshot, and afterwards counters for as long as requests come.
fn look_and_keep(
    machine: &Machine,
    opening: &Opening,
    pace: &Pace,
    (orders, kept): (&Receiver<Order>, &Kept),
) {
    fault::panics("worker");
    let done = |task: TaskId, outcome: Outcome| {
        // The loop may have ended in the meantime.
        let _ = pace.words.send(Word::Happened(Happening::Finished { task, outcome }));
    };
    match look(machine, opening, pace) {
        Err(error) => done(pace.task, Outcome::Looked(Err(error))),
        Ok((look, mut source)) => {
            let look = Arc::new(look);
            done(pace.task, Outcome::Looked(Ok(look.clone())));
            let own = Look::clone(&look);
            drop(look);
            if own.observation.reading.is_some() && opening.watch.interval_ms > 0 {
                let past = Past::new(header(opening), opening.watch.past_bytes, looking(machine, opening));
                let begun = jiff::Timestamp::now().as_millisecond();
                keep(source.as_mut(), own, orders, (kept, past, begun), done);
            } else if is_capture(Path::new(&opening.source)) {
                drop((source, own));
                let at = opening.given.reach.at.as_deref().and_then(|at| At::parse(at).ok());
                // The capture was read for the snapshot; later requests report if it changed since.
                match Tape::open(Path::new(&opening.source), at) {
                    Ok((tape, place)) => {
                        play(&mut Scenes::new(tape, place, looking(machine, opening)), orders, done);
                    }
                    Err(error) => play(&mut Unreadable(error.to_string()), orders, done),
                }
            }
        }
    }
}

/// Turns moments of a recording into snapshots, with the names and the assumed engine of the session.
fn looking(machine: &Machine, opening: &Opening) -> Looking {
    let named = opening.given.node_name_map.as_ref().and_then(|file| machine.names(file).ok());
    let mut own = named.map(|(own, _)| own).unwrap_or_default();
    own.hosts.clone_from(&opening.given.host_rules);
    let (source, assumed) = (opening.source.clone(), opening.assume);
    Arc::new(move |observation| {
        let mut look = Look::new(&source, observation, &own);
        if let Some(engine) = assumed {
            assume(&mut look, engine).map_err(|refusal| refusal.to_string())?;
        }
        Ok(look)
    })
}

/// Header of the recording of a watch.
fn header(opening: &Opening) -> Header {
    Header {
        format: "fabdeck.capture/1".into(),
        fabdeck: env!("CARGO_PKG_VERSION").into(),
        source: opening.source.clone(),
        interval_ms: opening.watch.interval_ms,
        utc_offset_s: jiff::Zoned::now().offset().seconds(),
    }
}

/// A capture that was read once and could not be opened again.
struct Unreadable(String);

impl Recorded for Unreadable {
    fn unroll(&mut self) -> Result<Option<Unrolled>, String> {
        Err(self.0.clone())
    }

    fn seek(&mut self, _: Seek, _: &dyn Pulse) -> Result<Scene, String> {
        Err(self.0.clone())
    }
}

fn work(
    (machine, opening, mut clerk): (&Machine, &Opening, Clerk),
    job: &Job,
    pace: &Pace,
) -> Option<Outcome> {
    fault::panics("worker");
    let begun = Instant::now();
    Some(match (job.run(pace), job) {
        (Some(Outcome::Proposed { engine, outcome, .. }), _) => {
            let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            Outcome::Proposed { engine, outcome, took_ms }
        }
        (Some(outcome), _) => outcome,
        (None, Job::Write { plan, to }) => {
            Outcome::Written { to: to.clone(), result: write(opening, plan, to, pace) }
        }
        (None, Job::Offer(planned)) => {
            Outcome::Offered(clerk.offer_watched(planned, &mut Passing(pace)).map(Box::new))
        }
        (None, Job::Apply { offer, acceptance }) => Outcome::Begun(clerk.begin(offer, acceptance)),
        (None, Job::Lanes(asked)) => Outcome::Lanes(clerk.lanes(asked).map(Box::new)),
        (None, Job::ListJobs(from)) => {
            Outcome::Listed(list_jobs(machine, from, || Pulse::cancelled(pace))?.map(Box::new))
        }
        (None, Job::Changes) => Outcome::Changes(clerk.changes()),
        (None, Job::Compare) => Outcome::Compared(clerk.compare_watched(&mut Passing(pace))),
        (None, Job::Ask { id, ask }) => Outcome::Asked { id: id.clone(), result: clerk.ask(id, ask) },
        // Snapshots and sweeps belong to the thread that owns the source.
        (None, _) => return None,
    })
}

fn look(machine: &Machine, opening: &Opening, pace: &Pace) -> Result<(Look, Box<dyn Source>), String> {
    let mut source =
        machine.open(&opening.source, &opening.given.reach).map_err(|error| error.to_string())?;
    let (mut own, notes) = match &opening.given.node_name_map {
        None => Default::default(),
        Some(file) => machine.names(file).map_err(|error| error.to_string())?,
    };
    own.hosts.clone_from(&opening.given.host_rules);
    let wanted = Wanted { tables: true, counters: true, multicast: true, ..Wanted::default() };
    let mut waiting = Waiting { pace, source: source.describe().to_owned(), names: &own };
    let observed = source.observe(wanted, &mut waiting);
    let mut observation = observed.map_err(|error| error.to_string())?;
    observation.notes.extend(notes);
    let mut look = Look::new(source.describe(), observation, &own);
    match opening.assume {
        Some(engine) => assume(&mut look, engine).map_err(|refusal| refusal.to_string())?,
        // Engines route by LID, so a topology without LIDs gets those of a new fabric, with a note.
        None if !look.observation.tables.has_forwarding() => assume_lids(&mut look),
        None => {}
    }
    Ok((look, source))
}

/// Writes a plan to a new file: an existing plan is never overwritten by mistake.
fn write(opening: &Opening, plan: &PlanFor, to: &Path, pace: &Pace) -> Result<(), String> {
    let times = !opening.no_times;
    let made = Made {
        created: times.then(|| jiff::Timestamp::now().to_string()),
        author: std::env::var("USER").ok().filter(|_| times),
    };
    plan_file::write(plan.text(made)?.as_bytes(), to, "w asks for another name", || !Pulse::cancelled(pace))
}
