//! A look over bad lines beside one over good ones: what is there is right, and what is missing is told.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_fabric::observe::{CounterSample, Observation};
use fabdeck_fabric::{Fabric, Guid, NodeFacts, NodeId, NodeKind, PortFacts, PortNum};

type Identity = (NodeKind, Guid);

/// Who did not say what.
struct SilentParts {
    asked: BTreeSet<(Guid, String)>,
    behind: BTreeSet<(Guid, PortNum)>,
}

impl SilentParts {
    fn of(seen: &Observation) -> Self {
        let silent = &seen.reading.as_ref().unwrap().silent;
        let asked = silent.iter().filter_map(|s| Some((s.node?, s.asked.clone()))).collect();
        Self { asked, behind: silent.iter().filter_map(|s| s.peer).collect() }
    }

    fn is_unanswered(&self, node: Guid, asked: &str) -> bool {
        self.asked.contains(&(node, asked.to_owned()))
    }

    /// Whether what lies beyond a port is known to be unknown.
    fn is_hidden(&self, node: Guid, port: PortNum) -> bool {
        self.behind.contains(&(node, port)) || self.is_unanswered(node, &format!("PortInfo {port}"))
    }
}

/// Equal, or partial in a way that is told to the last detail.
pub fn assert_equal_or_reported(what: &str, good: &Observation, seen: &Observation) -> bool {
    if !seen.is_partial() {
        assert_eq!(good.fabric, seen.fabric, "{what}");
        assert!(good.tables == seen.tables, "{what}: tables");
        assert_eq!(good.counters, seen.counters, "{what}");
        assert_eq!(good.subnet_manager, seen.subnet_manager, "{what}");
        assert!(seen.reading.as_ref().unwrap().silent.is_empty(), "{what}");
        return true;
    }
    let pair = Pair { what, good, seen, silent: SilentParts::of(seen) };
    let told = !seen.reading.as_ref().unwrap().silent.is_empty() || seen.notes.has("FN-525");
    assert!(told, "{what}: partial, and nobody is silent: {:?}", seen.notes);
    for (id, node) in seen.fabric.nodes() {
        let identity = (node.facts.kind, node.guid());
        let same = find(&good.fabric, identity).unwrap_or_else(|| panic!("{what}: invented {identity:?}"));
        pair.node(same, id);
    }
    pair.missing_nodes();
    pair.counters();
    if seen.subnet_manager.is_some() {
        assert_eq!(good.subnet_manager, seen.subnet_manager, "{what}");
    }
    false
}

fn find(fabric: &Fabric, (kind, guid): Identity) -> Option<NodeId> {
    fabric.nodes().find(|(_, node)| (node.facts.kind, node.guid()) == (kind, guid)).map(|(id, _)| id)
}

struct Pair<'a> {
    what: &'a str,
    good: &'a Observation,
    seen: &'a Observation,
    silent: SilentParts,
}

