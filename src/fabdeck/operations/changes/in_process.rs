//! Changes to a simulator of this process: their guards are threads and their journals are in memory. They end with
//! the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::change_exit::user;
use super::change_row::ChangeRow;
use super::change_store;
use super::guard_requests::decided_failure;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::OperationOptions;
use crate::system::access::SystemAccess;
use fabdeck_change::{
    BeginRecord, ChangePhase, ChangeState, ChangeStatus, ChangeStoreError, DirectDriver, Guard, GuardAnswer,
    GuardMemory, GuardMode, GuardRequest, GuardSocketError, Journal, JournalRecord, MemoryDisk, Migration,
    Plan, QueuedRequest, SystemClocks, UNREACHABLE_TIMEOUT, moved_flows, remaining_migrations,
};
use fabdeck_mad::access::Actuator;

/// Time to wait for a status, and time to wait for the answer to an order.
const STATUS_TIMEOUT: Duration = Duration::from_millis(200);
const ORDER_TIMEOUT: Duration = Duration::from_secs(10);

/// Input of a guard thread.
pub struct GuardThreadInput {
    pub outside: Arc<dyn SystemAccess + Send + Sync>,
    pub given: OperationOptions,
    pub plan: Arc<(Plan, String)>,
    /// Called when the thread panics.
    pub bug: Arc<dyn Fn() + Send + Sync>,
}

/// All changes of this process, the oldest first.
#[derive(Default)]
pub struct InProcessChanges(Mutex<Vec<InProcessChange>>);

struct InProcessChange {
    orders: Sender<QueuedRequest>,
    /// State at the end of the change, once it has ended.
    end: Arc<Mutex<Option<ChangeState>>>,
    begun: BeginRecord,
    last: ChangeStatus,
}

/// Creates a journal in memory, and its state after the first record.
pub fn memory_journal(begun: BeginRecord) -> Result<(Journal, ChangeState), Failure> {
    let mut journal = Journal::on_empty_disk("journal in memory", Box::new(MemoryDisk));
    let kept = journal.append_durably(&JournalRecord::Begun(Box::new(begun.clone())));
    kept.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    Ok((journal, ChangeState::new(begun)))
}

/// Applies a plan in this thread and returns when the change has ended. Without `waits` the change is confirmed at
/// once, because no later command can confirm it.
pub fn apply_alone(
    plan: &Plan,
    begun: BeginRecord,
    actuator: &mut dyn Actuator,
    waits: bool,
    said: &mut Vec<String>,
) -> Result<ChangeStatus, Failure> {
    let (journal, state) = memory_journal(begun)?;
    let (sender, orders) = channel();
    if !waits {
        std::thread::spawn(move || confirm_once_applied(&sender));
    }
    let mut driver = DirectDriver(actuator);
    let guard = Guard {
        plan,
        journal,
        state,
        home: None,
        driver: &mut driver,
        orders: &orders,
        clock: &SystemClocks,
        log: &mut |line| said.push(line.to_owned()),
        patience: UNREACHABLE_TIMEOUT,
        trouble: None,
        stop: &|| false,
        tend_second: &|| {},
        memory: GuardMemory::default(),
    };
    Ok(ChangeStatus::of(&guard.run(GuardMode::Apply)))
}

fn confirm_once_applied(orders: &Sender<QueuedRequest>) {
    loop {
        let (reply, answer) = channel();
        if orders.send(QueuedRequest { ask: GuardRequest::Confirm { user: user() }, reply }).is_err() {
            return;
        }
        match answer.recv() {
            Ok(GuardAnswer::Refused { .. }) => std::thread::sleep(Duration::from_millis(5)),
            _ => return,
        }
    }
}

impl InProcessChanges {
    /// Refuses a second change while one is pending: all changes here belong to the one simulator.
    pub fn refuse_second(&self) -> Result<(), Failure> {
        refuse_second(&mut self.lock())
    }

    /// Begins a change and returns its id.
    pub fn begin(&self, mut begun: BeginRecord, hands: GuardThreadInput) -> Result<String, Failure> {
        let mut all = self.lock();
        refuse_second(&mut all)?;
        begun.number = all.len() as u64 + 1;
        let (journal, told) = memory_journal(begun.clone())?;
        let (orders, ordered) = channel();
        let end = Arc::new(Mutex::new(None));
        let (to, last) = (end.clone(), ChangeStatus::of(&told));
        let spawned = std::thread::Builder::new().name("guard".to_owned()).spawn(move || {
            let kept = catch_unwind(AssertUnwindSafe(|| run_guard(&hands, journal, told, &ordered)));
            match kept {
                Ok(told) => *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(told),
                Err(_) => (hands.bug)(),
            }
            // Senders see the channel close only after the end state can be read.
            drop(ordered);
        });
        spawned.map_err(|error| {
            Failure::new(Exit::Failed, format!("FD-7981: the guard of the change cannot be started: {error}"))
        })?;
        let id = begun.id.clone();
        all.push(InProcessChange { orders, end, begun, last });
        Ok(id)
    }

    pub fn rows(&self) -> Vec<ChangeRow> {
        self.lock().iter_mut().map(InProcessChange::row).collect()
    }

