//! How many colours a terminal has, and the nearest of those to a colour of a theme.

use ratatui::style::{Color, Style};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Depth {
    Mono,
    Sixteen,
    TwoHundredFiftySix,
    True,
}

/// The sixteen, as most terminals show them.
const SIXTEEN: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (170, 0, 0)),
    (Color::Green, (0, 170, 0)),
    (Color::Yellow, (170, 85, 0)),
    (Color::Blue, (0, 0, 170)),
    (Color::Magenta, (170, 0, 170)),
    (Color::Cyan, (0, 170, 170)),
    (Color::Gray, (170, 170, 170)),
    (Color::DarkGray, (85, 85, 85)),
    (Color::LightRed, (255, 85, 85)),
    (Color::LightGreen, (85, 255, 85)),
    (Color::LightYellow, (255, 255, 85)),
    (Color::LightBlue, (85, 85, 255)),
    (Color::LightMagenta, (255, 85, 255)),
    (Color::LightCyan, (85, 255, 255)),
    (Color::White, (255, 255, 255)),
];

impl Depth {
    /// What the environment says: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn of(no_color: bool, colorterm: Option<&str>, term: Option<&str>) -> Self {
        let term = term.unwrap_or_default();
        match colorterm {
            _ if no_color || term.is_empty() || term == "dumb" || term.starts_with("vt") => Self::Mono,
            Some("truecolor" | "24bit") => Self::True,
            _ if term.contains("direct") => Self::True,
            _ if term.contains("256color") => Self::TwoHundredFiftySix,
            _ => Self::Sixteen,
        }
    }

    /// A style as far as this terminal can show it. Without colours the modifiers stay.
    pub fn style(self, style: Style) -> Style {
        let color = |color: Option<Color>| color.and_then(|color| self.color(color));
        Style { fg: color(style.fg), bg: color(style.bg), ..style }
    }

    fn color(self, color: Color) -> Option<Color> {
        let Color::Rgb(r, g, b) = color else { return (self != Self::Mono).then_some(color) };
        match self {
            Self::Mono => None,
            Self::True => Some(color),
            Self::TwoHundredFiftySix => Some(Color::Indexed(cube(r, g, b))),
            Self::Sixteen => {
                let far = |(x, y, z): (u8, u8, u8)| distance((r, g, b), (x, y, z));
                SIXTEEN.iter().min_by_key(|(_, rgb)| far(*rgb)).map(|(color, _)| *color)
            }
        }
    }
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)
}

/// The nearest of the 6x6x6 cube and the ramp of greys.
fn cube(r: u8, g: u8, b: u8) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let near = |part: u8| (0..6u8).min_by_key(|at| STEPS[usize::from(*at)].abs_diff(part)).unwrap_or(0);
    let (x, y, z) = (near(r), near(g), near(b));
    let in_cube = (STEPS[usize::from(x)], STEPS[usize::from(y)], STEPS[usize::from(z)]);
    let grey = ((u16::from(r) + u16::from(g) + u16::from(b)) / 3) as u8;
    let step = grey.saturating_sub(8).div_ceil(10).min(23);
    let of_ramp = 8 + 10 * step;
    match distance((r, g, b), (of_ramp, of_ramp, of_ramp)) < distance((r, g, b), in_cube) {
        true => 232 + step,
        false => 16 + 36 * x + 6 * y + z,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_down_to_what_there_is() {
        let red = Style::new().fg(Color::Rgb(250, 80, 80)).bg(Color::Rgb(0, 0, 0));
        assert_eq!(Depth::Sixteen.style(red).fg, Some(Color::LightRed));
        assert_eq!(Depth::Mono.style(red), Style::new());
        assert_eq!(Depth::TwoHundredFiftySix.style(red).fg, Some(Color::Indexed(203)));
        assert_eq!(Depth::True.style(red), red);
        assert_eq!(cube(128, 128, 128), 244);
    }

    #[test]
    fn the_environment_is_read_as_usual() {
        assert_eq!(Depth::of(true, Some("truecolor"), Some("xterm-256color")), Depth::Mono);
        assert_eq!(Depth::of(false, Some("truecolor"), Some("xterm")), Depth::True);
        assert_eq!(Depth::of(false, None, Some("screen-256color")), Depth::TwoHundredFiftySix);
        assert_eq!(Depth::of(false, None, Some("linux")), Depth::Sixteen);
        assert_eq!(Depth::of(false, None, None), Depth::Mono);
    }
}
