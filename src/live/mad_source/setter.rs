//! Sends a Set by directed route over a port that writes. A device may meet a wrong M_Key with silence, and each such
//! MAD raises a counter and a trap. So a port that has not shown that the key is right gets at most three MADs.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::exchange::{Exchange, ExchangeEvent};
use super::exchange_policy::ExchangePolicy;
use super::keys::Keys;
use super::question::{Question, Reply};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::route_text;
use fabdeck_mad::access::{AddressedMad, MadAddress, PortError, WritePort};
use fabdeck_mad::{MadStatus, Method, PortInfo, ProtectBits, SMP_DATA, Smp, attribute};

/// The longest wait in one call, so that the second process sees progress, however long an answer takes.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Largest number of MADs to a port that has not shown that the key is right.
const MAX_UNPROVEN_DATAGRAMS: u32 = 3;
/// Largest number of Sets to a port that has.
const MAX_SETS: u32 = 3;

/// The owner of an attribute: a switch with all its ports, or a port of an adapter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SetTarget {
    pub route: Vec<u8>,
    /// The GUID that the key is filed under. It identifies the port, whatever the route.
    pub guid: Option<Guid>,
}

/// The result of an answered Set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetAnswer {
    /// What the device holds now.
    pub answer: Smp,
    /// Number of MADs with the Set.
    pub sent: u32,
}

/// Why a Set was not done, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    #[error(
        "FD-4501: {at} answers a Get but no Set: M_Key suspected; nothing more is set there. Check --mkey-file"
    )]
    KeySuspected { at: String },
    #[error(
        "FD-4502: {at} does not answer a write (Set), so it is not known whether it was done: the device is dead, the path to \
         it is broken, or it is protected by another M_Key; check its cable and --mkey-file"
    )]
    Silent { at: String },
    #[error("FD-4503: {at} refuses attribute 0x{attribute:04x}: {status}")]
    Refused { at: String, attribute: u16, status: MadStatus },
    #[error("FD-4504: {at} is {hops} hops away, more than a directed route can have")]
    TooFar { at: String, hops: usize },
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What is known of the key of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeyTrust {
    /// Number of MADs to the port that have proved nothing.
    Unproven(u32),
    Proven,
    Suspected,
}

/// What a Get of PortInfo proves after a Set without an answer.
enum KeySign {
    Right,
    Wrong,
    Nothing,
}

/// Sends Sets, and remembers which ports have another key.
#[derive(Debug)]
pub struct Setter {
    policy: ExchangePolicy,
    keys: Keys,
    trust: FxHashMap<SetTarget, KeyTrust>,
    transactions: u32,
}

impl Setter {
    /// The first transaction, apart from those of readings over the same port, whose answers may still come.
    const FIRST_TRANSACTION: u32 = 0x4000_0000;

    pub fn new(policy: ExchangePolicy, keys: Keys) -> Self {
        Self { policy, keys, trust: FxHashMap::default(), transactions: Self::FIRST_TRANSACTION }
    }

    /// Sets one attribute. A repetition is harmless: a Set contains the new value, not a change of it.
    pub fn set_attribute(
        &mut self,
        port: &mut WritePort,
        target: &SetTarget,
        attribute: u16,
        modifier: u32,
        data: &[u8; SMP_DATA],
    ) -> Result<SetAnswer, SetError> {
        let at = target_name(target);
        let hops = target.route.len();
        let mut smp = Smp::directed(Method::SET, attribute, modifier, &target.route)
            .map_err(|_| SetError::TooFar { at: at.clone(), hops })?;
        smp.set_m_key(self.keys.key_for(target.guid));
        *smp.data_mut::<[u8; SMP_DATA]>() = *data;
        for sent in 1..=MAX_SETS {
            match self.trust_of(target) {
                KeyTrust::Suspected => return Err(SetError::KeySuspected { at }),
                KeyTrust::Unproven(MAX_UNPROVEN_DATAGRAMS..) => break,
                KeyTrust::Unproven(_) | KeyTrust::Proven => {}
            }
            match self.send(port, target, &smp)? {
                Reply::Answer(mad) => return Ok(SetAnswer { answer: Smp(mad), sent }),
                Reply::Refused(status) => return Err(SetError::Refused { at, attribute, status }),
                Reply::Silence => self.probe_key(port, target)?,
            }
        }
        match self.trust_of(target) {
            KeyTrust::Suspected => Err(SetError::KeySuspected { at }),
            _ => Err(SetError::Silent { at }),
        }
    }

