//! The order of a plan's writes: every state on the way is walked packet by packet, and what the plan says of the worst
//! has to be what the walker sees.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::routing::certificate::{Dice, any_fabric, damage};
use super::routing::{fabric, route};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::plans::proposal_plan::{make_plan, settle_proposal};
use fabdeck::operations::preview::whatif::{ProposalOptions, propose};
use fabdeck_change::{Plan, PlanWrite, SurvivingFabric, TransientLoss, order_writes, plan_writes};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, Fabric, Faults, Lid, PathLanes, PortNum, Routes, Tables};
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::{NoProgress, Problem, Request};

/// Pairs without a path, and those of them that go round.
type LostPairs = (u64, u64);

/// Who is joined to whom by which port, and who sends to whom.
struct World<'p> {
    problem: &'p Problem<'p>,
    /// For each switch the switch behind each port.
    beyond: Vec<[Option<u32>; 256]>,
    pairs: Vec<Pair>,
}

/// So many terminals of a switch send to a LID that lies behind a port of another.
struct Pair {
    from: u32,
    count: u64,
    lid: Lid,
    root: (u32, u8),
}

/// A row of ports for each switch.
type Rows = Vec<Vec<u8>>;

impl<'p> World<'p> {
    fn new(problem: &'p Problem<'p>) -> Self {
        let graph = &problem.graph;
        let mut beyond = vec![[None; 256]; graph.switch_count()];
        for channel in graph.channels() {
            beyond[channel.from as usize][channel.from_port.index()] = Some(channel.to);
        }
        let (part, _) = graph.components();
        let mut pairs = Vec::new();
        for root in problem.switches() {
            for end in problem.destinations_behind(root).iter().filter(|end| !end.is_switch()) {
                for from in problem.switches().filter(|from| part[*from as usize] == part[root as usize]) {
                    let sends = graph.terminals_of(from).iter().filter(|terminal| terminal.lid.is_some());
                    let itself = |port: PortNum| (from, port) == (root, end.port);
                    let count = sends.filter(|terminal| !itself(terminal.switch_port)).count() as u64;
                    pairs.push(Pair { from, count, lid: end.lid, root: (root, end.port.value()) });
                }
            }
        }
        pairs.retain(|pair| pair.count > 0);
        Self { problem, beyond, pairs }
    }

    /// The channels that a packet takes, and whether it arrives; not known of one in a loop.
    fn walk(&self, rows: &Rows, pair: &Pair, see: &mut dyn FnMut(u32, u8)) -> Option<bool> {
        let mut at = pair.from;
        for _ in 0..=rows.len() {
            let port = rows[at as usize].get(pair.lid.index()).copied().unwrap_or(255);
            if port == 255 || at == pair.root.0 {
                return Some(port == pair.root.1);
            }
            let Some(next) = self.beyond[at as usize][usize::from(port)] else { return Some(false) };
            see(at, port);
            at = next;
        }
        None
    }

    fn lost(&self, rows: &Rows) -> LostPairs {
        self.pairs.iter().fold((0, 0), |(broken, looping), pair| {
            match self.walk(rows, pair, &mut |_, _| {}) {
                Some(true) => (broken, looping),
                Some(false) => (broken + pair.count, looping),
                None => (broken + pair.count, looping + pair.count),
            }
        })
    }

    /// Which channels packets of this state use one after the other, on the lanes of some routes.
    fn waits(&self, rows: &Rows, routes: [&Routes; 2], waits: &mut ChannelWaits) {
        for pair in &self.pairs {
            let mut lanes = routes.map(|routes| routes.lane(pair.from, pair.lid).value()).to_vec();
            lanes.dedup();
            let mut last = None;
            self.walk(rows, pair, &mut |at, port| {
                if let Some(last) = last.replace((at as usize, port)) {
                    lanes.iter().for_each(|lane| waits.add(*lane, last, port));
                }
            });
        }
    }
}

/// For each lane, switch, port of it and port of the switch behind, whether packets use one after the other.
struct ChannelWaits(Vec<bool>);

impl ChannelWaits {
    const PORTS: usize = 64;

    fn new(switches: usize) -> Self {
        Self(vec![false; 16 * switches * Self::PORTS * Self::PORTS])
    }

    fn add(&mut self, lane: u8, (at, port): (usize, u8), then: u8) {
        let switches = self.0.len() / (16 * Self::PORTS * Self::PORTS);
        let place = (usize::from(lane) * switches + at) * Self::PORTS + usize::from(port);
        self.0[place * Self::PORTS + usize::from(then)] = true;
    }

