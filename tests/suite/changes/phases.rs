//! Updates in five phases over a simulated fabric with traffic: what packets see of them, and what becomes of hosts that do
//! not follow.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::window::confirm_when_applied;
use super::{Stage, actuator, fabric, observe_simulator, observe_simulator_whole, order_channel};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::phases::{HalfPlanRequest, LidHalf, PhasedAgent};
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::preview::whatif::{ProposalOptions, propose};
use fabdeck_change::{ChangePhase, ChangeState, HostNotification, Plan, SilentHostAction};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Faults, Guid, Lid, NodeId, PortNum, Tables};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{
    Actuator, Clock, DeviceAttribute, DevicePort, ReadObserver, ReadOptions, SourceError, Surveyor,
    WriteError,
};
use fabdeck_routing::{NoProgress, Problem, Request};
use fabdeck_simulator::traffic::{FlowOrder, TrafficLoad, TrafficPattern, TrafficSettings};
use fabdeck_simulator::{CarriedTraffic, LineFaults, SharedSimulator, SimulatedFabric, Simulator, TimeRatio};

/// Between two writes, so that packets meet what stands there then.
const BETWEEN: Duration = Duration::from_micros(400);

/// Sixteen hosts on a torus that send in a permutation, under up*/down* for base LIDs and for high ones.
pub fn lab(seed: u64) -> SharedSimulator {
    let fabric = fabric("torus,dims=4x4,hosts=16").with_lmc(fabdeck_fabric::Lmc::new(1).unwrap());
    let mut world = SimulatedFabric::new(&fabric, &tables(&fabric, "updn")).unwrap();
    let settings = TrafficSettings { seed, ..TrafficSettings::default() };
    let load = TrafficLoad { pattern: TrafficPattern::Permutation, settings };
    let (ratio, begins) = (TimeRatio::new(10).unwrap(), Duration::ZERO);
    world.start_traffic(CarriedTraffic { load, ratio, begins, scenes: Vec::new() }).unwrap();
    SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1))
}

pub fn with_agents(seed: u64) -> SharedSimulator {
    let simulator = lab(seed);
    simulator.with_simulator(|simulator| simulator.fabric_mut().add_agents());
    simulator
}

fn tables(fabric: &Fabric, engine: &str) -> Tables {
    let faults = Faults::new();
    let problem = Problem::new(fabric, &faults);
    let request = Request { lanes: 1, ..Request::default() };
    let routes = (fabdeck_routing::find_engine(engine).unwrap().route)(&problem, &request, &NoProgress)
        .unwrap()
        .routes;
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    tables
}

/// A plan of an engine on one lane: for base LIDs in phases, or plain for all LIDs.
pub fn plan(simulator: &SharedSimulator, engine: &str, phased: bool) -> Plan {
    let look = Snapshot::new("sim", observe_simulator_whole(simulator), &Default::default());
    let request = Request { lanes: 1, ..Request::default() };
    let engine = fabdeck_routing::find_engine(engine).unwrap();
    let (faults, sent) = (Faults::new(), LevelsInForce::One);
    let asked = ProposalOptions { request: &request, switches: false, sent };
    let proposal = propose(&look, &look.observation.tables, &faults, engine, asked, &NoProgress).unwrap();
    let agents: Vec<PhasedAgent> = fabdeck::operations::plans::phases::leaving_lids(&look, &faults)
        .unwrap()
        .into_iter()
        .map(|lid| PhasedAgent { lid, subscribed: Some(true) })
        .collect();
    let made = PlanOrigin::default();
    let request = HalfPlanRequest {
        look: &look,
        faults: &faults,
        engine: engine.id,
        half: LidHalf::Base,
        agents: &agents,
        sent,
    };
    let mut plan = request.plan(&proposal, made, &NoProgress).unwrap().plan;
    if !phased {
        plan.phases = None;
    }
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// What was seen of the fabric behind each write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateAfterWrite {
    /// Flows to base LIDs that are under way.
    pub at_base: usize,
    pub credit_loop: bool,
}

