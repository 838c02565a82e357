//! Plans through a real OpenSM over ibsim and back, and OpenSM's behaviour with files that it should never get. As in
//! `discovery`, the driver runs in a process with ibsim's library preloaded. Each part is another process, so a
//! rollback knows only what is on the disk.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck_change::{
    AlteredWrites, BeginRecord, Driver, FollowMode, Journal, JournalRecord, LocalSystem, Migration,
    MigrationDirection, OpensmCheck, OpensmDriver, OpensmSite, Plan, PlanFlow, PlanLanes, PlanPort,
    WriteStep, verify_writes,
};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Guid, Lid, NodeKind, ServiceLevel};
use fabdeck_live::{ExchangePolicy, Keys, LiveSurveyor, open_adapter};
use fabdeck_mad::access::{
    Actuator, DeviceAttribute, DevicePort, NoObserver, ReadObserver, ReadOptions, ReadPort, SourceError,
    Surveyor, WriteError,
};

use crate::discovery::{self, fabdeck};
use crate::ibsim::{self, Manager, Stage};
use crate::opensm_routes::bound;

const CONSOLE: &str = "FABDECK_ROAD_CONSOLE";
const PID: &str = "FABDECK_ROAD_PID";
const PATIENCE_MS: &str = "FABDECK_ROAD_PATIENCE_MS";
const PID_FILE: &str = "opensm.pid";
const PLAN: &str = "new.plan";
pub const CONF: &str = "road.conf";

/// An actuator that only reads, because this driver sends no Set.
struct ReadOnlyActuator(LiveSurveyor<ReadPort>);

impl Surveyor for ReadOnlyActuator {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.0.read_fabric(wanted, watch)
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.0.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.0.read(slots)
    }

    fn read_levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.0.read_levels(pairs)
    }
}

impl Actuator for ReadOnlyActuator {
    fn write(&mut self, slot: &DeviceAttribute, _: &[u8]) -> Result<(), WriteError> {
        panic!("{slot} was to be set");
    }
}

/// The process over ibsim.
pub fn driver_for(part: &str) {
    let plan = Plan::read(&discovery::text(PLAN)).unwrap();
    let number = |name: &str| std::env::var(name).ok().map(|word| word.parse::<u64>().unwrap());
    let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port as u16));
    let site = OpensmSite {
        conf: PathBuf::from(CONF),
        console: number(CONSOLE).map(loopback),
        pid: number(PID).map(|pid| pid as u32),
        pid_file: Some(PathBuf::from(PID_FILE)).filter(|file| file.exists()),
        patience: Duration::from_millis(number(PATIENCE_MS).unwrap_or(20_000)),
    };
    // The port only reads; there is no token for writes.
    let port = open_adapter(None, None).unwrap();
    let surveyor = LiveSurveyor::new("umad", port, ExchangePolicy::default(), Keys::default());
    let mut driver = OpensmDriver::new(Box::new(ReadOnlyActuator(surveyor)), (&plan, ""), site, &LocalSystem);
    let steps: Vec<WriteStep> = plan.writes.iter().map(|write| write.to_step().unwrap()).collect();
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let look = driver.surveyor().read_fabric(wanted, &mut NoObserver).unwrap();
    match part {
        "check" => {
            let OpensmCheck { refusals, remarks } = driver.check();
            refusals
                .iter()
                .for_each(|refusal| println!("said: {}", refusal.to_string().replace('\n', " | ")));
            remarks.iter().for_each(|remark| println!("said: remark: {remark}"));
            println!("said: {} refusals", refusals.len());
        }
        "apply" => {
            let _ = fs::remove_file("journal");
            let mut journal = Journal::create(&LocalSystem, "./journal".as_ref()).unwrap();
            journal
                .append_durably(&JournalRecord::Begun(Box::new(BeginRecord {
                    plan: plan.hash.clone(),
                    ..BeginRecord::default()
                })))
                .unwrap();
            let begun = Instant::now();
            let written = driver.write(&steps, &mut journal, &mut |_| Ok(()));
            let took = begun.elapsed().as_secs_f64();
            match written.and_then(|()| verify_writes(&mut driver, &steps)) {
                Ok(()) => println!("said: applied {} blocks in {took:.2} s", steps.len()),
                Err(halt) => println!("said: {halt}"),
            }
        }
        "held" => match verify_writes(&mut driver, &steps) {
            Ok(()) => println!("said: held"),
            Err(halt) => println!("said: {halt}"),
        },
        "back" => {
            let left = driver.roll_back(&steps, &mut AlteredWrites::new(), &mut |_| {});
            left.iter().for_each(|left| println!("said: left: {}: {}", left.what, left.why));
            println!("said: {} left", left.len());
        }
        "await" => println!("said: {}", driver.await_manager().unwrap_or_default()),
        // Compares the tables of the plan's switches with old and new values.
        "bytes" => {
            let slots: Vec<DeviceAttribute> = steps.iter().map(|step| step.slot).collect();
            let held = driver.surveyor().read(&slots);
            let old = held.iter().zip(&steps).filter(|(held, step)| held.as_ref().unwrap() == &step.old);
            let new = held.iter().zip(&steps).filter(|(held, step)| held.as_ref().unwrap() == &step.new);
            println!("said: {} old, {} new of {}", old.count(), new.count(), steps.len());
            println!("said: {} switches", look.fabric.switch_count());
        }
        other => panic!("no part {other}"),
    }
}

