//! The state of the simulated fabric: devices, owners of LIDs, the subnet manager.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{
    Arbitration, Fabric, Faults, Guid, Lid, NO_PATH, NameMap, Names, NodeId, PhysicalState, PortId, PortNum,
    PortSet, PortState, Routes, ServiceLevels, Sl2Vl, Tables,
};

use super::background_traffic::{BackgroundTraffic, RatioShortfall, TimeRatio};
use super::device::{AdaptiveProfile, PortRef, SimulatedDevice};
use super::device_builder;
use super::host_agents::HostAgents;
use super::manager_stand_in;
use super::notice_state::NoticeState;
use super::port_speeds::{PortInfoForm, PortStatesForm};
use super::services::RegisteredServices;
use super::simulated_groups::GroupRecords;
use super::story_step::StoryStep;
use super::traffic::{FlowOrder, LevelSelection, NetworkSetup, TrafficError, TrafficLoad, TrafficRun};
use super::wire_profile::WireProfile;

/// Everything that datagrams can read or set.
#[derive(Debug)]
pub struct SimulatedFabric {
    pub(super) devices: Vec<SimulatedDevice>,
    /// The fabric with all LIDs assigned: tables are computed from it.
    pub(super) snapshot: Fabric,
    /// The port of the subnet manager.
    pub(super) manager: PortRef,
    /// Whether the subnet manager runs. Without it requests to it have no answer, and no trap is received.
    manager_runs: bool,
    /// Whether tables are computed. They are computed on first use, because those of a full subnet take 256 MB.
    pub(super) routed: bool,
    /// The 64-bit form of all counters that are not zero.
    pub(super) counters: FxHashMap<PortRef, CounterValues>,
    /// Packets between hosts, which add to the counters.
    pub(super) background_traffic: Option<Box<BackgroundTraffic>>,
    /// Set when forwarding tables were written that the packets do not follow yet. The next field says the same of
    /// SL2VL and arbitration tables.
    pub(super) rewritten: bool,
    /// Whether the groups of adaptive switches fit their linear tables.
    pub(super) grouped: bool,
    pub(super) relaned: bool,
    /// Subscribers to the manager's traps, and the traps to send.
    pub(super) notice_state: NoticeState,
    /// Services that ports have registered with the manager.
    pub(super) services: RegisteredServices,
    /// Multicast groups, and tables of them that are under way.
    pub(super) group_records: GroupRecords,
    /// Hosts whose agents follow notices by themselves.
    pub(super) agents: HostAgents,
    /// Number of Gets that would have cleared or reset something.
    pub(super) cleared_by_get: u64,
    /// Whether devices answer subnet management by directed route alone, as on planes.
    pub(super) directed_only: bool,
}

/// Traffic that a fabric carries.
#[derive(Clone, Debug)]
pub struct CarriedTraffic {
    pub load: TrafficLoad,
    pub ratio: TimeRatio,
    /// No packet moves before this time.
    pub begins: Duration,
    /// Ordered by time, which counts from the beginning of traffic.
    pub scenes: Vec<StoryStep>,
}

impl SimulatedFabric {
    const SET_BATCH_TIME: Duration = Duration::from_millis(100);

    /// Builds devices from a fabric. Assigns missing LIDs; without forwarding tables, routes on shortest paths. `None`
    /// for a fabric without a place for the manager: no cabled host that answers, and no switch.
    pub fn new(fabric: &Fabric, tables: &Tables) -> Option<Self> {
        let fabric = manager_stand_in::with_lids(fabric);
        let manager = manager_stand_in::manager_port(&fabric)?;
        let mut devices = device_builder::build_devices(&fabric);
        device_builder::load_tables(&mut devices, tables);
        let routed = tables.nodes.values().any(|node| node.lft.is_some());
        if !routed {
            let top = fabric.top_lid().map_or(0, |lid| lid.value());
            devices
                .iter_mut()
                .filter(|device| device.is_switch())
                .for_each(|switch| switch.tables.linear_top = top);
        }
        Some(Self {
            devices,
            snapshot: fabric,
            manager,
            manager_runs: true,
            routed,
            counters: FxHashMap::default(),
            background_traffic: None,
            rewritten: false,
            grouped: false,
            relaned: false,
            notice_state: NoticeState::default(),
            services: RegisteredServices::default(),
            group_records: GroupRecords::default(),
            agents: HostAgents::default(),
            cleared_by_get: 0,
            directed_only: false,
        })
    }

