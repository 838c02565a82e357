//! Other users of a machine, with few rights or none, and callers without end.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fabdeck_change::{
    Clocks as _, GuardAnswer, GuardRequest, OpenMode, QueuedRequest, System as _, socket_path,
};

use super::programs::note;
use super::scheduler::State;
use super::simulated_process::SimulatedProcess;
use super::{SOCKETS, STATE};

/// Files that processes lock.
const LOCKS: [&str; 4] = ["lock", "audit.lock", "changes/000001/guard.lock", "changes/000001/second.lock"];
/// Callers of a flood.
const CALLERS: u64 = 30;
/// The most that may be answered between two Sets of a rollback.
const ANSWERED_MOST: u64 = 20;

/// What became of a flood.
#[derive(Debug)]
pub struct Flood {
    answers: Receiver<GuardAnswer>,
    answered: u64,
    /// The change whose rollback sent the last Set, and how many were answered by then.
    at_set: Option<(String, u64)>,
}

impl Flood {
    fn count(&mut self) -> u64 {
        self.answered += self.answers.try_iter().count() as u64;
        self.answered
    }
}

impl State {
    /// A rollback goes first: few callers are answered between two of its Sets.
    pub fn check_flood(&mut self, id: &str, is_back: bool) {
        let Some(flood) = &mut self.flood else { return };
        let now = flood.count();
        let before = std::mem::replace(&mut flood.at_set, is_back.then(|| (id.to_owned(), now)));
        let between = before.filter(|(before, _)| is_back && before == id).map(|(_, before)| now - before);
        if let Some(many) = between.filter(|many| *many > ANSWERED_MOST) {
            self.violate(format!("{many} callers were answered between two Sets of a rollback"));
        }
    }
}

/// Another user: asks the guard for what it may not have, and opens and locks what it can.
pub fn disturb(machine: &SimulatedProcess, id: &str, for_s: u64) {
    let mut held = Vec::new();
    for second in 0..for_s {
        let user = "root".to_owned();
        for ask in [
            GuardRequest::Confirm { user: user.clone() },
            GuardRequest::RollBack { user: user.clone(), anyway: true },
        ] {
            let answer =
                machine.ask_guard(&socket_path(Path::new(SOCKETS), id), &ask, Duration::from_secs(1));
            assert!(!matches!(answer, Ok(GuardAnswer::Status(_))), "a user without rights was obeyed");
        }
        if second < 3 {
            for name in LOCKS {
                let file = machine.open(&Path::new(STATE).join(name), OpenMode::Read);
                let locked = file.ok().filter(|file| file.try_lock(true).is_ok());
                held.extend(locked);
            }
        }
        machine.sleep(Duration::from_secs(1));
    }
}

/// Holds the locks of files that older versions left open to readers.
pub fn hold_locks(machine: &SimulatedProcess, for_s: u64) {
    let open = |name: &&'static str| machine.open(&Path::new(STATE).join(name), OpenMode::Read).ok();
    let files: Vec<_> = LOCKS.iter().filter_map(|name| Some((*name, open(name)?))).collect();
    let mut held = vec![false; files.len()];
    for _ in 0..for_s * 10 {
        for ((name, file), held) in files.iter().zip(&mut held).filter(|(_, held)| !**held) {
            *held = file.try_lock(false).is_ok();
            if *held {
                note(machine, &format!("holds the lock of {name}"));
            }
        }
        machine.world.sleep(100);
    }
}

/// Asks for what is refused, as many callers at once.
pub fn flood(machine: &SimulatedProcess, id: &str, for_ms: u64) {
    let until = machine.world.lock().now_ms + for_ms;
    let (reply, answers) = channel();
    machine.world.lock().flood = Some(Flood { answers, answered: 0, at_set: None });
    let mut sent = 0;
    while machine.world.lock().now_ms < until {
        machine.world.step(|| "floods the guard".to_owned());
        let mut state = machine.world.lock();
        let answered = state.flood.as_mut().map_or(0, Flood::count);
        let listener = state.sockets.get(machine.host, &socket_path(Path::new(SOCKETS), id)).cloned();
        if let Some(listener) = listener {
            while sent < answered + CALLERS {
                let ask = GuardRequest::GoOn { user: "flood".to_owned() };
                let _ = listener.orders.send(QueuedRequest { ask, reply: reply.clone() });
                sent += 1;
            }
            state.wake(listener.pid);
        }
        drop(state);
        machine.world.sleep(1);
    }
    let answered = machine.world.lock().flood.as_mut().map_or(0, Flood::count);
    note(machine, &format!("was answered {answered} times"));
}

/// Asks for a rollback, to which no right is granted, and then confirms; both in the name of root.
pub fn use_rights(machine: &SimulatedProcess, id: &str) {
    let user = || "root".to_owned();
    for ask in [GuardRequest::RollBack { user: user(), anyway: true }, GuardRequest::Confirm { user: user() }]
    {
        let answer = machine.ask_guard(&socket_path(Path::new(SOCKETS), id), &ask, Duration::from_secs(10));
        note(machine, &format!("{}: {answer:?}", ask.command_name()));
    }
}
