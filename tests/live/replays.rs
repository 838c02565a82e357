//! Records a watch over ibsim while counters rise and a cable is pulled. Every screen of the replay equals the one
//! seen live, and the command line gives the same verdict for the same two sweeps.

use std::fs::File;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Value;
use test_session::{ReplayBox, Sweeper, TestSession};

use crate::adapters::tool_lines;
use crate::discovery::PART;
use crate::ibsim::{self, Stage};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::{Appearance, draw};
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::drawing::theme::Theme;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::watch::watch_state::WatchSettings;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::state::SessionState;
use fabdeck::operations::replay::replay_frame::ReplayFrames;
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck_fabric::NameMap;
use fabdeck_fabric::counters::Thresholds;
use fabdeck_files::capture::{Recorder, RecordingPlayer, create};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_live::{ExchangePolicy, Keys, LiveSource, open_adapter};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source};

#[path = "../suite/console/test_session.rs"]
#[allow(dead_code, reason = "the suite uses more of it")]
mod test_session;

const FILE: &str = "watched.fdcap";
const BEGUN: i64 = 1_795_313_620_000;
const SWEEPS: usize = 10;
const SECOND: u64 = 1000;

#[test]
fn a_watch_over_ibsim_is_replayed() {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let mut stage = Stage::play(&fabric);
    stage.opensm(&["-R", "minhop"]);
    let link = fabric.links().map(|(id, _)| id).find(|id| fabric.is_between_switches(*id)).unwrap();
    let name = |port| {
        let port = fabric.port(port);
        format!("\"S-{:016x}\"[{}]", fabric.node(port.node).guid().0, port.number)
    };
    let host = fabric.ports().find(|(_, port)| !fabric.node(port.node).is_switch() && port.peer.is_some());
    let hot = name(host.unwrap().1.peer.unwrap());
    let mut command = stage.command(std::env::current_exe().unwrap());
    command.args(["--exact", "discovery::looked", "--nocapture"]).env(PART, "watch");
    let watching = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_secs(4));
    stage.console(&format!("PerformanceSet {hot} PortCounters.PortXmitWait=9000000"), "has been set to");
    sleep(Duration::from_secs(2));
    stage.console(&format!("Unlink {}", name(fabric.link(link).a)), "");
    println!("{}", tool_lines(watching.wait_with_output().unwrap()).join("; "));
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", FILE, "--json", "hotspots", "--interval", "900ms", "--count", "9"]);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let output = command.output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let hot: Vec<_> = told["sweeps"].as_array().unwrap().iter().map(|sweep| &sweep["hotspots"]).collect();
    assert_eq!(
        hot.iter().filter(|hot| hot.as_array().is_some_and(|hot| hot.len() == 1)).count(),
        1,
        "{told}"
    );
}

/// In the process over ibsim: watches, records, replays, compares.
pub fn watched() {
    let port = open_adapter(None, None).unwrap();
    let mut source = LiveSource::new("umad", port, ExchangePolicy::default(), Keys::default());
    let wanted = ReadOptions { tables: true, counters: true, multicast: true, ..ReadOptions::default() };
    let look = Snapshot::new("umad", source.observe(wanted, &mut NoObserver).unwrap(), &NameMap::default());
    let settings = || WatchSettings { interval_ms: SECOND, thresholds: Thresholds::default(), past_bytes: 0 };
    let header = CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: "0.1.0".into(),
        source: "umad".into(),
        interval_ms: SECOND,
        utc_offset_s: 0,
    };
    let (mut known, mut count) = (look.clone(), 0);
    let mut recorder = Recorder::<File>::new(create(FILE.as_ref()).unwrap(), header);
    let sweep = move |not_before: Duration| {
        let swept = read_sweep(&mut source, &mut known, not_before, &mut NoObserver).unwrap();
        recorder.record_sweep(BEGUN + 1000 * count, &known.observation, &swept.sweep).unwrap();
        count += 1;
        Ok(swept)
    };
    let size = Size { width: 120, height: 40 };
    let mut live = TestSession::open_watching(look, Sweeper(Box::new(sweep)), settings(), size);
    let mut seen = Vec::new();
    for moment in 0..SWEEPS {
        if moment == 0 {
            live.send_input(SessionInput::Tick)
        } else {
            live.advance_ms(SECOND)
        };
        seen.push(screens(&mut live));
    }
    let (tape, place) = RecordingPlayer::open(FILE.as_ref(), None).unwrap();
    let looking = Arc::new(|observation| Ok(Snapshot::new(FILE, observation, &NameMap::default())));
    let mut scenes = ReplayFrames::new(tape, place, looking.clone());
    let moment =
        fabdeck::operations::replay::replay_frame::SeekRequest { place, deep: true, congestion: 100_000 };
    let found = fabdeck::operations::replay::replay_frame::FrameSource::seek_frame(
        &mut scenes,
        moment,
        &fabdeck_routing::NoProgress,
    );
    let look = Snapshot::clone(&found.unwrap().look);
    let recording = ReplayBox(Box::new(scenes));
    let mut replay = TestSession::open_recorded(look, (Sweeper::default(), recording), settings(), size);
    for moment in (1..SWEEPS).rev().chain([3, 9, 1, 6]) {
        replay.press("{").press(&"] ".repeat(moment));
        let again = screens(&mut replay);
        for (at, (then, now)) in seen[moment].iter().zip(&again).enumerate() {
            assert_eq!(then, now, "screen {at} at moment {moment}");
        }
    }
    let events = replay.state.known.playback.as_ref().unwrap().timeline().happened.len();
    assert!(events > 0, "the cable that was pulled is in the timeline");
    println!("said: {} screens at {SWEEPS} moments, {events} events", seen[0].len());
}

fn screens(driver: &mut TestSession) -> Vec<String> {
    let keys = ["2 g", "2 V g", "V", "V", "V", "2 :sort space load enter g", "6 g", "4 g", "4 V g", "V V V"];
    keys.map(|keys| {
        driver.press(keys).press("? ?");
        // Charts of a recording go on behind the moment; a small screen of Hot-spots has none.
        let has_charts = matches!(keys, "4 g" | "V V V");
        let (width, height) = if has_charts { (80, 24) } else { (120, 40) };
        driver.send_input(SessionInput::Resized(Size { width, height }));
        frame(&driver.state)
    })
    .to_vec()
}

/// All lines of the frame except the first, which names the source, and the last: a recording has more keys.
fn frame(state: &SessionState) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, state.size.width, state.size.height));
    let appearance =
        Appearance { theme: Theme::built_in("dark", ColorDepth::True).unwrap(), signs: Symbols::UNICODE };
    draw(state, &appearance, &mut buffer);
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>() + "\n";
    (1..buffer.area.height - 1).map(row).collect()
}
