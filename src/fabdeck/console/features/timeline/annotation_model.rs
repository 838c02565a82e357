//! What the operator left in time in this session, and what of it waits to be kept.

use std::collections::VecDeque;

use crate::console::model::tasks::TaskId;
use fabdeck_files::capture_format::Annotation;

#[derive(Debug, Default)]
pub struct AnnotationModel {
    /// Notes and bookmarks of this session about times before they were made.
    pub session: Vec<Annotation>,
    /// Those that wait; a file is changed by one task at a time.
    pub(super) waiting: VecDeque<Annotation>,
    pub(super) task: Option<TaskId>,
}

impl AnnotationModel {
    /// Takes over an annotation, and asks for it to be kept.
    pub(super) fn add(&mut self, annotation: Annotation) {
        if annotation.removed {
            self.session.retain(|other| !annotation.takes_back(other));
        } else {
            self.session.push(annotation.clone());
        }
        self.keep(annotation);
    }

    /// Asks for an annotation to be kept.
    pub(super) fn keep(&mut self, annotation: Annotation) {
        self.waiting.push_back(annotation);
    }
}
