//! Records what the terminal gets as an asciicast (version 2), which players of terminal sessions read. Each line is written
//! when it happens, so a killed process leaves a recording that can be played.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use crate::console::model::layout::Size;

/// Largest recording; it ends by itself before it would be larger.
const MAX_BYTES: u64 = 64 << 20;

/// A recording under way.
pub struct ScreenCast {
    path: PathBuf,
    file: File,
    begun: Instant,
    bytes: u64,
    most: u64,
}

/// Why a recording has ended by itself.
pub struct CastEnd(pub String);

impl ScreenCast {
    /// Begins a new file; it must not exist yet.
    pub fn create(path: &Path, size: Size, title: &str) -> Result<Self, String> {
        let file = File::create_new(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => "the file exists already; give :cast another name".to_owned(),
            _ => error.to_string(),
        })?;
        let mut cast = Self { path: path.to_owned(), file, begun: Instant::now(), bytes: 0, most: MAX_BYTES };
        let header = json!({
            "version": 2,
            "width": size.width,
            "height": size.height,
            "timestamp": jiff::Timestamp::now().as_second(),
            "title": title,
        });
        cast.append(&header).map_err(|error| error.to_string())?;
        Ok(cast)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what the terminal gets.
    pub fn add_output(&mut self, bytes: &[u8]) -> Result<(), CastEnd> {
        self.add_event("o", &String::from_utf8_lossy(bytes))
    }

    /// Adds a new size of the terminal.
    pub fn add_size(&mut self, size: Size) -> Result<(), CastEnd> {
        self.add_event("r", &format!("{}x{}", size.width, size.height))
    }

    fn add_event(&mut self, kind: &str, text: &str) -> Result<(), CastEnd> {
        let seconds = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e6;
        let appended = self.append(&json!([seconds, kind, text]));
        let file = self.path.display();
        match appended {
            Ok(true) => Ok(()),
            Ok(false) => {
                let mib = self.most >> 20;
                Err(CastEnd(format!("the recording of the terminal ended: {file} has {mib} MiB, the most")))
            }
            Err(error) => Err(CastEnd(format!("the recording of the terminal in {file} ended: {error}"))),
        }
    }

    /// Appends a line with one system call, unless the file has no room left for it.
    fn append(&mut self, line: &Value) -> io::Result<bool> {
        let text = format!("{line}\n");
        let bytes = self.bytes + text.len() as u64;
        if bytes > self.most {
            return Ok(false);
        }
        self.file.write_all(text.as_bytes())?;
        self.bytes = bytes;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_is_bounded_never_replaces_a_file_and_has_a_line_for_each_output() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cast");
        let size = Size { width: 80, height: 24 };
        let mut cast = ScreenCast::create(&path, size, "fabdeck sim:demo").unwrap();
        assert!(cast.add_output("\x1b[1m◆ \"x\"".as_bytes()).is_ok());
        assert!(cast.add_size(Size { width: 120, height: 40 }).is_ok());
        cast.most = cast.bytes + 10;
        let end = cast.add_output(b"too much").err().unwrap();
        assert!(end.0.contains("the most"), "{}", end.0);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            (&lines[0]["version"], &lines[0]["width"], &lines[0]["height"]),
            (&json!(2), &json!(80), &json!(24))
        );
        assert_eq!((&lines[1][1], &lines[1][2]), (&json!("o"), &json!("\x1b[1m◆ \"x\"")));
        assert_eq!((&lines[2][1], &lines[2][2], lines.len()), (&json!("r"), &json!("120x40"), 3));
        assert!(ScreenCast::create(&path, size, "").err().unwrap().contains("another name"));
    }
}
