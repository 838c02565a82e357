//! Patterns that read the host of an adapter from the names of a site; the first that matches decides.
//!
//! ```text
//! adapter = "rack*-{} HCA-*"                 rack3-cn17 HCA-1    is cn17's
//! adapter = "ib{}_*"    host = "cn{}"        ib0017_mlx5_0       is cn0017's
//! ```
//!
//! `{}` stands once, for one character or more without a blank; `*` for any text, also none; all else for itself.

use std::collections::BTreeSet;

/// Longer names are no adapter's.
const MAX_NAME_CHARS: usize = 256;
const PLACEHOLDER: &str = "{}";

/// A pattern that reads the name of a host from the name of an adapter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostRule {
    before: Vec<char>,
    after: Vec<char>,
    host: (String, String),
}

/// The host that an adapter's name states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NamedHost {
    /// The name of the host.
    Host(String),
    /// The pattern matches in several ways with different hosts. The first two of them.
    Several(Vec<String>),
}

impl HostRule {
    /// Makes a rule from a pattern for the adapter's name and a form for the host's name, each with `{}` once.
    pub fn new(adapter: &str, host: &str) -> Result<Self, String> {
        let halves = |what: &str, text: &str| match text.split(PLACEHOLDER).collect::<Vec<_>>().as_slice() {
            [before, after] => Ok(((*before).to_owned(), (*after).to_owned())),
            _ => Err(format!("{what} '{text}' must contain {{}} once, in place of the host's name")),
        };
        let (before, after) = halves("adapter", adapter.trim())?;
        let host = halves("host", host.trim())?;
        if adapter.chars().count() > MAX_NAME_CHARS || host.0.len() + host.1.len() > MAX_NAME_CHARS {
            return Err(format!("it is longer than {MAX_NAME_CHARS} characters"));
        }
        if [&host.0, &host.1].iter().any(|half| half.contains([' ', '*'])) {
            return Err("host is one word, without *".to_owned());
        }
        Ok(Self { before: before.chars().collect(), after: after.chars().collect(), host })
    }

    /// The hosts that a name can be read as, two of them at the most.
    fn match_name(&self, name: &[char]) -> BTreeSet<String> {
        let begins = match_ends(&self.before, name.iter());
        let reversed: Vec<char> = self.after.iter().rev().copied().collect();
        let rest = match_ends(&reversed, name.iter().rev());
        let mut found = BTreeSet::new();
        for start in (0..name.len()).filter(|start| begins[*start]) {
            let word = name[start..].iter().take_while(|c| !c.is_whitespace()).count();
            for end in (start + 1..=start + word).filter(|end| rest[name.len() - end]) {
                let held: String = name[start..end].iter().collect();
                found.insert(format!("{}{held}{}", self.host.0, self.host.1));
                if found.len() > 1 {
                    return found;
                }
            }
        }
        found
    }
}

/// After how many characters of a text a pattern may end.
fn match_ends<'c>(pattern: &[char], text: impl ExactSizeIterator<Item = &'c char>) -> Vec<bool> {
    // A row for each character of the text: where in the pattern one may stand behind it.
    let step_over = |at: &mut Vec<bool>| {
        for (place, c) in pattern.iter().enumerate() {
            at[place + 1] |= *c == '*' && at[place];
        }
    };
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    step_over(&mut at);
    let mut found = vec![at[pattern.len()]];
    for c in text {
        let mut next = vec![false; pattern.len() + 1];
        for (place, wanted) in pattern.iter().enumerate() {
            match wanted {
                '*' => next[place] |= at[place],
                wanted => next[place + 1] |= at[place] && wanted == c,
            }
        }
        step_over(&mut next);
        found.push(next[pattern.len()]);
        at = next;
    }
    found
}

/// The rules of a site; the first that matches decides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostRules(Vec<HostRule>);

impl HostRules {
    /// Makes the list of rules, in the order in which they are tried.
    pub fn new(rules: Vec<HostRule>) -> Self {
        Self(rules)
    }

