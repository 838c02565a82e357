//! The features: all screens, and those that have none of their own: the watch, the outputs, the tour, the panes, views
//! as lines, and the line that goes to anything.

use std::sync::LazyLock;

use super::feature::Feature;
use super::screen_table::screen_table;
use super::screens::ScreenId;
use super::{goto, outputs, panes, tour, views, watch};

macro_rules! define_features {
    ($($id:ident $field:ident $kind:ident $number:literal $title:literal $short:literal $about:literal;)+) => {
        static FEATURES: &[Feature] = &[watch::FEATURE, outputs::FEATURE, goto::FEATURE, tour::FEATURE, panes::FEATURE, views::FEATURE, $(crate::console::features::$field::FEATURE),+];

        impl ScreenId {
            /// The feature of the screen.
            pub(crate) fn feature(self) -> &'static Feature {
                match self { $(Self::$id => &crate::console::features::$field::FEATURE),+ }
            }
        }
    };
}

screen_table!(define_features);

static BY_RANK: LazyLock<Vec<&'static Feature>> = LazyLock::new(|| {
    let mut features: Vec<&Feature> = FEATURES.iter().collect();
    features.sort_by_key(|feature| feature.rank);
    features
});

/// All features, in the order of their ticks.
pub fn features() -> impl Iterator<Item = &'static Feature> {
    BY_RANK.iter().copied()
}
