//! JSON schemas of everything that `--json` prints, made from the field table and from the tables below.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schema_parts::{closed, closed_with_numbers, flag, guid, list, nullable, number, text};
use super::{changes, run_command};
use crate::catalogue::field::Column;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;
use crate::catalogue::value::FieldKind;
use crate::operations::trace::path_trace::TraceOutcome;
use crate::operations::view_id::ViewId;
use crate::operations::watch::fabric_events::FABRIC_EVENT_WORDS;

/// File name (`links.json`) and content of every schema.
pub fn schemas() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut add = |id: &str, title: &str, has_source: bool, properties: Vec<(&str, Value)>| {
        let schema = object(id, title, has_source, properties);
        // Formatting this kind of value cannot fail.
        all.insert(format!("{id}.json"), format!("{schema:#}\n"));
    };
    for view in ViewId::ALL {
        let mut properties = match view {
            ViewId::Entries => vec![("switch", text()), ("guid", guid())],
            ViewId::Users => vec![("link", text())],
            ViewId::Jobs | ViewId::JobChannels => super::jobs::schema(),
            ViewId::Hops => trace(),
            _ => Vec::new(),
        };
        properties.push(("rows", list(row(&view.columns(), view.has_source_columns()))));
        add(view.id(), &format!("fabdeck {} --json", view.command()), true, properties);
    }
    add("fabric", "fabdeck show fabric --json", true, fabric());
    let checked = [vec![("findings", list(text()))], check()].concat();
    add("check", "fabdeck check --json", true, checked);
    add("hotspots", "fabdeck hotspots --json", true, hotspots());
    add("lane-state", "fabdeck lanes --json", true, super::lanes::schema(false));
    add("lanes-propose", "fabdeck lanes propose --json", true, super::lanes::schema(true));
    add("whatif", "fabdeck whatif --json", true, whatif());
    let in_force = ("jobs_in_force", nullable(closed(job_figures())));
    let mut route = vec![("plan", text()), ("cut_off", cut_off()), ("findings", list(text())), in_force];
    route.extend(engine_row());
    add("route", "fabdeck route --json", true, route);
    add("plan-show", "fabdeck plan show --json", false, vec![("plan", json!({ "type": "object" }))]);
    let mut judged = vec![("stale", flag())];
    judged.extend(plan_check());
    judged.extend(check());
    add("plan-check", "fabdeck plan check --json", true, judged);
    add("plan-diff", "fabdeck plan diff --json", true, plan_diff());
    let served = vec![("plan", text()), ("findings", list(text()))];
    add("service", "fabdeck disable and enable --json", true, served);
    add("change", "fabdeck apply, confirm, extend and rollback --json", false, changes::schemas::change());
    add("changes", "fabdeck changes --json", false, changes::schemas::changes());
    add("run", "fabdeck run RUNBOOK --json", true, run_command::schema::schema());
    add("fields", "--fields help --json", false, vec![("rows", list(fields()))]);
    add("sources", "fabdeck sources --json", false, sources());
    add("identity", "fabdeck sources --identity --json", true, identity());
    let mut generated = vec![("file", nullable(text())), ("format", nullable(text()))];
    generated.extend(numbers());
    add("generate", "fabdeck generate --json", true, generated);
    let mut converted = vec![("inputs", list(text())), ("file", text()), ("format", text())];
    converted.extend(numbers());
    add("convert", "fabdeck convert --json", true, converted);
    add("simulate", "fabdeck simulate --serve SOCKET --json", true, simulated());
    add("throughput", "fabdeck simulate --pattern PATTERN --json", true, throughput());
    add("record", "fabdeck record --json", true, recorded());
    add("capture-info", "fabdeck capture info --json", true, capture_info());
    for (id, command) in
        [("capture-cut", "cut"), ("capture-anonymize", "anonymize"), ("capture-note", "note")]
    {
        add(id, &format!("fabdeck capture {command} --json"), true, rewritten());
    }
    let mut exported = rewritten();
    exported.push(("rows", number()));
    add("capture-export", "fabdeck capture export --json", true, exported);
    add("completions", "fabdeck completions --json", false, vec![("shell", text()), ("script", text())]);
    let page = closed(vec![("name", text()), ("text", text())]);
    add("man", "fabdeck man --json", false, vec![("dir", nullable(text())), ("pages", list(page))]);
    all.insert("agent.json".into(), events("agent"));
    all.insert("jobs-watch.json".into(), events("jobs-watch"));
    all
}

