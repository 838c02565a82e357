//! However a session ends or is held up, the terminal is as it was before, and the exit code tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fabdeck_live::socket::Server;
use fabdeck_live::{LiveOptions, create_simulator};
use fabdeck_mad::Method;
use fabdeck_routing::{ENGINES, Engine};

use super::pty::{PATIENCE, Session};

fn demo() -> Session {
    let mut session = Session::open(&["--source", "sim:demo"], 80, 24);
    session.open_map();
    session.assert_taken();
    session
}

/// What was sent since, counted by a sequence in it.
fn count(session: &Session, since: usize, sequence: &str) -> usize {
    let sent = session.raw_since(since);
    sent.windows(sequence.len()).filter(|window| *window == sequence.as_bytes()).count()
}

/// Keys until the session has ended leave no thread, no mode and no screen of it behind.
#[test]
fn quitting_leaves_the_terminal_as_it_was() {
    for (keys, code) in [("qq", 0), ("\x11", 0), ("\x03", 130), (":quit\r", 0)] {
        let mut session = demo();
        session.press(keys);
        assert_eq!(session.ended(), code, "{keys:?}");
        session.assert_restored();
    }
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let mut session = demo();
        session.signal(signal);
        assert_eq!(session.ended(), code, "{signal}");
        session.assert_restored();
    }
}

/// What the thread that reads keys breaks at, where that is wanted.
const PASTE: &str = "\x1b[200~x\x1b[201~";

/// A screen that nobody can read, and an exit code that says all is well, must not come of a bug anywhere.
#[test]
fn a_bug_restores_the_terminal_and_says_so() {
    for place in ["worker", "draw", "input"] {
        let mut session = Session::open_with(&["--source", "sim:demo"], &[("FABDECK_BREAK", place)], 80, 24);
        if place == "input" {
            session.open_map();
            session.press(PASTE);
        }
        assert_eq!(session.ended(), 101, "{place}");
        session.assert_restored();
        let said = session.text();
        assert!(said.contains("fabdeck: bug:") && said.contains("the log is in"), "{place}: {said}");
    }
}

#[test]
fn a_session_stops_and_goes_on() {
    let mut session = demo();
    for _ in 0..2 {
        session.signal("TSTP");
        session.until_stopped();
        session.assert_restored();
        let before = session.bytes();
        session.signal("CONT");
        session.settled_after(before);
        session.until("spines");
        session.assert_taken();
        assert_eq!(count(&session, before, "\x1b[?1049h"), 1, "the terminal is taken once");
        assert_eq!(count(&session, before, "\x1b[2J"), 1, "and drawn once");
    }
    // Nobody took the terminal away: it is drawn anew, for somebody may have written on it.
    let before = session.bytes();
    session.signal("CONT");
    session.settled_after(before);
    assert_eq!((count(&session, before, "\x1b[?1049h"), count(&session, before, "\x1b[2J")), (0, 1));
    session.press("3");
    session.until("STATE");
    session.press("qq");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
}

/// What ends a session that is stopped ends it before it takes the terminal again.
#[test]
fn a_session_that_is_stopped_can_be_ended() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let mut session = demo();
        session.press("\x1a");
        session.until_stopped();
        session.assert_restored();
        session.signal(signal);
        session.signal("CONT");
        assert_eq!(session.ended(), code, "{signal}");
        session.assert_restored();
    }
    let mut session = demo();
    session.signal("TSTP");
    session.until_stopped();
    session.signal("KILL");
    session.ended();
    session.assert_restored();
}

/// Under a shell that has the terminal while its job is stopped.
#[test]
fn a_job_of_a_shell_stops_goes_on_and_ends() {
    let mut shell = Session::shell();
    shell.until("$ ");
    shell.press("$fabdeck --source sim:demo\r");
    shell.open_map();
    shell.press("\x1a");
    shell.until("Stopped");
    let before = shell.bytes();
    shell.press("fg\r");
    shell.until("spines");
    shell.settled_after(before);
    assert_eq!(count(&shell, before, "\x1b[?1049h"), 1, "the terminal is taken once");
    shell.press("3");
    shell.until("STATE");
    shell.press("\x1a");
    shell.until("Stopped");
    // In the background it leaves the terminal to the shell.
    let before = shell.bytes();
    shell.press("bg\r");
    shell.press("sleep 0.5; echo 'sh'ell\r");
    shell.until("shell");
    shell.press("jobs | sed s/Stopped/asleep/\r");
    shell.until("asleep");
    assert_eq!(count(&shell, before, "\x1b[?1049h"), 0, "the shell has the terminal");
    // `kill` of a shell ends a stopped job: a signal, then that it goes on.
    shell.press("kill %1; sleep 0.3; jobs\r");
    shell.until("Exit 143");
    assert_eq!(count(&shell, before, "\x1b[?1049h"), 0, "the shell has the terminal");
    shell.press("exit\r");
    shell.ended();
}

