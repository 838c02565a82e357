//! kill -9 at every moment of an update in five phases, and behind some over a fabric with traffic: the next guard brings
//! all hosts back to base LIDs, over the tables of before, and no host uses these while they change.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fabdeck_change::{
    ChangePhase, GuardRequest, HostNotification, Journal, JournalError, JournalRecord, Plan,
};
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{Actuator, NoObserver, ReadOptions, Surveyor};
use fabdeck_simulator::SharedSimulator;

use super::phases::{ObservingActuator, StateAfterWrite, flows, is_high, lab, pass, plan, with_agents};
use super::window::{applied, send_ask};
use super::{Course, KilledProcess, Stage, WatchedPort, actuator, observe_simulator, order_channel};

const NOBODY: StateAfterWrite = StateAfterWrite { at_base: 0, credit_loop: false };

/// What is left of a run that is killed at a moment, taken over by a guard that may be killed too.
fn killed_at((simulator, plan): (&SharedSimulator, &Plan), moment: usize, again: Option<usize>) -> bool {
    let before = observe_simulator(simulator).tables;
    let mut stage = Stage::new(simulator, plan);
    stage.witness.course().killed_at = Some(moment);
    let (_sender, orders) = order_channel();
    let run = catch_unwind(AssertUnwindSafe(|| stage.apply(0, &orders)));
    let Err(payload) = run else { return false };
    assert!(payload.is::<KilledProcess>(), "a panic of its own at moment {moment}");
    let check = |stage: &Stage<'_>| {
        let course = stage.witness.course();
        assert_eq!((course.early, course.at_base), (0, 0), "moment {moment}, {again:?}");
    };
    check(&stage);
    let mut left = stage.witness.journal_prefix(moment % 3);
    if let Some(again) = again {
        let course = Course { killed_at: Some(again), ..Course::default() };
        let run = catch_unwind(AssertUnwindSafe(|| stage.take_over_on(course, &left, &orders)));
        check(&stage);
        if run.is_err() {
            left = stage.witness.journal_prefix(again % 3);
        }
    }
    match stage.take_over(&left, &orders) {
        Err(JournalError::Empty { .. }) => assert!(stage.witness.course().sets.is_empty(), "moment {moment}"),
        Err(error) => panic!("moment {moment}: {error}"),
        Ok(told) => {
            assert_eq!(told.phase, ChangePhase::RolledBack, "moment {moment}, {again:?}: {told:?}");
            let hosts = [HostNotification::Recalled, HostNotification::NotNotified];
            assert!(hosts.contains(&told.hosts), "moment {moment}, {again:?}: {:?}", told.hosts);
            check(&stage);
        }
    }
    assert!(observe_simulator(simulator).tables == before, "moment {moment}, {again:?}");
    assert!(stage.listeners.lock().unwrap().moved.is_empty(), "moment {moment}, {again:?}");
    true
}

/// Every moment of it: its window is over at once, so that the way back is among them.
#[test]
fn every_crash_brings_hosts_back_to_base_lids_over_the_tables_of_before() {
    let simulator = lab(7);
    let plan = plan(&simulator, "nue", true);
    let at = (&simulator, &plan);
    let moments = (1..).take_while(|moment| killed_at(at, *moment, None)).count();
    println!("said: killed at each of {moments} moments");
    assert!(moments > 90, "{moments}");
    // And the successor is killed as well.
    for (at, again) in (1..moments).step_by(7).zip((1..).step_by(5).cycle()) {
        killed_at((&simulator, &plan), at, Some(again % 40 + 1));
    }
}

