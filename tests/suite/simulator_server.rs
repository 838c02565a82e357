//! A simulator served over a socket: several clients in one fabric, and clients and servers that behave badly.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering, mpsc::Receiver, mpsc::channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_live::socket::{
    Frame, MAX_CLIENTS, RefusalReason, Server, ServerEvent, ServerSummary, connect, decode, encode,
};
use fabdeck_live::{ExchangePolicy, Keys, LiveOptions, LiveSource, create_simulator, read_snapshot};
use fabdeck_mad::access::{
    AddressedMad, Clock, MadAddress, MadPort, NoObserver, PortError, PortEvent, ReadObserver, ReadOptions,
    ReadPort, ReadProgress, Source, SourceError, WriteToken,
};
use fabdeck_mad::{Method, NodeInfo, Smp, attribute};
use fabdeck_simulator::Simulator;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(2);

fn simulator() -> Simulator {
    create_simulator("sim:demo", &LiveOptions::default()).unwrap().0
}

/// A server in a thread of the test, and what it tells.
struct TestServer {
    folder: TempDir,
    stop: Arc<AtomicBool>,
    events: Receiver<ServerEvent>,
    thread: Option<JoinHandle<ServerSummary>>,
}

impl TestServer {
    fn start() -> Self {
        Self::start_with(simulator())
    }

    fn start_with(simulator: Simulator) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::bind(&folder.path().join("s"), simulator).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (told, events) = channel();
        let flag = Arc::clone(&stop);
        let thread =
            std::thread::spawn(move || server.run(&flag, &mut |event| drop(told.send(event.clone()))));
        Self { folder, stop, events, thread: Some(thread) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn client(&self, at: Option<&str>) -> ReadPort {
        connect(&self.path(), at).unwrap()
    }

    fn raw(&self) -> UnixStream {
        let stream = UnixStream::connect(self.path()).unwrap();
        stream.set_read_timeout(Some(PATIENCE * 4)).unwrap();
        stream
    }

    /// Waits for an event that holds these words.
    fn wait_for_event(&self, words: &str) -> String {
        let until = Instant::now() + PATIENCE * 5;
        let mut others = Vec::new();
        while let Ok(event) = self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            let text = event.to_string();
            if text.contains(words) {
                return text;
            }
            others.push(text);
        }
        panic!("nothing with '{words}' among {others:?}");
    }

    fn end(mut self) -> ServerSummary {
        self.stop.store(true, Ordering::Relaxed);
        let summary = self.thread.take().unwrap().join().unwrap();
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 0, "the socket is gone");
        summary
    }
}

fn node_info(number: u64, route: &[u8]) -> AddressedMad {
    let mut smp = Smp::directed(Method::GET, attribute::NODE_INFO, 0, route).unwrap();
    smp.0.header_mut().transaction = number.into();
    AddressedMad { mad: smp.0, address: MadAddress::directed() }
}

fn send_get(port: &mut impl MadPort, number: u64, route: &[u8]) -> AddressedMad {
    port.send(&node_info(number, route), PATIENCE).unwrap();
    match port.receive(port.now() + PATIENCE).unwrap() {
        Some(PortEvent::Mad(reply)) if reply.mad.header().transaction.get() as u32 == number as u32 => reply,
        other => panic!("{other:?}"),
    }
}

fn works(port: &mut impl MadPort) {
    assert_eq!(send_get(port, 77, &[]).mad.method(), Method::GET_RESPONSE);
}

