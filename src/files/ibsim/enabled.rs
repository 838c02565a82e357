//! Width and speed of links by ibsim's rule: each end has sets of enabled values, and the best common value wins.

use crate::topology_text::{LineFault, LineTail};
use fabdeck_fabric::{LinkSpeed, LinkWidth, NodeKind};

/// Enabled widths and speeds of a port, as bits of PortInfo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnabledRates {
    pub widths: u32,
    pub speeds: u32,
    pub extended: u32,
    pub fdr10: bool,
}

/// Default of a port: 4x SDR.
impl Default for EnabledRates {
    fn default() -> Self {
        Self { widths: 2, speeds: 1, extended: 0, fdr10: false }
    }
}

const QDR_AND_BELOW: u32 = 7;

impl EnabledRates {
    /// Sets `width=`, or `w=` on a port.
    pub fn set_widths(&mut self, value: u32) -> Result<(), LineFault> {
        self.widths = check_range(value, 1, 31, "a set of widths")?;
        Ok(())
    }

    /// Sets `speed=`, or `s=` on a port, where 0 means QDR (a dump of a faster link has 0).
    pub fn set_speeds(&mut self, value: u32) -> Result<(), LineFault> {
        self.speeds = check_range(value, 1, 7, "a set of speeds")?;
        Ok(())
    }

    /// Sets `extspeed=`, or `e=` on a port.
    pub fn set_extended(&mut self, value: u32) -> Result<(), LineFault> {
        self.extended = check_range(value, 0, 63, "a set of extended speeds")?;
        Ok(())
    }

    /// Enabled values of a port whose line names this rate.
    pub fn from_rate(width: LinkWidth, speed: LinkSpeed) -> Self {
        let mut enabled = Self::default();
        enabled.read_rate(Some(width), Some(speed));
        enabled
    }

    /// Reads the words of a port line. A rate after a LID (`lid 3 4xQDR`) overrides the suffixes, but ibsim ignores it
    /// on routers.
    pub fn read_words(&mut self, kind: NodeKind, tail: &LineTail<'_>) -> Result<(), LineFault> {
        if let Some(widths) = tail.w {
            self.set_widths(widths)?;
        }
        if let Some(speeds) = tail.s {
            self.set_speeds(if speeds == 0 { 4 } else { speeds })?;
        }
        if let Some(extended) = tail.e {
            self.set_extended(extended)?;
        }
        if tail.lid.is_some() && kind != NodeKind::Router {
            self.read_rate(tail.width, tail.speed);
        }
        Ok(())
    }

    fn read_rate(&mut self, width: Option<LinkWidth>, speed: Option<LinkSpeed>) {
        if let Some(width) = width {
            self.widths = match width {
                LinkWidth::X1 => 1,
                LinkWidth::X2 => 16,
                LinkWidth::X4 => 3,
                LinkWidth::X8 => 4,
                LinkWidth::X12 => 11,
            };
        }
        let (speeds, extended) = match speed {
            None => return,
            Some(LinkSpeed::Sdr) => (1, None),
            Some(LinkSpeed::Ddr) => (3, None),
            Some(LinkSpeed::Qdr | LinkSpeed::Fdr10) => (QDR_AND_BELOW, None),
            Some(LinkSpeed::Fdr) => (QDR_AND_BELOW, Some(1)),
            Some(LinkSpeed::Edr) => (QDR_AND_BELOW, Some(3)),
            Some(LinkSpeed::Hdr) => (QDR_AND_BELOW, Some(7)),
            Some(LinkSpeed::Ndr) => (QDR_AND_BELOW, Some(15)),
            Some(LinkSpeed::Xdr) => (QDR_AND_BELOW, Some(47)),
        };
        self.speeds = speeds;
        self.extended = extended.unwrap_or(self.extended);
        self.fdr10 |= speed >= Some(LinkSpeed::Fdr10);
    }

    /// Width and speed of a link between two ports. `None`: nothing in common, where ibsim stops.
    pub fn common_rate(self, other: Self) -> (Option<LinkWidth>, Option<LinkSpeed>) {
        let widths = self.widths & other.widths;
        let width = [
            (8, LinkWidth::X12),
            (4, LinkWidth::X8),
            (2, LinkWidth::X4),
            (16, LinkWidth::X2),
            (1, LinkWidth::X1),
        ];
        let extended = [
            (32, LinkSpeed::Xdr),
            (8, LinkSpeed::Ndr),
            (4, LinkSpeed::Hdr),
            (2, LinkSpeed::Edr),
            (1, LinkSpeed::Fdr),
        ];
        let plain = [(4, LinkSpeed::Qdr), (2, LinkSpeed::Ddr), (1, LinkSpeed::Sdr)];
        let mut speed = best_common(&extended, self.extended & other.extended);
        if speed.is_none() {
            speed = best_common(&plain, self.speeds & other.speeds);
            if speed == Some(LinkSpeed::Qdr) && self.fdr10 && other.fdr10 {
                speed = Some(LinkSpeed::Fdr10);
            }
        }
        (best_common(&width, widths), speed)
    }
}

fn best_common<T: Copy>(order: &[(u32, T)], set: u32) -> Option<T> {
    order.iter().find(|(bit, _)| set & bit != 0).map(|(_, value)| *value)
}

fn check_range(value: u32, least: u32, most: u32, what: &str) -> Result<u32, LineFault> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let what = format!("{value} is not {what}: the range is {least} to {most}");
    Err(LineFault::new(
        "FD-2109",
        what,
        "write the sum of the bits of PortInfo's field, such as 3 for the bits 1 and 2",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> EnabledRates {
        let mut tail = LineTail::default();
        tail.read(text).unwrap();
        let mut enabled = EnabledRates::default();
        enabled.read_words(NodeKind::Switch, &tail).unwrap();
        enabled
    }

    #[test]
    fn the_best_common_one_wins() {
        use LinkSpeed::*;
        use LinkWidth::*;
        for (a, b, expected) in [
            ("", "", (Some(X4), Some(Sdr))),
            ("lid 1 4xHDR", "lid 1 4xEDR", (Some(X4), Some(Edr))),
            ("lid 1 4xFDR10", "lid 1 4xFDR10", (Some(X4), Some(Fdr10))),
            ("lid 1 4xFDR10", "lid 1 4xFDR", (Some(X4), Some(Fdr10))),
            ("lid 1 12xQDR", "lid 1 4xDDR", (Some(X4), Some(Ddr))),
            ("lid 1 8xSDR", "lid 1 4xSDR", (None, Some(Sdr))),
            ("4xHDR", "4xHDR", (Some(X4), Some(Sdr))),
            ("w=1 s=7 e=4", "w=3 s=4 e=6", (Some(X1), Some(Hdr))),
            ("s=0", "s=0", (Some(X4), Some(Qdr))),
            ("w=1 lid 1 4xQDR", "lid 1 4xQDR", (Some(X4), Some(Qdr))),
        ] {
            assert_eq!(of(a).common_rate(of(b)), expected, "{a} with {b}");
        }
    }

    #[test]
    fn sets_outside_their_range_are_refused() {
        for (text, good) in [("w=0", false), ("w=31", true), ("w=32", false), ("s=8", false), ("e=0", true)] {
            let mut tail = LineTail::default();
            tail.read(text).unwrap();
            assert_eq!(EnabledRates::default().read_words(NodeKind::Router, &tail).is_ok(), good, "{text}");
        }
    }
}
