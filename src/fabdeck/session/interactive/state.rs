//! The state of a session. Screens read it; only `update` changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changing::Writing;
use super::effect::{Effect, Job};
use super::frame::{Areas, Size};
use super::keymap::Keymap;
use super::known::{Known, Unread};
use super::layer::Layer;
use super::messages::{Message, Messages, Severity};
use super::prompt::Prompt;
use super::screens::{Screen, ScreenId, Screens};
use super::tasks::{Needs, TaskId, Tasks};
use super::timeline;
use fabdeck_fabric::{Faults, Resolved};
use fabdeck_routing::{Engine, Request};

/// The status of reading the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Loading {
    Under(TaskId),
    Done,
    Failed(String),
}

/// Notes that no file contains yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unsaved {
    pub notes: usize,
    /// Number of these notes that a task is writing.
    pub on_their_way: usize,
    /// Whether the session has warned the operator of them before leaving.
    pub told: bool,
}

#[derive(Debug)]
pub struct State {
    pub size: Size,
    pub now_ms: u64,
    /// The source as the operator wrote it.
    pub source: String,
    /// The options of the session that command lines repeat, with their values.
    pub options: Vec<(String, String)>,
    pub loading: Loading,
    pub known: Known,
    pub screen: ScreenId,
    pub screens: Screens,
    pub layer: Option<Layer>,
    pub prompt: Option<Prompt>,
    pub messages: Messages,
    /// Number of messages that were seen. The status line shows the most severe later one until a key is
    /// pressed.
    pub seen: u64,
    pub tasks: Tasks,
    pub keymap: Keymap,
    /// The request to engines.
    pub request: Request,
    /// Engines that wait for the running one, so that each engine's time is its own.
    pub queue: VecDeque<&'static Engine>,
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
    pub leaving: bool,
    /// Time of the last Ctrl-C.
    pub interrupted_ms: Option<u64>,
    pub unsaved: Unsaved,
    /// Whether the session may write to the fabric.
    pub writing: Writing,
    /// Effects in addition to those that an action returns.
    pub wanted: Vec<Effect>,
    /// Lists with at least this number of rows are filtered and sorted by a background task.
    pub many: usize,
}

impl State {
    /// Opens a session on a source; returns its state and its first effects.
    pub fn open(source: impl Into<String>, keymap: Keymap, size: Size) -> (Self, Vec<Effect>) {
        let source = source.into();
        let mut tasks = Tasks::default();
        let task = tasks.begin(format!("looking at {source}"), Needs::Nothing, 0);
        let state = Self {
            size,
            now_ms: 0,
            source,
            options: Vec::new(),
            loading: Loading::Under(task),
            known: Known { unread: Some(Unread::BeingRead), ..Known::default() },
            screen: ScreenId::Fabric,
            screens: Screens::default(),
            layer: None,
            prompt: None,
            messages: Messages::default(),
            seen: 0,
            tasks,
            keymap,
            request: Request::default(),
            queue: VecDeque::new(),
            seed: 1,
            last_line: None,
            plans: BTreeSet::new(),
            drafts: BTreeMap::new(),
            came_from: None,
            leaving: false,
            interrupted_ms: None,
            unsaved: Unsaved::default(),
            writing: Writing::default(),
            wanted: Vec::new(),
            many: super::selecting::MANY,
        };
        (state, vec![Effect::Begin { task, job: Job::Look }])
    }

    /// Sets the status of reading the source, and with it the reason for missing tables.
    pub fn go_on(&mut self, loading: Loading) {
        self.known.unread = match &loading {
            Loading::Under(_) => Some(Unread::BeingRead),
            Loading::Failed(_) => Some(Unread::BrokenOff),
            Loading::Done => None,
        };
        self.loading = loading;
    }

    pub fn areas(&self) -> Areas {
        Areas::of(self.size)
    }

    pub fn current(&self) -> &dyn Screen {
        self.screens.get(self.screen)
    }

    pub fn current_mut(&mut self) -> (&mut dyn Screen, &Known) {
        (self.screens.get_mut(self.screen), &self.known)
    }

    /// The selected rows of the visible list.
    pub fn selected(&self) -> &BTreeSet<Resolved> {
        &self.current().table().selected
    }

    /// The elements that an action applies to: the selected rows, or else the row at the cursor.
    pub fn meant(&self) -> Vec<Resolved> {
        match self.selected().is_empty() {
            true => self.current().current(&self.known).into_iter().collect(),
            false => self.selected().iter().copied().collect(),
        }
    }

