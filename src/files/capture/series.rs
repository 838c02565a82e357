//! The files of one recording: `night-000001.fdcap`, `night-000002.fdcap`. Names sort by time, and a new recording
//! continues the numbers of the last one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::capture_file::is_capture;
use super::recorder::RecordedPart;

/// When the next file begins, by size or by time, whichever comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RotationLimits {
    pub size: Option<u64>,
    pub every: Option<Duration>,
}

impl RotationLimits {
    /// Whether a sweep of this time belongs into the next file.
    pub fn is_due(&self, recorded: &RecordedPart, time: i64) -> bool {
        let large = self.size.is_some_and(|size| recorded.bytes >= size);
        // A clock that was set back must not keep a file open, so times far in the past count too.
        let passed = recorded.from.map_or(0, |from| time.abs_diff(from));
        let old = self.every.is_some_and(|every| u128::from(passed) >= every.as_millis());
        recorded.sweeps > 0 && (large || old)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileSeries {
    folder: PathBuf,
    stem: String,
    /// With its dot.
    ending: String,
}

impl FileSeries {
    /// `None` if the path has no file name.
    pub fn new(path: &Path) -> Option<Self> {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let ending = match path.extension() {
            Some(ending) => format!(".{}", ending.to_str()?),
            None => String::new(),
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Some(Self { folder, stem, ending })
    }

    pub fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{}-{number:06}{}", self.stem, self.ending))
    }

    /// Creates the next file. The writer locks it; on a file system without locks the recording goes on without.
    pub fn create_next(&self) -> io::Result<(PathBuf, File)> {
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let path = self.path(number);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let _ = file.try_lock();
        Ok((path, file))
    }

    /// A file of this series that another recording is writing.
    pub fn find_rival(&self, own: &Path) -> io::Result<Option<PathBuf>> {
        let mut others =
            self.numbers()?.into_iter().rev().map(|number| self.path(number)).filter(|path| path != own);
        let locked = |path: &PathBuf| {
            let locked = File::open(path).map(|file| file.try_lock_shared());
            matches!(locked, Ok(Err(TryLockError::WouldBlock)))
        };
        Ok(others.find(locked))
    }

    /// Deletes all but the newest `most` files, and returns the deleted paths.
    pub fn prune(&self, most: usize) -> io::Result<Vec<PathBuf>> {
        let held = self.numbers()?.into_iter().map(|number| self.path(number));
        // A file with such a name that is no capture belongs to another program. An empty one is a capture without a
        // sweep.
        let empty =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|known| known.is_file() && known.len() == 0);
        let ours: Vec<PathBuf> = held.filter(|path| is_capture(path) || empty(path)).collect();
        let gone = ours.len().saturating_sub(most);
        ours[..gone].iter().try_for_each(fs::remove_file)?;
        Ok(ours[..gone].to_vec())
    }

    /// The numbers of existing files, sorted.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let mut numbers = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            numbers.extend(name.to_str().and_then(|name| self.parse_number(name)));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn parse_number(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&self.stem)?.strip_prefix('-')?.strip_suffix(&self.ending)?;
        let plain = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_and_what_is_no_capture_stays() {
        let folder = tempfile::tempdir().unwrap();
        let series = FileSeries::new(&folder.path().join("night.fdcap")).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let made: Vec<String> = (0..3).map(|_| name(&series.create_next().unwrap().0)).collect();
        assert_eq!(made, ["night-000001.fdcap", "night-000002.fdcap", "night-000003.fdcap"]);
        fs::write(series.path(2), "a letter").unwrap();
        for other in ["night-7.fdcap", "night.fdcap", "nights-000009.fdcap", "night-000008.txt"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        fs::write(series.path(1_000_000), "").unwrap();
        assert_eq!(name(&series.create_next().unwrap().0), "night-1000001.fdcap");
        let gone: Vec<String> = series.prune(2).unwrap().iter().map(|path| name(path)).collect();
        assert_eq!(gone, ["night-000001.fdcap", "night-000003.fdcap"]);
        assert!(series.path(2).exists() && folder.path().join("night-7.fdcap").exists());
        assert!(FileSeries::new(Path::new("/")).is_none() && FileSeries::new(Path::new("night")).is_some());
    }

    #[test]
    fn a_second_writer_of_the_same_series_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let series = FileSeries::new(&folder.path().join("night.fdcap")).unwrap();
        let (first, writing) = series.create_next().unwrap();
        assert_eq!(series.find_rival(&first).unwrap(), None);
        let (second, mine) = series.create_next().unwrap();
        assert_eq!(series.find_rival(&second).unwrap(), Some(first.clone()));
        assert_eq!(series.find_rival(&first).unwrap(), Some(second));
        drop((writing, mine));
        assert_eq!(series.find_rival(&first).unwrap(), None);
    }

    #[test]
    fn a_file_is_full_by_size_or_by_time() {
        let recorded = RecordedPart { sweeps: 3, bytes: 1000, from: Some(5000), to: Some(7000) };
        let due = |size, every: Option<u64>, time| {
            RotationLimits { size, every: every.map(Duration::from_millis) }.is_due(&recorded, time)
        };
        assert!(due(Some(1000), None, 0) && !due(Some(1001), None, i64::MAX));
        assert!(due(None, Some(3000), 8000) && !due(None, Some(3000), 7999) && !due(None, None, i64::MAX));
        // The clock was set back: a small step changes nothing.
        assert!(due(None, Some(3000), 2000) && !due(None, Some(3000), 2001));
        assert!(due(None, Some(3000), i64::MIN) && due(None, Some(3000), i64::MAX));
        assert!(!RotationLimits { size: Some(0), every: None }.is_due(&RecordedPart::default(), 0));
    }
}
