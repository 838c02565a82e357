//! Opens the fabric that a `--source` text names for writing.

use std::collections::BTreeSet;

use fabdeck_mad::access::{
    FabricIdentity, MadPort, NoObserver, ObservedFabric, ReadOptions, ReadPort, SourceError, TokenError,
    WriteToken,
};

use super::live_options::LiveOptions;
use super::mad_source::{LiveActuator, read_snapshot};
use super::open::open_port;
use fabdeck_fabric::Guid;

/// The permission to write: whether the user asked for it, and the fabrics that the configuration lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriteRight {
    pub asked: bool,
    pub opted_in: Vec<FabricIdentity>,
    /// The switches of the fabric of a change that has begun, for its guard; empty otherwise.
    pub begun: BTreeSet<Guid>,
}

impl WriteRight {
    /// The token to write to this fabric.
    fn grant_token(&self, seen: &ObservedFabric) -> Result<WriteToken, TokenError> {
        match self.begun.is_empty() {
            true => WriteToken::grant(self.asked, &self.opted_in, seen),
            false => WriteToken::for_rollback(&self.begun, seen),
        }
    }
}

/// Why a fabric cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteAccessError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "FD-4111: {0} is a recording of a fabric, so nothing can be written to it; give umad or sim:SOCKET"
    )]
    NotLive(String),
}

/// Opens a fabric that opted in for writing; a simulator always has.
pub fn open_actuator(
    text: &str,
    options: &LiveOptions,
    right: &WriteRight,
) -> Result<LiveActuator, WriteAccessError> {
    let Some(mut port) = open_port(text, options)? else {
        return Err(WriteAccessError::NotLive(text.to_owned()));
    };
    let token = request_token(text, &mut port, options, right)?;
    Ok(LiveActuator::new(text, port.unlock(&token)?, options.policy, options.keys.clone()))
}

fn request_token(
    text: &str,
    port: &mut ReadPort,
    options: &LiveOptions,
    right: &WriteRight,
) -> Result<WriteToken, WriteAccessError> {
    if port.local_port().simulated {
        return Ok(WriteToken::for_simulation());
    }
    if !right.asked && right.begun.is_empty() {
        return Err(TokenError::NotAsked.into());
    }
    let guid = port.local_port().guid;
    let seen =
        read_snapshot(text, port, options.policy, &options.keys, ReadOptions::default(), &mut NoObserver)?;
    let seen = ObservedFabric {
        switches: seen.fabric.switches().map(|(_, node)| node.guid()).collect(),
        subnet_prefix: seen.reading.as_ref().and_then(|reading| reading.subnet_prefix),
        manager: seen.subnet_manager.as_ref().map(|manager| manager.guid),
        port: guid,
    };
    Ok(right.grant_token(&seen)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(switches: std::ops::Range<u64>, manager: u64) -> ObservedFabric {
        let switches = switches.map(Guid).collect();
        ObservedFabric { switches, manager: Some(Guid(manager)), ..ObservedFabric::default() }
    }

    /// The configuration has changed since, a third of the switches is missing, and so is the subnet manager.
    #[test]
    fn the_guard_of_a_change_needs_no_new_permission() {
        let switches: Vec<Guid> = (0..30).map(Guid).collect();
        let site = FabricIdentity {
            name: "site".into(),
            switches: switches.clone(),
            managers: vec![Guid(100)],
            ..FabricIdentity::default()
        };
        let other =
            FabricIdentity { name: "other".into(), switches: vec![Guid(500)], ..FabricIdentity::default() };
        let begun: BTreeSet<Guid> = switches.into_iter().collect();
        for opted_in in [vec![site.clone()], vec![other], Vec::new()] {
            let plain = WriteRight { asked: true, opted_in: opted_in.clone(), ..WriteRight::default() };
            let keeps = WriteRight { begun: begun.clone(), ..plain.clone() };
            let changed = seen(0..20, 101);
            assert!(
                matches!(plain.grant_token(&changed), Err(TokenError::NotOptedIn { .. })),
                "{opted_in:?}"
            );
            assert!(keeps.grant_token(&changed).is_ok(), "{opted_in:?}");
            assert!(keeps.grant_token(&seen(29..90, 101)).is_ok(), "{opted_in:?}");
            let refused = keeps.grant_token(&seen(30..90, 100)).unwrap_err();
            assert_eq!(refused, TokenError::OtherFabric { known: 30 });
            assert!(refused.to_string().contains("FD-4105"), "{refused}");
        }
    }
}
