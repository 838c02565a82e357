//! `[jobs]`: the source of running jobs, and the rules from adapters to hosts.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use crate::console::features::jobs::jobs_model::JobSettings;
use crate::operations::jobs::job_request::JobListSource;
use crate::script::config::values::{ConfigTable, interval, tables};
use fabdeck_fabric::{HostRule, HostRules};

/// Values of `[jobs]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobConfig {
    /// Source of the running jobs in the console.
    pub settings: JobSettings,
    /// Rules from names of adapters to hosts.
    pub host_rules: HostRules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobKeys {
    #[serde(default)]
    slurm: bool,
    squeue: Option<PathBuf>,
    file: Option<PathBuf>,
    #[serde(default, deserialize_with = "interval")]
    interval: Option<Duration>,
    /// The rules of a site, in their order.
    #[serde(default, deserialize_with = "tables")]
    hosts: Vec<HostRule>,
}

impl ConfigTable for JobConfig {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        let keys = JobKeys::deserialize(keys)?;
        let from = match (keys.slurm, keys.squeue, keys.file) {
            (true, squeue, None) => Some(JobListSource::Slurm(squeue)),
            (false, None, list) => list.map(JobListSource::File),
            (true, _, Some(_)) => return Err(Error::custom("slurm and file are both set: leave one out")),
            (false, Some(_), _) => {
                return Err(Error::custom("squeue is set without slurm: write slurm = true"));
            }
        };
        let mut settings = JobSettings { from, ..JobSettings::default() };
        if let Some(interval) = keys.interval {
            settings.interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        }
        Ok(Self { settings, host_rules: HostRules::new(keys.hosts) })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostRuleKeys {
    adapter: String,
    host: Option<String>,
}

impl ConfigTable for HostRule {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        let HostRuleKeys { adapter, host } = HostRuleKeys::deserialize(keys)?;
        Self::new(&adapter, host.as_deref().unwrap_or("{}")).map_err(Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::config::tests::parse;
    use fabdeck_fabric::NamedHost;

    #[test]
    fn only_one_source_of_jobs_is_configured() {
        let jobs = |text: &str| parse(&format!("[jobs]\n{text}\n")).map(|config| config.jobs.settings);
        assert_eq!(jobs("").unwrap(), JobSettings::default());
        let named = |from, interval_ms| JobSettings { from: Some(from), interval_ms };
        let usual = JobSettings::default().interval_ms;
        assert_eq!(jobs("slurm = true").unwrap(), named(JobListSource::Slurm(None), usual));
        let own = jobs("slurm = true\nsqueue = \"/opt/squeue\"\ninterval = \"2m\"").unwrap();
        assert_eq!(own, named(JobListSource::Slurm(Some("/opt/squeue".into())), 120_000));
        assert_eq!(
            jobs("file = \"jobs.txt\"").unwrap(),
            named(JobListSource::File("jobs.txt".into()), usual)
        );
        for (text, begins) in [
            ("slurm = true\nfile = \"a\"", "c.toml:1: FD-7113: 'jobs'"),
            ("squeue = \"a\"", "c.toml:1: FD-7113: 'jobs'"),
            ("slurm = 1", "c.toml:2: FD-7113: 'jobs.slurm'"),
            ("slurm = false\nfile = 1", "c.toml:3: FD-7113: 'jobs.file'"),
            ("interval = \"soon\"", "c.toml:2: FD-7113: 'jobs.interval'"),
            ("slurm = true\n\npbs = true", "c.toml:4: FD-7113: 'jobs.pbs'"),
        ] {
            let refused = jobs(text).unwrap_err();
            assert!(refused.starts_with(begins), "{refused}");
        }
    }

    #[test]
    fn rules_for_hosts_are_read_and_a_wrong_one_has_its_line() {
        let of = |rules: &str| parse(&format!("source = \"x\"\n[jobs]\nhosts = [\n{rules}]\n"));
        let config =
            of("  { adapter = \"rack*-{} HCA-*\" },\n  { adapter = \"ib{}\", host = \"cn{}\" },\n").unwrap();
        for (name, host) in [("rack1-cn7 HCA-2", "cn7"), ("ib12", "cn12")] {
            assert_eq!(
                config.jobs.host_rules.host_of(name),
                Some(NamedHost::Host(host.to_owned())),
                "{name}"
            );
        }
        for (rule, why) in [
            ("{ adapter = \"rack*\" }", "must contain {} once"),
            ("{ host = \"{}\" }", "missing key `adapter`"),
            ("{ adapter = \"{}\", nodes = \"a\" }", "unknown key `nodes`"),
            ("{ adapter = 1 }", "'jobs.hosts[2].adapter': invalid type: integer `1`, expected a string"),
            ("\"{}\"", "expected a table"),
            ("[\"{}\"]", "expected a table"),
        ] {
            let refused = of(&format!("  {{ adapter = \"{{}}-ib\" }},\n  {rule},\n")).unwrap_err();
            assert!(refused.starts_with("c.toml:5: FD-7114: 'jobs.hosts[2]"), "{refused}");
            assert!(refused.contains(why), "{refused}");
        }
        assert!(parse("[jobs]\nhosts = 3").unwrap_err().starts_with("c.toml:2: FD-7114: 'jobs.hosts'"));
    }
}
