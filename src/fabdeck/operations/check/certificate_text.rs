//! The text of certificates, and the wrapping of text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::choices::ChoiceReport;
use super::judgement::{CertificateReport, LoadBalance};
use super::loads::{Bandwidth, JobFigures, JobLoadRow, JobReport, LoadReport};
use crate::catalogue::summary::count_words;
use crate::operations::lanes::levels::{FROM_PATH_LIST, FROM_QOS_POLICY, LEVEL_ASSUMED};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_routing::analysis::GroupDamage;

/// Finding: `--strict` was given, and whether there is a credit loop is unknown.
const UNDECIDED: &str = "FN-707";

/// The report as label and text pairs.
pub fn report_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let by_kind = &report.by_kind;
    let mut pairs = vec![
        (
            "pairs",
            match report.kept_apart {
                None | Some(0) => format!("{} ordered pairs, unicast only", digits_in_groups(report.pairs)),
                Some(_) => format!(
                    "{} ordered pairs that share a partition, unicast only",
                    digits_in_groups(report.pairs)
                ),
            },
        ),
        (
            "unreachable",
            match (report.unreachable, report.limited_paths) {
                (0, 0) if report.unread_pairs > 0 => "none known".to_owned(),
                (0, 0) => "none".to_owned(),
                (0, _) => "none; paths that are dropped are not counted here".to_owned(),
                (some, dropped) => format!(
                    "{}: {} of hosts, {} with an aggregation node, {} with a switch{}",
                    digits_in_groups(some),
                    digits_in_groups(by_kind.hosts),
                    digits_in_groups(by_kind.aggregation),
                    digits_in_groups(by_kind.switches),
                    if dropped > 0 { "; paths that are dropped are not counted here" } else { "" }
                ),
            },
        ),
    ];
    if let Some(plane) = report.covers.strip_prefix("unicast of ") {
        pairs.push(("judged", format!("for {plane}; the other planes are not judged")));
    }
    pairs.extend(partition_lines(report));
    if report.unreachable > 0 {
        pairs.extend(lost_lines(report));
    }
    pairs.extend(partly_reached_lines(report));
    pairs.push(("loops", if report.loops == 0 { "none".to_owned() } else { digits_in_groups(report.loops) }));
    pairs.extend(report.loop_examples.iter().take(3).map(|round| ("  such as", round.join(" -> "))));
    pairs.extend(report.choices.iter().flat_map(choice_lines));
    pairs.push(("deadlock", deadlock_words(report)));
    if report.kept_apart.is_some_and(|apart| apart > 0) {
        pairs.push(("", "judged over all pairs, whatever their partitions".to_owned()));
    }
    if let Some((channels, paths)) = report.cycle.as_ref().zip(report.cycle_paths.as_ref()) {
        let waits = channels.iter().zip(paths);
        pairs.extend(waits.map(|(channel, path)| ("  waits", format!("{channel}, by the path {path}"))));
    }
    if !report.lane_limits.is_empty() {
        let which = match report.limited_paths {
            0 => "paths on lanes that a port on them does not have".to_owned(),
            some => format!("{} paths, at ports that do not have their lane", digits_in_groups(some)),
        };
        pairs.push(("dropped", which));
        pairs.extend(report.lane_limits.iter().take(3).map(|limit| ("  why", limit.clone())));
    }
    pairs.extend(path_lines(report));
    pairs.extend(usage_lines(report));
    pairs.extend(unknown_lines(report));
    pairs
}

/// The lines about pairs that partitions keep apart. Partitions that keep no pair apart have none.
fn partition_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some((apart, partitions)) =
        report.kept_apart.zip(report.partitions).filter(|(apart, _)| *apart > 0)
    {
        let from = report.partitions_from.map_or_else(String::new, |from| format!(" by {from}"));
        lines.push(("partitions", format!("{partitions}{from}")));
        lines.push(kept_apart_line(apart));
    }
    lines.extend(doubtful_partition_lines(report.unknown_partitions, report.dropped_partitions));
    lines
}

