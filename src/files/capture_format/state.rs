//! The state at one moment of a capture, and the records that express it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::adaptive_tables::AdaptiveTableRecord;
use super::counters::CounterBase;
use super::groups::GroupRecord;
use super::labels::LabelRecord;
use super::line::{
    CaptureHeader, CaptureRecord, JobsRecord, ManagerRecord, NoteRecord, PolicyRecord, TickRecord,
};
use super::partitions::PartitionRecord;
use super::path_levels::PathLevelRecord;
use super::planes::PlaneRecord;
use super::switching::{Forwarding, LaneTables};
use super::topology::Topology;
use super::wire::WireRecord;
use fabdeck_fabric::observe::{
    AdaptiveRouting, FlowLists, JobSnapshot, MulticastGroups, Observation, PartitionTables, Planes,
    PolicyLevels, PortHierarchies, SubnetManager, Sweep, Ticks, WireHealth,
};
use fabdeck_fabric::{Fabric, NameMap, NodeId, Tables};

/// The result of all records up to a moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CaptureState {
    pub header: CaptureHeader,
    pub fabric: Fabric,
    pub tables: Tables,
    pub names: NameMap,
    pub manager: Option<SubnetManager>,
    pub adaptive: Option<AdaptiveRouting>,
    pub policy: Option<PolicyLevels>,
    pub ticks: Ticks,
    pub wire: WireHealth,
    pub partitions: PartitionTables,
    pub hierarchies: PortHierarchies,
    pub planes: Planes,
    pub groups: MulticastGroups,
    pub remarks: Vec<NoteRecord>,
    pub jobs: Option<Arc<JobSnapshot>>,
    pub flows: FlowLists,
    pub base: CounterBase,
    /// The parts read so far of a topology in several records.
    parts: Topology,
    /// Number of paths in `policy`.
    paths: usize,
    /// Nodes that hold SL2VL or arbitration tables.
    laned: BTreeSet<NodeId>,
}

impl CaptureState {
    /// Applies a record. Events do not change the state.
    pub fn apply(&mut self, record: CaptureRecord) -> Result<(), String> {
        match record {
            CaptureRecord::Header(header) => {
                let base = std::mem::take(&mut self.base);
                *self = Self { header, base, ..Self::default() };
            }
            CaptureRecord::Topology(topology) => {
                if let Some(topology) = topology.join_parts(&mut self.parts)? {
                    // Tables belong to nodes, which may be different now.
                    (self.tables, self.laned) = Default::default();
                    self.fabric = topology.fabric()?;
                }
            }
            CaptureRecord::Manager(manager) => {
                self.manager = manager.map(|ManagerRecord { guid, state, priority }| SubnetManager {
                    guid,
                    state,
                    priority,
                });
            }
            CaptureRecord::Names(names) => {
                let guid = |(guid, name): (String, String)| match fabdeck_fabric::Guid::from_hex(&guid) {
                    Ok(guid) => Ok((guid, name)),
                    Err(error) => Err(error.to_string()),
                };
                self.names.by_guid = names.into_iter().map(guid).collect::<Result<_, _>>()?;
            }
            CaptureRecord::Tables(tables) => tables.apply(&self.fabric, &mut self.tables)?,
            CaptureRecord::Lanes(lanes) => lanes.apply(&self.fabric, &mut self.tables, &mut self.laned)?,
            CaptureRecord::Adaptive(adaptive) => self.adaptive = adaptive.map(AdaptiveRouting::from),
            CaptureRecord::AdaptiveTables(tables) => tables.apply(&self.fabric, &mut self.tables)?,
            CaptureRecord::Policy(policy) => {
                self.policy = policy.map(PolicyRecord::into_levels).transpose()?
            }
            CaptureRecord::PathLevels(levels) => levels.apply(&mut self.policy, &mut self.paths)?,
            CaptureRecord::Ticks(all) => {
                self.ticks.by_kind = all.into_iter().map(|one| (one.kind, one.tick)).collect();
            }
            CaptureRecord::Wire(wire) => wire.apply(&mut self.wire),
            CaptureRecord::Partitions(tables) => tables.apply(&mut self.partitions),
            CaptureRecord::Labels(labels) => labels.apply(&mut self.names.labels, &mut self.hierarchies),
            CaptureRecord::Planes(planes) => planes.apply(&mut self.planes),
            CaptureRecord::Groups(groups) => groups.apply(&mut self.groups),
            CaptureRecord::Remarks(remarks) => self.remarks = remarks,
            CaptureRecord::Jobs(JobsRecord { heard, silent, list }) => {
                let before = || self.jobs.as_ref().map(|before| before.jobs.clone()).unwrap_or_default();
                let jobs = list.map_or_else(before, Arc::new);
                self.jobs = Some(Arc::new(JobSnapshot { read_at: heard, jobs, failure: silent }));
            }
            CaptureRecord::Flows(lists) => self.flows = lists.into(),
            CaptureRecord::Counters(counters) => self.base.apply(&counters)?,
            CaptureRecord::Note(_)
            | CaptureRecord::Action(_)
            | CaptureRecord::Annotation(_)
            | CaptureRecord::Acknowledgement(_)
            | CaptureRecord::News(_)
            | CaptureRecord::End(_) => {}
        }
        Ok(())
    }

