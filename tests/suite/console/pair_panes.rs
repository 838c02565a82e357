//! Paths with all that a pair has besides its hops: the line of its switches, the way back, the other ports that lead
//! there, what marks do to it, and the routes that engines propose.

use super::fixture::{appearance, frame, golden, look, text};
use super::test_session::TestSession;
use super::watches::{EVERY, incast, lab, shown};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;

fn enter_line(driver: &mut TestSession, line: &str) {
    driver.press(":").send_input(SessionInput::Paste(line.to_owned()));
    driver.press("enter");
}

fn resized(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn on_a_pair() -> TestSession {
    let mut driver = TestSession::open(look("sim:demo"), Size { width: 120, height: 40 });
    enter_line(&mut driver, "trace node01 node16");
    driver
}

fn assert_all(screen: &str, words: &[&str]) {
    for words in words {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

#[test]
fn a_pair_has_its_way_back_and_its_other_ways() {
    let mut driver = on_a_pair();
    let screen = shown(&driver);
    assert_all(
        &screen,
        &[
            "rack1-leaf 12\u{2501}",
            "Way back, node16 to node01",
            "through rack3-leaf, spine-1, rack1-leaf, 2 of 4 cables shared",
            "6 ports, 1 LID",
            "nothing is marked: f marks the cable at",
        ],
    );
    let narrow = resized(&mut driver, 80, 24);
    assert_all(
        &narrow,
        &["Besides this path", "as near: rack1-leaf[7] to spine-1, [8] to spine-1, ", "runs the engines"],
    );
    // All of the hops stay in sight.
    assert_all(&narrow, &["\u{25b6}    1", "     4  rack3-leaf"]);
    let low = resized(&mut driver, 60, 16);
    assert_all(&low, &["rack3-leaf"]);
}

#[test]
fn marks_and_proposals_say_what_they_do_to_the_pair() {
    let mut driver = on_a_pair();
    enter_line(&mut driver, "mark spine-3");
    let screen = shown(&driver);
    assert_all(&screen, &["this pair is lost, at spine-3", "not real", "pairs are without a path"]);
    driver.press("6 p 5");
    let screen = resized(&mut driver, 200, 60);
    assert_all(&screen, &["Under the routes of", "minhop", "through rack1-leaf, spine-"]);
    let narrow = resized(&mut driver, 80, 24);
    assert_all(&narrow, &["engines alike", "this pair is lost, at spine-3"]);
    enter_line(&mut driver, "trace node16 node01");
    driver.press("5");
    assert_all(&shown(&driver), &["this path as it is"]);
    let wide = resized(&mut driver, 120, 40);
    assert_all(&wide, &["its way back is lost, at spine-3"]);
}

#[test]
fn a_wide_screen_has_the_waits_on_the_way_over_time() {
    let (look, sweeper) = lab(incast, Default::default());
    let mut driver = TestSession::open_watching(look, sweeper, EVERY, Size { width: 200, height: 60 });
    for _ in 0..6 {
        driver.advance_ms(5000);
    }
    driver.press("5");
    let start = shown(&driver);
    assert_all(&start, &["asks where the path begins", ":trace "]);
    let example = start.lines().rfind(|line| line.contains(":trace ")).unwrap();
    let ends = example.split(":trace ").nth(1).unwrap().split('\u{2502}').next().unwrap().trim().to_owned();
    enter_line(&mut driver, &format!("trace {ends}"));
    let screen = shown(&driver);
    // A row for each port that sends, there and back: those of six readings.
    assert_all(
        &screen,
        &["Wait on the path there, then back", "node10[1]", "rack2-leaf[8]", "rack2-leaf[5]"],
    );
    assert_eq!(screen.matches("\u{b7}\u{b7}\u{b7}\u{b7}\u{b7}").count(), 8 * 2, "{screen}");
    golden("pair over time", &screen);
}
