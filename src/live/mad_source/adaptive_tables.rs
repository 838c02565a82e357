//! Reads the adaptive tables of switches that need them: which private table packets use, groups up to the top one, and
//! the forwarding tables. What is read is compared with the linear table before it is believed.
//!
//! All tables are read again only after a change of the switch's settings or of its linear table. Groups are read again in
//! the turn of the switch: the subnet manager can change their ports without any other sign. A switch that refused its
//! tables or did not answer the first time is not asked again in the session.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::adaptive::{AdaptiveAnswer, AdaptiveAnswers};
use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::partial_tables::{BlockList, PartialTables, TableBlock};
use super::question::{Question, Reply};
use super::reader::{OpenPhase, PortReader};
use super::tables::{last_used_lid, switch_nodes, to_silence};
use fabdeck_fabric::{
    AdaptiveSettings, AdaptiveSwitch, AdaptiveTableState, AdaptiveTables, Guid, Lft, Tables,
};
use fabdeck_mad::Smp;
use fabdeck_mad::access::SourceError;

/// An unanswered query is sent once more at most.
const RETRIES: u32 = 1;

/// Adaptive tables of a switch, and what they belong to.
#[derive(Clone, Debug)]
pub struct KnownAdaptiveTables {
    settings: AdaptiveSettings,
    linear: Lft,
    state: AdaptiveTableState,
    /// Whether the switch answered with its tables before. Then it is asked again in its turn.
    answered_before: bool,
}

impl KnownAdaptiveTables {
    /// Whether the switch answered with its tables.
    pub fn is_read(&self) -> bool {
        !matches!(self.state, AdaptiveTableState::NoAnswer | AdaptiveTableState::Absent)
    }

    /// Whether the tables show the ports by which packets may leave.
    pub fn is_understood(&self) -> bool {
        matches!(self.state, AdaptiveTableState::Read(_))
    }

    /// Whether the tables need not be read again.
    fn is_current(&self, settings: &AdaptiveSettings, linear: &Lft) -> bool {
        !self.is_read() || (self.settings == *settings && self.linear == *linear)
    }
}

/// A switch whose tables are read.
struct TableTask {
    at: usize,
    settings: AdaptiveSettings,
    /// The tables of which only the groups are read again; `None`: all are read.
    known: Option<Arc<AdaptiveTables>>,
}

/// The switches whose adaptive tables have to be read, in the order of the nodes. The groups of switches that are `due`
/// are read again.
fn table_tasks(
    nodes: &[DiscoveredNode],
    tables: &Tables,
    answers: &AdaptiveAnswers,
    due: &[usize],
) -> Vec<TableTask> {
    let none = Lft::new();
    let due: FxHashSet<usize> = due.iter().copied().collect();
    let task = |(at, node): (usize, &DiscoveredNode)| {
        let Some(AdaptiveAnswer::Stated(settings, _)) = answers.get(&node.guid) else { return None };
        if !settings.needs_tables() || node.switch_info.is_none() {
            return None;
        }
        let task = TableTask { at, settings: *settings, known: None };
        let linear = tables.lft(node_id(at)).unwrap_or(&none);
        let Some(known) = answers.tables.get(&node.guid) else { return Some(task) };
        match &known.state {
            _ if !known.is_current(settings, linear) => Some(task),
            _ if !due.contains(&at) => None,
            AdaptiveTableState::Read(held) => Some(TableTask { known: Some(Arc::clone(held)), ..task }),
            _ => (!known.is_read() && known.answered_before).then_some(task),
        }
    };
    switch_nodes(nodes).filter_map(task).collect()
}