fn identity() -> Vec<(&'static str, Value)> {
    let texts = || list(text());
    vec![
        ("switches", texts()),
        ("subnet_prefix", nullable(text())),
        ("subnet_managers", texts()),
        ("entry", text()),
    ]
}

/// Schema of an event, printed as one line; each kind of event has further keys.
fn events(id: &str) -> String {
    let line = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("fabdeck {} --json, a line each", id.replace('-', " ")),
        "type": "object",
        "properties": { "schema": { "const": format!("fabdeck.{id}/1") }, "time": text(), "event": text() },
        "required": ["schema", "event"],
    });
    format!("{line:#}\n")
}

/// Schema of a whole answer. The object is open, because later versions may add keys.
fn object(id: &str, title: &str, has_source: bool, properties: Vec<(&str, Value)>) -> Value {
    let mut map = Map::new();
    map.insert("schema".into(), json!({ "const": format!("fabdeck.{id}/1") }));
    map.insert("source".into(), if has_source { text() } else { json!({ "type": "null" }) });
    map.insert("partial".into(), flag());
    map.insert("notes".into(), list(note()));
    let own = properties.into_iter().map(|(key, value)| (key.to_owned(), value));
    map.extend(own);
    let required: Vec<String> = map.keys().cloned().collect();
    if has_source {
        map.insert("time".into(), text());
        map.insert("assumed".into(), text());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": map,
        "required": required,
    })
}

/// Schema of a row; no key is required, because `--fields` may leave keys out.
fn row(columns: &[&Column], open_ended: bool) -> Value {
    let map: Map<String, Value> =
        columns.iter().map(|column| (column.id.to_string(), cell(column))).collect();
    let others = if open_ended { nullable(number()) } else { json!(false) };
    json!({ "type": "object", "properties": map, "additionalProperties": others })
}

fn cell(column: &Column) -> Value {
    let mut schema = match column.kind {
        FieldKind::Text => nullable(text()),
        FieldKind::Number => nullable(number()),
        FieldKind::Decimal => nullable(json!({ "type": "number" })),
        FieldKind::Flag => nullable(flag()),
        FieldKind::Guid => json!({ "type": ["string", "null"], "pattern": "^0x[0-9a-f]{16}$" }),
        kind => {
            let words = kind.words().into_iter().map(Value::from).chain([Value::Null]);
            json!({ "enum": words.collect::<Vec<_>>() })
        }
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), column.about.as_ref().into());
    }
    schema
}

fn note() -> Value {
    let count = json!({ "type": "integer", "minimum": 1 });
    let keys =
        vec![("code", text()), ("place", text()), ("text", text()), ("count", count), ("partial", flag())];
    closed(keys)
}

fn numbers() -> Vec<(&'static str, Value)> {
    let none = FabricSummary::from_snapshot(&Snapshot::new("", Default::default(), &Default::default()));
    let kind = |key| match key {
        "degraded_links" | "down_links" | "tables" => nullable(number()),
        _ => number(),
    };
    none.numbers().into_iter().map(|(key, _)| (key, kind(key))).collect()
}

fn fabric() -> Vec<(&'static str, Value)> {
    let manager = nullable(closed(vec![("guid", guid()), ("state", nullable(text()))]));
    let counts = ["sent", "answered", "repeated", "unanswered", "refused", "strangers", "in_flight"];
    let mut phase = vec![("phase", text())];
    phase.extend(counts.map(|count| (count, number())));
    let silence = ["node", "guid", "peer", "peer_guid", "refusal"].map(|key| (key, nullable(text())));
    let mut silence = silence.to_vec();
    silence.extend([("route", text()), ("asked", text()), ("peer_port", nullable(number()))]);
    let live = [
        ("virtual_time", flag()),
        ("reading", list(closed_with_numbers(phase, &["seconds"]))),
        ("silence", list(closed(silence))),
    ];
    numbers().into_iter().chain([("subnet_manager", manager)]).chain(live).collect()
}

fn simulated() -> Vec<(&'static str, Value)> {
    let datagrams = json!({ "type": "object", "properties": {}, "additionalProperties": number() });
    vec![
        ("clients", number()),
        ("datagrams", datagrams),
        ("writes", number()),
        ("dropped", number()),
        ("ratio_asked", nullable(number())),
        ("ratio_held", nullable(number())),
    ]
}

