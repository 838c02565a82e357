//! A fabric that is out of reach while its change has to go back: it is tried again, and asked for again.

use std::time::{Duration, Instant};

use fabdeck_change::{
    ChangePhase, GuardAnswer, GuardMode, GuardRequest, Journal, JournalRecord, MemoryDisk, Plan,
};
use fabdeck_fabric::{NodeId, NodeKind, PortNum};
use fabdeck_simulator::SharedSimulator;
use jiff::SignedDuration;

use super::processes::{DEMO, ServedLab};
use super::window::{applied, send_ask, status};
use super::{Stage, make_simulator_and_plan, observe_simulator, order_channel};

/// The cable of the port that everything goes through.
fn cable(simulator: &SharedSimulator, up: bool) {
    let seat = PortNum(1);
    let hosts = |simulator: &fabdeck_simulator::Simulator| {
        let fabric = simulator.fabric().snapshot();
        let adapter = |id: &NodeId| fabric.node(*id).facts.kind == NodeKind::ChannelAdapter;
        fabric.nodes().map(|(id, _)| id).find(adapter).unwrap()
    };
    simulator.with_simulator(|simulator| {
        let host = hosts(simulator);
        simulator.fabric_mut().set_link(host, seat, up);
    });
}

fn stage() -> (SharedSimulator, Plan) {
    make_simulator_and_plan("kary,k=3,n=2", "updn")
}

/// The cable is pulled in the window, and put back when the rollback has begun: one request rolls everything back.
#[test]
fn a_fabric_out_of_reach_is_tried_again_until_it_is_back() {
    let (simulator, plan) = stage();
    let before = observe_simulator(&simulator).tables;
    let (sender, orders) = order_channel();
    let (told, said) = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || {
            let mut stage = Stage::new(simulator, plan);
            (stage.apply(600, &orders).unwrap(), stage.said)
        });
        applied(&sender);
        cable(simulator, false);
        send_ask(&sender, GuardRequest::RollBack { user: "bob".into(), anyway: false });
        let since = Instant::now();
        let away = loop {
            let status = status(&sender);
            assert_eq!(status.phase, ChangePhase::RollingBack);
            match status.trouble {
                Some(away) => break away,
                None => assert!(since.elapsed() < Duration::from_secs(10)),
            }
        };
        assert!(away.contains("FD-5658") && away.contains("none of its switches can be seen"), "{away}");
        let confirm = send_ask(&sender, GuardRequest::Confirm { user: "bob".into() });
        assert!(matches!(confirm, GuardAnswer::Refused { why } if why.contains("FD-5655")));
        cable(simulator, true);
        // A request retries at once.
        send_ask(&sender, GuardRequest::RollBack { user: "eve".into(), anyway: true });
        running.join().unwrap()
    });
    assert_eq!((told.phase, told.asked), (ChangePhase::RolledBack, true));
    assert!(observe_simulator(&simulator).tables == before);
    let of = |word: &str| said.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((of("out of reach"), of("within reach again"), of("refused: confirm")), (1, 1, 1), "{said:?}");
}

/// One silent switch is not a fabric out of reach: it is left and named, and not waited for.
#[test]
fn a_silent_switch_is_left_and_named_at_once() {
    let (simulator, plan) = stage();
    let (sender, orders) = order_channel();
    let root = plan.writes.last().unwrap().at.guid().to_owned();
    let (told, said) = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || {
            let mut stage = Stage::new(simulator, plan);
            stage.patience = SignedDuration::from_millis(500);
            (stage.apply(600, &orders).unwrap(), stage.said)
        });
        applied(&sender);
        simulator.with_simulator(|simulator| {
            let fabric = simulator.fabric().snapshot();
            let silent = fabric.switches().find(|(_, node)| node.guid().to_string() == root).unwrap().0;
            simulator.fabric_mut().set_silent(silent, true);
        });
        send_ask(&sender, GuardRequest::RollBack { user: "bob".into(), anyway: true });
        running.join().unwrap()
    });
    let left = told.ended.unwrap().left;
    assert!(
        told.phase == ChangePhase::Incomplete && left.len() == 1 && left[0].what.ends_with(&root),
        "{left:?}"
    );
    assert!(!said.iter().any(|line| line.starts_with("out of reach")), "{said:?}");
}

/// It is not tried for ever; what is left is named, and may be asked for again.
#[test]
fn a_fabric_that_stays_out_of_reach_ends_incomplete_and_can_be_asked_for_again() {
    let (simulator, plan) = stage();
    let before = observe_simulator(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    stage.patience = SignedDuration::from_millis(500);
    let (sender, orders) = order_channel();
    let mut told = std::thread::scope(|scope| {
        let stage = &mut stage;
        let running = scope.spawn(move || stage.apply(600, &orders).unwrap());
        applied(&sender);
        cable(&simulator, false);
        send_ask(&sender, GuardRequest::RollBack { user: "bob".into(), anyway: false });
        running.join().unwrap()
    });
    let left = told.ended.as_ref().unwrap().left.len();
    assert_eq!((told.phase, left), (ChangePhase::Incomplete, plan.writes.len()));
    assert!(stage.said.iter().any(|line| line.starts_with("given up")), "{:?}", stage.said);
    cable(&simulator, true);
    assert!(observe_simulator(&simulator).tables != before);
    let bytes = stage.witness.journal_prefix(2);
    let read = Journal::read("journal", &bytes).unwrap();
    assert_eq!(read.state.ended, told.ended);
    let again = JournalRecord::Again { time: String::new(), user: "eve".into(), anyway: false };
    told.apply(&again);
    assert!(told.phase == ChangePhase::RollingBack && told.ended.is_none());
    let (_sender, orders) = order_channel();
    let journal = Journal::resume_on(Box::new(MemoryDisk), &read);
    let told = stage.run_guard(GuardMode::TakeOver, journal, told, &orders);
    assert_eq!((told.phase, told.why.as_deref()), (ChangePhase::RolledBack, Some("requested again by eve")));
    assert!(observe_simulator(&simulator).tables == before);
}

/// As after a reboot: the guard is gone and the fabric not up yet. The next guard waits for it, says so, and is asked.
#[test]
fn a_guard_that_takes_over_before_the_fabric_is_up_waits_for_it() {
    let mut lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guard();
    lab.stop();
    let mut asking = lab.command(&["rollback", &id]).spawn().unwrap();
    lab.wait_for_state("rolling-back", Duration::from_secs(20));
    let since = Instant::now();
    while !lab.row()["trouble"].as_str().is_some_and(|trouble| trouble.contains("tried 2 times")) {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", lab.row());
        std::thread::sleep(Duration::from_millis(50));
    }
    let said = lab.run_to_end(&["changes"], 0);
    assert!(said.contains("FD-5658") && said.contains("FD-5656"), "{said}");
    assert!(asking.try_wait().unwrap().is_none());
    lab.start(DEMO);
    let asked = asking.wait_with_output().unwrap();
    assert_eq!(asked.status.code(), Some(0), "{asked:?}");
    assert!(String::from_utf8_lossy(&asked.stderr).contains("FD-5658"), "{asked:?}");
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
    let trail = lab.trail();
    let of = |what: &str| trail.matches(&format!("\"what\":\"{what}\"")).count();
    assert_eq!((of("out of reach"), of("within reach again"), of("rolled back")), (1, 1, 1), "{trail}");
}