/// A fabric with an OpenSM that stays.
pub struct Site {
    pub stage: Stage,
    pub fabric: Fabric,
    manager: Option<Manager>,
    port: u16,
    /// Whether the driver gets OpenSM's console, or its process id.
    by_console: bool,
}

impl AsMut<Stage> for Site {
    fn as_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }
}

impl Site {
    /// Port of OpenSM's console.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Creates a site; `options` are further lines of the configuration.
    pub fn new(name: &str, options: &str) -> Self {
        let fabric = ibsim::fabric(name);
        let stage = Stage::play(&fabric);
        // The port stays free until OpenSM opens it, because the kernel assigns ports in turn.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut site = Self { stage, fabric, manager: None, port, by_console: true };
        site.configure(options);
        site.start();
        site
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.stage.folder.path().join(name)
    }

    fn active(&self) -> PathBuf {
        self.path("active.lft")
    }

    pub fn policy(&self) -> PathBuf {
        self.path("qos-policy.conf")
    }

    fn configure(&self, options: &str) {
        let (active, policy, port) = (self.active(), self.policy(), self.port);
        let text = format!(
            "max_smps_timeout 600000\nlfts_file {}\nqos_policy_file {}\nconsole loopback\nconsole_port {port}\n\
             force_log_flush TRUE\n{options}\n",
            active.display(),
            policy.display()
        );
        fs::write(self.path(CONF), text).unwrap();
    }

    /// Starts OpenSM with the current configuration and waits until the subnet is up.
    pub fn start(&mut self) {
        self.manager = None;
        let _ = fs::remove_file(self.path("opensm.log"));
        let conf = self.path(CONF).display().to_string();
        self.manager = Some(self.stage.opensm_stays(&["-F", &conf]));
        self.wait_until("the subnet is up", |site| site.ups() > 0);
    }

