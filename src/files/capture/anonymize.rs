//! An anonymous capture, which can be given away. GUIDs and names become numbers in canonical order, so that all
//! results that depend on an order stay the same. Vendors, the place of recording and remarks are left out.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::anonymize_jobs::{JobAliases, JobNames};
use super::info::report_or_cancel;
use super::moments::Moments;
use crate::capture_format::{
    AcknowledgementRecord, Annotation, ByteSource, CaptureHeader, CaptureRecord, DeviceModel, ManagerRecord,
    NodeLabel, NoteRecord, OperatorAction, TickRecord, flags,
};
use fabdeck_fabric::observe::{FabricEvent, KnownManager, SubnetManager};
use fabdeck_fabric::{Guid, NodeKind};
use fabdeck_mad::access::{ReadObserver, ReadProgress, SourceError};

/// Replacement of a text that is left out.
const LEFT_OUT: &str = "(left out)";
/// The user who left an annotation or acknowledged a problem.
const ANONYMOUS_USER: &str = "anonymous";
const FORMAT: &str = "fabdeck.capture/";
const STATES: [&str; 4] = ["MASTER", "STANDBY", "DISCOVERING", "NOTACTIVE"];

/// Aliases of all GUIDs and names of a capture, over its whole time.
#[derive(Clone, Debug, Default)]
pub struct Aliases {
    guids: FxHashMap<Guid, Guid>,
    names: BTreeMap<(NodeKind, Guid), String>,
    devices: FxHashMap<DeviceModel, u32>,
    /// Vendor counters, whose names a firmware is free to choose.
    counters: BTreeMap<String, String>,
    jobs: JobAliases,
    /// Words by which notes may name a node, in lower case; and the lengths of these words, longest first.
    words: BTreeMap<String, String>,
    lengths: Vec<usize>,
}

/// A node, with all its names.
#[derive(Clone, Debug, Default)]
struct NodeAliases {
    names: BTreeSet<String>,
    aggregation: bool,
}

/// All names in a capture.
#[derive(Default)]
struct CaptureNames {
    guids: BTreeSet<Guid>,
    nodes: BTreeMap<(NodeKind, Guid), NodeAliases>,
    /// Names that a map of names gave.
    given: BTreeMap<Guid, BTreeSet<String>>,
    devices: FxHashMap<DeviceModel, u32>,
    counters: BTreeSet<String>,
    jobs: JobNames,
}

impl CaptureNames {
    fn add(&mut self, record: &CaptureRecord) {
        match record {
            CaptureRecord::Topology(topology) => {
                self.guids.extend(topology.guids());
                for device in topology.device_models().filter(|device| *device != (None, None, None)) {
                    let number = self.devices.len() as u32 + 1;
                    self.devices.entry(device).or_insert(number);
                }
                for NodeLabel { kind, guid, name, aggregation } in topology.node_labels() {
                    let known = self.nodes.entry((kind, guid)).or_default();
                    known.names.extend((!name.is_empty()).then(|| name.to_owned()));
                    known.aggregation |= aggregation;
                }
            }
            CaptureRecord::Names(names) => {
                for (guid, name) in names {
                    if let Ok(guid) = Guid::from_hex(guid) {
                        self.given.entry(guid).or_default().insert(name.clone());
                    }
                }
            }
            CaptureRecord::Counters(sweep) => {
                self.guids.extend(sweep.guids());
                self.counters.extend(sweep.vendor_names());
            }
            CaptureRecord::Jobs(jobs) => self.jobs.add(jobs),
            record => self.guids.extend(guids_in(record)),
        }
    }
}

impl Aliases {
    /// The aliases for a capture. The observer may cancel the reading.
    pub fn from_capture<B: ByteSource>(
        moments: &mut Moments<B>,
        observer: &mut dyn ReadObserver,
    ) -> Result<Self, SourceError> {
        let reader = &mut moments.reader;
        let (mut names, frames) = (CaptureNames::default(), reader.index().slots.len());
        for slot in 0..frames {
            let (done, known) = (slot as u64, frames as u64);
            report_or_cancel(observer, ReadProgress { phase: "reading names", done, known })?;
            // A frame that cannot be read has no names, and is not written again.
            let lines = reader.read_lines(slot, !flags::END).unwrap_or_default();
            lines.iter().for_each(|line| names.add(&line.record));
        }
        Ok(Self::from_names(names))
    }

