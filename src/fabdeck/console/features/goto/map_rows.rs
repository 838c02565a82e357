//! The rows of the parts of the map: pods of a tree, groups of a dragonfly, slices of a torus. Enter opens the map there.

use super::entry_rows::add_matching;
use super::goto_state::{GotoGroup, GotoRow, GotoTarget};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::map::map_part::{MapPart, map_parts};
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::state::SessionState;
use crate::operations::fabric_map::figures::{MapFigures, MapQuantity};
use crate::operations::fabric_map::groups::name_range;
use crate::operations::fabric_map::structure::MapStructure;
use fabdeck_fabric::observe::digits_in_groups;

/// Most parts that a key looks through.
const MAX_PARTS: usize = 2000;

/// Why a part cannot be shown: a table of pairs follows the paths of the forwarding tables.
fn refusal(state: &SessionState, part: MapPart) -> Option<&'static str> {
    let has_lines = state.screens.map.drawn.layout.is_some();
    let needs_paths = matches!(part, MapPart::Group(_)) && !has_lines;
    (needs_paths && !state.known.tables).then_some("not now: the map of pairs needs forwarding tables")
}

/// Whether a line may name a part: it has a number, or enough letters. The letter of an action is not about pods.
fn may_name_part(words: &[String]) -> bool {
    const MIN_LETTERS: usize = 3;
    let has_number = words.iter().any(|word| word.ends_with(|sign: char| sign.is_ascii_digit()));
    has_number || words.iter().map(String::len).sum::<usize>() >= MIN_LETTERS
}

/// The rows of the parts that match, each with its switches and hosts.
pub fn part_rows(state: &SessionState, words: &[String]) -> Vec<GotoRow> {
    let mut rows = Vec::new();
    if !may_name_part(words) {
        return rows;
    }
    let Some(structure) = &state.screens.map.drawn.structure else { return rows };
    for (part, name) in map_parts(structure).into_iter().take(MAX_PARTS) {
        let target = GotoTarget::MapPart(name.clone());
        // Names are written without the blank too.
        let hint = name.replace(' ', "");
        let mut row = GotoRow::new(GotoGroup::MapParts, name, target);
        row.about = about_part(state, structure, part);
        if let Some(why) = refusal(state, part) {
            (row.about, row.blocked) = (why.to_owned(), true);
        }
        add_matching(&mut rows, state, words, row, &hint);
    }
    rows
}

/// The switches of a part with hosts, and the number of its hosts.
fn about_part(state: &SessionState, structure: &MapStructure, part: MapPart) -> String {
    let Some(look) = state.snapshot() else { return String::new() };
    match part {
        MapPart::Group(at) => {
            let leaves = &structure.groups.leaves[structure.groups.groups[at].clone()];
            let hosts: usize = leaves.iter().map(|leaf| structure.switches[*leaf].hosts.len()).sum();
            let name = |leaf: &usize| look.name(structure.switches[*leaf].id);
            let names = match leaves {
                [] => String::new(),
                [leaf] => name(leaf).to_owned(),
                [first, .., last] => name_range(name(first), name(last)),
            };
            format!("{names}, {}", count_words(hosts, "host", "hosts"))
        }
        MapPart::Slice(at) => structure.torus.as_ref().map_or_else(String::new, |shape| shape.slice_name(at)),
    }
}

/// Opens the map at a part: a table of its switches against all groups, the group of a ring, or a slice. Where all switches
/// are drawn, the cursor goes to its first switch.
pub fn go_to_part(state: &mut SessionState, name: &str) {
    let structure = state.screens.map.drawn.structure.clone();
    let part = structure.as_ref().and_then(|structure| {
        map_parts(structure).into_iter().find(|(_, other)| other == name).map(|(part, _)| part)
    });
    let (Some(structure), Some(part)) = (structure, part) else {
        state.log_message(Severity::Warning, format!("the map has no {name} any more"));
        return;
    };
    if let Some(why) = refusal(state, part) {
        state.log_message(Severity::Warning, format!("{name}: {why}"));
        return;
    }
    state.layer = None;
    open_screen(state, ScreenId::Map);
    state.screens.map.open_part(part, &structure, &state.known);
}

/// What the preview says of a part.
pub fn part_pairs(state: &SessionState, name: &str) -> Vec<DetailLine> {
    let Some(structure) = &state.screens.map.drawn.structure else { return Vec::new() };
    let Some((part, _)) = map_parts(structure).into_iter().find(|(_, other)| other == name) else {
        return Vec::new();
    };
    let mut pairs = vec![("what", about_part(state, structure, part))];
    if let MapPart::Group(at) = part {
        let quantity = state.screens.map.drawn.quantity;
        let figures = state.screens.map.drawn.groups.get(at);
        pairs.extend(figures.and_then(|figures| Some(("worst", worst_words(figures, quantity)?))));
    }
    pairs.push(("enter", "opens the map there".to_owned()));
    pairs
}

/// The worst value at the switches of a part; `None` where it is not known.
fn worst_words(figures: &MapFigures, quantity: MapQuantity) -> Option<String> {
    let value = digits_in_groups(figures.score(quantity)?);
    Some(match quantity {
        MapQuantity::Wait => format!("wait {value} % of the time"),
        MapQuantity::Load => format!("load {value} %"),
        MapQuantity::Errors => format!("{value} errors /h"),
        MapQuantity::Paths => format!("{value} paths over one cable"),
    })
}