/// Schema of a traffic simulation.
fn throughput() -> Vec<(&'static str, Value)> {
    let any = || json!({ "type": "number" });
    let host = || list(closed(vec![("host", text()), ("received_gbps", any()), ("sent_gbps", any())]));
    let flow =
        || list(closed(vec![("from", text()), ("to", text()), ("service_level", number()), ("gbps", any())]));
    let latency = ["mean", "median", "p99", "max"].map(|key| (key, number()));
    let waiting = closed(vec![("port", text()), ("share", any()), ("ticks", number())]);
    let held = closed(vec![("channel", text()), ("lane", number()), ("from", text()), ("to", text())]);
    let deadlock = closed(vec![("circle", list(held)), ("stuck_buffers", number())]);
    let counts = [
        "hosts",
        "lanes",
        "simulated_ns",
        "warm_up_ns",
        "packets_sent",
        "packets_arrived",
        "packets_lost",
        "packet_hops",
        "flows",
        "discards",
        "relay_errors",
    ];
    let rates = ["total_gbps", "mean_gbps", "min_gbps", "max_gbps"];
    let mut all = vec![
        ("pattern", text()),
        ("failed", list(text())),
        ("routes", text()),
        ("ended", json!({ "enum": ["time", "steady", "finished", "deadlock"] })),
        ("steady", flag()),
        ("exchange_gbps", nullable(any())),
        ("latency_ns", closed(latency.to_vec())),
        ("lane_shares", list(closed(vec![("lane", number()), ("share", any())]))),
        ("top_hosts", host()),
        ("bottom_hosts", host()),
        ("top_flows", flow()),
        ("bottom_flows", flow()),
        ("waiting_ports", list(waiting)),
        ("deadlock", nullable(deadlock)),
    ];
    all.extend(counts.map(|key| (key, number())));
    all.extend(rates.map(|key| (key, any())));
    all
}

/// Schema of sweeps, each judged against the one before.
fn hotspots() -> Vec<(&'static str, Value)> {
    let any = || json!({ "type": "number" });
    let names = || list(text());
    let numbers = ["others_at_most", "arrived", "elsewhere_at_most", "to_hot_spots_at_most", "sent"];
    let evidence = closed_with_numbers(vec![], &numbers);
    let waiting = |more: &'static str| {
        let mut keys = vec![
            ("port", text()),
            ("guid", guid()),
            ("counter", text()),
            ("ticks_per_second", any()),
            ("at_least", flag()),
            ("time_waited", nullable(any())),
            ("utilisation", nullable(any())),
        ];
        let roles = ["contributor", "contributor-or-victim", "victim", "fair-share", "unknown"];
        keys.extend((more == "role").then(|| (more, json!({ "enum": roles }))));
        keys.extend((more == "adapter").then(|| (more, text())));
        keys.extend((more == "adapter").then(|| ("adapter_guid", guid())));
        keys.extend((more == "leaf").then(|| (more, text())));
        keys.extend((more == "leaf").then(|| ("hosts", number())));
        keys.extend((more == "leaf").then(|| ("uplinks", number())));
        keys.extend((more == "leaf").then(|| ("ratio", any())));
        keys.extend((more == "role").then(|| ("bytes_per_second", nullable(evidence.clone()))));
        list(closed(keys))
    };
    let link = closed(vec![
        ("a", text()),
        ("b", text()),
        ("a_guid", guid()),
        ("b_guid", guid()),
        ("why", json!({ "enum": ["errored", "flaps", "degraded"] })),
        ("counted_at", nullable(text())),
        ("per_hour", nullable(any())),
        ("at_least", flag()),
    ]);
    let row = vec![
        ("ports", number()),
        ("hotspots", waiting("adapter")),
        ("held_up", waiting("role")),
        ("contributors", waiting("role")),
        ("victims", waiting("role")),
        ("on_the_way", waiting("")),
        ("oversubscribed", waiting("leaf")),
        ("links_too_narrow", flag()),
        ("stands_still", flag()),
        ("links", list(link)),
        ("untold", names()),
        ("cleared", names()),
        ("news", list(fabric_event())),
    ];
    let thresholds = ["congestion", "fair_share", "errors_per_hour", "flaps_per_hour"];
    let thresholds = closed(thresholds.into_iter().map(|key| (key, any())).collect());
    let mut sweep = closed_with_numbers(row, &["seconds"]);
    if let Some(map) = sweep.get_mut("properties").and_then(Value::as_object_mut) {
        map.extend(["time", "from", "to", "links_since"].map(|key| (key.to_owned(), text())));
    }
    vec![("thresholds", thresholds), ("sweeps", list(sweep))]
}

