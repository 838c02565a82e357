//! The state at one moment of a capture, and the records that express it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::counters::Base;
use super::line::{Header, JobsRecord, Manager, PolicyRecord, Record, Remark, TickRecord};
use super::path_levels::PathLevelRecord;
use super::switching::{Forwarding, LaneTables};
use super::topology::Topology;
use fabdeck_fabric::observe::{Adaptive, JobsHeard, Observation, PolicyLevels, SubnetManager, Ticks};
use fabdeck_fabric::{Fabric, NameMap, NodeId, Tables};

/// The result of all records up to a moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct State {
    pub header: Header,
    pub fabric: Fabric,
    pub tables: Tables,
    pub names: NameMap,
    pub manager: Option<SubnetManager>,
    pub adaptive: Option<Adaptive>,
    pub policy: Option<PolicyLevels>,
    pub ticks: Ticks,
    pub remarks: Vec<Remark>,
    pub jobs: Option<Arc<JobsHeard>>,
    pub base: Base,
    /// The parts read so far of a topology in several records.
    parts: Topology,
    /// Number of paths in `policy`.
    paths: usize,
    /// Nodes that hold SL2VL or arbitration tables.
    laned: BTreeSet<NodeId>,
}

impl State {
    /// Applies a record. Events do not change the state.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Header(header) => {
                let base = std::mem::take(&mut self.base);
                *self = Self { header, base, ..Self::default() };
            }
            Record::Topology(topology) => {
                if let Some(topology) = topology.join(&mut self.parts)? {
                    // Tables belong to nodes, which may be different now.
                    (self.tables, self.laned) = Default::default();
                    self.fabric = topology.fabric()?;
                }
            }
            Record::Manager(manager) => {
                self.manager =
                    manager.map(|Manager { guid, state, priority }| SubnetManager { guid, state, priority });
            }
            Record::Names(names) => {
                let guid = |(guid, name): (String, String)| match fabdeck_fabric::Guid::from_hex(&guid) {
                    Ok(guid) => Ok((guid, name)),
                    Err(error) => Err(error.to_string()),
                };
                self.names.by_guid = names.into_iter().map(guid).collect::<Result<_, _>>()?;
            }
            Record::Tables(tables) => tables.apply(&self.fabric, &mut self.tables)?,
            Record::Lanes(lanes) => lanes.apply(&self.fabric, &mut self.tables, &mut self.laned)?,
            Record::Adaptive(adaptive) => self.adaptive = adaptive.map(Adaptive::from),
            Record::Policy(policy) => self.policy = policy.map(PolicyRecord::levels).transpose()?,
            Record::PathLevels(levels) => levels.apply(&mut self.policy, &mut self.paths)?,
            Record::Ticks(all) => {
                self.ticks.by_kind = all.into_iter().map(|one| (one.kind, one.tick)).collect();
            }
            Record::Remarks(remarks) => self.remarks = remarks,
            Record::Jobs(JobsRecord { heard, silent, list }) => {
                let before = || self.jobs.as_ref().map(|before| before.jobs.clone()).unwrap_or_default();
                let jobs = list.map_or_else(before, Arc::new);
                self.jobs = Some(Arc::new(JobsHeard { heard, jobs, silent }));
            }
            Record::Counters(counters) => self.base.apply(&counters)?,
            Record::Note(_) | Record::Action(_) | Record::News(_) | Record::End(_) => {}
        }
        Ok(())
    }

    /// The records that express the state, without counters.
    pub fn records(&self) -> Vec<Record> {
        let look = Observation {
            fabric: self.fabric.clone(),
            tables: self.tables.clone(),
            names: self.names.clone(),
            subnet_manager: self.manager.clone(),
            adaptive: self.adaptive,
            policy: self.policy.clone(),
            ticks: self.ticks.clone(),
            jobs: self.jobs.clone(),
            ..Observation::default()
        };
        let mut records = whole(&self.header, &look);
        records.extend((!self.remarks.is_empty()).then(|| Record::Remarks(self.remarks.clone())));
        records
    }
}

