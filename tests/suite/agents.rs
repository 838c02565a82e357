//! Agents as processes of their own at hosts of a served simulator: who follows, who does not, and what each of them says.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use fabdeck_fabric::{Fabric, Lid, PortNum, ServiceLevel};
use fabdeck_live::socket::{Server, connect};
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator, LiveOptions, LiveSource, create_simulator};
use fabdeck_mad::access::{
    Actuator, AddressedMad, Clock, MadAddress, MadPort, NoObserver, PortEvent, ReadOptions, Source, Surveyor,
    WritePort, WriteToken,
};
use fabdeck_mad::{FollowStatus, InformInfo, Mad, Method, Notice, PathNotice, Smp, attribute, trap};
use serde_json::Value;

mod notice_order;

const PATIENCE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

/// A served fabric of nine hosts that all send to each other.
struct Lab {
    home: tempfile::TempDir,
    fabric: Fabric,
    stop: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Lab {
    fn open() -> Self {
        Self::of("sim:kary,k=3,n=2,traffic=uniform")
    }

    fn of(words: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (simulator, _) = create_simulator(words, &LiveOptions::default()).unwrap();
        let fabric = simulator.fabric().snapshot().clone();
        let server = Server::bind(&home.path().join("lab.sock"), simulator).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let server = Some(std::thread::spawn(move || drop(server.run(&flag, &mut |_| ()))));
        Self { home, fabric, stop, server }
    }

    fn socket(&self) -> PathBuf {
        self.home.path().join("lab.sock")
    }

    fn lid(&self, host: usize) -> Lid {
        let name = format!("node{host}");
        let called = |text: &str| text.split(' ').next() == Some(&name);
        let (id, _) = self.fabric.nodes().find(|(_, node)| called(&node.facts.description)).unwrap();
        self.fabric.address_of(self.fabric.port_of(id, PortNum(1)).unwrap()).unwrap().0
    }

    fn client(&self, host: usize) -> WritePort {
        let port = connect(&self.socket(), Some(&format!("node{host}"))).unwrap();
        port.unlock(&WriteToken::for_simulation()).unwrap()
    }

    fn teller(&self) -> LiveActuator {
        let mut teller = LiveActuator::new("lab", self.client(1), ExchangePolicy::default(), Keys::default());
        teller.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
        teller
    }

    fn agent(&self, host: usize, args: &[&str]) -> Agent {
        Agent::start(self.home.path(), &self.socket(), host, args)
    }

    fn hook(&self, name: &str, script: &str) -> String {
        hook(self.home.path(), name, script)
    }

    /// The level of what a host sends to another.
    fn level(&self, from: usize, to: usize) -> u8 {
        level_of(&mut self.client(from), self.lid(to)).unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.server.take().into_iter().for_each(|server| drop(server.join()));
    }
}

/// A hook of a site.
pub fn hook(home: &Path, name: &str, script: &str) -> String {
    let file = home.join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    file.display().to_string()
}

/// The level of what the host of a port sends to a LID, where it sends something there.
pub fn level_of(port: &mut WritePort, to: Lid) -> Option<u8> {
    let mad = Mad::query_flows(0);
    let address = MadAddress::for_class(port.local_port().lid.unwrap(), mad.class());
    let answer = answer(port, AddressedMad { mad, address }).unwrap();
    answer.host_flows().entries().iter().find(|flow| flow.lid.get() == to.value()).map(|flow| flow.level)
}

/// `fabdeck agent` at a host.
pub struct Agent {
    pub child: Child,
    out: PathBuf,
}

impl Agent {
    /// At the host `node<host>` of a served simulator, once it is subscribed.
    pub fn start(home: &Path, socket: &Path, host: usize, args: &[&str]) -> Self {
        let out = home.join(format!("agent{host}-{}", args.len()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
        for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(folder, home);
        }
        let source = format!("sim:{},at=node{host}", socket.display());
        command.args(["--json", "--no-times", "--source", &source, "agent"]).args(args);
        command.stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap()).stderr(Stdio::inherit());
        let agent = Self { child: command.spawn().unwrap(), out };
        agent.wait_for_event("subscribed");
        agent
    }

    fn read_events(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.out).unwrap();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn count(&self, event: &str) -> usize {
        self.read_events().iter().filter(|told| told["event"] == event).count()
    }

