//! Conversion of files into another format, with the effect of a plan if there is one.

use std::path::PathBuf;

use super::environment::Env;
use super::operation::Operation;
use super::plans::route_plan::findings_warning;
use super::plans::{plan_file, plan_snapshot};
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::system::access::{FormatOptions, FormatWriter, SystemAccess};
use fabdeck_change::Plan;
use fabdeck_fabric::{Lane, PortNum, ServiceLevel, Sl2Vl};
use fabdeck_files::path_bits::ID as PATH_BITS;
use fabdeck_mad::access::{ReadOptions, Source};

/// What to convert, and into which format.
pub struct ConversionRequest<'r> {
    /// Files of one fabric; one of them may be a plan.
    pub inputs: &'r [PathBuf],
    pub writer: &'r FormatWriter,
    pub options: FormatOptions,
    /// Whether the operator named a moment of a recording.
    pub has_moment: bool,
}

/// The converted fabric.
pub struct Conversion {
    pub snapshot: Snapshot,
    pub bytes: Vec<u8>,
    /// Warning about findings of the plan.
    pub warning: Option<String>,
}

/// Reads the inputs and writes them in the other format.
pub fn convert(
    operation: &mut Operation<'_>,
    request: &ConversionRequest<'_>,
) -> Result<Conversion, Failure> {
    let (plan, inputs) = split_off_plan(request.inputs)?;
    let mut snapshot = read_snapshot(operation, request, plan.as_ref(), &inputs)?;
    if let Some(how) = snapshot.path_bits_origin().filter(|_| request.writer.id == PATH_BITS) {
        operation.reporter.report_line(&format!("hosts pick LIDs {how}"));
    }
    let written = (request.writer.write)(&snapshot, &request.options)?;
    snapshot.observation.notes.extend(written.notes);
    Ok(Conversion { snapshot, bytes: written.bytes, warning: plan.as_ref().and_then(findings_warning) })
}

/// Finds the writer of a format among those that are allowed here.
pub fn find_writer<'o>(
    outside: &'o dyn SystemAccess,
    id: &str,
    is_allowed: impl Fn(&FormatWriter) -> bool,
) -> Result<&'o FormatWriter, Failure> {
    let writers = || outside.writers().iter().filter(|writer| is_allowed(writer));
    writers().find(|writer| writer.id == id).ok_or_else(|| {
        let words: Vec<&str> = writers().map(|writer| writer.id).collect();
        Failure::usage(format!("FD-7601: '{id}' cannot be written here; formats: {}", words.join(", ")))
    })
}

/// Separates the plan from the other inputs, by their content.
fn split_off_plan(inputs: &[PathBuf]) -> Result<(Option<Plan>, Vec<PathBuf>), Failure> {
    let (plans, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.iter().partition(|path| plan_file::is_plan(path));
    let plan = match plans.as_slice() {
        [] => None,
        [one] => Some(plan_file::read(one)?),
        [_, second, ..] => {
            let second = second.display();
            return Err(Failure::usage(format!("FD-7506: '{second}' is a second plan; give one at a time")));
        }
    };
    Ok((plan, others.into_iter().cloned().collect()))
}

/// Reads the fabric of the inputs; with a plan, the fabric after that plan.
fn read_snapshot(
    operation: &mut Operation<'_>,
    request: &ConversionRequest<'_>,
    plan: Option<&Plan>,
    inputs: &[PathBuf],
) -> Result<Snapshot, Failure> {
    let format = request.writer.id;
    let lanes = ["sl2vl", "slvl"].contains(&format);
    let tables = plan.is_some() || ["lfts", "fdbs"].contains(&format);
    let lanes_asked = lanes || plan.is_some_and(plan_file::plan_has_lanes);
    let wanted = ReadOptions {
        tables,
        lanes: lanes_asked,
        counters: format == "prometheus",
        ..ReadOptions::default()
    };
    let Some(plan) = plan else {
        let source = open_inputs(operation.env, request, inputs)?;
        return operation.read_snapshot_from(source, wanted);
    };
    let mut snapshot = match inputs {
        [] if operation.env.given.source.as_deref().is_none() => {
            return Err(Failure::usage(
                "FD-7505: a plan needs its fabric; give the fabric's files as inputs as well, or --source",
            ));
        }
        [] => operation.read_snapshot(wanted)?,
        inputs => {
            let source = open_inputs(operation.env, request, inputs)?;
            operation.read_snapshot_from(source, wanted)?
        }
    };
    plan_snapshot::apply_to_snapshot(operation, &mut snapshot, plan)?;
    // Where lanes change on the way, the plan writes the tables itself.
    if lanes && !plan.lanes.is_by_hop() {
        map_levels_to_lanes(&mut snapshot, plan.lanes.count);
    }
    Ok(snapshot)
}

/// Sets the SL2VL tables that a plan's lanes need: each service level on the lane of its number, the rest on lane 0.
fn map_levels_to_lanes(snapshot: &mut Snapshot, lanes: u8) {
    let mut row = Sl2Vl::default();
    for number in 0..u32::from(lanes) {
        if let (Some(level), Some(lane)) = (ServiceLevel::new(number), Lane::new(number)) {
            row.set(level, lane);
        }
    }
    let observation = &mut snapshot.observation;
    for (id, _) in observation.fabric.switches() {
        let cabled = observation.fabric.ports_of(id).filter(|(_, port)| port.peer.is_some());
        let ports: Vec<PortNum> = cabled.map(|(_, port)| port.number).collect();
        let held = observation.tables.node_mut(id);
        held.sl2vl.clear();
        for from in std::iter::once(PortNum::MANAGEMENT).chain(ports.iter().copied()) {
            held.sl2vl.extend(ports.iter().map(|to| ((from, *to), row)));
        }
    }
}

/// Opens the inputs. An input that is not a file is opened as `--source` opens it, and has to be the only one.
fn open_inputs(
    env: Env<'_>,
    request: &ConversionRequest<'_>,
    inputs: &[PathBuf],
) -> Result<Box<dyn Source>, Failure> {
    let words: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
    let no_file = |word: &String| !is_path(word);
    match words.as_slice() {
        // A capture has a past; any other single input reports that it has none.
        [word] if no_file(word) || request.has_moment => env.open_source(word),
        [_, _, ..] if request.has_moment => Err(Failure::usage(
            "FD-7507: --at needs one capture; several files are one fabric without earlier moments",
        )),
        words => match words.iter().find(|word| no_file(word)) {
            Some(word) => Err(Failure::usage(format!(
                "FD-7503: '{word}' is a complete fabric; give it as the only input"
            ))),
            None => Ok(env.outside.open_files(inputs)?),
        },
    }
}

/// Whether a source is written like a file or a folder.
pub fn is_path(word: &str) -> bool {
    !(word.starts_with("sim:") || word == "umad" || word.starts_with("umad:"))
}