/// Writes like anybody, and looks at tables and flows behind each write.
pub struct ObservingActuator {
    inner: fabdeck_live::LiveActuator,
    simulator: SharedSimulator,
    pub behind: Vec<StateAfterWrite>,
    pub notices: Vec<(usize, PathNotice)>,
    /// An agent that begins with the notice of this number.
    late: Option<(usize, String)>,
    /// A host whose cable breaks once all have answered.
    breaks: Option<NodeId>,
    /// Things that are done before the process is killed.
    pub lives: Option<usize>,
}

impl ObservingActuator {
    pub fn new(simulator: &SharedSimulator) -> Self {
        Self {
            inner: actuator(simulator),
            simulator: simulator.clone(),
            behind: Vec::new(),
            notices: Vec::new(),
            late: None,
            breaks: None,
            lives: None,
        }
    }

    /// Something is about to be done, or was.
    fn count_moment(&mut self) {
        if let Some(lives) = &mut self.lives {
            match lives.checked_sub(1) {
                Some(left) => *lives = left,
                None => std::panic::resume_unwind(Box::new(super::KilledProcess)),
            }
        }
    }
}

/// Time goes by, and packets move.
pub fn pass(simulator: &SharedSimulator, time: Duration) {
    let port = simulator.open_port(None).unwrap();
    let until = port.now() + time;
    simulator.with_simulator(|simulator| {
        while simulator.deliver(until).is_some() {}
        simulator.fabric_mut();
    });
}

/// The flows of each host: LID and level.
pub fn flows(simulator: &SharedSimulator) -> Vec<(NodeId, Vec<(u16, u8)>)> {
    simulator.with_simulator(|simulator| {
        let world = simulator.fabric_mut();
        let hosts: Vec<NodeId> =
            world.snapshot().nodes().filter(|(_, node)| !node.is_switch()).map(|(id, _)| id).collect();
        hosts.into_iter().map(|host| (host, world.flows_at(host, PortNum(1)))).collect()
    })
}

/// The node of a port `node[1]`.
fn called(port: &str) -> String {
    port.split('[').next().unwrap().to_owned()
}

pub fn is_high(lid: u16) -> bool {
    lid % 2 == 1
}

/// A port of a switch that packets leave by, and their lane.
type Channel = (u32, u8, u8);

/// Whether packets of these flows can wait for each other: channels with their lanes, followed by hand.
fn closes_cycle(look: &Observation, flows: &[(NodeId, Vec<(u16, u8)>)]) -> bool {
    let fabric = &look.fabric;
    let mut waits: BTreeMap<Channel, BTreeSet<Channel>> = BTreeMap::new();
    for (host, to) in flows {
        for (lid, level) in to {
            let mut at = fabric.peer(fabric.port_of(*host, PortNum(1)).unwrap()).unwrap();
            let mut before = None;
            for _ in 0..fabric.switches().count() + 1 {
                let switch = fabric.port(at).node;
                if !fabric.node(switch).is_switch() {
                    break;
                }
                let out = look.tables.lft(switch).unwrap().get(Lid::new((*lid).into()).unwrap()).unwrap();
                let channel = (switch.0, out.value(), *level);
                waits.entry(channel).or_default();
                before.into_iter().for_each(|before| _ = waits.get_mut(&before).unwrap().insert(channel));
                before = Some(channel);
                at = fabric.peer(fabric.port_of(switch, out).unwrap()).unwrap();
            }
        }
    }
    // Channels that wait for none are removed until none is left, or a cycle is.
    loop {
        let free: Vec<_> =
            waits.iter().filter(|(_, for_whom)| for_whom.is_empty()).map(|(at, _)| *at).collect();
        if free.is_empty() {
            return !waits.is_empty();
        }
        free.iter().for_each(|at| _ = waits.remove(at));
        waits.values_mut().for_each(|for_whom| for_whom.retain(|at| !free.contains(at)));
    }
}

impl Surveyor for ObservingActuator {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.inner.read_fabric(wanted, watch)
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.inner.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.inner.read(slots)
    }
}

