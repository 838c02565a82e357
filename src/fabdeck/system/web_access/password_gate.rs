//! Basic authentication by bcrypt hashes.
//!
//! A check takes as long as the hash is made for, whether the password is right, wrong, or that of no user. Its outcome is
//! stored under a keyed hash of name and password, so that a client that comes again costs nothing, and checks run one
//! after the other, so that a client with many passwords takes one processor at most.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::GetRandomFailed;

use super::web_config::PasswordHash;

/// Most outcomes that are stored of a kind.
const MAX_OUTCOMES: usize = 64;

/// Users and their passwords.
#[derive(Debug)]
pub struct PasswordGate {
    users: BTreeMap<String, PasswordHash>,
    /// The key of stored outcomes, so that they are worth nothing in a dump of the memory.
    key: [u8; 32],
    outcomes: Mutex<HashMap<[u8; 32], bool>>,
    /// Held during a check.
    turn: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Outcomes are inserted as a whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PasswordGate {
    /// `None` without users.
    pub fn new(users: BTreeMap<String, PasswordHash>) -> Result<Option<Self>, GetRandomFailed> {
        if users.is_empty() {
            return Ok(None);
        }
        let mut key = [0; 32];
        rustls::crypto::ring::default_provider().secure_random.fill(&mut key)?;
        Ok(Some(Self { users, key, outcomes: Mutex::default(), turn: Mutex::default() }))
    }

    /// Whether the header `Authorization` has the name of a user with the password.
    pub fn admits(&self, authorization: Option<&str>) -> bool {
        let Some(credentials) = authorization.and_then(read_basic) else { return false };
        let id = *blake3::keyed_hash(&self.key, &credentials).as_bytes();
        if let Some(outcome) = self.outcome(&id) {
            return outcome;
        }
        let _turn = lock(&self.turn);
        // Another connection may have brought the same password meanwhile.
        if let Some(outcome) = self.outcome(&id) {
            return outcome;
        }
        let outcome = self.check(&credentials);
        let mut outcomes = lock(&self.outcomes);
        // Those of one kind do not push out the other: wrong passwords cost the clients with right ones nothing.
        if outcomes.values().filter(|stored| **stored == outcome).count() >= MAX_OUTCOMES {
            outcomes.retain(|_, stored| *stored != outcome);
        }
        outcomes.insert(id, outcome);
        outcome
    }

    fn outcome(&self, id: &[u8; 32]) -> Option<bool> {
        lock(&self.outcomes).get(id).copied()
    }

    /// Checks against the hash of the user; for a name of no user against the slowest, in vain.
    fn check(&self, credentials: &[u8]) -> bool {
        let Some(at) = credentials.iter().position(|byte| *byte == b':') else { return false };
        let (user, password) = (&credentials[..at], &credentials[at + 1..]);
        let known = std::str::from_utf8(user).ok().and_then(|user| self.users.get(user));
        let slowest = || self.users.values().max_by_key(|hash| hash.cost);
        let Some(hash) = known.or_else(slowest) else { return false };
        let matches = bcrypt::verify(password, &hash.text).unwrap_or(false);
        matches && known.is_some()
    }
}

/// Name and password of a header.
fn read_basic(header: &str) -> Option<Vec<u8>> {
    let (scheme, encoded) = header.trim().split_once(' ')?;
    let is_basic = scheme.eq_ignore_ascii_case("basic");
    is_basic.then(|| STANDARD.decode(encoded.trim()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn gate(cost: u32) -> PasswordGate {
        let hash = bcrypt::hash("right", cost).unwrap();
        PasswordGate::new(BTreeMap::from([("ada".to_owned(), hash.parse().unwrap())])).unwrap().unwrap()
    }

    fn basic(credentials: &str) -> String {
        format!("Basic {}", STANDARD.encode(credentials))
    }

    #[test]
    fn only_the_right_password_of_a_user_is_admitted() {
        let gate = gate(4);
        for (credentials, admitted) in [
            ("ada:right", true),
            ("ada:wrong", false),
            ("bob:right", false),
            (":right", false),
            ("ada", false),
        ] {
            for _ in 0..2 {
                assert_eq!(gate.admits(Some(&basic(credentials))), admitted, "{credentials}");
            }
        }
        for header in ["", "Basic", "Basic ???", "Bearer YWRhOnJpZ2h0", "YWRhOnJpZ2h0"] {
            assert!(!gate.admits(Some(header)), "{header}");
        }
        assert!(gate.admits(Some("basic YWRhOnJpZ2h0")) && !gate.admits(None));
        assert!(PasswordGate::new(BTreeMap::new()).unwrap().is_none());
    }

    /// The time of a check is that of the hash in each case, and the second time there is none.
    #[test]
    fn a_check_takes_the_same_time_for_right_and_wrong_passwords() {
        let gate = gate(10);
        let time = |credentials: &str| {
            let header = basic(credentials);
            let begun = Instant::now();
            gate.admits(Some(&header));
            begun.elapsed()
        };
        let first = ["ada:right", "ada:wrong", "bob:right"].map(time);
        let least = first.iter().min().unwrap();
        assert!(*least > Duration::from_millis(10), "{first:?}");
        for credentials in ["ada:right", "ada:wrong", "bob:right"] {
            assert!(time(credentials) < *least / 5, "{credentials} of {first:?}");
        }
    }

    #[test]
    fn many_wrong_passwords_do_not_push_out_a_right_one() {
        let gate = gate(4);
        assert!(gate.admits(Some(&basic("ada:right"))));
        for number in 0..2 * MAX_OUTCOMES {
            assert!(!gate.admits(Some(&basic(&format!("ada:{number}")))));
        }
        let outcomes = lock(&gate.outcomes);
        assert!(outcomes.len() <= MAX_OUTCOMES + 1 && outcomes.values().any(|admitted| *admitted));
    }
}
