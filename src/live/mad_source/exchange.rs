//! Sends queries over a port and matches the answers: many at once, each with its own transaction, repeated after a
//! timeout. MADs that answer no query are counted and dropped.

use std::collections::VecDeque;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::exchange_policy::ExchangePolicy;
use super::question::{Question, QuestionFeed, Reply};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::ReadingPhase;
use fabdeck_mad::access::{MadPort, PortError, PortEvent};
use fabdeck_mad::{Mad, MadHeader};

/// Number of unanswered tries in a row after which a node gets no more queries. A switch that vanished with a thousand
/// open queries would cost a minute of timeouts. In a usable fabric, packet loss does not cause as many in a row.
const MAX_SILENT_TRIES: u32 = 64;

#[derive(Debug)]
struct PendingQuestion<T> {
    question: Question<T>,
    /// The transactions of all tries, since a late answer to an earlier try counts.
    transactions: Vec<u32>,
    stage: Stage,
}

/// The state of the last try of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// In a queue, to be sent for the first time or again.
    Queued,
    /// Under way, and counted in the window.
    Fresh,
    /// Sent so long ago that it no longer counts in the window; its answer may still come.
    Stale,
}

/// When a try reaches its next stage.
#[derive(Debug, Clone, Copy)]
struct DueTime {
    at: Duration,
    slot: u64,
    /// The number of the try.
    tries: usize,
}

/// A phase of a reading: its queries and their state.
#[derive(Debug)]
pub struct Exchange<'p, P: MadPort + ?Sized, T> {
    port: &'p mut P,
    policy: ExchangePolicy,
    feed: QuestionFeed<'p, T>,
    /// Number of queries that the feed will have in all, if known.
    expected: u64,
    /// Queries that were not sent so far.
    ready: VecDeque<u64>,
    /// Queries that wait because their node has enough under way.
    parked: FxHashMap<u32, VecDeque<u64>>,
    /// Nodes with waiting queries that can take more again.
    roomy: VecDeque<u32>,
    pending: FxHashMap<u64, PendingQuestion<T>>,
    by_transaction: FxHashMap<u32, u64>,
    fresh_by_node: FxHashMap<u32, usize>,
    fresh_count: usize,
    /// Number of unanswered tries in a row, by node.
    unheard: FxHashMap<u32, u32>,
    /// Nodes that were silent before: a try to one of them ends when it leaves the window, so that no reading waits for a
    /// device that hangs. An answer takes the node off.
    doubted: FxHashSet<u32>,
    /// A query to a node that gets no more queries. It ends as unanswered before anything else is sent.
    unasked: Option<u64>,
    /// Number of tries without an answer or timeout: the most that the fabric may still hold.
    outstanding: usize,
    /// Both queues are in order of time, because every try has the same timeout.
    stale: VecDeque<DueTime>,
    deadlines: VecDeque<DueTime>,
    next_slot: u64,
    next_transaction: u32,
    begun: Duration,
    pub phase: ReadingPhase,
}

/// What a wait for replies came to.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and handed on at once")]
pub enum ExchangeEvent<T> {
    Reply(T, Reply),
    /// The turn is over without a reply.
    TurnOver,
    /// No query is open.
    Settled,
}

impl<T> From<(T, Reply)> for ExchangeEvent<T> {
    fn from((tag, reply): (T, Reply)) -> Self {
        Self::Reply(tag, reply)
    }
}

impl<'p, P: MadPort + ?Sized, T> Exchange<'p, P, T> {
    /// `transactions` is the first transaction to use; two phases over one port must not share any.
    pub fn new(port: &'p mut P, policy: ExchangePolicy, name: &'static str, transactions: u32) -> Self {
        let begun = port.now();
        Self {
            port,
            policy,
            feed: QuestionFeed(None),
            expected: 0,
            ready: VecDeque::new(),
            parked: FxHashMap::default(),
            roomy: VecDeque::new(),
            pending: FxHashMap::default(),
            by_transaction: FxHashMap::default(),
            fresh_by_node: FxHashMap::default(),
            fresh_count: 0,
            unheard: FxHashMap::default(),
            doubted: FxHashSet::default(),
            unasked: None,
            outstanding: 0,
            stale: VecDeque::new(),
            deadlines: VecDeque::new(),
            next_slot: 0,
            next_transaction: transactions,
            begun,
            phase: ReadingPhase { name, ..ReadingPhase::default() },
        }
    }