/// The lines about ports whose P_Key table is not known, and memberships whose packets switch ports drop.
pub fn doubtful_partition_lines(unknown: u64, dropped: u64) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if dropped > 0 {
        let members = count_words(dropped as usize, "membership", "memberships");
        lines.push((
            "  dropped",
            format!("switch ports drop the packets of {members} (show partitions --filter at_switch=drops)"),
        ));
    }
    if unknown > 0 {
        let ports = count_words(unknown as usize, "port", "ports");
        lines.push(("  unknown", format!("the P_Key tables of {ports}, which count as in every partition")));
    }
    lines
}

/// The line about pairs that partitions keep apart.
pub fn kept_apart_line(apart: u64) -> (&'static str, String) {
    let apart = digits_in_groups(apart);
    ("kept apart", format!("{apart} pairs by partitions: neither lost nor counted as pairs"))
}

/// The lines about what choices of adaptive routing do.
fn choice_lines(choices: &ChoiceReport) -> Vec<(&'static str, String)> {
    if choices.paths == 0 {
        return Vec::new();
    }
    let paths = digits_in_groups(choices.paths);
    let ports = count_words(choices.most_ports as usize, "port", "ports");
    let all = match choices.lost_paths {
        0 => format!(
            "{paths} paths arrive by every choice among up to {ports}, after {} hops at most",
            choices.longest_path
        ),
        some => format!(
            "{} of {paths} paths can be lost by a choice, {} of them by every choice",
            digits_in_groups(some),
            digits_in_groups(choices.always_lost_paths)
        ),
    };
    let mut lines = vec![("choices", all)];
    lines.extend(choices.lost_examples.iter().map(|lost| ("  such as", lost.clone())));
    if choices.loops > 0 {
        lines.push((
            "  loops",
            format!("{} that choices can send packets around", digits_in_groups(choices.loops)),
        ));
        lines.extend(choices.loop_examples.iter().take(3).map(|round| ("  such as", round.join(" -> "))));
    }
    if choices.turns > 0 {
        let turns = count_words(choices.turns as usize, "place", "places");
        lines.push(("  turns", format!("packets can go back by the static port at {turns}")));
    }
    lines
}

/// Text for the verdict over all choices of adaptive routing.
fn choice_verdict(choices: &ChoiceReport, report: &CertificateReport, of_records: &str) -> String {
    if let Some(reason) = &choices.reason {
        return format!("not certified, because {reason}");
    }
    let switches = count_words(choices.switches as usize, "switch", "switches");
    match report.deadlock_free {
        Some(false) => {
            let waiting = report.cycle.as_ref().map_or(0, Vec::len);
            let lane = report.cycle_lane.unwrap_or(0);
            let from = match report.cycle.iter().flatten().any(|hop| hop.contains(" on lane ")) {
                true => format!("channels wait for each other, from lane {lane} on"),
                false => format!("channels of lane {lane} wait for each other"),
            };
            format!("credit loop: {waiting} {from}, by choices of adaptive routing{of_records}")
        }
        _ if report.whatever_lanes => {
            format!("free: no cycle of dependencies over all choices of {switches}, whatever lanes are used")
        }
        _ => format!("free: no cycle of dependencies over all choices of {switches}{of_records}"),
    }
}

/// The lines about path lengths and the balance over channels.
fn path_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let CertificateReport { longest_path, mean_stretch, worst_stretch, edge_forwarding_index: index, .. } =
        report;
    let stretch = match *worst_stretch > 1.0 {
        true => format!("; {mean_stretch:.2} times the fewest hops on average, {worst_stretch:.2} at worst"),
        false if *longest_path > 0 => "; none has more hops than necessary".to_owned(),
        false => String::new(),
    };
    let mut lines = vec![
        ("longest path", format!("{longest_path} hops between switches{stretch}")),
        ("balance", balance_words(index)),
    ];
    let picked = report.edge_forwarding_index_picked.as_ref();
    lines.extend(picked.map(|index| ("  picked", balance_words(index))));
    let busiest = report.busiest.iter().take(2);
    lines.extend(
        busiest.map(|(channel, paths)| ("  busiest", format!("{channel}: {}", digits_in_groups(paths)))),
    );
    lines
}

