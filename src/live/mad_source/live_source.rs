//! A live fabric as a source. A snapshot is a discovery, and the tables and counters that are wanted.

use std::sync::Arc;
use std::time::Duration;

use super::adaptive::{AdaptiveAnswers, ask_adaptive, note_adaptive, summarize_adaptive, switches_to_ask};
use super::adaptive_tables::{read_adaptive_tables, store_adaptive};
use super::counters::read_counters;
use super::device_samples::sampled_nodes;
use super::discovery::discover;
use super::discovery_state::DiscoveredNode;
use super::exchange_policy::ExchangePolicy;
use super::fabric_sweep::{SweepMemory, run_sweep};
use super::fdr10::KindsWithoutFdr10;
use super::groups::read_groups;
use super::hierarchy::{HierarchyMemory, read_hierarchies};
use super::keys::Keys;
use super::kind_refusals::{RefusalMemory, RefusalStore};
use super::lanes::{count_lane_questions, read_arbitration, read_lanes};
use super::levels::read_levels;
use super::partitions::read_partitions;
use super::planes::{PlaneSources, name_phases, read_plane, silent_plane_text};
use super::reader::{PhaseLog, PortReader};
use super::subnet_manager::find_manager;
use super::subscribers::read_subscribers;
use super::tables::{read_forwarding, read_multicast};
use super::ticks::read_ticks;
use super::traps::{TrapListener, TrapSubscription};
use super::wire::{LINK_HEALTH, WireScope, read_wire};
use fabdeck_fabric::observe::{
    KnownManager, MissingAnswer, MulticastGroups, NotePlace, Notes, Observation, PlaneAnswer, PlaneReading,
    Planes, ReadingReport, Sweep, Ticks, route_text,
};
use fabdeck_fabric::{BLOCK_LIDS, Fabric, Guid, Lid, Partitions, Tables};
use fabdeck_mad::access::{
    Clock, InformToken, LaneReadOutcome, LevelReadOptions, LevelReadOutcome, MadPort, NoObserver,
    ReadObserver, ReadOptions, ReadPort, Source, SourceError, WireReadOptions,
};

/// Number of transactions that one snapshot may use.
pub(crate) const TRANSACTIONS_PER_READING: u32 = 1 << 24;

/// Reads over a port that cannot write.
#[derive(Debug)]
pub struct LiveSource {
    name: String,
    port: TrapListener,
    policy: ExchangePolicy,
    keys: Keys,
    /// The first transaction of the next reading.
    transactions: u32,
    /// The notes about the fabric itself, for every snapshot.
    notes: Notes,
    /// What adds notes after a reading.
    remarks: Option<Box<dyn NoteSource>>,
    /// The nodes of the last snapshot, with the routes for later readings.
    found: Vec<DiscoveredNode>,
    /// What sweeps of these nodes remember.
    memory: SweepMemory,
    /// The subscription to traps, if sweeps have one.
    traps: Option<TrapSubscription>,
    /// The ports of further planes.
    planes: PlaneSources,
}

/// Adds notes about a reading beside those about the fabric.
pub trait NoteSource: std::fmt::Debug + Send {
    fn add_notes(&self, notes: &mut Notes);
}

impl LiveSource {
    pub fn new(name: impl Into<String>, port: ReadPort, policy: ExchangePolicy, keys: Keys) -> Self {
        Self {
            name: name.into(),
            port: TrapListener::new(port),
            policy,
            keys,
            transactions: 1,
            notes: Notes::new(),
            remarks: None,
            found: Vec::new(),
            memory: SweepMemory::default(),
            traps: None,
            planes: PlaneSources::default(),
        }
    }

    /// Returns transactions that no other reading uses: answers to a cancelled one may arrive during the next.
    fn next_transactions(&mut self) -> u32 {
        // Below the transactions of Sets, which use the same port.
        const ALL: u32 = 0x3FFF_FFFF;
        let first = self.transactions;
        self.transactions = first.wrapping_add(TRANSACTIONS_PER_READING) & ALL;
        first
    }

