//! Checks whether a plan can go through OpenSM, and makes the files that OpenSM is to load.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::migration::MigrationDirection;
use crate::plan::Plan;
use crate::system::System;
use crate::writes::WriteStep;
use fabdeck_fabric::Tables;
use fabdeck_fabric::observe::Observation;
use fabdeck_mad::access::AttributePart;

use super::file_swap::{self, FileContent, SwapRecord};
use super::lane_options::lane_lines;
use super::plan_files::{self, PolicyError};
use super::refusal::OpensmRefusal;
use super::site::OpensmReport;

/// The suggested file of tables for an OpenSM that has none.
const SUGGESTED_FILE: &str = "/var/cache/opensm/fabdeck.lft";
/// Parts of paths of programs that are not upstream OpenSM.
const VENDOR_PROGRAMS: [&str; 3] = ["/opt/ufm", "mlnx", "nvidia"];

/// The reasons against a change through OpenSM, or else its files.
#[derive(Debug, Default)]
pub struct OpensmJudgement {
    pub refusals: Vec<OpensmRefusal>,
    /// Warnings for an operator who goes on.
    pub remarks: Vec<String>,
    /// The files. The file of tables comes first, if there is one.
    pub files: Vec<FileContent>,
    /// Whether one of the files sets service levels.
    pub levels: bool,
    /// If there is no file of tables now: a file with the tables in force.
    pub stand_in: Option<Vec<u8>>,
    /// The tables that all switches are to have.
    pub outcome: Tables,
}

pub fn judge_plan(
    system: &dyn System,
    told: &OpensmReport,
    plan: &Plan,
    steps: &[WriteStep],
    look: &Observation,
) -> OpensmJudgement {
    let mut judged = OpensmJudgement {
        outcome: plan.tables_after(&look.fabric, &look.tables),
        ..OpensmJudgement::default()
    };
    judged.check_manager(told, look);
    let is_lanes =
        |step: &WriteStep| matches!(step.slot.part, AttributePart::Lanes(_) | AttributePart::Arbitration(_));
    if steps.iter().any(is_lanes) {
        judged.refusals.push(lane_table_refusal(steps));
    }
    let other =
        steps.iter().find(|step| !matches!(step.slot.part, AttributePart::Block(_)) && !is_lanes(step));
    judged.refusals.extend(other.map(|step| OpensmRefusal::OtherPart { slot: step.slot }));
    if plan.is_level_move_only() {
        judged.refusals.extend(own_levels_refusal(told));
    } else {
        judged.check_load(system, told, plan, look);
    }
    judged.prepare_policy(system, told, plan, look);
    judged
}

/// The lines of OpenSM's configuration that set the lanes, which this driver does not write.
fn lane_table_refusal(steps: &[WriteStep]) -> OpensmRefusal {
    let lines = match lane_lines(steps) {
        Ok(lines) => format!(
            "these lines in its configuration give those of the plan; SIGHUP loads them, and then make the plan again\n{}",
            lines.join("\n")
        ),
        Err(why) => format!("and no line of its configuration gives those of the plan, for {why}"),
    };
    OpensmRefusal::LaneTables { lines }
}

/// Refuses a routing engine that sets its own service levels and ignores a policy.
fn own_levels_refusal(told: &OpensmReport) -> Option<OpensmRefusal> {
    const OWN: [&str; 4] = ["nue", "dfsssp", "lash", "torus-2QoS"];
    let engine = told.status.as_ref().map(|status| status.engine.as_str());
    let engine = engine.or_else(|| told.config.engines().first().copied()).unwrap_or_default();
    OWN.contains(&engine).then(|| OpensmRefusal::OwnLevels { engine: engine.to_owned() })
}

fn no_file_engine_refusal(told: &OpensmReport) -> OpensmRefusal {
    let engines = told.config.engines();
    let others: Vec<&str> = engines.iter().copied().filter(|engine| *engine != "file").collect();
    let or = |words: &[&str], none: &str| if words.is_empty() { none.to_owned() } else { words.join(",") };
    OpensmRefusal::NoFileEngine {
        engines: or(&engines, "minhop (none is named)"),
        next: or(&others, "minhop"),
        file: told.config.lfts_file().unwrap_or_else(|| SUGGESTED_FILE.into()),
    }
}

