//! What is asked of every incident: each command of the table, with values for what it needs. A command that is new is asked
//! too; one that cannot be has to be named here with the reason.

use clap::Arg;

use fabdeck::script::command_line::command_line;
use fabdeck::script::commands::COMMANDS;
use fabdeck::system::access::SystemAccess;
use fabdeck::system::local_access::LocalSystemAccess;

/// Commands that nobody asks here, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("sources", "looks at a machine, and lists a capture as a file (`captures::commands`)"),
    ("generate", "makes a fabric by its name, and reads none"),
    ("watch", "watches live fabrics until it is stopped (`commands::watch`)"),
    ("events", "lists what a watch stored (`commands::stored_events`)"),
    ("ledger", "lists what a watch stored (`commands::stored_events`)"),
    ("policy off", "writes into state folders, and reads no fabric (`policy::switch`)"),
    ("policy on", "writes into state folders, and reads no fabric (`policy::switch`)"),
    ("policy show", "lists what policies did, and reads no fabric (`policy::switch`)"),
    ("record", "reads live fabrics; these captures are what it wrote"),
    ("report", "writes a page (`commands::report`)"),
    ("cabling export", "writes a plan (`cabling::printed_findings`)"),
    ("reproduce", "computes figures of papers, and reads no fabric (`reproduction`)"),
    ("study list", "lists files of the package, and reads no fabric"),
    ("study show", "prints a study, and reads no fabric"),
    ("study run", "writes results into a folder (`studies`)"),
    ("study plot", "reads the folder of a study (`studies`)"),
    ("study status", "reads the folder of a study (`studies`)"),
    ("study table", "reads the folder of a study (`studies`)"),
    ("study slurm", "writes a script into a folder (`studies`)"),
    ("capture cut", "writes a capture (`captures::cut`)"),
    ("capture anonymize", "writes a capture (`captures::anonymous`)"),
    ("capture note", "writes a capture (`captures::noted`)"),
    ("disable", "writes a plan for a fabric that can be changed (`changing::processes`)"),
    ("enable", "writes a plan for a fabric that can be changed (`changing::processes`)"),
    ("apply", "writes to fabrics, and a capture is none (`changing::processes`)"),
    ("confirm", "speaks of a change (`changing::processes`)"),
    ("extend", "speaks of a change (`changing::processes`)"),
    ("rollback", "speaks of a change (`changing::processes`)"),
    ("undo", "speaks of a change (`console::written_changes`)"),
    ("changes", "speaks of changes (`changing::processes`)"),
    ("guard", "keeps changes of fabrics that live (`changing::processes`)"),
    ("agent", "sits at a host of a fabric that lives (`agents`)"),
    ("run", "carries out a file of steps, each of which is a command here (`runbooks`)"),
    ("lanes propose", "needs the levels of paths, which no capture has (`commands::lanes`)"),
    ("show jobs", "needs a list of jobs, which no incident has (`commands::jobs`)"),
    ("jobs", "needs a list of jobs, which no incident has (`commands::jobs`)"),
    ("jobs channels", "needs a list of jobs, which no incident has (`commands::jobs`)"),
    ("jobs watch", "needs a list of jobs, which no incident has (`commands::jobs`)"),
    ("completions", "says nothing of a fabric"),
    ("man", "says nothing of a fabric"),
];

/// Ways in which a command is asked where its bare name is not all: words that `CaseValues` knows stand in braces.
const WAYS: &[(&str, &[&[&str]])] = &[
    ("show tables", &[&[], &["{switch}"]]),
    ("show counters", &[&[], &["--format", "prometheus"]]),
    ("whatif", &[&["--fail", "{link}"]]),
    ("simulate", &[&["--pattern", "uniform", "--for", "20us"]]),
    ("capture export", &[&[], &["--rates"]]),
];

/// The bare name.
const PLAIN: &[&[&str]] = &[&[]];

/// What stands for the values that commands need.
pub struct CaseValues<'g> {
    pub capture: &'g str,
    pub plan: &'g str,
    pub hosts: [&'g str; 2],
    pub switch: &'g str,
    /// Between two switches.
    pub link: &'g str,
}

