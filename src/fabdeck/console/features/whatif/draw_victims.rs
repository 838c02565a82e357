//! What-if, the middle pane: who is hit, by name.

use ratatui::layout::Rect;

use super::draw_pairs::comparison_words;
use super::victims_page;
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::gauge::draw_plain_gauge;
use crate::console::drawing::theme::Role;
use crate::console::features::awaited::awaited_words;
use crate::console::features::jobs::current_job_source::current_jobs;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::groups_line;
use crate::operations::preview::victims::{BrokenJob, DegradedHost, NamedHosts, Victims};
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
    Names(String, Role),
    Text(String),
    Job(&'v BrokenJob),
    Blank,
    Note(&'static str, String),
}

/// The room of the rows.
#[derive(Clone, Copy)]
struct VictimRoom {
    width: usize,
    /// Rows in sight; `None` for a pane whose rows scroll, which has all names.
    height: Option<usize>,
}

impl VictimRoom {
    fn is_short(self) -> bool {
        self.height.is_some_and(|height| height < 10)
    }
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

/// Draws the pane. Where it has the keys, it has all names and scrolls; otherwise names give way to the room.
pub fn draw_victims(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let scrolls = victims_page::has_keys(state);
    let height = (!scrolls).then_some(usize::from(area.height));
    let rows = pane_rows(state, VictimRoom { width: area.width.into(), height });
    let last = rows.len().saturating_sub(area.height.into());
    let top = if scrolls { state.screens.whatif.victims_top.min(last) } else { 0 };
    for (y, row) in (0..area.height).zip(rows.iter().skip(top)) {
        draw_row(canvas, area, y, row);
    }
}

/// Number of rows with all names, in a pane of this width.
pub fn full_row_count(state: &SessionState, width: u16) -> usize {
    pane_rows(state, VictimRoom { width: width.saturating_sub(2).into(), height: None }).len()
}

fn pane_rows(state: &SessionState, room: VictimRoom) -> Vec<VictimRow<'_>> {
    match state.screens.whatif.victims() {
        _ if state.known.marks.is_empty() => {
            vec![VictimRow::Text("nothing fails, so no host is hit".to_owned())]
        }
        None => vec![VictimRow::Text(match awaited_words(state) {
            Some(awaited) => format!("hosts are counted as soon as {awaited}"),
            None => "hosts are being counted".to_owned(),
        })],
        Some(victims) => victim_rows(state, victims, room),
    }
}

fn draw_row(canvas: &mut Canvas<'_>, area: Rect, y: u16, row: &VictimRow<'_>) {
    match row {
        VictimRow::Head { severity, role, label, text } => {
            let sign = canvas.signs.severity[*severity];
            let x = canvas.draw_text(area, 0, y, &format!("{sign} {label}"), *role);
            canvas.draw_text(area, (x + 1).max(LABEL_WIDTH + 2), y, text, Role::Text);
        }
        VictimRow::Names(names, role) => drop(canvas.draw_text(area, 2, y, names, *role)),
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

/// Texts side by side, as many in a row as fit; the last row says how many more of `count` there are.
fn wrap_names(texts: &[String], count: usize, width: usize, most_rows: usize) -> Vec<String> {
    let more = |named: usize| match count.saturating_sub(named) {
        0 => String::new(),
        more => format!("and {} more", digits_in_groups(more)),
    };
    let mut named = texts.len();
    loop {
        let shown = texts[..named].iter().cloned().chain(Some(more(named)).filter(|more| !more.is_empty()));
        let mut rows: Vec<String> = Vec::new();
        for text in shown {
            match rows.last_mut() {
                Some(row) if row.chars().count() + 2 + text.chars().count() <= width => {
                    row.push_str("  ");
                    row.push_str(&text);
                }
                _ => rows.push(text),
            }
        }
        if rows.len() <= most_rows || named == 0 {
            return rows;
        }
        named -= 1;
    }
}

/// The rows. In little room, blank rows go first, then the names of hosts.
fn victim_rows<'v>(state: &SessionState, victims: &'v Victims, room: VictimRoom) -> Vec<VictimRow<'v>> {
    let all = assemble_rows(state, victims, room, usize::MAX);
    let Some(height) = room.height.filter(|height| all.len() > *height) else { return all };
    // Names take the rows that are left by what is always shown.
    let is_blank = |row: &VictimRow<'_>| matches!(row, VictimRow::Blank);
    let least = assemble_rows(state, victims, room, 1).iter().filter(|row| !is_blank(row)).count();
    let mut rows = assemble_rows(state, victims, room, height.saturating_sub(least) + 1);
    while rows.len() > height
        && let Some(last) = rows.iter().rposition(is_blank)
    {
        rows.remove(last);
    }
    rows
}

/// The rows with at most this number of rows for the names of degraded hosts.
fn assemble_rows<'v>(
    state: &SessionState,
    victims: &'v Victims,
    room: VictimRoom,
    name_rows: usize,
) -> Vec<VictimRow<'v>> {
    let cost = state.known.cost.as_ref();
    let short = room.is_short();
    let mut rows = cut_off_rows(victims, cost.map(Cost::cut_off_words).filter(|_| !short), room);
    if let (Some(VictimRow::Head { text, .. }), Some(before @ 1..)) =
        (rows.first_mut(), cost.map(|cost| cost.lost.critical_without_path))
        && short
    {
        let pairs = if before == 1 { "pair" } else { "pairs" };
        text.push_str(&format!("; {} {pairs} had no path before", digits_in_groups(before)));
    }
    rows.extend(job_rows(state, victims, room));
    rows.extend(degraded_rows(victims, room, name_rows));
    rows.push(VictimRow::Blank);
    rows.extend(group_row(state));
    rows.push(untouched_row(state, victims));
    rows.push(VictimRow::Blank);
    rows.extend(state.known.choices.iter().map(|choices| VictimRow::Note("choices", choices.words())));
    if let Some(cost) = &state.known.cost {
        rows.push(VictimRow::Note("for comparison", comparison_words(cost)));
    }
    rows
}

