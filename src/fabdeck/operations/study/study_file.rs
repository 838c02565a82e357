//! A study: topologies, failures, engines and measures, read from a TOML file. All mistakes are reported at once, before
//! anything runs.

use std::path::PathBuf;
use std::time::Duration;

use toml::de::DeTable;

use super::measure_kind::{DrawnPattern, Measure, MeasureKind};
use super::study_engine::{EngineFile, EngineKeys};
use super::study_values::{FailureAmount, LoadShare, SeedRange, parse_count, parse_duration, parse_nanos};
use super::toml_table::{Lined, StudyFault, TomlTable, TomlText, whole_number};
use fabdeck_fabric::generate::FabricSpec;
use fabdeck_fabric::{similar_words, suggest};
use fabdeck_routing::{ENGINES, Engine, NAMED_ENGINES, find_engine};
use fabdeck_simulator::traffic::TrafficSettings;

/// The most data lanes of a port.
const MAX_LANES: u32 = 15;

/// What is compared, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    pub name: String,
    pub about: String,
    pub topologies: Vec<TopologyEntry>,
    pub failures: Vec<FailurePoint>,
    /// The engines; none stands for all that suit a topology.
    pub engines: Vec<EngineEntry>,
    /// The lanes of engines that are not listed.
    pub lanes: Vec<u8>,
    pub measures: Vec<Measure>,
    pub settings: StudySettings,
}

/// A topology as the file names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TopologyEntry {
    Named(FabricSpec),
    /// A file of a known format, relative to the study file.
    File(Lined<PathBuf>),
    /// The fabric that `--source` names.
    Source {
        line: usize,
    },
}

/// A number of failures, with the seeds that draw them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FailurePoint {
    pub seeds: SeedRange,
    pub switches: FailureAmount,
    pub links: LinkFailures,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkFailures {
    Amount(FailureAmount),
    /// As many for each failed switch.
    PerSwitch(u32),
}

/// An engine with the numbers of lanes that it may use, and what it is asked for besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineEntry {
    pub id: &'static str,
    pub lanes: Vec<u8>,
    pub keys: EngineKeys,
}

/// Hardware parameters and limits of the simulated traffic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StudySettings {
    pub traffic: TrafficSettings,
    /// The longest exchange, in simulated nanoseconds.
    pub time_ns: u64,
    /// The most packet-hops of a run.
    pub hops: u64,
    /// The real time after which a cell is left for another try.
    pub wall: Duration,
}

/// Reads a study from its text.
pub fn read_study(text: &str) -> Result<Study, Vec<StudyFault>> {
    let reader = TomlText::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let line = error.span().map_or(1, |span| reader.line(span.start));
        reader.report(line, format!("FD-9400: {}", error.message()));
    }
    // Faults in the rest of a file with broken syntax would mislead.
    if !errors.is_empty() {
        return Err(reader.into_faults());
    }
    let study = read_top(&reader, TomlTable::new(&reader, table.get_ref(), 1, "the study"));
    match reader.into_faults() {
        faults if faults.is_empty() => Ok(study),
        faults => Err(faults),
    }
}

fn read_top<'r, 't>(reader: &'r TomlText<'t>, mut top: TomlTable<'r, 't>) -> Study {
    let name = top.required_text("name");
    let about = top.text("about").map_or_else(String::new, |text| text.value);
    let topologies: Vec<_> = top.tables("topology").into_iter().flat_map(read_topology).collect();
    if topologies.is_empty() && !top.has("topology") {
        reader.report(1, "FD-9405: the study has no [[topology]]");
    }
    let mut failures: Vec<_> = top.one_or_more_tables("faults").into_iter().flat_map(read_failures).collect();
    if failures.is_empty() {
        failures.push(NO_FAILURES);
    }
    let (engines, lanes) = match top.table("engines") {
        Some(table) => read_engines(table),
        None => (Vec::new(), vec![8]),
    };
    let settings = match top.table("settings") {
        Some(table) => read_settings(table),
        None => usual_settings(),
    };
    let measures: Vec<_> = top.tables("measure").into_iter().flat_map(read_measure).collect();
    if measures.is_empty() && !top.has("measure") {
        reader.report(1, "FD-9405: the study has no [[measure]]");
    }
    top.refuse_unknown_keys();
    Study { name, about, topologies, failures, engines, lanes, measures, settings }
}

const NO_FAILURES: FailurePoint = FailurePoint {
    seeds: SeedRange::ONE,
    switches: FailureAmount::NONE,
    links: LinkFailures::Amount(FailureAmount::NONE),
};

