//! While an update in five phases waits for hosts that do not answer, it is continued, ended, or its window
//! ends. A change without writes needs no attention afterwards, except where a host left and did not return.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fabdeck_change::{
    ChangePhase, ChangeState, GuardAnswer, GuardRequest, Plan, QueuedRequest, SilentHostAction,
};
use fabdeck_fabric::Lid;

use super::phases::{plan, with_agents};
use super::window::{applied, send_ask, status};
use super::{Listeners, Stage, order_channel};

fn continue_without_hosts() -> GuardRequest {
    GuardRequest::GoOn { user: "bob".into() }
}

fn roll_back() -> GuardRequest {
    GuardRequest::RollBack { user: "bob".into(), anyway: false }
}

/// Waits until it waits for hosts.
fn waiting(orders: &Sender<QueuedRequest>) {
    let since = Instant::now();
    while !status(orders).waits {
        assert!(since.elapsed() < Duration::from_secs(60), "it does not wait");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn lid(plan: &Plan, host: usize) -> Lid {
    Lid::new(plan.phases.as_ref().unwrap().hosts[host].port.lid.into()).unwrap()
}

fn name(plan: &Plan, host: usize) -> String {
    plan.phases.as_ref().unwrap().hosts[host].port.name.clone()
}

/// A change that waits for the fourth host, beside a second actor; returns the number of its writes.
fn run_beside_guard(
    (safe, window_s): (bool, u64),
    act: impl FnOnce(&Sender<QueuedRequest>, &Arc<Mutex<Listeners>>, &Plan),
) -> (ChangeState, usize, Vec<String>) {
    let simulator = with_agents(7);
    let mut plan = plan(&simulator, "nue", true);
    plan.phases.as_mut().unwrap().safe_without = Some(safe);
    let plan = Plan::read(&plan.text().unwrap()).unwrap();
    let mut stage = Stage::new(&simulator, &plan);
    stage.unanswered = SilentHostAction::Wait;
    let listeners = stage.listeners.clone();
    listeners.lock().unwrap().mute.insert(lid(&plan, 3));
    let (sender, orders) = order_channel();
    let (told, stage) = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let told = stage.apply(window_s, &orders).unwrap();
            // A request after its end gets no answer.
            drop(orders);
            (told, stage)
        });
        act(&sender, &listeners, &plan);
        running.join().unwrap()
    });
    let course = stage.witness.course();
    let (sets, rounds) = (course.sets.len(), course.notices.len());
    drop(course);
    // The hosts here answer at once, and are asked again for all that at their time only.
    assert!(rounds < 10, "{rounds} rounds of notices");
    (told, sets, stage.said)
}

fn refused(answer: GuardAnswer, code: &str) {
    assert!(matches!(&answer, GuardAnswer::Refused { why } if why.contains(code)), "{answer:?}");
}

#[test]
fn an_operator_continues_without_a_host() {
    let (told, sets, said) = run_beside_guard((true, 600), |orders, _, plan| {
        waiting(orders);
        let now = status(orders);
        assert_eq!((now.silent, now.done), (vec![name(plan, 3)], 0));
        assert!(
            matches!(send_ask(orders, continue_without_hosts()), GuardAnswer::Status(status) if !status.waits)
        );
        assert!(!applied(orders).waits);
        refused(send_ask(orders, continue_without_hosts()), "FD-5664");
        assert!(matches!(
            send_ask(orders, GuardRequest::Confirm { user: "bob".into() }),
            GuardAnswer::Status(_)
        ));
    });
    assert!(told.phase == ChangePhase::Confirmed && told.going_on && sets > 0, "{told:?}");
    assert!(said.iter().any(|line| line.starts_with("going on: without ")), "{said:?}");
}

/// It is ended by request: hosts that never left do not have to return.
#[test]
fn it_continues_only_where_that_is_safe_and_ends_on_request() {
    let (told, sets, _) = run_beside_guard((false, 600), |orders, _, _| {
        waiting(orders);
        refused(send_ask(orders, continue_without_hosts()), "FD-5663");
        assert!(status(orders).waits);
        assert!(matches!(send_ask(orders, roll_back()), GuardAnswer::Status(_)));
    });
    assert_eq!((told.phase, sets), (ChangePhase::RolledBack, 0));
    assert!(told.why.unwrap().contains("bob"));
}

#[test]
fn a_window_that_runs_out_while_it_waits_refuses_the_change() {
    let (told, sets, said) = run_beside_guard((true, 1), |orders, _, _| waiting(orders));
    assert_eq!(said.iter().filter(|line| line.starts_with("notified")).count(), 2, "{said:?}");
    assert_eq!((told.phase, sets), (ChangePhase::Refused, 0));
    assert!(told.why.unwrap().contains("FD-5661"));
    assert!(told.ended.unwrap().left.is_empty() && told.away.is_empty());
}

/// One that said that it left, and does not say that it is back, is left by name though nothing was written.
#[test]
fn a_host_that_left_and_does_not_return_needs_an_operator() {
    for (window_s, ends) in [(600, true), (1, false)] {
        let mut gone = String::new();
        let (told, sets, _) = run_beside_guard((true, window_s), |orders, listeners, plan| {
            waiting(orders);
            gone = format!("host {}", name(plan, 5));
            listeners.lock().unwrap().mute.insert(lid(plan, 5));
            if ends {
                assert!(matches!(send_ask(orders, roll_back()), GuardAnswer::Status(_)));
            }
        });
        assert_eq!((told.phase, sets), (ChangePhase::Incomplete, 0));
        let left: Vec<String> = told.ended.unwrap().left.into_iter().map(|left| left.what).collect();
        assert_eq!(left, [gone]);
    }
}
