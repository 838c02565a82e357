//! What a file states about nodes beyond their ports and sensors: capabilities of aggregation nodes (SHARP) and of
//! routers, by the names of the file's columns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The columns of a file about one node. Names that no document explains are kept as they are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeStatements {
    /// Of an aggregation node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub aggregation: BTreeMap<String, u64>,
    /// Of a router.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub router: BTreeMap<String, u64>,
}

impl NodeStatements {
    /// Adds what is not known yet.
    pub fn fill(&mut self, other: &Self) {
        for (own, stated) in [(&mut self.aggregation, &other.aggregation), (&mut self.router, &other.router)]
        {
            for (name, value) in stated {
                own.entry(name.clone()).or_insert(*value);
            }
        }
    }
}

/// Columns as a text: `tree_radix 252, tree_table_size 64`. Empty if there are none.
pub fn statement_text(columns: &BTreeMap<String, u64>) -> String {
    columns.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}
