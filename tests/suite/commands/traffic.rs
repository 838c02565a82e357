//! `simulate --pattern`.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::Value;

use super::stderr_messages::simulated;
use super::test_system::CommandResult;
use fabdeck::catalogue::exit::Exit;
use fabdeck::script::run::{CliResult, run as run_line};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::access::SystemAccess;
use fabdeck::system::local_access::LocalSystemAccess;

const RING: [&str; 3] = ["--source", "sim:torus,dims=6,terminals=2", "simulate"];

fn run(start: &[&str], more: &[&str]) -> CommandResult {
    simulated(&[start, more].concat(), &TerminalInfo::default())
}

#[test]
fn a_deadlock_is_named_and_ends_with_2_and_congestion_does_not() {
    let uniform = ["--pattern", "uniform", "--for", "5ms"];
    let ended = run(&RING, &[&uniform[..], &["--json"]].concat());
    assert_eq!(ended.exit, Exit::Findings, "{}", ended.out);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&value["ended"], &value["lanes"]), (&"deadlock".into(), &1.into()));
    let credit_loop = value["deadlock"]["circle"].as_array().unwrap();
    assert_eq!(credit_loop.len(), 6);
    assert!(
        credit_loop.iter().all(|held| held["channel"].as_str().is_some_and(|name| name.contains(" -> ")))
    );
    let text = run(&RING, &uniform);
    assert!(
        text.exit == Exit::Findings && text.out.contains("6 buffers wait for each other"),
        "{}",
        text.out
    );
    let lanes = ["--pattern", "uniform", "--for", "200us", "--engine", "dfsssp"];
    let ended = run(&RING, &lanes);
    assert_eq!((ended.exit, ended.err.as_str()), (Exit::Done, ""), "{}", ended.out);
    assert!(ended.out.contains("dfsssp, 2 lanes") && ended.out.contains("deadlock    none"), "{}", ended.out);
    assert_eq!(ended.out, run(&RING, &lanes).out, "the same seed");
    assert_ne!(ended.out, run(&RING, &[&lanes[..], &["--seed", "2"]].concat()).out, "another");
}

#[test]
fn flows_of_a_file_get_what_they_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        format!("flows={}", path.display())
    };
    let demo = ["--source", "sim:demo", "simulate"];
    let good = file("good", "node01 node24\nnode02 node24 sl=0 gbps=10\nswitch:spine-1 switch:rack1-leaf\n");
    let ended = run(&demo, &["--pattern", &good, "--json", "--for", "300us"]);
    assert_eq!(ended.exit, Exit::Done, "{}", ended.err);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let rates: Vec<f64> =
        value["top_flows"].as_array().unwrap().iter().map(|flow| flow["gbps"].as_f64().unwrap()).collect();
    assert!(rates.len() == 3 && rates[0] > 150.0 && (9.0..11.0).contains(&rates[1]), "{rates:?}");
    assert!((1.8..2.1).contains(&rates[2]), "a switch has a 1x SDR link: {rates:?}");
    let failed = ["--pattern", "uniform", "--for", "50us", "--fail", "switch:spine-1"];
    let ended = run(&demo, &failed);
    assert!(
        ended.out.contains("at ports that are down") && !ended.out.contains(" 0 at ports"),
        "{}",
        ended.out
    );
    let ended = run(&demo, &[&failed[..], &["--engine", "updn"]].concat());
    assert!(ended.out.contains(" 0 lost (0 at ports") && ended.exit == Exit::Done, "{}", ended.out);
    let (strange, broken) = (file("strange", "node01 node99\n"), file("broken", "node01\n"));
    for (args, exit, code) in [
        (&["--pattern", &*strange][..], Exit::BadInput, "strange:1: FD-7805"),
        (&["--pattern", &*broken], Exit::BadInput, "FD-2303"),
        (&["--pattern", "flows=/nonexistent/flows"], Exit::BadInput, "flows"),
        (&["--pattern", "zigzag"], Exit::Usage, "FD-7802"),
        (&["--pattern", "hotspot", "--share", "lots"], Exit::Usage, "FD-7804"),
        (&["--pattern", "hotspot", "--spots", "30"], Exit::Usage, "FD-4413"),
        (&["--pattern", "uniform", "--load", "0"], Exit::Usage, "FD-4414"),
        (&["--pattern", "uniform", "--engine", "magic"], Exit::Usage, "FD-7912"),
        (&[], Exit::Usage, "FD-7801"),
    ] {
        let ended = run(&demo, args);
        assert!(ended.exit == exit && ended.err.contains(code), "{args:?}: {:?} {}", ended.exit, ended.err);
    }
    let bare = super::test_system::fabdeck(&["--source", "untold", "simulate", "--pattern", "ring"]);
    assert!(bare.exit == Exit::Usage && bare.err.contains("FD-7803"), "{}", bare.err);
}

