//! The window: confirmed, extended, over, rolled back by request, and another tool that writes in it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::{Stage, actuator, make_simulator_and_plan, observe_simulator, order_channel};
use fabdeck_change::{
    ChangePhase, ChangeState, ChangeStatus, Clocks, GuardAnswer, GuardRequest, Journal, JournalRecord,
    QueuedRequest, SystemClocks,
};
use fabdeck_mad::access::Actuator;

pub fn send_ask(orders: &Sender<QueuedRequest>, ask: GuardRequest) -> GuardAnswer {
    let (reply, answer) = channel();
    orders.send(QueuedRequest { ask, reply }).unwrap();
    answer.recv().unwrap()
}

pub fn status(orders: &Sender<QueuedRequest>) -> ChangeStatus {
    match send_ask(orders, GuardRequest::Status) {
        GuardAnswer::Status(status) => status,
        GuardAnswer::Refused { why } => panic!("{why}"),
    }
}

/// Waits until a change stands in its window.
pub fn applied(orders: &Sender<QueuedRequest>) -> ChangeStatus {
    loop {
        let status = status(orders);
        if status.phase == ChangePhase::Applied {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Confirms as soon as there is something to confirm.
pub fn confirm_when_applied(orders: Sender<QueuedRequest>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        loop {
            let (reply, answer) = channel();
            if orders
                .send(QueuedRequest { ask: GuardRequest::Confirm { user: "bob".into() }, reply })
                .is_err()
            {
                return;
            }
            match answer.recv() {
                Ok(GuardAnswer::Refused { .. }) => std::thread::sleep(Duration::from_micros(200)),
                _ => return,
            }
        }
    })
}

/// Applies in a thread of its own, beside a second actor.
fn run_beside_guard(
    window_s: u64,
    act: impl FnOnce(&Sender<QueuedRequest>, &fabdeck_simulator::SharedSimulator),
) -> (ChangeState, Vec<String>, bool) {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let before = observe_simulator(&simulator).tables;
    let (sender, orders): (Sender<QueuedRequest>, Receiver<QueuedRequest>) = order_channel();
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
    let same = observe_simulator(&simulator).tables == before;
    (ended.0, ended.1, same)
}

#[test]
fn a_window_that_is_over_takes_the_change_back_within_a_second() {
    let begun = Instant::now();
    let (told, said, same) = run_beside_guard(1, |orders, _| {
        assert_eq!(applied(orders).writes, status(orders).done);
    });
    assert_eq!((told.phase, same), (ChangePhase::RolledBack, true));
    assert!(told.why.unwrap().contains("not confirmed"));
    let starts = said.iter().position(|line| line.starts_with("rolling back")).unwrap();
    assert!(said[starts + 1].starts_with("rolled back"), "{said:?}");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn a_window_that_is_extended_lasts_longer_and_no_longer_than_a_day() {
    let (told, _, same) = run_beside_guard(1, |orders, _| {
        let first = applied(orders).deadline.unwrap();
        let longer = GuardRequest::Extend { user: "bob".into(), seconds: 3600 };
        let GuardAnswer::Status(status) = send_ask(orders, longer.clone()) else { panic!("refused") };
        assert!(status.deadline.unwrap() > first);
        std::thread::sleep(Duration::from_millis(1200));
        assert_eq!(applied(orders).phase, ChangePhase::Applied);
        let day = send_ask(orders, GuardRequest::Extend { user: "bob".into(), seconds: 86_400 });
        assert!(matches!(day, GuardAnswer::Refused { why } if why.contains("FD-5653")));
        assert!(matches!(
            send_ask(orders, GuardRequest::Confirm { user: "bob".into() }),
            GuardAnswer::Status(_)
        ));
    });
    assert_eq!((told.phase, same), (ChangePhase::Confirmed, false));
}

#[test]
fn a_change_is_rolled_back_on_request() {
    let (told, _, same) = run_beside_guard(600, |orders, _| {
        applied(orders);
        send_ask(orders, GuardRequest::RollBack { user: "bob".into(), anyway: false });
    });
    assert_eq!((told.phase, same), (ChangePhase::RolledBack, true));
    assert!(told.why.unwrap().contains("bob"));
}

/// Another writer in the window: what it wrote is named and left, the rest goes back.
#[test]
fn what_another_tool_wrote_is_left_and_named() {
    let (told, _, same) = run_beside_guard(600, |orders, simulator| {
        applied(orders);
        let (_, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
        let step = plan.writes[1].to_step().unwrap();
        let mut other = actuator(simulator);
        fabdeck_mad::access::Surveyor::read_fabric(
            &mut other,
            Default::default(),
            &mut fabdeck_mad::access::NoObserver,
        )
        .unwrap();
        let foreign: Vec<u8> = step.new.iter().map(|port| if *port == 1 { 2 } else { *port }).collect();
        assert!(foreign != step.new && foreign != step.old);
        other.write(&step.slot, &foreign).unwrap();
        send_ask(orders, GuardRequest::RollBack { user: "bob".into(), anyway: true });
    });
    assert_eq!((told.phase, same), (ChangePhase::Incomplete, false));
    let left = told.ended.unwrap().left;
    assert!(left.len() == 1 && left[0].why.contains("another tool"), "{left:?}");
}

/// A window that cannot be made longer durably is not longer: the change goes back at once.
#[test]
fn an_extension_that_cannot_be_written_takes_the_change_back() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let before = observe_simulator(&simulator).tables;
    let (sender, orders) = order_channel();
    let mut stage = Stage::new(&simulator, &plan);
    let witness = stage.witness.clone();
    let told = std::thread::scope(|scope| {
        let running = scope.spawn(move || stage.apply(600, &orders).unwrap());
        applied(&sender);
        let next = witness.course().operations + 1;
        witness.course().failing = next..usize::MAX;
        let answer = send_ask(&sender, GuardRequest::Extend { user: "bob".into(), seconds: 60 });
        assert!(matches!(answer, GuardAnswer::Refused { why } if why.contains("FD-5602")));
        running.join().unwrap()
    });
    assert_eq!(
        (told.phase, observe_simulator(&simulator).tables == before),
        (ChangePhase::RollingBack, true)
    );
}

/// A wall clock that is stepped by hours at a moment.
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
                let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
                let before = observe_simulator(&simulator).tables;
                let (_sender, orders) = order_channel();
                let mut stage = Stage::new(&simulator, &plan);
                let clock = super::WallClock(set_clock(hours, Duration::from_secs(2)));
                let (begun, mut said) = (Instant::now(), Vec::new());
                let mut say = |line: &str| said.push((begun.elapsed(), line.to_owned()));
                let told = stage.apply_with(&mut actuator(&simulator), 4, &orders, &clock, &mut say);
                assert_eq!(told.phase, ChangePhase::RolledBack, "{hours}");
                assert!(observe_simulator(&simulator).tables == before, "{hours}");
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
        let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
        let before = observe_simulator(&simulator).tables;
        let mut stage = Stage::new(&simulator, &plan);
        let left = stage.applied_and_left(4, restarted);
        let (_sender, orders) = order_channel();
        let clock = super::WallClock(move || Timestamp::now() + SignedDuration::from_hours(hours));
        let begun = Instant::now();
        let told = stage.take_over_under(&mut actuator(&simulator), &left, &orders, &clock);
        assert_eq!(told.phase, ChangePhase::RolledBack, "{hours} {restarted}");
        let why = told.why.unwrap();
        let (late, set) = ("it was not confirmed in time", "; the wall clock was set");
        let expected = match (hours, restarted) {
            (-10, false) => format!("{late}{set} back by "),
            (10, false) => format!("{late}{set} forward by "),
            (-10, true) => "the wall clock shows ".to_owned(),
            _ => late.to_owned(),
        };
        assert!(why.starts_with(&expected), "{hours} {restarted}: {why}");
        assert_eq!(why.contains("earlier than the last record"), hours < 0 && restarted, "{why}");
        assert!(begun.elapsed() < Duration::from_secs(most_s), "{hours} {restarted}: {:?}", begun.elapsed());
        assert!(observe_simulator(&simulator).tables == before, "{hours} {restarted}");
    }
}

