//! The process of a guard: it takes the lock of the change, opens the socket, starts the second process and keeps the
//! change. If the process has to end first, it starts the next guard.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use std::path::PathBuf;

use super::access_policy::AccessPolicy;
use super::access_rights::Rights;
use super::guard_run::{Guard, GuardMemory, GuardMode};
use super::protocol::{ChangeStatus, QueuedRequest};
use super::refusal_log::RefusalLog;
use super::rollback_retry::UNREACHABLE_TIMEOUT;
use super::socket_folder;
use crate::change_dir::{ChangeDir, GuardLock};
use crate::change_store::ChangeStore;
use crate::change_store_error::ChangeStoreError;
use crate::clock::Stopwatch;
use crate::driver::{DirectDriver, Driver, OpensmDriver, Reconnecting};
use crate::journal::{ChangeState, JournalError};
use crate::plan::Plan;
use crate::system::ListeningSocket;
use fabdeck_mad::access::Actuator;

/// How long a guard waits for the lock of the process that began the change.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often one guard starts another second process.
const MAX_SECOND_RESTARTS: u32 = 5;
/// Longest path of a Unix socket in bytes.
const MAX_SOCKET_PATH: usize = 107;

/// What a guard process is started for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardRole {
    /// To wait beside the guard and watch the deadline too.
    Second,
    /// To take the change over.
    Successor,
}

/// Starts a guard for the change. Returns a remark for the log, or why the guard cannot start.
pub type StartGuard<'a> = dyn FnMut(GuardRole) -> Result<Option<String>, String> + 'a;

/// One guard, and what its process needs to keep a change.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct GuardProcess<'a> {
    pub home: &'a ChangeStore,
    pub change_dir: &'a ChangeDir,
    pub rights: Rights,
    /// The folder of the socket that other users can reach.
    pub socket_folder: Option<PathBuf>,
    /// Opens the source of the fabric.
    pub open: &'a mut dyn FnMut() -> Result<Box<dyn Actuator>, String>,
    pub start: &'a mut StartGuard<'a>,
    pub log: &'a mut dyn FnMut(&str),
    /// Whether the process is to end (SIGTERM).
    pub stop: &'a dyn Fn() -> bool,
}

/// Takes the lock of a change, once the process that has it lets go. `None`: the change has a guard.
pub fn take_guard_lock(kept: &ChangeDir) -> Result<Option<GuardLock>, ChangeStoreError> {
    let system = kept.system();
    let since = Stopwatch::start(system);
    loop {
        let keeping = kept.lock_guard()?;
        if keeping.is_some() || since.elapsed() > HANDOVER_TIMEOUT {
            // Locks do not exclude every guard: a network file system may have separate locks for each machine.
            return Ok(keeping.filter(|_| !system.is_listening(&kept.socket())));
        }
        system.sleep(Duration::from_millis(10));
    }
}

