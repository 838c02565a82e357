//! The real program on a terminal of its own: what it sends, what signals do, and that the terminal is as it was.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// How long anything may take on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(30);

fn sign_count(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    bytes: usize,
    raw: Vec<u8>,
    last: Instant,
}

impl Session {
    fn open(args: &[&str], width: u16, height: u16) -> Self {
        Self::open_with(args, &[], width, height)
    }

    fn open_with(args: &[&str], variables: &[(&str, &str)], width: u16, height: u16) -> Self {
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let home = tempfile::tempdir().unwrap().keep();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fabdeck"));
        command.args(args);
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.env("LANG", "C.UTF-8");
        command.env("HOME", &home);
        command.env_remove("NO_COLOR");
        command.cwd(&home);
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
        Self { master: pair.master, child, keys, seen }
    }

    fn text(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    fn bytes(&self) -> usize {
        self.seen.lock().unwrap().bytes
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen holds a text.
    #[track_caller]
    fn until(&self, wanted: &str) -> Duration {
        let begun = Instant::now();
        while !self.text().contains(wanted) {
            assert!(begun.elapsed() < PATIENCE, "no '{wanted}' on\n{}", self.text());
            std::thread::sleep(Duration::from_millis(2));
        }
        begun.elapsed()
    }

    /// Waits until nothing has come for a while.
    fn quiet(&self) {
        let busy = || self.text().contains("Esc cancels");
        while busy() || self.seen.lock().unwrap().last.elapsed() < Duration::from_millis(1500) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn resize(&self, width: u16, height: u16) {
        self.master.resize(PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.seen.lock().unwrap().screen.screen_mut().set_size(sign_count(height), sign_count(width));
    }

    fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    #[track_caller]
    fn ended(&mut self) -> u32 {
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
    fn assert_restored(&self) {
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

#[test]
fn open_move_filter_mark_preview_plan_and_quit() {
    let mut session = Session::open(&["--source", "sim:kary,k=3,n=2"], 100, 30);
    session.until("spines");
    session.press("\t");
    session.until("SWITCH LINKS");
    session.press("/leaf\r");
    session.until("1/3 of");
    session.press("jf");
    session.until("is marked as failed");
    session.press("3p");
    session.until("clean");
    session.press("\r");
    session.until("ordered pairs");
    session.press("\x1b");
    session.until("ENGINE");
    session.press("w");
    session.until("write the plan to");
    session.press("\r");
    session.until("the plan is in");
    session.press("q");
    session.until("leaf0");
    session.press("qq");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let mut session = Session::open(&["--source", "sim:demo"], 80, 24);
        session.until("spines");
        session.signal(signal);
        assert_eq!(session.ended(), code, "{signal}");
        session.assert_restored();
    }
}

#[test]
fn a_session_stops_and_goes_on() {
    let mut session = Session::open(&["--source", "sim:demo"], 80, 24);
    session.until("spines");
    session.signal("TSTP");
    let begun = Instant::now();
    while session.seen.lock().unwrap().screen.screen().alternate_screen() {
        assert!(begun.elapsed() < PATIENCE, "it did not give the terminal back");
        std::thread::sleep(Duration::from_millis(5));
    }
    session.assert_restored();
    session.signal("CONT");
    session.until("spines");
    session.press("2");
    session.until("STATE");
    session.press("qq");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_storm_of_sizes_ends_in_the_last_one() {
    let mut session = Session::open(&["--source", "sim:demo"], 80, 24);
    session.until("spines");
    for step in 0..60u16 {
        session.resize(20 + step * 3, 5 + step);
    }
    session.resize(90, 20);
    session.quiet();
    session.press("2");
    session.until("STATE");
    session.press("\x03");
    assert_eq!(session.ended(), 130);
    session.assert_restored();
}

#[test]
fn idle_costs_nothing_and_a_move_little() {
    let mut session = Session::open(&["--source", "sim:switch648"], 200, 60);
    session.until("spines");
    session.quiet();
    session.press("2");
    session.until("PARALLEL");
    session.quiet();
    let before = session.bytes();
    std::thread::sleep(Duration::from_secs(1));
    let sent = session.seen.lock().unwrap().raw[before..].escape_ascii().to_string();
    assert_eq!(sent, "", "an idle screen sends nothing");
    session.press("j");
    session.quiet();
    let moved = session.bytes() - before;
    println!("a move of the cursor at 200x60, details shown: {moved} bytes");
    assert!(moved < 2000, "{moved} bytes for a move of the cursor");
}

/// A worker that has a bug must not leave a screen that nobody can read.
#[test]
fn a_bug_in_a_worker_restores_the_terminal_and_says_so() {
    let mut session = Session::open_with(&["--source", "sim:demo"], &[("FABDECK_BREAK", "worker")], 80, 24);
    assert_eq!(session.ended(), 101);
    session.assert_restored();
    let said = session.text();
    assert!(said.contains("fabdeck: bug:") && said.contains("the log is in"), "{said}");
}
