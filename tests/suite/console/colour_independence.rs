//! No state is told by colour alone; ASCII is enough; every theme draws every screen.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Style};

use super::fixture::{SIZES, appearance, failed, frame, open_session, text};
use super::frames::{FABRICS, every_screen};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::drawing::theme::{BUILT_IN, Theme};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;

/// Where two moments differ in colours, they differ without.
#[test]
fn nothing_is_shown_by_colour_alone() {
    let keys = [
        "V", "down", "f", "down", "3", "down", "f", "6", "p", "down", "enter", "esc", "V", "f", "2", "V",
        "right",
    ];
    for (_, source) in FABRICS {
        let mut driver = open_session(source);
        let (colour, mono) = (appearance("dark", ColorDepth::True), appearance("mono", ColorDepth::Mono));
        let mut before = (frame(&driver.state, &colour), frame(&driver.state, &mono));
        for key in keys {
            driver.press(key);
            let after = (frame(&driver.state, &colour), frame(&driver.state, &mono));
            assert_eq!(before.0 != after.0, before.1 != after.1, "{source}: {key}");
            before = after;
        }
    }
}

/// Rows whose style says something say it in words or signs as well: two rows of equal text have equal styles.
#[test]
fn equal_text_has_equal_style_without_colours() {
    let mono = appearance("mono", ColorDepth::Mono);
    for (_, source) in FABRICS {
        let mut driver = open_session(source);
        driver.press("3 f down down f up");
        let buffer = frame(&driver.state, &mono);
        assert!(
            (0..24).all(|y| (0..80).all(|x| buffer[(x, y)].fg == ratatui::style::Color::Reset)),
            "{source}"
        );
        assert!(text(&buffer).contains('✗'), "{source}: a mark has a sign of its own");
        assert!(text(&buffer).contains('▶'), "{source}: the cursor has a sign of its own");
    }
}

/// Signs that stand together in one style.
struct StyledRun {
    x: u16,
    y: u16,
    text: String,
    /// As it looks with colours, and without.
    styles: (Style, Style),
}

/// What a style says of what stands in it: blanks before and behind have nothing to say.
fn runs(colour: &Buffer, mono: &Buffer) -> Vec<StyledRun> {
    let mut runs: Vec<StyledRun> = Vec::new();
    for y in 0..colour.area.height {
        let mut open = false;
        for x in 0..colour.area.width {
            let (cell, styles) = (&colour[(x, y)], (colour[(x, y)].style(), mono[(x, y)].style()));
            match runs.last_mut().filter(|run| open && run.styles == styles) {
                Some(run) => run.text.push_str(cell.symbol()),
                None => runs.push(StyledRun { x, y, text: cell.symbol().to_owned(), styles }),
            }
            open = true;
        }
    }
    for run in &mut runs {
        let blanks = run.text.chars().take_while(|sign| *sign == ' ').count();
        run.x += blanks as u16;
        run.text = run.text.trim().to_owned();
    }
    for run in &mut runs {
        // The cursor of the map stands in brackets.
        let bare = run.text.trim_matches(['[', ']']).to_owned();
        if Symbols::UNICODE.map.contains(&bare.as_str()) {
            run.text = bare;
        }
    }
    runs.retain(|run| !run.text.is_empty());
    runs
}

/// The signs at the beginning of a row: the cursor's, and that of a mark.
fn signs(buffer: &Buffer, y: u16) -> String {
    (0..2.min(buffer.area.width)).map(|x| buffer[(x, y)].symbol()).collect()
}

/// Whether a run is dots of a chart, which say their value by their height: charts above each other can have the same dots
/// in the same column.
fn is_chart(text: &str) -> bool {
    text.chars().all(|sign| ('\u{2800}'..='\u{28ff}').contains(&sign))
}

/// Whether a run is a gauge, which says its value by its length and has its number beside it.
fn is_gauge(text: &str) -> bool {
    text.chars().all(|sign| Symbols::UNICODE.gauge.contains(&sign.to_string().as_str()))
}

/// Adds to each gauge the number beside it: gauges of equal length and with equal numbers have equal colours.
fn add_numbers(runs: &mut [StyledRun]) {
    for at in 0..runs.len() {
        if !is_gauge(&runs[at].text) {
            continue;
        }
        let y = runs[at].y;
        let beside = runs[at + 1..].iter().take_while(|run| run.y == y).find(|run| !is_gauge(&run.text));
        let number = beside.map_or_else(String::new, |run| run.text.clone());
        runs[at].text.push_str(&number);
    }
}

