//! The lists of partitions and of multicast groups on the Map.

use std::ffi::OsString;

use super::command_lines::{carried_out, first_column};
use super::fixture::{SIZES, appearance, frame, golden, look_at, open_session, shared, styles, text};
use super::pty::Session;
use super::test_session::TestSession;
use fabdeck::catalogue::exit::Exit;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::goto::goto_state::GotoGroup;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::model::layout::Size;
use fabdeck::script::run::{CliResult, run};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_mad::access::ReadOptions;

const SOURCE: &str = "sim:kary,k=2,n=2,pkeys-enforce=all";

fn members() -> TestSession {
    shared(look_at(SOURCE, ReadOptions::EVERYTHING))
}

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn resize(driver: &mut TestSession, (width, height): (u16, u16)) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
}

/// Opens a view by a line, as `--open` and `:open` do.
fn open(driver: &mut TestSession, line: &str) {
    driver.press(":").send_input(SessionInput::Paste(format!("open {line}"))).press("enter");
}

fn view(driver: &TestSession) -> MapView {
    driver.state.screens.map.view
}

#[test]
fn v_turns_to_lists_of_members_that_were_read() {
    let mut driver = members();
    for wanted in [
        MapView::Switches,
        MapView::Hosts,
        MapView::Partitions,
        MapView::Groups,
        MapView::Drawn,
        MapView::Tree,
    ] {
        driver.press("V");
        assert_eq!(view(&driver), wanted);
    }
    // Without them, V leaves them out, and their names say what reads them.
    let mut plain = open_session("sim:kary,k=2,n=2");
    plain.press("V V V");
    assert_eq!(view(&plain), MapView::Drawn);
    for (name, wanted) in [("partitions", MapView::Partitions), ("groups", MapView::Groups)] {
        open(&mut plain, &format!("map view={name}"));
        assert_eq!(view(&plain), wanted);
        let all = shown(&plain).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains("start fabdeck with --with-partitions"), "{all}");
        assert!(all.contains("record --partitions"), "{all}");
    }
    plain.press("V");
    assert_eq!(view(&plain), MapView::Drawn);
}

#[test]
fn lists_of_members_are_what_their_commands_print() {
    for (line, command) in [
        ("map view=partitions", "show partitions"),
        ("map view=partitions filter=member=full", "show partitions --filter member=full"),
        ("map view=groups", "show groups"),
    ] {
        let mut driver = members();
        open(&mut driver, line);
        driver.press("c");
        let copied = driver.copied.last().unwrap().clone();
        assert!(copied.contains(command), "{copied}");
        let (_, json) = carried_out(&copied);
        let id = driver.state.current().listing(&driver.state.known).unwrap().column(0).id.to_string();
        let printed: Vec<String> = json["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[&id].as_str().unwrap().to_owned())
            .collect();
        assert!(!printed.is_empty());
        assert_eq!(printed, first_column(&driver), "{copied}");
        driver.press("c");
        let again = driver.copied.last().unwrap();
        assert!(again.contains("--with-partitions --open 'map view="), "{again}");
    }
}

#[test]
fn the_details_are_those_of_the_member_and_enter_leads_to_its_ports() {
    let mut driver = members();
    resize(&mut driver, (120, 40));
    open(&mut driver, "map view=partitions");
    let all = shown(&driver);
    assert!(all.contains("partition 0x7fff: "), "{all}");
    assert!(all.contains("8 members, 8 full"), "{all}");
    open(&mut driver, "map view=groups");
    let all = shown(&driver);
    assert!(all.contains("leads to 4 of 4"), "{all}");
    assert!(all.contains("ff12:401b:ffff"), "{all}");
    let known = &driver.state.known;
    let at = driver.state.current().current(known).unwrap();
    driver.press("enter");
    let fabdeck_fabric::ElementId::Port(port) = at else { panic!("{at:?}") };
    let node = driver.state.snapshot().unwrap().fabric().port(port).node;
    assert_eq!(driver.state.screens.map.inside(), Some(node));
    driver.press("esc");
    assert_eq!((driver.state.screens.map.inside(), view(&driver)), (None, MapView::Groups));
}

#[test]
fn the_line_finds_partitions_by_p_key_and_groups_by_gid_and_name() {
    for (line, group, wanted, column) in [
        ("0x7fff", GotoGroup::Partitions, MapView::Partitions, "0x7fff"),
        ("0xffff", GotoGroup::Partitions, MapView::Partitions, "0x7fff"),
        ("ff12:401b:ffff::ffff:ffff", GotoGroup::Groups, MapView::Groups, "0xc000"),
        ("ipoib broadcast", GotoGroup::Groups, MapView::Groups, "0xc000"),
    ] {
        let mut driver = members();
        driver.press(":").send_input(SessionInput::Paste(line.to_owned()));
        let rows = &driver.state.goto.rows;
        assert_eq!(rows.first().map(|row| row.group), Some(group), "{line}: {rows:?}");
        driver.press("enter");
        assert_eq!(view(&driver), wanted, "{line}");
        let keys = first_column(&driver);
        assert!(!keys.is_empty() && keys.iter().all(|key| key == column), "{line}: {keys:?}");
    }
    // The lists have words too, whether their members were read or not.
    let mut plain = open_session("sim:kary,k=2,n=2");
    plain.press(":").send_input(SessionInput::Paste("partitions".to_owned())).press("enter");
    assert_eq!(view(&plain), MapView::Partitions);
}

#[test]
fn a_terminal_reads_partitions_where_it_is_asked_to() {
    let args = ["--source", "sim:kary,k=2,n=2", "--with-partitions", "--open", "map view=partitions"];
    let mut session = Session::open(&args, 120, 40);
    session.until("partition 0x7fff");
    session.press("\x03");
    session.ended();
    session.assert_restored();
}

#[test]
fn members_at_every_size() {
    let colours = appearance("dark", ColorDepth::True);
    for (name, line) in [("partitions", "map view=partitions"), ("groups", "map view=groups")] {
        let mut said = String::new();
        let mut driver = members();
        open(&mut driver, line);
        driver.press("down");
        for size in SIZES {
            resize(&mut driver, size);
            let buffer = frame(&driver.state, &colours);
            said.push_str(&format!("== {}x{}\n{}", size.0, size.1, text(&buffer)));
            if size == SIZES[1] {
                said.push_str(&format!("-- styles\n{}", styles(&buffer, colours.theme.blank())));
            }
        }
        let mut plain = open_session("sim:kary,k=2,n=2");
        resize(&mut plain, SIZES[0]);
        open(&mut plain, line);
        said.push_str(&format!("== not read\n{}", shown(&plain)));
        golden(&format!("members {name}"), &said);
    }
}

#[test]
fn other_commands_refuse_the_option_of_the_console() {
    let args = ["fabdeck", "--source", "sim:kary,k=2,n=2", "show", "switches", "--with-partitions"];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = args.map(OsString::from);
    let ended = run(args, &LocalSystemAccess::default(), &TerminalInfo::default(), &mut out, &mut err);
    assert!(matches!(ended, CliResult::Exit(Exit::Usage)));
    let said = String::from_utf8(err).unwrap();
    assert!(said.contains("FD-7210") && said.contains("show partitions and show groups"), "{said}");
}
