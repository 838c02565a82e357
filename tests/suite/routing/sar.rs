//! `sar`: what jobs send is spread as the dissertation's example has it, and every promise of `dfsssp` holds.

use std::sync::{Arc, Mutex};

use fabdeck_fabric::{
    Fabric, FabricBuilder, Faults, Guid, JobMap, Lid, NodeFacts, NodeKind, PathLanes, PortNum,
};
use fabdeck_routing::analysis::{EffectiveIndex, FlowPaths, JobLoads};
use fabdeck_routing::{EngineAnswer, LaneDependence, Problem, Request, RouteProgress, find_engine};

use super::certificate::{Dice, certificate};
use super::random_fabrics::sketch;
use super::{fabric, route, route_as};

const LEAVES: usize = 10;
const HOSTS: usize = 180;

/// How many spines of figure 5.2's tree, with how many cables from each leaf: the dissertation does not say.
const SPINES: [(usize, usize); 2] = [(9, 2), (6, 3)];

/// The tree of figure 5.2 with its three jobs. By the seed everything has other GUIDs and LIDs, so that an engine comes
/// to destinations in another order; 0: as they are counted.
fn island((spines, cables): (usize, usize), seed: u64) -> (Fabric, JobMap) {
    let dice = &mut Dice(seed);
    let mut drawn = |count: usize| {
        let mut all: Vec<u64> = (0..count as u64).collect();
        for last in (1..count).rev().filter(|_| seed > 0) {
            all.swap(last, dice.below(last + 1));
        }
        all
    };
    let (switch_guids, host_guids, lids) = (drawn(LEAVES + spines), drawn(HOSTS), drawn(HOSTS));
    let mut builder = FabricBuilder::new();
    let switches: Vec<_> = (0..LEAVES + spines)
        .map(|at| {
            let facts = NodeFacts::new(NodeKind::Switch, Guid(1 + switch_guids[at]), 36, format!("s{at}"));
            let key = builder.add_node(facts).unwrap();
            builder.port(key, PortNum(0)).lid = Lid::new(1000 + at as u32);
            key
        })
        .collect();
    for leaf in 0..LEAVES {
        for (up, spine) in (0..spines).flat_map(|spine| std::iter::repeat_n(spine, cables)).enumerate() {
            let down = leaf * cables + up % cables;
            let ends = [(leaf, 19 + up), (LEAVES + spine, 1 + down)];
            let [a, b] = ends.map(|(at, port)| (switches[at], PortNum(port as u8)));
            builder.connect(a, b).unwrap();
        }
    }
    for host in 0..HOSTS {
        let guid = Guid(0x1000 + host_guids[host]);
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, format!("{}", host + 1));
        let key = builder.add_node(facts).unwrap();
        builder.port(key, PortNum(1)).lid = Lid::new(1 + lids[host] as u32);
        let leaf = (switches[host / 18], PortNum(1 + (host % 18) as u8));
        builder.connect((key, PortNum(1)), leaf).unwrap();
    }
    let fabric = builder.finish();
    let mut jobs = JobMap::default();
    for (guid, host) in host_guids.iter().zip(1..) {
        let job = match host {
            1..=30 | 91..=120 => "j1",
            31..=60 | 151..=180 => "j2",
            _ => "j3",
        };
        let node = fabric.node_by_guid(Guid(0x1000 + guid)).unwrap();
        jobs.add(job, fabric.port_of(node, PortNum(1)).unwrap());
    }
    (fabric, jobs)
}

fn loads(engine: &str, fabric: &Fabric, jobs: &JobMap, request: &Request) -> EffectiveIndex {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let routes = route_as(engine, &problem, request).unwrap().routes;
    JobLoads::new(&FlowPaths::new(&problem, &routes), jobs).all
}

/// Keeps what was said of how far it is.
#[derive(Default)]
struct RecordingPulse(Mutex<Vec<(usize, usize)>>);