/// Schema of an event between two sweeps.
fn fabric_event() -> Value {
    let entry = closed(vec![("lid", number()), ("before", nullable(number())), ("now", nullable(number()))]);
    let ports = || list(number());
    let group = closed(vec![("group", number()), ("before", ports()), ("now", ports())]);
    let row = closed(vec![("from", number()), ("to", number()), ("before", text()), ("now", text())]);
    let weights = || closed(vec![("high", text()), ("low", text())]);
    let port = closed(vec![("port", number()), ("before", weights()), ("now", weights())]);
    let manager = || {
        closed(vec![
            ("lid", nullable(number())),
            ("port", nullable(text())),
            ("guid", nullable(guid())),
            ("state", nullable(text())),
            ("priority", nullable(number())),
        ])
    };
    let drift = vec![
        ("blocks", list(number())),
        ("entries", number()),
        ("first", list(entry)),
        ("groups", list(group)),
        ("lanes", list(row)),
        ("arbitration", list(port)),
        ("manager_lid", nullable(number())),
    ];
    let trap = vec![
        ("number", number()),
        ("name", text()),
        ("issuer_lid", nullable(number())),
        ("producer", text()),
        ("lid", nullable(number())),
        ("port", nullable(number())),
        ("port_guid", nullable(guid())),
    ];
    closed(vec![
        ("what", json!({ "enum": FABRIC_EVENT_WORDS })),
        ("trouble", flag()),
        ("text", text()),
        ("ports", list(closed(vec![("port", text()), ("guid", guid())]))),
        ("node", nullable(text())),
        ("guid", nullable(guid())),
        ("flapped", nullable(closed(vec![("downed", number()), ("recovered", number())]))),
        ("manager", nullable(closed(vec![("before", manager()), ("now", manager())]))),
        ("drift", nullable(closed(drift))),
        ("trap", nullable(closed(trap))),
    ])
}

/// Schema of the jobs in `check`.
fn jobs_of_check() -> Value {
    let any = || json!({ "type": "number" });
    let used = || {
        let load = [("max", number()), ("mean", any()), ("dark_fiber", any())];
        [vec![("hosts", number()), ("links", number()), ("lost", number())], load.to_vec()].concat()
    };
    let job = [vec![("job", text()), ("ports", number()), ("switches", number())], used()].concat();
    let means = vec![("multi_switch", number()), ("mean_max", any()), ("mean_links", any())];
    let jobs = vec![
        ("count", number()),
        ("lids_per_port", number()),
        ("histogram", list(list(number()))),
        ("first", list(closed(job))),
    ];
    closed([jobs, means, used()].concat())
}

