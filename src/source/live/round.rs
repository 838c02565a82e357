//! One sweep: states, counters, and what moved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::follow::follow;
use super::found::{FoundNode, node_id};
use super::news::{changed_entries, news_between, same_node};
use super::reader::Reader;
use super::rotation::Turns;
use super::states::{States, hops, read_states};
use super::sweep::{Agents, Counted, sweep_counters};
use super::tables::top;
use crate::access::SourceError;
use crate::fabric::{BLOCK_LIDS, Fabric, Lid, NO_PATH, NodeId, NodeKind, PortNum, Tables, block_of};
use crate::observe::{ChangedEntry, News, Observation, Sweep};

/// Entries of a table that are named; the others are counted.
const NAMED: usize = 4;

/// What sweeps keep beside the nodes.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What agents said that they count, as far as a sweep has asked.
    pub agents: Agents,
    pub turns: Turns,
}

/// Nothing that is kept changes before everything has been asked: a sweep that was cancelled never was.
pub fn sweep(
    reader: &mut Reader<'_>,
    look: &mut Observation,
    nodes: &mut Vec<FoundNode>,
    memory: &mut Memory,
) -> Result<Sweep, SourceError> {
    let (began, phases) = (reader.now(), reader.phases.len());
    let (mut turns, period) = (memory.turns, reader.drift_period());
    let states = read_states(reader, &look.fabric, nodes, &mut turns, period)?;
    let left_out = |at: usize| nodes[at].kept.silent && !states.heard.contains(&at);
    let counted = sweep_counters(reader, &look.fabric, nodes, &mut memory.agents, left_out)?;
    let silent = silent(nodes, &states, &counted);
    let suspects = suspects(&look.fabric, nodes, (&states, &counted), &silent);
    let moved = !suspects.is_empty()
        || !states.heard.is_empty()
        || silent.iter().any(|node| !nodes[*node].kept.silent);
    let mut found = match moved {
        true => Some(follow(reader, (&look.fabric, nodes), &suspects, &silent)?),
        false => None,
    };
    memory.turns = turns;
    let kept = found.as_mut().map_or(nodes.as_mut_slice(), |found| &mut found.nodes);
    let drifts = keep(kept, look, states, &counted);
    let mut news = Vec::new();
    let mut fabric = None;
    if let Some(found) = found {
        let (now, mut found) = found.finish();
        news = news_between(&look.fabric, &now);
        news.extend(silence_news((&look.fabric, nodes), (&now, &found)));
        std::mem::swap(nodes, &mut found);
        if now != look.fabric {
            fabric = Some(Arc::new(now.clone()));
            move_to(look, now, &mut memory.agents);
        }
    }
    news.extend(drifts);
    let (took, sent) =
        (reader.now().saturating_sub(began), reader.phases[phases..].iter().map(|p| p.sent).sum());
    let Counted { samples, at, ports, .. } = counted;
    Ok(Sweep { samples, at, began, took, ports, sent, fabric, news })
}

/// Who did not answer: switches that were asked, adapters whose counters nobody gave, and who was silent or out of reach
/// before and was not heard.
fn silent(nodes: &[FoundNode], states: &States, counted: &Counted) -> BTreeSet<usize> {
    let lost = |node: &FoundNode| node.kept.silent || node.kept.cut_off;
    let before = nodes.iter().enumerate().filter(|(_, node)| lost(node)).map(|(at, _)| at);
    let still = before.filter(|at| !states.heard.contains(at));
    let adapters = |at: &&usize| nodes[**at].kind != NodeKind::Switch && !nodes[**at].kept.mute;
    let mute = counted.mute.iter().filter(adapters).copied();
    states.silent.iter().copied().chain(still).chain(mute).collect()
}

/// Ports that may not be as they were: those that said so, those of a switch that says so now and did not before, those
/// whose link went down since the last sweep, and those on the way to who fell silent.
fn suspects(
    fabric: &Fabric,
    nodes: &[FoundNode],
    (states, counted): (&States, &Counted),
    silent: &BTreeSet<usize>,
) -> BTreeSet<(usize, u8)> {
    let mut suspects = states.suspects.clone();
    for (at, info) in &states.switches {
        if info.port_state_change() && !nodes[*at].kept.state_change {
            suspects.extend((1..=nodes[*at].port_count).map(|port| (*at, port)));
        }
    }
    for (at, port, times) in &counted.downed {
        let before = nodes[*at].kept.downed.get(port);
        if *times > 0 && before.is_some_and(|before| before != times) {
            suspects.insert((*at, *port));
            suspects.extend(far_end(fabric, (*at, *port)));
        }
    }
    // Much may have happened while nobody heard of it.
    for at in states.heard.iter().filter(|at| nodes[**at].kind == NodeKind::Switch) {
        suspects.extend((0..=nodes[*at].port_count).map(|port| (*at, port)));
    }
    // The agent of a switch that has another LID now is found by asking its port 0 for it.
    let newly_mute = counted.mute.iter().filter(|at| !nodes[**at].kept.mute);
    suspects.extend(newly_mute.filter(|at| nodes[**at].kind == NodeKind::Switch).map(|at| (*at, 0)));
    for at in silent.iter().filter(|at| !nodes[**at].kept.silent) {
        suspects.extend(hops(fabric, nodes, &nodes[*at].route));
    }
    suspects
}

