//! Confirmed changes compared with the fabric: what stands, what does not and who wrote it, and what is not known.

use std::collections::BTreeSet;

use fabdeck_change::{
    Attestation, AttestationVerdict, BeginRecord, ChangeState, ComparedFabric, DeviceState, Journal,
    JournalRecord, LocalSystem, Plan, RollbackRemainder, compare_changes,
};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::Observation;
use fabdeck_live::socket::connect;
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator};
use fabdeck_mad::access::{
    Actuator, AttributePart, DeviceAttribute, DeviceId, DevicePort, NoObserver, ReadObserver, ReadOptions,
    SourceError, Surveyor, WriteError, WriteToken,
};
use fabdeck_simulator::SharedSimulator;
use serde_json::Value;

use super::foreign_writes::{change_from_other_machine, run_on_other_machine};
use super::processes::{DEMO, ServedLab};
use super::{actuator, make_simulator_and_plan};
use crate::commands::json::violations;

impl ServedLab {
    /// Applies a plan and confirms it.
    fn confirm_plan(&self, plan: &str) -> String {
        self.run_to_end(&["apply", plan, "--yes", "--accept", "transition,unreachable,lanes,cycle"], 0);
        let id = self.row()["id"].as_str().unwrap().to_owned();
        self.run_to_end(&["confirm", &id], 0);
        id
    }

    /// What `changes --verify` says of a change, and its lines for people.
    fn verified(&self, id: &str, code: i32) -> (Value, String) {
        self.verified_of("./state", id, code)
    }