    fn from_names(names: CaptureNames) -> Self {
        let CaptureNames { mut guids, nodes, given, devices, counters, jobs } = names;
        guids.extend(given.keys());
        guids.remove(&Guid(0));
        // Numbers of equal length sort as the names do, so columns keep their order.
        let counters =
            counters.into_iter().zip(1..).map(|(name, at)| (name, format!("vendor-{at:06}"))).collect();
        let aliases = Self { devices, counters, ..Self::new(&guids, &nodes, &given) };
        let jobs = aliases.job_aliases(&jobs, &nodes, &given);
        Self { jobs, ..aliases }
    }

    fn new(
        guids: &BTreeSet<Guid>,
        nodes: &BTreeMap<(NodeKind, Guid), NodeAliases>,
        given: &BTreeMap<Guid, BTreeSet<String>>,
    ) -> Self {
        let first = find_free_range(guids);
        let guids: FxHashMap<Guid, Guid> =
            guids.iter().zip(first..).map(|(guid, number)| (*guid, Guid(number))).collect();
        let mut aliases = Self { guids, ..Self::default() };
        let (mut counts, mut hosts) = (BTreeMap::<&str, usize>::new(), FxHashMap::<&str, String>::default());
        for ((kind, guid), known) in nodes {
            let word = kind.word();
            let (host, device) = known.names.iter().find_map(|name| split_host_and_device(name)).unzip();
            let mut number = || {
                let count = counts.entry(word).or_default();
                *count += 1;
                *count
            };
            let alias = match host.filter(|_| *kind != NodeKind::Switch) {
                // All aggregation nodes have the same name; the switch that they are at distinguishes them.
                _ if known.aggregation => "Aggregation Node".to_owned(),
                // Adapters of one host stay adapters of one host.
                Some(host) => hosts.entry(host).or_insert_with(|| format!("{word}-{}", number())).clone(),
                None => format!("{word}-{}", number()),
            };
            let device = device.filter(|_| !known.aggregation);
            let whole = device.map_or_else(|| alias.clone(), |device| format!("{alias} {device}"));
            let words = known.names.iter().chain(given.get(guid).into_iter().flatten());
            for name in words {
                aliases.words.insert(name.trim().to_ascii_lowercase(), whole.clone());
                for short in spoken_names(name) {
                    aliases.words.entry(short.to_ascii_lowercase()).or_insert_with(|| alias.clone());
                }
            }
            aliases.names.insert((*kind, *guid), whole);
        }
        for (guid, names) in given {
            for name in names {
                let new = aliases.alias_of(*guid).to_string();
                for word in std::iter::once(name.trim()).chain(spoken_names(name)) {
                    aliases.words.entry(word.to_ascii_lowercase()).or_insert_with(|| new.clone());
                }
            }
        }
        let lengths: BTreeSet<usize> =
            aliases.words.keys().map(String::len).filter(|length| *length > 0).collect();
        aliases.lengths = lengths.into_iter().rev().collect();
        aliases
    }

    /// Aliases of jobs and hosts, by all names that the adapters of these hosts had.
    fn job_aliases(
        &self,
        named: &JobNames,
        nodes: &BTreeMap<(NodeKind, Guid), NodeAliases>,
        given: &BTreeMap<Guid, BTreeSet<String>>,
    ) -> JobAliases {
        let computes = |(key, known): &(&(NodeKind, Guid), &NodeAliases)| {
            key.0 == NodeKind::ChannelAdapter && !known.aggregation
        };
        let adapters = nodes.iter().filter(computes).flat_map(|(key, known)| {
            let names = known.names.iter().chain(given.get(&key.1).into_iter().flatten());
            let alias = self.names.get(key).map_or("", String::as_str);
            names.map(move |name| (name.as_str(), alias))
        });
        JobAliases::new(named, adapters, |guid| self.guids.get(&guid).copied())
    }

