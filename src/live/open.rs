//! Opens the source that a `--source` text names.

use std::path::PathBuf;

use super::live_options::{LiveOptions, live_source};
use super::simulated_source::{simulated_port, simulated_source};
use super::simulator_options::parse_socket;
use super::{FilesSource, socket};
use fabdeck_files::capture::{CaptureSource, FolderContent, TimeSpec, find_capture, list_captures};
use fabdeck_mad::access::{ReadPort, Source, SourceError};

/// Opens `umad[:CA[:PORT]]`, `sim:NAME[,key=value...]`, `sim:SOCKET[,at=NODE]` or a path; `-` is standard input.
/// Nothing is read before `observe`.
pub fn open(text: &str, options: &LiveOptions) -> Result<Box<dyn Source>, SourceError> {
    if let Some(words) = text.strip_prefix("sim:") {
        return Ok(Box::new(match parse_socket(words)? {
            Some((path, at)) => live_source(text, socket::connect(&path, at)?, options),
            None => simulated_source(text, words, options)?,
        }));
    }
    if let Some((adapter, port)) = parse_adapter(text)? {
        let (port, planes) = options.library.open_planes(adapter, port)?;
        return Ok(Box::new(live_source(text, port, options).with_planes(planes)));
    }
    if text.is_empty() {
        return Err(SourceError::Name {
            code: "FD-5002",
            what: "the source is empty".into(),
            hint: "give umad, sim:NAME, a file or a folder".into(),
        });
    }
    let path = PathBuf::from(text);
    if let Some(capture) = find_capture(&path) {
        return Ok(Box::new(CaptureSource::open(&capture, None)?));
    }
    Ok(Box::new(FilesSource::new(text, vec![path])))
}

/// Opens the port that a text names; `None` if it does not name a live fabric.
pub fn open_port(text: &str, options: &LiveOptions) -> Result<Option<ReadPort>, SourceError> {
    if let Some(words) = text.strip_prefix("sim:") {
        return Ok(Some(match parse_socket(words)? {
            Some((path, at)) => socket::connect(&path, at)?,
            None => simulated_port(text, words, options)?,
        }));
    }
    match parse_adapter(text)? {
        Some((adapter, port)) => Ok(Some(options.library.open_port(adapter, port)?)),
        None => Ok(None),
    }
}

/// Whether a text names a live fabric, and not a recording.
pub fn is_live(text: &str) -> bool {
    text.starts_with("sim:") || !matches!(parse_adapter(text), Ok(None))
}

/// Opens a capture at a time. Other sources have no past.
pub fn open_at(text: &str, at: TimeSpec) -> Result<Box<dyn Source>, SourceError> {
    let path = PathBuf::from(text);
    // Standard input with a time can only be a capture.
    let piped = (text == "-").then(|| path.clone());
    if let Some(capture) = piped.or_else(|| find_capture(&path)) {
        return Ok(Box::new(CaptureSource::open(&capture, Some(at))?));
    }
    let FolderContent { captures, others } = FolderContent::scan(&path);
    let Some(first) = captures.first() else {
        let below = list_captures(&path);
        return Err(SourceError::Name {
            code: "FD-5065",
            what: format!("--at names a time, and {text} is not a readable capture, so it has no past"),
            hint: match below {
                Some(held) => format!("the folder has captures; name one of them: {held}"),
                None => "give a file of 'fabdeck record', or leave out --at".to_owned(),
            },
        });
    };
    let more = match (captures.len(), others) {
        (1, _) => "a capture and other files of a fabric".to_owned(),
        (captures, 0) => format!("{captures} captures"),
        (captures, _) => format!("{captures} captures and other files of a fabric"),
    };
    Err(SourceError::Name {
        code: "FD-5067",
        what: format!("--at names a time, and {text} holds {more}"),
        hint: format!(
            "name one capture, as --source {}; without --at all files together are one fabric, with captures at \
             their end",
            first.display()
        ),
    })
}

/// The adapter and port of `umad[:CA[:PORT]]`; `None` if the text is no such name.
#[allow(clippy::type_complexity, reason = "two words of one name, each of which may be left out")]
fn parse_adapter(text: &str) -> Result<Option<(Option<&str>, Option<u8>)>, SourceError> {
    let Some(words) = text.strip_prefix("umad") else { return Ok(None) };
    let Some(words) = words.strip_prefix(':') else { return Ok(words.is_empty().then_some((None, None))) };
    let (adapter, port) =
        words.split_once(':').map_or((words, None), |(adapter, port)| (adapter, Some(port)));
    let wrong = || SourceError::Name {
        code: "FD-5001",
        what: format!("'{text}' is not the name of an adapter"),
        hint: "write umad, umad:CA or umad:CA:PORT, as umad:mlx5_0:1; 'fabdeck sources' lists the adapters"
            .into(),
    };
    let number =
        port.map(|port| port.parse::<u8>().ok().filter(|port| *port > 0).ok_or_else(wrong)).transpose()?;
    if adapter.is_empty() && port.is_none() {
        return Err(wrong());
    }
    Ok(Some((Some(adapter).filter(|adapter| !adapter.is_empty()), number)))
}