    pub fn with_notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }

    pub fn with_remarks(mut self, remarks: Box<dyn NoteSource>) -> Self {
        self.remarks = Some(remarks);
        self
    }

    /// Lets sweeps subscribe to traps, with a token for that right.
    pub fn with_traps(mut self, token: Option<InformToken>) -> Self {
        self.traps = token.map(TrapSubscription::new);
        self
    }

    /// Uses what kinds of devices refused in earlier sessions, and stores what they refuse in this one.
    pub fn with_refusals(mut self, store: Option<Arc<dyn RefusalStore>>) -> Self {
        self.memory.wire.refusals = store.map(RefusalMemory::new);
        self
    }

    /// Reads further planes with each snapshot, over these ports.
    pub fn with_planes(mut self, planes: PlaneSources) -> Self {
        self.planes = planes;
        self
    }

    /// Reads the further planes into a snapshot.
    fn read_planes(
        &mut self,
        look: &mut Observation,
        first: u32,
        watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        if self.planes.others.is_empty() {
            return Ok(());
        }
        let main_answer = if look.is_partial() { PlaneAnswer::Partial } else { PlaneAnswer::Read };
        let mut readings: Vec<PlaneReading> = Vec::new();
        for source in &mut self.planes.others {
            let plane = source.plane;
            let port = match &mut source.port {
                Ok(port) => port,
                Err(why) => {
                    let why = why.clone();
                    look.notes.add_partial("FN-573", NotePlace::file(self.name.clone()), || {
                        silent_plane_text(plane, &why)
                    });
                    readings.push(PlaneReading::silent(plane));
                    continue;
                }
            };
            let mut reader = PortReader::new(&self.name, port, self.policy, &self.keys, watch);
            reader.begin_transactions(first);
            let memory = (&mut self.memory.without_fdr10, &mut self.memory.hierarchies);
            let (reading, stated) = read_plane(&mut reader, plane, &look.fabric, memory)?;
            look.notes.extend(reader.log.notes);
            if let Some(report) = &mut look.reading {
                report.phases.extend(name_phases(reader.phases, plane));
            }
            for (at, answer) in stated.ports {
                look.hierarchies.ports.entry(at).or_insert(answer);
            }
            readings.push(reading);
        }
        readings.sort_by_key(|reading| reading.plane);
        let main = self.planes.main;
        look.notes.add("FN-576", NotePlace::file(self.name.clone()), || {
            format!(
                "tables, routes and counters are those of plane {main} of {}: the other planes are not judged, but for \
                 links that are down",
                readings.len() + 1
            )
        });
        look.planes = Planes { main, main_answer, readings };
        Ok(())
    }

    /// Records what was sent and is no Get.
    fn record_writes(&self, look: &mut Observation) {
        let traffic = self.port.port().traffic();
        if let Some(reading) = &mut look.reading {
            reading.writes = traffic.write_count();
            (reading.sets, reading.reports_answered) = (traffic.informs, traffic.reports_answered);
        }
    }

    /// Subscribes if due, and marks what reports have named until now for the next sweep.
    fn subscribe_traps(
        &mut self,
        look: &mut Observation,
        watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        let first = if self.traps.is_some() { self.next_transactions() } else { 0 };
        let Some(traps) = &mut self.traps else { return Ok(()) };
        if let Some(error) = traps.open_reports(&mut self.port) {
            look.notes.add("FN-534", NotePlace::file(self.name.clone()), || {
                format!("traps: the port does not accept reports ({error}); the watch continues without them")
            });
        }
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        let subscribed =
            traps.subscribe(&mut reader, &self.memory.manager).and_then(|()| reader.drain_reports());
        merge_phase_log(reader, look);
        subscribed?;
        self.take_reports(look);
        if let Some(traps) = &mut self.traps {
            self.memory.named.extend(traps.take_named_ports(&look.fabric, &self.found));
        }
        Ok(())
    }

    /// Takes in the reports since the last call.
    fn take_reports(&mut self, look: &mut Observation) {
        let Some(traps) = &mut self.traps else { return };
        let left_out = traps.collect_notices(&mut self.port, &look.fabric);
        if left_out > 0 {
            look.notes.add_partial("FN-535", NotePlace::file(self.name.clone()), || {
                format!("traps: {left_out} reports of one sweep were dropped: too many came at once; a shorter interval between sweeps loses fewer")
            });
        }
    }

    fn add_extra_notes(&self, notes: &mut Notes) {
        if let Some(remarks) = &self.remarks {
            remarks.add_notes(notes);
        }
    }

    pub fn port(&self) -> &ReadPort {
        self.port.port()
    }

    /// Reads the tables and the health of links of one device of each kind. Only what is said of the health of links
    /// becomes part of the snapshot.
    pub fn read_device_samples(
        &mut self,
        look: &mut Observation,
        watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        let first = self.next_transactions();
        let nodes = sampled_nodes(&look.fabric, &self.found);
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        let mut tables = Tables::default();
        read_forwarding(&mut reader, &nodes, &mut tables)?;
        read_adaptive_tables(&mut reader, &nodes, &tables, &self.memory.adaptive, &[])?;
        let scope = WireScope { fabric: &look.fabric, nodes: &nodes, agents: &self.memory.agents };
        let wanted = WireReadOptions { devices: true, switch_sensors: false, ports: true, link_pages: true };
        let read = read_wire(&mut reader, scope, wanted, &mut self.memory.wire, &mut look.wire);
        merge_phase_log(reader, look);
        self.record_writes(look);
        read
    }
}