    /// OpenSM's process id.
    pub fn process(&self) -> u32 {
        self.manager.as_ref().unwrap().id()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("opensm.log")).unwrap_or_default()
    }

    /// Number of completed heavy sweeps, by OpenSM's log.
    fn ups(&self) -> usize {
        self.log().matches("SUBNET UP").count()
    }

    pub fn wait_until(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < Duration::from_secs(30), "{what}: {}", self.log());
            sleep(Duration::from_millis(20));
        }
    }

    pub fn plan(&self, engine: &str, more: &[&str], exit: i32) -> Plan {
        let words = [&["route", "--engine", engine, "--force", "-o", PLAN], more].concat();
        fabdeck(&self.stage, &words, exit);
        Plan::read(&fs::read_to_string(self.path(PLAN)).unwrap()).unwrap()
    }

    /// Runs a part of the driver in a process of its own.
    fn part(&self, part: &str) -> Vec<String> {
        self.part_within(part, 20_000)
    }

    fn part_within(&self, part: &str, patience_ms: u64) -> Vec<String> {
        let said = discovery::part(&self.stage, &format!("road {part}"), |command| {
            command.env(PATIENCE_MS, patience_ms.to_string());
            if self.by_console {
                command.env(CONSOLE, self.port.to_string());
            }
            if let Some(manager) = &self.manager {
                command.env(PID, manager.id().to_string());
            }
        });
        println!("{part}: {}", said.join("; "));
        said
    }

    /// Unplugs and replugs the cable of the last host, which causes two traps and two heavy sweeps.
    fn trap(&mut self) {
        let hosts = self.fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
        let end = format!("\"H-{:016x}\"[1]", hosts.last().unwrap().1.guid().0);
        for command in ["Unlink", "ReLink"] {
            let ups = self.ups();
            self.stage.console(&format!("{command} {end}"), "");
            self.wait_until(command, |site| site.ups() > ups);
        }
    }

    /// Signals OpenSM and waits for its sweep.
    fn hang_up(&self) {
        let ups = self.ups();
        let mut kill = std::process::Command::new("kill");
        kill.args(["-HUP", &self.process().to_string()]);
        assert!(ibsim::finish(kill).status.success());
        self.wait_until("a sweep after SIGHUP", |site| site.ups() > ups);
    }
}

#[test]
fn a_plan_goes_through_opensm_and_back() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    let plan = site.plan("sssp", &[], 0);
    assert_eq!(site.part("check"), ["0 refusals"]);
    let all = plan.writes.len();
    assert_eq!(site.part("bytes")[0], format!("{all} old, 0 new of {all}"));
    assert!(site.part("apply")[0].starts_with(&format!("applied {all} blocks")));
    let written = fs::read_to_string(site.active()).unwrap();
    assert_eq!(written.matches("Unicast lids").count(), site.fabric.switch_count());
    let entries: Vec<&str> = written.lines().filter(|line| line.starts_with("0x")).collect();
    assert_eq!(
        entries.len(),
        site.fabric.switch_count() * usize::from(site.fabric.top_lid().unwrap().value())
    );
    assert!(entries.iter().all(|line| line.contains(" portguid 0x")), "every line names its port");
    // Another OpenSM takes over: the file is there, and so are its tables.
    site.start();
    assert_eq!(site.part("held"), ["held"]);
    assert!(site.log().contains("file tables configured"));
    // The console is in use at the time of the rollback: OpenSM is signalled, and the other session stays.
    let mut somebody = TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap();
    assert!(somebody.read(&mut [0; 64]).unwrap() > 0);
    assert_eq!(site.part("back"), ["0 left"]);
    somebody.write_all(b"quit\n").unwrap();
    assert_eq!(site.part("bytes")[0], format!("{all} old, 0 new of {all}"));
    assert!(!site.active().exists(), "the next engine is at work again");
    let beside = fs::read_dir(site.stage.folder.path()).unwrap().flatten();
    let kept: Vec<_> =
        beside.filter(|entry| entry.file_name().to_string_lossy().contains("fabdeck-")).collect();
    assert!(kept.is_empty(), "{kept:?}");
}

/// OpenSM is dead during the rollback: the files for it stay until a later OpenSM has loaded them.
#[test]
fn what_leads_back_stays_until_opensm_has_read_it() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    site.by_console = false;
    let name = |site: &Site| {
        fs::write(site.path(PID_FILE), site.manager.as_ref().unwrap().id().to_string()).unwrap();
    };
    name(&site);
    let all = site.plan("sssp", &[], 0).writes.len();
    assert!(site.part("apply")[0].starts_with("applied"));
    assert_eq!(site.part("await"), [""], "OpenSM is there");
    let planned = fs::read(site.active()).unwrap();
    site.manager = None;
    assert!(site.part("await")[0].contains("FD-5672"));
    let leads_back = fs::read(site.active()).unwrap();
    assert_ne!(leads_back, planned, "an OpenSM that starts now loads the old tables");
    for _ in 0..2 {
        assert!(site.part("back").iter().any(|said| said.contains("FD-5672")));
        assert!(site.active().exists() && fs::read(site.active()).unwrap() == leads_back);
        assert!(site.path("active.lft.fabdeck-note").exists());
    }
    site.start();
    name(&site);
    assert_eq!(site.part("back"), ["0 left"]);
    assert!(!site.active().exists() && !site.path("active.lft.fabdeck-note").exists());
    assert_eq!(site.part("bytes")[0], format!("{all} old, 0 new of {all}"));
}