    fn verified_of(&self, state: &str, id: &str, code: i32) -> (Value, String) {
        let ended = self.command_of(state, &["changes", "--verify", "--json"]).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{said} {told:#}");
        let row = told["rows"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
        (row["comparison"].clone(), said)
    }

    fn hands(&self) -> LiveActuator {
        let port = connect(&self.home.path().join("lab.sock"), None).unwrap();
        let port = port.unlock(&WriteToken::for_simulation()).unwrap();
        let mut hands = LiveActuator::new("lab", port, ExchangePolicy::default(), Keys::default());
        hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
        hands
    }

    fn plan(&self, file: &str) -> Plan {
        Plan::read(&std::fs::read_to_string(self.home.path().join(file)).unwrap()).unwrap()
    }
}

const DAILY: &str = r#"
name = "daily"
summary = "whether what was confirmed stands"

[[step]]
compare = true

[[on_failure]]
expect = ["changes.no_longer_stand == 1", "changes.stand == 0", "changes.entries_differ >= 1"]

[[on_failure]]
notify = { text = "look after the tables", file = "told.txt" }
"#;

/// Entries that a plan changes: LIDs of forwarding tables.
fn entries_of(plan: &Plan) -> u64 {
    let steps = plan.writes.iter().map(|write| write.to_step().unwrap());
    steps.map(|step| step.old.iter().zip(&step.new).filter(|(old, new)| old != new).count() as u64).sum()
}

fn switches(comparison: &Value) -> BTreeSet<String> {
    let devices = comparison["devices"].as_array().unwrap();
    devices.iter().map(|device| device["guid"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_confirmed_change_stands_until_it_is_overwritten() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    // What is not confirmed is left to its guard.
    let (pending, said) = lab.verified(&id, 0);
    assert!(pending.is_null() && !said.contains("FD-"), "{pending} {said}");
    lab.run_to_end(&["confirm", &id], 0);
    let (stands, said) = lab.verified(&id, 0);
    assert_eq!((&stands["verdict"], said.as_str()), (&"stands".into(), ""), "{stands}");
    assert_eq!(stands["entries"], entries_of(&lab.plan("a.plan")));
    assert!(stands["entries"].as_u64() > Some(0) && stands["manager"].is_string(), "{stands}");
    let text = lab.run_to_end(&["changes", "--verify"], 0);
    assert!(text.contains("IN FORCE") && text.contains("yes"), "{text}");
    assert!(!lab.run_to_end(&["changes"], 0).contains("IN FORCE"));
    let metrics = lab.run_to_end(&["changes", "--verify", "--format", "prometheus"], 0);
    assert!(metrics.contains("fabdeck_changes_by_verdict{verdict=\"stands\"} 1"), "{metrics}");
    assert!(metrics.contains("fabdeck_changes_compared 1"), "{metrics}");

    // Another machine, with a state folder of its own.
    let written = change_from_other_machine(&lab);
    let (fallen, said) = lab.verified(&id, 3);
    assert_eq!(fallen["verdict"], "no-longer-stands", "{fallen}");
    assert!(said.contains("FD-5608") && said.contains(&id) && said.contains("the subnet manager in charge"));
    assert!(!switches(&fallen).is_empty() && switches(&fallen).is_subset(&written), "{fallen} {written:?}");
    let (old, new) = (lab.plan("a.plan"), lab.plan("b.plan"));
    assert_eq!(fallen["differ"], overwritten(&old, &new));
    assert_eq!(fallen["devices"][0]["state"], "overwritten");
    let schema = include_str!("../../../docs/schemas/changes.json");
    let told: Value = serde_json::from_slice(&lab.run(&["changes", "--verify", "--json"]).stdout).unwrap();
    assert_eq!(violations(&serde_json::from_str(schema).unwrap(), &told), Vec::<String>::new());
    let metrics = lab.run_to_end(&["changes", "--verify", "--format", "prometheus"], 3);
    let differ = format!("fabdeck_change_entries_differ{{id=\"{id}\",number=\"1\"}} {}", fallen["differ"]);
    assert!(metrics.contains(&differ), "{metrics}");
    // A book ends there, and its values are known to the steps that follow.
    std::fs::write(lab.home.path().join("daily.toml"), DAILY).unwrap();
    let ended = lab.run_to_end(&["run", "daily.toml"], 3);
    assert!(ended.contains("FD-5608") && ended.contains(&id), "{ended}");
    assert_eq!(std::fs::read_to_string(lab.home.path().join("told.txt")).unwrap(), "look after the tables\n");
    // For the other machine its own change stands.
    let other = run_on_other_machine(&lab, &["changes"])["rows"][0]["id"].as_str().unwrap().to_owned();
    run_on_other_machine(&lab, &["confirm", &other]);
    assert_eq!(lab.verified_of("./other", &other, 0).0["verdict"], "stands");
}

/// How many entries of one plan another one changed to something else.
fn overwritten(old: &Plan, new: &Plan) -> u64 {
    let mut count = 0;
    for write in &old.writes {
        let step = write.to_step().unwrap();
        let over =
            new.writes.iter().map(|write| write.to_step().unwrap()).find(|over| over.slot == step.slot);
        let Some(over) = over else { continue };
        for at in 0..step.new.len() {
            count += u64::from(step.old[at] != step.new[at] && over.new[at] != step.new[at]);
        }
    }
    count
}

/// Entry by entry: what a newer change did not touch is still the older one's.
#[test]
fn a_newer_change_takes_over_the_entries_that_it_wrote() {
    let lab = ServedLab::new(DEMO);
    let first = lab.confirm_plan("a.plan");
    lab.run_to_end(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "b.plan"], 0);
    let second = lab.confirm_plan("b.plan");
    let (one, said) = lab.verified(&first, 0);
    let (two, _) = lab.verified(&second, 0);
    assert_eq!(said, "");
    assert_eq!((&two["verdict"], &two["superseded"]), (&"stands".into(), &0.into()));
    let shared = one["superseded"].as_u64().unwrap();
    assert!(shared > 0 && one["superseded_by"] == serde_json::json!([second]), "{one}");
    let left = entries_of(&lab.plan("a.plan")) - shared;
    assert_eq!(one["entries"], left);
    assert_eq!(one["verdict"], if left == 0 { "superseded" } else { "stands" });
    // The same entries again: nothing of the second is left.
    lab.run_to_end(&["route", "--engine", "updn", "-o", "c.plan"], 0);
    let third = lab.confirm_plan("c.plan");
    let (two, said) = lab.verified(&second, 0);
    assert_eq!((&two["verdict"], &two["entries"], said.as_str()), (&"superseded".into(), &0.into(), ""));
    assert_eq!(lab.verified(&third, 0).0["verdict"], "stands");
}

#[test]
fn a_restarted_switch_is_distinguished_from_a_written_one() {
    let lab = ServedLab::new(DEMO);
    let id = lab.confirm_plan("a.plan");
    let plan = lab.plan("a.plan");
    let at = plan.writes[0].at.device().unwrap();
    let mut hands = lab.hands();
    let blocks: BTreeSet<AttributePart> = plan.writes.iter().map(|write| write.part).collect();
    for part in blocks {
        hands.write(&DeviceAttribute { at, part }, &[0xFF; 64]).unwrap();
    }
    let (over, _) = lab.verified(&id, 3);
    assert_eq!(over["devices"][0]["state"], "overwritten", "its table is still in use: {over}");
    hands.write(&DeviceAttribute { at, part: AttributePart::LinearTop(()) }, &[0, 0]).unwrap();
    let (fallen, said) = lab.verified(&id, 3);
    assert_eq!(
        (&fallen["devices"][0]["state"], switches(&fallen).len()),
        (&"restarted".into(), 1),
        "{fallen}"
    );
    assert!(said.contains("was restarted") && !said.contains("the subnet manager"), "{said}");
}

/// A fabric that cannot be seen hides no change, and one that began anew holds what it held before.
#[test]
fn a_fabric_out_of_reach_leaves_the_list_and_the_code_of_a_source() {
    let mut lab = ServedLab::new(DEMO);
    let id = lab.confirm_plan("a.plan");
    let entries = entries_of(&lab.plan("a.plan"));
    lab.stop();
    let (unknown, said) = lab.verified(&id, 8);
    assert!(unknown.is_null() && said.contains("FD-"), "{said}");
    let metrics = lab.run_to_end(&["changes", "--verify", "--format", "prometheus"], 8);
    assert!(metrics.contains("fabdeck_changes_compared 0"), "{metrics}");
    lab.start(DEMO);
    let (fallen, said) = lab.verified(&id, 3);
    let devices = fallen["devices"].as_array().unwrap();
    let before: u64 = devices.iter().map(|device| device["as_before"].as_u64().unwrap()).sum();
    assert_eq!((&fallen["differ"], before), (&entries.into(), entries), "{fallen}");
    assert!(said.contains("as before the change"), "{said}");
}

/// Reads a simulator, but for devices that do not answer.
struct MuteDevices(LiveActuator, BTreeSet<DeviceId>);

impl Surveyor for MuteDevices {
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
        let silent = |slot: &DeviceAttribute| self.1.contains(&slot.at);
        let held = self.0.read(slots).into_iter().zip(slots);
        held.map(|(held, slot)| if silent(slot) { Err(WriteError::Silent("mute".into())) } else { held })
            .collect()
    }
}

fn time(minute: u32) -> String {
    format!("2026-11-22T10:{minute:02}:00Z")
}

/// A change of a plan, begun at this minute.
fn begun(id: &str, number: u64, plan: &Plan) -> JournalRecord {
    let time = time(number as u32 * 10);
    let writes = plan.writes.clone();
    JournalRecord::Begun(Box::new(BeginRecord {
        id: id.into(),
        number,
        time,
        writes,
        ..BeginRecord::default()
    }))
}

fn confirmed(id: &str, number: u64, plan: &Plan) -> ChangeState {
    ChangeState::from_records(&[
        begun(id, number, plan),
        JournalRecord::Confirmed { time: time(59), user: "ada".into() },
    ])
    .unwrap()
}

fn compared(
    simulator: &SharedSimulator,
    mute: &[DeviceId],
    history: &[ChangeState],
    partial: bool,
) -> Vec<Attestation> {
    let mut hands = MuteDevices(actuator(simulator), mute.iter().copied().collect());
    let look = hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    let name = |device: DeviceId| device.to_string();
    let compared = ComparedFabric { surveyor: &mut hands, look: &look, is_partial: partial, name: &name };
    compare_changes(compared, history, &NoObserver)
        .unwrap()
        .into_iter()
        .map(|(_, attestation)| attestation)
        .collect()
}

fn write(simulator: &SharedSimulator, plan: &Plan) {
    let mut hands = actuator(simulator);
    hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    for write in &plan.writes {
        let step = write.to_step().unwrap();
        hands.write(&step.slot, &step.new).unwrap();
    }
}

#[test]
fn a_switch_that_does_not_answer_leaves_it_not_known_and_hides_no_damage() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=4,n=2", "updn");
    write(&simulator, &plan);
    let history = [confirmed("a", 1, &plan)];
    assert_eq!(compared(&simulator, &[], &history, false)[0].verdict, AttestationVerdict::Stands);
    let device = plan.writes[0].at.device().unwrap();
    let silent = compared(&simulator, &[device], &history, false).remove(0);
    assert_eq!((silent.verdict, silent.differ, silent.devices.len()), (AttestationVerdict::NotKnown, 0, 1));
    assert_eq!(silent.devices[0].state, DeviceState::Silent);
    assert!(silent.unread > 0 && silent.warning("a").unwrap().starts_with("FD-5609"), "{silent:?}");
    // Another switch lost an entry: this is known although others are silent.
    let other =
        plan.writes.iter().find(|write| write.at.device() != Some(device)).unwrap().to_step().unwrap();
    let mut hands = actuator(&simulator);
    hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    let at = (0..64).find(|at| other.old[*at] != other.new[*at]).unwrap();
    let mut bytes = other.new.clone();
    bytes[at] = other.old[at];
    hands.write(&other.slot, &bytes).unwrap();
    let fallen = compared(&simulator, &[device], &history, false).remove(0);
    assert_eq!((fallen.verdict, fallen.differ), (AttestationVerdict::NoLongerStands, 1));
    assert_eq!(fallen.devices.iter().map(|device| device.as_before).sum::<u64>(), 1);
}

/// A switch that a look lacks is gone where everything answered, and not known where something did not.
#[test]
fn a_switch_is_gone_only_where_the_look_is_whole() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=4,n=2", "updn");
    write(&simulator, &plan);
    let mut moved = plan.clone();
    let guid = "0x00000000000abcde".to_owned();
    moved.writes[0].at = fabdeck_change::WriteTarget::Switch(guid.clone());
    let history = [confirmed("a", 1, &moved)];
    let gone = compared(&simulator, &[], &history, false).remove(0);
    assert_eq!(
        (gone.verdict, gone.devices[0].state),
        (AttestationVerdict::NoLongerStands, DeviceState::Gone)
    );
    assert_eq!((&gone.devices[0].guid, gone.differ), (&guid, gone.devices[0].differ));
    assert!(gone.summary().contains("is gone"), "{}", gone.summary());
    let unknown = compared(&simulator, &[], &history, true).remove(0);
    assert_eq!(
        (unknown.verdict, unknown.devices[0].state),
        (AttestationVerdict::NotKnown, DeviceState::Silent)
    );
}

