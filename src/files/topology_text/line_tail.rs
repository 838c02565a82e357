//! The words after names: `base port 0 lid 5 lmc 0`, `lid 13 4xSDR s=1 w=2 v=3`, `slot 4`, `(scp)`.

use super::line_cursor::{LineFault, excerpt, parse_count};
use crate::lane_code::lane_count;
use fabdeck_fabric::{Lid, LinkSpeed, LinkWidth, Lmc};

/// A LID as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LidText {
    Known(Lid),
    /// 0, empty, negative or outside the unicast range.
    Unknown,
}

impl LidText {
    pub fn known_lid(self) -> Option<Lid> {
        match self {
            Self::Known(lid) => Some(lid),
            Self::Unknown => None,
        }
    }
}

/// The values of these words; `None` for missing ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineTail<'a> {
    pub lid: Option<LidText>,
    pub lmc: Option<Lmc>,
    pub enhanced_port0: Option<bool>,
    pub width: Option<LinkWidth>,
    pub speed: Option<LinkSpeed>,
    /// The rate as written, even if its words are unknown.
    pub rate: Option<&'a str>,
    /// Suffixes of `-f` and of ibsim: speed, width, lanes, extended speed.
    pub s: Option<u32>,
    pub w: Option<u32>,
    pub v: Option<u32>,
    pub e: Option<u32>,
    /// The first unknown word.
    pub odd: Option<&'a str>,
}

impl<'a> LineTail<'a> {
    /// Reads words; several calls add up.
    pub fn read(&mut self, text: &'a str) -> Result<(), LineFault> {
        let mut words = text.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            match word {
                "lid" => {
                    let value = words.next_if(|next| !is_keyword(next) && split_rate(next).is_none());
                    self.lid = Some(read_lid(value.unwrap_or(""))?);
                }
                "lmc" => {
                    let value = words.next_if(|next| !is_keyword(next)).unwrap_or("0");
                    self.lmc = Some(read_lmc(value)?);
                }
                "base" => self.enhanced_port0 = Some(false),
                "enhanced" => self.enhanced_port0 = Some(true),
                "port" => drop(words.next_if_eq(&"0")),
                "slot" => drop(words.next()),
                "(scp)" => {}
                _ => self.read_other(word)?,
            }
        }
        Ok(())
    }

    fn read_other(&mut self, word: &'a str) -> Result<(), LineFault> {
        if let Some((width, speed)) = split_rate(word) {
            self.rate = Some(word);
            (self.width, self.speed) = (LinkWidth::from_word(width), LinkSpeed::from_word(speed));
            return Ok(());
        }
        let slot = match word.split_once('=') {
            Some(("s", value)) => (&mut self.s, value),
            Some(("w", value)) => (&mut self.w, value),
            Some(("v", value)) => (&mut self.v, value),
            Some(("e", value)) => (&mut self.e, value),
            _ => {
                self.odd.get_or_insert(word);
                return Ok(());
            }
        };
        *slot.0 = Some(parse_count(slot.1).ok_or_else(|| {
            LineFault::new(
                "FD-2103",
                format!("'{}' is no number", excerpt(word)),
                "write s=, w=, v= and e= with a number",
            )
        })?);
        Ok(())
    }

    /// The width at which the link runs: from the words of the line (`4xFDR`), otherwise from its field `w=`.
    pub fn width_in_use(&self) -> Option<LinkWidth> {
        self.width.or_else(|| LinkWidth::from_code(u8::try_from(self.w?).ok()?))
    }

    /// The speed at which the link runs, from the words of the line or its fields `s=` and `e=`.
    pub fn speed_in_use(&self) -> Option<LinkSpeed> {
        let extended = match self.e {
            Some(1) => Some(LinkSpeed::Fdr),
            Some(2) => Some(LinkSpeed::Edr),
            Some(4) => Some(LinkSpeed::Hdr),
            Some(8) => Some(LinkSpeed::Ndr),
            Some(32) => Some(LinkSpeed::Xdr),
            _ => None,
        };
        let plain = match self.s {
            Some(1) => Some(LinkSpeed::Sdr),
            Some(2) => Some(LinkSpeed::Ddr),
            Some(4) => Some(LinkSpeed::Qdr),
            _ => None,
        };
        // Without `e=`, `s=` of a faster link states QDR, so it cannot be trusted.
        self.speed.or(extended).or(if self.e == Some(0) { plain } else { None })
    }

    /// Number of lanes that the port supports, from its VLCap.
    pub fn lanes_supported(&self) -> Option<u8> {
        lane_count(u64::from(self.v?))
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "lid" | "lmc" | "base" | "enhanced" | "port")
}

