//! Keys over a screen, completion, rows that are selected, the map, and what stays when the source is looked at again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fixture::{appearance, changed_demo, frame, look, open_session, text};
use super::test_session::TestSession;
use super::test_session::{begun_task, first_task, run_alone};
use fabdeck::catalogue::severity::Severity;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::features::map::tree::TreeItem;
use fabdeck::console::features::row_selection::SelectionTask;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::features::snapshot_change::{PathIndexTask, SnapshotOutcome, SnapshotTask};
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::keymap::Keymap;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::overlay::Overlay;
use fabdeck_fabric::ElementId;

fn bound(keys: &[(&str, &str)]) -> TestSession {
    let mut driver = open_session("sim:demo");
    let own: BTreeMap<String, Vec<String>> =
        keys.iter().map(|(id, key)| ((*id).to_owned(), vec![(*key).to_owned()])).collect();
    driver.state.keymap = Keymap::with_overrides(&own).unwrap();
    driver
}

/// What a key asks of whoever runs the session.
fn press_and_collect(driver: &mut TestSession, key: &str) -> Vec<Effect> {
    let what = SessionInput::Key(key.parse::<Key>().unwrap());
    update(&mut driver.state, SessionEvent { at_ms: 0, what })
}

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn last_message(driver: &TestSession) -> &str {
    driver.state.messages.last().map_or("", |message| message.text.as_str())
}

#[test]
fn help_over_details_leads_back_to_them() {
    let mut driver = open_session("sim:demo");
    driver.press("1 d");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))));
    driver.press("? q");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))), "{:?}", driver.state.layer);
    driver.press("? ?");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))), "{:?}", driver.state.layer);
    driver.press("q");
    assert!(driver.state.layer.is_none() && driver.state.screen == ScreenId::Health);
}

#[test]
fn what_lies_over_a_screen_has_its_keys_from_the_same_table() {
    let mut driver = bound(&[("down", "x"), ("last", "Y"), ("back", "Q"), ("help", "!"), ("details", "D")]);
    driver.press("!");
    let top = |driver: &TestSession| match &driver.state.layer {
        Some(Overlay::Help(help)) => help.scroll.top,
        layer => panic!("{layer:?}"),
    };
    driver.press("x x");
    assert_eq!(top(&driver), 2);
    driver.press("j G");
    assert_eq!(top(&driver), 2, "keys that were taken from these actions do nothing");
    driver.press("Y");
    let bottom = top(&driver);
    driver.press("k");
    assert_eq!(top(&driver), bottom - 1, "the last row is no further than the last row");
    driver.press("q");
    assert!(driver.state.layer.is_some() && last_message(&driver).contains("closes this page"));
    driver.press("Q");
    assert!(driver.state.layer.is_none() && !driver.state.leaving);
    driver.press("V D");
    assert!(matches!(driver.state.layer, Some(Overlay::Details(_))));
    driver.press("!");
    assert!(matches!(driver.state.layer, Some(Overlay::Help(_))), "help is there over everything");
    driver.press("! D");
    assert!(driver.state.layer.is_none());
}

#[test]
fn keys_of_the_screen_below_say_that_they_are() {
    let mut driver = open_session("sim:demo");
    driver.press("V ? f");
    assert!(driver.state.known.marks.is_empty());
    assert_eq!(last_message(&driver), "f is mark on the screen below; esc closes this page");
    driver.press("6");
    assert_eq!((driver.state.screen, driver.state.layer.is_none()), (ScreenId::Whatif, true));
    driver.press("2 M :mark space spine-1 enter");
    assert!(driver.state.layer.is_none() && driver.state.known.marks.len() == 1, "words reach below");
}

#[test]
fn the_screen_is_drawn_again_and_left_to_the_shell_from_anywhere() {
    for keys in ["", "?", "M", "V d", ":tour enter", ":", "/ x", "? /"] {
        let mut driver = open_session("sim:demo");
        driver.press(keys);
        assert!(matches!(press_and_collect(&mut driver, "ctrl-l")[..], [Effect::Redraw]), "{keys}");
        assert!(matches!(press_and_collect(&mut driver, "ctrl-z")[..], [Effect::Suspend]), "{keys}");
    }
    let mut driver = bound(&[("suspend", "f9")]);
    driver.press(":");
    assert!(matches!(press_and_collect(&mut driver, "f9")[..], [Effect::Suspend]));
    assert!(press_and_collect(&mut driver, "ctrl-z").is_empty() && driver.state.prompt.is_some());
}

