//! Files and folders as a source: formats are detected by content, and several files make one observation.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::assembly::{Assembly, NO_TOPOLOGY};
use super::file_set::{FileSet, UNPACK_TIMEOUT};
use super::unknown_format::unknown_format;
use fabdeck_fabric::observe::{NotePlace, Notes, Observation};
use fabdeck_files::capture::list_captures;
use fabdeck_files::content::Content;
use fabdeck_files::packed::{TimeLimit, is_packed, unpack_one};
use fabdeck_files::text::Input;
use fabdeck_files::{FileError, capture_format, detect, transcript};
use fabdeck_mad::access::{ReadObserver, ReadOptions, Source, SourceError};

/// A full-subnet dump has about 35 MB, and its tables have less than 2 GB. A larger file is a mistake.
const MAX_FILE_BYTES: u64 = 2 << 30;
/// A folder of an incident has a few dozen files. A folder with more, such as a home directory, is a mistake.
const MAX_FOLDER_FILES: usize = 1024;
/// Most files of subfolders that are examined, the bytes of each, and the depth of subfolders.
const MAX_EXAMINED_FILES: usize = 256;
const MAX_EXAMINED_BYTES: u64 = 8 * 1024;
const MAX_EXAMINED_DEPTH: usize = 4;
/// The note about subfolders, which are left out as files of unknown formats are.
const LEFT_OUT_SUBFOLDER: &str = "FN-501";

/// Files of known formats, which are read together at each reading.
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

    fn observe(&mut self, _: ReadOptions, _: &mut dyn ReadObserver) -> Result<Observation, SourceError> {
        let mut assembly = Assembly::new(&self.name);
        for path in &self.paths {
            if path.is_dir() {
                read_folder(path, &mut assembly)?;
            } else {
                read_path(path, &mut assembly)?;
            }
        }
        assembly.finish().map_err(|error| self.suggest_captures(error))
    }
}

impl FilesSource {
    /// A user who names a folder without a topology may mean a capture in a subfolder.
    fn suggest_captures(&self, error: SourceError) -> SourceError {
        let below = match self.paths.as_slice() {
            [folder] if folder.is_dir() => list_captures(folder),
            _ => None,
        };
        match (error, below) {
            (SourceError::Input { code: NO_TOPOLOGY, place, what, .. }, Some(held)) => {
                let hint = format!("the folder has captures; name one of them: {held}");
                SourceError::Input { code: NO_TOPOLOGY, place, what, hint }
            }
            (error, _) => error,
        }
    }
}

/// The content of one file of any known format.
pub fn read_content(path: &Path) -> Result<Content, SourceError> {
    let (name, bytes) = read_unpacked(path)?;
    let mut notes = Notes::new();
    match transcript::read(&name, &bytes, &mut notes)? {
        Some((_, mut content)) => {
            content.add_notes(notes);
            Ok(content)
        }
        None => Err(unknown_format(&name, &bytes)),
    }
}

