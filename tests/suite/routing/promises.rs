//! Every engine on a thousand random fabrics: each promise of the registry holds by the certificate, and for one fabric
//! in ten by the naive judge, or the refusal is right. What fails is cut down to a small case and shown as text.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use super::certificate::{Dice, certificate};
use super::oracle::{OracleVerdict, judge};
use super::random_fabrics::{Sketch, sketch};
use super::route_as;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::cap_request;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Guid, JobMap, Lid, NodeId, PathLanes, Terminal};
use fabdeck_routing::{
    Cause, ENGINES, Engine, EngineAnswer, EngineRefusal, NAMED_ENGINES, Problem, Request, RequestUse,
    RouteGuarantees, find_engine,
};

/// Set `FABDECK_LONG=1` for ten times as many.
fn fabrics() -> usize {
    if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { 10_000 } else { 1_000 }
}

type Route<'r> = &'r (dyn Fn(&Problem<'_>, &Request) -> Result<EngineAnswer, EngineRefusal> + Sync);

/// An engine and what is said of it.
#[derive(Clone, Copy)]
struct Claim<'r> {
    id: &'r str,
    promise: RouteGuarantees,
    route: Route<'r>,
}

/// How an engine is asked for the routes of a sketch.
#[derive(Clone, Copy, Debug)]
struct Case {
    lanes: u8,
    /// Number of switches that are given as roots; of a tree its top switches, if any.
    roots: usize,
    /// One adapter in this many computes, or serves; 0: not given.
    computes: usize,
    serves: usize,
    /// Number of running jobs, and the most adapters of each; jobs may share adapters.
    jobs: (usize, usize),
    naive: bool,
}

impl Case {
    fn of(seed: u64) -> Self {
        let dice = &mut Dice(seed ^ 0xCA5E);
        let roots = [0, 0, 1, 3][dice.below(4)];
        let lanes = 1 + dice.below(8) as u8;
        let [computes, serves] = [[0, 0, 1, 2, 3], [0, 0, 0, 2, 5]].map(|drawn| drawn[dice.below(5)]);
        let jobs = (dice.below(6), 1 + dice.below(8));
        Self { lanes, roots, computes, serves, jobs, naive: seed.is_multiple_of(10) }
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Whether the claim holds on a sketch; the engine answered rather than refused.
fn check(claim: Claim<'_>, sketch: &Sketch, case: Case) -> Result<bool, String> {
    let checked = catch_unwind(AssertUnwindSafe(|| check_one(claim, sketch, case)));
    checked.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn check_one(claim: Claim<'_>, sketch: &Sketch, case: Case) -> Result<bool, String> {
    let (fabric, faults) = sketch.build();
    let problem = Problem::new(&fabric, &faults);
    let roots = roots(&problem, sketch, case);
    let request = asked(&problem, &roots, case);
    let answer = match (claim.route)(&problem, &request) {
        Ok(answer) => answer,
        Err(refusal) => {
            return right(claim, &problem, sketch, &request, &roots, &refusal).map(|()| false);
        }
    };
    let verdict = by_certificate(claim.promise, &problem, &answer, (case, request.lanes))?;
    if ["sftree", "dmodk"].contains(&claim.id) {
        let alike = route_as("ftree", &problem, &request).is_ok();
        ensure(alike, || "served, and ftree refuses".to_owned())?;
    }
    if claim.id == "ftree" {
        left_out(&problem, &answer, sketch, (&roots, &request))?;
    }
    if let Some(naive) = verdict {
        by_judge(claim.promise, &naive)?;
    }
    Ok(true)
}

/// What an engine is asked for: no more lanes than ports between switches have.
fn asked(problem: &Problem<'_>, roots: &[u32], case: Case) -> Request {
    let fabric = problem.fabric;
    // What sits on every switch computes nowhere, and in no tree are all switches bottoms.
    let hosts = problem.graph.terminals().iter().filter(|end| !aggregation(problem, end.port));
    let ends: Vec<Guid> = hosts.map(|end| fabric.node(fabric.port(end.port).node).guid()).collect();
    let every = |step: usize| match step {
        0 => Vec::new(),
        step => ends.iter().copied().step_by(step).collect(),
    };
    let request = Request {
        lanes: case.lanes,
        roots: roots.iter().map(|root| fabric.node(NodeId(*root)).guid()).collect(),
        compute_nodes: every(case.computes),
        io_nodes: every(case.serves),
        jobs: jobs(problem, case).into(),
        ..Request::default()
    };
    let observation = Observation { fabric: fabric.clone(), ..Observation::default() };
    cap_request(&Snapshot::new("sketch", observation, &Default::default()), problem, &request).request
}

/// The adapters of each job lie side by side, those of the next begin somewhere among them or beyond.
fn jobs(problem: &Problem<'_>, case: Case) -> JobMap {
    let (count, most) = case.jobs;
    let terminals = problem.graph.terminals();
    let dice = &mut Dice(case.lanes.into());
    let mut jobs = JobMap::default();
    for job in (0..count).filter(|_| !terminals.is_empty()) {
        let (first, hosts) = (dice.below(terminals.len()), 1 + dice.below(most));
        let on = terminals.iter().cycle().skip(first).take(hosts);
        on.for_each(|terminal| jobs.add(&job.to_string(), terminal.port));
    }
    jobs
}

/// Roots to be given: of a tree one for each of its parts, so that all heights are known here.
fn roots(problem: &Problem<'_>, sketch: &Sketch, case: Case) -> Vec<u32> {
    let alive = || problem.switches().filter(|switch| problem.graph.is_alive(*switch));
    if case.roots == 0 || sketch.tops.is_empty() {
        return alive().step_by(3).take(case.roots).collect();
    }
    let number = |switch: &u32| problem.fabric.node(NodeId(*switch)).guid().0 as u32;
    let mut roots: Vec<u32> = alive().filter(|switch| sketch.tops.contains(&number(switch))).collect();
    let (part, _) = problem.graph.components();
    for switch in alive() {
        if !roots.iter().any(|root| part[*root as usize] == part[switch as usize]) {
            roots.push(switch);
        }
    }
    roots
}

fn by_certificate(
    promise: RouteGuarantees,
    problem: &Problem<'_>,
    answer: &EngineAnswer,
    (case, lanes): (Case, u8),
) -> Result<Option<OracleVerdict>, String> {
    let seen = [false, true].map(|switches| certificate(problem, &answer.routes, switches));
    let naive = case.naive.then(|| judge(problem, &answer.routes));
    let [terminals, all] = &seen;
    let left = |lost: &fabdeck_routing::certificate::LostPairs| lost.total() - lost.by_cause(Cause::CutOff);
    ensure(all.loops.count == 0, || format!("loops: {:?}", all.loops.first))?;
    for cause in [Cause::DeadEnd, Cause::Loop] {
        ensure(all.lost.by_cause(cause) == 0, || format!("lost: {:?}", all.lost))?;
    }
    ensure(!promise.terminals || left(&terminals.lost) == 0, || format!("lost: {:?}", terminals.lost))?;
    ensure(!promise.terminals || terminals.lost.lids == 0, || format!("lost LIDs: {:?}", terminals.lost))?;
    ensure(!promise.switches || left(&all.lost) == 0, || format!("lost: {:?}", all.lost))?;
    let free = [terminals, all].map(|seen| seen.deadlock_free == Some(true));
    ensure(!promise.deadlock_free || free[0], || format!("{:?}", terminals.cycles))?;
    ensure(!promise.deadlock_free_switches || free[1], || format!("{:?}", all.cycles))?;
    let stretch = all.lengths.worst_stretch;
    ensure(!promise.shortest || stretch <= 1.0, || format!("stretch {stretch}"))?;
    ensure(all.lanes.iter().all(|lane| *lane < lanes), || format!("lanes {:?}", all.lanes))?;
    if let Some(naive) = &naive {
        let same = naive.loops == (all.loops.count > 0)
            && [naive.cycle, naive.cycle_switches] == free.map(|free| !free)
            && (naive.lost.is_empty() && naive.lost_switches.is_empty()) == (all.lost.lids == 0)
            && naive.busiest == all.edge_forwarding_index.max
            && naive.longest == all.lengths.longest as usize;
        ensure(same, || format!("the judges differ: {naive:?} {all:?}"))?;
    }
    Ok(naive)
}

fn by_judge(promise: RouteGuarantees, naive: &OracleVerdict) -> Result<(), String> {
    let holds = !naive.loops
        && (!promise.terminals || naive.lost.is_empty())
        && (!promise.switches || naive.lost_switches.is_empty())
        && (!promise.deadlock_free || !naive.cycle)
        && (!promise.deadlock_free_switches || !naive.cycle_switches)
        && (!promise.shortest || !naive.detour);
    ensure(holds, || format!("by the naive judge: {naive:?}"))
}

/// Switches that a path which goes up, across once at most, and down leads to from one, with its hops.
fn ordered(problem: &Problem<'_>, height: &[usize], from: u32) -> Vec<Option<usize>> {
    let graph = &problem.graph;
    let mut best = vec![None; graph.switch_count()];
    let mut seen = BTreeSet::from([(from, false)]);
    let mut front = vec![(from, false)];
    for hops in 0.. {
        let mut next = Vec::new();
        for (at, falls) in front {
            best[at as usize] = best[at as usize].or(Some(hops));
            for channel in &graph.channels()[graph.outgoing(at)] {
                let (here, there) = (height[at as usize], height[channel.to as usize]);
                let state = (channel.to, there <= here);
                if (!falls || there < here) && seen.insert(state) {
                    next.push(state);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        front = next;
    }
    best
}

/// Heights below roots that are given in every part.
fn heights(problem: &Problem<'_>, roots: &[u32]) -> Vec<usize> {
    let mut height = vec![0; problem.graph.switch_count()];
    let mut front = roots.to_vec();
    let mut seen: BTreeSet<u32> = front.iter().copied().collect();
    for at in (0..usize::MAX).rev() {
        front.iter().for_each(|switch| height[*switch as usize] = at);
        let graph = &problem.graph;
        let next = front.iter().flat_map(|switch| &graph.channels()[graph.outgoing(*switch)]);
        let next: Vec<u32> = next.map(|channel| channel.to).filter(|to| seen.insert(*to)).collect();
        if next.is_empty() {
            break;
        }
        front = next;
    }
    height
}

/// `ftree` leaves nothing out but what has no path up, across and down; where adapters that compute are among that these are
/// served, and the rest as it comes. The certificate counts what is left out.
fn left_out(
    problem: &Problem<'_>,
    answer: &EngineAnswer,
    sketch: &Sketch,
    (roots, request): (&[u32], &Request),
) -> Result<(), String> {
    let naive = judge(problem, &answer.routes);
    let lost: BTreeSet<(u32, Lid)> = naive.lost.iter().chain(&naive.lost_switches).copied().collect();
    let all = certificate(problem, &answer.routes, true);
    let senders = |(from, _): &(u32, Lid)| problem.graph.terminals_of(*from).len() as u64 + 1;
    let count: u64 = lost.iter().map(senders).sum();
    ensure(all.lost.lids == count, || format!("{count} left out, {:?}", all.lost))?;
    if sketch.whole
        && !sketch.tops.is_empty()
        && request.compute_nodes.is_empty()
        && request.io_nodes.is_empty()
    {
        let hosts = !problem.graph.terminals().iter().any(|end| aggregation(problem, end.port));
        let served = naive.lost.is_empty() && !naive.detour;
        ensure(served || !hosts, || format!("hosts of a whole tree: {naive:?}"))?;
    }
    if sketch.tops.is_empty() || roots.is_empty() {
        return Ok(());
    }
    let height = heights(problem, roots);
    let (part, _) = problem.graph.components();
    let mut without = BTreeSet::new();
    for from in problem.switches().filter(|switch| problem.graph.is_alive(*switch)) {
        let reached = ordered(problem, &height, from);
        let same = |to: &u32| part[*to as usize] == part[from as usize] && reached[*to as usize].is_none();
        for to in problem.switches().filter(same) {
            without.extend(problem.destinations_behind(to).iter().map(|end| (from, end.lid)));
        }
    }
    let hosts = |(from, lid): &&(u32, Lid)| {
        let sends = |end: &&Terminal| computes(problem, request, end.port);
        let to = problem.fabric.port_by_lid(*lid);
        problem.graph.terminals_of(*from).iter().any(|end| sends(&end))
            && to.is_some_and(|port| {
                !problem.fabric.node(problem.fabric.port(port).node).is_switch()
                    && computes(problem, request, port)
            })
    };
    if without.iter().any(|pair| hosts(&pair)) {
        let left: Vec<_> = lost.iter().filter(hosts).collect();
        return ensure(left.is_empty(), || format!("left out between hosts {left:?}"));
    }
    ensure(lost.is_subset(&without), || {
        let more: Vec<_> = lost.difference(&without).collect();
        format!("left out {} of {}, differing in {more:?}", lost.len(), without.len())
    })
}

fn aggregation(problem: &Problem<'_>, port: fabdeck_fabric::PortId) -> bool {
    let node = problem.fabric.node(problem.fabric.port(port).node);
    node.facts.description.contains("Aggregation Node")
}

fn computes(problem: &Problem<'_>, request: &Request, port: fabdeck_fabric::PortId) -> bool {
    let guids = [
        Some(problem.fabric.node(problem.fabric.port(port).node).guid()),
        problem.fabric.port(port).facts.guid,
    ];
    let among = |list: &[Guid]| guids.iter().flatten().any(|guid| list.contains(guid));
    match request.compute_nodes.is_empty() {
        true => !aggregation(problem, port) && !among(&request.io_nodes),
        false => among(&request.compute_nodes),
    }
}

/// Whether there was a reason to refuse.
fn right(
    claim: Claim<'_>,
    problem: &Problem<'_>,
    sketch: &Sketch,
    request: &Request,
    roots: &[u32],
    refusal: &EngineRefusal,
) -> Result<(), String> {
    if ["sftree", "dmodk"].contains(&claim.id) {
        let alike = route_as("ftree", problem, request).is_err();
        ensure(alike, || format!("ftree serves it: {refusal}"))?;
    }
    match (claim.id, refusal) {
        ("dfsssp" | "sar" | "lash", EngineRefusal::Lanes { needed, given, .. }) => {
            let usable = problem.usable_lanes(request.lanes);
            ensure(*given == usable && *needed > u32::from(*given), || refusal.to_string())?;
            // With what it says it needs it is served, if the ports have as many.
            let lanes = problem.usable_lanes(u8::try_from(*needed).unwrap_or(15).min(15));
            let served = (claim.route)(problem, &Request { lanes, ..request.clone() });
            ensure(u32::from(lanes) < *needed || served.is_ok(), || format!("{refusal}, then {served:?}"))
        }
        ("mlid", EngineRefusal::Request { what, .. }) => {
            let several = problem.graph.terminals().iter().any(|end| end.lmc.value() > 0);
            ensure(!several && what.starts_with("every port has one LID"), || what.clone())
        }
        ("opt", EngineRefusal::Request { what, .. }) => {
            ensure(what.starts_with("it needs LMC "), || what.clone())
        }
        ("opt", EngineRefusal::Unfit { why, .. }) if !why.contains("not a tree") => {
            let named =
                why.contains("two levels") || why.contains("hosts at the bottom") || why.contains("no host");
            ensure(named, || why.clone())
        }
        ("ftree" | "sftree" | "dmodk" | "mlid" | "opt", EngineRefusal::Unfit { why, .. }) => {
            ensure(why.contains("not a tree") && why.contains("0x"), || why.clone())?;
            ensure(!sketch.whole || sketch.tops.is_empty(), || format!("a whole tree: {why}"))?;
            if sketch.tops.is_empty() || roots.is_empty() {
                return Ok(());
            }
            let (missed, pairs) = missed(problem, &heights(problem, roots), request);
            ensure(missed * 20 > pairs, || format!("{missed} of {pairs} missed: {why}"))
        }
        _ => Err(refusal.to_string()),
    }
}

/// Pairs of switches with hosts, and those without a short path up and down.
fn missed(problem: &Problem<'_>, height: &[usize], request: &Request) -> (usize, usize) {
    let among = |list: &[Guid], end: &Terminal| {
        list.contains(&problem.fabric.node(problem.fabric.port(end.port).node).guid())
    };
    let host = |end: &Terminal| match request.compute_nodes.is_empty() {
        true => !aggregation(problem, end.port) && !among(&request.io_nodes, end),
        false => among(&request.compute_nodes, end),
    };
    let hosts = |switch: &u32| problem.graph.terminals_of(*switch).iter().any(host);
    let (part, parts) = problem.graph.components();
    let (mut missed, mut pairs) = (0, 0);
    for number in 0..parts {
        let here = || problem.switches().filter(|switch| part[*switch as usize] == number);
        let mut members: Vec<u32> = here().filter(hosts).collect();
        if members.is_empty() {
            members = here().collect();
        }
        pairs += members.len() * (members.len() - 1);
        for from in &members {
            let (short, reached) = (shortest(problem, *from), ordered(problem, height, *from));
            let far = |to: &&u32| reached[**to as usize].is_none_or(|hops| hops > short[**to as usize] + 1);
            missed += members.iter().filter(far).count();
        }
    }
    (missed, pairs)
}

fn shortest(problem: &Problem<'_>, from: u32) -> Vec<usize> {
    let mut hops = vec![usize::MAX - 1; problem.graph.switch_count()];
    let mut queue = std::collections::VecDeque::from([from]);
    hops[from as usize] = 0;
    while let Some(at) = queue.pop_front() {
        for channel in &problem.graph.channels()[problem.graph.outgoing(at)] {
            if hops[channel.to as usize] > hops[at as usize] + 1 {
                hops[channel.to as usize] = hops[at as usize] + 1;
                queue.push_back(channel.to);
            }
        }
    }
    hops
}

/// Tries a claim on many fabrics; says how many were served, or shows the smallest that fails.
fn prove(claim: Claim<'_>, trees: bool, fabrics: usize) -> Result<usize, String> {
    let tried = (0..fabrics as u64).into_par_iter().map(|seed| {
        let (mut sketch, case) = (sketch(seed, trees), Case::of(seed));
        if find_engine(claim.id).is_some_and(Engine::uses_path_bits) {
            sketch.lmc = 1 + (seed % 3) as u8;
        }
        check(claim, &sketch, case).map_err(|what| Box::new((seed, sketch, case, what)))
    });
    let tried: Result<Vec<bool>, _> = tried.collect();
    let (seed, sketch, case, what) = match tried {
        Ok(served) => return Ok(served.into_iter().filter(|served| *served).count()),
        Err(found) => *found,
    };
    let small = sketch.shrink(|less| check(claim, less, case).is_err());
    let why = check(claim, &small, case).err().unwrap_or_default();
    Err(format!("{}, seed {seed}, {case:?}: {what}\nsmallest: {why}\n{}", claim.id, small.text()))
}

fn of_registry(id: &str, trees: bool, fabrics: usize) -> usize {
    let engine = find_engine(id).unwrap();
    let route = |problem: &Problem<'_>, request: &Request| route_as(id, problem, request);
    let claim = Claim { id: engine.id, promise: engine.guarantees, route: &route };
    prove(claim, trees, fabrics).unwrap_or_else(|found| panic!("{found}"))
}

#[test]
fn minhop_keeps_its_promises() {
    assert_eq!(of_registry("minhop", false, fabrics()), fabrics());
}

#[test]
fn dor_keeps_its_promises() {
    assert_eq!(of_registry("dor", false, fabrics()), fabrics());
}

#[test]
fn lash_keeps_its_promises() {
    let served = of_registry("lash", false, fabrics());
    assert!(served * 10 > fabrics() * 7, "{served}");
}

#[test]
fn dnup_keeps_its_promises() {
    assert_eq!(of_registry("dnup", false, fabrics()), fabrics());
}

#[test]
fn updn_keeps_its_promises() {
    assert_eq!(of_registry("updn", false, fabrics()), fabrics());
}

#[test]
fn sssp_keeps_its_promises() {
    assert_eq!(of_registry("sssp", false, fabrics()), fabrics());
}

#[test]
fn dfsssp_keeps_its_promises() {
    let served = of_registry("dfsssp", false, fabrics());
    assert!(served * 10 > fabrics() * 7, "{served}");
}

#[test]
fn sar_keeps_its_promises() {
    let served = of_registry("sar", false, fabrics());
    assert!(served * 10 > fabrics() * 7, "{served}");
}

#[test]
fn nue_keeps_its_promises() {
    assert_eq!(of_registry("nue", false, fabrics()), fabrics());
}

#[test]
fn ftree_and_sftree_keep_their_promises() {
    let few = fabrics() / 4;
    for id in ["ftree", "sftree"] {
        let (trees, any) = (of_registry(id, true, fabrics()), of_registry(id, false, few));
        println!("{id}: {trees} trees and {any} other fabrics of {few}");
        assert!(trees * 10 > fabrics() * 7 && any < few, "{id}: {trees}, {any}");
    }
}

#[test]
fn dmodk_mlid_and_opt_keep_their_promises() {
    for (id, least) in [("dmodk", 7), ("mlid", 7), ("opt", 3)] {
        let trees = of_registry(id, true, fabrics());
        println!("{id}: {trees} trees");
        assert!(trees * 10 > fabrics() * least, "{id}: {trees}");
    }
}

/// Says that an engine keeps its promises while its answers are changed on the way; gives what is found.
fn tampered(
    id: &'static str,
    trees: bool,
    tamper: impl Fn(&Problem<'_>, &mut EngineAnswer) + Sync,
) -> String {
    let promise = ENGINES.iter().find(|engine| engine.id == id).unwrap().guarantees;
    let route = |problem: &Problem<'_>, request: &Request| {
        let mut answer = route_as(id, problem, request)?;
        tamper(problem, &mut answer);
        Ok(answer)
    };
    prove(Claim { id, promise, route: &route }, trees, 60).unwrap_err()
}

/// Switches of the case that is shown.
fn size(found: &str) -> usize {
    found.lines().filter(|line| line.starts_with("Switch")).count()
}

#[test]
fn a_route_that_is_left_out_is_found_and_its_case_is_small() {
    for (id, trees, word) in [("updn", false, "lost"), ("nue", false, "lost"), ("ftree", true, "left out")] {
        let found = tampered(id, trees, |problem, answer| {
            let to = problem.switches().last().and_then(|last| problem.destinations_behind(last).first());
            if let Some(end) = to.filter(|_| problem.graph.switch_count() > 2) {
                answer.routes.set(0, end.lid, None);
            }
        });
        assert!(found.contains(word) && size(&found) == 3, "{found}");
    }
}

#[test]
fn cycles_loops_and_detours_are_found() {
    let found = tampered("dfsssp", false, |_, answer| answer.routes.lanes = PathLanes::One);
    assert!(found.contains("Cycle") && size(&found) <= 5, "{found}");
    // The first two neighbours send everything that is for others to each other.
    let found = tampered("minhop", false, |problem, answer| {
        let Some(there) = problem.graph.channels().first() else { return };
        let others = problem.switches().filter(|switch| ![there.from, there.to].contains(switch));
        for end in others.flat_map(|switch| problem.destinations_behind(switch)) {
            answer.routes.set(there.from, end.lid, Some(there.from_port));
            answer.routes.set(there.to, end.lid, Some(there.to_port));
        }
    });
    assert!(found.contains("loops") && size(&found) == 3, "{found}");
    let found = tampered("sssp", false, |problem, answer| {
        answer.routes = route_as("updn", problem, &Request::default()).unwrap().routes;
    });
    assert!(found.contains("stretch") && size(&found) <= 7, "{found}");
}

#[test]
fn lanes_too_many_and_refusals_without_reason_are_found() {
    let promise = ENGINES.iter().find(|engine| engine.id == "nue").unwrap().guarantees;
    let route = |problem: &Problem<'_>, request: &Request| {
        route_as("nue", problem, &Request { lanes: request.lanes + 1, ..request.clone() })
    };
    let found = prove(Claim { id: "nue", promise, route: &route }, false, 60).unwrap_err();
    assert!(found.contains("lanes ["), "{found}");
    for (id, word) in [("sftree", "ftree serves it"), ("ftree", "missed")] {
        let why = "it is not a tree, says 0x1".to_owned();
        let route = |_: &Problem<'_>, _: &Request| Err(EngineRefusal::Unfit { engine: id, why: why.clone() });
        let found = prove(Claim { id, promise, route: &route }, true, 60).unwrap_err();
        assert!(found.contains(word) || found.contains("a whole tree"), "{found}");
    }
    let refused = EngineRefusal::Lanes { engine: "dfsssp", needed: 0, given: 8 };
    let route = |_: &Problem<'_>, _: &Request| Err(refused.clone());
    let found = prove(Claim { id: "dfsssp", promise, route: &route }, false, 60).unwrap_err();
    assert!(found.contains("FD-8002"), "{found}");
}

/// docs/engines.md says of each engine what the registry promises.
#[test]
fn the_table_of_promises_is_that_of_the_registry() {
    let path = std::path::Path::new(env!("FABDECK_ROOT")).join("docs/engines.md");
    let text = std::fs::read_to_string(path).unwrap();
    for engine in ENGINES.iter().chain(NAMED_ENGINES) {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{}` |", engine.id))).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (all, yes) = (|yes| if yes { "all" } else { "some" }, |yes| if yes { "yes" } else { "no" });
        let promise = engine.guarantees;
        assert_eq!(promise.deadlock_free, promise.deadlock_free_switches, "{}", engine.id);
        let told = [
            all(promise.terminals),
            all(promise.switches),
            yes(promise.deadlock_free),
            yes(promise.shortest),
        ];
        assert_eq!(cells[4..8], told, "{row}");
        let RequestUse { roots, compute_nodes, io_nodes, jobs, dimension_ports, tables, .. } = engine.uses;
        let lists = [
            (roots, "roots"),
            (compute_nodes, "compute"),
            (io_nodes, "I/O"),
            (jobs, "jobs"),
            (dimension_ports, "dimension ports"),
            (tables, "tables"),
        ];
        let lists: Vec<&str> = lists.into_iter().filter(|(used, _)| *used).map(|(_, list)| list).collect();
        let lists = if lists.is_empty() { "none".to_owned() } else { lists.join(", ") };
        assert_eq!(cells[8], lists, "{row}");
    }
}
