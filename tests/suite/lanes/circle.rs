//! The circle of dFtree (figure 1 of the paper) on a simulated fabric that carries packets: counters are swept twice, who moves is
//! proposed and planned, the plan is read back from its text and applied under a guard, and hosts hear of it. Nothing is set by hand,
//! and what flows carry is what their adapters count.

use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fabdeck::session::{LaneState, Look, Made, Sent, Watched, lane_state, migration_plan, moved_by};
use fabdeck_change::{
    Answer, Ask, Begun, Direct, Errand, Guard, Journal, MemoryDisk, Migration, OUT_OF_REACH, Order, Phase,
    Plan, Record, Told, wrong,
};
use fabdeck_fabric::counters::{Rates, Thresholds, rates_of_sweeps};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{
    Arbitration, Fabric, Guid, Lane, Lid, PortId, PortNum, Routes, ServiceLevel, Sl2Vl, Tables, VlWeight,
};
use fabdeck_live::{Keys, LiveActuator, LiveSource, Policy};
use fabdeck_mad::Repath;
use fabdeck_mad::access::{
    Actuator, Clock, DevicePort, LevelsRead, LevelsWanted, MadPort, Slot, Source, SourceError, Surveyor,
    Unwatched, Wanted, Watch, WriteError, WriteToken,
};
use fabdeck_routing::lanes::{Moves, propose};
use fabdeck_simulator::{Line, SimulatedPort, Simulator, World};

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
        let held = tables.entry(id);
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
pub struct Seen {
    source: LiveSource,
    pub look: Look,
    pub rates: Rates,
    pub watched: Watched,
}

impl Seen {
    /// Payload that an adapter sent, in Mb/s.
    pub fn mbps(&self, port: PortId) -> f64 {
        self.rates.of(port).and_then(|rates| rates.bandwidth()).unwrap() * PAYLOAD / COUNTED * 8.0 / 1e6
    }

    /// The same of what it took in.
    pub fn taken_mbps(&self, port: PortId) -> f64 {
        self.rates.of(port).and_then(|rates| rates.intake()).unwrap() * PAYLOAD / COUNTED * 8.0 / 1e6
    }
}

/// A proposal, and how things stand under it.
pub struct Proposed {
    pub moves: Moves,
    pub plan: Option<Plan>,
    pub state: LaneState,
}

pub struct Circle {
    pub simulator: SimulatedPort,
    /// Flows of changes that stand, the oldest first.
    pub in_force: Vec<Migration>,
    pub thresholds: Thresholds,
    /// When hosts were told last, and when all that were waited for had answered.
    pub told: Option<(Duration, Duration)>,
    changes: u64,
}

impl Circle {
    pub fn of(world: World) -> Self {
        Self::over(SimulatedPort::new(Simulator::new(world, Line::default(), 1)))
    }

    /// Beside whoever else is at it.
    pub fn over(simulator: SimulatedPort) -> Self {
        Self { simulator, in_force: Vec::new(), thresholds: Thresholds::default(), told: None, changes: 0 }
    }

    pub fn now(&self) -> Duration {
        self.simulator.open(None).unwrap().now()
    }

    /// Lets time pass and packets move.
    pub fn pass(&self, until: Duration) {
        let mut port = self.simulator.open(None).unwrap();
        while port.now() < until {
            let next = until.min(port.now() + STEP);
            assert!(port.receive(next).unwrap().is_none());
            self.simulator.with(|simulator| _ = simulator.world_mut());
        }
    }

    /// A look with all tables.
    pub fn look(&self) -> (LiveSource, Look) {
        let port = self.simulator.open(None).unwrap();
        let mut source = LiveSource::new("sim", port, Policy::default(), Keys::default());
        let wanted = Wanted { tables: true, lanes: true, ..Wanted::default() };
        let observation = source.observe(wanted, &mut Unwatched).unwrap();
        (source, Look::new("sim", observation, &Default::default()))
    }

    /// Sweeps at two moments, in seconds, or as soon as the look is there.
    pub fn watch(&self, from: f64, seconds: f64) -> Seen {
        let (mut source, mut look) = self.look();
        self.pass(Duration::from_secs_f64(from));
        let before = source.sweep(&mut look.observation, Duration::ZERO, &mut Unwatched).unwrap();
        let until = before.began + Duration::from_secs_f64(seconds);
        self.pass(until);
        let after = source.sweep(&mut look.observation, until, &mut Unwatched).unwrap();
        let rates = rates_of_sweeps(look.fabric(), &before, &after);
        let rates = rates.with_ticks(look.fabric(), &look.observation.ticks);
        let seconds = (after.began - before.began).as_secs_f64();
        let watched = Watched::new(&look, (&rates, seconds), rates.clone(), &self.thresholds);
        Seen { source, look, rates, watched }
    }

    /// The same from now on, once things have settled.
    pub fn watch_settled(&self) -> Seen {
        self.watch(self.now().as_secs_f64() + 1.0, 2.0)
    }

