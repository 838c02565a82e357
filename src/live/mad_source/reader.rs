//! What the phases of a reading share: port, policy, keys, the caller's watch, and notes.

use std::time::Duration;

use super::exchange::{Exchange, ExchangeEvent};
use super::exchange_policy::ExchangePolicy;
use super::keys::Keys;
use super::question::Reply;
use fabdeck_fabric::observe::{MissingAnswer, NotePlace, Notes, ReadingPhase};
use fabdeck_fabric::{Fabric, Guid};
use fabdeck_mad::access::{AddressedMad, MadPort, PortEvent, ReadObserver, ReadProgress, SourceError};

/// How often the caller is asked for cancellation.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// Number of replies between two reports of progress.
const REPORT_EVERY: u64 = 256;

/// Notes and silence from phases, beside their results.
#[derive(Debug, Default)]
pub struct PhaseLog {
    pub silent: Vec<MissingAnswer>,
    pub notes: Notes,
    pub source: String,
}

impl PhaseLog {
    pub fn note(&mut self, code: &'static str, text: impl FnOnce() -> String) {
        self.notes.add(code, NotePlace::file(self.source.clone()), text);
    }

    pub fn note_partial(&mut self, code: &'static str, text: impl FnOnce() -> String) {
        self.notes.add_partial(code, NotePlace::file(self.source.clone()), text);
    }

    /// Notes that the two ends of a cable disagree about it.
    pub fn note_torn_cable(&mut self, guid: Guid, port: u8) {
        self.note_partial("FN-521", || {
            format!("the fabric changed while it was read: port {port} of {guid} has a cable and reports that its link is down")
        });
    }

    /// Notes that two answers name different peers for one port.
    pub fn note_changed_peer(&mut self, route: &str, guid: Guid) {
        self.note_partial("FN-521", || {
            format!("the fabric changed while it was read: at {route} {guid} answered where another node had before")
        });
    }
}

/// One reading over a port, with the notes and statistics of its phases.
pub struct PortReader<'a> {
    port: &'a mut dyn MadPort,
    policy: ExchangePolicy,
    keys: &'a Keys,
    watch: &'a mut dyn ReadObserver,
    pub log: PhaseLog,
    pub phases: Vec<ReadingPhase>,
    transactions: u32,
    /// The phase of datagrams that are sent one by one, and when it began.
    single: (ReadingPhase, Duration),
}

impl<'a> PortReader<'a> {
    pub fn new(
        source: &str,
        port: &'a mut dyn MadPort,
        policy: ExchangePolicy,
        keys: &'a Keys,
        watch: &'a mut dyn ReadObserver,
    ) -> Self {
        let told = PhaseLog { source: source.to_owned(), ..PhaseLog::default() };
        let single = Default::default();
        Self { port, policy, keys, watch, log: told, phases: Vec::new(), transactions: 1, single }
    }

    /// Sets the first transaction, which is 1 by default.
    pub fn begin_transactions(&mut self, first: u32) {
        self.transactions = first;
    }

    /// Shows the fabric to the caller.
    pub fn report_fabric(&mut self, fabric: &Fabric) {
        self.watch.topology_read(fabric);
    }

    /// Whether the port has virtual time, in which waiting takes no time.
    pub fn has_virtual_time(&self) -> bool {
        self.port.is_virtual()
    }

    /// The time by the clock of the port.
    pub fn now(&self) -> Duration {
        self.port.now()
    }

    /// Whether the port leads to ibsim, whose devices know only the specification: its adapters have such names.
    pub fn is_ibsim(&self) -> bool {
        self.local_name().starts_with("ibsim")
    }

    /// The period in which everything is read again.
    pub fn drift_period(&self) -> Duration {
        self.policy.drift_period
    }

    /// The LID of the local port.
    pub fn own_lid(&self) -> Option<fabdeck_fabric::Lid> {
        self.port.local_port().lid
    }

    /// The name of the local port.
    pub fn local_name(&self) -> &str {
        &self.port.local_port().name
    }

    /// Waits. MADs that arrive meanwhile are late and answer no open query.
    pub fn wait_until(&mut self, until: Duration) -> Result<(), SourceError> {
        while self.port.now() < until {
            if self.watch.is_cancelled() {
                return Err(SourceError::Cancelled);
            }
            let turn = until.min(self.port.now() + WATCH_INTERVAL);
            self.port.receive(turn)?;
        }
        Ok(())
    }