/// OpenSM's behaviour with a file that is armed and not loaded, one that lacks a switch and a LID, and one of another
/// program.
#[test]
fn files_that_must_not_be_armed_do_what_is_documented() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    let plan = site.plan("sssp", &[], 0);
    let all = plan.writes.len();
    let (nothing, everything) = (format!("{all} old, 0 new of {all}"), format!("0 old, {all} new of {all}"));
    fabdeck(&site.stage, &["convert", PLAN, "-o", "active.lft.fabdeck-new", "--to", "lfts"], 0);
    // A trap does not make OpenSM read the file under its staging name.
    site.trap();
    assert_eq!(site.part("bytes")[0], nothing);
    // Under the name that OpenSM knows the file goes live with the next trap; the driver finds it before that.
    fs::rename(site.path("active.lft.fabdeck-new"), site.active()).unwrap();
    assert_eq!(site.part("bytes")[0], nothing);
    let said = site.part("check");
    assert!(said[0].contains("FD-5679") && said[0].contains("is not what is in force"), "{said:?}");
    assert!(site.part("apply")[0].contains("FD-5679"));
    site.trap();
    assert_eq!(site.part("bytes")[0], everything, "a trap, and the armed file is live");
    fs::remove_file(site.active()).unwrap();
    site.trap();
    assert_eq!(site.part("bytes")[0], nothing, "the next engine");
    assert!(site.part("apply")[0].starts_with("applied"));
    // The file now lacks a switch, and one LID of the others.
    let text = fs::read_to_string(site.active()).unwrap();
    let (first, rest) = text.split_at(text[1..].find("Unicast lids").unwrap() + 1);
    let lid = format!("0x{:04x} ", site.fabric.top_lid().unwrap().value());
    let partial: String =
        rest.lines().filter(|line| !line.starts_with(&lid)).map(|line| format!("{line}\n")).collect();
    fs::write(site.active(), &partial).unwrap();
    site.hang_up();
    let seen = site.stage.run("dump_lfts", "infiniband-diags", &[] as &[&str]);
    let seen = bound("held", &site.fabric, &ibsim::tables("dump_lfts", seen.as_bytes()));
    let counts: Vec<usize> = site
        .fabric
        .switches()
        .map(|(id, _)| seen.lft(id).map_or(0, |lft| lft.routed_lids().count()))
        .collect();
    println!("an incomplete file ({} bytes of a switch left out): entries by switch {counts:?}", first.len());
    let top = usize::from(site.fabric.top_lid().unwrap().value());
    assert!(
        counts.iter().all(|count| *count < top),
        "what the file lacks is gone from the switches: {counts:?}"
    );
    assert!(site.part("held")[0].contains("FD-5622"), "and reading back tells");
    let said = site.part("back");
    assert!(said[0].contains("active.lft: another program has written it"), "{said:?}");
    assert!(said.len() > 2, "what is not back is named block by block: {said:?}");
    assert_eq!(fs::read_to_string(site.active()).unwrap(), partial);
    fs::write(site.active(), &text).unwrap();
    assert_eq!(site.part("back"), ["0 left"]);
    site.start();
    assert_eq!(site.part("bytes")[0], nothing);
}

