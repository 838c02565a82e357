//! What a repair of cabling does to routes: how many paths cross the cable now, and what the engine whose tables are in force
//! makes of the repaired fabric. What is not known is said to be not known, with the reason.

use std::sync::Arc;

use super::cable_end::CableEnd;
use super::finding::{CableFault, CablingFinding};
use super::present_cables::node_of;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::whatif::routes_in_force;
use fabdeck_fabric::{Fabric, FabricBuilder, Faults, NodeKind, PortNum, PortState, Routes};
use fabdeck_routing::analysis::PathIndex;
use fabdeck_routing::difference::RouteDifference;
use fabdeck_routing::{Engine, NoProgress, Problem, Request, RouteProgress, find_engine};

/// Most switches of a fabric whose engine is looked for by running all that suit it.
const MAX_SWITCHES: usize = 256;
/// Most findings whose repair an engine is run for.
const MAX_RUNS: usize = 32;

/// The paths over the cables of a finding under the tables in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathsNow {
    /// Number of paths between hosts over cables between switches.
    Between(u64),
    /// A cable of a host: all of its paths.
    OfHost,
    /// No wrong cable is there.
    NoCable,
    Unknown(&'static str),
}

/// What the engine in force makes of the repaired fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineEffect {
    Same,
    Changed { entries: u64, switches: u64 },
    Unknown(String),
}

/// What a repair does to routes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepairEffect {
    pub paths: PathsNow,
    pub engine: EngineEffect,
}

impl PathsNow {
    pub fn words(&self) -> String {
        match self {
            Self::Between(0) => "no path crosses it now".to_owned(),
            Self::Between(1) => "1 path crosses it now".to_owned(),
            Self::Between(paths) => {
                let paths =
                    fabdeck_fabric::observe::digits_in_groups(usize::try_from(*paths).unwrap_or(usize::MAX));
                format!("{paths} paths cross it now")
            }
            Self::OfHost => "all paths of its host cross it now".to_owned(),
            Self::NoCable => "no path crosses it now".to_owned(),
            Self::Unknown(why) => format!("paths not known: {why}"),
        }
    }

