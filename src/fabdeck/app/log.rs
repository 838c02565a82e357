//! The log: one file a day below `$XDG_STATE_HOME/fabdeck`, deleted after a week. It is for diagnosis only; no command
//! fails because the log cannot be written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

const DAYS_KEPT: usize = 7;
const PREFIX: &str = "fabdeck";
const SUFFIX: &str = "log";
/// Environment variable with the log level, in the syntax of `tracing` (`debug`, `fabdeck_live=trace`).
const LEVEL: &str = "FABDECK_LOG";

/// Opens the log and returns a sentence that names its folder, or the reason why there is no log.
pub fn open_log() -> String {
    let folders = directories::ProjectDirs::from("", "", "fabdeck");
    let Some(folder) = folders.as_ref().and_then(|folders| folders.state_dir()) else {
        return "no log is written, because there is no home folder".to_owned();
    };
    match start(folder) {
        Ok(()) => format!("the log is in {}", folder.display()),
        Err(error) => format!("no log is written to {}: {error}", folder.display()),
    }
}

fn start(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    fs::create_dir_all(folder)?;
    prune(folder)?;
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(PREFIX)
        .filename_suffix(SUFFIX)
        .build(folder)?;
    let level = EnvFilter::try_from_env(LEVEL).unwrap_or_else(|_| EnvFilter::new("info"));
    // On a full disk the log stays silent instead of writing to stderr.
    let lines = fmt::layer().with_ansi(false).log_internal_errors(false).with_writer(Mutex::new(file));
    tracing_subscriber::registry().with(level).with(lines).try_init()?;
    Ok(())
}

/// Deletes all but the files of the last days. The appender can do this too, but writes to stderr when two processes
/// do it at the same time.
fn prune(folder: &Path) -> std::io::Result<()> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(&format!("{PREFIX}.")) && name.ends_with(&format!(".{SUFFIX}"))
    };
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.flatten().map(|entry| entry.path()).filter(ours).collect();
    // The file names contain the date, so their order is the order of days.
    files.sort();
    for file in files.iter().rev().skip(DAYS_KEPT) {
        let _ = fs::remove_file(file);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_older_than_a_week_are_deleted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for day in 1..=9 {
            fs::write(folder.path().join(format!("fabdeck.2026-01-0{day}.log")), "").unwrap();
        }
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        prune(folder.path()).unwrap();
        assert!(!folder.path().join("fabdeck.2026-01-02.log").exists());
        assert!(folder.path().join("fabdeck.2026-01-03.log").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), DAYS_KEPT + 1);
    }
}