    pub fn snapshot(&self) -> &Fabric {
        &self.snapshot
    }

    pub(super) fn device(&self, node: u32) -> &SimulatedDevice {
        &self.devices[node as usize]
    }

    /// The LID of a port.
    pub(super) fn lid_of(&self, (node, port): PortRef) -> u16 {
        let device = self.device(node);
        let socket = device.port(device.managed_port(port));
        socket.and_then(|socket| socket.lid).map_or(0, |lid| lid.value())
    }

    pub(super) fn manager_lid(&self) -> u16 {
        self.lid_of(self.manager)
    }

    /// The GUID of the subnet manager's port.
    pub fn manager_guid(&self) -> Option<Guid> {
        self.device(self.manager.0).port(self.manager.1).map(|socket| socket.guid)
    }

    /// Makes a device silent, or lets it answer again.
    pub fn set_silent(&mut self, node: NodeId, silent: bool) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.silent = silent;
            self.notice_state.moved = true;
        }
    }

    /// Gives all ports of a device an M_Key and its protection level (0 to 3).
    pub fn set_key(&mut self, node: NodeId, key: u64, protect: u8) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            for socket in &mut device.ports {
                (socket.key.key, socket.key.protect) = (key, protect);
            }
        }
    }

    /// Number of requests with a wrong M_Key at a port.
    pub fn violations(&self, node: NodeId, port: PortNum) -> u16 {
        let socket = self.devices.get(node.index()).and_then(|device| device.port(port.value()));
        socket.map_or(0, |socket| socket.key.violations)
    }

    /// Sets what a switch answers about adaptive routing. A switch without a vendor gets one whose switches know the
    /// attribute.
    pub fn set_adaptive(&mut self, node: NodeId, profile: AdaptiveProfile) {
        const MELLANOX: u32 = 0x00_02C9;
        if let Some(device) = self.devices.get_mut(node.index()).filter(|device| device.is_switch()) {
            device.adaptive = profile;
            self.grouped = false;
            if device.vendor_id == 0 {
                device.vendor_id = MELLANOX;
            }
        }
    }

    /// The same by name; false if no switch has that name.
    pub fn set_adaptive_at(&mut self, text: &str, profile: AdaptiveProfile) -> bool {
        let switch = self.find_port(text).filter(|(node, _)| self.device(*node).is_switch());
        switch.inspect(|(node, _)| self.set_adaptive(NodeId(*node), profile)).is_some()
    }

    /// Sets the ports of a group that a switch has, as a subnet manager does.
    pub fn set_group(&mut self, node: NodeId, group: usize, ports: PortSet) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.groups.set_ports(group, ports);
        }
    }

    /// Sets how a node takes the bit for extended speeds in PortInfo queries.
    pub fn set_port_info_form(&mut self, node: NodeId, form: PortInfoForm) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.port_info_form = form;
        }
    }

    /// Sets how a switch answers for the states of all its ports at once.
    pub fn set_port_states(&mut self, node: NodeId, form: PortStatesForm) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.port_states = form;
        }
    }

    /// Sets what a node answers about the health of its links. A node without a vendor becomes one of Mellanox.
    pub fn set_wire(&mut self, node: NodeId, profile: WireProfile) {
        const MELLANOX: u32 = 0x00_02C9;
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.wire = profile;
            if device.vendor_id == 0 {
                device.vendor_id = MELLANOX;
            }
        }
    }

    /// The same by name; false if no node has that name.
    pub fn set_wire_at(&mut self, text: &str, profile: WireProfile) -> bool {
        let node = self.find_port(text);
        node.inspect(|(node, _)| self.set_wire(NodeId(*node), profile)).is_some()
    }

    /// Number of Gets that would have cleared or reset something on a device.
    pub fn cleared_by_get(&self) -> u64 {
        self.cleared_by_get
    }

    /// Sets whether a switch answers for the SL2VL tables of all in-ports at once.
    pub fn optimize_lanes(&mut self, node: NodeId, offered: bool) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.optimized_lanes = offered;
        }
    }

    /// Sets the counters of a port, in their 64-bit form.
    pub fn set_counters(&mut self, node: NodeId, port: PortNum, values: CounterValues) {
        self.counters.insert((node.0, port.value()), values);
    }

    /// Starts traffic, which follows the current forwarding tables on service level 0.
    pub fn start_traffic(&mut self, carried: CarriedTraffic) -> Result<(), TrafficError> {
        self.fill_tables();
        let service = LevelSelection::Levels(ServiceLevels::One(Default::default()));
        let given = NetworkSetup {
            fabric: &self.snapshot,
            faults: &Faults::new(),
            routes: &self.forwarding_routes(),
            service: &service,
            tables: &self.lane_tables(),
        };
        // Traffic uses base LIDs, so that notices can move it away from them.
        let mut load = carried.load.clone();
        load.settings.base_lids = true;
        load.settings.keeps_paths = true;
        let mut run = TrafficRun::new(given, &load)?;
        let down = |(_, port): &(PortId, &fabdeck_fabric::Port)| {
            let socket = self.device(port.node.0).port(port.number.value());
            port.peer.is_some() && socket.is_some_and(|socket| !socket.is_passing_mads())
        };
        self.snapshot.ports().filter(down).for_each(|(port, _)| run.set_link(port, false));
        let story = (carried.begins, carried.scenes);
        self.background_traffic =
            Some(Box::new(BackgroundTraffic::new(run, &self.snapshot, carried.ratio, story)));
        Ok(())
    }

    /// Applies the changes of the story that are due.
    pub(super) fn play_story(&mut self, now: Duration) {
        while let Some(underway) = &mut self.background_traffic {
            let Some(change) = underway.take_next_step(&self.snapshot, now) else { return };
            self.apply_change(&change);
        }
    }

    /// The time of the next change of the story, if there are subscribers to traps. Without subscribers, changes are
    /// applied on the next request.
    pub(super) fn next_visible_step(&self) -> Option<Duration> {
        let underway = self.background_traffic.as_ref().filter(|_| !self.subscribers().is_empty())?;
        underway.next_step_time()
    }

    /// Moves packets up to a time, under the current tables.
    pub(super) fn move_packets(&mut self, now: Duration) {
        self.play_story(now);
        self.update_traffic_tables();
        if let Some(underway) = &mut self.background_traffic {
            underway.advance(&self.snapshot, now);
        }
    }

    /// Hands written tables to the traffic.
    pub(super) fn update_traffic_tables(&mut self) {
        if std::mem::take(&mut self.rewritten) {
            let routes = self.forwarding_routes();
            self.background_traffic
                .iter_mut()
                .for_each(|underway| underway.run.set_routes(Arc::clone(&routes)));
        }
        if std::mem::take(&mut self.relaned) {
            let tables = self.lane_tables();
            let (fabric, underway) = (&self.snapshot, self.background_traffic.iter_mut());
            underway.for_each(|underway| underway.run.set_tables(fabric, &Faults::new(), &tables));
        }
    }

    /// Moves packets up to now before a Set changes anything. Sets come by the thousand, so those within 100 ms count
    /// as one.
    pub(super) fn advance_before_set(&mut self, now: Duration) {
        if self
            .background_traffic
            .as_ref()
            .is_some_and(|underway| underway.lag_behind(now) >= Self::SET_BATCH_TIME)
        {
            self.move_packets(now);
        }
    }

    /// Whether traffic fell behind its ratio, and how far.
    pub fn ratio_shortfall(&self) -> Option<RatioShortfall> {
        self.background_traffic.as_ref()?.ratio_shortfall()
    }

    /// The traffic on the fabric.
    pub fn background_traffic(&self) -> Option<&BackgroundTraffic> {
        self.background_traffic.as_deref()
    }

    /// What happened to the packets of each listed flow, by their order.
    pub fn flow_orders(&self) -> Vec<FlowOrder> {
        self.background_traffic.as_ref().map(|underway| underway.run.flow_orders()).unwrap_or_default()
    }

    fn forwarding_routes(&self) -> Arc<Routes> {
        let switches = self.devices.iter().filter(|device| device.is_switch());
        let mut routes = Routes::empty(switches.clone().count(), self.snapshot.top_lid());
        for (row, device) in routes.rows_mut().zip(switches) {
            let known = row.iter_mut().zip(device.tables.linear.ports().chain(std::iter::repeat(NO_PATH)));
            known.for_each(|(port, held)| *port = held);
        }
        Arc::new(routes)
    }

    /// SL2VL and arbitration tables that were written; tables that were never written are left out and have their
    /// defaults.
    fn lane_tables(&self) -> Tables {
        let mut tables = Tables::default();
        for (node, device) in (0u32..).zip(&self.devices) {
            for ((from, to), lanes) in &device.tables.lanes {
                let lanes: Sl2Vl = *lanes;
                tables.node_mut(NodeId(node)).sl2vl.insert((PortNum(*from), PortNum(*to)), lanes);
            }
            for (number, socket) in (0u8..).zip(&device.ports) {
                let Some(held) = &socket.arbitration else { continue };
                let (high, low) = (held.high.clone(), held.low.clone());
                let held = Arbitration { high_limit: held.high_limit, high, low };
                tables.node_mut(NodeId(node)).arbitration.insert(PortNum(number), held);
            }
        }
        tables
    }

    /// Takes a link down or up. Both ends count that, and their switches set PortStateChange.
    pub fn set_link(&mut self, node: NodeId, port: PortNum, up: bool) {
        let end = (node.0, port.value());
        for end in [Some(end), self.peer_of(end)].into_iter().flatten() {
            self.set_state(end, up);
        }
        self.update_traffic_link(end);
    }

    fn peer_of(&self, (node, port): PortRef) -> Option<PortRef> {
        self.devices.get(node as usize)?.port(port)?.peer
    }

    fn set_state(&mut self, end: PortRef, up: bool) {
        let Some(device) = self.devices.get_mut(end.0 as usize) else { return };
        let Some(socket) = device.port_mut(end.1) else { return };
        let was_up = socket.physical == PhysicalState::LinkUp;
        (socket.state, socket.physical) = match up {
            true => (PortState::Active, PhysicalState::LinkUp),
            false => (PortState::Down, PhysicalState::Polling),
        };
        device.tables.state_change |= was_up != up;
        if was_up != up {
            self.notice_state.record_change(end.0);
        }
        if was_up && !up {
            let counted = self.counters.entry(end).or_default();
            let times = counted.get(&Counter::LinkDownedCounterExt).unwrap_or(0);
            counted.insert(Counter::LinkDownedCounterExt, Some(times + 1));
        }
    }

    /// Unplugs the cables of two ports and connects the two; the ports at the other ends have no cable then. The
    /// traffic does not follow: its packets keep to the old cables.
    pub fn recable(&mut self, a: (NodeId, PortNum), b: (NodeId, PortNum)) {
        let [a, b] = [a, b].map(|(node, port)| (node.0, port.value()));
        for end in [a, b] {
            for loose in [Some(end), self.peer_of(end)].into_iter().flatten() {
                self.set_state(loose, false);
                self.connect_port(loose, None);
            }
        }
        for (end, far) in [(a, b), (b, a)] {
            self.connect_port(end, Some(far));
            self.set_state(end, true);
        }
    }

    fn connect_port(&mut self, (node, port): PortRef, far: Option<PortRef>) {
        if let Some(socket) = self.devices.get_mut(node as usize).and_then(|device| device.port_mut(port)) {
            socket.peer = far;
        }
    }

    /// Moves the subnet manager to the first usable port of a node, if it has one.
    pub fn move_manager(&mut self, node: NodeId) {
        let there = self.devices.get(node.index()).and_then(|_| self.first_cabled_port(node.0));
        self.manager = there.unwrap_or(self.manager);
    }

    /// Whether the subnet manager runs, at a node that answers.
    pub(super) fn is_manager_answering(&self) -> bool {
        self.manager_runs && !self.device(self.manager.0).silent
    }

    /// Ends the subnet manager, or starts it again. A new one knows no subscribers, and has read what changed.
    pub fn run_manager(&mut self, runs: bool) {
        if runs && !self.manager_runs {
            self.notice_state.subscribers.clear();
            self.notice_state.changed.clear();
            self.acknowledge_changes();
        }
        self.manager_runs = runs;
    }

    /// Clears PortStateChange on all switches, as a manager does after reading what changed.
    pub fn acknowledge_changes(&mut self) {
        self.devices.iter_mut().for_each(|device| device.tables.state_change = false);
    }

    /// Overwrites one entry of a forwarding table, outside the manager.
    pub fn set_entry(&mut self, node: NodeId, lid: Lid, port: PortNum) {
        self.fill_tables();
        let Some(device) = self.devices.get_mut(node.index()).filter(|device| device.is_switch()) else {
            return;
        };
        if device.tables.linear.set(lid.index(), port.value()) {
            self.rewritten = true;
            self.grouped = false;
        }
    }

    /// Hands the state of a link to the traffic.
    pub(super) fn update_traffic_link(&mut self, (node, port): PortRef) {
        let up = self.devices.get(node as usize).and_then(|device| device.port(port));
        let up = up.is_some_and(|socket| socket.is_passing_mads());
        let Some(underway) =
            self.background_traffic.as_mut().filter(|_| (node as usize) < self.devices.len())
        else {
            return;
        };
        if let Some(id) = self.snapshot.port_of(NodeId(node), PortNum(port)) {
            underway.run.set_link(id, up);
        }
    }

    /// Computes the tables, unless that is done.
    pub fn fill_tables(&mut self) {
        if !self.routed {
            self.routed = true;
            manager_stand_in::fill_tables(&self.snapshot, &mut self.devices);
        }
    }

    /// Fills the groups of adaptive switches before the first of them is read.
    pub(super) fn fill_groups(&mut self) {
        self.fill_tables();
        if !std::mem::replace(&mut self.grouped, true) {
            super::adaptive_tables::fill_groups(&self.snapshot, &mut self.devices);
        }
    }

    /// The port that a text names: a node by name or GUID, `NAME/PORT`, or `NAME[PORT]`, where PORT is a number or the
    /// label that the device states or its model gives. A node alone means port 0 of a switch, or
    /// an adapter's first port with a working link, otherwise its first port.
    pub(super) fn find_port(&self, text: &str) -> Option<PortRef> {
        if let Some(node) = self.node_by_name(text) {
            return self.first_cabled_port(node);
        }
        let by_number = || {
            let (name, port) = text.rsplit_once('/')?;
            let (node, port) = (self.node_by_name(name)?, port.parse::<u8>().ok()?);
            self.device(node).port(port).map(|_| (node, port))
        };
        by_number().or_else(|| self.port_by_label(text))
    }

    /// The traffic endpoint that a text names: a port of an adapter, or a switch itself.
    pub fn traffic_end(&self, text: &str) -> Option<PortId> {
        let (node, port) = self.find_port(text)?;
        self.snapshot.port_of(NodeId(node), PortNum(port))
    }

    /// The node of a client: the named one, otherwise the manager's.
    pub fn client_node(&self, at: Option<&str>) -> Option<NodeId> {
        let plug = at.map_or(Some(self.manager), |at| self.find_port(at))?;
        Some(NodeId(plug.0))
    }

    /// A node by its name, its GUID, or the name of its host; `None` if several match.
    fn node_by_name(&self, text: &str) -> Option<u32> {
        let names = Names::new(&self.snapshot, &NameMap::default());
        match names.find(&self.snapshot, text, None).as_slice() {
            [one] => Some(one.0),
            _ => None,
        }
    }

    fn first_cabled_port(&self, node: u32) -> Option<PortRef> {
        let device = self.device(node);
        if device.is_switch() {
            return Some((node, 0));
        }
        let ports = || 1..=device.port_count();
        let passes = |port: &u8| device.port(*port).is_some_and(|socket| socket.is_passing_mads());
        ports().find(passes).or_else(|| ports().next()).map(|port| (node, port))
    }
}
