//! The trait of all screens, and the table of screens.

use crate::console::features::changes::screen::ChangesScreen;
use crate::console::features::fabric::screen::FabricScreen;
use crate::console::features::hotspots::screen::HotspotsScreen;
use crate::console::features::jobs::screen::JobsScreen;
use crate::console::features::lanes::screen::LanesScreen;
use crate::console::features::links::screen::LinksScreen;
use crate::console::features::paths::screen::PathsScreen;
use crate::console::features::timeline::screen::TimelineScreen;
use crate::console::features::whatif::screen::WhatifScreen;
use fabdeck_fabric::ElementId;
use std::sync::Arc;

use crate::catalogue::field::Listing;
use crate::catalogue::rowset::Rowset;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Size;
use crate::console::model::table::Table;

/// The result of Enter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnterResult {
    Done,
    /// Shows the details over the screen.
    Show,
    /// There is nothing to open, for the reason given.
    Nothing(&'static str),
    /// Opens the input line.
    Ask(crate::console::model::prompt::Purpose),
    /// Shows another moment of the recording.
    ToMoment(usize),
}

/// The direction of an arrow key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CursorDirection {
    Up,
    Down,
    Left,
    Right,
}

/// A screen of the session. Its content besides the list follows from the state.
pub trait Screen {
    /// The path of the current page within the screen, outermost first.
    fn crumbs(&self, known: &Model) -> Vec<String>;

    fn table(&self) -> &Table;

    fn table_mut(&mut self) -> &mut Table;

    /// The content of the list; `None` while there is nothing to show.
    fn listing<'s>(&'s self, known: &'s Model) -> Option<Box<dyn Listing + 's>>;

    /// Number of rows of the body above the list.
    fn rows_above(&self, _known: &Model) -> u16 {
        0
    }

    /// Number of rows of the body below the list, at this size.
    fn rows_below(&self, _known: &Model, _size: Size) -> u16 {
        0
    }

    /// The cached rows of the list, if there are any; background tasks can filter them.
    fn stored_rows(&self) -> Option<&Arc<Rowset>> {
        None
    }

    /// Whether all rows are switches.
    fn has_only_switches(&self) -> bool {
        false
    }

    /// Number of leading columns that do not scroll, because they identify the row.
    fn fixed_columns(&self) -> usize {
        1
    }

    /// The element of a row.
    fn element(&self, row: usize, known: &Model) -> Option<ElementId>;

    /// The element at the cursor.
    fn current(&self, known: &Model) -> Option<ElementId> {
        self.element(self.table().row()?, known)
    }

    fn enter(&mut self, known: &Model) -> EnterResult;

    /// Whether Enter has an effect at the cursor.
    fn can_enter(&self, known: &Model) -> bool;

    /// Moves by an arrow on a map of this width; returns false where the cursor moves by rows and columns.
    fn move_by_arrow(&mut self, _known: &Model, _direction: CursorDirection, _width: u16) -> bool {
        false
    }

    /// Whether the screen has another view.
    fn has_views(&self, _known: &Model) -> bool {
        true
    }

    /// Steps out by one level; returns false at the outermost one.
    fn step_out(&mut self, known: &Model) -> bool;

    /// Switches to the next or the previous view; an error where there is none.
    fn next_view(&mut self, known: &Model, forward: bool) -> Result<(), &'static str>;

    /// Updates the screen after the filter of its list has changed.
    fn update_filter(&mut self, _known: &Model) {}

    /// Converts stored ids to those of a new snapshot.
    fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
        let selected = &mut self.table_mut().selected;
        *selected = selected.iter().filter_map(|what| again(*what)).collect();
    }

    /// Updates the screen after the model has changed.
    fn refresh(&mut self, known: &Model);

    /// The command that shows the same, without the source; `None` where there is none.
    fn command(&self, known: &Model) -> Option<String>;

    /// The text after "no command line shows this".
    fn no_command_reason(&self) -> &'static str {
        ""
    }

    /// Whether the rows of the command have the fields of this list.
    fn is_printed(&self) -> bool {
        true
    }

    /// The text of an empty screen.
    fn empty_text(&self, known: &Model) -> String;
}

/// The title of a screen and its purpose.
#[derive(Clone, Copy, Debug)]
pub struct ScreenTitle {
    pub id: ScreenId,
    /// The number key that opens the screen.
    pub number: u8,
    pub title: &'static str,
    pub about: &'static str,
}

/// Defines the screens, in the order of their keys: variant, field, type, number key, title and purpose.
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

            pub fn refresh(&mut self, known: &Model) {
                $(self.$field.refresh(known);)+
            }

            pub fn carry_over(&mut self, again: &dyn Fn(ElementId) -> Option<ElementId>) {
                $(self.$field.carry_over(again);)+
            }

            /// The element at the cursor of each screen.
            pub fn places(&self, known: &Model) -> Vec<Option<ElementId>> {
                vec![$(self.$field.current(known)),+]
            }

            /// Moves the cursor of each screen back to an element, where its list still has it.
            pub fn restore_cursors(&mut self, places: &[Option<ElementId>], known: &Model) {
                let mut places = places.iter().copied();
                $(if let Some(what) = places.next().flatten() {
                    move_cursor_to(&mut self.$field, what, known);
                })+
            }
        }
    };
}

/// Moves the cursor to an element. Of several rows for the element, the nearest one is chosen.
fn move_cursor_to(screen: &mut dyn Screen, what: ElementId, known: &Model) {
    let table = screen.table();
    let rows = table.selection.rows.iter().enumerate();
    let same = rows.filter(|(_, row)| screen.element(**row, known) == Some(what)).map(|(at, _)| at);
    if let Some(at) = same.min_by_key(|at| at.abs_diff(table.cursor)) {
        screen.table_mut().move_to(at);
    }
}

screens! {
    Fabric fabric FabricScreen 1 "Fabric" "switches and hosts as a tree, as tables and as a map";
    Links links LinksScreen 2 "Links" "every cable with its state, its speed and the paths over it";
    Whatif whatif WhatifScreen 3 "What-if" "elements marked as failed, their cost, and the routes that engines propose";
    Paths paths PathsScreen 4 "Paths" "from any port to any port, hop by hop, in force and as proposed";
    Hotspots hotspots HotspotsScreen 5 "Hot-spots" "ports that wait or have errors, the reasons, and the rates of every port";
    Lanes lanes LanesScreen 6 "Lanes" "flows on the slow lane, flows that would move there, and the tables on their paths";
    Jobs jobs JobsScreen 7 "Jobs" "the running jobs, the channels that their paths load, and what sar would gain";
    Changes changes ChangesScreen 8 "Changes" "applied changes with their results, and those that wait to be confirmed";
    Timeline timeline TimelineScreen 9 "Timeline" "the events in time, and the moment that all screens show";
}

impl ScreenId {
    pub fn title(self) -> &'static ScreenTitle {
        &SCREENS[self as usize]
    }
}
