//! The kind of a line, judged by its beginning.

use super::super::text::Input;
use super::{parse_port, parse_record};
use fabdeck_fabric::{LinkSpeed, LinkWidth, NodeKind};

/// The word at the beginning of a node's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keyword {
    pub kind: NodeKind,
    pub word: &'static str,
}

const KEYWORDS: [Keyword; 4] = [
    Keyword { kind: NodeKind::Switch, word: "Switch" },
    Keyword { kind: NodeKind::ChannelAdapter, word: "Ca" },
    Keyword { kind: NodeKind::ChannelAdapter, word: "Hca" },
    Keyword { kind: NodeKind::Router, word: "Rt" },
];

/// The setting of a `key=value` line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeKey {
    Vendor,
    Device,
    SystemImage,
    /// The GUID of the node; in ibsim the first GUID of that kind from here on.
    Guid(NodeKind),
    /// ibsim only: capabilities of links from here on, and a prefix of node names.
    Width,
    Speed,
    ExtendedSpeed,
    Module,
}

impl AttributeKey {
    pub fn is_ibsim_only(self) -> bool {
        matches!(self, Self::Width | Self::Speed | Self::ExtendedSpeed | Self::Module)
    }
}

/// Words that contain others come first.
const KEYS: [(&str, AttributeKey); 11] = [
    ("vendid", AttributeKey::Vendor),
    ("devid", AttributeKey::Device),
    ("sysimgguid", AttributeKey::SystemImage),
    ("switchguid", AttributeKey::Guid(NodeKind::Switch)),
    ("hcaguids", AttributeKey::Guid(NodeKind::ChannelAdapter)),
    ("caguid", AttributeKey::Guid(NodeKind::ChannelAdapter)),
    ("rtguid", AttributeKey::Guid(NodeKind::Router)),
    ("width", AttributeKey::Width),
    ("speed", AttributeKey::Speed),
    ("extspeed", AttributeKey::ExtendedSpeed),
    ("module", AttributeKey::Module),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind<'a> {
    Blank,
    /// The text after `#`.
    Comment(&'a str),
    Key {
        key: AttributeKey,
        value: &'a str,
        /// Whether the line has ibsim's relative form `switchguid+16`.
        relative: bool,
    },
    /// A record, with the text after its keyword.
    Record(Keyword, &'a str),
    /// A port line, with the text after its first bracket.
    Port(&'a str),
    /// ibsim only: a name for a port (`@[3] "uplink"`).
    Alias(&'a str),
    Include(&'a str),
    Command(&'a str),
    /// Headings of `ibnetdiscover -g`.
    Heading,
    /// An error line of a tool: a device did not answer.
    ToolError,
    Noise,
}

pub fn classify(line: &str) -> LineKind<'_> {
    let line = line.trim_start();
    let Some(first) = line.bytes().next() else { return LineKind::Blank };
    match first {
        b'#' => return LineKind::Comment(&line[1..]),
        // A shell prompt (`[root@mgmt ~]#`) has a bracket too, but no number in it.
        b'[' if starts_with_digit(&line[1..]) => return LineKind::Port(&line[1..]),
        b'@' if line[1..].starts_with('[') => return LineKind::Alias(&line[2..]),
        _ => {}
    }
    for keyword in KEYWORDS {
        if let Some(rest) = line.strip_prefix(keyword.word)
            && (rest.is_empty() || rest.starts_with([' ', '\t']) || starts_with_digit(rest))
        {
            return LineKind::Record(keyword, rest);
        }
    }
    for (word, key) in KEYS {
        if let Some(rest) = line.strip_prefix(word)
            && let Some(sign @ ('=' | '+')) = rest.chars().next()
        {
            return LineKind::Key { key, value: &rest[1..], relative: sign == '+' };
        }
    }
    classify_other(line)
}

fn classify_other(line: &str) -> LineKind<'_> {
    if let Some(rest) = line.strip_prefix("include")
        && rest.trim_start().starts_with('"')
    {
        return LineKind::Include(rest.trim());
    }
    if let Some(rest) = line.strip_prefix("do ") {
        return LineKind::Command(rest.trim());
    }
    let heading =
        ["Chassis ", "Non-Chassis Nodes", "Hostname: "].iter().any(|heading| line.starts_with(heading));
    if heading {
        return LineKind::Heading;
    }
    let trouble = ["ibwarn:", "ibpanic:", "iberror:", "bad status", "timed out", "failed"];
    match trouble.iter().any(|word| line.contains(word)) {
        true => LineKind::ToolError,
        false => LineKind::Noise,
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.bytes().next().is_some_and(|b| b.is_ascii_digit())
}

/// Whether a last line without a newline is complete: a port's line up to the rate (the last word of ibnetdiscover), a
/// blank line, or a shell prompt.
///
/// `4xFDR` may be the beginning of `4xFDR10`. It is complete if earlier lines have FDR and none has FDR10, or if the
/// other end of the cable has FDR.
pub fn is_whole_end(input: Input<'_>, line: &str) -> bool {
    let last = line.split_ascii_whitespace().next_back().unwrap_or("");
    match classify(line) {
        LineKind::Blank => true,
        LineKind::Port(rest) => match parse_speed(last) {
            Some(LinkSpeed::Fdr) => {
                let is_common =
                    ["xFDR ", "xFDR\n", "xFDR\r\n"].iter().any(|word| input.has_before_last(word));
                is_common && !input.has_before_last("xFDR10")
                    || peer_speed(input, rest) == Some(LinkSpeed::Fdr)
            }
            Some(_) => true,
            None => is_suffix(last),
        },
        LineKind::Noise => line.contains('@') && last.ends_with(['#', '$', '>', '%']),
        _ => false,
    }
}

/// The same for net files of ibsim. Their lines may end after the peer's port, if no earlier line goes on.
pub fn is_whole_end_of_ibsim(input: Input<'_>, line: &str) -> bool {
    let has_more = || ["] w=", "] s=", "] #", "]\t"].iter().any(|more| input.has_before_last(more));
    is_whole_end(input, line)
        || matches!(classify(line), LineKind::Port(_)) && line.ends_with(']') && !has_more()
}

/// The speed in the peer's record for the cable of the last line, if it is there.
fn peer_speed(input: Input<'_>, last: &str) -> Option<LinkSpeed> {
    let lines = || input.lines_before_last().map_while(Result::ok);
    let record = |text: &str| match classify(text) {
        LineKind::Record(keyword, rest) => {
            parse_record(keyword, rest, false).ok().map(|record| (record.kind, record.id.to_owned()))
        }
        _ => None,
    };
    let (owner_kind, owner) = lines().filter_map(|line| record(&line.text)).last()?;
    let port = parse_port(owner_kind, last, false).ok()?;
    let mut at = None;
    lines().find_map(|line| {
        at = record(&line.text).or_else(|| at.take());
        let (kind, id) = at.as_ref().filter(|(_, id)| id == port.peer)?;
        let LineKind::Port(rest) = classify(&line.text) else { return None };
        let far = parse_port(*kind, rest, false).ok()?;
        let same = id == port.peer
            && port.peer_port == Some(far.port)
            && far.peer == owner
            && far.peer_port == Some(port.port);
        same.then_some(far.tail.speed)?
    })
}

/// The speed of a rate with known width and speed.
fn parse_speed(word: &str) -> Option<LinkSpeed> {
    let (width, speed) = super::line_tail::split_rate(word)?;
    LinkWidth::from_word(width).and(LinkSpeed::from_word(speed))
}

/// Whether a word is the last suffix of `ibnetdiscover -f`: `e=4`.
fn is_suffix(word: &str) -> bool {
    let number = word.strip_prefix("e=").unwrap_or("");
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// The reliable part of a last line without a line end, which may be cut. `4xFDR` may have been `4xFDR10`, so the last
/// word counts only if a closing character follows it.
pub fn trusted_part(line: &str) -> &str {
    if line.ends_with([']', ')', '"', ' ', '\t']) {
        return line;
    }
    let end = line.rfind([' ', '\t']).map_or(0, |at| at + 1);
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_and_data_are_distinct() {
        for noise in [
            "[root@mgmt ~]$ ibnetdiscover",
            "=~=~=~=~=~= PuTTY log 2020.01.01 10:00:00 =~=~=~=~=~=",
            "SwitchName=leaf1 Nodes=n[1-4]",
            "Cable 3",
            "width of the door",
        ] {
            assert_eq!(classify(noise), LineKind::Noise, "{noise}");
        }
        assert_eq!(
            classify("src/query_smp.c:195; bad status 110; Connection timed out"),
            LineKind::ToolError
        );
        assert_eq!(classify(" \t"), LineKind::Blank);
        assert!(matches!(classify("Switch41 \"S-1\""), LineKind::Record(_, "41 \"S-1\"")));
        assert!(matches!(classify("  [1]\t\"S-1\"[2]"), LineKind::Port(_)));
        assert!(matches!(classify("Hca 2 \"a\""), LineKind::Record(Keyword { word: "Hca", .. }, _)));
        assert!(matches!(
            classify("caguid+4"),
            LineKind::Key { key: AttributeKey::Guid(NodeKind::ChannelAdapter), value: "4", relative: true }
        ));
    }

    #[test]
    fn the_last_word_of_a_cut_line_counts_only_when_closed() {
        assert_eq!(trusted_part("[1]\t\"S-1\"[2] # \"a\" lid 5 4xFDR"), "[1]\t\"S-1\"[2] # \"a\" lid 5 ");
        assert_eq!(trusted_part("[1]\t\"S-1\"[2]"), "[1]\t\"S-1\"[2]");
        assert_eq!(trusted_part("vendid=0x2"), "");
    }
}
