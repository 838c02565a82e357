//! The state of a session. Screens read it; only `update` changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background_task::BackgroundTask;
use super::effect::Effect;
use super::fabric_model::{MissingTables, Model};
use super::keymap::Keymap;
use super::layout::{Areas, Size};
use super::messages::{LogMessage, MessageLog};
use super::overlay::Overlay;
use super::pane_sizes::{PaneState, WidthClass};
use super::prompt::{Prompt, Purpose};
use super::tasks::{TaskId, Tasks};
use crate::catalogue::severity::Severity;
use crate::catalogue::shell_words::quote_for_shell;
use crate::console::features::goto::goto_state::GotoState;
use crate::console::features::screen::Screen;
use crate::console::features::screens::{ScreenId, Screens};
use crate::console::features::timeline::playback::frame_time;
use crate::console::features::tour::tour_state::TourState;
use crate::console::features::views::console_view::ConsoleView;
use crate::operations::changes::changer::WriteAccess;
use fabdeck_fabric::{ElementId, Faults};
use fabdeck_routing::{Engine, Request};

/// The status of reading the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadState {
    Under(TaskId),
    Done,
    Failed(String),
}

/// Notes that no file contains yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnsavedNotes {
    pub notes: usize,
    /// Number of these notes that a task is writing.
    pub on_their_way: usize,
    /// Whether the recording was written to a file in this session.
    pub is_saved: bool,
    /// Whether the session has warned the operator of them before leaving.
    pub warned: bool,
}

/// A view that is being opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpeningView {
    pub view: ConsoleView,
    /// Whether only the object is still missing.
    pub is_prepared: bool,
    /// Whether a part of the view does not exist on this screen, so that its object may have no row either.
    pub is_reduced: bool,
}

