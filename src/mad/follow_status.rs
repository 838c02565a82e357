//! How far a host has followed a notice: a request to its agent, in a vendor class (IBA 16.5) that adapters do not
//! answer themselves.
//!
//! An unsolicited answer would reach only the port that acts as a manager, or no port. So the sender of the notices
//! asks the host about each notice, and the transaction id matches the answer to the request:
//!
//! ```text
//! 24  0 ..  number of the notice (4)  both ways
//!     4  5  LID of the hot-spot, or 0 both ways
//!     6     1: back to the fast lane  both ways
//!     7     how far: `FollowStatus`   answer
//!     8  9  flows that moved          answer
//!    10     service level             both ways
//! ```

use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, Method, attribute};
use super::path_notice::PathNotice;

const DATA_AT: usize = 24;

/// How far a host has followed a notice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FollowStatus {
    /// The host remembers no such notice.
    Unheard,
    UnderWay,
    /// The host's flows moved.
    Followed,
    /// The host has no flows to the hot-spot, or the notice is not for it.
    Nothing,
    /// The host's hook failed or timed out.
    Failed,
    /// The agent rehearses: it only reports what it would do.
    Rehearsed,
    /// Too many notices came at once, and this one was dropped.
    Dropped,
    /// A newer notice about the same LID replaced this one.
    Superseded,
}

impl FollowStatus {
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

    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub fn code(self) -> u8 {
        self as u8
    }

    /// Whether the status will not change any more.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Unheard | Self::UnderWay)
    }

    /// Whether the host's flows are as the notice wants them.
    pub fn is_following(self) -> bool {
        matches!(self, Self::Followed | Self::Nothing)
    }
}

/// What identifies a notice: its number, the LID of the hot-spot, whether it leads back, and the service level. The
/// level is part of it because a change may move flows of several levels.
pub type NoticeKey = (u32, u16, bool, u8);

/// A request for the status of a notice, and its answer.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FollowQuery {
    pub number: U32,
    pub hot_spot: U16,
    pub back: u8,
    pub standing: u8,
    pub moved: U16,
    pub level: u8,
}

impl FollowQuery {
    pub fn for_notice(told: &PathNotice) -> Self {
        Self {
            number: told.number.into(),
            hot_spot: told.wire_lid().into(),
            back: told.back.into(),
            standing: 0,
            moved: 0.into(),
            level: told.level.value(),
        }
    }

    /// The key of the notice in question.
    pub fn key(&self) -> NoticeKey {
        (self.number.get(), self.hot_spot.get(), self.back != 0, self.level)
    }

    /// The same, filled in as an answer.
    pub fn with_answer(mut self, standing: FollowStatus, moved: usize) -> Self {
        self.standing = standing.code();
        self.moved = u16::try_from(moved).unwrap_or(u16::MAX).into();
        self
    }
}

impl PathNotice {
    /// The key of the notice, by which a repeated report of it is recognized.
    pub fn key(&self) -> NoticeKey {
        (self.number, self.wire_lid(), self.back, self.level.value())
    }
}

impl Mad {
    /// A request to an agent for the status of a notice.
    pub fn follow_query(asked: FollowQuery) -> Self {
        let mut mad = Self::new(Class::HOST_AGENTS, Method::GET, attribute::FOLLOW, 0);
        *mad.view_mut(DATA_AT) = asked;
        mad
    }

    /// The body of the request or answer.
    pub fn follow_data(&self) -> &FollowQuery {
        self.view(DATA_AT)
    }

    pub fn follow_data_mut(&mut self) -> &mut FollowQuery {
        self.view_mut(DATA_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Lid, ServiceLevel};

    #[test]
    fn standings_have_codes_of_their_own() {
        for (code, standing) in (0..).zip(FollowStatus::ALL) {
            assert_eq!((standing.code(), FollowStatus::from_code(code)), (code, Some(standing)));
        }
        assert_eq!(FollowStatus::from_code(8), None);
    }

    #[test]
    fn a_question_lies_where_the_picture_has_it() {
        let (hot_spot, level) = (Lid::new(0xBEEF), ServiceLevel::new(5).unwrap());
        let told = PathNotice { hot_spot, level, back: true, number: 0x0203_0405, hosts: Vec::new() };
        let mad = Mad::follow_query(FollowQuery::for_notice(&told).with_answer(FollowStatus::Failed, 70_000));
        assert_eq!(mad.0[DATA_AT..DATA_AT + 11], [2, 3, 4, 5, 0xBE, 0xEF, 1, 4, 0xFF, 0xFF, 5]);
        assert_eq!(mad.follow_data().key(), told.key());
        let other = PathNotice { level: ServiceLevel::default(), ..told.clone() };
        assert_ne!(other.key(), told.key());
    }
}