    /// The sweep at this moment.
    pub fn last_sweep(&self) -> Sweep {
        Sweep { flows: self.flows.clone(), ..self.base.last_sweep() }
    }

    /// The records that express the state, without counters.
    pub fn to_records(&self) -> Vec<CaptureRecord> {
        let snapshot = Observation {
            fabric: self.fabric.clone(),
            tables: self.tables.clone(),
            names: self.names.clone(),
            subnet_manager: self.manager.clone(),
            adaptive: self.adaptive,
            policy: self.policy.clone(),
            ticks: self.ticks.clone(),
            wire: self.wire.clone(),
            partitions: self.partitions.clone(),
            hierarchies: self.hierarchies.clone(),
            planes: self.planes.clone(),
            groups: self.groups.clone(),
            jobs: self.jobs.clone(),
            ..Observation::default()
        };
        let mut records = state_records(&self.header, &snapshot);
        records.extend((!self.remarks.is_empty()).then(|| CaptureRecord::Remarks(self.remarks.clone())));
        records.extend((!self.flows.0.is_empty()).then(|| CaptureRecord::Flows((&self.flows).into())));
        records
    }
}

/// The records of a whole snapshot, without counters.
pub fn state_records(header: &CaptureHeader, snapshot: &Observation) -> Vec<CaptureRecord> {
    let mut records = vec![CaptureRecord::Header(header.clone())];
    records.extend(Topology::of(&snapshot.fabric).into_iter().map(CaptureRecord::Topology));
    records.extend(
        Forwarding::of(&snapshot.fabric, &snapshot.tables, None).into_iter().map(CaptureRecord::Tables),
    );
    records.extend(
        LaneTables::of(&snapshot.fabric, &snapshot.tables, None).into_iter().map(CaptureRecord::Lanes),
    );
    records.extend(adaptive_table_records(snapshot, None));
    records.extend(snapshot.subnet_manager.is_some().then(|| manager_record(snapshot)));
    records.extend((!snapshot.names.by_guid.is_empty()).then(|| names_record(snapshot)));
    records.extend(snapshot.adaptive.is_some().then(|| adaptive_record(snapshot)));
    if snapshot.policy.is_some() {
        records.extend(policy_records(snapshot));
    }
    records.extend((!snapshot.ticks.by_kind.is_empty()).then(|| ticks_record(snapshot)));
    records.extend(wire_records(&WireHealth::default(), &snapshot.wire));
    records.extend(partition_records(&PartitionTables::default(), &snapshot.partitions));
    records.extend(label_records(&Observation::default(), snapshot));
    if !snapshot.planes.is_empty() {
        records.extend(plane_records(&snapshot.planes));
    }
    if !snapshot.groups.is_not_asked() {
        records.extend(group_records(&snapshot.groups));
    }
    records.extend((!snapshot.notes.is_empty()).then(|| notes_record(snapshot)));
    records.extend(snapshot.jobs.as_deref().map(|jobs| jobs_record(None, jobs)));
    records
}

