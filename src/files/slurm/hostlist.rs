//! Writes Slurm's host lists: `n[1-3,07]` for `n1`, `n2`, `n3` and `n07`.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Most digits of a number in Slurm.
const DIGITS: usize = 9;

/// The names as one host list, sorted and without duplicates.
pub fn compress<S: AsRef<str>>(names: &[S]) -> String {
    let mut groups: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for name in names {
        let (prefix, digits) = split_number(name.as_ref());
        groups.entry(prefix).or_default().push((digits.parse().unwrap_or(0), digits));
    }
    let mut out = String::new();
    for (prefix, mut numbers) in groups {
        numbers.sort_unstable_by_key(|(number, digits)| (*number, digits.len()));
        numbers.dedup();
        if numbers.first().is_some_and(|(_, digits)| digits.is_empty()) {
            push_separator(&mut out);
            out.push_str(prefix);
            numbers.remove(0);
        }
        if !numbers.is_empty() {
            push_separator(&mut out);
            out.push_str(prefix);
            write_numbers(&mut out, &numbers);
        }
    }
    out
}

fn push_separator(out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
}

/// Splits a name before the digits at its end.
pub(super) fn split_number(name: &str) -> (&str, &str) {
    let digits = name.bytes().rev().take(DIGITS).take_while(u8::is_ascii_digit).count();
    name.split_at(name.len() - digits)
}

/// Writes `7`, or `[1-3,07]`.
fn write_numbers(out: &mut String, numbers: &[(u32, &str)]) {
    if let [(_, digits)] = numbers {
        out.push_str(digits);
        return;
    }
    out.push('[');
    let mut at = 0;
    while let Some((first, digits)) = numbers.get(at) {
        let mut last = at;
        // A range has the width of its first number: 08-10, and 8-10, but not 8-09.
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
}