/// The previous file is restored. A signal suffices, unless a cache makes OpenSM ignore it.
#[test]
fn a_plan_goes_by_signal_where_there_is_no_console() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine minhop");
    site.by_console = false;
    site.plan("sssp", &[], 0);
    let said = site.part("check");
    assert!(
        said[0].contains("FD-5671") && said[0].contains("| routing_engine file,minhop | lfts_file "),
        "{said:?}"
    );
    // The configuration changes while OpenSM runs, which does not notice it.
    site.configure("routing_engine file,no_fallback");
    let said = site.part("check");
    assert!(said[0].contains("FD-5676") && said.last().unwrap() == "1 refusals", "{said:?}");
    fs::copy(site.path("opensm-lfts.dump"), site.active()).unwrap();
    let said = site.part_within("apply", 1_500);
    assert!(said[0].contains("FD-5686: after 1 s the tables are not those of the plan: block 0"), "{said:?}");
    assert_eq!(site.part("back"), ["0 left"]);
    // After a restart OpenSM has read the configuration and takes its tables from the file.
    site.start();
    let before = fs::read(site.active()).unwrap();
    let plan = site.plan("sssp", &[], 0);
    let said = site.part("check");
    assert!(said[0].starts_with("remark: without a console"), "{said:?}");
    assert_eq!(said[1], "0 refusals");
    assert!(site.part("apply")[0].starts_with("applied"));
    assert_eq!(site.part("held"), ["held"]);
    assert_eq!(site.part("back"), ["0 left"]);
    assert_eq!(fs::read(site.active()).unwrap(), before);
    let all = plan.writes.len();
    assert_eq!(site.part("bytes")[0], format!("{all} old, 0 new of {all}"));
    // With a cache the signal is not enough, but 'reroute' is.
    site.configure("routing_engine file,minhop\nuse_ucast_cache TRUE");
    site.start();
    assert!(site.part("check").iter().any(|said| said.contains("FD-5673")));
    site.by_console = true;
    assert_eq!(site.part("check"), ["0 refusals"]);
    assert!(site.part("apply")[0].starts_with("applied"));
    let ours = fs::read(site.active()).unwrap();
    fs::write(site.active(), &before).unwrap();
    site.hang_up();
    assert_eq!(site.part("held"), ["held"], "the signal went by: the cache has the tables");
    fs::write(site.active(), &ours).unwrap();
    assert_eq!(site.part("back"), ["0 left"]);
    assert_eq!(site.part("bytes")[0], format!("{all} old, 0 new of {all}"));
}

#[test]
fn what_prevents_the_opensm_driver_is_reported() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine updn,minhop");
    let plan = site.plan("sssp", &[], 0);
    let said = site.part("check");
    let (lines, file) = ("| routing_engine file,updn,minhop | lfts_file ", site.active());
    assert!(said[0].contains("FD-5671: ") && said[0].contains("its engines are 'updn,minhop'"), "{said:?}");
    assert!(said[0].ends_with(&format!("{lines}{}", file.display())) && said[1] == "1 refusals", "{said:?}");
    assert!(site.part("apply")[0].contains("FD-5671"));
    assert!(!file.exists() && site.manager.is_some(), "nothing was written, and OpenSM runs as it did");
    assert_eq!(site.part("back"), ["0 left"]);
    // Another session has the console: OpenSM asks whether to end it, and the driver declines.
    let mut first = TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap();
    let mut heard = [0; 4096];
    assert_eq!(first.read(&mut heard).unwrap(), "OpenSM $ ".len());
    let said = site.part("check");
    assert!(
        said[0].contains("FD-5683: the console at 127.0.0.1")
            && said[0].contains("another client is connected"),
        "{said:?}"
    );
    first.write_all(b"version\n").unwrap();
    let count = first.read(&mut heard).unwrap();
    let answer = String::from_utf8_lossy(&heard[..count]).into_owned();
    assert!(answer.contains("OpenSM 3.3."), "who was there first has it still: {answer}");
    drop(first);
    // The configuration names the port of another OpenSM, and an option of a vendor.
    site.by_console = false;
    site.configure("routing_engine file,minhop\nguid 0x00000000000000aa\nsharp_enabled 2");
    let said = site.part("check").join(" ");
    assert!(said.contains("FD-5675: 0x00000000000000aa is not in charge"), "{said}");
    assert!(said.contains("FD-5674: 'sharp_enabled' is an option of NVIDIA's"), "{said}");
    fs::remove_file(site.path(CONF)).unwrap();
    assert!(site.part("check")[0].contains("FD-5670: road.conf cannot be read"));
    site.manager = None;
    site.by_console = true;
    let said = site.part("check");
    assert!(said[0].contains("FD-5683") && said[0].contains("nothing answers"), "{said:?}");
    println!("{} blocks were not written", plan.writes.len());
}