/// The records of the changes between two snapshots, without counters.
pub fn changed_records(before: &Observation, now: &Observation) -> Vec<CaptureRecord> {
    let mut records = Vec::new();
    let moved = before.fabric != now.fabric;
    if moved {
        records.extend(Topology::of(&now.fabric).into_iter().map(CaptureRecord::Topology));
    }
    let known = (!moved).then_some(&before.tables);
    if moved || before.tables != now.tables {
        records
            .extend(Forwarding::of(&now.fabric, &now.tables, known).into_iter().map(CaptureRecord::Tables));
        // A whole record of tables clears all nodes, so lanes are written again too.
        let cleared =
            records.iter().any(|record| matches!(record, CaptureRecord::Tables(tables) if tables.is_whole()));
        let known = known.filter(|_| !cleared);
        records.extend(LaneTables::of(&now.fabric, &now.tables, known).into_iter().map(CaptureRecord::Lanes));
        records.extend(adaptive_table_records(now, known));
    }
    records.extend((before.subnet_manager != now.subnet_manager).then(|| manager_record(now)));
    records.extend((before.names.by_guid != now.names.by_guid).then(|| names_record(now)));
    records.extend((before.adaptive != now.adaptive).then(|| adaptive_record(now)));
    if before.policy != now.policy {
        records.extend(policy_records(now));
    }
    records.extend((before.ticks != now.ticks).then(|| ticks_record(now)));
    records.extend(partition_records(&before.partitions, &now.partitions));
    records.extend(label_records(before, now));
    if before.planes != now.planes {
        records.extend(plane_records(&now.planes));
    }
    if before.groups != now.groups {
        records.extend(group_records(&now.groups));
    }
    // A further silent port of a known kind shows in the sweep, which has fewer samples; it needs no remark.
    let kinds = |snapshot: &Observation| {
        let kinds = snapshot.notes.iter().map(|note| (note.code, note.first.file.clone(), note.partial));
        kinds.collect::<Vec<_>>()
    };
    records.extend((kinds(before) != kinds(now)).then(|| notes_record(now)));
    let jobs = now.jobs.as_deref().filter(|_| before.jobs != now.jobs);
    records.extend(jobs.map(|jobs| jobs_record(before.jobs.as_deref(), jobs)));
    records
}

fn manager_record(snapshot: &Observation) -> CaptureRecord {
    let manager = snapshot.subnet_manager.as_ref();
    CaptureRecord::Manager(manager.cloned().map(|SubnetManager { guid, state, priority }| ManagerRecord {
        guid,
        state,
        priority,
    }))
}

fn names_record(snapshot: &Observation) -> CaptureRecord {
    let names = snapshot.names.by_guid.iter();
    CaptureRecord::Names(names.map(|(guid, name)| (guid.to_string(), name.clone())).collect())
}

fn adaptive_record(snapshot: &Observation) -> CaptureRecord {
    CaptureRecord::Adaptive(snapshot.adaptive.map(Into::into))
}

fn adaptive_table_records(snapshot: &Observation, before: Option<&Tables>) -> Vec<CaptureRecord> {
    let records = AdaptiveTableRecord::of(&snapshot.fabric, &snapshot.tables, before);
    records.into_iter().map(CaptureRecord::AdaptiveTables).collect()
}

fn policy_records(snapshot: &Observation) -> Vec<CaptureRecord> {
    let mut records = vec![CaptureRecord::Policy(snapshot.policy.as_ref().map(PolicyRecord::from))];
    if let Some(PolicyLevels::ByPath(table)) = &snapshot.policy {
        let paths = PathLevelRecord::from_table(table).unwrap_or_default();
        records.extend(paths.into_iter().map(CaptureRecord::PathLevels));
    }
    records
}

fn ticks_record(snapshot: &Observation) -> CaptureRecord {
    let all = snapshot.ticks.by_kind.iter();
    CaptureRecord::Ticks(all.map(|(kind, tick)| TickRecord { kind: *kind, tick: *tick }).collect())
}

/// The records of answers about the health of links that changed. They are apart from other changes, because nearly
/// every sweep brings some.
pub fn wire_records(before: &WireHealth, now: &WireHealth) -> impl Iterator<Item = CaptureRecord> {
    WireRecord::of_changes(before, now).into_iter().map(CaptureRecord::Wire)
}

fn partition_records(before: &PartitionTables, now: &PartitionTables) -> impl Iterator<Item = CaptureRecord> {
    PartitionRecord::of_changes(before, now).into_iter().map(CaptureRecord::Partitions)
}

fn label_records(before: &Observation, now: &Observation) -> impl Iterator<Item = CaptureRecord> {
    LabelRecord::of_changes(before, now).into_iter().map(CaptureRecord::Labels)
}

fn plane_records(planes: &Planes) -> impl Iterator<Item = CaptureRecord> {
    PlaneRecord::of(planes).into_iter().map(CaptureRecord::Planes)
}

fn group_records(groups: &MulticastGroups) -> impl Iterator<Item = CaptureRecord> {
    GroupRecord::of(groups).into_iter().map(CaptureRecord::Groups)
}

/// The running jobs; the list only if it differs from the one before.
fn jobs_record(before: Option<&JobSnapshot>, now: &JobSnapshot) -> CaptureRecord {
    let same = before.is_some_and(|before| before.jobs == now.jobs);
    let list = (!same).then(|| now.jobs.as_ref().clone());
    CaptureRecord::Jobs(JobsRecord { heard: now.read_at, silent: now.failure.clone(), list })
}

fn notes_record(snapshot: &Observation) -> CaptureRecord {
    CaptureRecord::Remarks(snapshot.notes.iter().map(NoteRecord::from).collect())
}