impl Actuator for ObservingActuator {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.count_moment();
        let written = self.inner.write(slot, bytes);
        pass(&self.simulator, BETWEEN);
        let flows = flows(&self.simulator);
        let at_base = flows.iter().flat_map(|(_, to)| to).filter(|(lid, _)| !is_high(*lid)).count();
        let credit_loop = closes_cycle(&observe_simulator(&self.simulator), &flows);
        self.behind.push(StateAfterWrite { at_base, credit_loop });
        self.count_moment();
        written
    }

    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.count_moment();
        if let Some((_, host)) = self.late.take_if(|(at, _)| *at == self.notices.len()) {
            self.simulator.with_simulator(|simulator| assert!(simulator.fabric_mut().add_agent(&host)));
        }
        let writes = self.behind.len();
        self.notices.extend(notices.iter().map(|notice| (writes, notice.clone())));
        let answered = self.inner.notify(notices, whom, patience);
        let all = answered.as_ref().is_ok_and(|answered| answered.len() == whom.len());
        if let Some(host) = self.breaks.take_if(|_| all) {
            self.simulator
                .with_simulator(|simulator| simulator.fabric_mut().set_link(host, PortNum(1), false));
        }
        pass(&self.simulator, BETWEEN);
        self.count_moment();
        answered
    }
}

/// The outcome of a change that is confirmed as soon as it can be.
struct ChangeRun {
    told: ChangeState,
    hands: ObservingActuator,
    said: Vec<String>,
    order: Vec<FlowOrder>,
}

impl ChangeRun {
    /// Packets that were lost or overtaken.
    fn out_of_order(&self) -> u64 {
        self.order.iter().map(|order| order.overtaken + order.lost).sum()
    }
}

fn run_change(simulator: &SharedSimulator, plan: &Plan, unanswered: SilentHostAction) -> ChangeRun {
    run_change_with(ObservingActuator::new(simulator), plan, unanswered)
}

fn run_change_with(mut hands: ObservingActuator, plan: &Plan, unanswered: SilentHostAction) -> ChangeRun {
    let simulator = &hands.simulator.clone();
    let mut stage = Stage::new(simulator, plan);
    stage.unanswered = unanswered;
    let (sender, orders) = order_channel();
    let confirming = confirm_when_applied(sender);
    let mut said = Vec::new();
    pass(simulator, Duration::from_millis(2));
    let now = &fabdeck_change::SystemClocks;
    let told = stage.apply_with(&mut hands, 60, &orders, now, &mut |line| said.push(line.to_owned()));
    drop(orders);
    confirming.join().unwrap();
    pass(simulator, Duration::from_millis(2));
    let order = simulator.with_simulator(|simulator| simulator.fabric_mut().flow_orders());
    ChangeRun { told, hands, said, order }
}

#[test]
fn packets_see_nothing_of_five_phases_and_no_intermediate_state_has_a_credit_loop() {
    let simulator = with_agents(7);
    let plan = plan(&simulator, "nue", true);
    assert!(plan.findings.is_empty(), "{:?}", plan.findings);
    let phases = plan.phases.as_ref().unwrap();
    assert_eq!((phases.hosts.len(), phases.high_level), (16, 1));
    let before = observe_simulator(&simulator).tables;
    let came = run_change(&simulator, &plan, SilentHostAction::Stop);
    assert_eq!(
        (came.told.phase, came.told.hosts),
        (ChangePhase::Confirmed, HostNotification::Recalled),
        "{:?}",
        came.said
    );
    let writes = plan.writes.len();
    assert_eq!(came.hands.behind, vec![StateAfterWrite { at_base: 0, credit_loop: false }; writes]);
    let notices: Vec<_> = came.hands.notices.iter().map(|(at, notice)| (*at, notice.back)).collect();
    assert_eq!(notices, [(0, false), (writes, true)]);
    assert!(came.order.iter().all(|order| order.arrived > 500), "{:?}", came.order);
    assert_eq!(came.out_of_order(), 0, "{:?}", came.order);
    // All of them are back, on what the plan leads to, and high LIDs lead where they did.
    assert!(
        flows(&simulator).iter().flat_map(|(_, to)| to).all(|(lid, level)| !is_high(*lid) && *level == 0)
    );
    let after = observe_simulator(&simulator);
    assert!(after.tables != before);
    for (id, _) in after.fabric.switches() {
        let [held, now] = [&before, &after.tables].map(|tables| tables.lft(id).unwrap());
        let high = (1..120).filter(|lid| is_high(*lid)).filter_map(|lid| Lid::new(lid.into()));
        let owned = high.filter(|lid| {
            after
                .fabric
                .port_by_lid(*lid)
                .is_some_and(|at| !after.fabric.node(after.fabric.port(at).node).is_switch())
        });
        owned.for_each(|lid| assert_eq!(held.get(lid), now.get(lid)));
    }
}