/// Another machine's change was pending when this one was begun upon it, and was rolled back after this one was confirmed.
#[test]
fn what_another_change_left_behind_is_named_by_its_id() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=4,n=2", "updn");
    let pending = |id: &str| begun(id, 1, &plan);
    // The second plan goes on from the tables of the first, on the first switch.
    let mut second = plan.clone();
    second.writes.truncate(1);
    let step = plan.writes[0].to_step().unwrap();
    let turned: Vec<u8> = step.new.iter().map(|port| if *port == 0xFF { 0xFF } else { port ^ 1 }).collect();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    (second.writes[0].old, second.writes[0].new) = (hex(&step.new), hex(&turned));
    let upon = confirmed("b", 2, &second);
    let back = |left: Vec<RollbackRemainder>| {
        let returned = JournalRecord::Returned { time: time(58), left };
        ChangeState::from_records(&[pending("a"), returned]).unwrap()
    };
    // The rollback of the first put its old bytes back over the second.
    let history = [back(Vec::new()), upon.clone()];
    let fallen = compared(&simulator, &[], &history, false).remove(0);
    assert_eq!(fallen.verdict, AttestationVerdict::NoLongerStands);
    let by = &fallen.devices[0].by;
    assert!(by.len() == 1 && by[0].id == "a" && by[0].entries > 0, "{fallen:?}");
    assert!(fallen.summary().contains("put back by the rollback of change a"), "{}", fallen.summary());
    // What it left behind as it could not be taken back.
    write(&simulator, &plan);
    let incomplete = back(vec![RollbackRemainder { what: "x".into(), why: "y".into() }]);
    let fallen = compared(&simulator, &[], &[incomplete, upon], false).remove(0);
    assert!(
        fallen.summary().contains("left by change a, whose rollback is incomplete"),
        "{}",
        fallen.summary()
    );
    // One that was over before the second began has nothing to do with it.
    let early = ChangeState::from_records(&[
        pending("a"),
        JournalRecord::Returned { time: time(11), left: Vec::new() },
    ])
    .unwrap();
    let (simulator, _) = make_simulator_and_plan("kary,k=4,n=2", "updn");
    let fallen = compared(&simulator, &[], &[early, confirmed("b", 2, &second)], false).remove(0);
    assert!(
        fallen.verdict == AttestationVerdict::NoLongerStands && fallen.devices[0].by.is_empty(),
        "{fallen:?}"
    );
}

