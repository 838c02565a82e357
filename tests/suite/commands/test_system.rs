//! An outside made of values: one small fabric with something of everything in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fabdeck::catalogue::exit::Exit;
use fabdeck::catalogue::failure::Failure;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::script::run::{CliResult, run};
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::access::{
    CatalogueEntry, CatalogueKey, FormatError, FormatOptions, FormatWriter, FormattedFile, GuardOwner,
    ServeReport, SourceOptions, SystemAccess,
};
use fabdeck::system::adapter_row::{AdapterPortRow, AdapterRow};
use fabdeck::system::source_files::SourceFile;
use fabdeck::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::{Counter, CounterSample, Note, NotePlace, Notes, Observation, SubnetManager};
use fabdeck_fabric::*;
use fabdeck_files::content::GuidFile;
use fabdeck_files::flows::FlowLine;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::text::Input;
use fabdeck_files::{dimension_ports, flows, guids, job_lists, partitions};
use fabdeck_live::{HardwareReading, MadLibrary, WriteRight};
use fabdeck_mad::access::{
    Actuator, LaneReadOutcome, LevelReadOptions, LevelReadOutcome, MadTraffic, ReadObserver, ReadOptions,
    ReadPort, Source, SourceError, Surveyor,
};
use fabdeck_routing::{DimensionPorts, NoProgress, Problem, Request, StoredTables, find_engine};

/// What a command line came to.
pub struct CommandResult {
    pub exit: Exit,
    pub out: String,
    pub err: String,
}

/// Runs a command line over the small fabric.
pub fn fabdeck(args: &[&str]) -> CommandResult {
    fabdeck_with(args, &TerminalInfo::default())
}