/// Answers a second with a number of requests in flight.
fn round_trips(port: &mut impl MadPort, window: u64, count: u64) -> f64 {
    let begin = Instant::now();
    let mut sent = 0;
    for answered in 0..count {
        while sent < count && sent - answered < window {
            port.send(&node_info(sent, &[]), PATIENCE).unwrap();
            sent += 1;
        }
        assert!(port.receive(port.now() + PATIENCE).unwrap().is_some(), "{answered} of {sent}");
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

#[test]
fn round_trips_a_second() {
    let served = TestServer::start();
    let mut port = served.client(None);
    for (window, count) in [(1, 2_000), (16, 10_000), (64, 20_000), (256, 20_000)] {
        println!("{window} on their way: {:.0} round trips/s", round_trips(&mut port, window, count));
    }
    let ports: Vec<_> = (0..4).map(|_| served.client(None)).collect();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for mut port in ports {
            scope.spawn(move || round_trips(&mut port, 64, 10_000));
        }
    });
    println!("4 clients with 64 each: {:.0} round trips/s", 40_000.0 / begin.elapsed().as_secs_f64());
    let summary = served.end();
    assert_eq!((summary.clients, summary.dropped, summary.traffic.total_sent()), (5, 0, 92_000));
}

/// Both read one set of counters, which grow by what the traffic of the fabric does in the meantime.
#[test]
fn two_observers_see_the_same_counters_growing() {
    let text = "sim:kary,k=2,n=2,traffic=permutation:load=40%,ratio=1:20000";
    let served = TestServer::start_with(create_simulator(text, &LiveOptions::default()).unwrap().0);
    let mut sources = [(); 2]
        .map(|()| LiveSource::new("s", served.client(None), ExchangePolicy::default(), Keys::default()));
    let mut looks: Vec<_> = sources
        .iter_mut()
        .map(|source| source.observe(ReadOptions::default(), &mut NoObserver).unwrap())
        .collect();
    let mut sweep = |which: usize| {
        let swept = sources[which].sweep(&mut looks[which], Duration::ZERO, &mut NoObserver).unwrap();
        let sent = |sample: &CounterSample| sample.values.get(&Counter::PortXmitPktsExtended).unwrap();
        swept.samples.iter().map(sent).collect::<Vec<u64>>()
    };
    let [first, other] = [sweep(0), sweep(1)];
    std::thread::sleep(Duration::from_millis(400));
    let [later, last] = [sweep(0), sweep(1)];
    let sums = [&first, &other, &later, &last].map(|sent| sent.iter().sum::<u64>());
    let grows =
        |before: &[u64], after: &[u64]| before.iter().zip(after).all(|(before, after)| before <= after);
    assert!(grows(&first, &other) && grows(&other, &later) && grows(&later, &last), "{sums:?}");
    // What lies between two sweeps of one after the other is little beside what grew over the pause.
    assert!(sums[2] - sums[1] > 400_000, "{sums:?}");
    assert!(sums[3] - sums[2] < sums[2] - sums[1], "{sums:?}");
    drop(sources);
    let summary = served.end();
    assert_eq!((summary.clients, summary.behind), (2, None));
}

#[test]
fn clients_at_two_nodes_see_one_fabric() {
    let served = TestServer::start();
    let mut first = served.client(Some("node01 mlx5_0"));
    let mut second = served.client(Some("node02 mlx5_0/1"));
    assert!(
        first.local_port().simulated && first.local_port().name.starts_with("node01"),
        "{:?}",
        first.local_port()
    );
    assert_ne!(first.local_port().guid, second.local_port().guid);
    // Both hosts are on the same leaf switch, one hop away.
    let leaf = |parcel: AddressedMad| Smp(parcel.mad).data::<NodeInfo>().node_guid.get();
    let (seen, also) = (leaf(send_get(&mut first, 1, &[1])), leaf(send_get(&mut second, 1, &[1])));
    assert_eq!(seen, also);
    assert_ne!(leaf(send_get(&mut first, 2, &[])), leaf(send_get(&mut second, 2, &[])));
    drop(first);
    served.wait_for_event("client 1 left");
    works(&mut second);
    let summary = served.end();
    assert_eq!((summary.clients, summary.traffic.total_sent(), summary.traffic.write_count()), (2, 5, 0));
}

