//! What is recorded here: a small fabric whose counters rise, a cable that fails, words.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::*;
use fabdeck_fabric::*;
use fabdeck_files::capture::{Recorder, Sink};
use fabdeck_files::capture_format::{CaptureHeader, CaptureReader};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

/// 2026-11-22T02:13:40Z.
pub const BEGUN: i64 = 1_795_313_620_000;

/// A file in memory, that may have room for so many bytes only.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub bytes: Rc<RefCell<Vec<u8>>>,
    pub room: Option<usize>,
    /// Half a frame cannot be taken away again.
    pub stiff: bool,
}

impl Sink for Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.bytes.borrow_mut();
        let room = self.room.map_or(bytes.len(), |room| room.saturating_sub(held.len()).min(bytes.len()));
        held.extend_from_slice(&bytes[..room]);
        if room < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.stiff {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.bytes.borrow_mut().truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn header() -> CaptureHeader {
    CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: "0.1.0".into(),
        source: "sim:kary,k=2,n=2".into(),
        interval_ms: 1000,
        utc_offset_s: 3600,
    }
}

/// A fabric with tables, lanes, a manager, names and a note.
pub fn look(name: &str) -> Observation {
    let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let computed =
        (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap();
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        let held = tables.node_mut(id);
        held.lft = Some(computed.routes.lft(id.0));
        held.unread = [7].into();
        held.mft = Some(Mft { groups: [(0xC001, vec![PortNum(1), PortNum(2)])].into() });
        let mut row = Sl2Vl::default();
        row.set(ServiceLevel::new(3).unwrap(), Lane::new(5).unwrap());
        held.sl2vl.insert((PortNum(1), PortNum(2)), row);
        let weight = |lane| VlWeight { lane: Lane::new(lane).unwrap(), weight: 64 };
        let weights = Arbitration { high_limit: 9, high: vec![weight(0)], low: vec![weight(1), weight(2)] };
        held.arbitration.insert(PortNum(1), weights);
    }
    let (_, switch) = fabric.switches().next().unwrap();
    let guid = switch.guid();
    let mut notes = Notes::new();
    notes.add_partial("FN-526", NotePlace::file("sim"), || "a switch was silent".into());
    Observation {
        tables,
        names: NameMap { by_guid: [(guid, "the \"first\" switch".to_owned())].into(), ..NameMap::default() },
        subnet_manager: Some(SubnetManager { guid, state: Some("MASTER".into()), priority: None }),
        adaptive: Some(AdaptiveRouting::On(1)),
        notes,
        fabric,
        ..Observation::default()
    }
}

/// All counters after so many seconds: every third port moves, one is silent every fourth time.
pub fn sweep(fabric: &Fabric, second: u64) -> Sweep {
    let began = Duration::from_micros(1_000_000 * second + 17);
    let mut sweep = Sweep { began, took: Duration::from_micros(900), sent: 40, ..Sweep::default() };
    for (at, port) in fabric.ports().filter(|(_, port)| port.peer.is_some()) {
        sweep.ports += 1;
        let place = u64::from(at.0);
        if second % 4 == 3 && place % 5 == 2 {
            continue;
        }
        let rate = if place.is_multiple_of(3) { 1_000_000 + place } else { 0 };
        let values = [
            (Counter::PortXmitDataExtended, Some((u64::MAX - 3).wrapping_add(second * rate))),
            (Counter::PortXmitWait, Some(second * rate / 7)),
            (Counter::SymbolErrorCounter, if place.is_multiple_of(2) { Some(second / 3) } else { None }),
        ];
        let values = values.map(|(counter, value)| (counter, value.map(|value| value % (u64::MAX - 1))));
        let node = fabric.node(port.node).guid();
        sweep.samples.push(CounterSample {
            node: Some(node),
            lid: Some(7),
            port: Some(port.number),
            values: values.into_iter().collect(),
        });
        sweep.at.push(began + Duration::from_micros(30 * place % 100));
    }
    sweep
}

/// Of every kind one, as a sweep tells it.
pub fn news() -> Vec<FabricEvent> {
    let end = |guid, port| (Guid(guid), PortNum(port));
    [
        FabricEvent::LinkDown { a: end(u64::MAX, 1), b: end(2, 254) },
        FabricEvent::LinkUp { a: end(1, 1), b: end(2, 2) },
        FabricEvent::Recabled { at: end(1, 1), before: end(2, 2), now: end(3, 3) },
        FabricEvent::RateChanged {
            a: end(1, 1),
            b: end(2, 2),
            before: (Some(LinkWidth::X4), Some(LinkSpeed::Hdr)),
            now: (Some(LinkWidth::X1), None),
        },
        FabricEvent::LinkFlapped { a: end(1, 1), b: end(2, 2), downed: 3, recovered: u64::MAX },
        FabricEvent::NodeAppeared { node: Guid(4) },
        FabricEvent::NodeSilent { node: Guid(5) },
        FabricEvent::NodeAnswers { node: Guid(6) },
        FabricEvent::Trap {
            number: 65,
            issuer: Lid::new(3),
            producer: 4,
            lid: None,
            port: None,
            guid: Some(Guid(9)),
            node: Some(Guid(5)),
        },
        FabricEvent::Trap {
            number: 129,
            issuer: Lid::new(4),
            producer: 2,
            lid: Lid::new(4),
            port: Some(PortNum(7)),
            guid: None,
            node: None,
        },
        FabricEvent::ManagerChanged {
            before: KnownManager::default(),
            now: KnownManager {
                lid: Lid::new(3),
                manager: Some(SubnetManager {
                    guid: Guid(8),
                    state: Some("MASTER".into()),
                    priority: Some(15),
                }),
            },
        },
    ]
    .into_iter()
    .chain(drifts())
    .collect()
}

