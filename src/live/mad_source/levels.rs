//! The service levels of paths, from the path records of the subnet manager. For each destination, some or all sources
//! of each switch are asked.

use super::question::{Question, Reply};
use super::reader::Reader;
use fabdeck_fabric::observe::PathLevels;
use fabdeck_fabric::{Fabric, Faults, Levels, Lid, PortNum, ServiceLevel};
use fabdeck_mad::access::{Address, LevelsRead, LevelsWanted, Parcel, SourceError};
use fabdeck_mad::{Mad, Method, PathRecord, attribute};
use fabdeck_routing::{Destination, Problem};

/// Number of sources of a switch that represent all of them, as long as they agree.
const SAMPLED: usize = 2;

/// A source at a switch: its port there, and its LID.
type Start = (PortNum, Lid);

#[derive(Clone, Copy, Debug)]
struct Pair {
    switch: u32,
    to: Destination,
    /// The switch of the destination.
    root: u32,
}

/// Reads levels from the subnet manager at a LID.
pub fn read_levels(
    reader: &mut Reader<'_>,
    fabric: &Fabric,
    manager: Lid,
    wanted: LevelsWanted,
) -> Result<LevelsRead, SourceError> {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let starts: Vec<Vec<Start>> = problem.switches().map(|switch| starts(&problem, switch, wanted)).collect();
    let (starts, each) = (&starts, if wanted.every { usize::MAX } else { SAMPLED });
    let pairs = || {
        pairs(&problem, wanted.switches)
            .flat_map(|(root, to)| problem.switches().map(move |switch| Pair { switch, to, root }))
    };
    let expected: u64 = pairs().map(|pair| sources(starts, pair).take(each).count() as u64).sum();
    if wanted.most.is_some_and(|most| expected > most) {
        return Ok(LevelsRead::TooMany(expected));
    }
    let mut read = PathLevels {
        levels: Levels::unsaid(problem.graph.switch_count(), fabric.top_lid()),
        every: wanted.every,
        asked: 0,
        unsaid: 0,
        differing: 0,
    };
    let mut phase = reader.phase::<Pair>("path records");
    let retries = phase.exchange.retries();
    let questions = pairs().flat_map(move |pair| {
        sources(starts, pair).take(each).map(move |from| question(manager, from, pair, retries))
    });
    phase.exchange.feed(expected, questions);
    while let Some((pair, reply)) = phase.next()? {
        read.asked += 1;
        let Some(level) = level_told(&reply, pair.to.lid) else {
            read.unsaid += 1;
            continue;
        };
        let before = read.levels.of(pair.switch, pair.to.lid).count_ones();
        read.levels.add(pair.switch, pair.to.lid, level);
        if before == 1 && read.levels.of(pair.switch, pair.to.lid).count_ones() == 2 {
            read.differing += 1;
            // These sources disagree and do not represent the others, so each one is asked.
            for from in sources(starts, pair).skip(each) {
                phase.exchange.ask(question(manager, from, pair, retries));
            }
        }
    }
    if read.unsaid > 0 && read.unsaid < read.asked {
        let (unsaid, asked) = (read.unsaid, read.asked);
        phase.told.note_partial("FN-531", || {
            format!(
                "the subnet manager gave no path record for {unsaid} of {asked} pairs that it was asked for"
            )
        });
    }
    phase.end();
    Ok(if read.unsaid == read.asked && read.asked > 0 { LevelsRead::Silent } else { LevelsRead::Read(read) })
}

/// The service level in a path record for this destination.
pub fn level_told(reply: &Reply, to: Lid) -> Option<ServiceLevel> {
    let Reply::Answer(mad) = reply else { return None };
    let record = mad.record::<PathRecord>();
    let asked = record.destination_lid.get() == to.value();
    ServiceLevel::new(record.service_level().into()).filter(|_| asked)
}

/// Every destination, with its switch.
fn pairs<'p>(problem: &'p Problem<'_>, switches: bool) -> impl Iterator<Item = (u32, Destination)> + 'p {
    let all = problem.switches().flat_map(|root| problem.behind(root).iter().map(move |end| (root, *end)));
    all.filter(move |(_, end)| switches || !end.is_switch())
}

/// The sources at a switch, the switch itself last.
fn starts(problem: &Problem<'_>, switch: u32, wanted: LevelsWanted) -> Vec<Start> {
    let terminals = problem.graph.terminals_of(switch).iter();
    let mut starts: Vec<Start> =
        terminals.filter_map(|terminal| Some((terminal.switch_port, terminal.lid?))).collect();
    let own = problem.behind(switch).iter().find(|end| end.is_switch());
    starts.extend(own.filter(|_| wanted.switches).map(|end| (end.port, end.lid)));
    starts
}

/// The sources of a pair, without the destination itself.
fn sources(starts: &[Vec<Start>], pair: Pair) -> impl Iterator<Item = Lid> + '_ {
    let here = starts.get(pair.switch as usize).map_or(&[][..], Vec::as_slice).iter();
    let itself = move |port: PortNum| pair.switch == pair.root && port == pair.to.port;
    here.filter(move |(port, _)| !itself(*port)).map(|(_, lid)| *lid)
}

fn question(manager: Lid, from: Lid, pair: Pair, retries: u32) -> Question<Pair> {
    Question { parcel: path_between(manager, from, pair.to.lid), target: 0, retries, tag: pair }
}

/// A query to the subnet manager for the path from one LID to another.
pub fn path_between(manager: Lid, from: Lid, to: Lid) -> Parcel {
    let mask = PathRecord::SOURCE_LID | PathRecord::DESTINATION_LID | PathRecord::COUNT;
    let mut mad = Mad::administration(Method::GET, attribute::PATH_RECORD, mask);
    let record = mad.record_mut::<PathRecord>();
    (record.source_lid, record.destination_lid) = (from.value().into(), to.value().into());
    // One path is enough.
    record.reversible_count = 1;
    let address = Address::of(manager, mad.class());
    Parcel { mad, address }
}
