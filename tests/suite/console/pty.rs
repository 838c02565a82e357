//! The program on a terminal of its own, and what came of it.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
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
    home: tempfile::TempDir,
    /// `None` once it hung up.
    master: Option<Box<dyn MasterPty + Send>>,
    child: Box<dyn Child + Send + Sync>,
    keys: Option<Box<dyn Write + Send>>,
    seen: Arc<Mutex<TerminalOutput>>,
    reader: Option<Reader>,
    /// How the terminal was set before the program ran.
    modes: String,
}

/// The thread at the other end of the line.
struct Reader {
    thread: JoinHandle<()>,
    /// It takes nothing any more, from the next bytes on.
    stop: Arc<AtomicBool>,
}

/// The program under test; benchmarks name one that was built for speed.
fn program() -> String {
    std::env::var("FABDECK_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_fabdeck").to_owned())
}

struct TerminalOutput {
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
        Self::of(&program(), args, variables, (width, height), true)
    }

    /// A shell with jobs, whose prompt is `$ `; `$fabdeck` is the program.
    pub fn shell() -> Self {
        let variables = [("fabdeck", program()), ("PS1", "$ ".to_owned())];
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Self::of("bash", &["--norc", "--noprofile", "-i"], &variables, (80, 24), true)
    }

    /// On a terminal whose end sends no signal.
    pub fn without_signals(args: &[&str]) -> Self {
        Self::of(&program(), args, &[], (80, 24), false)
    }

    fn of(program: &str, args: &[&str], variables: &[(&str, &str)], size: (u16, u16), signals: bool) -> Self {
        let (width, height) = size;
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let home = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.set_controlling_tty(signals);
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.env("LANG", "C.UTF-8");
        command.env("HOME", home.path());
        command.env_remove("NO_COLOR");
        command.cwd(home.path());
        variables.iter().for_each(|(name, value)| command.env(name, value));
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let seen = Arc::new(Mutex::new(TerminalOutput {
            screen: vt100::Parser::new(sign_count(height), sign_count(width), 0),
            bytes: 0,
            raw: Vec::new(),
            last: Instant::now(),
        }));
        let keys = Some(pair.master.take_writer().unwrap());
        let mut session = Self { home, master: Some(pair.master), child, keys, seen, reader: None, modes };
        session.take_again();
        session
    }

    /// Where the program runs.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Takes what comes.
    pub fn take_again(&mut self) {
        let mut from = self.master.as_ref().unwrap().try_clone_reader().unwrap();
        let (to, stop) = (self.seen.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let mut seen = to.lock().unwrap();
                seen.screen.process(&buffer[..count]);
                seen.bytes += count;
                seen.raw.extend_from_slice(&buffer[..count]);
                seen.last = Instant::now();
                drop(seen);
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        self.reader = Some(Reader { thread, stop });
    }

    /// Takes nothing any more, as a connection that hangs.
    pub fn take_nothing(&mut self) {
        let reader = self.reader.take().unwrap();
        reader.stop.store(true, Ordering::SeqCst);
        // The next bytes are the last: a little frame, so that nothing of it is left on the way.
        self.press("j");
        reader.thread.join().unwrap();
    }

    /// Closes the terminal from outside.
    pub fn hang_up(&mut self) {
        self.take_nothing();
        std::thread::sleep(Duration::from_millis(100));
        (self.master, self.keys) = (None, None);
    }

    /// Processor time that the program has used, in hundredths of a second.
    pub fn worked(&self) -> u64 {
        let fields = self.status();
        let time = |at: usize| fields[at].parse::<u64>().unwrap();
        time(11) + time(12)
    }

    /// The largest amount of memory that the program has used until now, in MB.
    pub fn peak_memory_mb(&self) -> u64 {
        let id = self.child.process_id().unwrap();
        let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }

    /// How far the threads of the session stand behind others: of the one that draws first, then of the rest.
    pub fn nice_values(&self) -> (i32, Vec<i32>) {
        let id = self.child.process_id().unwrap();
        let nice = |thread: &Path| -> Option<i32> {
            // A thread may end meanwhile.
            let stat = std::fs::read_to_string(thread.join("stat")).ok()?;
            // The name of a thread, in brackets, may have blanks; the value is the 17th field after it.
            stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok()
        };
        let main = Path::new("/proc").join(id.to_string()).join("task").join(id.to_string());
        let all = std::fs::read_dir(main.parent().unwrap()).unwrap().map(|thread| thread.unwrap().path());
        let rest = all.filter(|thread| *thread != main).filter_map(|thread| nice(&thread));
        (nice(&main).unwrap(), rest.collect())
    }

    /// `R`, `S`, `T`: as the kernel tells it.
    pub fn process_state(&self) -> String {
        self.status()[0].clone()
    }

    /// What the kernel tells of the process, from its state on.
    fn status(&self) -> Vec<String> {
        let id = self.child.process_id().unwrap();
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let (_, behind_name) = text.rsplit_once(") ").unwrap();
        behind_name.split(' ').map(str::to_owned).collect()
    }

    #[track_caller]
    pub fn until_stopped(&self) {
        let begun = Instant::now();
        while self.process_state() != "T" {
            assert!(begun.elapsed() < PATIENCE, "it did not stop:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn text(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
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
        let to = self.keys.as_mut().unwrap();
        to.write_all(keys.as_bytes()).unwrap();
        to.flush().unwrap();
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

    /// Goes to the Map and from the drawn map to the tree, where most tests begin: the program opens on Health.
    #[track_caller]
    pub fn open_map(&mut self) {
        self.until("1 Health");
        self.press("2");
        self.until("drawn");
        self.press("V");
        self.until("spines");
    }

    /// Waits until something has come, and then nothing for a while.
    #[track_caller]
    pub fn settled_after(&self, before: usize) {
        let begun = Instant::now();
        while self.bytes() == before {
            assert!(begun.elapsed() < PATIENCE, "nothing came:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(2));
        }
        self.quiet();
    }

    /// Waits until nothing has come for a while.
    pub fn quiet(&self) {
        let busy = || self.text().contains("Esc cancels");
        while busy() || self.seen.lock().unwrap().last.elapsed() < Duration::from_millis(1500) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn resize(&self, width: u16, height: u16) {
        let master = self.master.as_ref().unwrap();
        // A wide frame that arrives on the narrow screen would wrap and scroll it.
        let mut seen = self.seen.lock().unwrap();
        seen.screen.screen_mut().set_size(sign_count(height), sign_count(width));
        master.resize(PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 }).unwrap();
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

    /// The terminal is set as before the program ran.
    #[track_caller]
    pub fn assert_modes(&self) {
        assert_eq!(modes(&**self.master.as_ref().unwrap()), self.modes);
    }

    /// Whether the program asks the terminal for clicks and drags.
    pub fn has_mouse(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().mouse_protocol_mode()
            == vt100::MouseProtocolMode::ButtonMotion
    }

    /// While a session has the terminal it is set otherwise, or the look at its modes would prove nothing.
    #[track_caller]
    pub fn assert_taken(&self) {
        assert_ne!(modes(&**self.master.as_ref().unwrap()), self.modes);
    }

    /// The alternate screen is left, the cursor is shown, pasting and modes are as they were.
    #[track_caller]
    pub fn assert_restored(&self) {
        self.assert_modes();
        std::thread::sleep(Duration::from_millis(100));
        let seen = self.seen.lock().unwrap();
        let screen = seen.screen.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        assert!(!screen.bracketed_paste(), "pasting is still bracketed");
        let mouse = screen.mouse_protocol_mode();
        assert_eq!(mouse, vt100::MouseProtocolMode::None, "the mouse is still reported");
    }
}

/// Every mode of a terminal: echo, lines, signals, translations, its special signs.
fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