    pub fn retries(&self) -> u32 {
        self.policy.retries
    }

    pub fn now(&self) -> Duration {
        self.port.now()
    }

    /// Waits for these nodes no longer than a try counts in the window, until one answers.
    pub fn doubt(&mut self, targets: impl IntoIterator<Item = u32>) {
        self.doubted.extend(targets);
    }

    /// Largest number of nodes of a discovery.
    pub fn max_nodes(&self) -> usize {
        self.policy.nodes
    }

    /// The GUID of the local port.
    pub fn local_guid(&self) -> Option<Guid> {
        self.port.local_port().guid
    }

    pub fn ask(&mut self, question: Question<T>) {
        let slot = self.next_slot;
        self.next_slot += 1;
        self.pending
            .insert(slot, PendingQuestion { question, transactions: Vec::new(), stage: Stage::Queued });
        self.ready.push_back(slot);
    }

    /// Takes queries from an iterator, as there is room for them; `expected` is their number.
    pub fn feed(&mut self, expected: u64, questions: impl Iterator<Item = Question<T>> + 'p) {
        self.expected = expected;
        self.feed = QuestionFeed(Some(Box::new(questions)));
    }

    /// Number of settled queries, and of all known ones.
    pub fn progress(&self) -> (u64, u64) {
        (self.next_slot - self.pending.len() as u64, self.next_slot.max(self.expected))
    }

    /// Takes one query from the feed. False at its end.
    fn pull_question(&mut self) -> bool {
        let question = self.feed.0.as_mut().and_then(Iterator::next);
        match question {
            Some(question) => self.ask(question),
            None => self.feed = QuestionFeed(None),
        }
        self.feed.0.is_some()
    }

    /// The next reply, to any query. `turn` limits the wait, so that the caller can check for cancellation.
    pub fn next(&mut self, turn: Duration) -> Result<ExchangeEvent<T>, PortError> {
        let turn_ends = self.port.now() + turn;
        loop {
            if self.pending.is_empty() && !self.pull_question() {
                return Ok(ExchangeEvent::Settled);
            }
            if (self.has_due_question() || self.has_due_doubt())
                && let Some(done) = self.read_arrived()?
            {
                return Ok(done.into());
            }
            if let Some(done) = self.handle_due() {
                return Ok(done.into());
            }
            self.fill_window()?;
            if let Some(tag) = self.unasked.take().and_then(|slot| self.finish(slot)) {
                self.phase.unanswered += 1;
                return Ok(ExchangeEvent::Reply(tag, Reply::Silence));
            }
            let now = self.port.now();
            if now >= turn_ends && turn > Duration::ZERO {
                return Ok(ExchangeEvent::TurnOver);
            }
            let due =
                [self.stale.front(), self.deadlines.front()].into_iter().flatten().map(|due| due.at).min();
            let until = due.unwrap_or(turn_ends).min(turn_ends);
            match self.port.receive(until)? {
                Some(PortEvent::Mad(parcel)) => {
                    if let Some(done) = self.settle(parcel.mad) {
                        return Ok(done.into());
                    }
                }
                Some(PortEvent::Unanswered(transaction)) => self.give_up_try(transaction),
                None => {}
            }
        }
    }

