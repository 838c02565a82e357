//! `watch --webhook`: receivers that fail, hang and come back, a watch that is killed, and addresses that are refused.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fabdeck::operations::event_store::event_log::LogLimits;
use fabdeck::operations::event_store::stored_batch::StoredEvent;
use fabdeck::operations::event_store::watch_event::{EventSeverity, WatchEvent};
use fabdeck::operations::event_store::watch_store::WatchStore;
use fabdeck::operations::webhook::webhook_sender::{WebhookSender, WebhookTimes};
use fabdeck::system::store_disk::FolderDisk;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};
use super::watch_access::{Authority, write_secret};

const PATIENCE: Duration = Duration::from_secs(30);

/// What a receiver does with a request.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Behaviour {
    Answer(u16),
    /// It reads the request and closes the connection.
    Close,
    /// It reads the request and keeps the connection.
    Hang,
}

use Behaviour::{Answer, Close, Hang};

/// A receiver: what it accepted, and every request with what it did.
struct Webhook {
    port: u16,
    /// The last one is repeated.
    script: Arc<Mutex<Vec<Behaviour>>>,
    requests: Receiver<(Behaviour, Value)>,
}

impl Webhook {
    fn start(script: &[Behaviour], tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Mutex::new(script.to_vec()));
        let (sender, requests) = channel();
        let behaviours = script.clone();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(request) = read_request(&stream, tls.as_ref()) else { continue };
                let (head, body, mut answering) = request;
                assert!(head.starts_with("POST /hook?token=s3cret HTTP/1.1\r\n"), "{head}");
                let mut script = behaviours.lock().unwrap();
                let behaviour = if script.len() > 1 { script.remove(0) } else { script[0] };
                // The other side sees the answer after the request is noted.
                let gone = sender.send((behaviour, body)).is_err();
                match behaviour {
                    Answer(status) => {
                        let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
                        let _ = answering.write_all(answer.as_bytes()).and_then(|()| answering.flush());
                    }
                    Close => {}
                    Hang => open.push(answering),
                }
                if gone {
                    return;
                }
            }
        });
        Self { port, script, requests }
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}/hook?token=s3cret", self.port)
    }

    fn set_script(&self, script: &[Behaviour]) {
        *self.script.lock().unwrap() = script.to_vec();
    }

    /// Waits for requests until one of them was accepted that has the last event.
    fn until_accepted(&self, last: u64) -> Vec<(Behaviour, Value)> {
        let (begun, mut requests) = (Instant::now(), Vec::new());
        loop {
            let request = self.requests.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())).unwrap();
            let newest = request.1["events"].as_array().unwrap().last().unwrap()["number"].as_u64().unwrap();
            let is_last = matches!(request.0, Answer(200..=299)) && newest >= last;
            requests.push(request);
            if is_last {
                return requests;
            }
        }
    }
}

trait ReadWrite: Read + Write + Send {}
impl<S: Read + Write + Send> ReadWrite for S {}

fn read_request(
    stream: &TcpStream,
    tls: Option<&Arc<ServerConfig>>,
) -> Option<(String, Value, Box<dyn ReadWrite>)> {
    let stream = stream.try_clone().unwrap();
    let mut stream: Box<dyn ReadWrite> = match tls {
        None => Box::new(stream),
        Some(tls) => Box::new(StreamOwned::new(ServerConnection::new(tls.clone()).unwrap(), stream)),
    };
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            return Some((head.to_owned(), serde_json::from_str(body).unwrap(), stream));
        }
    }
}

