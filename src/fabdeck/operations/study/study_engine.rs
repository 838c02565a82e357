//! The engines of a study, with what a table `[engines.NAME]` asks of one besides its lanes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::study_file::EngineEntry;
use super::study_folder::StudyFolder;
use super::study_text::StudyText;
use super::toml_table::Lined;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_routing::{Engine, Request, RequestUse, find_engine};

/// A file that an engine reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EngineFile {
    /// Forwarding tables, for `file`.
    Tables,
    /// The levels of paths beside these tables.
    Levels,
    /// The torus or mesh that the fabric is.
    Torus,
    /// The ports of switches in the order of dimensions.
    DimensionPorts,
}

impl EngineFile {
    pub const ALL: [Self; 4] = [Self::Tables, Self::Levels, Self::Torus, Self::DimensionPorts];

    /// The key in a study.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Levels => "levels",
            Self::Torus => "torus",
            Self::DimensionPorts => "dimension_ports",
        }
    }

    fn is_used_by(self, uses: &RequestUse) -> bool {
        match self {
            Self::Tables | Self::Levels => uses.tables,
            Self::Torus => uses.torus,
            Self::DimensionPorts => uses.dimension_ports,
        }
    }
}

/// What a study asks of an engine. Files are relative to the study.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EngineKeys {
    pub plain_search: bool,
    pub spread_lanes: bool,
    pub files: Vec<(EngineFile, Lined<PathBuf>)>,
}

impl EngineKeys {
    /// The keys that this engine has no use for.
    pub fn useless(&self, engine: &Engine) -> Vec<&'static str> {
        let uses = &engine.uses;
        let flags = [
            ("plain_search", self.plain_search && !uses.plain_search),
            ("spread_lanes", self.spread_lanes && !uses.spread_lanes),
        ];
        let flags = flags.into_iter().filter(|(_, useless)| *useless).map(|(key, _)| key);
        let files = self.files.iter().filter(|(file, _)| !file.is_used_by(uses));
        flags.chain(files.map(|(file, _)| file.key())).collect()
    }
}

/// An engine as the cells of a study use it.
#[derive(Clone, Debug)]
pub struct StudyEngine {
    pub engine: &'static Engine,
    pub lanes: Vec<u8>,
    pub request: Arc<Request>,
    /// What the text of a cell says of the request; empty for the usual one.
    pub text: String,
}

impl StudyEngine {
    /// An engine without keys of its own.
    pub fn usual(engine: &'static Engine, lanes: &[u8]) -> Self {
        Self { engine, lanes: lanes.to_vec(), request: Arc::default(), text: String::new() }
    }

    /// An engine with its keys, without their files. The reader of studies refuses names of no engine.
    pub fn new(entry: &EngineEntry) -> Option<Self> {
        let EngineKeys { plain_search, spread_lanes, .. } = entry.keys;
        let words = [(plain_search, " plain-search"), (spread_lanes, " spread-lanes")];
        let text = words.into_iter().filter(|(set, _)| *set).map(|(_, word)| word).collect();
        let request = Arc::new(Request { plain_search, spread_lanes, ..Request::default() });
        Some(Self { engine: find_engine(entry.id)?, lanes: entry.lanes.clone(), request, text })
    }

    /// The same with the files that the folder of the study stores.
    pub fn stored(env: Env<'_>, entry: &EngineEntry, folder: &StudyFolder) -> Result<Option<Self>, Failure> {
        let Some(mut engine) = Self::new(entry) else { return Ok(None) };
        let files = || entry.keys.files.iter().map(|(file, _)| *file);
        let path_of =
            |wanted| files().find(|file| *file == wanted).map(|file| folder.engine_file(entry.id, file));
        for file in files() {
            let hash = blake3::hash(&read(&folder.engine_file(entry.id, file))?).to_hex();
            engine.text.push_str(&format!(" {}={}", file.key(), &hash[..16]));
        }
        let mut request = Request::clone(&engine.request);
        if let Some(path) = path_of(EngineFile::Tables) {
            let levels = path_of(EngineFile::Levels);
            // Tables without the levels of paths have one lane.
            if levels.is_none() {
                engine.lanes = vec![1];
            }
            request.tables = Some(Arc::new(env.outside.stored_tables(&path, levels.as_deref())?.0));
        }
        if let Some(path) = path_of(EngineFile::Torus) {
            request.torus = Some(Arc::new(env.outside.torus(&path).map_err(Failure::from_list_error)?));
        }
        if let Some(path) = path_of(EngineFile::DimensionPorts) {
            let ports = env.outside.dimension_ports(&path).map_err(Failure::from_list_error)?;
            request.dimension_ports = Arc::new(ports);
        }
        engine.request = Arc::new(request);
        Ok(Some(engine))
    }
}

/// What the file of an engine holds, of those that the folder does not have yet: the first process reads them, and all
/// others use the same.
pub fn read_files(
    folder: &StudyFolder,
    entry: &EngineEntry,
    text: &StudyText,
) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let files =
        entry.keys.files.iter().map(|(file, path)| (folder.engine_file(entry.id, *file), *file, path));
    let missing = files.filter(|(stored, ..)| !stored.is_file());
    let read = missing.map(|(stored, file, path)| {
        let failed =
            |failure| text.failure_at(path.line, (file.key(), &format!("[engines.{}]", entry.id)), failure);
        Ok((stored, read(&text.beside.join(&path.value)).map_err(failed)?))
    });
    read.collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        let what = format!(
            "FD-9416: {}: {error}; [engines.NAME] names a file beside the study that its engine reads",
            path.display()
        );
        Failure::new(Exit::BadInput, what)
    })
}
