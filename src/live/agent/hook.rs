//! The site's hook: a program that moves the flows of this host. Hooks run without a shell, one at a time, with a
//! timeout.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::environment::set_listed_environment;

/// Number of bytes of output that are kept.
const MAX_OUTPUT_BYTES: u64 = 16 * 1024;

/// A running hook.
#[derive(Debug)]
pub struct HookProcess {
    child: Child,
    began: Instant,
    timeout: Duration,
    /// The file that receives the output.
    said: File,
}

/// The result of a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookExit {
    /// What went wrong; `None` for success.
    pub trouble: Option<String>,
    pub said: String,
    pub took: Duration,
}

impl HookProcess {
    /// Starts the hook. Its output goes into a file without a name.
    pub fn start(program: &Path, values: &[(&str, String)], timeout: Duration) -> io::Result<Self> {
        let said = open_unnamed_file()?;
        let mut command = Command::new(program);
        set_listed_environment(&mut command);
        command.envs(values.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
        // A process group, so that the processes which the hook starts end with it.
        command.process_group(0);
        Ok(Self { child: command.spawn()?, began: Instant::now(), timeout, said })
    }

    /// The result of the hook; `None` while it runs.
    pub fn poll_exit(&mut self) -> Option<HookExit> {
        let trouble = match self.child.try_wait() {
            Ok(Some(status)) if status.success() => None,
            Ok(Some(status)) => Some(status.to_string()),
            Ok(None) if self.began.elapsed() < self.timeout => return None,
            Ok(None) => {
                self.kill_group();
                Some(format!("still ran after {} s and was killed", self.timeout.as_secs_f64()))
            }
            Err(error) => Some(error.to_string()),
        };
        Some(HookExit { trouble, said: self.read_output(), took: self.began.elapsed() })
    }

    fn read_output(&mut self) -> String {
        use std::io::Seek;
        let mut bytes = Vec::new();
        // Unreadable output is empty output.
        let _ = self.said.rewind();
        let _ = (&self.said).take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }

    fn kill_group(&mut self) {
        let id = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Kills the hook with the value that owns it.
impl Drop for HookProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill_group();
        }
    }
}

fn open_unnamed_file() -> io::Result<File> {
    let folder = std::env::temp_dir();
    rustix::fs::open(
        &folder,
        rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .map(File::from)
    .map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, values: &[(&str, String)], timeout: Duration) -> HookExit {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hook");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let mut running = HookProcess::start(&file, values, timeout).unwrap();
        loop {
            if let Some(ended) = running.poll_exit() {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn output_and_exit_are_reported() {
        let values = [("FABDECK_HOT_SPOT_LID", "7; echo no".to_owned())];
        let ended = run("echo \"to $FABDECK_HOT_SPOT_LID\"; echo bad >&2", &values, Duration::from_secs(20));
        assert_eq!((ended.trouble, ended.said.as_str()), (None, "to 7; echo no\nbad"));
        let ended = run("exit 3", &[], Duration::from_secs(20));
        assert!(ended.trouble.is_some_and(|trouble| trouble.contains('3')));
    }

    /// Cargo sets variables of its own for every test.
    #[test]
    fn a_hook_gets_the_listed_variables_and_its_values_alone() {
        assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
        let ended = run("env", &[("FABDECK_LID", "7".to_owned())], Duration::from_secs(20));
        assert!(ended.said.contains("FABDECK_LID=7") && !ended.said.contains("CARGO"), "{}", ended.said);
    }

    #[test]
    fn a_hanging_hook_is_killed_with_its_children() {
        let ended = run("sleep 600 & echo $!; wait", &[], Duration::from_millis(300));
        assert!(ended.trouble.is_some_and(|trouble| trouble.contains("after 0.3 s")));
        assert!(ended.took < Duration::from_secs(60));
        let child = Path::new("/proc").join(&ended.said).join("stat");
        let gone = |text: &str| text.contains(") Z ");
        for _ in 0..200 {
            if std::fs::read_to_string(&child).map_or(true, |text| gone(&text)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{child:?} goes on");
    }
}
