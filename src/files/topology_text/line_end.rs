//! Whether the last line of a file is complete, and what of it can be trusted when it may be cut.

use super::super::text::Input;
use super::line_kind::{LineKind, classify};
use super::line_tail::split_rate;
use super::port_line::parse_port;
use super::record_line::parse_record;
use fabdeck_fabric::{LinkSpeed, LinkWidth};

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
    let (width, speed) = split_rate(word)?;
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
    fn the_last_word_of_a_cut_line_counts_only_when_closed() {
        assert_eq!(trusted_part("[1]\t\"S-1\"[2] # \"a\" lid 5 4xFDR"), "[1]\t\"S-1\"[2] # \"a\" lid 5 ");
        assert_eq!(trusted_part("[1]\t\"S-1\"[2]"), "[1]\t\"S-1\"[2]");
        assert_eq!(trusted_part("vendid=0x2"), "");
    }
}