#[test]
fn a_write_through_one_client_is_counted_by_the_server() {
    let served = TestServer::start();
    let mut port = served.client(None).unlock(&WriteToken::for_simulation()).unwrap();
    let mut set = node_info(5, &[]);
    set.mad.header_mut().method = Method::SET.0;
    port.send(&set, PATIENCE).unwrap();
    assert!(port.receive(port.now() + PATIENCE).unwrap().is_some());
    works(&mut port);
    drop(port);
    served.wait_for_event("client 1 left");
    let summary = served.end();
    assert_eq!((summary.traffic.write_count(), summary.traffic.total_sent()), (1, 2));
}

#[test]
fn a_node_that_is_not_there_is_refused_in_the_servers_words() {
    let served = TestServer::start();
    let Err(SourceError::Name { code, what, .. }) = connect(&served.path(), Some("nobody")) else { panic!() };
    assert_eq!(code, "FD-4306");
    assert!(what.contains("no node 'nobody'"), "{what}");
    let long = connect(&served.path(), Some(&"n".repeat(300))).unwrap_err();
    assert!(long.to_string().starts_with("FD-4307"), "{long}");
    works(&mut served.client(Some("node01 mlx5_0")));
    assert_eq!(served.end().clients, 1);
}

/// Everything until the server ends the stream.
fn last_words(mut stream: UnixStream) -> (RefusalReason, String) {
    let mut bytes = Vec::new();
    // A server that ends with bytes unread resets the stream behind its last words.
    let _ = stream.read_to_end(&mut bytes);
    let mut rest = &bytes[..];
    while let Ok(Some((frame, length))) = decode(rest) {
        if let Frame::Refusal(refusal) = frame {
            return (refusal.reason, refusal.text.to_owned());
        }
        rest = &rest[length..];
    }
    panic!("no last words in {} bytes", bytes.len());
}

#[test]
fn garbage_and_half_frames_harm_no_other_client() {
    let served = TestServer::start();
    let mut good = served.client(None);
    let mut stream = served.raw();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: fabric\r\n\r\n").unwrap();
    assert_eq!(last_words(stream).0, RefusalReason::Protocol);
    served.wait_for_event("a client was refused: a frame begins with 0x47");

    let mut hello = Vec::new();
    encode::hello(Some("node02 mlx5_0"), &mut hello);
    let mut stream = served.raw();
    stream.write_all(&hello).unwrap();
    served.wait_for_event("node02");
    stream.write_all(&[4, 0, 0xFF, 0xFF]).unwrap();
    let (reason, text) = last_words(stream);
    assert!(reason == RefusalReason::Protocol && text.contains("claims 65535 bytes"), "{text}");
    served.wait_for_event("was disconnected");

    let mut half = served.raw();
    half.write_all(&hello[..7]).unwrap();
    drop(half);
    served.wait_for_event("during its hello");
    let mut half = served.raw();
    half.write_all(&hello).unwrap();
    half.write_all(&[4, 0, 1, 8, 0, 0, 0]).unwrap();
    served.wait_for_event("sits on node02");
    drop(half);
    served.wait_for_event("disconnected during a frame");
    works(&mut good);
    assert_eq!(served.end().clients, 3);
}

#[test]
fn a_client_of_another_version_is_refused_with_both_versions() {
    let served = TestServer::start();
    let mut hello = Vec::new();
    encode::hello(None, &mut hello);
    hello[13] = 9;
    let mut stream = served.raw();
    stream.write_all(&hello).unwrap();
    let (_, text) = last_words(stream);
    assert!(text.contains("with protocol 9") && text.contains("with protocol 1"), "{text}");
    served.end();
}

