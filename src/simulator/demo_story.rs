//! The story of the demo: flows that begin, a cable that wears out.

use std::ops::Range;
use std::time::Duration;

use super::story_step::{StoryChange, StoryStep};
use super::traffic::Flow;
use fabdeck_fabric::{Fabric, LinkWidth, NodeKind, PortId};

/// The story of the demo. Eight hosts send a little to two others. Three hosts write to a storage host that receives
/// half of its link's rate; every five seconds one more writes, up to six. Then, one after the other, four hosts begin to
/// send to others over the cables that the writers fill: they wait, and what was counted before shows that they are
/// victims. A cable counts more and more symbol errors, goes down for two seconds, and comes back at 1x.
#[derive(Clone, Debug)]
pub struct DemoStory {
    pub flows: Vec<Flow>,
    pub scenes: Vec<StoryStep>,
}

impl DemoStory {
    /// Traffic begins this late, so that commands with one reading end before it.
    pub const START_DELAY: Duration = Duration::from_secs(1);
    /// Most that an adapter sends and receives, in Mb/s: half of its link.
    pub const HOST_LIMIT_MBPS: u32 = 100_000;
    pub const RATIO: u32 = 10_000;

    /// Packets delayed longer than this are dropped at the sender; with the ratio this is 0.1 s of the fabric. So
    /// flows that a hot-spot releases continue at their rate, and no backlog fills the links of other hosts.
    pub const BACKLOG: Duration = Duration::from_micros(10);

    const BASE_MBPS: u32 = 1_500;
    const WRITE_MBPS: u32 = 40_000;
    const FIRST_WRITERS: usize = 3;
    const WRITER_INTERVAL: Duration = Duration::from_secs(5);
    /// The hosts that write to the storage host, by index, in the order in which they begin.
    const WRITERS: [usize; 6] = [0, 2, 4, 6, 12, 18];
    /// Flows over cables that the writers fill: indexes of sender and receiver, Mb/s, and the second in which they begin.
    /// The demo's tables route them over the cables from their racks to the storage host. Each begins in an interval of
    /// its own, after the last writer: so earlier intervals show where each of them and each writer sends to.
    const BYSTANDERS: [(usize, usize, u32, u64); 4] =
        [(1, 18, 40_000, 20), (3, 29, 15_000, 25), (7, 29, 15_000, 30), (13, 2, 15_000, 35)];
    /// The hosts that send a little to two others, by index, and how far away these are.
    const TALKERS: Range<usize> = 24..32;
    const NEIGHBOURS: [usize; 2] = [7, 13];

    pub fn new(fabric: &Fabric) -> Self {
        let hosts: Vec<PortId> = hosts(fabric);
        let pairs = Self::NEIGHBOURS.into_iter().flat_map(|far| Self::TALKERS.map(move |at| (at, at + far)));
        let talk = pairs.filter_map(|(from, to)| Some((hosts.get(from)?, hosts.get(to % hosts.len())?)));
        let talk = talk.map(|(from, to)| Flow { mbps: Some(Self::BASE_MBPS), ..Flow::new(*from, *to) });
        let mut story = Self { flows: talk.collect(), scenes: Vec::new() };
        for (from, to, mbps, second) in Self::BYSTANDERS {
            let Some((from, to)) = hosts.get(from).zip(hosts.get(to)) else { continue };
            story.add_flow_from(Duration::from_secs(second), Flow::new(*from, *to), mbps);
        }
        story.add_writers(fabric, &hosts);
        story.add_wear(fabric);
        story.scenes.sort_by_key(|scene| scene.at);
        story
    }

    fn add_step(&mut self, at: Duration, change: StoryChange) {
        self.scenes.push(StoryStep { at, change });
    }

    /// Adds a flow that begins at this time.
    fn add_flow_from(&mut self, begin: Duration, flow: Flow, mbps: u32) {
        self.add_step(begin, StoryChange::FlowRate { flow: self.flows.len(), mbps });
        self.flows.push(Flow { mbps: Some(0), ..flow });
    }

    fn add_writers(&mut self, fabric: &Fabric, hosts: &[PortId]) {
        let named = |port: &&PortId| {
            fabric.node(fabric.port(**port).node).facts.description.starts_with("storage01 ")
        };
        let Some(storage) = hosts.iter().find(named).copied() else { return };
        let writers = Self::WRITERS.iter().filter_map(|place| hosts.get(*place));
        for (number, writer) in writers.enumerate() {
            let later = number.saturating_sub(Self::FIRST_WRITERS - 1) as u32;
            self.add_flow_from(Self::WRITER_INTERVAL * later, Flow::new(*writer, storage), Self::WRITE_MBPS);
        }
    }

    fn add_wear(&mut self, fabric: &Fabric) {
        let leaf = fabric.switches().filter(|(_, node)| node.facts.description.starts_with("rack2-leaf"));
        let worn = leaf.flat_map(|(id, _)| fabric.ports_of(id)).find_map(|(id, port)| {
            let far = fabric.port(fabric.peer(id)?);
            fabric.node(far.node).is_switch().then_some((port.node.0, port.number.value()))
        });
        let Some(at) = worn else { return };
        let seconds = Duration::from_secs;
        for (after, per_minute) in [(0, 1_200), (30, 6_000), (60, 30_000)] {
            self.add_step(seconds(after), StoryChange::SymbolErrors { at, per_minute });
        }
        self.add_step(seconds(75), StoryChange::Link { at, up: false });
        self.add_step(seconds(77), StoryChange::Width { at, width: LinkWidth::X1 });
        self.add_step(seconds(77), StoryChange::Link { at, up: true });
        self.add_step(seconds(77), StoryChange::SymbolErrors { at, per_minute: 60 });
    }
}

/// Cabled ports of adapters that are no aggregation nodes, in the order of the fabric.
fn hosts(fabric: &Fabric) -> Vec<PortId> {
    let host = |id: &PortId| {
        let port = fabric.port(*id);
        let node = &fabric.node(port.node).facts;
        node.kind == NodeKind::ChannelAdapter && !node.is_aggregation() && port.peer.is_some()
    };
    fabric.ports().map(|(id, _)| id).filter(host).collect()
}
