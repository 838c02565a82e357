//! OpenSM's `torus-2QoS.conf`: the size of a torus or mesh, and links that fix its coordinates.
//!
//! | keyword | values |
//! |---|---|
//! | `torus`, `mesh` | the radix of x, y and z, each with `t` or `m` for a dimension that is otherwise; comes first |
//! | `xp_link`, `xm_link`, `yp_link`, ... | GUIDs of two switches: a link in positive (p) or negative (m) direction |
//! | `x_dateline`, `y_dateline`, `z_dateline` | how far the origin lies from the switch where the links begin |
//! | `next_seed` | further links and datelines belong to another switch |
//! | `port_order` | ports of hosts in the order in which they take turns on parallel cables |
//! | `portgroup_max_ports`, `max_changes` | limits of OpenSM, checked and not needed here |

use fabdeck_fabric::{Guid, PortNum, SeedLink, TORUS_DIMENSIONS, TorusDescription, TorusSeed};

use super::FileError;
use super::opensm::{no_content, parse_prefixed_hex};
use super::text::Input;

pub const ID: &str = "torus-2QoS.conf";

/// A line that breaks the grammar.
const BAD_LINE: &str = "FD-2931";
/// A seed that does not describe one place.
const BAD_SEED: &str = "FD-2932";

/// Most switches in a dimension: more than a subnet has LIDs.
const MAX_RADIX: u32 = 48 * 1024;

/// Reads a description.
pub fn read(input: Input<'_>) -> Result<TorusDescription, Box<FileError>> {
    let mut file = TorusFile { input, found: None, seeds: vec![Seed::default()] };
    for line in input.lines() {
        let line = line?;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            file.read_line(line.number, text)?;
        }
    }
    file.finish()
}

/// A seed as far as it was read.
#[derive(Default)]
struct Seed {
    seed: Option<TorusSeed>,
    dateline: [i32; TORUS_DIMENSIONS],
    line: u64,
}

struct TorusFile<'a> {
    input: Input<'a>,
    found: Option<TorusDescription>,
    seeds: Vec<Seed>,
}

