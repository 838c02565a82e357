//! The real program on a terminal of its own: what it sends, what signals do, and that the terminal is as it was.

use super::pty::Session;

#[test]
fn open_move_filter_mark_preview_plan_and_quit() {
    let mut session = Session::open(&["--source", "sim:kary,k=3,n=2"], 100, 30);
    session.open_map();
    session.press("\t");
    session.until("SWITCH LINKS");
    session.press("/leaf\r");
    session.until("1 of 3, 6 in all");
    session.press("jf");
    session.until("is marked as failed");
    session.press("6p");
    session.until("clean");
    session.press("\r");
    session.until("ordered pairs");
    session.press("\x1b");
    session.until("ENGINE");
    session.press("w");
    session.until("write the plan to");
    session.press("\r");
    session.until("the plan is in");
    session.press("2");
    session.until("leaf0");
    // Out of the filter, to Health, and out.
    session.press("qqq");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
}

/// The screen of the shell is as it was, whatever was to be drawn when the session ended.
#[test]
fn a_redraw_at_the_very_end_wipes_nothing() {
    for keys in ["\x0cqq", "\x0c\x03"] {
        let mut session = Session::open(&["--source", "sim:demo"], 80, 24);
        session.open_map();
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
    session.open_map();
    for step in 0..60u16 {
        session.resize(20 + step * 3, 5 + step);
    }
    session.resize(90, 20);
    session.quiet();
    session.press("3");
    session.until("STATE");
    session.press("\x03");
    assert_eq!(session.ended(), 130);
    session.assert_restored();
}
