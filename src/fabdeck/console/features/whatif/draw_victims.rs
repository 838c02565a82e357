//! What-if, the middle pane: who is hit, by name.

use ratatui::layout::Rect;

use super::draw_pairs::comparison_words;
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::gauge::draw_plain_gauge;
use crate::console::drawing::theme::Role;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::groups_line;
use crate::operations::preview::victims::{BrokenJob, NamedHosts, Victims};
use crate::operations::preview::whatif::Cost;
use fabdeck_fabric::observe::digits_in_groups;

/// Columns of a label, and of the gauge of a job.
const LABEL_WIDTH: u16 = 13;
const GAUGE_WIDTH: u16 = 10;
/// Jobs with a row of their own.
const JOB_ROWS: usize = 5;

/// A row of the pane.
enum VictimRow<'v> {
    /// A severity, its label in capitals, and a text.
    Head {
        severity: usize,
        role: Role,
        label: &'static str,
        text: String,
    },
    /// Names below their head.
    Names(&'v NamedHosts),
    Text(String),
    Job(&'v BrokenJob),
    Blank,
    Note(&'static str, String),
}

/// How many hosts and jobs, for the border of the pane.
pub fn victims_head(state: &SessionState) -> String {
    let Some(victims) = state.screens.whatif.victims() else { return String::new() };
    let mut parts = Vec::new();
    if victims.cut_off.count > 0 {
        parts.push(format!("{} cut off", count_words(victims.cut_off.count, "host", "hosts")));
    }
    if let Some(jobs) = victims.jobs.as_ref().filter(|jobs| jobs.count > 0) {
        parts.push(count_words(jobs.count, "job", "jobs"));
    }
    parts.join("  ")
}

pub fn draw_victims(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let rows = match state.screens.whatif.victims() {
        _ if state.known.marks.is_empty() => {
            vec![VictimRow::Text("nothing fails, so no host is hit".to_owned())]
        }
        None => vec![VictimRow::Text("hosts are being counted".to_owned())],
        Some(victims) => victim_rows(state, victims, usize::from(area.height)),
    };
    for (y, row) in (0..area.height).zip(&rows) {
        draw_row(canvas, area, y, row);
    }
}

fn draw_row(canvas: &mut Canvas<'_>, area: Rect, y: u16, row: &VictimRow<'_>) {
    match row {
        VictimRow::Head { severity, role, label, text } => {
            let sign = canvas.signs.severity[*severity];
            let x = canvas.draw_text(area, 0, y, &format!("{sign} {label}"), *role);
            canvas.draw_text(area, (x + 1).max(LABEL_WIDTH + 2), y, text, Role::Text);
        }
        VictimRow::Names(hosts) => {
            let names = fitting_names(hosts, area.width.saturating_sub(2).into());
            canvas.draw_text(area, 2, y, &names, Role::Strong);
        }
        VictimRow::Text(text) => drop(canvas.draw_text(area, 2, y, text, Role::Dim)),
        VictimRow::Job(job) => draw_job(canvas, area, y, job),
        VictimRow::Blank => {}
        VictimRow::Note(label, text) => {
            let x = canvas.draw_text(area, 0, y, label, Role::Dim);
            canvas.draw_text(area, (x + 1).max(LABEL_WIDTH + 2), y, text, Role::Text);
        }
    }
}

fn draw_job(canvas: &mut Canvas<'_>, area: Rect, y: u16, job: &BrokenJob) {
    let x = canvas.draw_text(area, 2, y, "job ", Role::Dim);
    let x = canvas.draw_text(area, x, y, &job.job, Role::Strong) + 1;
    let x = x.max(LABEL_WIDTH + 2);
    let share = job.cut_off.count as f64 / job.hosts.max(1) as f64;
    draw_plain_gauge(canvas, area, (x, y), GAUGE_WIDTH, share, Role::Danger);
    let text = format!("{} of {}", job.cut_off.count, count_words(job.hosts, "host", "hosts"));
    let x = canvas.draw_text(area, x + GAUGE_WIDTH + 2, y, &text, Role::Text) + 2;
    let names = fitting_names(&job.cut_off, area.width.saturating_sub(x).into());
    canvas.draw_text(area, x, y, &names, Role::Dim);
}

/// As many names as fit, and how many more there are.
fn fitting_names(hosts: &NamedHosts, room: usize) -> String {
    let mut named = hosts.first.len();
    loop {
        let text = hosts.names(named);
        if named == 0 || text.chars().count() <= room {
            return text;
        }
        named -= 1;
    }
}

/// The rows, without blanks and lesser rows where they do not fit.
fn victim_rows<'v>(state: &SessionState, victims: &'v Victims, height: usize) -> Vec<VictimRow<'v>> {
    let short = height < 10;
    let cost = state.known.cost.as_ref();
    let mut rows = cut_off_rows(victims, cost.map(Cost::cut_off_words).filter(|_| !short));
    if let (Some(VictimRow::Head { text, .. }), Some(before @ 1..)) =
        (rows.first_mut(), cost.map(|cost| cost.lost.critical_without_path))
        && short
    {
        let pairs = if before == 1 { "pair" } else { "pairs" };
        text.push_str(&format!("; {} {pairs} had no path before", digits_in_groups(before)));
    }
    rows.extend(job_rows(victims, short));
    let [cut_off, degraded, jobs] = victims.lines().map(|(_, text)| text);
    drop((cut_off, jobs));
    let is_degraded = victims.degraded.as_ref().is_some_and(|hosts| hosts.count > 0);
    rows.push(VictimRow::Head {
        severity: if victims.degraded.is_none() {
            3
        } else if is_degraded {
            1
        } else {
            2
        },
        role: if is_degraded { Role::Warning } else { Role::Dim },
        label: "DEGRADED",
        text: degraded,
    });
    rows.push(VictimRow::Blank);
    rows.push(untouched_row(state, victims));
    rows.push(VictimRow::Blank);
    if let Some(cost) = &state.known.cost {
        rows.push(VictimRow::Note("for comparison", comparison_words(cost)));
    }
    if rows.len() > height {
        rows.retain(|row| !matches!(row, VictimRow::Blank));
    }
    rows
}

