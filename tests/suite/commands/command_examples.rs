//! Command lines for tests of every command: a test whose own table has no row for a command takes the first example of
//! its help.

use fabdeck::script::command_entry::CommandEntry;

/// The words of the first example of a command, without `fabdeck` and without its source.
pub fn example_words(command: &CommandEntry) -> Vec<&'static str> {
    let name = command.name;
    let line = command.examples.first().unwrap_or_else(|| panic!("{name} has no example"));
    assert!(!line.contains(['\'', '"', '|']), "{name} needs a row in the table of this test: {line}");
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    match words[..] {
        ["--source", _, ref rest @ ..] => rest.to_vec(),
        _ => words,
    }
}

#[test]
fn an_example_is_split_into_words_without_its_source() {
    let command = |examples| CommandEntry::new("check", "", "").examples(examples);
    let words = example_words(&command(&["fabdeck --source sim:demo check --lanes exact", "fabdeck check"]));
    assert_eq!(words, ["check", "--lanes", "exact"]);
    assert_eq!(example_words(&command(&["fabdeck check"])), ["check"]);
}