    /// Waits until it has told of this, and gives the last that it told.
    pub fn wait_for_event(&self, event: &str) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(told) = self.read_events().into_iter().rev().find(|told| told["event"] == event) {
                assert_eq!(told["schema"], "fabdeck.agent/1");
                return told;
            }
            assert!(begun.elapsed() < PATIENCE, "no {event}: {:?}", self.read_events());
            sleep(Duration::from_millis(10));
        }
    }

    /// Asked to end; the sum of what it did.
    fn end(mut self) -> (Vec<Value>, Value) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
        let told = self.read_events();
        let last = told.last().unwrap().clone();
        assert_eq!((&last["event"], &last["writes"]), (&"ended".into(), &0.into()), "{told:?}");
        (told, last)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(port: &mut WritePort, mut parcel: AddressedMad) -> Option<Mad> {
    parcel.mad.header_mut().transaction = 77.into();
    port.send(&parcel, SECOND).unwrap();
    let until = port.now() + SECOND;
    while let Some(arrival) = port.receive(until).unwrap() {
        match arrival {
            PortEvent::Mad(came) if came.mad.header().transaction.get() == 77 => return Some(came.mad),
            _ => {}
        }
    }
    None
}

fn path_notice(hot_spot: Lid, number: u32, hosts: &[Lid]) -> PathNotice {
    PathNotice {
        hot_spot: Some(hot_spot),
        level: ServiceLevel::new(1).unwrap(),
        back: false,
        number,
        hosts: hosts.to_vec(),
    }
}

fn notice_back(told: &PathNotice, number: u32) -> PathNotice {
    PathNotice { back: true, level: ServiceLevel::default(), number, ..told.clone() }
}

/// A host that subscribes, says that it followed, and moves nothing; until it is asked to end.
pub fn spawn_host_that_never_moves(mut port: WritePort, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    let mut mad = Mad::administration(Method::SET, attribute::INFORM_INFO, 0);
    *mad.record_mut() = InformInfo::single_trap(trap::REPATH, true);
    let address = MadAddress::for_class(port.local_port().manager_lid.unwrap(), mad.class());
    assert!(answer(&mut port, AddressedMad { mad, address }).unwrap().status().is_ok());
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            let until = port.now() + SECOND / 20;
            let Ok(Some(PortEvent::Mad(mut parcel))) = port.receive(until) else { continue };
            parcel.mad.header_mut().method = match parcel.mad.method() {
                Method::REPORT => Method::REPORT_RESPONSE.0,
                Method::GET => Method::GET_RESPONSE.0,
                _ => continue,
            };
            if parcel.mad.header().attribute.get() == attribute::FOLLOW {
                *parcel.mad.follow_data_mut() =
                    parcel.mad.follow_data().with_answer(FollowStatus::Followed, 1);
            }
            port.send(&parcel, Duration::ZERO).unwrap();
        }
    })
}

/// A live source of the lab that has read the fabric once.
fn observed_source(lab: &Lab) -> LiveSource {
    let port = connect(&lab.socket(), None).unwrap();
    let mut source = LiveSource::new("lab", port, ExchangePolicy::default(), Keys::default());
    source.observe(ReadOptions::default(), &mut NoObserver).unwrap();
    source
}

