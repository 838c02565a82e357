//! The question before a write: what is written, who notices, what may go wrong, the way back. All of it fits on a screen
//! of 24 rows, where blank rows and the reasons of risks give way; the page of details has the proofs.
//!
//! ```text
//! writes     8 blocks of 8 switches
//! ─ Who notices ─────────────────────────────────────────
//! ● cut off  no host (spine-2, 1 aggregation node, 88 pairs)
//! ▲ jobs     83 moves 23 of 90 pairs
//! ● no path  before 0, while written at most 0, after 0
//!   what if  spine-2 fails: before 504 pairs without a path, after 0
//! ─ Risk ──────────────────────────── 0 of 1 acknowledged
//! [ ] A deadlock while it is written cannot be ruled out
//! ─ Way back ────────────────────────────────────────────
//! roll back  by itself after 10 min, unless you confirm with y
//! ```

use super::apply_state::ApplyState;
use super::confirm_rows::ROUTES_STAY;
use super::dialogue_row::{
    CHECKBOX_WIDTH, DialogueRow, DialogueSign, Piece, RiskLine, labelled, labelled_text,
};
use super::mode_rows::{mode_rows, safer_ways};
use crate::catalogue::quantity_words::length_words;
use crate::catalogue::summary::{count_words, device_words};
use crate::console::drawing::canvas::width;
use crate::console::drawing::theme::Role;
use crate::operations::changes::change_facts::ChangeFacts;
use crate::operations::changes::changer::ChangeOffer;
use crate::operations::changes::weak_links::weak_link_words;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::check::judgement::CUT_OFF;
use fabdeck_change::UnfailedLoss;
use fabdeck_fabric::observe::digits_in_groups;

/// What the rows are made of, and the room that they have.
#[derive(Clone, Copy, Debug)]
pub struct ApplyQuestion<'q> {
    pub apply: &'q ApplyState,
    /// Whether the plan is being made in the other mode.
    pub is_replanned: bool,
    /// What the last move of flows did to the waiting of hosts, where it is known.
    pub moved_effect: Option<&'q str>,
    /// The risk with the focus.
    pub focus: Option<usize>,
    pub room: usize,
    pub height: usize,
    /// Whether the dialog is a box with room for gauges.
    pub boxed: bool,
}

/// How much the rows show. Each level shows less than the one before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Density {
    /// Headings of their own, gauges, and credit loops drawn as loops.
    Wide,
    /// Rows between the parts.
    Airy,
    /// No blank rows.
    Dense,
    /// The reason of one risk alone: the one with the focus, or else the first that is not acknowledged.
    OneReason,
    /// No reasons.
    Titles,
}

const DENSITIES: [Density; 5] =
    [Density::Wide, Density::Airy, Density::Dense, Density::OneReason, Density::Titles];

