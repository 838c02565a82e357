//! Parses the traffic of a simulated fabric, from the text after `sim:`.

use std::path::Path;

use super::files_source::read_as;
use super::mad_source::NoteSource;
use super::simulator_options::bad_key_value;
use fabdeck_fabric::ServiceLevel;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_files::flows;
use fabdeck_mad::access::SourceError;
use fabdeck_simulator::traffic::{
    Flow, PATTERN_NAMES, PatternName, PatternOptions, TrafficError, TrafficLoad, TrafficPattern,
    TrafficSettings,
};
use fabdeck_simulator::{
    CarriedTraffic, DemoStory, RatioShortfall, Share, SharedSimulator, SimulatedFabric, TimeRatio,
};

/// The traffic of the demo.
pub fn demo_traffic(world: &SimulatedFabric, ratio: Option<TimeRatio>) -> CarriedTraffic {
    let DemoStory { flows, scenes } = DemoStory::new(world.snapshot());
    let settings = TrafficSettings {
        host_limit_mbps: Some(DemoStory::HOST_LIMIT_MBPS),
        backlog: Some(DemoStory::BACKLOG),
        ..TrafficSettings::default()
    };
    CarriedTraffic {
        load: TrafficLoad { pattern: TrafficPattern::Flows(flows), settings },
        ratio: ratio.or(TimeRatio::new(DemoStory::RATIO)).unwrap_or(TimeRatio::DEFAULT),
        begins: DemoStory::START_DELAY,
        scenes,
    }
}

/// No traffic; a story adds it later.
pub fn no_traffic(ratio: Option<TimeRatio>, seed: u64) -> CarriedTraffic {
    let load = TrafficLoad {
        pattern: TrafficPattern::Flows(Vec::new()),
        settings: TrafficSettings { seed, ..TrafficSettings::default() },
    };
    CarriedTraffic {
        load,
        ratio: ratio.unwrap_or(TimeRatio::DEFAULT),
        begins: Default::default(),
        scenes: Vec::new(),
    }
}

/// Parses a traffic pattern and its settings, such as `hotspot:share=20%:spots=2`.
pub fn pattern_traffic(
    world: &SimulatedFabric,
    words: &str,
    ratio: Option<TimeRatio>,
    seed: u64,
) -> Result<CarriedTraffic, SourceError> {
    let wrong = |allowed: &str| bad_key_value("traffic", words, allowed);
    // The name of a file may contain any character.
    let (name, more) = match words.starts_with("flows=") {
        true => (words, None),
        false => words.split_once(':').map_or((words, None), |(name, more)| (name, Some(more))),
    };
    let mut details = PatternOptions::default();
    let mut settings = TrafficSettings { seed, ..TrafficSettings::default() };
    for pair in more.into_iter().flat_map(|more| more.split(':')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let number = || value.parse::<u32>().ok().filter(|number| *number > 0);
        let done = match key {
            "share" => Share::parse(value).map(|share| details.share = share),
            "spots" => number().map(|spots| details.spots = spots),
            "level" => number().and_then(ServiceLevel::new).map(|level| details.level = Some(level)),
            "message" => number().map(|packets| details.message = packets),
            "load" => {
                Share::parse(value).filter(|load| !load.is_zero()).map(|load| settings.load = load.fraction())
            }
            "limit" => number().map(|gbps| settings.host_limit_mbps = Some(gbps.saturating_mul(1000))),
            _ => None,
        };
        done.ok_or_else(|| {
            wrong("after the pattern come share=5%, spots=N, level=SL, message=N, load=50% or limit=GBPS, each after \
             a colon")
        })?;
    }
    let load = match PatternName::parse(name, details) {
        Some(PatternName::Pattern(pattern)) => pattern,
        Some(PatternName::Flows(file)) => TrafficPattern::Flows(read_flows(world, Path::new(&file))?),
        None => return Err(wrong(&format!("{PATTERN_NAMES}, or none"))),
    };
    let ratio = ratio.unwrap_or(TimeRatio::DEFAULT);
    let load = TrafficLoad { pattern: load, settings };
    Ok(CarriedTraffic { load, ratio, begins: Default::default(), scenes: Vec::new() })
}

fn read_flows(world: &SimulatedFabric, file: &Path) -> Result<Vec<Flow>, SourceError> {
    let lines = read_as(file, flows::read)?;
    let mut all = Vec::new();
    for line in lines {
        let end = |text: &str| {
            world.traffic_end(text).ok_or_else(|| SourceError::Name {
                code: "FD-4401",
                what: format!(
                    "{}:{}: the simulated fabric has no node '{text}'",
                    file.display(),
                    line.number
                ),
                hint: "give the name or GUID of a node, or NAME/PORT, as an end of a flow".into(),
            })
        };
        let flow = Flow::new(end(&line.from)?, end(&line.to)?);
        all.push(Flow { level: line.level, mbps: line.mbps, ..flow });
    }
    Ok(all)
}

pub fn traffic_error(error: &TrafficError) -> SourceError {
    let text = error.to_string();
    let (code, what) = text.split_once(": ").unwrap_or(("", &text));
    let code =
        ["FD-4411", "FD-4412", "FD-4413", "FD-4414", "FD-4415"].into_iter().find(|known| *known == code);
    let (what, hint) = what.rsplit_once("; ").unwrap_or((what, "'fabdeck sources' lists the keys"));
    SourceError::Name { code: code.unwrap_or("FD-4414"), what: what.into(), hint: hint.into() }
}

/// Notes that the simulated traffic fell behind.
#[derive(Debug)]
pub struct TrafficLagNote {
    source: String,
    simulator: SharedSimulator,
}

impl TrafficLagNote {
    pub fn of_simulator(source: &str, simulator: SharedSimulator) -> Self {
        Self { source: source.to_owned(), simulator }
    }
}

impl NoteSource for TrafficLagNote {
    fn add_notes(&self, notes: &mut Notes) {
        if let Some(behind) = self.simulator.with_simulator(|simulator| simulator.fabric().ratio_shortfall())
        {
            notes.add("FN-514", NotePlace::file(&self.source), || lag_text(behind));
        }
    }
}

/// The note for people.
pub fn lag_text(RatioShortfall { asked, held }: RatioShortfall) -> String {
    format!(
        "the simulator cannot move packets fast enough for ratio=1:{asked}; on average it reached 1:{held}. Rates still hold, but rest on less traffic; set a larger number in ratio=, or read at shorter intervals"
    )
}
