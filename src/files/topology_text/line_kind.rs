//! The kind of a line, judged by its beginning.

use fabdeck_fabric::NodeKind;

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
}
