//! `[jobs]`: the source of running jobs, and the rules from adapters to hosts.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::console::features::jobs::jobs_model::JobSettings;
use crate::operations::jobs::job_request::JobListSource;
use crate::script::argument_values::duration;
use fabdeck_fabric::{HostRule, HostRules};

pub const JOBS_HINT: &str = "[jobs] has slurm = true, with squeue = \"PROGRAM\" if PATH has none, or file = \"LIST\"; \
                             interval = \"30s\"; and hosts = [{ adapter = \"rack*-{} HCA-*\", host = \"{}\" }]";

/// A mistake in the table, with the rule that contains it.
pub struct JobConfigError {
    pub what: String,
    pub rule: Option<usize>,
}

impl From<String> for JobConfigError {
    fn from(what: String) -> Self {
        Self { what, rule: None }
    }
}

impl From<&str> for JobConfigError {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

pub fn jobs(value: &toml::Value) -> Result<(JobSettings, HostRules), JobConfigError> {
    let table = value.as_table().ok_or("FD-7113: 'jobs' is not a table: write [jobs]")?;
    let (mut settings, mut slurm, mut squeue, mut list) = (JobSettings::default(), false, None, None);
    let mut rules = HostRules::default();
    for (key, value) in table {
        let text = || value.as_str().ok_or_else(|| format!("FD-7113: [jobs] {key}: the value is not a text"));
        match key.as_str() {
            "slurm" => {
                let flag = value.as_bool();
                slurm = flag.ok_or("FD-7113: [jobs] slurm: the value is neither true nor false")?;
            }
            "squeue" => squeue = Some(PathBuf::from(text()?)),
            "file" => list = Some(PathBuf::from(text()?)),
            "interval" => {
                let text = text()?;
                let interval =
                    duration(text).map_err(|why| format!("FD-7113: [jobs] {key}: '{text}': {why}"))?;
                settings.interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
            }
            "hosts" => rules = host_rules(value)?,
            _ => return Err(format!("FD-7113: [jobs] {key}: there is no such key").into()),
        }
    }
    settings.from = match (slurm, squeue, list) {
        (true, squeue, None) => Some(JobListSource::Slurm(squeue)),
        (false, None, list) => list.map(JobListSource::File),
        (true, _, Some(_)) => {
            return Err("FD-7113: [jobs] sets both slurm and file: leave one out".into());
        }
        (false, Some(_), _) => {
            return Err("FD-7113: [jobs] squeue is set without slurm: write slurm = true".into());
        }
    };
    Ok((settings, rules))
}

/// Reads the rules of a site, in their order.
fn host_rules(value: &toml::Value) -> Result<HostRules, JobConfigError> {
    const LIST: &str = "FD-7114: [jobs] hosts: the value is not a list of rules";
    let rules = value.as_array().ok_or(LIST)?.iter().enumerate().map(|(at, value)| {
        host_rule(value).map_err(|what| JobConfigError {
            what: format!("FD-7114: rule {} of hosts in [jobs]: {what}", at + 1),
            rule: Some(at),
        })
    });
    rules.collect::<Result<_, JobConfigError>>().map(HostRules::new)
}

fn host_rule(value: &toml::Value) -> Result<HostRule, String> {
    let table = value.as_table().ok_or("write { adapter = \"...\", host = \"...\" }")?;
    let (mut adapter, mut host) = (None, "{}");
    for (key, value) in table {
        let text = value.as_str().ok_or_else(|| format!("'{key}' is not a text"))?;
        match key.as_str() {
            "adapter" => adapter = Some(text),
            "host" => host = text,
            _ => return Err(format!("there is no key '{key}'; the keys are adapter and host")),
        }
    }
    HostRule::new(adapter.ok_or("the rule has no adapter")?, host)
}

/// Line on which a rule begins.
pub fn line_of_rule(text: &str, rule: usize) -> Option<usize> {
    let read = DeTable::parse(text).ok()?;
    let jobs = find_value(read.get_ref(), "jobs")?.get_ref().as_table()?;
    let hosts = find_value(jobs, "hosts")?;
    let start = hosts.get_ref().as_array()?.get(rule)?.span().start;
    Some(super::line_of(text, start))
}

fn find_value<'t, 'd>(table: &'t DeTable<'d>, key: &str) -> Option<&'t Spanned<DeValue<'d>>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::config::tests::parse;
    use fabdeck_fabric::NamedHost;

    #[test]
    fn only_one_source_of_jobs_is_configured() {
        let jobs = |text: &str| parse(&format!("[jobs]\n{text}\n")).map(|config| config.jobs);
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
        for text in [
            "slurm = true\nfile = \"a\"",
            "squeue = \"a\"",
            "slurm = 1",
            "file = 1",
            "interval = \"soon\"",
            "pbs = true",
        ] {
            assert!(jobs(text).unwrap_err().starts_with("c.toml:1: FD-7113"), "{text}");
        }
        assert!(parse("jobs = 3").unwrap_err().contains("FD-7113"));
    }

    #[test]
    fn rules_for_hosts_are_read_and_a_wrong_one_has_its_line() {
        let of = |rules: &str| parse(&format!("source = \"x\"\n[jobs]\nhosts = [\n{rules}]\n"));
        let config =
            of("  { adapter = \"rack*-{} HCA-*\" },\n  { adapter = \"ib{}\", host = \"cn{}\" },\n").unwrap();
        for (name, host) in [("rack1-cn7 HCA-2", "cn7"), ("ib12", "cn12")] {
            assert_eq!(config.host_rules.host_of(name), Some(NamedHost::Host(host.to_owned())), "{name}");
        }
        for (rule, why) in [
            ("{ adapter = \"rack*\" }", "must contain {} once"),
            ("{ host = \"{}\" }", "the rule has no adapter"),
            ("{ adapter = \"{}\", nodes = \"a\" }", "there is no key 'nodes'"),
            ("{ adapter = 1 }", "'adapter' is not a text"),
            ("\"{}\"", "write { adapter"),
        ] {
            let refused = of(&format!("  {{ adapter = \"{{}}-ib\" }},\n  {rule},\n")).unwrap_err();
            assert!(refused.starts_with("c.toml:5: FD-7114: rule 2 of hosts"), "{refused}");
            assert!(refused.contains(why), "{refused}");
        }
        assert!(parse("[jobs]\nhosts = 3").unwrap_err().starts_with("c.toml:1: FD-7114"));
    }
}
