//! What Prometheus is given, read back: the counters that rows show, and rates that are their growth.

use std::collections::BTreeMap;

use serde_json::Value;

use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;

/// The values of one metric by the GUID and port of its series, whatever the family.
fn series(text: &str, metric: &str) -> BTreeMap<(String, u64), f64> {
    let mut found = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').unwrap();
        if !["switch", "hca"].iter().any(|family| name == format!("infiniband_{family}_port_{metric}")) {
            continue;
        }
        let label = |key: &str| {
            let at = rest.find(&format!("{key}=\"")).unwrap() + key.len() + 2;
            rest[at..].split('"').next().unwrap().to_owned()
        };
        let value = rest.rsplit_once(' ').unwrap().1.parse().unwrap();
        assert!(found.insert((label("guid"), label("port").parse().unwrap()), value).is_none(), "{line}");
    }
    found
}

#[test]
fn counters_read_back_as_rows_show_them() {
    let rows =
        fabdeck(&["--source", "small", "show", "counters", "--fields", "guid,port,PortXmitWait", "--json"]);
    let rows: Value = serde_json::from_str(&rows.out).unwrap();
    let shown: BTreeMap<(String, u64), f64> = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| {
            let key = (row["guid"].as_str()?.to_owned(), row["port"].as_u64()?);
            Some((key, row["PortXmitWait"].as_f64()?))
        })
        .collect();
    let ended = fabdeck(&["--source", "small", "show", "counters", "--format", "prometheus"]);
    assert_eq!(ended.exit, Exit::Done, "{}", ended.err);
    assert!(!shown.is_empty());
    assert_eq!(series(&ended.out, "transmit_wait_total"), shown);
    assert!(series(&ended.out, "transmit_wait_ticks_per_second").is_empty(), "one reading has no rates");
}

#[test]
fn rates_stand_beside_the_counters_that_they_are_the_growth_of() {
    let args = ["--source", "hot", "show", "counters", "--format", "prometheus", "--interval", "20s"];
    let ended = fabdeck(&args);
    assert_eq!((ended.exit, ended.err.as_str()), (Exit::Done, ""));
    for (total, rate) in [
        ("transmit_wait_total", "transmit_wait_ticks_per_second"),
        ("transmit_data_bytes_total", "transmit_data_bytes_per_second"),
        ("receive_data_bytes_total", "receive_data_bytes_per_second"),
    ] {
        let (totals, rates) = (series(&ended.out, total), series(&ended.out, rate));
        assert_eq!(totals.keys().collect::<Vec<_>>(), rates.keys().collect::<Vec<_>>(), "{total}");
        for (port, total) in &totals {
            // Everything began at zero, twenty seconds before.
            let close = (rates[port] - total / 20.0).abs() <= total * 1e-5;
            assert!(close, "{port:?}: {total} and {} a second", rates[port]);
        }
        assert!(total.starts_with("receive") || totals.values().any(|total| *total > 0.0), "{total}");
    }
    let used = series(&ended.out, "utilization_ratio");
    assert!(used.values().any(|share| (0.4..0.5).contains(share)), "{used:?}");
}

#[test]
fn rows_and_metrics_do_not_mix() {
    for (args, code) in [
        (&["--format", "prometheus", "--json"][..], "FD-7311"),
        (&["--format", "prometheus", "--top", "3"], "FD-7311"),
        (&["--format", "prometheus", "--filter", "port=1"], "FD-7311"),
        (&["--interval", "1s"], "FD-7312"),
    ] {
        let ended = fabdeck(&[&["--source", "hot", "show", "counters"], args].concat());
        assert!(ended.exit == Exit::Usage && ended.err.contains(code), "{args:?} {}", ended.err);
    }
}
