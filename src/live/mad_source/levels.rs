//! The service levels of paths, from the path records of the subnet manager. For each destination, some or all sources
//! of each switch are asked.

use super::question::{Question, Reply};
use super::reader::PortReader;
use fabdeck_fabric::observe::PathLevels;
use fabdeck_fabric::{Fabric, Faults, Lid, Partitions, PortNum, ServiceLevel, ServiceLevels};
use fabdeck_mad::access::{AddressedMad, LevelReadOptions, LevelReadOutcome, MadAddress, SourceError};
use fabdeck_mad::{Mad, Method, PathRecord, attribute};
use fabdeck_routing::{Destination, Problem};

/// Number of sources of a switch that represent all of them, as long as they agree.
const SOURCES_PER_SWITCH: usize = 2;

/// A source at a switch: its port there, and its LID.
type LevelSource = (PortNum, Lid);

#[derive(Clone, Copy, Debug)]
struct LevelPair {
    switch: u32,
    to: Destination,
    /// The switch of the destination.
    root: u32,
}

/// Reads levels from the subnet manager at a LID. Pairs that partitions keep apart have no path record, so they are not
/// asked for.
pub fn read_levels(
    reader: &mut PortReader<'_>,
    (fabric, partitions): (&Fabric, Option<&Partitions>),
    manager: Lid,
    wanted: LevelReadOptions,
) -> Result<LevelReadOutcome, SourceError> {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let starts: Vec<Vec<LevelSource>> =
        problem.switches().map(|switch| switch_sources(&problem, switch, wanted)).collect();
    let each = if wanted.every { usize::MAX } else { SOURCES_PER_SWITCH };
    let starts = LevelSources { starts: &starts, fabric, partitions };
    let pairs = || {
        destination_pairs(&problem, wanted.switches)
            .flat_map(|(root, to)| problem.switches().map(move |switch| LevelPair { switch, to, root }))
    };
    let expected: u64 = pairs().map(|pair| starts.of_pair(pair).take(each).count() as u64).sum();
    if wanted.most.is_some_and(|most| expected > most) {
        return Ok(LevelReadOutcome::TooMany(expected));
    }
    let mut read = PathLevels {
        levels: ServiceLevels::unknown(problem.graph.switch_count(), fabric.top_lid()),
        every: wanted.every,
        asked: 0,
        without_path: 0,
        differing: 0,
    };
    let mut phase = reader.open_phase::<LevelPair>("path records");
    let retries = phase.exchange.retries();
    let questions = pairs().flat_map(move |pair| {
        starts.of_pair(pair).take(each).map(move |from| question(manager, from, pair, retries))
    });
    phase.exchange.feed(expected, questions);
    while let Some((pair, reply)) = phase.next()? {
        read.asked += 1;
        let Some(level) = level_in_record(&reply, pair.to.lid) else {
            read.without_path += 1;
            continue;
        };
        let before = read.levels.level_bits(pair.switch, pair.to.lid).count_ones();
        read.levels.add(pair.switch, pair.to.lid, level);
        if before == 1 && read.levels.level_bits(pair.switch, pair.to.lid).count_ones() == 2 {
            read.differing += 1;
            // These sources disagree and do not represent the others, so each one is asked.
            for from in starts.of_pair(pair).skip(each) {
                phase.exchange.ask(question(manager, from, pair, retries));
            }
        }
    }
    if read.without_path > 0 && read.without_path < read.asked {
        let (unsaid, asked) = (read.without_path, read.asked);
        phase.log.note_partial("FN-531", || {
            format!("the subnet manager returned no path record for {unsaid} of {asked} requested pairs; their service levels are not known")
        });
    }
    phase.end();
    Ok(if read.without_path == read.asked && read.asked > 0 {
        LevelReadOutcome::Silent
    } else {
        LevelReadOutcome::Read(read)
    })
}

/// The service level in a path record for this destination.
pub fn level_in_record(reply: &Reply, to: Lid) -> Option<ServiceLevel> {
    let Reply::Answer(mad) = reply else { return None };
    let record = mad.record::<PathRecord>();
    let asked = record.destination_lid.get() == to.value();
    ServiceLevel::new(record.service_level().into()).filter(|_| asked)
}

/// Every destination, with its switch.
fn destination_pairs<'p>(
    problem: &'p Problem<'_>,
    switches: bool,
) -> impl Iterator<Item = (u32, Destination)> + 'p {
    let all = problem
        .switches()
        .flat_map(|root| problem.destinations_behind(root).iter().map(move |end| (root, *end)));
    all.filter(move |(_, end)| switches || !end.is_switch())
}

/// The sources at a switch, the switch itself last.
fn switch_sources(problem: &Problem<'_>, switch: u32, wanted: LevelReadOptions) -> Vec<LevelSource> {
    let terminals = problem.graph.terminals_of(switch).iter();
    let mut starts: Vec<LevelSource> =
        terminals.filter_map(|terminal| Some((terminal.switch_port, terminal.lid?))).collect();
    let own = problem.destinations_behind(switch).iter().find(|end| end.is_switch());
    starts.extend(own.filter(|_| wanted.switches).map(|end| (end.port, end.lid)));
    starts
}

/// The sources of all switches.
#[derive(Clone, Copy)]
struct LevelSources<'s> {
    starts: &'s [Vec<LevelSource>],
    fabric: &'s Fabric,
    partitions: Option<&'s Partitions>,
}

impl<'s> LevelSources<'s> {
    /// The sources of a pair, without the destination itself and without those in none of its partitions.
    fn of_pair(self, pair: LevelPair) -> impl Iterator<Item = Lid> + 's {
        let here = self.starts.get(pair.switch as usize).map_or(&[][..], Vec::as_slice).iter();
        let itself = move |port: PortNum| pair.switch == pair.root && port == pair.to.port;
        let others = here.filter(move |(port, _)| !itself(*port)).map(|(_, lid)| *lid);
        others.filter(move |from| self.can_share(*from, pair.to.lid))
    }

    fn can_share(self, from: Lid, to: Lid) -> bool {
        let ends = self.fabric.port_by_lid(from).zip(self.fabric.port_by_lid(to));
        self.partitions.zip(ends).is_none_or(|(partitions, (from, to))| partitions.can_share(from, to))
    }
}

fn question(manager: Lid, from: Lid, pair: LevelPair, retries: u32) -> Question<LevelPair> {
    Question { parcel: path_query(manager, from, pair.to.lid), target: 0, retries, tag: pair }
}

/// A query to the subnet manager for the path from one LID to another.
pub fn path_query(manager: Lid, from: Lid, to: Lid) -> AddressedMad {
    let mask = PathRecord::SOURCE_LID | PathRecord::DESTINATION_LID | PathRecord::COUNT;
    let mut mad = Mad::administration(Method::GET, attribute::PATH_RECORD, mask);
    let record = mad.record_mut::<PathRecord>();
    (record.source_lid, record.destination_lid) = (from.value().into(), to.value().into());
    // One path is enough.
    record.reversible_count = 1;
    let address = MadAddress::for_class(manager, mad.class());
    AddressedMad { mad, address }
}
