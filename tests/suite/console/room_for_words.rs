//! What a screen has room for: names cut between words, columns that say how a cable runs, alternatives by name, and summed-up
//! maps where lines have no room.

use super::fake_changes::{FakeChanges, offer, row};
use super::fixture::open_session;
use super::test_session::TestSession;
use super::watches::shown;
use fabdeck::console::drawing::canvas::shorten_name;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::goto::goto_layout::GotoLayout;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::model::layout::{Areas, Size};
use fabdeck::console::model::prompt::Purpose;
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::WriteAccess;
use fabdeck::operations::changes::weak_links::{WeakLinkUse, weak_link_words};
use fabdeck_change::ChangePhase;

fn sized(source: &str, width: u16, height: u16) -> TestSession {
    let mut driver = open_session(source);
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver
}

fn typed(driver: &mut TestSession, text: &str) {
    driver.send_input(SessionInput::Paste(text.to_owned()));
    driver.press("enter");
}

#[test]
fn names_are_cut_between_their_words() {
    let cut = |name, room| shorten_name(name, room, "…");
    assert_eq!(cut("storage01 mlx5_0[1]", 14), "storage01…0[1]", "no digit is lost where that is possible");
    assert_eq!(cut("Mellanox Technologies Aggregation Node", 14), "Mellanox…Node");
    assert_eq!(cut("storage01 mlx5_0", 13), "storage01…_0");
    assert_eq!(cut("rack12-row3-leaf03", 13), "rack12…leaf03", "as before where words do not fit better");
}

/// How a cable runs stands in the list on a narrow screen too; what it carries gives way.
#[test]
fn links_have_width_and_speed_on_narrow_screens() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut driver = sized("sim:demo", width, height);
        driver.press("3");
        driver.press("/");
        typed(&mut driver, "width=1x");
        let screen = shown(&driver);
        let heads = screen.lines().find(|line| line.contains(" PORT ")).unwrap_or_else(|| panic!("{screen}"));
        for head in ["WIDTH", "SPEED", "DEGRADED"] {
            assert!(heads.contains(head), "{head}: {screen}");
        }
        assert!(screen.lines().any(|line| line.contains("rack3-leaf") && line.contains(" 1x ")), "{screen}");
    }
}

/// Enter asks for both ends one after the other, and keys go to the line until both are there.
#[test]
fn the_ends_of_a_path_are_asked_for_again() {
    let mut driver = sized("sim:demo", 80, 24);
    driver.press("5 enter");
    typed(&mut driver, "node01");
    typed(&mut driver, "node13");
    assert!(driver.state.screens.paths.trace.is_some() && driver.state.prompt.is_none());
    driver.press("enter n o d e 0 3 enter");
    assert_eq!(driver.state.prompt.as_ref().map(|prompt| prompt.purpose), Some(Purpose::To));
    driver.press("n o d e 1 8 enter");
    let ends = |driver: &TestSession| {
        let paths = &driver.state.screens.paths;
        (paths.from.clone().unwrap(), paths.to.clone().unwrap())
    };
    assert_eq!(ends(&driver), ("node03".to_owned(), "node18".to_owned()));
    assert!(driver.state.prompt.is_none());
    // What is there stays where nothing is typed.
    driver.press("enter enter n o d e 1 9 enter");
    assert_eq!(ends(&driver), ("node03".to_owned(), "node19".to_owned()));
    // A name that is none keeps the line open.
    driver.press("enter z z z enter");
    assert_eq!(
        driver.state.prompt.as_ref().map(|prompt| prompt.purpose),
        Some(Purpose::From),
        "{}",
        shown(&driver)
    );
    driver.press("n o d e 0 4 enter enter");
    assert_eq!(ends(&driver), ("node04".to_owned(), "node19".to_owned()));
}

#[test]
fn other_ways_are_named_on_a_narrow_screen() {
    let mut driver = sized("sim:demo", 80, 24);
    driver.press("5 enter");
    typed(&mut driver, "node01");
    typed(&mut driver, "node13");
    let screen = shown(&driver);
    let others = screen.split_once("others").unwrap_or_else(|| panic!("{screen}")).1;
    assert!(
        others.contains("as near: rack1-leaf[") && others.matches("] to spine-").count() >= 3,
        "{screen}"
    );
}