#[test]
fn help_is_searched_and_closed() {
    let mut driver = open_session("sim:demo");
    driver.press("? / v i a space p");
    assert!(!shown(&driver).contains("Show the keys"));
    driver.press("esc");
    assert!(shown(&driver).contains("Show the keys"), "Esc takes the search back");
    driver.press("/ tour enter");
    assert!(shown(&driver).contains("Take the tour") && !shown(&driver).contains("One row up"));
    driver.press("q");
    assert!(driver.state.layer.is_none());
}

#[test]
fn tab_completes_what_is_common_and_then_picks() {
    let mut driver = open_session("sim:demo");
    driver.press(": s c tab");
    let line = |driver: &TestSession| driver.state.prompt.as_ref().unwrap().clone();
    assert_eq!((line(&driver).text.as_str(), line(&driver).picked), ("screen-", None));
    driver.press("tab tab tab tab enter");
    assert_eq!(driver.state.screen, ScreenId::Hotspots, "the fourth of the offers");
    // What cannot do without more goes on.
    driver.press(": r a n enter");
    assert_eq!(line(&driver).text, "random ");
    driver.press("2 enter");
    assert_eq!(driver.state.known.marks.len(), 2);
    driver.press("2 V : s o r t space l tab enter");
    assert_eq!(driver.state.current().table().sort.as_ref().unwrap().0, "lid");
}

#[test]
fn names_with_blanks_are_picked() {
    let mut driver = open_session("sim:demo");
    driver.press(": t r a c e space node01 tab");
    assert_eq!(driver.state.prompt.as_ref().unwrap().text, "trace \"node01 mlx5_0\"");
    driver.press("space node2 down down enter");
    let paths = &driver.state.screens.paths;
    assert_eq!((paths.from.as_deref(), paths.to.as_deref()), (Some("node01 mlx5_0"), Some("node21 mlx5_0")));
    assert!(paths.trace.is_some());
    driver.press(": t r a c e space a space b space c enter");
    assert!(last_message(&driver).contains("'c' is a third"), "{}", last_message(&driver));
}

#[test]
fn cables_and_ports_are_offered() {
    let mut driver = open_session("sim:demo");
    driver.press(":users space rack1-l tab");
    assert_eq!(driver.state.prompt.as_ref().unwrap().text, "users rack1-leaf[");
    driver.press("8 tab enter");
    assert!(driver.state.screens.paths.users.is_some());
    driver.press(":mark space port:rack1-leaf[8 tab enter");
    assert_eq!(driver.state.marks_as_arguments(), " --fail 'port:rack1-leaf[8]'");
    driver.press(":mark space spine-2");
    let offers = &driver.state.prompt.as_ref().unwrap().offers;
    assert!(offers.iter().any(|offer| offer.text == "mark switch:spine-2"), "{offers:?}");
    assert!(offers.iter().any(|offer| offer.text == "mark link:spine-2[1]"), "{offers:?}");
}

#[test]
fn rows_are_selected_and_marked_together() {
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter space space down space");
    assert_eq!(driver.state.selected().len(), 3);
    let screen = shown(&driver);
    assert!(screen.contains("3 selected") && screen.matches('●').count() == 3, "{screen}");
    driver.press("f");
    assert_eq!(driver.state.known.marks.len(), 3);
    assert!(
        last_message(&driver).starts_with("3 elements are marked as failed"),
        "{}",
        last_message(&driver)
    );
    assert_eq!(shown(&driver).matches('⊗').count(), 3);
    driver.press("c");
    let line = driver.copied.last().unwrap();
    assert_eq!((line.matches("--fail").count(), line.contains(" whatif ")), (3, true), "{line}");
    driver.press("z");
    assert!(driver.state.known.marks.is_empty(), "one step back");
    driver.press("f g up down down f");
    assert!(driver.state.known.marks.is_empty(), "f takes all three away again");
    // F takes away the marks of the rows that are selected, and no other.
    driver.press("f :mark space spine-1 enter F");
    assert_eq!(driver.state.marks_as_arguments(), " --fail switch:spine-1");
    driver.press("esc");
    assert!(driver.state.selected().is_empty());
    assert_eq!(
        driver.state.current().table().filter,
        "kind=switch-switch",
        "Esc lets one thing go at a time"
    );
    driver.press("z z z z z");
    assert!(
        last_message(&driver).contains("no change of the marks can be undone")
            || driver.state.known.marks.is_empty()
    );
}

