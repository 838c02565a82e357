//! Notes and bookmarks that outlive the session: about a capture they are kept in it, about a live fabric in the state
//! folder of the user.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::playback::Playback;
use super::time_navigation::seek_place;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::chart_time::{chart_clock, time_words};
use crate::console::features::health::health_model::OperatorMark;
use crate::console::features::screen::Screen;
use crate::console::features::timeline::time_cursor;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::changes::change_exit::user;
use crate::operations::health::kept_annotations::keep_annotation;
use crate::operations::record::capture_rewrite::annotate;
use fabdeck_files::capture::{find_capture, fits_annotation};
use fabdeck_files::capture_format::Annotation;
use fabdeck_mad::access::{ReadObserver, ReadProgress};
use fabdeck_routing::RouteProgress;

/// Keeps an annotation.
#[derive(Debug)]
pub struct AnnotationTask {
    look: Arc<Snapshot>,
    annotation: Annotation,
    /// The capture that is replayed.
    capture: Option<PathBuf>,
}

/// Reports the progress of a rewrite to the session, which may cancel it.
pub struct RewriteWatch<'p>(pub &'p dyn RouteProgress);

impl ReadObserver for RewriteWatch<'_> {
    fn report_progress(&mut self, ReadProgress { done, known, .. }: ReadProgress) {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        self.0.report(count(done), count(known));
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl BackgroundTask for AnnotationTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn file(&self) -> Option<&Path> {
        self.capture.as_deref()
    }

    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>> {
        // A session without a system keeps nothing, and says nothing about it.
        let Some(system) = services.system() else {
            return Some(Box::new(AnnotationOutcome { kept: Ok(String::new()) }));
        };
        let made = Timestamp::now().as_millisecond();
        let annotation = Annotation { by: user(), made, ..self.annotation.clone() };
        let kept = match &self.capture {
            Some(file) => annotate(file, &annotation, &mut RewriteWatch(progress))
                .map(|_| file.display().to_string())
                .map_err(|failure| {
                    failure.message.unwrap_or_else(|| "the capture was not changed".to_owned())
                }),
            None => keep_annotation(system, &self.look, &annotation).map(|()| "your state folder".to_owned()),
        };
        Some(Box::new(AnnotationOutcome { kept }))
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(AnnotationOutcome { kept: whole.content("annotated")? }))
    }
}

/// Where the annotation is kept, or why it is not.
#[derive(Debug)]
pub struct AnnotationOutcome {
    kept: Result<String, String>,
}

impl TaskOutcome for AnnotationOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        if state.known.annotations.task.take_if(|under| *under == task).is_none() {
            return Vec::new();
        }
        match self.kept {
            Ok(place) if place.is_empty() => {}
            Ok(place) => state.log_message(Severity::Info, format!("kept in {place}")),
            Err(why) => state.log_message(Severity::Warning, format!("kept in this session only: {why}")),
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("annotated {:?}", self.kept)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("annotated", &self.kept)
    }
}

/// Whether an annotation is being written.
pub fn is_writing(state: &SessionState) -> bool {
    state.known.annotations.task.is_some_and(|task| state.tasks.get(task).is_some())
}

/// The file of the capture that is replayed; in a folder, it is the capture of that folder.
pub fn replayed_capture(state: &SessionState) -> Option<PathBuf> {
    state.known.playback.as_ref().filter(|playback| playback.live.is_none())?;
    let source = PathBuf::from(&state.source);
    Some(find_capture(&source).unwrap_or(source))
}

/// Begins to keep what waits, one after the other.
pub fn follow(state: &mut SessionState) -> Vec<Effect> {
    // A capture is changed by one task at a time.
    if is_writing(state) || state.known.problems.is_acknowledging(&state.tasks) {
        return Vec::new();
    }
    let capture = replayed_capture(state);
    let model = &mut state.known.annotations;
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    let Some(annotation) = model.waiting.pop_front() else { return Vec::new() };
    let title = match &capture {
        Some(file) => format!("writing {}", file.display()),
        None => "keeping a note".to_owned(),
    };
    let (task, effect) = state.begin_quiet(title, AnnotationTask { look, annotation, capture });
    state.known.annotations.task = Some(task);
    vec![effect]
}

/// The time of the cursor by the clock, in milliseconds since 1970; `None` at the present of a live watch.
pub fn cursor_time(known: &Model) -> Option<i64> {
    match &known.playback {
        Some(playback) => playback.timeline().times.get(playback.place()).copied(),
        None => {
            let at_ms = i64::try_from(known.chart_cursor?).ok()?;
            Some(chart_clock(known)?.unix_ms(at_ms))
        }
    }
}

/// Whether a note goes to a time before the present: that of the cursor.
pub fn is_about_the_past(known: &Model) -> bool {
    match &known.playback {
        // At the end of a pause, the note is about the present.
        Some(Playback { live: Some(_), .. }) => known
            .playback
            .as_ref()
            .is_some_and(|playback| playback.place() + 1 < playback.timeline().times.len()),
        Some(_) => true,
        None => known.chart_cursor.is_some() && known.clock.is_some(),
    }
}

