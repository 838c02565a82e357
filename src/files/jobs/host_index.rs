//! Maps host names of batch systems to ports. The rule for each compute adapter:
//!
//! - its names are the operator's name for it (node-name-map) and its own description;
//! - a rule of the site that fits a name decides its host; a rule that fits in several ways leaves the name out;
//! - otherwise the first word is the host, without the name of the device (`node7 HCA-1`, `node7-mlx5_0`);
//! - a listed name with its domain means that host; without a domain, or with an unknown one, it means the hosts with
//!   the same first label;
//! - case matters, as for Slurm;
//! - several adapters of one host belong to it; a listed name that fits hosts of several domains is ambiguous, unless
//!   the same adapters have all of these names.

use std::collections::{BTreeMap, BTreeSet};

use crate::job_lists::JobList;
use crate::slurm::{host_name, host_word};
use fabdeck_fabric::observe::{NotePlace, Notes, digits_in_groups};
use fabdeck_fabric::{Fabric, JobMap, NamedHost, Names, NodeId, NodeKind};

/// Most names in a note.
const MAX_NAMES: usize = 5;

/// Adapters by the names of their hosts.
#[derive(Clone, Debug)]
pub struct HostIndex<'f> {
    fabric: &'f Fabric,
    names: &'f Names,
    /// By the name without its domain: each name with its domain, and its adapters.
    by_name: BTreeMap<String, BTreeMap<String, BTreeSet<NodeId>>>,
    /// Adapters whose rule fits in several ways, with the possible hosts.
    unclear: BTreeMap<String, Vec<String>>,
}

enum HostMatch {
    Nodes(BTreeSet<NodeId>),
    /// Hosts that the name fits equally.
    Several(Vec<String>),
    Unknown,
}

impl<'f> HostIndex<'f> {
    pub fn new(fabric: &'f Fabric, names: &'f Names) -> Self {
        let mut by_name: BTreeMap<String, BTreeMap<String, BTreeSet<NodeId>>> = BTreeMap::new();
        let mut unclear = BTreeMap::new();
        let computes = |kind: NodeKind, aggregates: bool| kind == NodeKind::ChannelAdapter && !aggregates;
        for (id, node) in fabric.nodes() {
            if !computes(node.facts.kind, node.facts.is_aggregation()) {
                continue;
            }
            for name in [names.name(id), node.facts.description.as_str()] {
                let named = match names.host_rules().host_of(name) {
                    Some(NamedHost::Several(hosts)) => {
                        unclear.insert(name.to_owned(), hosts);
                        continue;
                    }
                    Some(NamedHost::Host(host)) => Some((host_of_word(&host), host)),
                    None => host_name(name).zip(host_word(name).map(str::to_owned)),
                };
                if let Some((short, word)) = named {
                    by_name.entry(short).or_default().entry(word).or_default().insert(id);
                }
            }
        }
        Self { fabric, names, by_name, unclear }
    }

    fn find(&self, host: &str) -> HostMatch {
        let adapters = self.by_name.get(&host_of_word(host));
        let adapters = adapters.or_else(|| self.by_name.get(&host_name(host)?));
        let Some(adapters) = adapters else {
            // A list by hand may name GUIDs.
            let named = self.names.find(self.fabric, host, Some(NodeKind::ChannelAdapter));
            return if named.is_empty() {
                HostMatch::Unknown
            } else {
                HostMatch::Nodes(named.into_iter().collect())
            };
        };
        let mut sets = adapters.values();
        // An adapter with two names is one host.
        let first = sets.next().filter(|first| sets.all(|nodes| nodes == *first));
        match adapters.get(host).or(first) {
            Some(nodes) => HostMatch::Nodes(nodes.clone()),
            None => HostMatch::Several(adapters.keys().cloned().collect()),
        }
    }

    /// A host whose name differs only in case.
    fn similar_name(&self, host: &str) -> Option<String> {
        let short = host_of_word(host);
        self.by_name.keys().find(|name| name.eq_ignore_ascii_case(&short)).cloned()
    }