impl ApplyQuestion<'_> {
    /// The rows at the first level that fits.
    pub fn rows(&self) -> Vec<DialogueRow> {
        let levels = DENSITIES.into_iter().filter(|level| self.boxed || *level != Density::Wide);
        let mut rows = Vec::new();
        for level in levels {
            rows = self.rows_at(level);
            if rows.len() <= self.height {
                break;
            }
        }
        rows
    }

    fn rows_at(&self, level: Density) -> Vec<DialogueRow> {
        let wide = level == Density::Wide;
        let mut rows = Vec::new();
        let heading = |rows: &mut Vec<DialogueRow>, title, right, ruled: bool| {
            if level <= Density::Airy && !rows.is_empty() {
                rows.push(DialogueRow::Blank);
            }
            rows.push(DialogueRow::Heading { title, right, ruled });
        };
        if wide {
            heading(&mut rows, "What is written", None, false);
        }
        rows.extend(self.written());
        heading(&mut rows, "Who notices", None, !wide);
        rows.extend(self.notices(wide));
        let (risks, taken) = (self.apply.offer.findings.len(), self.apply.taken.len());
        let acknowledged = format!("{taken} of {risks} acknowledged");
        let role = if taken < risks { Role::Warning } else { Role::Good };
        let title = if risks == 1 { "Risk" } else { "Risks" };
        heading(&mut rows, title, (risks > 0).then_some((acknowledged, role)), true);
        rows.extend(self.risks(level));
        heading(&mut rows, "Way back", None, true);
        rows.extend(self.way_back(level));
        rows
    }

    fn written(&self) -> Vec<DialogueRow> {
        let offer = &self.apply.offer;
        let devices = device_words((offer.switches, offer.adapters));
        let text = |text: String| (text, Role::Text);
        let mut pieces = vec![text(match offer.parts {
            0 => "no table".to_owned(),
            parts if parts == offer.blocks => {
                format!("{} of {devices}", count_words(parts, "block", "blocks"))
            }
            parts => format!("{} of {devices}", count_words(parts, "table part", "table parts")),
        })];
        let moved = digits_in_groups(offer.moved_pairs);
        if offer.moved_pairs > 0 {
            let of = offer.facts.actual_pairs().map(|pairs| format!(" of {}", digits_in_groups(pairs.pairs)));
            pieces.push(text(format!(";  {moved}{} pairs take another path", of.unwrap_or_default())));
        }
        let mut rows = labelled(DialogueSign::None, "writes", pieces, self.room);
        rows.extend(mode_rows(self.apply, self.is_replanned, self.room));
        rows.extend(offer.migrations.iter().flat_map(|moved| labelled_text("moves", moved, self.room)));
        rows
    }

    /// Who notices: what is taken down, hosts by name, jobs by name, and the pairs counted three times.
    fn notices(&self, wide: bool) -> Vec<DialogueRow> {
        let facts = &self.apply.offer.facts;
        let row = |sign, label, text: String| labelled(sign, label, vec![(text, Role::Text)], self.room);
        let mut rows = Vec::new();
        if !facts.taken_down.is_empty() {
            let links = crate::operations::changes::change_facts::first_names(&facts.taken_down);
            rows.extend(row(DialogueSign::Warning, "takes down", links));
        }
        let sign = match () {
            () if !facts.cut_off.hosts.is_empty() => DialogueSign::Critical,
            () if !facts.cut_off.is_empty() => DialogueSign::Warning,
            () => DialogueSign::Well,
        };
        rows.extend(row(sign, "cut off", facts.cut_off_words()));
        let weak = weak_link_words(&facts.weak_links);
        rows.extend(weak.into_iter().flat_map(|words| row(DialogueSign::Warning, "bad cable", words)));
        rows.extend(self.jobs());
        let packets = match self.apply.has_phases() {
            true => "hosts pause; no packet meets tables that change",
            false => "packets under way may be lost or overtake each other",
        };
        rows.extend(row(DialogueSign::Warning, "all", packets.to_owned()));
        match (wide, facts.actual_pairs()) {
            (_, None) if self.apply.offer.blocks == 0 && !self.apply.offer.migrations.is_empty() => {
                rows.extend(row(DialogueSign::Well, "no path", ROUTES_STAY.to_owned()));
            }
            (_, None) => rows.extend(row(DialogueSign::Unknown, "no path", "not known".to_owned())),
            (false, Some(pairs)) => rows.extend(self.pairs_row(&pairs)),
            (true, Some(pairs)) => rows.extend(self.pair_gauges(&pairs)),
        }
        // A supposition stands apart from what is counted on the fabric as it is.
        let supposed = if self.boxed { facts.supposed_words() } else { facts.short_supposed_words() };
        let supposed = supposed.map(|words| vec![(words, Role::Preview)]);
        rows.extend(
            supposed
                .into_iter()
                .flat_map(|pieces| labelled(DialogueSign::None, "what if", pieces, self.room)),
        );
        rows.extend(self.given_up());
        rows
    }

    /// What an undo gives up: paths if the marks of the undone change fail, and the waiting that its moves ended.
    fn given_up(&self) -> Vec<DialogueRow> {
        let mut rows = Vec::new();
        if let Some(loss) = &self.apply.offer.facts.undo {
            let sign = match (loss.pairs, loss.is_worse()) {
                (None, _) => DialogueSign::Unknown,
                (_, true) => DialogueSign::Warning,
                (_, false) => DialogueSign::Well,
            };
            rows.extend(labelled(sign, "what if", vec![(loss.words(), Role::Preview)], self.room));
        }
        if let Some(effect) = self.moved_effect.filter(|_| self.apply.offer.undoes_moves) {
            rows.extend(labelled_text("waits", effect, self.room));
        }
        rows
    }

    fn jobs(&self) -> Vec<DialogueRow> {
        let Some(jobs) = &self.apply.offer.facts.jobs else {
            let text = "not known: :jobs slurm asks Slurm, :jobs FILE reads a list";
            return labelled(DialogueSign::Unknown, "jobs", vec![(text.to_owned(), Role::Text)], self.room);
        };
        let loses = jobs.hit.iter().any(|job| job.after > job.before);
        let sign = match () {
            () if loses => DialogueSign::Critical,
            () if !jobs.hit.is_empty() => DialogueSign::Warning,
            () => DialogueSign::Well,
        };
        let words = self.apply.offer.facts.job_words().unwrap_or_default();
        // A job is one piece, so that no row ends within it.
        let jobs: Vec<&str> = words.split("; ").collect();
        let last = jobs.len().saturating_sub(1);
        let piece = |(at, job): (usize, &&str)| {
            (if at < last { format!("{job};  ") } else { (*job).to_owned() }, Role::Text)
        };
        labelled(sign, "jobs", jobs.iter().enumerate().map(piece).collect(), self.room)
    }

    /// The pairs without a path in a row, with their roles.
    fn pairs_row(&self, pairs: &UnfailedLoss) -> Vec<DialogueRow> {
        let number = |count: u64| digits_in_groups(count);
        let pieces: Vec<Piece> = vec![
            (format!("before {}, ", number(pairs.before)), count_role(pairs.before, Role::Danger)),
            (
                format!("while written at most {}, ", number(pairs.worst_broken)),
                count_role(pairs.worst_broken, Role::Warning),
            ),
            (format!("after {}, ", number(pairs.after)), count_role(pairs.after, Role::Danger)),
            (format!("of {} pairs", number(pairs.pairs)), Role::Dim),
        ];
        let sign = match () {
            () if pairs.after > pairs.before => DialogueSign::Critical,
            () if pairs.before.max(pairs.worst_broken) > 0 => DialogueSign::Warning,
            () => DialogueSign::Well,
        };
        labelled(sign, "no path", pieces, self.room)
    }

    fn pair_gauges(&self, pairs: &UnfailedLoss) -> Vec<DialogueRow> {
        let share = |count: u64| count as f64 / pairs.pairs.max(1) as f64;
        let facts = &self.apply.offer.facts;
        let is_any = facts.failed.is_empty() && facts.pairs().is_some_and(|way| way.ordered == "any");
        let order = if is_any { "in any order of writes" } else { "in the order of the writes" };
        let gauge = |label, count, role, text| DialogueRow::Gauge { label, share: share(count), role, text };
        let worst = digits_in_groups(pairs.worst_broken);
        let mut rows = vec![DialogueRow::Blank];
        rows.extend(labelled(
            DialogueSign::None,
            "no path",
            vec![(format!("of {} pairs", digits_in_groups(pairs.pairs)), Role::Dim)],
            self.room,
        ));
        rows.extend([
            gauge(
                "before",
                pairs.before,
                count_role(pairs.before, Role::Danger),
                digits_in_groups(pairs.before),
            ),
            gauge(
                "while written",
                pairs.worst_broken,
                count_role(pairs.worst_broken, Role::Warning),
                format!("at most {worst}, {order}"),
            ),
            gauge("after", pairs.after, count_role(pairs.after, Role::Danger), digits_in_groups(pairs.after)),
        ]);
        rows
    }

    fn risks(&self, level: Density) -> Vec<DialogueRow> {
        if self.apply.offer.findings.is_empty() {
            return labelled(
                DialogueSign::Well,
                "none",
                vec![("no risk was found".to_owned(), Role::Text)],
                self.room,
            );
        }
        let open = (0..self.apply.offer.findings.len()).find(|at| !self.apply.taken.contains(at));
        let chosen = self.focus.or(open);
        let mut rows = Vec::new();
        for at in 0..self.apply.offer.findings.len() {
            let with_reason = match level {
                Density::Wide | Density::Airy | Density::Dense => true,
                Density::OneReason => chosen == Some(at),
                Density::Titles => false,
            };
            rows.extend(self.risk(at, with_reason, level));
        }
        rows
    }

    fn risk(&self, at: usize, with_reason: bool, level: Density) -> Vec<DialogueRow> {
        let (taken, room) = (self.apply.taken.contains(&at), self.room.saturating_sub(CHECKBOX_WIDTH));
        let row = |kind| DialogueRow::Risk { at, taken, kind };
        let (title, reason) = risk_texts(&self.apply.offer, at);
        // A title on one row is cut where it is drawn, with the sign for it.
        let titles = match level >= Density::OneReason {
            true => vec![title],
            false => wrap_text(&title, room),
        };
        let mut titles = titles.into_iter();
        let mut rows: Vec<DialogueRow> =
            titles.next().map(|line| row(RiskLine::Title(line))).into_iter().collect();
        rows.extend(titles.map(|line| row(RiskLine::More(line))));
        if !with_reason {
            return rows;
        }
        rows.extend(
            reason.iter().flat_map(|reason| wrap_text(reason, room)).map(|line| row(RiskLine::Reason(line))),
        );
        rows.extend(self.loop_rows(at, level));
        if is_transition(&self.apply.offer, at) {
            let ways = safer_ways(self.apply);
            rows.extend(
                ways.iter().flat_map(|way| wrap_text(way, room)).map(|line| row(RiskLine::Reason(line))),
            );
        }
        rows
    }

    /// The credit loop of a risk, drawn as one where there is room.
    fn loop_rows(&self, at: usize, level: Density) -> Vec<DialogueRow> {
        let (taken, room) = (self.apply.taken.contains(&at), self.room.saturating_sub(CHECKBOX_WIDTH));
        let channels = risk_loop(&self.apply.offer, at);
        if channels.is_empty() {
            return Vec::new();
        }
        let widths = channels.iter().map(|name| usize::from(width(name)));
        // Corners, arrows between names and blanks.
        let drawn: usize = widths.map(|name| name + 5).sum::<usize>() + 4;
        if level == Density::Wide && drawn <= room {
            let channels: Vec<String> = channels.iter().map(|name| (*name).to_owned()).collect();
            let half = |upper| DialogueRow::Loop { channels: channels.clone(), upper };
            return vec![half(true), half(false)];
        }
        let chains = chains(&channels, room).into_iter().enumerate();
        let row = |(place, names)| DialogueRow::Risk {
            at,
            taken,
            kind: RiskLine::Chain { names, continues: place > 0 },
        };
        chains.map(row).collect()
    }

    fn way_back(&self, level: Density) -> Vec<DialogueRow> {
        let key = |text: &str| (text.to_owned(), Role::Key);
        let dim = |text: &str| (text.to_owned(), Role::Dim);
        let text = |text: &str| (text.to_owned(), Role::Text);
        let mut first = vec![
            text("by itself after "),
            (length_words(self.apply.window_s * 1000), Role::Strong),
            text(", unless you confirm with "),
            key("y"),
        ];
        let keeper = match self.apply.offer.own {
            true => "; simulator and change end with this session",
            false => ", also after a lost connection: a guard keeps time",
        };
        let mut rows = if level == Density::Titles {
            first.extend([text("; at once with "), key("u")]);
            labelled(DialogueSign::None, "roll back", first, self.room)
        } else {
            first.extend([dim("    "), key("- +"), dim(" change")]);
            let second = vec![text("at once with "), key("u"), dim(keeper)];
            let mut rows = labelled(DialogueSign::None, "roll back", first, self.room);
            rows.extend(labelled(DialogueSign::None, "", second, self.room));
            rows
        };
        for remark in &self.apply.offer.remarks {
            let mut lines =
                labelled(DialogueSign::Warning, "remark", vec![(remark.clone(), Role::Text)], self.room);
            if level >= Density::OneReason {
                lines.truncate(1);
            }
            rows.extend(lines);
        }
        rows
    }
}