/// The records of a whole snapshot, without counters.
pub fn whole(header: &Header, look: &Observation) -> Vec<Record> {
    let mut records = vec![Record::Header(header.clone())];
    records.extend(Topology::of(&look.fabric).into_iter().map(Record::Topology));
    records.extend(Forwarding::of(&look.fabric, &look.tables, None).into_iter().map(Record::Tables));
    records.extend(LaneTables::of(&look.fabric, &look.tables, None).into_iter().map(Record::Lanes));
    records.extend(look.subnet_manager.is_some().then(|| manager(look)));
    records.extend((!look.names.by_guid.is_empty()).then(|| names(look)));
    records.extend(look.adaptive.is_some().then(|| adaptive(look)));
    if look.policy.is_some() {
        records.extend(policy(look));
    }
    records.extend((!look.ticks.by_kind.is_empty()).then(|| ticks(look)));
    records.extend((!look.notes.is_empty()).then(|| remarks(look)));
    records.extend(look.jobs.as_deref().map(|jobs| running(None, jobs)));
    records
}

/// The records of the changes between two snapshots, without counters.
pub fn changes(before: &Observation, now: &Observation) -> Vec<Record> {
    let mut records = Vec::new();
    let moved = before.fabric != now.fabric;
    if moved {
        records.extend(Topology::of(&now.fabric).into_iter().map(Record::Topology));
    }
    let known = (!moved).then_some(&before.tables);
    if moved || before.tables != now.tables {
        records.extend(Forwarding::of(&now.fabric, &now.tables, known).into_iter().map(Record::Tables));
        // A whole record of tables clears all nodes, so lanes are written again too.
        let cleared =
            records.iter().any(|record| matches!(record, Record::Tables(tables) if tables.is_whole()));
        let known = known.filter(|_| !cleared);
        records.extend(LaneTables::of(&now.fabric, &now.tables, known).into_iter().map(Record::Lanes));
    }
    records.extend((before.subnet_manager != now.subnet_manager).then(|| manager(now)));
    records.extend((before.names != now.names).then(|| names(now)));
    records.extend((before.adaptive != now.adaptive).then(|| adaptive(now)));
    if before.policy != now.policy {
        records.extend(policy(now));
    }
    records.extend((before.ticks != now.ticks).then(|| ticks(now)));
    // A further silent port of a known kind shows in the sweep, which has fewer samples; it needs no remark.
    let kinds = |look: &Observation| {
        let kinds = look.notes.iter().map(|note| (note.code, note.first.file.clone(), note.partial));
        kinds.collect::<Vec<_>>()
    };
    records.extend((kinds(before) != kinds(now)).then(|| remarks(now)));
    let jobs = now.jobs.as_deref().filter(|_| before.jobs != now.jobs);
    records.extend(jobs.map(|jobs| running(before.jobs.as_deref(), jobs)));
    records
}

fn manager(look: &Observation) -> Record {
    let manager = look.subnet_manager.as_ref();
    Record::Manager(manager.cloned().map(|SubnetManager { guid, state, priority }| Manager {
        guid,
        state,
        priority,
    }))
}

fn names(look: &Observation) -> Record {
    let names = look.names.by_guid.iter();
    Record::Names(names.map(|(guid, name)| (guid.to_string(), name.clone())).collect())
}

fn adaptive(look: &Observation) -> Record {
    Record::Adaptive(look.adaptive.map(Into::into))
}

fn policy(look: &Observation) -> Vec<Record> {
    let mut records = vec![Record::Policy(look.policy.as_ref().map(PolicyRecord::from))];
    if let Some(PolicyLevels::ByPath(table)) = &look.policy {
        let paths = PathLevelRecord::of(table).unwrap_or_default();
        records.extend(paths.into_iter().map(Record::PathLevels));
    }
    records
}

fn ticks(look: &Observation) -> Record {
    let all = look.ticks.by_kind.iter();
    Record::Ticks(all.map(|(kind, tick)| TickRecord { kind: *kind, tick: *tick }).collect())
}

/// The running jobs; the list only if it differs from the one before.
fn running(before: Option<&JobsHeard>, now: &JobsHeard) -> Record {
    let same = before.is_some_and(|before| before.jobs == now.jobs);
    let list = (!same).then(|| now.jobs.as_ref().clone());
    Record::Jobs(JobsRecord { heard: now.heard, silent: now.silent.clone(), list })
}

fn remarks(look: &Observation) -> Record {
    Record::Remarks(look.notes.iter().map(Remark::from).collect())
}
