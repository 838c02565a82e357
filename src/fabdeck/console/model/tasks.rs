//! Background tasks.

/// The id of a task, unique within a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct TaskId(pub u64);

/// What the result of a task depends on. When that changes, the result is useless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TaskDependency {
    Nothing,
    /// The current snapshot.
    Snapshot,
    /// The current marks, and the current snapshot.
    Marks,
}

/// An estimate needs this time, and this percentage of the steps.
const STEADY_AFTER_MS: u64 = 2000;
const STEADY_PERCENT: u64 = 5;
/// A task that has done this percentage of its steps and reports nothing for this time does work that it does
/// not count.
const NEARLY_DONE_PERCENT: u64 = 90;
const SILENT_MS: u64 = 1000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub id: TaskId,
    /// The description of the task, for the line of progress.
    pub title: String,
    pub begun_ms: u64,
    pub needs: TaskDependency,
    /// Whether Esc cancels the task.
    pub cancellable: bool,
    /// The number of the current part. Each part counts its steps from 0: routes, their certificate, the
    /// difference.
    pub part: u64,
    part_begun_ms: u64,
    /// Time of the last report of progress.
    told_ms: u64,
    /// Number of steps of this part that are done, and in the next field of all known steps; both are 0
    /// before the first report.
    pub done: u64,
    pub of: u64,
}

impl Task {
    /// Whether the task has parts. Engines route, certify and compare.
    pub fn has_parts(&self) -> bool {
        self.part > 1 || self.needs == TaskDependency::Marks
    }

    /// Whether the counted steps are done, or nearly done without a recent report. The task then does work
    /// that it does not count.
    pub fn is_uncounted(&self, now_ms: u64) -> bool {
        let silent = now_ms.saturating_sub(self.told_ms) >= SILENT_MS;
        self.of > 0 && (self.done >= self.of || (silent && self.done * 100 >= self.of * NEARLY_DONE_PERCENT))
    }

    /// Remaining time of this part at its pace so far. `None` until the pace is steady, because the first
    /// steps are slower or faster than the others.
    pub fn time_left_ms(&self, now_ms: u64) -> Option<u64> {
        let took = now_ms.saturating_sub(self.part_begun_ms);
        let steady = took >= STEADY_AFTER_MS && self.done * 100 >= self.of * STEADY_PERCENT;
        let worth_saying = self.done > 0 && self.of > self.done && steady;
        worth_saying
            .then(|| (u128::from(took) * u128::from(self.of - self.done) / u128::from(self.done)) as u64)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tasks {
    next: u64,
    running: Vec<Task>,
    /// Tasks that run without a request of the operator; Esc does not cancel them.
    quiet: Vec<Task>,
}

impl Tasks {
    pub fn begin(&mut self, title: impl Into<String>, needs: TaskDependency, now_ms: u64) -> TaskId {
        let task = self.new_task(title.into(), needs, now_ms);
        let id = task.id;
        self.running.push(task);
        id
    }

    pub fn begin_quiet(&mut self, title: impl Into<String>, needs: TaskDependency, now_ms: u64) -> TaskId {
        let task = self.new_task(title.into(), needs, now_ms);
        let id = task.id;
        self.quiet.push(task);
        id
    }

    fn new_task(&mut self, title: String, needs: TaskDependency, now_ms: u64) -> Task {
        let id = TaskId(self.next);
        self.next += 1;
        let (part, part_begun_ms, told_ms) = (1, now_ms, now_ms);
        let (begun_ms, cancellable) = (now_ms, false);
        Task { id, title, begun_ms, needs, cancellable, part, part_begun_ms, told_ms, done: 0, of: 0 }
    }

    /// Lets Esc cancel a task.
    pub fn set_cancellable(&mut self, id: TaskId) {
        if let Some(task) = self.running.iter_mut().find(|task| task.id == id) {
            task.cancellable = true;
        }
    }

    pub fn update_progress(&mut self, id: TaskId, done: u64, of: u64, now_ms: u64) {
        let mut tasks = self.running.iter_mut().chain(&mut self.quiet);
        if let Some(task) = tasks.find(|task| task.id == id) {
            // Reports of several threads arrive in any order, so a small step back is no new part.
            if done.saturating_mul(2) < task.done {
                task.part += 1;
                task.part_begun_ms = now_ms;
            } else if of == task.of && done < task.done {
                return;
            }
            (task.done, task.of, task.told_ms) = (done, of, now_ms);
        }
    }

    /// Removes a task and returns it. `None` means that the task was cancelled, and its result is not wanted.
    pub fn end(&mut self, id: TaskId) -> Option<Task> {
        let of = [&mut self.running, &mut self.quiet];
        of.into_iter().find_map(|tasks| {
            let at = tasks.iter().position(|task| task.id == id)?;
            Some(tasks.remove(at))
        })
    }

    pub fn get(&self, id: TaskId) -> Option<&Task> {
        self.running.iter().chain(&self.quiet).find(|task| task.id == id)
    }

    /// The tasks that the operator waits for.
    pub fn running_tasks(&self) -> &[Task] {
        &self.running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_a_time_left_once_its_pace_is_steady() {
        let mut tasks = Tasks::default();
        let id = tasks.begin("nue", TaskDependency::Marks, 1000);
        assert_eq!(tasks.get(id).unwrap().time_left_ms(9000), None);
        tasks.update_progress(id, 3, 12, 2000);
        assert_eq!(tasks.get(id).unwrap().time_left_ms(2000), None, "a second has no answer");
        tasks.update_progress(id, 3, 12, 3000);
        assert_eq!(tasks.get(id).unwrap().time_left_ms(3000), Some(6000));
        tasks.update_progress(id, 4, 100, 3000);
        assert_eq!(tasks.get(id).unwrap().time_left_ms(9000), None, "nor do a few steps of many");
        tasks.update_progress(id, 3, 12, 3000);
        // A report that was overtaken changes nothing; counting from 0 again begins another part.
        tasks.update_progress(id, 2, 12, 2000);
        assert_eq!((tasks.get(id).unwrap().done, tasks.get(id).unwrap().part), (3, 1));
        tasks.update_progress(id, 1, 5, 3000);
        assert_eq!((tasks.get(id).unwrap().part, tasks.get(id).unwrap().time_left_ms(5000)), (2, Some(8000)));
        assert!(tasks.end(id).is_some() && tasks.end(id).is_none());
        assert_ne!(tasks.begin("next", TaskDependency::Nothing, 0), id);
    }

    #[test]
    fn a_task_that_counted_nearly_all_and_reports_nothing_is_uncounted() {
        let mut tasks = Tasks::default();
        let id = tasks.begin("nue", TaskDependency::Marks, 0);
        let uncounted = |tasks: &Tasks, now_ms| tasks.get(id).unwrap().is_uncounted(now_ms);
        assert!(!uncounted(&tasks, 9000), "nothing was counted");
        tasks.update_progress(id, 97, 100, 9000);
        assert_eq!([9500, 10_000].map(|now_ms| uncounted(&tasks, now_ms)), [false, true]);
        tasks.update_progress(id, 40, 100, 11_000);
        assert!(!uncounted(&tasks, 99_000), "less than half of it takes long");
        tasks.update_progress(id, 100, 100, 99_000);
        assert!(uncounted(&tasks, 99_000));
    }
}