/// Entries of a change that is pending over it are watched by the guard of that one.
#[test]
fn a_pending_change_takes_its_entries_over_until_it_is_decided() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=4,n=2", "updn");
    let history = [confirmed("a", 1, &plan), ChangeState::from_records(&[begun("b", 2, &plan)]).unwrap()];
    let [superseded] = <[Attestation; 1]>::try_from(compared(&simulator, &[], &history, false)).unwrap();
    assert_eq!(
        (superseded.verdict, &superseded.superseded_by),
        (AttestationVerdict::Superseded, &vec!["b".to_owned()])
    );
}

/// A simulator of this process begins with the command, whatever stands in the state folder of another one.
#[test]
fn what_is_no_change_of_the_fabric_is_not_compared() {
    let lab = ServedLab::new(DEMO);
    let id = lab.confirm_plan("a.plan");
    // A live fabric whose switches have the GUIDs of the simulator's.
    let switches = lab.plan("a.plan").fingerprint.tables.keys().cloned().collect();
    let writes = lab.plan("a.plan").writes;
    let live = BeginRecord {
        id: "11ee0000".into(),
        number: 2,
        time: time(0),
        switches,
        writes,
        ..BeginRecord::default()
    };
    let folder = lab.home.path().join("state/changes/000002");
    std::fs::create_dir(&folder).unwrap();
    let mut journal = Journal::create(&LocalSystem, &folder.join("journal")).unwrap();
    journal.append_durably(&JournalRecord::Begun(Box::new(live))).unwrap();
    journal.append_durably(&JournalRecord::Confirmed { time: time(1), user: "ada".into() }).unwrap();
    let ended = super::processes::command(lab.home.path())
        .args(["--source", "sim:demo", "--state-dir", "./state", "changes", "--verify", "--json"])
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &told["compared_with"]), (Some(0), &"sim:demo".into()));
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().any(|row| row["id"] == id.as_str()), "{told:#}");
    assert!(rows.iter().all(|row| row["comparison"].is_null()), "{told:#}");
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("nothing was compared"), "{said}");
    let ended = super::processes::command(lab.home.path())
        .args(["--state-dir", "./state", "changes", "--verify"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(64), "{ended:?}");
}