    fn list(&self, world: &World<'_>) -> Vec<Wait> {
        let switches = world.beyond.len();
        let set = self.0.iter().enumerate().filter(|(_, set)| **set);
        set.map(|(place, _)| {
            let (first, then) = (place / Self::PORTS, (place % Self::PORTS) as u8);
            let (at, port) = (first / Self::PORTS % switches, first % Self::PORTS);
            let next = world.beyond[at][port].unwrap();
            let lane = first / Self::PORTS / switches;
            (lane as u8, (at as u32, port as u8), (next, then))
        })
        .collect()
    }
}

/// On a lane a channel, by switch and port, waits for another.
type Wait = (u8, (u32, u8), (u32, u8));

/// Removes channels that none waits for until nothing is left, or a cycle.
fn cyclic(waits: &[Wait]) -> bool {
    let mut left = waits.to_vec();
    loop {
        let waited: BTreeSet<_> = left.iter().map(|(lane, _, then)| (*lane, *then)).collect();
        let before = left.len();
        left.retain(|(lane, first, _)| waited.contains(&(*lane, *first)));
        if left.len() == before {
            return before > 0;
        }
    }
}

/// The rows after each of some writes, the first before any.
fn states(fabric: &Fabric, tables: &Tables, writes: &[PlanWrite], see: &mut dyn FnMut(&Rows)) {
    let length = fabric.top_lid().map_or(0, |top| top.index() + 65);
    let row = |id| {
        let mut row = tables.lft(id).map(|lft| lft.bytes().to_vec()).unwrap_or_default();
        row.resize(length, 255);
        row
    };
    let mut rows: Rows = fabric.switches().map(|(id, _)| row(id)).collect();
    see(&rows);
    for write in writes {
        let AttributePart::Block(block) = write.part else { panic!("{write:?}") };
        let bytes = (0..64).map(|at| u8::from_str_radix(&write.new[2 * at..2 * at + 2], 16).unwrap());
        let row = &mut rows[write.switch(fabric).unwrap().index()][usize::from(block) * 64..];
        row.iter_mut().zip(bytes).for_each(|(entry, port)| *entry = port);
        see(&rows);
    }
}

/// The most pairs of any state that arrive before all writes and after them, and not there.
fn interrupted(world: &World<'_>, tables: &Tables, writes: &[PlanWrite]) -> u64 {
    let mut all: Vec<Vec<bool>> = Vec::new();
    states(world.problem.fabric, tables, writes, &mut |rows| {
        let arrives = |pair| world.walk(rows, pair, &mut |_, _| {}) == Some(true);
        all.push(world.pairs.iter().map(arrives).collect());
    });
    let (first, last) = (&all[0], &all[all.len() - 1]);
    let lost = |now: &Vec<bool>| {
        let both = (0..now.len()).filter(|at| first[*at] && last[*at] && !now[*at]);
        both.map(|at| world.pairs[at].count).sum()
    };
    all.iter().map(lost).max().unwrap()
}

fn worst_of_walks(world: &World<'_>, tables: &Tables, writes: &[PlanWrite]) -> Vec<LostPairs> {
    let mut all = Vec::new();
    states(world.problem.fabric, tables, writes, &mut |rows| all.push(world.lost(rows)));
    all
}

/// What a walker says of the states, and what was announced.
fn agrees(name: &str, seen: &[LostPairs], way: &TransientLoss) {
    let worst = seen.iter().map(|(broken, _)| *broken).max().unwrap();
    let after = seen.iter().position(|(broken, _)| *broken == worst).unwrap();
    let lasting = seen[after..].iter().take_while(|(broken, _)| *broken == worst).count();
    assert_eq!(way.worst_broken, worst, "{name}: {way:?} {seen:?}");
    assert_eq!(way.worst_looping, seen.iter().map(|(_, looping)| *looping).max().unwrap(), "{name}: {way:?}");
    assert_eq!((way.worst_after, way.lasting), (after as u64, lasting as u64), "{name}: {way:?} {seen:?}");
    assert_eq!((way.before, way.after), (seen[0].0, seen[seen.len() - 1].0), "{name}");
    assert_eq!(way.writes as usize + 1, seen.len(), "{name}");
}

fn tables_of(fabric: &Fabric, routes: &Routes) -> Tables {
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    tables
}

