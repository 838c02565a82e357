//! Reads Slurm's host lists: the names that `n[1-3,07],login` means, in the written order.
//!
//! ```text
//! list  = name {"," name}          commas and blanks outside of brackets; empty places mean nothing
//! name  = {text | "[" range {"," range} "]"}       several brackets: every combination
//! range = digits | digits "-" digits                the first number's width is that of all
//! ```
//!
//! The reader accepts what Slurm accepts, with one exception. Slurm reads a range without its end (`n[1-]`) as its
//! first number; here it is refused, because the list was probably cut. In addition, text may follow a bracket
//! (`n[1-2]-ib`), as other tools write.

use fabdeck_fabric::observe::digits_in_groups;

/// Most names of a list: a subnet has fewer LIDs, and Slurm accepts no more in one range.
pub const MAX_NAMES: usize = 65_536;
/// Most bytes of a host name.
const MAX_NAME_BYTES: usize = 255;
/// Most digits of a number.
const MAX_DIGITS: usize = 18;

/// Why a text is no host list, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} at character {at}")]
pub struct HostListError {
    /// Number of the character in the list, from 1.
    pub at: usize,
    pub what: String,
}

fn host_list_error(at: usize, what: impl Into<String>) -> HostListError {
    HostListError { at: at + 1, what: what.into() }
}