impl Drop for LiveSource {
    fn drop(&mut self) {
        if let Some(traps) = &mut self.traps {
            traps.unsubscribe(&mut self.port);
        }
    }
}

impl Source for LiveSource {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        let first = self.next_transactions();
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        let mut adaptive = std::mem::take(&mut self.memory.adaptive);
        let wire = std::mem::take(&mut self.memory.wire);
        let mut without_fdr10 = std::mem::take(&mut self.memory.without_fdr10);
        let mut hierarchies = std::mem::take(&mut self.memory.hierarchies);
        let answers = SessionAnswers {
            adaptive: &mut adaptive,
            without_fdr10: &mut without_fdr10,
            hierarchies: Some(&mut hierarchies),
        };
        let looked = read_with_nodes(reader, wanted, answers);
        // The answers of devices hold for the session, even if the reading failed.
        self.memory.adaptive.clone_from(&adaptive);
        self.memory.without_fdr10.clone_from(&without_fdr10);
        self.memory.wire.clone_from(&wire);
        self.memory.hierarchies.clone_from(&hierarchies);
        let (mut look, found, manager_lid) = looked?;
        self.found = found;
        let manager = KnownManager { lid: manager_lid, manager: look.subnet_manager.clone() };
        self.memory =
            SweepMemory { manager, adaptive, wire, without_fdr10, hierarchies, ..SweepMemory::default() };
        self.memory.turns.last = self.port.now();
        self.read_planes(&mut look, first, watch)?;
        look.notes.extend(self.notes.clone());
        self.add_extra_notes(&mut look.notes);
        self.record_writes(&mut look);
        Ok(look)
    }

    fn read_routes_to(
        &mut self,
        look: &mut Observation,
        lids: &[Lid],
        watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        if look.tables.nodes.values().any(|held| held.lft.is_some()) {
            return Ok(());
        }
        let first = self.next_transactions();
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        look.tables.only = Some(lids.iter().map(|lid| lid.value() / BLOCK_LIDS).collect());
        read_forwarding(&mut reader, &self.found, &mut look.tables)?;
        merge_phase_log(reader, look);
        self.record_writes(look);
        Ok(())
    }

    fn read_lanes(
        &mut self,
        look: &mut Observation,
        most: Option<u64>,
        watch: &mut dyn ReadObserver,
    ) -> Result<LaneReadOutcome, SourceError> {
        let questions = count_lane_questions(&look.fabric, &self.found);
        if most.is_some_and(|most| questions > most) {
            return Ok(LaneReadOutcome::TooMany(questions));
        }
        let first = self.next_transactions();
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        read_lanes(&mut reader, &look.fabric, &self.found, &mut look.tables)?;
        read_arbitration(&mut reader, &look.fabric, &self.found, &mut look.tables)?;
        merge_phase_log(reader, look);
        self.record_writes(look);
        Ok(LaneReadOutcome::Read)
    }

    fn read_wire(
        &mut self,
        look: &mut Observation,
        wanted: WireReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<(), SourceError> {
        let first = self.next_transactions();
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        let scope = WireScope { fabric: &look.fabric, nodes: &self.found, agents: &self.memory.agents };
        let mut health = std::mem::take(&mut look.wire);
        let read = read_wire(&mut reader, scope, wanted, &mut self.memory.wire, &mut health);
        look.wire = health;
        merge_phase_log(reader, look);
        self.record_writes(look);
        read
    }

    fn read_levels(
        &mut self,
        look: &mut Observation,
        partitions: Option<&Partitions>,
        wanted: LevelReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<LevelReadOutcome, SourceError> {
        let manager = look.subnet_manager.as_ref().and_then(|manager| look.fabric.port_by_guid(manager.guid));
        let Some((lid, _)) = manager.and_then(|port| look.fabric.address_of(port)) else {
            return Ok(LevelReadOutcome::NoManager);
        };
        let first = self.next_transactions();
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        let stated = look.partitions.members(&look.fabric).map(|(partitions, _)| partitions);
        let partitions = partitions.or(stated.as_ref());
        let read = read_levels(&mut reader, (&look.fabric, partitions), lid, wanted)?;
        merge_phase_log(reader, look);
        self.record_writes(look);
        Ok(read)
    }

    fn sweep(
        &mut self,
        look: &mut Observation,
        not_before: Duration,
        watch: &mut dyn ReadObserver,
    ) -> Result<Sweep, SourceError> {
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.wait_until(not_before)?;
        self.subscribe_traps(look, watch)?;
        let first = self.next_transactions();
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, watch);
        reader.begin_transactions(first);
        let mut swept = run_sweep(&mut reader, look, &mut self.found, &mut self.memory)?;
        merge_phase_log(reader, look);
        self.take_reports(look);
        let reported = self.traps.as_mut().map_or_else(Vec::new, TrapSubscription::take_news);
        swept.news.splice(..0, reported);
        self.record_writes(look);
        self.add_extra_notes(&mut look.notes);
        Ok(swept)
    }

    fn find_agents(&mut self, lids: &[Lid]) -> Result<Vec<Option<bool>>, SourceError> {
        let local = self.port.local_port();
        let (own, told) = (local.lid, self.memory.manager.lid.or(local.manager_lid));
        let Some(ends) = told.zip(own) else { return Ok(vec![None; lids.len()]) };
        let first = self.next_transactions();
        let mut watch = NoObserver;
        let mut reader = PortReader::new(&self.name, &mut self.port, self.policy, &self.keys, &mut watch);
        reader.begin_transactions(first);
        read_subscribers(&mut reader, ends, lids)
    }

    fn end_watch(&mut self, look: &mut Observation) {
        if let Some(traps) = &mut self.traps {
            traps.unsubscribe(&mut self.port);
            self.record_writes(look);
        }
    }
}