#[test]
fn agents_follow_unless_they_are_gone_slow_or_lying() {
    let lab = Lab::open();
    let [a, b, slow, dead, lies, hot] = [2, 4, 6, 7, 8, 0];
    let values = lab.home.path().join("values");
    let hook = lab.hook("hook", &format!("env | grep ^FABDECK_ | sort > {}; echo moved", values.display()));
    let sleeps = lab.hook("sleeps", "exec sleep 30");
    let state = lab.home.path().join("state");
    let with_state = ["--state-dir", state.to_str().unwrap(), "--hook", &hook];
    let first = lab.agent(a, &with_state);
    let second = lab.agent(b, &[]);
    let third = lab.agent(slow, &["--hook", &sleeps]);
    let mut fourth = lab.agent(dead, &[]);
    fourth.child.kill().unwrap();
    fourth.child.wait().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let lying = spawn_host_that_never_moves(lab.client(lies), Arc::clone(&stop));

    let whom = [a, b, slow, dead, lies].map(|host| lab.lid(host));
    let mut source = observed_source(&lab);
    assert_eq!(source.find_agents(&whom).unwrap(), [Some(true); 5], "who was killed cannot say that it left");
    assert_eq!(source.find_agents(&[lab.lid(3)]).unwrap(), [Some(false)]);

    let mut teller = lab.teller();
    let told = path_notice(lab.lid(hot), 12, &whom);
    let followed = teller.notify(std::slice::from_ref(&told), &whom, SECOND * 3).unwrap();
    let mut wanted = [a, b, lies].map(|host| lab.lid(host)).to_vec();
    wanted.sort();
    assert_eq!(followed, wanted);
    // What really moved only the fabric tells.
    assert_eq!([a, b, slow, lies, 3].map(|host| lab.level(host, hot)), [1, 1, 0, 0, 0]);
    let [own, spot] = [a, hot].map(|host| lab.lid(host).value());
    let found = fs::read_to_string(&values).unwrap();
    for line in [
        format!("FABDECK_HOT_SPOT_LID={spot}"),
        "FABDECK_SERVICE_LEVEL=1".into(),
        "FABDECK_DIRECTION=slow".into(),
        "FABDECK_NUMBER=12".into(),
        format!("FABDECK_LID={own}"),
    ] {
        assert!(found.lines().any(|found| found == line), "{line}: {found}");
    }
    assert_eq!(
        (&first.wait_for_event("hook")["said"], &first.wait_for_event("moved")["flows"]),
        (&"moved".into(), &1.into())
    );
    assert_eq!([&first, &second].map(|agent| agent.wait_for_event("moved")["hook"] == true), [true, false]);
    assert_eq!(third.count("moved"), 0);

    // Who is ended says what it leaves behind, and whoever is started after it knows.
    let (events, sum) = first.end();
    assert!(events.iter().any(|told| told["event"] == "unsubscribed"));
    let left = |told: &Value| told["event"] == "still-slow" && told["lids"] == serde_json::json!([spot]);
    assert!(events.iter().any(left), "{events:?}");
    assert_eq!((&sum["moved"], &sum["informs"], &sum["flow_sets"]), (&1.into(), &4.into(), &1.into()));
    assert_eq!(source.find_agents(&[lab.lid(a)]).unwrap(), [Some(false)], "it has left");
    let again = lab.agent(a, &with_state);
    assert!(left(&again.wait_for_event("still-slow")));
    assert_eq!(teller.notify(&[notice_back(&told, 13)], &[lab.lid(a)], SECOND * 5).unwrap(), [lab.lid(a)]);
    assert_eq!((lab.level(a, hot), lab.level(b, hot)), (0, 0), "all that are named go back");
    let (events, _) = again.end();
    assert_eq!(
        events.iter().rfind(|told| told["event"] == "still-slow").unwrap()["lids"],
        serde_json::json!([])
    );
    second.end();
    stop.store(true, Ordering::Relaxed);
    lying.join().unwrap();
}

/// A trap as anybody sends it to the manager.
fn send_trap(port: &mut WritePort, told: &PathNotice) {
    let mad = Smp::trap(&told.notice(port.local_port().lid.unwrap().value())).0;
    let address = MadAddress::for_class(port.local_port().manager_lid.unwrap(), mad.class());
    assert_eq!(answer(port, AddressedMad { mad, address }).unwrap().method(), Method::TRAP_REPRESS);
}

