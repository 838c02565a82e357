//! The log: a file a day below `$XDG_STATE_HOME/fabdeck`, a week of them. It is for diagnosis only; a command never
//! fails for want of it.

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
/// Sets how much is logged, as `tracing` reads it (`debug`, `fabdeck_live=trace`).
const LEVEL: &str = "FABDECK_LOG";

/// Opens the log and says in a sentence where it is, or why there is none.
pub fn open() -> String {
    let folders = directories::ProjectDirs::from("", "", "fabdeck");
    let Some(folder) = folders.as_ref().and_then(|folders| folders.state_dir()) else {
        return "no log is written: there is no home folder for it".to_owned();
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
    // A full disk must not make the log talk on stderr.
    let lines = fmt::layer().with_ansi(false).log_internal_errors(false).with_writer(Mutex::new(file));
    tracing_subscriber::registry().with(level).with(lines).try_init()?;
    Ok(())
}

/// Removes all but the last days. The appender could do it too, but talks on stderr when two processes do it at once.
fn prune(folder: &Path) -> std::io::Result<()> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(&format!("{PREFIX}.")) && name.ends_with(&format!(".{SUFFIX}"))
    };
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.flatten().map(|entry| entry.path()).filter(ours).collect();
    // Their names hold the day, so the order of names is the order of days.
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
    fn a_week_of_logs_is_kept_and_nothing_else_is_touched() {
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
