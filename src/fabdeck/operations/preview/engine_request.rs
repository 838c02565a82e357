//! The marks and options with which engines compute routes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::whatif::{drawn_words, mark_random, parse_marks};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::jobs::summary::note_judged_lids;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::operation::Operation;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{ElementError, ElementId, Faults, Guid, JobMap, PortNum};
use fabdeck_files::job_lists::{JobLine, JobList};
use fabdeck_files::jobs::{HostIndex, JobPlacement};
use fabdeck_routing::{DimensionPorts, LaneDependence, Request};

/// Elements that are marked as failed.
#[derive(Clone, Debug, Default)]
pub struct MarkRequest {
    pub elements: Vec<String>,
    /// Number of links between switches that are chosen at random by the seed.
    pub random: Option<usize>,
    pub seed: u64,
}

/// Options of the engines.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Largest number of lanes that routes may use.
    pub lanes: Option<u8>,
    /// Files with lists of nodes.
    pub roots: Option<PathBuf>,
    pub compute_nodes: Option<PathBuf>,
    pub io_nodes: Option<PathBuf>,
    /// File with the running jobs.
    pub jobs: Option<PathBuf>,
    /// File with the ports of switches in the order of dimensions.
    pub dimension_ports: Option<PathBuf>,
    /// File with the forwarding tables of the engine `file`.
    pub tables: Option<PathBuf>,
    /// File with the levels of paths beside those tables.
    pub levels: Option<PathBuf>,
    /// Whether hosts of that list that the fabric does not have are left out.
    pub skips_missing: bool,
    pub lanes_by: LaneDependence,
    /// File that describes the torus or mesh.
    pub torus: Option<PathBuf>,
    /// Whether paths are spread over lanes that are left empty.
    pub spread_lanes: bool,
    /// Whether `nue` makes its layers by search alone.
    pub plain_search: bool,
    /// Whether paths from and to switches are certified too.
    pub switches: bool,
    pub lanes_in_force: Option<LaneChoice>,
}

/// Reads the marks of a request. Reports marked ports that have no cable: their failure changes nothing.
pub fn read_faults(
    operation: &mut Operation<'_>,
    snapshot: &Snapshot,
    marks: &MarkRequest,
) -> Result<Faults, Failure> {
    let mut faults = operation.explain_missing(snapshot, parse_marks(snapshot, &marks.elements))?;
    operation.report_guessed_labels(snapshot, marks.elements.iter().map(String::as_str));
    let fabric = snapshot.fabric();
    for marked in faults.iter() {
        let ElementId::Port(port) = marked else { continue };
        // Port 0 of a switch needs no cable.
        if fabric.peer(port).is_none() && fabric.port(port).number != PortNum::MANAGEMENT {
            let name = snapshot.labelled_port_name(port);
            operation
                .reporter
                .report_line(&format!("port:{name} has no cable, so its failure affects no path"));
        }
    }
    if let Some(count) = marks.random {
        let drawn = mark_random(snapshot, &mut faults, count, marks.seed);
        if drawn < count {
            operation.reporter.report_line(&drawn_words(drawn, count));
        }
    }
    Ok(faults)
}

/// Options of the engines.
pub fn route_request(
    env: Env<'_>,
    snapshot: &mut Snapshot,
    options: &EngineOptions,
) -> Result<Request, Failure> {
    let mut list = |file: &Option<std::path::PathBuf>| match file {
        Some(file) => read_guids(env, snapshot, file),
        None => Ok(Vec::new()),
    };
    let (roots, compute_nodes, io_nodes) =
        (list(&options.roots)?, list(&options.compute_nodes)?, list(&options.io_nodes)?);
    if let Some(both) = compute_nodes.iter().find(|guid| io_nodes.contains(guid)) {
        return Err(Failure::usage(format!(
            "FD-7916: {both} is in both lists, --compute-nodes and --io-nodes; take it out of one"
        )));
    }
    let manager = snapshot.observation.subnet_manager.as_ref().map(|manager| manager.guid);
    let jobs = match &options.jobs {
        Some(file) => {
            let jobs = read_job_map(env, snapshot, file, options.skips_missing)?;
            note_judged_lids(snapshot);
            jobs
        }
        None => JobMap::default(),
    };
    let torus = match &options.torus {
        Some(file) => Some(Arc::new(env.outside.torus(file).map_err(Failure::from_list_error)?)),
        None => None,
    };
    let (jobs, lanes_by) = (Arc::new(jobs), options.lanes_by);
    let request =
        Request { roots, compute_nodes, io_nodes, jobs, lanes_by, torus, manager, ..Request::default() };
    let request = with_files(env, snapshot, options, request)?;
    Ok(request.with_lanes(options.lanes, env.given.supposed_lanes))
}

