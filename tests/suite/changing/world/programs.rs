//! What the processes of the world do: the same functions that the commands call.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabdeck_change::{
    Answer, Ask, Begun, Clocks, Errand, GuardMode, GuardProcess, Home, Kept, Phase, RequestError, Rights,
    Status, System, request, request_status, socket_in, take_keeping, wait_beside,
};
use fabdeck_mad::access::Actuator;

use super::fabric::{WorldActuator, site};
use super::machine::Machine;
use super::scheduler::{Pid, World};
use super::{SOCKETS, STATE};

/// What whoever applied a change does once it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    Confirm,
    ExtendAndConfirm,
    RollBack,
    Leave,
}

#[derive(Clone, Debug)]
pub enum Program {
    Apply {
        id: &'static str,
        plan: usize,
        window_s: u64,
        decision: Decision,
    },
    Guard {
        id: String,
        errand: Errand,
    },
    Second {
        id: String,
    },
    Resume,
    /// A user without rights who asks and holds whatever lets itself be held, for so long.
    Hostile {
        id: &'static str,
        for_s: u64,
    },
    /// Somebody else of the owner's who decides too.
    Decide {
        id: &'static str,
        decision: Decision,
    },
}

impl Program {
    pub fn name(&self) -> String {
        match self {
            Self::Apply { id, .. } => format!("apply {id}"),
            Self::Guard { id, .. } => format!("guard {id}"),
            Self::Second { id } => format!("second {id}"),
            Self::Resume => "resume".to_owned(),
            Self::Hostile { .. } => "hostile".to_owned(),
            Self::Decide { id, .. } => format!("decide {id}"),
        }
    }

    pub fn run(self, world: &Arc<World>, host: usize, pid: Pid, user: u32) {
        let machine = Machine { world: Arc::clone(world), host, pid, user };
        match self {
            Self::Apply { id, plan, window_s, decision } => apply(&machine, (id, plan), window_s, decision),
            Self::Guard { id, errand } => keep_one(&machine, &id, errand),
            Self::Second { id } => keep_second(&machine, &id),
            Self::Resume => resume(&machine),
            Self::Hostile { id, for_s } => disturb(&machine, id, for_s),
            Self::Decide { id, decision } => decide(&machine, id, decision),
        }
    }
}

fn home_of(machine: &Machine) -> Home {
    Home::there_on(Arc::new(machine.clone()), Path::new(STATE))
}

fn spawn(machine: &Machine, program: Program) {
    machine.world.step(|| format!("starts {}", program.name()));
    let mut state = machine.world.lock();
    if state.is_alive(machine.pid) {
        machine.world.spawn(&mut state, machine.host, machine.user, program);
    }
}

fn note(machine: &Machine, what: &str) {
    machine.world.lock().note(machine.pid, what);
}