/// Hosts that some senders do not reach until a reroute. On a low screen their names are in the row of the head.
fn degraded_rows(victims: &Victims, room: VictimRoom, name_rows: usize) -> Vec<VictimRow<'_>> {
    let Some(degraded) = &victims.degraded else {
        let text = "not known without tables".to_owned();
        return vec![VictimRow::Head { severity: 3, role: Role::Dim, label: "DEGRADED", text }];
    };
    let bound = degraded.bound;
    if degraded.count == 0 {
        let text = if bound.is_empty() { "no host".to_owned() } else { format!("{bound}0 hosts") };
        return vec![VictimRow::Head { severity: 2, role: Role::Dim, label: "DEGRADED", text }];
    }
    let hosts: Vec<String> = degraded.first.iter().map(DegradedHost::words).collect();
    let count = degraded.count;
    // With the words of a bound, and on a low screen, the names have to have room.
    let until = if bound.is_empty() && !room.is_short() { " until rerouted" } else { "" };
    let mut text = match count {
        1 => format!("{bound}1 host misses senders{until}"),
        count => format!("{bound}{} hosts miss senders{until}", digits_in_groups(count)),
    };
    let mut names = Vec::new();
    if room.is_short() {
        let left = room.width.saturating_sub(usize::from(LABEL_WIDTH) + 4 + text.len());
        let hosts: Vec<String> = degraded.first.iter().map(|host| host.host.clone()).collect();
        let named = wrap_names(&hosts, degraded.count, left, 1);
        text.push_str(&format!(": {}", named.concat()));
    } else {
        names = wrap_names(&hosts, degraded.count, room.width.saturating_sub(2), name_rows);
    }
    let head = VictimRow::Head { severity: 1, role: Role::Warning, label: "DEGRADED", text };
    // What the numbers behind the names are.
    let of = degraded.of_senders.map_or_else(String::new, |of| format!(", OF {}", digits_in_groups(of)));
    let heading = || format!("HOST, JOB, AND SENDERS THAT MISS IT{of}");
    let heading = (!names.is_empty()).then(|| VictimRow::Names(heading(), Role::Heading));
    let names = names.into_iter().map(|names| VictimRow::Names(names, Role::Text));
    std::iter::once(head).chain(heading).chain(names).collect()
}

/// `pairs` says which pairs are cut off and why; on a low screen, it is left out.
fn cut_off_rows(victims: &Victims, pairs: Option<String>, room: VictimRoom) -> Vec<VictimRow<'_>> {
    let [cut_off, ..] = victims.lines().map(|(_, text)| text);
    let count = victims.cut_off.count;
    let is_hit = count + victims.cut_off_aggregation_nodes > 0;
    let (severity, role) = if is_hit { (0, Role::Danger) } else { (2, Role::Good) };
    let pairs = pairs.filter(|_| is_hit);
    if room.is_short() || count == 0 {
        let mut rows = vec![VictimRow::Head { severity, role, label: "CUT OFF", text: cut_off }];
        rows.extend(pairs.map(VictimRow::Text));
        rows.push(VictimRow::Blank);
        return rows;
    }
    let mut text = count_words(count, "host", "hosts");
    if let nodes @ 1.. = victims.cut_off_aggregation_nodes {
        text.push_str(&format!(", {}", count_words(nodes, "aggregation node", "aggregation nodes")));
    }
    let mut rows = vec![VictimRow::Head { severity, role, label: "CUT OFF", text }];
    let most_rows = if room.height.is_some() { 1 } else { usize::MAX };
    let width = room.width.saturating_sub(2);
    let names = match most_rows {
        1 => vec![fitting_names(&victims.cut_off, width)],
        _ => wrap_names(&victims.cut_off.first, count, width, most_rows),
    };
    rows.extend(names.into_iter().map(|names| VictimRow::Names(names, Role::Strong)));
    rows.extend(pairs.map(|pairs| VictimRow::Text(format!("pairs: {pairs}"))));
    rows.push(VictimRow::Blank);
    rows
}