impl TorusFile<'_> {
    fn error(&self, code: &'static str, line: u64, what: impl Into<String>, hint: &str) -> Box<FileError> {
        FileError::new(code, self.input.line_place(line), what, hint)
    }

    fn bad_line(&self, line: u64, text: &str, wanted: &str) -> Box<FileError> {
        let shown: String = text.chars().take(60).collect();
        self.error(
            BAD_LINE,
            line,
            format!("'{shown}' is not {wanted}"),
            "see torus-2QoS.conf(5), or remove the line",
        )
    }

    fn read_line(&mut self, line: u64, text: &str) -> Result<(), Box<FileError>> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some((keyword, values)) = words.split_first() else { return Ok(()) };
        if ["torus", "mesh"].contains(keyword) {
            return self.read_size(line, text, *keyword == "torus", values);
        }
        if self.found.is_none() {
            return Err(self.bad_line(line, text, "'torus' or 'mesh' with three sizes, which comes first"));
        }
        match (*keyword, values) {
            ("next_seed", []) => {
                self.seeds.push(Seed::default());
                Ok(())
            }
            ("port_order", ports @ [_, ..]) => self.read_port_order(line, text, ports),
            ("portgroup_max_ports" | "max_changes", [number]) => match parse_number(number) {
                Some(1..) => Ok(()),
                _ => Err(self.bad_line(line, text, "followed by a number from 1")),
            },
            _ => match (link_keyword(keyword), dateline_keyword(keyword), values) {
                (Some(way), _, [from, to]) => self.read_link(line, text, way, (from, to)),
                (_, Some(dimension), [position]) => self.read_dateline(line, text, dimension, position),
                _ => Err(self.bad_line(line, text, "a line of torus-2QoS.conf")),
            },
        }
    }

    fn read_size(
        &mut self,
        line: u64,
        text: &str,
        is_torus: bool,
        values: &[&str],
    ) -> Result<(), Box<FileError>> {
        if self.found.is_some() {
            return Err(self.bad_line(line, text, "allowed twice: one line has the size"));
        }
        let sizes: Vec<Option<(u32, bool)>> = values.iter().map(|size| parse_size(size, is_torus)).collect();
        let [Some(x), Some(y), Some(z)] = sizes[..] else {
            return Err(self.bad_line(line, text, "followed by three sizes, each with an optional t or m"));
        };
        let radix = [x.0, y.0, z.0];
        if radix.contains(&0) || radix.iter().any(|size| *size > MAX_RADIX) {
            let what = format!("a dimension has 1 to {MAX_RADIX} switches");
            return Err(self.error(BAD_LINE, line, what, "write 1 for a dimension that does not exist"));
        }
        let is_closed = [x.1, y.1, z.1];
        self.found = Some(TorusDescription { radix, is_closed, ..TorusDescription::default() });
        Ok(())
    }

    fn read_link(
        &mut self,
        line: u64,
        text: &str,
        (dimension, is_positive): (usize, bool),
        (from, to): (&str, &str),
    ) -> Result<(), Box<FileError>> {
        let (Some(from), Some(to)) = (parse_guid(from), parse_guid(to)) else {
            return Err(self.bad_line(line, text, "followed by the GUIDs of two switches"));
        };
        if self.found.as_ref().is_some_and(|found| found.radix[dimension] == 1) {
            let what = format!("'{text}' is a link in a dimension of one switch");
            return Err(self.error(BAD_SEED, line, what, "remove the line, or correct the size"));
        }
        let Some(open) = self.seeds.last_mut() else { return Ok(()) };
        open.line = line;
        let seed = open.seed.get_or_insert_with(|| TorusSeed { from, ..TorusSeed::default() });
        if seed.from != from {
            let what = format!("the link begins at {from}, and the others of this seed at {}", seed.from);
            return Err(self.error(
                BAD_SEED,
                line,
                what,
                "begin all links of a seed at one switch, or write next_seed",
            ));
        }
        seed.links.push(SeedLink { dimension, is_positive, to });
        Ok(())
    }

    fn read_dateline(
        &mut self,
        line: u64,
        text: &str,
        dimension: usize,
        position: &str,
    ) -> Result<(), Box<FileError>> {
        let radix = self.found.as_ref().map_or(1, |found| i64::from(found.radix[dimension]));
        let sign = if position.starts_with('-') { -1 } else { 1 };
        let number = parse_number(position.strip_prefix(['-', '+']).unwrap_or(position))
            .map(|number| sign * i64::from(number));
        match number {
            Some(number) if number.abs() < radix => {
                if let Some(open) = self.seeds.last_mut() {
                    open.dateline[dimension] = number as i32;
                }
                Ok(())
            }
            _ => Err(self.bad_line(line, text, "followed by a number below the size of its dimension")),
        }
    }

    fn read_port_order(&mut self, line: u64, text: &str, ports: &[&str]) -> Result<(), Box<FileError>> {
        let port = |word: &&str| parse_number(word).and_then(|port| u8::try_from(port).ok());
        let ports: Option<Vec<u8>> = ports.iter().map(port).collect();
        let Some(ports) = ports.filter(|ports| ports.iter().all(|port| (1..=254).contains(port))) else {
            return Err(self.bad_line(line, text, "followed by port numbers"));
        };
        if let Some(found) = &mut self.found {
            found.port_order.clear();
            for port in ports.into_iter().map(PortNum) {
                if !found.port_order.contains(&port) {
                    found.port_order.push(port);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<TorusDescription, Box<FileError>> {
        let Some(found) = self.found.clone() else {
            return Err(no_content(self.input.name, "size of a torus or mesh"));
        };
        let mut seeds = Vec::new();
        for open in &self.seeds {
            let Some(seed) = &open.seed else { continue };
            let has_link = |dimension: usize| seed.links.iter().any(|link| link.dimension == dimension);
            let missing = (0..TORUS_DIMENSIONS).find(|at| found.radix[*at] > 1 && !has_link(*at));
            if let Some(dimension) = missing {
                let name = ["x", "y", "z"][dimension];
                let what = format!("the seed at {} has no link in {name}", seed.from);
                let hint = format!("write {name}p_link or {name}m_link with this switch first");
                return Err(self.error(BAD_SEED, open.line, what, &hint));
            }
            seeds.push(TorusSeed { dateline: open.dateline, ..seed.clone() });
        }
        if seeds.is_empty() {
            let hint = "write xp_link, yp_link and zp_link with the GUIDs of a switch and its neighbours";
            return Err(self.error(BAD_SEED, 1, "there is no link of a seed", hint));
        }
        Ok(TorusDescription { seeds, ..found })
    }
}

/// `xp_link`: dimension x, positive direction.
fn link_keyword(word: &str) -> Option<(usize, bool)> {
    let ways = [
        ("xp", 0, true),
        ("xm", 0, false),
        ("yp", 1, true),
        ("ym", 1, false),
        ("zp", 2, true),
        ("zm", 2, false),
    ];
    let way = word.strip_suffix("_link")?;
    ways.into_iter()
        .find(|(name, ..)| *name == way)
        .map(|(_, dimension, is_positive)| (dimension, is_positive))
}

fn dateline_keyword(word: &str) -> Option<usize> {
    let name = word.strip_suffix("_dateline")?;
    ["x", "y", "z"].iter().position(|dimension| *dimension == name)
}

/// A size with `t` or `m` behind it for a closed or an open dimension.
fn parse_size(word: &str, is_torus: bool) -> Option<(u32, bool)> {
    let (digits, is_closed) = match word.trim_end_matches(['t', 'T', 'm', 'M']) {
        digits if digits.len() == word.len() => (digits, is_torus),
        digits if digits.len() + 1 == word.len() => (digits, word.ends_with(['t', 'T'])),
        _ => return None,
    };
    Some((parse_number(digits)?, is_closed))
}

/// A number as the C library reads it: decimal, hexadecimal behind `0x`, octal behind `0`.
fn parse_number(word: &str) -> Option<u32> {
    if let Some(value) = parse_prefixed_hex(word) {
        return u32::try_from(value).ok();
    }
    let is_octal = word.len() > 1 && word.starts_with('0');
    let all_digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| u32::from_str_radix(word, if is_octal { 8 } else { 10 }).ok()).flatten()
}

fn parse_guid(word: &str) -> Option<Guid> {
    let decimal = || word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten();
    parse_prefixed_hex(word).or_else(decimal).filter(|value| *value != 0).map(Guid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TorusDescription, String> {
        read(Input::new("t.conf", text.as_bytes())).map_err(|error| error.to_string())
    }

    const WHOLE: &str = "# a comment\ntorus 4 3M 0x5t # three dimensions\nportgroup_max_ports 36\nmax_changes 32\n\
        xp_link 0x10 0x11\nxm_link 0x10 0x12\nyp_link 0x10 0x13\nzp_link 0x10 20\nx_dateline -1\n\
        port_order 7 3 7 010\nport_order 2 5 2\nnext_seed\n\
        xp_link 0x20 0x21\nym_link 0x20 0x22\nzm_link 0x20 0x23\nz_dateline 4\n";

    #[test]
    fn every_keyword_is_read() {
        let found = parse(WHOLE).unwrap();
        assert_eq!((found.radix, found.is_closed), ([4, 3, 5], [true, false, true]));
        assert_eq!(found.port_order, [PortNum(2), PortNum(5)], "the last line counts, each port once");
        let [first, second] = found.seeds.as_slice() else { panic!("two seeds") };
        assert_eq!((first.from, first.dateline, first.links.len()), (Guid(0x10), [-1, 0, 0], 4));
        assert_eq!(first.links[1], SeedLink { dimension: 0, is_positive: false, to: Guid(0x12) });
        assert_eq!(first.links[3].to, Guid(20));
        assert_eq!((second.from, second.dateline), (Guid(0x20), [0, 0, 4]));
        assert_eq!(second.links[1], SeedLink { dimension: 1, is_positive: false, to: Guid(0x22) });
        let mesh = parse("mesh 3T 4 1\nxp_link 1 2\nyp_link 1 3\n").unwrap();
        assert_eq!((mesh.radix, mesh.is_closed), ([3, 4, 1], [true, false, false]));
    }

    #[test]
    fn errors_have_their_line_and_reason() {
        let cases = [
            ("", "t.conf: FD-2307"),
            ("xp_link 1 2\n", "t.conf:1: FD-2931"),
            ("torus 4 4\n", "t.conf:1: FD-2931"),
            ("torus 4 4 4x\n", "t.conf:1: FD-2931"),
            ("torus 4 4tm 4\n", "t.conf:1: FD-2931"),
            ("torus 4 0 4\n", "t.conf:1: FD-2931"),
            ("torus 4 4 1\nmesh 4 4 1\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\n\nxp_link 1\n", "t.conf:3: FD-2931"),
            ("torus 4 4 1\nxp_link 1 two\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\nxq_link 1 2\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\nzp_link 1 2\n", "t.conf:2: FD-2932"),
            ("torus 4 4 1\nxp_link 1 2\nyp_link 2 3\n", "t.conf:3: FD-2932"),
            ("torus 4 4 1\nxp_link 1 2\n", "t.conf:2: FD-2932"),
            ("torus 4 4 1\nx_dateline 4\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\nx_dateline --1\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\nport_order 1 300\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\nportgroup_max_ports 0\n", "t.conf:2: FD-2931"),
            ("torus 4 4 1\n", "t.conf:1: FD-2932"),
        ];
        for (text, begins) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(begins), "{text:?}: {error}");
        }
    }
}