#[test]
fn a_client_that_never_reads_loses_its_own_answers_only() {
    let served = TestServer::start();
    let mut hello = Vec::new();
    encode::hello(None, &mut hello);
    let mut deaf = served.raw();
    deaf.write_all(&hello).unwrap();
    let mut batch = Vec::new();
    (0..200).for_each(|number| encode::datagram(&node_info(number, &[]), &mut batch));
    for _ in 0..50 {
        deaf.write_all(&batch).unwrap();
    }
    let mut good = served.client(None);
    assert!(round_trips(&mut good, 64, 5_000) > 1_000.0);
    drop(deaf);
    let told = served.wait_for_event("dropped because it did not read");
    let summary = served.end();
    assert!(summary.dropped > 5_000 && summary.dropped < 10_000, "{told}: {summary:?}");
    assert_eq!(summary.traffic.total_sent(), 15_000);
}

#[test]
fn one_client_too_many_is_refused_and_a_place_becomes_free() {
    let served = TestServer::start();
    let mut clients: Vec<ReadPort> = (0..MAX_CLIENTS).map(|_| served.client(None)).collect();
    let Err(refused) = connect(&served.path(), None) else { panic!() };
    assert!(
        refused.to_string().contains("FD-4308") && refused.to_string().contains("64 clients"),
        "{refused}"
    );
    clients.iter_mut().for_each(works);
    drop(clients.pop());
    served.wait_for_event("left");
    let until = Instant::now() + PATIENCE;
    while connect(&served.path(), None).map(|mut port| works(&mut port)).is_err() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
    served.end();
}

/// A command ends soon: with every request unanswered the timeouts alone would take three seconds.
#[test]
fn a_look_at_a_silent_fabric_is_cancelled_within_a_fifth_of_a_second() {
    struct WatchTimeout(Instant);
    impl ReadObserver for WatchTimeout {
        fn report_progress(&mut self, _: ReadProgress) {}
        fn is_cancelled(&self) -> bool {
            Instant::now() >= self.0
        }
    }
    let served =
        TestServer::start_with(create_simulator("sim:demo,silent=100%", &LiveOptions::default()).unwrap().0);
    let mut port = served.client(None);
    let wish = Instant::now() + Duration::from_millis(300);
    let ended = read_snapshot(
        "served",
        &mut port,
        ExchangePolicy::default(),
        &Keys::default(),
        ReadOptions::default(),
        &mut WatchTimeout(wish),
    );
    assert_eq!(ended.unwrap_err(), SourceError::Cancelled);
    assert!(wish.elapsed() <= Duration::from_millis(200), "{:?}", wish.elapsed());
}

#[test]
fn a_server_that_ends_is_noticed_by_a_client_that_waits() {
    let served = TestServer::start();
    let path = served.path();
    let mut port = served.client(None);
    works(&mut port);
    let waits = std::thread::spawn(move || {
        let begin = Instant::now();
        (port.receive(port.now() + Duration::from_secs(60)), begin.elapsed(), port)
    });
    std::thread::sleep(Duration::from_millis(50));
    served.end();
    let (ended, took, mut port) = waits.join().unwrap();
    let Err(PortError::Gone { code, what, hint }) = ended else { panic!("{ended:?}") };
    assert!(took < PATIENCE && code == "FD-4310" && hint.contains("simulate --serve"), "{what}");
    assert!(port.send(&node_info(1, &[]), PATIENCE).is_ok());
    assert!(port.receive(port.now() + PATIENCE).is_err());
    let Err(absent) = connect(&path, None) else { panic!() };
    assert!(absent.to_string().starts_with("FD-4301"), "{absent}");
}

#[test]
fn waiting_ends_when_it_should_and_not_later() {
    let served = TestServer::start();
    let mut port = served.client(None);
    for wait in [0, 1, 20, 100, 400] {
        let begin = Instant::now();
        let until = port.now() + Duration::from_millis(wait);
        assert_eq!(port.receive(until), Ok(None));
        let took = begin.elapsed().as_millis() as u64;
        assert!(port.now() >= until && took <= wait + 100, "{wait} ms took {took} ms");
    }
    served.end();
}

