//! Changes that a console makes: to a simulator of its own process, and to one that is served, with guards that are
//! processes; and what it refuses.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::processes::{DEMO, ServedLab};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::{Acceptance, ChangeOffer, ChangeOverview, Changer, PlanSource};
use fabdeck::operations::changes::console_changes::ConsoleChanges;
use fabdeck::operations::changes::job_effects::job_effects;
use fabdeck::operations::environment::OperationOptions;
use fabdeck::operations::jobs::job_request::JobInput;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::link_service::LinkService;
use fabdeck::operations::plans::plan_request::{PlanRequest, StagedCommands, WriteMode};
use fabdeck::operations::plans::proposal_plan::settle_proposal;
use fabdeck::operations::plans::write_mode_offer::OtherMode;
use fabdeck::operations::preview::whatif::{ProposalOptions, propose};
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_change::{AttestationVerdict, ChangePhase, GuardRequest, SilentHostAction};
use fabdeck_fabric::{Element, Faults, JobMap, Tables, block_of};
use fabdeck_live::WriteRight;
use fabdeck_mad::access::{AttributePart, DeviceAttribute, DeviceId, NoObserver, ReadOptions, Source};
use fabdeck_routing::{NoProgress, Request};

const SOURCE: &str = DEMO;
const WANTED: ReadOptions = ReadOptions {
    tables: true,
    lanes: false,
    counters: false,
    multicast: false,
    adaptive: false,
    partitions: false,
    groups: false,
};

/// A console's source, what it shows, and its access to changes.
struct ConsoleFixture {
    machine: LocalSystemAccess,
    source: Box<dyn Source>,
    look: Arc<Snapshot>,
    clerk: ConsoleChanges,
    _state: TempDir,
}

fn console_changes(machine: &LocalSystemAccess, source: &str, given: &OperationOptions) -> ConsoleChanges {
    ConsoleChanges::new(
        Arc::new(machine.clone()),
        source,
        &OperationOptions { no_times: true, ..given.clone() },
        Arc::new(|| panic!("a guard had a bug")),
    )
}

fn own_fixture(name: &str) -> ConsoleFixture {
    let state = tempfile::tempdir().unwrap();
    let machine = LocalSystemAccess::default().with_persistent_simulators().with_state(state.path());
    let mut source = machine.open(name, &SourceOptions::default()).unwrap();
    let look =
        Arc::new(Snapshot::new(name, source.observe(WANTED, &mut NoObserver).unwrap(), &Default::default()));
    let clerk = console_changes(&machine, name, &OperationOptions::default());
    clerk.set_snapshot(&look);
    ConsoleFixture { machine, source, look, clerk, _state: state }
}

/// What an engine proposes, as a session holds it.
fn proposed(look: &Arc<Snapshot>, engine: &str, faults: &Faults) -> PlanSource {
    let engine = fabdeck_routing::find_engine(engine).unwrap();
    let sent = LevelsInForce::Unsaid;
    let request = Request::default();
    let asked = ProposalOptions { sent, ..ProposalOptions::for_terminals(&request) };
    let proposal = propose(look, &look.observation.tables, faults, engine, asked, &NoProgress).unwrap();
    let proposal = settle_proposal(look, faults, proposal, LevelsInForce::Unsaid, &NoProgress).unwrap();
    let (look, marks, staged) = (look.clone(), faults.clone(), StagedCommands::default());
    PlanSource::Proposed(Box::new(PlanRequest {
        look,
        marks,
        engine: engine.id,
        proposal: Arc::new(proposal),
        staged,
        mode: WriteMode::AtOnce,
    }))
}

/// All that stands against it is taken in.
fn taking_all(offer: &ChangeOffer, window: Duration) -> Acceptance {
    Acceptance {
        accepted: offer.findings.iter().map(|(name, _)| name.clone()).collect(),
        window,
        unanswered: SilentHostAction::Stop,
    }
}

const LONG: Duration = Duration::from_secs(600);

impl ConsoleFixture {
    /// What the source shows that has been open all the time.
    fn tables(&mut self) -> Tables {
        self.source.observe(WANTED, &mut NoObserver).unwrap().tables
    }

    fn begin(&mut self, engine: &str, window: Duration) -> (ChangeOffer, String) {
        let offer = self.clerk.prepare_offer(&proposed(&self.look, engine, &Faults::default())).unwrap();
        let id = self.clerk.begin_change(&offer, &taking_all(&offer, window)).unwrap();
        (offer, id)
    }
}