/// The same tables, plainly: what is looked for above would be seen.
#[test]
fn the_same_update_without_phases_is_seen_by_packets() {
    let simulator = with_agents(7);
    let phased = plan(&simulator, "nue", true);
    let came = run_change(
        &simulator,
        &Plan { phases: None, ..plan(&simulator, "nue", false) },
        SilentHostAction::Stop,
    );
    assert_eq!(came.told.phase, ChangePhase::Confirmed);
    assert_eq!(came.hands.behind.len(), phased.writes.len());
    assert!(came.hands.behind.iter().all(|behind| behind.at_base > 0));
    assert!(came.out_of_order() > 0, "{:?}", came.order);
}

/// Hosts without an agent stay, are named, and nothing is written; hosts that left return.
#[test]
fn a_host_that_does_not_answer_stops_it_before_the_first_write() {
    let simulator = lab(7);
    let plan = plan(&simulator, "nue", true);
    let names: Vec<String> =
        plan.phases.as_ref().unwrap().hosts.iter().map(|host| called(&host.port.name)).collect();
    simulator.with_simulator(|simulator| {
        names.iter().skip(1).for_each(|name| assert!(simulator.fabric_mut().add_agent(name), "{name}"));
    });
    let before = observe_simulator(&simulator).tables;
    let came = run_change(&simulator, &plan, SilentHostAction::Stop);
    assert_eq!((came.told.phase, came.hands.behind.len()), (ChangePhase::Refused, 0));
    let why = came.told.why.clone().unwrap();
    assert!(why.contains("FD-5661") && why.contains(&names[0]) && !why.contains(&names[1]), "{why}");
    assert_eq!(came.told.silent.iter().map(|name| called(name)).collect::<Vec<_>>(), names[..1]);
    assert!(observe_simulator(&simulator).tables == before);
    assert!(flows(&simulator).iter().flat_map(|(_, to)| to).all(|(lid, _)| !is_high(*lid)));
    assert_eq!(came.out_of_order(), 0);
}

/// Going on is for plans that are safe without phases, and this one is not.
#[test]
fn going_on_without_hosts_takes_a_plan_that_is_safe_without_phases() {
    let simulator = with_agents(7);
    let mut plan = plan(&simulator, "nue", true);
    for safe in [Some(false), None, Some(true)] {
        plan.phases.as_mut().unwrap().safe_without = safe;
        let plan = Plan::read(&plan.text().unwrap()).unwrap();
        let mute = Lid::new(plan.phases.as_ref().unwrap().hosts[3].port.lid.into()).unwrap();
        let mut stage = Stage::new(&simulator, &plan);
        stage.unanswered = SilentHostAction::GoOn;
        stage.listeners.lock().unwrap().mute.insert(mute);
        let (sender, orders) = order_channel();
        let confirming = confirm_when_applied(sender);
        let told = stage.apply(60, &orders).unwrap();
        drop(orders);
        confirming.join().unwrap();
        let sets = stage.witness.course().sets.len();
        match safe {
            Some(true) => assert_eq!((told.phase, sets), (ChangePhase::Confirmed, plan.writes.len())),
            _ => {
                assert_eq!((told.phase, sets), (ChangePhase::Refused, 0));
                assert!(told.why.as_ref().unwrap().contains("FD-5662"), "{told:?}");
            }
        }
        assert!(told.silent.contains(&plan.phases.as_ref().unwrap().hosts[3].port.name));
    }
}