/// The role of a number of pairs without a path.
fn count_role(count: u64, some: Role) -> Role {
    if count == 0 { Role::Good } else { some }
}

/// The name under which a credit loop between the writes is accepted.
const TRANSITION: &str = "transition";

/// Whether a risk is a credit loop between the writes.
fn is_transition(offer: &ChangeOffer, at: usize) -> bool {
    offer.findings.get(at).is_some_and(|(name, _)| name == TRANSITION)
}

/// Title and reason of a risk.
fn risk_texts(offer: &ChangeOffer, at: usize) -> (String, Option<String>) {
    let Some((name, text)) = offer.findings.get(at) else { return Default::default() };
    if let Some(texts) = cut_off_texts(offer, name) {
        return texts;
    }
    let transition = &offer.facts.transition;
    if !is_transition(offer, at) || offer.facts.pairs().is_none() {
        return (format!("{text} ({name})"), None);
    }
    let blocks = if risk_loop(offer, at).is_empty() { "." } else { " in this credit loop:" };
    let shared = format!("packets can block each other{blocks}");
    if transition.safe == Some(false) {
        let title = "A deadlock is possible while it is written".to_owned();
        return (title, Some(format!("Old and new {shared}")));
    }
    let title = "A deadlock while it is written cannot be ruled out".to_owned();
    let reason = transition
        .reason
        .as_deref()
        .unwrap_or("whether a mixture of old and new entries is safe is not known");
    let reason = sentence(reason);
    let reason = match risk_loop(offer, at).is_empty() {
        true => reason,
        false => format!("{reason} If all paths share a lane, old and new {shared}"),
    };
    (title, Some(reason))
}

