//! The cells of a study: every topology with every number of failures, seed, engine, number of lanes and measure. A cell is
//! named by the hash of its canonical text, so that equal cells of several studies, shards and machines have one name.
//!
//! ```text
//! fabdeck.study-cell/1 generator=1 engine=1 simulator=1
//! topology=kary,k=16,n=2
//! failures=switches:0,links:2 seed=3
//! engine=dfsssp lanes=8
//! measure=exchange message=10 seed=1 time=2000000000
//! payload=2048 buffer=8192 output-buffer=0 flight=43 forwarding=100 host-limit=28800 hops=2000000000
//! ```
//!
//! What does not matter for a cell is not in its text: keys of an engine that are not set, the seed without failures, the lanes of an engine that uses one, the
//! revision and the settings of the simulator without packets.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use super::measure_kind::MeasureKind;
use super::study_engine::StudyEngine;
use super::study_file::{FailurePoint, LinkFailures, Study, StudySettings};
use super::study_values::FailureAmount;
use super::topology::StudyTopology;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::generate::{FailureCounts, GENERATOR_REVISION};
use fabdeck_routing::{ENGINE_REVISION, Engine, Request, suitable_engines};
use fabdeck_simulator::traffic::TRAFFIC_REVISION;

/// The revisions of generator, engines and simulator, which cells are named by.
pub fn revisions() -> String {
    format!("{GENERATOR_REVISION}.{ENGINE_REVISION}.{TRAFFIC_REVISION}")
}

/// The name of a cell: the beginning of the hash of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CellId(pub u64);

impl CellId {
    fn of_text(text: &str) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(text.as_bytes()).as_bytes();
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }

    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl std::fmt::Display for CellId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// One measure of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StudyCell {
    pub id: CellId,
    pub measure: MeasureKind,
    pub traffic_seed: Option<u64>,
}

/// Cells that share forwarding tables. A shard runs whole groups.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// The position of the topology in the study.
    pub topology: usize,
    pub failures: FailureCounts,
    /// `None` without failures.
    pub seed: Option<u64>,
    pub engine: &'static Engine,
    pub lanes: u8,
    pub request: Arc<Request>,
    pub cells: Vec<StudyCell>,
    hash: u64,
    /// What the texts of its cells begin with.
    text: String,
}

/// A part of a study, for one of several processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    pub index: u32,
    pub count: u32,
}

impl Shard {
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Parses `I/N`, with I from 0 to N-1.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "write I/N with I from 0 to N-1, as in 0/4".to_owned();
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let shard = Self { index: number(index)?, count: number(count)? };
        (shard.index < shard.count).then_some(shard).ok_or_else(wrong)
    }

    pub fn has(self, group: &CellGroup) -> bool {
        group.hash % u64::from(self.count) == u64::from(self.index)
    }
}

/// A study with its cells, in the order in which they run and are listed.
#[derive(Debug)]
pub struct StudyPlan {
    pub study: Study,
    pub topologies: Vec<StudyTopology>,
    /// The engines of the study; none stands for all that suit a topology.
    engines: Vec<StudyEngine>,
    pub groups: Vec<CellGroup>,
    /// The number of all cells, also where only some of them are to run.
    all_cells: usize,
}

impl StudyPlan {
    /// Lists the cells. `topologies` and `engines` are those of the study, in its order.
    pub fn new(
        study: Study,
        topologies: Vec<StudyTopology>,
        engines: Vec<StudyEngine>,
    ) -> Result<Self, String> {
        let mut plan = Self { study, topologies, engines, groups: Vec::new(), all_cells: 0 };
        let mut known = BTreeSet::new();
        for at in 0..plan.topologies.len() {
            let groups = plan.groups_of_topology(at, &mut known)?;
            plan.groups.extend(groups);
        }
        plan.all_cells = plan.groups.iter().map(|group| group.cells.len()).sum();
        Ok(plan)
    }

    fn groups_of_topology(&self, at: usize, known: &mut BTreeSet<u64>) -> Result<Vec<CellGroup>, String> {
        let (study, topology) = (&self.study, &self.topologies[at]);
        let fabric = OnDemand::new(topology);
        let engines = match self.engines.is_empty() {
            false => self.engines.clone(),
            true => {
                let suitable = suitable_engines(fabric.snapshot()?.fabric(), &Request::default());
                suitable.iter().map(|engine| StudyEngine::usual(engine, &study.lanes)).collect()
            }
        };
        let mut groups = Vec::new();
        for point in &study.failures {
            let failures = resolve_failures(point, &fabric)?;
            let seeds: Vec<Option<u64>> = match failures == FailureCounts::default() {
                true => vec![None],
                false => point.seeds.seeds().map(Some).collect(),
            };
            for seed in seeds {
                for (entry, lanes) in
                    engines.iter().flat_map(|entry| entry.lanes.iter().map(move |l| (entry, *l)))
                {
                    let StudyEngine { engine, request, .. } = entry;
                    let lanes = if engine.uses.lanes { lanes } else { 1 };
                    let text = group_text(&topology.text, failures, seed, (engine.id, lanes, &entry.text));
                    let hash = CellId::of_text(&text).0;
                    let cells = self.cells_of_group(&text, seed);
                    if !cells.is_empty() && known.insert(hash) {
                        let request = Arc::clone(request);
                        groups.push(CellGroup {
                            topology: at,
                            failures,
                            seed,
                            engine,
                            lanes,
                            request,
                            cells,
                            hash,
                            text,
                        });
                    }
                }
            }
        }
        Ok(groups)
    }