/// Of every kind of table one that is not what it was.
fn drifts() -> Vec<FabricEvent> {
    let entry = ChangedEntry { lid: Lid::new(7).unwrap(), before: Some(PortNum(1)), now: None };
    vec![
        FabricEvent::TableDrift {
            switch: Guid(7),
            blocks: vec![0, 767],
            entries: 65,
            first: vec![entry],
            manager: Lid::new(3),
        },
        FabricEvent::GroupDrift {
            switch: Guid(7),
            entries: 1,
            first: vec![ChangedGroup {
                group: 0xc000,
                before: vec![PortNum(1), PortNum(9)],
                now: Vec::new(),
            }],
            manager: None,
        },
        FabricEvent::LanesDrift {
            node: Guid(8),
            entries: 9,
            first: vec![ChangedLanes {
                from: PortNum(0),
                to: PortNum(1),
                before: Sl2Vl::from_digits("0123456789abcdef").unwrap(),
                now: Sl2Vl::default(),
            }],
            manager: Lid::new(3),
        },
        FabricEvent::ArbitrationDrift {
            node: Guid(9),
            entries: 1,
            first: vec![ChangedArbitration {
                port: PortNum(1),
                before: Arbitration::default(),
                now: Arbitration {
                    high_limit: 255,
                    high: vec![VlWeight { lane: Lane::new(3).unwrap(), weight: 64 }],
                    low: Vec::new(),
                },
            }],
            manager: Lid::new(3),
        },
    ]
}

/// One moment as it was recorded.
#[derive(Clone, Debug)]
pub struct Moment {
    pub time: i64,
    pub look: Observation,
    pub sweep: Sweep,
}

/// A capture with everything in it, and what it should say.
pub struct Reference {
    pub bytes: Vec<u8>,
    pub moments: Vec<Moment>,
}

pub fn reference() -> Reference {
    let first = look("torus,dims=3,terminals=1");
    let failed = look("torus,dims=3,terminals=1,faults=1,seed=3");
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(4, 1200);
    let mut moments = Vec::new();
    for second in 0..10 {
        let look = if second < 6 { &first } else { &failed };
        let moment = Moment {
            // The clock is set back once, and nothing is recorded for a while.
            time: BEGUN + 1000 * second as i64 - if second > 4 { 2_500 } else { 0 }
                + if second > 7 { 60_000 } else { 0 },
            look: look.clone(),
            sweep: sweep(&look.fabric, second),
        };
        let news = if second == 6 { news() } else { Vec::new() };
        recorder.record_sweep(moment.time, look, &Sweep { news, ..moment.sweep.clone() }).unwrap();
        if second == 2 {
            recorder.record_note(moment.time + 1, "somebody at the rack\npulls a cable").unwrap();
            recorder
                .record_news(moment.time + 2, serde_json::json!({ "link_down": ["a[1]", "b[2]"] }))
                .unwrap();
        }
        moments.push(moment);
    }
    recorder.finish(moments[9].time + 5).unwrap();
    Reference { bytes: memory.bytes.take(), moments }
}

/// The same with one bit of the frame of a sweep in the middle turned round. In a lead it might do no harm: the table has
/// them all again.
pub fn damaged(bytes: &[u8]) -> Vec<u8> {
    let reader = CaptureReader::open("f", bytes).unwrap();
    let moments = reader.moments();
    let slot = reader.frame_slot(moments[moments.len() / 2]);
    let mut bytes = bytes.to_vec();
    bytes[slot.offset as usize + slot.lead.packed as usize / 2] ^= 1;
    bytes
}

/// Whether what a reader shows is a moment as it was recorded.
#[track_caller]
pub fn assert_same(reader: &CaptureReader<impl fabdeck_files::capture_format::ByteSource>, moment: &Moment) {
    let seen = reader.observation();
    let told = &moment.look;
    assert_eq!(seen.fabric, told.fabric);
    assert_eq!(seen.tables, told.tables);
    assert_eq!((&seen.names, &seen.subnet_manager), (&told.names, &told.subnet_manager));
    assert_eq!(seen.policy, told.policy);
    assert_eq!((seen.adaptive, seen.is_partial()), (told.adaptive, told.is_partial()));
    assert_eq!(reader.state().base.last_sweep(), moment.sweep);
    assert_eq!(seen.time, Some(reader.clock_text(moment.time)));
}
