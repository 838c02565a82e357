//! Opens a study: by the name of a built-in one, by its file, or by its folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::built_in_studies::{BUILT_IN_STUDIES, find_built_in};
use super::cell_plan::StudyPlan;
use super::result_record::ResultIndex;
use super::study_engine::{StudyEngine, read_files};
use super::study_file::{Study, TopologyEntry, read_study};
use super::study_folder::{SegmentReader, SegmentSummary, StudyFolder};
use super::study_row::StudyRow;
use super::study_status::{StudyStatus, study_status};
use super::study_text::StudyText;
use super::toml_table::StudyFault;
use super::topology::StudyTopology;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::operation::Operation;
use fabdeck_fabric::{similar_words, suggest};
use fabdeck_files::ibnetdiscover;
use fabdeck_mad::access::ReadOptions;

/// The study that is run where `--source` alone says what about.
pub const OWN_FABRIC_STUDY: &str = "next-failures";

/// A study with its folder.
pub struct OpenStudy {
    pub plan: StudyPlan,
    pub folder: StudyFolder,
}

/// The results of a folder, in the order of the study.
pub struct StudyTable {
    pub study: Study,
    /// The text of the study.
    pub text: String,
    pub rows: Vec<StudyRow>,
    /// The number of all cells.
    pub cells: u64,
    pub segments: SegmentSummary,
}

/// Opens a study to run it. `named` is a built-in one, a file, or a folder; `output` the folder of the results.
pub fn open_to_run(
    operation: &mut Operation<'_>,
    named: Option<&str>,
    output: Option<&Path>,
    update: bool,
) -> Result<OpenStudy, Failure> {
    let own = operation.env.given.source.is_some();
    let named = match named {
        Some(named) => named,
        None if own => OWN_FABRIC_STUDY,
        None => {
            let what = "FD-9410: no study is named; give the name of a built-in study (`study list`), a file, or the folder of a \
                 study; with --source the study may be left out";
            return Err(Failure::usage(what));
        }
    };
    let is_folder = Path::new(named).join("study.toml").is_file();
    let folder = match (output, is_folder) {
        (Some(output), _) => StudyFolder::new(output),
        (None, true) => StudyFolder::new(Path::new(named)),
        (None, false) => {
            return Err(Failure::usage("FD-9411: no folder is named for the results; give one with -o DIR"));
        }
    };
    let text = read_text(named, is_folder)?;
    let study = checked_study(&text)?;
    // All that the study names is read before anything is written, so that a mistake leaves no folder behind.
    let mut files = Vec::new();
    for (at, entry) in study.topologies.iter().enumerate() {
        files.extend(read_topology(operation, &folder, (at, entry), &text)?);
    }
    for entry in &study.engines {
        files.extend(read_files(&folder, entry, &text)?);
    }
    folder.prepare(&text.text, update)?;
    for (path, bytes) in files {
        folder.store_once(&path, &bytes)?;
    }
    let plan = plan_of_folder(operation.env, study, &folder)?;
    Ok(OpenStudy { plan, folder })
}

/// Opens the study of a folder.
pub fn open_folder(env: Env<'_>, path: &Path) -> Result<OpenStudy, Failure> {
    let folder = StudyFolder::new(path);
    let text = StudyText {
        name: path.join("study.toml").display().to_string(),
        text: folder.study_text()?,
        beside: path.to_owned(),
    };
    let plan = plan_of_folder(env, checked_study(&text)?, &folder)?;
    Ok(OpenStudy { plan, folder })
}

/// The text of a study that is shown: a built-in one, a file, or that of a folder.
pub fn study_text(named: &str) -> Result<String, Failure> {
    Ok(read_text(named, Path::new(named).join("study.toml").is_file())?.text)
}

fn read_text(named: &str, is_folder: bool) -> Result<StudyText, Failure> {
    if is_folder {
        let folder = StudyFolder::new(Path::new(named));
        let name = folder.path.join("study.toml").display().to_string();
        return Ok(StudyText { name, text: folder.study_text()?, beside: folder.path });
    }
    if let Some(study) = find_built_in(named) {
        return Ok(StudyText { name: named.to_owned(), text: study.text.to_owned(), beside: PathBuf::new() });
    }
    let file = Path::new(named);
    let text = fs::read_to_string(file).map_err(|error| {
        let names = || BUILT_IN_STUDIES.iter().map(|study| study.name);
        let meant = suggest(&similar_words(named, names()));
        let what = format!(
            "FD-9412: '{named}' is no built-in study{meant}, and no study file: {error}; `study list` lists the built-in ones"
        );
        Failure::new(Exit::BadInput, what)
    })?;
    let beside = file.parent().unwrap_or(Path::new("")).to_owned();
    Ok(StudyText { name: named.to_owned(), text, beside })
}

fn checked_study(text: &StudyText) -> Result<Study, Failure> {
    read_study(&text.text).map_err(|faults: Vec<StudyFault>| {
        Failure::of_all(Exit::BadInput, faults.iter().map(|fault| format!("{}:{fault}", text.name)))
    })
}

