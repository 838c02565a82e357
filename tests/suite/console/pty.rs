//! The program on a terminal of its own, and what came of it.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// The end of a synchronized update.
const FRAME_END: &[u8] = b"\x1b[?2026l";

/// How long anything may take on a machine that has other things to do.
pub const PATIENCE: Duration = Duration::from_secs(30);

fn sign_count(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

pub struct Session {
    _home: tempfile::TempDir,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
}

/// The program under test; benchmarks name one that was built for speed.
fn program() -> String {
    std::env::var("FABDECK_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_fabdeck").to_owned())
}

struct Seen {
    screen: vt100::Parser,
    bytes: usize,
    raw: Vec<u8>,
    last: Instant,
}

impl Session {
    pub fn open(args: &[&str], width: u16, height: u16) -> Self {
        Self::open_with(args, &[], width, height)
    }

    pub fn open_with(args: &[&str], variables: &[(&str, &str)], width: u16, height: u16) -> Self {
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let home = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(program());
        command.args(args);
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.env("LANG", "C.UTF-8");
        command.env("HOME", home.path());
        command.env_remove("NO_COLOR");
        command.cwd(home.path());
        variables.iter().for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let seen = Arc::new(Mutex::new(Seen {
            screen: vt100::Parser::new(sign_count(height), sign_count(width), 0),
            bytes: 0,
            raw: Vec::new(),
            last: Instant::now(),
        }));
        let (mut reader, to) = (pair.master.try_clone_reader().unwrap(), seen.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let mut seen = to.lock().unwrap();
                seen.screen.process(&buffer[..count]);
                seen.bytes += count;
                seen.raw.extend_from_slice(&buffer[..count]);
                seen.last = Instant::now();
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { _home: home, master: pair.master, child, keys, seen }
    }

    pub fn text(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    pub fn has_alternate_screen(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().alternate_screen()
    }

    /// What came since so many bytes, as it was sent.
    pub fn raw_since(&self, before: usize) -> Vec<u8> {
        self.seen.lock().unwrap().raw[before..].to_vec()
    }

    /// How long it takes from keys to the end of the next frame.
    pub fn frame_after(&mut self, keys: &str) -> Duration {
        let before = self.bytes();
        let begun = Instant::now();
        self.press(keys);
        while !self.raw_since(before).ends_with(FRAME_END) {
            assert!(begun.elapsed() < PATIENCE, "no frame after {keys:?}:\n{}", self.text());
            std::thread::sleep(Duration::from_micros(100));
        }
        begun.elapsed()
    }

    pub fn bytes(&self) -> usize {
        self.seen.lock().unwrap().bytes
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen holds a text.
    #[track_caller]
    pub fn until(&self, wanted: &str) -> Duration {
        let begun = Instant::now();
        while !self.text().contains(wanted) {
            assert!(begun.elapsed() < PATIENCE, "no '{wanted}' on\n{}", self.text());
            std::thread::sleep(Duration::from_millis(2));
        }
        begun.elapsed()
    }

    /// Waits until nothing has come for a while.
    pub fn quiet(&self) {
        let busy = || self.text().contains("Esc cancels");
        while busy() || self.seen.lock().unwrap().last.elapsed() < Duration::from_millis(1500) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn resize(&self, width: u16, height: u16) {
        self.master.resize(PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.seen.lock().unwrap().screen.screen_mut().set_size(sign_count(height), sign_count(width));
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    #[track_caller]
    pub fn ended(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(begun.elapsed() < PATIENCE, "still there:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The alternate screen is left, the cursor is shown, pasting is as it was.
    #[track_caller]
    pub fn assert_restored(&self) {
        std::thread::sleep(Duration::from_millis(100));
        let seen = self.seen.lock().unwrap();
        let screen = seen.screen.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        assert!(!screen.bracketed_paste(), "pasting is still bracketed");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