#[test]
fn an_exchange_ends_by_itself_and_rates_settle() {
    let tree = ["--source", "sim:kary,k=4,n=2", "simulate"];
    let ended = run(&tree, &["--pattern", "shift", "--message", "4", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&value["ended"], &value["packets_arrived"]), (&"finished".into(), &(16 * 15 * 4).into()));
    assert!(value["exchange_gbps"].as_f64().is_some_and(|gbps| gbps > 0.0));
    let ended = run(&tree, &["--pattern", "permutation", "--until-steady", "--for", "2ms", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["ended"], "steady", "{}", ended.out);
    assert!(value["simulated_ns"].as_u64().is_some_and(|nanos| nanos < 2_000_000));
}

/// A shift exchange of two hosts is one packet after the other: each nanosecond of a cable or switch is in its time.
#[test]
fn cables_switches_and_buffers_take_what_their_options_say() {
    let tree =
        ["--source", "sim:gft2,n=4,m=1,r=2", "simulate", "--pattern", "shift", "--message", "8", "--json"];
    let nanos = |more: &[&str]| {
        let ended = run(&tree, more);
        let value: Value = serde_json::from_str(&ended.out).unwrap();
        value["simulated_ns"].as_u64().unwrap_or_else(|| panic!("{} {}", ended.out, ended.err))
    };
    let usual = nanos(&[]);
    assert_eq!(nanos(&["--flight", "20", "--forwarding", "100", "--buffer", "16384"]), usual, "the defaults");
    for slower in [["--flight", "5000"], ["--forwarding", "20000"], ["--buffer", "1"]] {
        assert!(nanos(&slower) > usual, "{slower:?}");
    }
}

/// Levels in turns replace the lanes of an engine; without them and without output buffers a run is what it was.
#[test]
fn lanes_are_spread_over_and_outputs_have_buffers_when_asked() {
    let tree = ["--source", "sim:mport,m=4,n=3", "simulate", "--pattern", "centric", "--engine", "mlid"];
    let short = ["--for", "50us", "--buffer", "1", "--json"];
    let value = |more: &[&str]| -> Value {
        let ended = run(&tree, &[&short[..], more].concat());
        serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{} {}", ended.out, ended.err))
    };
    let usual = value(&[]);
    assert_eq!(value(&["--output-buffer", "0"]), usual, "the default");
    assert_eq!(usual["lanes"], 1);
    let spread = value(&["--lanes-spread", "4"]);
    assert_eq!((&spread["lanes"], spread["lane_shares"].as_array().map(Vec::len)), (&4.into(), Some(4)));
    let total = |value: &Value| value["total_gbps"].as_f64().unwrap();
    assert!(total(&spread) > total(&usual), "{spread} {usual}");
    assert_ne!(total(&value(&["--output-buffer", "1"])), total(&usual));
    for (args, code) in [
        (&["--lanes-spread", "9"][..], "FD-4414"),
        (&["--lanes-spread", "0"], "--lanes-spread"),
        (&["--output-buffer", "2"], "--output-buffer"),
        (&["--lanes-spread", "2", "--slow-level", "1"], "cannot be used with"),
        (&["--lanes-spread", "2", "--lanes-in-force", "exact"], "cannot be used with"),
    ] {
        let ended = run(&tree, args);
        assert!(
            ended.exit == Exit::Usage && ended.err.contains(code),
            "{args:?}: {} {}",
            ended.out,
            ended.err
        );
    }
}

/// A signal sets the stop flag while packets move. Without an end by the flag the run reports its traffic.
#[test]
fn a_signal_ends_a_simulation_without_a_report() {
    let machine = LocalSystemAccess::default();
    let stop = machine.stop();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut waits = 0;
            while !stop.has_listener() && waits < 1000 {
                std::thread::sleep(Duration::from_millis(1));
                waits += 1;
            }
            stop.request();
        });
        let line = ["--pattern", "uniform", "--for", "200ms", "--engine", "dfsssp"];
        let args = ["fabdeck"].iter().chain(&RING).chain(&line).map(OsString::from);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ended = run_line(args, &machine, &TerminalInfo::default(), &mut out, &mut err);
        let CliResult::Exit(exit) = ended else { panic!("a console") };
        assert_eq!(exit, Exit::Interrupted);
        assert_eq!((out, String::from_utf8(err).unwrap()), (Vec::new(), String::new()));
    });
}