    /// On the page of an engine: its last visible row, and its number of rows.
    pub fn page_in_sight(&self) -> Option<(usize, usize)> {
        self.screens.whatif.page.filter(|_| self.screen == ScreenId::Whatif)?;
        let rows = super::screens::rows_of_page(self);
        let height = usize::from(self.areas().body.height.saturating_sub(1));
        Some(((self.screens.whatif.top + height).min(rows), rows))
    }

    pub fn say(&mut self, severity: Severity, text: impl Into<String>) {
        self.messages.push(Message { at_ms: self.now_ms, severity, text: text.into() });
    }

    /// The message in the status line.
    pub fn news(&self) -> Option<&Message> {
        self.messages.gravest_after(self.seen)
    }

    /// Begins a background task.
    pub fn begin(&mut self, title: impl Into<String>, job: Job) -> (TaskId, Effect) {
        let task = self.tasks.begin(title, job.needs(), self.now_ms);
        (task, Effect::Begin { task, job })
    }

    /// Begins a background task that the status line does not show.
    pub fn begin_quiet(&mut self, title: impl Into<String>, job: Job) -> (TaskId, Effect) {
        let task = self.tasks.begin_quiet(title, job.needs(), self.now_ms);
        (task, Effect::Begin { task, job })
    }

    /// The command line with source and options, followed by `rest`.
    pub fn line(&self, rest: &str) -> String {
        // For a recording, the command line has the moment on the screens instead of the one that it was
        // opened at.
        let stamp = timeline::shown_stamp(self).map(|stamp| ("--at".to_owned(), stamp));
        let opened = self.options.iter().filter(|(option, _)| stamp.is_none() || option != "--at").cloned();
        let options = opened.chain(stamp.clone());
        let options = options.map(|(option, value)| format!("{option} {} ", quoted(&value)));
        let assumed = self.look().and_then(|look| look.assumed).map(|engine| format!("--assume {engine} "));
        let options: String = options.chain(assumed).collect();
        format!("fabdeck --source {} {options}{rest}", quoted(&self.source))
    }

    /// The command line of a command that needs no source, because it finds changes by their ids.
    pub fn line_anywhere(&self, rest: &str) -> String {
        let kept =
            self.options.iter().filter(|(option, _)| ["--state-dir", "--config"].contains(&option.as_str()));
        let options: String = kept.map(|(option, value)| format!("{option} {} ", quoted(value))).collect();
        format!("fabdeck {options}{rest}")
    }

    /// A file name for a plan of this engine that was not used yet.
    pub fn plan_name(&self, engine: &str) -> String {
        let all = (2..).map(|number| format!("{engine}-{number}.plan"));
        let mut names = std::iter::once(format!("{engine}.plan")).chain(all);
        names.find(|name| !self.plans.contains(Path::new(name))).unwrap_or_default()
    }

    /// The file of this engine's plan for the current marks.
    pub fn plan_written(&self, engine: &Engine) -> Option<&PathBuf> {
        let same = |(to, (id, marks)): &(&PathBuf, &(&str, Faults))| {
            self.plans.contains(*to) && *id == engine.id && *marks == self.known.marks
        };
        self.drafts.iter().find(same).map(|(to, _)| to)
    }

    /// The marks as arguments of a command line.
    pub fn marks_as_arguments(&self) -> String {
        let Some(look) = &self.known.look else { return String::new() };
        let marks = self.known.marks.elements(look.fabric(), &look.names);
        marks.iter().map(|mark| format!(" --fail {}", quoted(&mark.to_string()))).collect()
    }

    /// The engines that were requested, by id.
    pub fn engines(&self) -> &BTreeMap<&'static str, super::known::Proposed> {
        &self.known.proposed
    }

    /// Whether an engine is still working for the current marks.
    pub fn engines_under_way(&self) -> bool {
        self.known.proposed.values().any(|proposed| !matches!(proposed, super::known::Proposed::Done { .. }))
    }

    pub fn look(&self) -> Option<&Arc<crate::session::Look>> {
        self.known.look.as_ref()
    }
}

/// The text as one word of a shell command.
pub fn quoted(text: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_.,:/=@%+".contains(sign);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_what_was_meant() {
        assert_eq!(quoted("sim:kary,k=4,n=2"), "sim:kary,k=4,n=2");
        assert_eq!(quoted("link:leaf1[3]"), "'link:leaf1[3]'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
