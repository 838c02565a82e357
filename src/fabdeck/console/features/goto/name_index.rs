//! The names of all nodes in lower case, in one text, with the starts of their words in order.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::NodeId;

/// The name of a node, as a part of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NameEntry {
    from: u32,
    to: u32,
}

/// A place in the text where a word begins, and the entry of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WordStart {
    at: u32,
    entry: u32,
}

/// The names of the nodes of a snapshot.
#[derive(Debug)]
pub struct NameIndex {
    pub look: Arc<Snapshot>,
    text: String,
    /// The names in the order of the nodes.
    entries: Vec<NameEntry>,
    /// The starts of words, in the order of the texts from there to the end of the name.
    words: Vec<WordStart>,
}

impl NameIndex {
    pub fn new(look: Arc<Snapshot>) -> Self {
        let mut index =
            Self { look: look.clone(), text: String::new(), entries: Vec::new(), words: Vec::new() };
        for (entry, (id, _)) in look.fabric().nodes().enumerate() {
            let from = index.text.len();
            index.text.push_str(&look.name(id).to_lowercase());
            let mut before = None;
            for (at, sign) in index.text[from..].char_indices() {
                let starts =
                    sign.is_alphanumeric() && before.is_none_or(|before: char| !before.is_alphanumeric());
                if starts {
                    index.words.push(WordStart { at: (from + at) as u32, entry: entry as u32 });
                }
                before = Some(sign);
            }
            index.entries.push(NameEntry { from: from as u32, to: index.text.len() as u32 });
        }
        let mut words = std::mem::take(&mut index.words);
        words.sort_unstable_by_key(|word| (index.rest_of(*word), word.entry, word.at));
        index.words = words;
        index
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The name of a node in lower case.
    pub fn name(&self, node: NodeId) -> &str {
        let at = self.entries.get(node.index());
        at.map_or("", |entry| &self.text[entry.from as usize..entry.to as usize])
    }

    fn rest_of(&self, word: WordStart) -> &str {
        &self.text[word.at as usize..self.entries[word.entry as usize].to as usize]
    }

    /// The nodes with a word that begins with this text, and their number with repetitions.
    pub fn nodes_with_start(&self, start: &str) -> impl ExactSizeIterator<Item = NodeId> {
        let from = self.words.partition_point(|word| self.rest_of(*word) < start);
        let behind = self.words[from..].partition_point(|word| self.rest_of(*word).starts_with(start));
        self.words[from..from + behind].iter().map(|word| NodeId(word.entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::observe::Observation;
    use fabdeck_fabric::{FabricBuilder, Guid, NameMap, NodeFacts, NodeKind};

    fn index(names: &[&str]) -> NameIndex {
        let mut builder = FabricBuilder::new();
        for (at, name) in names.iter().enumerate() {
            builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(at as u64 + 1), 2, *name)).unwrap();
        }
        let observation = Observation { fabric: builder.finish(), ..Observation::default() };
        NameIndex::new(Arc::new(Snapshot::new("test", observation, &NameMap::default())))
    }

    #[test]
    fn words_are_found_by_their_start() {
        let index = index(&["Spine-2", "leaf spine-21", "", "ünder-spiné"]);
        let found = |start: &str| {
            let mut nodes: Vec<u32> = index.nodes_with_start(start).map(|node| node.0).collect();
            nodes.sort_unstable();
            nodes
        };
        assert_eq!(found("spine-2"), [0, 1]);
        assert_eq!(found("21"), [1]);
        assert_eq!(found("spin"), [0, 1, 3]);
        assert!(found("pine").is_empty());
        assert_eq!((index.name(NodeId(0)), index.len()), ("spine-2", 4));
        assert_eq!(index.name(NodeId(99)), "");
    }
}
