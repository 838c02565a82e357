//! The process of a guard: it takes the lock of the change, opens the socket, starts the second process and keeps the
//! change. If the process has to end first, it starts the next guard.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use std::path::PathBuf;

use super::ask::{Order, Status};
use super::door::AccessPolicy;
use super::keeper::{Errand, Guard};
use super::reach::OUT_OF_REACH;
use super::refusals::Refusals;
use super::rights::Rights;
use super::socket_folder;
use crate::clock::Stopwatch;
use crate::driver::{Direct, Driver, Opensm, Reopened};
use crate::home::{Home, HomeError};
use crate::journal::{JournalError, Told};
use crate::kept::{Keeping, Kept};
use crate::plan::Plan;
use crate::system::OpenDoor;
use fabdeck_mad::access::Actuator;

/// How long a guard waits for the lock of the process that began the change.
const HANDED_OVER: Duration = Duration::from_secs(5);
/// Longest path of a Unix socket in bytes.
const SOCKET_MOST: usize = 107;

/// What a guard process is started for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardMode {
    /// To wait beside the guard and watch the deadline too.
    Second,
    /// To take the change over.
    Successor,
}

/// Starts a guard for the change. Returns a remark for the log, or why the guard cannot start.
pub type StartGuard<'a> = dyn FnMut(GuardMode) -> Result<Option<String>, String> + 'a;

/// One guard, and what its process needs to keep a change.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct GuardProcess<'a> {
    pub home: &'a Home,
    pub kept: &'a Kept,
    pub rights: Rights,
    /// The folder of the socket that other users can reach.
    pub socket_folder: Option<PathBuf>,
    /// Opens the source of the fabric.
    pub open: &'a mut dyn FnMut() -> Result<Box<dyn Actuator>, String>,
    pub start: &'a mut StartGuard<'a>,
    pub say: &'a mut dyn FnMut(&str),
    /// Whether the process is to end (SIGTERM).
    pub stop: &'a dyn Fn() -> bool,
}

/// Takes the lock of a change, once the process that has it lets go. `None`: the change has a guard.
pub fn take_keeping(kept: &Kept) -> Result<Option<Keeping>, HomeError> {
    let system = kept.system();
    let since = Stopwatch::start(system);
    loop {
        let keeping = kept.keep()?;
        if keeping.is_some() || since.elapsed() > HANDED_OVER {
            // Locks do not exclude every guard: a network file system may have separate locks for each machine.
            return Ok(keeping.filter(|_| !system.is_listening(&kept.socket())));
        }
        system.sleep(Duration::from_millis(10));
    }
}

impl GuardProcess<'_> {
    /// Keeps the change to its end, or until the process is to end.
    pub fn run(self, keeping: Keeping, errand: Errand) -> Result<Told, JournalError> {
        // Reads the journal now, because another guard may have kept the change until just before.
        let (journal, read) = self.kept.journal()?;
        if !read.told.phase.is_pending() {
            return Ok(read.told);
        }
        let (plan, trouble) = plan_of(self.kept);
        let (sender, orders) = channel();
        let (door, remark) = self.open_door(sender);
        let second = (self.start)(GuardMode::Second);
        let Self { home, kept, open, start, say, stop, .. } = self;
        let deaf = door.as_ref().err().map(|error| no_door(kept, error));
        remark.iter().chain(&deaf).chain(&second.err()).for_each(|line| say(line));
        let mut way = Reopened::new(open);
        let (mut road, mut direct);
        let driver: &mut dyn Driver = match read.told.begun.opensm.clone() {
            Some(site) => {
                road = Opensm::new(Box::new(way), &plan, site);
                &mut road
            }
            None => {
                direct = Direct(&mut way);
                &mut direct
            }
        };
        let guard = Guard {
            plan: &plan,
            journal,
            told: read.told.clone(),
            home: Some(home),
            driver,
            orders: &orders,
            clock: home.system(),
            say: &mut *say,
            patience: OUT_OF_REACH,
            // Without a socket no user could confirm, so nothing is written. What is written already is kept or rolled
            // back all the same.
            trouble: trouble.or(deaf),
            stop,
        };
        let told = guard.keep(errand);
        if let Ok(door) = &door {
            door.close(orders, &Status::of(&told));
        }
        if !told.phase.is_pending() {
            kept.end();
        }
        drop(keeping);
        if told.phase.is_pending() && stop() {
            let (Ok(remark) | Err(remark)) = start(GuardMode::Successor).map_err(Some);
            remark.iter().for_each(|remark| say(remark));
        }
        Ok(told)
    }

    /// Opens the guard's socket where other users reach it, or else in the folder of the change, with a remark.
    fn open_door(&self, orders: Sender<Order>) -> (io::Result<Box<dyn OpenDoor>>, Option<String>) {
        let (system, begun) = (self.home.system(), &self.kept.read.told.begun);
        let policy = || AccessPolicy {
            begun: begun.clone(),
            rights: self.rights.clone(),
            refusals: Refusals::to_trail(Some(self.home), &begun.id),
            asked_by_others: AtomicBool::new(false),
        };
        let public = self.socket_folder.as_ref().map(|folder| {
            let socket = socket_folder::socket_in(folder, &begun.id);
            let opened = socket_folder::make(system, folder)
                .and_then(|()| system.open_door(&socket, orders.clone(), policy()));
            opened.and_then(|door| self.kept.set_socket(&socket).map(|()| door))
        });
        let remark = match public {
            Some(Ok(door)) => return (Ok(door), None),
            Some(Err(error)) => {
                Some(format!("only the owner of the state folder can ask this guard: {error}"))
            }
            None => None,
        };
        let socket = self.kept.usual_socket();
        let door = system.open_door(&socket, orders, policy());
        (door.and_then(|door| self.kept.set_socket(&socket).map(|()| door)), remark)
    }
}

/// The plan that was begun, or what the journal knows of it, which is enough for a rollback.
fn plan_of(kept: &Kept) -> (Plan, Option<String>) {
    match kept.plan_begun() {
        Ok(plan) => (plan, None),
        Err(trouble) => (kept.plan_of_journal(), Some(trouble)),
    }
}

/// Message that this guard has no socket.
fn no_door(kept: &Kept, error: &io::Error) -> String {
    let socket = kept.usual_socket();
    let long = match socket.as_os_str().len() > SOCKET_MOST {
        true => {
            format!("; no socket's path may have more than {SOCKET_MOST} bytes: take a shorter --state-dir")
        }
        false => String::new(),
    };
    let socket = socket.display();
    format!(
        "FD-7995: nobody can confirm the change or roll it back: the socket {socket} of its guard cannot be made: {error}{long}"
    )
}