#[test]
fn a_terminal_that_is_closed_ends_the_session() {
    let mut session = demo();
    session.hang_up();
    assert_eq!(session.ended(), 129);
    // Not every process gets a signal when its terminal goes.
    let mut session = Session::without_signals(&["--source", "sim:demo"]);
    session.open_map();
    session.hang_up();
    assert_eq!(session.ended(), 129);
}

/// A session whose line has taken all that it takes.
fn hung(variables: &[(&str, &str)]) -> Session {
    let mut session = Session::open_with(&["--source", "sim:switch648"], variables, 200, 60);
    session.open_map();
    session.take_nothing();
    for _ in 0..40 {
        session.press("3\x0c2\x0c");
        std::thread::sleep(Duration::from_millis(10));
    }
    session
}

/// A connection that hangs takes nothing: what ends a session still does.
#[test]
fn a_line_that_hangs_holds_up_no_signal() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut session = hung(&[]);
        let begun = Instant::now();
        session.signal(signal);
        assert_eq!(session.ended(), code, "{signal}");
        assert!(begun.elapsed() < PATIENCE / 2, "{signal} was heard after {:?}", begun.elapsed());
        session.assert_modes();
    }
    let mut session = hung(&[("FABDECK_BREAK", "input")]);
    session.press(PASTE);
    assert_eq!(session.ended(), 101, "nor a bug");
    session.assert_modes();
}

/// What was not taken is not caught up with.
#[test]
fn a_line_that_hung_gets_the_latest_frame() {
    let mut session = hung(&[]);
    session.press("3");
    std::thread::sleep(Duration::from_millis(500));
    // It takes again: the latest frame comes, and not all of those in between.
    let before = session.bytes();
    session.take_again();
    session.until("DEGRADED");
    session.quiet();
    let frames = count(&session, before, "\x1b[?2026l");
    assert!(frames < 20, "{frames} frames for a line that took none");
    session.press("qq");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
}

/// A plan is asked for and the session is left at once, over a disk that is slow.
fn left_while_a_plan_is_written(place: &str, leave: &str) -> (Session, u32) {
    let variables = [("FABDECK_BREAK", place)];
    let mut session = Session::open_with(&["--source", "sim:kary,k=3,n=2"], &variables, 100, 30);
    session.open_map();
    session.press("V");
    session.until("SWITCH LINKS");
    session.press("f6p");
    session.until("clean");
    session.quiet();
    session.press("w\x15mine.plan\r");
    session.until("writing mine.plan");
    session.press(leave);
    let code = session.ended();
    session.assert_restored();
    (session, code)
}

fn files(session: &Session) -> Vec<String> {
    let names = std::fs::read_dir(session.home()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains("plan")).collect()
}

