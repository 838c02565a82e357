//! How far a host has followed a notice: asked of its agent, in a vendor's class of its own (IBA 16.5; not one that adapters
//! take for themselves).
//!
//! Answers that nobody asked for would come to whoever passes for a manager alone, or to nobody; so the one who told asks
//! the host for each notice, and the answer finds its way by the transaction:
//!
//! ```text
//! 24  0 ..  number of the notice (4)  both ways
//!     4  5  LID of the hot-spot, or 0 both ways
//!     6     1: back to the fast lane  both ways
//!     7     how far: `Standing`       answer
//!     8  9  flows that moved          answer
//!    10     service level             both ways
//! ```

use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, Method, attribute};
use super::repath::Repath;

const AT: usize = 24;

/// How far a host has followed a notice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Standing {
    /// No such notice came, as far as it is remembered.
    Unheard,
    UnderWay,
    /// Its flows moved.
    Followed,
    /// It has no flows to the hot-spot, or is not meant.
    Nothing,
    /// Its hook failed, or took too long.
    Failed,
    /// It only says what it would do.
    Rehearsed,
    /// Too many came at once: it was dropped.
    Dropped,
    /// A newer notice about the same LID took its place.
    Superseded,
}

impl Standing {
    const ALL: [Self; 8] = [
        Self::Unheard,
        Self::UnderWay,
        Self::Followed,
        Self::Nothing,
        Self::Failed,
        Self::Rehearsed,
        Self::Dropped,
        Self::Superseded,
    ];

    pub fn of(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub fn code(self) -> u8 {
        self as u8
    }

    /// Whether it stays as it is.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Unheard | Self::UnderWay)
    }

    /// Whether the host is where the notice wants it.
    pub fn follows(self) -> bool {
        matches!(self, Self::Followed | Self::Nothing)
    }
}

/// What tells one notice from another: its number, the LID of the hot-spot, whether it leads back, and the
/// service level, as a change may put flows of several levels on as many others.
pub type NoticeKey = (u32, u16, bool, u8);

/// One question, and its answer.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Follow {
    pub number: U32,
    pub hot_spot: U16,
    pub back: u8,
    pub standing: u8,
    pub moved: U16,
    pub level: u8,
}

impl Follow {
    pub fn about(told: &Repath) -> Self {
        Self {
            number: told.number.into(),
            hot_spot: told.about().into(),
            back: told.back.into(),
            standing: 0,
            moved: 0.into(),
            level: told.level.value(),
        }
    }

    /// Which notice is meant.
    pub fn key(&self) -> NoticeKey {
        (self.number.get(), self.hot_spot.get(), self.back != 0, self.level)
    }

    /// The same as an answer.
    pub fn answered(mut self, standing: Standing, moved: usize) -> Self {
        self.standing = standing.code();
        self.moved = u16::try_from(moved).unwrap_or(u16::MAX).into();
        self
    }
}

impl Repath {
    /// By which it is known again: a report of it may come several times.
    pub fn key(&self) -> NoticeKey {
        (self.number, self.about(), self.back, self.level.value())
    }
}

impl Mad {
    /// Asks an agent how far it is.
    pub fn follow(asked: Follow) -> Self {
        let mut mad = Self::new(Class::HOSTS, Method::GET, attribute::FOLLOW, 0);
        *mad.view_mut(AT) = asked;
        mad
    }

    /// What is asked, or answered.
    pub fn follows(&self) -> &Follow {
        self.view(AT)
    }

    pub fn follows_mut(&mut self) -> &mut Follow {
        self.view_mut(AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Lid, ServiceLevel};

    #[test]
    fn standings_have_codes_of_their_own() {
        for (code, standing) in (0..).zip(Standing::ALL) {
            assert_eq!((standing.code(), Standing::of(code)), (code, Some(standing)));
        }
        assert_eq!(Standing::of(8), None);
    }

    #[test]
    fn a_question_lies_where_the_picture_has_it() {
        let (hot_spot, level) = (Lid::new(0xBEEF), ServiceLevel::new(5).unwrap());
        let told = Repath { hot_spot, level, back: true, number: 0x0203_0405, hosts: Vec::new() };
        let mad = Mad::follow(Follow::about(&told).answered(Standing::Failed, 70_000));
        assert_eq!(mad.0[AT..AT + 11], [2, 3, 4, 5, 0xBE, 0xEF, 1, 4, 0xFF, 0xFF, 5]);
        assert_eq!(mad.follows().key(), told.key());
        let other = Repath { level: ServiceLevel::default(), ..told.clone() };
        assert_ne!(other.key(), told.key());
    }
}
