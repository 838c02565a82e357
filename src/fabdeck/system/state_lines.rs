//! Files of the state folder with one JSON object a line: read by anyone of this user, changed by one at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::output_file;
use fabdeck_files::open_regular;

/// A longer file was not written by fabdeck.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Reads all lines; an absent file has none.
pub fn read_lines<T: DeserializeOwned>(file: &Path) -> io::Result<Vec<T>> {
    let mut text = String::new();
    let opened: File = match open_regular(file, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    opened.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    let parse = |(at, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", at + 1)))
    };
    text.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(parse).collect()
}

/// Changes the lines under a lock. The file is replaced as a whole, so a kill at any moment leaves the old lines or the
/// new ones.
pub fn update_lines<T: Serialize + DeserializeOwned>(
    file: &Path,
    change: impl FnOnce(&mut Vec<T>),
) -> io::Result<()> {
    replace_lines_checked(file, || {
        let mut lines = read_lines(file)?;
        change(&mut lines);
        Ok(lines)
    })
}

/// Replaces the lines under a lock by those that `lines` makes of the file as it is then.
pub fn replace_lines<T: Serialize>(file: &Path, lines: impl FnOnce() -> Vec<T>) -> io::Result<()> {
    replace_lines_checked(file, || Ok(lines()))
}

fn replace_lines_checked<T: Serialize>(
    file: &Path,
    lines: impl FnOnce() -> io::Result<Vec<T>>,
) -> io::Result<()> {
    file.parent().map(fs::create_dir_all).transpose()?;
    let lock = OpenOptions::new().create(true).append(true).mode(0o600).clone();
    let lock = open_regular(&file.with_extension("lock"), &lock)?;
    lock.lock()?;
    let mut text = String::new();
    for line in &lines()? {
        text += &serde_json::to_string(line)?;
        text.push('\n');
    }
    output_file::replace(file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_changed_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/lines");
        assert_eq!(read_lines::<u32>(&file).unwrap(), Vec::<u32>::new());
        update_lines(&file, |lines: &mut Vec<u32>| lines.extend([1, 2])).unwrap();
        update_lines(&file, |lines: &mut Vec<u32>| lines.retain(|line| *line != 1)).unwrap();
        assert_eq!(read_lines::<u32>(&file).unwrap(), [2]);
        // What a killed writer left beside the file is neither read nor written to.
        fs::write(folder.path().join(format!("state/.lines.{}.0.part", std::process::id())), "9\n9").unwrap();
        update_lines(&file, |lines: &mut Vec<u32>| lines.push(3)).unwrap();
        assert_eq!(read_lines::<u32>(&file).unwrap(), [2, 3]);
        fs::write(&file, "2\nx\n").unwrap();
        assert!(read_lines::<u32>(&file).unwrap_err().to_string().contains("line 2"));
        assert!(update_lines(&file, |lines: &mut Vec<u32>| lines.clear()).is_err(), "nothing is lost");
        assert_eq!(fs::read_to_string(&file).unwrap(), "2\nx\n");
    }
}
