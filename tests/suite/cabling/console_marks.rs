//! Wrong cables on the screens: marks on the map, rows of the problem list, a word beside ports.

use std::sync::Arc;

use crate::console::fixture::{appearance, frame, look, text};
use crate::console::test_session::TestSession;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::cabling::cabling_check::check_cabling;
use fabdeck_fabric::{FabricBuilder, NodeKey};
use fabdeck_files::cabling::plan_of_fabric;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

/// A fat tree of which two trunk cables are swapped and a host is unplugged, with its plan.
fn miscabled() -> Snapshot {
    let mut look = look("sim:kary,k=4,n=2");
    let plan = plan_of_fabric(look.fabric(), &look.names, "golden.csv");
    let fabric = look.fabric();
    let trunks: Vec<_> = fabric.links().filter(|(id, _)| fabric.is_between_switches(*id)).collect();
    let ends = |link: &fabdeck_fabric::Link| {
        [link.a, link.b].map(|port| (NodeKey::from(fabric.port(port).node), fabric.port(port).number))
    };
    let ([a, b], [c, d]) = (ends(trunks[0].1), ends(trunks[5].1));
    let host = fabric.links().find(|(id, _)| !fabric.is_between_switches(*id)).map(|(_, link)| ends(link)[0]);
    let mut builder = FabricBuilder::from_fabric(fabric);
    for (node, port) in [a, c, host.unwrap()] {
        builder.disconnect(node, port);
    }
    builder.connect(a, d).unwrap();
    builder.connect(c, b).unwrap();
    look.observation.fabric = builder.finish();
    look.update_names();
    look.cabling_plan = Some(Arc::new(plan));
    look
}

#[test]
fn wrong_cables_are_marked_on_the_map_and_listed_as_problems() {
    let look = miscabled();
    let report = check_cabling(&look, look.cabling_plan.as_deref().unwrap());
    let titles: Vec<String> = report.findings.iter().map(|finding| finding.title.clone()).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    for (width, height) in [(80, 24), (160, 50)] {
        let mut driver = TestSession::open(look.clone(), Size { width, height });
        driver.press("1");
        let health = shown(&driver);
        let begin = |title: &str| title.split(' ').next().unwrap().to_owned();
        assert!(titles.iter().all(|title| health.contains(&begin(title))), "{width}: {health}\n{titles:?}");
        driver.press("2");
        let tree = shown(&driver);
        println!("{tree}");
        // A narrow screen has the tree, with a word for each switch.
        if width == 80 {
            assert_eq!(tree.matches("a cable is wrong").count(), 4, "{tree}");
        }
        while driver.state.screens.map.view != MapView::Drawn {
            driver.press("V");
        }
        let map = shown(&driver);
        println!("{map}");
        // Both swapped cables, and the legend.
        assert!(width == 80 || map.matches('≠').count() >= 3, "{map}");
    }
    let known = TestSession::open(look.clone(), Size { width: 160, height: 50 });
    let wrong = report.findings.iter().flat_map(|finding| finding.links()).next().unwrap();
    let port = look.fabric().link(wrong).a;
    assert_eq!(known.state.known.port_trouble(port), "miscabled");
    let ranked = known.state.known.problems.ranked.as_ref().unwrap();
    let own = ranked.problems.iter().filter(|problem| problem.kind.word() == "miscabled").count();
    assert_eq!(own, 2);
}

#[test]
fn without_a_plan_nothing_is_marked() {
    let mut look = miscabled();
    look.cabling_plan = None;
    let mut driver = TestSession::open(look, Size { width: 160, height: 50 });
    driver.press("2");
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("V");
    }
    assert!(!shown(&driver).contains('≠'));
}
