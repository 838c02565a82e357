//! The details of a job.

use super::screen::{JobsScreen, MAX_NAMED_CHANNELS};
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::detail_page::{DetailLine, DetailPage};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::rows::percent_change;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ChannelId, NodeId, PortId};
use fabdeck_files::slurm::{compress, host_name};
use fabdeck_routing::analysis::EffectiveIndex;

/// The details of a job, by its index in the map of jobs.
pub fn job_detail(screen: &JobsScreen, job: usize) -> Option<DetailPage> {
    let (comparison, look) = screen.comparison.as_ref()?;
    let (name, ports) = comparison.jobs.iter().nth(job)?;
    let (now, then) = (comparison.effective_in_force(job), comparison.effective_proposed(job));
    let mut pairs = vec![("hosts", hosts(look, ports.iter().copied()))];
    let missing = comparison.placed.missing.get(name);
    pairs.extend(missing.map(|missing| {
        ("missing", format!("{missing} of its hosts match no host of the fabric, or several"))
    }));
    pairs.push(("switches", switches(look, ports.iter().copied())));
    pairs.extend(figure_lines(now, then));
    pairs.extend(busiest_lines("most paths", comparison, look, now));
    pairs.extend(busiest_lines("with sar", comparison, look, then));
    Some(DetailPage { title: format!("Job {name}"), pairs, ports: Vec::new() })
}

/// The hosts in Slurm's notation.
pub(crate) fn hosts(look: &Snapshot, ports: impl Iterator<Item = PortId>) -> String {
    let name = |port: PortId| {
        let name = look.name(look.fabric().port(port).node);
        host_name(name).unwrap_or_else(|| name.to_owned())
    };
    let mut names: Vec<String> = ports.map(name).collect();
    names.sort();
    names.dedup();
    format!("{}: {}", names.len(), compress(&names))
}

pub(crate) fn switches(look: &Snapshot, ports: impl Iterator<Item = PortId>) -> String {
    let fabric = look.fabric();
    let nodes = ports.filter_map(|port| Some(fabric.port(fabric.port(port).peer?).node));
    let nodes: std::collections::BTreeSet<NodeId> = nodes.collect();
    let names: Vec<String> = nodes.iter().map(|node| look.unique_name(*node).into_owned()).collect();
    format!("{}: {}", names.len(), names.join(", "))
}

pub(crate) fn figure_lines(now: Option<&EffectiveIndex>, then: Option<&EffectiveIndex>) -> Vec<DetailLine> {
    let figure = |of: &dyn Fn(&EffectiveIndex) -> String| {
        let now = now.map_or_else(|| "not known without forwarding tables".to_owned(), of);
        then.map_or(now.clone(), |then| format!("{now} -> {}", of(then)))
    };
    let change = now.zip(then).and_then(|(now, then)| percent_change(now.max as f64, then.max as f64));
    let change = change.map(|change| format!(" ({change})")).unwrap_or_default();
    vec![
        ("busiest", figure(&|job| job.max.to_string()) + &change),
        ("links", figure(&|job| job.used_channels().to_string())),
        ("unused", figure(&|job| format!("{:.1} %", job.dark_fiber))),
    ]
}

/// The channels with the most paths of the job; the first line has the label.
pub(crate) fn busiest_lines(
    label: &'static str,
    comparison: &JobComparison,
    look: &Snapshot,
    job: Option<&EffectiveIndex>,
) -> Vec<DetailLine> {
    let mut loads = job.map(|job| job.loads.clone()).unwrap_or_default();
    loads.sort_by_key(|(channel, paths)| (std::cmp::Reverse(*paths), *channel));
    let words = |(channel, paths): &(ChannelId, u64)| {
        let port = *comparison.channels.get(channel.index())?;
        let peer = look.fabric().port(port).peer?;
        let paths = digits_in_groups(paths);
        Some(format!("{paths} paths {} to {}", look.unique_port_name(port), look.unique_port_name(peer)))
    };
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(loads.iter().take(MAX_NAMED_CHANNELS).filter_map(words)).collect()
}
