//! Paths steps through the LIDs of a destination that has several.

use super::fixture::{appearance, frame, open_session, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn lid(driver: &TestSession) -> u16 {
    driver.state.screens.paths.trace.as_ref().expect("a path").lid.value()
}

#[test]
fn keys_step_through_the_lids_of_the_destination_and_around_them() {
    let mut driver = open_session("sim:mport,m=4,n=3");
    driver.press("5 :trace space node1 space node15 enter");
    // The second host of the fabric picks the second of four LIDs.
    let base = lid(&driver) - 1;
    let screen = shown(&driver);
    assert!(screen.contains("LID 2 of 4 (picked); ) next"), "{screen}");
    let hops = |driver: &TestSession| driver.state.screens.paths.trace.as_ref().unwrap().hops.clone();
    let mut paths = vec![hops(&driver)];
    for after in [2, 3, 0] {
        driver.press(")");
        assert_eq!(lid(&driver), base + after);
        assert!(driver.state.screens.paths.trace.as_ref().unwrap().has_arrived());
        paths.push(hops(&driver));
    }
    assert!(!shown(&driver).contains("(picked)"));
    driver.press(")");
    assert_eq!((lid(&driver), hops(&driver)), (base + 1, paths[0].clone()));
    driver.press("(");
    assert_eq!(lid(&driver), base);
    let line = driver.state.current().command(&driver.state.known).unwrap();
    assert!(line.starts_with("trace ") && line.ends_with(&format!("--lid {base}")), "{line}");
    // Another destination begins at the LID that the sender picks.
    driver.press(":trace space node1 space node12 enter");
    assert!(shown(&driver).contains("(picked)"), "{}", shown(&driver));
}

#[test]
fn one_lid_is_nothing_to_step_through() {
    let mut driver = open_session("sim:demo");
    driver.press("5 )");
    let last = |driver: &TestSession| driver.state.messages.last().map(|message| message.text.clone());
    assert!(last(&driver).unwrap().contains("needs two ends"));
    driver.press(":trace space node01 space node24 enter )");
    assert!(last(&driver).unwrap().contains("the destination has one LID"));
    assert!(!shown(&driver).contains("(picked)"));
}
