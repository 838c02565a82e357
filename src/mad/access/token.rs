//! The right to write to a fabric. A flag asks for it, and the configuration must name the fabric by its switches;
//! nothing else makes a token for a real fabric.

use std::collections::BTreeSet;

use super::port::LocalPort;
use fabdeck_fabric::Guid;

/// The default subnet prefix. Most fabrics have it, so it identifies none.
pub const DEFAULT_PREFIX: u64 = 0xFE80_0000_0000_0000;

/// How the configuration identifies a fabric that may be written to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FabricIdentity {
    pub name: String,
    /// The GUIDs of its switches.
    pub switches: Vec<Guid>,
    /// The subnet prefix, where it is not the default.
    pub subnet_prefix: Option<u64>,
    /// The GUIDs of the ports that its subnet managers run on, standbys included; empty: any manager.
    pub managers: Vec<Guid>,
}

/// The identity of a fabric, as a reading found it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ObservedFabric {
    pub switches: BTreeSet<Guid>,
    pub subnet_prefix: Option<u64>,
    pub manager: Option<Guid>,
    /// The port that the reading went through; the right to write holds for that port alone.
    pub port: Option<Guid>,
}

impl FabricIdentity {
    /// The share of the switches that must be present: nine in ten, because some may be down just when a write is
    /// urgent.
    const MIN_SWITCH_SHARE: (usize, usize) = (9, 10);

    /// Number of the identity's switches among those found.
    pub fn count_present(&self, seen: &BTreeSet<Guid>) -> usize {
        self.switches.iter().collect::<BTreeSet<_>>().into_iter().filter(|guid| seen.contains(guid)).count()
    }

    fn is_match(&self, seen: &ObservedFabric) -> bool {
        let known = self.switches.iter().collect::<BTreeSet<_>>().len();
        let own_prefix = self.subnet_prefix.filter(|prefix| *prefix != DEFAULT_PREFIX);
        let other_prefix = own_prefix.is_some_and(|own| seen.subnet_prefix != Some(own));
        let manager = seen.manager.is_some_and(|manager| self.managers.contains(&manager));
        let other_manager = !self.managers.is_empty() && !manager;
        let enough =
            self.count_present(&seen.switches) * Self::MIN_SWITCH_SHARE.1 >= known * Self::MIN_SWITCH_SHARE.0;
        known > 0 && enough && !other_prefix && !other_manager
    }
}

/// Why writing is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("FD-4101: writing is not allowed; --allow-write allows it")]
    NotAsked,
    #[error(
        "FD-4102: the configuration does not allow writes to this fabric: of the {known} named there none has nine \
         in ten of its switches, its subnet prefix and one of its managers here ({best}); 'fabdeck sources \
         --identity' prints the entry to add"
    )]
    NotOptedIn { known: usize, best: String },
    #[error("FD-4103: permission to write to a simulated fabric is no permission for a real one")]
    RealFabric,
    #[error("FD-4104: permission to write to '{fabric}' was given for another port than {port}")]
    OtherPort { fabric: String, port: String },
    #[error(
        "FD-4105: this is another fabric: none of the {known} switches of the fabric on which the change was begun \
         is here"
    )]
    OtherFabric { known: usize },
}

/// The right to subscribe to traps: it allows InformInfo to subnet administration and answers to its reports, and no
/// other write. `--traps` asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InformToken(());

impl InformToken {
    pub fn grant(asked: bool) -> Option<Self> {
        asked.then_some(Self(()))
    }
}

/// The right of a host's agent. It may subscribe to traps, answer how far it has followed a notice, and over a
/// simulated port move the flows of its own host. It may not write anything else; only `fabdeck agent` makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgentToken(());

impl AgentToken {
    pub fn grant() -> Self {
        Self(())
    }
}

/// The right to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteToken(TokenScope);

#[derive(Clone, PartialEq, Eq, Debug)]
enum TokenScope {
    Simulation,
    Fabric { name: String, port: Option<Guid> },
}

impl WriteToken {
    /// The right to write to the simulator, where nothing can break. It fits no other port.
    pub fn for_simulation() -> Self {
        Self(TokenScope::Simulation)
    }

    /// The right to write to a real fabric, if the caller asked for it and the configuration names the fabric by its
    /// switches.
    pub fn grant(
        asked: bool,
        opted_in: &[FabricIdentity],
        seen: &ObservedFabric,
    ) -> Result<Self, TokenError> {
        if !asked {
            return Err(TokenError::NotAsked);
        }
        if let Some(identity) = opted_in.iter().find(|identity| identity.is_match(seen)) {
            return Ok(Self(TokenScope::Fabric { name: identity.name.clone(), port: seen.port }));
        }
        let best = opted_in.iter().max_by_key(|identity| identity.count_present(&seen.switches));
        let best = best.map_or_else(
            || "there are no entries".to_owned(),
            |identity| {
                let present = identity.count_present(&seen.switches);
                format!("'{}': {present} of {}", identity.name, identity.switches.len())
            },
        );
        Err(TokenError::NotOptedIn { known: opted_in.len(), best })
    }