/// One agent is dead, and the guard is killed at every moment of finding that out: nothing was written, so nothing is left of
/// it. Only where it does not stand yet who left is the silent one left by name, for it may have.
#[test]
fn a_crash_while_a_host_is_silent_is_recovered() {
    let simulator = lab(7);
    let plan = plan(&simulator, "nue", true);
    let silent = &plan.phases.as_ref().unwrap().hosts[3].port;
    let (lid, name) = (Lid::new(silent.lid.into()).unwrap(), format!("host {}", silent.name));
    let mut ends = std::collections::BTreeMap::<String, usize>::new();
    for moment in 1.. {
        let mut stage = Stage::new(&simulator, &plan);
        stage.listeners.lock().unwrap().mute.insert(lid);
        stage.witness.course().killed_at = Some(moment);
        let (_sender, orders) = order_channel();
        if catch_unwind(AssertUnwindSafe(|| stage.apply(60, &orders))).is_ok() {
            break;
        }
        let left = stage.witness.journal_prefix(moment % 3);
        let stood = Journal::read("journal", &left).is_ok_and(|read| read.state.knows_who_left);
        let told = match stage.take_over(&left, &orders) {
            Err(JournalError::Empty { .. }) => continue,
            told => told.unwrap(),
        };
        let ended = told.ended.clone().unwrap();
        let left: Vec<&str> = ended.left.iter().map(|left| left.what.as_str()).collect();
        match told.phase {
            ChangePhase::Incomplete => {
                assert!(!stood && left == [name.as_str()], "moment {moment}: {told:?}")
            }
            _ => assert!(left.is_empty(), "moment {moment}: {told:?}"),
        }
        assert!(told.away.is_empty(), "moment {moment}: {told:?}");
        assert!(stage.witness.course().sets.is_empty(), "moment {moment}");
        *ends.entry(format!("{:?}", told.phase)).or_default() += 1;
    }
    println!("said: it ends as {ends:?}");
    assert!(ends["RolledBack"] > 5 && ends["Incomplete"] > 0, "{ends:?}");
}

/// Nothing was written, and another tool has written since, the same bytes or others: its bytes stay, and no part is
/// left for the change to answer for.
#[test]
fn what_others_wrote_stays_where_nothing_was_written() {
    for others in [false, true] {
        let simulator = lab(7);
        let plan = plan(&simulator, "nue", true);
        let silent = Lid::new(plan.phases.as_ref().unwrap().hosts[3].port.lid.into()).unwrap();
        let (_sender, orders) = order_channel();
        let killed = |moment: usize| {
            let mut stage = Stage::new(&simulator, &plan);
            stage.listeners.lock().unwrap().mute.insert(silent);
            stage.witness.course().killed_at = Some(moment);
            let run = catch_unwind(AssertUnwindSafe(|| stage.apply(60, &orders)));
            assert!(run.is_err(), "moment {moment}");
            stage
        };
        let knows = |stage: &Stage<'_>| {
            Journal::read("journal", &stage.witness.journal_prefix(2))
                .is_ok_and(|read| read.state.knows_who_left)
        };
        let mut stage = (1..).map(killed).find(knows).unwrap();
        let mut hands = actuator(&simulator);
        hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
        for write in &plan.writes {
            let mut step = write.to_step().unwrap();
            // A base LID that no port has: no path uses it, and its bytes are neither old nor new ones.
            step.new[63] = if others { 1 } else { step.new[63] };
            hands.write(&step.slot, &step.new).unwrap();
        }
        let theirs = observe_simulator(&simulator).tables;
        let left = stage.witness.journal_prefix(2);
        let told = stage.take_over(&left, &orders).unwrap();
        assert_eq!(
            (told.phase, told.hosts, told.written),
            (ChangePhase::RolledBack, HostNotification::PartlyRecalled, 0)
        );
        assert!(stage.witness.course().sets.is_empty() && observe_simulator(&simulator).tables == theirs);
    }
}

/// Nothing was written, and one host is left by name: asked for once more, hosts are called back, and none leaves again.
#[test]
fn a_second_crash_calls_hosts_back_and_moves_none_away() {
    let simulator = lab(7);
    let plan = plan(&simulator, "nue", true);
    let silent = Lid::new(plan.phases.as_ref().unwrap().hosts[3].port.lid.into()).unwrap();
    let (_sender, orders) = order_channel();
    for moment in 1.. {
        let mut stage = Stage::new(&simulator, &plan);
        stage.listeners.lock().unwrap().mute.insert(silent);
        stage.witness.course().killed_at = Some(moment);
        assert!(catch_unwind(AssertUnwindSafe(|| stage.apply(60, &orders))).is_err(), "none is left by name");
        let left = stage.witness.journal_prefix(2);
        if !stage.take_over(&left, &orders).is_ok_and(|told| told.phase == ChangePhase::Incomplete) {
            continue;
        }
        stage.listeners.lock().unwrap().mute.clear();
        let read = Journal::read("journal", &stage.witness.journal_prefix(2)).unwrap();
        let mut journal = Journal::resume_on(Box::new(WatchedPort(stage.witness.clone())), &read);
        journal
            .append_durably(&JournalRecord::Again { time: "now".into(), user: "ada".into(), anyway: false })
            .unwrap();
        let again = stage.witness.journal_prefix(2);
        let told = stage.take_over(&again, &orders).unwrap();
        assert_eq!(
            (told.phase, told.hosts, told.written),
            (ChangePhase::RolledBack, HostNotification::Recalled, 0)
        );
        let course = stage.witness.course();
        assert!(course.sets.is_empty());
        let back: Vec<bool> =
            course.notices.iter().flat_map(|(_, notices)| notices).map(|one| one.back).collect();
        assert_eq!(back, [true]);
        return;
    }
}

