//! Sends a Set by directed route over a port that writes. A device may meet a wrong M_Key with silence, and each such
//! MAD raises a counter and a trap. So a port that has not shown that the key is right gets at most three MADs.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::exchange::Exchange;
use super::keys::Keys;
use super::policy::Policy;
use super::question::{Question, Reply};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::route_text;
use fabdeck_mad::access::{Address, Parcel, PortError, WritePort};
use fabdeck_mad::{Method, PortInfo, ProtectBits, SMP_DATA, Smp, Status, attribute};

/// The longest wait in one call, so that the second process sees progress, however long an answer takes.
const TURN: Duration = Duration::from_secs(1);

/// Largest number of MADs to a port that has not shown that the key is right.
const UNPROVEN_MOST: u32 = 3;
/// Largest number of Sets to a port that has.
const SETS_MOST: u32 = 3;

/// The owner of an attribute: a switch with all its ports, or a port of an adapter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Target {
    pub route: Vec<u8>,
    /// The GUID that the key is filed under. It identifies the port, whatever the route.
    pub guid: Option<Guid>,
}

/// The result of an answered Set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    /// What the device holds now.
    pub answer: Smp,
    /// Number of MADs with the Set.
    pub sent: u32,
}

/// Why a Set was not done, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    #[error(
        "FD-4501: {at} answers a Get and no Set: M_Key suspected; nothing more is set there. Check --mkey-file"
    )]
    KeySuspected { at: String },
    #[error(
        "FD-4502: {at} does not answer: it is dead, the way to it is broken, or it is guarded by another M_Key; \
         whether the Set was done is not known"
    )]
    Silent { at: String },
    #[error("FD-4503: {at} refuses attribute 0x{attribute:04x}: {status}")]
    Refused { at: String, attribute: u16, status: Status },
    #[error("FD-4504: {at} is {hops} hops away, which is more than a directed route has")]
    TooFar { at: String, hops: usize },
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What is known of the key of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    /// Number of MADs to the port that have proved nothing.
    Unproven(u32),
    Proven,
    Suspected,
}

/// What a Get of PortInfo proves after a Set without an answer.
enum Sign {
    Right,
    Wrong,
    Nothing,
}

/// Sends Sets, and remembers which ports have another key.
#[derive(Debug)]
pub struct Setter {
    policy: Policy,
    keys: Keys,
    trust: FxHashMap<Target, Trust>,
    transactions: u32,
}

impl Setter {
    /// The first transaction, apart from those of readings over the same port, whose answers may still come.
    const FIRST_TRANSACTION: u32 = 0x4000_0000;

    pub fn new(policy: Policy, keys: Keys) -> Self {
        Self { policy, keys, trust: FxHashMap::default(), transactions: Self::FIRST_TRANSACTION }
    }

    /// Sets one attribute. A repetition is harmless: a Set contains the new value, not a change of it.
    pub fn set(
        &mut self,
        port: &mut WritePort,
        target: &Target,
        attribute: u16,
        modifier: u32,
        data: &[u8; SMP_DATA],
    ) -> Result<Done, SetError> {
        let at = name(target);
        let hops = target.route.len();
        let mut smp = Smp::directed(Method::SET, attribute, modifier, &target.route)
            .map_err(|_| SetError::TooFar { at: at.clone(), hops })?;
        smp.set_m_key(self.keys.of(target.guid));
        *smp.data_mut::<[u8; SMP_DATA]>() = *data;
        for sent in 1..=SETS_MOST {
            match self.trust_of(target) {
                Trust::Suspected => return Err(SetError::KeySuspected { at }),
                Trust::Unproven(UNPROVEN_MOST..) => break,
                Trust::Unproven(_) | Trust::Proven => {}
            }
            match self.send(port, target, &smp)? {
                Reply::Answer(mad) => return Ok(Done { answer: Smp(mad), sent }),
                Reply::Refused(status) => return Err(SetError::Refused { at, attribute, status }),
                Reply::Silence => self.look_for_a_sign(port, target)?,
            }
        }
        match self.trust_of(target) {
            Trust::Suspected => Err(SetError::KeySuspected { at }),
            _ => Err(SetError::Silent { at }),
        }
    }

    /// Sends a Get to a port that did not answer a Set, unless that would exceed the limit.
    fn look_for_a_sign(&mut self, port: &mut WritePort, target: &Target) -> Result<(), SetError> {
        if !matches!(self.trust_of(target), Trust::Unproven(0..UNPROVEN_MOST)) {
            return Ok(());
        }
        // The route is short enough, as it was for the Set.
        let mut smp = Smp::directed(Method::GET, attribute::PORT_INFO, 0, &target.route).unwrap_or_default();
        let key = self.keys.of(target.guid);
        smp.set_m_key(key);
        let sign = match self.send(port, target, &smp)? {
            Reply::Answer(mad) => read_sign(Smp(mad).data::<PortInfo>(), key),
            Reply::Refused(_) | Reply::Silence => Sign::Nothing,
        };
        match sign {
            Sign::Right => drop(self.trust.insert(target.key(), Trust::Proven)),
            Sign::Wrong => drop(self.trust.insert(target.key(), Trust::Suspected)),
            Sign::Nothing => {}
        }
        Ok(())
    }

    /// Sends one MAD once. An answer to a Set proves that the key is right.
    fn send(&mut self, port: &mut WritePort, target: &Target, smp: &Smp) -> Result<Reply, SetError> {
        let writes = smp.0.method() == Method::SET;
        let unproven = match self.trust_of(target) {
            Trust::Unproven(count) => Some(count),
            _ => None,
        };
        let parcel = Parcel { mad: smp.0.clone(), address: Address::directed() };
        let mut exchange = Exchange::<_, ()>::new(port, self.policy, "set", self.transactions);
        exchange.ask(Question { parcel, target: 0, retries: 0, tag: () });
        let reply = loop {
            match exchange.next(TURN)? {
                Some(Some(((), reply))) => break reply,
                Some(None) => {}
                None => break Reply::Silence,
            }
        };
        (_, self.transactions) = exchange.end();
        if let Some(count) = unproven {
            let answered = !matches!(reply, Reply::Silence);
            let trust = if answered && writes { Trust::Proven } else { Trust::Unproven(count + 1) };
            self.trust.insert(target.key(), trust);
        }
        Ok(reply)
    }

    fn trust_of(&self, target: &Target) -> Trust {
        self.trust.get(&target.key()).copied().unwrap_or(Trust::Unproven(0))
    }
}

impl Target {
    /// The identity of a port, however it is reached.
    fn key(&self) -> Self {
        let route = if self.guid.is_some() { Vec::new() } else { self.route.clone() };
        Self { route, guid: self.guid }
    }
}

/// A port shows its M_Key to requests with the right key, and to all requests while it is not protected. A port shows
/// zero if it has no key, or hides it.
fn read_sign(info: &PortInfo, key: u64) -> Sign {
    match (info.m_key.get(), info.protect()) {
        (0, ProtectBits::Open) => Sign::Right,
        (0, _) => Sign::Wrong,
        (shown, _) if shown == key => Sign::Right,
        _ => Sign::Wrong,
    }
}

fn name(target: &Target) -> String {
    let route = route_text(&target.route);
    target.guid.map_or_else(|| route.clone(), |guid| format!("{guid} (route {route})"))
}
