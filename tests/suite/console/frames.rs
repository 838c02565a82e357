//! Every screen on three fabrics, at four sizes: what stands there and in which style; and that no state is told by
//! colour alone.

use fabdeck::console::{Depth, Role};
use fabdeck::session::interactive::{Driver, Happening, Size};

use super::desk::{SIZES, appearance, desk, failed, frame, golden, styles, text};

/// A tree of three stages with failures marked below, an irregular fabric, and the demo.
const FABRICS: [(&str, &str); 3] = [
    ("demo", "sim:demo"),
    ("tree", "sim:kary,k=3,n=3,faults=2"),
    ("random", "sim:random,switches=9,links=16,terminals=2"),
];

/// What is pressed to see a screen, from the first frame on.
const SCREENS: [(&str, &str); 16] = [
    ("tree", "enter down enter"),
    ("switches", "tab"),
    ("hosts", "tab tab s"),
    ("map", "tab tab tab right"),
    ("node", "tab enter"),
    ("links", "2 down"),
    ("links filtered", "2 / kind=switch-switch enter s"),
    ("whatif", "tab f down f 3"),
    ("engines", "2 / kind=switch-switch enter f p"),
    ("engine", "2 / kind=switch-switch enter f p enter"),
    ("help", "?"),
    ("palette", ": p"),
    ("log", "tab f M"),
    ("details", "tab d j"),
    ("users", "2 / kind=switch-switch enter U"),
    ("names offered", "4 enter e"),
];

fn at_all_sizes(driver: &mut Driver) -> String {
    let look = appearance("dark", Depth::True);
    let mut said = String::new();
    for (width, height) in SIZES {
        driver.happen(Happening::Resized(Size { width, height }));
        let buffer = frame(&driver.state, &look);
        said.push_str(&format!("== {width}x{height}\n{}", text(&buffer)));
        // The styles of one size tell of all.
        if (width, height) == SIZES[0] {
            said.push_str(&format!("-- styles\n{}", styles(&buffer, look.theme.style(Role::Text))));
        }
    }
    said
}

#[test]
fn every_screen_of_every_fabric() {
    for (fabric, source) in FABRICS {
        for (screen, keys) in SCREENS {
            let mut driver = desk(source);
            driver.press(keys);
            golden(&format!("{fabric} {screen}"), &at_all_sizes(&mut driver));
        }
    }
}

#[test]
fn paths_of_the_demo() {
    let mut driver = desk("sim:demo");
    driver.press("4 enter node01 enter node24 enter");
    golden("demo paths", &at_all_sizes(&mut driver));
    driver.press("3 2 / kind=switch-switch enter f p 4 tab");
    golden("demo paths proposed", &at_all_sizes(&mut driver));
}

#[test]
fn a_source_that_cannot_be_read_says_why() {
    let mut driver = failed("FD-5003: no such file: site.topo; name a file, a folder, or sim:NAME");
    golden("unreadable", &at_all_sizes(&mut driver));
}

/// Where two moments differ in colours, they differ without.
#[test]
fn nothing_is_told_by_colour_alone() {
    let keys = [
        "tab", "down", "f", "down", "2", "down", "f", "3", "p", "down", "enter", "esc", "tab", "f", "1",
        "tab", "right",
    ];
    for (_, source) in FABRICS {
        let mut driver = desk(source);
        let (colour, mono) = (appearance("dark", Depth::True), appearance("mono", Depth::Mono));
        let mut before = (frame(&driver.state, &colour), frame(&driver.state, &mono));
        for key in keys {
            driver.press(key);
            let after = (frame(&driver.state, &colour), frame(&driver.state, &mono));
            assert_eq!(before.0 != after.0, before.1 != after.1, "{source}: {key}");
            before = after;
        }
    }
}

/// Rows whose style says something say it in words or signs as well: two rows of equal text have equal styles.
#[test]
fn equal_text_has_equal_style_without_colours() {
    let mono = appearance("mono", Depth::Mono);
    for (_, source) in FABRICS {
        let mut driver = desk(source);
        driver.press("2 f down down f up");
        let buffer = frame(&driver.state, &mono);
        assert!(
            (0..24).all(|y| (0..80).all(|x| buffer[(x, y)].fg == ratatui::style::Color::Reset)),
            "{source}"
        );
        assert!(text(&buffer).contains('✗'), "{source}: a mark has a sign of its own");
        assert!(text(&buffer).contains('▶'), "{source}: the cursor has a sign of its own");
    }
}

/// A frame of a hundred thousand rows is made of those in sight.
#[test]
fn the_first_row_and_the_last_cost_the_same() {
    let mut driver = desk("sim:kary,k=6,n=3");
    driver.press("2 G");
    let look = appearance("dark", Depth::True);
    assert!(text(&frame(&driver.state, &look)).contains("648/648"), "{}", text(&frame(&driver.state, &look)));
}
