//! What each engine would make of the marked fabric.

use std::path::PathBuf;
use std::time::Instant;

use super::assume::assume_lids;
use super::choice_loss::{ChoiceLoss, count_choice_loss};
use super::engine_request::{EngineOptions, MarkRequest, read_faults, route_request};
use super::mark_loss::count_mark_loss;
use super::path_preview::Preview;
use super::victims::{HostNames, Victims};
use super::whatif::{EngineRow, MarkLoss, ProposalOptions, propose};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::known_partitions::{KnownPartitions, add_partitions};
use crate::operations::check::loads::{JobFigures, job_figures_in_force};
use crate::operations::lanes::lanes_in_force::{LaneReading, read_snapshot, read_snapshot_without_lanes};
use crate::operations::operation::Operation;
use fabdeck_fabric::Faults;
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::{Engine, find_engine, suitable_engines};

/// The engine that takes the tables of a file.
const TABLES_ENGINE: &str = "file";

/// The engines to compare on a marked fabric.
pub struct PreviewRequest {
    pub marks: MarkRequest,
    pub options: EngineOptions,
    /// The engines; none stands for all that suit the fabric, and for the tables of a file where the options have some.
    pub engines: Vec<&'static Engine>,
    /// File of partitions; none stands for the P_Key tables of ports.
    pub partitions: Option<PathBuf>,
    /// Number of failed links whose mean loss is compared with that of the marks.
    pub expected: Option<usize>,
    /// How the hosts that the marks hit are named.
    pub names: HostNames,
}

/// The engines compared.
pub struct EnginePreview {
    pub snapshot: Snapshot,
    pub faults: Faults,
    /// What is known of partitions; the snapshot has them where they keep a pair apart.
    pub partitions: KnownPartitions,
    pub loss: MarkLoss,
    /// The loss over all choices of adaptive routing, where switches have any.
    pub choices: Option<ChoiceLoss>,
    pub victims: Victims,
    /// Figures of the jobs under the tables in force.
    pub jobs: Option<JobFigures>,
    pub engines: Vec<EngineRow>,
}

/// Reads the fabric, marks elements as failed, and runs the engines.
pub fn preview_engines(
    operation: &mut Operation<'_>,
    PreviewRequest { marks, options, engines, partitions, expected, names }: &PreviewRequest,
) -> Result<EnginePreview, Failure> {
    let wanted = ReadOptions {
        tables: true,
        multicast: true,
        partitions: partitions.is_none(),
        ..ReadOptions::default()
    };
    // Without an option only tables are read, because lane tables take many times longer and the costs are wanted at
    // once.
    let (mut snapshot, in_force) = match options.lanes_in_force {
        None => read_snapshot_without_lanes(operation, wanted)?,
        choice => read_snapshot(operation, wanted, LaneReading { choice, switches: options.switches })?,
    };
    let faults = read_faults(operation, &snapshot, marks)?;
    let request = route_request(operation.env, &mut snapshot, options)?;
    let tables = snapshot.observation.tables.clone();
    let has_tables = tables.has_forwarding();
    if !has_tables {
        assume_lids(&mut snapshot);
    }
    let partitions = add_partitions(operation, partitions.as_deref(), options.switches, &mut snapshot)?;
    let (loss, hit) = match has_tables {
        true => {
            let preview = Preview::with_marks(&snapshot, &tables, &faults)?;
            (MarkLoss::Counted(Box::new(preview.cost(*expected))), preview.hit_hosts(&snapshot))
        }
        false => count_mark_loss(&snapshot, None, &faults),
    };
    let choices = operation
        .run_with_progress("choices", |progress| count_choice_loss(&snapshot, &tables, &faults, progress))?;
    let known_jobs = (!request.jobs.is_empty()).then_some(&*request.jobs);
    let victims = hit.victims(&snapshot, known_jobs, *names);
    let jobs = job_figures_in_force(&snapshot, &tables, &faults, &request.jobs);
    let engines = match engines.as_slice() {
        [] => {
            let file = find_engine(TABLES_ENGINE).filter(|_| request.tables.is_some());
            suitable_engines(snapshot.fabric(), &request).into_iter().chain(file).collect()
        }
        named => named.to_vec(),
    };
    let times = !operation.env.given.no_times;
    let rows = engines.iter().map(|engine| {
        let begun = Instant::now();
        let asked = ProposalOptions { request: &request, switches: options.switches, sent: in_force.sent() };
        let outcome = operation.run_with_progress(engine.id, |progress| {
            propose(&snapshot, &tables, &faults, engine, asked, progress)
        });
        let row = EngineRow::new(engine.id, outcome.as_ref(), times.then(|| begun.elapsed().as_secs_f64()));
        if has_tables { row } else { row.without_tables() }
    });
    let engines = rows.collect();
    Ok(EnginePreview { snapshot, faults, partitions, loss, choices, victims, jobs, engines })
}