    /// Whether the tables in force lead over the cable; `None` where that is not known.
    pub fn is_used(&self) -> Option<bool> {
        match self {
            Self::Between(paths) => Some(*paths > 0),
            Self::OfHost => Some(true),
            Self::NoCable => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// The engine in force and its routes, or why it is not known.
type EngineInForce = Result<(&'static Engine, Arc<Routes>), String>;

/// What is known of the routes of a fabric.
#[derive(Debug)]
pub struct RoutesInForce<'r> {
    look: &'r Snapshot,
    paths: Option<Arc<PathIndex>>,
    named: Option<&'static Engine>,
    /// The engine in force, once a finding needed it.
    engine: Option<EngineInForce>,
    runs: usize,
}

fn request(look: &Snapshot) -> Request {
    Request { manager: look.manager(), ..Request::default() }
}

/// The routes that an engine makes of a fabric.
fn run(
    look: &Snapshot,
    fabric: &Fabric,
    engine: &Engine,
    progress: &dyn RouteProgress,
) -> Result<Routes, String> {
    let faults = Faults::new();
    let problem = Problem::new(fabric, &faults);
    let answer = (engine.route)(&problem, &request(look), progress);
    answer.map(|answer| answer.routes).map_err(|refusal| format!("{}: {refusal}", engine.id))
}

impl<'r> RoutesInForce<'r> {
    pub fn new(look: &'r Snapshot, named: Option<&'static Engine>) -> Self {
        let tables = &look.observation.tables;
        let paths = tables.has_forwarding().then(|| Preview::new(look, tables, &NoProgress).ok()).flatten();
        let named = named.or_else(|| find_engine(look.assumed?));
        Self { look, paths: paths.map(|preview| Arc::clone(preview.paths())), named, engine: None, runs: 0 }
    }

    /// The engine in force: the one that is named or assumed, else the one that makes exactly these tables.
    fn find_engine(&mut self, progress: &dyn RouteProgress) -> EngineInForce {
        let Self { look, named, .. } = *self;
        let find = || match named {
            Some(engine) => {
                run(look, look.fabric(), engine, progress).map(|routes| (engine, Arc::new(routes)))
            }
            None => find_engine_in_force(look, progress),
        };
        self.engine.get_or_insert_with(find).clone()
    }

    /// The engine in force, where a finding needed it and it is known.
    pub fn known_engine(&self) -> Option<&'static Engine> {
        self.engine.as_ref()?.as_ref().ok().map(|(engine, _)| *engine)
    }

    /// What the repair of a finding does to routes.
    pub fn effect(&mut self, finding: &CablingFinding, progress: &dyn RouteProgress) -> RepairEffect {
        RepairEffect { paths: self.paths_now(finding), engine: self.engine_effect(finding, progress) }
    }

    fn paths_now(&self, finding: &CablingFinding) -> PathsNow {
        let Some(paths) = &self.paths else {
            return PathsNow::Unknown("the source has no forwarding tables (--assume ENGINE)");
        };
        let (mut sum, mut is_there) = (0, false);
        for link in finding.cables.iter().filter(|cable| !cable.is_down).filter_map(|cable| cable.link) {
            is_there = true;
            match paths.load_of(link) {
                Some([there, back]) => sum += there + back,
                None => return PathsNow::OfHost,
            }
        }
        if is_there { PathsNow::Between(sum) } else { PathsNow::NoCable }
    }

    fn engine_effect(&mut self, finding: &CablingFinding, progress: &dyn RouteProgress) -> EngineEffect {
        // Engines look at which port leads where, and not at the rate of a cable.
        if finding.cables.iter().all(|cable| cable.planned == cable.found) {
            return EngineEffect::Same;
        }
        if self.runs >= MAX_RUNS {
            return EngineEffect::Unknown(format!("an engine is run for the first {MAX_RUNS} findings"));
        }
        let repaired = match repaired_fabric(self.look.fabric(), &finding.cables) {
            Ok(fabric) => fabric,
            Err(why) => return EngineEffect::Unknown(why.to_owned()),
        };
        let (engine, before) = match self.find_engine(progress) {
            Ok(known) => known,
            Err(why) => return EngineEffect::Unknown(why),
        };
        self.runs += 1;
        match run(self.look, &repaired, engine, progress) {
            Ok(after) => {
                let faults = Faults::new();
                let problem = Problem::new(&repaired, &faults);
                let RouteDifference { entries, switches, .. } =
                    RouteDifference::between(&problem, &before, &after);
                if entries == 0 { EngineEffect::Same } else { EngineEffect::Changed { entries, switches } }
            }
            Err(why) => EngineEffect::Unknown(why),
        }
    }
}

/// The engine that makes exactly the tables in force.
fn find_engine_in_force(look: &Snapshot, progress: &dyn RouteProgress) -> EngineInForce {
    let tables = &look.observation.tables;
    if !tables.has_forwarding() {
        return Err("the source has no forwarding tables (--engine ENGINE, --assume ENGINE)".to_owned());
    }
    if look.fabric().switch_count() > MAX_SWITCHES {
        return Err(format!(
            "the engine of more than {MAX_SWITCHES} switches is not looked for (--engine ENGINE)"
        ));
    }
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    let in_force = routes_in_force(look, tables, &faults);
    for engine in look.suitable_engines() {
        let Ok(routes) = run(look, look.fabric(), engine, progress) else { continue };
        if RouteDifference::between(&problem, &in_force, &routes).entries == 0 {
            return Ok((engine, Arc::new(routes)));
        }
    }
    Err("no engine of fabdeck makes the tables in force (--engine ENGINE)".to_owned())
}

/// The fabric with the cables of a finding as they are planned.
fn repaired_fabric(fabric: &Fabric, cables: &[CableFault]) -> Result<Fabric, &'static str> {
    const NO_DEVICE: &str = "a device of the plan is not in the fabric";
    let mut builder = FabricBuilder::from_fabric(fabric);
    let place = |end: CableEnd| -> Result<(NodeKind, fabdeck_fabric::Guid, PortNum), &'static str> {
        let node = node_of(fabric, end.device).ok_or(NO_DEVICE)?;
        let facts = &fabric.node(node).facts;
        Ok((facts.kind, facts.guid, PortNum::new(u32::from(end.port)).ok_or(NO_DEVICE)?))
    };
    for [a, _] in cables.iter().filter_map(|cable| cable.found) {
        let (kind, guid, port) = place(a)?;
        let key = builder.find(kind, guid).ok_or(NO_DEVICE)?;
        builder.disconnect(key, port);
    }
    for planned in cables.iter().filter_map(|cable| cable.planned) {
        let mut keys = Vec::new();
        for end in planned {
            let (kind, guid, port) = place(end)?;
            let key = builder.find(kind, guid).ok_or(NO_DEVICE)?;
            let facts = builder.port(key, port);
            facts.state = facts.state.map(|_| PortState::Active);
            keys.push((key, port));
        }
        let connected = builder.connect(keys[0], keys[1]);
        connected.map_err(|_| "another wrong cable is in a port that the plan needs")?;
    }
    Ok(builder.finish())
}