/// Expands a list; duplicates are kept.
pub fn expand(list: &str) -> Result<Vec<String>, HostListError> {
    let mut names = Vec::new();
    let mut parts = Vec::new();
    let (mut text, mut at) = (0, 0);
    let bytes = list.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'[' => {
                let inside = at + 1;
                let length =
                    list[inside..].find(']').ok_or_else(|| host_list_error(at, "a '[' without its ']'"))?;
                parts.push(Part::Text(&list[text..at]));
                parts.push(Part::Ranges(parse_ranges(&list[inside..inside + length], inside)?));
                at = inside + length;
                text = at + 1;
            }
            b']' => return Err(host_list_error(at, "a ']' without its '['")),
            b',' | b' ' | b'\t' => {
                parts.push(Part::Text(&list[text..at]));
                append_combinations(&mut names, &parts, at)?;
                parts.clear();
                text = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(Part::Text(&list[text..]));
    append_combinations(&mut names, &parts, at)?;
    Ok(names)
}

/// A piece of a name.
enum Part<'a> {
    Text(&'a str),
    Ranges(Vec<Range>),
}

struct Range {
    first: u64,
    last: u64,
    width: usize,
}

impl Range {
    fn count(&self) -> usize {
        usize::try_from(self.last - self.first).unwrap_or(usize::MAX).saturating_add(1)
    }
}

fn parse_ranges(inside: &str, mut at: usize) -> Result<Vec<Range>, HostListError> {
    let mut ranges = Vec::new();
    let mut held = 0usize;
    for text in inside.split(',') {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (Some(from), Some(to)) = (parse_number(first), parse_number(last)) else {
            return Err(host_list_error(
                at,
                format!("'{}' is no number and no range of numbers", excerpt(text)),
            ));
        };
        if to < from {
            return Err(host_list_error(at, format!("the range '{text}' ends before it begins")));
        }
        let range = Range { first: from, last: to, width: first.len() };
        held = held.saturating_add(range.count());
        if held > MAX_NAMES {
            return Err(host_list_error(
                at,
                format!("more than {} names in one bracket", digits_in_groups(MAX_NAMES)),
            ));
        }
        ranges.push(range);
        at += text.len() + 1;
    }
    Ok(ranges)
}

fn parse_number(digits: &str) -> Option<u64> {
    let plain =
        !digits.is_empty() && digits.len() <= MAX_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Adds all combinations of the parts, with the last part varying fastest. Their number is checked before any is
/// built.
fn append_combinations(names: &mut Vec<String>, parts: &[Part<'_>], at: usize) -> Result<(), HostListError> {
    let count = |part: &Part<'_>| match part {
        Part::Text(_) => 1,
        Part::Ranges(ranges) => ranges.iter().map(Range::count).sum(),
    };
    if parts.iter().all(|part| matches!(part, Part::Text(""))) {
        return Ok(());
    }
    let made = parts.iter().map(count).fold(1usize, usize::saturating_mul);
    if names.len().saturating_add(made) > MAX_NAMES {
        return Err(host_list_error(
            at,
            format!("more than {} names up to here", digits_in_groups(MAX_NAMES)),
        ));
    }
    let mut made = vec![String::new()];
    for part in parts {
        match part {
            Part::Text(text) => made.iter_mut().for_each(|name| name.push_str(text)),
            Part::Ranges(ranges) => {
                made = made.iter().flat_map(|name| expand_numbers(name, ranges)).collect()
            }
        }
        if made.first().is_some_and(|name| name.len() > MAX_NAME_BYTES) {
            return Err(host_list_error(at, format!("a name of more than {MAX_NAME_BYTES} bytes ends")));
        }
    }
    names.append(&mut made);
    Ok(())
}

fn expand_numbers(name: &str, ranges: &[Range]) -> Vec<String> {
    let of = |range: &Range| {
        let width = range.width;
        (range.first..=range.last).map(move |number| format!("{name}{number:0width$}"))
    };
    ranges.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::compress;
    use super::*;

    /// As `scontrol show hostnames` expands them, except for the two forms that only other tools write.
    #[test]
    fn lists_as_slurm_reads_them() {
        for (list, names) in [
            ("h[0-3,7]", &["h0", "h1", "h2", "h3", "h7"][..]),
            ("h[08-11]", &["h08", "h09", "h10", "h11"]),
            ("h[8-011]", &["h8", "h9", "h10", "h11"]),
            ("h[08-9]", &["h08", "h09"]),
            ("h[98-101]", &["h98", "h99", "h100", "h101"]),
            ("r[1-2]n[1-2]", &["r1n1", "r1n2", "r2n1", "r2n2"]),
            ("n[1-2][3-4]", &["n13", "n14", "n23", "n24"]),
            (
                "a[1,3]b[0-1]c[2,4],d",
                &["a1b0c2", "a1b0c4", "a1b1c2", "a1b1c4", "a3b0c2", "a3b0c4", "a3b1c2", "a3b1c4", "d"],
            ),
            ("n[1-2],m", &["n1", "n2", "m"]),
            ("n1,,n2", &["n1", "n2"]),
            (" n1 n2\tn3", &["n1", "n2", "n3"]),
            ("n[1,02],n1", &["n1", "n02", "n1"]),
            ("[1-3]", &["1", "2", "3"]),
            ("n[4294967295-4294967296]", &["n4294967295", "n4294967296"]),
            (
                "n[000000000000000001-3]",
                &["n000000000000000001", "n000000000000000002", "n000000000000000003"],
            ),
            ("a-1.b", &["a-1.b"]),
            ("", &[]),
            (",", &[]),
            ("n[1-2]-ib", &["n1-ib", "n2-ib"]),
            ("r[1-2]n[1-2]x,y", &["r1n1x", "r1n2x", "r2n1x", "r2n2x", "y"]),
        ] {
            assert_eq!(expand(list).unwrap(), names, "{list}");
        }
    }

    #[test]
    fn bad_lists_are_refused_with_their_place() {
        for (list, at, what) in [
            ("n[1-2", 2, "without its"),
            ("n1]", 3, "without its"),
            ("n[1-2]]", 7, "without its"),
            ("n[[1-2]]", 3, "no number"),
            ("n[]", 3, "no number"),
            ("n[1-2,]", 7, "no number"),
            ("n[3-1]", 3, "ends before"),
            ("x,n[1,a-b]", 7, "no number"),
            ("n[1-2-3]", 3, "no number"),
            ("n[-1]", 3, "no number"),
            ("n[1 - 2]", 3, "no number"),
            ("n[9999999999999999999]", 3, "no number"),
        ] {
            let error = expand(list).unwrap_err();
            assert_eq!(error.at, at, "{list}: {error}");
            assert!(error.what.contains(what), "{list}: {error}");
        }
    }

    #[test]
    fn bombs_are_refused_before_they_are_unpacked() {
        for list in [
            "n[1-70000]".to_owned(),
            "n[0-999999999999999999]".to_owned(),
            "n[0-65535,0-65535]".to_owned(),
            "[0-9]".repeat(1000),
            "n[1-60000],m[1-60000]".to_owned(),
            format!("{}[0-9]", "x".repeat(300)),
        ] {
            assert!(expand(&list).unwrap_err().what.contains("more than"), "{list}");
        }
        assert_eq!(expand("n[1-65536]").unwrap().len(), MAX_NAMES);
    }

    proptest! {
        #[test]
        fn written_lists_read_back(names in proptest::collection::btree_set("[ab]{0,2}[0-3]{0,3}|[a-c]-?[0-9]{0,14}|é[0-9]", 0..40)) {
            let names: BTreeSet<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            let list: Vec<&String> = names.iter().collect();
            let expanded = expand(&compress(&list)).unwrap();
            prop_assert_eq!(expanded.len(), names.len());
            prop_assert_eq!(expanded.into_iter().collect::<BTreeSet<_>>(), names);
        }

        #[test]
        fn no_list_panics(text in "[-ab0-3,\\[\\] é]{0,24}") {
            match expand(&text) {
                Ok(names) => prop_assert!(names.iter().all(|name| !name.is_empty() && !name.contains([',', '[', ']']))),
                Err(error) => prop_assert!((1..=text.len() + 1).contains(&error.at)),
            }
        }
    }
}
