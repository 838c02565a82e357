//! Scrolls the pane of the details while it has the keys and more lines than room.

use crate::console::features::details::ElementDetail;
use crate::console::features::hotspots::screen::HotspotsView;
use crate::console::features::screens::ScreenId;
use crate::console::model::detail_page::DetailPage;
use crate::console::model::panes::DETAILS;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_pairs;

/// Whether the pane has the keys. The panes beside the map and beside a backlog are no lists of lines.
pub fn has_keys(state: &SessionState) -> bool {
    let is_list = match state.screen {
        ScreenId::Hotspots => state.screens.hotspots.view != HotspotsView::Verdicts,
        ScreenId::Map => !state.screens.map.shows_map(),
        _ => true,
    };
    is_list && state.focused_pane() == DETAILS
}

/// The first visible line; the pane shows its beginning again once it has lost the keys.
pub fn top(state: &SessionState) -> usize {
    if has_keys(state) { state.panes.detail_top } else { 0 }
}

/// Lines of a page in a pane of this width: its pairs, an empty line, its ports.
pub fn page_rows(page: &DetailPage, width: u16) -> usize {
    let pairs = wrap_pairs(&page.pairs, width.into()).1.len();
    pairs + if page.ports.is_empty() { 0 } else { 1 + page.ports.len() }
}

/// Moves through the lines.
pub fn scroll(state: &mut SessionState, by: isize) {
    let Some(page) = ElementDetail::beside_page(state) else { return };
    let inside = state.areas().details;
    let rows = page_rows(&page, inside.width.saturating_sub(1));
    let mut scroll = Scroll { top: state.panes.detail_top };
    // The last row says what is left.
    scroll.scroll_by(by, rows, usize::from(inside.height.saturating_sub(1)));
    state.panes.detail_top = scroll.top;
}
