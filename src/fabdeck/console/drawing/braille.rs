//! A grid of dots, two columns by four rows in each cell, drawn as braille characters. A cell has one role: that of the
//! dot that matters most.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;

/// Dots of a cell by column and row, as bits of the braille block of Unicode.
const BITS: [[u8; 4]; 2] = [[0, 1, 2, 6], [3, 4, 5, 7]];
const FIRST_BRAILLE: u32 = 0x2800;

/// How the dots of one cell share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellSharing {
    /// All dots of a cell are drawn, as in an area.
    AllDots,
    /// Only the dots of the line that matters most are drawn, so that crossing lines stay distinct.
    OneLine,
}

#[derive(Clone, Copy, Debug)]
struct DotCell {
    bits: u8,
    role: Role,
    weight: i32,
    /// The number of the line that the cell shows.
    line: Option<u32>,
}

/// The dots of an area.
#[derive(Clone, Debug)]
pub struct DotGrid {
    width: u16,
    height: u16,
    sharing: CellSharing,
    cells: Vec<DotCell>,
    /// The number of the line to which further dots belong.
    line: Option<u32>,
}

impl DotGrid {
    /// An empty grid of this number of cells.
    pub fn new(width: u16, height: u16, sharing: CellSharing) -> Self {
        let cell = DotCell { bits: 0, role: Role::Border, weight: i32::MIN, line: None };
        let cells = vec![cell; usize::from(width) * usize::from(height)];
        Self { width, height, sharing, cells, line: None }
    }

    /// Number of dots from left to right.
    pub fn dots_wide(&self) -> i32 {
        i32::from(self.width) * 2
    }

    /// Number of dots from top to bottom.
    pub fn dots_high(&self) -> i32 {
        i32::from(self.height) * 4
    }

    /// Sets a dot; one outside the grid is left out. Of the dots of a cell, the one of most weight gives the role.
    pub fn set(&mut self, x: i32, y: i32, role: Role, weight: i32) {
        if x < 0 || y < 0 || x >= self.dots_wide() || y >= self.dots_high() {
            return;
        }
        let at = (y / 4) as usize * usize::from(self.width) + (x / 2) as usize;
        let cell = &mut self.cells[at];
        if self.sharing == CellSharing::OneLine {
            if cell.bits != 0 && weight < cell.weight {
                return;
            }
            if weight > cell.weight {
                cell.bits = 0;
            }
        }
        cell.bits |= 1 << BITS[(x % 2) as usize][(y % 4) as usize];
        if weight > cell.weight {
            (cell.role, cell.weight, cell.line) = (role, weight, self.line);
        }
    }

    /// Gives a number to the line of the dots that follow.
    pub fn begin_line(&mut self, number: u32) {
        self.line = Some(number);
    }

    /// The cells that show a line with a number, with their column and row.
    pub fn numbered_cells(&self) -> impl Iterator<Item = ((u16, u16), u32)> {
        let all = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        all.zip(&self.cells).filter_map(|(at, cell)| Some((at, cell.line?)))
    }

    /// Draws a straight line. Of a dashed line, every second run of `dash` dots is left out; 0 draws all.
    pub fn draw_line(&mut self, from: (i32, i32), to: (i32, i32), role: Role, weight: i32, dash: i32) {
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = across.abs().max(down.abs()).max(1);
        // Half a dot is added before the division, which rounds to the nearest dot.
        let between = |from: i32, way: i32, step: i32| from + (2 * way * step + steps).div_euclid(2 * steps);
        for step in 0..=steps {
            if dash == 0 || (step / dash) % 2 == 0 {
                self.set(between(from.0, across, step), between(from.1, down, step), role, weight);
            }
        }
    }

    /// The character of a cell; `None` where it has no dots.
    pub fn sign(&self, x: u16, y: u16, braille: bool) -> Option<char> {
        let at = usize::from(y) * usize::from(self.width) + usize::from(x);
        let bits = self.cells.get(at).filter(|_| x < self.width)?.bits;
        (bits != 0).then(|| sign_of(bits, braille))
    }

