//! Whole outputs, as an operator sees them.

use super::test_system::fabdeck;

macro_rules! golden {
    ($($name:ident: $line:expr;)+) => {
        $(#[test]
        fn $name() {
            let ended = fabdeck(&$line);
            let shown = format!("{}---- stderr\n{}---- exit {}\n", ended.out, ended.err, ended.exit.code());
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path("../snapshots");
            settings.set_prepend_module_to_snapshot(false);
            settings.set_description($line.join(" "));
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(concat!("commands_", stringify!($name)), shown));
        })+
    };
}

golden! {
    without_a_command: [""; 0];
    sources: ["sources"];
    show_fabric: ["--source", "small", "show", "fabric"];
    show_fabric_json: ["--source", "small", "show", "fabric", "--json"];
    show_switches: ["--source", "small", "show", "switches"];
    show_hosts: ["--source", "small", "show", "hosts"];
    show_links: ["--source", "small", "show", "links"];
    show_links_json: ["--source", "small", "show", "links", "--filter", "degraded=yes", "--json"];
    show_ports: ["--source", "small", "show", "ports", "--filter", "node=leaf1"];
    show_tables: ["--source", "small", "show", "tables"];
    show_entries: ["--source", "small", "show", "tables", "leaf0"];
    show_counters: ["--source", "small", "show", "counters", "--sort", "-PortXmitWait"];
    hotspots: ["--source", "hot", "hotspots"];
    hotspots_json: ["--source", "rail", "hotspots", "--json", "--no-times"];
    health: ["--source", "hot", "health"];
    health_json: ["--source", "small", "health", "--json", "--no-times"];
    lanes_propose: ["--source", "hot", "lanes", "propose", "--lanes-in-force", "one"];
    show_lanes: ["--source", "small", "show", "lanes"];
    trace_found: ["--source", "small", "trace", "h0", "h2"];
    trace_lost: ["--source", "small", "trace", "h2", "h1"];
    trace_json: ["--source", "small", "trace", "h2", "h1", "--json"];
    unknown_field: ["--source", "small", "show", "hosts", "--fields", "nmae"];
    help: ["--help"];
    help_trace: ["trace", "--help"];
}
