//! Policy files: defaults, and every mistake with its line and key.

use fabdeck::operations::policy::policy_file::{Policy, PolicyMode};

#[test]
fn an_empty_policy_has_the_documented_values() {
    let policy = Policy::parse("").unwrap();
    assert_eq!((policy.mode, policy.may_write(), policy.nodes.is_none()), (PolicyMode::Shadow, false, true));
    let limits = policy.limits;
    assert_eq!((limits.links_at_once, limits.links_an_hour, limits.busiest_channel), (1, 4, 2.0));
    assert_eq!((limits.confirm_after_ms, limits.good_for_ms), (600_000, 21_600_000));
    assert_eq!((limits.bad_together, limits.together_ms, limits.retry_after_ms), (0.01, 600_000, 3_600_000));
    let bad = policy.thresholds;
    assert_eq!((bad.flaps, bad.flap_window_ms, bad.flaps_a_day), (3, 3_600_000, 0));
    assert_eq!((bad.errors_an_hour, bad.bit_error_rate), (10_000, 1e-8));
    assert_eq!(policy.window().as_secs(), 900);
    let nodes = Policy::parse("[slurm]").unwrap().nodes.unwrap();
    assert_eq!((nodes.mode, nodes.nodes_at_once, nodes.timeout.as_secs()), (PolicyMode::Shadow, 4, 30));
    assert!(Policy::parse("[slurm]\nmode = \"apply\"").unwrap().may_write());
}

/// The keys of docs/monitoring.md are those of the reader, each with its default.
#[test]
fn the_documented_file_has_every_key_with_its_default() {
    let page = std::fs::read_to_string(std::path::Path::new(env!("FABDECK_ROOT")).join("docs/monitoring.md"))
        .unwrap();
    let begin = page.find("# policy.toml").expect("docs/monitoring.md has no policy file");
    let text = &page[begin..begin + page[begin..].find("```").unwrap()];
    let mut documented = Policy::parse(text).unwrap();
    assert_eq!(documented.fabrics, ["production"]);
    documented.fabrics.clear();
    documented.driver.opensm_conf = None;
    documented.driver.opensm_console = None;
    assert_eq!(documented, Policy::parse("[slurm]").unwrap());
    let source =
        std::path::Path::new(env!("FABDECK_ROOT")).join("src/fabdeck/operations/policy/policy_file.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let keys = [
        "number(",
        "parsed(",
        "milliseconds(root, ",
        "milliseconds(table_ref, ",
        "time(table_ref, ",
        "flag(",
        "texts(",
    ];
    let name = |at: usize| source[at..].split('"').next().unwrap();
    let mut named = Vec::new();
    for call in keys.map(|call| format!("{call}\"")) {
        named.extend(source.match_indices(&call).map(|(at, _)| name(at + call.len())));
    }
    let keys = named;
    assert!(keys.len() > 20);
    let missing: Vec<&&str> = keys.iter().filter(|key| !text.contains(&format!("{key} = "))).collect();
    assert!(missing.is_empty(), "not documented: {missing:?}");
}

#[test]
fn every_mistake_is_reported_with_its_line_and_key() {
    for (text, begins, has) in [
        ("mode = ", "1: FD-7381", "correct the line"),
        (
            "\nmode = \"act\"",
            "2: FD-9404",
            "'mode' of the policy: 'act' is not possible: write shadow or apply",
        ),
        ("links_at_once = 0", "1: FD-9404", "whole number from 1 to 100"),
        ("\n\nlink_at_once = 1", "3: FD-9401", "links_at_once"),
        ("busiest_channel = 0.5", "1: FD-9404", "from 1e0 to 1e2"),
        ("bad_together = 1", "1: FD-9404", "write a percentage"),
        ("confirm_after = \"10\"", "1: FD-9404", "write a time with its unit"),
        ("good_for = true", "1: FD-9402", "'good_for' of the policy has to be a text or a number"),
        ("opensm_console = \"x\"", "1: FD-9404", "127.0.0.1:10000"),
        (
            "[slurm]\nmode = \"shadow\"",
            "2: FD-9404",
            "'mode' of [slurm]: 'shadow' is not possible: write dry-run or apply",
        ),
        ("[slurm]\nnodes = 4", "2: FD-9401", "[slurm]"),
        ("slurm = 1", "1: FD-9402", "[slurm] has to be a table"),
    ] {
        let faults = Policy::parse(text).unwrap_err();
        assert!(faults[0].starts_with(begins) && faults[0].contains(has), "{text}: {faults:?}");
    }
    let all = Policy::parse("mode = \"act\"\nflaps = 0\nx = 1").unwrap_err();
    assert_eq!(all.len(), 3, "{all:?}");
}
