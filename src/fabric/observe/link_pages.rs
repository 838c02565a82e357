//! What a port states about the course of its link: blocks and recoveries, retransmission, congestion marks, why it is
//! down, and why it went down the last time. Values are those of the device.

use serde::{Deserialize, Serialize};

/// Packets that a port received with a mark of congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CongestionMarks {
    /// Packets with a forward mark (FECN).
    pub forward: u32,
    /// Packets with a backward mark (BECN).
    pub backward: u32,
}

/// FEC blocks, and how often the link went down or recovered, since they were cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PhysicalLayerCounts {
    /// Blocks that FEC could not correct.
    pub uncorrectable_blocks: u64,
    /// Blocks without an error.
    pub good_blocks: u64,
    /// How often the link went down.
    pub link_downs: u32,
    /// How often the link recovered without going down.
    pub recoveries: u32,
}

/// Retransmission in the physical layer (PLR), in codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RetransmissionCounts {
    /// Codes that were received.
    pub received_codes: u64,
    /// Codes that this end sent again.
    pub retry_codes: u64,
    /// Events in which retransmission lost data.
    pub losses: u64,
}

/// What keeps a link down, by the device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TroubleshootingPage {
    /// 0 where the device sees nothing wrong.
    pub opcode: u16,
    /// The words of the firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl TroubleshootingPage {
    /// The device's words with the number of them: `signal not detected (code 15)`.
    pub fn words(&self) -> String {
        match (&self.text, self.opcode) {
            (Some(text), 0) => text.clone(),
            (Some(text), code) => format!("{text} (code {code})"),
            (None, 0) => "nothing".to_owned(),
            (None, code) => format!("code {code}"),
        }
    }
}

/// The last time that a link went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LinkDownPage {
    /// 1 this end, 2 the other end.
    pub blame: u8,
    /// 1 intended, 2 not.
    pub intended: u8,
    /// The reason at this end; 0 for none.
    pub local_reason: u8,
    /// The reason at the other end; 0 for none.
    pub remote_reason: u8,
}

impl LinkDownPage {
    /// Who took the link down, whether by intent, and why: `by the other end, not intended: high bit error rate`.
    pub fn words(&self) -> String {
        if *self == Self::default() {
            // Nothing recorded does not say that it never went down.
            return "none recorded".to_owned();
        }
        let end = match self.blame {
            1 => "by this end",
            2 => "by the other end",
            _ => "by an unknown end",
        };
        let intent = match self.intended {
            1 => ", intended",
            2 => ", not intended",
            _ => "",
        };
        let reasons: Vec<String> = [("", self.local_reason), ("other end: ", self.remote_reason)]
            .into_iter()
            .filter(|(_, reason)| *reason > 0)
            .map(|(whose, reason)| format!("{whose}{}", reason_words(reason)))
            .collect();
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        format!("{end}{intent}{why}")
    }
}

/// A reason in words, where a public source has it.
fn reason_words(reason: u8) -> String {
    match reason {
        2 => "high bit error rate".to_owned(),
        5 => "FEC lost its alignment".to_owned(),
        15..=18 => "by a command".to_owned(),
        22 => "by management".to_owned(),
        23 => "unplugged".to_owned(),
        25 => "too hot".to_owned(),
        28..=31 => "fast recovery".to_owned(),
        32..=37 => "by its peer".to_owned(),
        other => format!("reason {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_link_down_has_words_and_unknown_reasons_keep_their_number() {
        let page = |blame, intended, local_reason, remote_reason| {
            LinkDownPage { blame, intended, local_reason, remote_reason }.words()
        };
        assert_eq!(page(0, 0, 0, 0), "none recorded");
        assert_eq!(
            page(2, 2, 2, 25),
            "by the other end, not intended: high bit error rate; other end: too hot"
        );
        assert_eq!(page(1, 1, 16, 0), "by this end, intended: by a command");
        assert_eq!(page(0, 0, 99, 0), "by an unknown end: reason 99");
    }

    #[test]
    fn troubleshooting_keeps_text_and_number() {
        let page = |opcode, text: Option<&str>| {
            TroubleshootingPage { opcode, text: text.map(str::to_owned) }.words()
        };
        assert_eq!(page(0, None), "nothing");
        assert_eq!(page(15, Some("signal not detected")), "signal not detected (code 15)");
        assert_eq!(page(15, None), "code 15");
    }
}
