//! A real Prometheus scrapes `watch --serve` over ibsim with OpenSM. It finds nothing wrong with the metrics, and raises the
//! alert of a cable that goes down.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ibsim::{self, Stage, program};

const PATIENCE: Duration = Duration::from_secs(90);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn ask(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
}

/// Starts the service over the stage; returns it with its address.
fn serve(stage: &Stage) -> (Running, String) {
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    let home = stage.folder.path().join("home");
    for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(name, &home);
    }
    // Events of a live fabric are stored for the whole machine otherwise, where other tests find them.
    command.arg("--state-dir").arg(home.join("state"));
    command.args(["--source", "umad", "watch", "--serve", "127.0.0.1:0", "--interval", "1s"]);
    let mut service =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(service.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once('/')).unwrap().0;
    (Running(service), address.to_owned())
}

/// The values of a query, by the value of a label.
fn query(prometheus: &str, query: &str, label: &str) -> Vec<(String, f64)> {
    let Some(body) = ask(prometheus, &format!("/api/v1/query?query={query}")) else { return Vec::new() };
    let Ok(answer) = serde_json::from_str::<Value>(&body) else { return Vec::new() };
    let rows = answer["data"]["result"].as_array().cloned().unwrap_or_default();
    let value = |row: &Value| row["value"][1].as_str().unwrap().parse().unwrap();
    rows.iter().map(|row| (row["metric"][label].as_str().unwrap_or("").to_owned(), value(row))).collect()
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A free port of this machine.
fn free_address() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("127.0.0.1:{port}")
}

/// An Alertmanager with the routes of the documents, which sends what pages to the receiver at the address.
fn start_alertmanager(folder: &Path, receiver: &str) -> (Running, String) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitoring/alertmanager.yml");
    let config = std::fs::read_to_string(docs).unwrap();
    let config = config.replace("127.0.0.1:9099", receiver).replace("group_wait: 10s", "group_wait: 0s");
    std::fs::write(folder.join("alertmanager.yml"), config).unwrap();
    let address = free_address();
    let child = Command::new(program("prometheus-alertmanager", "prometheus-alertmanager"))
        .arg(format!("--config.file={}", folder.join("alertmanager.yml").display()))
        .arg(format!("--storage.path={}", folder.join("alerts").display()))
        .arg(format!("--web.listen-address={address}"))
        .arg("--cluster.listen-address=")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (Running(child), address)
}

/// What amtool prints of the alerts that Alertmanager has.
fn amtool(alertmanager: &str, args: &[&str]) -> String {
    let mut command = Command::new(program("amtool", "prometheus-alertmanager"));
    command.arg(format!("--alertmanager.url=http://{alertmanager}")).args(args);
    let ended = command.stdin(Stdio::null()).output().unwrap();
    String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap()
}

fn start_prometheus(folder: &Path, service: &str, alertmanager: &str) -> (Running, String) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitoring");
    // Alerts of a problem are raised at once.
    let alerts = std::fs::read_to_string(docs.join("alerts.yml")).unwrap();
    let alerts = alerts.lines().filter(|line| !line.trim_start().starts_with("for: "));
    std::fs::write(folder.join("alerts.yml"), alerts.collect::<Vec<_>>().join("\n")).unwrap();
    let config = std::fs::read_to_string(docs.join("prometheus.yml")).unwrap();
    let config = config
        .replace("127.0.0.1:9315", service)
        .replace("127.0.0.1:9093", alertmanager)
        .replace("scrape_interval: 30s", "scrape_interval: 1s\n  evaluation_interval: 1s");
    run_prometheus(folder, &config)
}

