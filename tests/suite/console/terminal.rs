//! The real program on a terminal of its own: what it sends, what signals do, and that the terminal is as it was.

use super::pty::Session;

#[test]
fn open_move_filter_mark_preview_plan_and_quit() {
    let mut session = Session::open(&["--source", "sim:kary,k=3,n=2"], 100, 30);
    session.open_map();
    session.press("V");
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

/// The colour of texts in a theme, as the terminal gets it.
fn has_text_colour(session: &Session, before: usize, colour: &str) -> bool {
    String::from_utf8_lossy(&session.raw_since(before)).contains(colour)
}

const DARK_TEXT: &str = "38;2;201;209;217";
const LIGHT_TEXT: &str = "38;2;36;41;47";

/// The terminal says what its ground is, between the keys; none of it is a key.
#[test]
fn the_theme_follows_the_ground_of_the_terminal() {
    let mut session = Session::open(&["--source", "sim:demo"], 100, 30);
    session.open_map();
    let asked = String::from_utf8_lossy(&session.raw_since(0)).contains("\x1b]11;?\x1b\\");
    assert!(asked && has_text_colour(&session, 0, DARK_TEXT));
    let before = session.bytes();
    session.press("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    session.settled_after(before);
    assert!(has_text_colour(&session, before, LIGHT_TEXT));
    assert!(session.text().contains("Map"), "no key went to another screen: {}", session.text());
    session.press("qq");
    assert_eq!(session.ended(), 0);
    // A theme that was chosen stays whatever the ground is, and the terminal is not asked.
    let mut session = Session::open(&["--theme", "dark", "--source", "sim:demo"], 100, 30);
    session.open_map();
    assert!(!String::from_utf8_lossy(&session.raw_since(0)).contains("\x1b]11;?"));
    session.press("qq");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_theme_is_shown_while_it_is_picked_and_taken_by_enter() {
    let mut session = Session::open(&["--theme", "dark", "--source", "sim:demo"], 100, 30);
    session.open_map();
    session.quiet();
    let before = session.bytes();
    session.press(":theme light");
    session.until("theme light");
    session.quiet();
    assert!(has_text_colour(&session, before, LIGHT_TEXT), "it is shown");
    let before = session.bytes();
    session.press("\x1b");
    session.settled_after(before);
    assert!(has_text_colour(&session, before, DARK_TEXT), "esc leaves it as it was");
    session.press(":theme light");
    session.until("theme light");
    session.press("\r");
    session.until("go to");
    session.quiet();
    let before = session.bytes();
    session.press("\x0c");
    session.settled_after(before);
    assert!(has_text_colour(&session, before, LIGHT_TEXT) && !has_text_colour(&session, before, DARK_TEXT));
    session.press(":theme mauve\r");
    session.until("there is no theme 'mauve': dark, light");
    session.press("qq");
    assert_eq!(session.ended(), 0);
}
