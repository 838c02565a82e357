//! Anonymous jobs: a job becomes a number, and its hosts get the aliases of their adapters.

use std::collections::{BTreeMap, BTreeSet};

use crate::capture_format::JobsRecord;
use crate::slurm::{host_name, host_word};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::JobHosts;

/// The jobs and hosts that a capture names, over its whole time.
#[derive(Clone, Debug, Default)]
pub(super) struct JobNames {
    jobs: BTreeSet<String>,
    hosts: BTreeSet<String>,
}

impl JobNames {
    pub fn add(&mut self, record: &JobsRecord) {
        let list = record.list.iter().flatten();
        for (job, hosts) in list {
            self.jobs.insert(job.clone());
            self.hosts.extend(hosts.iter().cloned());
        }
    }
}

/// Aliases of jobs and hosts. A host whose adapters have several aliases gets all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct JobAliases {
    jobs: BTreeMap<String, String>,
    hosts: BTreeMap<String, BTreeSet<String>>,
}

impl JobAliases {
    /// `adapters`: each name of a compute adapter, with its alias; `guid`: the alias of a GUID.
    pub fn new<'n>(
        named: &JobNames,
        adapters: impl Iterator<Item = (&'n str, &'n str)>,
        guid: impl Fn(Guid) -> Option<Guid>,
    ) -> Self {
        let number = |(job, at): (&String, usize)| (job.clone(), format!("job-{at}"));
        let jobs = named.jobs.iter().zip(1..).map(number).collect();
        // The rule that finds the adapters of a host: without its domain, then with it.
        let mut bearers = BTreeMap::<String, BTreeMap<&str, BTreeSet<String>>>::new();
        for (name, alias) in adapters {
            if let (Some(word), Some(short), Some(alias)) =
                (host_word(name), host_name(name), host_word(alias))
            {
                bearers.entry(short).or_default().entry(word).or_default().insert(alias.to_owned());
            }
        }
        let found = |host: &str| {
            let fit = host_name(host).and_then(|short| bearers.get(&short));
            let Some(fit) = fit else {
                let named = Guid::from_hex(host).ok().and_then(&guid);
                return named.map(|guid| [guid.to_string()].into());
            };
            match (fit.get(host), fit.len()) {
                (Some(aliases), _) => Some(aliases.clone()),
                (None, 1) => Some(fit.values().flatten().cloned().collect()),
                (None, _) => None,
            }
        };
        let mut nowhere = 0;
        let mut alias = |host: &String| {
            let aliases = found(host).unwrap_or_else(|| {
                nowhere += 1;
                [format!("elsewhere-{nowhere}")].into()
            });
            (host.clone(), aliases)
        };
        Self { jobs, hosts: named.hosts.iter().map(&mut alias).collect() }
    }

    pub fn anonymize(&self, record: JobsRecord, left_out: &str) -> JobsRecord {
        let hosts = |hosts: BTreeSet<String>| {
            hosts.iter().filter_map(|host| self.hosts.get(host)).flatten().cloned().collect()
        };
        let job = |(job, own): (String, BTreeSet<String>)| Some((self.jobs.get(&job)?.clone(), hosts(own)));
        let list = |list: JobHosts| list.into_iter().filter_map(job).collect();
        JobsRecord {
            heard: record.heard,
            silent: record.silent.map(|_| left_out.to_owned()),
            list: record.list.map(list),
        }
    }
}
