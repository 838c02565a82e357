//! Sweeps a fabric until it is stopped, and publishes after each sweep what is known then. A source that fails is opened
//! again, so that the service outlives a subnet manager, a cable and a restart of drivers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::change_attestation::ChangeAttestation;
use super::service_store::{ServiceStore, StoreChoice};
use super::watch_event::WatchEventDeriver;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::event_store::watch_event::WatchEvent;
use crate::operations::health::health_check::{
    HealthChecks, HealthReadings, HealthReport, JudgedTables, place_known_jobs,
};
use crate::operations::health::link_history::mark_histories;
use crate::operations::health::pending_changes::find_pending_changes;
use crate::operations::health::ranked_problems::rank_problems;
use crate::operations::jobs::list_source::JobSource;
use crate::operations::ledger::link_ledger::LinkLedger;
use crate::operations::operation::{OpenSnapshot, Operation};
use crate::operations::policy::policy_file::Policy;
use crate::operations::policy::policy_observation::PolicyReading;
use crate::operations::policy::policy_runner::{PolicyOutcome, PolicyRunner};
use crate::operations::policy::policy_store::PolicyStore;
use crate::operations::policy::policy_writer::{LiveActions, PolicyWriter, refuse_other_fabric};
use crate::operations::record::job_thread::{JobThread, RecordedJobList, start_job_thread};
use crate::operations::watch::counter_watch::HotspotInterval;
use crate::operations::watch::fabric_events::fabric_event_word;
use crate::operations::watch::sweep_clock::SweepClock;
use crate::operations::watch::sweep_judge::{JudgedInterval, SweepJudge, SweepSeries};
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::JobMap;
use fabdeck_fabric::counters::Rates;
use fabdeck_fabric::observe::Sweep;
use fabdeck_mad::access::{ReadOptions, WireReadOptions};

/// How often the stop flag is checked between sweeps.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// What to watch.
#[derive(Debug)]
pub struct WatchServiceRequest {
    /// Time from the start of a sweep to the start of the next one.
    pub interval: Duration,
    /// Number of judged intervals after which the service ends; `None`: it runs until it is stopped.
    pub count: Option<u64>,
    pub jobs: Option<RecordedJobList>,
    /// Time for which a problem has to be absent until it counts as ended.
    pub recovery: Duration,
    /// Whether events and the ledger of links are stored.
    pub store: StoreChoice,
    /// What the watch may do by itself.
    pub policy: Option<Policy>,
}

/// Counts of a service since it started.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ServiceStatistics {
    pub sweeps: u64,
    /// Times that the fabric could not be read.
    pub failures: u64,
    /// Events by their kind.
    pub events: BTreeMap<&'static str, u64>,
    /// Events that wait for room on the disk of the store; `None` without a store.
    pub unstored_events: Option<u64>,
    /// Confirmed changes that the fabric does not hold any more; `None` where that is not known.
    pub overwritten_changes: Option<u64>,
}

/// What is known after a sweep.
pub struct WatchedSweep<'s> {
    pub snapshot: &'s Snapshot,
    pub sweep: &'s Sweep,
    pub interval: &'s HotspotInterval,
    /// The rates of all ports.
    pub rates: &'s Rates,
    pub tables: &'s JudgedTables,
    pub report: &'s HealthReport,
    pub statistics: &'s ServiceStatistics,
    /// Time of the sweep, in milliseconds since 1970.
    pub time_ms: i64,
}