impl Stage<'_> {
    /// Writes the plan, and what a journal holds whose guard has died in the window; `restarted`: on another run of the machine.
    fn applied_and_left(&mut self, window_s: u64, restarted: bool) -> Vec<u8> {
        let begun = JournalRecord::Begun(Box::new(self.begin_record(window_s)));
        let mut hands = actuator(self.simulator);
        fabdeck_mad::access::Surveyor::read_fabric(
            &mut hands,
            Default::default(),
            &mut fabdeck_mad::access::NoObserver,
        )
        .unwrap();
        for write in &self.plan.writes {
            let step = write.to_step().unwrap();
            hands.write(&step.slot, &step.new).unwrap();
        }
        let mut ends = SystemClocks.boot_time().plus(Duration::from_secs(window_s));
        if restarted {
            ends.boot = "the run before".to_owned();
        }
        let time = Timestamp::now().to_string();
        let deadline = (Timestamp::now() + Duration::from_secs(window_s)).to_string();
        let witness = self.witness.clone();
        let mut journal = Journal::on_empty_disk("journal", Box::new(super::WatchedPort(witness.clone())));
        journal.append_durably(&begun).unwrap();
        journal.append_durably(&JournalRecord::Applied { time, deadline, ends: Some(ends) }).unwrap();
        witness.journal_prefix(2)
    }
}
