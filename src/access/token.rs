//! The right to write to a fabric. It is asked for with a flag and given for a fabric that the configuration names by
//! its switches; no other way leads to a value of this type.

use std::collections::BTreeSet;

use crate::fabric::Guid;

/// The subnet prefix that every fabric has unless somebody changed it, which therefore tells nothing.
pub const DEFAULT_PREFIX: u64 = 0xFE80_0000_0000_0000;

/// How a configuration names a fabric that may be written to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    pub name: String,
    /// The GUIDs of its switches.
    pub switches: Vec<Guid>,
    /// Its subnet prefix, where it is not the default.
    pub subnet_prefix: Option<u64>,
}

impl Identity {
    /// How many of the switches have to be there, of how many: nine in ten, for some may be down just when it matters.
    const SHARE: (usize, usize) = (9, 10);

    /// How many of its switches are among those seen.
    pub fn present(&self, seen: &BTreeSet<Guid>) -> usize {
        self.switches.iter().collect::<BTreeSet<_>>().into_iter().filter(|guid| seen.contains(guid)).count()
    }

    fn matches(&self, seen: &BTreeSet<Guid>, prefix: Option<u64>) -> bool {
        let known = self.switches.iter().collect::<BTreeSet<_>>().len();
        let other_prefix = matches!((self.subnet_prefix, prefix), (Some(own), Some(seen))
            if own != DEFAULT_PREFIX && own != seen);
        known > 0 && !other_prefix && self.present(seen) * Self::SHARE.1 >= known * Self::SHARE.0
    }
}

/// Why nothing may be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("FD-4101: writing was not asked for; --allow-write asks for it")]
    NotAsked,
    #[error(
        "FD-4102: this fabric is not opted in: of the {known} named in the configuration none has nine in ten of its \
         switches here ({best}); 'fabdeck sources --identity' prints the entry to add"
    )]
    NotOptedIn { known: usize, best: String },
    #[error("FD-4103: the right to write to a simulated fabric does not hold for a real one")]
    RealFabric,
}

/// The right to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteToken(Scope);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Scope {
    Simulation,
    Fabric(String),
}

impl WriteToken {
    /// For the simulator, where nothing can break. It opens no other port.
    pub fn simulation() -> Self {
        Self(Scope::Simulation)
    }

    /// For a real fabric: asked for, and known by its switches.
    pub fn grant(
        asked: bool,
        opted_in: &[Identity],
        seen: &[Guid],
        subnet_prefix: Option<u64>,
    ) -> Result<Self, TokenError> {
        if !asked {
            return Err(TokenError::NotAsked);
        }
        let seen: BTreeSet<Guid> = seen.iter().copied().collect();
        if let Some(identity) = opted_in.iter().find(|identity| identity.matches(&seen, subnet_prefix)) {
            return Ok(Self(Scope::Fabric(identity.name.clone())));
        }
        let best = opted_in.iter().max_by_key(|identity| identity.present(&seen));
        let best = best.map_or_else(
            || "there are no entries".to_owned(),
            |identity| {
                format!("'{}': {} of {}", identity.name, identity.present(&seen), identity.switches.len())
            },
        );
        Err(TokenError::NotOptedIn { known: opted_in.len(), best })
    }

    pub fn simulation_only(&self) -> bool {
        self.0 == Scope::Simulation
    }

    /// The fabric that it was given for.
    pub fn fabric(&self) -> Option<&str> {
        match &self.0 {
            Scope::Simulation => None,
            Scope::Fabric(name) => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guids(range: std::ops::Range<u64>) -> Vec<Guid> {
        range.map(Guid).collect()
    }

    fn site() -> Identity {
        Identity { name: "site".into(), switches: guids(0..20), subnet_prefix: None }
    }

    #[test]
    fn nine_in_ten_of_the_switches_have_to_be_there() {
        let grant = |seen: Vec<Guid>| WriteToken::grant(true, &[site()], &seen, None);
        assert_eq!(grant(guids(0..20)).unwrap().fabric(), Some("site"));
        assert!(grant(guids(2..90)).is_ok());
        let refused = grant(guids(3..90)).unwrap_err();
        assert!(refused.to_string().contains("'site': 17 of 20"), "{refused}");
        assert!(grant(Vec::new()).is_err());
    }

    #[test]
    fn nothing_is_granted_unasked_or_to_a_fabric_without_switches() {
        assert_eq!(WriteToken::grant(false, &[site()], &guids(0..20), None), Err(TokenError::NotAsked));
        let empty = Identity { name: "empty".into(), ..Identity::default() };
        assert!(WriteToken::grant(true, &[empty], &guids(0..20), None).is_err());
        assert!(WriteToken::grant(true, &[], &guids(0..20), None).is_err());
    }

    #[test]
    fn a_prefix_of_its_own_must_be_the_one_seen() {
        let own = Identity { subnet_prefix: Some(7), ..site() };
        let grant = |identity: &Identity, prefix| {
            WriteToken::grant(true, std::slice::from_ref(identity), &guids(0..20), prefix)
        };
        assert!(grant(&own, Some(7)).is_ok());
        assert!(grant(&own, Some(8)).is_err());
        let default = Identity { subnet_prefix: Some(DEFAULT_PREFIX), ..site() };
        assert!(grant(&default, Some(8)).is_ok());
    }
}