/// A file that OpenSM may have.
enum ExistingFile {
    Content(Vec<u8>),
    Missing,
    Unreadable,
}

impl OpensmJudgement {
    fn check_manager(&mut self, told: &OpensmReport, look: &Observation) {
        let mut refuse = |refusal: OpensmRefusal| self.refusals.push(refusal);
        if let Some(option) = told.config.vendors {
            refuse(OpensmRefusal::OtherManager(format!("'{option}' is an option of NVIDIA's OpenSM alone")));
        }
        if let Some(program) = &told.program {
            let path = program.display().to_string();
            if VENDOR_PROGRAMS.iter().any(|vendor| path.to_lowercase().contains(vendor)) {
                refuse(OpensmRefusal::OtherManager(format!("{path} is a vendor's subnet manager")));
            }
        }
        let Some(manager) = &look.subnet_manager else {
            return refuse(OpensmRefusal::NotMaster("no subnet manager answers".to_owned()));
        };
        let elsewhere = |port: u64| format!("0x{port:016x} is not in charge, {} is", manager.guid);
        let own = told.status.as_ref().map_or_else(|| told.config.port_guid(), |status| status.own);
        if let Some(port) = own.filter(|port| *port != manager.guid.0) {
            refuse(OpensmRefusal::NotMaster(elsewhere(port)));
        }
        let Some(status) = &told.status else {
            let what = "without a console it is not known whether there are further subnet managers: each needs the \
             same two files, or sets its own routes when it takes over";
            return self.remarks.push(what.to_owned());
        };
        if !status.is_upstream() {
            refuse(OpensmRefusal::OtherManager(format!("it calls itself '{}'", status.version)));
        }
        if !status.is_master() {
            refuse(OpensmRefusal::NotMaster(format!("its state is {}", status.state)));
        }
        self.remarks.extend(status.others.iter().map(|other| {
            format!(
                "there is a further subnet manager ({other}): it needs the same two files, or sets its own routes \
                 when it takes over"
            )
        }));
    }

    /// Tables get into OpenSM through a file, which the first routing engine loads.
    fn check_load(&mut self, system: &dyn System, told: &OpensmReport, plan: &Plan, look: &Observation) {
        let config = &told.config;
        let file = config.lfts_file().map(|file| file_swap::resolve_link(system, &file));
        match file.filter(|_| config.engines().first() == Some(&"file")) {
            Some(file) => self.prepare_tables(system, told, plan, look, file),
            None => self.refusals.push(no_file_engine_refusal(told)),
        }
        if config.has_cache() && told.status.is_none() {
            self.refusals.push(OpensmRefusal::Cached);
        }
    }

    /// Makes the file of tables, and checks whether a rollback can restore the present one.
    fn prepare_tables(
        &mut self,
        system: &dyn System,
        told: &OpensmReport,
        plan: &Plan,
        look: &Observation,
        file: PathBuf,
    ) {
        match plan_files::tables_file(look, &self.outcome) {
            Ok(bytes) => self.files.insert(0, (file.clone(), bytes)),
            Err(refusal) => self.refusals.push(refusal),
        }
        match self.read_existing(system, &file) {
            ExistingFile::Content(bytes) if !is_file_of_plan(system, &file, plan) => {
                let fabric = &look.fabric;
                let differs = plan_files::load_tables(fabric, &bytes)
                    .map_or_else(Some, |held| plan_files::first_difference(fabric, &held, &look.tables));
                self.refusals.extend(differs.map(|what| OpensmRefusal::Armed { file, what }));
            }
            ExistingFile::Missing if !told.config.has_fallback_engine() => {
                self.refusals.push(OpensmRefusal::NoWayBack { file })
            }
            ExistingFile::Missing => match plan_files::tables_file(look, &look.tables) {
                Ok(bytes) => self.stand_in = Some(bytes),
                Err(refusal) => self.refusals.push(refusal),
            },
            _ => {}
        }
    }