/// Takes one snapshot over any port.
pub fn read_snapshot(
    source: &str,
    port: &mut dyn MadPort,
    policy: ExchangePolicy,
    keys: &Keys,
    wanted: ReadOptions,
    watch: &mut dyn ReadObserver,
) -> Result<Observation, SourceError> {
    read_snapshot_from(
        PortReader::new(source, port, policy, keys, watch),
        1,
        wanted,
        (&mut AdaptiveAnswers::default(), &mut KindsWithoutFdr10::default()),
    )
}

/// Takes a snapshot with transactions from `first` on, in a session with earlier answers of switches.
pub(crate) fn read_snapshot_from(
    mut reader: PortReader<'_>,
    first: u32,
    wanted: ReadOptions,
    answers: (&mut AdaptiveAnswers, &mut KindsWithoutFdr10),
) -> Result<Observation, SourceError> {
    reader.begin_transactions(first);
    let (adaptive, without_fdr10) = answers;
    let answers = SessionAnswers { adaptive, without_fdr10, hierarchies: None };
    read_with_nodes(reader, wanted, answers).map(|(look, ..)| look)
}

/// What devices said earlier in a session.
struct SessionAnswers<'s> {
    adaptive: &'s mut AdaptiveAnswers,
    without_fdr10: &'s mut KindsWithoutFdr10,
    /// What is known of labels; `None` for a reading that needs no labels.
    hierarchies: Option<&'s mut HierarchyMemory>,
}

