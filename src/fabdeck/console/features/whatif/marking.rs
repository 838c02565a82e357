//! Elements marked as failed, and what follows from the marks.

use std::sync::{Arc, Mutex, PoisonError};

use super::marks::mark_names;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::awaited::awaited_words;
use crate::console::features::jobs::job_lines;
use crate::console::features::refresh::refresh_screens;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::{Model, SNAPSHOT_CHANGED};
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::check::choices::has_choices;
use crate::operations::preview::choice_loss::{ChoiceLoss, count_choice_loss};
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::victims::HitHosts;
use crate::operations::preview::whatif::Cost;
use fabdeck_fabric::{ElementId, Faults};
use fabdeck_routing::RouteProgress;
use fabdeck_routing::analysis::{CutOffPairs, GroupDamage, group_damage};

/// Computes the cost of marks.
#[derive(Debug)]
pub struct MarkCostTask {
    look: Arc<Snapshot>,
    preview: Arc<Mutex<Preview>>,
    marks: Faults,
}

impl BackgroundTask for MarkCostTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Marks
    }

    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let mut preview = self.preview.lock().unwrap_or_else(PoisonError::into_inner);
        preview.set_marks(&self.look, &self.marks);
        let groups = group_damage(self.look.fabric(), &self.look.observation.tables, &self.marks);
        let hit = preview.hit_hosts(&self.look);
        Some(Box::new(MarkCostOutcome { cost: preview.cost(None), hit, groups }))
    }
}

#[derive(Debug)]
pub struct MarkCostOutcome {
    cost: Cost,
    hit: HitHosts,
    groups: Option<GroupDamage>,
}

impl TaskOutcome for MarkCostOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        (state.known.cost, state.known.groups) = (Some(self.cost), self.groups);
        state.known.hit = Some(self.hit);
        refresh_screens(state);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("counted {:?} {:?}", self.cost, self.groups)
    }
}

/// Counts the paths that choices of adaptive routing lose under the marks.
#[derive(Debug)]
pub struct ChoiceLossTask {
    look: Arc<Snapshot>,
    marks: Faults,
}

impl BackgroundTask for ChoiceLossTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Marks
    }

    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let tables = &self.look.observation.tables;
        let choices = count_choice_loss(&self.look, tables, &self.marks, progress).ok()?;
        Some(Box::new(ChoiceLossOutcome(choices)))
    }
}

#[derive(Debug)]
pub struct ChoiceLossOutcome(Option<ChoiceLoss>);

impl TaskOutcome for ChoiceLossOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        state.known.choices = self.0;
        refresh_screens(state);
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("counted {:?}", self.0)
    }
}

const COUNTING_CHOICES: &str = "counting paths by all choices";

pub(crate) const COUNTING: &str = "counting lost paths";

/// Counts the cost of the marks in a background task.
pub(crate) fn count_lost_paths(state: &mut SessionState) -> Vec<Effect> {
    let (Some(look), Some(preview)) = (state.known.look.clone(), state.known.preview.clone()) else {
        return Vec::new();
    };
    let marks = state.known.marks.clone();
    let earlier: Vec<TaskId> = state
        .tasks
        .running_tasks()
        .iter()
        .filter(|task| [COUNTING, COUNTING_CHOICES].contains(&task.title.as_str()))
        .map(|task| task.id)
        .collect();
    earlier.into_iter().for_each(|task| drop(state.tasks.end(task)));
    let choices = (!marks.is_empty() && has_choices(&look.observation.tables))
        .then(|| ChoiceLossTask { look: Arc::clone(&look), marks: marks.clone() });
    let count = state.begin(COUNTING, MarkCostTask { look, preview, marks }).1;
    let choices = choices.map(|task| state.begin(COUNTING_CHOICES, task).1);
    std::iter::once(count).chain(choices).collect()
}

/// Counts what the marks cut off whatever the tables are, where there are none to count the cost with.
pub(crate) fn count_cut_off_pairs(known: &mut Model) {
    let without_tables = known.look.as_ref().filter(|_| !known.tables && !known.marks.is_empty());
    let count =
        |look: &Arc<Snapshot>| CutOffPairs::count(look.fabric(), &known.marks, look.partitions.as_ref());
    known.cut_off = without_tables.map(count);
    known.hit = without_tables.map(|look| HitHosts::by_cables(look, &known.marks));
}

/// Drops results for the old marks, and counts the cost of the new ones.
pub fn update_after_marking(state: &mut SessionState) -> Vec<Effect> {
    let mut effects = drop_results(state, TaskDependency::Marks);
    count_cut_off_pairs(&mut state.known);
    effects.extend(count_lost_paths(state));
    refresh_screens(state);
    effects
}

