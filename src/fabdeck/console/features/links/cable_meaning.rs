//! What the counters of a cable mean: the cause and the next step of its problem, or that nothing is wrong with it.

use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::theme::Role;
use crate::console::features::health::card_text::certainty_words;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::{ElementId, LinkId};

/// A line of the text with its role.
pub type MeaningLine = (String, Role);

/// The lines of the text.
pub fn meaning_lines(look: &Snapshot, known: &Model, link: LinkId) -> Vec<MeaningLine> {
    let Some(ranked) = &known.problems.ranked else {
        return vec![("the problems are being ranked".to_owned(), Role::Dim)];
    };
    let what = ElementId::Link(link);
    let own = ranked.problems.iter().filter(|problem| problem.elements.contains(&what));
    let history = ranked.histories.get(&link).and_then(|history| history.words.clone());
    let mut lines: Vec<MeaningLine> = Vec::new();
    for problem in own {
        let cause = format!("{}{}", certainty_words(problem.cause.certainty), problem.cause.text);
        lines.push((cause, Role::Text));
        lines.push((format!("next: {}", problem.next.text), Role::Dim));
    }
    // What it did before stays readable in a low pane.
    let before = history.map(|words| (words, Role::Warning));
    if !lines.is_empty() {
        lines.splice(0..0, before);
        return lines;
    }
    let ends = [look.fabric().link(link).a, look.fabric().link(link).b];
    let reading = known.watch.reading.as_ref();
    let waits = |port| reading.and_then(|reading| reading.port_row_of(ElementId::Port(port))?.role);
    for port in ends {
        if let Some(role) = waits(port) {
            let text =
                format!("{} waits: {}; that is no fault of the cable", look.port_name(port), role.word());
            lines.push((text, Role::Wait));
        }
    }
    if lines.is_empty() {
        lines.push(match (reading.is_some(), look.is_degraded(link)) {
            (false, _) => ("not known: errors need two readings".to_owned(), Role::Dim),
            (true, None) => {
                ("no counter is above its threshold; its width is not known".to_owned(), Role::Text)
            }
            (true, Some(true)) => ("it runs below what both ends can do".to_owned(), Role::LinkDegraded),
            (true, Some(false)) => {
                ("nothing is wrong with it: no counter is above its threshold".to_owned(), Role::Good)
            }
        });
    }
    lines.splice(0..0, before);
    lines
}
