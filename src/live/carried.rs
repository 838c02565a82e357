//! Parses the traffic of a simulated fabric, from the text after `sim:`.

use std::path::Path;

use super::disk::read_as;
use super::mad_source::Remarks;
use super::simulated::bad;
use fabdeck_fabric::ServiceLevel;
use fabdeck_fabric::observe::{Notes, Place};
use fabdeck_files::flows;
use fabdeck_mad::access::SourceError;
use fabdeck_simulator::traffic::{Details, Flow, Load, PATTERNS, Pattern, Settings, TrafficError, Word};
use fabdeck_simulator::{Behind, Carried, Demo, Ratio, Share, SimulatedPort, World};

/// The traffic of the demo.
pub fn demo(world: &World, ratio: Option<Ratio>) -> Carried {
    let Demo { flows, scenes } = Demo::new(world.fabric());
    let settings = Settings {
        host_limit_mbps: Some(Demo::HOST_LIMIT_MBPS),
        backlog: Some(Demo::BACKLOG),
        ..Settings::default()
    };
    Carried {
        load: Load { pattern: Pattern::Flows(flows), settings },
        ratio: ratio.or(Ratio::new(Demo::RATIO)).unwrap_or(Ratio::USUAL),
        begins: Demo::BEGINS,
        scenes,
    }
}

/// No traffic; a story adds it later.
pub fn quiet(ratio: Option<Ratio>, seed: u64) -> Carried {
    let load =
        Load { pattern: Pattern::Flows(Vec::new()), settings: Settings { seed, ..Settings::default() } };
    Carried { load, ratio: ratio.unwrap_or(Ratio::USUAL), begins: Default::default(), scenes: Vec::new() }
}

/// Parses a traffic pattern and its settings, such as `hotspot:share=20%:spots=2`.
pub fn pattern(world: &World, words: &str, ratio: Option<Ratio>, seed: u64) -> Result<Carried, SourceError> {
    let wrong = |allowed: &str| bad("traffic", words, allowed);
    // The name of a file may contain any character.
    let (name, more) = match words.starts_with("flows=") {
        true => (words, None),
        false => words.split_once(':').map_or((words, None), |(name, more)| (name, Some(more))),
    };
    let mut details = Details::default();
    let mut settings = Settings { seed, ..Settings::default() };
    for pair in more.into_iter().flat_map(|more| more.split(':')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let number = || value.parse::<u32>().ok().filter(|number| *number > 0);
        let done = match key {
            "share" => Share::read(value).map(|share| details.share = share),
            "spots" => number().map(|spots| details.spots = spots),
            "level" => number().and_then(ServiceLevel::new).map(|level| details.level = Some(level)),
            "message" => number().map(|packets| details.message = packets),
            "load" => {
                Share::read(value).filter(|load| !load.is_none()).map(|load| settings.load = load.of_one())
            }
            "limit" => number().map(|gbps| settings.host_limit_mbps = Some(gbps.saturating_mul(1000))),
            _ => None,
        };
        done.ok_or_else(|| {
            wrong("behind the pattern stand share=5%, spots=N, level=SL, message=N, load=50% or limit=GBPS, each after a colon")
        })?;
    }
    let load = match Word::read(name, details) {
        Some(Word::Pattern(pattern)) => pattern,
        Some(Word::Flows(file)) => Pattern::Flows(flows_of(world, Path::new(&file))?),
        None => return Err(wrong(&format!("{PATTERNS}, or none"))),
    };
    let ratio = ratio.unwrap_or(Ratio::USUAL);
    let load = Load { pattern: load, settings };
    Ok(Carried { load, ratio, begins: Default::default(), scenes: Vec::new() })
}

fn flows_of(world: &World, file: &Path) -> Result<Vec<Flow>, SourceError> {
    let lines = read_as(file, flows::read)?;
    let mut all = Vec::new();
    for line in lines {
        let end = |text: &str| {
            world.end(text).ok_or_else(|| SourceError::Name {
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

pub fn impossible(error: &TrafficError) -> SourceError {
    let text = error.to_string();
    let (code, what) = text.split_once(": ").unwrap_or(("", &text));
    let code = ["FD-4411", "FD-4412", "FD-4413", "FD-4414"].into_iter().find(|known| *known == code);
    let (what, hint) = what.rsplit_once("; ").unwrap_or((what, "'fabdeck sources' lists the keys"));
    SourceError::Name { code: code.unwrap_or("FD-4414"), what: what.into(), hint: hint.into() }
}

/// Notes that the simulated traffic fell behind.
#[derive(Debug)]
pub struct Lateness {
    source: String,
    simulator: SimulatedPort,
}

impl Lateness {
    pub fn of(source: &str, simulator: SimulatedPort) -> Self {
        Self { source: source.to_owned(), simulator }
    }
}

impl Remarks for Lateness {
    fn remark(&self, notes: &mut Notes) {
        if let Some(behind) = self.simulator.with(|simulator| simulator.world().behind()) {
            notes.add("FN-514", Place::file(&self.source), || behind_words(behind));
        }
    }
}

/// The note for people.
pub fn behind_words(Behind { asked, held }: Behind) -> String {
    format!(
        "traffic was moved at 1:{held} and not at 1:{asked}: each look stands for more time than it could follow"
    )
}
