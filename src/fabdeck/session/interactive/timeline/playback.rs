//! Where in a recording a session is, and whether it plays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::deriving::Derivation;
use super::live::Live;
use super::scene::Seek;
use crate::session::interactive::tasks::TaskId;
use fabdeck_files::capture::{Cursor, Happened, Timeline, Track};

/// What the cursor stands on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    Moment,
    /// Nothing was recorded between these times; the moment before is shown.
    Gap {
        from: i64,
        to: i64,
    },
    /// It cannot be read, and why; the last before it that can be is shown.
    Damage(String),
}

/// How fast it plays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Speed {
    #[default]
    X1,
    X2,
    X5,
    X10,
    X60,
    /// The next moment as soon as one is shown.
    Most,
}

impl Speed {
    const ALL: [Self; 6] = [Self::X1, Self::X2, Self::X5, Self::X10, Self::X60, Self::Most];

    /// So many times as fast as it happened.
    pub fn times(self) -> Option<u64> {
        match self {
            Self::X1 => Some(1),
            Self::X2 => Some(2),
            Self::X5 => Some(5),
            Self::X10 => Some(10),
            Self::X60 => Some(60),
            Self::Most => None,
        }
    }

    pub fn word(self) -> String {
        self.times().map_or_else(|| "as fast as possible".to_owned(), |times| format!("{times}x"))
    }

    /// The next faster one, or the next slower; `None` at the end.
    pub fn next(self, faster: bool) -> Option<Self> {
        let at = Self::ALL.iter().position(|speed| *speed == self)?;
        Self::ALL.get(if faster { at + 1 } else { at.checked_sub(1)? }).copied()
    }
}

/// A moment that is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Under {
    pub task: TaskId,
    pub seek: Seek,
}

#[derive(Debug)]
pub struct Playback {
    pub cursor: Cursor<Track>,
    pub standing: Standing,
    /// The moment that the screens show.
    pub shown: Option<usize>,
    pub(super) under: Option<Under>,
    /// The moment that is wanted behind the one that is being read: of many only the last.
    pub(super) wanted: Option<usize>,
    /// While it plays: when the next moment is due.
    pub(super) due_ms: Option<u64>,
    pub speed: Speed,
    pub bookmarks: BTreeSet<usize>,
    /// The watch that goes on behind it.
    pub live: Option<Box<Live>>,
    /// Where the times of the session begin: milliseconds from there to the first moment.
    pub(super) base_ms: u64,
    /// What happened that the recording does not tell: what was entered since it was paused, and what counters came to.
    more: Vec<Happened>,
    /// How far the recording is gone through for what counters came to.
    pub derivation: Option<Derivation>,
    /// How many times marks or bookmarks changed, for lists that are kept.
    pub changed: u64,
}

impl Playback {
    pub fn new(timeline: Arc<Timeline>, place: usize) -> Self {
        let mut cursor = Cursor::new(Track::new(timeline));
        cursor.to_place(place);
        Self {
            cursor,
            standing: Standing::Moment,
            shown: None,
            under: None,
            wanted: None,
            due_ms: None,
            speed: Speed::default(),
            bookmarks: BTreeSet::new(),
            live: None,
            base_ms: 0,
            more: Vec::new(),
            derivation: None,
            changed: 0,
        }
    }

    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.cursor.store().timeline
    }

    /// Everything that happened, as far as it is known.
    pub fn happened(&self) -> impl Iterator<Item = &Happened> {
        self.timeline().happened.iter().chain(&self.more)
    }

    /// When the moments are that have bookmarks.
    pub(super) fn marked(&self) -> BTreeSet<i64> {
        self.bookmarks.iter().filter_map(|place| self.timeline().times.get(*place).copied()).collect()
    }

    /// Sets bookmarks at the moments of these times, as far as they are there.
    pub(super) fn mark(&mut self, times: &BTreeSet<i64>) {
        let place = |time: &i64| self.timeline().times.iter().position(|other| other == time);
        self.bookmarks = times.iter().filter_map(place).collect();
    }

    pub(super) fn tell(&mut self, more: impl IntoIterator<Item = Happened>) {
        for happened in more {
            self.cursor.store_mut().more.insert(happened.place);
            self.more.push(happened);
            self.changed += 1;
        }
    }

    pub fn place(&self) -> usize {
        self.cursor.place()
    }

    /// Milliseconds to the moment that is shown from the one before, where these can be compared.
    pub fn step_ms(&self) -> Option<u64> {
        let (timeline, shown) = (self.timeline(), self.shown?);
        let step = timeline.times.get(shown)?.saturating_sub(*timeline.times.get(shown.checked_sub(1)?)?);
        u64::try_from(step).ok().filter(|step| *step > 0 && timeline.follows(shown))
    }

    /// Somebody goes back to live, and what came since is being read: until then there is no other moment to go to.
    pub fn is_returning(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_returning())
    }

    pub fn plays(&self) -> bool {
        self.due_ms.is_some()
    }

    /// The time that the cursor stands at; in a gap that of the moment before.
    pub fn time(&self) -> i64 {
        self.timeline().times.get(self.place()).copied().unwrap_or(0)
    }
}
