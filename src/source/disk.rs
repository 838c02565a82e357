//! Files and folders as a source: told by content, several of them make one observation.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::assemble::{Assembly, NO_TOPOLOGY};
use crate::access::{Source, SourceError, Wanted, Watch};
use crate::capture::captures_within;
use crate::files::content::Content;
use crate::files::text::Input;
use crate::files::{FileError, Format, capture, detect};
use crate::observe::{Notes, Observation, Place};

/// A full-subnet dump is about 35 MB and its tables below 2 GB; beyond that something is wrong.
const FILE_LIMIT: u64 = 2 << 30;
/// A folder of an incident holds a few dozen files; a home directory given by mistake holds more.
const FOLDER_LIMIT: usize = 1024;

/// Files of known formats, read together at each look.
#[derive(Debug, Clone)]
pub struct FilesSource {
    name: String,
    paths: Vec<PathBuf>,
}

impl FilesSource {
    pub fn new(name: impl Into<String>, paths: Vec<PathBuf>) -> Self {
        Self { name: name.into(), paths }
    }
}

impl Source for FilesSource {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, _: Wanted, _: &mut dyn Watch) -> Result<Observation, SourceError> {
        let mut assembly = Assembly::new(&self.name);
        for path in &self.paths {
            if path.is_dir() {
                read_folder(path, &mut assembly)?;
            } else {
                let (format, content) = read_known(path)?;
                assembly.add(shown(path), format, content);
            }
        }
        assembly.finish().map_err(|error| self.with_captures(error))
    }
}

impl FilesSource {
    /// Whoever names a folder that tells nothing may mean a capture in a folder below.
    fn with_captures(&self, error: SourceError) -> SourceError {
        let below = match self.paths.as_slice() {
            [folder] if folder.is_dir() => captures_within(folder),
            _ => None,
        };
        match (error, below) {
            (SourceError::Input { code: NO_TOPOLOGY, place, what, .. }, Some(held)) => {
                let hint = format!("there are captures below it; give the one that is meant: {held}");
                SourceError::Input { code: NO_TOPOLOGY, place, what, hint }
            }
            (error, _) => error,
        }
    }
}

/// One file, whatever it holds.
pub fn read_content(path: &Path) -> Result<Content, SourceError> {
    read_known(path).map(|(_, content)| content)
}