/// Three switches in a ring, a terminal at each. By hand:
///
/// ```text
/// to the terminal at 2    old: 1 -> 0 -> 2    new: 0 -> 1 -> 2
/// ```
///
/// By GUID 0 is written first, and until 1 is, both lead round. 1 first leads 0 -> 2 and 1 -> 2, and then 0 -> 1 -> 2.
#[test]
fn nearer_switches_come_first_and_where_that_is_contradictory_the_least_is_lost() {
    let fabric = fabric("torus,dims=3,terminals=1");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let world = World::new(&problem);
    let port = |from: u32, to: u32| {
        let leaving = &problem.graph.channels()[problem.graph.outgoing(from)];
        leaving.iter().find(|channel| channel.to == to).map(|channel| channel.from_port)
    };
    let end = |root: u32| problem.destinations_behind(root).iter().find(|end| !end.is_switch()).unwrap().lid;
    let straight = route("minhop", &problem).unwrap().routes;
    let mut old = straight.clone();
    let mut new = old.clone();
    old.set(1, end(2), port(1, 0));
    new.set(0, end(2), port(0, 1));
    let way = |old: &Routes, new: &Routes| {
        let tables = tables_of(&fabric, old);
        let standing = SurvivingFabric::new(&fabric, &faults, None);
        let plain = plan_writes(&standing, &tables, new, &|_| String::new()).unwrap();
        let ordered =
            order_writes(&problem, (old, new), false, plain.clone(), &|switch| format!("s{switch}"));
        agrees("by hand", &worst_of_walks(&world, &tables, &ordered.writes), &ordered.way);
        (ordered, worst_of_walks(&world, &tables, &plain))
    };
    let (ordered, plain) = way(&old, &new);
    assert_eq!(plain, [(0, 0), (2, 2), (0, 0)]);
    let switches: Vec<_> = ordered.writes.iter().map(|write| write.switch(&fabric).unwrap().0).collect();
    assert_eq!((switches, ordered.way.worst_broken), (vec![1, 0], 0));
    assert_eq!(ordered.way.ordered, "distance");
    assert_eq!(
        ordered.way.words(),
        "every pair has a path after each of the 2 writes, nearest to the destinations first"
    );
    // A second destination in the same block that wants it the other way round: (old) 0 -> 1 -> 2, (new) 1 -> 0 -> 2.
    let switch = problem.destinations_behind(2).iter().find(|end| end.is_switch()).unwrap().lid;
    old.set(0, switch, port(0, 1));
    new.set(1, switch, port(1, 0));
    let tables = tables_of(&fabric, &old);
    let standing = SurvivingFabric::new(&fabric, &faults, None);
    let plain = plan_writes(&standing, &tables, &new, &|_| String::new()).unwrap();
    let all = order_writes(&problem, (&old, &new), true, plain, &|switch| format!("s{switch}"));
    // In either order, two terminals and two switches have no path to one of the two.
    let TransientLoss { pairs, worst_broken, worst_looping, worst_after, lasting, .. } = all.way;
    assert_eq!((pairs, worst_broken, worst_looping, worst_after, lasting), (30, 4, 4, 1, 1), "{:?}", all.way);
    assert_eq!(all.way.ordered, "fewest");
    assert!(all.way.words().contains("after write 1 of 2 (block 0 of s"), "{}", all.way.words());
}

/// A plan from tables of one engine to those of another.
fn planned(fabric: Fabric, seed: u64) -> Option<(Snapshot, Faults, Plan, Routes)> {
    const OLD: [&str; 5] = ["minhop", "updn", "sssp", "sftree", "dfsssp"];
    const NEW: [&str; 6] = ["updn", "sssp", "nue", "minhop", "dfsssp", "ftree"];
    let dice = &mut Dice(seed ^ 0x0D0E);
    let mut faults = Faults::default();
    let none = Faults::default();
    let whole = Problem::new(&fabric, &none);
    let mut old = route(OLD[dice.below(OLD.len())], &whole).ok()?.routes;
    // On one level there is one lane.
    old.lanes = PathLanes::One;
    if dice.below(3) == 0 {
        damage(&whole, &mut old, dice);
    }
    let links: Vec<_> =
        fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect();
    for _ in 0..dice.below(3).min(links.len()) {
        faults.mark(ElementId::Link(links[dice.below(links.len())]));
    }
    let tables = tables_of(&fabric, &old);
    let look =
        Snapshot::new("here", Observation { fabric, tables, ..Observation::default() }, &Default::default());
    let engine = fabdeck_routing::find_engine(NEW[dice.below(NEW.len())]).unwrap();
    let request = Request { lanes: 1 + 3 * (seed % 2) as u8, ..Request::default() };
    let sent = LevelsInForce::One;
    let asked = ProposalOptions { sent, ..ProposalOptions::for_terminals(&request) };
    let proposal = propose(&look, &look.observation.tables, &faults, engine, asked, &NoProgress).ok()?;
    let proposal = settle_proposal(&look, &faults, proposal, sent, &NoProgress).unwrap();
    let plan = make_plan(&look, &faults, engine.id, &proposal, sent, PlanOrigin::default()).unwrap();
    if plan.writes.is_empty() {
        return None;
    }
    // A preview of a small fabric knows what its plan will find.
    let (preview, found) = (&proposal.transition, &plan.transition);
    let verdict = (preview.safe, &preview.mixed_cycle);
    assert_eq!(verdict, (found.safe, &found.mixed_cycle), "seed {seed}: {preview:?}");
    let new = (*proposal.routes).clone();
    Some((look, faults, plan, new))
}

