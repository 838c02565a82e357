//! Paths by forwarding tables.

use super::binary;
use super::test_system::look;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::trace::path_trace::{LidChoice, Trace, TraceError, TraceOutcome, parse_endpoint};
use fabdeck_fabric::{Guid, PortState, Tables};

fn trace(look: &Snapshot, from: &str, to: &str, lid: Option<u32>) -> Result<Trace, TraceError> {
    let (from, to) = (parse_endpoint(look, from)?, parse_endpoint(look, to)?);
    let base = to.address(look).map(|(base, _)| base.value().into());
    let choice = lid.or(base).map_or(LidChoice::Picked, LidChoice::One);
    Trace::follow(look, &look.observation.tables, from, to, choice)
}

/// The names along a path with the egress ports.
fn path(look: &Snapshot, trace: &Trace) -> String {
    let hop = |hop: &fabdeck::operations::trace::path_trace::TraceHop| match hop.egress {
        Some(port) => format!("{}[{port}]", look.name(hop.node)),
        None => look.name(hop.node).to_owned(),
    };
    trace.hops.iter().map(hop).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_path_is_followed_from_every_spelling_of_its_ends() {
    let look = look();
    for (from, to) in [
        ("h1", "h2"),
        ("host:h1", "port:h2[1]"),
        ("12", "0x202"),
        ("13", "lid:15"),
        ("port:h1/1", "0x102"),
        ("0x000c", "lid:0xe"),
    ] {
        let found = trace(&look, from, to, None).unwrap();
        assert_eq!(path(&look, &found), "h1[1] leaf0[5] spine0[2] leaf1[1]", "{from} {to}");
        assert!(found.has_arrived());
        assert_eq!(found.link_count(), 4);
    }
    let to_switch = trace(&look, "h1", "switch:leaf1", None).unwrap();
    assert_eq!(
        (path(&look, &to_switch).as_str(), to_switch.has_arrived()),
        ("h1[1] leaf0[5] spine0[2]", true)
    );
    let from_switch = trace(&look, "leaf1", "spine0", None).unwrap();
    assert_eq!((path(&look, &from_switch).as_str(), from_switch.has_arrived()), ("leaf1[5]", true));
    let here = trace(&look, "h1", "h1", None).unwrap();
    assert_eq!((here.hops.len(), here.has_arrived()), (0, true));
}

/// The second host adds 1 to base LIDs, the first one nothing.
#[test]
fn without_a_lid_the_path_is_that_of_the_lid_which_the_source_picks() {
    let look = look();
    for (from, picked) in [("h0", 14), ("h1", 15)] {
        let [from, to] = [from, "h2"].map(|end| parse_endpoint(&look, end).unwrap());
        let found = Trace::follow(&look, &look.observation.tables, from, to, LidChoice::Picked).unwrap();
        assert_eq!(found.lid.value(), picked);
    }
}

#[test]
fn every_way_to_fail_names_the_switch() {
    let look = look();
    let ending = |from: &str, to: &str, lid| trace(&look, from, to, lid).unwrap().ending;
    let node = |guid| look.fabric().node_by_guid(Guid(guid)).unwrap();
    assert_eq!(ending("h2", "h1", None), TraceOutcome::Loop(node(0x22)));
    assert_eq!(ending("h1", "port:höst\u{1b}[31m 4[1]", None), TraceOutcome::NoEntry(node(0x21)));
    assert_eq!(ending("h1", "h2", Some(15)), TraceOutcome::NoTable(node(0x12)));
    assert_eq!(ending("h1", "h3", None), TraceOutcome::NoCable(node(0x21), fabdeck_fabric::PortNum(4)));
    assert_eq!(ending("h2", "h0", Some(11)), TraceOutcome::NoEntry(node(0x22)));
    let verdict = trace(&look, "h2", "h1", None).unwrap().verdict(&look);
    assert_eq!(verdict, "no path: LID 12 returns to leaf1, a loop");
    let silent = Trace::follow(
        &look,
        &Tables::default(),
        parse_endpoint(&look, "h1").unwrap(),
        parse_endpoint(&look, "h2").unwrap(),
        LidChoice::Picked,
    );
    assert_eq!(silent.unwrap().verdict(&look), "not known: the forwarding table of leaf0 was not read");
}

/// Behind a port that is up is somebody who did not answer: whether the path goes on there is not known.
#[test]
fn paths_to_a_silent_switch_are_neither_lost_nor_found() {
    let source = ["--source", "sim:demo,silent=20%"];
    let said = |args: &[&str]| {
        let ended = binary::fabdeck(&binary::home()).args([&source, args].concat()).output().unwrap();
        (String::from_utf8(ended.stdout).unwrap(), ended.status.code())
    };
    let (check, code) = said(&["check"]);
    let words = |line: &str| check.contains(line).then_some(()).ok_or((line.to_owned(), &check));
    assert_eq!(words("\nunreachable   none known\n"), Ok(()));
    assert_eq!(
        words("\ndeadlock      not known: paths lead to nodes that did not answer, which may close"),
        Ok(())
    );
    assert_eq!(
        words("\nnot read      nodes behind ports without a known peer: 142 pairs lead there, "),
        Ok(())
    );
    assert_eq!((words("finding"), code), (Err(("finding".to_owned(), &check)), Some(0)));
    let (path, _) = said(&["trace", "node08 mlx5_0", "login1 mlx5_0"]);
    assert!(path.contains("not known: no answer from behind port 7 of rack2-leaf, which is up"), "{path}");
    // Old paths that lead there may close a loop with new ones.
    let (whatif, _) = said(&["whatif", "--fail", "switch:spine-2", "--engine", "minhop", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&whatif).unwrap();
    let transition = &answer["engines"][0]["transition"];
    assert_eq!(transition["safe"], serde_json::Value::Null, "{transition}");
    assert_eq!(transition["reason"], "tables that were not read may close a credit loop");
}

#[test]
fn a_table_that_leads_astray_or_over_a_dead_link_is_found_out() {
    let mut look = look();
    let leaf = look.fabric().node_by_guid(Guid(0x22)).unwrap();
    let lft = look.observation.tables.node_mut(leaf).lft.as_mut().unwrap();
    let lid = |lid| fabdeck_fabric::Lid::new(lid).unwrap();
    lft.set(lid(14), Some(fabdeck_fabric::PortNum(2)));
    lft.set(lid(16), Some(fabdeck_fabric::PortNum(0)));
    let h3 = look.fabric().node_by_guid(Guid(0x103)).unwrap();
    assert_eq!(trace(&look, "h1", "h2", None).unwrap().ending, TraceOutcome::Astray(h3));
    assert_eq!(trace(&look, "leaf1", "h3", None).unwrap().ending, TraceOutcome::Astray(leaf));

    let mut builder = fabdeck_fabric::FabricBuilder::new();
    let facts =
        |guid| fabdeck_fabric::NodeFacts::new(fabdeck_fabric::NodeKind::ChannelAdapter, Guid(guid), 1, "");
    let (a, b) = (builder.add_node(facts(1)).unwrap(), builder.add_node(facts(2)).unwrap());
    let port = fabdeck_fabric::PortNum(1);
    builder.connect((a, port), (b, port)).unwrap();
    builder.port(b, port).lid = Some(lid(9));
    builder.port(b, port).state = Some(PortState::Down);
    look = Snapshot::new(
        "two",
        fabdeck_fabric::observe::Observation { fabric: builder.finish(), ..Default::default() },
        &Default::default(),
    );
    let dead = trace(&look, "0x1", "9", None).unwrap();
    assert_eq!(dead.ending.word(), Some("down"));
}

#[test]
fn ends_that_mean_nothing_are_refused() {
    let look = look();
    let refused = |from: &str, to: &str, lid| trace(&look, from, to, lid).unwrap_err().to_string();
    assert!(refused("nobody", "h1", None).starts_with("FD-1102"));
    assert!(refused("h1", "99", None).starts_with("FD-6101"));
    assert!(refused("link:leaf0[5]", "h1", None).starts_with("FD-6102"));
    assert_eq!(refused("h1", "h2", Some(16)), "FD-6103: LID 16 is not one of 'h2[1]', which owns 14 to 15");
    assert!(refused("h1", "0x0000000000000013", None).starts_with("FD-6104"));
}
