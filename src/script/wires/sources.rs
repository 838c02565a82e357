//! Ties `--source`, the input of `convert`, `--tables` and `--node-name-map` to what reads them.

use std::path::{Path, PathBuf};

use crate::access::{Source, SourceError};
use crate::fabric::{Fabric, NameMap, Tables};
use crate::files::content::Content;
use crate::files::text::Input;
use crate::files::{self, Format};
use crate::observe::{Notes, Observation};

use super::generated;

/// A look that is taken already.
struct Taken {
    name: String,
    observation: Observation,
}

impl Source for Taken {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(&mut self) -> Result<Observation, SourceError> {
        Ok(self.observation.clone())
    }
}

pub fn open(text: &str) -> Result<Box<dyn Source>, SourceError> {
    match text.strip_prefix("sim:") {
        Some(name) => Ok(Box::new(Taken { name: text.to_owned(), observation: generated::generate(name)? })),
        None => open_files(&[PathBuf::from(text)]),
    }
}

pub fn open_files(files: &[PathBuf]) -> Result<Box<dyn Source>, SourceError> {
    let mut observation = Observation::default();
    for file in files {
        match read(file)? {
            Content::Topology(topology) => {
                let topology = *topology;
                observation.fabric = topology.fabric;
                observation.time = topology.time;
                observation.subnet_manager = topology.subnet_manager;
                observation.counters = topology.counters;
                observation.notes.extend(topology.notes);
            }
            Content::Names(names) => {
                observation.names = names.names;
                observation.notes.extend(names.notes);
            }
            _ => return Err(unfit(file, "a topology")),
        }
    }
    let name = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ");
    Ok(Box::new(Taken { name, observation }))
}

pub fn tables(file: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError> {
    let Content::Tables(read) = read(file)? else { return Err(unfit(file, "forwarding tables")) };
    let mut tables = Tables::default();
    for section in read.sections {
        if let Some(node) = fabric.node_by_guid(section.node) {
            *tables.entry(node) = section.tables;
        }
    }
    Ok((tables, read.notes))
}

pub fn names(file: &Path) -> Result<(NameMap, Notes), SourceError> {
    match read(file)? {
        Content::Names(read) => Ok((read.names, read.notes)),
        _ => Err(unfit(file, "a node-name-map")),
    }
}

fn read(file: &Path) -> Result<Content, SourceError> {
    let name = file.display().to_string();
    let bytes = bytes(file).map_err(|error| SourceError::Unreachable {
        code: "FD-7701",
        what: format!("{name} cannot be read: {error}"),
        hint: "check the path and its rights".into(),
    })?;
    let format: &Format = files::detect(&bytes).ok_or_else(|| unfit(file, "a file of a known format"))?;
    Ok((format.read)(Input::new(&name, &bytes))?)
}

fn bytes(file: &Path) -> std::io::Result<Vec<u8>> {
    if file.as_os_str() != "-" {
        return std::fs::read(file);
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
    Ok(bytes)
}

fn unfit(file: &Path, wanted: &str) -> SourceError {
    SourceError::Input {
        code: "FD-7702",
        place: crate::observe::Place::line(file.display().to_string(), 1),
        what: format!("this is not {wanted}"),
        hint: "the format is told by content; `fabdeck sources` lists what is known here".into(),
    }
}