impl RouteProgress for RecordingPulse {
    fn report(&self, done: usize, of: usize) {
        self.0.lock().unwrap().push((done, of));
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Routes that are made again and again count: it is done when all are, and no sooner.
#[test]
fn progress_goes_over_all_passes() {
    let (fabric, jobs) = island(SPINES[0], 1);
    let faults = Faults::default();
    let (problem, told) = (Problem::new(&fabric, &faults), RecordingPulse::default());
    let request = Request { jobs: Arc::new(jobs), ..Request::default() };
    (find_engine("sar").unwrap().route)(&problem, &request, &told).unwrap();
    let told = told.0.into_inner().unwrap();
    let (last, of) = *told.last().unwrap();
    assert!(told.is_sorted() && told.iter().all(|(_, all)| *all == of) && last == of, "{told:?}");
    assert_eq!(told.iter().filter(|(done, of)| done == of).count(), 1);
    // A first tree for each destination, and more for those of jobs.
    assert!(of > problem.destinations().len() + HOSTS, "{of}");
}

#[test]
fn figure_5_2() {
    for shape in SPINES {
        let mut seen: Vec<[EffectiveIndex; 3]> = Vec::new();
        for seed in 0..30 {
            let (fabric, jobs) = island(shape, seed);
            let request = Request { jobs: Arc::new(jobs.clone()), ..Request::default() };
            seen.push(["sar", "dfsssp", "ftree"].map(|engine| loads(engine, &fabric, &jobs, &request)));
        }
        let median = |engine: usize| {
            let mut max: Vec<u64> = seen.iter().map(|seen| seen[engine].max).collect();
            max.sort_unstable();
            println!("{shape:?}: {max:?}");
            max[max.len() / 2]
        };
        let [_, dfsssp, _] = [0, 1, 2].map(median);
        for seen in &seen {
            let sar = seen[0].max;
            assert!(sar <= 66 && sar <= dfsssp, "{shape:?}: sar {sar}, dfsssp {dfsssp}");
        }
    }
}

/// Jobs on pieces of the fabric, some of which share hosts, under names that begin with a word.
fn jobs(problem: &Problem<'_>, seed: u64, word: &str) -> JobMap {
    let terminals = problem.graph.terminals();
    let dice = &mut Dice(seed);
    let mut jobs = JobMap::default();
    for job in 0..if terminals.is_empty() { 0 } else { 1 + dice.below(6) } {
        for _ in 0..1 + dice.below(3) {
            let (first, hosts) = (dice.below(terminals.len()), 1 + dice.below(9));
            let on = terminals.iter().cycle().skip(first).take(hosts);
            on.for_each(|terminal| jobs.add(&format!("{word}{job}"), terminal.port));
        }
    }
    jobs
}

fn asked(problem: &Problem<'_>, seed: u64, lanes_by: LaneDependence) -> Request {
    let dice = &mut Dice(seed ^ 0x10);
    let node = |port| problem.fabric.node(problem.fabric.port(port).node).guid();
    let all = problem.graph.terminals().iter();
    let io_nodes = all.filter(|_| dice.below(5) == 0).map(|terminal| node(terminal.port)).collect();
    let lanes = problem.usable_lanes(8);
    Request { jobs: jobs(problem, seed, "j").into(), io_nodes, lanes_by, lanes, ..Request::default() }
}

/// Certified clean, switches included, and of adapters shortest unless nue was needed.
fn clean(problem: &Problem<'_>, answer: &EngineAnswer, what: &str) {
    let seen = certificate(problem, &answer.routes, true);
    assert!(seen.loops.count == 0 && seen.cycles.is_empty(), "{what}: {:?} {:?}", seen.loops, seen.cycles);
    let cut = seen.lost.by_cause(fabdeck_routing::Cause::CutOff);
    assert_eq!(seen.lost.total(), cut, "{what}: {:?}", seen.lost);
    let nue = answer.remarks.iter().any(|remark| remark.contains("layers of nue"));
    let stretch = certificate(problem, &answer.routes, false).lengths.worst_stretch;
    assert!(nue || stretch <= 1.0, "{what}: stretch {stretch}");
}

#[test]
fn any_jobs_on_any_fabric_are_certified_clean_and_the_same_on_two_threads() {
    let (mut served, mut by_nue) = (0, 0);
    for seed in 0..200 {
        let (fabric, faults) = sketch(seed, seed % 4 == 0).build();
        let problem = Problem::new(&fabric, &faults);
        for lanes_by in [LaneDependence::Pair, LaneDependence::Destination] {
            let request = asked(&problem, seed, lanes_by);
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| route_as("sar", &problem, &request))
            };
            let what = format!("seed {seed}, {lanes_by:?}");
            let (one, two) = (on(1), on(2));
            assert!(one == two, "{what}");
            let Ok(answer) = one else {
                assert_eq!(lanes_by, LaneDependence::Pair, "{what}: {:?}", one.err());
                continue;
            };
            served += 1;
            clean(&problem, &answer, &what);
            let by_pair = matches!(answer.routes.lanes, PathLanes::ByPair { .. });
            assert!(lanes_by == LaneDependence::Pair || !by_pair, "{what}");
            by_nue += usize::from(answer.remarks.iter().any(|remark| remark.contains("layers of nue")));
        }
    }
    assert!(served > 350 && by_nue > 20, "{served} served, {by_nue} by nue");
}