/// Over traffic, in each phase: before the notice and behind it, at the first write, in the midst and at the last, before
/// hosts are called back and behind it.
#[test]
fn a_guard_that_is_killed_in_any_phase_leaves_nothing_that_packets_would_see() {
    let writes = {
        let simulator = with_agents(7);
        plan(&simulator, "nue", true).writes.len()
    };
    let last = 2 + 2 * writes;
    for lives in [0, 1, 2, 3, 2 + writes, last - 1, last, last + 1] {
        let simulator = with_agents(7);
        let plan = plan(&simulator, "nue", true);
        let before = observe_simulator(&simulator).tables;
        let mut stage = Stage::new(&simulator, &plan);
        let (_sender, orders) = order_channel();
        let mut first = ObservingActuator::new(&simulator);
        first.lives = Some(lives);
        let now = &fabdeck_change::SystemClocks;
        let run =
            catch_unwind(AssertUnwindSafe(|| stage.apply_with(&mut first, 60, &orders, now, &mut |_| ())));
        assert!(run.is_err_and(|payload| payload.is::<KilledProcess>()), "{lives}");
        let left = stage.witness.journal_prefix(2);
        let mut second = ObservingActuator::new(&simulator);
        let mut said = Vec::new();
        let told = stage.take_over_with(&mut second, &left, &orders, &mut |line| said.push(line.to_owned()));
        assert_eq!(
            (told.phase, told.hosts),
            (ChangePhase::RolledBack, HostNotification::Recalled),
            "{lives}: {said:?}"
        );
        pass(&simulator, std::time::Duration::from_millis(2));
        assert!(observe_simulator(&simulator).tables == before, "{lives}");
        assert!(first.behind.iter().chain(&second.behind).all(|behind| *behind == NOBODY), "{lives}");
        let at: Vec<_> = flows(&simulator).into_iter().flat_map(|(_, to)| to).collect();
        assert!(at.iter().all(|(lid, level)| !is_high(*lid) && *level == 0), "{lives}: {at:?}");
        let order = simulator.with_simulator(|simulator| simulator.fabric_mut().flow_orders());
        assert!(order.iter().all(|order| order.overtaken + order.lost == 0), "{lives}: {order:?}");
    }
}

/// A change that is taken back by a person goes the same way.
#[test]
fn a_rollback_goes_through_the_same_phases() {
    let simulator = with_agents(7);
    let plan = plan(&simulator, "nue", true);
    let before = observe_simulator(&simulator).tables;
    let (sender, orders) = order_channel();
    let (told, hands, said) = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || {
            let (mut stage, mut hands) = (Stage::new(simulator, plan), ObservingActuator::new(simulator));
            let now = &fabdeck_change::SystemClocks;
            let mut said = Vec::new();
            let mut say = |line: &str| said.push(line.to_owned());
            let told = stage.apply_with(&mut hands, 60, &orders, now, &mut say);
            (told, hands, said)
        });
        applied(&sender);
        send_ask(&sender, GuardRequest::RollBack { user: "ada".into(), anyway: false });
        running.join().unwrap()
    });
    assert_eq!((told.phase, told.hosts), (ChangePhase::RolledBack, HostNotification::Recalled));
    assert!(said.iter().any(|line| line.starts_with("notified")), "{said:?}");
    assert!(said.iter().all(|line| !line.contains("tables go back while")), "every host answered: {said:?}");
    let writes = plan.writes.len();
    let notices: Vec<_> = hands.notices.iter().map(|(at, notice)| (*at, notice.back)).collect();
    assert_eq!(notices, [(0, false), (writes, true), (writes, false), (2 * writes, true)]);
    let numbers: std::collections::BTreeSet<u32> =
        hands.notices.iter().map(|(_, notice)| notice.number).collect();
    assert_eq!(numbers.len(), 4, "each round is known by its number");
    assert_eq!(hands.behind, vec![NOBODY; 2 * writes]);
    assert!(observe_simulator(&simulator).tables == before);
    let order = simulator.with_simulator(|simulator| simulator.fabric_mut().flow_orders());
    assert!(order.iter().all(|order| order.overtaken + order.lost == 0), "{order:?}");
}