    /// Writes the cells that have dots, from the upper left corner of an area on. Without Unicode, characters of similar
    /// shape take their place.
    pub fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let area = area.intersection(canvas.buffer.area);
        for y in 0..self.height.min(area.height) {
            for x in 0..self.width.min(area.width) {
                let cell = &self.cells[usize::from(y) * usize::from(self.width) + usize::from(x)];
                if cell.bits == 0 {
                    continue;
                }
                let sign = sign_of(cell.bits, canvas.signs.braille);
                let style = canvas.style(cell.role);
                if let Some(target) = canvas.buffer.cell_mut((area.x + x, area.y + y)) {
                    target.set_char(sign).set_style(style);
                }
            }
        }
    }
}

fn sign_of(bits: u8, braille: bool) -> char {
    match braille {
        true => char::from_u32(FIRST_BRAILLE + u32::from(bits)).unwrap_or(' '),
        false => ascii_sign(bits),
    }
}

/// The ASCII character whose shape is nearest to these dots.
fn ascii_sign(bits: u8) -> char {
    let rows_of = |column: usize| -> Vec<i32> {
        (0..4).filter(|row| bits >> BITS[column][*row] & 1 == 1).map(|row| row as i32).collect()
    };
    let (left, right) = (rows_of(0), rows_of(1));
    let upper = left.iter().chain(&right).filter(|row| **row < 2).count();
    let all = left.len() + right.len();
    if left.len() >= 3 && right.len() >= 3 {
        return '#';
    }
    match (left.len(), right.len()) {
        _ if all == 0 => ' ',
        _ if all == 1 => '.',
        (0, _) | (_, 0) if all > 2 => '|',
        (0, _) | (_, 0) => ':',
        _ if all >= 5 => '+',
        (of_left, of_right) => {
            let mean = |rows: &[i32], count: usize| f64::from(rows.iter().sum::<i32>()) / count as f64;
            let slope = mean(&right, of_right) - mean(&left, of_left);
            match slope {
                slope if slope > 0.6 => '\\',
                slope if slope < -0.6 => '/',
                _ if all - upper > upper => '_',
                _ => '-',
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::console::drawing::color_depth::ColorDepth;
    use crate::console::drawing::symbols::Symbols;
    use crate::console::drawing::theme::Theme;

    fn drawn(grid: &DotGrid, signs: Symbols) -> Vec<String> {
        let area = Rect::new(0, 0, grid.width, grid.height);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::built_in("dark", ColorDepth::True).unwrap();
        grid.draw(&mut Canvas::new(&mut buffer, &theme, signs), area);
        (0..area.height).map(|y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect()).collect()
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let mut grid = DotGrid::new(3, 2, CellSharing::AllDots);
        grid.draw_line((0, 0), (5, 7), Role::Text, 1, 0);
        assert_eq!(drawn(&grid, Symbols::UNICODE), ["⠱⡀ ", " ⠈⢆"]);
        grid.set(-1, 0, Role::Text, 1);
        grid.set(6, 0, Role::Text, 1);
    }

    #[test]
    fn the_line_that_matters_most_keeps_a_cell_to_itself() {
        let both = |sharing| {
            let mut grid = DotGrid::new(1, 1, sharing);
            grid.draw_line((0, 0), (0, 3), Role::Border, 0, 0);
            grid.draw_line((1, 0), (1, 3), Role::Danger, 2, 0);
            grid.draw_line((0, 3), (1, 3), Role::Border, 1, 0);
            drawn(&grid, Symbols::UNICODE).concat()
        };
        assert_eq!((both(CellSharing::AllDots).as_str(), both(CellSharing::OneLine).as_str()), ("⣿", "⢸"));
    }

    #[test]
    fn ascii_keeps_the_direction_of_a_line() {
        let line = |from, to| {
            let mut grid = DotGrid::new(1, 1, CellSharing::AllDots);
            grid.draw_line(from, to, Role::Text, 1, 0);
            drawn(&grid, Symbols::ASCII).concat()
        };
        assert_eq!(line((0, 0), (1, 3)), "\\");
        assert_eq!(line((1, 0), (0, 3)), "/");
        assert_eq!(line((0, 0), (0, 3)), "|");
        assert_eq!(line((0, 3), (1, 3)), "_");
        assert_eq!(line((0, 0), (1, 0)), "-");
    }
}
