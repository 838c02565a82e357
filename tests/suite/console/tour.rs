//! The tour through the demo: what each step says to press leads to the next one.

use super::fixture::open_session;
use super::pty::Session;
use fabdeck::console::features::screens::ScreenId;

/// The keys of each step, and what the screen shows once they are pressed.
const STEPS: [(&str, &str); 8] = [
    ("4", "Tour 2 of 10: Who is hit, and why"),
    ("2", "Tour 3 of 10: Where it is"),
    ("v3", "Tour 4 of 10: A cable that wears out"),
    ("\r", "Tour 5 of 10: Ask what its failure would cost"),
    ("f", "Tour 6 of 10: Who would be hit"),
    ("6", "Tour 7 of 10: Compare reroutes"),
    ("p", "Tour 8 of 10: Apply one"),
    // Three risks are acknowledged before Apply works.
    ("\ta", "Cancel ]"),
];

#[test]
fn the_keys_of_each_step_lead_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("often.toml");
    std::fs::write(&config, "[watch]\ninterval = \"1s\"\n").unwrap();
    let config = config.display().to_string();
    let mut session = Session::open(&["--config", &config, "--source", "sim:demo"], 120, 40);
    session.until("live 1 s");
    session.press(":tour\r");
    session.until("Tour 1 of 10: What is wrong");
    session.until("storage01");
    for (keys, wanted) in STEPS {
        session.press(keys);
        session.until(wanted);
    }
    let before = session.bytes();
    session.press("\x1b");
    session.settled_after(before);
    for wanted in
        ["Tour 9 of 10: Confirm it, or roll it back", "Tour 10 of 10: Go back in time", "the tour has ended"]
    {
        session.press(".");
        session.until(wanted);
    }
    session.press("qqqqq");
    session.ended();
}

#[test]
fn a_step_that_was_done_before_is_read_first() {
    let mut driver = open_session("sim:demo");
    driver.press(":mark space spine-1 enter :tour enter");
    assert_eq!(driver.state.tour.step, Some(0), "it begins on Health");
    // The key for the next step goes to the screen that it is about.
    for about in [ScreenId::Hotspots, ScreenId::Map, ScreenId::Links, ScreenId::Links] {
        driver.press(".");
        assert_eq!(driver.state.screen, about);
    }
    assert_eq!(driver.state.tour.step, Some(4), "a part is marked already, and the step stays");
    driver.press("F");
    assert_eq!(driver.state.tour.step, Some(4));
    driver.press(":mark space spine-1 enter");
    assert_eq!(driver.state.tour.step, Some(5), "marked anew, it goes on");
    driver.press(", , :tour enter");
    assert_eq!(driver.state.tour.step, None);
    driver.press(".");
    assert_eq!(driver.state.tour.step, None, "no key begins it again");
}

/// A step shows what its text is about, whatever the screen showed before and whatever was passed over.
#[test]
fn a_step_sets_what_it_shows() {
    let mut driver = open_session("sim:demo");
    driver.press("2 V : t o u r enter");
    driver.press("enter");
    assert_eq!(driver.state.tour.step, Some(0), "the page of a card stays open to be read");
    driver.press("esc . .");
    assert!(driver.state.screens.map.shows_map(), "the text is about the drawn map");
    driver.press(". .");
    assert!(driver.state.known.marks.is_empty());
    driver.press(".");
    assert_eq!(driver.state.tour.step, Some(5));
    assert!(!driver.state.known.marks.is_empty(), "What-if needs a mark");
}
