//! A port around another one that stores the first answer of each kind of device to each question.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::hardware_answers::{HardwareAnswers, HardwareModel, HardwareOutcome};
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort};
use fabdeck_mad::{Class, Mad, NodeInfo, PortInfo, Smp, attribute};

/// Requests that wait for an answer. An exchange has far fewer under way.
const MOST_PENDING: usize = 4_096;
/// Routes whose device is known. Answers from further ones belong to no kind.
const MOST_ROUTES: usize = 100_000;

/// What a recorder has seen so far.
#[derive(Debug, Default)]
struct RecorderState {
    answers: HardwareAnswers,
    /// Requests without an answer, by the lower half of the transaction.
    pending: BTreeMap<u32, (Option<HardwareModel>, Mad)>,
    by_route: FxHashMap<Box<[u8]>, HardwareModel>,
    by_lid: FxHashMap<u16, HardwareModel>,
}

fn transaction(mad: &Mad) -> u32 {
    mad.header().transaction.get() as u32
}

/// The directed route of a datagram, if it has one.
fn route_of(mad: &Mad) -> Option<Box<[u8]>> {
    (mad.class() == Class::SUBNET_DIRECTED).then(|| Smp(mad.clone()).route().map(Box::from)).flatten()
}

impl RecorderState {
    fn model_at(&self, parcel: &AddressedMad) -> Option<HardwareModel> {
        match route_of(&parcel.mad) {
            Some(route) => self.by_route.get(&route).copied(),
            None => self.by_lid.get(&parcel.address.lid).copied(),
        }
    }

    fn note_request(&mut self, parcel: &AddressedMad) {
        let model = self.model_at(parcel);
        if let Some((model, request)) =
            self.pending.insert(transaction(&parcel.mad), (model, parcel.mad.clone()))
        {
            self.answers.add(model, request, HardwareOutcome::Silent);
        }
        // The oldest one gets no answer any more.
        if self.pending.len() > MOST_PENDING
            && let Some((_, (model, request))) = self.pending.pop_first()
        {
            self.answers.add(model, request, HardwareOutcome::Silent);
        }
    }

    fn note_answer(&mut self, answer: &Mad) {
        // A datagram that answers no request, or a second answer to one.
        let Some((model, request)) = self.pending.remove(&transaction(answer)) else { return };
        let is_same =
            (request.class(), request.header().attribute) == (answer.class(), answer.header().attribute);
        if !is_same || !answer.method().is_response() {
            self.pending.insert(transaction(answer), (model, request));
            return;
        }
        if !answer.status().is_ok() {
            self.answers.add(model, request, HardwareOutcome::Refused(answer.clone()));
            return;
        }
        let model = self.learn_model(&request, answer).or(model);
        self.answers.add(model, request, HardwareOutcome::Answered(answer.clone()));
    }

    /// Stores which device a route or a LID leads to, as far as an answer says it. Returns what NodeInfo states.
    fn learn_model(&mut self, request: &Mad, answer: &Mad) -> Option<HardwareModel> {
        let route = route_of(request)?;
        match answer.header().attribute.get() {
            attribute::NODE_INFO => {
                let model = HardwareModel::from_node_info(Smp(answer.clone()).data::<NodeInfo>());
                if self.by_route.len() < MOST_ROUTES {
                    self.by_route.insert(route, model);
                }
                Some(model)
            }
            attribute::PORT_INFO => {
                let lid = Smp(answer.clone()).data::<PortInfo>().lid();
                if let Some((lid, model)) = lid.zip(self.by_route.get(&route)) {
                    self.by_lid.insert(lid.value(), *model);
                }
                None
            }
            _ => None,
        }
    }

    fn note_silence(&mut self, transaction: u32) {
        if let Some((model, request)) = self.pending.remove(&transaction) {
            self.answers.add(model, request, HardwareOutcome::Silent);
        }
    }
}

/// The answers that a recorder has stored.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedAnswers(Arc<Mutex<RecorderState>>);

impl RecordedAnswers {
    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the recording: a request that still waits was not answered.
    pub fn finish(&self) -> HardwareAnswers {
        let mut state = self.lock();
        for (model, request) in std::mem::take(&mut state.pending).into_values() {
            state.answers.add(model, request, HardwareOutcome::Silent);
        }
        std::mem::take(&mut state.answers)
    }
}

/// The port. It sends what the port below sends, and nothing else.
#[derive(Debug)]
pub(super) struct AnswerRecorder {
    port: ReadPort,
    answers: RecordedAnswers,
}

impl AnswerRecorder {
    pub fn new(port: ReadPort, answers: RecordedAnswers) -> Self {
        Self { port, answers }
    }
}

impl Clock for AnswerRecorder {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for AnswerRecorder {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)?;
        self.answers.lock().note_request(parcel);
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        let event = self.port.receive(until)?;
        match &event {
            Some(PortEvent::Mad(parcel)) => self.answers.lock().note_answer(&parcel.mad),
            Some(PortEvent::Unanswered(transaction)) => self.answers.lock().note_silence(*transaction),
            None => {}
        }
        Ok(event)
    }
}
