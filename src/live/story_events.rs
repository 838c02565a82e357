//! The events of a simulated fabric, from the file of `story=`. Names are resolved to nodes and ports.

use std::path::Path;

use super::files_source::read_as;
use fabdeck_fabric::{Fabric, NodeId, PortId};
use fabdeck_files::flows::FlowLine;
use fabdeck_files::story_file::{StoryAction, StoryEvent, read};
use fabdeck_mad::access::SourceError;
use fabdeck_routing::find_engine;
use fabdeck_simulator::traffic::{Flow, TrafficPattern};
use fabdeck_simulator::{CarriedTraffic, SimulatedFabric, StoryChange, StoryStep};

/// Adds the scenes of a file to the traffic of a fabric.
pub fn apply_story(
    world: &SimulatedFabric,
    file: &Path,
    mut carried: CarriedTraffic,
) -> Result<CarriedTraffic, SourceError> {
    let story = read_as(file, read)?;
    let settings = &mut carried.load.settings;
    settings.host_limit_mbps = story.host_limit_mbps.or(settings.host_limit_mbps);
    settings.switch_limit_mbps = story.switch_limit_mbps.unwrap_or(settings.switch_limit_mbps);
    settings.buffer = story.buffer.unwrap_or(settings.buffer);
    for event in &story.events {
        let change = StoryResolver { world, file, event }.to_change(&mut carried.load.pattern)?;
        carried.scenes.push(StoryStep { at: event.at, change });
    }
    carried.scenes.sort_by_key(|scene| scene.at);
    Ok(carried)
}

/// One event, and its place in the file.
struct StoryResolver<'a> {
    world: &'a SimulatedFabric,
    file: &'a Path,
    event: &'a StoryEvent,
}

impl StoryResolver<'_> {
    fn to_change(&self, pattern: &mut TrafficPattern) -> Result<StoryChange, SourceError> {
        Ok(match &self.event.what {
            StoryAction::Flow(line) => {
                // A flow without a rate gets the largest rate, which no link can carry.
                let mbps = line.mbps.unwrap_or(u32::MAX);
                StoryChange::FlowRate { flow: self.find_or_add_flow(pattern, line)?, mbps }
            }
            StoryAction::Stop { from, to } => {
                let (from_port, to_port) = (self.port(from)?, self.port(to)?);
                let begun = |flow: &Flow| flow.from == from_port && flow.to == to_port;
                let flow = flow_list(pattern).and_then(|flows| flows.iter().position(begun));
                let flow =
                    flow.ok_or_else(|| self.event_error(format!("no flow from {from} to {to} has begun")))?;
                StoryChange::FlowRate { flow, mbps: 0 }
            }
            StoryAction::Link { port, up } => StoryChange::Link { at: self.port_ref(port)?, up: *up },
            StoryAction::Width { port, width } => {
                StoryChange::Width { at: self.port_ref(port)?, width: *width }
            }
            StoryAction::Manager { runs } => StoryChange::Manager { runs: *runs },
            StoryAction::Errors { port, per_minute } => {
                StoryChange::SymbolErrors { at: self.port_ref(port)?, per_minute: *per_minute }
            }
            StoryAction::Answers { node, again } => {
                StoryChange::Silence { node: self.node(node)?, silent: !again }
            }
            StoryAction::Route { engine: id } => {
                let known =
                    find_engine(id).ok_or_else(|| self.event_error(format!("there is no engine '{id}'")))?;
                StoryChange::Route { engine: known.id }
            }
        })
    }

    /// The index of a flow in the list. A new flow sends nothing before its time.
    fn find_or_add_flow(&self, pattern: &mut TrafficPattern, line: &FlowLine) -> Result<usize, SourceError> {
        let (from, to) = (self.port(&line.from)?, self.port(&line.to)?);
        let list = flow_list(pattern);
        let list = list
            .ok_or_else(|| self.event_error("a story with flows excludes every pattern but flows=".into()))?;
        let same = |flow: &Flow| (flow.from, flow.to, flow.level) == (from, to, line.level);
        if let Some(known) = list.iter().position(same) {
            return Ok(known);
        }
        list.push(Flow { level: line.level, mbps: Some(0), ..Flow::new(from, to) });
        Ok(list.len() - 1)
    }

    fn port(&self, text: &str) -> Result<PortId, SourceError> {
        self.world.traffic_end(text).ok_or_else(|| self.unknown_name(text))
    }

    fn port_ref(&self, text: &str) -> Result<(u32, u8), SourceError> {
        let port = self.fabric().port(self.port(text)?);
        Ok((port.node.0, port.number.value()))
    }

    fn node(&self, text: &str) -> Result<NodeId, SourceError> {
        self.world.client_node(Some(text)).ok_or_else(|| self.unknown_name(text))
    }

    fn fabric(&self) -> &Fabric {
        self.world.snapshot()
    }

    fn unknown_name(&self, text: &str) -> SourceError {
        SourceError::Name {
            code: "FD-4401",
            what: format!("{}: the simulated fabric has no node or port '{text}'", self.event_place()),
            hint: "give the name or GUID of a node, or NAME/PORT for one of its ports".into(),
        }
    }

    fn event_error(&self, what: String) -> SourceError {
        let hint = "docs/live.md lists the events of a story".into();
        SourceError::Name { code: "FD-5037", what: format!("{}: {what}", self.event_place()), hint }
    }

    fn event_place(&self) -> String {
        format!("{}:{}", self.file.display(), self.event.number)
    }
}

fn flow_list(pattern: &mut TrafficPattern) -> Option<&mut Vec<Flow>> {
    match pattern {
        TrafficPattern::Flows(flows) => Some(flows),
        _ => None,
    }
}
