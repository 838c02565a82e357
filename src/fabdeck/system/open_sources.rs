//! Connects `--source`, the input of `convert`, `--tables`, `--node-name-map` and `--labels` to the readers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::access::SourceOptions;
use fabdeck_fabric::observe::{NotePlace, Notes, PolicyLevels};
use fabdeck_fabric::{Fabric, Guid, NameMap, Partitions, PortLabels, Tables, TorusDescription};
use fabdeck_files::capture::TimeSpec;
use fabdeck_files::content::{Content, GuidFile, PolicyFile};
use fabdeck_files::flows::{self, FlowLine};
use fabdeck_files::job_lists::{self, JobList};
use fabdeck_files::label_sheet;
use fabdeck_files::{dimension_ports, guids, torus_conf};
use fabdeck_live::{
    ExchangePolicy, FilesSource, HardwareReading, Keys, LiveOptions, LiveSurveyor, RefusalStore,
    SimulatorPool, read_as, read_content,
};
use fabdeck_mad::access::{InformToken, MadPort, ReadObserver, ReadPort, Source, SourceError, Surveyor};
use fabdeck_routing::{DimensionPorts, StoredTables};

pub fn open(
    text: &str,
    reach: &SourceOptions,
    (own, refusals): (Option<SimulatorPool>, Option<Arc<dyn RefusalStore>>),
) -> Result<Box<dyn Source>, SourceError> {
    match reach.at.as_deref().map(TimeSpec::parse).transpose()? {
        Some(at) => fabdeck_live::open_at(text, at),
        None => fabdeck_live::open(text, &LiveOptions { own, refusals, ..live_options(reach)? }),
    }
}

/// Opens the port of a live source, without a reader, and returns its M_Key too.
pub fn port(text: &str, reach: &SourceOptions) -> Result<(ReadPort, u64), SourceError> {
    let options = live_options(reach)?;
    let port = open_live_port(text, &options)?;
    let m_key = options.keys.key_for(port.local_port().guid);
    Ok((port, m_key))
}

/// Opens a live source to read switches and adapters.
pub fn surveyor(
    text: &str,
    reach: &SourceOptions,
    own: Option<SimulatorPool>,
) -> Result<Box<dyn Surveyor>, SourceError> {
    let options = LiveOptions { own, ..live_options(reach)? };
    let port = open_live_port(text, &options)?;
    Ok(Box::new(LiveSurveyor::new(text, port, options.policy, options.keys)))
}

/// Reads the raw answers of a live source.
pub fn read_hardware(
    text: &str,
    reach: &SourceOptions,
    own: Option<SimulatorPool>,
    watch: &mut dyn ReadObserver,
) -> Result<HardwareReading, SourceError> {
    fabdeck_live::read_hardware(text, &LiveOptions { own, ..live_options(reach)? }, watch)
}

fn open_live_port(text: &str, options: &LiveOptions) -> Result<ReadPort, SourceError> {
    fabdeck_live::open_port(text, options)?.ok_or_else(|| SourceError::Name {
        code: "FD-5038",
        what: format!("{text} is not a live fabric, so no request can be sent there"),
        hint: "give umad, or sim:SOCKET,at=NODE".into(),
    })
}

/// The options of a live source. Only this function reads the keys, and only the live source gets them.
pub fn live_options(reach: &SourceOptions) -> Result<LiveOptions, SourceError> {
    let usual = ExchangePolicy::default();
    let policy = ExchangePolicy {
        timeout: reach.timeout.unwrap_or(usual.timeout),
        retries: reach.retries.unwrap_or(usual.retries),
        drift_period: reach.drift_period.unwrap_or(usual.drift_period),
        ..usual
    };
    let keys = reach.mkey_file.as_deref().map(Keys::load).transpose()?.unwrap_or_default();
    let traps = InformToken::grant(reach.traps);
    Ok(LiveOptions { library: reach.library, policy, keys, traps, own: None, refusals: None })
}

pub fn open_files(files: &[PathBuf]) -> Result<Box<dyn Source>, SourceError> {
    let name = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ");
    Ok(Box::new(FilesSource::new(name, files.to_vec())))
}

