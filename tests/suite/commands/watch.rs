//! `watch`: what the service serves, the events it prints, and what it does when the fabric goes away.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};

const PATIENCE: Duration = Duration::from_secs(60);

/// A service that ends with the test.
struct Service {
    process: Child,
    address: String,
    _home: TempDir,
}

impl Service {
    fn start(args: &[&str]) -> Self {
        let home = home();
        let mut process = fabdeck(&home)
            .args(args)
            .args(["--serve", "127.0.0.1:0", "--interval", "200ms"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once('/')).unwrap().0;
        Self { address: address.to_owned(), process, _home: home }
    }

    /// Head and body of an answer.
    fn ask(&self, path: &str, headers: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let body = answer.split_off(end + 4);
        (String::from_utf8(answer).unwrap(), body)
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.ask(path, "").1).unwrap()
    }

    /// Waits until the service is ready, or no longer is.
    fn until_ready(&self, ready: bool) {
        let begun = Instant::now();
        while self.ask("/-/ready", "").0.starts_with("HTTP/1.1 200") != ready {
            assert!(begun.elapsed() < PATIENCE, "ready is not {ready}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The value of a series without labels.
    fn metric(&self, name: &str) -> Option<f64> {
        let text = self.text("/metrics");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The families of a text by name, each described once and before its series.
fn families(text: &str) -> BTreeMap<String, usize> {
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            current = described.split(' ').next().unwrap().to_owned();
            assert!(families.insert(current.clone(), 0).is_none(), "{current} is described twice");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            assert_eq!(name, current, "{line}");
            *families.get_mut(name).unwrap() += 1;
        }
    }
    families
}

#[test]
fn a_service_serves_metrics_health_and_a_page() {
    let service = Service::start(&["--source", "sim:demo", "watch"]);
    assert!(service.text("/-/healthy").contains("running"));
    service.until_ready(true);
    let (head, plain) = service.ask("/metrics", "");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let plain = String::from_utf8(plain).unwrap();
    let found = families(&plain);
    for (name, series) in [
        ("fabdeck_up", 1),
        ("fabdeck_problems", 2),
        ("fabdeck_lost_pairs", 1),
        ("infiniband_switch_port_transmit_data_bytes_total", 90),
        ("infiniband_switch_port_transmit_wait_ratio", 90),
        ("infiniband_switch_uplink_info", 90),
    ] {
        assert!(found.get(name).is_some_and(|count| *count >= series), "{name}: {:?}", found.get(name));
    }
    let open = service.ask("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
    assert!(open.0.contains("application/openmetrics-text; version=1.0.0"), "{}", open.0);
    let open = String::from_utf8(open.1).unwrap();
    assert!(open.ends_with("\n# EOF\n") && open.contains("# TYPE fabdeck_sweeps counter\n"));
    assert!(open.contains("# TYPE infiniband_switch_uplink info\n") && !open.contains("\n\n"));
    // Packed, the same sweep or a later one.
    let (head, packed) = service.ask("/metrics", "Accept-Encoding: gzip\r\n");
    assert!(head.contains("Content-Encoding: gzip"), "{head}");
    let mut unpacked = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
    let names: BTreeSet<String> = families(&unpacked).into_keys().collect();
    assert!(names.contains("fabdeck_up") && packed.len() * 5 < unpacked.len());
    let health: Value = serde_json::from_str(&service.text("/health.json")).unwrap();
    assert_eq!((&health["schema"], &health["partial"]), (&"fabdeck.health/1".into(), &false.into()));
    let page = service.text("/");
    assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("<script"), "{page}");
    let title = health["problems"][0]["title"].as_str().unwrap();
    assert!(page.contains("Problems") && !title.is_empty());
    assert!(service.ask("/nothing", "").0.starts_with("HTTP/1.1 404"));
}

/// With the names of an exporter its dashboards and alerts work; nothing is described twice.
#[test]
fn names_that_only_another_exporter_has_are_served_on_request() {
    for (exporter, own) in [
        ("treydock", ["infiniband_hca_rate_bytes_per_second", "infiniband_exporter_collect_errors"]),
        ("sckyzo", ["infiniband_switch_up", "infiniband_hca_port_rate_bytes_per_second"]),
    ] {
        let service = Service::start(&["--source", "sim:demo", "watch", "--names-of", exporter]);
        service.until_ready(true);
        let text = service.text("/metrics");
        let found = families(&text);
        let both =
            ["infiniband_switch_info", "infiniband_hca_info", "infiniband_switch_port_rate_bytes_per_second"];
        for name in own.into_iter().chain(both) {
            assert!(found.get(name).is_some_and(|series| *series > 0), "{exporter}: {name}");
        }
        let states: BTreeSet<&str> = text
            .lines()
            .filter(|line| line.starts_with("infiniband_switch_port_state{"))
            .map(|line| line.rsplit(' ').next().unwrap())
            .collect();
        let wanted = if exporter == "sckyzo" { ["0", "1"] } else { ["1", "4"] };
        assert_eq!(states, BTreeSet::from(wanted), "{exporter}");
        assert!(service.text("/metrics").contains("fabdeck_up 1"));
    }
}

/// The names of metrics in an expression of an alert or a dashboard.
fn metric_names(text: &str) -> BTreeSet<String> {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let words = text.split(|sign: char| !is_sign(sign));
    let ours = words.filter(|word| {
        ["fabdeck_", "infiniband_"].iter().any(|start| word.starts_with(start) && word.len() > start.len())
    });
    ours.map(str::to_owned).collect()
}

/// Alerts and dashboards ask for nothing that is not served.
#[test]
fn alerts_and_dashboards_ask_for_metrics_that_exist() {
    let service = Service::start(&["--source", "sim:kary,k=2,n=2,speed=ndr,wire-optics=all", "watch"]);
    let other = Service::start(&["--source", "sim:demo", "watch"]);
    let mut served: BTreeSet<String> = BTreeSet::new();
    for service in [&service, &other] {
        service.until_ready(true);
        served.extend(families(&service.text("/metrics")).into_keys());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitoring");
    let mut asked = BTreeSet::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        if let Ok(board) = serde_json::from_str::<Value>(&text) {
            let panels = board["panels"].as_array().unwrap();
            assert!(panels.len() > 3 && board["uid"].is_string() && board["schemaVersion"].is_number());
            let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
            targets.for_each(|target| asked.extend(metric_names(target["expr"].as_str().unwrap())));
        } else {
            let expressions = text.lines().filter_map(|line| line.trim().strip_prefix("expr: "));
            expressions.for_each(|expression| asked.extend(metric_names(expression)));
        }
    }
    let missing: Vec<&String> = asked.difference(&served).collect();
    assert!(asked.len() > 25 && missing.is_empty(), "{missing:?} of {asked:?}");
}

/// The lines of events of a watch that ends by itself.
fn events_of(source: &str, intervals: &str, interval: &str) -> Vec<Value> {
    let home = home();
    let ended = fabdeck(&home)
        .args(["--source", source, "--json", "--no-times", "watch", "--interval", interval])
        .args(["--count", intervals])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let lines = String::from_utf8(ended.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A cable that goes down twice, with a subnet manager that routes around it each time.
const STORY: &str = "30s down leaf0/4\n31s route\n50s up leaf0/4\n51s route\n60s down leaf0/4\n61s route\n80s up leaf0/4\n\
                     81s route\n";

/// A cable that goes down is a change and a problem. The problem ends once, a recovery window after the cable is back,
/// however often the cable went down in between.
#[test]
fn a_problem_begins_once_and_ends_once() {
    let home = home();
    let story = home.path().join("story");
    std::fs::write(&story, STORY).unwrap();
    let source = format!("sim:kary,k=3,n=2,traffic=none,story={}", story.display());
    let events = events_of(&source, "30", "10s");
    let of_kind = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!((of_kind("link-down"), of_kind("link-up")), (2, 2), "{events:#?}");
    let down = events.iter().find(|event| event["kind"] == "link-down").unwrap();
    assert_eq!(down["elements"], serde_json::json!(["port:leaf0[4]", "port:spine0[1]"]), "{down}");
    let numbers: Vec<u64> = events.iter().map(|event| event["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let mut open = BTreeSet::new();
    for event in &events {
        let subject = event["subject"].as_str().unwrap();
        match event["kind"].as_str().unwrap() {
            "problem-began" => assert!(open.insert(subject), "{subject} began twice: {events:#?}"),
            "problem-ended" => assert!(open.remove(subject), "{subject} ended twice: {events:#?}"),
            _ => {}
        }
    }
    let began: Vec<&Value> = events.iter().filter(|event| event["kind"] == "problem-began").collect();
    assert!(began.iter().any(|event| !event["elements"].as_array().unwrap().is_empty()), "{began:#?}");
    assert!(events.iter().all(|event| event["schema"] == "fabdeck.event/1" && event.get("time").is_none()));
}

/// A served simulator that the test ends and starts again.
fn serve(socket: &Path) -> Child {
    let home = home();
    let mut server = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    server.env("HOME", home.path()).args(["--source", "sim:demo", "simulate", "--serve"]).arg(socket);
    let mut server =
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("serving"), "{line}");
    server
}

#[test]
fn nothing_old_is_served_while_the_fabric_is_away() {
    let folder = home();
    let socket: PathBuf = folder.path().join("fabric.sock");
    let mut server = serve(&socket);
    let source = format!("sim:{}", socket.display());
    let mut service =
        Service::start(&["--source", &source, "--timeout", "100ms", "--retries", "0", "--json", "watch"]);
    service.until_ready(true);
    assert_eq!(service.metric("fabdeck_up"), Some(1.0));
    server.kill().unwrap();
    server.wait().unwrap();
    service.until_ready(false);
    assert_eq!(service.metric("fabdeck_up"), Some(0.0));
    let text = service.text("/metrics");
    assert!(!text.contains("infiniband_") && !text.contains("fabdeck_lost_pairs"), "{text}");
    assert!(service.ask("/health.json", "").0.starts_with("HTTP/1.1 503"));
    assert!(service.text("/").contains("cannot be read"));
    let _ = std::fs::remove_file(&socket);
    let mut server = serve(&socket);
    service.until_ready(true);
    assert!(service.metric("fabdeck_sweep_failures_total").unwrap() >= 1.0);
    service.process.kill().unwrap();
    let mut lines = String::new();
    service.process.stdout.take().unwrap().read_to_string(&mut lines).unwrap();
    let kinds: Vec<&str> = ["fabric-unreadable", "fabric-readable"]
        .into_iter()
        .filter(|kind| lines.matches(&format!("\"kind\":\"{kind}\"")).count() == 1)
        .collect();
    assert_eq!(kinds.len(), 2, "{lines}");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn an_address_that_others_reach_is_refused() {
    let home = home();
    let refused = |address: &str| {
        let ended =
            fabdeck(&home).args(["--source", "sim:demo", "watch", "--serve", address]).output().unwrap();
        assert_eq!(ended.status.code(), Some(64), "{address}");
        String::from_utf8(ended.stderr).unwrap()
    };
    assert!(refused("0.0.0.0:9315").contains("FD-7348"));
    assert!(refused("nonsense").contains("FD-7348"));
}

/// A signal ends the service in an orderly way.
#[test]
fn a_signal_ends_the_service() {
    let mut service = Service::start(&["--source", "sim:demo", "watch"]);
    service.until_ready(true);
    let pid = service.process.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let begun = Instant::now();
    while service.process.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(5), "the service does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(service.process.wait().unwrap().code(), Some(143));
}

/// A watch whose lines have no reader ends quietly; one that serves pages goes on.
#[test]
fn a_watch_without_a_reader_ends() {
    let home = home();
    let mut alone = fabdeck(&home)
        .args(["--source", "sim:demo", "watch", "--interval", "200ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(alone.stdout.take());
    let begun = Instant::now();
    while alone.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "the watch goes on without a reader");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = alone.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), &ended.stderr[..]), (Some(0), &b""[..]));
    let mut serving = Service::start(&["--source", "sim:demo", "watch"]);
    drop(serving.process.stdout.take());
    serving.until_ready(true);
    let before = serving.metric("fabdeck_sweeps_total").unwrap();
    let begun = Instant::now();
    while serving.metric("fabdeck_sweeps_total").unwrap() < before + 3.0 {
        assert!(begun.elapsed() < PATIENCE, "the service stands still");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program of the site is run for each event, and has finished with all of them when the watch ends.
#[test]
fn a_program_is_run_for_each_event() {
    let home = home();
    let hook = home.path().join("hook");
    std::fs::write(&hook, "#!/bin/sh\necho \"$FABDECK_EVENT\" >>got\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let ended = fabdeck(&home)
        .args(["--source", "sim:demo", "--json", "--no-times", "watch", "--interval", "1s", "--count", "5"])
        .args(["--exec".as_ref(), hook.as_os_str()])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let without_schema = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event.as_object_mut().unwrap().remove("schema");
        event
    };
    let printed: Vec<Value> = String::from_utf8(ended.stdout).unwrap().lines().map(without_schema).collect();
    let got = std::fs::read_to_string(home.path().join("got")).unwrap();
    let got: Vec<Value> = got.lines().map(without_schema).collect();
    assert!(printed.len() >= 3 && got == printed, "{got:#?}\n{printed:#?}");
}

/// A program that cannot be run is reported once, and the events are printed all the same.
#[test]
fn a_program_that_cannot_be_run_is_reported_once() {
    let home = home();
    let ended = fabdeck(&home)
        .args(["--source", "sim:demo", "watch", "--interval", "1s", "--count", "5"])
        .args(["--exec", "/nonexistent/program"])
        .output()
        .unwrap();
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), message.matches("FD-7375").count()), (Some(0), 1), "{message}");
    assert!(String::from_utf8(ended.stdout).unwrap().lines().count() >= 3);
}
