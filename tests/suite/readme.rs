//! What README.md shows is what the program prints. `FABDECK_UPDATE_DOCS=1` renews it.

use std::process::{Command, Stdio};

const MARK: &str = "<!-- output: fabdeck";

/// The standard output of a command line of the README, its words divided as a shell does (quotes, no more).
fn output(line: &str) -> String {
    let mut words: Vec<String> = vec![String::new()];
    let mut quoted = false;
    for sign in line.chars() {
        match sign {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(sign),
        }
    }
    let home = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_fabdeck"))
        .args(words.iter().filter(|word| !word.is_empty()))
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let path = concat!(env!("FABDECK_ROOT"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let mut renewed = String::new();
    let mut lines = readme.lines();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        renewed += &format!("{line}\n");
        let Some(command) = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix("-->")) else {
            continue;
        };
        assert_eq!(lines.next(), Some("```text"), "a block follows its mark");
        lines.by_ref().find(|line| *line == "```").expect("a block ends");
        let command = command.trim();
        renewed +=
            &format!("```text\n$ {}\n{}```\n", format!("fabdeck {command}").trim_end(), output(command));
        blocks += 1;
    }
    assert!(blocks >= 2, "the README shows real output");
    if std::env::var_os("FABDECK_UPDATE_DOCS").is_some() {
        std::fs::write(path, &renewed).unwrap();
    }
    assert!(
        renewed == readme || std::env::var_os("FABDECK_UPDATE_DOCS").is_some(),
        "README.md is stale: renew it with FABDECK_UPDATE_DOCS=1"
    );
}

/// Hosts that docs/jobs.md tells of as those of the demo are there: a list that is copied from it works.
#[test]
fn the_jobs_of_the_docs_are_on_hosts_of_the_demo() {
    let page = std::fs::read_to_string(concat!(env!("FABDECK_ROOT"), "/docs/jobs.md")).unwrap();
    let example = page.split("To try it").nth(1).unwrap().split("fabdeck --source").next().unwrap();
    let hosts = output("--source sim:demo show hosts --fields name --json");
    let mut named = 0;
    for list in example.split(['`', ' ', '\n']).filter_map(|word| word.strip_prefix("node")) {
        let numbers = list.trim_matches(['[', ']']).split([',', '-']);
        for number in numbers.filter(|number| number.bytes().all(|digit| digit.is_ascii_digit())) {
            assert!(hosts.contains(&format!("\"node{number} ")), "node{number} is no host of the demo");
            named += 1;
        }
    }
    assert!(named >= 7, "{example}");
}
