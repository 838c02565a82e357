//! A snapshot of a fabric with the names in use: the input of every table, trace and screen.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use fabdeck_change::ChangedPathBits;
use fabdeck_fabric::counters::{SensorFault, WireJudgement, WireThresholds, find_sensor_faults, judge_port};
use fabdeck_fabric::observe::{
    AggregatedPorts, DeviceAnswer, NotePlace, Observation, OtherPlaneLink, PortPlanes, PortWire,
    device_labels,
};
use fabdeck_fabric::{
    Element, ElementId, Fabric, GUESS_SIGN, Guid, LinkId, LinkSpeed, LinkWidth, NameMap, Names, NodeId,
    Partitions, PathBits, Port, PortFacts, PortId, PortLabel, PortNum, PortState, Routes, SheetProblem,
};
use fabdeck_files::cabling::CablingPlan;
use fabdeck_routing::{Engine, Request, suitable_engines};

/// The note about a line of a sheet that fits nothing in the fabric.
const UNUSED_LINE: &str = "FN-710";

/// An observation, its source, and the names of its nodes.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The source as the operator wrote it.
    pub source: String,
    pub observation: Observation,
    pub names: Names,
    /// The engine whose tables are assumed, where the source has none.
    pub assumed: Option<&'static str>,
    /// Routes with their lanes, where fabdeck computed the tables of the observation: assumed ones, or those
    /// of a plan.
    pub routes: Option<Routes>,
    /// What hosts add to base LIDs since the last change of the fabric; `None` where they pick by their places.
    pub changed_path_bits: Option<ChangedPathBits>,
    /// Partitions that limit which ports may communicate; `None` permits every pair.
    pub partitions: Option<Partitions>,
    /// The limits of the wire verdict.
    pub wire_thresholds: WireThresholds,
    /// The plan that the cabling is held against.
    pub cabling_plan: Option<Arc<CablingPlan>>,
    /// The ports that several planes make up; empty for a fabric without planes.
    planes: AggregatedPorts,
    /// Devices whose answers about labels contradict each other or the rule of their model.
    doubted_labels: BTreeSet<Guid>,
    /// Names of nodes as the operator and the source give them.
    map: NameMap,
    /// The engines that suit the fabric, once they were asked for.
    engines: OnceLock<Vec<&'static Engine>>,
}

fn join_planes(observation: &Observation) -> AggregatedPorts {
    AggregatedPorts::of(&observation.fabric, &observation.planes, &observation.hierarchies)
}