fn row(changes: &ChangeOverview, id: &str) -> ChangeRow {
    changes.rows.iter().find(|row| row.id == id).unwrap().clone()
}

/// Requests the list of changes until it has one; returns the reported ends.
fn wait_for_phase(clerk: &mut ConsoleChanges, id: &str, phase: ChangePhase) -> (ChangeRow, Vec<String>) {
    let (since, mut ended) = (Instant::now(), Vec::new());
    loop {
        let changes = clerk.list_changes().unwrap();
        assert_eq!(changes.unread, Vec::<String>::new());
        ended.extend(changes.ended_since.clone());
        let row = row(&changes, id);
        if row.state == phase {
            return (row, ended);
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{:?} instead of {phase:?}", row.state);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn confirm() -> GuardRequest {
    GuardRequest::Confirm { user: String::new() }
}

fn roll_back() -> GuardRequest {
    GuardRequest::RollBack { user: String::new(), anyway: false }
}

/// What a console compares on its timer: of its own simulator, and of one that others write to.
#[test]
fn what_a_console_confirmed_is_compared_with_its_fabric() {
    let mut desk = own_fixture(SOURCE);
    let before = desk.tables();
    let (_, id) = desk.begin("updn", LONG);
    wait_for_phase(&mut desk.clerk, &id, ChangePhase::Applied);
    assert!(desk.clerk.compare_changes().unwrap().is_empty(), "its guard watches what is pending");
    desk.clerk.ask_guard(&id, &confirm()).unwrap();
    wait_for_phase(&mut desk.clerk, &id, ChangePhase::Confirmed);
    let stands = desk.clerk.compare_changes().unwrap().remove(&id).unwrap();
    assert!(stands.verdict == AttestationVerdict::Stands && stands.entries > 0, "{stands:?}");
    // Another tool writes what was there before.
    let mut actuator =
        desk.machine.actuator(SOURCE, &SourceOptions::default(), &WriteRight::default()).unwrap();
    actuator.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    for (node, held) in &before.nodes {
        let (at, Some(lft)) = (desk.look.fabric().node(*node), &held.lft) else { continue };
        let slot = DeviceAttribute { at: DeviceId::Switch(at.guid()), part: AttributePart::Block(0) };
        actuator.write(&slot, &block_of(lft.bytes(), 0)).unwrap();
    }
    let fallen = desk.clerk.compare_changes().unwrap().remove(&id).unwrap();
    let as_before: u64 = fallen.devices.iter().map(|device| device.as_before).sum();
    assert_eq!(
        (fallen.verdict, fallen.differ, as_before),
        (AttestationVerdict::NoLongerStands, stands.entries, stands.entries)
    );
    assert!(fallen.devices[0].name.starts_with("switch "), "{fallen:?}");

    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    let source = format!("sim:{}", lab.home.path().join("lab.sock").display());
    let given =
        OperationOptions { state_dir: Some(lab.home.path().join("state")), ..OperationOptions::default() };
    let mut served = console_changes(&desk.machine, &source, &given);
    assert_eq!(served.compare_changes().unwrap()[&id].verdict, AttestationVerdict::Stands);
    super::foreign_writes::change_from_other_machine(&lab);
    assert_eq!(served.compare_changes().unwrap()[&id].verdict, AttestationVerdict::NoLongerStands);
}

#[test]
fn a_change_of_this_process_is_offered_applied_and_confirmed() {
    let mut desk = own_fixture(SOURCE);
    let before = desk.tables();
    let offer = desk.clerk.prepare_offer(&proposed(&desk.look, "updn", &Faults::default())).unwrap();
    assert_eq!(
        (offer.title.as_str(), offer.source.as_str(), offer.own, offer.applied),
        ("updn", SOURCE, true, false)
    );
    assert!(offer.parts > 0 && offer.switches > 0 && offer.moved_pairs > 0 && !offer.transition.is_empty());
    let names: Vec<&str> = offer.findings.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, offer.remarks.len()), (vec!["transition"], 0));
    let none = Acceptance { accepted: Vec::new(), window: LONG, unanswered: SilentHostAction::Stop };
    let refused = desk.clerk.begin_change(&offer, &none).unwrap_err();
    assert!(refused.contains("FD-7983") && refused.contains("--accept transition"), "{refused}");
    assert!(desk.clerk.list_changes().unwrap().rows.is_empty() && desk.tables() == before);

    let id = desk.clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    let (applied, ended) = wait_for_phase(&mut desk.clerk, &id, ChangePhase::Applied);
    assert_eq!((applied.number, applied.writes, applied.done), (1, offer.parts as u64, offer.parts as u64));
    assert_eq!(
        (applied.accepted, applied.engine.as_str(), ended.len()),
        (vec!["transition".into()], "updn", 0)
    );
    assert!(applied.deadline.is_some() && !applied.user.is_empty());
    // Both who kept the source open and who looks again see it.
    let after = desk.tables();
    assert_ne!(after, before);
    let mut again = desk.machine.open(SOURCE, &SourceOptions::default()).unwrap();
    assert_eq!(again.observe(WANTED, &mut NoObserver).unwrap().tables, after);
    let changes = desk.clerk.list_changes().unwrap();
    assert_eq!((changes.here, changes.ended_since.len()), (BTreeSet::from([id.clone()]), 0));

    let second = desk.clerk.prepare_offer(&proposed(&desk.look, "updn", &Faults::default())).unwrap();
    assert!(second.applied, "all that it writes stands there");
    assert!(desk.clerk.begin_change(&second, &none).unwrap_err().contains("nothing to do"));
    let looked = Snapshot::new(SOURCE, again.observe(WANTED, &mut NoObserver).unwrap(), &Default::default());
    let other = proposed(&Arc::new(looked), "minhop", &Faults::default());
    let refused = desk.clerk.prepare_offer(&other).unwrap_err();
    assert!(refused.contains("FD-5632") && refused.contains(&id), "{refused}");

    let confirmed = desk.clerk.ask_guard(&id, &confirm()).unwrap();
    let (row, ended) = wait_for_phase(&mut desk.clerk, &id, ChangePhase::Confirmed);
    assert_eq!((confirmed.phase, row.deadline, ended.len()), (ChangePhase::Confirmed, None, 0));
    assert!(row.ended.is_some() && desk.tables() == after);
    assert!(desk.clerk.ask_guard(&id, &roll_back()).unwrap_err().contains("FD-7985"));
    assert!(desk.clerk.ask_guard("00000000", &roll_back()).unwrap_err().contains("FD-5634"));
    assert!(!desk.clerk.prepare_offer(&other).unwrap().applied, "nothing is pending any more");
}

