//! The state of a session. Faces read it; only `update` changes it.

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

/// How the look at the source is going.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Loading {
    Under(TaskId),
    Done,
    Failed(String),
}

/// Notes that are in no file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unsaved {
    pub notes: usize,
    /// So many of them are being written.
    pub on_their_way: usize,
    /// Whoever was to leave was told of them.
    pub told: bool,
}

#[derive(Debug)]
pub struct State {
    pub size: Size,
    pub now_ms: u64,
    /// The source as the operator wrote it.
    pub source: String,
    /// Options that the session was begun with and that a command line needs too, with their files.
    pub options: Vec<(String, String)>,
    pub loading: Loading,
    pub known: Known,
    pub screen: ScreenId,
    pub screens: Screens,
    pub layer: Option<Layer>,
    pub prompt: Option<Prompt>,
    pub messages: Messages,
    /// So many messages were seen; the newest stands in the status line until a key is pressed.
    pub seen: u64,
    pub tasks: Tasks,
    pub keymap: Keymap,
    /// What engines are asked for.
    pub request: Request,
    /// Engines that wait for the one that routes, so that the time of each is its own.
    pub queue: VecDeque<&'static Engine>,
    /// Of random marks; each draw takes the next.
    pub seed: u64,
    /// The command line that does what was done last.
    pub last_line: Option<String>,
    /// Files that plans went to, or could not go to: no other plan is offered their names.
    pub plans: BTreeSet<PathBuf>,
    /// Which engine's answer to which marks they hold.
    pub drafts: BTreeMap<PathBuf, (&'static str, Faults)>,
    /// Where a question led away from; Esc goes back there.
    pub came_from: Option<ScreenId>,
    pub leaving: bool,
    /// When Ctrl-C was pressed last.
    pub interrupted_ms: Option<u64>,
    pub unsaved: Unsaved,
    /// Whether anything may be written to the fabric from here.
    pub writing: Writing,
    /// What is to be done besides what an action gives back.
    pub wanted: Vec<Effect>,
    /// A list of so many rows is gone through behind the screen.
    pub many: usize,
}

impl State {
    /// A session on a source, and what is to be done first.
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

    /// How the look goes now, which says what is to be made of tables that are not there.
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

    /// The rows that are selected on the list in sight.
    pub fn selected(&self) -> &BTreeSet<Resolved> {
        &self.current().table().selected
    }

    /// What an action is about: the rows that are selected, or else what the cursor is on.
    pub fn meant(&self) -> Vec<Resolved> {
        match self.selected().is_empty() {
            true => self.current().current(&self.known).into_iter().collect(),
            false => self.selected().iter().copied().collect(),
        }
    }

    /// On the page of an engine: the last of its rows that is in sight, and how many there are.
    pub fn page_in_sight(&self) -> Option<(usize, usize)> {
        self.screens.whatif.page.filter(|_| self.screen == ScreenId::Whatif)?;
        let rows = super::screens::rows_of_page(self);
        let height = usize::from(self.areas().body.height.saturating_sub(1));
        Some(((self.screens.whatif.top + height).min(rows), rows))
    }

    pub fn say(&mut self, severity: Severity, text: impl Into<String>) {
        self.messages.push(Message { at_ms: self.now_ms, severity, text: text.into() });
    }

    /// The message for the status line.
    pub fn news(&self) -> Option<&Message> {
        self.messages.gravest_after(self.seen)
    }

    /// Begins work behind the screen.
    pub fn begin(&mut self, title: impl Into<String>, job: Job) -> (TaskId, Effect) {
        let task = self.tasks.begin(title, job.needs(), self.now_ms);
        (task, Effect::Begin { task, job })
    }

    /// The same, but nobody waits for it.
    pub fn begin_quiet(&mut self, title: impl Into<String>, job: Job) -> (TaskId, Effect) {
        let task = self.tasks.begin_quiet(title, job.needs(), self.now_ms);
        (task, Effect::Begin { task, job })
    }

    /// The command line up to the command, with the source and what it was opened with.
    pub fn line(&self, rest: &str) -> String {
        // Of a recording it is the moment on the screens, whichever it was opened at.
        let stamp = timeline::shown_stamp(self).map(|stamp| ("--at".to_owned(), stamp));
        let opened = self.options.iter().filter(|(option, _)| stamp.is_none() || option != "--at").cloned();
        let options = opened.chain(stamp.clone());
        let options = options.map(|(option, value)| format!("{option} {} ", quoted(&value)));
        let assumed = self.look().and_then(|look| look.assumed).map(|engine| format!("--assume {engine} "));
        let options: String = options.chain(assumed).collect();
        format!("fabdeck --source {} {options}{rest}", quoted(&self.source))
    }

    /// The command line of what needs no source: changes are found by their ids.
    pub fn line_anywhere(&self, rest: &str) -> String {
        let kept =
            self.options.iter().filter(|(option, _)| ["--state-dir", "--config"].contains(&option.as_str()));
        let options: String = kept.map(|(option, value)| format!("{option} {} ", quoted(value))).collect();
        format!("fabdeck {options}{rest}")
    }

    /// A name for a plan of this engine that was not tried yet.
    pub fn plan_name(&self, engine: &str) -> String {
        let all = (2..).map(|number| format!("{engine}-{number}.plan"));
        let mut names = std::iter::once(format!("{engine}.plan")).chain(all);
        names.find(|name| !self.plans.contains(Path::new(name))).unwrap_or_default()
    }

    /// The file of a plan of this engine for the marks as they are.
    pub fn plan_written(&self, engine: &Engine) -> Option<&PathBuf> {
        let same = |(to, (id, marks)): &(&PathBuf, &(&str, Faults))| {
            self.plans.contains(*to) && *id == engine.id && *marks == self.known.marks
        };
        self.drafts.iter().find(same).map(|(to, _)| to)
    }

    /// Marks as arguments of a command line.
    pub fn marks_as_arguments(&self) -> String {
        let Some(look) = &self.known.look else { return String::new() };
        let marks = self.known.marks.elements(look.fabric(), &look.names);
        marks.iter().map(|mark| format!(" --fail {}", quoted(&mark.to_string()))).collect()
    }

    /// All engines that were asked, by id.
    pub fn engines(&self) -> &BTreeMap<&'static str, super::known::Proposed> {
        &self.known.proposed
    }

    /// Whether an engine routes for the marks as they are.
    pub fn engines_under_way(&self) -> bool {
        self.known.proposed.values().any(|proposed| !matches!(proposed, super::known::Proposed::Done { .. }))
    }

    pub fn look(&self) -> Option<&Arc<crate::session::Look>> {
        self.known.look.as_ref()
    }
}

/// As a shell takes it as one word.
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