    /// Sends a Get to a port that did not answer a Set, unless that would exceed the limit.
    fn probe_key(&mut self, port: &mut WritePort, target: &SetTarget) -> Result<(), SetError> {
        if !matches!(self.trust_of(target), KeyTrust::Unproven(0..MAX_UNPROVEN_DATAGRAMS)) {
            return Ok(());
        }
        // The route is short enough, as it was for the Set.
        let mut smp = Smp::directed(Method::GET, attribute::PORT_INFO, 0, &target.route).unwrap_or_default();
        let key = self.keys.key_for(target.guid);
        smp.set_m_key(key);
        let sign = match self.send(port, target, &smp)? {
            Reply::Answer(mad) => read_sign(Smp(mad).data::<PortInfo>(), key),
            Reply::Refused(_) | Reply::Silence => KeySign::Nothing,
        };
        match sign {
            KeySign::Right => drop(self.trust.insert(target.without_route(), KeyTrust::Proven)),
            KeySign::Wrong => drop(self.trust.insert(target.without_route(), KeyTrust::Suspected)),
            KeySign::Nothing => {}
        }
        Ok(())
    }

    /// Sends one MAD once. An answer to a Set proves that the key is right.
    fn send(&mut self, port: &mut WritePort, target: &SetTarget, smp: &Smp) -> Result<Reply, SetError> {
        let writes = smp.0.method() == Method::SET;
        let unproven = match self.trust_of(target) {
            KeyTrust::Unproven(count) => Some(count),
            _ => None,
        };
        let parcel = AddressedMad { mad: smp.0.clone(), address: MadAddress::directed() };
        let mut exchange = Exchange::<_, ()>::new(port, self.policy, "set", self.transactions);
        exchange.ask(Question { parcel, target: 0, retries: 0, tag: () });
        let reply = loop {
            match exchange.next(MAX_WAIT)? {
                ExchangeEvent::Reply((), reply) => break reply,
                ExchangeEvent::TurnOver => {}
                ExchangeEvent::Settled => break Reply::Silence,
            }
        };
        (_, self.transactions) = exchange.end();
        if let Some(count) = unproven {
            let answered = !matches!(reply, Reply::Silence);
            let trust = if answered && writes { KeyTrust::Proven } else { KeyTrust::Unproven(count + 1) };
            self.trust.insert(target.without_route(), trust);
        }
        Ok(reply)
    }

    fn trust_of(&self, target: &SetTarget) -> KeyTrust {
        self.trust.get(&target.without_route()).copied().unwrap_or(KeyTrust::Unproven(0))
    }
}

impl SetTarget {
    /// The identity of a port, however it is reached.
    fn without_route(&self) -> Self {
        let route = if self.guid.is_some() { Vec::new() } else { self.route.clone() };
        Self { route, guid: self.guid }
    }
}

/// A port shows its M_Key to requests with the right key, and to all requests while it is not protected. A port shows
/// zero if it has no key, or hides it.
fn read_sign(info: &PortInfo, key: u64) -> KeySign {
    match (info.m_key.get(), info.protect_bits()) {
        (0, ProtectBits::Open) => KeySign::Right,
        (0, _) => KeySign::Wrong,
        (shown, _) if shown == key => KeySign::Right,
        _ => KeySign::Wrong,
    }
}

fn target_name(target: &SetTarget) -> String {
    let route = route_text(&target.route);
    target.guid.map_or_else(|| route.clone(), |guid| format!("{guid} (route {route})"))
}
