//! What-if: the numbers above the list, and the page of one engine.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{Loading, Proposed, State};
use crate::session::{counted, report_lines};

/// What is marked, what that costs, and what it compares with.
pub fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let known = &state.known;
    let marks = match known.marks.len() {
        0 => "nothing yet: f marks what the cursor is on, :random 3 draws links".to_owned(),
        count => {
            let names: Vec<String> =
                known.marks.iter().take(3).filter_map(|mark| known.element(mark)).collect();
            let more = if count > 3 { format!(" and {} more", count - 3) } else { String::new() };
            format!("{}{more}", names.join(", "))
        }
    };
    let mut pairs = vec![("marked", marks)];
    match &known.cost {
        Some(cost) => {
            pairs.push(("lost", cost.lost_words()));
            pairs.push(("for good", cost.for_good_words()));
            let expected = &cost.expected;
            let links = counted(expected.faults, "random link", "random links");
            pairs.push((
                "compare",
                format!(
                    "{links} would take {:.1} {}; one alone {} to {}",
                    expected.mean,
                    cost.expected_counts(),
                    expected.best,
                    expected.worst
                ),
            ));
        }
        None if matches!(state.loading, Loading::Under(_)) => {
            pairs.push(("lost", "not known yet: the tables are being read".to_owned()))
        }
        None if known.look.is_some() && !known.tables => {
            pairs.push(("lost", "not known: the source has no forwarding tables".to_owned()));
        }
        None => pairs.push(match &known.unindexed {
            Some(why) => ("lost", format!("not known: {why}")),
            None => ("lost", "being counted".to_owned()),
        }),
    }
    for (y, (label, text)) in (0..4).zip(&pairs) {
        canvas.text(area, 0, y, label, Role::Label);
        let danger = matches!(*label, "lost" | "for good")
            && known.cost.as_ref().is_some_and(|cost| cost.lost.pairs > 0);
        let role = match (*label, danger) {
            ("for good", _) if text.starts_with("none") => Role::Good,
            (_, true) => Role::Danger,
            _ => Role::Text,
        };
        canvas.text(area, 10, y, text, role);
    }
}

/// The page of an engine: its certificate, and what it takes to get there.
pub fn page(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let whatif = &state.screens.whatif;
    let Some(engine) = whatif.page else { return };
    canvas.text(area, 0, 0, &format!("{}: {}", engine.id, engine.title), Role::Header);
    let below = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    let Some(Proposed::Done { outcome, row }) = state.known.proposed.get(engine.id) else { return };
    match outcome {
        Err(refusal) => {
            canvas.pairs(below, &[("refused", refusal.to_string())], whatif.top);
        }
        Ok(proposal) => {
            let mut pairs = report_lines(&proposal.report);
            let difference = &proposal.difference;
            pairs.push((
                "changes",
                format!(
                    "{} entries in {} blocks on {}; {} pairs move",
                    difference.entries,
                    difference.blocks,
                    counted(difference.switches as usize, "switch", "switches"),
                    difference.moved_pairs
                ),
            ));
            pairs.extend(proposal.transition.lines());
            pairs.push(("ran", proposal.ran.sentence(engine)));
            pairs.extend(row.seconds.map(|seconds| ("took", format!("{seconds:.3} s"))));
            pairs.extend(proposal.remarks.iter().map(|remark| ("remark", remark.clone())));
            canvas.pairs(below, &pairs, whatif.top);
        }
    }
}