#[test]
fn a_change_of_this_process_goes_back_when_its_window_is_over_or_when_asked() {
    let mut desk = own_fixture(SOURCE);
    let before = desk.tables();
    let (_, id) = desk.begin("updn", Duration::from_secs(1));
    let (_, none) = wait_for_phase(&mut desk.clerk, &id, ChangePhase::Applied);
    assert_ne!(desk.tables(), before);
    let (row, ended) = wait_for_phase(&mut desk.clerk, &id, ChangePhase::RolledBack);
    assert_eq!((none.len(), ended, desk.tables() == before), (0, vec![id.clone()], true));
    assert!(row.why.unwrap().contains("it was not confirmed in time"));
    assert!(desk.clerk.list_changes().unwrap().ended_since.is_empty(), "told once");

    let (_, id) = desk.begin("updn", Duration::from_secs(2));
    wait_for_phase(&mut desk.clerk, &id, ChangePhase::Applied);
    let status =
        desk.clerk.ask_guard(&id, &GuardRequest::Extend { user: String::new(), seconds: 600 }).unwrap();
    let left =
        status.deadline.unwrap().parse::<jiff::Timestamp>().unwrap().duration_since(jiff::Timestamp::now());
    assert!((590..=602).contains(&left.as_secs()), "{left}");
    desk.clerk.ask_guard(&id, &GuardRequest::RollBack { user: "somebody".into(), anyway: false }).unwrap();
    let (row, _) = wait_for_phase(&mut desk.clerk, &id, ChangePhase::RolledBack);
    assert_eq!((row.number, desk.tables() == before), (2, true));
    assert_eq!(row.why, Some(format!("requested by {}", row.user)), "whoever runs this, and no other name");
}

