//! Makes one observation from several files of a fabric: the topology from one, tables, counters and names from others.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::fabric_parts::{note_merged, note_parts};
use super::level_files::LevelFiles;
use fabdeck_fabric::observe::{
    AdaptiveRouting, CounterSample, MulticastGroups, NotePlace, Notes, Observation, Planes, PortHierarchies,
    WireHealth, join_samples,
};
use fabdeck_fabric::{
    AdaptiveStatement, Fabric, FabricDiff, FabricDifference, Guid, NameMap, NodeTables, Tables,
};
use fabdeck_files::adaptive_binding::apply_adaptive;
use fabdeck_files::content::{
    AdaptiveFile, Content, CounterFile, LabelFile, LidFile, TableFile, TopologyFile, WireFile,
};
use fabdeck_files::label_binding::bind_labels;
use fabdeck_files::wire_binding::{fill_device, fill_port, keep_known};
use fabdeck_files::{Format, pm, port_report, subnet_lst};
use fabdeck_mad::access::SourceError;

/// The code if no file has a topology.
pub(super) const NO_TOPOLOGY: &str = "FD-5006";

/// A time in ISO 8601. ibnetdiscover prints local time without a zone, so none is added. ibdiagnet prints the zone
/// (`2026-11-21 02:27:15 UTC +0000`), and the result is in UTC. Other text stays as it is.
fn to_iso_8601(time: &str) -> String {
    let words: Vec<&str> = time.split_whitespace().collect();
    if let [day, clock, .., zone] = words.as_slice()
        && let Ok(moment) = jiff::Timestamp::strptime("%Y-%m-%d %H:%M:%S %z", format!("{day} {clock} {zone}"))
    {
        return moment.to_string();
    }
    match jiff::civil::DateTime::strptime("%a %b %d %H:%M:%S %Y", time.trim()) {
        Ok(time) => time.to_string(),
        Err(_) => time.trim().to_owned(),
    }
}

/// Adds what another file of the same fabric states about links, modules and sensors.
fn join_wire(held: &mut WireHealth, other: WireHealth) {
    for (at, port) in other.ports {
        fill_port(held.ports.entry(at).or_default(), &port);
    }
    for (node, device) in other.devices {
        fill_device(held.devices.entry(node).or_default(), &device);
    }
}

/// The content that was read so far.
#[derive(Debug)]
pub(super) struct Assembly {
    source: String,
    topologies: Vec<(&'static Format, TopologyFile)>,
    /// The tables of captures.
    held: Tables,
    jobs: Option<Arc<fabdeck_fabric::observe::JobSnapshot>>,
    tables: Vec<TableFile>,
    counters: Vec<CounterFile>,
    /// Counters that ibdiagnet writes into its database too.
    repeated: Vec<CounterFile>,
    adaptive: Vec<AdaptiveFile>,
    wire: Vec<WireFile>,
    lids: Vec<(String, LidFile)>,
    names: NameMap,
    labels: Vec<LabelFile>,
    groups: MulticastGroups,
    hierarchies: PortHierarchies,
    planes: Planes,
    levels: LevelFiles,
    /// Whether a capture ended before its topology was complete.
    cut_capture: bool,
    /// Whether the topology is a list of cables, which does not say whether it is complete.
    is_list: bool,
    pub(super) notes: Notes,
    /// Why files of a folder were left out.
    pub(super) damaged: Vec<SourceError>,
}

impl Assembly {
    pub(super) fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            topologies: Vec::new(),
            held: Tables::default(),
            jobs: None,
            tables: Vec::new(),
            counters: Vec::new(),
            repeated: Vec::new(),
            adaptive: Vec::new(),
            wire: Vec::new(),
            lids: Vec::new(),
            names: NameMap::default(),
            labels: Vec::new(),
            groups: MulticastGroups::default(),
            hierarchies: PortHierarchies::default(),
            planes: Planes::default(),
            levels: LevelFiles::default(),
            cut_capture: false,
            is_list: false,
            notes: Notes::new(),
            damaged: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, name: String, format: &'static Format, content: Content) {
        match content {
            Content::Topology(file) => self.topologies.push((format, *file)),
            Content::Observation(seen) => self.add_capture_end(&name, format, *seen),
            Content::Tables(file) => self.tables.push(file),
            Content::Counters(file) if format.id == pm::ID => self.repeated.push(file),
            Content::Counters(file) => self.counters.push(file),
            Content::Adaptive(file) => self.adaptive.push(file),
            Content::Wire(file) => self.wire.push(file),
            Content::Lids(file) => self.lids.push((name, file)),
            Content::Names(file) => {
                self.notes.extend(file.notes);
                for (guid, name) in file.names.by_guid {
                    self.add_name(guid, name);
                }
            }
            Content::Labels(file) => self.labels.push(file),
            Content::Guids(file) => {
                let count = file.guids.len();
                self.notes.extend(file.notes);
                self.note_source("FN-502", || format!("a list of {count} GUIDs was read and is not used"));
            }
            Content::Partitions(file) => {
                self.notes.extend(file.notes);
                self.note_source("FN-507", || {
                    format!("the partitions of {name} are not used here; `check --partitions` uses them")
                });
            }
            Content::Policy(file) => {
                self.notes.extend(file.notes);
                self.levels.add(&name, file.levels, NotePlace::file(self.source.clone()), &mut self.notes);
            }
        }
    }

