//! Fields, filters, orders: what is chosen from a listing.

use super::test_system::{fabdeck, fabdeck_with, look};
use fabdeck::catalogue::field::Listing;
use fabdeck::catalogue::query::{Columns, Query, QueryError};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::catalogue::views::entries::entries;
use fabdeck::operations::view_id::ViewId;
use fabdeck::script::terminal_info::TerminalInfo;

fn query(filter: &str, sort: &str) -> Query {
    Query { filters: vec![filter.into()], sort: Some(sort.into()), ..Query::default() }
}

/// The first column of the rows that a query leaves.
fn chosen(look: &Snapshot, view: ViewId, query: &Query) -> Vec<String> {
    let listing = view.listing(look).unwrap();
    let selection = query.select(listing.as_ref(), Columns::All).unwrap();
    selection.rows.iter().map(|row| listing.cell(*row, 0).display_text().into_owned()).collect()
}

fn cells(listing: &dyn Listing, row: usize, ids: &[&str]) -> Vec<String> {
    let at = |id: &&str| (0..listing.column_count()).find(|at| listing.column(*at).id == **id).unwrap();
    ids.iter().map(|id| listing.cell(row, at(id)).display_text().into_owned()).collect()
}

#[test]
fn filters_compare_by_type() {
    let look = look();
    let switches = |filter: &str| chosen(&look, ViewId::Switches, &query(filter, "")).join(" ");
    assert_eq!(switches("leaf"), "leaf0 leaf1");
    assert_eq!(switches("LEAF0"), "leaf0");
    assert_eq!(switches("lid>=3"), "leaf0 leaf1");
    assert_eq!(switches("lid < 2"), "spine0");
    assert_eq!(switches("lid=none"), "0x0000000000000013");
    assert_eq!(switches("answered=no"), "0x0000000000000013");
    assert_eq!(switches("lid!=3,answered=yes"), "spine0 spine1 leaf1");
    assert_eq!(switches("guid=0x21"), "leaf0");
    assert_eq!(switches("name~AF1"), "leaf1");
    assert_eq!(switches("name=leaf"), "");
    assert_eq!(switches("\"lid=3\""), "");
    assert_eq!(switches(""), "spine0 spine1 0x0000000000000013 leaf0 leaf1");
    let links = |filter: &str| chosen(&look, ViewId::Links, &query(filter, "")).len();
    assert_eq!(links("speed<EDR"), 1);
    assert_eq!(links("speed<=edr"), 11);
    assert_eq!(links("speed!=EDR"), 2, "what nobody said differs from EDR");
    assert_eq!(links("degraded=yes"), 1);
    assert_eq!(links("kind=switch-host"), 6);
    assert_eq!(links("width=12x"), 0);
}

#[test]
fn letters_in_their_order_are_enough() {
    let look = look();
    let switches = |filter: &str| chosen(&look, ViewId::Switches, &query(filter, "")).join(" ");
    assert_eq!(switches("~spn"), "spine0 spine1");
    assert_eq!(switches("~SN1"), "spine1", "whatever their case");
    assert_eq!(switches("~nps"), "", "in no other order");
    assert_eq!(switches("~ee"), "", "a letter counts once");
    assert_eq!(switches("~lf,lid>3"), "leaf1");
    assert_eq!(switches("~\"lf\", name~0"), "leaf0");
    assert_eq!(switches("\"~spn\""), "", "in quotes it is plain text");
    assert_eq!(switches("name~spn"), "", "behind a field it means that the text is held");
    let hosts = |filter: &str| chosen(&look, ViewId::Hosts, &query(filter, "")).join(" ");
    assert_eq!(hosts("~HÖT4"), hosts("höst"), "letters of any script");
    assert!(!hosts("~höt").is_empty());
    assert_eq!(switches("lid=3,~3"), "", "letters are of texts, not of numbers");
}