/// What came of the plans that were tried.
#[derive(Default, Debug)]
struct TrialCounts {
    plans: u64,
    states: u64,
    /// Plans on whose way pairs have no path that have one before and after.
    broken: u64,
    /// Plans that are better than by GUID.
    better: u64,
    /// Plans that are worse backwards.
    worse_backwards: u64,
    /// Plans that say that there is no credit loop on the way.
    acyclic: u64,
    /// Those that say that mixing alone closes one.
    mixed: u64,
    /// Plans on whose way packets can wait for each other in a credit loop, announced.
    credit_loops: u64,
}

fn tried(seed: u64) -> Option<TrialCounts> {
    let fabric = match seed % 5 {
        0 => super::routing::fabric(&format!("torus,dims=4x{},terminals=2", 3 + seed % 3)),
        1 => super::routing::fabric(&format!("random,switches=12,links=20,terminals=6,seed={seed}")),
        _ => any_fabric(seed),
    };
    let (look, faults, plan, new) = planned(fabric, seed)?;
    let (fabric, tables) = (look.fabric(), &look.observation.tables);
    let problem = Problem::new(fabric, &faults);
    let world = World::new(&problem);
    let way = plan.transition.on_the_way.clone().unwrap();
    let name = format!("seed {seed}: {}", plan.engine);
    let states_seen = worst_of_walks(&world, tables, &plan.writes);
    agrees(&name, &states_seen, &way);
    assert_eq!(way.worst_interrupted, interrupted(&world, tables, &plan.writes), "{name}: {way:?}");
    let breaks = ["fewest", "switches"].contains(&way.ordered.as_str());
    assert!(breaks || way.worst_interrupted == 0, "{name}: {way:?}");
    let most = |seen: &[LostPairs]| seen.iter().map(|(broken, _)| *broken).max().unwrap();
    let mut by_guid = plan.writes.clone();
    by_guid.sort_by_key(|write| {
        let AttributePart::Block(block) = write.part else { panic!("{write:?}") };
        (write.switch(fabric), block)
    });
    let plain = most(&worst_of_walks(&world, tables, &by_guid));
    assert!(way.worst_broken <= plain, "{name}: {} by GUID, {way:?}", plain);
    let mut backwards = plan.writes.clone();
    backwards.reverse();
    let backwards = most(&worst_of_walks(&world, tables, &backwards));
    // Credit loops: what the walker sees in any state was announced.
    let none = Faults::default();
    let whole = Problem::new(fabric, &none);
    let (up, one) = (World::new(&whole), Routes::empty(0, None));
    let mut waits = ChannelWaits::new(fabric.switch_count());
    states(fabric, tables, &plan.writes, &mut |rows| up.waits(rows, [&one, &new], &mut waits));
    // Of all states together, so that packets that were on their way between two are among them.
    let credit_loop = cyclic(&waits.list(&up));
    let quiet = plan.transition.safe == Some(true);
    assert!(!(quiet && credit_loop), "{name}: a credit loop that was not announced");
    let told = &plan.transition;
    Some(TrialCounts {
        plans: 1,
        states: states_seen.len() as u64,
        broken: u64::from(way.worst_interrupted > 0),
        better: u64::from(way.worst_broken < plain),
        worse_backwards: u64::from(backwards > way.worst_broken),
        acyclic: u64::from(quiet),
        mixed: u64::from(told.mixed_cycle.is_some() && told.safe == Some(false)),
        credit_loops: u64::from(credit_loop),
    })
}

#[test]
fn every_state_of_every_plan_is_as_announced_and_none_is_worse_than_by_guid() {
    let all: Vec<TrialCounts> = (0..170u64).into_par_iter().filter_map(tried).collect();
    let all = all.into_iter().fold(TrialCounts::default(), |a, b| TrialCounts {
        plans: a.plans + b.plans,
        states: a.states + b.states,
        broken: a.broken + b.broken,
        better: a.better + b.better,
        worse_backwards: a.worse_backwards + b.worse_backwards,
        acyclic: a.acyclic + b.acyclic,
        mixed: a.mixed + b.mixed,
        credit_loops: a.credit_loops + b.credit_loops,
    });
    println!("{all:?}");
    assert!(all.plans >= 100 && all.better >= 8 && all.worse_backwards >= 15, "{all:?}");
    assert!(all.acyclic >= 10 && all.mixed >= 5 && all.credit_loops >= 30, "{all:?}");
}