    /// The last state of a capture is a topology, with tables that belong to it.
    fn add_capture_end(&mut self, name: &str, format: &'static Format, seen: Observation) {
        seen.names.by_guid.into_iter().for_each(|(guid, name)| self.add_name(guid, name));
        if self.topologies.iter().all(|(known, _)| known.id != format.id) {
            self.held = seen.tables;
            self.cut_capture = seen.cut;
            self.jobs = seen.jobs;
            self.groups = seen.groups;
            self.hierarchies = seen.hierarchies;
            self.planes = seen.planes;
        }
        if let Some(levels) = seen.policy {
            self.levels.add(name, levels, NotePlace::file(self.source.clone()), &mut self.notes);
        }
        let file = TopologyFile {
            fabric: seen.fabric,
            time: seen.time,
            subnet_manager: seen.subnet_manager,
            counters: seen.counters,
            growth: seen.growth,
            ticks: seen.ticks,
            wire: seen.wire,
            labels: seen.names.labels,
            partitions: seen.partitions,
            file_tables: seen.file_tables.to_vec(),
            adaptive: seen.adaptive,
            adaptive_switches: BTreeMap::new(),
            merged: Vec::new(),
            notes: seen.notes,
        };
        self.topologies.push((format, file));
    }

    /// Records that an unreadable file sets service levels: a QoS policy, or a list of paths.
    pub(super) fn add_unread_levels(&mut self, name: &str, is_policy: bool) {
        self.levels.add_unread(name, is_policy, NotePlace::file(self.source.clone()), &mut self.notes);
    }

    /// The first file that names a node decides, as the first line within a file does.
    fn add_name(&mut self, guid: Guid, name: String) {
        match self.names.by_guid.entry(guid) {
            Entry::Vacant(free) => {
                free.insert(name);
            }
            Entry::Occupied(known) if *known.get() != name => {
                let kept = known.get().clone();
                self.note_source("FN-506", || {
                    format!("{guid} is '{kept}' and '{name}' in two files of names; '{kept}' is used")
                });
            }
            Entry::Occupied(_) => {}
        }
    }

    fn note_source(&mut self, code: &'static str, text: impl FnOnce() -> String) {
        self.notes.add(code, NotePlace::file(self.source.clone()), text);
    }