/// The numbers of the events that were accepted, each once however often it came; two events never have the same id.
fn accepted(requests: &[(Behaviour, Value)]) -> Vec<u64> {
    let mut by_id: BTreeMap<String, Value> = BTreeMap::new();
    let mut numbers = Vec::new();
    for (behaviour, body) in requests {
        assert_eq!(body["schema"], "fabdeck.webhook/1");
        let events = body["events"].as_array().unwrap();
        assert!((1..=100).contains(&events.len()), "{}", events.len());
        for event in events {
            let id = event["id"].as_str().unwrap().to_owned();
            assert!(id.starts_with(body["fabric"].as_str().unwrap()), "{id}");
            assert_eq!(by_id.entry(id).or_insert_with(|| event.clone()), event);
            if matches!(behaviour, Answer(200..=299)) {
                numbers.push(event["number"].as_u64().unwrap());
            }
        }
    }
    numbers
}

/// Stored events, which a webhook sends.
struct StoredEvents {
    folder: TempDir,
    store: WatchStore,
}

impl StoredEvents {
    fn new() -> Self {
        let folder = home();
        let disk = Box::new(FolderDisk::new(folder.path()));
        let report = &mut |line: String| panic!("{line}");
        let store = WatchStore::open(disk, "store".to_owned(), LogLimits::default(), report).unwrap();
        Self { folder, store }
    }

    fn add(&mut self, count: u64) -> Vec<WatchEvent> {
        let first = self.store.state().event + 1;
        let time_ms = 1_793_577_600_000 + i64::try_from(first).unwrap();
        let event = |number| WatchEvent {
            number,
            time_ms,
            kind: "link-down".to_owned(),
            severity: EventSeverity::Warning,
            text: format!("cable {number} \"is\" down"),
            subject: String::new(),
            elements: vec![format!("port:leaf{number}[1]")],
        };
        let events: Vec<WatchEvent> = (first..first + count).map(event).collect();
        let stored =
            events.iter().map(|event| StoredEvent { event: event.clone(), problem: None, change: None });
        self.store.record_events(stored.collect(), time_ms);
        events
    }
}

fn quick() -> WebhookTimes {
    WebhookTimes {
        request: Duration::from_millis(300),
        first_retry: Duration::from_millis(20),
        longest_retry: Duration::from_millis(100),
        end: Duration::from_secs(3),
    }
}

/// A receiver that fails in each way there is gets every event in its order, and accepts each once.
#[test]
fn a_receiver_that_fails_gets_all_events_once() {
    let script =
        [Answer(500), Close, Hang, Answer(302), Answer(404), Answer(200), Answer(503), Hang, Answer(202)];
    let webhook = Webhook::start(&script, None);
    let mut stored = StoredEvents::new();
    let mut sender = WebhookSender::new(&webhook.url("http"), None, quick()).unwrap();
    let first = stored.add(1);
    sender.start(stored.folder.path(), "sim:test", &first);
    sender.receive(&first, true);
    let begun = Instant::now();
    for _ in 0..30 {
        let events = stored.add(10);
        sender.receive(&events, true);
    }
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "a sweep waits for the receiver: {:?}",
        begun.elapsed()
    );
    let requests = webhook.until_accepted(301);
    assert_eq!(accepted(&requests), (1..=301).collect::<Vec<_>>());
    let done: Vec<Behaviour> = requests.iter().map(|(behaviour, _)| *behaviour).collect();
    assert_eq!(done[..script.len()], script);
    let event = &requests[0].1["events"][0];
    assert_eq!(event["text"], "cable 1 \"is\" down");
    assert_eq!(event["elements"], serde_json::json!(["port:leaf1[1]"]));
    assert!(event["time"].as_str().unwrap().contains('T'));
    // What is under way at the end is delivered, and nothing is sent again.
    let last = stored.add(1);
    sender.receive(&last, true);
    drop(sender);
    assert_eq!(accepted(&webhook.until_accepted(302)), [302]);
    let mut sender = WebhookSender::new(&webhook.url("http"), None, quick()).unwrap();
    sender.start(stored.folder.path(), "sim:test", &[]);
    drop(sender);
    assert!(webhook.requests.try_recv().is_err());
}

