//! A plan as a file: readable JSON with every write and with the evidence that the writes are safe.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cut_off::CutOffReport;
use super::failed_element::FailedElement;
use super::fingerprint::{FabricChange, Fingerprint};
use super::migration::Migration;
use super::plan_hash::plan_hash;
use super::plan_lanes::{self, PlanLanes};
use super::plan_path_bits::PlanPathBits;
use super::plan_phases::PlanPhases;
use super::surviving_fabric::SurvivingFabric;
use super::transition::TransitionReport;
use super::writes::{PlanWrite, WriteTarget, lids_of};
use fabdeck_fabric::observe::escape_json;
use fabdeck_fabric::{
    ElementId, Fabric, Faults, Guid, Lid, NO_PATH, NodeId, PathLanes, PhysicalState, PortNum, Routes, Tables,
};
use fabdeck_mad::access::AttributePart;

/// How the engine of a plan begins that leads paths around a link which stays up; the plan that takes it back has it in
/// parentheses.
pub const ISOLATE: &str = "isolate";

pub const SCHEMA: &str = "fabdeck.plan/1";
/// A longer file is no plan: a plan for every table of 43,904 hosts is less than half as long.
pub const MAX_PLAN_BYTES: u64 = 1 << 30;

/// The exact writes, the fabric that they are for, and what was known when the plan was made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub schema: String,
    pub source: String,
    pub engine: String,
    /// The engine whose tables replace those of the fabric, which were unknown. Such a plan is for simulators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
    /// The elements that were marked as failed when the plan was made.
    pub failed: Vec<FailedElement>,
    /// Which paths the certificate covers.
    pub scope: CertificateScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub fingerprint: Fingerprint,
    /// The names of nodes, by kind and GUID.
    pub names: BTreeMap<String, String>,
    pub lanes: PlanLanes,
    /// What hosts add to base LIDs, for routes that are made for certain numbers.
    #[serde(default, skip_serializing_if = "PlanPathBits::is_empty")]
    pub path_bits: PlanPathBits,
    /// Flows that hosts move once all writes were read back. A rollback has them move back before it restores any
    /// table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub migrations: Vec<Migration>,
    /// Hosts that leave the base LIDs before the first write, and return after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<PlanPhases>,
    pub certificate: Value,
    pub impact: Value,
    /// The jobs that the plan was made for: their number, and how the tables before and after the plan serve them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub jobs: Value,
    pub transition: TransitionReport,
    /// Nodes that answered when the plan was made and have no route after it.
    #[serde(default, skip_serializing_if = "CutOffReport::is_empty")]
    pub cut_off: CutOffReport,
    /// Warnings to read before the plan is applied, each in a few words.
    #[serde(default)]
    pub findings: Vec<String>,
    /// The writes, in the order in which they are applied.
    pub writes: Vec<PlanWrite>,
    /// The hash over all fields above, independent of the layout of the file.
    #[serde(default)]
    pub hash: String,
}

/// The paths that a certificate covers, so that a later check of the plan covers the same ones.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CertificateScope {
    /// Whether paths from and to switches count too.
    pub switches: bool,
}

/// A forwarding entry that differs from what the plan found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryDrift {
    pub switch: NodeId,
    pub lid: Lid,
    /// The port that the plan expects, and the port in the table.
    pub planned: Option<PortNum>,
    pub held: Option<PortNum>,
}

/// Forwarding entries in the plan's blocks that have changed since the plan was made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drift {
    pub count: u64,
    pub switches: u64,
    /// The first entries, by switch and LID.
    pub first: Vec<EntryDrift>,
}

/// Number of drifted entries that are listed.
const MAX_NAMES: usize = 5;