    /// Reads a file that OpenSM may have; one that cannot be read is refused.
    fn read_existing(&mut self, system: &dyn System, file: &Path) -> ExistingFile {
        match file_swap::read_if_exists(system, file) {
            Ok(content) => content.map_or(ExistingFile::Missing, ExistingFile::Content),
            Err(error) => {
                self.refusals.push(OpensmRefusal::Disk { file: file.to_owned(), error });
                ExistingFile::Unreadable
            }
        }
    }

    fn prepare_policy(&mut self, system: &dyn System, told: &OpensmReport, plan: &Plan, look: &Observation) {
        let lanes = plan.lanes.count;
        if let Some(why) = policy_obstacle(plan) {
            return self.refusals.push(OpensmRefusal::Lanes(why.to_owned()));
        }
        if !told.config.has_qos() {
            if lanes > 1 {
                self.refusals.push(OpensmRefusal::NoQos { lanes });
            }
            return;
        }
        let file = file_swap::resolve_link(system, &told.config.policy_file());
        let there = match self.read_existing(system, &file) {
            ExistingFile::Unreadable => return,
            ExistingFile::Missing => None,
            ExistingFile::Content(bytes) => Some(bytes),
        };
        self.remarks.extend(level_policy_conflict(plan));
        match plan_files::policy_file(plan, look, &self.outcome, there.as_deref()) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                self.files.push((file, bytes));
                self.levels = true;
                let what = "service levels come with new path records: open connections keep theirs, and programs \
                 that set one of their own are not affected";
                self.remarks.push(what.to_owned());
            }
            Err(PolicyError::Own(error)) => self.refusals.push(OpensmRefusal::OwnPolicy { file, error }),
            Err(PolicyError::Lanes(what)) => self.refusals.push(OpensmRefusal::Lanes(what)),
        }
    }
}

/// Why no QoS policy can express the lanes of a plan. This check comes first: to mend anything else would be in vain.
fn policy_obstacle(plan: &Plan) -> Option<&'static str> {
    let laned = plan.lanes.count > 1;
    if plan.lanes.is_by_hop() {
        return Some(
            "service levels follow the source too and lanes change on the way, which no policy of OpenSM can say; OpenSM's \
             own routing engine torus-2QoS carries such lanes, and '--via direct --beside-manager' writes the tables",
        );
    }
    if laned && plan.lanes.by == "pair" {
        return Some(
            "the lane of a path follows its source too, and a policy of OpenSM would need a rule for each pair; 'fabdeck route \
             --engine sar --jobs FILE --lanes-by destination' gives lanes that a policy can say",
        );
    }
    (laned && plan.phases.is_some()).then_some(
        "high LIDs are on a lane of their own, and a policy of OpenSM knows ports and not their LIDs; '--via direct \
         --beside-manager' carries it, and where SL2VL tables give level 1 no lane of its own (qos_sl2vl) high LIDs share \
         that of base LIDs: make the plan again then",
    )
}

/// Warns that a policy does not see the source of a path, while the plan moves some hosts only.
fn level_policy_conflict(plan: &Plan) -> Option<String> {
    let slow = plan.migrations.iter().filter(|migration| migration.towards == MigrationDirection::Slow);
    let spots: BTreeSet<&str> = slow.map(|migration| migration.hot_spot.name.as_str()).collect();
    let spots: Vec<&str> = spots.into_iter().collect();
    (!spots.is_empty()).then(|| {
        let spots = spots.join(", ");
        format!(
            "the policy is by destination: new path records of every host to {spots} get the slow level, not those alone of the \
             hosts that move; victims and hosts with a fair share send there on the slow lane too"
        )
    })
}

