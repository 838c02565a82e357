//! The results of comparing confirmed changes with the fabric.

use std::collections::BTreeMap;

use fabdeck_change::Attestation;

/// The results of comparing confirmed changes with the fabric, by id.
pub type Attestations = BTreeMap<String, Attestation>;
