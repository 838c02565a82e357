//! Notices to hosts of flows that move: after all writes, and before anything is rolled back.

use fabdeck_change::{ChangePhase, FollowMode, GuardRequest, HostNotification, Plan};
use fabdeck_fabric::{Faults, Lid};
use fabdeck_simulator::SharedSimulator;

use super::window::{applied, confirm_when_applied, send_ask};
use super::{
    Course, Stage, fabric, make_simulator_and_plan, observe_simulator_whole, order_channel, plan_by_engine,
    simulated, with_adapters, with_migration,
};

/// A plan that writes switches and adapters, and moves flows of two hosts.
fn stage() -> (SharedSimulator, Plan) {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let plan = with_adapters(&simulator, plan, 2);
    let plan = with_migration(&simulator, plan, 2);
    (simulator, plan)
}

fn notices_back(course: &Course) -> Vec<(usize, Vec<bool>)> {
    let backs = |(sets, notices): &(usize, Vec<_>)| {
        (*sets, notices.iter().map(|notice: &fabdeck_mad::PathNotice| notice.back).collect())
    };
    course.notices.iter().map(backs).collect()
}

#[test]
fn hosts_hear_of_it_behind_the_last_write_and_before_the_way_back() {
    let (simulator, plan) = stage();
    let before = observe_simulator_whole(&simulator);
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    let told = stage.apply(0, &orders).unwrap();
    assert_eq!((told.phase, told.hosts), (ChangePhase::RolledBack, HostNotification::Recalled));
    let writes = plan.writes.len();
    assert_eq!(notices_back(&stage.witness.course()), [(writes, vec![false]), (writes, vec![true])]);
    assert_eq!(stage.witness.course().sets.len(), 2 * writes);
    assert_eq!(stage.witness.course().early, 0);
    let after = observe_simulator_whole(&simulator);
    assert!(after.tables == before.tables && after.fabric == before.fabric);
    assert!(stage.listeners.lock().unwrap().moved.is_empty());
}

#[test]
fn confirmed_flows_stay_moved_and_silent_hosts_are_named() {
    let (simulator, plan) = stage();
    let mut stage = Stage::new(&simulator, &plan);
    let mute = &plan.migrations[0].flows[1].host;
    stage.listeners.lock().unwrap().mute.insert(Lid::new(mute.lid.into()).unwrap());
    let (sender, orders) = order_channel();
    let confirming = confirm_when_applied(sender);
    let told = stage.apply(60, &orders).unwrap();
    confirming.join().unwrap();
    assert_eq!((told.phase, told.hosts), (ChangePhase::Confirmed, HostNotification::Notified));
    assert_eq!(told.silent, std::slice::from_ref(&mute.name));
    assert_eq!(stage.listeners.lock().unwrap().moved.len(), 2);
    let line = stage.said.iter().find(|line| line.starts_with("notified")).unwrap();
    assert!(line.contains("1 agents answered, 1 did not") && line.contains(&mute.name), "{line}");
}

/// A host without an agent is not waited for.
#[test]
fn hosts_without_agents_are_reported_and_not_waited_for() {
    let (simulator, mut plan) = stage();
    plan.migrations[0].flows.iter_mut().for_each(|flow| flow.follows = FollowMode::Queries);
    let plan = Plan::read(&plan.text().unwrap()).unwrap();
    let mut stage = Stage::new(&simulator, &plan);
    let (sender, orders) = order_channel();
    let confirming = confirm_when_applied(sender);
    let told = stage.apply(60, &orders).unwrap();
    confirming.join().unwrap();
    assert_eq!((told.silent.len(), stage.listeners.lock().unwrap().moved.len()), (0, 2));
}

