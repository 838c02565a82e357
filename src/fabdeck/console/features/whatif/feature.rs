//! The actions of What-if: marks, engines and plans.

use super::plan_file::write_plan;
use super::whatif_layout::ROUTES;
use super::{draw, engine_runs, marking, preview_paths};
use crate::catalogue::severity::Severity;
use crate::console::features::completion::open_prompt as begin_line;
use crate::console::features::feature::Feature;
use crate::console::features::jobs::running_jobs;
use crate::console::features::plan_commands::whatif_line;
use crate::console::features::preconditions::{can_write_plan, has_fabric};
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::effect::Effect;
use crate::console::model::element_search::find_element;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use crate::operations::preview::whatif::{drawn_words, mark_random};
use fabdeck_fabric::ElementId;
use fabdeck_routing::{ENGINES, Engine, NAMED_ENGINES, find_engine};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Marks,
        actions: &[
            new("mark", &["f"], "Mark as failed, or remove the mark", |state, argument| {
                let all = match argument.is_empty() {
                    true => state.target_elements(),
                    false => find_element(state, argument).into_iter().collect(),
                };
                match state.screen {
                    // No element is under the cursor here: the line asks for a name, and lists what there is.
                    ScreenId::Whatif if all.is_empty() && argument.is_empty() => {
                        begin_line(state, Purpose::Command, "mark ");
                    }
                    _ if all.is_empty() && argument.is_empty() => marking::explain_marking(state),
                    _ => {}
                }
                if all.is_empty() { Vec::new() } else { marking::mark_elements(state, &all) }
            })
            .with_argument("[ELEMENT]")
            .with_alias("fail")
            .with_precondition(has_fabric)
            .with_line(whatif_line)
            .prominent(),
            new("clear-marks", &["F"], "Remove all marks, or those of the selected rows", |state, _| {
                marking::unmark_elements(state)
            })
            .with_line(whatif_line)
            .with_precondition(|state| match state.known.marks.is_empty() {
                true => Err("nothing is marked".to_owned()),
                false => Ok(()),
            }),
            new("undo", &["z"], "Undo the last change of the marks", |state, _| marking::undo_marks(state))
                .with_line(whatif_line)
                .with_precondition(|state| match state.known.marks_before.is_empty() {
                    true => Err("no change of the marks can be undone".to_owned()),
                    false => Ok(()),
                }),
            new("random", &[], "Mark a number of random links between switches", mark_random_links)
                .with_argument("COUNT")
                .with_precondition(has_fabric)
                .with_line(whatif_line),
            new(
                "preview",
                &["p"],
                "Route around the marks with every engine; on Jobs, with sar",
                |state, argument| {
                    if argument.is_empty() && state.screen == ScreenId::Jobs {
                        return running_jobs::ask_sar(state);
                    }
                    match parse_engines(state, argument) {
                        Ok(asked) => {
                            let mut effects = mark_chosen_cable(state);
                            open_engines(state);
                            effects.extend(engine_runs::preview_engines(state, &asked));
                            effects
                        }
                        Err(problem) => {
                            state.log_message(Severity::Error, problem);
                            Vec::new()
                        }
                    }
                },
            )
            .with_argument("[ENGINE,...]")
            .belongs_to(&[ScreenId::Whatif, ScreenId::Jobs])
            .with_precondition(has_fabric)
            .with_line(whatif_line)
            .prominent(),
            new("write-plan", &["w"], "Write the plan of this engine to a file", |state, argument| {
                if !argument.is_empty() {
                    return write_plan(state, argument);
                }
                let engine = state.screens.whatif.engine().map_or("reroute", |engine| engine.id);
                let name = state.plan_name(engine);
                begin_line(state, Purpose::PlanFile, name);
                Vec::new()
            })
            .with_argument("[FILE]")
            .on_screen(ScreenId::Whatif)
            .with_precondition(can_write_plan)
            .writes_file()
            .prominent(),
        ],
    }],
    follow: preview_paths::follow,
    has_own_panes: |_| true,
    cancels_first: |state| state.screens.whatif.page.is_none() && state.has_engine_under_way(),
    draw: draw::draw,
    ..Feature::NEW
};

/// Marks the cable at the cursor of Links, or of its page, where nothing is marked: the preview is about what is chosen.
fn mark_chosen_cable(state: &mut SessionState) -> Vec<Effect> {
    if state.screen != ScreenId::Links || !state.known.marks.is_empty() {
        return Vec::new();
    }
    let chosen = state.target_elements().into_iter().find(|chosen| matches!(chosen, ElementId::Link(_)));
    chosen.map_or_else(Vec::new, |cable| marking::replace_marks(state, &[cable]))
}

/// Opens What-if with the keys on the engines. A zoom of another pane would hide them.
pub fn open_engines(state: &mut SessionState) {
    if state.screen != ScreenId::Whatif {
        open_screen(state, ScreenId::Whatif);
        state.panes.zoomed.remove(&ScreenId::Whatif);
    } else if state.focused_pane() != ROUTES {
        state.panes.zoomed.remove(&ScreenId::Whatif);
    }
    state.panes.focused.remove(&ScreenId::Whatif);
    state.screens.whatif.show_engines();
}

/// The engines of a list; for an empty list all that suit the fabric.
fn parse_engines(state: &SessionState, list: &str) -> Result<Vec<&'static Engine>, String> {
    if list.is_empty() {
        return Ok(engine_runs::all_engines(state));
    }
    let unknown = |id: &str| {
        let ids: Vec<&str> = ENGINES.iter().chain(NAMED_ENGINES).map(|engine| engine.id).collect();
        format!("there is no engine '{id}'; engines are {}", ids.join(", "))
    };
    let words = list.split([',', ' ']).filter(|word| !word.is_empty());
    words.map(|id| find_engine(id).ok_or_else(|| unknown(id))).collect()
}

fn mark_random_links(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    let Ok(count) = argument.trim().parse::<usize>() else {
        state.log_message(Severity::Error, "random takes a number of links: random 3");
        return Vec::new();
    };
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    marking::save_marks(state);
    let drawn = mark_random(&look, &mut state.known.marks, count, state.seed);
    state.seed += 1;
    let text = format!("{}; nothing is written to the fabric", drawn_words(drawn, count));
    state.log_message(if drawn < count { Severity::Warning } else { Severity::Info }, text);
    marking::update_after_marking(state)
}