#[test]
fn an_agent_hears_the_manager_alone_and_each_notice_once_at_its_rate() {
    let lab = Lab::open();
    let agent = lab.agent(4, &["--rate", "3"]);
    let own = [lab.lid(4)];
    let mut other = lab.client(2);

    // A report that is not the manager's, with all else as it should be.
    let mut mad = Mad::administration(Method::REPORT, attribute::NOTICE, 0);
    *mad.record_mut::<Notice>() =
        path_notice(lab.lid(0), 1, &own).notice(other.local_port().manager_lid.unwrap().value());
    assert_eq!(
        answer(&mut other, AddressedMad { address: MadAddress::for_class(own[0], mad.class()), mad }),
        None,
        "nobody answers it"
    );
    assert_eq!(agent.wait_for_event("stranger")["from"], u64::from(lab.lid(2).value()));
    assert_eq!((lab.level(4, 0), agent.count("heard")), (0, 0));

    // The same one three times; one for others; one that says what cannot be.
    let told = path_notice(lab.lid(0), 2, &own);
    (0..3).for_each(|_| send_trap(&mut other, &told));
    send_trap(&mut other, &path_notice(lab.lid(8), 3, &[lab.lid(5)]));
    let mut forged = path_notice(lab.lid(8), 4, &own).notice(1);
    forged.details[2] = 99;
    let mad = Smp::trap(&forged).0;
    let address = MadAddress::for_class(other.local_port().manager_lid.unwrap(), mad.class());
    answer(&mut other, AddressedMad { mad, address });
    agent.wait_for_event("unreadable");
    agent.wait_for_event("moved");
    assert_eq!(["heard", "repeated", "not-meant", "moved"].map(|event| agent.count(event)), [1, 2, 1, 1]);
    assert_eq!([0, 8].map(|to| lab.level(4, to)), [1, 0]);

    // Nobody is named: who has flows there is meant, and this one has none to itself.
    sleep(SECOND);
    send_trap(&mut other, &path_notice(own[0], 5, &[]));
    agent.wait_for_event("no-flows");
    // Eight at once are too many for it.
    sleep(SECOND);
    for to in [0, 1, 2, 3, 5, 6, 7, 8] {
        send_trap(&mut other, &path_notice(lab.lid(to), 20, &own));
    }
    agent.wait_for_event("dropped");
    sleep(SECOND / 2);
    let (events, sum) = agent.end();
    let dropped = sum["dropped"].as_u64().unwrap();
    assert!((3..=5).contains(&dropped), "{events:?}");
    assert_eq!(sum["strangers"], 1);
    // Whatever is asked of the port, no more reports come.
    send_trap(&mut other, &path_notice(lab.lid(7), 40, &own));
}

#[test]
fn a_hook_that_fails_or_does_not_end_is_reported_and_nothing_moves() {
    let lab = Lab::open();
    let failing = lab.hook("fails", "echo broken >&2; exit 3");
    let endless = lab.hook("endless", "sleep 600");
    let fails = lab.agent(4, &["--hook", &failing]);
    let waits = lab.agent(5, &["--hook", &endless, "--hook-timeout", "500ms"]);
    let tries = lab.agent(6, &["--dry-run"]);
    let missing = lab.agent(7, &["--hook", "/nonexistent/hook"]);
    let whom = [4, 5, 6, 7].map(|host| lab.lid(host));
    let followed = lab.teller().notify(&[path_notice(lab.lid(0), 3, &whom)], &whom, SECOND * 20).unwrap();
    assert_eq!(followed, []);
    assert_eq!([4, 5, 6, 7].map(|host| lab.level(host, 0)), [0; 4]);
    let hook = fails.wait_for_event("hook");
    assert!(hook["said"] == "broken" && hook["trouble"].as_str().unwrap().contains('3'), "{hook}");
    assert!(waits.wait_for_event("hook")["trouble"].as_str().unwrap().contains("after 0.5 s"));
    assert!(missing.wait_for_event("failed")["why"].as_str().unwrap().contains("cannot be started"));
    tries.wait_for_event("would-move");
    let (_, sum) = fails.end();
    assert_eq!((&sum["failed"], &sum["moved"]), (&1.into(), &0.into()));
}

#[test]
fn an_agent_goes_where_the_manager_goes() {
    let home = tempfile::tempdir().unwrap();
    let words = "sim:kary,k=3,n=2,traffic=uniform";
    let (simulator, _) = create_simulator(words, &LiveOptions::default()).unwrap();
    let (fabric, shared) =
        (simulator.fabric().snapshot().clone(), fabdeck_simulator::SharedSimulator::new(simulator));
    let host = |name: &str| {
        fabric.nodes().find(|(_, node)| node.facts.description.split(' ').next() == Some(name)).unwrap().0
    };
    let port = shared.open_port(Some("node4")).unwrap();
    let options = fabdeck_live::agent::AgentOptions {
        rate: 5,
        time: Some(SECOND * 10),
        state: Some(home.path().to_owned()),
        ..Default::default()
    };
    let mut agent =
        fabdeck_live::agent::Agent::new(port, fabdeck_mad::access::AgentToken::grant(), options).unwrap();
    let (mut told, mut moved) = (Vec::new(), false);
    let stop = AtomicBool::new(false);
    agent
        .run(&stop, &mut |event| {
            told.push(event.to_string());
            if !std::mem::replace(&mut moved, true) {
                shared.with_simulator(|simulator| simulator.fabric_mut().move_manager(host("node7")));
            }
        })
        .unwrap();
    let lid = |name: &str| fabric.address_of(fabric.port_of(host(name), PortNum(1)).unwrap()).unwrap().0;
    let wanted = format!("subscribed at the subnet manager at LID {}", lid("node7"));
    assert!(told.iter().any(|told| told.contains("the subnet manager was at LID")), "{told:?}");
    assert!(told.contains(&wanted), "{told:?}");
    assert!(Path::new(home.path()).exists());
}