#[test]
fn wrong_filters_say_what_there_is() {
    let look = look();
    let listing = ViewId::Links.listing(&look).unwrap();
    for (filter, says) in [
        ("sped=EDR", "no field is called 'sped' here (did you mean speed?); the fields are: a, a_port,"),
        ("speed=fast", "'fast' is no value of the field speed; it holds SDR, DDR,"),
        ("a_port=x", "it holds whole numbers"),
        ("degraded=2", "it holds yes or no"),
        ("~", "compares with nothing"),
        ("speed<", "compares with nothing"),
        ("\"open", "opens a quote"),
    ] {
        let error = query(filter, "").select(listing.as_ref(), Columns::All).unwrap_err();
        assert!(matches!(error, QueryError::Filter(_)));
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn orders_are_typed_stable_and_put_the_unknown_last() {
    let look = look();
    let by = |sort: &str| chosen(&look, ViewId::Switches, &query("", sort)).join(" ");
    assert_eq!(by("lid"), "spine0 spine1 leaf0 leaf1 0x0000000000000013");
    assert_eq!(by("lid:desc"), "leaf1 leaf0 spine1 spine0 0x0000000000000013");
    assert_eq!(by("-lid"), by("lid:desc"));
    assert_eq!(by("hosts:desc,name"), "leaf1 leaf0 0x0000000000000013 spine0 spine1");
    let top = Query { top: Some(2), ..query("", "-lid") };
    assert_eq!(chosen(&look, ViewId::Switches, &top), ["leaf1", "leaf0"]);
    let listing = ViewId::Switches.listing(&look).unwrap();
    let wrong = query("", "lid:up").select(listing.as_ref(), Columns::All).unwrap_err();
    assert_eq!(wrong, QueryError::Order("lid:up".into()));
}

#[test]
fn fields_are_chosen_by_id_and_shown_ones_by_default() {
    let look = look();
    let listing = ViewId::Ports.listing(&look).unwrap();
    let fields = |text: &str| Query { fields: Some(text.into()), ..Query::default() };
    let chosen = fields("peer, node,peer").select(listing.as_ref(), Columns::All).unwrap();
    let ids: Vec<&str> = chosen.columns.iter().map(|at| listing.column(*at).id.as_ref()).collect();
    assert_eq!(ids, ["peer", "node"]);
    assert_eq!(fields(" , ").select(listing.as_ref(), Columns::All), Err(QueryError::NoFields));
    let shown = Query::default().select(listing.as_ref(), Columns::Shown).unwrap().columns.len();
    let all = Query::default().select(listing.as_ref(), Columns::All).unwrap().columns.len();
    assert!(0 < shown && shown < all);
}

#[test]
fn every_field_has_an_id_of_its_own_and_a_meaning() {
    for view in ViewId::ALL {
        let mut ids: Vec<&str> = view.columns().iter().map(|column| column.id.as_ref()).collect();
        let sound = |id: &&str| id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        assert!(ids.iter().all(sound), "{ids:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), view.columns().len(), "{view:?}");
        for column in view.columns() {
            assert!(!column.title.is_empty() && !column.about.is_empty() && !column.about.ends_with('.'));
        }
    }
}

#[test]
fn a_host_has_a_row_for_each_cabled_port() {
    let look = look();
    let listing = ViewId::Hosts.listing(&look).unwrap();
    let ids = ["name", "port", "lid", "switch", "switch_port"];
    assert_eq!(listing.row_count(), 6);
    assert_eq!(cells(listing.as_ref(), 0, &ids), ["h0", "1", "10", "leaf0", "1"]);
    assert_eq!(cells(listing.as_ref(), 1, &ids), ["h0", "2", "30", "leaf1", "4"]);
}

#[test]
fn links_know_what_they_join() {
    let look = look();
    let listing = ViewId::Links.listing(&look).unwrap();
    let ids = ["a", "b", "kind", "degraded", "self_loop", "rate_mbps", "element"];
    let rows: Vec<Vec<String>> =
        (0..listing.row_count()).map(|row| cells(listing.as_ref(), row, &ids)).collect();
    let joined: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    assert!(
        joined.contains(&"spine1 leaf1 switch-switch yes no 56250 link:spine1[2]".to_owned()),
        "{joined:#?}"
    );
    assert!(joined.contains(&"leaf1 leaf1 switch-switch no yes 103125 link:leaf1[7]".to_owned()));
    assert!(joined.contains(&"spine1 0x0000000000000013 switch-switch - no - link:spine1[3]".to_owned()));
}

#[test]
fn tables_count_what_has_no_path() {
    let look = look();
    let listing = ViewId::Tables.listing(&look).unwrap();
    let ids = ["switch", "known", "routed", "no_path", "ports_used", "top_lid"];
    let rows: Vec<String> =
        (0..listing.row_count()).map(|row| cells(listing.as_ref(), row, &ids).join(" ")).collect();
    assert_eq!(
        rows,
        [
            "spine0 yes 11 4 3 18",
            "spine1 no - - - -",
            "0x0000000000000013 no - - - -",
            "leaf0 yes 9 6 6 16",
            "leaf1 yes 10 5 6 18"
        ]
    );
    let leaf = look.names.nodes_named("leaf0")[0];
    let entries = entries(&look, leaf);
    let ids = ["lid", "port", "destination", "next", "next_port"];
    assert_eq!(cells(&entries, 4, &ids), ["10", "1", "h0", "h0", "1"]);
    assert_eq!(cells(&entries, 1, &ids), ["2", "-", "spine1", "-", "-"]);
}

#[test]
fn counters_and_lanes_say_what_was_said() {
    let look = look();
    let counters = ViewId::Counters.listing(&look).unwrap();
    let ids = ["node", "guid", "port", "PortXmitWait", "PortXmitData"];
    assert_eq!(cells(counters.as_ref(), 1, &ids), ["leaf0", "0x0000000000000021", "2", "400", "10"]);
    // Named by its port GUID, and a counter that is there without a value.
    assert_eq!(cells(counters.as_ref(), 2, &ids), ["h1", "0x0000000000000201", "1", "-", "10"]);
    assert_eq!(chosen(&look, ViewId::Counters, &query("PortXmitWait>100", "")), ["leaf0"]);
    let lanes = ViewId::Lanes.listing(&look).unwrap();
    let ids = ["node", "port", "inputs", "lanes", "uniform", "sl2vl", "low"];
    assert_eq!(cells(lanes.as_ref(), 0, &ids), ["leaf0", "1", "2", "2", "no", "-", "-"]);
    let alternating = "0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1";
    assert_eq!(cells(lanes.as_ref(), 1, &ids), ["leaf0", "5", "2", "2", "yes", alternating, "1:64"]);
}

#[test]
fn a_cable_is_as_good_as_its_lesser_end_and_a_mismatch_is_shown() {
    let ended = fabdeck(&["--source", "uneven", "show", "links"]);
    let mut lines = ended.out.lines();
    assert!(lines.next().unwrap().contains("MISMATCH"), "{}", ended.out);
    assert!(lines.next().unwrap().contains("1x"), "{}", ended.out);
    assert!(!fabdeck(&["--source", "small", "show", "links"]).out.contains("MISMATCH"));
    let none = fabdeck(&["--source", "uneven", "show", "links", "--filter", "mismatch=no"]);
    assert!(!none.out.contains("MISMATCH"));
}

#[test]
fn what_no_link_tells_is_no_zero() {
    let json = fabdeck(&["--source", "uneven", "show", "fabric", "--json"]).out;
    assert!(json.contains("\"degraded_links\": null") && json.contains("\"down_links\": null"), "{json}");
    let text = fabdeck(&["--source", "uneven", "show", "fabric"]).out;
    assert!(text.contains("down            unknown"), "{text}");
    let json = fabdeck(&["--source", "empty", "show", "fabric", "--json"]).out;
    assert!(json.contains("\"down_links\": 0"), "{json}");
    let silent = fabdeck(&["--source", "small", "show", "switches", "--filter", "answered=no", "--json"]).out;
    assert!(silent.contains("\"ports\":null"), "{silent}");
}

#[test]
fn an_empty_sample_is_noted() {
    let ended = fabdeck(&["--source", "uneven", "show", "counters", "--strict"]);
    assert!(
        ended.err.contains("FN-601: counters of LID 999: no port of this fabric has this LID"),
        "{}",
        ended.err
    );
    assert_eq!(ended.exit.code(), 0);
}

#[test]
fn an_order_by_amounts_begins_with_the_largest_and_one_by_numbers_with_the_first() {
    let look = look();
    let by = |view: ViewId, sort: &str| chosen(&look, view, &query("", sort)).join(" ");
    assert_eq!(by(ViewId::Switches, "hosts"), by(ViewId::Switches, "hosts:desc"));
    assert_ne!(by(ViewId::Switches, "hosts"), by(ViewId::Switches, "hosts:asc"));
    assert_eq!(by(ViewId::Switches, "lid"), by(ViewId::Switches, "lid:asc"));
    assert_ne!(by(ViewId::Switches, "lid"), by(ViewId::Switches, "lid:desc"));
    let waits = |sort: &str| fabdeck(&["--source", "small", "show", "counters", "--sort", sort]).out;
    assert_eq!(waits("PortXmitWait"), waits("-PortXmitWait"));
    assert_ne!(waits("PortXmitWait"), waits("PortXmitWait:asc"));
}

#[test]
fn a_counter_goes_by_the_name_that_tools_print() {
    let ended = fabdeck(&["--source", "uneven", "show", "counters", "--sort", "PortXmitWait:desc"]);
    assert!(ended.out.contains("PortXmitWaitExt") && ended.out.contains("PortRcvErrors"), "{}", ended.err);
    assert_eq!(
        fabdeck(&["--source", "uneven", "show", "counters", "--sort", "PortXmitData"]).exit.code(),
        64
    );
}

#[test]
fn a_terminal_gets_what_fits_and_a_pipe_gets_all() {
    let terminal =
        TerminalInfo { stdout: true, no_color: true, columns: Some(60), ..TerminalInfo::default() };
    let counters = ["--source", "uneven", "show", "counters"];
    let ended = fabdeck_with(&counters, &terminal);
    assert!(!ended.out.contains("PortRcvErrors"), "{}", ended.out);
    assert!(ended.err.contains("1 counter is 0 or unknown"), "{}", ended.err);
    let links = ["--source", "uneven", "show", "links"];
    let fitted = fabdeck_with(&links, &terminal).out;
    assert!(fitted.lines().all(|line| line.len() <= 60) && !fitted.contains("STATE"), "{fitted}");
    assert!(fabdeck(&links).out.contains("STATE"));
    let named = [&links[..], &["--fields", "a,state,speed,b_guid,a_guid,kind"]].concat();
    assert!(fabdeck_with(&named, &terminal).out.contains("STATE"));
    let narrow = TerminalInfo { columns: Some(66), ..terminal };
    let small = fabdeck_with(&["--source", "small", "show", "links"], &narrow).out;
    assert!(small.contains("...") && small.lines().all(|line| line.chars().count() <= 66), "{small}");
}

/// What a narrow terminal has no room for is said, spare columns first; what a pipe gets is whole.
#[test]
fn columns_that_do_not_fit_are_named() {
    let on = |columns| TerminalInfo {
        stdout: true,
        no_color: true,
        columns: Some(columns),
        ..TerminalInfo::default()
    };
    let links = ["--source", "small", "show", "links"];
    let whole = fabdeck(&links);
    let wide = whole.out.lines().map(|line| line.chars().count()).max().unwrap();
    assert_eq!(fabdeck_with(&links, &on(wide)).out, whole.out);
    let narrower = fabdeck_with(&links, &on(wide - 1));
    assert!(whole.out.contains("PARALLEL") && !narrower.out.contains("PARALLEL"), "{}", narrower.out);
    assert!(narrower.err.contains("no room for parallel; use a wider terminal"), "{}", narrower.err);
    for columns in [80, 60, 42] {
        let fitted = fabdeck_with(&links, &on(columns)).out;
        assert!(fitted.lines().all(|line| line.chars().count() <= columns), "{columns}: {fitted}");
        let engines = ["--source", "crowded", "whatif", "--fail", "leaf0"];
        let rows = fabdeck_with(&engines, &on(columns)).out;
        let rows =
            rows.lines().skip_while(|line| !line.starts_with("ENGINE")).take_while(|line| !line.is_empty());
        rows.for_each(|line| assert!(line.len() <= columns, "{columns}: {line}"));
        let fields = fabdeck_with(&["show", "links", "--fields", "help"], &on(columns.max(60))).out;
        assert!(fields.lines().all(|line| line.len() <= columns.max(60)), "{fields}");
    }
    // A sentence goes on below itself, and loses nothing.
    let words =
        |text: &str| text.split_whitespace().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    let whole = fabdeck(&["show", "links", "--fields", "help"]).out;
    assert_eq!(words(&fabdeck_with(&["show", "links", "--fields", "help"], &on(80)).out), words(&whole));
}
