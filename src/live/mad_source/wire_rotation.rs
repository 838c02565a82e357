//! A rotation over questions about the health of links: which are due in a sweep.

use std::time::Duration;

use super::wire_topic::{WireQuestion, WireTopic};

/// Where a rotation over questions is.
#[derive(Clone, Debug, Default)]
pub struct WireRotation {
    /// The last question.
    last: Option<(WireTopic, usize, u8, u8)>,
    /// Questions that are due and were not sent so far, in parts of a question.
    owed: f64,
}

impl WireRotation {
    /// The questions that are due after some time, and the time in which the rotation asks all: `period`, or longer where
    /// that would be more than `most` questions at once.
    pub fn take_due(
        &mut self,
        mut all: Vec<WireQuestion>,
        elapsed: Duration,
        (period, most): (Duration, f64),
    ) -> (Vec<WireQuestion>, Duration) {
        let key = |question: &WireQuestion| (question.topic, question.node, question.port, question.part);
        all.sort_by_key(key);
        let share = (elapsed.as_secs_f64() / period.as_secs_f64()).min(1.0);
        let due_now = (all.len() as f64 * share).min(most);
        self.owed += due_now;
        // In a large fabric with slow sweeps a rotation takes longer.
        let rotation = match due_now > 0.0 {
            true => elapsed.mul_f64((all.len() as f64 / due_now).max(1.0)).max(period),
            false => period,
        };
        let count = self.owed as usize;
        self.owed = self.owed.fract();
        let start = self.last.map_or(0, |last| all.partition_point(|question| key(question) <= last));
        let due: Vec<WireQuestion> =
            all.iter().cycle().skip(start).take(count.min(all.len())).copied().collect();
        self.last = due.last().map(key).or(self.last);
        (due, rotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Lid;

    fn questions(count: u8) -> Vec<WireQuestion> {
        let of = |port| WireQuestion {
            topic: WireTopic::Module,
            node: 0,
            port,
            lid: Lid::new(1).unwrap(),
            part: 0,
            reed_solomon: false,
        };
        (1..=count).map(of).collect()
    }

    #[test]
    fn every_question_has_its_turn_within_the_period_or_as_the_bound_allows() {
        const PERIOD: Duration = Duration::from_secs(300);
        for (most, turns) in [(100.0, 30), (2.0, 50)] {
            let mut rotation = WireRotation::default();
            let mut asked = Vec::new();
            for _ in 0..turns {
                let (due, time) = rotation.take_due(questions(100), Duration::from_secs(10), (PERIOD, most));
                assert!(due.len() as f64 <= most.min(4.0) && time >= PERIOD, "{}", due.len());
                asked.extend(due.into_iter().map(|question| question.port));
            }
            asked.sort_unstable();
            asked.dedup();
            assert!(asked.len() >= 99, "{}", asked.len());
        }
    }
}