    /// The jobs of a list, mapped to the ports of their hosts.
    pub fn place_jobs(&self, list: &JobList) -> JobPlacement {
        let mut placed = JobPlacement { unclear: self.unclear.clone(), ..JobPlacement::default() };
        let mut found: BTreeMap<&str, HostMatch> = BTreeMap::new();
        let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut jobs_of: BTreeMap<NodeId, (&str, BTreeSet<&str>)> = BTreeMap::new();
        let mut listed: BTreeSet<&str> = BTreeSet::new();
        for line in &list.lines {
            listed.insert(&line.job);
            match found.entry(&line.host).or_insert_with(|| self.find(&line.host)) {
                HostMatch::Nodes(nodes) => {
                    let Some(first) = nodes.first().copied() else { continue };
                    for (port, _) in nodes.iter().flat_map(|node| self.fabric.ports_of(*node)) {
                        placed.jobs.add(&line.job, port);
                        if self.fabric.port(port).node != first {
                            placed.jobs.join_host(port, first);
                        }
                    }
                    let own = jobs_of.entry(first).or_insert_with(|| (&line.host, BTreeSet::new()));
                    own.1.insert(&line.job);
                }
                HostMatch::Several(_) | HostMatch::Unknown => {
                    missing.entry(&line.job).or_default().insert(&line.host);
                    placed.missing_in.entry(line.host.clone()).or_default().insert(line.job.clone());
                }
            }
        }
        placed.listed = listed.len();
        placed.missing = missing.into_iter().map(|(job, hosts)| (job.to_owned(), hosts.len())).collect();
        placed.hosts = found.len();
        placed.on = jobs_of.len();
        for (host, jobs) in jobs_of.into_values().filter(|(_, jobs)| jobs.len() > 1) {
            placed.shared.insert(host.to_owned(), jobs.len());
        }
        for (host, found) in found {
            match found {
                HostMatch::Nodes(_) => {}
                HostMatch::Unknown => {
                    placed.unknown.insert(host.to_owned());
                    placed.meant.extend(self.similar_name(host).map(|name| (host.to_owned(), name)));
                }
                HostMatch::Several(hosts) => drop(placed.ambiguous.insert(host.to_owned(), hosts)),
            }
        }
        placed
    }
}

/// The jobs of a list on a fabric, and the part of the list that is not on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobPlacement {
    pub jobs: JobMap,
    /// Number of jobs in the list, those without a known host included.
    pub listed: usize,
    /// Number of hosts in the list, by name.
    pub hosts: usize,
    /// Number of hosts of the fabric among them, each counted once.
    pub on: usize,
    /// Hosts with several jobs, and number of their jobs.
    pub shared: BTreeMap<String, usize>,
    /// Hosts that the fabric lacks.
    pub unknown: BTreeSet<String>,
    /// Of these, hosts that the fabric has with other case.
    pub meant: BTreeMap<String, String>,
    /// Hosts whose name fits several of the fabric, with these.
    pub ambiguous: BTreeMap<String, Vec<String>>,
    /// Adapters whose name fits a rule of the site in several ways, with the possible hosts.
    pub unclear: BTreeMap<String, Vec<String>>,
    /// Number of unknown or ambiguous hosts of each job, if any.
    pub missing: BTreeMap<String, usize>,
    /// The jobs of each of these hosts.
    pub missing_in: BTreeMap<String, BTreeSet<String>>,
}

impl JobPlacement {
    /// Whether jobs run, but none of their hosts is known for certain on the fabric.
    pub fn is_on_other_fabric(&self) -> bool {
        self.hosts > 0 && self.jobs.is_empty()
    }

    /// The message for that case.
    pub fn other_fabric_text(&self) -> String {
        let named = list_some(self.unknown.iter().chain(self.ambiguous.keys()).map(String::as_str));
        format!(
            "none of the hosts with jobs ({}: {named}) is in the fabric; check that the list is of this fabric, and \
             the order of its columns",
            digits_in_groups(self.hosts)
        )
    }