/// A hook that runs may end when its agent is asked to; what waits behind it is not followed.
#[test]
fn an_agent_asked_to_end_lets_its_running_hook_finish() {
    let lab = Lab::open();
    let begun = lab.home.path().join("begun");
    let hook = lab.hook("takes-long", &format!("touch {}; sleep 2", begun.display()));
    let agent = lab.agent(4, &["--hook", &hook]);
    let mut other = lab.client(2);
    send_trap(&mut other, &path_notice(lab.lid(0), 1, &[lab.lid(4)]));
    send_trap(&mut other, &path_notice(lab.lid(8), 2, &[lab.lid(4)]));
    let since = Instant::now();
    while !begun.exists() || agent.count("heard") < 2 {
        assert!(since.elapsed() < PATIENCE);
        sleep(Duration::from_millis(5));
    }
    let (events, sum) = agent.end();
    assert_eq!((&sum["moved"], &sum["failed"]), (&1.into(), &1.into()), "{events:?}");
    assert_eq!([0, 8].map(|to| lab.level(4, to)), [1, 0]);
    let failed = events.iter().find(|told| told["event"] == "failed").unwrap();
    assert!(failed["why"].as_str().unwrap().contains("before it followed the notice"), "{failed}");
}

#[test]
fn a_failed_notice_may_be_repeated_and_another_level_is_another_notice() {
    let lab = Lab::open();
    let once = lab.home.path().join("tried");
    let hook = lab.hook("once", &format!("test -e {0} || {{ touch {0}; exit 3; }}", once.display()));
    let agent = lab.agent(4, &["--hook", &hook]);
    let mut other = lab.client(2);
    let told = path_notice(lab.lid(0), 1, &[lab.lid(4)]);
    send_trap(&mut other, &told);
    agent.wait_for_event("failed");
    send_trap(&mut other, &told);
    agent.wait_for_event("moved");
    assert_eq!((lab.level(4, 0), agent.count("repeated")), (1, 0));
    send_trap(&mut other, &PathNotice { level: ServiceLevel::new(2).unwrap(), ..told.clone() });
    let since = Instant::now();
    while agent.count("moved") < 2 {
        assert!(since.elapsed() < PATIENCE, "{:?}", agent.read_events());
        sleep(Duration::from_millis(5));
    }
    assert_eq!(lab.level(4, 0), 2);
    send_trap(&mut other, &told);
    agent.wait_for_event("repeated");
}

/// The way back to a LID that a host has no flows to: it has none on the slow lane either.
#[test]
fn the_way_back_without_flows_is_kept_as_such() {
    let lab = Lab::open();
    let state = lab.home.path().join("state");
    let args = ["--state-dir", state.to_str().unwrap()];
    let own = lab.lid(4);
    let told = path_notice(own, 1, &[own]);
    let mut other = lab.client(2);
    let first = lab.agent(4, &args);
    send_trap(&mut other, &told);
    first.wait_for_event("no-flows");
    first.end();
    let file = fs::read_dir(state.join("agent")).unwrap().next().unwrap().unwrap().path();
    let slow = serde_json::json!({ own.to_string(): { "service_level": 1, "number": 1 } });
    fs::write(&file, serde_json::json!({ "slow": slow, "outcomes": [] }).to_string()).unwrap();
    let again = lab.agent(4, &args);
    assert_eq!(again.wait_for_event("still-slow")["lids"], serde_json::json!([own.value()]));
    send_trap(&mut other, &notice_back(&told, 1));
    again.wait_for_event("no-flows");
    let (events, _) = again.end();
    let last = events.iter().rfind(|told| told["event"] == "still-slow").unwrap();
    assert_eq!(last["lids"], serde_json::json!([]));
}