/// Adds a note at the cursor.
pub fn annotate_cursor(state: &mut SessionState, text: &str) -> Vec<Effect> {
    let Some(at) = cursor_time(&state.known) else { return Vec::new() };
    let annotation =
        Annotation { at, by: String::new(), made: 0, text: Some(text.to_owned()), removed: false };
    if !fits_annotation(&annotation) {
        state.log_message(Severity::Error, "FD-6321: a note has at most 64 KiB, and this one was not added");
        return Vec::new();
    }
    let clock = chart_clock(&state.known);
    show_annotation(&mut state.known, &annotation);
    state.known.annotations.add(annotation);
    state.screens.timeline.refresh(&state.known);
    let time = clock.and_then(|clock| clock.clock_text(clock.history_ms(at))).unwrap_or_default();
    state.log_message(Severity::Info, format!("noted at {time}"));
    Vec::new()
}

/// Shows an annotation among the events: in a recording at its moment, live at its time.
fn show_annotation(known: &mut Model, annotation: &Annotation) {
    let Annotation { at, text, .. } = annotation;
    let clock = chart_clock(known);
    if let Some(playback) = &mut known.playback {
        playback.add_annotation(annotation.clone());
        return;
    }
    let Some(at_ms) = clock.and_then(|clock| u64::try_from(clock.history_ms(*at)).ok()) else { return };
    let (mark, text) = match text {
        Some(text) => (OperatorMark::Note, format!("note: {text}")),
        None => (OperatorMark::Bookmark, "bookmark".to_owned()),
    };
    if !known.problems.has_mark(at_ms, mark, &text) {
        known.problems.add_mark(at_ms, mark, text);
    }
}

/// Shows what the state folder of the user has about this fabric and the time that is shown.
pub fn show_kept(known: &mut Model, kept: &[Annotation]) {
    for annotation in kept {
        let is_shown = known
            .annotations
            .session
            .iter()
            .any(|own| own.at == annotation.at && own.text == annotation.text);
        if !is_shown {
            show_annotation(known, annotation);
        }
    }
}

/// Sets a bookmark at the cursor, or removes it.
pub fn toggle_bookmark(state: &mut SessionState) -> Vec<Effect> {
    let Some(playback) = &mut state.known.playback else { return toggle_live_bookmark(state) };
    let place = playback.place();
    let set = playback.bookmarks.insert(place);
    if !set {
        playback.bookmarks.remove(&place);
    }
    playback.changed += 1;
    let (clock, count) = (playback.timeline().clock_text(playback.time()), playback.bookmarks.len());
    let at = playback.bookmark_time(place);
    let count = count_words(count, "bookmark", "bookmarks");
    let words = if set { "has a bookmark now" } else { "has no bookmark now" };
    state.log_message(Severity::Info, format!("{clock} {words}; {count} in this session"));
    state.known.annotations.add(Annotation { at, by: String::new(), made: 0, text: None, removed: !set });
    state.screens.timeline.refresh(&state.known);
    Vec::new()
}

fn toggle_live_bookmark(state: &mut SessionState) -> Vec<Effect> {
    let at_ms = state.known.chart_cursor.unwrap_or(state.now_ms);
    let set = !state.known.problems.remove_bookmark(at_ms);
    if set {
        state.known.problems.add_mark(at_ms, OperatorMark::Bookmark, "bookmark");
    }
    let history_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
    if let Some(clock) = chart_clock(&state.known) {
        let at = clock.unix_ms(history_ms);
        state.known.annotations.add(Annotation { at, by: String::new(), made: 0, text: None, removed: !set });
    }
    let words = if set { "has a bookmark now" } else { "has no bookmark now" };
    let time = time_words(&state.known, history_ms);
    state.log_message(Severity::Info, format!("{time} {words}"));
    Vec::new()
}

/// Goes to the next or the previous bookmark.
pub fn step_bookmark(state: &mut SessionState, next: bool) -> Vec<Effect> {
    let none = if next { "no bookmark after this time" } else { "no bookmark before this time" };
    if let Some(playback) = &state.known.playback {
        let place = playback.place();
        let found = match next {
            true => playback.bookmarks.range(place + 1..).next(),
            false => playback.bookmarks.range(..place).next_back(),
        };
        return match found.copied() {
            Some(place) => seek_place(state, place),
            None => {
                state.log_message(Severity::Info, none);
                Vec::new()
            }
        };
    }
    let here = state.known.chart_cursor.map_or(i64::MAX, |at_ms| i64::try_from(at_ms).unwrap_or(i64::MAX));
    let bookmarks = state.known.problems.events().filter(|event| event.mark == Some(OperatorMark::Bookmark));
    let times = bookmarks.map(|event| event.at_ms);
    let found = match next {
        true => times.filter(|at_ms| *at_ms > here).min(),
        false => times.filter(|at_ms| *at_ms < here).max(),
    };
    match found.and_then(|at_ms| u64::try_from(at_ms).ok()) {
        Some(at_ms) => time_cursor::set_cursor(state, at_ms),
        None => state.log_message(Severity::Info, none),
    }
    Vec::new()
}

/// Keeps a note about the present too, where the clock is known.
pub fn keep_present_note(state: &mut SessionState, text: &str) {
    let at_ms = i64::try_from(state.now_ms).unwrap_or(i64::MAX);
    let Some(clock) = state.known.clock else { return };
    let at = clock.unix_ms(at_ms);
    let annotation =
        Annotation { at, by: String::new(), made: 0, text: Some(text.to_owned()), removed: false };
    if fits_annotation(&annotation) {
        state.known.annotations.keep(annotation);
    }
}