    pub(super) fn finish(mut self) -> Result<Observation, SourceError> {
        let mut cut = self.cut_capture;
        let topology = self.choose_topology(&mut cut)?;
        let mut fabric = topology.fabric;
        self.notes.extend(topology.notes);
        note_merged(&self.source, &fabric, &topology.merged, &mut self.notes);
        // What joins the parts may be missing in a cut topology.
        if !cut {
            note_parts(&self.source, &fabric, &mut self.notes);
        }
        for (name, file) in std::mem::take(&mut self.lids) {
            fabric = file.assign_lids(&name, &fabric, &mut self.notes);
            self.notes.extend(file.notes);
        }
        let list = self.is_list && self.tables.iter().any(|file| file.has_foreign_tables(&fabric));
        if list {
            cut = true;
            self.notes.add_partial("FN-349", NotePlace::file(self.source.clone()), || {
                "there are tables of switches that the list of cables does not have: the list may be incomplete"
                    .to_owned()
            });
        }
        let (tables, shown) = self.join_tables(&fabric, &topology.adaptive_switches);
        let mut wire = topology.wire;
        keep_known(&fabric, &self.source, &mut wire, &mut self.notes);
        self.names.labels = topology.labels;
        for file in std::mem::take(&mut self.labels) {
            bind_labels(&fabric, &file.statements, &mut self.names.labels, &mut self.notes);
            self.names.labels.sheet.extend(file.sheet);
            self.notes.extend(file.notes);
        }
        for file in std::mem::take(&mut self.wire) {
            file.apply_to(&fabric, &mut wire, &mut self.notes);
            bind_labels(&fabric, &file.labels, &mut self.names.labels, &mut self.notes);
            self.notes.extend(file.notes);
        }
        let counters = self.join_counters(topology.counters);
        let policy = self.levels.finish(&fabric, &mut self.notes);
        Ok(Observation {
            time: topology.time.map(|time| to_iso_8601(&time)),
            fabric,
            tables,
            counters,
            growth: topology.growth,
            ticks: topology.ticks,
            wire,
            partitions: topology.partitions,
            hierarchies: self.hierarchies,
            planes: self.planes,
            groups: self.groups,
            file_tables: Arc::new(topology.file_tables),
            names: self.names,
            subnet_manager: topology.subnet_manager,
            notes: self.notes,
            adaptive: topology.adaptive.or(shown),
            policy,
            cut,
            reading: None,
            jobs: self.jobs,
        })
    }

    /// The tables of all files, and whether adaptive tables show adaptive routing without a file that states where it
    /// is on.
    fn join_tables(
        &mut self,
        fabric: &Fabric,
        switches: &BTreeMap<Guid, AdaptiveStatement>,
    ) -> (Tables, Option<AdaptiveRouting>) {
        // Captures come first among the topologies, so the tables of one belong to this fabric.
        let mut tables = std::mem::take(&mut self.held);
        let mut private = BTreeMap::new();
        for file in std::mem::take(&mut self.tables) {
            file.apply_to(fabric, &mut tables, &mut self.notes);
            private.extend(file.private_tables());
            self.notes.extend(file.notes);
        }
        apply_adaptive(fabric, switches, &self.adaptive, &private, &mut tables, &mut self.notes);
        let has_files = !self.adaptive.is_empty() || !private.is_empty();
        self.adaptive.drain(..).for_each(|file| self.notes.extend(file.notes));
        let needs =
            |held: &NodeTables| held.adaptive.as_ref().is_some_and(|adaptive| adaptive.needs_tables());
        let shown = (has_files && tables.nodes.values().any(needs)).then_some(AdaptiveRouting::Seen);
        (tables, shown)
    }

    /// The counters of the topology and of all other files.
    fn join_counters(&mut self, mut counters: Vec<CounterSample>) -> Vec<CounterSample> {
        if counters.is_empty() {
            self.counters.append(&mut self.repeated);
        }
        let mut samples = Vec::new();
        for file in std::mem::take(&mut self.counters) {
            samples.extend(file.samples);
            self.notes.extend(file.notes);
        }
        counters.extend(join_samples(samples));
        counters
    }

