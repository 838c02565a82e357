//! Drains and undrains nodes of Slurm behind bad cables. Slurm's programs run in threads of their own, so that a controller
//! that hangs delays no sweep.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;

use super::isolation_plan::link_between;
use super::link_decisions::{BadLinkObservation, PolicyObservation, PolicyRefusal};
use super::node_decisions::{DRAIN_REASON, DrainMemory, NodeDecision, NodeObservation, decide_nodes};
use super::policy_file::{NodePolicy, PolicyMode};
use super::policy_notice::PolicyNotice;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::event_store::stored_batch::LinkEnds;
use crate::operations::event_store::watch_event::EventSeverity;
use fabdeck_fabric::NodeId;
use fabdeck_files::job_lists::{JobLine, JobList};
use fabdeck_files::jobs::{HostIndex, SlurmClock, SlurmNode, SlurmTools};

/// What came of a program in its thread.
#[derive(Debug)]
enum SlurmAnswer {
    Nodes(Result<Vec<SlurmNode>, String>),
    /// What was decided, and whether it was done: `Ok(false)` for a node that had changed meanwhile.
    Done(Vec<(NodeDecision, Result<bool, String>)>),
}

/// Follows nodes over sweeps.
#[derive(Debug)]
pub struct NodeRunner {
    policy: NodePolicy,
    /// Whether the policy may tell Slurm anything.
    writes: bool,
    /// Whether policies are off, for the thread that works.
    is_off: Arc<AtomicBool>,
    memory: DrainMemory,
    running: Option<Receiver<SlurmAnswer>>,
    next: Instant,
    /// The last refusal of each node, and the last trouble with Slurm, so that each is reported once.
    refused: BTreeMap<String, &'static str>,
    trouble: Option<String>,
}

impl NodeRunner {
    pub fn new(policy: NodePolicy) -> Self {
        Self {
            writes: policy.mode == PolicyMode::Apply,
            policy,
            is_off: Arc::default(),
            memory: DrainMemory::default(),
            running: None,
            next: Instant::now(),
            refused: BTreeMap::new(),
            trouble: None,
        }
    }

    fn tools(&self) -> SlurmTools {
        let NodePolicy { sinfo, scontrol, timeout, .. } = self.policy.clone();
        SlurmTools { sinfo, scontrol, timeout }
    }

    /// Takes up what Slurm answered, and asks it again. Nothing is begun while policies are off.
    pub fn step(
        &mut self,
        look: &Snapshot,
        observed: &PolicyObservation,
        refusal: Option<PolicyRefusal>,
        is_off: bool,
    ) -> Vec<PolicyNotice> {
        self.is_off.store(is_off, Ordering::Relaxed);
        let answer = match self.running.as_ref().map(Receiver::try_recv) {
            Some(Ok(answer)) => Some(answer),
            Some(Err(TryRecvError::Empty)) => return Vec::new(),
            Some(Err(TryRecvError::Disconnected)) => {
                Some(SlurmAnswer::Nodes(Err("the thread that asks Slurm ended".to_owned())))
            }
            None => None,
        };
        self.running = None;
        let mut notices = Vec::new();
        match answer {
            Some(SlurmAnswer::Nodes(Ok(nodes))) => {
                self.trouble = None;
                if !is_off {
                    self.decide(look, observed, refusal, nodes, &mut notices);
                }
            }
            Some(SlurmAnswer::Nodes(Err(why))) => notices.extend(self.report_trouble(why)),
            Some(SlurmAnswer::Done(done)) => done.into_iter().for_each(|(decision, done)| {
                notices.extend(match done {
                    Ok(true) => Some(done_notice(&decision, false)),
                    // The next reading of Slurm shows what it is now.
                    Ok(false) => None,
                    Err(why) => self.report_trouble(why),
                });
            }),
            None => {}
        }
        if self.running.is_none() && !is_off && Instant::now() >= self.next {
            self.next = Instant::now() + self.policy.every;
            let tools = self.tools();
            self.start(move |now| {
                SlurmAnswer::Nodes(tools.read_nodes(None, now).map_err(|error| error.to_string()))
            });
        }
        notices
    }