fn run_prometheus(folder: &Path, config: &str) -> (Running, String) {
    std::fs::write(folder.join("prometheus.yml"), config).unwrap();
    let address = free_address();
    let child = Command::new(program("prometheus", "prometheus"))
        .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", folder.join("tsdb").display()))
        .arg(format!("--web.listen-address={address}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (Running(child), address)
}

fn promtool(args: &[&str], input: &str) {
    let mut child = Command::new(program("promtool", "prometheus"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let talk = [ended.stdout, ended.stderr].concat();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&talk));
}

#[test]
fn prometheus_reads_the_service_and_raises_its_alerts() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitoring");
    promtool(&["check", "rules", docs.join("alerts.yml").to_str().unwrap()], "");
    promtool(&["check", "config", docs.join("prometheus.yml").to_str().unwrap()], "");
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let mut stage = Stage::play(&fabric);
    let _manager = stage.opensm_stays(&["-R", "minhop"]);
    let (_service, address) = serve(&stage);
    until("the service is not ready", || ask(&address, "/-/ready")?.contains("is ready").then_some(()));
    promtool(&["check", "metrics"], &ask(&address, "/metrics").unwrap());
    let folder = tempfile::tempdir().unwrap();
    let checked = amtool("127.0.0.1:9", &["check-config", docs.join("alertmanager.yml").to_str().unwrap()]);
    assert!(checked.contains("SUCCESS") && checked.contains("2 receivers"), "{checked}");
    let pager = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_alertmanager, alertmanager) =
        start_alertmanager(folder.path(), &pager.local_addr().unwrap().to_string());
    let (_prometheus, prometheus) = start_prometheus(folder.path(), &address, &alertmanager);
    until("Prometheus does not scrape", || {
        (query(&prometheus, "fabdeck_up", "job") == [("fabdeck".to_owned(), 1.0)]).then_some(())
    });
    let ports = ask(&address, "/metrics")
        .unwrap()
        .lines()
        .filter(|line| line.contains("_port_transmit_wait_total{"))
        .count();
    let scraped = query(&prometheus, "count({__name__=~%22infiniband_.*_port_transmit_wait_total%22})", "");
    assert_eq!(scraped.first().map(|(_, count)| *count as usize), Some(ports));
    assert_eq!(query(&prometheus, "fabdeck_lost_pairs", "job")[0].1, 0.0);
    // A host loses its only cable.
    let host = crate::sweeps::hosts(&fabric)[3];
    stage.console(&format!("Unlink {}", crate::sweeps::names(&fabric, host.1).0), "");
    until("no alert is raised", || {
        let raised = query(&prometheus, "ALERTS%7Balertstate=%22firing%22%7D", "alertname");
        raised
            .iter()
            .any(|(name, _)| name == "FabricCriticalProblem" || name == "FabricLostPairs")
            .then_some(())
    });
    // The alert reaches the receiver that pages, with the severity and the words of the rules.
    pager.set_nonblocking(true).unwrap();
    let (mut stream, _) = until("nothing pages", || pager.accept().ok());
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut lines = BufReader::new(&mut stream).lines();
    let head = lines.next().unwrap().unwrap();
    assert!(head.starts_with("POST /pager"), "{head}");
    let alerts = until("Alertmanager has no alert", || {
        let alerts = amtool(&alertmanager, &["alert", "query", "severity=critical", "--output=json"]);
        let alerts: Value = serde_json::from_str(&alerts).ok()?;
        let is_ours = |alert: &Value| {
            ["FabricCriticalProblem", "FabricLostPairs"]
                .map(Value::from)
                .contains(&alert["labels"]["alertname"])
        };
        alerts.as_array()?.iter().find(|alert| is_ours(alert)).cloned()
    });
    assert!(!alerts["annotations"]["summary"].as_str().unwrap().is_empty(), "{alerts}");
}

/// Scrapes over TLS with the right and with a wrong password, of metrics with the names of another exporter.
const OVER_TLS: &str = "
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: open
    scheme: https
    tls_config: {ca_file: server.crt}
    basic_auth: {username: ada, password: lovelace}
    static_configs: [{targets: [SERVICE]}]
  - job_name: closed
    scheme: https
    tls_config: {ca_file: server.crt}
    basic_auth: {username: ada, password: babbage}
    static_configs: [{targets: [SERVICE]}]
";

#[test]
fn prometheus_reads_the_service_over_tls_with_the_right_password_alone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::set_permissions(folder.path().join(name), PermissionsExt::from_mode(0o600)).unwrap();
    };
    let server = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    write("server.crt", &server.cert.pem());
    write("server.key", &server.signing_key.serialize_pem());
    let hash = bcrypt::hash("lovelace", 4).unwrap();
    write(
        "web.yml",
        &format!(
            "tls_server_config: {{cert_file: server.crt, key_file: server.key}}\nbasic_auth_users:\n  ada: {hash}\n"
        ),
    );
    let serve = |names: &str| {
        let mut service = Command::new(env!("CARGO_BIN_EXE_fabdeck"))
            .envs(["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"].map(|name| (name, folder.path())))
            .args(["--source", "sim:demo", "watch", "--interval", "1s", "--store", "no", "--names-of", names])
            .args(["--serve", "127.0.0.1:0"])
            .args((names == "sckyzo").then_some(["--web-config", "web.yml"]).into_iter().flatten())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(service.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("://").and_then(|(_, rest)| rest.split_once('/')).expect(&line).0;
        (Running(service), address.to_owned())
    };
    let (_service, address) = serve("sckyzo");
    let (_prometheus, prometheus) =
        run_prometheus(folder.path(), &OVER_TLS.replace("SERVICE", &format!("\"{address}\"")));
    let mut up = until("Prometheus does not scrape", || {
        let up = query(&prometheus, "up", "job");
        (up.len() == 2 && up.iter().any(|(_, value)| *value > 0.0)).then_some(up)
    });
    up.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(up, [("closed".to_owned(), 0.0), ("open".to_owned(), 1.0)]);
    let switches = query(&prometheus, "infiniband_switch_up", "job");
    assert!(
        switches.len() > 1 && switches.iter().all(|(job, up)| job == "open" && *up == 1.0),
        "{switches:?}"
    );

    let (_service, address) = serve("treydock");
    until("the service is not ready", || ask(&address, "/-/ready")?.contains("is ready").then_some(()));
    promtool(&["check", "metrics"], &ask(&address, "/metrics").unwrap());
}