#[test]
fn a_plan_is_whole_or_absent_when_the_session_ends() {
    for (leave, wanted) in [("qqq", 0), ("\x03", 130)] {
        let (session, code) = left_while_a_plan_is_written("slow-write", leave);
        assert_eq!((code, files(&session)), (wanted, vec!["mine.plan".to_owned()]));
        let text = std::fs::read_to_string(session.home().join("mine.plan")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        assert!(!session.text().contains("error"), "{}", session.text());
    }
    // A disk that never answers holds nobody up, and what is not there is told.
    for (leave, wanted) in [("qqq", 1), ("\x03", 130)] {
        let (session, code) = left_while_a_plan_is_written("stuck-write", leave);
        assert_eq!(code, wanted);
        assert!(!session.home().join("mine.plan").exists());
        assert!(session.text().contains("FD-9002: nothing was written to mine.plan"), "{}", session.text());
    }
}

/// Waits until the program uses no processor time any more, and says how much it has used.
fn at_rest(session: &Session) -> u64 {
    let begun = Instant::now();
    let mut before = session.worked();
    loop {
        std::thread::sleep(Duration::from_millis(400));
        let now = session.worked();
        if now <= before + 1 {
            return now;
        }
        before = now;
        assert!(begun.elapsed() < PATIENCE, "it works on and on:\n{}", session.text());
    }
}

/// Esc ends the work of an engine, not only its line on the screen: no thread goes on. Routes, certificate and
/// differences come one after the other, and each can be ended.
#[test]
fn what_is_cancelled_works_no_more() {
    // Hundredths of a second of processor time: far less than an engine takes here.
    const MOST: u64 = 100;
    // Counters that are read every five seconds are work as well.
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("unwatched.toml");
    std::fs::write(&config, "[watch]\ninterval = \"0s\"\n").unwrap();
    let config = config.display().to_string();
    let mut session = Session::open(&["--config", &config, "--source", "sim:switch3456"], 100, 30);
    session.open_map();
    session.quiet();
    session.press("6");
    session.until("ENGINE");
    let mut cancelled = 0;
    // Those for hosts that pick, and for tori, refuse this fabric at once.
    let refuses = |engine: &&Engine| engine.uses_path_bits() || engine.uses.torus;
    let engines = ENGINES.iter().filter(|engine| !refuses(engine));
    for engine in engines.clone() {
        session.press("6");
        at_rest(&session);
        session.press(&format!(":preview {}\r", engine.id));
        session.until(&format!("{} routes", engine.id));
        let before = session.worked();
        session.press("\x1b");
        // The quickest may be done before the key is read: then there is nothing to end.
        let took = at_rest(&session) - before;
        let was_ended = session.text().contains(&format!("cancelled: {} routes", engine.id));
        println!("{}: {took} hundredths of a second after Esc, cancelled: {was_ended}", engine.id);
        assert!(took <= MOST, "{} worked on for {took} hundredths of a second", engine.id);
        cancelled += usize::from(was_ended);
    }
    assert!(cancelled * 2 >= engines.count(), "{cancelled} were cancelled");
    session.press("\x03");
    assert_eq!(session.ended(), 130);
}

/// Whoever serves the fabric goes away: what was read stays on the screen, and the session goes on.
#[test]
fn a_source_that_goes_away_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s").display().to_string();
    let mut server = std::process::Command::new(env!("CARGO_BIN_EXE_fabdeck"))
        .args(["--source", "sim:demo", "simulate", "--serve", &socket])
        .env("HOME", folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !std::path::Path::new(&socket).exists() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut session = Session::open(&["--source", &format!("sim:{socket}")], 100, 30);
    session.open_map();
    session.quiet();
    server.kill().unwrap();
    server.wait().unwrap();
    session.press("r");
    session.until("error: ");
    session.press("3");
    session.until("STATE");
    session.press("qq");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
}

/// Whoever lets traps be reported gives that back when he leaves, however he does; what was reported stands in the log.
#[test]
fn a_session_that_subscribed_to_traps_unsubscribes() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let story = file("it.story", "1500ms silent node3\n");
    let config = file("config.toml", "[watch]\ninterval = \"500ms\"\n");
    for (leave, code) in [("qqq", 0), ("\x03", 130)] {
        let socket = folder.path().join("s");
        let text = format!("sim:kary,k=2,n=2,story={story}");
        let (simulator, _) = create_simulator(&text, &LiveOptions::default()).unwrap();
        let server = Server::bind(&socket, simulator).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let served = std::thread::spawn(move || server.run(&flag, &mut |_| ()));
        let source = format!("sim:{}", socket.display());
        let live = ["--config", &config, "--retries", "0", "--timeout", "100ms", "--traps"];
        let mut session = Session::open(&[&["--source", &source], &live[..]].concat(), 120, 30);
        session.open_map();
        session.press("M");
        session.until("trap: 65, a port is out of service: node3");
        session.press(leave);
        assert_eq!(session.ended(), code, "{leave:?}");
        session.assert_restored();
        stop.store(true, Ordering::Relaxed);
        let traffic = served.join().unwrap().traffic;
        let sent = |method: Method| traffic.sent.get(&method.0).copied().unwrap_or(0);
        assert_eq!(sent(Method::SET), 2, "{:?}", traffic.sent);
        assert!(sent(Method::REPORT_RESPONSE) >= 1, "{:?}", traffic.sent);
        assert_eq!(traffic.sent.len(), 3, "{:?}", traffic.sent);
    }
}