/// Within one frame: where the same text at the same place of a row, or the same sign of the map anywhere, has another
/// colour, it has another style without colours too, or its row another sign.
pub fn assert_readable_without_colours(name: &str, colour: &Buffer, mono: &Buffer) -> usize {
    let mut compared = 0;
    let mut same: BTreeMap<(Option<u16>, String), Vec<StyledRun>> = BTreeMap::new();
    // Cables of the map are dots too, and are compared.
    let is_compared = |run: &StyledRun| name.contains("map") || !is_chart(&run.text);
    let mut all = runs(colour, mono);
    add_numbers(&mut all);
    for run in all.into_iter().filter(is_compared) {
        let sign = Symbols::UNICODE.map.contains(&run.text.as_str());
        same.entry((Some(run.x).filter(|_| !sign), run.text.clone())).or_default().push(run);
    }
    for ((_, text), runs) in same {
        for (at, one) in runs.iter().enumerate() {
            for other in runs[at + 1..].iter().filter(|other| other.styles.0 != one.styles.0) {
                compared += 1;
                let told = one.styles.1 != other.styles.1 || signs(mono, one.y) != signs(mono, other.y);
                assert!(
                    told,
                    "{name}: '{text}' in rows {} and {} differs by its colour alone",
                    one.y, other.y
                );
            }
        }
    }
    compared
}

#[test]
fn within_a_frame_nothing_is_shown_by_colour_alone() {
    let (colour, mono) = (appearance("dark", ColorDepth::True), appearance("mono", ColorDepth::Mono));
    let mut compared = 0;
    for (fabric, source) in FABRICS {
        for (screen, mut driver) in every_screen(source) {
            // On the last one, the map is a sign for each switch.
            for (width, height) in SIZES.into_iter().chain([(80, 12)]) {
                driver.send_input(SessionInput::Resized(Size { width, height }));
                let (colour, mono) = (frame(&driver.state, &colour), frame(&driver.state, &mono));
                let name = format!("{fabric} {screen} at {width}x{height}");
                assert_eq!(text(&colour), text(&mono), "{name}: the same signs with colours and without");
                let colours =
                    mono.content().iter().filter(|cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset));
                assert_eq!(colours.count(), 0, "{name}: a colour without colours");
                compared += assert_readable_without_colours(&name, &colour, &mono);
            }
        }
    }
    println!("{compared} pairs that differ by their colour");
    assert!(compared > 100, "{compared}");
}

/// What stands on a screen is the same in every theme, and every theme can do without colours.
#[test]
fn every_theme_draws_every_screen() {
    let dark = appearance("dark", ColorDepth::True);
    for (_, source) in FABRICS {
        for (screen, driver) in every_screen(source) {
            // A theme may have a word of its own in the header.
            let body = |appearance: &Appearance| {
                let shown = text(&frame(&driver.state, appearance));
                shown.split_once('\n').map(|(_, body)| body.to_owned()).unwrap()
            };
            let wanted = body(&dark);
            for (theme, _) in BUILT_IN {
                let of = |depth| Appearance {
                    theme: Theme::built_in(theme, depth).unwrap(),
                    signs: Symbols::UNICODE,
                };
                for depth in [ColorDepth::Sixteen, ColorDepth::TwoHundredFiftySix, ColorDepth::True] {
                    assert_eq!(body(&of(depth)), wanted, "{screen} in {theme}");
                }
                let (colour, mono) = (
                    frame(&driver.state, &of(ColorDepth::True)),
                    frame(&driver.state, &of(ColorDepth::Mono)),
                );
                assert_readable_without_colours(&format!("{screen} in {theme}"), &colour, &mono);
            }
        }
    }
}

/// Signs of the program; the names of these fabrics are ASCII.
#[test]
fn ascii_is_enough_for_every_screen() {
    let mut plain = appearance("sixteen", ColorDepth::Sixteen);
    plain.signs = Symbols::ASCII;
    let mut screens: Vec<_> = FABRICS.into_iter().flat_map(|(_, source)| every_screen(source)).collect();
    screens.push(("unreadable", failed("FD-5003: no such file")));
    for (screen, driver) in &mut screens {
        for (width, height) in SIZES {
            driver.send_input(SessionInput::Resized(Size { width, height }));
            let shown = text(&frame(&driver.state, &plain));
            let strange: String = shown.chars().filter(|sign| !sign.is_ascii()).collect();
            assert!(strange.is_empty(), "{screen} at {width}x{height}: {strange:?} in\n{shown}");
        }
    }
}

/// The comparison itself: two gauges of one length with one number must not differ by their colour alone.
#[test]
#[should_panic(expected = "differs by its colour alone")]
fn a_gauge_that_says_more_by_its_colour_is_found() {
    let mono = Buffer::with_lines(["  ━━━╌╌  49 %", "  ━━━╌╌  49 %"]);
    let mut colour = mono.clone();
    for (y, fg) in [(0, Color::Yellow), (1, Color::Cyan)] {
        for x in 2..5 {
            colour[(x, y)].set_fg(fg);
        }
    }
    assert_readable_without_colours("gauges", &colour, &mono);
}
