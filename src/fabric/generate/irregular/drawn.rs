//! What an irregular tree is asked for by, and how a seed draws it.

use super::super::plan::Plan;
use super::super::rng::{Rng, Stream};
use super::families;
use super::site::Site;

/// How an irregular tree came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::generate) enum Family {
    Pods,
    Half,
    Director,
    Racks,
    Merged,
    Spines,
    Tier,
    Rails,
    Mixed,
}

/// How large an irregular tree is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::generate) enum Scale {
    Small,
    Large,
}

/// The default of `family`: the seed chooses.
pub(in crate::generate) const ANY: &str = "any";

impl Family {
    const ALL: [(&str, Self); 9] = [
        ("pods", Self::Pods),
        ("half", Self::Half),
        ("director", Self::Director),
        ("racks", Self::Racks),
        ("merged", Self::Merged),
        ("spines", Self::Spines),
        ("tier", Self::Tier),
        ("rails", Self::Rails),
        ("mixed", Self::Mixed),
    ];

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, family)| *family)
    }

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, family)| *family == self).map_or("", |(name, _)| name)
    }

    /// What stands in an error message.
    pub fn words() -> String {
        let words: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).chain([ANY]).collect();
        format!("one of {}", words.join(" "))
    }

    /// The family of a seed where none is asked for.
    fn drawn(rng: &mut Rng) -> Self {
        Self::ALL[rng.below(Self::ALL.len())].1
    }
}

impl Scale {
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Small, Self::Large].into_iter().find(|scale| scale.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    /// The most switches that a tree of this scale has.
    pub fn most_switches(self) -> u64 {
        match self {
            Self::Small => 100,
            Self::Large => 480,
        }
    }
}

/// Whether switches have aggregation nodes where nothing is asked: about one tree of three, and all with hosts on spines.
pub(in crate::generate) fn has_aggregation(family: Option<Family>, seed: u64) -> bool {
    let drawn = Rng::new(seed, Stream::Aggregation).below(100) < 35;
    drawn || family_of(family, seed).0 == Family::Spines
}

/// The family and the stream that draws the tree.
fn family_of(family: Option<Family>, seed: u64) -> (Family, Rng) {
    let mut rng = Rng::new(seed, Stream::Topology);
    // Drawn in any case: the same seed gives the same tree whether its family was drawn or asked for.
    let drawn = Family::drawn(&mut rng);
    (family.unwrap_or(drawn), rng)
}

pub(in crate::generate) fn irregular(plan: &mut Plan, family: Option<Family>, scale: Scale, seed: u64) {
    let (family, rng) = family_of(family, seed);
    let mut site = Site::new(rng, scale);
    families::build(&mut site, family);
    let accidents = site.accidents();
    site.finish(plan);
    plan.notes.push(format!("family {}{accidents}", family.word()));
}
