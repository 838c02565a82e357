//! What is said of a key in a file that no reader knows.

use std::collections::BTreeSet;

use fabdeck_fabric::{similar_words, suggest};

/// `'engin' is no key of the step (did you mean engine?); the keys are: engine, lanes`.
pub fn unknown_key_text(name: &str, table: &str, known: &BTreeSet<&str>) -> String {
    let meant = suggest(&similar_words(name, known.iter().copied()));
    let keys = known.iter().copied().collect::<Vec<_>>().join(", ");
    format!("'{name}' is no key of {table}{meant}; the keys are: {keys}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_meant_is_named() {
        assert_eq!(
            unknown_key_text("engin", "the step", &BTreeSet::from(["lanes", "engine"])),
            "'engin' is no key of the step (did you mean engine?); the keys are: engine, lanes"
        );
    }
}
