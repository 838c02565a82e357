//! Every screen on three fabrics, at four sizes: what stands there and in which style.

use super::fixture::{SIZES, appearance, failed, frame, golden, look, open_session, shared, styles, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::NodeId;

/// A tree of three stages with failures marked below, an irregular fabric, and the demo.
pub const FABRICS: [(&str, &str); 3] = [
    ("demo", "sim:demo"),
    ("tree", "sim:kary,k=3,n=3,faults=2"),
    ("random", "sim:random,switches=9,links=16,terminals=2"),
];

/// What is pressed to see a screen, from the first frame on.
const SCREENS: [(&str, &str); 19] = [
    ("tree", "enter down enter"),
    ("switches", "V"),
    ("hosts", "V V s"),
    ("map", "V V V right"),
    ("node", "V enter"),
    ("links", "3 down"),
    ("links filtered", "3 / kind=switch-switch enter s"),
    ("filter unreadable", "3 / lid>"),
    ("whatif", "V f down f 6"),
    ("marks", "3 / kind=switch-switch enter f down f 6 V down"),
    ("engines", "3 / kind=switch-switch enter f p"),
    ("engine", "3 / kind=switch-switch enter f p enter"),
    ("help", "?"),
    ("tour", ":tour enter ."),
    ("palette", ": p"),
    ("log", "V f M"),
    ("details", "V d j"),
    ("users", "3 / kind=switch-switch enter U"),
    ("names offered", "5 enter e"),
];

/// From the first host to the last, as it is and under a proposal.
const PATHS: [(&str, &str); 3] =
    [("path", ""), ("path lost", "down f"), ("path proposed", "6 : p r e v i e w space u p d n enter 5 V")];

/// A session on each screen of a fabric, by the name of what is shown.
pub fn every_screen(source: &str) -> Vec<(&'static str, TestSession)> {
    let seen = look(source);
    let mut screens = Vec::new();
    for (screen, keys) in SCREENS {
        let mut driver = shared(seen.clone());
        driver.press(keys);
        screens.push((screen, driver));
    }
    let name = |id: NodeId| seen.names.unique_name(seen.fabric(), id);
    let nodes = seen.fabric().nodes().filter(|(_, node)| !node.is_switch());
    let hosts: Vec<String> = nodes.map(|(id, _)| name(id)).collect();
    for (screen, keys) in PATHS {
        let mut driver = shared(seen.clone());
        driver.press("5 enter").send_input(SessionInput::Paste(hosts[0].clone()));
        driver.press("enter").send_input(SessionInput::Paste(hosts[hosts.len() - 1].clone()));
        driver.press("enter").press(keys);
        assert!(driver.state.screens.paths.trace.is_some(), "{source}: {:?}", driver.state.messages);
        screens.push((screen, driver));
    }
    screens
}

fn at_all_sizes(driver: &mut TestSession) -> String {
    let colours = appearance("dark", ColorDepth::True);
    let mut said = String::new();
    for (width, height) in SIZES {
        driver.send_input(SessionInput::Resized(Size { width, height }));
        let buffer = frame(&driver.state, &colours);
        said.push_str(&format!("== {width}x{height}\n{}", text(&buffer)));
        // The styles of a narrow screen and of one with details beside the list tell of all.
        if (width, height) == SIZES[0] || (width, height) == SIZES[1] {
            said.push_str(&format!("-- styles\n{}", styles(&buffer, colours.theme.blank())));
        }
    }
    said
}

#[test]
fn every_screen_of_every_fabric() {
    for (fabric, source) in FABRICS {
        for (screen, mut driver) in every_screen(source) {
            golden(&format!("{fabric} {screen}"), &at_all_sizes(&mut driver));
        }
    }
}

/// Fabrics that are larger or of another structure than those above.
const OTHER_FABRICS: [(&str, &str); 4] = [
    ("720 switches", "sim:switch3456"),
    ("dragonfly", "sim:dragonfly,a=8,p=4,h=2,g=15"),
    ("torus", "sim:torus,dims=6x6x4,terminals=2"),
    ("irregular", "sim:irregular,family=pods,seed=3"),
];

/// The keys from each screen to the next. What-if has the second switch marked.
const OTHER_SCREENS: [(&str, &str); 13] = [
    ("health", "1"),
    ("tree", "2"),
    ("switches", "V"),
    ("hosts", "V"),
    ("map", "V"),
    ("links", "3"),
    ("hot-spots", "4"),
    ("paths", "5"),
    ("what-if", "2 V V down f 6"),
    ("lanes", "7"),
    ("jobs", "8"),
    ("changes", "9"),
    ("timeline", "0"),
];

#[test]
fn every_screen_of_large_and_unusual_fabrics() {
    let colours = appearance("dark", ColorDepth::True);
    for (fabric, source) in OTHER_FABRICS {
        let mut driver = open_session(source);
        driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
        let mut said = String::new();
        for (screen, keys) in OTHER_SCREENS {
            driver.press(keys);
            said.push_str(&format!("== {screen}\n{}", text(&frame(&driver.state, &colours))));
        }
        golden(fabric, &said);
    }
}

#[test]
fn a_source_that_cannot_be_read_says_why() {
    let mut driver = failed("FD-5003: no such file: site.topo; name a file, a folder, or sim:NAME");
    golden("unreadable", &at_all_sizes(&mut driver));
}

/// A frame of a hundred thousand rows is made of those in sight.
#[test]
fn the_first_row_and_the_last_cost_the_same() {
    let mut driver = open_session("sim:kary,k=6,n=3");
    driver.press("3 G");
    let look = appearance("dark", ColorDepth::True);
    assert!(
        text(&frame(&driver.state, &look)).contains("648 of 648"),
        "{}",
        text(&frame(&driver.state, &look))
    );
}