/// The risk that nodes lose their paths: who they are, and which pairs end with the writes and which with the failure.
fn cut_off_texts(offer: &ChangeOffer, name: &str) -> Option<(String, Option<String>)> {
    let (facts, actual) = (&offer.facts, offer.facts.actual_pairs()?);
    let pairs = facts.cut_off.pairs;
    if name != CUT_OFF || pairs == 0 || facts.failed.is_empty() {
        return None;
    }
    let lost = actual.after.saturating_sub(actual.before);
    let words = facts.cut_off.words()?;
    // The pairs stand in the reason.
    let names = words.rsplit_once(", ").map_or(words.as_str(), |(names, _)| names);
    let title = format!("{names} ({CUT_OFF})");
    let [all, lost] = [pairs, lost].map(digits_in_groups);
    let reason = format!(
        "Of {all} pairs with it (two for each other port), {lost} lose their path with the writes, the others once it is down."
    );
    Some((title, Some(reason)))
}

/// A text as a sentence: with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut signs = text.chars();
    let first: String = signs.next().map(|sign| sign.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", signs.as_str().trim_end_matches('.'))
}

/// The channels of the credit loop of a risk, each by the port that sends over it; empty where there is none.
fn risk_loop(offer: &ChangeOffer, at: usize) -> Vec<&str> {
    if !is_transition(offer, at) {
        return Vec::new();
    }
    let ChangeFacts { transition, .. } = &offer.facts;
    let channels = transition.cycle.as_ref().or(transition.mixed_cycle.as_ref());
    let sender = |channel: &'_ String| channel.find(" -> ").unwrap_or(channel.len());
    channels.into_iter().flatten().map(|channel| &channel[..sender(channel)]).collect()
}

