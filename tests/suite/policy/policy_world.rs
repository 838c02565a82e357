//! A fabric in memory for a policy: cables that fail, sweeps, changes with guards, and a switch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fabdeck::catalogue::failure::Failure;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::check::judgement::CertificateReport;
use fabdeck::operations::event_store::cable_places::ends_of_link;
use fabdeck::operations::event_store::stored_batch::LinkEnds;
use fabdeck::operations::health::table_certificate::certify_tables;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::policy::policy_actions::{
    ChangeStart, IsolationRecord, PolicyActions, PolicyFabric,
};
use fabdeck::operations::policy::policy_observation::PolicyReading;
use fabdeck::operations::policy::policy_runner::{PolicyOutcome, PolicyRunner};
use fabdeck::operations::policy::policy_switch::PolicyStop;
use fabdeck_change::{BeginRecord, ChangePhase, ChangeState, Plan, tables_after_rollback};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterSample, FabricEvent, Observation, PortIdentity, Sweep};
use fabdeck_fabric::{Fabric, FabricBuilder, Faults, NameMap, NodeKey, Tables};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

/// 2026-11-02T00:00:00Z.
const BEGUN_MS: i64 = 1_793_577_600_000;
pub const MINUTE_MS: i64 = 60_000;

/// A change in memory.
pub struct WorldChange {
    pub id: String,
    pub phase: ChangePhase,
    plan: Plan,
    deadline_ms: i64,
    lost_before: u64,
}

pub struct PolicyWorld {
    whole: Fabric,
    pub look: Arc<Snapshot>,
    pub time_ms: i64,
    /// Errors and times that the link went down, by port.
    counters: BTreeMap<PortIdentity, [u64; 2]>,
    pub down: BTreeSet<LinkEnds>,
    news: Vec<FabricEvent>,
    has_new_fabric: bool,
    certificate: Option<Arc<CertificateReport>>,
    pub changes: Vec<WorldChange>,
    pub window_ms: i64,
    /// Whether a port does not answer, and whether a change of others waits.
    pub is_partial: bool,
    pub has_foreign_change: bool,
    pub stop: Option<PolicyStop>,
    /// Whether incomplete changes are in force as a whole, and whether policies cannot be turned off.
    pub is_left_whole: bool,
    pub has_full_disk: bool,
    /// Whether a port has no counters, though the fabric can be read, and whether guards refuse to roll back.
    pub has_silent_port: bool,
    pub refuses_rollback: bool,
    pub writes: bool,
    /// Actions after which the process of the watch is killed; `None`: never.
    pub actions_left: Option<u32>,
    pub lines: Vec<String>,
}

/// The panic of a killed watch.
pub struct Killed;