#[test]
fn other_sockets_are_distinguished_from_simulators() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let answers = |answer: &'static [u8]| {
        let listener = listener.try_clone().unwrap();
        let stranger = std::thread::spawn(move || listener.accept().unwrap().0.write_all(answer).unwrap());
        let refused = connect(&path, None).unwrap_err().to_string();
        stranger.join().unwrap();
        refused
    };
    assert!(answers(b"220 mail.example ESMTP\r\n").starts_with("FD-4304"));
    assert!(answers(b"").starts_with("FD-4304"));
    let other = answers(b"\x02\0\0\x10fabdeck~\0\x02\x059.9.9");
    assert!(other.starts_with("FD-4305") && other.contains("fabdeck 9.9.9 with protocol 2"), "{other}");
    drop(listener);
    assert!(connect(&path, None).unwrap_err().to_string().starts_with("FD-4302"));
}

#[test]
fn one_path_has_one_server_and_a_stale_socket_none() {
    let served = TestServer::start();
    let second = Server::bind(&served.path(), simulator()).unwrap_err();
    assert!(second.to_string().starts_with("FD-4320"), "{second}");
    works(&mut served.client(None));
    let path = served.path();
    served.end();
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join("s");
    drop(UnixListener::bind(&stale).unwrap());
    assert!(!path.exists() && stale.exists());
    assert!(Server::bind(&stale, simulator()).is_ok());
    assert!(!stale.exists(), "a server that never ran leaves nothing");
}

/// The binary with a home of its own.
fn fabdeck(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.current_dir(home).stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped());
    for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home);
    }
    command
}

/// The command, once it says that it serves.
/// A process that serves, and what it says.
type ServerProcess = (Child, BufReader<std::process::ChildStderr>);

fn serving(home: &Path, socket: &str, more: &[&str]) -> ServerProcess {
    serving_of(home, "sim:demo", socket, more)
}

fn serving_of(home: &Path, source: &str, socket: &str, more: &[&str]) -> ServerProcess {
    let mut command = fabdeck(home);
    command.args(["--source", source, "simulate", "--serve", socket]).args(more);
    let mut child = command.spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut ready = String::new();
    talk.read_line(&mut ready).unwrap();
    assert_eq!(ready, format!("fabdeck: serving {source} on {socket}; stop with Ctrl-C\n"));
    (child, talk)
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

/// The signal is taken by one thread; the others run on until it has stopped them.
fn stop(child: &Child) {
    signal(child, "STOP");
    let threads = || std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    let stat = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("stat")).unwrap();
    while !threads().all(|thread| stat(thread.unwrap()).contains(") T ")) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_command_serves_until_a_signal_and_puts_its_socket_away() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let home = tempfile::tempdir().unwrap();
        let (mut child, mut talk) = serving(home.path(), "fabric.sock", &[]);
        let mut port = connect(&home.path().join("fabric.sock"), None).unwrap();
        works(&mut port);
        let begin = Instant::now();
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
        let mut said = String::new();
        talk.read_to_string(&mut said).unwrap();
        assert!(
            said.contains("1 client served: 1 datagram received (Get: 1), 0 of them able to write"),
            "{said}"
        );
        assert!(!home.path().join("fabric.sock").exists());
        assert!(port.receive(port.now() + PATIENCE).is_err());
    }
}

