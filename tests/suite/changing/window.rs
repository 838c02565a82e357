//! The window: confirmed, extended, over, rolled back by somebody, and somebody else who writes in it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fabdeck_change::{Answer, Ask, Clocks, Journal, Order, Phase, Record, Status, SystemClocks, Told};
use fabdeck_mad::access::Actuator;
use jiff::{SignedDuration, Timestamp};

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
    act: impl FnOnce(&Sender<Order>, &fabdeck_simulator::SimulatedPort),
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
        fabdeck_mad::access::Surveyor::look(
            &mut other,
            Default::default(),
            &mut fabdeck_mad::access::Unwatched,
        )
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

/// A wall clock that somebody sets at a moment, by hours.
fn set_clock(hours: i64, at: Duration) -> impl Fn() -> Timestamp {
    let begun = Instant::now();
    move || {
        let set =
            if begun.elapsed() >= at { SignedDuration::from_hours(hours) } else { SignedDuration::ZERO };
        Timestamp::now() + set
    }
}

/// Forward or back, while it waits: the window is as long as it was asked for, and the trail says that the clock was set.
#[test]
fn a_clock_that_is_set_neither_shortens_nor_lengthens_a_window() {
    std::thread::scope(|scope| {
        for hours in [-10, -1, 1, 10] {
            scope.spawn(move || {
                let (simulator, plan) = staged("kary,k=3,n=2", "updn");
                let before = seen(&simulator).tables;
                let (_sender, orders) = nobody();
                let mut stage = Stage::new(&simulator, &plan);
                let clock = super::WallClock(set_clock(hours, Duration::from_secs(2)));
                let (begun, mut said) = (Instant::now(), Vec::new());
                let mut say = |line: &str| said.push((begun.elapsed(), line.to_owned()));
                let told = stage.apply_with(&mut actuator(&simulator), 4, &orders, &clock, &mut say);
                assert_eq!(told.phase, Phase::RolledBack, "{hours}");
                assert!(seen(&simulator).tables == before, "{hours}");
                let at = |what: &str| said.iter().find(|(_, line)| line.starts_with(what)).map(|(at, _)| *at);
                let (applied, back) = (at("applied").unwrap(), at("rolling back").unwrap());
                let window = back - applied;
                assert!((3900..9000).contains(&window.as_millis()), "{hours}: {window:?} {said:?}");
                let told_of = said.iter().filter(|(_, line)| line.starts_with("clock set")).count();
                assert_eq!(told_of, 1, "{hours}: {said:?}");
            });
        }
    });
}

/// What is left of a window where the next guard finds the wall clock ten hours behind or ahead, on the same run of the
/// machine and after a restart.
#[test]
fn a_takeover_under_another_clock_makes_no_window_longer() {
    for (hours, restarted, most_s) in [(-10, false, 9), (10, false, 9), (-10, true, 5), (10, true, 5)] {
        let (simulator, plan) = staged("kary,k=3,n=2", "updn");
        let before = seen(&simulator).tables;
        let mut stage = Stage::new(&simulator, &plan);
        let left = stage.applied_and_left(4, restarted);
        let (_sender, orders) = nobody();
        let clock = super::WallClock(move || Timestamp::now() + SignedDuration::from_hours(hours));
        let begun = Instant::now();
        let told = stage.take_over_under(&mut actuator(&simulator), &left, &orders, &clock);
        assert_eq!(told.phase, Phase::RolledBack, "{hours} {restarted}");
        assert!(begun.elapsed() < Duration::from_secs(most_s), "{hours} {restarted}: {:?}", begun.elapsed());
        assert!(seen(&simulator).tables == before, "{hours} {restarted}");
    }
}

impl Stage<'_> {
    /// Writes the plan, and what a journal holds whose guard has died in the window; `restarted`: on another run of the machine.
    fn applied_and_left(&mut self, window_s: u64, restarted: bool) -> Vec<u8> {
        let begun = Record::Begun(Box::new(self.begun(window_s)));
        let mut hands = actuator(self.simulator);
        fabdeck_mad::access::Surveyor::look(
            &mut hands,
            Default::default(),
            &mut fabdeck_mad::access::Unwatched,
        )
        .unwrap();
        for write in &self.plan.writes {
            let step = write.step().unwrap();
            hands.write(&step.slot, &step.new).unwrap();
        }
        let mut ends = SystemClocks.boot_time().after(Duration::from_secs(window_s));
        if restarted {
            ends.boot = "the run before".to_owned();
        }
        let time = Timestamp::now().to_string();
        let deadline = (Timestamp::now() + Duration::from_secs(window_s)).to_string();
        let witness = self.witness.clone();
        let mut journal = Journal::on("journal", Box::new(super::Recorder(witness.clone())));
        journal.keep(&begun).unwrap();
        journal.keep(&Record::Applied { time, deadline, ends: Some(ends) }).unwrap();
        witness.left(2)
    }
}