impl PolicyWorld {
    pub fn new(name: &str, engine: &str) -> Self {
        let whole = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let none = Faults::new();
        let problem = Problem::new(&whole, &none);
        let routes =
            (find_engine(engine).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        let mut tables = Tables::default();
        for (id, _) in whole.switches() {
            tables.node_mut(id).lft = Some(routes.lft(id.0));
        }
        let observation = Observation { fabric: whole.clone(), tables, ..Observation::default() };
        let look = Arc::new(Snapshot::new("world", observation, &NameMap::default()));
        let ports = whole.ports().filter(|(_, port)| port.peer.is_some());
        let counters = ports.map(|(id, _)| (identity(&whole, id), [0, 0])).collect();
        let mut world = Self {
            whole,
            look,
            time_ms: BEGUN_MS,
            counters,
            down: BTreeSet::new(),
            news: Vec::new(),
            has_new_fabric: true,
            certificate: None,
            changes: Vec::new(),
            window_ms: 15 * MINUTE_MS,
            is_partial: false,
            has_foreign_change: false,
            stop: None,
            is_left_whole: false,
            has_full_disk: false,
            has_silent_port: false,
            refuses_rollback: false,
            writes: true,
            actions_left: None,
            lines: Vec::new(),
        };
        world.certify();
        world
    }

    /// The links between switches, and those of hosts.
    pub fn links(&self, between_switches: bool) -> Vec<LinkEnds> {
        let whole = Snapshot::new(
            "whole",
            Observation { fabric: self.whole.clone(), ..Observation::default() },
            &NameMap::default(),
        );
        let links = self.whole.links().map(|(id, _)| id);
        let links = links.filter(|id| self.whole.is_between_switches(*id) == between_switches);
        links.map(|id| ends_of_link(&whole, id)).collect()
    }

    pub fn tables(&self) -> &Tables {
        &self.look.observation.tables
    }

    pub fn set_tables(&mut self, tables: Tables) {
        Arc::make_mut(&mut self.look).observation.tables = tables;
        self.certify();
    }

    fn certify(&mut self) {
        self.certificate = certify_tables(&self.look, &NoProgress).unwrap().map(Arc::new);
    }

    /// Pairs without a path, though cables connect them.
    pub fn lost_pairs(&self) -> u64 {
        let report = self.certificate.as_ref().unwrap();
        report.unreachable - report.by_cause.cut_off
    }

    /// Counts errors at one end of a link.
    pub fn add_errors(&mut self, ends: LinkEnds, errors: u64) {
        self.counters.get_mut(&ends[0]).unwrap()[0] += errors;
    }

    /// A link goes down and comes back before the next sweep.
    pub fn flap(&mut self, ends: LinkEnds) {
        if !self.down.contains(&ends) {
            ends.iter().for_each(|end| self.counters.get_mut(end).unwrap()[1] += 1);
        }
    }

    /// Links go down and come up; sweeps find it.
    pub fn set_down(&mut self, links: impl IntoIterator<Item = LinkEnds>, is_down: bool) {
        for ends in links {
            let [a, b] = ends;
            if is_down && self.down.insert(ends) {
                ends.iter().for_each(|end| self.counters.get_mut(end).unwrap()[1] += 1);
                self.news.push(FabricEvent::LinkDown { a, b });
            } else if !is_down && self.down.remove(&ends) {
                self.news.push(FabricEvent::LinkUp { a, b });
            }
        }
        let mut builder = FabricBuilder::from_fabric(&self.whole);
        for (guid, port) in self.down.iter().map(|ends| ends[0]) {
            let node = self.whole.node_by_guid(guid).unwrap();
            builder.disconnect(NodeKey::from(node), port);
        }
        let tables = self.tables().clone();
        let observation = Observation { fabric: builder.finish(), tables, ..Observation::default() };
        self.look = Arc::new(Snapshot::new("world", observation, &NameMap::default()));
        self.has_new_fabric = true;
        self.certify();
    }

    fn sweep(&self) -> Sweep {
        let sample = |((node, port), [errors, downs]): (&PortIdentity, &[u64; 2])| CounterSample {
            node: Some(*node),
            lid: None,
            port: Some(*port),
            values: [
                (Counter::SymbolErrorCounterExt, Some(*errors)),
                (Counter::LinkDownedCounterExt, Some(*downs)),
            ]
            .into_iter()
            .collect(),
        };
        let samples: Vec<CounterSample> = self.counters.iter().map(sample).collect();
        let ports = samples.len() as u64 + u64::from(self.is_partial || self.has_silent_port);
        let fabric = self.has_new_fabric.then(|| self.look.fabric().clone().into());
        Sweep { samples, ports, fabric, took: Duration::from_millis(300), ..Sweep::default() }
    }

    /// Time passes, guards look at their deadlines, and the policy looks at a sweep.
    pub fn step(&mut self, runner: &mut PolicyRunner, passed_ms: i64) -> PolicyOutcome {
        self.time_ms += passed_ms;
        let late = |change: &&mut WorldChange| change.phase == ChangePhase::Applied;
        let now = self.time_ms;
        let overdue: Vec<String> = self
            .changes
            .iter_mut()
            .filter(late)
            .filter(|change| now >= change.deadline_ms)
            .map(|change| change.id.clone())
            .collect();
        overdue.iter().for_each(|id| _ = self.put_back(id));
        let (sweep, news) = (self.sweep(), std::mem::take(&mut self.news));
        self.has_new_fabric = false;
        let (look, certificate) = (self.look.clone(), self.certificate.clone());
        let foreign =
            ChangeState::new(BeginRecord { id: "foreign".into(), number: 99, ..BeginRecord::default() });
        let rows = self.has_foreign_change.then(|| ChangeRow::from_state(&foreign, None, None));
        let changes: Vec<ChangeRow> = rows.into_iter().collect();
        let reading = PolicyReading {
            look: &look,
            sweep: &sweep,
            news: &news,
            certificate: certificate.as_deref(),
            changes: &changes,
            unread_changes: &[],
            ledger: None,
            has_counters: true,
            interval: Duration::from_secs(60),
            time_ms: self.time_ms,
        };
        runner.step(self, &reading, None)
    }

    /// As a guard does, which stays where going back loses more pairs.
    fn put_back(&mut self, id: &str) -> Result<(), String> {
        let at = self.changes.iter().position(|change| change.id == id).unwrap();
        let steps: Vec<_> =
            self.changes[at].plan.writes.iter().map(|write| write.to_step().unwrap()).collect();
        let tables = tables_after_rollback(&self.look.observation, &steps).tables;
        let (before, now) = (self.tables().clone(), self.lost_pairs());
        self.set_tables(tables);
        if self.lost_pairs() > now.max(self.changes[at].lost_before) {
            self.set_tables(before);
            return Err("going back would lose more pairs".to_owned());
        }
        self.changes[at].phase = ChangePhase::RolledBack;
        Ok(())
    }

    /// Ends the process of the watch where a test wants that.
    fn spend_action(&mut self) {
        if let Some(left) = &mut self.actions_left {
            if *left == 0 {
                std::panic::panic_any(Killed);
            }
            *left -= 1;
        }
    }

    fn find(&self, id: &str) -> Option<&WorldChange> {
        self.changes.iter().find(|change| change.id == id)
    }
}

fn identity(fabric: &Fabric, port: fabdeck_fabric::PortId) -> PortIdentity {
    fabdeck::operations::watch::port_values::port_identity(fabric, port)
}

impl PolicyActions for PolicyWorld {
    fn find_stop(&mut self) -> Option<PolicyStop> {
        self.stop.clone()
    }