/// Nue's lanes depend on the destination, so a policy can express them; those of DFSSSP depend on the pair.
#[test]
fn lanes_go_through_a_policy() {
    let lanes = "qos TRUE\nqos_max_vls 4\nqos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3";
    let mut site = Site::new("torus,dims=4x4", &format!("routing_engine file,minhop\n{lanes}"));
    let nue = |site: &Site| site.plan("nue", &["--lanes", "2"], 2);
    site.plan("dfsssp", &["--lanes", "4"], 2);
    let said = site.part("check");
    assert!(said[0].contains("FD-5682") && said[0].contains("a rule for each pair"), "{said:?}");
    let plan = nue(&site);
    assert_eq!((plan.lanes.count, plan.lanes.by.as_str()), (2, "destination"));
    fs::write(site.policy(), "qos-ulps\n  default : 0\nend-qos-ulps\n").unwrap();
    let said = site.part("check");
    assert!(said[0].contains("FD-5680") && said[0].contains("'qos-ulps' is not allowed here"), "{said:?}");
    fs::remove_file(site.policy()).unwrap();
    let said = site.part("check");
    assert!(said[0].starts_with("remark: service levels come with new path records"), "{said:?}");
    assert!(site.part("apply")[0].starts_with("applied"), "tables and levels are there");
    let told = levels(&site, &plan);
    println!("{} paths on lane 1 of {}", told.iter().filter(|level| **level == 1).count(), told.len());
    assert!(told.contains(&0) && told.contains(&1), "saquery sees both lanes: {told:?}");
    assert_eq!(site.part("back"), ["0 left"]);
    assert!(!site.policy().exists() && !site.active().exists());
    assert_eq!(levels(&site, &plan).iter().max(), Some(&0), "back on one lane");
    // OpenSM was started with another policy file than its configuration names now.
    let elsewhere = site.path("elsewhere.conf");
    let text = fs::read_to_string(site.path(CONF)).unwrap();
    let there = |text: &str, file: &Path| text.replace("qos-policy.conf", &file.display().to_string());
    fs::write(site.path(CONF), there(&text, Path::new("elsewhere.conf"))).unwrap();
    site.start();
    fs::write(site.path(CONF), &text).unwrap();
    site.by_console = false;
    let said = site.part_within("apply", 2_000);
    assert!(said[0].contains("FD-5687: for paths to LID "), "{said:?}");
    assert_eq!(site.part("back"), ["0 left"]);
    assert!(!elsewhere.exists());
    site.configure("routing_engine file,minhop\nqos FALSE");
    assert!(site.part("check")[0].contains("FD-5681: the plan uses 2 lanes"));
}

/// Service levels of paths from the first host to every fifth of the others, by saquery.
fn levels(site: &Site, plan: &Plan) -> Vec<u8> {
    assert!(plan.lanes.count > 1);
    let lids: Vec<_> = site
        .fabric
        .ports()
        .filter(|(_, port)| !site.fabric.node(port.node).is_switch())
        .filter_map(|(_, port)| port.facts.lid)
        .collect();
    lids[1..].iter().step_by(5).map(|to| level(site, lids[0], *to)).collect()
}

/// Service level of one path, by saquery.
pub fn level(site: &Site, from: Lid, to: Lid) -> u8 {
    let pair = format!("{from}:{to}");
    let said = site.stage.run("saquery", "infiniband-diags", &["--src-to-dst", &pair]);
    let line = said.lines().find(|line| line.trim_start().starts_with("sl.")).map(str::to_owned);
    let line = line.unwrap_or_else(|| panic!("no level: {said}"));
    line.rsplit(['.', 'x']).next().unwrap().parse::<u8>().unwrap_or_else(|_| panic!("{line}"))
}

/// A plan that moves all flows to some ports to the slow lane, and writes nothing.
fn migration(site: &Site, hot: &[PlanPort], from: &PlanPort) -> Plan {
    let mut plan = site.plan("sssp", &[], 0);
    plan.writes.clear();
    let top = site.fabric.top_lid().unwrap().value();
    let is_hot = |lid: u16| hot.iter().any(|port| port.lid == lid);
    let row = (0..=top).map(|lid| if is_hot(lid) { "01" } else { "00" }).collect();
    plan.lanes =
        PlanLanes { count: 2, by: "destination".into(), destination: Some(row), ..PlanLanes::default() };
    let flow = PlanFlow { host: from.clone(), follows: FollowMode::Queries };
    let moved = |port: &PlanPort| Migration {
        towards: MigrationDirection::Slow,
        hot_spot: port.clone(),
        fast: 0,
        slow: 1,
        flows: vec![flow.clone()],
    };
    plan.migrations = hot.iter().map(moved).collect();
    fs::write(site.path(PLAN), plan.text().unwrap()).unwrap();
    plan
}