/// Who is slow is waited for, and asked again; nothing is written before.
#[test]
fn a_host_that_is_slow_is_waited_for() {
    let simulator = lab(7);
    let plan = plan(&simulator, "nue", true);
    let names: Vec<String> =
        plan.phases.as_ref().unwrap().hosts.iter().map(|host| called(&host.port.name)).collect();
    simulator.with_simulator(|simulator| {
        names.iter().skip(1).for_each(|name| assert!(simulator.fabric_mut().add_agent(name), "{name}"));
    });
    let mut hands = ObservingActuator::new(&simulator);
    hands.late = Some((2, names[0].clone()));
    let came = run_change_with(hands, &plan, SilentHostAction::Wait);
    assert_eq!(came.told.phase, ChangePhase::Confirmed, "{:?}", came.said);
    let writes = plan.writes.len();
    let notices: Vec<_> = came.hands.notices.iter().map(|(at, notice)| (*at, notice.back)).collect();
    assert_eq!(notices, [(0, false), (0, false), (0, false), (writes, true)]);
    assert_eq!(came.hands.behind, vec![StateAfterWrite { at_base: 0, credit_loop: false }; writes]);
    assert_eq!(came.out_of_order(), 0);
    let waits =
        came.said.iter().filter(|line| line.contains("phase 2 of 5: 15 agents answered, 1 did not")).count();
    // Notified once, whatever the number of retries.
    assert_eq!(waits, 1, "{:?}", came.said);
}

/// The fabric may be another one once all have left.
#[test]
fn what_no_longer_fits_after_a_wait_is_not_written() {
    let simulator = lab(7);
    let plan = plan(&simulator, "nue", true);
    let names: Vec<String> =
        plan.phases.as_ref().unwrap().hosts.iter().map(|host| called(&host.port.name)).collect();
    simulator.with_simulator(|simulator| {
        names.iter().skip(1).for_each(|name| assert!(simulator.fabric_mut().add_agent(name), "{name}"));
    });
    let mut hands = ObservingActuator::new(&simulator);
    hands.late = Some((1, names[0].clone()));
    hands.breaks = simulator.with_simulator(|simulator| {
        let fabric = simulator.fabric_mut().snapshot();
        fabric.nodes().filter(|(_, node)| !node.is_switch()).map(|(id, _)| id).last()
    });
    let came = run_change_with(hands, &plan, SilentHostAction::Wait);
    assert_eq!(came.hands.behind, []);
    assert!(came.told.why.as_ref().unwrap().contains("FD-5625"), "{:?}", came.told.why);
    assert!(!came.told.phase.is_pending(), "{:?}", came.told.phase);
    println!("said: {:?}, {:?}", came.told.phase, came.told.why);
}

/// Who lies is believed: its flows alone meet the tables that change.
#[test]
fn a_host_that_lies_is_believed_and_its_own_flows_pay() {
    let simulator = with_agents(7);
    let plan = plan(&simulator, "nue", true);
    let host = &called(&plan.phases.as_ref().unwrap().hosts[5].port.name);
    simulator.with_simulator(|simulator| assert!(simulator.fabric_mut().corrupt_agent(host)));
    let came = run_change(&simulator, &plan, SilentHostAction::Stop);
    assert_eq!(came.told.phase, ChangePhase::Confirmed);
    assert!(came.hands.behind.iter().all(|behind| behind.at_base == 1), "{:?}", came.hands.behind);
    let touched = came.order.iter().filter(|order| order.overtaken + order.lost > 0).count();
    assert!(touched <= 1, "{:?}", came.order);
}

/// That no credit loop was found above is worth something: shortest paths between all hosts of a torus have one.
#[test]
fn an_existing_credit_loop_is_found() {
    let fabric = fabric("torus,dims=5x5,hosts=25,redundancy=1");
    let found = |engine: &str| {
        let world = SimulatedFabric::new(&fabric, &tables(&fabric, engine)).unwrap();
        let look = observe_simulator(&SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1)));
        let ends = look.fabric.ports().filter(|(_, port)| !look.fabric.node(port.node).is_switch());
        let ends: Vec<(NodeId, u16)> =
            ends.filter_map(|(_, port)| Some((port.node, port.facts.lid?.value()))).collect();
        let to_others = |from: NodeId| {
            let others = ends.iter().filter(move |(to, _)| *to != from);
            others.map(|(_, lid)| (*lid, 0)).collect()
        };
        let flows: Vec<_> = ends.iter().map(|(from, _)| (*from, to_others(*from))).collect();
        closes_cycle(&look, &flows)
    };
    assert_eq!((found("minhop"), found("updn")), (true, false));
}