fn balance_words(index: &LoadBalance) -> String {
    format!(
        "{} to {}, mean {}, deviation {} paths a channel",
        digits_in_groups(index.min),
        digits_in_groups(index.max),
        digits_in_groups(format_args!("{:.1}", index.mean)),
        digits_in_groups(format_args!("{:.1}", index.stddev))
    )
}

/// The lines about unknown or uncounted parts.
fn unknown_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    if report.unread_tables > 0 {
        let switches = count_words(report.unread_tables as usize, "switch", "switches");
        let paths = match report.unread_pairs {
            0 => "; no pair is known to use them".to_owned(),
            pairs => format!(
                "; {} pairs lead there, and count neither as reachable nor as unreachable",
                digits_in_groups(pairs)
            ),
        };
        pairs.push(("not read", format!("the tables of {switches}{paths}")));
    } else if report.unread_pairs > 0 {
        let pairs_beyond = count_words(report.unread_pairs as usize, "pair leads", "pairs lead");
        let uncounted = "which counts neither as reachable nor as unreachable";
        pairs.push((
            "not read",
            format!("nodes behind ports without a known peer: {pairs_beyond} there, {uncounted}"),
        ));
    }
    if report.untold_switches > 0 && report.deadlock_free == Some(false) {
        let tables = format!(
            "the SL2VL tables of {} switches; level 0 is assumed to be lane 0 there",
            digits_in_groups(report.untold_switches)
        );
        pairs.push(("not known", tables));
    }
    if report.unaddressed > 0 {
        pairs.push((
            "not counted",
            format!("{} terminals without a LID", digits_in_groups(report.unaddressed)),
        ));
    }
    if report.failed_pairs > 0 {
        let failed = digits_in_groups(report.failed_pairs);
        let failed = format!("{failed} pairs with an end that is marked as failed");
        pairs.push(("not counted", failed));
    }
    pairs
}

/// The lines about pairs that reach only some LIDs of a port.
fn partly_reached_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    if report.partly_reached == 0 {
        return Vec::new();
    }
    let count = format!(
        "{} pairs reach a port by some of its LIDs only; missing paths to a LID: {}",
        digits_in_groups(report.partly_reached),
        digits_in_groups(report.lost_lids)
    );
    let such_as = report.partly.iter().take(5);
    let such_as = such_as.map(|lost| {
        ("  such as", format!("{} to {} by LID {} ({})", lost.from, lost.to, lost.lid, lost.cause))
    });
    std::iter::once(("some LIDs", count)).chain(such_as).collect()
}

/// The lines about channels in use and their loads.
fn usage_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let CertificateReport { channels, channels_in_use, dark_fiber, unused_links, .. } = report;
    let mut lines = vec![(
        "in use",
        format!(
            "{} of {} channels between switches, {dark_fiber:.1} % dark fiber",
            digits_in_groups(channels_in_use),
            digits_in_groups(channels)
        ),
    )];
    if *unused_links > 0 {
        let more = if *unused_links > 3 { ", ..." } else { "" };
        let first: Vec<&str> = report.unused_link_examples.iter().take(3).map(String::as_str).collect();
        let unused = digits_in_groups(unused_links);
        lines.push(("  unused", format!("{unused} links: {}{more}", first.join(", "))));
    }
    lines.extend(report.loads.iter().flat_map(load_lines));
    lines.extend(report.jobs.iter().flat_map(job_lines));
    lines
}

fn load_lines(loads: &LoadReport) -> Vec<(&'static str, String)> {
    let worst = match loads.worst_exact {
        true => format!("{} flows on a channel at worst", digits_in_groups(loads.worst_permutation)),
        false => format!("no more than {} flows on a channel", digits_in_groups(loads.worst_permutation)),
    };
    let bandwidth = |average: &Bandwidth| {
        let doubt = if average.settled { "" } else { " (not settled)" };
        format!("{:.3}{doubt}", average.mean)
    };
    let average = format!(
        "{} bisect, {} full permutation, {} dissemination",
        bandwidth(&loads.average_bisect),
        bandwidth(&loads.average_permutation),
        bandwidth(&loads.average_dissemination)
    );
    let steps = match loads.shift_steps == loads.shift_steps_of {
        true => "every step".to_owned(),
        false => format!(
            "{} of {} steps",
            digits_in_groups(loads.shift_steps),
            digits_in_groups(loads.shift_steps_of)
        ),
    };
    let degree = digits_in_groups(loads.shift_degree);
    let shift = format!("{degree} flows of one step on one channel at most ({steps})");
    let mut lines = vec![
        ("permutations", format!("{worst}, of {} hosts", digits_in_groups(loads.hosts))),
        ("  bandwidth", average),
        ("shifts", shift),
    ];
    lines.extend(judged_lid_line(loads.lids_per_port));
    lines
}