    /// What the verdict comes to, with levels by path records and agents by subscriptions; a plan as it is read from its file.
    pub fn propose(&self, seen: &mut Seen) -> Proposed {
        let Seen { source, look, watched, .. } = seen;
        let read =
            source.read_levels(&mut look.observation, LevelsWanted::default(), &mut Unwatched).unwrap();
        let LevelsRead::Read(read) = read else { panic!("{read:?}") };
        let sent = Sent::Records { levels: &read.levels, every: read.every };
        let in_force = moved_by(look.fabric(), &self.in_force);
        let moves = propose(look.fabric(), &watched.verdict, &watched.told, &in_force);
        let hosts: Vec<Lid> = moves.hosts(look.fabric()).into_iter().collect();
        let agents = source.agents(&hosts).unwrap();
        let agents: Vec<(Lid, Option<bool>)> = hosts.into_iter().zip(agents).collect();
        let state = lane_state(look, &moves, &agents, sent);
        let plan = moves.any().then(|| migration_plan(look, &moves, &agents, sent, Made::default()).unwrap());
        let plan = plan.map(|plan| Plan::read(&plan.text().unwrap()).unwrap());
        Proposed { moves, plan, state }
    }

    /// Applies a plan under a guard; once it stands somebody looks, and then says what becomes of it.
    pub fn apply(&mut self, plan: &Plan, becomes: Ask, look: impl FnOnce()) -> Told {
        self.changes += 1;
        let (_, seen) = self.look();
        let begun = Begun {
            id: format!("{:08}", self.changes),
            number: self.changes,
            user: "ada".into(),
            plan: plan.hash.clone(),
            window_s: 60,
            lost_before: wrong(seen.fabric(), &seen.observation.tables, plan).pairs,
            switches: seen.fabric().switches().map(|(_, node)| node.guid().to_string()).collect(),
            migrations: plan.migrations.clone(),
            writes: plan.writes.clone(),
            ..Begun::default()
        };
        let (sender, orders) = channel();
        let simulator = self.simulator.clone();
        let keep = move || {
            let mut hands = Hands::of(&simulator);
            let record = Record::Begun(Box::new(begun));
            let mut journal = Journal::on("journal", Box::new(MemoryDisk));
            journal.keep(&record).unwrap();
            let guard = Guard {
                plan,
                journal,
                told: Told::of(&[record]).unwrap(),
                home: None,
                driver: &mut Direct(&mut hands),
                orders: &orders,
                clock: &fabdeck_change::SystemClocks,
                say: &mut |_| {},
                patience: OUT_OF_REACH,
                trouble: None,
                stop: &|| false,
            };
            (guard.keep(Errand::Apply), hands.told)
        };
        let (told, heard) = std::thread::scope(|scope| {
            let guard = scope.spawn(keep);
            if stands(&sender) {
                look();
                ask(&sender, becomes);
            }
            guard.join().unwrap()
        });
        self.told = heard.or(self.told);
        if told.phase == Phase::Confirmed {
            self.in_force.extend(plan.migrations.iter().cloned());
        }
        told
    }

    /// The service level on which a host sends to a LID.
    pub fn level(&self, from: Lid, to: Lid) -> u8 {
        self.simulator.with(|simulator| {
            let world = simulator.world();
            let port = world.fabric().port(world.fabric().port_by_lid(from).unwrap());
            let flows = world.flows_at(port.node, port.number);
            flows.iter().find(|(lid, _)| *lid == to.value()).unwrap().1
        })
    }

    /// What stands at the places that a plan writes.
    pub fn held(&self, plan: &Plan) -> Vec<Vec<u8>> {
        let mut hands = Hands::of(&self.simulator);
        hands.look(Wanted::default(), &mut Unwatched).unwrap();
        let slots: Vec<Slot> = plan.writes.iter().map(|write| write.step().unwrap().slot).collect();
        hands.read(&slots).into_iter().map(Result::unwrap).collect()
    }
}

fn ask(orders: &Sender<Order>, ask: Ask) -> Option<Answer> {
    let (reply, answer) = channel();
    orders.send(Order { ask, reply }).ok()?;
    answer.recv().ok()
}

/// Waits until a change stands in its window; false when it never will.
fn stands(orders: &Sender<Order>) -> bool {
    loop {
        match ask(orders, Ask::Status) {
            Some(Answer::Status(status)) if status.phase == Phase::Applied => return true,
            None => return false,
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// An actuator that looks at the clock when it tells hosts.
struct Hands {
    inner: LiveActuator,
    simulator: SimulatedPort,
    told: Option<(Duration, Duration)>,
}

impl Hands {
    fn of(simulator: &SimulatedPort) -> Self {
        let port = simulator.open(None).unwrap().unlock(&WriteToken::simulation()).unwrap();
        let inner = LiveActuator::new("sim", port, Policy::default(), Keys::default());
        Self { inner, simulator: simulator.clone(), told: None }
    }
}

impl Surveyor for Hands {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        self.inner.look(wanted, watch)
    }

    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.inner.keep_off(ports)
    }

    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.inner.read(slots)
    }

    fn levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        self.inner.levels(pairs)
    }
}

impl Actuator for Hands {
    fn write(&mut self, slot: &Slot, bytes: &[u8]) -> Result<(), WriteError> {
        self.inner.write(slot, bytes)
    }

    fn notify(&mut self, told: &[Repath], whom: &[Lid], most: Duration) -> Result<Vec<Lid>, WriteError> {
        let now = |simulator: &SimulatedPort| simulator.open(None).unwrap().now();
        let before = now(&self.simulator);
        let answered = self.inner.notify(told, whom, most);
        self.told = Some((before, now(&self.simulator)));
        answered
    }
}