    /// Sends as many queries as the window permits, those that wait for a node first.
    fn fill_window(&mut self) -> Result<(), PortError> {
        while self.has_room()
            && let Some(target) = self.roomy.pop_front()
        {
            self.send_parked(target)?;
        }
        while self.has_room() {
            let Some(slot) = self.ready.pop_front() else {
                if self.pull_question() { continue } else { break }
            };
            // A late answer may have settled the query while it waited to be sent again.
            let Some(pending) = self.pending.get(&slot) else { continue };
            let target = pending.question.target;
            if self.is_given_up(target) {
                self.unasked = Some(slot);
                break;
            }
            if self.in_flight_to(target) >= self.policy.per_node.max(1) {
                self.parked.entry(target).or_default().push_back(slot);
                continue;
            }
            self.send(slot)?;
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.unasked.is_none()
            && self.fresh_count < self.policy.in_flight.max(1)
            && self.outstanding < self.policy.outstanding.max(1)
    }

    fn is_given_up(&self, target: u32) -> bool {
        let most = MAX_SILENT_TRIES.max(self.policy.retries.saturating_add(1));
        self.unheard.get(&target).is_some_and(|tries| *tries >= most)
    }

    fn in_flight_to(&self, target: u32) -> usize {
        self.fresh_by_node.get(&target).copied().unwrap_or(0)
    }

    /// Sends one waiting query to a node. The node stays in the queue while it has room and more queries wait.
    fn send_parked(&mut self, target: u32) -> Result<(), PortError> {
        if self.in_flight_to(target) >= self.policy.per_node.max(1) {
            return Ok(());
        }
        let Some(waiting) = self.parked.get_mut(&target) else { return Ok(()) };
        let mut next = waiting.pop_front();
        while next.is_some_and(|slot| !self.pending.contains_key(&slot)) {
            next = waiting.pop_front();
        }
        if waiting.is_empty() {
            self.parked.remove(&target);
        } else {
            self.roomy.push_front(target);
        }
        if self.is_given_up(target) {
            self.unasked = next;
            return Ok(());
        }
        next.map_or(Ok(()), |slot| self.send(slot))
    }

    /// Sends a query as a new try, and stores the try where its answer and its timeout are looked up.
    fn send(&mut self, slot: u64) -> Result<(), PortError> {
        let Some(pending) = self.pending.get_mut(&slot) else { return Ok(()) };
        // A device that invents answers would use zero.
        let transaction = self.next_transaction.max(1);
        self.next_transaction = transaction.wrapping_add(1);
        pending.question.parcel.mad.header_mut().transaction = u64::from(transaction).into();
        self.port.send(&pending.question.parcel, self.policy.timeout)?;
        self.phase.sent += 1;
        self.phase.repeated += u64::from(!pending.transactions.is_empty());
        pending.transactions.push(transaction);
        pending.stage = Stage::Fresh;
        self.by_transaction.insert(transaction, slot);
        *self.fresh_by_node.entry(pending.question.target).or_default() += 1;
        self.fresh_count += 1;
        self.outstanding += 1;
        self.phase.in_flight = self.phase.in_flight.max(self.fresh_count);
        let (now, tries) = (self.port.now(), pending.transactions.len());
        self.stale.push_back(DueTime { at: now + self.policy.fresh_time(), slot, tries });
        self.deadlines.push_back(DueTime { at: now + self.policy.timeout, slot, tries });
        Ok(())
    }

    /// Moves a query to another stage: settled, overdue, or no longer counted in the window.
    fn set_stage(&mut self, slot: u64, stage: Stage) {
        let Some(pending) = self.pending.get_mut(&slot) else { return };
        let before = std::mem::replace(&mut pending.stage, stage);
        let target = pending.question.target;
        if before != Stage::Queued && stage == Stage::Queued {
            self.outstanding -= 1;
        }
        if before != Stage::Fresh {
            return;
        }
        self.fresh_count -= 1;
        if let Some(count) = self.fresh_by_node.get_mut(&target) {
            *count -= 1;
        }
        if self.parked.contains_key(&target) {
            self.roomy.push_back(target);
        }
    }

    /// Whether a query is about to time out.
    fn has_due_question(&mut self) -> bool {
        let now = self.port.now();
        while let Some(due) = self.deadlines.front().copied().filter(|due| due.at <= now) {
            if self.is_current(due) {
                return true;
            }
            self.deadlines.pop_front();
        }
        false
    }

    /// Whether a try to a node that was silent before may end now.
    fn has_due_doubt(&self) -> bool {
        !self.doubted.is_empty() && self.stale.front().is_some_and(|due| due.at <= self.port.now())
    }

    /// Reads all MADs that have arrived. They came in time, though this process may not have run since.
    fn read_arrived(&mut self) -> Result<Option<(T, Reply)>, PortError> {
        for _ in 0..=self.outstanding {
            match self.port.receive(self.port.now())? {
                Some(PortEvent::Mad(parcel)) => match self.settle(parcel.mad) {
                    None => {}
                    done => return Ok(done),
                },
                Some(PortEvent::Unanswered(transaction)) => self.give_up_try(transaction),
                None => break,
            }
        }
        Ok(None)
    }

    /// Handles all due stages, and returns the first query that fails.
    fn handle_due(&mut self) -> Option<(T, Reply)> {
        let now = self.port.now();
        while let Some(due) = self.stale.pop_front_if(|due| due.at <= now) {
            if !self.is_current(due) {
                continue;
            }
            let target = self.pending.get(&due.slot).map(|pending| pending.question.target);
            if !target.is_some_and(|target| self.doubted.contains(&target)) {
                self.set_stage(due.slot, Stage::Stale);
            } else if let Some(done) = self.handle_timeout(due.slot) {
                return Some(done);
            }
        }
        while let Some(due) = self.deadlines.pop_front_if(|due| due.at <= now) {
            if let Some(done) = self.is_current(due).then(|| self.handle_timeout(due.slot)).flatten() {
                return Some(done);
            }
        }
        None
    }

    /// Whether a try is the last one of its query, and not given up so far.
    fn is_current(&self, due: DueTime) -> bool {
        let current = |pending: &PendingQuestion<T>| {
            pending.stage != Stage::Queued && pending.transactions.len() == due.tries
        };
        self.pending.get(&due.slot).is_some_and(current)
    }

    /// Handles a timeout: the query is sent again, or fails.
    fn handle_timeout(&mut self, slot: u64) -> Option<(T, Reply)> {
        self.set_stage(slot, Stage::Queued);
        let pending = self.pending.get(&slot)?;
        *self.unheard.entry(pending.question.target).or_default() += 1;
        if pending.transactions.len() <= pending.question.retries as usize {
            self.ready.push_back(slot);
            return None;
        }
        self.phase.unanswered += 1;
        self.finish(slot).map(|tag| (tag, Reply::Silence))
    }

    /// The port says that no answer will come, so the deadline of the try is now.
    fn give_up_try(&mut self, transaction: u32) {
        let Some(slot) = self.by_transaction.get(&transaction).copied() else { return };
        let last = self.pending.get(&slot).and_then(|pending| pending.transactions.last().copied());
        if last == Some(transaction) {
            let tries = self.pending.get(&slot).map_or(0, |pending| pending.transactions.len());
            self.deadlines.push_front(DueTime { at: self.port.now(), slot, tries });
        }
    }

    fn settle(&mut self, mad: Mad) -> Option<(T, Reply)> {
        let transaction = mad.header().transaction.get() as u32;
        let slot =
            self.by_transaction.get(&transaction).copied().filter(|slot| self.is_answer_to(*slot, &mad));
        let Some(slot) = slot else {
            self.phase.strangers += 1;
            return None;
        };
        self.phase.answered += 1;
        if let Some(pending) = self.pending.get(&slot) {
            self.unheard.remove(&pending.question.target);
            self.doubted.remove(&pending.question.target);
            // A busy device asks for a repetition.
            if mad.status().is_busy() && pending.transactions.len() <= pending.question.retries as usize {
                self.give_up_try(transaction);
                return None;
            }
        }
        self.set_stage(slot, Stage::Queued);
        let tag = self.finish(slot)?;
        let status = mad.status();
        if status.is_ok() {
            return Some((tag, Reply::Answer(mad)));
        }
        self.phase.refused += 1;
        Some((tag, Reply::Refused(status)))
    }

    /// Whether a MAD answers a query: class, attribute and modifier must match. Otherwise another block or port could
    /// pass for the one that was asked for.
    fn is_answer_to(&self, slot: u64, mad: &Mad) -> bool {
        let Some(pending) = self.pending.get(&slot) else { return false };
        let (asked, said) = (pending.question.parcel.mad.header(), mad.header());
        let what = |header: &MadHeader| (header.class, header.attribute, header.modifier);
        mad.method().is_response() && what(asked) == what(said)
    }

    fn finish(&mut self, slot: u64) -> Option<T> {
        let pending = self.pending.remove(&slot)?;
        for transaction in &pending.transactions {
            self.by_transaction.remove(transaction);
        }
        Some(pending.question.tag)
    }

    /// Ends the phase. Returns its statistics, and the first transaction for the next phase.
    pub fn end(mut self) -> (ReadingPhase, u32) {
        self.phase.took = self.port.now().saturating_sub(self.begun);
        (self.phase, self.next_transaction)
    }
}

#[cfg(test)]
mod tests;