impl Snapshot {
    /// What hosts add to base LIDs: as the routes of fabdeck or the last change have it, else by their places.
    pub fn path_bits(&self) -> Cow<'_, PathBits> {
        let by_place = || Cow::Owned(PathBits::by_place(self.fabric()));
        self.known_path_bits().map_or_else(by_place, Cow::Borrowed)
    }

    /// Path bits that are not those of places: of the routes of fabdeck, else of the last change.
    pub fn known_path_bits(&self) -> Option<&PathBits> {
        match &self.routes {
            Some(routes) => routes.path_bits.as_ref(),
            None => self.changed_path_bits.as_ref().map(|changed| &changed.bits),
        }
    }

    /// Whose path bits hosts have, where a change set them.
    pub fn path_bits_origin(&self) -> Option<String> {
        let changed = self.changed_path_bits.as_ref().filter(|_| self.routes.is_none())?;
        Some(format!("by path bits of change {} ({})", changed.number, changed.engine))
    }

    /// Creates a snapshot. The operator's names in `own` take precedence over those of the source.
    pub fn new(source: impl Into<String>, mut observation: Observation, own: &NameMap) -> Self {
        let mut map = observation.names.clone();
        map.by_guid.extend(own.by_guid.iter().map(|(guid, name)| (*guid, name.clone())));
        map.hosts.clone_from(&own.hosts);
        // Of several sheets the first row counts, so the operator's are in front.
        let sheet = std::mem::take(&mut map.labels.sheet);
        map.labels.extend(own.labels.clone());
        map.labels.sheet.extend(sheet);
        let (stated, doubted_labels) = device_labels(&observation.fabric, &observation.hierarchies);
        map.labels.extend(stated);
        let names = Names::new(&observation.fabric, &map);
        for SheetProblem { file, line, text } in names.sheet_problems() {
            observation.notes.add(UNUSED_LINE, NotePlace::line(file.clone(), *line), || {
                format!("{text}: what the line states is left out")
            });
        }
        let planes = join_planes(&observation);
        let source = source.into();
        Self {
            source,
            observation,
            names,
            assumed: None,
            routes: None,
            changed_path_bits: None,
            partitions: None,
            wire_thresholds: WireThresholds::default(),
            cabling_plan: None,
            planes,
            doubted_labels,
            map,
            engines: OnceLock::new(),
        }
    }

    /// Names the nodes again after a sweep has replaced the fabric of the observation.
    pub fn update_names(&mut self) {
        self.names = Names::new(&self.observation.fabric, &self.map);
        self.planes = join_planes(&self.observation);
        self.engines = OnceLock::new();
    }

    /// The engines that are run where none is named.
    pub fn suitable_engines(&self) -> &[&'static Engine] {
        self.engines.get_or_init(|| suitable_engines(self.fabric(), &Request::default()))
    }

    /// The planes of a port; `None` for a port of one plane.
    pub fn port_planes(&self, port: PortId) -> Option<&PortPlanes> {
        let port = self.fabric().port(port);
        self.planes.ports.get(&(self.fabric().node(port.node).guid(), port.number))
    }

    /// The planes of a link: those of the end with fewer planes that are up.
    pub fn link_planes(&self, link: LinkId) -> Option<&PortPlanes> {
        let link = self.fabric().link(link);
        let ends = [link.a, link.b].into_iter().filter_map(|port| self.port_planes(port));
        ends.min_by_key(|planes| planes.up.len())
    }

    /// Links that the plane of the fabric does not have, and another plane has.
    pub fn links_of_other_planes(&self) -> &[OtherPlaneLink] {
        &self.planes.missing
    }

    pub fn fabric(&self) -> &Fabric {
        &self.observation.fabric
    }

    /// The GUID of the subnet manager's port, where one was seen.
    pub fn manager(&self) -> Option<Guid> {
        self.observation.subnet_manager.as_ref().map(|manager| manager.guid)
    }

    /// The label of a port.
    pub fn label(&self, port: PortId) -> Option<&PortLabel> {
        self.names.label(port)
    }

    /// Why a port that was asked for its label gave none; `None` where it was not asked, or gave one.
    pub fn missing_label_word(&self, port: PortId) -> Option<&'static str> {
        let Port { node, number, .. } = self.fabric().port(port);
        let guid = self.fabric().node(*node).guid();
        match self.observation.hierarchies.ports.get(&(guid, *number))? {
            DeviceAnswer::Known(_) if self.doubted_labels.contains(&guid) => Some("not understood"),
            answer => answer.missing_word(),
        }
    }

    /// What a port said about the health of its link.
    pub fn port_wire(&self, port: PortId) -> Option<&PortWire> {
        let Port { node, number, .. } = self.fabric().port(port);
        self.observation.wire.ports.get(&(self.fabric().node(*node).guid(), *number))
    }

    /// The wire verdict on one end of a link.
    pub fn wire_judgement(&self, port: PortId) -> WireJudgement {
        let facts = &self.fabric().port(port).facts;
        let said = self.port_wire(port);
        said.map(|said| judge_port(said, (facts.speed, facts.width), &self.wire_thresholds))
            .unwrap_or_default()
    }

    /// What is wrong with the sensors, fans and power supplies of a node.
    pub fn sensor_faults(&self, node: NodeId) -> Vec<SensorFault> {
        let said = self.observation.wire.devices.get(&self.fabric().node(node).guid());
        said.map(|said| find_sensor_faults(said, &self.wire_thresholds)).unwrap_or_default()
    }

    /// The wire verdict on a link: that of its worse end, with that end.
    pub fn link_judgement(&self, link: LinkId) -> (PortId, WireJudgement) {
        let ends = self.fabric().link(link);
        let [a, b] = [ends.a, ends.b].map(|port| (port, self.wire_judgement(port)));
        if b.1.verdict > a.1.verdict { b } else { a }
    }

    /// The adapter and port through which a live fabric is read, in the syntax of a source: `umad:mlx5_0:1`.
    pub fn device(&self) -> Option<String> {
        let from = &self.observation.reading.as_ref()?.from;
        self.source.starts_with("umad").then(|| format!("umad:{}", from.replacen(" port ", ":", 1)))
    }

    pub fn name(&self, node: NodeId) -> &str {
        self.names.name(node)
    }

    /// A unique name for a node: where several nodes have one name, the place of attachment or the GUID
    /// follows.
    pub fn unique_name(&self, node: NodeId) -> Cow<'_, str> {
        let name = self.name(node);
        match self.names.nodes_named(name) {
            [] | [_] => Cow::Borrowed(name),
            _ => Cow::Owned(match self.attached_port_name(self.fabric().ports_of(node).map(|(id, _)| id)) {
                Some(place) => format!("{name} at {place}"),
                None => format!("{name} {}", self.fabric().node(node).guid()),
            }),
        }
    }

    /// A unique name for a host: without its adapter where it has only one, `node01` of `node01 mlx5_0`.
    pub fn host_name(&self, node: NodeId) -> Cow<'_, str> {
        const MAX_ADAPTERS: u8 = 16;
        let name = self.name(node);
        let split = name.rsplit_once(' ').and_then(|(host, device)| {
            let kind = device.trim_end_matches(|sign: char| sign.is_ascii_digit());
            (kind.len() < device.len() && !host.contains(' ')).then_some((host, kind))
        });
        let Some((host, kind)) = split else { return self.unique_name(node) };
        let named = |name: &str| self.names.nodes_named(name).len();
        let adapters: usize = (0..MAX_ADAPTERS).map(|number| named(&format!("{host} {kind}{number}"))).sum();
        match adapters == 1 && named(host) == 0 {
            true => Cow::Borrowed(host),
            false => self.unique_name(node),
        }
    }

    /// A unique name for a port: `leaf0[3]`, `Aggregation Node[1] at spine1[41]`.
    pub fn unique_port_name(&self, port: PortId) -> String {
        let Port { node, number, .. } = *self.fabric().port(port);
        let name = self.name(node);
        match self.names.nodes_named(name) {
            [] | [_] => self.port_name(port),
            _ => match self.attached_port_name(std::iter::once(port)) {
                Some(place) => format!("{name}[{number}] at {place}"),
                None => format!("{name} {}[{number}]", self.fabric().node(node).guid()),
            },
        }
    }

    /// The name of the first switch port that one of these adapter ports is cabled to. Only a switch with a
    /// unique name counts.
    fn attached_port_name(&self, ports: impl Iterator<Item = PortId>) -> Option<String> {
        let fabric = self.fabric();
        let alone = |peer: &PortId| {
            let node = fabric.port(*peer).node;
            fabric.node(node).is_switch() && self.names.nodes_named(self.name(node)).len() == 1
        };
        let of_adapter = |port: &PortId| !fabric.node(fabric.port(*port).node).is_switch();
        ports
            .filter(of_adapter)
            .filter_map(|port| fabric.peer(port))
            .find(alone)
            .map(|peer| self.port_name(peer))
    }

    /// Number of ports of a node; `None` where the node itself never reported it.
    pub fn port_count(&self, node: NodeId) -> Option<u8> {
        let facts = &self.fabric().node(node).facts;
        // A node that no longer answers keeps the number that it reported before.
        Some(facts.port_count).filter(|count| facts.answered || *count > 0)
    }

    /// Width of a link: the smaller one where its ends disagree, because the smaller one limits the data
    /// rate.
    pub fn width_in_use(&self, link: LinkId) -> Option<LinkWidth> {
        min_of_ends(self.ends(link).map(|facts| facts.width))
    }

    /// Speed of a link: the smaller one where its ends disagree.
    pub fn speed_in_use(&self, link: LinkId) -> Option<LinkSpeed> {
        min_of_ends(self.ends(link).map(|facts| facts.speed))
    }

    /// Whether a link runs below what both of its ends support; `None` where the ends do not report it.
    pub fn is_degraded(&self, link: LinkId) -> Option<bool> {
        let ends = self.ends(link);
        let width = is_below(self.width_in_use(link), ends.map(|facts| facts.width_supported));
        let speed = is_below(self.speed_in_use(link), ends.map(|facts| facts.speed_supported));
        match (width, speed) {
            (None, None) => None,
            _ => Some(width == Some(true) || speed == Some(true)),
        }
    }

    /// Whether an end of a link reports that it is down.
    pub fn is_down(&self, link: LinkId) -> bool {
        self.ends(link).iter().any(|facts| facts.state == Some(PortState::Down))
    }

    fn ends(&self, link: LinkId) -> [&PortFacts; 2] {
        let link = self.fabric().link(link);
        [link.a, link.b].map(|port| &self.fabric().port(port).facts)
    }

    /// Whether a typed number or label is that of a port, or the beginning of it.
    pub fn port_fits(&self, port: PortId, number: PortNum, typed: &str, whole: bool) -> bool {
        let typed = typed.trim_end_matches(GUESS_SIGN).to_lowercase();
        let fits = |text: String| if whole { text == typed } else { text.starts_with(&typed) };
        // Digits alone are the number of a port.
        let is_number = typed.bytes().all(|sign| sign.is_ascii_digit());
        match self.label(port).filter(|_| !is_number) {
            Some(label) => fits(label.text.to_lowercase()),
            None => fits(number.to_string()),
        }
    }

    /// A port with its label, where one is known: `leaf0[3] (1/2/1)`.
    pub fn labelled_port_name(&self, port: PortId) -> String {
        self.unique_port_name(port) + &self.label_suffix(port)
    }

    /// Both ends of a cable with their labels: `leaf0[3] (1/2/1) - spine1[1]`.
    pub fn labelled_link_name(&self, link: LinkId) -> String {
        let link = self.fabric().link(link);
        format!("{} - {}", self.labelled_port_name(link.a), self.labelled_port_name(link.b))
    }

    /// An element as commands name it, with the label of its port: `link:leaf0[3] (1/2/1)`.
    pub fn labelled_element(&self, what: ElementId) -> String {
        let port = match what {
            ElementId::Node(_) => None,
            ElementId::Port(port) => Some(port),
            ElementId::Link(link) => Some(self.fabric().link(link).a),
        };
        let label = port.map_or_else(String::new, |port| self.label_suffix(port));
        format!("{}{label}", Element::from_id(self.fabric(), &self.names, what))
    }

    /// The label of a port as it follows the name or the number of the port; empty where none is known.
    pub fn label_suffix(&self, port: PortId) -> String {
        self.label(port).map_or_else(String::new, |label| format!(" ({})", label.shown()))
    }

    /// A port in the notation of elements: `leaf0[3]`.
    pub fn port_name(&self, port: PortId) -> String {
        let port = self.fabric().port(port);
        format!("{}[{}]", self.name(port.node), port.number)
    }
}

fn min_of_ends<T: Ord>(ends: [Option<T>; 2]) -> Option<T> {
    ends.into_iter().flatten().min()
}

fn is_below<T: Ord>(used: Option<T>, [a, b]: [Option<T>; 2]) -> Option<bool> {
    let possible = a?.min(b?);
    used.map(|used| used < possible)
}
