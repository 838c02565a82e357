//! The credit loop of dFtree (figure 1 of the paper) on a simulated fabric that carries packets: counters are swept twice, who moves is
//! proposed and planned, the plan is read back from its text and applied under a guard, and hosts hear of it. Nothing is set by hand,
//! and what flows carry is what their adapters count.

use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::lanes::migrations::{migration_plan, moved_flows};
use fabdeck::operations::lanes::slow_lanes::{LaneState, lane_state};
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::watch::interval_verdict::IntervalVerdict;
use fabdeck_change::{
    BeginRecord, ChangePhase, ChangeState, DirectDriver, Guard, GuardAnswer, GuardMemory, GuardMode,
    GuardRequest, Journal, JournalRecord, MemoryDisk, Migration, Plan, QueuedRequest, UNREACHABLE_TIMEOUT,
    find_defects,
};
use fabdeck_fabric::counters::{Rates, Thresholds, rates_of_sweeps};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{
    Arbitration, Fabric, Guid, Lane, Lid, PortId, PortNum, Routes, ServiceLevel, Sl2Vl, Tables, VlWeight,
};
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator, LiveSource};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{
    Actuator, Clock, DeviceAttribute, DevicePort, LevelReadOptions, LevelReadOutcome, MadPort, NoObserver,
    ReadObserver, ReadOptions, Source, SourceError, Surveyor, WriteError, WriteToken,
};
use fabdeck_routing::lanes::{FlowMoves, propose_moves};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

/// Bytes of a packet: its payload, and what ports count of it.
const PAYLOAD: f64 = 2048.0;
const COUNTED: f64 = 2072.0;
/// A question moves packets no further than some work allows: steps are so short that it allows them.
const STEP: Duration = Duration::from_millis(50);

/// Forwarding tables of these routes, every level on lane 0, and no other lane with a turn: slow lanes have to be written.
pub fn on_one_lane(fabric: &Fabric, routes: &Routes) -> Tables {
    let turn = |weight| VlWeight { lane: Lane::new(0).unwrap(), weight };
    let low = [turn(64)].into_iter().chain(vec![turn(0); 7]).collect();
    let turns = Arbitration { high_limit: 3, high: vec![turn(0); 8], low };
    let mut tables = Tables::default();
    for (id, node) in fabric.nodes() {
        let cabled = fabric.ports_of(id).filter(|(_, port)| port.peer.is_some());
        let cabled: Vec<PortNum> = cabled.map(|(_, port)| port.number).collect();
        let held = tables.node_mut(id);
        held.lft = node.is_switch().then(|| routes.lft(id.0));
        for to in &cabled {
            let others = cabled.iter().filter(|from| *from != to && node.is_switch());
            for from in others.copied().chain([PortNum(0)]) {
                held.sl2vl.insert((from, *to), Sl2Vl::default());
            }
            held.arbitration.insert(*to, turns.clone());
        }
    }
    tables
}

/// What two sweeps saw.
pub struct SweptPair {
    source: LiveSource,
    pub look: Snapshot,
    pub rates: Rates,
    pub watched: IntervalVerdict,
}

impl SweptPair {
    /// Payload that an adapter sent, in Mb/s.
    pub fn mbps(&self, port: PortId) -> f64 {
        self.rates.port(port).and_then(|rates| rates.bandwidth()).unwrap() * PAYLOAD / COUNTED * 8.0 / 1e6
    }

    /// The same of what it took in.
    pub fn taken_mbps(&self, port: PortId) -> f64 {
        self.rates.port(port).and_then(|rates| rates.receive_bandwidth()).unwrap() * PAYLOAD / COUNTED * 8.0
            / 1e6
    }
}

/// A proposal, and how things stand under it.
pub struct ProposedMoves {
    pub moves: FlowMoves,
    pub plan: Option<Plan>,
    pub state: LaneState,
}

pub struct CreditLoopLab {
    pub simulator: SharedSimulator,
    /// Flows of changes that stand, the oldest first.
    pub in_force: Vec<Migration>,
    pub thresholds: Thresholds,
    /// When hosts were told last, and when all that were waited for had answered.
    pub told: Option<(Duration, Duration)>,
    changes: u64,
}