#[test]
fn without_jobs_it_routes_as_dfsssp_and_says_so() {
    let (fabric, faults) = (fabric("torus,dims=4x3"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let (sar, dfsssp) = (route("sar", &problem).unwrap(), route("dfsssp", &problem).unwrap());
    assert!(sar.routes == dfsssp.routes);
    assert!(sar.remarks[0].contains("none is given (--jobs FILE)"), "{:?}", sar.remarks);
}

/// The filter of figure 5.6 counts on it: other jobs on the same hosts need no other routes.
#[test]
fn names_of_jobs_change_nothing() {
    let (fabric, faults) = (fabric("random,switches=20,links=50"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let mut other = JobMap::default();
    for (name, ports) in jobs(&problem, 7, "").iter() {
        // Those that came first come last.
        let name = format!("z{}", 9 - name.parse::<u32>().unwrap());
        ports.iter().for_each(|port| other.add(&name, *port));
    }
    let with = |jobs: JobMap| {
        route_as("sar", &problem, &Request { jobs: jobs.into(), ..Request::default() }).unwrap().routes
    };
    assert!(with(jobs(&problem, 7, "")) == with(other));
}

/// What lanes by destination cost: on these fabrics, where shortest paths have none, jobs still share their channels
/// with fewer paths than nue gives them without knowing of them.
#[test]
fn layers_of_nue_know_the_jobs() {
    for name in ["random,switches=40,links=160,terminals=8", "dragonfly,a=6,p=3,h=3,g=8", "torus,dims=4x4x3"]
    {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let mut jobs = JobMap::default();
        let dice = &mut Dice(3);
        problem.graph.terminals().chunks(12).for_each(|hosts| {
            let job = dice.below(8).to_string();
            hosts.iter().for_each(|host| jobs.add(&job, host.port));
        });
        let request =
            |lanes_by| Request { jobs: Arc::new(jobs.clone()), lanes_by, lanes: 4, ..Request::default() };
        let max = |engine: &str, lanes_by| {
            let answer = route_as(engine, &problem, &request(lanes_by)).unwrap();
            (JobLoads::new(&FlowPaths::new(&problem, &answer.routes), &jobs).all.max, answer.routes)
        };
        let ((sar, routes), (nue, _)) =
            (max("sar", LaneDependence::Destination), max("nue", LaneDependence::Pair));
        println!("{name}: sar {sar}, nue {nue}");
        assert!(matches!(routes.lanes, PathLanes::ByDestination { .. }), "{name}");
        assert!(sar < nue, "{name}: sar {sar}, nue {nue}");
    }
}