/// A manager that takes no notices: no host received one, and the change is rolled back.
#[test]
fn a_notice_that_is_not_taken_takes_the_change_back() {
    let (simulator, plan) = stage();
    let before = observe_simulator_whole(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    stage.listeners.lock().unwrap().refuses = |_| true;
    let (_sender, orders) = order_channel();
    let told = stage.apply(60, &orders).unwrap();
    assert_eq!(told.phase, ChangePhase::RolledBack);
    assert!(told.why.unwrap().contains("takes no such notice"));
    assert!(observe_simulator_whole(&simulator).tables == before);
}

/// A port that goes away during notices may have sent some before.
#[test]
fn hosts_are_called_back_where_the_port_went_away_meanwhile() {
    let (simulator, plan) = stage();
    let mut stage = Stage::new(&simulator, &plan);
    let mute = &plan.migrations[0].flows[1].host;
    let mut listeners = stage.listeners.lock().unwrap();
    (listeners.goes, _) = (true, listeners.mute.insert(Lid::new(mute.lid.into()).unwrap()));
    drop(listeners);
    let (_sender, orders) = order_channel();
    let told = stage.apply(60, &orders).unwrap();
    // Who does not answer on the way back is left, and named.
    assert_eq!((told.phase, told.hosts), (ChangePhase::Incomplete, HostNotification::PartlyRecalled));
    let left = told.ended.unwrap().left;
    assert_eq!((left.len(), &left[0].what), (1, &format!("host {}", mute.name)));
    assert!(stage.listeners.lock().unwrap().moved.is_empty());
}

/// Changes of two folders have the same number, and notices of their own.
#[test]
fn notices_have_the_number_of_a_random_id() {
    let number = |id: &str| {
        fabdeck_change::BeginRecord { id: id.into(), number: 1, ..Default::default() }.notice_number()
    };
    assert_eq!(number("12345678"), number("12345678"));
    let all: std::collections::BTreeSet<u32> = (0..64).map(|id| number(&format!("{id:08x}"))).collect();
    assert_eq!(all.len(), 64, "{all:?}");
    // These two had the same one, and hosts took the notices of the second for those of the first.
    let family = |id| fabdeck_mad::PathNotice::notice_number(number(id), 0);
    assert_ne!(family("7a8ab001"), family("d1bc7ff6"));
}

/// A host that gets the notice of the rollback first knows that the other one is late.
#[test]
fn the_way_back_has_a_number_behind_that_of_the_way_there() {
    let (simulator, plan) = stage();
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    stage.apply(0, &orders).unwrap();
    let numbers: Vec<u32> =
        stage.witness.course().notices.iter().flat_map(|(_, told)| told).map(|told| told.number).collect();
    assert_eq!(numbers.len(), 2);
    assert!(fabdeck_mad::PathNotice::is_older_round(numbers[0], numbers[1]), "{numbers:?}");
}

/// Hosts that cannot be called back are named, and the tables go back all the same; asked for again, they are called again.
#[test]
fn hosts_that_cannot_be_called_back_are_left_and_named() {
    let (simulator, plan) = stage();
    let before = observe_simulator_whole(&simulator).tables;
    let (sender, orders) = order_channel();
    let (told, left) = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || {
            let mut stage = Stage::new(simulator, plan);
            stage.listeners.lock().unwrap().refuses = |notice| notice.back;
            let told = stage.apply(60, &orders).unwrap();
            let left = stage.witness.journal_prefix(2);
            (told, left)
        });
        applied(&sender);
        send_ask(&sender, GuardRequest::RollBack { user: "ada".into(), anyway: false });
        running.join().unwrap()
    });
    assert_eq!((told.phase, told.hosts), (ChangePhase::Incomplete, HostNotification::Recalling));
    let parts = told.ended.unwrap().left;
    assert_eq!((parts.len(), parts[0].what.as_str()), (1, "hosts"));
    assert!(parts[0].why.contains("no notice to move their flows back"), "{parts:?}");
    assert!(observe_simulator_whole(&simulator).tables == before);
    // What is read of its journal says the same.
    let read = fabdeck_change::Journal::read("journal", &left).unwrap();
    assert_eq!((read.state.phase, read.state.hosts), (ChangePhase::Incomplete, HostNotification::Recalling));
}

/// The lanes are there already: flows move, and nothing is written.
#[test]
fn a_plan_without_writes_is_a_change_like_any_other() {
    let simulator = simulated(&fabric("kary,k=3,n=2"));
    let mut plan = plan_by_engine(&simulator, "updn", &Faults::new());
    plan.writes.clear();
    let plan = with_migration(&simulator, plan, 2);
    let before = observe_simulator_whole(&simulator).tables;
    for kept in [false, true] {
        let mut stage = Stage::new(&simulator, &plan);
        let (sender, orders) = order_channel();
        let told = match kept {
            false => stage.apply(0, &orders).unwrap(),
            true => {
                let confirming = confirm_when_applied(sender);
                let told = stage.apply(60, &orders).unwrap();
                confirming.join().unwrap();
                told
            }
        };
        let phase = if kept { ChangePhase::Confirmed } else { ChangePhase::RolledBack };
        assert_eq!(told.phase, phase);
        assert!(stage.witness.course().sets.is_empty());
        assert_eq!(stage.listeners.lock().unwrap().moved.len(), if kept { 2 } else { 0 });
        assert!(observe_simulator_whole(&simulator).tables == before);
    }
}