impl CreditLoopLab {
    pub fn of(world: SimulatedFabric) -> Self {
        Self::over(SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1)))
    }

    /// Beside whoever else is at it.
    pub fn over(simulator: SharedSimulator) -> Self {
        Self { simulator, in_force: Vec::new(), thresholds: Thresholds::default(), told: None, changes: 0 }
    }

    pub fn now(&self) -> Duration {
        self.simulator.open_port(None).unwrap().now()
    }

    /// Lets time pass and packets move.
    pub fn pass(&self, until: Duration) {
        let mut port = self.simulator.open_port(None).unwrap();
        while port.now() < until {
            let next = until.min(port.now() + STEP);
            assert!(port.receive(next).unwrap().is_none());
            self.simulator.with_simulator(|simulator| _ = simulator.fabric_mut());
        }
    }

    /// A look with all tables.
    pub fn look(&self) -> (LiveSource, Snapshot) {
        let port = self.simulator.open_port(None).unwrap();
        let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
        let wanted = ReadOptions { tables: true, lanes: true, ..ReadOptions::default() };
        let observation = source.observe(wanted, &mut NoObserver).unwrap();
        (source, Snapshot::new("sim", observation, &Default::default()))
    }

    /// Sweeps at two moments, in seconds, or as soon as the look is there.
    pub fn watch(&self, from: f64, seconds: f64) -> SweptPair {
        let (mut source, mut look) = self.look();
        self.pass(Duration::from_secs_f64(from));
        let before = source.sweep(&mut look.observation, Duration::ZERO, &mut NoObserver).unwrap();
        let until = before.began + Duration::from_secs_f64(seconds);
        self.pass(until);
        let after = source.sweep(&mut look.observation, until, &mut NoObserver).unwrap();
        let rates = rates_of_sweeps(look.fabric(), &before, &after);
        let rates = rates.with_ticks(look.fabric(), &look.observation.ticks);
        let seconds = (after.began - before.began).as_secs_f64();
        let since = rates.clone().with_min_hour();
        let watched = IntervalVerdict::new(&look, &rates, seconds, &since, &self.thresholds);
        SweptPair { source, look, rates, watched }
    }

    /// The same from now on, once things have settled.
    pub fn watch_settled(&self) -> SweptPair {
        self.watch(self.now().as_secs_f64() + 1.0, 2.0)
    }

    /// What the verdict comes to, with levels by path records and agents by subscriptions; a plan as it is read from its file.
    pub fn propose(&self, seen: &mut SweptPair) -> ProposedMoves {
        let SweptPair { source, look, watched, .. } = seen;
        let read = source
            .read_levels(&mut look.observation, None, LevelReadOptions::default(), &mut NoObserver)
            .unwrap();
        let LevelReadOutcome::Read(read) = read else { panic!("{read:?}") };
        let sent = LevelsInForce::Records { levels: &read.levels, every: read.every };
        let in_force = moved_flows(look.fabric(), &self.in_force);
        let moves = propose_moves(look.fabric(), &watched.verdict, &watched.told, &in_force);
        let hosts: Vec<Lid> = moves.affected_hosts(look.fabric()).into_iter().collect();
        let agents = source.find_agents(&hosts).unwrap();
        let agents: Vec<(Lid, Option<bool>)> = hosts.into_iter().zip(agents).collect();
        let state = lane_state(look, &moves, &agents, sent);
        let plan = moves
            .has_moves()
            .then(|| migration_plan(look, &moves, &agents, sent, PlanOrigin::default()).unwrap());
        let plan = plan.map(|plan| Plan::read(&plan.text().unwrap()).unwrap());
        ProposedMoves { moves, plan, state }
    }

    /// Applies a plan under a guard; once it stands somebody looks, and then says what becomes of it.
    pub fn apply(&mut self, plan: &Plan, becomes: GuardRequest, look: impl FnOnce()) -> ChangeState {
        self.changes += 1;
        let (_, seen) = self.look();
        let begun = BeginRecord {
            id: format!("{:08}", self.changes),
            number: self.changes,
            user: "ada".into(),
            plan: plan.hash.clone(),
            window_s: 60,
            lost_before: find_defects(seen.fabric(), &seen.observation.tables, plan).pairs,
            switches: seen.fabric().switches().map(|(_, node)| node.guid().to_string()).collect(),
            migrations: plan.migrations.clone(),
            writes: plan.writes.clone(),
            ..BeginRecord::default()
        };
        let (sender, orders) = channel();
        let simulator = self.simulator.clone();
        let keep = move || {
            let mut hands = TimedActuator::of(&simulator);
            let record = JournalRecord::Begun(Box::new(begun));
            let mut journal = Journal::on_empty_disk("journal", Box::new(MemoryDisk));
            journal.append_durably(&record).unwrap();
            let guard = Guard {
                plan,
                journal,
                state: ChangeState::from_records(&[record]).unwrap(),
                home: None,
                driver: &mut DirectDriver(&mut hands),
                orders: &orders,
                clock: &fabdeck_change::SystemClocks,
                log: &mut |_| {},
                patience: UNREACHABLE_TIMEOUT,
                trouble: None,
                stop: &|| false,
                tend_second: &|| {},
                memory: GuardMemory::default(),
            };
            (guard.run(GuardMode::Apply), hands.told)
        };
        let (told, heard) = std::thread::scope(|scope| {
            let guard = scope.spawn(keep);
            if is_applied(&sender) {
                look();
                send_ask(&sender, becomes);
            }
            guard.join().unwrap()
        });
        self.told = heard.or(self.told);
        if told.phase == ChangePhase::Confirmed {
            self.in_force.extend(plan.migrations.iter().cloned());
        }
        told
    }

    /// The service level on which a host sends to a LID.
    pub fn level(&self, from: Lid, to: Lid) -> u8 {
        self.simulator.with_simulator(|simulator| {
            let world = simulator.fabric();
            let port = world.snapshot().port(world.snapshot().port_by_lid(from).unwrap());
            let flows = world.flows_at(port.node, port.number);
            flows.iter().find(|(lid, _)| *lid == to.value()).unwrap().1
        })
    }

    /// What stands at the places that a plan writes.
    pub fn lane_tables(&self, plan: &Plan) -> Vec<Vec<u8>> {
        let mut hands = TimedActuator::of(&self.simulator);
        hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
        let slots: Vec<DeviceAttribute> =
            plan.writes.iter().map(|write| write.to_step().unwrap().slot).collect();
        hands.read(&slots).into_iter().map(Result::unwrap).collect()
    }
}

