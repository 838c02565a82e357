//! Slurm's hostlists: `n[1-3,07]` for `n1`, `n2`, `n3` and `n07`.

use std::collections::BTreeMap;
use std::fmt::Write;

/// More digits are no number to Slurm.
const DIGITS: usize = 9;

/// The names as one hostlist, in a fixed order, each once.
pub fn compress<S: AsRef<str>>(names: &[S]) -> String {
    let mut groups: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for name in names {
        let (prefix, digits) = split(name.as_ref());
        groups.entry(prefix).or_default().push((digits.parse().unwrap_or(0), digits));
    }
    let mut out = String::new();
    for (prefix, mut numbers) in groups {
        numbers.sort_unstable_by_key(|(number, digits)| (*number, digits.len()));
        numbers.dedup();
        if numbers.first().is_some_and(|(_, digits)| digits.is_empty()) {
            separate(&mut out);
            out.push_str(prefix);
            numbers.remove(0);
        }
        if !numbers.is_empty() {
            separate(&mut out);
            out.push_str(prefix);
            write_numbers(&mut out, &numbers);
        }
    }
    out
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
}

/// A name and the digits at its end.
fn split(name: &str) -> (&str, &str) {
    let digits = name.bytes().rev().take(DIGITS).take_while(u8::is_ascii_digit).count();
    name.split_at(name.len() - digits)
}

/// `7`, or `[1-3,07]`.
fn write_numbers(out: &mut String, numbers: &[(u32, &str)]) {
    if let [(_, digits)] = numbers {
        out.push_str(digits);
        return;
    }
    out.push('[');
    let mut at = 0;
    while let Some((first, digits)) = numbers.get(at) {
        let mut last = at;
        // A range counts with the width of its first number: 08-10, and 8-10, but not 8-09.
        while let Some((number, text)) = numbers.get(last + 1)
            && *number == first + (last + 1 - at) as u32
            && text.len() == digits.len().max(number.to_string().len())
        {
            last += 1;
        }
        if at > 0 {
            out.push(',');
        }
        out.push_str(digits);
        if last > at {
            // Writing to a String cannot fail.
            let _ = write!(out, "-{}", numbers[last].1);
        }
        at = last + 1;
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What Slurm makes of a hostlist.
    fn expand(list: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut rest = list;
        while !rest.is_empty() {
            let end = rest.find([',', '[']).unwrap_or(rest.len());
            let (prefix, tail) = rest.split_at(end);
            let Some(inside) = tail.strip_prefix('[') else {
                names.push(prefix.to_owned());
                rest = tail.strip_prefix(',').unwrap_or(tail);
                continue;
            };
            let (ranges, after) = inside.split_once(']').unwrap();
            for range in ranges.split(',') {
                let (low, high) = range.split_once('-').unwrap_or((range, range));
                for number in low.parse::<u32>().unwrap()..=high.parse().unwrap() {
                    names.push(format!("{prefix}{number:0width$}", width = low.len()));
                }
            }
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        names
    }

    #[test]
    fn ranges() {
        for (names, list) in [
            (&["host0", "host1"][..], "host[0-1]"),
            (&["n1", "n2", "n3", "n07"], "n[1-3,07]"),
            (&["n08", "n09", "n10", "n11"], "n[08-11]"),
            (&["n9", "n10", "n11"], "n[9-11]"),
            (&["n8", "n09"], "n[8,09]"),
            (&["login", "login1", "b-3", "a"], "a,b-3,login,login1"),
            (&["x2", "x2"], "x2"),
            (&["7", "8"], "[7-8]"),
            (&["r1c2", "r1c3", "r2c1"], "r1c[2-3],r2c1"),
            (&[], ""),
        ] {
            assert_eq!(compress(names), list);
        }
    }

    proptest! {
        #[test]
        fn a_list_expands_to_its_names(names in proptest::collection::btree_set("[ab]{0,2}[0-3]{0,3}|[a-c]-?[0-9]{0,14}", 0..40)) {
            let names: BTreeSet<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            let list: Vec<&String> = names.iter().collect();
            let expanded = expand(&compress(&list));
            prop_assert_eq!(expanded.len(), names.len());
            prop_assert_eq!(expanded.into_iter().collect::<BTreeSet<_>>(), names);
        }
    }
}
