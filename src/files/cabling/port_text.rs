//! How plans write the port of a device.
//!
//! ```text
//! 21   P21   Port 21   swp21   IB Port 3      the number of a port
//! 1/2/1                                      the label beside a port
//! mlx5_0/P1   U1/P3   mlx5_0                 a part of the device (adapter, chip) and its port
//! Blade 16_Port 2/20                         board 16 of a director, chip 2, port 20
//! ```

use std::fmt;

/// The port of a device, as a plan writes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PortText {
    Number(u8),
    /// A label, or a text that only the names of a fabric can explain.
    Label(String),
    /// A part of the device, and the port of that part.
    Part(String, u8),
    /// A board of a director, its chip and the port of that chip.
    Board {
        board: u8,
        chip: u8,
        port: u8,
    },
}

impl Default for PortText {
    fn default() -> Self {
        Self::Label(String::new())
    }
}

/// Words before the number of a port.
const PORT_WORDS: [&str; 7] = ["p", "port", "ibport", "swp", "ib", "hcaport", "port#"];

/// Words before the number of an adapter.
const ADAPTER_WORDS: [&str; 7] = ["mlx", "hca", "hfi", "qib", "ibdev", "ibp", "ibs"];

impl PortText {
    /// Reads a text. Every text is a port, if only by a label; the fabric decides whether there is such a one.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(number) = port_number(text) {
            return Self::Number(number);
        }
        if let Some(board) = board_port(text) {
            return board;
        }
        if let Some((part, last)) = text.rsplit_once('/')
            && let Some(port) = marked_number(last)
            && !part.is_empty()
        {
            return Self::Part(part.to_owned(), port);
        }
        match is_adapter(text) {
            true => Self::Part(text.to_owned(), 1),
            false => Self::Label(text.to_owned()),
        }
    }
}

fn whole_number(digits: &str) -> Option<u8> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|sign| sign.is_ascii_digit());
    digits.parse().ok().filter(|number: &u8| all_digits && *number > 0)
}

/// `21`, or `21` behind a word for a port.
fn port_number(text: &str) -> Option<u8> {
    whole_number(text).or_else(|| marked_number(text))
}

/// `P21` or `Port 21`: a number behind a word for a port.
fn marked_number(text: &str) -> Option<u8> {
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (word, digits) = text.split_at(text.len() - digits);
    let word: String = word.chars().filter(|sign| !matches!(sign, ' ' | '_' | '-')).collect();
    PORT_WORDS.contains(&word.to_ascii_lowercase().as_str()).then(|| whole_number(digits)).flatten()
}

/// `Blade 16_Port 2/20`; a board with one chip leaves out its number.
fn board_port(text: &str) -> Option<PortText> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix("blade").or_else(|| lower.strip_prefix("leaf"))?;
    let (board, rest) = rest.trim().split_once(['_', ' '])?;
    let place = rest.trim().strip_prefix("port")?.trim();
    let (chip, port) = match place.split_once('/') {
        Some((chip, port)) => (whole_number(chip)?, whole_number(port)?),
        None => (1, whole_number(place)?),
    };
    Some(PortText::Board { board: whole_number(board)?, chip, port })
}

/// `mlx5_0`, `HCA-1`: the name of an adapter.
fn is_adapter(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !text.contains([' ', '/'])
        && lower.ends_with(|sign: char| sign.is_ascii_digit())
        && ADAPTER_WORDS.iter().any(|word| lower.starts_with(word))
}

impl fmt::Display for PortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Label(label) => f.write_str(label),
            Self::Part(part, port) => write!(f, "{part}/P{port}"),
            Self::Board { board, chip, port } => write!(f, "Blade {board}_Port {chip}/{port}"),
        }
    }
}