/// Splits `4xFDR10` into width and speed; the tool prints `??` and `???` for unknown values.
pub fn split_rate(word: &str) -> Option<(&str, &str)> {
    if let Some(speed) = word.strip_prefix("??") {
        return Some(("??", speed));
    }
    let at = word.find('x')?;
    let (width, speed) = word.split_at(at + 1);
    // `0x5` is a number.
    let lanes = parse_count(&width[..at]).is_some_and(|lanes| lanes > 0);
    let named = speed.starts_with(|c: char| c.is_ascii_alphabetic() || c == '?');
    (lanes && named).then_some((width, speed))
}

fn read_lid(text: &str) -> Result<LidText, LineFault> {
    if text.is_empty() {
        return Ok(LidText::Unknown);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+')),
        None => parse_count(digits),
    };
    let Some(value) = value else {
        let what = format!("'{}' is no LID", excerpt(text));
        return Err(LineFault::new(
            "FD-2103",
            what,
            "a LID is a decimal number; 0 stands for an unknown one",
        ));
    };
    match Lid::new(value) {
        Some(lid) if digits.len() == text.len() => Ok(LidText::Known(lid)),
        _ => Ok(LidText::Unknown),
    }
}

fn read_lmc(text: &str) -> Result<Lmc, LineFault> {
    parse_count(text).and_then(Lmc::new).ok_or_else(|| {
        LineFault::new("FD-2103", format!("'{}' is no LMC", excerpt(text)), "an LMC is a number from 0 to 7")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> LineTail<'_> {
        let mut tail = LineTail::default();
        tail.read(text).unwrap();
        tail
    }

    #[test]
    fn unknown_lids_in_every_spelling() {
        for text in ["lid 0 lmc 0", "lid lmc 0", "lid  4xSDR", "lid -1 4xSDR", "lid 65535", "lid 99999999999"]
        {
            assert_eq!(read(text).lid, Some(LidText::Unknown), "{text}");
        }
        assert_eq!(read("lid 7 4xSDR").lid, Some(LidText::Known(Lid::new(7).unwrap())));
        for text in ["lid 0x7 4xSDR", "lid 0X7", "lid 0x0007 lmc 0"] {
            assert_eq!(read(text).lid, Some(LidText::Known(Lid::new(7).unwrap())), "{text}");
            assert_eq!(read(text).rate.is_some(), text.contains("4x"), "{text}");
        }
        for text in ["lid 7z", "lid 0x", "lid 0x+7", "lid 0xq", "lid x", "lmc 8", "lmc -1", "s=x"] {
            assert!(LineTail::default().read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_known_and_not() {
        let rate = |text| {
            let tail = read(text);
            (tail.width_in_use(), tail.speed_in_use())
        };
        use LinkSpeed::*;
        use LinkWidth::*;
        assert_eq!(rate("12xFDR10"), (Some(X12), Some(Fdr10)));
        assert_eq!(rate("?????"), (None, None));
        assert_eq!(rate("4x???"), (Some(X4), None));
        assert_eq!(rate("??QDR s=4 w=2"), (Some(X4), Some(Qdr)));
        assert_eq!(rate("4x??? s=4 w=2 v=4 e=4"), (Some(X4), Some(Hdr)));
        assert_eq!(rate("4x??? s=2 w=2 v=4 e=0"), (Some(X4), Some(Ddr)));
        assert_eq!(rate("3xSDR"), (None, Some(Sdr)));
        assert_eq!(read("4xHDR v=3").lanes_supported(), Some(4));
        assert_eq!(read("lid 5 4xSDR slot 7 (scp) what else").odd, Some("what"));
    }
}