fn send_ask(orders: &Sender<QueuedRequest>, ask: GuardRequest) -> Option<GuardAnswer> {
    let (reply, answer) = channel();
    orders.send(QueuedRequest { ask, reply }).ok()?;
    answer.recv().ok()
}

/// Waits until a change stands in its window; false when it never will.
fn is_applied(orders: &Sender<QueuedRequest>) -> bool {
    loop {
        match send_ask(orders, GuardRequest::Status) {
            Some(GuardAnswer::Status(status)) if status.phase == ChangePhase::Applied => return true,
            None => return false,
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// An actuator that looks at the clock when it tells hosts.
struct TimedActuator {
    inner: LiveActuator,
    simulator: SharedSimulator,
    told: Option<(Duration, Duration)>,
}

impl TimedActuator {
    fn of(simulator: &SharedSimulator) -> Self {
        let port = simulator.open_port(None).unwrap().unlock(&WriteToken::for_simulation()).unwrap();
        let inner = LiveActuator::new("sim", port, ExchangePolicy::default(), Keys::default());
        Self { inner, simulator: simulator.clone(), told: None }
    }
}

impl Surveyor for TimedActuator {
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

    fn read_levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.inner.read_levels(pairs)
    }
}

impl Actuator for TimedActuator {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.inner.write(slot, bytes)
    }

    fn notify(&mut self, told: &[PathNotice], whom: &[Lid], most: Duration) -> Result<Vec<Lid>, WriteError> {
        let now = |simulator: &SharedSimulator| simulator.open_port(None).unwrap().now();
        let before = now(&self.simulator);
        let answered = self.inner.notify(told, whom, most);
        self.told = Some((before, now(&self.simulator)));
        answered
    }
}
