//! While an update in five phases waits for hosts that do not answer, somebody decides: it goes on, it ends, or its window
//! does. What nothing was written of is no rollback that a person has to look after, but where somebody left and stayed away.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fabdeck_change::{Answer, Ask, Order, Phase, Plan, Told, Unanswered};
use fabdeck_fabric::Lid;

use super::phases::{plan, with_agents};
use super::window::{applied, ask, status};
use super::{Listeners, Stage, nobody};

fn go_on() -> Ask {
    Ask::GoOn { user: "bob".into() }
}

fn back() -> Ask {
    Ask::RollBack { user: "bob".into(), anyway: false }
}

/// Waits until it waits for hosts.
fn waiting(orders: &Sender<Order>) {
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

/// A change that waits for the fourth host, beside somebody who does something; how often it wrote.
fn beside(
    (safe, window_s): (bool, u64),
    act: impl FnOnce(&Sender<Order>, &Arc<Mutex<Listeners>>, &Plan),
) -> (Told, usize, Vec<String>) {
    let simulator = with_agents(7);
    let mut plan = plan(&simulator, "nue", true);
    plan.phases.as_mut().unwrap().safe_without = Some(safe);
    let plan = Plan::read(&plan.text().unwrap()).unwrap();
    let mut stage = Stage::new(&simulator, &plan);
    stage.unanswered = Unanswered::Wait;
    let listeners = stage.listeners.clone();
    listeners.lock().unwrap().mute.insert(lid(&plan, 3));
    let (sender, orders) = nobody();
    let (told, stage) = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let told = stage.apply(window_s, &orders).unwrap();
            // Whoever asks after its end is answered by nobody.
            drop(orders);
            (told, stage)
        });
        act(&sender, &listeners, &plan);
        running.join().unwrap()
    });
    let sets = stage.witness.course().sets.len();
    (told, sets, stage.said)
}

fn refused(answer: Answer, code: &str) {
    assert!(matches!(&answer, Answer::Refused { why } if why.contains(code)), "{answer:?}");
}

#[test]
fn somebody_lets_it_go_on_without_a_host() {
    let (told, sets, said) = beside((true, 600), |orders, _, plan| {
        waiting(orders);
        let now = status(orders);
        assert_eq!((now.silent, now.done), (vec![name(plan, 3)], 0));
        assert!(matches!(ask(orders, go_on()), Answer::Status(status) if !status.waits));
        assert!(!applied(orders).waits);
        refused(ask(orders, go_on()), "FD-5664");
        assert!(matches!(ask(orders, Ask::Confirm { user: "bob".into() }), Answer::Status(_)));
    });
    assert!(told.phase == Phase::Confirmed && told.going_on && sets > 0, "{told:?}");
    assert!(said.iter().any(|line| line.starts_with("going on: without ")), "{said:?}");
}

/// It is said so, and somebody ends it: nobody who never left has to come back.
#[test]
fn it_goes_on_only_where_that_is_safe_and_ends_when_somebody_says_so() {
    let (told, sets, _) = beside((false, 600), |orders, _, _| {
        waiting(orders);
        refused(ask(orders, go_on()), "FD-5663");
        assert!(status(orders).waits);
        assert!(matches!(ask(orders, back()), Answer::Status(_)));
    });
    assert_eq!((told.phase, sets), (Phase::RolledBack, 0));
    assert!(told.why.unwrap().contains("bob"));
}

#[test]
fn a_window_that_runs_out_while_it_waits_refuses_the_change() {
    let (told, sets, said) = beside((true, 1), |orders, _, _| waiting(orders));
    // The hosts here answer at once, and are asked again for all that at their time only.
    assert_eq!(said.iter().filter(|line| line.starts_with("notified")).count(), 2, "{said:?}");
    assert_eq!((told.phase, sets), (Phase::Refused, 0));
    assert!(told.why.unwrap().contains("FD-5661"));
    assert!(told.ended.unwrap().left.is_empty() && told.away.is_empty());
}

/// One that said that it left, and does not say that it is back, is left by name though nothing was written.
#[test]
fn who_left_and_does_not_come_back_needs_a_person() {
    for (window_s, ends) in [(600, true), (1, false)] {
        let mut gone = String::new();
        let (told, sets, _) = beside((true, window_s), |orders, listeners, plan| {
            waiting(orders);
            gone = format!("host {}", name(plan, 5));
            listeners.lock().unwrap().mute.insert(lid(plan, 5));
            if ends {
                assert!(matches!(ask(orders, back()), Answer::Status(_)));
            }
        });
        assert_eq!((told.phase, sets), (Phase::Incomplete, 0));
        let left: Vec<String> = told.ended.unwrap().left.into_iter().map(|left| left.what).collect();
        assert_eq!(left, [gone]);
    }
}