    /// The number of a kind of device; `None` if nothing is known of it.
    fn device_number(&self, device: DeviceModel) -> Option<u32> {
        self.devices.get(&device).copied()
    }

    fn alias_of(&self, guid: Guid) -> Guid {
        self.guids.get(&guid).copied().unwrap_or(Guid(0))
    }

    /// An operator's words, without names and GUIDs, or left out.
    fn operator_text(&self, text: &str, keep_notes: bool) -> String {
        if keep_notes { self.anonymize_text(text) } else { LEFT_OUT.into() }
    }

    /// The ID of a problem has GUIDs and names of the fabric, and nothing that an operator wrote.
    fn anonymize_acknowledgement(
        &self,
        record: AcknowledgementRecord,
        keep_notes: bool,
    ) -> AcknowledgementRecord {
        AcknowledgementRecord {
            problem: self.anonymize_text(&record.problem),
            by: ANONYMOUS_USER.into(),
            note: record.note.map(|note| self.operator_text(&note, keep_notes)),
            ..record
        }
    }

    fn anonymize_annotation(&self, annotation: Annotation, keep_notes: bool) -> Annotation {
        let text = annotation.text.map(|text| self.operator_text(&text, keep_notes));
        Annotation { by: ANONYMOUS_USER.into(), text, ..annotation }
    }

    fn anonymize_ticks(&self, mut ticks: Vec<TickRecord>) -> Vec<TickRecord> {
        for TickRecord { kind, .. } in &mut ticks {
            let model = self.device_number((kind.vendor, kind.device, kind.revision));
            (kind.vendor, kind.device, kind.revision) = (None, model, None);
        }
        ticks
    }

    /// The anonymous form of a record. `keep_notes`: an operator's words stay, except names and GUIDs in them.
    pub fn anonymize(&self, record: CaptureRecord, keep_notes: bool) -> Option<CaptureRecord> {
        let guid = |guid| self.alias_of(guid);
        Some(match record {
            CaptureRecord::Header(header) => CaptureRecord::Header(anonymize_header(header)),
            CaptureRecord::Topology(mut topology) => {
                let name = |kind, guid| self.names.get(&(kind, guid)).cloned().unwrap_or_default();
                topology.anonymize(guid, name, |device| self.device_number(device));
                CaptureRecord::Topology(topology)
            }
            CaptureRecord::Manager(manager) => CaptureRecord::Manager(manager.map(|manager| ManagerRecord {
                guid: guid(manager.guid),
                state: known_state(manager.state),
                ..manager
            })),
            CaptureRecord::Names(_) => return None,
            CaptureRecord::Ticks(ticks) => CaptureRecord::Ticks(self.anonymize_ticks(ticks)),
            record @ (CaptureRecord::Wire(_)
            | CaptureRecord::Partitions(_)
            | CaptureRecord::Labels(_)
            | CaptureRecord::Planes(_)
            | CaptureRecord::Groups(_)) => anonymize_statements(record, guid),
            CaptureRecord::Tables(mut tables) => {
                tables.anonymize(guid);
                CaptureRecord::Tables(tables)
            }
            CaptureRecord::Lanes(mut lanes) => {
                lanes.anonymize(guid);
                CaptureRecord::Lanes(lanes)
            }
            CaptureRecord::AdaptiveTables(mut tables) => {
                tables.anonymize(guid);
                CaptureRecord::AdaptiveTables(tables)
            }
            CaptureRecord::Flows(mut flows) => {
                flows.0.iter_mut().for_each(|(host, ..)| *host = guid(*host));
                CaptureRecord::Flows(flows)
            }
            CaptureRecord::Remarks(remarks) => CaptureRecord::Remarks(anonymize_remarks(remarks)),
            CaptureRecord::Jobs(jobs) => CaptureRecord::Jobs(self.jobs.anonymize(jobs, LEFT_OUT)),
            CaptureRecord::Counters(mut counters) => {
                let vendor = |name: &str| self.counters.get(name).cloned().unwrap_or_else(|| LEFT_OUT.into());
                counters.anonymize(guid, vendor);
                CaptureRecord::Counters(counters)
            }
            CaptureRecord::Note(text) => CaptureRecord::Note(self.operator_text(&text, keep_notes)),
            CaptureRecord::Annotation(annotation) => {
                CaptureRecord::Annotation(self.anonymize_annotation(annotation, keep_notes))
            }
            CaptureRecord::Acknowledgement(record) => {
                CaptureRecord::Acknowledgement(self.anonymize_acknowledgement(record, keep_notes))
            }
            // A command line names sources and files.
            CaptureRecord::Action(acted) => {
                let what = self.operator_text(&acted.what, keep_notes);
                CaptureRecord::Action(OperatorAction { what, command: None })
            }
            CaptureRecord::News(value) => {
                // News of a later version, or of another program, may contain anything, so unknown news is left out.
                let news: FabricEvent = serde_json::from_value(value).ok()?;
                CaptureRecord::News(serde_json::to_value(anonymize_news(news.with_guids(&guid))).ok()?)
            }
            CaptureRecord::Policy(policy) => {
                CaptureRecord::Policy(policy.map(|policy| policy.anonymize(guid)))
            }
            CaptureRecord::PathLevels(levels) => CaptureRecord::PathLevels(levels.anonymize(guid)),
            record @ (CaptureRecord::Adaptive(_) | CaptureRecord::End(_)) => record,
        })
    }