/// `pairs` says which pairs are cut off and why; on a low screen, it is left out.
fn cut_off_rows(victims: &Victims, pairs: Option<String>) -> Vec<VictimRow<'_>> {
    let [cut_off, ..] = victims.lines().map(|(_, text)| text);
    let count = victims.cut_off.count;
    let is_hit = count + victims.cut_off_aggregation_nodes > 0;
    let (severity, role) = if is_hit { (0, Role::Danger) } else { (2, Role::Good) };
    let pairs = pairs.filter(|_| is_hit);
    if pairs.is_none() || count == 0 {
        let mut rows = vec![VictimRow::Head { severity, role, label: "CUT OFF", text: cut_off }];
        rows.extend(pairs.map(VictimRow::Text));
        rows.push(VictimRow::Blank);
        return rows;
    }
    let mut text = count_words(count, "host", "hosts");
    if let nodes @ 1.. = victims.cut_off_aggregation_nodes {
        text.push_str(&format!(", {}", count_words(nodes, "aggregation node", "aggregation nodes")));
    }
    let mut rows =
        vec![VictimRow::Head { severity, role, label: "CUT OFF", text }, VictimRow::Names(&victims.cut_off)];
    rows.extend(pairs.map(|pairs| VictimRow::Text(format!("pairs: {pairs}"))));
    rows.push(VictimRow::Blank);
    rows
}

fn job_rows(victims: &Victims, short: bool) -> Vec<VictimRow<'_>> {
    let head = |severity, role, text| VictimRow::Head { severity, role, label: "JOBS", text };
    let [_, _, words] = victims.lines().map(|(_, text)| text);
    let mut rows = match &victims.jobs {
        None => {
            vec![head(3, Role::Dim, "not known: :jobs slurm asks Slurm, :jobs FILE reads a list".to_owned())]
        }
        Some(jobs) if jobs.count == 0 => vec![head(2, Role::Good, words)],
        Some(_) if short => vec![head(0, Role::Danger, words)],
        Some(jobs) => {
            let verb = if jobs.count == 1 { "loses" } else { "lose" };
            let text = format!("{} of {} {verb} hosts", jobs.count, count_words(jobs.known, "job", "jobs"));
            let mut rows = vec![head(0, Role::Danger, text)];
            rows.extend(jobs.first.iter().take(JOB_ROWS).map(VictimRow::Job));
            if let more @ 1.. = jobs.count.saturating_sub(JOB_ROWS) {
                rows.push(VictimRow::Text(format!("and {}", count_words(more, "more job", "more jobs"))));
            }
            rows
        }
    };
    rows.push(VictimRow::Blank);
    rows
}

fn untouched_row(state: &SessionState, victims: &Victims) -> VictimRow<'static> {
    let hosts = match victims.untouched_hosts {
        Some(hosts) => format!("{} {}", digits_in_groups(hosts), if hosts == 1 { "host" } else { "hosts" }),
        None => "not known without tables".to_owned(),
    };
    let groups = state.known.groups.as_ref().map(groups_line);
    let groups = groups.unwrap_or_else(|| "multicast groups not known".to_owned());
    VictimRow::Head {
        severity: 2,
        role: Role::Good,
        label: "NOT TOUCHED",
        text: format!("{hosts}; {groups}"),
    }
}