/// Reads a fabric that is not made by name, unless the folder has it: the first process reads it, and all others use what
/// it read. The result has the file in the folder and what belongs there.
fn read_topology(
    operation: &mut Operation<'_>,
    folder: &StudyFolder,
    (at, entry): (usize, &TopologyEntry),
    text: &StudyText,
) -> Result<Option<(PathBuf, Vec<u8>)>, Failure> {
    let stored = folder.topology_file(at);
    if matches!(entry, TopologyEntry::Named(_)) {
        return Ok(None);
    }
    if stored.is_file() {
        if matches!(entry, TopologyEntry::Source { .. }) && operation.env.given.source.is_some() {
            let line = format!(
                "the fabric is that of {}, not what --source names now; name another folder to read it again",
                stored.display()
            );
            operation.reporter.report_line(&line);
        }
        return Ok(None);
    }
    let (line, key) = match entry {
        TopologyEntry::File(file) => (file.line, "file"),
        TopologyEntry::Source { line } => (*line, "source"),
        TopologyEntry::Named(_) => (1, "name"),
    };
    let snapshot = read_fabric(operation, entry, &text.beside)
        .map_err(|failure| text.failure_at(line, (key, "[[topology]]"), failure))?;
    operation.conclude(&snapshot);
    let written = ibnetdiscover::write(snapshot.fabric(), None)
        .map_err(|error| Failure::new(Exit::BadInput, error.to_string()))?;
    Ok(Some((stored, written.text.into_bytes())))
}

fn read_fabric(
    operation: &mut Operation<'_>,
    entry: &TopologyEntry,
    beside: &Path,
) -> Result<Snapshot, Failure> {
    if let TopologyEntry::File(file) = entry {
        let source = operation.env.outside.open_files(&[beside.join(&file.value)])?;
        return operation.read_snapshot_from(source, ReadOptions::default()).map_err(|failure| {
            let exit = if failure.exit == Exit::Unreachable { Exit::BadInput } else { failure.exit };
            Failure { exit, ..failure }
        });
    }
    if operation.env.given.source.is_none() {
        return Err(Failure::usage(
            "FD-9413: the study is about a fabric of your own; name it with --source",
        ));
    }
    operation.read_snapshot(ReadOptions::default())
}

fn plan_of_folder(env: Env<'_>, study: Study, folder: &StudyFolder) -> Result<StudyPlan, Failure> {
    let mut topologies = Vec::new();
    for (at, entry) in study.topologies.iter().enumerate() {
        topologies.push(match entry {
            TopologyEntry::Named(spec) => StudyTopology::named(spec.clone()),
            TopologyEntry::File(file) => {
                let name = file.value.file_name().unwrap_or_default().to_string_lossy().into_owned();
                stored_topology(env, folder, at, &name)?
            }
            TopologyEntry::Source { .. } => stored_topology(env, folder, at, "source")?,
        });
    }
    let mut engines = Vec::new();
    for entry in &study.engines {
        engines.extend(StudyEngine::stored(env, entry, folder)?);
    }
    StudyPlan::new(study, topologies, engines).map_err(|why| Failure::new(Exit::BadInput, why))
}

fn stored_topology(
    env: Env<'_>,
    folder: &StudyFolder,
    at: usize,
    name: &str,
) -> Result<StudyTopology, Failure> {
    let file = folder.topology_file(at);
    let bytes = fs::read(&file).map_err(|error| {
        let what = format!(
            "FD-9414: {}: {error}; the folder lacks a fabric of its study: `study run` stores it",
            file.display()
        );
        Failure::new(Exit::BadInput, what)
    })?;
    let mut source = env.outside.open_files(std::slice::from_ref(&file))?;
    let observation = source.observe(ReadOptions::default(), &mut fabdeck_mad::access::NoObserver)?;
    let snapshot = env.snapshot_of(&file.display().to_string(), observation)?;
    Ok(StudyTopology::stored(name, &bytes, snapshot))
}

/// The state of a study.
pub fn read_status(env: Env<'_>, path: &Path) -> Result<StudyStatus, Failure> {
    let OpenStudy { plan, folder } = open_folder(env, path)?;
    let (mut reader, mut index) = (SegmentReader::new(&folder), ResultIndex::default());
    reader.refresh(&mut |json| index.add_json(json))?;
    let status = study_status(&plan, &index, reader.summary());
    let costs = if env.given.no_times { Vec::new() } else { status.costs };
    Ok(StudyStatus { costs, ..status })
}

/// The results of a study. Without times, a column that differs from run to run is empty.
pub fn read_table(env: Env<'_>, path: &Path) -> Result<StudyTable, Failure> {
    let OpenStudy { plan, folder } = open_folder(env, path)?;
    let (mut reader, mut index) = (SegmentReader::new(&folder), ResultIndex::default());
    reader.refresh(&mut |json| index.add_json(json))?;
    let cells = plan.groups.iter().flat_map(|group| &group.cells);
    let mut rows: Vec<StudyRow> =
        cells.filter_map(|cell| index.get(cell.id)).map(|known| known.row.clone()).collect();
    if env.given.no_times {
        rows.iter_mut().for_each(|row| row.route_seconds = None);
    }
    let cells = plan.cell_count() as u64;
    Ok(StudyTable { study: plan.study, text: folder.study_text()?, rows, cells, segments: reader.summary() })
}
