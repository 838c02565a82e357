//! A guard that is asked without end: the rollback comes first, and the trail stays short.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fabdeck_change::{
    AccessPolicy, ChangePhase, ChangeStore, DirectDriver, Guard, GuardMemory, GuardMode, GuardRequest,
    GuardSocket, RefusalLog, Rights, SystemClocks, UNREACHABLE_TIMEOUT, send_request_within,
};

use super::{Stage, actuator, make_simulator_and_plan, observe_simulator};

/// Callers that ask at the same time, each again as soon as it has an answer.
const CALLERS: usize = 200;
const WINDOW_S: u64 = 3;

/// A flood delayed a rollback by 83 s once, and filled the trail with 72 MB.
#[test]
fn a_flood_of_callers_delays_no_rollback() {
    let (simulator, plan) = make_simulator_and_plan("torus,dims=4x4", "updn");
    let before = observe_simulator(&simulator).tables;
    let folder = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(&folder.path().join("state")).unwrap();
    let begun = Stage::new(&simulator, &plan).begin_record(WINDOW_S);
    let (kept, _keeping) = home.begin(begun, "{}").unwrap();
    let (journal, read) = kept.journal().unwrap();
    let (sender, orders) = channel();
    let policy = AccessPolicy {
        begun: read.state.begun.clone(),
        rights: Rights::default(),
        refusals: RefusalLog::for_trail(Some(&home), "flooded"),
        asked_by_others: AtomicBool::new(false),
    };
    let door = GuardSocket::open(&kept.default_socket(), sender, policy).unwrap();
    let (over, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut said = Vec::new();
    let told = std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (kept, over, asked) = (&kept, &over, &asked);
            scope.spawn(move || {
                let user = "ada".to_owned();
                let ask = if caller % 2 == 0 { GuardRequest::GoOn { user } } else { GuardRequest::Status };
                while !over.load(Ordering::SeqCst) {
                    if send_request_within(&kept.default_socket(), &ask, Duration::from_secs(10)).is_ok() {
                        asked.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let mut hands = actuator(&simulator);
        let guard = Guard {
            plan: &plan,
            journal,
            state: read.state.clone(),
            home: Some(&home),
            driver: &mut DirectDriver(&mut hands),
            orders: &orders,
            clock: &SystemClocks,
            log: &mut |line| said.push((Instant::now(), line.to_owned())),
            patience: UNREACHABLE_TIMEOUT,
            trouble: None,
            stop: &|| false,
            tend_second: &|| {},
            memory: GuardMemory::default(),
        };
        let told = guard.run(GuardMode::Apply);
        over.store(true, Ordering::SeqCst);
        told
    });
    drop(door);
    assert_eq!(told.phase, ChangePhase::RolledBack);
    assert!(observe_simulator(&simulator).tables == before);
    let at = |what: &str| said.iter().find(|(_, line)| line.starts_with(what)).map(|(at, _)| *at).unwrap();
    let late = (at("rolled back") - at("applied")).saturating_sub(Duration::from_secs(WINDOW_S));
    let trail = std::fs::metadata(folder.path().join("state/audit")).unwrap().len();
    let asked = asked.load(Ordering::SeqCst);
    println!("said: {asked} answers, rolled back {late:?} late, a trail of {trail} bytes");
    assert!(asked > 200, "{asked}");
    assert!(late < Duration::from_secs(2), "{late:?}");
    assert!(trail < 32 * 1024, "{trail}");
}