    fn cells_of_group(&self, group: &str, seed: Option<u64>) -> Vec<StudyCell> {
        let mut cells: Vec<StudyCell> = Vec::new();
        for measure in &self.study.measures {
            if seed.is_some_and(|seed| measure.seeds.is_some_and(|seeds| !seeds.contains(seed))) {
                continue;
            }
            let traffic_seeds: Vec<Option<u64>> = match measure.kind.is_simulated() {
                true => measure.traffic_seeds.seeds().map(Some).collect(),
                false => vec![None],
            };
            for traffic_seed in traffic_seeds {
                let text = cell_text(group, measure.kind, traffic_seed, &self.study.settings);
                let id = CellId::of_text(&text);
                if cells.iter().all(|cell| cell.id != id) {
                    cells.push(StudyCell { id, measure: measure.kind, traffic_seed });
                }
            }
        }
        cells
    }

    /// The canonical text of a cell.
    pub fn text_of(&self, group: &CellGroup, cell: &StudyCell) -> String {
        cell_text(&group.text, cell.measure, cell.traffic_seed, &self.study.settings)
    }

    pub fn cell_count(&self) -> usize {
        self.all_cells
    }
}

/// The fabric of a topology, made when it is first asked for.
struct OnDemand<'t> {
    topology: &'t StudyTopology,
    made: std::cell::OnceCell<Result<Arc<Snapshot>, String>>,
}

impl<'t> OnDemand<'t> {
    fn new(topology: &'t StudyTopology) -> Self {
        Self { topology, made: std::cell::OnceCell::new() }
    }

    fn snapshot(&self) -> Result<Arc<Snapshot>, String> {
        self.made.get_or_init(|| self.topology.load()).clone()
    }
}

fn resolve_failures(point: &FailurePoint, fabric: &OnDemand<'_>) -> Result<FailureCounts, String> {
    let resolve = |amount: FailureAmount, total: fn(FailureCounts) -> u32| match amount {
        FailureAmount::Count(count) => Ok(count),
        share => {
            Ok::<u32, String>(share.resolve(total(FailureCounts::of_fabric(fabric.snapshot()?.fabric()))))
        }
    };
    let switches = resolve(point.switches, |all| all.switches)?;
    let links = match point.links {
        LinkFailures::Amount(amount) => resolve(amount, |all| all.links)?,
        LinkFailures::PerSwitch(ratio) => switches.saturating_mul(ratio),
    };
    Ok(FailureCounts { switches, links })
}

fn group_text(
    topology: &str,
    failures: FailureCounts,
    seed: Option<u64>,
    (engine, lanes, keys): (&str, u8, &str),
) -> String {
    let FailureCounts { switches, links } = failures;
    let seed = seed.map_or_else(String::new, |seed| format!(" seed={seed}"));
    format!(
        "topology={topology}\nfailures=switches:{switches},links:{links}{seed}\nengine={engine} lanes={lanes}{keys}\n"
    )
}

fn cell_text(group: &str, measure: MeasureKind, seed: Option<u64>, settings: &StudySettings) -> String {
    let simulator = match measure.is_simulated() {
        true => format!(" simulator={TRAFFIC_REVISION}"),
        false => String::new(),
    };
    let mut text = format!(
        "fabdeck.study-cell/1 generator={GENERATOR_REVISION} engine={ENGINE_REVISION}{simulator}\n{group}measure={}",
        measure.word()
    );
    // Writing to a String cannot fail.
    let _ = match measure {
        MeasureKind::Routes | MeasureKind::Loads | MeasureKind::Lost => Ok(()),
        MeasureKind::Exchange { message, shifts } => {
            let shifts = shifts.map_or_else(String::new, |shifts| format!(" shifts={shifts}"));
            write!(text, " message={message}{shifts} time={}", settings.time_ns)
        }
        MeasureKind::Pattern { time_ns, until_steady, load, spread, .. } => {
            let spread = spread.map_or_else(|| "-".to_owned(), |lanes| lanes.to_string());
            write!(text, " time={time_ns} until-steady={until_steady} load={load} spread={spread}")
        }
    };
    text.push('\n');
    if let Some(seed) = seed {
        let _ = writeln!(text, "{} seed={seed}", settings_text(settings));
    }
    text
}

fn settings_text(settings: &StudySettings) -> String {
    let traffic = &settings.traffic;
    let limit = traffic.host_limit_mbps.map_or_else(|| "-".to_owned(), |mbps| mbps.to_string());
    format!(
        "payload={} buffer={} output-buffer={} flight={} forwarding={} host-limit={limit} hops={}",
        traffic.payload,
        traffic.buffer,
        traffic.output_buffer,
        traffic.flight.as_nanos(),
        traffic.forwarding.as_nanos(),
        settings.hops
    )
}
