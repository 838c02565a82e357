//! A session in a test: a fabric, keys, and what stands on the screen.

use std::collections::BTreeMap;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use super::test_session::TestSession;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::{Appearance, draw};
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::drawing::theme::Theme;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::state::SessionState;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::NameMap;
use fabdeck_mad::access::{NoObserver, ReadOptions};

pub const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 60), (40, 12)];

/// What a source shows, tables included.
pub fn look(source: &str) -> Snapshot {
    look_at(source, ReadOptions { tables: true, ..ReadOptions::default() })
}

pub fn look_at(source: &str, wanted: ReadOptions) -> Snapshot {
    let mut opened = LocalSystemAccess::default().open(source, &SourceOptions::default()).unwrap();
    let observation = opened.observe(wanted, &mut NoObserver).unwrap();
    Snapshot::new(source, observation, &NameMap::default())
}

pub fn open_session(source: &str) -> TestSession {
    TestSession::open(look(source), Size { width: 80, height: 24 })
}

pub fn appearance(theme: &str, depth: ColorDepth) -> Appearance {
    Appearance { theme: Theme::built_in(theme, depth).unwrap(), signs: Symbols::UNICODE }
}

pub fn frame(state: &SessionState, appearance: &Appearance) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, state.size.width, state.size.height));
    draw(state, appearance, &mut buffer);
    buffer
}

/// The signs of a frame, a line each.
pub fn text(buffer: &Buffer) -> String {
    let row = |y| {
        let signs: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        signs.trim_end().to_owned() + "\n"
    };
    (0..buffer.area.height).map(row).collect()
}

/// The styles of a frame, a line each: how many cells and runs of cells have it, and a checksum of where these stand.
/// Cells of plain text have no line.
pub fn styles(buffer: &Buffer, plain: Style) -> String {
    let plain_cell = Style::reset().patch(plain);
    let mut styles: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let style = buffer[(x, y)].style();
            let begin = x;
            while x < buffer.area.width && buffer[(x, y)].style() == style {
                x += 1;
            }
            if style != plain_cell && style != Style::reset() {
                let (cells, runs, places) = styles.entry(style_name(style, plain)).or_default();
                *cells += usize::from(x - begin);
                *runs += 1;
                places.push_str(&format!("{y}:{begin}-{}\n", x - 1));
            }
        }
    }
    let line = |(style, (cells, runs, places)): (String, (usize, usize, String))| {
        let checksum = crc32fast::hash(places.as_bytes());
        format!("{style}: {cells} cells, {runs} runs, {checksum:08x}\n")
    };
    styles.into_iter().map(line).collect()
}

/// Colour, background where it is not that of plain text, and modifiers.
fn style_name(style: Style, plain: Style) -> String {
    let name = |color: Option<Color>| color.map_or_else(String::new, |color| color.to_string());
    let background = name(style.bg.filter(|background| Some(*background) != plain.bg));
    format!("{} {background} {:?}", name(style.fg), style.add_modifier)
}

/// A look at nothing: why it could not be taken.
pub fn failed(why: &str) -> TestSession {
    TestSession::with_snapshot(Err(why.to_owned()), Size { width: 80, height: 24 })
}

pub fn shared(look: Snapshot) -> TestSession {
    TestSession::open(look, Size { width: 80, height: 24 })
}

/// Golden frames lie beside those of other tests.
pub fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("FABDECK_ROOT")).join("tests/suite/snapshots/console"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The demo with another entry in one forwarding table.
pub fn changed_demo() -> Snapshot {
    let mut other = look("sim:demo");
    let node = other.fabric().switches().next().unwrap().0;
    let mut bytes = other.observation.tables.lft(node).unwrap().bytes().to_vec();
    let at = bytes.iter().position(|port| *port == 1).unwrap();
    bytes[at] = 2;
    other.observation.tables.nodes.get_mut(&node).unwrap().lft =
        Some(fabdeck_fabric::Lft::from_entries(bytes));
    other
}