/// Reads the adaptive tables that are not known, and the groups of switches that are `due`. Returns the tables that are
/// new or differ, by switch.
pub fn read_adaptive_tables(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    tables: &Tables,
    answers: &AdaptiveAnswers,
    due: &[usize],
) -> Result<Vec<(Guid, KnownAdaptiveTables)>, SourceError> {
    // Without a linear table there is nothing to compare with.
    let tasks = if tables.only.is_none() && tables.has_forwarding() {
        table_tasks(nodes, tables, answers, due)
    } else {
        Vec::new()
    };
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let mut phase = reader.open_phase("adaptive tables");
    let mut partial: Vec<Option<PartialTables>> = nodes.iter().map(|_| None).collect();
    for task in &tasks {
        let node = &nodes[task.at];
        let top = node.switch_info.as_ref().map_or(0, last_used_lid);
        partial[task.at] = Some(PartialTables::new(task.settings, top, node.port_count));
    }
    // Which private tables packets use determines what else is read.
    let whole = tasks.iter().filter(|task| task.known.is_none());
    let levels =
        whole.map(|task| (task.at, BlockList::port_levels(&task.settings, nodes[task.at].port_count)));
    ask_blocks(&mut phase, nodes, levels.collect(), &mut partial)?;
    let mut blocks = Vec::new();
    for task in &tasks {
        let Some(held) = &mut partial[task.at] else { continue };
        blocks.extend(held.select_blocks(task.known.is_some()).map(|list| (task.at, list)));
    }
    ask_blocks(&mut phase, nodes, blocks, &mut partial)?;
    phase.end();
    let none = Lft::new();
    let finish = |task: TableTask| {
        let (guid, settings) = (nodes[task.at].guid, task.settings);
        let linear = tables.lft(node_id(task.at)).unwrap_or(&none);
        let answered_before =
            answers.tables.get(&guid).is_some_and(|known| known.is_read() || known.answered_before);
        let state = partial[task.at].take()?.finish(linear, task.known.as_deref());
        let is_same =
            matches!((&task.known, &state), (Some(known), AdaptiveTableState::Read(now)) if known == now);
        (!is_same)
            .then(|| (guid, KnownAdaptiveTables { settings, linear: linear.clone(), state, answered_before }))
    };
    Ok(tasks.into_iter().filter_map(finish).collect())
}

/// Asks for blocks, and puts the answers into the tables. A switch that failed is not asked for more.
fn ask_blocks<'n: 'r, 'r>(
    phase: &mut OpenPhase<'r, '_, (usize, TableBlock)>,
    nodes: &'n [DiscoveredNode],
    blocks: Vec<(usize, BlockList)>,
    partial: &mut [Option<PartialTables>],
) -> Result<(), SourceError> {
    let retries = phase.exchange.retries().min(RETRIES);
    let expected = blocks.iter().map(|(_, list)| list.len()).sum();
    let each = blocks.into_iter().flat_map(|(at, list)| list.blocks().map(move |block| (at, block)));
    let stopped = Rc::new(RefCell::new(FxHashSet::default()));
    let failed = Rc::clone(&stopped);
    let open = each.filter(move |(at, _)| !failed.borrow().contains(at));
    let questions = open.map(move |(at, block)| {
        let (attribute, modifier) = block.request();
        let parcel = directed_get(attribute, modifier, &nodes[at].route, nodes[at].m_key.0);
        Question { parcel, target: at as u32, retries, tag: (at, block) }
    });
    phase.exchange.feed(expected, questions);
    while let Some(((at, block), reply)) = phase.next()? {
        let Some(held) = partial.get_mut(at).and_then(Option::as_mut) else { continue };
        match reply {
            Reply::Answer(mad) => held.take(block, &Smp(mad)),
            // A refusal is the normal "no" of a device without the attribute.
            Reply::Refused(status) if status.is_unsupported() => {
                held.fail(AdaptiveTableState::Absent);
                stopped.borrow_mut().insert(at);
            }
            failed if !held.has_failed() => {
                held.fail(AdaptiveTableState::NoAnswer);
                stopped.borrow_mut().insert(at);
                phase.log.silent.push(to_silence(&nodes[at], block.name(), &failed));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Stores in the tables of each switch what it answered. Returns whether anything has changed.
pub fn store_adaptive(nodes: &[DiscoveredNode], tables: &mut Tables, answers: &AdaptiveAnswers) -> bool {
    let mut changed = false;
    let none = Lft::new();
    for (at, node) in switch_nodes(nodes) {
        let Some(answer) = answers.get(&node.guid) else { continue };
        let mut switch = AdaptiveSwitch::new(answer.statement());
        let linear = tables.lft(node_id(at)).unwrap_or(&none);
        let current = answers.tables.get(&node.guid).filter(|known| {
            switch
                .settings()
                .is_some_and(|settings| settings.needs_tables() && known.is_current(settings, linear))
        });
        if let Some(known) = current {
            switch.tables = known.state.clone();
        }
        let held = &mut tables.node_mut(node_id(at)).adaptive;
        if held.as_ref() != Some(&switch) {
            *held = Some(switch);
            changed = true;
        }
    }
    changed
}