impl CaseValues<'_> {
    /// The words for a value that the command line does not do without; those of a list are one case each.
    fn of(&self, command: &str, arg: &Arg) -> Vec<String> {
        let word = match (command, arg.get_id().as_str()) {
            ("convert", "to") => {
                return LocalSystemAccess::default().writers().iter().map(|one| one.id.into()).collect();
            }
            ("trace", "from") => self.hosts[0],
            ("trace", "to") => self.hosts[1],
            ("show users", "link") => self.link,
            (_, "file" | "inputs") => self.capture,
            (_, "plan") => self.plan,
            (_, "engine") => "minhop",
            (_, "output") => "-",
            (command, arg) => panic!(
                "'{command}' needs {arg}: say here what to give, or name the command in LEFT_OUT with the reason"
            ),
        };
        vec![word.to_owned()]
    }

    fn named(&self, word: &str) -> String {
        match word {
            "{switch}" => self.switch,
            "{link}" => self.link,
            plain => plain,
        }
        .to_owned()
    }
}

/// A command line behind `--source` and `--at`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    pub words: Vec<String>,
    /// It speaks of a capture as a whole, and of no moment.
    pub whole: bool,
    /// What it prints is a file: a digest says enough.
    pub file: bool,
}

/// Every command that is not left out, in the order of the table.
pub fn cases(given: &CaseValues<'_>) -> Vec<Case> {
    let line = command_line();
    let asked = COMMANDS.iter().filter(|known| LEFT_OUT.iter().all(|(name, _)| *name != known.name));
    asked.flat_map(|known| of_command(&line, known.name, given)).collect()
}

fn of_command(line: &clap::Command, name: &str, given: &CaseValues<'_>) -> Vec<Case> {
    let mut command = line;
    for word in name.split(' ') {
        command = command.find_subcommand(word).unwrap_or_else(|| panic!("{name} is no command"));
    }
    if command.has_subcommands() {
        return Vec::new();
    }
    let needed: Vec<&Arg> = command.get_arguments().filter(|arg| arg.is_required_set()).collect();
    let mut lines = vec![name.split(' ').map(str::to_owned).collect::<Vec<String>>()];
    for arg in &needed {
        let option = arg.get_long().map(|long| format!("--{long}"));
        let with = |words: &Vec<String>, value: String| {
            [words.clone(), option.iter().cloned().collect(), vec![value]].concat()
        };
        let values = given.of(name, arg);
        lines =
            lines.iter().flat_map(|words| values.iter().map(|value| with(words, value.clone()))).collect();
    }
    let ways = WAYS.iter().find(|(known, _)| *known == name).map_or(PLAIN, |(_, ways)| ways);
    let has = |id: &str| needed.iter().any(|arg| arg.get_id() == id);
    let prometheus = |way: &[&str]| way.contains(&"prometheus");
    let case = |words: &Vec<String>, way: &[&str]| Case {
        words: words.iter().cloned().chain(way.iter().map(|word| given.named(word))).collect(),
        whole: has("file"),
        file: has("output") || prometheus(way),
    };
    lines.iter().flat_map(|words| ways.iter().map(|way| case(words, way))).collect()
}

/// Both lists name commands that there are, and no command that stands aside for no reason.
#[test]
fn what_is_left_out_is_there_and_says_why() {
    for (name, why) in LEFT_OUT {
        assert!(COMMANDS.iter().any(|known| known.name == *name), "{name} is no command any more");
        assert!(why.split(' ').count() > 3, "{name}: {why}");
    }
    for (name, ways) in WAYS {
        assert!(COMMANDS.iter().any(|known| known.name == *name), "{name} is no command any more");
        assert!(!ways.is_empty() && LEFT_OUT.iter().all(|(left, _)| left != name), "{name}");
    }
    let given = CaseValues { capture: "c", plan: "p", hosts: ["a", "b"], switch: "s", link: "l" };
    let all = cases(&given);
    let said = |words: &str| all.iter().filter(|case| case.words.join(" ").starts_with(words)).count();
    assert_eq!((said("show lanes"), said("show users l"), said("trace a b")), (1, 1, 1), "{all:?}");
    assert_eq!(said("convert"), LocalSystemAccess::default().writers().len());
}