/// The user reads once that it fails and once that it works, without the path of the address.
#[test]
fn troubles_are_reported_once() {
    let webhook = Webhook::start(&[Answer(500)], None);
    let mut stored = StoredEvents::new();
    let mut sender = WebhookSender::new(&webhook.url("http"), None, quick()).unwrap();
    let first = stored.add(3);
    sender.start(stored.folder.path(), "sim:test", &first);
    sender.receive(&first, true);
    for _ in 0..4 {
        webhook.requests.recv_timeout(PATIENCE).unwrap();
    }
    webhook.set_script(&[Answer(200)]);
    webhook.until_accepted(3);
    let begun = Instant::now();
    let mut messages = Vec::new();
    while messages.len() < 2 {
        assert!(begun.elapsed() < PATIENCE, "{messages:?}");
        messages.extend(sender.take_messages());
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(sender);
    let place = format!("http://127.0.0.1:{}", webhook.port);
    assert_eq!(
        messages,
        [
            format!(
                "FD-7373: the webhook {place} does not accept events: it answers with status 500; they wait in the store and are sent again"
            ),
            format!("the webhook {place} accepts events again")
        ]
    );
}

/// A watch with a receiver that hangs ends in its time.
#[test]
fn a_receiver_that_hangs_does_not_keep_the_watch() {
    let webhook = Webhook::start(&[Hang], None);
    let mut stored = StoredEvents::new();
    let times = WebhookTimes { request: Duration::from_secs(60), end: Duration::from_millis(200), ..quick() };
    let mut sender = WebhookSender::new(&webhook.url("http"), None, times).unwrap();
    let first = stored.add(1);
    sender.start(stored.folder.path(), "sim:test", &first);
    sender.receive(&first, true);
    webhook.requests.recv_timeout(PATIENCE).unwrap();
    let begun = Instant::now();
    drop(sender);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// A cable that goes down again and again, so that each sweep has events.
fn flapping(folder: &TempDir) -> String {
    let mut story = String::new();
    for turn in 0..100 {
        let at = 2 * turn;
        story += &format!("{at}s down leaf0/4\n{}s up leaf0/4\n", at + 1);
    }
    let file = folder.path().join("story");
    std::fs::write(&file, story).unwrap();
    format!("sim:kary,k=3,n=2,traffic=none,story={}", file.display())
}

/// The events that are stored.
fn listed(folder: &TempDir) -> Vec<Value> {
    let ended = fabdeck(folder).args(["--json", "events"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let answer: Value = serde_json::from_slice(&ended.stdout).unwrap();
    answer["rows"].as_array().unwrap().clone()
}

/// A watch that is killed while the receiver is away: the next one sends what waited, by TLS, and every event that is
/// stored arrives.
#[test]
fn a_watch_that_is_killed_loses_no_event() {
    let authority = Authority::new();
    let (certificate, key) = authority.sign("127.0.0.1");
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let webhook = Webhook::start(&[Answer(200), Answer(500), Hang], Some(Arc::new(tls)));
    let folder = home();
    write_secret(&folder.path().join("ca.crt"), &authority.pem());
    let source = flapping(&folder);
    let watch = |args: &[&str]| {
        let mut watch = fabdeck(&folder);
        watch.args(["--source", &source, "--no-times", "watch", "--recovery", "1s"]);
        watch.args(["--webhook", &webhook.url("https"), "--webhook-ca", "ca.crt"]).args(args);
        watch.stdout(Stdio::null()).stderr(Stdio::piped());
        watch
    };
    let mut killed = watch(&["--interval", "1s", "--count", "100000"]);
    let mut killed = killed.spawn().unwrap();
    let mut requests: Vec<(Behaviour, Value)> =
        (0..3).map(|_| webhook.requests.recv_timeout(PATIENCE).unwrap()).collect();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = listed(&folder).len();
    assert!(before > 0);
    webhook.set_script(&[Answer(500), Answer(200)]);
    let ended = watch(&["--interval", "1s", "--count", "12"]).output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("s3cret"), "{stderr}");
    requests.extend(webhook.requests.try_iter());
    let stored = listed(&folder);
    let numbers: Vec<u64> = stored.iter().map(|event| event["number"].as_u64().unwrap()).collect();
    assert!(numbers.len() > before + 5, "{before} {}", numbers.len());
    assert_eq!(accepted(&requests), numbers);
    let sent: BTreeMap<u64, &Value> = requests
        .iter()
        .flat_map(|(_, body)| body["events"].as_array().unwrap())
        .map(|event| (event["number"].as_u64().unwrap(), event))
        .collect();
    for event in &stored {
        let sent = sent[&event["number"].as_u64().unwrap()];
        assert_eq!((&sent["kind"], &sent["text"]), (&event["kind"], &event["text"]));
    }
}

/// A receiver whose certificate is not signed by a known authority gets nothing, and the watch says why.
#[test]
fn a_receiver_that_cannot_be_trusted_gets_nothing() {
    let (certificate, key) = Authority::new().sign("127.0.0.1");
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let webhook = Webhook::start(&[Answer(200)], Some(Arc::new(tls)));
    let folder = home();
    write_secret(&folder.path().join("other.crt"), &Authority::new().pem());
    let mut watch = fabdeck(&folder)
        .args(["--source", "sim:demo", "watch", "--interval", "100ms"])
        .args(["--webhook", &webhook.url("https"), "--webhook-ca", "other.crt"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stderr.take().unwrap()).lines();
    let line = lines.find(|line| line.as_ref().unwrap().contains("FD-7373")).unwrap().unwrap();
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(line.contains("invalid peer certificate") && !line.contains("s3cret"), "{line}");
    assert!(webhook.requests.try_recv().is_err());
}

#[test]
fn addresses_that_cannot_be_used_are_refused() {
    let folder = home();
    std::fs::write(folder.path().join("empty.crt"), "").unwrap();
    for (args, exit, says) in [
        (
            &["--webhook", "ftp://h/s3cret"][..],
            64,
            "FD-7370: the address of the webhook: fabdeck does not speak ftp",
        ),
        (
            &["--webhook", "https://ada:s3cret@h/"],
            64,
            "FD-7370: the address of the webhook: it has a user name",
        ),
        (&["--webhook", "http://h/s3cret", "--store", "no"], 64, "FD-7372: a webhook with --store no"),
        (
            &["--webhook", "http://h/s3cret", "--webhook-ca", "empty.crt"],
            7,
            "FD-7371: the webhook http://h:80",
        ),
        (
            &["--webhook", "https://h/s3cret", "--webhook-ca", "empty.crt"],
            7,
            "FD-7363: empty.crt: it has no certificate",
        ),
        (&["--webhook", "https://h/s3cret", "--webhook-ca", "absent.crt"], 7, "FD-7360: absent.crt"),
    ] {
        let ended = fabdeck(&folder)
            .args(["--source", "sim:demo", "watch", "--count", "1"])
            .args(args)
            .output()
            .unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(exit), "{args:?}: {stderr}");
        assert!(stderr.contains(says) && !stderr.contains("s3cret"), "{args:?}: {stderr}");
    }
    assert!(!folder.path().join("watch").exists());
}

/// The address of the configuration is used for live fabrics alone.
#[test]
fn the_configuration_has_the_address_of_live_fabrics() {
    let folder = home();
    let watch = |source: &str| {
        let mut watch = fabdeck(&folder);
        watch.args(["--config", "config.toml", "--source", source, "watch", "--count", "1"]);
        let ended = watch.output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    write_secret(&folder.path().join("config.toml"), "[watch]\nwebhook = \"ftp://h/s3cret\"\n");
    let (exit, stderr) = watch("umad:none");
    assert!(
        exit == Some(64) && stderr.contains("FD-7370") && !stderr.contains("s3cret"),
        "{exit:?} {stderr}"
    );
    let (exit, stderr) = watch("sim:demo");
    assert!(exit == Some(0) && stderr.contains("gets no events of a simulator"), "{exit:?} {stderr}");
}