/// `apply`, as far as it goes after the question.
fn apply(machine: &Machine, (id, plan): (&'static str, usize), window_s: u64, decision: Decision) {
    let planned = &site().plans[plan];
    let home = match Home::open_on(Arc::new(machine.clone()), Path::new(STATE)) {
        Ok(home) => home,
        Err(error) => return note(machine, &error.to_string()),
    };
    machine.world.lock().monitor.watch(id, machine.host, plan, window_s);
    let boot = machine.boot_time().boot;
    let begun = Begun {
        id: id.to_owned(),
        host: machine.host_name(),
        boot,
        time: machine.now().to_string(),
        user: format!("uid {}", machine.user),
        pid: machine.pid,
        source: "sim:world".to_owned(),
        via: "direct".to_owned(),
        window_s,
        plan: planned.plan.hash.clone(),
        switches: planned.switches.clone(),
        lost_before: planned.lost_before,
        writes: planned.plan.writes.clone(),
        ..Begun::default()
    };
    let (kept, keeping) = match home.begin(begun, &planned.text) {
        Ok(begun) => begun,
        Err(error) => return note(machine, &error.to_string()),
    };
    drop(keeping);
    spawn(machine, Program::Guard { id: id.to_owned(), errand: Errand::Apply });
    loop {
        match status(machine, &home, &kept) {
            Some(status) if status.phase == Phase::Applied => break,
            Some(status) if status.phase.is_pending() => machine.sleep(Duration::from_millis(200)),
            _ => return,
        }
    }
    decide(machine, id, decision);
}

/// A guard for a change that has none: of this machine's alone.
fn start_keeper(machine: &Machine, kept: &Kept) -> Result<(), String> {
    if kept.read.told.host != machine.host_name() {
        return Err("another machine keeps it".to_owned());
    }
    let id = kept.read.told.begun.id.clone();
    spawn(machine, Program::Guard { id, errand: Errand::TakeOver });
    Ok(())
}

fn status(machine: &Machine, home: &Home, kept: &Kept) -> Option<Status> {
    let told = request_status(home, kept, &mut || start_keeper(machine, kept));
    match told {
        Ok(status) => {
            machine.world.lock().hear_phase(machine.pid, &status.id, status.phase);
            Some(status)
        }
        Err(error) => {
            note(machine, &format!("{error:?}"));
            None
        }
    }
}

/// `confirm`, `extend` or `rollback`, and what came of it.
fn decide(machine: &Machine, id: &str, decision: Decision) {
    let home = home_of(machine);
    let user = format!("uid {}", machine.user);
    let ask = |ask: Ask| -> Option<Answer> {
        let kept = home.find(id).ok()?;
        if !kept.read.told.phase.is_pending() {
            machine.world.lock().hear_phase(machine.pid, id, kept.read.told.phase);
            return None;
        }
        match request(&home, &kept, &ask, &mut || start_keeper(machine, &kept)) {
            Ok(answer) => {
                note(machine, &format!("{answer:?}"));
                if let Answer::Status(status) = &answer {
                    machine.world.lock().hear_phase(machine.pid, id, status.phase);
                }
                Some(answer)
            }
            Err(RequestError::Start(error)) => {
                note(machine, &error);
                None
            }
            Err(error) => {
                note(machine, &format!("{error:?}"));
                None
            }
        }
    };
    match decision {
        Decision::Leave => {}
        Decision::Confirm => _ = ask(Ask::Confirm { user }),
        Decision::ExtendAndConfirm => {
            ask(Ask::Extend { user: user.clone(), seconds: 20 });
            machine.sleep(Duration::from_secs(15));
            ask(Ask::Confirm { user });
        }
        Decision::RollBack => _ = ask(Ask::RollBack { user, anyway: false }),
    }
}

/// `guard --begin` and `guard --keep`.
fn keep_one(machine: &Machine, id: &str, errand: Errand) {
    let home = home_of(machine);
    let Ok(kept) = home.find(id) else { return };
    match take_keeping(&kept) {
        Ok(Some(keeping)) => keep(machine, &home, &kept, (keeping, errand)),
        Ok(None) => note(machine, "the change has a guard"),
        Err(error) => note(machine, &error.to_string()),
    }
}

fn keep(machine: &Machine, home: &Home, kept: &Kept, (keeping, errand): (fabdeck_change::Keeping, Errand)) {
    let id = kept.read.told.begun.id.clone();
    let guard = GuardProcess {
        home,
        kept,
        rights: Rights::default(),
        socket_folder: Some(SOCKETS.into()),
        open: &mut || WorldActuator::open(machine, &id).map(|hands| Box::new(hands) as Box<dyn Actuator>),
        start: &mut |mode| {
            let id = id.clone();
            spawn(
                machine,
                match mode {
                    GuardMode::Second => Program::Second { id },
                    GuardMode::Successor => Program::Guard { id, errand: Errand::TakeOver },
                },
            );
            Ok(None)
        },
        say: &mut |line| note(machine, line),
        stop: &|| machine.has_to_end(),
    };
    if let Err(error) = guard.run(keeping, errand) {
        note(machine, &error.to_string());
    }
}

/// `guard --second`.
fn keep_second(machine: &Machine, id: &str) {
    let home = home_of(machine);
    let Ok(kept) = home.find(id) else { return };
    match wait_beside(&home, kept, "second", &|| machine.has_to_end()) {
        Ok(Some(replaced)) => {
            note(machine, &replaced.0);
            machine.world.lock().process(machine.pid).name = format!("guard {id}");
            keep_one(machine, id, Errand::TakeOver);
        }
        Ok(None) => {}
        Err(error) => note(machine, &error.to_string()),
    }
}

/// `guard --resume`.
fn resume(machine: &Machine) {
    let home = home_of(machine);
    let Ok(pending) = home.pending() else { return };
    for kept in pending.into_iter().flatten() {
        let here = kept.read.told.host == machine.host_name();
        if kept.is_abandoned() && here && kept.is_own() {
            let id = kept.read.told.begun.id.clone();
            spawn(machine, Program::Guard { id, errand: Errand::TakeOver });
        }
    }
}

/// Another user: asks the guard for what it may not have, and opens and locks what it can.
fn disturb(machine: &Machine, id: &str, for_s: u64) {
    let mut held = Vec::new();
    for second in 0..for_s {
        let user = "root".to_owned();
        for ask in [Ask::Confirm { user: user.clone() }, Ask::RollBack { user: user.clone(), anyway: true }] {
            let answer = machine.ask(&socket_in(Path::new(SOCKETS), id), &ask, Duration::from_secs(1));
            assert!(!matches!(answer, Ok(Answer::Status(_))), "a user without rights was obeyed");
        }
        if second < 3 {
            let names = ["lock", "audit.lock", "changes/000001/guard.lock", "changes/000001/second.lock"];
            for name in names {
                let file = machine.open(&Path::new(STATE).join(name), fabdeck_change::OpenMode::Read);
                let locked = file.ok().filter(|file| file.try_lock(true).is_ok());
                held.extend(locked);
            }
        }
        machine.sleep(Duration::from_secs(1));
    }
}
