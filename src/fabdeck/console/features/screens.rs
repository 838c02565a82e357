//! The table of screens: a new one is a folder and a line here.

use super::screen::Screen;
use crate::console::features::changes::screen::ChangesScreen;
use crate::console::features::fabric::screen::FabricScreen;
use crate::console::features::hotspots::screen::HotspotsScreen;
use crate::console::features::jobs::screen::JobsScreen;
use crate::console::features::lanes::screen::LanesScreen;
use crate::console::features::links::screen::LinksScreen;
use crate::console::features::paths::screen::PathsScreen;
use crate::console::features::timeline::screen::TimelineScreen;
use crate::console::features::whatif::screen::WhatifScreen;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::ElementId;

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