/// The guard, a look and a sweep have ports of one simulator, each on a thread of its own.
#[test]
fn reading_beside_a_change_disturbs_nothing() {
    let mut desk = own_fixture("sim:kary,k=3,n=2,delay=2ms,reorder=2%");
    let before = desk.tables();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (machine, stop) = (desk.machine.clone(), stop.clone());
            let name = desk.look.source.clone();
            std::thread::spawn(move || {
                let mut looks = 0;
                while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                    let mut source = machine.open(&name, &SourceOptions::default()).unwrap();
                    let seen = source.observe(WANTED, &mut NoObserver).unwrap();
                    assert!(!seen.is_partial(), "{:?}", seen.notes);
                    looks += 1;
                }
                looks
            })
        })
        .collect();
    for _ in 0..5 {
        let (_, id) = desk.begin("updn", LONG);
        wait_for_phase(&mut desk.clerk, &id, ChangePhase::Applied);
        desk.clerk.ask_guard(&id, &roll_back()).unwrap();
        wait_for_phase(&mut desk.clerk, &id, ChangePhase::RolledBack);
        assert!(desk.tables() == before);
    }
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    let looks: Vec<i32> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    println!("said: {looks:?} looks beside five changes");
}

/// A command still has a simulator to itself each time.
#[test]
fn simulators_are_kept_where_that_is_wanted_alone() {
    let machine = LocalSystemAccess::default();
    let state = tempfile::tempdir().unwrap();
    let machine = machine.with_state(state.path());
    let mut clerk = console_changes(&machine, SOURCE, &OperationOptions::default());
    let mut source = machine.open(SOURCE, &SourceOptions::default()).unwrap();
    let look = Snapshot::new(SOURCE, source.observe(WANTED, &mut NoObserver).unwrap(), &Default::default());
    let before = look.observation.tables.clone();
    clerk.set_snapshot(&look);
    let offer = clerk.prepare_offer(&proposed(&Arc::new(look), "updn", &Faults::default())).unwrap();
    let id = clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    assert_eq!(source.observe(WANTED, &mut NoObserver).unwrap().tables, before);
}

#[test]
fn a_link_goes_out_of_service_from_a_session() {
    let mut desk = own_fixture("sim:demo,traffic=none");
    let element = Element::find(desk.look.fabric(), &desk.look.names, "link:rack1-leaf[8]").unwrap();
    let planned = PlanSource::Service { look: desk.look.clone(), element, service: LinkService::Disable };
    let offer = desk.clerk.prepare_offer(&planned).unwrap();
    assert!(offer.title.starts_with("disable link:rack1-leaf["), "{}", offer.title);
    assert!(offer.findings.iter().any(|(name, _)| name == "unreachable"), "{:?}", offer.findings);
    let planned = PlanSource::Service { look: desk.look.clone(), element, service: LinkService::Enable };
    assert!(desk.clerk.prepare_offer(&planned).unwrap_err().contains("FD-7997"));
}

/// Over a served fabric: the guards are processes.
fn served_fixture(lab: &ServedLab) -> (ConsoleChanges, LocalSystemAccess, OperationOptions, String) {
    let machine = LocalSystemAccess::default()
        .with_guard(env!("CARGO_BIN_EXE_fabdeck"))
        .with_state(lab.home.path().join(".local/state/fabdeck"));
    let given =
        OperationOptions { state_dir: Some(lab.home.path().join("state")), ..OperationOptions::default() };
    let source = format!("sim:{}", lab.home.path().join("lab.sock").display());
    let clerk = looking(&machine, &source, &given);
    (clerk, machine, given, source)
}

fn looking(machine: &LocalSystemAccess, source: &str, given: &OperationOptions) -> ConsoleChanges {
    let mut opened = machine.open(source, &SourceOptions::default()).unwrap();
    let look = Snapshot::new(source, opened.observe(WANTED, &mut NoObserver).unwrap(), &Default::default());
    let clerk = console_changes(machine, source, given);
    clerk.set_snapshot(&look);
    clerk
}

fn file(lab: &ServedLab, name: &str) -> PlanSource {
    PlanSource::File(lab.home.path().join(name))
}