#[test]
fn one_cable_has_its_users_and_several_say_why_not() {
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter space space U");
    assert!(last_message(&driver).contains("one cable are shown at a time"));
    driver.press("up space down down down U");
    assert_eq!(driver.state.screen, ScreenId::Paths);
    assert!(
        shown(&driver).contains("rack1-leaf[7]"),
        "the row that is selected, not the cursor:\n{}",
        shown(&driver)
    );
}

/// The rank of the switch under the cursor, and its name.
fn on_map(driver: &TestSession) -> (usize, String) {
    let state = &driver.state;
    let Some(ElementId::Node(id)) = state.current().current(&state.known) else { panic!("a switch") };
    let rank = state.known.tiers.iter().position(|tier| tier.switches.contains(&id)).unwrap();
    (rank, state.snapshot().unwrap().name(id).to_owned())
}

#[test]
fn arrows_follow_the_map() {
    let mut driver = open_session("sim:demo");
    // Lines have no room here: the map is a sign for each switch.
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 12 }));
    driver.press("V V V right");
    assert_eq!(driver.state.screens.map.view, MapView::Drawn);
    assert_eq!(on_map(&driver), (0, "spine-2".to_owned()));
    driver.press("right right right");
    assert_eq!(on_map(&driver), (0, "spine-3".to_owned()), "left and right stay in the rank");
    driver.press("down");
    assert_eq!(on_map(&driver), (1, "rack3-leaf".to_owned()), "the nearest below");
    driver.press("down right right up");
    assert_eq!(on_map(&driver), (0, "spine-3".to_owned()), "the nearest above");
    // On a narrow screen a rank goes on in the next line.
    driver.send_input(SessionInput::Resized(Size { width: 8, height: 24 }));
    driver.press("g down down");
    assert_eq!(on_map(&driver), (1, "rack4-leaf".to_owned()));
}

/// Whichever switch one stands on, down and up lead over a cable.
#[test]
fn arrows_lead_along_cables_only() {
    let mut driver = open_session("sim:mport,m=4,n=3");
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 12 }));
    driver.press("V V V");
    let of = driver.state.snapshot().unwrap().clone();
    let linked = |from: &str, to: &str| {
        let (id, _) = of.fabric().switches().find(|(id, _)| of.name(*id) == from).unwrap();
        let peers = of.fabric().ports_of(id).filter_map(|(_, port)| port.peer);
        peers.map(|peer| of.name(of.fabric().port(peer).node)).any(|peer| peer == to)
    };
    let ranks: Vec<usize> = driver.state.known.tiers.iter().map(|tier| tier.switches.len()).collect();
    let count = ranks.iter().sum::<usize>();
    let mut steps = 0;
    for at in 0..count {
        for arrow in ["down", "up"] {
            driver.state.current_mut().0.table_mut().move_to(at);
            let (rank, from) = on_map(&driver);
            driver.press(arrow);
            let (there, to) = on_map(&driver);
            assert!(there == rank || linked(&from, &to), "{arrow} leads from {from} to {to}");
            steps += usize::from(there != rank);
        }
    }
    assert_eq!(steps, 2 * count - ranks[0] - ranks[ranks.len() - 1], "both ways but from the ends");
}

#[test]
fn hosts_stand_in_the_tree_by_rack_and_by_name() {
    let mut driver = open_session("sim:demo");
    driver.press("G up enter down");
    let tree = shown(&driver);
    assert!(tree.contains("- racks") && tree.contains("+ rack1-leaf"), "{tree}");
    driver.press("enter down");
    let state = &driver.state;
    let Some(ElementId::Node(host)) = state.current().current(&state.known) else {
        panic!("{}", shown(&driver))
    };
    let rack = &state.known.racks[0];
    assert_eq!((rack.name.as_str(), rack.hosts.first()), ("rack1-leaf", Some(&host)));
    assert_eq!(state.snapshot().unwrap().name(host), "Mellanox Technologies Aggregation Node", "by name");
    driver.press("G enter");
    assert!(shown(&driver).contains("- hosts (36, 9 SHARP)"), "{}", shown(&driver));
    driver.press("down enter");
    assert_eq!(driver.state.current().crumbs(&driver.state.known).len(), 2, "Enter goes into a host");
}