/// The names of the rows and of the first and the last column of the map of groups are whole.
#[test]
fn the_map_of_groups_has_whole_names() {
    let mut driver = sized("sim:switch648", 80, 24);
    driver.press("2");
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("V");
    }
    let screen = shown(&driver);
    assert!(screen.contains("leaf0") && screen.contains("leaf35"), "{screen}");
    assert!(screen.contains("leaf9-11 ") && screen.contains("leaf33-35 "), "{screen}");
    assert!(!screen.contains("lea…"), "{screen}");
}

#[test]
fn what_if_draws_groups_where_lines_have_no_room() {
    let mut driver = sized("sim:switch648", 200, 60);
    driver.press(": r a n d o m space 3 enter 6 : p r e v i e w space f t r e e enter");
    // The engine that was asked for is below those that were not.
    for _ in 0..12 {
        if !shown(&driver).contains("groups of neighbours") {
            driver.press("j");
        }
    }
    let screen = shown(&driver);
    assert!(screen.matches("groups of neighbours: paths over the busiest cable").count() == 2, "{screen}");
    assert!(screen.contains("spine0 … spine17"), "{screen}");
    // The number of what differs is that of the cells whose numbers differ.
    let rows = screen.lines().filter(|line| line.contains("leaf") && line.contains("││ leaf"));
    let cells = |side: &str| side.split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>();
    let sides = rows.filter_map(|line| line.split_once("││")).map(|(live, preview)| {
        let preview = format!("│ {preview}");
        cells(live).into_iter().zip(cells(&preview)).filter(|(live, preview)| live != preview).count()
    });
    let differ: usize = sides.sum();
    assert!(differ > 0 && screen.contains(&format!("between two; {differ} differ")), "{differ}: {screen}");
    assert!(!screen.contains("no room"), "{screen}");
}

/// A wide screen has all of the change at the cursor beside the list.
#[test]
fn changes_use_a_wide_screen() {
    let fake = FakeChanges::new(Ok(offer(0)), vec![row(1, ChangePhase::Confirmed)]);
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.send_input(SessionInput::Resized(Size { width: 200, height: 60 }));
    driver.press("9");
    driver.advance_ms(2000);
    let screen = shown(&driver);
    let row = screen.lines().find(|line| line.contains("updn") && line.contains("confirmed"));
    let heads = screen.lines().nth(2).unwrap_or_default();
    assert!(row.is_some() && heads.contains("─ Change 1 ─"), "{screen}");
    assert_eq!(screen.matches("1-abcd").count(), 1, "its id stands there once: {screen}");
}

#[test]
fn the_line_to_anything_uses_a_wide_screen() {
    let layout = |width, height| GotoLayout::new(&Areas::new(Size { width, height }, false));
    assert!(layout(200, 60).dialog.width >= 160 && layout(200, 60).preview.width >= 70);
    assert!(layout(120, 40).dialog.width <= 104);
}

/// The question before a reroute names the worst cable that it sends over.
#[test]
fn a_reroute_over_a_bad_cable_says_so() {
    let used = |words: &str, before, after| WeakLinkUse { words: words.to_owned(), before, after };
    let weak =
        vec![used("a[1] to b[2] runs at 1x HDR of 4x HDR", 13, 16), used("c[1] to d[2] has errors", 2, 1)];
    let words = "a[1] to b[2] runs at 1x HDR of 4x HDR: 16 destinations go over it, before 13; and over 1 more bad cable";
    assert_eq!(weak_link_words(&weak).as_deref(), Some(words));
    assert_eq!(weak_link_words(&[]), None);
    let mut asked = offer(0);
    asked.facts.weak_links = weak;
    let fake = FakeChanges::new(Ok(asked), Vec::<ChangeRow>::new());
    let mut driver = fake.session(WriteAccess::Simulated);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("3 f p a");
    let screen = shown(&driver);
    assert!(screen.contains("bad cable  a[1] to b[2] runs at 1x"), "{screen}");
}