    /// Replaces names and GUIDs in a text.
    fn anonymize_text(&self, text: &str) -> String {
        let (mut out, mut at) = (String::new(), 0);
        let part = |c: char| c.is_alphanumeric() || c == '_';
        while let Some(next) = text[at..].chars().next() {
            let begins = !text[..at].ends_with(part);
            let ends = |end: usize| {
                text.is_char_boundary(end) && !(text[..end].ends_with(part) && text[end..].starts_with(part))
            };
            let lengths = self.lengths.iter().map(|length| at + length).filter(|end| *end <= text.len());
            let named = lengths
                .filter(|end| begins && ends(*end))
                .find_map(|end| Some((end, self.words.get(&text[at..end].to_ascii_lowercase())?.clone())));
            let replacement = named.or_else(|| {
                let end = at + text[at..].find(|c: char| !part(c)).unwrap_or(text.len() - at);
                let guid = Guid::from_hex(&text[at..end]).ok().filter(|_| begins)?;
                Some((end, self.guids.get(&guid)?.to_string()))
            });
            match replacement {
                Some((end, new)) => {
                    out += &new;
                    at = end;
                }
                None => {
                    out.push(next);
                    at += next.len_utf8();
                }
            }
        }
        out
    }
}

/// The remarks without their texts.
fn anonymize_remarks(remarks: Vec<NoteRecord>) -> Vec<NoteRecord> {
    let plain = |remark: NoteRecord| NoteRecord {
        code: Some(remark.code).filter(|code| is_note_code(code)).unwrap_or(LEFT_OUT.into()),
        text: LEFT_OUT.into(),
        ..remark
    };
    remarks.into_iter().map(plain).collect()
}

/// Keeps only the fields of a header that this version would have written.
/// What devices and the subnet manager stated, with other GUIDs.
fn anonymize_statements(record: CaptureRecord, guid: impl Fn(Guid) -> Guid) -> CaptureRecord {
    match record {
        CaptureRecord::Wire(wire) => CaptureRecord::Wire(wire.anonymize(guid)),
        CaptureRecord::Partitions(tables) => CaptureRecord::Partitions(tables.anonymize(guid)),
        CaptureRecord::Labels(labels) => CaptureRecord::Labels(labels.anonymize(guid)),
        CaptureRecord::Planes(planes) => CaptureRecord::Planes(planes.anonymize(guid)),
        CaptureRecord::Groups(groups) => CaptureRecord::Groups(groups.anonymize(guid)),
        other => other,
    }
}

fn anonymize_header(header: CaptureHeader) -> CaptureHeader {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let format = Some(header.format).filter(|format| format.strip_prefix(FORMAT).is_some_and(number));
    CaptureHeader {
        format: format.unwrap_or_else(|| format!("{FORMAT}1")),
        fabdeck: Some(header.fabdeck).filter(|version| number(version)).unwrap_or_default(),
        source: "anonymous".into(),
        ..header
    }
}