fn far_end(fabric: &Fabric, (at, port): (usize, u8)) -> Option<(usize, u8)> {
    let peer = fabric.peer(fabric.port_of(node_id(at), PortNum(port))?)?;
    let peer = fabric.port(peer);
    Some((peer.node.index(), peer.number.value()))
}

/// Keeps what was read for the next sweep, and tells how tables differ from how they were.
fn keep(nodes: &mut [FoundNode], look: &mut Observation, states: States, counted: &Counted) -> Vec<News> {
    for (at, info) in states.switches {
        nodes[at].kept.state_change = info.port_state_change();
        nodes[at].switch_info = Some(info);
    }
    for (at, node) in nodes.iter_mut().enumerate() {
        node.kept.mute = counted.mute.contains(&at);
    }
    for (at, port, times) in &counted.downed {
        nodes[*at].kept.downed.insert(*port, *times);
    }
    let mut drifted: BTreeMap<usize, (BTreeSet<u16>, Vec<ChangedEntry>)> = BTreeMap::new();
    for (at, block, ports) in states.blocks {
        let entries = keep_block(&mut nodes[at], (&mut look.tables, node_id(at)), block, ports);
        if !entries.is_empty() {
            let (blocks, all) = drifted.entry(at).or_default();
            blocks.insert(block);
            all.extend(entries);
        }
    }
    let tell = |(at, (blocks, mut entries)): (usize, (BTreeSet<u16>, Vec<ChangedEntry>))| {
        entries.sort_by_key(|entry| entry.lid);
        let count = entries.len();
        entries.truncate(NAMED);
        News::TableDrift {
            switch: nodes[at].guid,
            blocks: blocks.into_iter().collect(),
            entries: count,
            first: entries,
            manager: states.manager,
        }
    };
    drifted.into_iter().map(tell).collect()
}

/// The first reading of a block is what later ones are compared with; a look that has tables brings it.
fn keep_block(
    node: &mut FoundNode,
    (tables, id): (&mut Tables, NodeId),
    block: u16,
    mut ports: [u8; BLOCK_LIDS as usize],
) -> Vec<ChangedEntry> {
    let top = node.switch_info.as_ref().map_or(0, top);
    let first = block * BLOCK_LIDS;
    for (offset, port) in ports.iter_mut().enumerate() {
        if first + offset as u16 > top || first + offset as u16 == 0 {
            *port = NO_PATH;
        }
    }
    let asked = tables.only.as_ref().is_none_or(|only| only.contains(&block));
    let held = tables.nodes.get_mut(&id).filter(|held| asked && !held.unread.contains(&block));
    let Some(lft) = held.and_then(|held| held.lft.as_mut()) else {
        let before = node.kept.blocks.insert(block, ports);
        return before.map_or_else(Vec::new, |before| changed_entries(block, top, &before, &ports));
    };
    let entries = changed_entries(block, top, &block_of(lft.bytes(), block), &ports);
    entries.iter().for_each(|entry| lft.set(entry.lid, entry.now));
    entries
}

/// Who fell silent and who answers again; who lost or got a cable by it is told with that.
fn silence_news<'n>(
    (before, old): (&'n Fabric, &'n [FoundNode]),
    (now, new): (&'n Fabric, &'n [FoundNode]),
) -> impl Iterator<Item = News> + 'n {
    let cabled = |fabric: &Fabric, node: NodeId| fabric.ports_of(node).any(|(_, port)| port.peer.is_some());
    let tell = move |((id, _), node): ((NodeId, _), &FoundNode)| {
        let known = same_node(before, now, id)?;
        let guid = node.guid;
        match (old[known.index()].kept.silent, node.kept.silent) {
            (false, true) if cabled(now, id) => Some(News::NodeSilent { node: guid }),
            (true, false) if cabled(before, known) => Some(News::NodeAnswers { node: guid }),
            _ => None,
        }
    };
    now.nodes().zip(new).filter_map(tell)
}

/// The look has another fabric now: its tables go with the nodes that they are of, and agents whose LID is another
/// port's are asked anew what they count.
fn move_to(look: &mut Observation, fabric: Fabric, agents: &mut Agents) {
    let before = std::mem::replace(&mut look.fabric, fabric);
    let now = &look.fabric;
    let of = |fabric: &Fabric, lid: Lid| {
        fabric.port_by_lid(lid).map(|port| fabric.node(fabric.port(port).node).guid())
    };
    agents.retain(|lid, _| of(&before, *lid) == of(now, *lid));
    if before.nodes().len() != now.nodes().len() {
        let tables = std::mem::take(&mut look.tables.nodes).into_iter();
        look.tables.nodes =
            tables.filter_map(|(id, held)| Some((same_node(now, &before, id)?, held))).collect();
    }
}