/// Schema of a certificate.
fn check() -> Vec<(&'static str, Value)> {
    let any = || json!({ "type": "number" });
    let counts = |keys: &[&'static str]| closed(keys.iter().map(|key| (*key, number())).collect());
    let texts = || list(text());
    let lost = closed(vec![("from", text()), ("to", text()), ("lid", number()), ("cause", text())]);
    let spread = closed(vec![("min", number()), ("mean", any()), ("max", number()), ("stddev", any())]);
    let average = || closed(vec![("mean", any()), ("patterns", number()), ("settled", flag())]);
    let loads = closed(vec![
        ("hosts", number()),
        ("lids_per_port", number()),
        ("worst_permutation", number()),
        ("worst_exact", flag()),
        ("average_bisect", average()),
        ("average_permutation", average()),
        ("average_dissemination", average()),
        ("shift_degree", number()),
        ("shift_steps", number()),
        ("shift_steps_of", number()),
    ]);
    vec![
        ("covers", text()),
        ("pairs", number()),
        ("partitions", nullable(number())),
        ("unreachable", number()),
        ("unread_pairs", number()),
        ("by_kind", counts(&["hosts", "aggregation", "switches"])),
        ("by_cause", counts(&["cut_off", "no_route", "dead_end", "in_loop"])),
        ("lost", list(lost.clone())),
        ("lost_lids", number()),
        ("partly_reached", number()),
        ("partly", list(lost)),
        ("failed_pairs", number()),
        ("loops", number()),
        ("loop_examples", list(texts())),
        ("lanes", number()),
        ("lanes_from", text()),
        ("lane_limits", texts()),
        ("limited_paths", number()),
        ("unsaid_paths", number()),
        ("untold_switches", number()),
        ("unread_tables", number()),
        ("adaptive_routing", nullable(number())),
        ("adaptive_unknown", number()),
        ("deadlock_free", nullable(flag())),
        ("cycle", nullable(texts())),
        ("cycle_paths", nullable(texts())),
        ("cycle_lane", nullable(number())),
        ("longest_path", number()),
        ("path_lengths", list(number())),
        ("mean_stretch", any()),
        ("worst_stretch", any()),
        ("edge_forwarding_index", spread),
        ("busiest", json!({ "type": "array" })),
        ("channels", number()),
        ("channels_in_use", number()),
        ("dark_fiber", any()),
        ("unused_links", number()),
        ("unused_link_examples", texts()),
        ("loads", nullable(loads)),
        ("jobs", nullable(jobs_of_check())),
        ("unaddressed", number()),
    ]
}

fn engine_row() -> Vec<(&'static str, Value)> {
    let counts = [
        "lanes",
        "changed_entries",
        "changed_blocks",
        "changed_switches",
        "changed_lanes",
        "moved_pairs",
        "reused_tables",
        "supposed_lanes",
    ];
    let mut row = vec![
        ("engine", text()),
        ("ran", text()),
        ("degraded", flag()),
        ("refused", nullable(text())),
        ("remarks", list(text())),
        ("not_used", list(text())),
    ];
    row.extend(counts.map(|key| (key, nullable(number()))));
    row.extend([("certificate", nullable(closed(check()))), ("transition_safe", nullable(flag()))]);
    row.push(("transition", nullable(closed(transition()))));
    row.push(("jobs", nullable(closed(job_figures()))));
    row
}

fn job_figures() -> Vec<(&'static str, Value)> {
    let any = || json!({ "type": "number" });
    let counts = vec![("multi_switch", number()), ("max", number()), ("lost", number())];
    [counts, vec![("mean_max", any()), ("mean_links", any()), ("dark_fiber", any())]].concat()
}

fn plan_check() -> Vec<(&'static str, Value)> {
    let failed = closed(vec![("element", text()), ("found", flag())]);
    vec![
        ("applied", flag()),
        ("failed", list(failed)),
        ("scope", closed(vec![("switches", flag())])),
        ("unmet_switches", nullable(list(text()))),
        ("transition", closed(transition())),
        ("cut_off", cut_off()),
        ("findings", list(text())),
    ]
}

/// Schema of nodes that answer now and are cut off by a plan.
fn cut_off() -> Value {
    let named = ["switches", "hosts", "aggregation_nodes"].map(|key| (key, list(text())));
    closed(named.into_iter().chain([("pairs", number())]).collect())
}

fn plan_diff() -> Vec<(&'static str, Value)> {
    let port = || nullable(number());
    let entry = closed(vec![("switch", text()), ("lid", number()), ("planned", port()), ("held", port())]);
    let drift = closed(vec![("entries", number()), ("switches", number()), ("first", list(entry))]);
    let lanes = nullable(list(text()));
    vec![
        ("stale", nullable(text())),
        ("applied", flag()),
        ("drift", nullable(drift)),
        ("switches", list(text())),
        ("lanes", lanes),
    ]
}

fn transition() -> Vec<(&'static str, Value)> {
    vec![
        ("safe", nullable(flag())),
        ("reason", nullable(text())),
        ("old_lanes", text()),
        ("cycle", nullable(list(text()))),
        ("cycle_paths", nullable(list(text()))),
        ("cycle_lane", nullable(number())),
        ("on_the_way", nullable(closed(on_the_way()))),
        ("mixed", nullable(flag())),
        ("mixed_cycle", nullable(list(text()))),
        ("staged", nullable(closed(staged()))),
    ]
}

fn staged() -> Vec<(&'static str, Value)> {
    vec![("through", nullable(text())), ("asked", list(text())), ("commands", list(text()))]
}

fn on_the_way() -> Vec<(&'static str, Value)> {
    let counts = [
        "pairs",
        "writes",
        "before",
        "after",
        "worst_broken",
        "worst_looping",
        "worst_interrupted",
        "worst_after",
        "lasting",
    ];
    let counts = counts.into_iter().map(|key| (key, number()));
    counts.chain([("worst_at", nullable(text())), ("ordered", text())]).collect()
}

fn whatif() -> Vec<(&'static str, Value)> {
    let any = || json!({ "type": "number" });
    let groups = vec![("known", number()), ("count", number()), ("first", list(text()))];
    let expected = vec![
        ("faults", number()),
        ("unit", text()),
        ("mean", any()),
        ("linear", any()),
        ("one_channel", any()),
        ("best", number()),
        ("worst", number()),
        ("counts", text()),
    ];
    let partly = vec![("count", number()), ("first", list(text()))];
    let element = vec![("element", text()), ("pairs", number())];
    vec![
        ("failed", list(text())),
        ("tables_in_force", flag()),
        ("pairs", nullable(number())),
        ("lost_until_reroute", nullable(number())),
        ("at_least", nullable(flag())),
        ("without_path_before", nullable(number())),
        ("unread_tables", nullable(number())),
        ("adaptive_routing", nullable(number())),
        ("adaptive_unknown", nullable(number())),
        ("lost_share", nullable(any())),
        ("lost_lids", nullable(number())),
        ("partly_reached", nullable(closed(partly))),
        ("elements", nullable(list(closed(element)))),
        ("cut_off_pairs", nullable(number())),
        ("failed_end_pairs", nullable(number())),
        ("cut_off_without_path", nullable(number())),
        ("expected", nullable(closed(expected))),
        ("groups_cut", nullable(closed(groups))),
        ("jobs", nullable(closed(job_figures()))),
        (
            "engines",
            list(closed_with_numbers(engine_row(), &["seconds", "route_seconds", "certificate_seconds"])),
        ),
    ]
}

fn trace() -> Vec<(&'static str, Value)> {
    let end = || {
        let (port, lid) = (nullable(number()), nullable(number()));
        closed(vec![("node", text()), ("guid", guid()), ("port", port), ("lid", lid)])
    };
    let reasons = TraceOutcome::WORDS.iter().map(|word| Value::from(*word)).chain([Value::Null]);
    vec![
        ("from", end()),
        ("to", end()),
        ("lid", number()),
        ("found", flag()),
        ("reason", json!({ "enum": reasons.collect::<Vec<_>>() })),
        ("verdict", text()),
        ("links", number()),
    ]
}

fn fields() -> Value {
    let unit = nullable(text());
    let keys = vec![("id", text()), ("title", text()), ("kind", text()), ("unit", unit), ("shown", flag())];
    closed(keys.into_iter().chain([("about", text())]).collect())
}

fn recorded() -> Vec<(&'static str, Value)> {
    vec![("file", text()), ("files", list(text())), ("sweeps", number())]
}

/// Schema of a capture made from another one.
fn rewritten() -> Vec<(&'static str, Value)> {
    vec![("file", text()), ("sweeps", number()), ("unreadable", number())]
}

fn capture_info() -> Vec<(&'static str, Value)> {
    let damage = closed(vec![("offset", number()), ("record", number()), ("what", text())]);
    let gap = closed(vec![("from", text()), ("to", text())]);
    let mut keys: Vec<(&str, Value)> = ["format", "fabdeck", "recorded"].map(|key| (key, text())).into();
    keys.extend(["from", "to"].map(|key| (key, nullable(text()))));
    let numbers = [
        "interval_ms",
        "sweeps",
        "unreadable",
        "events",
        "noted",
        "job_lists",
        "job_silences",
        "frames",
        "records",
        "bytes",
        "unpacked",
        "set_back",
    ];
    keys.extend(numbers.map(|key| (key, number())));
    let noted = closed(vec![("time", text()), ("words", text())]);
    keys.extend([("ended", flag()), ("first_noted", list(noted))]);
    keys.extend([("gaps", list(gap)), ("damage", list(damage))]);
    keys
}

fn sources() -> Vec<(&'static str, Value)> {
    let words = ["guid", "state", "physical_state"].map(|key| (key, nullable(text())));
    let mut port = words.to_vec();
    port.extend(["lid", "manager_lid"].map(|key| (key, nullable(number()))));
    port.extend([("number", number()), ("rate_gbps", number()), ("link_layer", text()), ("source", text())]);
    let adapter = closed(vec![
        ("name", text()),
        ("node_guid", nullable(text())),
        ("ports", number()),
        ("port_list", list(closed(port))),
    ]);
    let key = closed(vec![("name", text()), ("default", text()), ("meaning", text())]);
    let simulated = closed(vec![("source", text()), ("keys", text()), ("about", text())]);
    let capture = closed(vec![("path", text()), ("format", text()), ("title", text())]);
    let lists = [
        ("adapters", adapter),
        ("simulators", simulated),
        ("common_keys", key.clone()),
        ("simulator_keys", key),
        ("captures", capture),
    ];
    let lists = lists.into_iter().map(|(name, item)| (name, list(item)));
    lists.chain([("adapters_error", nullable(text()))]).collect()
}