/// Drops the results for marks, and cancels all tasks that depend on what has changed.
pub(crate) fn drop_results(state: &mut SessionState, changed: TaskDependency) -> Vec<Effect> {
    let stale: Vec<TaskId> =
        state.tasks.running_tasks().iter().filter(|task| task.needs >= changed).map(|task| task.id).collect();
    state.queue.clear();
    (state.known.cost, state.known.groups) = (None, None);
    (state.known.hit, state.known.choices) = (None, None);
    let others = if changed == TaskDependency::Snapshot { SNAPSHOT_CHANGED } else { "the marks changed" };
    job_lines::drop_sar_answer(&mut state.known, others);
    state.known.proposed.clear();
    state.known.outdated.clear();
    let end = |task: TaskId| state.tasks.end(task).map(|_| Effect::Cancel(task));
    stale.into_iter().filter_map(end).collect()
}

/// Maximum number of steps that can be undone.
pub(crate) const MAX_UNDO: usize = 100;

/// Saves the marks for a later undo.
pub fn save_marks(state: &mut SessionState) {
    let before = &mut state.known.marks_before;
    if before.len() == MAX_UNDO {
        before.remove(0);
    }
    before.push(state.known.marks.clone());
}

/// Marks elements as failed; when all of them are marked already, removes their marks.
pub fn mark_elements(state: &mut SessionState, all: &[ElementId]) -> Vec<Effect> {
    save_marks(state);
    let mut marked = 0;
    for what in all {
        marked += usize::from(state.known.marks.mark(*what));
    }
    if marked == 0 {
        for what in all {
            state.known.marks.unmark(*what);
        }
    }
    let next = match state.screen {
        _ if marked == 0 => String::new(),
        ScreenId::Whatif if state.known.proposed.is_empty() => String::new(),
        ScreenId::Whatif => "; p runs the engines again".to_owned(),
        _ => format!("; {} What-if shows who is hit", key_word(state, "screen-whatif")),
    };
    let verb = if marked > 0 { "marked as failed" } else { "no longer marked" };
    let what = match all {
        [one] => format!("{} is", state.known.element(*one).unwrap_or_default()),
        _ => count_words(all.len(), "element is", "elements are"),
    };
    let counted = match (awaited_words(state), marked) {
        (Some(awaited), 1..) => format!("; who is hit is counted as soon as {awaited}"),
        _ => next,
    };
    state.log_message(Severity::Info, format!("{what} {verb}; nothing is written to the fabric{counted}"));
    update_after_marking(state)
}

/// Marks exactly these elements, in place of all earlier marks. The message says what is marked now.
pub fn replace_marks(state: &mut SessionState, wanted: &[ElementId]) -> Vec<Effect> {
    let earlier: Vec<ElementId> = state.known.marks.iter().filter(|what| !wanted.contains(what)).collect();
    if earlier.is_empty() && state.known.marks.len() == wanted.len() {
        return Vec::new();
    }
    save_marks(state);
    state.known.marks.clear();
    for what in wanted {
        state.known.marks.mark(*what);
    }
    let now = match wanted {
        [] => "nothing is marked as failed now".to_owned(),
        _ => format!("marked as failed: {}, and nothing else", mark_names(&state.known)),
    };
    let removed = match earlier.len() {
        0 => String::new(),
        some => format!(
            "; {} removed, {} brings {} back",
            count_words(some, "earlier mark is", "earlier marks are"),
            key_word(state, "undo"),
            if some == 1 { "it" } else { "them" }
        ),
    };
    state.log_message(Severity::Info, format!("{now}{removed}; nothing is written to the fabric"));
    update_after_marking(state)
}

/// Says where elements can be marked.
pub fn explain_marking(state: &mut SessionState) {
    let [map, links, mark] = ["screen-map", "screen-links", "mark"].map(|id| key_word(state, id));
    let text = format!(
        "put the cursor on what fails: {map} Map or {links} Links, then {mark}; or type fail and its name after {}",
        key_word(state, "palette")
    );
    state.log_message(Severity::Info, text);
}

/// The first key of an action, or what the palette calls it.
fn key_word(state: &SessionState, id: &str) -> String {
    let key = state.keymap.find_action(id).and_then(|action| action.first_key(&state.keymap));
    key.map_or_else(|| format!(":{id}"), |key| key.to_string())
}

/// Removes the marks of the selected rows, or else all marks.
pub fn unmark_elements(state: &mut SessionState) -> Vec<Effect> {
    save_marks(state);
    let selected = state.selected().clone();
    match selected.is_empty() {
        true => {
            state.known.marks.clear();
            state.log_message(Severity::Info, "no element is marked now");
        }
        false => {
            let taken = selected.iter().filter(|what| state.known.marks.unmark(**what)).count();
            let count = count_words(taken, "mark of the selected rows is", "marks of the selected rows are");
            state.log_message(Severity::Info, format!("{count} removed"));
        }
    }
    update_after_marking(state)
}

/// Restores the marks before the last change of them.
pub fn undo_marks(state: &mut SessionState) -> Vec<Effect> {
    let Some(before) = state.known.marks_before.pop() else { return Vec::new() };
    state.known.marks = before;
    let count = count_words(state.known.marks.len(), "element is", "elements are");
    state.log_message(Severity::Info, format!("undone: {count} marked now"));
    update_after_marking(state)
}