/// The line about the LID that loads use, where ports have several.
fn judged_lid_line(lids_per_port: u16) -> Option<(&'static str, String)> {
    (lids_per_port > 1).then(|| ("  LIDs", judged_lid_words(lids_per_port)))
}

/// Text about the LID that loads and job figures use, where ports have up to `lids_per_port`.
pub fn judged_lid_words(lids_per_port: u16) -> String {
    format!(
        "each sender uses one of up to {lids_per_port} of a port, by its path bits: those of the routes where they come with \
         some, else its place among the hosts; if hosts send to base LIDs alone, the figures differ"
    )
}

/// Maximum number of jobs that are named.
const MAX_NAMED_JOBS: usize = 5;

/// Text for pairs within jobs without a path; `None` where there are none.
pub fn lost_words(lost: u64) -> Option<String> {
    let pairs = count_words(lost as usize, "pair within jobs has no path", "pairs within jobs have no path");
    (lost > 0).then(|| format!("{pairs}, and the other figures leave them out"))
}

/// The figures of jobs in one line.
pub fn job_figures_words(figures: &JobFigures) -> String {
    let JobFigures { multi_switch, max, mean_max, dark_fiber, mean_links, lost } = figures;
    let jobs = count_words(*multi_switch, "job", "jobs");
    let paths = count_words(*max as usize, "path", "paths");
    let lost = lost_words(*lost).map(|lost| format!("; {lost}")).unwrap_or_default();
    let [mean_max, mean_links] = [mean_max, mean_links].map(tenths_in_groups);
    format!(
        "{paths} on the busiest channel; of {jobs} on several switches {mean_max} as a mean, over {mean_links} \
         channels; {dark_fiber:.1} % dark fiber{lost}"
    )
}

fn tenths_in_groups(number: &f64) -> String {
    digits_in_groups(format_args!("{number:.1}"))
}

fn job_lines(jobs: &JobReport) -> Vec<(&'static str, String)> {
    let JobFigures { multi_switch, max, mean_max, dark_fiber, mean_links, lost } = &jobs.figures;
    let paths = |count: u64| count_words(count as usize, "path", "paths");
    let hosts = |count: usize| count_words(count, "host", "hosts");
    let all = format!(
        "{} on {}: at most {} on a channel, mean {}, {dark_fiber:.1} % dark fiber",
        digits_in_groups(jobs.count),
        hosts(jobs.hosts),
        paths(*max),
        tenths_in_groups(&jobs.mean)
    );
    let means = match multi_switch {
        0 => "none is on several switches".to_owned(),
        1 => format!(
            "one is on several switches: at most {} on a channel, over {}",
            paths(*mean_max as u64),
            count_words(*mean_links as usize, "channel", "channels")
        ),
        several => format!(
            "{} are on several switches: the mean job has at most {} paths on a channel, over {} channels",
            digits_in_groups(several),
            tenths_in_groups(mean_max),
            tenths_in_groups(mean_links)
        ),
    };
    let first = jobs.first.iter().take(MAX_NAMED_JOBS).map(|row| {
        let JobLoadRow { job, hosts: own, max, dark_fiber, lost, .. } = row;
        let lost = match *lost {
            0 => String::new(),
            lost => format!(", {} without a path", digits_in_groups(lost)),
        };
        let max = digits_in_groups(max);
        ("  job", format!("{job} on {}: {max} at most, {dark_fiber:.1} % dark fiber{lost}", hosts(*own)))
    });
    let more = jobs.count.saturating_sub(MAX_NAMED_JOBS);
    let more =
        (more > 0).then(|| ("", format!("and {} more; `jobs` lists all of them", digits_in_groups(more))));
    let lost = lost_words(*lost).map(|words| ("  lost", words));
    let lines = [("jobs", all), ("  of them", means)].into_iter().chain(judged_lid_line(jobs.lids_per_port));
    lines.chain(lost).chain(first).chain(more).collect()
}