    /// Reads MADs that arrived between phases. They are late, but the port keeps reports among them.
    pub fn drain_reports(&mut self) -> Result<(), SourceError> {
        while self.port.receive(self.port.now())?.is_some() {}
        Ok(())
    }

    /// The timeout of a query, and how often it is sent again.
    pub fn patience(&self) -> (Duration, u32) {
        (self.policy.timeout, self.policy.retries)
    }

    /// Begins the phase of datagrams that are sent one by one.
    pub fn begin_single(&mut self, name: &'static str) {
        self.single = (ReadingPhase { name, in_flight: 1, ..ReadingPhase::default() }, self.port.now());
    }

    /// Ends that phase and keeps its statistics.
    pub fn end_single(&mut self) {
        let (mut phase, begun) = std::mem::take(&mut self.single);
        phase.took = self.port.now().saturating_sub(begun);
        self.phases.push(phase);
    }

    /// The statistics of that phase.
    pub fn single_phase(&mut self) -> &mut ReadingPhase {
        &mut self.single.0
    }

    /// A transaction for a datagram that is sent outside of queries.
    pub fn next_transaction(&mut self) -> u32 {
        let transaction = self.transactions.max(1);
        self.transactions = transaction.wrapping_add(1);
        transaction
    }

    /// Sends a datagram that is no query of an exchange.
    pub fn send_single(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), SourceError> {
        self.single.0.sent += 1;
        Ok(self.port.send(parcel, patience)?)
    }

    /// The next arrival for such a datagram; `None` when the time is over.
    pub fn receive_single(&mut self, until: Duration) -> Result<Option<PortEvent>, SourceError> {
        loop {
            if self.watch.is_cancelled() {
                return Err(SourceError::Cancelled);
            }
            let turn = until.min(self.port.now() + WATCH_INTERVAL);
            if let Some(event) = self.port.receive(turn)? {
                return Ok(Some(event));
            }
            if self.port.now() >= until {
                return Ok(None);
            }
        }
    }

    pub fn keys(&self) -> &'a Keys {
        self.keys
    }

    pub fn open_phase<T>(&mut self, name: &'static str) -> OpenPhase<'_, 'a, T> {
        let exchange = Exchange::new(&mut *self.port, self.policy, name, self.transactions);
        OpenPhase {
            exchange,
            keys: self.keys,
            log: &mut self.log,
            watch: &mut *self.watch,
            phases: &mut self.phases,
            transactions: &mut self.transactions,
            replies: 0,
        }
    }
}

/// A phase while it runs.
pub struct OpenPhase<'r, 'a, T> {
    pub exchange: Exchange<'r, dyn MadPort + 'a, T>,
    pub keys: &'a Keys,
    pub log: &'r mut PhaseLog,
    watch: &'r mut (dyn ReadObserver + 'a),
    phases: &'r mut Vec<ReadingPhase>,
    transactions: &'r mut u32,
    replies: u64,
}

impl<T> OpenPhase<'_, '_, T> {
    /// The next reply; `None` when all queries are settled.
    pub fn next(&mut self) -> Result<Option<(T, Reply)>, SourceError> {
        loop {
            if self.watch.is_cancelled() {
                return Err(SourceError::Cancelled);
            }
            let turn = self.exchange.next(WATCH_INTERVAL)?;
            self.replies += 1;
            if !matches!(turn, ExchangeEvent::Reply(..)) || self.replies.is_multiple_of(REPORT_EVERY) {
                let (done, known) = self.exchange.progress();
                self.watch.report_progress(ReadProgress { phase: self.exchange.phase.name, done, known });
            }
            match turn {
                ExchangeEvent::Settled => return Ok(None),
                ExchangeEvent::Reply(tag, reply) => return Ok(Some((tag, reply))),
                ExchangeEvent::TurnOver => {}
            }
        }
    }

    /// Ends the phase and keeps its statistics.
    pub fn end(self) {
        let (phase, next) = self.exchange.end();
        *self.transactions = next;
        self.phases.push(phase);
    }

    /// The error if the local port does not answer: without it nothing can be read.
    pub fn local_port_error(&self) -> SourceError {
        let hint = match self.keys.has_keys() {
            true => {
                "a port that is protected by another M_Key than the given one does not answer; if it is not \
                 protected, check it with 'ibstat'"
            }
            false => {
                "a port that is protected by an M_Key does not answer (give the key with --mkey-file); if it is not \
                 protected, check it with 'ibstat'"
            }
        };
        SourceError::Unreachable {
            code: "FD-5012",
            what: format!("{}: the local port does not answer", self.log.source),
            hint: hint.into(),
        }
    }
}