    /// The host that the first matching rule reads from an adapter's name; `None` when no rule matches.
    pub fn host_of(&self, name: &str) -> Option<NamedHost> {
        if self.0.is_empty() || name.len() > 4 * MAX_NAME_CHARS {
            return None;
        }
        let name: Vec<char> = name.trim().chars().take(MAX_NAME_CHARS + 1).collect();
        if name.len() > MAX_NAME_CHARS {
            return None;
        }
        let mut read = self.0.iter().map(|rule| rule.match_name(&name)).find(|read| !read.is_empty())?;
        Some(match read.len() {
            1 => NamedHost::Host(read.pop_first()?),
            _ => NamedHost::Several(read.into_iter().collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn host(rules: &[(&str, &str)], name: &str) -> Option<NamedHost> {
        let rules = rules.iter().map(|(adapter, host)| HostRule::new(adapter, host).unwrap()).collect();
        HostRules::new(rules).host_of(name)
    }

    #[test]
    fn the_first_matching_pattern_names_the_host() {
        let site = [("rack*-{} HCA-*", "{}"), ("ib{}_mlx5_*", "cn{}"), ("{}-hca", "{}.site")];
        for (name, wanted) in [
            ("rack3-cn17 HCA-1", Some("cn17")),
            ("rack-cn17 HCA-", Some("cn17")),
            (" rack3-cn17 HCA-1 ", Some("cn17")),
            ("ib0017_mlx5_0", Some("cn0017")),
            ("n1-hca", Some("n1.site")),
            ("rack3-cn17 mlx5_0", None),
            ("rack3- HCA-1", None),
            ("-hca", None),
            ("", None),
        ] {
            let wanted = wanted.map(|host| NamedHost::Host(host.to_owned()));
            assert_eq!(host(&site, name), wanted, "{name}");
        }
        // The bound counts characters, not bytes.
        let longest = "\u{1F5A7}".repeat(MAX_NAME_CHARS);
        assert_eq!(host(&[("{}", "{}")], &longest), Some(NamedHost::Host(longest.clone())));
        assert_eq!(host(&[("{}", "{}")], &(longest + "a")), None);
        // Two dashes: the end of the rack is ambiguous.
        let several = NamedHost::Several(vec!["17".to_owned(), "cn-17".to_owned()]);
        assert_eq!(host(&site, "rack3-cn-17 HCA-1"), Some(several));
        assert_eq!(host(&[("*{}*", "{}")], "aa"), host(&[("*{}*", "{}")], "aa"));
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused() {
        for (adapter, host) in
            [("rack*", "{}"), ("{}-{}", "{}"), ("{}", "cn"), ("{}", "c n{}"), ("{}", "*{}"), ("", "{}")]
        {
            assert!(HostRule::new(adapter, host).is_err(), "{adapter} {host}");
        }
        assert!(HostRule::new(&format!("{{}}{}", "a".repeat(300)), "{}").is_err());
    }

    proptest! {
        /// Whatever stands there, it says the same again, and what it says stands in the name.
        #[test]
        fn a_name_says_the_same_each_time(adapter in "[a-c*]{0,6}\\{\\}[a-c* ]{0,6}", name in "[a-c \\-é]{0,20}") {
            let rule = HostRule::new(&adapter, "x{}");
            prop_assume!(rule.is_ok());
            let rules = HostRules::new(rule.into_iter().collect());
            let first = rules.host_of(&name);
            prop_assert_eq!(&first, &rules.host_of(&name));
            let told = match first {
                None => Vec::new(),
                Some(NamedHost::Host(host)) => vec![host],
                Some(NamedHost::Several(hosts)) => {
                    prop_assert!(hosts.len() == 2 && hosts[0] != hosts[1]);
                    hosts
                }
            };
            for host in told {
                let held = host.strip_prefix('x').unwrap();
                prop_assert!(!held.is_empty() && !held.contains(' ') && name.contains(held));
            }
        }

        /// What is put into a pattern comes out of it.
        #[test]
        fn what_is_put_in_comes_out(rack in "[0-9]{1,3}", host_name in "[a-z]{1,8}[0-9]{0,4}", device in 0..9) {
            let name = format!("rack{rack}-{host_name} HCA-{device}");
            prop_assert_eq!(host(&[("rack*-{} HCA-*", "{}")], &name), Some(NamedHost::Host(host_name)));
        }

        #[test]
        fn no_pattern_and_no_name_is_too_strange(adapter in ".{0,40}", host_text in ".{0,20}", name in ".{0,300}") {
            if let Ok(rule) = HostRule::new(&adapter, &host_text) {
                let _ = HostRules::new(vec![rule]).host_of(&name);
            }
        }
    }
}
