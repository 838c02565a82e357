//! Opens the fabric that a `--source` text names for writing.

use std::collections::BTreeSet;

use fabdeck_mad::access::{
    Identity, MadPort, ReadPort, Seen, SourceError, TokenError, Unwatched, Wanted, WriteToken,
};

use super::mad_source::{LiveActuator, look};
use super::open::{LiveOptions, open_port};
use fabdeck_fabric::Guid;

/// The permission to write: whether the user asked for it, and the fabrics that the configuration lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Right {
    pub asked: bool,
    pub opted_in: Vec<Identity>,
    /// The switches of the fabric of a change that has begun, for its guard; empty otherwise.
    pub begun: BTreeSet<Guid>,
}

impl Right {
    /// The token to write to this fabric.
    fn token(&self, seen: &Seen) -> Result<WriteToken, TokenError> {
        match self.begun.is_empty() {
            true => WriteToken::grant(self.asked, &self.opted_in, seen),
            false => WriteToken::take_back(&self.begun, seen),
        }
    }
}

/// Why a fabric cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "FD-4111: {0} is no fabric but what was recorded of one, so nothing can be written to it; give umad or sim:SOCKET"
    )]
    NotLive(String),
}

/// Opens a fabric that opted in for writing; a simulator always has.
pub fn open_actuator(text: &str, options: &LiveOptions, right: &Right) -> Result<LiveActuator, Unwritable> {
    let Some(mut port) = open_port(text, options)? else { return Err(Unwritable::NotLive(text.to_owned())) };
    let token = token(text, &mut port, options, right)?;
    Ok(LiveActuator::new(text, port.unlock(&token)?, options.policy, options.keys.clone()))
}

fn token(
    text: &str,
    port: &mut ReadPort,
    options: &LiveOptions,
    right: &Right,
) -> Result<WriteToken, Unwritable> {
    if port.local().simulated {
        return Ok(WriteToken::simulation());
    }
    if !right.asked && right.begun.is_empty() {
        return Err(TokenError::NotAsked.into());
    }
    let guid = port.local().guid;
    let seen = look(text, port, options.policy, &options.keys, Wanted::default(), &mut Unwatched)?;
    let seen = Seen {
        switches: seen.fabric.switches().map(|(_, node)| node.guid()).collect(),
        subnet_prefix: seen.reading.as_ref().and_then(|reading| reading.subnet_prefix),
        manager: seen.subnet_manager.as_ref().map(|manager| manager.guid),
        port: guid,
    };
    Ok(right.token(&seen)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(switches: std::ops::Range<u64>, manager: u64) -> Seen {
        let switches = switches.map(Guid).collect();
        Seen { switches, manager: Some(Guid(manager)), ..Seen::default() }
    }

    /// The configuration has changed since, a third of the switches is missing, and so is the subnet manager.
    #[test]
    fn whoever_keeps_a_change_needs_no_new_leave() {
        let switches: Vec<Guid> = (0..30).map(Guid).collect();
        let site = Identity {
            name: "site".into(),
            switches: switches.clone(),
            managers: vec![Guid(100)],
            ..Identity::default()
        };
        let other = Identity { name: "other".into(), switches: vec![Guid(500)], ..Identity::default() };
        let begun: BTreeSet<Guid> = switches.into_iter().collect();
        for opted_in in [vec![site.clone()], vec![other], Vec::new()] {
            let plain = Right { asked: true, opted_in: opted_in.clone(), ..Right::default() };
            let keeps = Right { begun: begun.clone(), ..plain.clone() };
            let changed = seen(0..20, 101);
            assert!(matches!(plain.token(&changed), Err(TokenError::NotOptedIn { .. })), "{opted_in:?}");
            assert!(keeps.token(&changed).is_ok(), "{opted_in:?}");
            assert!(keeps.token(&seen(29..90, 101)).is_ok(), "{opted_in:?}");
            let refused = keeps.token(&seen(30..90, 100)).unwrap_err();
            assert_eq!(refused, TokenError::OtherFabric { known: 30 });
            assert!(refused.to_string().contains("FD-4105"), "{refused}");
        }
    }
}
