//! What devices answered, by kind of device and question.

use std::collections::BTreeMap;

use super::attribute_list::question_detail;
use fabdeck_mad::{Class, Mad, MadStatus, NodeInfo};

/// Questions that are stored, of all kinds of devices together.
const MOST_QUESTIONS: usize = 2_000;

/// A kind of device, as NodeInfo states it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HardwareModel {
    pub vendor: u32,
    pub device: u16,
    pub revision: u32,
    /// 1 is an adapter, 2 a switch, 3 a router.
    pub node_type: u8,
}

impl HardwareModel {
    pub(super) fn from_node_info(info: &NodeInfo) -> Self {
        let [high, middle, low] = info.vendor_id;
        Self {
            vendor: u32::from_be_bytes([0, high, middle, low]),
            device: info.device_id.get(),
            revision: info.revision.get(),
            node_type: info.node_type,
        }
    }
}

/// A question to a kind of device: class, attribute and what tells questions about one attribute apart. A route to a
/// device that did not answer NodeInfo has no kind.
pub type HardwareQuestion = (Option<HardwareModel>, Class, u16, u32);

/// How a kind of device answered a question: the best that any of its devices did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HardwareOutcome {
    Silent,
    Refused(Mad),
    Answered(Mad),
}

impl HardwareOutcome {
    pub fn answer(&self) -> Option<&Mad> {
        match self {
            Self::Silent => None,
            Self::Refused(mad) | Self::Answered(mad) => Some(mad),
        }
    }

    /// The status of a refusal.
    pub fn refusal(&self) -> Option<MadStatus> {
        match self {
            Self::Refused(mad) => Some(mad.status()),
            _ => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Silent => 0,
            Self::Refused(_) => 1,
            Self::Answered(_) => 2,
        }
    }
}

/// A question with its first answer; without an answer the first refusal.
#[derive(Clone, Debug)]
pub struct HardwareAnswer {
    pub request: Mad,
    pub outcome: HardwareOutcome,
    /// The number of datagrams of this kind, by outcome.
    pub answered: u64,
    pub refused: u64,
    pub silent: u64,
}

/// All questions with their answers.
#[derive(Clone, Debug, Default)]
pub struct HardwareAnswers {
    pub questions: BTreeMap<HardwareQuestion, HardwareAnswer>,
    /// Datagrams that are not stored, because there were too many different questions.
    pub left_out: u64,
}

impl HardwareAnswers {
    pub(super) fn add(&mut self, model: Option<HardwareModel>, request: Mad, outcome: HardwareOutcome) {
        let number = request.header().attribute.get();
        let question = (model, request.class(), number, question_detail(&request));
        let is_full = self.questions.len() >= MOST_QUESTIONS;
        if is_full && !self.questions.contains_key(&question) {
            self.left_out += 1;
            return;
        }
        let stored = self.questions.entry(question).or_insert_with(|| HardwareAnswer {
            request: request.clone(),
            outcome: HardwareOutcome::Silent,
            answered: 0,
            refused: 0,
            silent: 0,
        });
        match &outcome {
            HardwareOutcome::Silent => stored.silent += 1,
            HardwareOutcome::Refused(_) => stored.refused += 1,
            HardwareOutcome::Answered(_) => stored.answered += 1,
        }
        if outcome.rank() > stored.outcome.rank() {
            (stored.request, stored.outcome) = (request, outcome);
        }
    }

    /// The kinds of devices that stated what they are.
    pub fn models(&self) -> Vec<HardwareModel> {
        let mut models: Vec<HardwareModel> = self.questions.keys().filter_map(|(model, ..)| *model).collect();
        models.dedup();
        models
    }

    /// The numbers of questions that were answered, refused, and not answered.
    pub fn count_outcomes(&self) -> [usize; 3] {
        let of = |rank| self.questions.values().filter(|answer| answer.outcome.rank() == rank).count();
        [of(2), of(1), of(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::Method;

    #[test]
    fn the_first_answer_counts_then_the_first_refusal_and_the_number_is_bounded() {
        let mad = |modifier: u32| Mad::new(Class::SUBNET_DIRECTED, Method::GET, 0xFF17, modifier);
        let mut answers = HardwareAnswers::default();
        for (modifier, outcome) in [
            (1, HardwareOutcome::Silent),
            (1, HardwareOutcome::Refused(mad(11))),
            (1, HardwareOutcome::Refused(mad(12))),
            (1, HardwareOutcome::Answered(mad(13))),
            (1, HardwareOutcome::Answered(mad(14))),
            (1, HardwareOutcome::Silent),
        ] {
            answers.add(None, mad(modifier), outcome);
        }
        let first = answers.questions.values().next().unwrap();
        assert_eq!(first.outcome, HardwareOutcome::Answered(mad(13)));
        assert_eq!((first.answered, first.refused, first.silent), (2, 2, 2));
        for modifier in 0..3_000 {
            answers.add(None, mad(modifier), HardwareOutcome::Silent);
        }
        assert_eq!((answers.questions.len(), answers.left_out), (2_000, 1_000));
        assert_eq!(answers.count_outcomes(), [1, 0, 1_999]);
    }
}
