//! What details of a cable say of its error counters.

use super::fixture::look;
use super::test_session::TestSession;
use super::watches::{incast, swept, watching};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::features::details::ElementDetail;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::observe::Counter;
use fabdeck_fabric::{ElementId, PortNum};

/// Details of a cable have every error counter of both its ends, with its value and its growth.
#[test]
fn details_of_a_cable_list_the_error_counters_of_both_ends() {
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    let look = driver.state.snapshot().unwrap().clone();
    let node = look.fabric().nodes().find(|(id, _)| look.name(*id) == "rack2-leaf").unwrap().0;
    let port = look.fabric().ports_of(node).find(|(_, port)| port.number == PortNum(3)).unwrap().1;
    let link = ElementId::Link(port.link.unwrap());
    let lines = ElementDetail(link).lines(&driver.state.known);
    let at = lines.iter().position(|(label, _)| *label == "errors").expect("error counters");
    let (header, counters) = (&lines[at].1, &lines[at + 1..]);
    assert!(header.contains("rack2-leaf") && header.contains("; growth in 10 s"), "{header}");
    let of = |name: &str| {
        let found = counters.iter().find(|(_, text)| text.starts_with(name)).map(|(_, text)| text);
        found
            .unwrap_or_else(|| panic!("{name}: {lines:?}"))
            .split_whitespace()
            .skip(1)
            .filter(|word| *word != "|")
            .collect::<Vec<_>>()
    };
    let symbol = of("SymbolErrorCounter");
    assert!(symbol.contains(&"10") || symbol.contains(&"15"), "{symbol:?}");
    assert!(symbol.contains(&"+10") && symbol.contains(&"+0"), "{symbol:?}");
    // Those that are 0 are counted.
    for quiet in ["LinkDownedCounter", "PortRcvErrors", "PortXmitDiscards", "PortRcvRemotePhysicalErrors"] {
        assert!(counters.iter().all(|(_, text)| !text.starts_with(quiet)), "{quiet}: {lines:?}");
    }
    let rest = counters.iter().find(|(_, text)| text.ends_with("other counters are 0 at both ends"));
    assert!(rest.is_some_and(|(_, text)| text.starts_with("12 ")), "{lines:?}");
    // A source without counters has none to show.
    let bare = TestSession::open(look_without_counters(), Size::default());
    assert!(ElementDetail(link).lines(&bare.state.known).iter().all(|(label, _)| *label != "errors"));
}

/// Values and growth have digits in groups of three, so that millions are read at a glance.
#[test]
fn error_counters_of_a_cable_have_digits_in_groups_of_three() {
    let mut driver = watching(|second| {
        vec![
            ("rack2-leaf", 3, Counter::SymbolErrorCounterExt, 1_234_567 * second),
            ("rack2-leaf", 3, Counter::PortRcvErrorsExt, 999 + second / 100),
        ]
    });
    swept(&mut driver, 3);
    let look = driver.state.snapshot().unwrap().clone();
    let node = look.fabric().nodes().find(|(id, _)| look.name(*id) == "rack2-leaf").unwrap().0;
    let port = look.fabric().ports_of(node).find(|(_, port)| port.number == PortNum(3)).unwrap().1;
    let lines = ElementDetail(ElementId::Link(port.link.unwrap())).lines(&driver.state.known);
    let text = |name: &str| {
        lines.iter().find(|(_, text)| text.starts_with(name)).map(|(_, text)| text.clone()).expect("its line")
    };
    assert_eq!(text("SymbolErrorCounter"), "SymbolErrorCounter: 12,345,670 +12,345,670 | 0 +0");
    assert_eq!(text("PortRcvErrors"), "PortRcvErrors: 999 +0 | 0 +0");
}

fn look_without_counters() -> Snapshot {
    let mut look = look("sim:demo");
    look.observation.counters.clear();
    look
}
