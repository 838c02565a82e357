//! What the processes of the world do: the same functions that the commands call.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::fabric::{WorldActuator, site};
use super::opensm::{self, OPENSM};
use super::scheduler::{Pid, World};
use super::simulated_process::SimulatedProcess;
use super::{SOCKETS, STATE, attackers};
use fabdeck_change::{
    BeginRecord, ChangeDir, ChangePhase, ChangeStatus, ChangeStore, Clocks, ComparedFabric, GuardAnswer,
    GuardMode, GuardProcess, GuardRequest, GuardRole, RequestError, System, compare_changes, current_phase,
    request_status, send_with_restart, take_guard_lock, wait_as_standby,
};
use fabdeck_mad::access::{Actuator, DeviceId, NoObserver, ReadOptions, Surveyor as _};

/// What the process that applied a change does once it waits.
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
        errand: GuardMode,
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
    /// A user who opens lock files that everybody may read, and takes each lock as soon as it is free.
    HoldLocks {
        for_s: u64,
    },
    /// Many callers who ask again as soon as they are answered.
    Flood {
        id: &'static str,
        for_ms: u64,
    },
    /// A user to whom some rights are granted.
    Colleague {
        id: &'static str,
    },
    /// `changes --verify`.
    Compare,
    /// Another process of the owner that decides too.
    Decide {
        id: &'static str,
        decision: Decision,
    },
    Opensm,
    /// Another program of the name opensm.
    PretendOpensm {
        for_s: u64,
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
            Self::HoldLocks { .. } => "lock holder".to_owned(),
            Self::Flood { .. } => "flood".to_owned(),
            Self::Colleague { .. } => "colleague".to_owned(),
            Self::Compare => "compare".to_owned(),
            Self::Decide { id, .. } => format!("decide {id}"),
            Self::Opensm | Self::PretendOpensm { .. } => OPENSM.to_owned(),
        }
    }

    pub fn run(self, world: &Arc<World>, host: usize, pid: Pid, user: u32) {
        let machine = SimulatedProcess { world: Arc::clone(world), host, pid, user };
        match self {
            Self::Apply { id, plan, window_s, decision } => apply(&machine, (id, plan), window_s, decision),
            Self::Guard { id, errand } => run_guard_of(&machine, &id, errand),
            Self::Second { id } => run_standby_guard(&machine, &id),
            Self::Resume => resume(&machine),
            Self::Hostile { id, for_s } => attackers::disturb(&machine, id, for_s),
            Self::HoldLocks { for_s } => attackers::hold_locks(&machine, for_s),
            Self::Flood { id, for_ms } => attackers::flood(&machine, id, for_ms),
            Self::Colleague { id } => attackers::use_rights(&machine, id),
            Self::Compare => compare(&machine),
            Self::Decide { id, decision } => decide(&machine, id, decision),
            Self::Opensm => opensm::run_opensm(&machine),
            Self::PretendOpensm { for_s } => opensm::pretend(&machine, for_s),
        }
    }
}

fn home_of(machine: &SimulatedProcess) -> ChangeStore {
    ChangeStore::open_existing_on(Arc::new(machine.clone()), Path::new(STATE))
}

fn spawn(machine: &SimulatedProcess, program: Program) {
    machine.world.step(|| format!("starts {}", program.name()));
    let mut state = machine.world.lock();
    if state.is_alive(machine.pid) {
        machine.world.spawn(&mut state, machine.host, machine.user, program);
    }
}

pub fn note(machine: &SimulatedProcess, what: &str) {
    machine.world.lock().note(machine.pid, what);
}

