//! The window: confirmed, extended, over, rolled back by somebody, and somebody else who writes in it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fabdeck::access::Actuator;
use fabdeck::change::{Answer, Ask, Order, Phase, Status, Told};

use super::{Stage, actuator, nobody, seen, staged};

pub fn ask(orders: &Sender<Order>, ask: Ask) -> Answer {
    let (reply, answer) = channel();
    orders.send(Order { ask, reply }).unwrap();
    answer.recv().unwrap()
}

pub fn status(orders: &Sender<Order>) -> Status {
    match ask(orders, Ask::Status) {
        Answer::Status(status) => status,
        Answer::Refused { why } => panic!("{why}"),
    }
}

/// Waits until a change stands in its window.
pub fn applied(orders: &Sender<Order>) -> Status {
    loop {
        let status = status(orders);
        if status.phase == Phase::Applied {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Somebody who confirms as soon as there is something to confirm.
pub fn confirm_when_applied(orders: Sender<Order>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        loop {
            let (reply, answer) = channel();
            if orders.send(Order { ask: Ask::Confirm { user: "bob".into() }, reply }).is_err() {
                return;
            }
            match answer.recv() {
                Ok(Answer::Refused { .. }) => std::thread::sleep(Duration::from_micros(200)),
                _ => return,
            }
        }
    })
}

/// Applies in a thread of its own, beside somebody who does something.
fn beside(
    window_s: u64,
    act: impl FnOnce(&Sender<Order>, &fabdeck::simulator::SimulatedPort),
) -> (Told, Vec<String>, bool) {
    let (simulator, plan) = staged("kary,k=3,n=2", "updn");
    let before = seen(&simulator).tables;
    let (sender, orders): (Sender<Order>, Receiver<Order>) = nobody();
    let ended = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || {
            let mut stage = Stage::new(simulator, plan);
            let told = stage.apply(window_s, &orders).unwrap();
            (told, stage.said)
        });
        act(&sender, simulator);
        running.join().unwrap()
    });
    let same = seen(&simulator).tables == before;
    (ended.0, ended.1, same)
}

#[test]
fn a_window_that_is_over_takes_the_change_back_within_a_second() {
    let begun = Instant::now();
    let (told, said, same) = beside(1, |orders, _| {
        assert_eq!(applied(orders).writes, status(orders).done);
    });
    assert_eq!((told.phase, same), (Phase::RolledBack, true));
    assert!(told.why.unwrap().contains("nobody confirmed"));
    let starts = said.iter().position(|line| line.starts_with("rolling back")).unwrap();
    assert!(said[starts + 1].starts_with("rolled back"), "{said:?}");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn a_window_that_is_extended_lasts_longer_and_no_longer_than_a_day() {
    let (told, _, same) = beside(1, |orders, _| {
        let first = applied(orders).deadline.unwrap();
        let longer = Ask::Extend { user: "bob".into(), seconds: 3600 };
        let Answer::Status(status) = ask(orders, longer.clone()) else { panic!("refused") };
        assert!(status.deadline.unwrap() > first);
        std::thread::sleep(Duration::from_millis(1200));
        assert_eq!(applied(orders).phase, Phase::Applied);
        let day = ask(orders, Ask::Extend { user: "bob".into(), seconds: 86_400 });
        assert!(matches!(day, Answer::Refused { why } if why.contains("FD-5653")));
        assert!(matches!(ask(orders, Ask::Confirm { user: "bob".into() }), Answer::Status(_)));
    });
    assert_eq!((told.phase, same), (Phase::Confirmed, false));
}

#[test]
fn whoever_asks_for_it_has_it_rolled_back() {
    let (told, _, same) = beside(600, |orders, _| {
        applied(orders);
        ask(orders, Ask::RollBack { user: "bob".into(), anyway: false });
    });
    assert_eq!((told.phase, same), (Phase::RolledBack, true));
    assert!(told.why.unwrap().contains("bob"));
}

/// Another writer in the window: what it wrote is named and left, the rest goes back.
#[test]
fn what_somebody_else_wrote_is_left_and_named() {
    let (told, _, same) = beside(600, |orders, simulator| {
        applied(orders);
        let (_, plan) = staged("kary,k=3,n=2", "updn");
        let step = plan.writes[1].step().unwrap();
        let mut other = actuator(simulator);
        fabdeck::access::Surveyor::look(&mut other, Default::default(), &mut fabdeck::access::Unwatched)
            .unwrap();
        let foreign: Vec<u8> = step.new.iter().map(|port| if *port == 1 { 2 } else { *port }).collect();
        assert!(foreign != step.new && foreign != step.old);
        other.write(&step.slot, &foreign).unwrap();
        ask(orders, Ask::RollBack { user: "bob".into(), anyway: true });
    });
    assert_eq!((told.phase, same), (Phase::Incomplete, false));
    let left = told.ended.unwrap().left;
    assert!(left.len() == 1 && left[0].why.contains("somebody else"), "{left:?}");
}

/// A window that cannot be made longer durably is not longer: the change goes back at once.
#[test]
fn an_extension_that_cannot_be_written_takes_the_change_back() {
    let (simulator, plan) = staged("kary,k=3,n=2", "updn");
    let before = seen(&simulator).tables;
    let (sender, orders) = nobody();
    let mut stage = Stage::new(&simulator, &plan);
    let witness = stage.witness.clone();
    let told = std::thread::scope(|scope| {
        let running = scope.spawn(move || stage.apply(600, &orders).unwrap());
        applied(&sender);
        let next = witness.course().operations + 1;
        witness.course().failing = next..usize::MAX;
        let answer = ask(&sender, Ask::Extend { user: "bob".into(), seconds: 60 });
        assert!(matches!(answer, Answer::Refused { why } if why.contains("FD-5602")));
        running.join().unwrap()
    });
    assert_eq!((told.phase, seen(&simulator).tables == before), (Phase::RollingBack, true));
}
