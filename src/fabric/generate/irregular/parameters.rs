//! What an irregular tree is asked for by, and what its seed draws where nothing is asked.

use super::super::rng::{Rng, RngStream};

/// How an irregular tree came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
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
pub enum Scale {
    Small,
    Large,
}

/// The default of `family`: the seed chooses.
pub const ANY: &str = "any";

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
    fn draw(rng: &mut Rng) -> Self {
        Self::ALL[rng.draw_below(Self::ALL.len())].1
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
pub fn draw_aggregation(family: Option<Family>, seed: u64) -> bool {
    let drawn = Rng::new(seed, RngStream::Aggregation).draw_below(100) < 35;
    drawn || draw_family(family, seed).0 == Family::Spines
}

/// The family and the stream that draws the tree.
pub fn draw_family(family: Option<Family>, seed: u64) -> (Family, Rng) {
    let mut rng = Rng::new(seed, RngStream::Topology);
    // Drawn in any case: the same seed gives the same tree whether its family was drawn or asked for.
    let drawn = Family::draw(&mut rng);
    (family.unwrap_or(drawn), rng)
}