    /// The note that no job runs, for a command that computes routes for jobs.
    pub fn idle_note(&self, place: &NotePlace) -> Notes {
        let mut notes = Notes::new();
        if self.hosts == 0 {
            notes.add("FN-546", place.clone(), || "no job runs".to_owned());
        }
        notes
    }

    /// Notes on hosts that are not on the fabric, one for each kind.
    pub fn notes(&self, place: &NotePlace) -> Notes {
        let mut notes = Notes::new();
        let hosts = if self.hosts == 1 { "host" } else { "hosts" };
        let of = format!("of {} {hosts} with jobs", digits_in_groups(self.hosts));
        if self.is_on_other_fabric() {
            notes.add_partial("FN-545", place.clone(), || self.other_fabric_text());
        }
        if !self.unknown.is_empty() {
            notes.add("FN-541", place.clone(), || {
                let named = list_some(self.unknown.iter().map(String::as_str));
                let meant = self.meant.first_key_value().map_or_else(String::new, |(host, name)| {
                    format!("; the fabric has {name} for {host}: names are case-sensitive")
                });
                let are = if self.unknown.len() == 1 { "is" } else { "are" };
                format!(
                    "{} {of} {are} not in the fabric and left out: {named}{meant}",
                    digits_in_groups(self.unknown.len())
                )
            });
        }
        if !self.ambiguous.is_empty() {
            notes.add("FN-542", place.clone(), || {
                let each = self.ambiguous.iter().map(|(host, fit)| format!("{host} ({})", fit.join(", ")));
                let each: Vec<String> = each.take(MAX_NAMES + 1).collect();
                let named = list_some(each.iter().map(String::as_str));
                let fit = if self.ambiguous.len() == 1 { "fits" } else { "fit" };
                format!(
                    "{} {of} {fit} several hosts of the fabric; left out: {named}",
                    digits_in_groups(self.ambiguous.len())
                )
            });
        }
        if !self.unclear.is_empty() {
            notes.add("FN-543", place.clone(), || {
                let each =
                    self.unclear.iter().map(|(name, hosts)| format!("'{name}' ({})", hosts.join(" or ")));
                let each: Vec<String> = each.take(MAX_NAMES + 1).collect();
                let named = list_some(each.iter().map(String::as_str));
                let fit = if self.unclear.len() == 1 {
                    "name of an adapter fits its"
                } else {
                    "names of adapters fit their"
                };
                format!(
                    "{} {fit} rule in [jobs] in several ways; the hosts stay unknown: {named}",
                    digits_in_groups(self.unclear.len())
                )
            });
        }
        if !self.shared.is_empty() {
            notes.add("FN-544", place.clone(), || {
                let each = self.shared.iter().map(|(host, jobs)| format!("{host} ({jobs})"));
                let each: Vec<String> = each.take(MAX_NAMES + 1).collect();
                let named = list_some(each.iter().map(String::as_str));
                let have = if self.shared.len() == 1 { "has" } else { "have" };
                format!(
                    "{} {of} {have} several jobs: {named}; a host is shared, or the list is out of date",
                    digits_in_groups(self.shared.len())
                )
            });
        }
        notes
    }
}

/// A host's name without its domain, from a rule or a list.
fn host_of_word(word: &str) -> String {
    let address = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let short = if address { word } else { word.split('.').next().unwrap_or(word) };
    short.to_owned()
}