/// Adds what single engines read from files.
fn with_files(
    env: Env<'_>,
    snapshot: &mut Snapshot,
    options: &EngineOptions,
    request: Request,
) -> Result<Request, Failure> {
    let dimension_ports = match &options.dimension_ports {
        Some(file) => env.outside.dimension_ports(file).map_err(Failure::from_list_error)?,
        None => DimensionPorts::default(),
    };
    let tables = match &options.tables {
        Some(file) => {
            let (tables, notes) = env.outside.stored_tables(file, options.levels.as_deref())?;
            snapshot.observation.notes.extend(notes);
            Some(Arc::new(tables))
        }
        None => None,
    };
    let (plain_search, spread_lanes) = (options.plain_search, options.spread_lanes);
    let dimension_ports = Arc::new(dimension_ports);
    Ok(Request { dimension_ports, tables, plain_search, spread_lanes, ..request })
}

/// Reads a list of nodes. A node that the fabric does not have is a mistake, because no engine should silently ignore
/// it.
fn read_guids(env: Env<'_>, snapshot: &mut Snapshot, file: &Path) -> Result<Vec<Guid>, Failure> {
    let read = env.outside.guids(file).map_err(Failure::from_list_error)?;
    let wrong = |line: Option<u64>, what: &str| {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        Failure::new(Exit::BadInput, format!("{}{line}: {what}", file.display()))
    };
    if read.cut.is_some() {
        return Err(wrong(
            read.cut,
            "FD-7917: the file ends within this line, so the GUID may be incomplete; write all 16 digits, or end the line",
        ));
    }
    if read.guids.is_empty() {
        return Err(wrong(
            None,
            "FD-7918: there is no GUID in this list; leave the option out, or name some nodes",
        ));
    }
    let fabric = snapshot.fabric();
    let is_unknown = |(guid, _): &(&Guid, &u64)| {
        fabric.node_by_guid(**guid).is_none() && fabric.port_by_guid(**guid).is_none()
    };
    if let Some((guid, line)) = read.guids.iter().zip(&read.lines).find(is_unknown) {
        let what = format!("FD-7915: no node or port of this fabric has the GUID {guid}; correct the list");
        return Err(wrong(Some(*line), &what));
    }
    snapshot.observation.notes.extend(read.notes);
    Ok(read.guids)
}

/// Reads the jobs of `--jobs` as ports of their hosts. In a hand-written list, an unknown host is a mistake. Slurm lists
/// hosts that no fabric has, but a list without any known host belongs to another fabric.
pub fn read_job_map(
    env: Env<'_>,
    snapshot: &mut Snapshot,
    file: &Path,
    skips_missing: bool,
) -> Result<JobMap, Failure> {
    let list = env.outside.jobs(file).map_err(Failure::from_list_error)?;
    let placed = HostIndex::new(snapshot.fabric(), &snapshot.names).place_jobs(&list);
    if !list.is_from_slurm() && !skips_missing {
        check_hosts_exist(snapshot, &list, &placed, file)?;
    }
    if placed.is_on_other_fabric() {
        let what = format!("{}: FD-7904: {}", file.display(), placed.other_fabric_text());
        return Err(Failure::new(Exit::BadInput, what));
    }
    let place = NotePlace::file(file.display().to_string());
    snapshot.observation.notes.extend(placed.idle_note(&place));
    snapshot.observation.notes.extend(placed.notes(&place));
    Ok(placed.jobs)
}

/// Number of missing hosts that a message names with their lines.
const MAX_MISSING_NAMED: usize = 100;

/// Checks that the fabric has each host of a hand-written list; the message names all missing ones.
fn check_hosts_exist(
    snapshot: &Snapshot,
    list: &JobList,
    placed: &JobPlacement,
    file: &Path,
) -> Result<(), Failure> {
    let mut missing: Vec<&JobLine> = Vec::new();
    for line in &list.lines {
        let absent = placed.unknown.contains(&line.host) || placed.ambiguous.contains_key(&line.host);
        if absent && missing.iter().all(|other| other.host != line.host) {
            missing.push(line);
        }
    }
    let Some(first) = missing.first() else { return Ok(()) };
    let why = match missing.as_slice() {
        [one] => format!(
            "{}; correct the line, or leave the host out with --missing skip",
            absence_reason(snapshot, placed, one)
        ),
        all => {
            let each = all
                .iter()
                .take(MAX_MISSING_NAMED)
                .map(|line| format!("{} (line {})", line.host, line.number));
            let each: Vec<String> = each.collect();
            let more = match all.len().saturating_sub(MAX_MISSING_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{} hosts of the list are not in the fabric: {}{more}; correct the lines, or leave these hosts out with \
                 --missing skip",
                all.len(),
                each.join(", ")
            )
        }
    };
    let what = format!("{}:{}: FD-7903: {why}", file.display(), first.number);
    Err(Failure::new(Exit::BadInput, what))
}

/// Reason why a host of a list is not found in the fabric.
fn absence_reason(snapshot: &Snapshot, placed: &JobPlacement, line: &JobLine) -> String {
    match placed.ambiguous.get(&line.host) {
        Some(bearers) => format!("'{}' matches several hosts: {}", line.host, bearers.join(", ")),
        None => {
            let like = snapshot.names.similar_names(&line.host).into_iter().map(str::to_owned).collect();
            ElementError::Unknown { kind: "host", name: line.host.clone(), like }.to_string()
        }
    }
}