pub fn tables(file: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError> {
    let (mut tables, mut notes) = (Tables::default(), Notes::new());
    match read_content(file).map_err(replace_source_hint)? {
        Content::Tables(read) => {
            read.apply_to(fabric, &mut tables, &mut notes);
            notes.extend(read.notes);
            Ok((tables, notes))
        }
        _ => Err(wrong_format(file, "a file of tables")),
    }
}

/// Reads forwarding tables, and the levels of paths, without a fabric to compare them with: an engine brings them onto
/// one.
pub fn stored_tables(file: &Path, levels: Option<&Path>) -> Result<(StoredTables, Notes), SourceError> {
    let Content::Tables(read) = read_content(file).map_err(replace_source_hint)? else {
        return Err(wrong_format(file, "a file of tables"));
    };
    let tables = read.sections.into_iter().filter_map(|section| Some((section.node, section.tables.lft?)));
    let mut stored = StoredTables { switches: tables.collect(), owners: read.owners, levels: None };
    let mut notes = read.notes;
    if stored.switches.is_empty() {
        return Err(wrong_format(file, "a file of forwarding tables"));
    }
    if let Some(file) = levels {
        match read_content(file).map_err(replace_source_hint)? {
            Content::Policy(PolicyFile { levels: PolicyLevels::ByPath(levels), notes: more }) => {
                stored.levels = Some(levels);
                notes.extend(more);
            }
            _ => return Err(wrong_format(file, "a list of the service levels of paths (psl)")),
        }
    }
    Ok((stored, notes))
}

pub fn dimension_ports(file: &Path) -> Result<DimensionPorts, SourceError> {
    read_as(file, dimension_ports::read).map(|read| read.switches).map_err(replace_source_hint)
}

/// Reads a list of GUIDs. The operator names the file as a list, so a wrong line is an error whatever format the file
/// has.
pub fn guids(file: &Path) -> Result<GuidFile, SourceError> {
    read_as(file, guids::read).map_err(replace_source_hint)
}

pub fn jobs(file: &Path) -> Result<JobList, SourceError> {
    read_as(file, job_lists::read).map_err(replace_source_hint)
}

pub fn torus(file: &Path) -> Result<TorusDescription, SourceError> {
    read_as(file, torus_conf::read).map_err(replace_source_hint)
}

pub fn flows(file: &Path) -> Result<Vec<FlowLine>, SourceError> {
    read_as(file, flows::read).map_err(replace_source_hint)
}

pub fn partitions(
    file: &Path,
    fabric: &Fabric,
    manager: Option<Guid>,
) -> Result<(Partitions, Notes), SourceError> {
    match read_content(file).map_err(replace_source_hint)? {
        Content::Partitions(mut read) => {
            let mut notes = std::mem::take(&mut read.notes);
            let partitions = read.bind_to(&file.display().to_string(), fabric, manager, &mut notes);
            Ok((partitions, notes))
        }
        _ => Err(wrong_format(file, "a partitions.conf of OpenSM")),
    }
}

pub fn names(file: &Path) -> Result<(NameMap, Notes), SourceError> {
    match read_content(file).map_err(replace_source_hint)? {
        Content::Names(read) => Ok((read.names, read.notes)),
        _ => Err(wrong_format(file, "a node-name-map")),
    }
}

pub fn labels(file: &Path) -> Result<(PortLabels, Notes), SourceError> {
    let read = read_as(file, label_sheet::read).map_err(replace_source_hint)?;
    Ok((PortLabels { sheet: read.sheet, ..PortLabels::default() }, read.notes))
}

/// Replaces a hint about sources, which does not help if the operator named another file.
fn replace_source_hint(error: SourceError) -> SourceError {
    match error {
        SourceError::Unreachable { code, what, hint } if hint.contains("sim:") => {
            SourceError::Unreachable { code, what, hint: "check the path".into() }
        }
        other => other,
    }
}

fn wrong_format(file: &Path, wanted: &str) -> SourceError {
    SourceError::Input {
        code: "FD-7702",
        place: NotePlace::line(file.display().to_string(), 1),
        what: format!("this is not {wanted}"),
        hint: "formats are recognised by content; docs/formats.md lists them".into(),
    }
}