/// Levels of flows to hot-spots change and change back under an engine of OpenSM's own, and the earlier policy is
/// restored byte by byte.
#[test]
fn levels_alone_go_through_the_policy_and_back() {
    let lanes = "qos TRUE\nqos_max_vls 2\nqos_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1";
    let mut site = Site::new("kary,k=4,n=2", &format!("routing_engine minhop\n{lanes}"));
    let ends = site.fabric.ports().filter(|(_, port)| !site.fabric.node(port.node).is_switch());
    let ports: Vec<PlanPort> = ends
        .filter_map(|(_, port)| {
            let (guid, lid) = (port.facts.guid?.to_string(), port.facts.lid?.value());
            Some(PlanPort { guid, name: format!("host{lid}"), lid })
        })
        .collect();
    let lid = |port: &PlanPort| Lid::new(port.lid.into()).unwrap();
    let (from, one, two) = (&ports[0], &ports[5], &ports[9]);
    let told = |site: &Site| [one, two].map(|to| level(site, lid(from), lid(to)));
    let comes = |site: &Site, wanted: [u8; 2]| {
        site.wait_until("levels", |site| told(site) == wanted);
    };
    migration(&site, std::slice::from_ref(one), from);
    assert_eq!(site.part("check").last().unwrap(), "0 refusals");
    assert!(site.part("apply")[0].starts_with("applied 0 blocks"));
    assert!(!site.active().exists(), "no file of tables is needed");
    assert_eq!(told(&site), [1, 0]);
    let before = fs::read(site.policy()).unwrap();
    migration(&site, &[one.clone(), two.clone()], from);
    assert!(site.part("apply")[0].starts_with("applied 0 blocks"));
    assert_eq!(told(&site), [1, 1]);
    assert_ne!(fs::read(site.policy()).unwrap(), before);
    assert_eq!(site.part("back"), ["0 left"]);
    assert_eq!(fs::read(site.policy()).unwrap(), before);
    comes(&site, [1, 0]);
    // The same works by signal.
    site.by_console = false;
    assert!(site.part("apply")[0].starts_with("applied 0 blocks"));
    assert_eq!(told(&site), [1, 1]);
    assert_eq!(site.part("back"), ["0 left"]);
    assert_eq!(fs::read(site.policy()).unwrap(), before);
    comes(&site, [1, 0]);
    // An engine that sets levels itself ignores the policy.
    site.configure(&format!("routing_engine dfsssp\n{lanes}"));
    assert!(site.part("check").iter().any(|said| said.contains("FD-5691: engine 'dfsssp'")));
}

/// A standby without the files brings its own routes when it takes over.
#[test]
fn a_standby_without_the_files_undoes_a_plan() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    let hosts = site.fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let second = hosts.map(|(_, node)| node.guid()).nth(5).unwrap();
    let _standby = site.stage.opensm_waits(second);
    site.plan("sssp", &[], 0);
    // The master lists the standby once a sweep has found it, which may have come before the standby was there.
    site.hang_up();
    let remark = "remark: there is a further subnet manager (0x";
    site.wait_until("the master lists the standby", |site| site.part("check")[0].starts_with(remark));
    let said = site.part("check");
    assert!(said[0].contains(&format!("{:x}", second.0 + 1)) && said[1] == "0 refusals", "{said:?}");
    assert!(site.part("apply")[0].starts_with("applied"));
    site.manager = None;
    // OpenSM writes this file after routing.
    let dump = site.path("waiting/opensm-lfts.dump");
    site.wait_until("the standby takes over", |_| dump.exists());
    let held = (0..20).map(|_| site.part("held").remove(0)).find(|held| held != "held");
    assert!(held.as_ref().is_some_and(|held| held.contains("FD-5622: block 0")), "{held:?}");
}
