//! Work under way behind the screen.

/// Names a task; never used twice in one session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct TaskId(pub u64);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub id: TaskId,
    /// What it does, for the line of progress.
    pub title: String,
    pub begun_ms: u64,
    /// Steps that are done, and how many are known so far; 0 of 0 before the first is told.
    pub done: u64,
    pub of: u64,
}

impl Task {
    /// How long it will still take at the pace so far; `None` while that says nothing.
    pub fn left_ms(&self, now_ms: u64) -> Option<u64> {
        let took = now_ms.saturating_sub(self.begun_ms);
        let worth_saying = self.done > 0 && self.of > self.done && took >= 500;
        worth_saying
            .then(|| (u128::from(took) * u128::from(self.of - self.done) / u128::from(self.done)) as u64)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tasks {
    next: u64,
    running: Vec<Task>,
}

impl Tasks {
    pub fn begin(&mut self, title: impl Into<String>, now_ms: u64) -> TaskId {
        let id = TaskId(self.next);
        self.next += 1;
        self.running.push(Task { id, title: title.into(), begun_ms: now_ms, done: 0, of: 0 });
        id
    }

    pub fn progress(&mut self, id: TaskId, done: u64, of: u64) {
        if let Some(task) = self.running.iter_mut().find(|task| task.id == id) {
            (task.done, task.of) = (done, of);
        }
    }

    /// Whether it was under way: what comes of a task that was cancelled is not wanted any more.
    pub fn end(&mut self, id: TaskId) -> Option<Task> {
        let at = self.running.iter().position(|task| task.id == id)?;
        Some(self.running.remove(at))
    }

    pub fn get(&self, id: TaskId) -> Option<&Task> {
        self.running.iter().find(|task| task.id == id)
    }

    pub fn running(&self) -> &[Task] {
        &self.running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_tells_how_long_it_takes_once_it_can() {
        let mut tasks = Tasks::default();
        let id = tasks.begin("nue", 1000);
        assert_eq!(tasks.get(id).unwrap().left_ms(9000), None);
        tasks.progress(id, 1, 4);
        assert_eq!(tasks.get(id).unwrap().left_ms(2000), Some(3000));
        assert!(tasks.end(id).is_some() && tasks.end(id).is_none());
        assert_ne!(tasks.begin("next", 0), id);
    }
}