    /// State of all changes, for a comparison with the simulator.
    pub fn history(&self) -> Vec<ChangeState> {
        let told = |change: &mut InProcessChange| {
            let phase = change.status().phase;
            change.end().unwrap_or_else(|| ChangeState { phase, ..ChangeState::new(change.begun.clone()) })
        };
        self.lock().iter_mut().map(told).collect()
    }

    /// Migrations that changes left on the slow lane, the oldest first.
    pub fn migrations(&self) -> Vec<Migration> {
        let mut moved = Vec::new();
        for change in self.lock().iter_mut() {
            let status = change.status();
            // The flows of a running change count as moved once it is applied.
            let now = || {
                let stands = matches!(status.phase, ChangePhase::Applied | ChangePhase::Confirmed);
                let phase = if stands { status.phase } else { ChangePhase::Refused };
                ChangeState {
                    phase,
                    silent_there: status.silent.clone(),
                    ..ChangeState::new(change.begun.clone())
                }
            };
            moved.extend(moved_flows(&change.end().unwrap_or_else(now)));
        }
        remaining_migrations(moved)
    }

    /// Sends an order; `None` if no change of this id was begun here.
    pub fn ask(&self, id: &str, ask: &GuardRequest) -> Option<Result<ChangeStatus, Failure>> {
        let mut all = self.lock();
        let change = all.iter_mut().find(|change| change.begun.id == id)?;
        Some(change.ask(ask))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<InProcessChange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refuse_second(all: &mut [InProcessChange]) -> Result<(), Failure> {
    let pending = all.iter_mut().map(|change| (change.status().phase, &change.begun));
    match pending.into_iter().find(|(phase, _)| phase.is_pending()) {
        None => Ok(()),
        Some((phase, begun)) => Err(change_store::store_failure(ChangeStoreError::pending(begun, phase))),
    }
}

/// Runs a guard in this process.
fn run_guard(
    hands: &GuardThreadInput,
    journal: Journal,
    mut told: ChangeState,
    orders: &Receiver<QueuedRequest>,
) -> ChangeState {
    let OperationOptions { reach, right, .. } = &hands.given;
    let mut actuator = match hands.outside.actuator(&told.begun.source, reach, right) {
        Ok(actuator) => actuator,
        Err(Failure { message, .. }) => {
            let time = Timestamp::now().to_string();
            told.apply(&JournalRecord::Refused { time, why: message.unwrap_or_default() });
            return told;
        }
    };
    let mut driver = DirectDriver(actuator.as_mut());
    let guard = Guard {
        plan: &hands.plan.0,
        journal,
        state: told,
        home: None,
        driver: &mut driver,
        orders,
        clock: &SystemClocks,
        log: &mut |_| {},
        patience: UNREACHABLE_TIMEOUT,
        trouble: None,
        stop: &|| false,
        tend_second: &|| {},
        memory: GuardMemory::default(),
    };
    guard.run(GuardMode::Apply)
}

impl InProcessChange {
    fn end(&self) -> Option<ChangeState> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// End state of a guard that answered that it is over and stores its end within moments.
    fn wait_for_end(&self) -> Option<ChangeState> {
        let since = Instant::now();
        loop {
            let end = self.end();
            if end.is_some() || since.elapsed() > STATUS_TIMEOUT {
                return end;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn send_ask(&self, ask: &GuardRequest, patience: Duration) -> Result<GuardAnswer, RecvTimeoutError> {
        let (reply, answer) = channel();
        let sent = self.orders.send(QueuedRequest { ask: ask.clone(), reply });
        sent.map_err(|_| RecvTimeoutError::Disconnected)?;
        answer.recv_timeout(patience)
    }

    fn status(&mut self) -> ChangeStatus {
        if self.last.phase.is_pending()
            && let Ok(GuardAnswer::Status(status)) = self.send_ask(&GuardRequest::Status, STATUS_TIMEOUT)
        {
            self.last = status;
        }
        let end = if self.last.phase.is_pending() { self.end() } else { self.wait_for_end() };
        if let Some(told) = end {
            self.last = ChangeStatus::of(&told);
        }
        self.last.clone()
    }

    fn row(&mut self) -> ChangeRow {
        let status = self.status();
        let told = self.end().unwrap_or_else(|| ChangeState::new(self.begun.clone()));
        ChangeRow::from_state(&told, None, None).with_status(&status)
    }

    fn ask(&mut self, ask: &GuardRequest) -> Result<ChangeStatus, Failure> {
        let status = self.status();
        if !status.phase.is_pending() {
            return Err(decided_failure(&self.begun.id, status.phase));
        }
        match self.send_ask(ask, ORDER_TIMEOUT) {
            Ok(GuardAnswer::Status(status)) => {
                self.last = status.clone();
                Ok(status)
            }
            Ok(GuardAnswer::Refused { why }) => Err(Failure::new(Exit::Refused, why)),
            Err(RecvTimeoutError::Timeout) => {
                let unanswered = GuardSocketError::Unanswered(std::io::ErrorKind::TimedOut.into());
                Err(Failure::new(Exit::Failed, unanswered.to_string()))
            }
            // The guard ended in between.
            Err(RecvTimeoutError::Disconnected) => Ok(self.status()),
        }
    }
}
