//! Labels of ports on the screens: beside port numbers, in details, and in the line that goes to anything.

use super::fixture::{appearance, frame, look, text};
use super::test_session::TestSession;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::details::ElementDetail;
use fabdeck::console::features::goto::goto_state::GotoGroup;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, FabricBuilder, NameMap, PortNum};

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn type_line(driver: &mut TestSession, line: &str) {
    driver.press(":").send_input(SessionInput::Paste(line.to_owned()));
}

/// A fabric in which the first switch is a model with a rule for labels, and no port states one.
fn guessed() -> Snapshot {
    let plain = look("sim:kary,k=4,n=2");
    let mut builder = FabricBuilder::from_fabric(plain.fabric());
    let first = plain.fabric().switches().next().unwrap().0;
    let facts = builder.node_mut(first.into());
    (facts.description, facts.port_count) = ("MF0;q1:MQM9700/U1".to_owned(), 65);
    let observation = Observation { fabric: builder.finish(), ..plain.observation };
    Snapshot::new("test", observation, &NameMap::default())
}

#[test]
fn lists_details_and_pages_have_the_labels_of_both_ends() {
    let look = look("sim:kary,k=4,n=2,labels=all");
    let size = Size { width: 200, height: 60 };
    let mut driver = TestSession::open(look.clone(), size);
    driver.press("3");
    let list = shown(&driver);
    assert!(list.contains("LABEL") && list.contains("1/1/1"), "{list}");
    driver.press("enter");
    let page = shown(&driver);
    assert!(page.matches("label 1/").count() + page.matches("label Physical1/").count() >= 2, "{page}");
    // A narrow screen has room for width and speed first.
    driver.press("esc").send_input(SessionInput::Resized(Size { width: 80, height: 24 }));
    let narrow = shown(&driver);
    assert!(!narrow.contains("LABEL") || narrow.contains("WIDTH"), "{narrow}");
    let (switch, _) = look.fabric().switches().next().unwrap();
    let port = look.fabric().port_of(switch, PortNum(1)).unwrap();
    let lines = |what: ElementId| ElementDetail(what).lines(&driver.state.known);
    let line = |what: ElementId, label: &str| {
        lines(what).into_iter().find(|(own, _)| *own == label).map(|(_, text)| text).unwrap_or_default()
    };
    assert_eq!(line(ElementId::Port(port), "label"), "1/1/1, by the device");
    let link = look.fabric().port(port).link.unwrap();
    assert!(
        line(ElementId::Link(link), "from").contains("(1/1/1)"),
        "{}",
        line(ElementId::Link(link), "from")
    );
}

#[test]
fn a_guess_has_its_sign_and_says_so_where_it_is_used() {
    let mut driver = TestSession::open(guessed(), Size { width: 120, height: 40 });
    let look = driver.state.snapshot().unwrap().clone();
    let (switch, _) = look.fabric().switches().next().unwrap();
    let port = look.fabric().port_of(switch, PortNum(2)).unwrap();
    let lines = ElementDetail(ElementId::Port(port)).lines(&driver.state.known);
    assert!(lines.contains(&("label", "1/1/2?, a guess by the rule of the model".to_owned())), "{lines:?}");
    // The line that goes to anything finds the port by its label.
    type_line(&mut driver, "MF0;q1:MQM9700/U1[1/1/2]");
    let rows = &driver.state.goto.rows;
    let found = rows.iter().find(|row| row.group == GotoGroup::Ports).map(|row| row.text.as_str());
    assert_eq!(found, Some("MF0;q1:MQM9700/U1[2] (1/1/2?)"), "{}", shown(&driver));
    driver.press("esc");
    type_line(&mut driver, "mark MF0;q1:MQM9700/U1[1/1/2]");
    driver.press("enter");
    let messages: Vec<&str> = driver.state.messages.iter().map(|message| message.text.as_str()).collect();
    assert!(messages.iter().any(|text| text.contains("is a guess by the rule of its model")), "{messages:?}");
    assert_eq!(driver.state.marks_as_arguments().matches("--fail").count(), 1, "{messages:?}");
}