/// Takes a snapshot. Returns it with the routes to its nodes, and the LID of its subnet manager.
fn read_with_nodes(
    mut reader: PortReader<'_>,
    wanted: ReadOptions,
    SessionAnswers { adaptive: answers, without_fdr10, hierarchies }: SessionAnswers<'_>,
) -> Result<(Observation, Vec<DiscoveredNode>, Option<Lid>), SourceError> {
    let from = reader.local_name().to_owned();
    let found = discover(&mut reader, without_fdr10)?;
    let (manager_lid, subnet_prefix) = (found.manager_lid, found.subnet_prefix);
    let (fabric, nodes) = found.into_fabric();
    reader.report_fabric(&fabric);
    let hierarchies = hierarchies.map(|memory| read_hierarchies(&mut reader, &fabric, &nodes, memory));
    let hierarchies = hierarchies.transpose()?.unwrap_or_default();
    let mut tables = Tables::default();
    let mut adaptive = None;
    let mut asked = Vec::new();
    if wanted.tables || wanted.adaptive {
        asked = switches_to_ask(&fabric, &nodes, answers);
        let said = ask_adaptive(&mut reader, &nodes, &asked, answers)?;
        answers.extend(said);
        adaptive = summarize_adaptive(&nodes, answers);
    }
    if wanted.tables {
        read_forwarding(&mut reader, &nodes, &mut tables)?;
        let known = read_adaptive_tables(&mut reader, &nodes, &tables, answers, &asked)?;
        answers.tables.extend(known);
    }
    if wanted.tables || wanted.adaptive {
        note_adaptive(&mut reader.log, &nodes, answers);
        store_adaptive(&nodes, &mut tables, answers);
    }
    if wanted.multicast || wanted.groups {
        read_multicast(&mut reader, &nodes, &mut tables)?;
    }
    if wanted.lanes {
        read_lanes(&mut reader, &fabric, &nodes, &mut tables)?;
        read_arbitration(&mut reader, &fabric, &nodes, &mut tables)?;
    }
    let counters = if wanted.counters { read_counters(&mut reader, &fabric, &nodes)? } else { Vec::new() };
    let ticks = match wanted.counters {
        true => read_ticks(&mut reader, &fabric, &nodes, &Ticks::default(), |_| false)?,
        false => Ticks::default(),
    };
    let subnet_manager = find_manager(&mut reader, &fabric, &nodes, manager_lid)?;
    let partitions = wanted.partitions.then(|| read_partitions(&mut reader, &fabric, &nodes));
    let partitions = partitions.transpose()?.unwrap_or_default();
    let manager = manager_lid.and_then(|lid| Lid::new(lid.into()));
    let groups = match manager.filter(|_| wanted.groups) {
        Some(lid) => read_groups(&mut reader, (&fabric, &tables), (lid, subnet_prefix))?,
        None => MulticastGroups::default(),
    };
    let reading = Some(ReadingReport {
        subnet_prefix,
        from,
        virtual_time: reader.has_virtual_time(),
        ..ReadingReport::default()
    });
    let mut look = Observation {
        fabric,
        tables,
        counters,
        ticks,
        hierarchies,
        partitions,
        groups,
        subnet_manager,
        adaptive,
        reading,
        ..Observation::default()
    };
    merge_phase_log(reader, &mut look);
    Ok((look, nodes, manager))
}

/// Adds the notes and statistics of the phases to the snapshot.
fn merge_phase_log(reader: PortReader<'_>, look: &mut Observation) {
    let keyed = reader.keys().has_keys();
    let PhaseLog { mut silent, notes, source } = reader.log;
    // Answers arrive in any order; sorting makes the list the same for the same silence.
    silent.sort();
    look.notes.extend(notes);
    note_silence(&mut look.notes, &source, &silent, keyed, &look.fabric);
    if let Some(reading) = &mut look.reading {
        for phase in reader.phases {
            // What a device may be asked about its links depends on earlier answers, so one reading asks several times.
            match reading
                .phases
                .last_mut()
                .filter(|last| last.name == LINK_HEALTH && phase.name == LINK_HEALTH)
            {
                Some(last) => last.add_part(&phase),
                None => reading.phases.push(phase),
            }
        }
        reading.silent.extend(silent);
    }
}

/// Adds one note for each kind of silence. The reading has the list with every route.
fn note_silence(notes: &mut Notes, source: &str, silent: &[MissingAnswer], keyed: bool, fabric: &Fabric) {
    for silence in silent {
        let place = NotePlace::file(source.to_owned());
        let route = route_text(&silence.route);
        let why = silence.refusal.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        match (silence.node, silence.peer) {
            (Some(guid), _) => notes.add_partial("FN-526", place, || {
                let verb = if silence.refusal.is_some() { "refused" } else { "did not answer" };
                format!("{} {verb} {} over {route}{why}", node_label(fabric, guid), silence.asked)
            }),
            (None, peer) => notes.add_partial("FN-527", place, || {
                let behind = peer.map_or_else(String::new, |(guid, port)| {
                    format!(", behind port {port} of {}", node_label(fabric, guid))
                });
                let cause = match (why.is_empty(), keyed) {
                    (false, _) => why,
                    (true, true) => {
                        ": it is dead, or it is protected by another M_Key than the given one".to_owned()
                    }
                    (true, false) if fabric.nodes().len() == 1 => {
                        ": nothing beyond the local port answers".to_owned()
                    }
                    (true, false) => {
                        ": it is dead, or MADs get lost (--retries), or it is protected by an M_Key (--mkey-file)".to_owned()
                    }
                };
                format!("no answer over {route}{behind}{cause}")
            }),
        }
    }
}

/// The node's description, and its GUID, which does not depend on name maps.
fn node_label(fabric: &Fabric, guid: Guid) -> String {
    let node = fabric.node_by_guid(guid).map(|node| fabric.node(node).facts.description.as_str());
    match node.filter(|description| !description.is_empty()) {
        Some(description) => format!("{description} ({guid})"),
        None => guid.to_string(),
    }
}