/// One file as what the reader takes, whatever it looks like.
pub fn read_as<T>(
    path: &Path,
    read: impl FnOnce(Input<'_>) -> Result<T, Box<FileError>>,
) -> Result<T, SourceError> {
    let bytes = read_file(path)?;
    Ok(read(Input::new(&shown(path), &bytes))?)
}

fn read_known(path: &Path) -> Result<(&'static Format, Content), SourceError> {
    let name = shown(path);
    let bytes = read_file(path)?;
    let format = detect(&bytes).ok_or_else(|| unknown_format(&name, &bytes))?;
    Ok((format, (format.read)(Input::new(&name, &bytes))?))
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// The regular files of a folder by name; what has no known format is left out, and one note says so.
fn read_folder(folder: &Path, assembly: &mut Assembly) -> Result<(), SourceError> {
    let (mut left_out, mut captures) = (Vec::new(), Vec::new());
    for path in files_of(folder)? {
        let name = shown(&path);
        let Ok(bytes) = read_file(&path) else {
            left_out.push(name);
            continue;
        };
        match detect(&bytes) {
            Some(format) => {
                captures.extend((format.id == capture::ID).then(|| name.clone()));
                let content = (format.read)(Input::new(&name, &bytes))?;
                assembly.add(name, format, content);
            }
            None => left_out.push(name),
        }
    }
    if let Some(first) = captures.first() {
        assembly.notes.add("FN-508", Place::file(shown(folder)), || {
            let held = if captures.len() == 1 {
                "a capture lies".to_owned()
            } else {
                format!("{} captures lie", captures.len())
            };
            format!("{held} among the files, read as it was at the end; --source {first} shows it over time")
        });
    }
    note_left_out(&mut assembly.notes, folder, &left_out);
    Ok(())
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let unreadable = |e: std::io::Error| unreachable(&shown(folder), &e);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !hidden {
            paths.push(path);
        }
        if paths.len() > FOLDER_LIMIT {
            return Err(SourceError::Input {
                code: "FD-5005",
                place: Place::file(shown(folder)),
                what: format!("the folder holds more than {FOLDER_LIMIT} files"),
                hint: "put the dumps of one fabric into a folder of their own".into(),
            });
        }
    }
    paths.sort();
    Ok(paths)
}

fn note_left_out(notes: &mut Notes, folder: &Path, names: &[String]) {
    const SHOWN: usize = 4;
    if names.is_empty() {
        return;
    }
    notes.add("FN-501", Place::file(shown(folder)), || {
        let short =
            |name: &String| Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
        let first: Vec<String> = names.iter().take(SHOWN).filter_map(short).collect();
        let more =
            if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
        format!("left out, of no known format or unreadable: {}{more}", first.join(", "))
    });
}

/// A whole file in memory; `-` is standard input.
fn read_file(path: &Path) -> Result<Vec<u8>, SourceError> {
    let name = shown(path);
    let unreadable = |e: std::io::Error| unreachable(&name, &e);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(FILE_LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        let file = fs::File::open(path).map_err(unreadable)?;
        let claimed = file.metadata().map(|meta| meta.len()).unwrap_or(0);
        bytes.reserve_exact(usize::try_from(claimed.min(FILE_LIMIT)).unwrap_or(0));
        file.take(FILE_LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(SourceError::Input {
            code: "FD-5004",
            place: Place::file(name),
            what: format!("the file is larger than {} GiB", FILE_LIMIT >> 30),
            hint: "no dump of one subnet is; cut it or give the right file".into(),
        });
    }
    Ok(bytes)
}

fn unreachable(name: &str, e: &std::io::Error) -> SourceError {
    let hint = match e.kind() {
        std::io::ErrorKind::NotFound => {
            "check the path; live fabrics are written umad or umad:CA:PORT, simulated ones sim:NAME"
        }
        // What opening a socket as a file comes to.
        _ if e.raw_os_error() == Some(6) => {
            "if this is the socket of a served simulator, write sim: before it"
        }
        std::io::ErrorKind::PermissionDenied => "ask for the right to read it, or run as a user who has it",
        _ => "check the path and the device it lies on",
    };
    SourceError::Unreachable { code: "FD-5003", what: format!("{name}: {e}"), hint: hint.into() }
}

fn is_plan(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{") && String::from_utf8_lossy(bytes).contains("\"fabdeck.plan/")
}

fn unknown_format(name: &str, bytes: &[u8]) -> SourceError {
    let what = match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        None => "the file is empty".to_owned(),
        Some(_) if bytes.starts_with(&[0x1F, 0x8B]) => "the file is compressed with gzip".to_owned(),
        Some(_) if bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) => {
            "the file is compressed with zstd".to_owned()
        }
        Some(_) if bytes.starts_with(&[0x2B, 0x83, 0xE7, 0x8F]) => {
            "this is a binary cache of 'ibnetdiscover --cache'".to_owned()
        }
        Some(_) if is_plan(bytes) => {
            return SourceError::Input {
                code: "FD-2002",
                place: Place::line(name, 1),
                what: "this is a plan, not a fabric".to_owned(),
                hint: format!(
                    "'fabdeck plan show {name}' shows it; --source takes the fabric that it was made for"
                ),
            };
        }
        Some(_) if bytes.starts_with(b"{") || bytes.starts_with(b"[") => {
            "this is JSON; lists of jobs are no source of a fabric".to_owned()
        }
        Some(_) if bytes.split(|b| *b == b'\n').any(|line| line.starts_with(b"SwitchName=")) => {
            "this is Slurm's topology.conf: it tells neither ports nor cables".to_owned()
        }
        Some(_) if bytes.contains(&0) => "the file is binary and of no known format".to_owned(),
        Some(_) => "the content is of no known format".to_owned(),
    };
    let known: Vec<&str> = crate::files::FORMATS.iter().map(|format: &Format| format.id).collect();
    SourceError::Input {
        code: "FD-2002",
        place: Place::line(name, 1),
        what,
        hint: format!("known are, as text: {}", known.join(", ")),
    }
}