/// Time of this machine, in milliseconds since 1970.
fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Receives what the service knows.
pub trait SweepPublisher {
    /// The fabric was read as a whole, and sweeps follow. It is called again after a failure.
    fn begin(&mut self);
    /// The service waits for its next sweep. It is called several times a second, and not while a sweep hangs.
    fn wait(&mut self);
    /// `events`: what happened since the last sweep.
    fn publish(&mut self, watched: &WatchedSweep<'_>, events: &[WatchEvent]);
    /// The fabric cannot be read, and is tried again.
    fn publish_failure(&mut self, why: &str, statistics: &ServiceStatistics, events: &[WatchEvent]);
    /// What the user has to know of the publication, since this was asked last.
    fn take_messages(&mut self) -> Vec<String>;
}

/// Watches the named source. It ends by the stop flag, after the wanted number of intervals, or if the first reading
/// fails.
pub fn run_watch_service(
    operation: &mut Operation<'_>,
    request: &WatchServiceRequest,
    publisher: &mut dyn SweepPublisher,
) -> Result<(), Failure> {
    let stop = operation.listen_to_stop();
    let jobs = request.jobs.as_ref().map(|list| start_job_thread(operation.env.outside, list)).transpose()?;
    let events = WatchEventDeriver::new(request.recovery);
    let policy = request.policy.clone().map(|policy| {
        let writer = PolicyWriter::new(operation, &policy, stop.clone())?;
        Ok::<_, Failure>((PolicyRunner::new(policy), writer))
    });
    let mut service = WatchService {
        request,
        jobs,
        statistics: ServiceStatistics::default(),
        events,
        store: ServiceStore::new(request.store),
        attestation: ChangeAttestation::new(),
        clock: SweepClock::new(false),
        policy: policy.transpose()?,
        started: (now_ms(), Instant::now()),
        stop,
    };
    loop {
        let failure = match service.watch_source(operation, publisher) {
            Ok(WatchEnd::Reopen) => continue,
            Ok(WatchEnd::Done) => return Ok(()),
            Err(_) if service.stop.is_requested() => return Ok(()),
            Err(failure) if service.statistics.sweeps == 0 => return Err(failure),
            Err(failure) => failure,
        };
        service.statistics.failures += 1;
        let why = failure.message.unwrap_or_default();
        operation.reporter.report_line(&format!("the fabric is read again, because {why}"));
        // The id of an event has its time, so it is the same in the store.
        let time_ms = now_ms();
        let events = service.events.derive_failure(&why, time_ms);
        let stored = events.iter().map(|event| service.events.to_stored(event)).collect();
        service.store.record_events(operation, stored, time_ms);
        service.statistics.unstored_events = service.store.unstored_events();
        publisher.publish_failure(&why, &service.statistics, &events);
        publisher.take_messages().iter().for_each(|line| operation.reporter.report_line(line));
        if !service.wait(Instant::now() + request.interval, publisher) {
            return Ok(());
        }
    }
}

struct WatchService<'r> {
    request: &'r WatchServiceRequest,
    jobs: Option<JobThread>,
    statistics: ServiceStatistics,
    events: WatchEventDeriver,
    store: ServiceStore,
    attestation: ChangeAttestation,
    /// The clock of the source that is open.
    clock: SweepClock,
    policy: Option<(PolicyRunner, Option<PolicyWriter>)>,
    /// When the service started, by the clock of the machine and by one that is never set.
    started: (i64, Instant),
    stop: StopFlag,
}

/// Why a source is watched no longer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchEnd {
    Done,
    /// The policy wrote tables: a mixture of those before and after would look like lost paths.
    Reopen,
}

/// What a long watch must not collect: each sweep adds phases of its reading, unanswered requests and notes.
struct ReadingSize {
    phases: usize,
    silent: usize,
}

impl ReadingSize {
    fn of(snapshot: &Snapshot) -> Self {
        let reading = snapshot.observation.reading.as_ref();
        reading.map_or(Self { phases: 0, silent: 0 }, |reading| Self {
            phases: reading.phases.len(),
            silent: reading.silent.len(),
        })
    }

    fn restore(&self, snapshot: &mut Snapshot) {
        if let Some(reading) = &mut snapshot.observation.reading {
            reading.phases.truncate(self.phases);
            reading.silent.truncate(self.silent);
        }
    }
}