    /// The right to roll back or finish a change that was begun. The right was granted at the beginning; since then a
    /// third of the switches may be down, another manager in charge, or the entry in the configuration gone. A
    /// rollback must not fail on that. It writes only the parts of the plan, after comparing each with what the change
    /// wrote. So one switch of the fabric is enough to identify it.
    pub fn for_rollback(begun: &BTreeSet<Guid>, seen: &ObservedFabric) -> Result<Self, TokenError> {
        if begun.is_disjoint(&seen.switches) {
            return Err(TokenError::OtherFabric { known: begun.len() });
        }
        Ok(Self(TokenScope::Fabric { name: "the fabric of the change".to_owned(), port: seen.port }))
    }

    /// Whether the token fits a port.
    pub fn check_port(&self, local: &LocalPort) -> Result<(), TokenError> {
        match &self.0 {
            TokenScope::Simulation if local.simulated => Ok(()),
            TokenScope::Simulation => Err(TokenError::RealFabric),
            TokenScope::Fabric { port, .. } if *port == local.guid => Ok(()),
            TokenScope::Fabric { name, .. } => {
                Err(TokenError::OtherPort { fabric: name.clone(), port: local.name.clone() })
            }
        }
    }

    /// The name of the fabric that the token was granted for.
    pub fn fabric_name(&self) -> Option<&str> {
        match &self.0 {
            TokenScope::Simulation => None,
            TokenScope::Fabric { name, .. } => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guids(range: std::ops::Range<u64>) -> Vec<Guid> {
        range.map(Guid).collect()
    }

    fn seen(range: std::ops::Range<u64>) -> ObservedFabric {
        ObservedFabric { switches: guids(range).into_iter().collect(), ..ObservedFabric::default() }
    }

    fn site() -> FabricIdentity {
        FabricIdentity { name: "site".into(), switches: guids(0..20), ..FabricIdentity::default() }
    }

    #[test]
    fn nine_in_ten_of_the_switches_have_to_be_there() {
        let grant = |seen: ObservedFabric| WriteToken::grant(true, &[site()], &seen);
        assert_eq!(grant(seen(0..20)).unwrap().fabric_name(), Some("site"));
        assert!(grant(seen(2..90)).is_ok());
        let refused = grant(seen(3..90)).unwrap_err();
        assert!(refused.to_string().contains("'site': 17 of 20"), "{refused}");
        assert!(grant(ObservedFabric::default()).is_err());
    }

    #[test]
    fn nothing_is_granted_unasked_or_to_a_fabric_without_switches() {
        assert_eq!(WriteToken::grant(false, &[site()], &seen(0..20)), Err(TokenError::NotAsked));
        let empty = FabricIdentity { name: "empty".into(), ..FabricIdentity::default() };
        assert!(WriteToken::grant(true, &[empty], &seen(0..20)).is_err());
        assert!(WriteToken::grant(true, &[], &seen(0..20)).is_err());
    }

    #[test]
    fn a_prefix_of_its_own_must_be_the_one_seen() {
        let own = FabricIdentity { subnet_prefix: Some(7), ..site() };
        let grant = |identity: &FabricIdentity, prefix| {
            let seen = ObservedFabric { subnet_prefix: prefix, ..seen(0..20) };
            WriteToken::grant(true, std::slice::from_ref(identity), &seen)
        };
        assert!(grant(&own, Some(7)).is_ok());
        assert!(grant(&own, Some(8)).is_err());
        assert!(grant(&own, None).is_err());
        let default = FabricIdentity { subnet_prefix: Some(DEFAULT_PREFIX), ..site() };
        assert!(grant(&default, Some(8)).is_ok());
    }

    #[test]
    fn a_list_of_managers_holds_for_whichever_is_master() {
        let own = FabricIdentity { managers: vec![Guid(100), Guid(101)], ..site() };
        let grant = |manager: Option<u64>| {
            let seen = ObservedFabric { manager: manager.map(Guid), ..seen(0..20) };
            WriteToken::grant(true, std::slice::from_ref(&own), &seen).is_ok()
        };
        assert!(grant(Some(100)) && grant(Some(101)));
        assert!(!grant(Some(102)) && !grant(None));
    }
}
