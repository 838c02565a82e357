//! A client of the simulator as a port of this process. Time passes only while a caller waits, so a run takes as long
//! as its computations and is repeatable.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort};

use super::event_loop::{AttachError, ClientId, Simulator};

/// State that the ports of one simulator share.
#[derive(Debug)]
struct SharedState {
    simulator: Simulator,
    now: Duration,
    /// Datagrams that arrived for a client while another client waited.
    waiting: std::collections::BTreeMap<ClientId, VecDeque<AddressedMad>>,
}

/// A simulator that several ports of this process share.
#[derive(Clone, Debug)]
pub struct SharedSimulator {
    shared: Arc<Mutex<SharedState>>,
}

impl SharedSimulator {
    pub fn new(simulator: Simulator) -> Self {
        let waiting = std::collections::BTreeMap::new();
        Self { shared: Arc::new(Mutex::new(SharedState { simulator, now: Duration::ZERO, waiting })) }
    }

    /// A port at a node, given by name; without one at the manager's port.
    pub fn open_port(&self, at: Option<&str>) -> Result<ReadPort, AttachError> {
        let mut shared = lock(&self.shared);
        let seat = shared.simulator.attach(at)?;
        let local = shared.simulator.local_port(seat);
        drop(shared);
        Ok(ReadPort::new(ClientPort { shared: self.shared.clone(), seat, local }))
    }

    /// Reads or changes the simulator between two datagrams.
    pub fn with_simulator<T>(&self, act: impl FnOnce(&mut Simulator) -> T) -> T {
        act(&mut lock(&self.shared).simulator)
    }
}

/// The port of one client.
#[derive(Debug)]
struct ClientPort {
    shared: Arc<Mutex<SharedState>>,
    seat: ClientId,
    local: LocalPort,
}

/// Locks the simulator. A panic elsewhere leaves the fabric as it was between two datagrams, so a poisoned lock is
/// usable.
fn lock(shared: &Mutex<SharedState>) -> MutexGuard<'_, SharedState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clock for ClientPort {
    fn now(&self) -> Duration {
        lock(&self.shared).now
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

impl MadPort for ClientPort {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, _patience: Duration) -> Result<(), PortError> {
        let shared = &mut *lock(&self.shared);
        shared.simulator.send(self.seat, shared.now, parcel);
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        let shared = &mut *lock(&self.shared);
        if let Some(parcel) = shared.waiting.get_mut(&self.seat).and_then(VecDeque::pop_front) {
            return Ok(Some(PortEvent::Mad(parcel)));
        }
        while let Some((now, seat, parcel)) = shared.simulator.deliver(until) {
            shared.now = shared.now.max(now);
            if seat == self.seat {
                return Ok(Some(PortEvent::Mad(parcel)));
            }
            shared.waiting.entry(seat).or_default().push_back(parcel);
        }
        shared.now = shared.now.max(until);
        Ok(None)
    }
}

impl Drop for ClientPort {
    fn drop(&mut self) {
        let mut shared = lock(&self.shared);
        shared.simulator.detach(self.seat);
        shared.waiting.remove(&self.seat);
    }
}