/// Jobs that lose hosts, and jobs that lose pairs until a reroute.
fn job_rows<'v>(state: &SessionState, victims: &'v Victims, room: VictimRoom) -> Vec<VictimRow<'v>> {
    let head = |severity, role, text| VictimRow::Head { severity, role, label: "JOBS", text };
    let [_, _, words] = victims.lines().map(|(_, text)| text);
    let Some(jobs) = &victims.jobs else {
        let is_listed = current_jobs(&state.known).is_some() || state.source.starts_with("sim:");
        let words = match is_listed {
            true => "being placed on the fabric",
            false => "not known: :jobs slurm asks Slurm, :jobs FILE reads a list",
        };
        return vec![head(3, Role::Dim, words.to_owned()), VictimRow::Blank];
    };
    let is_broken = |job: &str| jobs.first.iter().any(|broken| broken.job == job);
    let losses = state.screens.whatif.job_losses();
    let without_path: Vec<&(String, u64)> =
        losses.unwrap_or_default().iter().filter(|(job, _)| !is_broken(job)).collect();
    let mut rows = Vec::new();
    if jobs.count > 0 && room.is_short() {
        rows.push(head(0, Role::Danger, words.clone()));
    } else if jobs.count > 0 {
        let verb = if jobs.count == 1 { "loses" } else { "lose" };
        let text = format!("{} of {} {verb} hosts", jobs.count, count_words(jobs.known, "job", "jobs"));
        rows.push(head(0, Role::Danger, text));
        let most = if room.height.is_some() { JOB_ROWS } else { usize::MAX };
        rows.extend(jobs.first.iter().take(most).map(VictimRow::Job));
        if let more @ 1.. = jobs.count.saturating_sub(most) {
            rows.push(VictimRow::Text(format!("and {}", count_words(more, "more job", "more jobs"))));
        }
    }
    if !without_path.is_empty() {
        let (text, each) = loss_words(&without_path);
        if room.is_short() {
            let each: Vec<String> = without_path.iter().map(|(job, pairs)| short_loss(job, *pairs)).collect();
            let text = text.trim_end_matches(" until rerouted");
            rows.push(head(1, Role::Warning, format!("{text}: {}", each.join(", "))));
        } else {
            rows.push(head(1, Role::Warning, text));
            let most_rows = if room.height.is_some() { 1 } else { usize::MAX };
            let names = wrap_names(&each, each.len(), room.width.saturating_sub(2), most_rows);
            rows.extend(names.into_iter().map(|names| VictimRow::Names(names, Role::Text)));
        }
    } else if jobs.count == 0 {
        // Without the counts of pairs, it is not known whether a job is hit.
        let is_counted = losses.is_some();
        let uncounted = if is_counted { "" } else { "; their pairs are being counted" };
        let (severity, role) = if is_counted { (2, Role::Good) } else { (3, Role::Dim) };
        rows.push(head(severity, role, format!("{words}{uncounted}")));
    }
    rows.push(VictimRow::Blank);
    rows
}

/// `3 jobs: 35 pairs of their hosts have no path until rerouted`, and of each job `job 83: 18 pairs`.
fn loss_words(losses: &[&(String, u64)]) -> (String, Vec<String>) {
    let all: u64 = losses.iter().map(|(_, pairs)| pairs).sum();
    let verb = if losses.len() == 1 { "loses" } else { "lose" };
    let pairs = |pairs: u64| match pairs {
        1 => "1 pair".to_owned(),
        pairs => format!("{} pairs", digits_in_groups(pairs)),
    };
    let each = losses.iter().map(|(job, lost)| format!("job {job}: {}", pairs(*lost)));
    let count = count_words(losses.len(), "job", "jobs");
    (format!("{count} {verb} {} of hosts until rerouted", pairs(all)), each.collect())
}

/// `83 (18)`: a job and the pairs that it loses, for a row that says so.
fn short_loss(job: &str, pairs: u64) -> String {
    format!("{job} ({})", digits_in_groups(pairs))
}

/// Multicast groups that the marks cut. Groups that stay whole are in the row of what is not touched.
fn group_row(state: &SessionState) -> Option<VictimRow<'static>> {
    let groups = state.known.groups.as_ref().filter(|groups| !groups.cut.is_empty())?;
    let text = groups_line(groups);
    Some(VictimRow::Head { severity: 1, role: Role::Warning, label: "MULTICAST", text })
}

fn untouched_row(state: &SessionState, victims: &Victims) -> VictimRow<'static> {
    let hosts = match victims.untouched_hosts {
        // Such a host may still be a sender that does not reach the hosts above.
        Some(hosts) => {
            let senders = if victims.cut_off.count > 0 { "all left" } else { "all" };
            format!("{}, by {senders}", count_words(hosts, "host", "hosts"))
        }
        None => "not known without tables".to_owned(),
    };
    let groups = match &state.known.groups {
        None => "; multicast groups not known".to_owned(),
        Some(groups) if groups.cut.is_empty() => format!("; {}", groups_line(groups)),
        Some(groups) => match groups.known - groups.cut.len() {
            0 => String::new(),
            whole => format!("; {}", count_words(whole, "multicast group", "multicast groups")),
        },
    };
    VictimRow::Head { severity: 2, role: Role::Good, label: "REACHABLE", text: format!("{hosts}{groups}") }
}