/// Reads one file with this reader, without detecting the format.
pub fn read_as<T>(
    path: &Path,
    read: impl FnOnce(Input<'_>) -> Result<T, Box<FileError>>,
) -> Result<T, SourceError> {
    let (name, bytes) = read_unpacked(path)?;
    let text = transcript::plain_text(&name, &bytes, &mut Notes::new())?;
    Ok(read(Input::new(&name, &text))?)
}

/// The content of one file, unpacked.
fn read_unpacked(path: &Path) -> Result<(String, Vec<u8>), SourceError> {
    let bytes = read_file(path)?;
    let until = Instant::now() + UNPACK_TIMEOUT;
    Ok(unpack_one(&file_label(path), bytes, &TimeLimit::new(&|| Instant::now() < until))?)
}

/// Reads a file that the user named, which must be of a known format. An archive is read like the folder that it was.
fn read_path(path: &Path, assembly: &mut Assembly) -> Result<(), SourceError> {
    let name = file_label(path);
    let bytes = read_file(path)?;
    let mut files = FileSet::new(name.clone(), assembly);
    let mut outcome = Ok(());
    files.unpack(&name, bytes.into(), &mut |files, file| {
        if file.archived {
            files.take_optional(&file.name, file.bytes);
        } else {
            outcome = files.take_named(&file.name, file.bytes);
        }
    });
    files.finish();
    outcome
}

fn file_label(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// Reads the regular files of a folder by name. A file that cannot be used is noted, and the others are used.
fn read_folder(folder: &Path, assembly: &mut Assembly) -> Result<(), SourceError> {
    let (paths, subfolders) = list_folder(folder)?;
    let mut files = FileSet::new(file_label(folder), assembly);
    for path in paths {
        let name = file_label(&path);
        match read_file(&path) {
            Ok(bytes) => files.unpack(&name, bytes.into(), &mut |files, file| {
                files.take_optional(&file.name, file.bytes);
            }),
            Err(error) => files.leave_out(&name, error),
        }
    }
    files.finish();
    note_subfolders(folder, &subfolders, &mut assembly.notes);
    Ok(())
}

/// Names the subfolders with files, which are not read. The reading is partial if they hold dumps.
fn note_subfolders(folder: &Path, subfolders: &[PathBuf], notes: &mut Notes) {
    const SHOWN: usize = 4;
    let mut budget = MAX_EXAMINED_FILES;
    let (mut names, mut holds_dumps) = (Vec::new(), false);
    for subfolder in subfolders {
        let content = examine_subfolder(subfolder, MAX_EXAMINED_DEPTH, &mut budget);
        holds_dumps |= content == SubfolderContent::Dumps;
        if content != SubfolderContent::Nothing {
            names.extend(subfolder.file_name().map(|name| name.to_string_lossy()));
        }
    }
    if names.is_empty() {
        return;
    }
    let text = || {
        let more = match names.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.iter().take(SHOWN).map(|name| format!("{name}/")).collect::<Vec<_>>().join(", ");
        format!(
            "left out, files in subfolders: {names}{more}; move dumps of this fabric into the folder itself"
        )
    };
    match holds_dumps {
        true => notes.add_partial(LEFT_OUT_SUBFOLDER, NotePlace::file(file_label(folder)), text),
        false => notes.add(LEFT_OUT_SUBFOLDER, NotePlace::file(file_label(folder)), text),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SubfolderContent {
    Nothing,
    Files,
    /// Files of known formats other than captures, which stand for themselves.
    Dumps,
}

/// Examines files until one is a dump. A subfolder that cannot be listed may hold files.
fn examine_subfolder(folder: &Path, depth: usize, budget: &mut usize) -> SubfolderContent {
    let Ok(entries) = fs::read_dir(folder) else { return SubfolderContent::Files };
    let mut content = SubfolderContent::Nothing;
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| !is_hidden(path)) {
        if content == SubfolderContent::Dumps || *budget == 0 {
            break;
        }
        *budget -= 1;
        let found = match path.is_dir() {
            true if depth > 1 => examine_subfolder(&path, depth - 1, budget),
            true => SubfolderContent::Files,
            false if path.is_file() && is_dump(&path) => SubfolderContent::Dumps,
            false => SubfolderContent::Files,
        };
        content = content.max(found);
    }
    content
}

fn is_dump(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_EXAMINED_BYTES).read_to_end(&mut head));
    read.is_ok() && (is_packed(&head) || detect(&head).is_some_and(|format| format.id != capture_format::ID))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// The regular files and the subfolders of a folder, each by name, without hidden ones.
fn list_folder(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), SourceError> {
    let unreadable = |e: std::io::Error| read_error(&file_label(folder), &e);
    let (mut paths, mut subfolders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if is_hidden(&path) {
            continue;
        }
        if path.is_file() {
            paths.push(path);
        } else if path.is_dir() {
            subfolders.push(path);
        }
        if paths.len() > MAX_FOLDER_FILES {
            return Err(SourceError::Input {
                code: "FD-5005",
                place: NotePlace::file(file_label(folder)),
                what: format!("the folder holds more than {MAX_FOLDER_FILES} files"),
                hint: "put the dumps of one fabric into a folder of their own".into(),
            });
        }
    }
    paths.sort();
    subfolders.sort();
    Ok((paths, subfolders))
}

/// The content of a file; `-` is standard input.
fn read_file(path: &Path) -> Result<Vec<u8>, SourceError> {
    let name = file_label(path);
    let unreadable = |e: std::io::Error| read_error(&name, &e);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        let file = fs::File::open(path).map_err(unreadable)?;
        let claimed = file.metadata().map(|meta| meta.len()).unwrap_or(0);
        bytes.reserve_exact(usize::try_from(claimed.min(MAX_FILE_BYTES)).unwrap_or(0));
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(SourceError::Input {
            code: "FD-5004",
            place: NotePlace::file(name),
            what: format!("the file is larger than {} GiB", MAX_FILE_BYTES >> 30),
            hint: "no dump of one subnet is as large; give another file".into(),
        });
    }
    Ok(bytes)
}

fn read_error(name: &str, e: &std::io::Error) -> SourceError {
    let hint = match e.kind() {
        std::io::ErrorKind::NotFound => {
            "check the path; live fabrics are written umad or umad:CA:PORT, simulated ones sim:NAME"
        }
        // ENXIO: the path is a socket.
        _ if e.raw_os_error() == Some(6) => {
            "if this is the socket of a served simulator, write sim: before it"
        }
        std::io::ErrorKind::PermissionDenied => "ask for the right to read it, or run as a user who has it",
        _ => "check the path and the device it lies on",
    };
    SourceError::Unreachable { code: "FD-5003", what: format!("{name}: {e}"), hint: hint.into() }
}
