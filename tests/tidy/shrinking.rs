//! Lists of what still breaks a rule. A list may only shrink: what is above its row fails, and so does a row that is
//! above what is there. `FABDECK_UPDATE_DOCS=1` writes the smaller rows, and never a larger one.

use std::collections::BTreeMap;

use crate::source::Offence;

/// The rows of a list: `COUNT NAME`, one a line. Lines that begin with `#` are comments.
#[derive(Debug, PartialEq, Eq)]
pub struct ShrinkingList {
    path: String,
    heading: String,
    rows: BTreeMap<String, usize>,
}

impl ShrinkingList {
    pub fn read(path: &str, text: &str) -> Self {
        let is_comment = |line: &&str| line.starts_with('#');
        let heading = text.lines().take_while(is_comment).map(|line| format!("{line}\n")).collect();
        let rows = text.lines().filter(|line| !is_comment(line));
        let rows = rows.filter_map(|line| line.split_once(' '));
        let rows = rows.filter_map(|(count, name)| Some((name.to_owned(), count.parse().ok()?))).collect();
        Self { path: path.to_owned(), heading, rows }
    }

    /// Rows that differ from what is there.
    pub fn offences(&self, found: &BTreeMap<String, usize>) -> Vec<Offence> {
        let above = found.iter().filter_map(|(name, count)| {
            let listed = self.rows.get(name).copied().unwrap_or(0);
            (*count > listed).then(|| format!("{name}: {count}, the list allows {listed}"))
        });
        let below = self.rows.iter().filter_map(|(name, listed)| {
            let count = found.get(name).copied().unwrap_or(0);
            (count < *listed).then(|| {
                format!("{name}: {count}, the list says {listed}; FABDECK_UPDATE_DOCS=1 lowers the row")
            })
        });
        above.chain(below).map(|what| Offence { path: self.path.clone(), line: 1, what }).collect()
    }

    /// The text of the list with the rows that shrank.
    pub fn shrunk(&self, found: &BTreeMap<String, usize>) -> String {
        let rows = self.rows.iter().filter_map(|(name, listed)| {
            let count = found.get(name).copied().unwrap_or(0).min(*listed);
            (count > 0).then(|| format!("{count} {name}\n"))
        });
        std::iter::once(self.heading.clone()).chain(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[(&str, usize)]) -> BTreeMap<String, usize> {
        rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_list_only_shrinks() {
        let list = ShrinkingList::read("list.txt", "# Heading\n3 src/a.rs\n1 src/b.rs\n");
        assert_eq!(list.offences(&found(&[("src/a.rs", 3), ("src/b.rs", 1)])), []);
        let now = found(&[("src/a.rs", 2), ("src/b.rs", 2), ("src/c.rs", 1)]);
        let said: Vec<String> = list.offences(&now).iter().map(|offence| offence.what.clone()).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(said[0], "src/b.rs: 2, the list allows 1");
        assert_eq!(said[1], "src/c.rs: 1, the list allows 0");
        assert!(said[2].starts_with("src/a.rs: 2, the list says 3"), "{said:?}");
        assert_eq!(list.shrunk(&now), "# Heading\n2 src/a.rs\n1 src/b.rs\n");
        assert_eq!(list.shrunk(&found(&[("src/a.rs", 9)])), "# Heading\n3 src/a.rs\n");
    }
}