fn read_topology(mut table: TomlTable<'_, '_>) -> Vec<TopologyEntry> {
    let name = table.text("name");
    let seeds = table.text("seeds");
    let file = table.text("file");
    let source = table.text("source");
    let mut found = Vec::new();
    match (&name, file, source) {
        (Some(text), None, None) => {
            let seeds = seeds.as_ref().map(|seeds| table.parse("seeds", seeds, SeedRange::parse));
            let names: Vec<String> = match seeds {
                None => vec![text.value.clone()],
                Some(range) => {
                    let range = range.unwrap_or(SeedRange::ONE);
                    range.seeds().map(|seed| format!("{},seed={seed}", text.value)).collect()
                }
            };
            for name in names {
                match name.parse::<FabricSpec>() {
                    Ok(spec) => found.push(TopologyEntry::Named(spec)),
                    Err(error) => {
                        table.report(text.line, format!("{}: {error}", error.code()));
                        break;
                    }
                }
            }
        }
        (None, Some(file), None) if seeds.is_none() => {
            found.push(TopologyEntry::File(file.map(PathBuf::from)));
        }
        (None, None, Some(source)) if seeds.is_none() => {
            found.push(TopologyEntry::Source { line: source.line });
        }
        _ => table.report(
            table.line,
            "FD-9406: a topology has a 'name' (with 'seeds' if it is drawn by seed), or a 'file', or 'source = \"--source\"', and \
             one of them alone",
        ),
    }
    table.refuse_unknown_keys();
    found
}

fn read_failures(mut table: TomlTable<'_, '_>) -> Vec<FailurePoint> {
    table.list_keys(&["links", "switches", "ratio", "years", "links_a_year", "switches_a_year"]);
    let seeds = table.parsed("seeds", SeedRange::ONE, SeedRange::parse);
    let years = table.all_parsed("years", Vec::new(), |text| whole_number(text, &(0..=100)));
    let points = match years.is_empty() {
        false => {
            let rate = |table: &mut TomlTable<'_, '_>, key| {
                table.parsed(key, FailureAmount::NONE, FailureAmount::parse)
            };
            let (links, switches) = (rate(&mut table, "links_a_year"), rate(&mut table, "switches_a_year"));
            let after = |years: u32| FailurePoint {
                seeds,
                switches: switches.over_years(years),
                links: LinkFailures::Amount(links.over_years(years)),
            };
            years.into_iter().map(after).collect()
        }
        true => {
            let amounts = |table: &mut TomlTable<'_, '_>, key| {
                table.all_parsed(key, vec![FailureAmount::NONE], FailureAmount::parse)
            };
            let ratio = table.has("ratio").then(|| table.number("ratio", 1, 0..=10_000));
            if ratio.is_some() && table.has("links") {
                let what = "FD-9407: 'links' and 'ratio' exclude each other: a ratio is the number of links for each failed switch";
                table.report(table.line, what);
            }
            let (links, switches) = (amounts(&mut table, "links"), amounts(&mut table, "switches"));
            let links: Vec<LinkFailures> = match ratio {
                Some(ratio) => vec![LinkFailures::PerSwitch(ratio)],
                None => links.into_iter().map(LinkFailures::Amount).collect(),
            };
            let each = |switches: &FailureAmount| {
                let switches = *switches;
                links.iter().map(move |links| FailurePoint { seeds, switches, links: *links })
            };
            switches.iter().flat_map(each).collect()
        }
    };
    table.refuse_unknown_keys();
    points
}

fn read_engines(mut table: TomlTable<'_, '_>) -> (Vec<EngineEntry>, Vec<u8>) {
    let lanes = table.all_parsed("lanes", vec![8], read_lanes);
    let mut engines: Vec<EngineEntry> = Vec::new();
    for name in table.texts("use") {
        match find_engine(&name.value) {
            Some(engine) => {
                let own = table.table(engine.id);
                engines.push(read_engine(engine, own, &lanes));
            }
            None => {
                let ids = || ENGINES.iter().chain(NAMED_ENGINES).map(|engine| engine.id);
                let meant = suggest(&similar_words(&name.value, ids()));
                let ids = ids().collect::<Vec<_>>().join(", ");
                let what =
                    format!("FD-9408: there is no engine '{}'{meant}; the engines are: {ids}", name.value);
                table.report(name.line, what);
            }
        }
    }
    table.refuse_unknown_keys();
    (engines, lanes)
}

fn read_engine(engine: &'static Engine, own: Option<TomlTable<'_, '_>>, lanes: &[u8]) -> EngineEntry {
    let mut entry = EngineEntry { id: engine.id, lanes: lanes.to_vec(), keys: EngineKeys::default() };
    let Some(mut own) = own else { return entry };
    entry.lanes = own.all_parsed("lanes", entry.lanes, read_lanes);
    entry.keys.plain_search = own.flag("plain_search");
    entry.keys.spread_lanes = own.flag("spread_lanes");
    for file in EngineFile::ALL {
        entry.keys.files.extend(own.text(file.key()).map(|path| (file, path.map(PathBuf::from))));
    }
    for key in entry.keys.useless(engine) {
        own.report(
            own.line,
            format!("FD-9417: '{key}' is of no use to the engine {}; leave it out", engine.id),
        );
    }
    own.refuse_unknown_keys();
    entry
}

