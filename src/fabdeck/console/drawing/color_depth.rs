//! The number of colours of a terminal, and the nearest of them to a colour of a theme.

use ratatui::style::{Color, Style};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ColorDepth {
    Mono,
    Sixteen,
    TwoHundredFiftySix,
    True,
}

/// The sixteen colours of the first terminals. `XTERM_COLORS` has those of most terminals today.
const ANSI_COLORS: [(Color, (u8, u8, u8)); 16] = [
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

const XTERM_COLORS: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Least contrast between text and its background (WCAG 2.1, 1.4.3).
pub const MIN_CONTRAST: f64 = 4.5;

impl ColorDepth {
    /// Derives the depth from the environment: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn detect(no_color: bool, colorterm: Option<&str>, term: Option<&str>) -> Self {
        let term = term.unwrap_or_default();
        match colorterm {
            _ if no_color || term.is_empty() || term == "dumb" || term.starts_with("vt") => Self::Mono,
            Some("truecolor" | "24bit") => Self::True,
            _ if term.contains("direct") => Self::True,
            _ if term.contains("256color") => Self::TwoHundredFiftySix,
            _ => Self::Sixteen,
        }
    }

    /// Converts a style to what this terminal can show. Without colours only the modifiers remain.
    pub fn style(self, style: Style) -> Style {
        let color = |color: Option<Color>| color.and_then(|color| self.color(color));
        Style { fg: color(style.fg), bg: color(style.bg), ..style }
    }

    /// Converts a style for a painted background. With sixteen colours it takes the nearest legible one.
    pub fn style_on(self, style: Style, ground: Option<Color>) -> Style {
        let shown = self.style(style);
        let (Self::Sixteen, Some(Color::Rgb(r, g, b)), Some(behind)) = (self, style.fg, shown.bg.or(ground))
        else {
            return shown;
        };
        let legible = |color: &Color| contrast(*color, behind).is_some_and(|found| found >= MIN_CONTRAST);
        let near = ANSI_COLORS.iter().filter(|(color, _)| legible(color));
        let near = near.min_by_key(|(_, rgb)| distance((r, g, b), *rgb)).map(|(color, _)| *color);
        Style { fg: near.or(shown.fg), ..shown }
    }

    pub fn color(self, color: Color) -> Option<Color> {
        let Color::Rgb(r, g, b) = color else { return (self != Self::Mono).then_some(color) };
        match self {
            Self::Mono => None,
            Self::True => Some(color),
            Self::TwoHundredFiftySix => Some(Color::Indexed(nearest_palette_index(r, g, b))),
            Self::Sixteen => {
                let far = |(x, y, z): (u8, u8, u8)| distance((r, g, b), (x, y, z));
                ANSI_COLORS.iter().min_by_key(|(_, rgb)| far(*rgb)).map(|(color, _)| *color)
            }
        }
    }
}

/// The number of one of the sixteen colours that all terminals have.
pub fn ansi_index(color: Color) -> Option<u8> {
    (0..).zip(ANSI_COLORS).find(|(_, (known, _))| *known == color).map(|(at, _)| at)
}

/// Contrast of two colours, from 1 to 21 (WCAG 2.1). For named colours it is the smaller of the two tables' values.
pub fn contrast(a: Color, b: Color) -> Option<f64> {
    let all = shades(a)?.into_iter().zip(shades(b)?).map(|(a, b)| {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    });
    all.reduce(f64::min)
}

/// RGB values of a colour in both tables.
fn shades(color: Color) -> Option<[(u8, u8, u8); 2]> {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |at: u8| STEPS[usize::from(at % 6)];
    Some(match color {
        Color::Rgb(r, g, b) => [(r, g, b); 2],
        Color::Indexed(at @ 16..=231) => [(step((at - 16) / 36), step((at - 16) / 6), step(at - 16)); 2],
        Color::Indexed(at @ 232..) => [(8 + 10 * (at - 232), 8 + 10 * (at - 232), 8 + 10 * (at - 232)); 2],
        named => {
            let at = ANSI_COLORS.iter().position(|(color, _)| *color == named)?;
            [ANSI_COLORS[at].1, XTERM_COLORS[at]]
        }
    })
}

fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let part = |part: u8| match f64::from(part) / 255.0 {
        low if low <= 0.040_45 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    };
    0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)
}

/// Index of the nearest colour in the 6x6x6 cube and the greyscale ramp.
fn nearest_palette_index(r: u8, g: u8, b: u8) -> u8 {
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
    fn colours_map_to_the_nearest_available() {
        let red = Style::new().fg(Color::Rgb(250, 80, 80)).bg(Color::Rgb(0, 0, 0));
        assert_eq!(ColorDepth::Sixteen.style(red).fg, Some(Color::LightRed));
        assert_eq!(ColorDepth::Mono.style(red), Style::new());
        assert_eq!(ColorDepth::TwoHundredFiftySix.style(red).fg, Some(Color::Indexed(203)));
        assert_eq!(ColorDepth::True.style(red), red);
        assert_eq!(nearest_palette_index(128, 128, 128), 244);
    }

    #[test]
    fn the_colour_depth_follows_the_environment() {
        assert_eq!(ColorDepth::detect(true, Some("truecolor"), Some("xterm-256color")), ColorDepth::Mono);
        assert_eq!(ColorDepth::detect(false, Some("truecolor"), Some("xterm")), ColorDepth::True);
        assert_eq!(ColorDepth::detect(false, None, Some("screen-256color")), ColorDepth::TwoHundredFiftySix);
        assert_eq!(ColorDepth::detect(false, None, Some("linux")), ColorDepth::Sixteen);
        assert_eq!(ColorDepth::detect(false, None, None), ColorDepth::Mono);
    }
}
