//! Nothing keeps a guard from its deadline: no silent switch, no lock of another process, no clock.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fabdeck_change::{
    AuditEntry, ChangePhase, ChangeState, ChangeStore, DirectDriver, Guard, GuardMemory, GuardMode, Journal,
    JournalRecord, MemoryDisk, RollbackOutlook, UNREACHABLE_TIMEOUT, WriteStep,
};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::Observation;
use fabdeck_live::LiveActuator;
use fabdeck_mad::access::{
    Actuator, AttributePart, DeviceAttribute, DeviceId, DevicePort, ReadObserver, ReadOptions, SourceError,
    Surveyor, WriteError,
};
use jiff::{SignedDuration, Timestamp};

use super::window::{applied, confirm_when_applied, status};
use super::{
    Stage, actuator, fabric, make_plan_on, make_simulator_and_plan, observe_simulator, order_channel, spread,
};

/// When a line was said first.
fn time_of_line(said: &[(Timestamp, String)], word: &str) -> Timestamp {
    said.iter().find(|(_, line)| line.starts_with(word)).unwrap_or_else(|| panic!("{word}: {said:?}")).0
}

/// How long after its deadline a change began to go back.
fn late(told: &ChangeState, said: &[(Timestamp, String)]) -> SignedDuration {
    let deadline: Timestamp = told.deadline.as_ref().unwrap().parse().unwrap();
    time_of_line(said, "rolling back").duration_since(deadline)
}

/// A switch falls silent in the window, and many writes are its own: that is reported, requests are answered, and the deadline
/// holds.
#[test]
fn a_silent_switch_makes_no_guard_deaf_and_no_deadline_late() {
    let (simulator, plan) = make_plan_on(&spread(&fabric("kary,k=4,n=3")), "updn");
    let of = |switch: &str| plan.writes.iter().filter(|write| write.at.guid() == switch).count();
    let switches = plan.writes.iter().map(|write| write.at.guid().to_owned());
    let quiet = switches.max_by_key(|switch| of(switch)).unwrap();
    assert!(of(&quiet) > 8, "{}", of(&quiet));
    let (sender, orders) = order_channel();
    let (told, said, slowest, trouble) = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || {
            let (mut stage, mut said) = (Stage::new(simulator, plan), Vec::new());
            stage.patience = SignedDuration::from_millis(500);
            let mut say = |line: &str| said.push((Timestamp::now(), line.to_owned()));
            let told = stage.apply_with(
                &mut actuator(simulator),
                15,
                &orders,
                &fabdeck_change::SystemClocks,
                &mut say,
            );
            (told, said)
        });
        let deadline: Timestamp = applied(&sender).deadline.unwrap().parse().unwrap();
        simulator.with_simulator(|simulator| {
            let fabric = simulator.fabric().snapshot();
            let silent = fabric.switches().find(|(_, node)| node.guid().to_string() == quiet).unwrap().0;
            simulator.fabric_mut().set_silent(silent, true);
        });
        let (mut slowest, mut trouble) = (Duration::ZERO, None);
        while deadline.duration_since(Timestamp::now()) > SignedDuration::from_millis(300) {
            let since = Instant::now();
            trouble = status(&sender).trouble.or(trouble);
            slowest = slowest.max(since.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        let (told, said) = running.join().unwrap();
        (told, said, slowest, trouble)
    });
    println!("said: {:?} after the deadline, slowest answer {slowest:?}", late(&told, &said));
    assert!(late(&told, &said) < SignedDuration::from_secs(1), "{said:?}");
    assert!(slowest < Duration::from_secs(4), "{slowest:?}");
    let trouble = trouble.unwrap();
    assert!(trouble.contains(&quiet) && trouble.contains("does not answer"), "{trouble}");
    assert!(said.iter().any(|(_, line)| line.starts_with("trouble: ")), "{said:?}");
}