#[test]
fn a_process_looks_at_a_fabric_that_another_one_serves() {
    let home = tempfile::tempdir().unwrap();
    // Traffic goes on while another process looks.
    let (mut child, _talk) = serving_of(home.path(), "sim:demo,traffic=none", "fabric.sock", &[]);
    let run = |source: &str, what: &str| {
        let ended =
            fabdeck(home.path()).args(["--source", source, "show", what, "--no-times"]).output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    for what in ["links", "hosts", "tables", "counters"] {
        let here = run("sim:demo", what);
        assert_eq!(run("sim:./fabric.sock", what), here);
        assert_eq!(run("sim:./fabric.sock,at=node02 mlx5_0", what), here);
    }
    let nobody =
        fabdeck(home.path()).args(["--source", "sim:./fabric.sock,at=nobody", "show", "links"]).output();
    let nobody = nobody.unwrap();
    assert_eq!(nobody.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("FD-4306"), "{nobody:?}");
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let ended =
        fabdeck(home.path()).args(["--source", "sim:./fabric.sock", "show", "links"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(8), "{ended:?}");
}

#[test]
fn the_command_ends_with_one_object_of_json() {
    let home = tempfile::tempdir().unwrap();
    let (child, _talk) = serving(home.path(), "s", &["--json"]);
    let mut port =
        connect(&home.path().join("s"), None).unwrap().unlock(&WriteToken::for_simulation()).unwrap();
    let mut set = node_info(5, &[]);
    set.mad.header_mut().method = Method::SET.0;
    port.send(&set, PATIENCE).unwrap();
    assert!(port.receive(port.now() + PATIENCE).unwrap().is_some());
    works(&mut port);
    signal(&child, "TERM");
    let ended = child.wait_with_output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(value["schema"], "fabdeck.simulate/1");
    assert_eq!((&value["clients"], &value["writes"], &value["dropped"]), (&1.into(), &1.into(), &0.into()));
    assert_eq!(value["datagrams"], serde_json::json!({ "Get": 1, "Set": 1 }));
}

#[test]
fn the_command_says_why_it_cannot_serve() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("letter"), "").unwrap();
    let run = |args: &[&str]| {
        let ended = fabdeck(home.path()).args(["--source"]).args(args).output().unwrap();
        (ended.status.code().unwrap(), String::from_utf8(ended.stderr).unwrap())
    };
    let wrong = [
        (&["sim:demo", "simulate"][..], 64, "FD-7801"),
        (&["sim:nothing", "simulate", "--serve", "s"], 64, "FD-3001"),
        (&["letter", "simulate", "--serve", "s"], 64, "FD-4326"),
        (&["sim:demo", "simulate", "--serve", "letter"], 64, "FD-4321"),
        (&["sim:demo", "simulate", "--serve", "absent/s"], 8, "FD-4322"),
    ];
    for (args, code, word) in wrong {
        let (ended, said) = run(args);
        assert!(ended == code && said.contains(word), "{args:?}: {ended} {said}");
    }
}

#[test]
fn a_server_that_is_killed_is_noticed_and_its_path_used_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let (mut child, _talk) = serving(home.path(), "s", &[]);
    let mut port = connect(&path, None).unwrap();
    works(&mut port);
    child.kill().unwrap();
    child.wait().unwrap();
    let begin = Instant::now();
    assert!(port.receive(port.now() + Duration::from_secs(60)).is_err());
    assert!(begin.elapsed() < PATIENCE);
    let Err(stale) = connect(&path, None) else { panic!() };
    assert!(stale.to_string().starts_with("FD-4302"), "{stale}");
    let (mut child, _talk) = serving(home.path(), "s", &[]);
    works(&mut connect(&path, None).unwrap());
    signal(&child, "INT");
    child.wait().unwrap();
}

/// A test of this program is run again as a process of its own, which asks as fast as it can until it is killed.
const TRAFFIC: &str = "FABDECK_TEST_TRAFFIC";

#[test]
fn traffic_of_a_process_that_is_killed() {
    let Some(path) = std::env::var_os(TRAFFIC) else { return };
    let mut port = connect(Path::new(&path), None).unwrap();
    for _ in 0..1_000 {
        round_trips(&mut port, 256, 100_000);
    }
}

#[test]
fn a_client_killed_in_the_middle_of_traffic_harms_no_other() {
    let served = TestServer::start();
    let mut good = served.client(None);
    served.wait_for_event("sits on");
    for _ in 0..3 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "simulator_server::traffic_of_a_process_that_is_killed"]);
        let mut child =
            command.env(TRAFFIC, served.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        served.wait_for_event("sits on");
        round_trips(&mut good, 64, 2_000);
        child.kill().unwrap();
        child.wait().unwrap();
        served.wait_for_event("client");
        round_trips(&mut good, 64, 2_000);
    }
    let summary = served.end();
    assert_eq!(summary.clients, 4);
    assert!(summary.traffic.total_sent() > 12_000, "{summary:?}");
}