#[test]
fn a_pattern_has_its_own_hosts_with_flows_and_switches_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let tree = ["--source", "sim:kary,k=4,n=2", "simulate", "--engine", "sftree", "--json"];
    let json = |more: &[&str]| -> Value { serde_json::from_str(&run(&tree, more).out).unwrap() };
    let jobs = file("jobs", "node[0-3] one\n");
    let flows = file("flows", "node4 node8\nnode5 node9 gbps=2\n");
    // An exchange among four hosts ends, while the flows of others go on.
    let shift = ["--pattern", "shift", "--message", "4", "--among", &jobs, "--beside", &flows];
    let value = json(&shift);
    assert_eq!((&value["ended"], &value["hosts"]), (&"finished".into(), &4.into()), "{value}");
    assert!(value["exchange_gbps"].as_f64().is_some_and(|gbps| gbps > 0.0));
    assert!(value["packets_arrived"].as_u64().unwrap() > 4 * 3 * 4);
    assert_eq!(value["top_flows"].as_array().unwrap().len(), 2);
    // Switches send beside hosts, and both have rates over time.
    let uniform = ["--pattern", "uniform", "--for", "200us", "--every", "50us", "--switch-load", "50%"];
    let value = json(&uniform);
    let samples = value["over_time"].as_array().unwrap();
    assert_eq!(samples.len(), 3, "{value}");
    for sample in samples {
        // Eight switches at half of 2 Gb/s.
        let switches = sample["switches_gbps"].as_f64().unwrap();
        assert!((6.0..9.0).contains(&switches) && sample["hosts_gbps"].as_f64().unwrap() > 50.0, "{sample}");
    }
    assert!(samples.iter().all(|sample| sample["flows"].is_null()), "{value}");
    // Listed flows have rates of their own over time: the first as fast as its hosts, the second as its limit.
    let ring =
        ["--pattern", "ring", "--among", &jobs, "--beside", &flows, "--for", "200us", "--every", "50us"];
    let rates = json(&ring);
    for sample in rates["over_time"].as_array().unwrap().iter().skip(1) {
        let gbps = |at: usize| sample["flows"][at]["gbps"].as_f64().unwrap();
        assert!(gbps(0) > 10.0 && (1.7..2.3).contains(&gbps(1)), "{sample}");
    }
    let text = run(&tree[..5], &ring).out;
    // Once in the list of flows, and once for each of the three intervals.
    let named = text.matches("node5 HCA-1[1] to node9 HCA-1[1]: ").count();
    assert!(text.contains("over time") && named == 1 + samples.len(), "{text}");
    assert!((6.0..9.0).contains(&value["switches_gbps"].as_f64().unwrap()));
    let text = run(&tree[..5], &uniform).out;
    assert!(text.contains("over time") && text.contains("received of each other"), "{text}");
    // Without these options the keys are left out.
    assert!(json(&["--pattern", "uniform", "--for", "50us"])["over_time"].is_null());
    let unknown = file("unknown", "node[0,99] one\n");
    for (args, exit, code) in [
        (&["--pattern", "uniform", "--among", &*unknown][..], Exit::BadInput, "FD-7806"),
        (&["--pattern", "uniform", "--beside", &*flows], Exit::Usage, "FD-4415"),
        (&["--pattern", "uniform", "--switch-load", "many"], Exit::Usage, "FD-7804"),
        (&["--pattern", "ring", "--message", "2"], Exit::Usage, "FD-7808"),
        (&["--pattern", "uniform", "--for", "50us", "--every", "60us"], Exit::Usage, "FD-7809"),
    ] {
        let ended = run(&tree[..5], args);
        assert!(ended.exit == exit && ended.err.contains(code), "{args:?}: {:?} {}", ended.exit, ended.err);
    }
}