fn read_lanes(text: &str) -> Result<u8, String> {
    whole_number(text, &(1..=MAX_LANES)).map(|lanes| lanes as u8)
}

/// Settings of a study that names none: those of `simulate`, and exchanges of at most two seconds.
fn usual_settings() -> StudySettings {
    StudySettings {
        traffic: TrafficSettings::default(),
        time_ns: 2_000_000_000,
        hops: 2_000_000_000,
        wall: Duration::from_secs(3600),
    }
}

fn read_settings(mut table: TomlTable<'_, '_>) -> StudySettings {
    let usual = usual_settings();
    let traffic = TrafficSettings {
        payload: table.number("payload", usual.traffic.payload, 1..=4096),
        buffer: table.number("buffer", usual.traffic.buffer, 1..=1 << 24),
        output_buffer: table.number("output_buffer", 0, 0..=1) as u8,
        flight: Duration::from_nanos(table.parsed("flight", 20, parse_nanos)),
        forwarding: Duration::from_nanos(table.parsed("forwarding", 100, parse_nanos)),
        host_limit_mbps: table.parsed("host_limit", None, |text| {
            let gbps = text.parse::<f64>().ok().filter(|gbps| (0.001..=10_000.0).contains(gbps));
            gbps.map(|gbps| Some((gbps * 1000.0).round() as u32))
                .ok_or_else(|| "write Gb/s, as in 28.8".to_owned())
        }),
        ..usual.traffic
    };
    let settings = StudySettings {
        traffic,
        time_ns: table.parsed("time", usual.time_ns, parse_nanos),
        hops: table.parsed("hops", usual.hops, parse_count),
        wall: table.parsed("wall", usual.wall, parse_duration),
    };
    table.refuse_unknown_keys();
    settings
}

fn read_measure(mut table: TomlTable<'_, '_>) -> Vec<Measure> {
    let kind = table.text("kind");
    let Some(kind) = kind else {
        table.report(table.line, format!("FD-9409: a measure has a 'kind': {}", MeasureKind::WORDS));
        return Vec::new();
    };
    let kinds = match kind.value.as_str() {
        "routes" => vec![MeasureKind::Routes],
        "loads" => vec![MeasureKind::Loads],
        "lost" => vec![MeasureKind::Lost],
        "exchange" => {
            table.list_keys(&["shifts"]);
            let message = table.number("message", 1, 1..=10_000);
            let shifts = table.has("shifts").then(|| table.number("shifts", 64, 1..=65_535));
            vec![MeasureKind::Exchange { message, shifts }]
        }
        word => match DrawnPattern::parse(word) {
            Some(pattern) => read_pattern(&mut table, pattern),
            None => {
                let what =
                    format!("FD-9409: '{word}' is no kind of measure; the kinds are: {}", MeasureKind::WORDS);
                table.report(kind.line, what);
                return Vec::new();
            }
        },
    };
    let has_seeds = table.has("seeds");
    let seeds = table.parsed("seeds", SeedRange::ONE, SeedRange::parse);
    let traffic_seeds = table.parsed("traffic_seeds", SeedRange::ONE, SeedRange::parse);
    table.refuse_unknown_keys();
    let measure = |kind| Measure { kind, seeds: has_seeds.then_some(seeds), traffic_seeds };
    kinds.into_iter().map(measure).collect()
}

/// A measure for each load and each number of lanes to spread over.
fn read_pattern(table: &mut TomlTable<'_, '_>, pattern: DrawnPattern) -> Vec<MeasureKind> {
    let until_steady = table.parsed("until", false, |text| match text {
        "steady" => Ok(true),
        _ => Err("write \"steady\", or leave it out and give 'time'".to_owned()),
    });
    let time_ns = table.parsed("time", 1_000_000, parse_nanos).max(10_000);
    let loads = table.all_parsed("load", vec![LoadShare::FULL], LoadShare::parse);
    let spread = |text: &str| whole_number(text, &(1..=MAX_LANES)).map(|lanes| Some(lanes as u8));
    let spreads = table.all_parsed("spread", vec![None], spread);
    let each = |spread: &Option<u8>| {
        let spread = *spread;
        loads.iter().map(move |load| MeasureKind::Pattern {
            pattern,
            time_ns,
            until_steady,
            load: *load,
            spread,
        })
    };
    spreads.iter().flat_map(each).collect()
}