impl WatchService<'_> {
    /// Opens the source and watches it.
    fn watch_source(
        &mut self,
        operation: &mut Operation<'_>,
        publisher: &mut dyn SweepPublisher,
    ) -> Result<WatchEnd, Failure> {
        let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
        let OpenSnapshot { mut source, mut snapshot } = operation.open_snapshot(wanted)?;
        if snapshot.observation.reading.is_none() {
            return Err(Failure::usage(format!(
                "FD-7347: {} is not live, so there is nothing to watch; name a live fabric (umad, sim:NAME). `hotspots` and \
                 `health` judge captures and files",
                snapshot.source
            )));
        }
        let source = source.as_mut();
        let sensors = WireReadOptions { switch_sensors: true, ..WireReadOptions::default() };
        operation.read_wire(source, &mut snapshot, sensors)?;
        operation.env.assume(&mut snapshot)?;
        let interval = Some(self.request.interval);
        let series = SweepSeries::begin(operation, source, &mut snapshot, interval, 1)?;
        let mut judge = SweepJudge::new(series, &snapshot).without_end();
        let mut tables = JudgedTables::new(&snapshot)?;
        let simulated = snapshot.observation.reading.as_ref().is_some_and(|reading| reading.virtual_time);
        self.clock = SweepClock::new(simulated);
        let time_ms = self.clock.time(judge.last());
        self.store.begin(operation, &snapshot, judge.last(), time_ms, &mut self.events)?;
        if let (Some((policy, _)), Some(wanted)) = (&mut self.policy, &self.request.policy) {
            refuse_other_fabric(operation.env, wanted, &snapshot)?;
            policy.resume(self.store.folder().map(PolicyStore::in_folder))?;
        }
        let mut end = WatchEnd::Done;
        let size = ReadingSize::of(&snapshot);
        let mut next = Instant::now() + self.pause(judge.last());
        publisher.begin();
        while self.wait(next, publisher) {
            let notes = std::mem::take(&mut snapshot.observation.notes);
            let judged = judge.advance(operation, source, &mut snapshot);
            snapshot.observation.notes = notes;
            size.restore(&mut snapshot);
            let judged = judged?;
            next = Instant::now() + self.pause(judge.last());
            if judge.last().retabled || judge.last().fabric.is_some() {
                tables = JudgedTables::new(&snapshot)?;
            }
            end = self.publish(operation, publisher, &mut snapshot, &judged, judge.last(), &tables);
            if self.request.count.is_some_and(|count| self.statistics.sweeps >= count) {
                end = WatchEnd::Done;
                break;
            }
            if end == WatchEnd::Reopen {
                break;
            }
        }
        if end == WatchEnd::Done || self.stop.is_requested() {
            end = WatchEnd::Done;
            let time_ms = self.clock.time(judge.last());
            self.store.finish(operation, &snapshot, time_ms);
        }
        source.end_watch(&mut snapshot.observation);
        operation.count_reading(&snapshot);
        Ok(end)
    }

    /// Time of a sweep for decisions: periods go on evenly while the clock of the machine is set.
    fn policy_time(&self, sweep_ms: i64) -> i64 {
        let (start_ms, since) = self.started;
        let passed = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
        if self.clock.is_simulated() { sweep_ms } else { start_ms.saturating_add(passed) }
    }

    /// Time until the next sweep. A slow one is followed by a pause of the same length, to limit the load on the fabric.
    /// The time of a simulator passes as fast as it is read where the number of intervals is given.
    fn pause(&self, sweep: &Sweep) -> Duration {
        match self.clock.is_simulated() {
            true if self.request.count.is_some() => Duration::ZERO,
            true => self.request.interval,
            false => self.request.interval.saturating_sub(sweep.took).max(sweep.took),
        }
    }

    /// Waits until a time; returns false if the service is to end.
    fn wait(&self, until: Instant, publisher: &mut dyn SweepPublisher) -> bool {
        while !self.stop.is_requested() {
            publisher.wait();
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(STOP_CHECK));
        }
        false
    }

    /// Takes up the list of jobs that arrived last.
    fn take_jobs(&mut self, operation: &mut Operation<'_>, snapshot: &mut Snapshot) {
        if let Some(jobs) = &mut self.jobs {
            let (list, messages) = jobs.take_latest(None);
            snapshot.observation.jobs = list;
            messages.iter().for_each(|words| operation.reporter.report_line(words));
        }
    }

    fn publish(
        &mut self,
        operation: &mut Operation<'_>,
        publisher: &mut dyn SweepPublisher,
        snapshot: &mut Snapshot,
        judged: &JudgedInterval,
        sweep: &Sweep,
        tables: &JudgedTables,
    ) -> WatchEnd {
        self.take_jobs(operation, snapshot);
        let interval = &judged.interval;
        self.statistics.sweeps += 1;
        for event in &interval.news {
            *self.statistics.events.entry(fabric_event_word(event)).or_default() += 1;
        }
        let (placed, jobs) = place_known_jobs(snapshot, None, &JobSource::default());
        let has_counters = interval.watched.ports > 0;
        let running = placed.as_ref().filter(|_| self.policy.is_some()).map(|placed| placed.jobs.clone());
        let readings = HealthReadings {
            snapshot,
            at: None,
            interval: Some(interval).filter(|_| has_counters),
            uncounted: (!has_counters).then(|| "no port has counters in both readings".to_owned()),
            tables,
            placed,
            jobs,
        };
        let time_ms = self.clock.time(sweep);
        let report = report_health(operation.env, readings, self.store.ledger(), time_ms);
        let mut watched = WatchedSweep {
            snapshot,
            sweep,
            interval,
            rates: &judged.rates,
            tables,
            report: &report,
            statistics: &self.statistics,
            time_ms,
        };
        let mut events = self.events.derive(&watched, self.store.missed());
        let reading = PolicyReading {
            look: watched.snapshot,
            sweep,
            news: &interval.news,
            certificate: tables.certificate(),
            changes: &report.changes.rows,
            unread_changes: &report.changes.unread,
            ledger: self.store.ledger(),
            has_counters,
            interval: self.request.interval,
            time_ms: self.policy_time(time_ms),
        };
        let PolicyOutcome { notices, actions, wrote } =
            step_policy(self.policy.as_mut(), operation, &reading, running.as_ref());
        events.extend(self.events.derive_policy(notices, time_ms));
        let attested = self.attestation.update(operation, watched.snapshot, &events);
        events.extend(attested.into_iter().flat_map(|found| self.events.derive_attestation(found, time_ms)));
        let stored = events.iter().map(|event| self.events.to_stored(event)).collect();
        // What is published is stored: a watch that is killed publishes no event under a number that is used again.
        self.store.record(operation, &watched, stored, actions);
        let statistics = ServiceStatistics {
            unstored_events: self.store.unstored_events(),
            overwritten_changes: self.attestation.overwritten(),
            ..self.statistics.clone()
        };
        watched.statistics = &statistics;
        publisher.publish(&watched, &events);
        publisher.take_messages().iter().for_each(|line| operation.reporter.report_line(line));
        if wrote { WatchEnd::Reopen } else { WatchEnd::Done }
    }
}

/// The problems of a sweep, ranked, with what their cables did before, and the changes that wait.
fn report_health(
    env: Env<'_>,
    readings: HealthReadings<'_>,
    ledger: Option<&LinkLedger>,
    time_ms: i64,
) -> HealthReport {
    let snapshot = readings.snapshot;
    let (problems, checks) = readings.judge();
    let (mut problems, unacknowledged) = rank_problems(problems, snapshot, Some(env.outside), &[]);
    mark_histories(&mut problems, snapshot, ledger, time_ms);
    let changes = find_pending_changes(env, snapshot);
    HealthReport { problems, checks: HealthChecks { unacknowledged, ..checks }, changes }
}

/// The step of a policy after a sweep; without one nothing is done.
fn step_policy(
    policy: Option<&mut (PolicyRunner, Option<PolicyWriter>)>,
    operation: &mut Operation<'_>,
    reading: &PolicyReading<'_>,
    running: Option<&JobMap>,
) -> PolicyOutcome {
    let Some((runner, writer)) = policy else { return PolicyOutcome::default() };
    runner.step(&mut LiveActions { operation, writer: writer.as_ref() }, reading, running)
}
