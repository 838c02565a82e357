//! The events of a simulated fabric, from the file of `story=`. Names are resolved to nodes and ports.

use std::path::Path;

use super::disk::read_as;
use fabdeck_fabric::{Fabric, NodeId, PortId};
use fabdeck_files::flows::FlowLine;
use fabdeck_files::story::{Event, Happens, read};
use fabdeck_mad::access::SourceError;
use fabdeck_routing::engine;
use fabdeck_simulator::traffic::{Flow, Pattern};
use fabdeck_simulator::{Carried, Change, Scene, World};

/// Adds the scenes of a file to the traffic of a fabric.
pub fn told(world: &World, file: &Path, mut carried: Carried) -> Result<Carried, SourceError> {
    let story = read_as(file, read)?;
    let settings = &mut carried.load.settings;
    settings.host_limit_mbps = story.host_limit_mbps.or(settings.host_limit_mbps);
    settings.switch_limit_mbps = story.switch_limit_mbps.unwrap_or(settings.switch_limit_mbps);
    settings.buffer = story.buffer.unwrap_or(settings.buffer);
    for event in &story.events {
        let change = Teller { world, file, event }.change(&mut carried.load.pattern)?;
        carried.scenes.push(Scene { at: event.at, change });
    }
    carried.scenes.sort_by_key(|scene| scene.at);
    Ok(carried)
}

/// One event, and its place in the file.
struct Teller<'a> {
    world: &'a World,
    file: &'a Path,
    event: &'a Event,
}

impl Teller<'_> {
    fn change(&self, pattern: &mut Pattern) -> Result<Change, SourceError> {
        Ok(match &self.event.what {
            Happens::Flow(line) => {
                // A flow without a rate gets the largest rate, which no link can carry.
                let mbps = line.mbps.unwrap_or(u32::MAX);
                Change::Pace { flow: self.flow(pattern, line)?, mbps }
            }
            Happens::Stop { from, to } => {
                let (from_port, to_port) = (self.port(from)?, self.port(to)?);
                let begun = |flow: &Flow| flow.from == from_port && flow.to == to_port;
                let flow = flows(pattern).and_then(|flows| flows.iter().position(begun));
                let flow =
                    flow.ok_or_else(|| self.wrong(format!("no flow from {from} to {to} has begun")))?;
                Change::Pace { flow, mbps: 0 }
            }
            Happens::Link { port, up } => Change::Link { at: self.plug(port)?, up: *up },
            Happens::Width { port, width } => Change::Width { at: self.plug(port)?, width: *width },
            Happens::Errors { port, per_minute } => {
                Change::Ail { at: self.plug(port)?, per_minute: *per_minute }
            }
            Happens::Answers { node, again } => Change::Silence { node: self.node(node)?, silent: !again },
            Happens::Route { engine: id } => {
                let known = engine(id).ok_or_else(|| self.wrong(format!("there is no engine '{id}'")))?;
                Change::Route { engine: known.id }
            }
        })
    }

    /// The index of a flow in the list. A new flow sends nothing before its time.
    fn flow(&self, pattern: &mut Pattern, line: &FlowLine) -> Result<usize, SourceError> {
        let (from, to) = (self.port(&line.from)?, self.port(&line.to)?);
        let list = flows(pattern);
        let list =
            list.ok_or_else(|| self.wrong("flows of a story stand beside no pattern but flows=".into()))?;
        let same = |flow: &Flow| (flow.from, flow.to, flow.level) == (from, to, line.level);
        if let Some(known) = list.iter().position(same) {
            return Ok(known);
        }
        list.push(Flow { level: line.level, mbps: Some(0), ..Flow::new(from, to) });
        Ok(list.len() - 1)
    }

    fn port(&self, text: &str) -> Result<PortId, SourceError> {
        self.world.end(text).ok_or_else(|| self.nobody(text))
    }

    fn plug(&self, text: &str) -> Result<(u32, u8), SourceError> {
        let port = self.fabric().port(self.port(text)?);
        Ok((port.node.0, port.number.value()))
    }

    fn node(&self, text: &str) -> Result<NodeId, SourceError> {
        self.world.seat(Some(text)).ok_or_else(|| self.nobody(text))
    }

    fn fabric(&self) -> &Fabric {
        self.world.fabric()
    }

    fn nobody(&self, text: &str) -> SourceError {
        SourceError::Name {
            code: "FD-4401",
            what: format!("{}: the simulated fabric has no node or port '{text}'", self.place()),
            hint: "give the name or GUID of a node, or NAME/PORT for one of its ports".into(),
        }
    }

    fn wrong(&self, what: String) -> SourceError {
        let hint = "docs/live.md says what a story can hold".into();
        SourceError::Name { code: "FD-5037", what: format!("{}: {what}", self.place()), hint }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.event.number)
    }
}

fn flows(pattern: &mut Pattern) -> Option<&mut Vec<Flow>> {
    match pattern {
        Pattern::Flows(flows) => Some(flows),
        _ => None,
    }
}
