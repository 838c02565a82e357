//! Changes through OpenSM, which gets its files and SIGHUP.

use fabdeck_simulator::SimulatorRng;

use super::*;
use crate::changes::world::opensm::{OPENSM, TABLES_FILE};

/// The new tables take the place of the file.
const NEW_FILE: &str = "renames /var/cache/opensm/active.lft.fabdeck-new";

/// A change through OpenSM, whose process is not started again by itself.
fn play(
    has_file: bool,
    decision: Decision,
    at: Vec<(u64, Event)>,
    triggers: Vec<(&'static str, Event)>,
) -> Arc<World> {
    let world = play_scenario(None, decision, at, triggers);
    let mut state = world.lock();
    state.put_opensm_in_charge(has_file);
    state.opensm.as_mut().unwrap().restarts = false;
    drop(state);
    world
}

fn tables_file(world: &Arc<World>) -> Option<Vec<u8>> {
    world.lock().disks[0].bytes(Path::new(TABLES_FILE)).map(<[u8]>::to_vec)
}

#[test]
fn opensm_loads_a_change_and_loads_what_was_there_before() {
    for has_file in [false, true] {
        let world = play(has_file, Decision::Leave, Vec::new(), Vec::new());
        assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
        assert!(has_message(&world, "for aaaa0001") && tables_file(&world).is_some() == has_file);
        let world = play(has_file, Decision::Confirm, Vec::new(), Vec::new());
        assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
        assert!(tables_file(&world).is_some());
    }
}

/// Without OpenSM nothing is deleted that leads back. The old tables lie where OpenSM finds them at its start.
#[test]
fn what_leads_back_stays_until_opensm_has_read_it() {
    for has_file in [false, true] {
        let at = vec![(20_000, Event::Kill { name: OPENSM }), (150_000, start(Program::Opensm))];
        let world = play(has_file, Decision::Leave, at, Vec::new());
        assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
        let trail = state_file(&world, "audit");
        assert!(trail.contains("out of reach") && trail.contains("a zombie"), "{trail}");
        let sets = seconds_of(&world, " for aaaa0001");
        let (there, back): (Vec<f64>, Vec<f64>) = sets.iter().partition(|second| **second < 20.0);
        assert!(!there.is_empty() && there.len() == back.len() && back[0] >= 150.0, "{sets:?}");
        assert_eq!(tables_file(&world).is_some(), has_file);
    }
}

/// Another program of the owner's is named opensm: neither gets SIGHUP until one is left.
#[test]
fn a_rollback_waits_until_one_process_is_called_opensm() {
    let pretends = |user| Event::Start { host: 0, user, program: Program::PretendOpensm { for_s: 60 } };
    let world = play(true, Decision::Leave, vec![(10_000, pretends(OWNER))], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("are called opensm"));
    // The name alone does not make another user's program OpenSM.
    let world = play(true, Decision::Leave, vec![(10_000, pretends(OTHER))], Vec::new());
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(!state_file(&world, "audit").contains("out of reach"));
}

/// Seed 38275: the note beside the tables was that of an earlier change with the same plan, which was confirmed.
#[test]
fn a_plan_that_is_applied_again_takes_back_nothing_of_the_first_time() {
    let again = start(apply("bbbb0002", 0, Decision::Confirm));
    let dies = Event::Kill { name: "guard bbbb0002" };
    // The next guard puts OpenSM's files back at once if that does not run.
    let triggers = vec![
        ("opens /var/lib/fabdeck/changes/000002/plan.json (Read)", dies),
        ("lists /var/lib/fabdeck/changes", Event::Kill { name: OPENSM }),
    ];
    let at = vec![(10_000, again), (90_000, start(Program::Opensm))];
    let world = play(true, Decision::Confirm, at, triggers);
    start_timers(&mut world.lock());
    assert_eq!(ended(&world, ID), Some(ChangePhase::Confirmed));
    let second = world.lock().monitor.changes["bbbb0002"].phase;
    assert_eq!(second, Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("the guard ended before anything was written"));
}

/// OpenSM finds either the old tables or the new ones after a power cut, and the change goes back.
#[test]
fn a_power_cut_while_files_are_replaced_leaves_whole_files() {
    for has_file in [false, true] {
        let cut = Event::PowerCut { host: 0, down_ms: 20_000 };
        let world = play(has_file, Decision::Leave, Vec::new(), vec![(NEW_FILE, cut)]);
        assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
        assert_eq!(tables_file(&world).is_some(), has_file);
    }
}

/// Seed 85202: the disk fails between the rename of OpenSM's old file and the sync of its folder. The guard tries again, and
/// a power cut after the rollback finds the old file.
#[test]
fn a_file_that_is_back_is_durable_before_the_rollback_ends() {
    let triggers = vec![
        (NEW_FILE, NOTHING),
        ("gets SIGHUP", decide(Decision::RollBack)),
        ("active.lft.fabdeck-before to /var/cache", Event::FailDisk { host: 0, for_ms: 8_000 }),
        ("removes /run/fabdeck/aaaa0001.sock", Event::PowerCut { host: 0, down_ms: 20_000 }),
    ];
    let world = play(true, Decision::Leave, Vec::new(), triggers);
    let before = tables_file(&world);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(before.is_some() && tables_file(&world) == before);
}

/// A stopped OpenSM may hold tables that it has read and not set. The rollback waits for it.
#[test]
fn a_stopped_opensm_is_waited_for() {
    let stops = Event::Stop { name: OPENSM, for_ms: 100_000 };
    let triggers = vec![("as its file has it", stops)];
    let world = play(true, Decision::Leave, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(state_file(&world, "audit").contains("is stopped by a signal"));
}

/// A rollback is asked for while OpenSM works on the plan's file. It sets those tables, and only then loads the old ones.
#[test]
fn tables_that_opensm_has_read_and_sets_late_go_back_too() {
    for (has_file, keeps_no_access_times) in [(false, false), (false, true), (true, false), (true, true)] {
        let triggers = vec![(NEW_FILE, NOTHING), ("gets SIGHUP", decide(Decision::RollBack))];
        let world = play(has_file, Decision::Leave, Vec::new(), triggers);
        let mut state = world.lock();
        state.disks[0].keeps_no_access_times = keeps_no_access_times;
        state.opensm.as_mut().unwrap().load_ms = 6_000;
        drop(state);
        assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
        // With a file it still works on that one when SIGHUP comes, and then reads what is back.
        assert_eq!(seconds_of(&world, " for aaaa0001").is_empty(), has_file);
        // That it has read the file that is back ends the wait early.
        let ends = seconds_of(&world, "guard aaaa0001: rolled back")[0];
        assert_eq!(ends < 18.0, !has_file || !keeps_no_access_times, "{ends} s");
        assert_eq!(tables_file(&world).is_some(), has_file);
    }
}

/// One reading is lost between two that find the old tables: the stand-in goes away all the same.
#[test]
fn a_lost_reading_leaves_no_file_behind() {
    for seed in 0..20 {
        let world = play(false, Decision::RollBack, Vec::new(), Vec::new());
        let mut state = world.lock();
        state.fabric.loses_one_in = 6;
        state.dice = SimulatorRng::new(seed);
        drop(state);
        let phase = ended(&world, ID);
        assert!(phase != Some(ChangePhase::RolledBack) || tables_file(&world).is_none(), "seed {seed}");
    }
}

/// Seed 13499: another `apply` reads OpenSM's file while the rollback waits for OpenSM to read it.
#[test]
fn a_reading_of_another_command_is_not_one_of_opensm() {
    let second = start(Program::Apply { id: "bbbb0002", plan: 0, window_s: 30, decision: Decision::Leave });
    let triggers = vec![
        (NEW_FILE, NOTHING),
        ("gets SIGHUP", decide(Decision::RollBack)),
        ("clears the access time", second),
    ];
    let world = play(false, Decision::Leave, Vec::new(), triggers);
    world.lock().opensm.as_mut().unwrap().load_ms = 6_000;
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
}

/// Seed 11243: OpenSM is stopped between SIGHUP and the tables of the plan's file, for longer than they are waited for.
#[test]
fn an_opensm_that_is_stopped_after_its_signal_is_waited_for_too() {
    let triggers = vec![
        (NEW_FILE, NOTHING),
        ("gets SIGHUP", decide(Decision::RollBack)),
        ("clears the access time", NOTHING),
        ("gets SIGHUP", Event::Stop { name: OPENSM, for_ms: 100_000 }),
    ];
    let world = play(true, Decision::Leave, vec![(2_000, NOTHING)], triggers);
    world.lock().opensm.as_mut().unwrap().load_ms = 1_000;
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(seconds_of(&world, "guard aaaa0001: rolled back")[0] > 100.0);
}

/// The guard is killed between the removal of the stand-in and its last record: the next one does not wait for OpenSM again.
#[test]
fn a_guard_that_takes_over_after_the_stand_in_is_gone_ends_at_once() {
    let removed = "removes /var/cache/opensm/active.lft";
    let triggers = vec![(removed, NOTHING), ("gets SIGHUP", Event::Kill { name: "guard aaaa0001" })];
    let world = play(false, Decision::RollBack, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(seconds_of(&world, "guard aaaa0001: rolled back")[0] < 15.0);
}

#[test]
fn who_asks_for_a_rollback_that_is_under_way_waits_for_its_end() {
    let rollback_call = "asks /run/fabdeck/aaaa0001.sock for rollback";
    let triggers =
        vec![(rollback_call, NOTHING), ("gets SIGHUP", decide(Decision::RollBack)), (rollback_call, NOTHING)];
    let world = play(true, Decision::RollBack, Vec::new(), triggers);
    assert_eq!(ended(&world, ID), Some(ChangePhase::RolledBack));
    assert!(has_message(&world, "hears that aaaa0001 is RollingBack"));
    assert!(!has_message(&world, "FD-5655"));
}