fn look_again(driver: &mut TestSession, after: &Arc<Snapshot>) {
    let effects = press_and_collect(driver, "r");
    let (task, _) = first_task::<SnapshotTask>(&effects);
    let outcome = Box::new(SnapshotOutcome(Ok(after.clone())));
    driver.send_input(SessionInput::Finished { task, outcome });
}

/// Whoever looks again stays where they were, though ids are others now.
#[test]
fn a_look_at_a_changed_fabric_keeps_the_place() {
    let after = Arc::new(look("sim:demo,silent=20%,seed=7"));
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter 2 V G space");
    let link = |driver: &TestSession| {
        let state = &driver.state;
        let links = &state.screens;
        links.get(ScreenId::Links).current(&state.known).and_then(|what| state.known.element(what))
    };
    let named = |driver: &TestSession| {
        let state = &driver.state;
        state.current().current(&state.known).and_then(|what| state.known.element(what)).unwrap()
    };
    let before = (named(&driver), link(&driver));
    look_again(&mut driver, &after);
    assert_ne!(driver.state.snapshot().unwrap().fabric(), look("sim:demo").fabric());
    assert_eq!(driver.state.screens.map.view, MapView::Switches, "the view stays");
    assert_eq!((named(&driver), link(&driver)), before);
    assert_eq!(driver.state.selected().len(), 1);
    driver.press("esc :previous-view enter");
    assert!(driver.state.known.tiers.iter().all(|tier| {
        tier.switches.iter().all(|id| driver.state.snapshot().unwrap().fabric().node(*id).is_switch())
    }));
    assert!(matches!(driver.state.screens.map.item(), Some(TreeItem::Tier(_))));
}

/// Paths over the same cables are those in force until the new ones are indexed.
#[test]
fn paths_stand_until_the_new_ones_are_known() {
    let other = changed_demo();
    let mut driver = open_session("sim:demo");
    driver.press("3 / kind=switch-switch enter U");
    let held = driver.state.known.paths.clone().unwrap();
    let effects = press_and_collect(&mut driver, "r");
    let (task, _) = first_task::<SnapshotTask>(&effects);
    let outcome = Box::new(SnapshotOutcome(Ok(Arc::new(other))));
    let what = SessionInput::Finished { task, outcome };
    let effects = update(&mut driver.state, SessionEvent { at_ms: 0, what });
    assert!(driver.state.known.paths.as_ref().is_some_and(|paths| Arc::ptr_eq(paths, &held)));
    assert!(driver.state.screens.paths.users.is_some());
    let index = begun_task::<PathIndexTask>(&effects);
    let (task, job) = index.expect("paths are indexed");
    let outcome = run_alone(&*job);
    driver.send_input(SessionInput::Finished { task, outcome });
    assert!(driver.state.known.paths.as_ref().is_some_and(|paths| !Arc::ptr_eq(paths, &held)));
}

#[test]
fn a_long_message_says_where_it_is_shown_in_full() {
    let mut driver = open_session("sim:demo");
    let long = "a word ".repeat(20) + "and the end";
    driver.state.log_message(Severity::Warning, long);
    let screen = shown(&driver);
    assert!(screen.contains("M shows all") && !screen.contains("and the end"), "{screen}");
    driver.press("M");
    assert!(shown(&driver).contains("and the end"));
    driver.press("q").state.log_message(Severity::Info, "short");
    assert!(!shown(&driver).contains("M shows all"));
}

#[test]
fn production_is_named_by_a_word_at_any_width() {
    let mut driver = open_session("sim:demo");
    for width in [60, 80, 200] {
        driver.send_input(SessionInput::Resized(Size { width, height: 24 }));
        let screen = text(&frame(&driver.state, &appearance("production", ColorDepth::Mono)));
        assert!(screen.lines().next().unwrap().contains("PRODUCTION"), "{screen}");
        assert!(screen.lines().next().unwrap().contains("read-only"), "{screen}");
    }
    assert!(!shown(&driver).contains("PRODUCTION"));
}

