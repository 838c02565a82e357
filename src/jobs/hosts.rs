//! From the names of hosts, as batch systems have them, to ports. The rule, for each adapter that computes:
//!
//! - it goes by the operator's name for it (node-name-map) and by its own description;
//! - of either the first word counts, without a device's name (`node7 HCA-1`, `node7-mlx5_0`);
//! - a name with its domain means that host; without one, or with another, hosts count whose names begin alike;
//! - several adapters of one host are all its own; hosts of several domains that a name fits are ambiguous.

use std::collections::{BTreeMap, BTreeSet};

use crate::fabric::{Fabric, JobMap, Names, NodeId, NodeKind};
use crate::files::jobs::JobList;
use crate::files::slurm::{host_name, host_word};
use crate::observe::{Notes, Place};

/// So many are named in a note.
const NAMED: usize = 5;

/// Adapters by the names of their hosts.
#[derive(Clone, Debug)]
pub struct Hosts<'f> {
    fabric: &'f Fabric,
    names: &'f Names,
    /// By the name without its domain: each name with its domain, and who bears it.
    by_name: BTreeMap<String, BTreeMap<&'f str, BTreeSet<NodeId>>>,
}

enum Found {
    Nodes(BTreeSet<NodeId>),
    /// Hosts that the name fits alike.
    Several(Vec<String>),
    Nobody,
}

impl<'f> Hosts<'f> {
    pub fn new(fabric: &'f Fabric, names: &'f Names) -> Self {
        let mut by_name: BTreeMap<String, BTreeMap<&str, BTreeSet<NodeId>>> = BTreeMap::new();
        let computes = |kind: NodeKind, aggregates: bool| kind == NodeKind::ChannelAdapter && !aggregates;
        for (id, node) in fabric.nodes() {
            if !computes(node.facts.kind, node.facts.is_aggregation()) {
                continue;
            }
            for name in [names.of(id), node.facts.description.as_str()] {
                if let (Some(word), Some(short)) = (host_word(name), host_name(name)) {
                    by_name.entry(short).or_default().entry(word).or_default().insert(id);
                }
            }
        }
        Self { fabric, names, by_name }
    }

    fn find(&self, host: &str) -> Found {
        let bearers = host_name(host).and_then(|short| self.by_name.get(&short));
        let Some(bearers) = bearers else {
            // Whoever writes a list by hand may write a GUID.
            let named = self.names.find(self.fabric, host, Some(NodeKind::ChannelAdapter));
            return if named.is_empty() { Found::Nobody } else { Found::Nodes(named.into_iter().collect()) };
        };
        match (bearers.get(host), bearers.len()) {
            (Some(nodes), _) => Found::Nodes(nodes.clone()),
            (None, 1) => Found::Nodes(bearers.values().flatten().copied().collect()),
            (None, _) => Found::Several(bearers.keys().map(|word| (*word).to_owned()).collect()),
        }
    }

    /// The jobs of a list by the ports of their hosts.
    pub fn place(&self, list: &JobList) -> Placed {
        let mut placed = Placed::default();
        let mut found: BTreeMap<&str, Found> = BTreeMap::new();
        let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut listed: BTreeSet<&str> = BTreeSet::new();
        for line in &list.lines {
            listed.insert(&line.job);
            match found.entry(&line.host).or_insert_with(|| self.find(&line.host)) {
                Found::Nodes(nodes) => {
                    let ports = nodes.iter().flat_map(|node| self.fabric.ports_of(*node));
                    ports.for_each(|(port, _)| placed.jobs.add(&line.job, port));
                }
                Found::Several(_) | Found::Nobody => {
                    missing.entry(&line.job).or_default().insert(&line.host);
                }
            }
        }
        placed.listed = listed.len();
        placed.missing = missing.into_iter().map(|(job, hosts)| (job.to_owned(), hosts.len())).collect();
        placed.hosts = found.len();
        for (host, found) in found {
            match found {
                Found::Nodes(_) => {}
                Found::Nobody => drop(placed.unknown.insert(host.to_owned())),
                Found::Several(bearers) => drop(placed.ambiguous.insert(host.to_owned(), bearers)),
            }
        }
        placed
    }
}

/// The jobs of a list on a fabric, and what of the list is not on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placed {
    pub jobs: JobMap,
    /// Jobs of the list, those without a known host included.
    pub listed: usize,
    /// Hosts of the list.
    pub hosts: usize,
    /// Hosts that the fabric does not have.
    pub unknown: BTreeSet<String>,
    /// Hosts whose name fits several, and these.
    pub ambiguous: BTreeMap<String, Vec<String>>,
    /// How many hosts of a job are either, where some are.
    pub missing: BTreeMap<String, usize>,
}

impl Placed {
    /// What is not on the fabric, in a note for each kind.
    pub fn notes(&self, place: &Place) -> Notes {
        let mut notes = Notes::new();
        let of = format!("of {} hosts with jobs", self.hosts);
        if !self.unknown.is_empty() {
            notes.add("FN-541", place.clone(), || {
                let named = some(self.unknown.iter().map(String::as_str));
                format!("{} {of} are not in the fabric and left out: {named}", self.unknown.len())
            });
        }
        if !self.ambiguous.is_empty() {
            notes.add("FN-542", place.clone(), || {
                let each = self.ambiguous.iter().map(|(host, fit)| format!("{host} ({})", fit.join(", ")));
                let each: Vec<String> = each.take(NAMED + 1).collect();
                let named = some(each.iter().map(String::as_str));
                format!("{} {of} fit several of the fabric and are left out: {named}", self.ambiguous.len())
            });
        }
        notes
    }
}

fn some<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.take(NAMED + 1).collect();
    if names.len() > NAMED {
        names[NAMED] = "...";
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::NameMap;
    use crate::files::jobs;
    use crate::files::text::Input;

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
        crate::files::ibnetdiscover::read(Input::new("t", lst.as_bytes())).unwrap().fabric
    }

    fn place(descriptions: &[&str], list: &str) -> (Placed, BTreeMap<String, Vec<String>>) {
        let fabric = fabric(descriptions);
        let names = Names::new(&fabric, &NameMap::default());
        let list = jobs::read(Input::new("t", list.as_bytes())).unwrap();
        let placed = Hosts::new(&fabric, &names).place(&list);
        let of = |port: &crate::fabric::PortId| names.of(fabric.port(*port).node).to_owned();
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
        assert_eq!((placed.listed, placed.hosts), (3, 13));
        assert_eq!(placed.missing, BTreeMap::from([("9".to_owned(), 6)]));
        let notes: Vec<String> =
            placed.notes(&Place::file("squeue")).iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "squeue: FN-541: 6 of 13 hosts with jobs are not in the fabric and left out: gpu1, gpu2, gpu3, gpu4, gpu5, ..."
            ]
        );
    }

    #[test]
    fn a_name_that_fits_hosts_of_two_domains_is_nobody() {
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
        assert!(placed.notes(&Place::file("f")).iter().any(|note| note.code == "FN-542"));
    }
}