/// Whether this plan put the file in place.
fn is_file_of_plan(system: &dyn System, file: &Path, plan: &Plan) -> bool {
    SwapRecord::read_for(system, file).is_ok_and(|note| note.is_some_and(|note| note.plan == plan.hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::opensm::conf::OpensmConf;
    use crate::driver::opensm::status::OpensmStatus;
    use crate::system::LocalSystem;
    use crate::{FollowMode, Migration, PlanFlow, PlanLanes, PlanPhases, PlanPort};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::SubnetManager;
    use fabdeck_fabric::{Faults, Guid, Lid, NodeId, PortNum};
    use fabdeck_files::qos_policy;
    use fabdeck_files::text::Input;
    use fabdeck_mad::access::{DeviceAttribute, DeviceId};
    use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

    /// A fabric with the tables of one engine, and a plan for those of another.
    fn planned() -> (Observation, Plan) {
        let fabric = generate(&"kary,k=3,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = |id: &str| {
            (find_engine(id).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes
        };
        let (old, new) = (routes("minhop"), routes("sssp"));
        let mut tables = Tables::default();
        for (id, _) in fabric.switches() {
            tables.node_mut(id).lft = Some(old.lft(id.0));
        }
        let plan = Plan { hash: "0123".into(), ..Plan::without_judgement(&fabric, &tables, "sssp", &new) };
        let manager = SubnetManager { guid: Guid(7), state: Some("MASTER".into()), priority: Some(0) };
        let look = Observation { fabric, tables, subnet_manager: Some(manager), ..Observation::default() };
        (look, plan)
    }

    fn report(folder: &Path, more: &str) -> OpensmReport {
        let (tables, policy) = (folder.join("active.lft"), folder.join("policy"));
        let conf = format!(
            "routing_engine file,minhop\nlfts_file {}\nqos_policy_file {}\n{more}",
            tables.display(),
            policy.display()
        );
        let status = OpensmStatus {
            version: "OpenSM 3.3.23".into(),
            state: "Master".into(),
            own: Some(7),
            ..OpensmStatus::default()
        };
        OpensmReport { config: OpensmConf::read(&conf), status: Some(status), program: None }
    }

    fn words(judged: &OpensmJudgement) -> String {
        judged.refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_plan_becomes_a_file_of_every_switch_and_lid() {
        let folder = tempfile::tempdir().unwrap();
        let (look, plan) = planned();
        let judged = judge_plan(&LocalSystem, &report(folder.path(), ""), &plan, &[], &look);
        assert_eq!((words(&judged).as_str(), judged.remarks.len(), judged.files.len()), ("", 0, 1));
        let text = String::from_utf8(judged.files[0].1.clone()).unwrap();
        let lids = usize::from(look.fabric.top_lid().unwrap().value());
        let entries: Vec<&str> = text.lines().filter(|line| line.starts_with("0x")).collect();
        assert_eq!(entries.len(), lids * look.fabric.switch_count());
        let own = entries.iter().filter(|line| line.split_whitespace().nth(1) == Some("000"));
        assert_eq!(own.count(), look.fabric.switch_count());
        let back = plan_files::load_tables(&look.fabric, &judged.stand_in.unwrap()).unwrap();
        assert_eq!(plan_files::first_difference(&look.fabric, &back, &look.tables), None);
    }

    #[test]
    fn a_file_that_lacks_something_or_has_too_much_is_never_made() {
        let folder = tempfile::tempdir().unwrap();
        let told = report(folder.path(), "");
        let (look, plan) = planned();
        let with = |change: &dyn Fn(&mut Tables)| {
            let mut look = look.clone();
            change(&mut look.tables);
            let judged = judge_plan(&LocalSystem, &told, &plan, &[], &look);
            assert!(judged.files.is_empty());
            words(&judged)
        };
        let port = look.fabric.port_of(NodeId(1), PortNum::MANAGEMENT).unwrap();
        let own = look.fabric.port(port).facts.lid.unwrap();
        assert!(with(&|tables| drop(tables.nodes.remove(&NodeId(1)))).contains("FD-5677"));
        assert!(with(&|tables| _ = tables.node_mut(NodeId(1)).unread.insert(0)).contains("FD-5677"));
        let above = Lid::new(u32::from(look.fabric.top_lid().unwrap().value()) + 90).unwrap();
        let set = |lid: Lid| {
            move |tables: &mut Tables| {
                tables.node_mut(NodeId(1)).lft.as_mut().unwrap().set(lid, Some(PortNum(1)));
            }
        };
        assert!(with(&set(above)).contains("FD-5684"), "OpenSM does not check LIDs");
        // The plan rewrites the block with the switch's own LID, so only a plan can have that entry wrong.
        let mut wrong = plan.clone();
        wrong.writes.retain(|write| write.switch(&look.fabric) != Some(NodeId(1)));
        let mut moved = look.clone();
        set(own)(&mut moved.tables);
        assert!(
            words(&judge_plan(&LocalSystem, &told, &wrong, &[], &moved))
                .contains("its own LID does not lead to port 0")
        );
    }

    #[test]
    fn other_managers_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let (look, plan) = planned();
        let with = |change: &dyn Fn(&mut OpensmReport)| {
            let mut told = report(folder.path(), "");
            change(&mut told);
            judge_plan(&LocalSystem, &told, &plan, &[], &look)
        };
        let status =
            |change: fn(&mut OpensmStatus)| with(&move |told| told.status.iter_mut().for_each(change));
        let vendor = status(|status| status.version = "OpenSM 5.17.0.MLNX".into());
        assert!(words(&vendor).contains("FD-5674: it calls itself 'OpenSM 5.17.0.MLNX'"));
        assert!(words(&status(|status| status.state = "Standby".into())).contains("FD-5675"));
        assert!(words(&status(|status| status.own = Some(8))).contains("FD-5675"));
        let standby = status(|status| status.others.push("0x8 Standby 1".into()));
        assert!(words(&standby).is_empty() && standby.remarks[0].contains("0x8 Standby 1"));
        let ufm = with(&|told| told.program = Some("/opt/ufm/opensm/sbin/opensm".into()));
        assert!(words(&ufm).contains("FD-5674: /opt/ufm/opensm/sbin/opensm is a vendor's"));
        let unmanaged = Observation { subnet_manager: None, ..look.clone() };
        assert!(
            words(&judge_plan(&LocalSystem, &report(folder.path(), ""), &plan, &[], &unmanaged))
                .contains("FD-5675")
        );
    }

    #[test]
    fn what_is_no_table_stays_off_this_road() {
        let folder = tempfile::tempdir().unwrap();
        let (look, plan) = planned();
        let slot = DeviceAttribute { at: DeviceId::Switch(Guid(1)), part: AttributePart::Port(3) };
        let step = WriteStep { slot, old: vec![1], new: vec![0] };
        let judged = judge_plan(&LocalSystem, &report(folder.path(), ""), &plan, &[step], &look);
        assert!(words(&judged).contains("FD-5678: port 3 of switch 0x0000000000000001"));
        let slot = DeviceAttribute { at: DeviceId::Switch(Guid(1)), part: AttributePart::Lanes([1, 2]) };
        let step = |new: u8| WriteStep { slot, old: vec![0; 8], new: vec![new; 8] };
        let judged = judge_plan(&LocalSystem, &report(folder.path(), ""), &plan, &[step(0x01)], &look);
        let lanes = ["0,1"; 8].join(",");
        let found = words(&judged);
        assert!(found.contains("FD-5690") && found.contains(&format!("qos_swe_sl2vl {lanes}")), "{found}");
        let judged =
            judge_plan(&LocalSystem, &report(folder.path(), ""), &plan, &[step(0x01), step(0x10)], &look);
        assert!(words(&judged).contains("no line of its configuration"), "{}", words(&judged));
    }

    /// A plan with levels only: no file of tables is needed, and an engine with levels of its own is refused.
    #[test]
    fn a_migration_without_writes_takes_the_policy_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (look, mut plan) = planned();
        let port = |lid: u16| PlanPort { guid: format!("0x{lid:016x}"), name: String::new(), lid };
        let flows = vec![PlanFlow { host: port(2), follows: FollowMode::Queries }];
        plan.writes.clear();
        plan.migrations =
            vec![Migration { towards: MigrationDirection::Slow, hot_spot: port(1), fast: 0, slow: 1, flows }];
        plan.migrations[0].hot_spot.name = "hot".into();
        let top = look.fabric.top_lid().unwrap().value();
        let row = (0..=top).map(|lid| if lid == 1 { "01" } else { "00" }).collect();
        let by = "destination".to_owned();
        plan.lanes = PlanLanes { count: 2, by, destination: Some(row), ..PlanLanes::default() };
        let mut told = report(folder.path(), "qos TRUE\nrouting_engine updn\n");
        let judged = judge_plan(&LocalSystem, &told, &plan, &[], &look);
        assert_eq!((words(&judged).as_str(), judged.files.len(), judged.levels), ("", 1, true));
        assert_eq!(judged.files[0].0, file_swap::resolve_link(&LocalSystem, &folder.path().join("policy")));
        assert!(judged.remarks[0].contains("every host to hot get the slow level"), "{:?}", judged.remarks);
        told.status.iter_mut().for_each(|status| status.engine = "lash".into());
        assert!(
            words(&judge_plan(&LocalSystem, &told, &plan, &[], &look)).contains("FD-5691: engine 'lash'")
        );
    }

    /// The levels of an earlier plan end with it. A site's own policy stays, as long as it does not conflict.
    #[test]
    fn a_plan_on_one_lane_ends_levels_of_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let told = report(folder.path(), "qos TRUE\n");
        let (look, plan) = planned();
        let routes = |lanes: u8| {
            let mut routes = plan.routes(&look.fabric, &look.tables);
            let lane = (0..routes.stride()).map(|lid| lid as u8 % lanes).collect();
            routes.lanes = fabdeck_fabric::PathLanes::ByDestination { lanes, lane };
            routes
        };
        let policy = folder.path().join("policy");
        std::fs::write(&policy, qos_policy::write(&look.fabric, &routes(2)).unwrap()).unwrap();
        let judged = judge_plan(&LocalSystem, &told, &plan, &[], &look);
        assert_eq!((words(&judged).as_str(), judged.files.len()), ("", 2));
        assert_eq!(judged.files[1].0, file_swap::resolve_link(&LocalSystem, &policy));
        let levels = qos_policy::read(Input::new("policy", &judged.files[1].1)).unwrap();
        assert!(levels.is_empty(), "{levels:?}");
        std::fs::write(&policy, "qos-ulps\n default : 1\nend-qos-ulps\n").unwrap();
        assert_eq!(judge_plan(&LocalSystem, &told, &plan, &[], &look).files.len(), 1);
    }

    #[test]
    fn lanes_that_no_policy_says_are_refused_with_what_would_do() {
        let folder = tempfile::tempdir().unwrap();
        let (look, plan) = planned();
        let laned = |by: &str| PlanLanes { count: 2, by: by.into(), ..PlanLanes::default() };
        let by_pair = Plan { lanes: laned("pair"), ..plan.clone() };
        let by_hop = Plan { lanes: laned("hop"), ..plan.clone() };
        let phases = PlanPhases { base_level: 0, high_level: 1, safe_without: None, hosts: Vec::new() };
        let phased = Plan { lanes: laned("destination"), phases: Some(phases), ..plan };
        // Also without qos: otherwise a user would set it to TRUE and restart OpenSM, only to be refused again.
        for qos in ["qos TRUE", "qos FALSE"] {
            let told = report(folder.path(), qos);
            for (plan, offer) in [
                (&by_pair, "--engine sar --jobs FILE --lanes-by destination"),
                (&by_hop, "lanes change on the way, which no policy of OpenSM can say"),
                (&by_hop, "routing engine torus-2QoS"),
                (&phased, "--via direct"),
            ] {
                let said = words(&judge_plan(&LocalSystem, &told, plan, &[], &look));
                assert!(said.starts_with("FD-5682") && said.contains(offer), "{qos}: {said}");
            }
        }
    }
}