/// The lines about pairs without a path: causes and examples.
fn lost_lines(report: &CertificateReport) -> Vec<(&'static str, String)> {
    let by_cause = &report.by_cause;
    let causes = format!(
        "{} cut off, as no cables lead there; {} without a route, {} in dead ends, {} in loops",
        by_cause.cut_off, by_cause.no_route, by_cause.dead_end, by_cause.in_loop
    );
    let first = report.lost.iter().take(5);
    let such_as = first.map(|lost| ("  such as", format!("{} to {} ({})", lost.from, lost.to, lost.cause)));
    std::iter::once(("  why", causes)).chain(such_as).collect()
}

/// Reason why tables do not determine the paths: adaptive routing is on, or `unknown` switches did not report
/// it.
pub fn adaptive_words(unknown: u64) -> String {
    match unknown {
        0 => "adaptive routing is on or has tables".to_owned(),
        some => {
            let switches = count_words(some as usize, "switch", "switches");
            format!("{switches} did not report whether adaptive routing is on")
        }
    }
}

/// The finding for an unknown verdict on deadlock, which `--strict` reports.
pub fn undecided_finding(report: &CertificateReport) -> Option<String> {
    report.deadlock_free.is_none().then(|| format!("{UNDECIDED}: deadlock is {}", deadlock_words(report)))
}

fn deadlock_words(report: &CertificateReport) -> String {
    let waiting = report.cycle.as_ref().map_or(0, Vec::len);
    let of_records = match report.lanes_from.strip_prefix("path records, ") {
        Some(which) => format!(" (path records: {which})"),
        None if report.lanes_from == LEVEL_ASSUMED => format!(" ({LEVEL_ASSUMED}: no source states levels)"),
        None if report.lanes_from == FROM_QOS_POLICY => " (service levels of the QoS policy)".to_owned(),
        None if report.lanes_from == FROM_PATH_LIST => " (levels of a list of paths)".to_owned(),
        None => String::new(),
    };
    if let Some(choices) = &report.choices {
        return choice_verdict(choices, report, &of_records);
    }
    match (report.deadlock_free, report.adaptive_routing) {
        (_, Some(_)) if report.adaptive_unknown > 0 => format!(
            "not judged: {}, so tables do not determine the paths",
            adaptive_words(report.adaptive_unknown)
        ),
        (_, Some(0)) => "not judged: adaptive tables exist, so tables do not determine the paths".to_owned(),
        (_, Some(1)) => "not judged: adaptive routing is on at 1 switch".to_owned(),
        (_, Some(switches)) => format!("not judged: adaptive routing is on at {switches} switches"),
        (Some(true), _) if report.lanes > 1 => {
            let lanes = report.lanes;
            format!(
                "free: no cycle of dependencies on any of its {lanes} lanes{}{of_records}",
                dropped_words(report)
            )
        }
        (Some(true), _) if report.whatever_lanes => {
            "free: no cycle of dependencies, whatever lanes are used".to_owned()
        }
        (Some(true), _) => {
            format!(
                "free: no cycle of dependencies on the lanes in force{}{of_records}",
                dropped_words(report)
            )
        }
        (Some(false), _) => match report.cycle_lane {
            Some(lane) if report.cycle.iter().flatten().any(|hop| hop.contains("] on lane ")) => {
                format!(
                    "credit loop: {waiting} channels wait for each other, from lane {lane} on{of_records}"
                )
            }
            lane => {
                let lane = lane.unwrap_or(0);
                format!("credit loop: {waiting} channels of lane {lane} wait for each other{of_records}")
            }
        },
        (None, _) => missing_for_verdict(report, waiting),
    }
}

/// Text for dropped packets. They use no channel after the port that drops them, so they cannot wait there.
fn dropped_words(report: &CertificateReport) -> String {
    match report.limited_paths {
        0 => String::new(),
        paths => format!(", with {} paths dropped", digits_in_groups(paths)),
    }
}

