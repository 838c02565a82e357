//! Changes to a simulator of this process: their guards are threads and their journals are in memory. They end with
//! the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::asking::decided;
use super::home;
use super::means::Given;
use crate::script::open::Outside;
use crate::script::{Exit, Failure};
use crate::session::ChangeRow;
use fabdeck_change::{
    Answer, Ask, Begun, Direct, DoorError, Errand, Guard, HomeError, Journal, MemoryDisk, Migration,
    OUT_OF_REACH, Order, Phase, Plan, Record, Status, SystemClocks, Told, flows_moved, left_by,
};

/// Time to wait for a status, and time to wait for the answer to an order.
const GLANCE: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(10);

/// Input of a guard thread.
pub struct Hands {
    pub outside: Arc<dyn Outside + Send + Sync>,
    pub given: Given,
    pub plan: Arc<(Plan, String)>,
    /// Called when the thread panics.
    pub bug: Arc<dyn Fn() + Send + Sync>,
}

/// All changes of this process, the oldest first.
#[derive(Default)]
pub struct OwnChanges(Mutex<Vec<OwnChange>>);

struct OwnChange {
    orders: Sender<Order>,
    /// State at the end of the change, once it has ended.
    end: Arc<Mutex<Option<Told>>>,
    begun: Begun,
    last: Status,
}

/// Creates a journal in memory, and its state after the first record.
pub fn in_memory(begun: Begun) -> Result<(Journal, Told), Failure> {
    let mut journal = Journal::on("journal in memory", Box::new(MemoryDisk));
    let kept = journal.keep(&Record::Begun(Box::new(begun.clone())));
    kept.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    Ok((journal, Told::begun(begun)))
}

impl OwnChanges {
    /// Refuses a second change while one is pending: all changes here belong to the one simulator.
    pub fn refuse_second(&self) -> Result<(), Failure> {
        refuse_second(&mut self.all())
    }

    /// Begins a change and returns its id.
    pub fn begin(&self, mut begun: Begun, hands: Hands) -> Result<String, Failure> {
        let mut all = self.all();
        refuse_second(&mut all)?;
        begun.number = all.len() as u64 + 1;
        let (journal, told) = in_memory(begun.clone())?;
        let (orders, ordered) = channel();
        let end = Arc::new(Mutex::new(None));
        let (to, last) = (end.clone(), Status::of(&told));
        let spawned = std::thread::Builder::new().name("guard".to_owned()).spawn(move || {
            let kept = catch_unwind(AssertUnwindSafe(|| keep(&hands, (journal, told), &ordered)));
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
        all.push(OwnChange { orders, end, begun, last });
        Ok(id)
    }

    pub fn rows(&self) -> Vec<ChangeRow> {
        self.all().iter_mut().map(OwnChange::row).collect()
    }

    /// State of all changes, for a comparison with the simulator.
    pub fn history(&self) -> Vec<Told> {
        let told = |change: &mut OwnChange| {
            let phase = change.status().phase;
            change.end().unwrap_or_else(|| Told { phase, ..Told::begun(change.begun.clone()) })
        };
        self.all().iter_mut().map(told).collect()
    }

    /// Migrations that changes left on the slow lane, the oldest first.
    pub fn moved(&self) -> Vec<Migration> {
        let mut moved = Vec::new();
        for change in self.all().iter_mut() {
            let status = change.status();
            // The flows of a running change count as moved once it is applied.
            let now = || {
                let stands = matches!(status.phase, Phase::Applied | Phase::Confirmed);
                let phase = if stands { status.phase } else { Phase::Refused };
                Told { phase, silent_there: status.silent.clone(), ..Told::begun(change.begun.clone()) }
            };
            moved.extend(flows_moved(&change.end().unwrap_or_else(now)));
        }
        left_by(moved)
    }

    /// Sends an order; `None` if no change of this id was begun here.
    pub fn ask(&self, id: &str, ask: &Ask) -> Option<Result<Status, Failure>> {
        let mut all = self.all();
        let change = all.iter_mut().find(|change| change.begun.id == id)?;
        Some(change.ask(ask))
    }

    fn all(&self) -> MutexGuard<'_, Vec<OwnChange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refuse_second(all: &mut [OwnChange]) -> Result<(), Failure> {
    let pending = all.iter_mut().map(|change| (change.status().phase, &change.begun));
    match pending.into_iter().find(|(phase, _)| phase.is_pending()) {
        None => Ok(()),
        Some((phase, begun)) => Err(home::refused(HomeError::pending(begun, phase))),
    }
}

/// Runs a guard in this process.
fn keep(hands: &Hands, (journal, mut told): (Journal, Told), orders: &Receiver<Order>) -> Told {
    let Given { reach, right, .. } = &hands.given;
    let mut actuator = match hands.outside.actuator(&told.begun.source, reach, right) {
        Ok(actuator) => actuator,
        Err(Failure { message, .. }) => {
            let time = Timestamp::now().to_string();
            told.take(&Record::Refused { time, why: message.unwrap_or_default() });
            return told;
        }
    };
    let mut driver = Direct(actuator.as_mut());
    let guard = Guard {
        plan: &hands.plan.0,
        journal,
        told,
        home: None,
        driver: &mut driver,
        orders,
        clock: &SystemClocks,
        say: &mut |_| {},
        patience: OUT_OF_REACH,
        trouble: None,
        stop: &|| false,
    };
    guard.keep(Errand::Apply)
}

impl OwnChange {
    fn end(&self) -> Option<Told> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// End state of a guard that answered that it is over and stores its end within moments.
    fn end_soon(&self) -> Option<Told> {
        let since = Instant::now();
        loop {
            let end = self.end();
            if end.is_some() || since.elapsed() > GLANCE {
                return end;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn put(&self, ask: &Ask, patience: Duration) -> Result<Answer, RecvTimeoutError> {
        let (reply, answer) = channel();
        let sent = self.orders.send(Order { ask: ask.clone(), reply });
        sent.map_err(|_| RecvTimeoutError::Disconnected)?;
        answer.recv_timeout(patience)
    }

    fn status(&mut self) -> Status {
        if self.last.phase.is_pending()
            && let Ok(Answer::Status(status)) = self.put(&Ask::Status, GLANCE)
        {
            self.last = status;
        }
        let end = if self.last.phase.is_pending() { self.end() } else { self.end_soon() };
        if let Some(told) = end {
            self.last = Status::of(&told);
        }
        self.last.clone()
    }

    fn row(&mut self) -> ChangeRow {
        let status = self.status();
        let told = self.end().unwrap_or_else(|| Told::begun(self.begun.clone()));
        ChangeRow::of(&told, None, None).as_told(&status)
    }

    fn ask(&mut self, ask: &Ask) -> Result<Status, Failure> {
        let status = self.status();
        if !status.phase.is_pending() {
            return Err(decided(&self.begun.id, status.phase));
        }
        match self.put(ask, PATIENCE) {
            Ok(Answer::Status(status)) => {
                self.last = status.clone();
                Ok(status)
            }
            Ok(Answer::Refused { why }) => Err(Failure::new(Exit::Refused, why)),
            Err(RecvTimeoutError::Timeout) => {
                let unanswered = DoorError::Unanswered(std::io::ErrorKind::TimedOut.into());
                Err(Failure::new(Exit::Failed, unanswered.to_string()))
            }
            // The guard ended in between.
            Err(RecvTimeoutError::Disconnected) => Ok(self.status()),
        }
    }
}