    fn turn_off(&mut self, why: &str) -> Result<(), Failure> {
        if self.has_full_disk {
            return Err(Failure::usage("FD-7383: no room"));
        }
        self.stop = Some(PolicyStop { time: String::new(), user: "ada".into(), why: why.to_owned() });
        Ok(())
    }

    fn report_line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn writes(&self) -> bool {
        self.writes
    }

    fn origin(&self) -> PlanOrigin {
        PlanOrigin::default()
    }

    fn read_fabric(&mut self) -> Result<PolicyFabric, String> {
        self.spend_action();
        match self.is_partial {
            true => Err("a port did not answer".to_owned()),
            false => Ok(PolicyFabric::without_levels(Snapshot::clone(&self.look))),
        }
    }

    fn apply(
        &mut self,
        plan: &Plan,
        accepted: &[String],
        record: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> ChangeStart {
        self.spend_action();
        let refused = |why: &str| ChangeStart::NotBegun { why: why.to_owned() };
        if self.has_foreign_change || self.changes.iter().any(|change| change.phase.is_pending()) {
            return refused("FD-5632: a change waits");
        }
        if plan.findings.len() > accepted.len() {
            return refused(&plan.findings.join("; "));
        }
        let id = format!("change{:03}", self.changes.len() + 1);
        if let Err(failure) = record(&id) {
            return refused(&failure.message.unwrap_or_default());
        }
        self.spend_action();
        let deadline_ms = self.time_ms + self.window_ms;
        let tables = plan.tables_after(self.look.fabric(), self.tables());
        let lost_before = self.lost_pairs();
        let phase = ChangePhase::Applied;
        self.changes.push(WorldChange {
            id: id.clone(),
            phase,
            plan: plan.clone(),
            deadline_ms,
            lost_before,
        });
        self.set_tables(tables);
        self.spend_action();
        ChangeStart::Applied { id }
    }

    fn phase(&mut self, id: &str) -> Option<ChangePhase> {
        self.spend_action();
        Some(self.find(id).map_or(ChangePhase::Refused, |change| change.phase))
    }

    fn is_left_whole(&mut self, _id: &str) -> bool {
        self.is_left_whole
    }

    fn find_isolation(&mut self, id: &str) -> Result<IsolationRecord, String> {
        self.spend_action();
        let at = self.changes.iter().position(|change| change.id == id).ok_or("no such change")?;
        Ok(IsolationRecord { number: at as u64 + 1, writes: self.changes[at].plan.writes.clone() })
    }

    fn find_deviation(&mut self, plan: &Plan, _accepted: &[String]) -> Result<Option<String>, String> {
        self.spend_action();
        let is_applied = plan.tables_after(self.look.fabric(), self.tables()) == *self.tables();
        Ok((!is_applied).then(|| "FD-7818: the fabric differs".to_owned()))
    }

    fn confirm(&mut self, id: &str) -> Result<(), String> {
        self.spend_action();
        let change = self.changes.iter_mut().find(|change| change.id == id).unwrap();
        assert_eq!(change.phase, ChangePhase::Applied);
        change.phase = ChangePhase::Confirmed;
        self.spend_action();
        Ok(())
    }

    fn roll_back(&mut self, id: &str) -> Result<(), String> {
        self.spend_action();
        if self.refuses_rollback {
            return Err("FD-5654: more pairs would be lost".to_owned());
        }
        let back = self.put_back(id);
        self.spend_action();
        back
    }
}