/// Anybody who may use the folder may hold the lock of the trail: the change goes back in time, and the lines come later.
#[test]
fn a_locked_trail_delays_no_rollback() {
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(folder.path()).unwrap();
    home.audit(&AuditEntry::default()).unwrap();
    let held = File::open(folder.path().join("audit.lock")).unwrap();
    held.lock().unwrap();
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let before = observe_simulator(&simulator).tables;
    let (over, is_over) = channel();
    let (told, said) = std::thread::scope(|scope| {
        let (simulator, plan, home) = (&simulator, &plan, &home);
        let running = scope.spawn(move || {
            let mut said = Vec::new();
            let told = ChangeState::from_records(&[JournalRecord::Begun(Box::new(
                Stage::new(simulator, plan).begin_record(2),
            ))])
            .unwrap();
            let mut hands = actuator(simulator);
            let (_sender, orders) = order_channel();
            let guard = Guard {
                plan,
                journal: Journal::on_empty_disk("journal", Box::new(MemoryDisk)),
                state: told,
                home: Some(home),
                driver: &mut DirectDriver(&mut hands),
                orders: &orders,
                clock: &fabdeck_change::SystemClocks,
                log: &mut |line| {
                    said.push((Timestamp::now(), line.to_owned()));
                    if line.starts_with("rolled back") {
                        over.send(()).unwrap();
                    }
                },
                patience: UNREACHABLE_TIMEOUT,
                trouble: None,
                stop: &|| false,
                tend_second: &|| {},
                memory: GuardMemory::default(),
            };
            let told = guard.run(GuardMode::Apply);
            (told, said)
        });
        let back = is_over.recv_timeout(Duration::from_secs(20));
        assert!(observe_simulator(simulator).tables == before || back.is_err());
        std::thread::sleep(Duration::from_millis(500));
        drop(held);
        back.unwrap();
        running.join().unwrap()
    });
    assert_eq!(told.phase, ChangePhase::RolledBack);
    assert!(late(&told, &said) < SignedDuration::from_secs(1), "{said:?}");
    let trail = home.audit_trail().unwrap();
    let what: Vec<&str> = trail.iter().skip(1).map(|entry| entry.what.as_str()).collect();
    assert_eq!(what, ["registered", "writing", "applied", "rolling back", "rolled back", "unregistered"]);
    assert!(said.iter().any(|(_, line)| line.contains(" lines added")), "{said:?}");
}

/// A clock that stands still, or is set back, makes no window longer.
#[test]
fn a_clock_that_is_set_back_makes_no_window_longer() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let (_sender, orders) = order_channel();
    let (begun, still) = (Instant::now(), Timestamp::now());
    let mut stage = Stage::new(&simulator, &plan);
    let (over, watched) = channel();
    // Without an end of its own this test would have none.
    let now = || if begun.elapsed() < Duration::from_secs(20) { still } else { Timestamp::now() };
    let mut say = |line: &str| over.send((begun.elapsed(), line.to_owned())).unwrap();
    let told = stage.apply_with(&mut actuator(&simulator), 1, &orders, &super::WallClock(now), &mut say);
    assert_eq!(told.phase, ChangePhase::RolledBack);
    let said: Vec<_> = watched.try_iter().collect();
    let back = said.iter().find(|(_, line)| line.starts_with("rolling back")).unwrap();
    assert!(back.0 < Duration::from_secs(10), "{said:?}");
}

/// What the way back takes out of service carries nothing then.
#[test]
fn a_port_that_the_way_back_disables_counts_as_failed() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let (sender, orders) = order_channel();
    let confirming = confirm_when_applied(sender);
    let told = Stage::new(&simulator, &plan).apply(60, &orders).unwrap();
    confirming.join().unwrap();
    assert_eq!(told.phase, ChangePhase::Confirmed);
    let look = observe_simulator(&simulator);
    let link = look.fabric.links().map(|(id, _)| id).find(|id| look.fabric.is_between_switches(*id)).unwrap();
    let (node, port) = look.fabric.ends(link)[0];
    let slot = DeviceAttribute {
        at: DeviceId::Switch(look.fabric.node(node).guid()),
        part: AttributePart::Port(port.value()),
    };
    let outlook = |old: u8| {
        let steps = [WriteStep { slot, old: vec![old], new: vec![1 - old] }];
        RollbackOutlook::evaluate(&mut actuator(&simulator), &plan, &steps).unwrap()
    };
    let up = outlook(1);
    assert!(up.staying == up.back && up.is_rollback_no_worse(0), "{up:?}");
    let down = outlook(0);
    assert!(down.staying == up.staying && down.back.pairs > 0 && !down.is_rollback_no_worse(0), "{down:?}");
}

/// Hands that know how many parts were read at once before each write.
struct ParallelReadActuator(LiveActuator, usize, usize);

impl Surveyor for ParallelReadActuator {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.0.read_fabric(wanted, watch)
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.0.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.1 = slots.len();
        self.0.read(slots)
    }
}

impl Actuator for ParallelReadActuator {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.2 = self.2.max(self.1);
        self.0.write(slot, bytes)
    }
}

/// A comparison that is many writes old is worth little.
#[test]
fn what_is_compared_is_no_more_than_eight_writes_old() {
    let (simulator, plan) = make_plan_on(&spread(&fabric("kary,k=6,n=2")), "updn");
    assert!(plan.writes.len() > 16, "{}", plan.writes.len());
    let (_sender, orders) = order_channel();
    let mut hands = ParallelReadActuator(actuator(&simulator), 0, 0);
    let mut stage = Stage::new(&simulator, &plan);
    let told = stage.apply_with(&mut hands, 0, &orders, &fabdeck_change::SystemClocks, &mut |_| {});
    assert_eq!((told.phase, hands.2), (ChangePhase::RolledBack, 8));
}