#[test]
fn a_server_that_hangs_is_silent_until_it_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (mut child, _talk) = serving(home.path(), "s", &[]);
    let mut port = connect(&home.path().join("s"), None).unwrap();
    works(&mut port);
    stop(&child);
    port.send(&node_info(1, &[]), PATIENCE).unwrap();
    let begin = Instant::now();
    assert_eq!(port.receive(port.now() + Duration::from_millis(100)), Ok(None));
    assert!(begin.elapsed() < PATIENCE / 2);
    // What it does not take is kept, but not without end.
    let refused = (0..20_000).find_map(|number| port.send(&node_info(number, &[]), PATIENCE).err()).unwrap();
    assert!(refused.to_string().starts_with("FD-4313"), "{refused}");
    assert!(begin.elapsed() < PATIENCE * 5, "{:?}", begin.elapsed());
    signal(&child, "CONT");
    assert!(port.receive(port.now() + PATIENCE).unwrap().is_some());
    signal(&child, "INT");
    child.wait().unwrap();
}

#[test]
fn a_client_that_hangs_harms_no_other() {
    let served = TestServer::start();
    let mut good = served.client(None);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "simulator_server::traffic_of_a_process_that_is_killed"]);
    let mut child =
        command.env(TRAFFIC, served.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    served.wait_for_event("client 2 sits on");
    stop(&child);
    round_trips(&mut good, 64, 5_000);
    signal(&child, "CONT");
    round_trips(&mut good, 64, 1_000);
    child.kill().unwrap();
    child.wait().unwrap();
    served.wait_for_event("client 2");
    served.end();
}

#[test]
fn a_storm_of_strangers_leaves_no_trace() {
    let served = TestServer::start();
    let mut good = served.client(None);
    let mut valid = Vec::new();
    encode::hello(None, &mut valid);
    (0..3).for_each(|number| encode::datagram(&node_info(number, &[]), &mut valid));
    // Cut anywhere and with one byte changed, by a fixed sequence.
    let mut dice = 1u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % sides
    };
    for _ in 0..300 {
        let mut bytes = valid[..=roll(valid.len())].to_vec();
        let at = roll(bytes.len());
        bytes[at] ^= 1 << roll(8);
        // A server that has all its places taken, or had enough, may end the stream first.
        let _ = served.raw().write_all(&bytes);
        works(&mut good);
    }
    let until = Instant::now() + PATIENCE;
    let fill = || (0..MAX_CLIENTS - 1).map(|_| connect(&served.path(), None)).collect::<Result<Vec<_>, _>>();
    while fill().is_err() {
        assert!(Instant::now() < until, "places were lost");
    }
    works(&mut good);
    served.end();
}

#[test]
fn a_server_ends_in_the_middle_of_traffic() {
    let served = TestServer::start();
    let clients: Vec<ReadPort> = (0..8).map(|_| served.client(None)).collect();
    let ask_until_it_ends = |mut port: ReadPort| loop {
        port.send(&node_info(1, &[]), PATIENCE).unwrap();
        if let Err(gone) = port.receive(port.now() + Duration::from_micros(1)) {
            return gone;
        }
    };
    let threads = clients.into_iter().map(|port| std::thread::spawn(move || ask_until_it_ends(port)));
    let threads: Vec<_> = threads.collect();
    std::thread::sleep(Duration::from_millis(200));
    let begin = Instant::now();
    let summary = served.end();
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    assert!(summary.clients == 8 && summary.traffic.total_sent() > 0);
    let is_gone = |end: JoinHandle<PortError>| end.join().unwrap().to_string().starts_with("FD-4310");
    assert!(threads.into_iter().all(is_gone));
}
