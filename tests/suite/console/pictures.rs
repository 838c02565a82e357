//! The screens in README.md are frames of real sessions. `FABDECK_UPDATE_DOCS=1` draws them anew.

use std::fmt::Write;
use std::path::Path;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::fixture::{appearance, frame, open_session};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;

/// File, source, keys.
const PICTURES: [(&str, &str, &str); 3] = [
    ("fabric", "sim:demo", "tab down down"),
    ("whatif", "sim:demo", "tab down down down down down down down f p down down down"),
    ("paths", "sim:demo", "4 enter node01 enter node24 enter down"),
];

/// As a terminal would get it, row by row; a style is told where it begins.
fn ansi(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut before = None;
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            if before != Some(cell.style()) {
                text.push_str(&begun(cell));
                before = Some(cell.style());
            }
            text.push_str(cell.symbol());
        }
        text.push_str("\x1b[0m\n");
    }
    text
}

fn begun(cell: &Cell) -> String {
    let mut text = "\x1b[0m".to_owned();
    for (colour, layer) in [(cell.fg, 38), (cell.bg, 48)] {
        if let Color::Rgb(red, green, blue) = colour {
            write!(text, "\x1b[{layer};2;{red};{green};{blue}m").unwrap();
        }
    }
    for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::UNDERLINED, 4)] {
        if cell.modifier.contains(modifier) {
            write!(text, "\x1b[{code}m").unwrap();
        }
    }
    text
}

#[test]
fn pictures_are_what_the_screens_show() {
    let folder = Path::new(env!("FABDECK_ROOT")).join("docs/screens");
    let update = std::env::var_os("FABDECK_UPDATE_DOCS").is_some();
    for (name, source, keys) in PICTURES {
        let mut driver = open_session(source);
        driver.send_input(SessionInput::Resized(Size { width: 120, height: 24 }));
        driver.press(keys);
        let picture = anstyle_svg::Term::new()
            .render_svg(&ansi(&frame(&driver.state, &appearance("dark", ColorDepth::True))));
        let file = folder.join(format!("{name}.svg"));
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &picture).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == picture, "docs/screens/{name}.svg is stale: renew it with FABDECK_UPDATE_DOCS=1");
    }
}
