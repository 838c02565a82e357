//! Describes the states that the writes of a plan pass through.

use fabdeck_fabric::observe::digits_in_groups;
use serde::{Deserialize, Serialize};

/// The worst state between the first write and the last. A pair is a terminal and a LID of another one. With switches
/// in scope, these count too. Pairs that no cable joins do not.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TransientLoss {
    /// Number of pairs in scope.
    pub pairs: u64,
    pub writes: u64,
    /// Number of pairs without a path before the first write; below, after the last.
    pub before: u64,
    pub after: u64,
    /// Number of pairs without a path in the worst state, looping ones included.
    pub worst_broken: u64,
    /// The largest number of looping pairs in any state.
    pub worst_looping: u64,
    /// The largest number of pairs, in any state, that have a path before and after and none then.
    pub worst_interrupted: u64,
    /// Number of writes before the worst state; 0 if no state is worse than the first.
    pub worst_after: u64,
    /// The write that leads to the worst state, by block and switch.
    #[serde(default)]
    pub worst_at: Option<String>,
    /// Number of writes in a row for which the worst state lasts.
    pub lasting: u64,
    /// How the order was found. `any`: no order breaks a path. `distance`: each switch comes after those that its new
    /// entries lead to, which breaks no path. `fewest`: the best of several orders. `switches`: by GUID.
    pub ordered: String,
    /// The pairs of the fabric as it is. The other counts of a plan with failed elements suppose that these are down.
    /// `None` for a plan without them, and where this was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfailed: Option<UnfailedLoss>,
}

/// The pairs without a path while the elements work that a plan takes as failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UnfailedLoss {
    /// Number of pairs in scope.
    pub pairs: u64,
    pub before: u64,
    pub after: u64,
    /// Number of pairs without a path in the worst state.
    pub worst_broken: u64,
}

impl TransientLoss {
    /// The counts of the fabric as it is; `None` where only those of a supposed failure are known.
    pub fn actual(&self, supposes_failure: bool) -> Option<UnfailedLoss> {
        if supposes_failure {
            return self.unfailed;
        }
        let Self { pairs, before, after, worst_broken, .. } = *self;
        Some(UnfailedLoss { pairs, before, after, worst_broken })
    }

    /// The worst state in one sentence.
    pub fn words(&self) -> String {
        let (writes, pairs) = (self.writes, self.pairs);
        let order = match self.ordered.as_str() {
            "any" => "in any order",
            "distance" => "nearest to the destinations first",
            "fewest" => "in the best order that was found",
            _ => "switch by switch",
        };
        if self.worst_broken == 0 && self.worst_interrupted == 0 {
            let writes = digits_in_groups(writes);
            return format!("every pair has a path after each of the {writes} writes, {order}");
        }
        let rounds = match self.worst_looping {
            0 => String::new(),
            some => format!(", never more than {} of them in a round", digits_in_groups(some)),
        };
        let [worst, lasting, last] =
            [self.worst_broken, self.lasting, self.worst_after].map(digits_in_groups);
        let (writes, pairs) = (digits_in_groups(writes), digits_in_groups(pairs));
        let place = match (&self.worst_at, self.worst_after) {
            (_, 0) => "before the first write".to_owned(),
            (Some(at), _) => format!("after write {last} of {writes} ({at}) and for {lasting} in all"),
            (None, _) => format!("after write {last} of {writes} and for {lasting} in all"),
        };
        let known = match (self.before, self.after) {
            (0, 0) => String::new(),
            (before, after) => {
                let [before, after, interrupted] =
                    [before, after, self.worst_interrupted].map(digits_in_groups);
                format!(
                    "; {before} of them before and {after} after it, and at most {interrupted} that have one before and after"
                )
            }
        };
        format!("at worst {worst} of {pairs} pairs without a path{rounds}, {place}, {order}{known}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_state_has_its_words() {
        let way =
            TransientLoss { pairs: 132, writes: 40, ordered: "distance".into(), ..TransientLoss::default() };
        assert_eq!(
            way.words(),
            "every pair has a path after each of the 40 writes, nearest to the destinations first"
        );
        let worst = TransientLoss {
            worst_broken: 36,
            worst_looping: 12,
            worst_interrupted: 36,
            worst_after: 17,
            worst_at: Some("block 0 of s3".into()),
            lasting: 3,
            ordered: "fewest".into(),
            ..way
        };
        assert_eq!(
            worst.words(),
            "at worst 36 of 132 pairs without a path, never more than 12 of them in a round, after write 17 of 40 \
             (block 0 of s3) and for 3 in all, in the best order that was found"
        );
        let before = TransientLoss { before: 36, worst_after: 0, worst_at: None, ..worst };
        assert!(before.words().contains("before the first write"), "{}", before.words());
        assert!(
            before.words().contains("36 of them before and 0 after it, and at most 36"),
            "{}",
            before.words()
        );
    }
}