/// A loop as rows of names, which ends with its first name.
fn chains(channels: &[&str], room: usize) -> Vec<Vec<String>> {
    const BETWEEN: usize = 3;
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    let mut used = 0;
    for name in channels.iter().chain(channels.first()) {
        let wide = usize::from(width(name)) + BETWEEN;
        if used > 0 && used + wide > room {
            rows.push(Vec::new());
            used = 0;
        }
        used += wide;
        rows.last_mut().into_iter().for_each(|row| row.push((*name).to_owned()));
    }
    rows
}

/// The page of details: the proofs and all texts in full.
pub fn apply_details(offer: &ChangeOffer, room: usize) -> Vec<DialogueRow> {
    let mut rows = Vec::new();
    let facts = &offer.facts;
    let failed = (!facts.failed.is_empty()).then(|| ("failed", facts.failed.join(", ")));
    let lines = failed.into_iter().chain(facts.lines());
    rows.extend(lines.flat_map(|(label, text)| labelled_text(label, text, room)));
    // The order of the writes is made for the fabric without the failed elements.
    let supposed =
        |label: &str| if label == "while written" && !facts.failed.is_empty() { "if failed: " } else { "" };
    rows.extend(
        offer
            .transition
            .iter()
            .flat_map(|(label, text)| labelled_text(label, format!("{}{text}", supposed(label)), room)),
    );
    rows.extend(offer.migrations.iter().flat_map(|text| labelled_text("moves", text, room)));
    for (name, text) in &offer.findings {
        rows.extend(labelled_text("risk", format!("{text} ({name})"), room));
    }
    rows.extend(offer.remarks.iter().flat_map(|text| labelled_text("remark", text, room)));
    rows
}