/// `apply`, as far as it goes after the question.
fn apply(machine: &SimulatedProcess, (id, plan): (&'static str, usize), window_s: u64, decision: Decision) {
    let planned = &site().plans[plan];
    let home = match ChangeStore::open_on(Arc::new(machine.clone()), Path::new(STATE)) {
        Ok(home) => home,
        Err(error) => return note(machine, &error.to_string()),
    };
    let opensm = opensm::site_of_opensm(machine).and_then(|site| match &site {
        Some(there) => opensm::refusals(machine, &planned.plan, there).map(|()| site),
        None => Ok(None),
    });
    let opensm = match opensm {
        Ok(opensm) => opensm,
        Err(why) => return note(machine, &why),
    };
    machine.world.lock().monitor.watch(id, machine.host, plan, window_s);
    let boot = machine.boot_time().boot;
    let begun = BeginRecord {
        id: id.to_owned(),
        host: machine.host_name(),
        boot,
        time: machine.now().to_string(),
        user: format!("uid {}", machine.user),
        pid: machine.pid,
        source: "sim:world".to_owned(),
        via: if opensm.is_some() { "opensm" } else { "direct" }.to_owned(),
        opensm,
        window_s,
        plan: planned.plan.hash.clone(),
        switches: planned.switches.clone(),
        lost_before: planned.lost_before,
        writes: planned.plan.writes.clone(),
        ..BeginRecord::default()
    };
    let (kept, keeping) = match home.begin(begun, &planned.text) {
        Ok(begun) => begun,
        Err(error) => return note(machine, &error.to_string()),
    };
    drop(keeping);
    spawn(machine, Program::Guard { id: id.to_owned(), errand: GuardMode::Apply });
    loop {
        match status(machine, &home, &kept) {
            Some(status) if status.phase == ChangePhase::Applied => break,
            Some(status) if status.phase.is_pending() => machine.sleep(Duration::from_millis(200)),
            _ => return,
        }
    }
    decide(machine, id, decision);
}

/// A guard for a change that has none: of this machine's alone.
fn start_successor(machine: &SimulatedProcess, kept: &ChangeDir) -> Result<(), String> {
    if kept.read.state.host != machine.host_name() {
        return Err("another machine keeps it".to_owned());
    }
    let id = kept.read.state.begun.id.clone();
    spawn(machine, Program::Guard { id, errand: GuardMode::TakeOver });
    Ok(())
}

fn status(machine: &SimulatedProcess, home: &ChangeStore, kept: &ChangeDir) -> Option<ChangeStatus> {
    let told = request_status(home, kept, &mut || start_successor(machine, kept));
    match told {
        Ok(status) => {
            machine.world.lock().observe_phase(machine.pid, &status.id, status.phase);
            Some(status)
        }
        Err(error) => {
            note(machine, &format!("{error:?}"));
            None
        }
    }
}

/// `confirm`, `extend` or `rollback`, and what came of it.
fn decide(machine: &SimulatedProcess, id: &str, decision: Decision) {
    let home = home_of(machine);
    let user = format!("uid {}", machine.user);
    let ask = |ask: GuardRequest| -> Option<GuardAnswer> {
        let kept = home.find(id).ok()?;
        let phase = kept.read.state.phase;
        if !phase.is_pending() && !current_phase(&kept).is_pending() {
            machine.world.lock().observe_phase(machine.pid, id, phase);
            return None;
        }
        match send_with_restart(&home, &kept, &ask, &mut || start_successor(machine, &kept)) {
            Ok(answer) => {
                note(machine, &format!("{answer:?}"));
                if let GuardAnswer::Status(status) = &answer {
                    machine.world.lock().observe_phase(machine.pid, id, status.phase);
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
        Decision::Confirm => _ = ask(GuardRequest::Confirm { user }),
        Decision::ExtendAndConfirm => {
            ask(GuardRequest::Extend { user: user.clone(), seconds: 20 });
            machine.sleep(Duration::from_secs(15));
            ask(GuardRequest::Confirm { user });
        }
        Decision::RollBack => _ = ask(GuardRequest::RollBack { user, anyway: false }),
    }
}

/// `guard --begin` and `guard --keep`.
fn run_guard_of(machine: &SimulatedProcess, id: &str, errand: GuardMode) {
    let home = home_of(machine);
    let Ok(kept) = home.find(id) else { return };
    match take_guard_lock(&kept) {
        Ok(Some(keeping)) => run_guard(machine, &home, &kept, (keeping, errand)),
        Ok(None) => note(machine, "the change has a guard"),
        Err(error) => note(machine, &error.to_string()),
    }
}

fn run_guard(
    machine: &SimulatedProcess,
    home: &ChangeStore,
    kept: &ChangeDir,
    (keeping, errand): (fabdeck_change::GuardLock, GuardMode),
) {
    let id = kept.read.state.begun.id.clone();
    let guard = GuardProcess {
        home,
        change_dir: kept,
        rights: machine.world.lock().rights.clone(),
        socket_folder: Some(SOCKETS.into()),
        open: &mut || WorldActuator::open(machine, &id).map(|hands| Box::new(hands) as Box<dyn Actuator>),
        start: &mut |mode| {
            let id = id.clone();
            spawn(
                machine,
                match mode {
                    GuardRole::Second => Program::Second { id },
                    GuardRole::Successor => Program::Guard { id, errand: GuardMode::TakeOver },
                },
            );
            Ok(None)
        },
        log: &mut |line| note(machine, line),
        stop: &|| machine.has_to_end(),
    };
    if let Err(error) = guard.run(keeping, errand) {
        note(machine, &error.to_string());
    }
}

/// `guard --second`.
fn run_standby_guard(machine: &SimulatedProcess, id: &str) {
    let home = home_of(machine);
    let Ok(kept) = home.find(id) else { return };
    match wait_as_standby(&home, kept, "second", &|| machine.has_to_end()) {
        Ok(Some(replaced)) => {
            note(machine, &replaced.0);
            machine.world.lock().process(machine.pid).name = format!("guard {id}");
            run_guard_of(machine, id, GuardMode::TakeOver);
        }
        Ok(None) => {}
        Err(error) => note(machine, &error.to_string()),
    }
}

/// Ends a guard that is stopped while it writes or rolls back.
fn ends_stopped_guard(machine: &SimulatedProcess, kept: &ChangeDir) -> bool {
    let ended = kept.is_stopped_under_way() && kept.end_guard().is_ok_and(|ended| ended.is_some());
    if ended {
        note(machine, "ended a stopped guard");
    }
    ended
}

/// `guard --resume`.
fn resume(machine: &SimulatedProcess) {
    let home = home_of(machine);
    let Ok(pending) = home.list_pending() else { return };
    for kept in pending.into_iter().flatten() {
        let here = kept.read.state.host == machine.host_name();
        if here && kept.is_own() && (kept.is_abandoned() || ends_stopped_guard(machine, &kept)) {
            let id = kept.read.state.begun.id.clone();
            spawn(machine, Program::Guard { id, errand: GuardMode::TakeOver });
        }
    }
}

/// `changes --verify`: compares confirmed changes with the fabric.
fn compare(machine: &SimulatedProcess) {
    let Ok(kept) = home_of(machine).list() else { return };
    let history: Vec<_> = kept.into_iter().flatten().map(|kept| kept.read.state).collect();
    let Ok(mut way) = WorldActuator::open(machine, "") else { return };
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let Ok(look) = way.read_fabric(wanted, &mut NoObserver) else { return };
    let name = |device: DeviceId| device.guid().to_string();
    let compared = ComparedFabric { surveyor: &mut way, look: &look, is_partial: false, name: &name };
    for (at, attestation) in compare_changes(compared, &history, &NoObserver).unwrap() {
        note(machine, &format!("{} {}", history[at].begun.id, attestation.verdict.title()));
    }
}