/// Text for an unknown verdict: what is missing.
fn missing_for_verdict(report: &CertificateReport, waiting: usize) -> String {
    if report.unread_tables > 0 && report.cycle.is_none() {
        return "not known: tables that were not read may close a credit loop".to_owned();
    }
    if report.cut && report.cycle.is_none() {
        return "not known: the topology ends early, and the missing part may close a credit loop".to_owned();
    }
    if report.unread_pairs > 0 && report.cycle.is_none() {
        return "not known: paths lead to nodes that did not answer, which may close a credit loop"
            .to_owned();
    }
    let (unsaid_paths, untold_switches) =
        (digits_in_groups(report.unsaid_paths), digits_in_groups(report.untold_switches));
    let missing = match (report.unsaid_paths, report.untold_switches) {
        (0, 0) => {
            return format!(
                "not known: {waiting} channels wait for each other if all paths share a lane (as --lanes one assumes)"
            );
        }
        (_, 0) => format!("{unsaid_paths} paths {}", unknown_level_words(report)),
        (0, _) => format!("{untold_switches} switches did not report their SL2VL tables"),
        _ => {
            let level = unknown_level_words(report);
            format!("{unsaid_paths} paths {level}, {untold_switches} switches have no SL2VL tables")
        }
    };
    format!("not known: {missing}, and {waiting} channels wait for each other if all share a lane")
}

fn unknown_level_words(report: &CertificateReport) -> &'static str {
    match report.lanes_from {
        FROM_PATH_LIST => "are not in the list of paths",
        _ => "have no path record",
    }
}

/// Maximum number of multicast groups that are named.
const MAX_NAMED_GROUPS: usize = 10;

pub fn group_names(groups: &GroupDamage) -> Vec<String> {
    groups.cut.iter().take(MAX_NAMED_GROUPS).map(|group| format!("0x{group:04x}")).collect()
}

/// Text for broken groups: their number of all multicast groups, what restores them, and their first names.
pub fn groups_line(groups: &GroupDamage) -> String {
    let GroupDamage { known, cut } = groups;
    if cut.is_empty() {
        return format!("none of {} cut", count_words(*known, "multicast group", "multicast groups"));
    }
    let known = count_words(*known, "multicast group", "multicast groups");
    let more = if cut.len() > MAX_NAMED_GROUPS { ", ..." } else { "" };
    let names = group_names(groups).join(", ");
    format!("{} of {known} cut until the manager rebuilds them: {names}{more}", cut.len())
}

/// Wraps a text at a width; a longer word continues in the next line.
pub fn wrap_text(text: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let used = lines.last().map_or(0, |line| line.width());
        if used > 0 && used + word.width() >= room {
            lines.push(String::new());
        } else if used > 0 {
            push(&mut lines, ' ');
        }
        for sign in word.chars() {
            let wide = sign.width().unwrap_or(0);
            if lines.last().is_some_and(|line| !line.is_empty() && line.width() + wide > room) {
                lines.push(String::new());
            }
            push(&mut lines, sign);
        }
    }
    lines
}

/// Wraps label and text pairs into rows, of which labels take three fifths at most; returns the width of the labels and the rows.
pub fn wrap_pairs<'p>(pairs: &[(&'p str, String)], room: usize) -> (usize, Vec<(&'p str, String)>) {
    let label = pairs.iter().map(|(label, _)| label.width()).max().unwrap_or(0).min(room * 3 / 5);
    let lines = |text: &str| wrap_text(text, room.saturating_sub(label + 2));
    let rows = pairs.iter().flat_map(|(name, text)| {
        lines(text).into_iter().enumerate().map(|(at, line)| (if at == 0 { *name } else { "" }, line))
    });
    (label, rows.collect())
}

fn push(lines: &mut [String], sign: char) {
    if let Some(line) = lines.last_mut() {
        line.push(sign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrap_text("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_text("a --source=long/name", 8), ["a", "--source", "=long/na", "me"]);
        assert_eq!(wrap_text("", 8), [""]);
    }
}
