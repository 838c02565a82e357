//! The screens in README.md are frames of real sessions, drawn as `:svg` draws them. `FABDECK_UPDATE_DOCS=1` draws them anew.

use std::path::Path;

use super::fixture::{appearance, frame, open_session};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::screen_svg::{PictureGround, screen_svg};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;

/// File, source, keys.
const PICTURES: [(&str, &str, &str); 3] = [
    ("fabric", "sim:demo", "V down down"),
    ("whatif", "sim:demo", "V down down down down down down down f p down down down"),
    ("paths", "sim:demo", "4 enter node01 enter node24 enter down"),
];

#[test]
fn pictures_are_what_the_screens_show() {
    let folder = Path::new(env!("FABDECK_ROOT")).join("docs/screens");
    let update = std::env::var_os("FABDECK_UPDATE_DOCS").is_some();
    for (name, source, keys) in PICTURES {
        let mut driver = open_session(source);
        driver.send_input(SessionInput::Resized(Size { width: 120, height: 24 }));
        driver.press(keys);
        let frame = frame(&driver.state, &appearance("dark", ColorDepth::True));
        let picture = screen_svg(&frame, PictureGround::DARK, &format!("fabdeck: {source}"));
        let file = folder.join(format!("{name}.svg"));
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &picture).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == picture, "docs/screens/{name}.svg is stale: renew it with FABDECK_UPDATE_DOCS=1");
    }
}
