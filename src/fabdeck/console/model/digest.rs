//! Digests of outcomes, which a recorded session has instead of what a replay computes again.

use fabdeck_fabric::observe::Sweep;

pub fn text_digest(text: &str) -> String {
    short_hash(blake3::hash(text.as_bytes()))
}

/// A digest of all counters and of the fabric events of a sweep; its time is not included.
pub fn sweep_digest(sweep: &Sweep) -> String {
    let mut hasher = blake3::Hasher::new();
    for sample in &sweep.samples {
        hasher.update(
            format!("{:?} {:?} {:?} {:?}", sample.node, sample.lid, sample.port, sample.values).as_bytes(),
        );
    }
    hasher.update(format!("{:?}", sweep.news).as_bytes());
    short_hash(hasher.finalize())
}

fn short_hash(hash: blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}