/// Why a file is not a valid plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFileError {
    #[error("line {line}: FD-5511: this is not a plan: {what}; 'fabdeck route -o FILE' writes plans")]
    Malformed { line: usize, what: String },
    #[error("line 1: FD-5512: this is '{0}', and this version reads {SCHEMA}")]
    OtherSchema(String),
    #[error(
        "line 1: FD-5513: the plan was changed after it was written: its hash does not match its content; make it \
         again, or use the file that 'fabdeck route' wrote"
    )]
    Edited,
    #[error("line 1: FD-5514: write {at}: {what}; make the plan again")]
    Write { at: usize, what: &'static str },
    #[error("line 1: FD-5515: the plan's lanes: {0}; make the plan again")]
    Lanes(&'static str),
    #[error("line 1: FD-5516: migration {at}: {what}; make the plan again")]
    Migration { at: usize, what: &'static str },
    #[error("line 1: FD-5517: the plan's phases: {0}; make the plan again")]
    Phases(&'static str),
    #[error("line 1: FD-5518: the plan's path bits: {0}; make the plan again")]
    PathBits(&'static str),
}

impl Plan {
    /// Reads a plan and checks its hash and the consistency of its parts.
    pub fn read(text: &str) -> Result<Self, PlanFileError> {
        let plan: Self = serde_json::from_str(text)
            .map_err(|error| PlanFileError::Malformed { line: error.line(), what: error.to_string() })?;
        if plan.schema != SCHEMA {
            return Err(PlanFileError::OtherSchema(plan.schema.chars().take(40).collect()));
        }
        if plan.hash != plan_hash(text, &plan.hash) {
            return Err(PlanFileError::Edited);
        }
        if let Some(fault) = plan.lanes.fault(&plan.fingerprint) {
            return Err(PlanFileError::Lanes(fault));
        }
        for (at, migration) in plan.migrations.iter().enumerate() {
            if let Some(what) = migration.fault() {
                return Err(PlanFileError::Migration { at: at + 1, what });
            }
        }
        if let Some(what) = plan.phases.as_ref().and_then(|phases| phases.fault(&plan.writes)) {
            return Err(PlanFileError::Phases(what));
        }
        if let Some(what) = plan.path_bits.fault() {
            return Err(PlanFileError::PathBits(what));
        }
        let mut places = BTreeSet::new();
        for (at, write) in plan.writes.iter().enumerate() {
            let wrong = |what| PlanFileError::Write { at: at + 1, what };
            match &write.at {
                WriteTarget::Switch(guid) if !plan.fingerprint.tables.contains_key(guid) => {
                    return Err(wrong("its switch is not one of the fabric that the plan is for"));
                }
                WriteTarget::Adapter(guid) if !plan.fingerprint.adapters.contains_key(guid) => {
                    return Err(wrong("its adapter is not one whose lanes the plan writes"));
                }
                _ => {}
            }
            let step = write.to_step().map_err(wrong)?;
            if !places.insert(step.slot) {
                return Err(wrong("the same part is written twice"));
            }
        }
        Ok(plan)
    }

    /// The text of the file, one write a line.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        const OPEN: &str = "\"hash\": \"";
        let bare = self.without_hash()?;
        let hash = plan_hash(&bare, "");
        // Quotes within a string are escaped, so the first match is the plan's own hash.
        Ok(bare.replacen(OPEN, &format!("{OPEN}{hash}"), 1))
    }

    fn without_hash(&self) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        value["hash"] = "".into();
        let writes = value.as_object_mut().and_then(|plan| plan.remove("writes"));
        let lines: Result<Vec<String>, _> =
            writes.iter().filter_map(Value::as_array).flatten().map(serde_json::to_string).collect();
        let head = serde_json::to_string_pretty(&value)?;
        let head = head.trim_end().trim_end_matches('}').trim_end();
        let lines: Vec<String> = lines?.iter().map(|line| format!("    {line}")).collect();
        let text = format!("{head},\n  \"writes\": [\n{}\n  ]\n}}\n", lines.join(",\n"));
        Ok(escape_json(&text).into_owned())
    }

    /// The elements that the plan marks as failed, where this fabric still has them.
    pub fn faults(&self, fabric: &Fabric) -> Faults {
        let mut faults = Faults::new();
        self.failed.iter().filter_map(|failed| failed.find(fabric)).for_each(|what| _ = faults.mark(what));
        faults
    }

    /// Whether its failed links are up: they were marked only so that no path crosses them. Such a link carries paths again
    /// after a rollback, unless it went down meanwhile.
    pub fn leaves_failed_up(&self) -> bool {
        self.engine.starts_with(&format!("{ISOLATE} ")) || self.engine.contains(&format!("({ISOLATE} "))
    }

    /// The first difference between this fabric and the one that the plan was made for.
    pub fn find_difference(
        &self,
        fabric: &Fabric,
        tables: &Tables,
        manager: Option<Guid>,
    ) -> Option<FabricChange> {
        let faults = self.faults(fabric);
        let now = self.current_fingerprint(&SurvivingFabric::new(fabric, &faults, manager), tables);
        self.fingerprint.first_difference(&now)
    }

    /// Whether the plan was made for a fabric in which no switch had a table.
    pub fn is_without_tables(&self) -> bool {
        self.fingerprint.is_without_tables()
    }

    /// The fingerprint of this fabric, over the same parts as the fingerprint of the plan.
    fn current_fingerprint(&self, standing: &SurvivingFabric<'_>, tables: &Tables) -> Fingerprint {
        let mut print = Fingerprint::of(standing, tables);
        if !self.fingerprint.lanes.is_empty() {
            print = print.with_lanes(standing, tables);
        }
        let adapters = self.fingerprint.adapters.keys().map(String::as_str);
        print.with_adapters(standing, tables, adapters)
    }

    /// Adds the adapters that the plan writes to its fingerprint, in their present state.
    pub fn cover_adapters(&mut self, standing: &SurvivingFabric<'_>, tables: &Tables) {
        let adapters = self.writes.iter().filter(|write| matches!(write.at, WriteTarget::Adapter(_)));
        let adapters: Vec<String> = adapters.map(|write| write.at.guid().to_owned()).collect();
        let print = std::mem::take(&mut self.fingerprint);
        self.fingerprint = print.with_adapters(standing, tables, adapters.iter().map(String::as_str));
    }

    /// Number of switches that the plan writes, and number of adapters.
    pub fn count_targets(&self) -> (usize, usize) {
        let devices: BTreeSet<&WriteTarget> = self.writes.iter().map(|write| &write.at).collect();
        let switches = devices.iter().filter(|device| matches!(device, WriteTarget::Switch(_))).count();
        (switches, devices.len() - switches)
    }

    /// A key of the fingerprint with the node's name: `switch leaf0 (0x0000000000000001)`.
    pub fn node_name(&self, key: &str) -> String {
        match (self.names.get(key), key.split_once(' ')) {
            (Some(name), Some((kind, guid))) => format!("{kind} {name} ({guid})"),
            _ => key.to_owned(),
        }
    }

    /// The entries in the plan's blocks that differ from what the plan found. Unread blocks do not count.
    pub fn drift(&self, fabric: &Fabric, tables: &Tables) -> Drift {
        let mut drift = Drift::default();
        let mut switches = BTreeSet::new();
        for write in &self.writes {
            let (Some(id), AttributePart::Block(number)) = (write.switch(fabric), write.part) else {
                continue;
            };
            let held = tables.nodes.get(&id).filter(|held| !held.unread.contains(&number));
            let Some(lft) = held.and_then(|held| held.lft.as_ref()) else { continue };
            for (lid, old) in lids_of(number).zip(plan_lanes::from_hex(&write.old).unwrap_or_default()) {
                let Some(lid) = Lid::new(lid) else { continue };
                let (planned, held) = ((old != NO_PATH).then_some(PortNum(old)), lft.get(lid));
                if planned == held {
                    continue;
                }
                drift.count += 1;
                drift.switches += u64::from(switches.insert(id));
                if drift.first.len() < MAX_NAMES {
                    drift.first.push(EntryDrift { switch: id, lid, planned, held });
                }
            }
        }
        drift
    }

    /// The names of a fabric's nodes, for a plan. A name that equals the GUID is left out.
    pub fn names_of(fabric: &Fabric, name: &dyn Fn(NodeId) -> String) -> BTreeMap<String, String> {
        let told = fabric.nodes().map(|(id, node)| (id, node.guid().to_string(), name(id)));
        let told = told.filter(|(_, guid, name)| guid != name);
        told.map(|(id, _, name)| (fabric.node_key(id), name)).collect()
    }

    /// The routes after the plan, with the plan's lanes.
    pub fn routes(&self, fabric: &Fabric, after: &Tables) -> Routes {
        let mut routes = Routes::from_tables(fabric.switches().map(|(id, _)| after.lft(id)));
        routes.lanes = self.lanes.to_lanes(fabric, routes.stride(), after);
        routes.path_bits = self.path_bits.to_path_bits(fabric);
        routes
    }

    /// The lanes of the plan's paths, in the size of these routes. Where lanes change on the way, these tables map them.
    pub(super) fn lanes_of(&self, fabric: &Fabric, routes: &Routes, tables: &Tables) -> PathLanes {
        self.lanes.to_lanes(fabric, routes.stride(), tables)
    }

    /// Number of pairs that the certificate calls unreachable though cables join them, and number of credit loops.
    pub(super) fn certificate_defects(&self) -> (u64, u64) {
        let number = |key: &str| self.certificate[key].as_u64().unwrap_or(0);
        let cut_off = self.certificate["by_cause"]["cut_off"].as_u64().unwrap_or(0);
        let credit_loop = self.certificate["deadlock_free"] == false;
        let cycles = u64::from(credit_loop) * number("lanes").max(1) + u64::from(number("loops") > 0);
        (number("unreachable").saturating_sub(cut_off), cycles)
    }

    /// The tables after the plan, computed from the tables before it.
    pub fn tables_after(&self, fabric: &Fabric, tables: &Tables) -> Tables {
        self.with_part_bytes(fabric, tables, |write| &write.new)
    }

    /// Nodes that answer in a fabric with these tables and have no route once the plan is applied.
    pub fn cut_off(
        &self,
        fabric: &Fabric,
        tables: &Tables,
        manager: Option<Guid>,
        name: &dyn Fn(NodeId) -> String,
    ) -> CutOffReport {
        let faults = self.faults(fabric);
        let standing = SurvivingFabric::new(fabric, &faults, manager);
        CutOffReport::of(&standing, (tables, &self.tables_after(fabric, tables)), name)
    }

    /// Whether the fabric holds everything that the plan writes, and everything else is unchanged.
    pub fn is_applied(&self, fabric: &Fabric, tables: &Tables, manager: Option<Guid>) -> bool {
        let Some(faults) = self.faults_before_ports(fabric) else { return false };
        let before = self.with_part_bytes(fabric, tables, |write| &write.old);
        let print = self.current_fingerprint(&SurvivingFabric::new(fabric, &faults, manager), &before);
        self.tables_after(fabric, tables) == *tables && self.fingerprint.first_difference(&print).is_none()
    }

    /// Whether the plan has no writes and lets hosts move flows: through OpenSM, such a plan changes only service
    /// levels.
    pub(super) fn is_level_move_only(&self) -> bool {
        self.writes.is_empty() && !self.migrations.is_empty()
    }

    /// Whether the plan disables or enables ports.
    pub fn has_port_switches(&self) -> bool {
        self.writes.iter().any(|write| matches!(write.part, AttributePart::Port(_)))
    }

    /// The elements that were out of service before the plan switched its ports. `None` if a port is not in the planned
    /// state. A link at a port that the plan enables did not exist when the plan was made.
    fn faults_before_ports(&self, fabric: &Fabric) -> Option<Faults> {
        let mut faults = self.faults(fabric);
        for write in &self.writes {
            let AttributePart::Port(number) = write.part else { continue };
            let port = fabric.port_of(write.switch(fabric)?, PortNum(number))?;
            let at = fabric.port(port);
            let disabled = at.facts.physical_state? == PhysicalState::Disabled;
            if disabled != (write.new == "00") {
                return None;
            }
            if let Some(link) = at.link.filter(|_| !disabled) {
                faults.mark(ElementId::Link(link));
            }
        }
        Some(faults)
    }

    /// The first forwarding table that another writer has changed since the plan was made; the plan's own writes do not
    /// count.
    pub(super) fn foreign_write(&self, fabric: &Fabric, tables: &Tables) -> Option<FabricChange> {
        let faults = self.faults(fabric);
        let before = self.with_part_bytes(fabric, tables, |write| &write.old);
        let now = Fingerprint::of(&SurvivingFabric::new(fabric, &faults, None), &before);
        self.fingerprint.table_changed(&now)
    }

    fn with_part_bytes(&self, fabric: &Fabric, tables: &Tables, text: fn(&PlanWrite) -> &str) -> Tables {
        let mut with = tables.clone();
        for write in &self.writes {
            let Some(id) = write.node(fabric) else { continue };
            PlanWrite::put_part(
                write.part,
                &plan_lanes::from_hex(text(write)).unwrap_or_default(),
                with.node_mut(id),
            );
        }
        with
    }
}

#[cfg(test)]
impl Plan {
    /// A plan that leads from tables to routes, without certificate, impact or findings.
    pub(super) fn without_judgement(fabric: &Fabric, tables: &Tables, engine: &str, routes: &Routes) -> Self {
        let faults = Faults::default();
        let standing = SurvivingFabric::new(fabric, &faults, None);
        Self {
            schema: SCHEMA.into(),
            source: "x".into(),
            engine: engine.into(),
            assumed: None,
            failed: Vec::new(),
            scope: CertificateScope::default(),
            created: None,
            author: None,
            fingerprint: Fingerprint::of(&standing, tables),
            names: Self::names_of(fabric, &|id| format!("node{}", id.0)),
            lanes: PlanLanes::of(&standing, routes),
            path_bits: PlanPathBits::of(fabric, routes),
            migrations: Vec::new(),
            phases: None,
            certificate: Value::Null,
            impact: Value::Null,
            jobs: Value::Null,
            transition: TransitionReport::default(),
            cut_off: CutOffReport::default(),
            findings: Vec::new(),
            writes: super::plan_writes(&standing, tables, routes, &|_| String::new()).unwrap(),
            hash: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{FabricBuilder, Faults, Lft, LinkId, NodeFacts, NodeId, NodeKind};
    use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

    fn plan() -> (Fabric, Tables, Routes, Plan) {
        let fabric = generate(&"kary,k=3,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let mut tables = Tables::default();
        for (id, _) in fabric.switches() {
            tables.node_mut(id).lft = Some(Lft::from_entries(vec![NO_PATH, 1, 2]));
        }
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress)
            .unwrap()
            .routes;
        let plan = Plan::without_judgement(&fabric, &tables, "minhop", &routes);
        (fabric, tables, routes, plan)
    }

    #[test]
    fn a_plan_reads_back_and_leads_to_its_routes() {
        let (fabric, tables, routes, plan) = plan();
        let text = plan.text().unwrap();
        let read = Plan::read(&text).unwrap();
        assert_eq!((read.hash.len(), Plan { hash: String::new(), ..read }), (64, plan.clone()));
        let after = plan.tables_after(&fabric, &tables);
        for (id, _) in fabric.switches() {
            assert_eq!(after.lft(id), Some(&routes.lft(id.0)));
        }
        assert_ne!(after.lft(NodeId(0)), tables.lft(NodeId(0)));
        assert!(plan.is_applied(&fabric, &after, None) && !plan.is_applied(&fabric, &tables, None));
        assert!(!plan.is_applied(&fabric, &after, Some(Guid(7))), "another manager");
        let mut other = after.clone();
        other.node_mut(NodeId(1)).lft.get_or_insert_default().set(Lid::new(99).unwrap(), Some(PortNum(1)));
        assert!(!plan.is_applied(&fabric, &other, None), "something else has changed as well");
    }

    #[test]
    fn entries_that_changed_below_a_plan_are_counted() {
        let (fabric, mut tables, _, plan) = plan();
        assert_eq!(plan.drift(&fabric, &tables), Drift::default());
        let lid = Lid::new(2).unwrap();
        tables.node_mut(NodeId(1)).lft.get_or_insert_default().set(lid, Some(PortNum(3)));
        let entry = EntryDrift { switch: NodeId(1), lid, planned: Some(PortNum(2)), held: Some(PortNum(3)) };
        assert_eq!(plan.drift(&fabric, &tables), Drift { count: 1, switches: 1, first: vec![entry] });
        tables.node_mut(NodeId(1)).unread.insert(0);
        assert_eq!(plan.drift(&fabric, &tables), Drift::default());
        for switch in [0, 2] {
            let lft = tables.node_mut(NodeId(switch)).lft.get_or_insert_default();
            (1..=6).for_each(|lid| lft.set(Lid::new(lid).unwrap(), Some(PortNum(4))));
        }
        let drift = plan.drift(&fabric, &tables);
        assert_eq!((drift.count, drift.switches, drift.first.len()), (12, 2, 5), "five of them are listed");
    }

    /// Two switches with a cable, whose first end has this state.
    fn cable(state: PhysicalState) -> (Fabric, LinkId) {
        let mut builder = FabricBuilder::new();
        let ends = [1, 2].map(|guid| {
            let switch = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(guid), 4, "s")).unwrap();
            (switch, PortNum(1))
        });
        builder.port(ends[0].0, PortNum(1)).physical_state = Some(state);
        builder.connect(ends[0], ends[1]).unwrap();
        let fabric = builder.finish();
        let link = fabric.links().next().unwrap().0;
        (fabric, link)
    }

    #[test]
    fn a_link_that_a_plan_enables_was_out_of_service_before() {
        let (.., plan) = plan();
        for (state, new, failed) in [
            (PhysicalState::LinkUp, 1, Some(true)),
            (PhysicalState::Disabled, 0, Some(false)),
            (PhysicalState::LinkUp, 0, None),
            (PhysicalState::Disabled, 1, None),
        ] {
            let (fabric, link) = cable(state);
            let write = PlanWrite::for_switch(Guid(1), AttributePart::Port(1), &[1 - new], &[new]);
            let switched = Plan { writes: vec![write], ..plan.clone() };
            let before = switched.faults_before_ports(&fabric);
            assert_eq!(before.map(|faults| faults.is_link_failed(&fabric, link)), failed, "{state:?} {new}");
        }
    }

    #[test]
    fn other_files_and_edited_plans_are_refused() {
        let (.., plan) = plan();
        let text = plan.text().unwrap();
        let error = |text: &str| Plan::read(text).unwrap_err().to_string();
        // A file of another author, with a hash that fits.
        let sealed = |text: &str| {
            let hash =
                Plan::read(text).err().map(|_| serde_json::from_str::<Plan>(text).unwrap().hash).unwrap();
            text.replacen(&hash, &plan_hash(text, &hash), 1)
        };
        assert!(error("{").contains("FD-5511"));
        assert!(error(&text.replace("fabdeck.plan/1", "fabdeck.plan/9")).contains("FD-5512"));
        for (from, to, code) in [
            ("\"switch\":\"0x", "\"switch\":\"0xa", "FD-5514"),
            ("\"block\":0", "\"block\":60000", "FD-5514"),
            ("\"by\": \"one\"", "\"by\": \"two\"", "FD-5515"),
            ("\"new\":\"", "\"new\":\"zz", "FD-5514"),
        ] {
            let edited = text.replace(from, to);
            assert!(error(&edited).contains("FD-5513"), "{from}");
            assert!(error(&sealed(&edited)).contains(code), "{from}: {}", error(&sealed(&edited)));
        }
        let lines: String = text.lines().map(str::trim_start).collect();
        assert!(Plan::read(&lines).is_ok(), "another layout says the same");
        for cut in (0..text.len()).step_by(7) {
            assert!(Plan::read(&text[..cut]).is_err(), "{cut}");
        }
    }
}