impl Pair<'_> {
    fn node(&self, good: NodeId, seen: NodeId) {
        let what = self.what;
        let (was, is) =
            (self.good.fabric.node(good).facts.clone(), self.seen.fabric.node(seen).facts.clone());
        let guid = was.guid;
        let mut expected: NodeFacts = was;
        if self.silent.is_unanswered(guid, "NodeDescription") {
            expected.description.clear();
        }
        if self.silent.is_unanswered(guid, "SwitchInfo") {
            expected.enhanced_port0 = None;
        }
        assert_eq!(expected, is, "{what}");
        self.ports(good, seen, guid);
        self.forwarding(good, seen, guid);
        self.groups(good, seen, guid);
        self.lanes(good, seen, guid);
    }

    fn ports(&self, good: NodeId, seen: NodeId, guid: Guid) {
        let (what, was, is) = (self.what, &self.good.fabric, &self.seen.fabric);
        for (_, port) in is.ports_of(seen) {
            let same = was.port_of(good, port.number).unwrap_or_else(|| panic!("{what}: a port too many"));
            let same = was.port(same);
            match self.silent.is_unanswered(guid, &format!("PortInfo {}", port.number)) {
                true => {
                    assert_eq!(PortFacts { guid: port.facts.guid, ..PortFacts::default() }, port.facts)
                }
                false => assert_eq!(same.facts, port.facts, "{what}: {guid} {}", port.number),
            }
            if let Some(peer) = port.peer {
                assert_eq!(far(was, same.peer.unwrap()), far(is, peer), "{what}: {guid} {}", port.number);
            }
        }
        for (_, port) in was.ports_of(good) {
            let held = is.port_of(seen, port.number).map(|port| is.port(port));
            let whole = held.is_some_and(|held| held.peer.is_some() == port.peer.is_some());
            let Some(peer) = port.peer.filter(|_| !whole) else {
                assert!(held.is_some(), "{what}: {guid} has lost port {}", port.number);
                continue;
            };
            // A cable that is missing is told at every end that could have led over it.
            for end in [was.port(peer), port] {
                let node = was.node(end.node);
                let known = find(is, (node.facts.kind, node.guid())).is_some();
                if known && (node.is_switch() || end.node == self.local()) {
                    let hides = self.silent.is_hidden(node.guid(), end.number);
                    assert!(hides, "{what}: nothing told of {} {}", node.guid(), end.number);
                }
            }
        }
    }

    /// The node that was looked from.
    fn local(&self) -> NodeId {
        super::hosts(&self.good.fabric)[0]
    }

    fn missing_nodes(&self) {
        let (was, is) = (&self.good.fabric, &self.seen.fabric);
        for (id, node) in was.nodes() {
            if find(is, (node.facts.kind, node.guid())).is_some() {
                continue;
            }
            for (_, port) in was.ports_of(id) {
                let Some(peer) = port.peer.map(|peer| was.port(peer)) else { continue };
                let before = was.node(peer.node);
                let known = find(is, (before.facts.kind, before.guid())).is_some();
                if known && (before.is_switch() || peer.node == self.local()) {
                    let hides = self.silent.is_hidden(before.guid(), peer.number);
                    assert!(hides, "{}: nobody tells that {} is missing", self.what, node.guid());
                }
            }
        }
    }

    fn forwarding(&self, good: NodeId, seen: NodeId, guid: Guid) {
        let what = self.what;
        let Some(was) = self.good.tables.lft(good) else { return };
        let Some(is) = self.seen.tables.lft(seen) else {
            assert!(self.silent.is_unanswered(guid, "SwitchInfo"), "{what}: {guid} has no table");
            return;
        };
        let unread = &self.seen.tables.nodes[&seen].unread;
        for block in unread {
            assert!(self.silent.is_unanswered(guid, &format!("LFT block {block}")), "{what}: {guid} {block}");
        }
        let expected: Vec<_> =
            was.routed_lids().filter(|(lid, _)| !unread.contains(&(lid.value() / 64))).collect();
        assert_eq!(expected, is.routed_lids().collect::<Vec<_>>(), "{what}: {guid}");
    }

    fn groups(&self, good: NodeId, seen: NodeId, guid: Guid) {
        let held = |look: &Observation, id| look.tables.nodes.get(&id).and_then(|held| held.mft.clone());
        let Some(was) = held(self.good, good) else { return };
        let Some(is) = held(self.seen, seen) else {
            assert!(self.silent.is_unanswered(guid, "SwitchInfo"), "{}: {guid} has no groups", self.what);
            return;
        };
        let mut expected: BTreeMap<u16, Vec<PortNum>> = BTreeMap::new();
        for (group, ports) in &was.groups {
            let block = (group - 0xC000) / 32;
            let told = |port: &&PortNum| {
                !self.silent.is_unanswered(guid, &format!("MFT block {block} position {}", port.value() / 16))
            };
            let ports: Vec<_> = ports.iter().filter(told).copied().collect();
            if !ports.is_empty() {
                expected.insert(*group, ports);
            }
        }
        let is: BTreeMap<_, _> = is.groups.into_iter().collect();
        assert_eq!(expected, is, "{}: {guid}", self.what);
    }

    fn lanes(&self, good: NodeId, seen: NodeId, guid: Guid) {
        let what = self.what;
        let Some(was) = self.good.tables.nodes.get(&good) else { return };
        let empty = Default::default();
        let is = self.seen.tables.nodes.get(&seen).unwrap_or(&empty);
        let fabric = &self.seen.fabric;
        let cabled = |port: PortNum| {
            port.value() == 0
                || fabric.port_of(seen, port).is_some_and(|port| fabric.port(port).peer.is_some())
        };
        for (pair, table) in &is.sl2vl {
            assert_eq!(was.sl2vl.get(pair), Some(table), "{what}: {guid} {pair:?}");
        }
        for (from, to) in was.sl2vl.keys().filter(|pair| !is.sl2vl.contains_key(pair)) {
            let told = self.silent.is_unanswered(guid, &format!("SL2VL {from} to {to}"))
                || self.silent.is_unanswered(guid, &format!("SL2VL to {to}"));
            assert!(told || !cabled(*from) || !cabled(*to), "{what}: {guid} lost SL2VL {from} to {to}");
        }
        for (port, table) in &is.arbitration {
            assert_eq!(was.arbitration.get(port), Some(table), "{what}: {guid} {port}");
        }
        for port in was.arbitration.keys().filter(|port| !is.arbitration.contains_key(port)) {
            let told = (1..=4)
                .any(|place| self.silent.is_unanswered(guid, &format!("VLArbitration {port} block {place}")))
                || self.silent.is_unanswered(guid, &format!("PortInfo {port}"));
            assert!(told || !cabled(*port), "{what}: {guid} lost arbitration {port}");
        }
    }

    fn counters(&self) {
        let key = |sample: &CounterSample| (sample.node.unwrap(), sample.port.unwrap());
        let seen: BTreeMap<_, _> = self.seen.counters.iter().map(|sample| (key(sample), sample)).collect();
        let good: BTreeMap<_, _> = self.good.counters.iter().map(|sample| (key(sample), sample)).collect();
        for at in seen.keys() {
            assert!(good.contains_key(at), "{}: invented counters of {at:?}", self.what);
        }
        for ((guid, port), was) in good {
            let none = CounterSample::default();
            let is = seen.get(&(guid, port)).copied().unwrap_or(&none);
            let mut short = false;
            for (counter, value) in was.values.iter() {
                match is.values.get(&counter) {
                    None => short = true,
                    said => assert_eq!(value, said, "{}: {guid} {port} {counter}", self.what),
                }
            }
            assert!(!short || self.excused(guid, port), "{}: {guid} {port} lost counters", self.what);
        }
    }

    /// Counters are missing: their own silence, or that of whoever tells the LID or the cable.
    fn excused(&self, guid: Guid, port: PortNum) -> bool {
        let fabric = &self.seen.fabric;
        let Some((id, node)) = fabric.nodes().find(|(_, node)| node.guid() == guid) else { return true };
        let cabled = fabric.port_of(id, port).is_some_and(|port| fabric.port(port).peer.is_some());
        let addressed = if node.is_switch() { PortNum(0) } else { port };
        !cabled
            || self.silent.is_unanswered(guid, &format!("PortInfo {addressed}"))
            || self.silent.is_unanswered(guid, &format!("PortCounters {port}"))
            || self.silent.is_unanswered(guid, &format!("PortCountersExtended {port}"))
            || self
                .silent
                .asked
                .iter()
                .any(|(node, asked)| *node == guid && asked.starts_with("ClassPortInfo"))
    }
}

fn far(fabric: &Fabric, port: fabdeck_fabric::PortId) -> (Guid, PortNum) {
    let port = fabric.port(port);
    (fabric.node(port.node).guid(), port.number)
}