fn list_some<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.take(MAX_NAMES + 1).collect();
    if names.len() > MAX_NAMES {
        names[MAX_NAMES] = "...";
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_lists;
    use crate::text::Input;
    use fabdeck_fabric::{Guid, HostRule, HostRules, NameMap};

    /// A switch with an adapter for each description.
    fn fabric(descriptions: &[&str]) -> Fabric {
        use std::fmt::Write;
        let mut lst = String::from("vendid=0x2c9\nswitchguid=0x100(100)\n");
        writeln!(
            lst,
            "Switch {} \"S-0000000000000100\" # \"leaf\" base port 0 lid 1 lmc 0",
            descriptions.len()
        )
        .unwrap();
        for (at, name) in descriptions.iter().enumerate() {
            writeln!(lst, "[{}] \"H-{:016x}\"[1] # \"{name}\" lid {} 4xEDR", at + 1, 0x200 + at, at + 2)
                .unwrap();
        }
        for (at, name) in descriptions.iter().enumerate() {
            let guid = 0x200 + at;
            writeln!(lst, "\ncaguid=0x{guid:x}\nCa 1 \"H-{guid:016x}\" # \"{name}\"").unwrap();
            writeln!(
                lst,
                "[1]({guid:x}) \"S-0000000000000100\"[{}] # lid {} lmc 0 \"leaf\" lid 1 4xEDR",
                at + 1,
                at + 2
            )
            .unwrap();
        }
        crate::ibnetdiscover::read(Input::new("t", lst.as_bytes())).unwrap().fabric
    }

    fn place(descriptions: &[&str], list: &str) -> (JobPlacement, BTreeMap<String, Vec<String>>) {
        let fabric = fabric(descriptions);
        let names = Names::new(&fabric, &NameMap::default());
        let list = job_lists::read(Input::new("t", list.as_bytes())).unwrap();
        let placed = HostIndex::new(&fabric, &names).place_jobs(&list);
        let of = |port: &fabdeck_fabric::PortId| names.name(fabric.port(*port).node).to_owned();
        let jobs = placed.jobs.iter().map(|(job, ports)| (job.clone(), ports.iter().map(of).collect()));
        let jobs = jobs.collect();
        (placed, jobs)
    }

    #[test]
    fn hosts_go_by_their_names_without_device_and_domain() {
        let descriptions = ["n1 HCA-1", "n2 mlx5_0", "n2 mlx5_1", "n3.ib.site mlx5_0", "n4-mlx5_2", "mlx5_0"];
        let (placed, jobs) = place(&descriptions, "7 n[1-4]\n8 n2.site,n3.ib.site\n9 mlx5_0,gpu[1-6]\n");
        assert_eq!(jobs["7"], ["n1 HCA-1", "n2 mlx5_0", "n2 mlx5_1", "n3.ib.site mlx5_0", "n4-mlx5_2"]);
        assert_eq!(jobs["8"], ["n2 mlx5_0", "n2 mlx5_1", "n3.ib.site mlx5_0"]);
        assert_eq!((placed.listed, placed.hosts, placed.on), (3, 13, 5));
        assert_eq!(placed.missing_in["gpu6"], BTreeSet::from(["9".to_owned()]));
        assert_eq!(placed.missing, BTreeMap::from([("9".to_owned(), 6)]));
        let notes: Vec<String> =
            placed.notes(&NotePlace::file("squeue")).iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "squeue: FN-541: 6 of 13 hosts with jobs are not in the fabric and left out: gpu1, gpu2, gpu3, gpu4, gpu5, ...",
                "squeue: FN-544: 2 of 13 hosts with jobs have several jobs: n2 (2), n3 (2); a host is shared, or the list is out of date"
            ]
        );
    }

    #[test]
    fn a_name_in_other_case_is_shown_as_it_is_written() {
        let (placed, jobs) = place(&["Node1.site HCA-1", "n2 HCA-1"], "7 node1,n2,N3\n");
        assert_eq!(jobs["7"], ["n2 HCA-1"]);
        let note = placed.notes(&NotePlace::file("f")).iter().next().unwrap().to_string();
        assert!(
            note.ends_with("left out: N3, node1; the fabric has Node1 for node1: names are case-sensitive"),
            "{note}"
        );
    }

    #[test]
    fn rules_of_a_site_come_first_and_ambiguous_ones_are_noted() {
        let descriptions =
            ["rack1-cn7 HCA-1", "rack1-cn7 HCA-2", "rack2-cn-8 HCA-1", "n9 HCA-1", "ib0.site mlx5_0"];
        let fabric = fabric(&descriptions);
        let rules = [("rack*-{} HCA-*", "{}"), ("ib{} *", "cn{}")];
        let rules = rules.iter().map(|(adapter, host)| HostRule::new(adapter, host).unwrap()).collect();
        let names = Names::new(&fabric, &NameMap { hosts: HostRules::new(rules), ..NameMap::default() });
        let list = "7 cn7,n9,cn0\n8 rack1-cn7,cn-8\n";
        let placed = HostIndex::new(&fabric, &names)
            .place_jobs(&job_lists::read(Input::new("t", list.as_bytes())).unwrap());
        assert_eq!(
            placed.jobs.iter().map(|(job, ports)| (job.as_str(), ports.len())).collect::<Vec<_>>(),
            [("7", 4)]
        );
        assert_eq!(placed.missing, BTreeMap::from([("8".to_owned(), 2)]));
        let notes: Vec<String> =
            placed.notes(&NotePlace::file("f")).iter().map(ToString::to_string).collect();
        assert!(
            notes[1].contains("FN-543") && notes[1].contains("'rack2-cn-8 HCA-1' (8 or cn-8)"),
            "{notes:?}"
        );
        // Names of elements follow the rules too.
        assert_eq!(names.find(&fabric, "cn7", None).len(), 2);
        assert!(names.find(&fabric, "rack1-cn7", None).is_empty());
    }

    /// The operator's name has one domain, the description none, and the list another: all mean the same adapter.
    #[test]
    fn an_adapter_that_goes_by_two_names_is_one_host() {
        let fabric = fabric(&["node0 HCA-1", "node1 HCA-1"]);
        let map = NameMap { by_guid: [(Guid(0x200), "node0.ib".to_owned())].into(), ..NameMap::default() };
        let names = Names::new(&fabric, &map);
        let list = job_lists::read(Input::new("t", b"node0.site 7\nnode1.site 7\n")).unwrap();
        let placed = HostIndex::new(&fabric, &names).place_jobs(&list);
        assert_eq!(placed.ambiguous, BTreeMap::new());
        assert_eq!(placed.jobs.iter().next().unwrap().1.len(), 2);
    }

    #[test]
    fn adapters_of_one_host_are_one() {
        let fabric = fabric(&["n1 HCA-1", "n1 HCA-2", "n2 HCA-1"]);
        let names = Names::new(&fabric, &NameMap::default());
        let list = job_lists::read(Input::new("t", b"7 n[1-2]\n8 n1.site\n")).unwrap();
        let placed = HostIndex::new(&fabric, &names).place_jobs(&list);
        let hosts = |job: &str| -> Vec<NodeId> {
            let (_, ports) = placed.jobs.iter().find(|(name, _)| *name == job).unwrap();
            ports.iter().map(|port| placed.jobs.host(&fabric, *port)).collect()
        };
        let (seven, eight) = (hosts("7"), hosts("8"));
        assert_eq!(seven.len(), 3);
        assert!(seven[0] == seven[1] && seven[1] != seven[2] && eight == seven[..2], "{seven:?} {eight:?}");
        assert_eq!((placed.hosts, placed.on, placed.shared.len()), (3, 2, 1));
    }

    #[test]
    fn a_name_of_hosts_in_two_domains_is_ambiguous() {
        let descriptions = ["n1.east mlx5_0", "n1.west mlx5_0", "n2 mlx5_0", "n2 mlx5_0"];
        let (placed, jobs) = place(&descriptions, "7 n1\n8 n1.west,n2\n");
        assert_eq!(
            jobs,
            BTreeMap::from([(
                "8".to_owned(),
                vec!["n1.west mlx5_0".to_owned(), "n2 mlx5_0".to_owned(), "n2 mlx5_0".to_owned()]
            )])
        );
        assert_eq!(placed.ambiguous["n1"], ["n1.east", "n1.west"]);
        assert!(placed.notes(&NotePlace::file("f")).iter().any(|note| note.code == "FN-542"));
    }
}