#[derive(Debug)]
pub struct SessionState {
    pub size: Size,
    pub now_ms: u64,
    /// The source as the operator wrote it.
    pub source: String,
    /// The options of the session that command lines repeat, with their values.
    pub options: Vec<(String, String)>,
    pub loading: LoadState,
    pub known: Model,
    pub screen: ScreenId,
    pub screens: Screens,
    pub panes: PaneState,
    /// Whether the console uses the mouse.
    pub mouse: bool,
    /// The view that is being opened.
    pub opening: Option<OpeningView>,
    /// The view whose command line was copied; the same key then copies the line that opens it.
    pub copied_view: Option<String>,
    pub layer: Option<Overlay>,
    pub prompt: Option<Prompt>,
    /// The line that goes to anything.
    pub goto: GotoState,
    pub tour: TourState,
    pub messages: MessageLog,
    /// Number of messages that were seen. The status line shows the most severe later one until a key is
    /// pressed.
    pub seen: u64,
    pub tasks: Tasks,
    pub keymap: Keymap,
    /// The request to engines.
    pub request: Request,
    /// Engines that wait for the running one, so that each engine's time is its own.
    pub queue: VecDeque<&'static Engine>,
    /// The engines that answered since the log of the operator named some, with why one refused, and their marks.
    pub answered: (Faults, Vec<(&'static str, Option<String>)>),
    /// Seed of random marks; each draw uses the next number.
    pub seed: u64,
    /// The command line for the last action.
    pub last_line: Option<String>,
    /// Files that plans were written to, or could not be written to; no other plan is offered these names.
    pub plans: BTreeSet<PathBuf>,
    /// The engine and marks of the plan in each file.
    pub drafts: BTreeMap<PathBuf, (&'static str, Faults)>,
    /// The screen from which an action opened this one; Esc returns there.
    pub came_from: Option<ScreenId>,
    /// Number of levels that Enter opened on this screen.
    pub levels_entered: usize,
    pub leaving: bool,
    /// Time of the last Ctrl-C.
    pub interrupted_ms: Option<u64>,
    pub unsaved: UnsavedNotes,
    /// Whether the session may write to the fabric.
    pub writing: WriteAccess,
    /// Names of the themes that there are, and the one that the operator chose in this session.
    pub themes: Vec<String>,
    pub theme: Option<String>,
    /// Effects in addition to those that an action returns.
    pub wanted: Vec<Effect>,
    /// Lists with at least this number of rows are filtered and sorted by a background task.
    pub many: usize,
}

impl SessionState {
    /// The state of a session before its source is read.
    pub fn new(source: String, keymap: Keymap, size: Size) -> Self {
        Self {
            size,
            now_ms: 0,
            source,
            options: Vec::new(),
            loading: LoadState::Done,
            known: Model::default(),
            screen: ScreenId::Health,
            screens: Screens::default(),
            panes: PaneState::default(),
            mouse: false,
            opening: None,
            copied_view: None,
            layer: None,
            prompt: None,
            goto: GotoState::default(),
            tour: TourState::default(),
            messages: MessageLog::default(),
            seen: 0,
            tasks: Tasks::default(),
            keymap,
            request: Request::default(),
            queue: VecDeque::new(),
            answered: Default::default(),
            seed: 1,
            last_line: None,
            plans: BTreeSet::new(),
            drafts: BTreeMap::new(),
            came_from: None,
            levels_entered: 0,
            leaving: false,
            interrupted_ms: None,
            unsaved: UnsavedNotes::default(),
            writing: WriteAccess::default(),
            themes: Vec::new(),
            theme: None,
            wanted: Vec::new(),
            many: super::table::BACKGROUND_ROWS,
        }
    }

    /// Sets the status of reading the source, and with it the reason for missing tables.
    pub fn set_loading(&mut self, loading: LoadState) {
        self.known.unread = match &loading {
            LoadState::Under(_) => Some(MissingTables::BeingRead),
            LoadState::Failed(_) => Some(MissingTables::BrokenOff),
            LoadState::Done => None,
        };
        self.loading = loading;
    }

    pub fn areas(&self) -> Areas {
        self.areas_of(self.screen)
    }

    /// The areas as they are when this screen is open.
    pub fn areas_of(&self, id: ScreenId) -> Areas {
        let areas = Areas::with_tour(self.size, self.has_status(), self.tour.pane_rows(self.size.height));
        let screen = self.screens.get(id);
        let (word, width) = (id.title().word, WidthClass::of(self.size.width));
        let plan = screen.panes(&areas);
        let chosen = self.panes.focused.get(&id).copied().filter(|pane| plan.tree.has(pane));
        let zoomed = self.panes.zoomed.contains(&id).then(|| chosen.unwrap_or(screen.focused_pane()));
        areas.with_panes(&plan, &|border| self.panes.sizes.share(word, width, border), zoomed)
    }

    /// The pane that has the keys.
    pub fn focused_pane(&self) -> &'static str {
        let chosen = self.panes.focused.get(&self.screen).copied();
        let is_placed = |pane: &&'static str| !self.areas().panes.area(pane).is_empty();
        chosen.filter(is_placed).unwrap_or_else(|| self.current().focused_pane())
    }

    /// Whether the status line has something to show: an input line, a message, work, a filter. The line that goes to
    /// anything is elsewhere.
    fn has_status(&self) -> bool {
        // The screen behind a dialog stays where it was.
        let shows_screen = matches!(self.layer, None | Some(Overlay::Dialogue(_)));
        self.prompt.as_ref().is_some_and(|prompt| prompt.purpose != Purpose::Command)
            || self.status_message().is_some()
            || !self.tasks.running_tasks().is_empty()
            || self.known.changes.progress().is_some()
            || matches!(self.loading, LoadState::Failed(_))
            || (shows_screen && self.shown_filter().is_some())
    }

    /// The filter of the list, where no page covers it.
    pub fn shown_filter(&self) -> Option<&str> {
        let screen = self.current();
        Some(screen.table().filter.as_str()).filter(|filter| !filter.is_empty() && !screen.covers_list())
    }

    pub fn current(&self) -> &dyn Screen {
        self.screens.get(self.screen)
    }

    pub fn current_mut(&mut self) -> (&mut dyn Screen, &Model) {
        (self.screens.get_mut(self.screen), &self.known)
    }

    /// The selected rows of the visible list.
    pub fn selected(&self) -> &BTreeSet<ElementId> {
        &self.current().table().selected
    }

    /// The elements that an action applies to: the selected rows, or else the row at the cursor.
    pub fn target_elements(&self) -> Vec<ElementId> {
        match self.selected().is_empty() {
            true => self.current().current(&self.known).into_iter().collect(),
            false => self.selected().iter().copied().collect(),
        }
    }

    pub fn log_message(&mut self, severity: Severity, text: impl Into<String>) {
        self.messages.push(LogMessage::new(self.now_ms, severity, text));
    }

    /// Logs what became of something that the operator decided.
    pub fn log_answer(&mut self, severity: Severity, text: impl Into<String>) {
        self.messages.push(LogMessage { is_answer: true, ..LogMessage::new(self.now_ms, severity, text) });
    }

    /// The message in the status line.
    pub fn status_message(&self) -> Option<&LogMessage> {
        self.messages.most_severe_after(self.seen)
    }

    /// Begins a background task.
    pub fn begin(&mut self, title: impl Into<String>, job: impl BackgroundTask) -> (TaskId, Effect) {
        let task = self.tasks.begin(title, job.dependency(), self.now_ms);
        if job.is_cancellable() {
            self.tasks.set_cancellable(task);
        }
        (task, Effect::Begin { task, job: Arc::new(job) })
    }

    /// Begins a background task that the status line does not show.
    pub fn begin_quiet(&mut self, title: impl Into<String>, job: impl BackgroundTask) -> (TaskId, Effect) {
        let task = self.tasks.begin_quiet(title, job.dependency(), self.now_ms);
        (task, Effect::Begin { task, job: Arc::new(job) })
    }

    /// The command line with source and options, followed by `rest`.
    pub fn command_line(&self, rest: &str) -> String {
        // For a recording, the command line has the moment on the screens instead of the one that it was
        // opened at.
        let stamp = frame_time(self.known.playback.as_ref()).map(|stamp| ("--at".to_owned(), stamp));
        let opened = self.options.iter().filter(|(option, _)| stamp.is_none() || option != "--at").cloned();
        let options = opened.chain(stamp.clone());
        let options = options.map(|(option, value)| format!("{option} {} ", quote_for_shell(&value)));
        let assumed =
            self.snapshot().and_then(|look| look.assumed).map(|engine| format!("--assume {engine} "));
        let options: String = options.chain(assumed).collect();
        format!("fabdeck --source {} {options}{rest}", quote_for_shell(&self.source))
    }

    /// The command line of a command that needs no source, because it finds changes by their ids.
    pub fn command_line_without_source(&self, rest: &str) -> String {
        let repeated =
            self.options.iter().filter(|(option, _)| ["--state-dir", "--config"].contains(&option.as_str()));
        let options: String =
            repeated.map(|(option, value)| format!("{option} {} ", quote_for_shell(value))).collect();
        format!("fabdeck {options}{rest}")
    }

    /// A file name for a plan of this engine that was not used yet.
    pub fn plan_name(&self, engine: &str) -> String {
        let all = (2..).map(|number| format!("{engine}-{number}.plan"));
        let mut names = std::iter::once(format!("{engine}.plan")).chain(all);
        names.find(|name| !self.plans.contains(Path::new(name))).unwrap_or_default()
    }

    /// The file of this engine's plan for the current marks.
    pub fn plan_file(&self, engine: &Engine) -> Option<&PathBuf> {
        let same = |(to, (id, marks)): &(&PathBuf, &(&str, Faults))| {
            self.plans.contains(*to) && *id == engine.id && *marks == self.known.marks
        };
        self.drafts.iter().find(same).map(|(to, _)| to)
    }

    /// The marks as arguments of a command line.
    pub fn marks_as_arguments(&self) -> String {
        let Some(look) = &self.known.look else { return String::new() };
        let marks = self.known.marks.elements(look.fabric(), &look.names);
        marks.iter().map(|mark| format!(" --fail {}", quote_for_shell(&mark.to_string()))).collect()
    }

    /// The engines that were requested, by id.
    pub fn engines(&self) -> &BTreeMap<&'static str, super::fabric_model::ProposalState> {
        &self.known.proposed
    }

    /// Whether an engine is still working for the current marks.
    pub fn has_engine_under_way(&self) -> bool {
        self.known
            .proposed
            .values()
            .any(|proposed| !matches!(proposed, super::fabric_model::ProposalState::Done { .. }))
    }

    pub fn snapshot(&self) -> Option<&Arc<crate::catalogue::snapshot::Snapshot>> {
        self.known.look.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::quote_for_shell;

    #[test]
    fn a_shell_reads_quoted_text_back() {
        assert_eq!(quote_for_shell("sim:kary,k=4,n=2"), "sim:kary,k=4,n=2");
        assert_eq!(quote_for_shell("link:leaf1[3]"), "'link:leaf1[3]'");
        assert_eq!(quote_for_shell("it's"), r"'it'\''s'");
        assert_eq!(quote_for_shell(""), "''");
    }
}
