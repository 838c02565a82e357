//! What every screen can do, and the table of all.

use super::changes::ChangesScreen;
use super::fabric::FabricScreen;
use super::hotspots::HotspotsScreen;
use super::jobs::JobsScreen;
use super::lanes::LanesScreen;
use super::links::LinksScreen;
use super::paths::PathsScreen;
use super::timeline::TimelineScreen;
use super::whatif::WhatifScreen;
use fabdeck_fabric::Resolved;
use std::sync::Arc;

use crate::session::interactive::frame::Size;
use crate::session::interactive::known::Known;
use crate::session::interactive::table::Table;
use crate::session::{Listing, Rowset};

/// What came of Enter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entered {
    Done,
    /// All that is known of it, over the screen.
    Show,
    /// Why there is nothing to go into.
    Nothing(&'static str),
    /// A line is to be typed first.
    Ask(crate::session::interactive::prompt::Purpose),
    /// Another moment of a recording is to be shown.
    ToMoment(usize),
}

/// Where an arrow points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

/// A screen that somebody works on. What it shows besides its list follows from the state.
pub trait Screen {
    /// Where one is within the screen, outermost first.
    fn crumbs(&self, known: &Known) -> Vec<String>;

    fn table(&self) -> &Table;

    fn table_mut(&mut self) -> &mut Table;

    /// What the list shows; `None` while there is nothing to show.
    fn listing<'s>(&'s self, known: &'s Known) -> Option<Box<dyn Listing + 's>>;

    /// Rows of the body above the list.
    fn rows_above(&self, _known: &Known) -> u16 {
        0
    }

    /// Rows of the body below the list, on a screen of this size.
    fn rows_below(&self, _known: &Known, _size: Size) -> u16 {
        0
    }

    /// The rows of its list where they are kept, so that work behind the screen can go through them.
    fn kept_rows(&self) -> Option<&Arc<Rowset>> {
        None
    }

    /// Whether its rows are switches alone.
    fn lists_switches(&self) -> bool {
        false
    }

    /// Columns that stay when others are scrolled away: they say what a row is about.
    fn held_columns(&self) -> usize {
        1
    }

    /// What a row of the listing is about.
    fn what(&self, row: usize, known: &Known) -> Option<Resolved>;

    /// What the cursor is on.
    fn current(&self, known: &Known) -> Option<Resolved> {
        self.what(self.table().row()?, known)
    }

    fn enter(&mut self, known: &Known) -> Entered;

    /// Whether Enter leads anywhere from here.
    fn can_enter(&self, known: &Known) -> bool;

    /// Follows an arrow on what is no list, drawn so wide; false where the cursor is to move in rows and columns.
    fn walk(&mut self, _known: &Known, _direction: Direction, _width: u16) -> bool {
        false
    }

    /// Whether there is another way of looking at it.
    fn has_views(&self, _known: &Known) -> bool {
        true
    }

    /// One step out; false at the outermost.
    fn out(&mut self, known: &Known) -> bool;

    /// The next way of looking at it, or the one before; or why there is no other.
    fn next_view(&mut self, known: &Known, forward: bool) -> Result<(), &'static str>;

    /// The filter of its list is another now.
    fn filtered(&mut self, _known: &Known) {}

    /// Ids are of one look: what is kept by them is to be that of the next.
    fn carry_over(&mut self, again: &dyn Fn(Resolved) -> Option<Resolved>) {
        let selected = &mut self.table_mut().selected;
        *selected = selected.iter().filter_map(|what| again(*what)).collect();
    }

    /// What is known changed.
    fn refresh(&mut self, known: &Known);

    /// The command that shows the same, without the source; `None` where none does.
    fn command(&self, known: &Known) -> Option<String>;

    /// What follows "no command line shows this".
    fn why_no_command(&self) -> &'static str {
        ""
    }

    /// Whether the command's rows have the fields of this list.
    fn is_printed(&self) -> bool {
        true
    }

    /// What an empty screen has to say.
    fn when_empty(&self, known: &Known) -> String;
}

/// The name of a screen and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct ScreenTitle {
    pub id: ScreenId,
    /// The key that leads to it.
    pub number: u8,
    pub title: &'static str,
    pub about: &'static str,
}

/// Each line is a screen: its variant, its field, its type, its number key, its title, what it is for, in the order of the
/// keys.
macro_rules! screens {
    ($($id:ident $field:ident $kind:ident $number:literal $title:literal $about:literal;)+) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ScreenId { $($id),+ }

        #[derive(Debug, Default)]
        pub struct Screens { $(pub $field: $kind),+ }

        pub const SCREENS: &[ScreenTitle] = &[$(ScreenTitle {
            id: ScreenId::$id,
            number: $number,
            title: $title,
            about: $about,
        }),+];

        impl Screens {
            pub fn get(&self, id: ScreenId) -> &dyn Screen {
                match id { $(ScreenId::$id => &self.$field),+ }
            }

            pub fn get_mut(&mut self, id: ScreenId) -> &mut dyn Screen {
                match id { $(ScreenId::$id => &mut self.$field),+ }
            }

            pub fn refresh(&mut self, known: &Known) {
                $(self.$field.refresh(known);)+
            }

            pub fn carry_over(&mut self, again: &dyn Fn(Resolved) -> Option<Resolved>) {
                $(self.$field.carry_over(again);)+
            }

            /// What the cursor of each screen is on.
            pub fn places(&self, known: &Known) -> Vec<Option<Resolved>> {
                vec![$(self.$field.current(known)),+]
            }

            /// Puts the cursor of each screen on an element again, where its list still has it.
            pub fn put_on(&mut self, places: &[Option<Resolved>], known: &Known) {
                let mut places = places.iter().copied();
                $(if let Some(what) = places.next().flatten() {
                    put_on(&mut self.$field, what, known);
                })+
            }
        }
    };
}

/// An element may have several rows; the one nearest to the cursor is meant.
fn put_on(screen: &mut dyn Screen, what: Resolved, known: &Known) {
    let table = screen.table();
    let rows = table.selection.rows.iter().enumerate();
    let same = rows.filter(|(_, row)| screen.what(**row, known) == Some(what)).map(|(at, _)| at);
    if let Some(at) = same.min_by_key(|at| at.abs_diff(table.cursor)) {
        screen.table_mut().to(at);
    }
}

screens! {
    Fabric fabric FabricScreen 1 "Fabric" "switches and hosts as a tree, as tables and as a map";
    Links links LinksScreen 2 "Links" "every cable with its state, its speed and the paths over it";
    Whatif whatif WhatifScreen 3 "What-if" "what is marked as failed, what that costs, and what engines make of it";
    Paths paths PathsScreen 4 "Paths" "from any port to any port, hop by hop, as it is and as it would be";
    Hotspots hotspots HotspotsScreen 5 "Hot-spots" "ports that wait or have errors, why, and what every port does now";
    Lanes lanes LanesScreen 6 "Lanes" "flows on the slow lane, flows that would go there, and the tables on their ways";
    Jobs jobs JobsScreen 7 "Jobs" "the jobs that run, the channels that their paths load, and what sar would gain";
    Changes changes ChangesScreen 8 "Changes" "what was applied, what became of it, and what waits to be confirmed";
    Timeline timeline TimelineScreen 9 "Timeline" "what happened when, and the moment that all screens show";
}

impl ScreenId {
    pub fn title(self) -> &'static ScreenTitle {
        &SCREENS[self as usize]
    }
}
