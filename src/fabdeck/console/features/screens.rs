//! The screens, as the table has them.

use super::screen::Screen;
use super::screen_table::screen_table;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::ElementId;

/// The title of a screen and its purpose.
#[derive(Clone, Copy, Debug)]
pub struct ScreenTitle {
    pub id: ScreenId,
    /// The number key that opens the screen.
    pub number: u8,
    /// The name of the screen in lines and files.
    pub word: &'static str,
    pub title: &'static str,
    /// The title on a narrow screen.
    pub short: &'static str,
    pub about: &'static str,
}

macro_rules! define_screens {
    ($($id:ident $field:ident $kind:ident $number:literal $title:literal $short:literal $about:literal;)+) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ScreenId { $($id),+ }

        #[derive(Debug, Default)]
        pub struct Screens { $(pub $field: crate::console::features::$field::screen::$kind),+ }

        pub const SCREENS: &[ScreenTitle] = &[$(ScreenTitle {
            id: ScreenId::$id,
            number: $number,
            word: stringify!($field),
            title: $title,
            short: $short,
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

/// Moves the cursor to an element. Of several rows for the element, the nearest one is chosen. Returns whether there
/// is one.
pub fn move_cursor_to(screen: &mut dyn Screen, what: ElementId, known: &Model) -> bool {
    let table = screen.table();
    let rows = table.selection.rows.iter().enumerate();
    let same = rows.filter(|(_, row)| screen.element(**row, known) == Some(what)).map(|(at, _)| at);
    let nearest = same.min_by_key(|at| at.abs_diff(table.cursor));
    nearest.inspect(|at| screen.table_mut().move_to(*at)).is_some()
}

screen_table!(define_screens);

impl ScreenId {
    pub fn title(self) -> &'static ScreenTitle {
        &SCREENS[self as usize]
    }
}