#[test]
fn a_served_fabric_is_changed_by_a_guard_that_outlives_the_console() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let (mut clerk, machine, given, source) = served_fixture(&lab);
    let offer = clerk.prepare_offer(&file(&lab, "a.plan")).unwrap();
    assert!(offer.title.ends_with("a.plan") && !offer.own, "{offer:?}");
    // It is not safe while traffic flows, and the staged commands are printed once.
    let instead = offer.transition.iter().filter(|(label, _)| label == "instead").count();
    assert_eq!(instead, 1, "{offer:?}");
    let id = clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    let (applied, _) = wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    assert_eq!(applied.accepted, ["transition"]);
    assert_ne!(lab.tables(), before);
    assert_eq!((lab.state().as_str(), lab.row()["id"].as_str()), ("applied", Some(id.as_str())));
    drop(clerk);
    // Another session on the same fabric takes part; the guard died, and has a successor.
    let mut other = looking(&machine, &source, &given);
    assert_eq!(other.list_changes().unwrap().here, BTreeSet::from([id.clone()]));
    lab.kill_guard();
    assert_eq!(other.ask_guard(&id, &confirm()).unwrap().phase, ChangePhase::Confirmed);
    wait_for_phase(&mut other, &id, ChangePhase::Confirmed);
    assert_ne!(lab.tables(), before);
    // Of another fabric it is listed, and not here.
    let mut elsewhere = clerk_of_own(&machine, &given);
    let changes = elsewhere.list_changes().unwrap();
    assert_eq!((changes.rows.len(), changes.here.len()), (1, 0));
}

fn clerk_of_own(machine: &LocalSystemAccess, given: &OperationOptions) -> ConsoleChanges {
    looking(machine, SOURCE, given)
}

/// A console opens the next day and says what became of it; once, and not where it was seen already.
#[test]
fn what_ended_while_no_console_was_open_is_reported_once() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let (mut clerk, machine, given, source) = served_fixture(&lab);
    let begin = |clerk: &mut ConsoleChanges, seconds| {
        let offer = clerk.prepare_offer(&file(&lab, "a.plan")).unwrap();
        clerk.begin_change(&offer, &taking_all(&offer, Duration::from_secs(seconds))).unwrap()
    };
    let over = |number: u32| {
        let ended = lab.home.path().join(format!("state/changes/{number:06}/ended"));
        let since = Instant::now();
        while !ended.exists() {
            assert!(since.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let id = begin(&mut clerk, 1);
    drop(clerk);
    over(1);
    // Elsewhere nothing is said of it, and it is not forgotten.
    assert!(clerk_of_own(&machine, &given).list_changes().unwrap().ended_since.is_empty());
    let mut next = looking(&machine, &source, &given);
    let changes = next.list_changes().unwrap();
    assert_eq!(changes.ended_since, [id.as_str()]);
    let row = row(&changes, &id);
    assert!(
        row.state == ChangePhase::RolledBack && row.why.unwrap().contains("it was not confirmed in time")
    );
    assert!(row.ended.is_some() && lab.tables() == before);
    assert!(next.list_changes().unwrap().ended_since.is_empty());
    assert!(looking(&machine, &source, &given).list_changes().unwrap().ended_since.is_empty());
    // Who lists them with the command has seen it.
    begin(&mut next, 1);
    over(2);
    assert_eq!(lab.state(), "rolled-back");
    assert!(looking(&machine, &source, &given).list_changes().unwrap().ended_since.is_empty());
}

/// A guard that has stopped holds nothing up, and a list that is asked for again reads no journal that has ended.
#[test]
fn a_list_is_never_slow() {
    let lab = ServedLab::new(DEMO);
    let (mut clerk, ..) = served_fixture(&lab);
    let offer = clerk.prepare_offer(&file(&lab, "a.plan")).unwrap();
    let id = clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    let guard = std::fs::read_to_string(lab.home.path().join("state/changes/000001/guard.lock")).unwrap();
    let signal = |name: &str| {
        assert!(std::process::Command::new("kill").args(["-s", name, &guard]).status().unwrap().success());
    };
    // For less than the time after which a second process ends a guard that hangs.
    signal("STOP");
    let since = Instant::now();
    for _ in 0..40 {
        assert_eq!(row(&clerk.list_changes().unwrap(), &id).state, ChangePhase::Applied);
    }
    let took = since.elapsed();
    signal("CONT");
    assert!(took < Duration::from_secs(2), "{took:?}");
    clerk.ask_guard(&id, &confirm()).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Confirmed);
    // Nothing reads what has ended: what stands there by now is not seen.
    let journal = lab.home.path().join("state/changes/000001/journal");
    std::fs::write(&journal, "damaged\n").unwrap();
    let changes = clerk.list_changes().unwrap();
    assert_eq!((changes.rows.len(), changes.unread.len()), (1, 0));
    // Its guard may be about to leave.
    let since = Instant::now();
    while std::fs::remove_dir_all(lab.home.path().join("state/changes/000001")).is_err() {
        assert!(since.elapsed() < Duration::from_secs(10));
    }
    assert!(clerk.list_changes().unwrap().rows.is_empty());
}

/// What the command refuses the console refuses, in the same words.
#[test]
fn what_a_console_refuses_it_refuses_as_the_command_does() {
    let lab = ServedLab::new(DEMO);
    let (mut clerk, machine, given, source) = served_fixture(&lab);
    let same = |words: String, args: &[&str], exit: i32, code: &str| {
        let said = lab.run_to_end(&[&["apply", "--yes"], args].concat(), exit);
        let folder = format!("{}/", lab.home.path().display());
        let words = words.replace(&folder, "");
        assert!(said.contains(&words) && words.contains(code), "{words}\n{said}");
    };
    let offered = |clerk: &mut ConsoleChanges, name: &str| clerk.prepare_offer(&file(&lab, name));
    same(offered(&mut clerk, "absent.plan").unwrap_err(), &["absent.plan"], 7, "FD-7931");
    std::fs::write(lab.home.path().join("bad.plan"), "{}").unwrap();
    same(offered(&mut clerk, "bad.plan").unwrap_err(), &["bad.plan"], 7, "bad.plan");
    let offer = offered(&mut clerk, "a.plan").unwrap();
    let accepting = |names: &[&str]| Acceptance {
        accepted: names.iter().map(|name| (*name).to_owned()).collect(),
        window: LONG,
        unanswered: SilentHostAction::Stop,
    };
    same(clerk.begin_change(&offer, &accepting(&[])).unwrap_err(), &["a.plan"], 4, "FD-7983");
    let named = ["a.plan", "--accept", "nonsense"];
    same(clerk.begin_change(&offer, &accepting(&["nonsense"])).unwrap_err(), &named, 64, "FD-7982");
    let reach = SourceOptions { mkey_file: Some("-".into()), ..SourceOptions::default() };
    let mut keyed = looking(&machine, &source, &OperationOptions { reach, ..given.clone() });
    let stdin = ["a.plan", "--accept", "transition", "--mkey-file", "-"];
    same(offered(&mut keyed, "a.plan").unwrap_err(), &stdin, 7, "FD-5022");

    let id = clerk.begin_change(&offer, &accepting(&["transition"])).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    let route = lab
        .command(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "b.plan"])
        .output()
        .unwrap();
    assert!(matches!(route.status.code(), Some(0 | 2)), "{route:?}");
    let taken = ["b.plan", "--accept", "transition,cycle,unreachable,lanes"];
    same(offered(&mut clerk, "b.plan").unwrap_err(), &taken, 4, "FD-5632");
    clerk.ask_guard(&id, &confirm()).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Confirmed);
    let offer = offered(&mut clerk, "b.plan").unwrap();
    let id = clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    clerk.ask_guard(&id, &confirm()).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Confirmed);
    same(offered(&mut clerk, "a.plan").unwrap_err(), &["a.plan", "--accept", "transition"], 3, "FD-7986");

    // What is no fabric; the source of the command is the one that is named last.
    let files = super::processes::command(lab.home.path())
        .args(["--source", "site.topo", "apply", "a.plan", "--yes"])
        .output()
        .unwrap();
    let words = clerk_of(&machine, "site.topo", &given).prepare_offer(&file(&lab, "a.plan")).unwrap_err();
    let said = String::from_utf8_lossy(&files.stderr).into_owned();
    assert!(said.contains(&words) && words.contains("FD-4111"), "{words}\n{said}");
}