impl GuardProcess<'_> {
    /// Keeps the change to its end, or until the process is to end.
    pub fn run(self, keeping: GuardLock, errand: GuardMode) -> Result<ChangeState, JournalError> {
        // Reads the journal now, because another guard may have kept the change until just before.
        let (journal, read) = self.change_dir.journal()?;
        if !read.state.phase.is_pending() {
            return Ok(read.state);
        }
        let (plan, trouble) = load_plan(self.change_dir);
        let (sender, orders) = channel();
        let (door, remark) = self.open_socket(sender);
        let second = (self.start)(GuardRole::Second);
        let Self { home, change_dir: kept, open, start, log: say, stop, .. } = self;
        let (start, restarts) = (RefCell::new(start), Cell::new(0));
        let tend_second = || {
            // Where locks prove nothing every process seems to be gone.
            if restarts.get() < MAX_SECOND_RESTARTS && kept.lacks_standby() {
                restarts.set(restarts.get() + 1);
                // The next turn tries again.
                let _ = (*start.borrow_mut())(GuardRole::Second);
            }
        };
        let deaf = door.as_ref().err().map(|error| no_socket_text(kept, error));
        remark.iter().chain(&deaf).chain(&second.err()).for_each(|line| say(line));
        let mut way = Reconnecting::new(open);
        let (mut road, mut direct);
        let driver: &mut dyn Driver = match read.state.begun.opensm.clone() {
            Some(site) => {
                road = OpensmDriver::new(Box::new(way), (&plan, &read.state.begun.id), site, home.system());
                &mut road
            }
            None => {
                direct = DirectDriver(&mut way);
                &mut direct
            }
        };
        let guard = Guard {
            plan: &plan,
            journal,
            state: read.state.clone(),
            home: Some(home),
            driver,
            orders: &orders,
            clock: home.system(),
            log: &mut *say,
            patience: UNREACHABLE_TIMEOUT,
            // Without a socket no user could confirm, so nothing is written. What is written already is kept or rolled
            // back all the same.
            trouble: trouble.or(deaf),
            stop,
            tend_second: &tend_second,
            memory: GuardMemory::default(),
        };
        let told = guard.run(errand);
        if let Ok(door) = &door {
            door.close(orders, &ChangeStatus::of(&told));
        }
        if !told.phase.is_pending() {
            kept.mark_ended();
        }
        drop(keeping);
        if told.phase.is_pending() && stop() {
            let (Ok(remark) | Err(remark)) = (*start.borrow_mut())(GuardRole::Successor).map_err(Some);
            remark.iter().for_each(|remark| say(remark));
        }
        Ok(told)
    }

    /// Opens the guard's socket where other users reach it, or else in the folder of the change, with a remark.
    fn open_socket(
        &self,
        orders: Sender<QueuedRequest>,
    ) -> (io::Result<Box<dyn ListeningSocket>>, Option<String>) {
        let (system, begun) = (self.home.system(), &self.change_dir.read.state.begun);
        let policy = || AccessPolicy {
            begun: begun.clone(),
            rights: self.rights.clone(),
            refusals: RefusalLog::for_trail(Some(self.home), &begun.id),
            asked_by_others: AtomicBool::new(false),
        };
        let public = self.socket_folder.as_ref().map(|folder| {
            let socket = socket_folder::socket_path(folder, &begun.id);
            let opened = socket_folder::make_folder(system, folder)
                .and_then(|()| system.open_guard_socket(&socket, orders.clone(), policy()));
            opened.and_then(|door| self.change_dir.set_socket(&socket).map(|()| door))
        });
        let remark = match public {
            Some(Ok(door)) => return (Ok(door), None),
            Some(Err(error)) => {
                Some(format!("only the owner of the state folder can ask this guard: {error}"))
            }
            None => None,
        };
        let socket = self.change_dir.default_socket();
        let door = system.open_guard_socket(&socket, orders, policy());
        (door.and_then(|door| self.change_dir.set_socket(&socket).map(|()| door)), remark)
    }
}

/// The plan that was begun, or what the journal knows of it, which is enough for a rollback.
fn load_plan(kept: &ChangeDir) -> (Plan, Option<String>) {
    match kept.plan_begun() {
        Ok(plan) => (plan, None),
        Err(trouble) => (kept.plan_of_journal(), Some(trouble)),
    }
}

/// Message that this guard has no socket.
fn no_socket_text(kept: &ChangeDir, error: &io::Error) -> String {
    let socket = kept.default_socket();
    let long = match socket.as_os_str().len() > MAX_SOCKET_PATH {
        true => {
            format!(
                "; no socket's path may have more than {MAX_SOCKET_PATH} bytes: take a shorter --state-dir"
            )
        }
        false => String::new(),
    };
    let socket = socket.display();
    format!(
        "FD-7995: the socket {socket} of the change's guard cannot be created: {error}{long}; the change cannot be confirmed or rolled back by request"
    )
}