    /// Chooses the topology: the formats are ranked by what they contain. Two files of one format must agree. What
    /// another format has in addition (the subnet manager, a time, counters) is added.
    fn choose_topology(&mut self, cut: &mut bool) -> Result<TopologyFile, SourceError> {
        let rank = |format: &Format| fabdeck_files::FORMATS.iter().position(|known| known.id == format.id);
        let mut topologies = std::mem::take(&mut self.topologies);
        topologies.sort_by_key(|(format, _)| rank(format));
        let mut rest = topologies.into_iter();
        let Some((format, mut best)) = rest.next() else { return self.counters_only() };
        *cut |= best.is_truncated();
        self.is_list = format.id == subnet_lst::ID;
        for (other_format, other) in rest {
            let diff = match other_format.id == port_report::ID && format.id != port_report::ID {
                // A port report has the port GUIDs of adapters only, so every adapter would look like another node.
                true => FabricDiff::default(),
                false => FabricDiff::between(&best.fabric, &other.fabric),
            };
            let mut contradictions = diff.contradictions();
            if let Some(first) = contradictions.next() {
                let count = 1 + contradictions.count();
                if other_format.id == format.id {
                    return Err(self.contradiction(format, count, first));
                }
                let title = other_format.title;
                self.note_source("FN-505", || {
                    let used = format.title;
                    format!("the fabric is that of the {used}; the {title} contradicts it in {count} facts: {first}")
                });
            }
            best.notes.extend(other.notes);
            best.merged.extend(other.merged);
            best.counters.extend(other.counters);
            best.growth = best.growth.or(other.growth);
            best.time = best.time.or(other.time);
            best.adaptive = best.adaptive.or(other.adaptive);
            best.ticks = if best.ticks.by_kind.is_empty() { other.ticks } else { best.ticks };
            best.adaptive_switches = if best.adaptive_switches.is_empty() {
                other.adaptive_switches
            } else {
                best.adaptive_switches
            };
            join_wire(&mut best.wire, other.wire);
            best.labels.extend(other.labels);
            if best.partitions.ports.is_empty() {
                best.partitions = other.partitions;
            }
            best.subnet_manager = best.subnet_manager.or(other.subnet_manager);
        }
        Ok(best)
    }

    fn contradiction(&self, format: &Format, count: usize, first: &FabricDifference) -> SourceError {
        SourceError::Input {
            code: "FD-5007",
            place: NotePlace::file(self.source.clone()),
            what: format!(
                "two files with the {} contradict each other in {count} facts: {first}",
                format.title
            ),
            hint: "if these are two fabrics, give each folder or file by itself; if they are one at two times, leave one out".into(),
        }
    }

    /// Counters may come without a topology; everything else needs its fabric.
    fn counters_only(&mut self) -> Result<TopologyFile, SourceError> {
        self.counters.append(&mut self.repeated);
        if !self.counters.is_empty() && self.tables.is_empty() && self.lids.is_empty() {
            let place = NotePlace::file(self.source.clone());
            self.notes.add_partial("FN-503", place, || {
                "counters without a topology: their ports are known by LID or GUID only".to_owned()
            });
            return Ok(TopologyFile::default());
        }
        if !self.damaged.is_empty() {
            return Err(self.damaged.swap_remove(0));
        }
        let what = match (self.tables.is_empty() && self.adaptive.is_empty(), self.wire.is_empty()) {
            (true, true) => "no file here has a topology",
            (true, false) => "there are values of ports or devices but no topology for them",
            (false, _) => "there are tables but no topology for them",
        };
        Err(SourceError::Input {
            code: NO_TOPOLOGY,
            place: NotePlace::file(self.source.clone()),
            what: what.to_owned(),
            hint: "put the output of ibnetdiscover (or opensm-subnet.lst, ibdiagnet2.db_csv) beside it, give the folder"
                .into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::to_iso_8601;

    #[test]
    fn times_are_put_into_one_form() {
        assert_eq!(to_iso_8601("Sun Nov  1 05:58:07 2026"), "2026-11-01T05:58:07");
        assert_eq!(to_iso_8601("Tue Jun  5 14:15:10 2007 "), "2007-06-05T14:15:10");
        assert_eq!(to_iso_8601("2026-11-21T05:58:07Z"), "2026-11-21T05:58:07Z");
        assert_eq!(to_iso_8601("last night"), "last night");
        assert_eq!(to_iso_8601("2026-11-21 02:27:15 UTC +0000"), "2026-11-21T02:27:15Z");
        assert_eq!(to_iso_8601("2026-11-21 02:27:15 EST -0500"), "2026-11-21T07:27:15Z");
        assert_eq!(to_iso_8601("2026-11-21 02:27:15"), "2026-11-21 02:27:15");
    }
}