fn clerk_of(machine: &LocalSystemAccess, source: &str, given: &OperationOptions) -> ConsoleChanges {
    console_changes(machine, source, given)
}

/// A guard that dies has a successor from the console that looks on, within moments and without another command.
#[test]
fn a_console_that_looks_on_gives_a_change_another_guard() {
    let lab = ServedLab::new(DEMO);
    let (mut clerk, ..) = served_fixture(&lab);
    let id = lab.apply();
    assert!(clerk.list_changes().unwrap().here.contains(&id));
    lab.kill_guard();
    let since = Instant::now();
    let mut said = Vec::new();
    loop {
        let changes = clerk.list_changes().unwrap();
        said.extend(changes.unread);
        if clerk.ask_guard(&id, &GuardRequest::Status).is_ok()
            && said.iter().any(|line| line.contains("its guard was gone"))
        {
            break;
        }
        assert!(since.elapsed() < Duration::from_secs(10), "{said:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    lab.run_to_end(&["rollback", &id], 0);
}

/// A pending change of another machine is reported while it is registered, not only until the next comparison.
#[test]
fn what_another_machine_had_pending_is_said_no_longer_once_its_registration_is_gone() {
    let lab = ServedLab::new(DEMO);
    let (_, machine, given, source) = served_fixture(&lab);
    let given = OperationOptions { state_dir: Some(lab.home.path().join("other")), ..given };
    let mut clerk = looking(&machine, &source, &given);
    let id = lab.apply();
    clerk.compare_changes().unwrap();
    let said = |clerk: &mut ConsoleChanges| clerk.list_changes().unwrap().unread.concat();
    assert!(said(&mut clerk).contains("FD-5643"));
    // As long as it is registered it is said, however often the manager is asked.
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(6) {
        assert!(said(&mut clerk).contains(&id));
        std::thread::sleep(Duration::from_millis(200));
    }
    lab.run_to_end(&["confirm", &id], 0);
    let since = Instant::now();
    while said(&mut clerk).contains("FD-5643") {
        assert!(since.elapsed() < Duration::from_secs(15), "{}", said(&mut clerk));
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A plan in five phases, by the console: what it asks says who leaves, and the guard goes through them.
#[test]
fn a_console_applies_in_five_phases() {
    let lab = ServedLab::new("sim:kary,k=3,n=2,lmc=1,traffic=permutation,agents=all");
    lab.run_to_end(&["route", "--engine", "dfsssp", "--lanes", "1", "--phases", "-o", "phases.plan"], 0);
    let (mut clerk, ..) = served_fixture(&lab);
    let offer = clerk.prepare_offer(&file(&lab, "phases.plan")).unwrap();
    let leaves = "9 ports of hosts to leave base LIDs (level 0) for high LIDs (level 1)";
    assert!(offer.migrations.iter().any(|words| words.starts_with(leaves)), "{offer:?}");
    assert!(offer.findings.is_empty(), "{offer:?}");
    let id = clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    let trail = lab.trail();
    for phase in ["phase 1 of 5", "phase 2 of 5: 9 agents answered", "phase 3 of 5", "phase 4 of 5: 9 agents"]
    {
        assert!(trail.contains(phase), "{phase}: {trail}");
    }
    let go_on = clerk.ask_guard(&id, &GuardRequest::GoOn { user: String::new() }).unwrap_err();
    assert!(go_on.contains("FD-5664"), "{go_on}");
    clerk.ask_guard(&id, &GuardRequest::Confirm { user: String::new() }).unwrap();
}

/// Hosts, jobs and pairs are counted from the fabric that the plan was compared with.
#[test]
fn an_offer_counts_who_notices() {
    let ConsoleFixture { look, mut clerk, .. } = own_fixture(SOURCE);
    let mut faults = Faults::new();
    faults.mark(Element::find(look.fabric(), &look.names, "switch:spine-2").unwrap());
    let planned = proposed(&look, "sftree", &faults);
    let offer = clerk.prepare_offer_for(&planned, Some(&JobInput::Simulated)).unwrap();
    let facts = &offer.facts;
    let pairs = facts.pairs().unwrap();
    assert_eq!((pairs.before, pairs.after), (504, 0), "{pairs:?}");
    assert_eq!(facts.cut_off_words(), "no host (spine-2, 1 aggregation node)");
    let jobs = facts.jobs.as_ref().unwrap();
    // The switch works: no job has lost anything, and the marks are a supposition.
    let spared: Vec<_> = jobs.hit.iter().filter(|job| job.spared > 0).collect();
    assert!(!spared.is_empty() && jobs.known >= jobs.hit.len(), "{jobs:?}");
    for job in &jobs.hit {
        assert!(job.before == 0 && job.after == 0 && job.spared <= job.moved, "{job:?}");
    }
    let actual = facts.actual_pairs().unwrap();
    assert_eq!((actual.before, actual.after, actual.pairs), (0, 44, 1980), "{actual:?}");
    let words = facts.supposed_words().unwrap();
    assert!(
        words.starts_with(
            "spine-2 fails: before 504 pairs without a path, after 0; its own 88 pairs have none either way; so it spares "
        ),
        "{words}"
    );
    // A job on all terminals but the one that is cut off has the pairs of the plan.
    let (fabric, mut all) = (look.fabric(), JobMap::default());
    let lost = fabric.nodes().find(|(id, _)| look.name(*id) == "spine-2").unwrap().0;
    let at_lost = |port| fabric.peer(port).is_some_and(|peer| fabric.port(peer).node == lost);
    let adapters = fabric.nodes().filter(|(_, node)| !node.is_switch());
    let ports = adapters.flat_map(|(id, _)| fabric.ports_of(id)).filter(|(_, port)| port.facts.lid.is_some());
    ports.filter(|(id, _)| !at_lost(*id)).for_each(|(id, _)| all.add("all", id));
    let effects = job_effects(&look, &offer.plan.as_ref().unwrap().0, &all);
    let [effect] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((effect.pairs, effect.before, effect.spared), (pairs.pairs, 0, 504), "{effect:?}");
    assert_eq!(
        clerk.prepare_offer(&planned).unwrap().facts.jobs,
        None,
        "jobs that are not known are not none"
    );
}

/// The same proposal in five phases.
fn in_phases(planned: PlanSource) -> PlanSource {
    let PlanSource::Proposed(mut request) = planned else { panic!("{planned:?}") };
    request.mode = WriteMode::FivePhases;
    PlanSource::Proposed(request)
}

/// The same proposal at once and in five phases: the offer says which hosts have to leave, and the guard makes them.
#[test]
fn a_proposal_is_offered_at_once_and_in_five_phases() {
    let mut fixture = own_fixture("sim:kary,k=3,n=2,lmc=1,traffic=permutation,agents=all");
    let planned = proposed(&fixture.look, "ftree", &Faults::default());
    let offer = fixture.clerk.prepare_offer(&planned).unwrap();
    assert_eq!((offer.mode.mode, &offer.mode.other), (WriteMode::AtOnce, &OtherMode::Possible));
    assert_eq!(offer.mode.ports, 9);
    let phased = fixture.clerk.prepare_offer(&in_phases(planned)).unwrap();
    assert_eq!((phased.mode.mode, phased.mode.ports), (WriteMode::FivePhases, 9));
    let id = fixture.clerk.begin_change(&phased, &taking_all(&phased, LONG)).unwrap();
    wait_for_phase(&mut fixture.clerk, &id, ChangePhase::Applied);
    fixture.clerk.ask_guard(&id, &GuardRequest::Confirm { user: String::new() }).unwrap();
}

#[test]
fn five_phases_are_refused_with_the_reason() {
    let mut fixture = own_fixture(SOURCE);
    let planned = proposed(&fixture.look, "updn", &Faults::default());
    let offer = fixture.clerk.prepare_offer(&planned).unwrap();
    assert_eq!(offer.mode.other, OtherMode::Refused("hosts have one LID a port (LMC 0)".to_owned()));
    let refused = fixture.clerk.prepare_offer(&in_phases(planned)).unwrap_err();
    assert!(refused.contains("FD-7975"), "{refused}");
    let mut fixture = own_fixture("sim:kary,k=3,n=2,lmc=1,agents=all");
    let planned = proposed(&fixture.look, "mlid", &Faults::default());
    let offer = fixture.clerk.prepare_offer(&planned).unwrap();
    assert_eq!(offer.mode.other, OtherMode::Refused("mlid uses every LID of a port".to_owned()));
}

/// An undo gives up the paths around the elements that the undone change took as failed.
#[test]
fn the_offer_of_an_undo_counts_what_it_gives_up() {
    let ConsoleFixture { look, mut clerk, .. } = own_fixture(SOURCE);
    let mut faults = Faults::new();
    faults.mark(Element::find(look.fabric(), &look.names, "switch:spine-2").unwrap());
    let offer = clerk.prepare_offer(&proposed(&look, "sftree", &faults)).unwrap();
    let id = clerk.begin_change(&offer, &taking_all(&offer, LONG)).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Applied);
    clerk.ask_guard(&id, &GuardRequest::Confirm { user: String::new() }).unwrap();
    wait_for_phase(&mut clerk, &id, ChangePhase::Confirmed);
    let undo =
        clerk.prepare_offer_for(&PlanSource::Undo { id, number: 1 }, Some(&JobInput::Simulated)).unwrap();
    let loss = undo.facts.undo.as_ref().unwrap();
    assert_eq!(
        (loss.pairs, loss.failed.as_slice()),
        (Some([0, 504]), ["switch:spine-2".to_owned()].as_slice())
    );
    assert!(loss.jobs.iter().all(|(_, pairs)| *pairs > 0) && !loss.jobs.is_empty(), "{loss:?}");
    assert_eq!(undo.mode.other, OtherMode::Fixed);
}