#[test]
fn signs_stand_apart_from_names_in_ascii() {
    let mut driver = open_session("sim:demo");
    driver.press("V f down space");
    let ascii = Appearance { signs: Symbols::ASCII, ..appearance("mono", ColorDepth::Mono) };
    let screen = text(&frame(&driver.state, &ascii));
    assert!(screen.contains("\n x rack1-leaf") && screen.contains("\n + rack2-leaf"), "{screen}");
    assert!(screen.is_ascii(), "{screen}");
}

#[test]
fn the_footer_shows_enter_and_tab_where_they_lead_somewhere() {
    let mut driver = open_session("sim:demo");
    let footer = |driver: &TestSession| shown(driver).lines().last().unwrap().to_owned();
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 30 }));
    assert!(footer(&driver).contains("enter open") && footer(&driver).contains("V view"));
    driver.press("3");
    assert!(footer(&driver).contains("enter open") && !footer(&driver).contains("V view"));
    driver.press("enter");
    assert!(!footer(&driver).contains("enter open"), "the page of a cable has nothing inside");
    driver.press("esc");
    driver.press("6");
    assert!(!footer(&driver).contains("enter open"), "no engine has answered");
    driver.press("p");
    assert!(footer(&driver).contains("enter open"));
    for width in [40, 80] {
        driver.send_input(SessionInput::Resized(Size { width, height: 24 }));
        assert!(footer(&driver).contains("q back"), "the way out is always there: {}", footer(&driver));
    }
}

#[test]
fn the_pane_shows_the_engine_and_what_is_torn() {
    let mut driver = open_session("sim:demo");
    // A wider screen shows live beside preview.
    driver.send_input(SessionInput::Resized(Size { width: 179, height: 60 }));
    driver.press("2 V V f 6");
    let screen = shown(&driver);
    assert!(screen.contains("not run: p runs all of them") && screen.contains("multicast group"), "{screen}");
    assert!(screen.contains("as one end failed"), "{screen}");
    driver.press("p");
    let screen = shown(&driver);
    for word in ["ENTRIES", "BLOCKS", "UNUSED %", "ordered pairs", "longest path"] {
        assert!(screen.contains(word), "{word} in\n{screen}");
    }
}

/// Of a long list the old rows stay until the new ones are known.
#[test]
fn a_long_list_is_gone_through_behind_the_screen() {
    for keys in ["/ spine enter", "s s s", "s S", "/ spine enter s s", "/ efi> enter", "/ spine enter esc"] {
        let (mut short, mut long) = (open_session("sim:demo"), open_session("sim:demo"));
        long.state.many = 10;
        for driver in [&mut short, &mut long] {
            driver.press("3 down down").press(keys);
        }
        let rows = |driver: &TestSession| {
            let table = driver.state.current().table();
            (table.selection.clone(), table.cursor, table.problem.clone())
        };
        assert_eq!(rows(&long), rows(&short), "{keys}");
    }
    let mut driver = open_session("sim:demo");
    driver.state.many = 10;
    driver.press("3 /");
    let rows = |driver: &TestSession| driver.state.current().table().selection.rows.len();
    let all = rows(&driver);
    let begun = |effects: Vec<Effect>| begun_task::<SelectionTask>(&effects).expect("rows are gone through");
    let (first, job) = begun(press_and_collect(&mut driver, "s"));
    let (second, other) = begun(press_and_collect(&mut driver, "p"));
    assert_eq!(rows(&driver), all, "the old rows stay");
    for (task, job) in [(second, other), (first, job)] {
        let outcome = run_alone(&*job);
        driver.send_input(SessionInput::Finished { task, outcome });
    }
    let (wanted, mut plain) = (rows(&driver), open_session("sim:demo"));
    plain.press("3 / sp");
    assert_eq!(wanted, rows(&plain), "what was asked for first is let go");
    assert!(wanted < all);
    // Another screen goes through rows of its own in the meantime.
    let (links, job) = begun(press_and_collect(&mut driver, "x"));
    driver.press("enter 2 V V /");
    let (hosts, other) = begun(press_and_collect(&mut driver, "g"));
    for (task, job) in [(links, job), (hosts, other)] {
        let outcome = run_alone(&*job);
        driver.send_input(SessionInput::Finished { task, outcome });
    }
    assert!(rows(&driver) < 45, "of hosts, those with a g");
    plain.press("x enter");
    let links = |driver: &TestSession| driver.state.screens.get(ScreenId::Links).table().selection.clone();
    assert_eq!(links(&driver), links(&plain));
}
