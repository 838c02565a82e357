//! The real program on a terminal of its own: what it sends, what signals do, and that the terminal is as it was.

use std::time::{Duration, Instant};

use super::pty::{PATIENCE, Session};

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
    while session.has_alternate_screen() {
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

/// The screen of the shell is as it was, whatever was to be drawn when the session ended.
#[test]
fn a_redraw_at_the_very_end_wipes_nothing() {
    for keys in ["\x0cqq", "\x0c\x03"] {
        let mut session = Session::open(&["--source", "sim:demo"], 80, 24);
        session.until("spines");
        session.quiet();
        let before = session.bytes();
        session.press(keys);
        session.ended();
        session.assert_restored();
        let sent = session.raw_since(before);
        let left = sent.windows(8).position(|window| window == b"\x1b[?1049l").expect("the screen is left");
        assert!(!sent[left..].windows(4).any(|window| window == b"\x1b[2J"), "{}", sent.escape_ascii());
    }
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

/// A worker that has a bug must not leave a screen that nobody can read.
#[test]
fn a_bug_in_a_worker_restores_the_terminal_and_says_so() {
    let mut session = Session::open_with(&["--source", "sim:demo"], &[("FABDECK_BREAK", "worker")], 80, 24);
    assert_eq!(session.ended(), 101);
    session.assert_restored();
    let said = session.text();
    assert!(said.contains("fabdeck: bug:") && said.contains("the log is in"), "{said}");
}
