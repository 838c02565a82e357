//! What attackers, reviews and earlier seeds found, each as a script of its own. The invariants are checked after every step
//! here too.

mod clocks;
mod disks;
mod locks;
mod machines;
mod opensm;
mod processes;
mod users;
mod writes;

use std::path::Path;
use std::sync::Arc;

use fabdeck_change::ChangePhase;
use jiff::Timestamp;

use super::chaos::Chaos;
use super::disk::LockScope;
use super::programs::{Decision, Program};
use super::scheduler::{Event, World};
use super::{HOUR_MS, OTHER, OWNER, STATE, run, start_timers, world};

const ID: &str = "aaaa0001";

fn apply(id: &'static str, plan: usize, decision: Decision) -> Program {
    Program::Apply { id, plan, window_s: 30, decision }
}

/// A world with one change at the beginning, and what happens at its times, or at lines of the trace. It is without systemd's
/// timer until a machine starts again: that would hide that guards do nothing.
fn play_scenario(
    shared: Option<LockScope>,
    decision: Decision,
    at: Vec<(u64, Event)>,
    triggers: Vec<(&'static str, Event)>,
) -> Arc<World> {
    let world = world(7, shared, 0, Chaos::none());
    let mut state = world.lock();
    state.schedule_after(0, Event::Start { host: 0, user: OWNER, program: apply(ID, 0, decision) });
    at.into_iter().for_each(|(ms, event)| state.schedule_after(ms, event));
    state.triggers = triggers;
    drop(state);
    world
}

/// How a change ended, where no invariant was broken.
fn ended(world: &Arc<World>, id: &str) -> Option<ChangePhase> {
    if let Err(what) = run(world) {
        panic!("{what}");
    }
    let state = world.lock();
    assert!(
        state.triggers.is_empty(),
        "the moment never came: {:?}\n{}",
        state.triggers,
        state.trace.join("\n")
    );
    state.monitor.changes.get(id).and_then(|watched| watched.phase)
}

/// A process of the owner on the first machine.
fn start(program: Program) -> Event {
    Event::Start { host: 0, user: OWNER, program }
}

fn decide(decision: Decision) -> Event {
    start(Program::Decide { id: ID, decision })
}

/// Nothing: one more line of the trace is waited for.
const NOTHING: Event = Event::Silence { for_ms: 0 };
const JOURNAL_GROWS: &str = "appends to /var/lib/fabdeck/changes/000001/journal";

/// Seconds at which a text is in the trace.
fn seconds_of(world: &Arc<World>, text: &str) -> Vec<f64> {
    let state = world.lock();
    let lines = state.trace.iter().filter(|line| line.contains(text));
    lines.map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect()
}

/// How often a text is in the trace.
fn count_messages(world: &Arc<World>, text: &str) -> usize {
    world.lock().trace.iter().filter(|line| line.contains(text)).count()
}

/// A file of the first machine's state folder.
fn state_file(world: &Arc<World>, name: &str) -> String {
    let state = world.lock();
    let bytes = state.disks[0].bytes(&Path::new(STATE).join(name)).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// When the first line of this kind was written to the audit trail.
fn audit_time(world: &Arc<World>, what: &str) -> Timestamp {
    let trail = state_file(world, "audit");
    let line = trail.lines().find(|line| line.contains(&format!("\"what\":\"{what}\"")));
    let line = line.unwrap_or_else(|| panic!("no line {what}: {trail}"));
    let time = line.split("\"time\":\"").nth(1).and_then(|rest| rest.split('"').next());
    time.unwrap().parse().unwrap()
}

fn has_message(world: &Arc<World>, text: &str) -> bool {
    world.lock().trace.iter().any(|line| line.contains(text))
}