    fn start(&mut self, work: impl FnOnce(SlurmClock<'_>) -> SlurmAnswer + Send + 'static) {
        let (send, answer) = channel();
        // The receiver may be gone with the watch.
        std::thread::spawn(move || {
            let since = Instant::now();
            send.send(work(&|| since.elapsed()))
        });
        self.running = Some(answer);
    }

    fn report_trouble(&mut self, why: String) -> Option<PolicyNotice> {
        let is_new = self.trouble.as_ref() != Some(&why);
        self.trouble = Some(why.clone());
        is_new.then(|| PolicyNotice::new("policy-drain-refused", EventSeverity::Warning, why).about("slurm"))
    }

    fn decide(
        &mut self,
        look: &Snapshot,
        observed: &PolicyObservation,
        refusal: Option<PolicyRefusal>,
        nodes: Vec<SlurmNode>,
        notices: &mut Vec<PolicyNotice>,
    ) {
        let adapters = adapters_of(look, &nodes);
        let mut bad = BTreeMap::new();
        for (name, own) in &adapters {
            let is_own = |bad: &&BadLinkObservation| {
                let mut at = bad.ends.iter().filter_map(|(guid, _)| look.fabric().node_by_guid(*guid));
                bad.host.is_some() && at.any(|node| own.contains(&node))
            };
            for link in observed.bad.iter().filter(is_own) {
                bad.entry(name.clone()).or_insert_with(|| format!("{}: {}", link.name, link.why));
                self.memory.bad_cables.entry(name.clone()).or_default().insert(link.ends);
            }
        }
        let cables = &self.memory.bad_cables;
        let cabled = adapters.iter().filter(|(name, own)| is_cabled(look, own, cables.get(*name)));
        let seen = NodeObservation {
            time_ms: observed.time_ms,
            bad,
            cabled: cabled.map(|(name, _)| name.clone()).collect(),
            nodes,
            // What packets may do between switches is no matter of a host's cable.
            refusal: refusal.filter(|why| !matches!(why, PolicyRefusal::AdaptiveRouting(_))),
        };
        let decisions = decide_nodes(&seen, &self.policy, &mut self.memory);
        self.refused.retain(|node, _| seen.bad.contains_key(node));
        let mut wanted = Vec::new();
        for decision in decisions {
            match &decision {
                NodeDecision::Refuse { node, name, why } => {
                    if self.refused.insert(node.clone(), name) != Some(name) {
                        let text = format!("node {node} is not drained: {why} ({name})");
                        let notice = PolicyNotice::new("policy-drain-refused", EventSeverity::Warning, text);
                        notices.push(notice.about(name));
                    }
                }
                _ if self.writes => wanted.push(decision),
                NodeDecision::Drain { node, .. } => {
                    self.memory.would_drain.insert(node.name.clone(), seen.time_ms);
                    notices.push(done_notice(&decision, true));
                }
                // A dry run undrains nothing, and says so once.
                NodeDecision::Undrain { node } => {
                    if self.refused.insert(node.name.clone(), "dry-run") != Some("dry-run") {
                        notices.push(done_notice(&decision, true));
                    }
                }
            }
        }
        if !wanted.is_empty() {
            let (tools, is_off) = (self.tools(), self.is_off.clone());
            self.start(move |now| {
                // A sweep may find that policies are off while programs run.
                let wanted = wanted.into_iter().take_while(|_| !is_off.load(Ordering::Relaxed));
                SlurmAnswer::Done(wanted.map(|one| carry_out(&tools, one, now)).collect())
            });
        }
    }
}

/// Whether the cables of a node that were bad are there. After a restart they are not known: then each of its adapters has
/// to have one.
fn is_cabled(look: &Snapshot, own: &BTreeSet<NodeId>, bad: Option<&BTreeSet<LinkEnds>>) -> bool {
    let has_cable = |node: &NodeId| look.fabric().ports_of(*node).any(|(_, port)| port.peer.is_some());
    let is_up = |ends: &LinkEnds| link_between(look, *ends).is_some_and(|id| !look.is_down(id));
    match bad {
        Some(cables) => cables.iter().all(is_up),
        None => own.iter().all(has_cable),
    }
}

fn carry_out(
    tools: &SlurmTools,
    decision: NodeDecision,
    now: SlurmClock<'_>,
) -> (NodeDecision, Result<bool, String>) {
    let done = match &decision {
        NodeDecision::Drain { node, .. } => tools.drain(node, DRAIN_REASON, now),
        NodeDecision::Undrain { node } => tools.undrain(node, now),
        NodeDecision::Refuse { .. } => Ok(false),
    };
    (decision, done.map_err(|error| error.to_string()))
}

fn done_notice(decision: &NodeDecision, is_dry: bool) -> PolicyNotice {
    let (kind, text, node) = match decision {
        NodeDecision::Drain { node, why } => {
            let verb = if is_dry { "would be drained (dry run)" } else { "is drained" };
            ("policy-drained", format!("node {} {verb}, because of its cable {why}", node.name), &node.name)
        }
        NodeDecision::Undrain { node } => {
            let verb = if is_dry { "would be undrained (dry run)" } else { "is undrained" };
            ("policy-undrained", format!("node {} {verb}: its cable is good again", node.name), &node.name)
        }
        NodeDecision::Refuse { node, why, .. } => ("policy-drain-refused", why.clone(), node),
    };
    PolicyNotice::new(kind, EventSeverity::Warning, text).about(node)
}

/// The adapters of Slurm's nodes in the fabric, by the rules that place jobs.
fn adapters_of(look: &Snapshot, nodes: &[SlurmNode]) -> BTreeMap<String, BTreeSet<NodeId>> {
    let line = |(at, node): (usize, &SlurmNode)| JobLine {
        number: at as u64 + 1,
        host: node.name.clone(),
        job: node.name.clone(),
    };
    let list = JobList { lines: nodes.iter().enumerate().map(line).collect(), ..JobList::default() };
    let placed = HostIndex::new(look.fabric(), &look.names).place_jobs(&list);
    let fabric = look.fabric();
    placed
        .jobs
        .iter()
        .map(|(name, ports)| (name.clone(), ports.iter().map(|port| fabric.port(*port).node).collect()))
        .collect()
}