pub fn fabdeck_with(args: &[&str], terminal: &TerminalInfo) -> CommandResult {
    let args = std::iter::once("fabdeck").chain(args.iter().copied()).map(OsString::from);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = match run(args, &TestSystem, terminal, &mut out, &mut err) {
        CliResult::Exit(exit) => exit,
        CliResult::Console(opening) => panic!("a console on {}", opening.source),
    };
    CommandResult { exit, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

pub struct TestSystem;

struct StaticSource(&'static str, Observation);

impl Source for StaticSource {
    fn describe(&self) -> &str {
        self.0
    }

    fn observe(&mut self, _: ReadOptions, _: &mut dyn ReadObserver) -> Result<Observation, SourceError> {
        Ok(self.1.clone())
    }
}

/// A fabric with millions of tables of lanes, which says when they are read all the same, and so many path records.
struct ManyLanesSource(StaticSource, u64);

impl Source for ManyLanesSource {
    fn describe(&self) -> &str {
        self.0.describe()
    }

    fn observe(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.0.observe(wanted, watch)
    }

    fn read_lanes(
        &mut self,
        look: &mut Observation,
        most: Option<u64>,
        _: &mut dyn ReadObserver,
    ) -> Result<LaneReadOutcome, SourceError> {
        if most.is_some() {
            return Ok(LaneReadOutcome::TooMany(5_000_000));
        }
        look.notes.add("FN-901", NotePlace::file(self.describe()), || "all lanes were read".to_owned());
        Ok(LaneReadOutcome::Read)
    }

    fn read_levels(
        &mut self,
        _: &mut Observation,
        _: Option<&Partitions>,
        wanted: LevelReadOptions,
        _: &mut dyn ReadObserver,
    ) -> Result<LevelReadOutcome, SourceError> {
        Ok(match wanted.most {
            Some(most) if most < self.1 => LevelReadOutcome::TooMany(self.1),
            _ => LevelReadOutcome::Silent,
        })
    }
}

impl SystemAccess for TestSystem {
    fn port(&self, source: &str, _: &SourceOptions) -> Result<(ReadPort, u64), SourceError> {
        let (what, hint) = (source.to_owned(), "no port here".to_owned());
        Err(SourceError::Unreachable { code: "FD-1", what, hint })
    }

    fn open(&self, source: &str, _: &SourceOptions) -> Result<Box<dyn Source>, SourceError> {
        match source {
            "small" => Ok(Box::new(StaticSource("small", small()))),
            "sim:demo" => Ok(Box::new(StaticSource("sim:demo", plain()))),
            "routed" => Ok(Box::new(StaticSource("routed", routed("kary,k=3,n=2")))),
            "ring" => Ok(Box::new(StaticSource("ring", routed("torus,dims=6")))),
            "crowded" => {
                Ok(Box::new(ManyLanesSource(StaticSource("crowded", computed("kary,k=3,n=2", "updn")), 10)))
            }
            "crowded ring" => Ok(Box::new(ManyLanesSource(
                StaticSource("crowded ring", computed("torus,dims=6", "minhop")),
                10,
            ))),
            "talkative ring" => Ok(Box::new(ManyLanesSource(
                StaticSource("talkative ring", computed("torus,dims=6", "minhop")),
                7_000_000,
            ))),
            "hot" => Ok(super::rising_counters::hot()),
            "rail" => Ok(super::rising_counters::rail()),
            "moving" => Ok(super::rising_counters::moving()),
            "torn" => Ok(Box::new(StaticSource("torn", torn()))),
            "deaf" => Ok(Box::new(StaticSource("deaf", deaf()))),
            "untold" => Ok(Box::new(StaticSource(
                "untold",
                Observation { tables: Tables::default(), ..routed("kary,k=3,n=2") },
            ))),
            "broken" => Ok(Box::new(StaticSource("broken", routed("kary,k=3,n=2,faults=1")))),
            "bare" => Ok(Box::new(StaticSource("bare", Observation { time: None, ..plain() }))),
            "uneven" => Ok(Box::new(StaticSource("uneven", uneven()))),
            "empty" => Ok(Box::new(StaticSource("empty", Observation::default()))),
            "damaged" => Err(SourceError::Input {
                code: "FD-2999",
                place: NotePlace::line("damaged", 7),
                what: "nonsense".into(),
                hint: "mend it".into(),
            }),
            "far" => {
                Err(SourceError::Unreachable { code: "FD-1", what: "no answer".into(), hint: "wait".into() })
            }
            _ => Err(SourceError::Name { code: "FD-2", what: "no such name".into(), hint: "look".into() }),
        }
    }

    fn surveyor(&self, source: &str, _: &SourceOptions) -> Result<Box<dyn Surveyor>, SourceError> {
        let (what, hint) = (source.to_owned(), "no port here".to_owned());
        Err(SourceError::Unreachable { code: "FD-1", what, hint })
    }

    fn read_hardware(
        &self,
        source: &str,
        _: &SourceOptions,
        _: &mut dyn ReadObserver,
    ) -> Result<HardwareReading, SourceError> {
        let (what, hint) = (source.to_owned(), "no port here".to_owned());
        Err(SourceError::Unreachable { code: "FD-1", what, hint })
    }

    fn actuator(
        &self,
        source: &str,
        _: &SourceOptions,
        _: &WriteRight,
    ) -> Result<Box<dyn Actuator>, Failure> {
        Err(Failure::new(Exit::Refused, format!("nobody writes to {source}")))
    }

    fn is_own_simulator(&self, _: &str) -> bool {
        false
    }

    fn start_guard(&self, _: &[OsString], _: GuardOwner<'_>) -> std::io::Result<Option<String>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn guard_lifetime_warning(&self) -> Option<String> {
        None
    }

    fn user_state(&self) -> Option<PathBuf> {
        None
    }

    fn open_files(&self, _: &[PathBuf]) -> Result<Box<dyn Source>, SourceError> {
        self.open("small", &SourceOptions::default())
    }

    fn tables(&self, _: &Path, fabric: &Fabric) -> Result<(Tables, Notes), SourceError> {
        Ok((tables(fabric), Notes::new()))
    }

    fn stored_tables(&self, _: &Path, _: Option<&Path>) -> Result<(StoredTables, Notes), SourceError> {
        Ok((StoredTables::default(), Notes::new()))
    }

    fn dimension_ports(&self, file: &Path) -> Result<DimensionPorts, SourceError> {
        Ok(dimension_ports::read(Input::new("dimensions", &lines(file)?))?.switches)
    }

    /// A file is its own name, a comma for each line's end.
    fn guids(&self, file: &Path) -> Result<GuidFile, SourceError> {
        Ok(guids::read(Input::new("list", &lines(file)?))?)
    }

    fn torus(&self, file: &Path) -> Result<TorusDescription, SourceError> {
        Ok(fabdeck_files::torus_conf::read(Input::new("torus", &lines(file)?))?)
    }

    fn jobs(&self, file: &Path) -> Result<JobList, SourceError> {
        Ok(job_lists::read(Input::new("jobs", &lines(file)?))?)
    }

    fn flows(&self, file: &Path) -> Result<Vec<FlowLine>, SourceError> {
        Ok(flows::read(Input::new("flows", &lines(file)?))?)
    }

    fn partitions(
        &self,
        _: &Path,
        fabric: &Fabric,
        manager: Option<Guid>,
    ) -> Result<(Partitions, Notes), SourceError> {
        // h1 and h2 are among themselves; the subnet manager's port talks to all.
        let text = b"Default=0x7fff: ALL, SELF=full;\nfew=1, defmember=full: 0x201, 0x202;\n";
        let file = partitions::read(Input::new("partitions.conf", text))?;
        let mut notes = Notes::new();
        Ok((file.bind_to("partitions.conf", fabric, manager, &mut notes), notes))
    }

    fn names(&self, _: &Path) -> Result<(NameMap, Notes), SourceError> {
        let mut names = NameMap::default();
        names.by_guid.insert(Guid(0x21), "rack 1, top".into());
        Ok((names, Notes::new()))
    }

    fn labels(&self, file: &Path) -> Result<(PortLabels, Notes), SourceError> {
        let read = fabdeck_files::label_sheet::read(Input::new(&file.to_string_lossy(), LABELS.as_bytes()))?;
        Ok((PortLabels { sheet: read.sheet, ..PortLabels::default() }, read.notes))
    }

    fn cabling_plan(&self, file: &Path) -> Result<fabdeck_files::cabling::CablingPlan, SourceError> {
        let name = file.to_string_lossy();
        let planned = small();
        let names = fabdeck_fabric::Names::new(&planned.fabric, &planned.names);
        Ok(fabdeck_files::cabling::plan_of_fabric(&planned.fabric, &names, &name))
    }

    fn generate(&self, name: &str) -> Result<Observation, SourceError> {
        if name == "demo" {
            Ok(plain())
        } else {
            self.open("nothing", &SourceOptions::default()).map(|_| plain())
        }
    }

    fn serve(
        &self,
        source: &str,
        reach: &SourceOptions,
        _: &Path,
        _: &mut dyn FnMut(String),
    ) -> Result<ServeReport, SourceError> {
        self.open(source, reach)?;
        let sent = [(0x01, 40), (0x02, 2), (0x12, 1)].into_iter().collect();
        Ok(ServeReport {
            clients: 3,
            traffic: MadTraffic { sent, ..MadTraffic::default() },
            ..ServeReport::default()
        })
    }

    fn catalogue(&self) -> Vec<CatalogueEntry> {
        let entry = |name: &str, keys: &str, about: &str| CatalogueEntry {
            name: name.into(),
            keys: keys.into(),
            about: about.into(),
        };
        vec![entry("demo", "", "a small story"), entry("kary", "k=10,n=3", "k-ary n-tree")]
    }

    fn common_keys(&self) -> Vec<CatalogueKey> {
        vec![CatalogueKey { name: "seed", default: "1", meaning: "of everything random" }]
    }

    fn writers(&self) -> &[FormatWriter] {
        &[FormatWriter { id: "ibsim", title: "a list of switches", topology: true, write: names_of }]
    }

    fn captures(&self) -> Vec<SourceFile> {
        vec![SourceFile { path: "site.topo".into(), format: "ibnetdiscover", title: "topology" }]
    }

    fn simulator_keys(&self) -> Vec<CatalogueKey> {
        vec![CatalogueKey { name: "loss", default: "0%", meaning: "MADs that get lost" }]
    }

    fn adapters(&self, _: MadLibrary) -> Result<Vec<AdapterRow>, SourceError> {
        let port = AdapterPortRow {
            number: 1,
            guid: Some("0x0000000000000101".into()),
            lid: Some(5),
            manager_lid: Some(1),
            state: Some("Active"),
            physical_state: Some("LinkUp"),
            rate_gbps: 200,
            link_layer: "InfiniBand".into(),
            classes: "all classes".into(),
            source: "umad:mlx5_0:1".into(),
        };
        Ok(vec![AdapterRow { name: "mlx5_0".into(), node_guid: None, ports: 1, port_list: vec![port] }])
    }

    fn stop(&self) -> StopFlag {
        StopFlag::default()
    }

    fn config_file(&self) -> Option<PathBuf> {
        None
    }
}

/// A fabric in which every switch has a table, if a poor one.
fn lines(file: &Path) -> Result<Vec<u8>, SourceError> {
    match file.to_str() {
        None | Some("missing") => Err(SourceError::Unreachable {
            code: "FD-1",
            what: "no file".into(),
            hint: "check the path".into(),
        }),
        Some(text) => Ok(text.replace(',', "\n").into_bytes()),
    }
}

fn routed(name: &str) -> Observation {
    let spec: fabdeck_fabric::generate::FabricSpec = name.parse().unwrap();
    let fabric = fabdeck_fabric::generate::generate(&spec).unwrap().fabric;
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(Lft::from_entries(vec![255, 1, 2]));
    }
    Observation { fabric, tables, ..Observation::default() }
}

/// With the tables of an engine.
fn computed(name: &str, id: &str) -> Observation {
    let mut observation = routed(name);
    let faults = Faults::default();
    let problem = Problem::new(&observation.fabric, &faults);
    let routes = (find_engine(id).unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
    let switches: Vec<_> = observation.fabric.switches().map(|(id, _)| id).collect();
    for id in switches {
        observation.tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    observation
}

/// A tree whose spines lead nowhere.
fn torn() -> Observation {
    let mut observation = computed("kary,k=3,n=2", "updn");
    let switches = observation.fabric.switches();
    let spines = switches.filter(|(_, node)| !node.facts.description.starts_with("leaf"));
    for spine in spines.map(|(id, _)| id).collect::<Vec<_>>() {
        observation.tables.node_mut(spine).lft = Some(Lft::new());
    }
    observation
}

/// A tree whose first leaf did not tell its table.
fn deaf() -> Observation {
    let mut observation = computed("kary,k=3,n=2", "updn");
    let leaf = observation.fabric.switches().find(|(_, node)| node.facts.description == "leaf0").unwrap().0;
    observation.tables.node_mut(leaf).lft = None;
    observation.notes.add_partial("FN-902", NotePlace::file("deaf"), || "leaf0 did not answer".to_owned());
    observation
}

fn names_of(look: &Snapshot, _: &FormatOptions) -> Result<FormattedFile, FormatError> {
    let names: Vec<&str> = look.fabric().switches().map(|(id, _)| look.name(id)).collect();
    Ok(FormattedFile { bytes: (names.join("\n") + "\n").into_bytes(), ..FormattedFile::default() })
}

/// Two spines, two leaves, five hosts (one with two cabled ports), a silent switch:
///
/// ```text
/// spine0   spine1   (0x13, silent)
///   | \   /  |  \     |
///   |  \ /   |   `----'
/// leaf0  leaf1       leaf1[7]-[8] is a cable to itself
/// h0 h1  h2 h3 "höst 4"
/// ```
pub fn plain() -> Observation {
    let mut b = FabricBuilder::new();
    let switch = |b: &mut FabricBuilder, guid: u64, name: &str, lid: u32| {
        let key = b.add_node(NodeFacts::new(NodeKind::Switch, Guid(guid), 8, name)).unwrap();
        b.port(key, PortNum(0)).lid = Lid::new(lid);
        key
    };
    let spine0 = switch(&mut b, 0x11, "spine0", 1);
    let spine1 = switch(&mut b, 0x12, "spine1", 2);
    let silent = b.add_node(NodeFacts::known_from_peer(NodeKind::Switch, Guid(0x13), "")).unwrap();
    let leaf0 = switch(&mut b, 0x21, "leaf0", 3);
    let leaf1 = switch(&mut b, 0x22, "leaf1", 4);
    b.node_mut(leaf0).vendor_id = Some(0x2c9);
    let cable = |b: &mut FabricBuilder, from: (NodeKey, u8), to: (NodeKey, u8), speed: LinkSpeed| {
        let (from, to) = ((from.0, PortNum(from.1)), (to.0, PortNum(to.1)));
        b.connect(from, to).unwrap();
        for (node, port) in [from, to] {
            let port = b.port(node, port);
            (port.width, port.speed) = (Some(LinkWidth::X4), Some(speed));
            (port.width_supported, port.speed_supported) = (Some(LinkWidth::X4), Some(LinkSpeed::Edr));
            (port.state, port.physical_state) = (Some(PortState::Active), Some(PhysicalState::LinkUp));
        }
    };
    use LinkSpeed::{Edr, Fdr};
    cable(&mut b, (leaf0, 5), (spine0, 1), Edr);
    cable(&mut b, (leaf0, 6), (spine1, 1), Edr);
    cable(&mut b, (leaf1, 5), (spine0, 2), Edr);
    cable(&mut b, (leaf1, 6), (spine1, 2), Fdr);
    cable(&mut b, (leaf1, 7), (leaf1, 8), Edr);
    b.connect((spine1, PortNum(3)), (silent, PortNum(1))).unwrap();
    let hosts: &[(&str, NodeKey, u8)] = &[
        ("h0", leaf0, 1),
        ("h1", leaf0, 2),
        ("h2", leaf1, 1),
        ("h3", leaf1, 2),
        ("höst\u{1b}[31m 4", leaf1, 3),
    ];
    for (at, (name, leaf, port)) in hosts.iter().enumerate() {
        let at = at as u32;
        let key = b
            .add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(0x100 + u64::from(at)), 2, *name))
            .unwrap();
        cable(&mut b, (*leaf, *port), (key, 1), Edr);
        let facts = b.port(key, PortNum(1));
        (facts.guid, facts.lid) = (Some(Guid(0x200 + u64::from(at))), Lid::new(10 + 2 * at));
        facts.lmc = Lmc::new(1).unwrap();
    }
    let h0 = b.find(NodeKind::ChannelAdapter, Guid(0x100)).unwrap();
    cable(&mut b, (leaf1, 4), (h0, 2), Edr);
    b.port(h0, PortNum(2)).lid = Lid::new(30);
    Observation {
        fabric: b.finish(),
        time: Some("Sat Nov 21 01:16:43 2026".into()),
        ..Observation::default()
    }
}

/// The same with tables, counters, lanes, a subnet manager and notes.
pub fn small() -> Observation {
    let mut observation = plain();
    observation.tables = tables(&observation.fabric);
    observation.subnet_manager =
        Some(SubnetManager { guid: Guid(0x200), state: Some("MASTER".into()), priority: None });
    let sample = |guid: u64, port: u8, waits: Option<u64>| CounterSample {
        node: Some(Guid(guid)),
        lid: None,
        port: Some(PortNum(port)),
        values: [(Counter::PortXmitWait, waits), (Counter::PortXmitData, Some(10))].into_iter().collect(),
    };
    observation.counters = vec![sample(0x21, 1, Some(9)), sample(0x21, 2, Some(400)), sample(0x201, 1, None)];
    observation.notes.add("FN-201", NotePlace::line("small", 3), || "a LID of 0 is not known".into());
    observation.notes.add("FN-201", NotePlace::line("small", 4), String::new);
    observation
}

/// Tables by shortest paths, except: spine1 has none, leaf1 sends LIDs 12 and 13 (h1) to itself over its loop, and
/// leaf0 has no entry for LID 18.
pub fn tables(fabric: &Fabric) -> Tables {
    let mut tables = Tables::default();
    let node = |guid| fabric.node_by_guid(Guid(guid)).unwrap();
    let mut set = |guid: u64, entries: &[(u32, u8)]| {
        let lft = tables.node_mut(node(guid)).lft.get_or_insert_default();
        for (lid, port) in entries {
            lft.set(Lid::new(*lid).unwrap(), Some(PortNum(*port)));
        }
    };
    set(
        0x11,
        &[(1, 0), (3, 1), (4, 2), (10, 1), (11, 1), (12, 1), (13, 1), (14, 2), (15, 2), (16, 2), (18, 2)],
    );
    set(0x21, &[(1, 5), (3, 0), (4, 5), (10, 1), (11, 1), (12, 2), (14, 5), (15, 6), (16, 4)]);
    set(0x22, &[(1, 5), (3, 5), (4, 0), (10, 5), (12, 7), (13, 7), (14, 1), (15, 1), (16, 2), (18, 3)]);
    let mut by_level = Sl2Vl::default();
    for level in 0..16 {
        by_level.set(ServiceLevel::new(level).unwrap(), Lane::new(level % 2).unwrap());
    }
    let leaf = tables.node_mut(node(0x21));
    leaf.sl2vl.insert((PortNum(1), PortNum(5)), by_level);
    leaf.sl2vl.insert((PortNum(2), PortNum(5)), by_level);
    leaf.sl2vl.insert((PortNum(5), PortNum(1)), by_level);
    leaf.sl2vl.insert((PortNum(6), PortNum(1)), Sl2Vl::default());
    let low = vec![VlWeight { lane: Lane::new(1).unwrap(), weight: 64 }];
    leaf.arbitration.insert(PortNum(5), Arbitration { high_limit: 4, high: Vec::new(), low });
    tables
}

/// A sheet of labels for the small fabric, with a line that names nothing in it.
const LABELS: &str = "switch,port,label,rack,u\nleaf0,1,2/1,B7,31\nLEAF0,2,2/2,,\nnothing,1,x,,\n";

/// The small fabric where nobody tells of links, but for one whose ends disagree; a sample names LID 999.
pub fn uneven() -> Observation {
    let mut b = FabricBuilder::new();
    let leaf = b.add_node(NodeFacts::new(NodeKind::Switch, Guid(0x21), 8, "leaf")).unwrap();
    for at in 0..2u8 {
        let guid = Guid(0x100 + u64::from(at));
        let host = b.add_node(NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, format!("h{at}"))).unwrap();
        b.connect((leaf, PortNum(at + 1)), (host, PortNum(1))).unwrap();
        b.port(host, PortNum(1)).lid = Lid::new(10 + u32::from(at));
        if at == 0 {
            b.port(leaf, PortNum(1)).width = Some(LinkWidth::X4);
            b.port(host, PortNum(1)).width = Some(LinkWidth::X1);
        }
    }
    let values =
        [(Counter::PortXmitWaitExt, Some(9)), (Counter::PortRcvErrors, Some(0))].into_iter().collect();
    let sample = CounterSample { node: None, lid: Some(999), port: Some(PortNum(1)), values };
    let counters = vec![sample];
    Observation { fabric: b.finish(), counters, ..Observation::default() }
}

/// A look at the small fabric.
pub fn look() -> Snapshot {
    Snapshot::new("small", small(), &NameMap::default())
}

/// One note of a kind of its own, for as many kinds as are asked for.
pub fn notes(kinds: usize) -> Notes {
    let mut notes = Notes::new();
    for at in 0..kinds {
        notes.add("FN-900", NotePlace::file(format!("file{at:02}")), || format!("reading {at}"));
    }
    debug_assert_eq!(notes.iter().map(|note: &Note| note.count).sum::<u64>(), kinds as u64);
    notes
}