fn known_state(state: Option<String>) -> Option<String> {
    state.filter(|state| STATES.contains(&state.as_str()))
}

/// Leaves out free text: only states of subnet managers and reasons for missing job lists hold any.
fn anonymize_news(news: FabricEvent) -> FabricEvent {
    let plain = |known: KnownManager| KnownManager {
        manager: known.manager.map(|manager| SubnetManager { state: known_state(manager.state), ..manager }),
        ..known
    };
    match news {
        FabricEvent::ManagerChanged { before, now } => {
            FabricEvent::ManagerChanged { before: plain(before), now: plain(now) }
        }
        FabricEvent::JobsSilent { .. } => FabricEvent::JobsSilent { why: LEFT_OUT.to_owned() },
        other => other,
    }
}

/// Whether a text is `FN-` and digits.
fn is_note_code(code: &str) -> bool {
    code.strip_prefix("FN-").is_some_and(|digits| {
        (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Short forms of a name such as `node7.corp HCA-1`: `node7.corp` and `node7`. A number alone is no name.
fn spoken_names(name: &str) -> impl Iterator<Item = &str> {
    let name = name.trim();
    let host = name.split_once(' ').map(|(host, _)| host);
    let label = host.unwrap_or(name).split_once('.').map(|(label, _)| label);
    let label = label.filter(|label| !label.bytes().all(|byte| byte.is_ascii_digit()));
    host.into_iter().chain(label)
}

/// The GUIDs in two kinds of records: the subnet manager, and news (differences that a sweep found). The caller reads those
/// of all other kinds.
fn guids_in(record: &CaptureRecord) -> Vec<Guid> {
    match record {
        CaptureRecord::Manager(Some(manager)) => vec![manager.guid],
        CaptureRecord::Planes(planes) => planes.guids(),
        CaptureRecord::News(value) => {
            let found = RefCell::new(Vec::new());
            if let Ok(news) = serde_json::from_value::<FabricEvent>(value.clone()) {
                // `with_guids` visits every GUID; nothing is replaced here.
                news.with_guids(&|guid| {
                    found.borrow_mut().push(guid);
                    guid
                });
            }
            found.into_inner()
        }
        _ => Vec::new(),
    }
}

/// The first number of a range as long as the list of GUIDs and without any of them.
fn find_free_range(guids: &BTreeSet<Guid>) -> u64 {
    const LOCAL: u64 = 0x0200_0000_0000_0001;
    const STEP: u64 = 1 << 32;
    let span = guids.len() as u64;
    let taken = |first: &u64| guids.range(Guid(*first)..=Guid(first.saturating_add(span))).next().is_some();
    (0..=span).map(|turn| LOCAL + turn * STEP).find(|first| !taken(first)).unwrap_or(LOCAL)
}

/// Splits `node7 HCA-2` into `node7` and `HCA-2`, for device names of drivers and hosts.
fn split_host_and_device(name: &str) -> Option<(&str, &str)> {
    let (host, device) = name.trim().split_once(' ')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = |device: &str| {
        let kind = device.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &device[kind.len()..];
        let kinds = ["HCA-", "mlx4_", "mlx5_", "hfi1_", "qib", "ibp", "CA-"];
        digits(number) && number.len() < 4 && kinds.contains(&kind)
    };
    numbered(device.trim()).then(|| (host, device.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aliases() -> Aliases {
        let known = |name: &str| NodeAliases { names: [name.to_owned()].into(), aggregation: false };
        let nodes = [
            ((NodeKind::Switch, Guid(0x1000)), known("leaf1")),
            ((NodeKind::ChannelAdapter, Guid(0x2000)), known("node7 HCA-1")),
            ((NodeKind::ChannelAdapter, Guid(0x3000)), known("node7 HCA-2")),
            ((NodeKind::ChannelAdapter, Guid(0x4000)), known("MT25408 ConnectX")),
        ];
        let guids = nodes.iter().map(|((_, guid), _)| *guid).collect();
        Aliases::new(&guids, &nodes.into(), &[(Guid(0x1000), ["Rack 3, top".to_owned()].into())].into())
    }

    #[test]
    fn adapters_of_a_host_share_its_number_and_unnamed_ones_have_their_own() {
        let names: Vec<String> = aliases().names.into_values().collect();
        assert_eq!(names, ["switch-1", "host-1 HCA-1", "host-1 HCA-2", "host-2"]);
    }

    #[test]
    fn words_of_notes_lose_names_and_guids_and_nothing_else() {
        let aliases = aliases();
        for (text, expected) in [
            ("Node7 hangs, pulled node7 HCA-2", "host-1 hangs, pulled host-1 HCA-2"),
            ("node77 xnode7 node7_ leaf12", "node77 xnode7 node7_ leaf12"),
            ("Rack 3, top: leaf1[3]/leaf1", "switch-1: switch-1[3]/switch-1"),
            ("0x2000 and 0x0000000000001000!", "0x0200000000000002 and 0x0200000000000001!"),
            ("größe ✓ leaf1é", "größe ✓ leaf1é"),
            ("", ""),
        ] {
            assert_eq!(aliases.anonymize_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_host_is_known_by_the_first_label_of_its_name_too() {
        let known = |name: &str| NodeAliases { names: [name.to_owned()].into(), aggregation: false };
        let nodes = [
            ((NodeKind::Switch, Guid(1)), known("leaf1.hall2")),
            ((NodeKind::ChannelAdapter, Guid(2)), known("node7.corp HCA-1")),
            ((NodeKind::ChannelAdapter, Guid(3)), known("10.0.0.9 HCA-1")),
        ];
        let guids = [1, 2, 3, 4].map(Guid).into();
        let given = [(Guid(4), ["gate.corp".to_owned()].into())];
        let aliases = Aliases::new(&guids, &nodes.into(), &given.into());
        for (text, expected) in [
            ("node7 and Node7.corp, node7.corp HCA-1", "host-1 and host-1, host-1 HCA-1"),
            ("leaf1, leaf1.hall2, leaf10", "switch-1, switch-1, leaf10"),
            ("10 ports of 10.0.0.9", "10 ports of host-2"),
            ("gate is gate.corp", "0x0200000000000004 is 0x0200000000000004"),
        ] {
            assert_eq!(aliases.anonymize_text(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_that_only_look_like_codes_are_removed() {
        let secret = || Some("node7 of corp".to_owned());
        let manager_in = |state| KnownManager {
            lid: None,
            manager: Some(SubnetManager { guid: Guid(0x1000), state, priority: Some(3) }),
        };
        let news = FabricEvent::ManagerChanged {
            before: manager_in(secret()),
            now: manager_in(Some("STANDBY".into())),
        };
        let remark =
            |code: &str| NoteRecord { code: code.into(), text: "node7".into(), count: 1, partial: false };
        let header = |format: &str, fabdeck: &str| CaptureHeader {
            format: format.into(),
            fabdeck: fabdeck.into(),
            source: "node7".into(),
            ..CaptureHeader::default()
        };
        let aliases = aliases();
        let json = |record| serde_json::to_string(&aliases.anonymize(record, true)).unwrap();
        let made = json(CaptureRecord::News(serde_json::to_value(news).unwrap()));
        assert!(made.contains("STANDBY") && !made.contains("corp"), "{made}");
        let made = json(CaptureRecord::Remarks(["FN-526", "FN-node7", "node7", "FN-"].map(remark).into()));
        assert!(made.contains("FN-526") && made.matches("FN-").count() == 1, "{made}");
        assert!(!made.contains("node7"), "{made}");
        let made = json(CaptureRecord::Header(header("node7/1", "0.1 node7")));
        assert!(made.contains("fabdeck.capture/1") && !made.contains("node7"), "{made}");
        let made = json(CaptureRecord::Header(header("fabdeck.capture/1", "0.1.0")));
        assert!(made.contains("fabdeck.capture/1") && made.contains("0.1.0"), "{made}");
    }

    #[test]
    fn numbers_keep_clear_of_what_is_there() {
        let guids = [Guid(5), Guid(0x0200_0000_0000_0002), Guid(0x0200_0001_0000_0001)].into();
        assert_eq!(find_free_range(&guids), 0x0200_0002_0000_0001);
    }
}
