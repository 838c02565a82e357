//! What commands print, and how they end, in this process.

use serde_json::Value;

use super::command_examples::example_words;
use super::json::violations;
use super::test_system::{fabdeck, fabdeck_with, notes, small};
use fabdeck::catalogue::danger::Danger;
use fabdeck::catalogue::exit::Exit;
use fabdeck::script::command_entry::Requirement;
use fabdeck::script::commands::COMMANDS;
use fabdeck::script::run::CliResult;
use fabdeck::script::schemas::schemas;
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck_fabric::NameMap;

const FIRST: &str = concat!(env!("FABDECK_ROOT"), "/tests/fixtures/capture/first.fdcap");

/// Command lines with the schema of their JSON. A command without a row here is tried by the first example of its help.
const LINES: &[(&str, &[&str], &str)] = &[
    ("", &[], "fabric"),
    ("sources", &["sources"], "sources"),
    ("changes", &["--state-dir", "nowhere", "changes"], "changes"),
    ("show fabric", &["--source", "small", "show", "fabric"], "fabric"),
    ("show switches", &["--source", "small", "show", "switches"], "switches"),
    ("show hosts", &["--source", "small", "show", "hosts"], "hosts"),
    ("show links", &["--source", "small", "show", "links"], "links"),
    ("show ports", &["--source", "small", "show", "ports"], "ports"),
    ("show tables", &["--source", "small", "show", "tables"], "tables"),
    ("show tables", &["--source", "small", "show", "tables", "leaf0"], "entries"),
    ("show users", &["--source", "small", "show", "users", "link:leaf0[5]"], "users"),
    ("show counters", &["--source", "small", "show", "counters"], "counters"),
    ("show lanes", &["--source", "small", "show", "lanes"], "lanes"),
    ("show links", &["show", "links", "--fields", "help"], "fields"),
    ("trace", &["--source", "small", "trace", "h1", "h2"], "trace"),
    ("trace", &["--source", "small", "trace", "h2", "h1"], "trace"),
    ("check", &["--source", "small", "check"], "check"),
    ("check", &["--source", "small", "check", "--partitions", "partitions.conf"], "check"),
    (
        "route",
        &["--source", "routed", "route", "--engine", "minhop", "-o", "/dev/null", "--no-times"],
        "route",
    ),
    ("health", &["--source", "hot", "health"], "health"),
    ("health", &["--source", "small", "health", "--no-times"], "health"),
    ("report", &["--source", "hot", "report", "-o", "/dev/null", "--no-times"], "report"),
    ("hotspots", &["--source", "hot", "hotspots"], "hotspots"),
    ("lanes", &["--source", "hot", "lanes", "--lanes-in-force", "one"], "lane-state"),
    (
        "lanes propose",
        &["--source", "hot", "lanes", "propose", "--lanes-in-force", "one", "--no-times"],
        "lanes-propose",
    ),
    ("show jobs", &["--source", "crowded", "show", "jobs", "--file", "node0 17,node3 17"], "jobs"),
    ("jobs", &["--source", "crowded", "jobs", "--file", "node0 17,node3 17"], "jobs"),
    (
        "jobs channels",
        &["--source", "crowded", "jobs", "channels", "--file", "node0 17,node3 17"],
        "jobs-channels",
    ),
    (
        "jobs watch",
        &[
            "--source",
            "crowded",
            "jobs",
            "watch",
            "--file",
            "node0 17,node3 17",
            "--count",
            "1",
            "--no-times",
        ],
        "jobs-watch",
    ),
    ("whatif", &["--source", "small", "whatif", "--engine", "minhop", "--no-times"], "whatif"),
    ("generate", &["generate", "demo"], "generate"),
    ("convert", &["convert", "a", "-o", "/dev/null", "--to", "ibsim"], "convert"),
    ("simulate", &["--source", "small", "simulate", "--serve", "socket"], "simulate"),
    ("simulate", &["--source", "routed", "simulate", "--pattern", "ring", "--for", "30us"], "throughput"),
    ("simulate", &["--source", "ring", "simulate", "--pattern", "hotspot", "--for", "30us"], "throughput"),
    ("record", &["--source", "hot", "record", "-o", "/dev/null", "--for", "2s", "--no-times"], "record"),
    ("capture info", &["capture", "info", FIRST], "capture-info"),
    ("capture cut", &["capture", "cut", FIRST, "-o", "/dev/null"], "capture-cut"),
    ("capture export", &["capture", "export", FIRST, "-o", "/dev/null"], "capture-export"),
    ("capture anonymize", &["capture", "anonymize", FIRST, "-o", "/dev/null"], "capture-anonymize"),
    ("cabling export", &["--source", "small", "cabling", "export", "-o", "/dev/null"], "cabling-export"),
    ("completions", &["completions", "bash"], "completions"),
    ("man", &["man"], "man"),
];

/// The command lines of the table, and an example of every command that has no row in it.
fn command_lines() -> Vec<(&'static str, Vec<&'static str>, String)> {
    // What reads plans needs one first: see `plans`.
    let plans = |name: &str| name == "plan" || name.starts_with("plan ");
    // A note changes the capture that it is for: see `captures`.
    // An agent needs a port, and prints a line for each event: see `agents`. So does a watch: see `commands::watch`.
    // An undo needs a change that was confirmed: see `console::written_changes`.
    // Commands of a study need its folder: see `studies`.
    // A group of commands does nothing by itself.
    // Turning policies off or on writes into the state folders of this machine: see `policy::switch`.
    let others = [
        "show",
        "capture",
        "capture note",
        "disable",
        "enable",
        "agent",
        "undo",
        "study",
        "study run",
        "study status",
        "study table",
        "study plot",
        "study slurm",
        "watch",
        "policy",
        "policy off",
        "policy on",
    ];
    // What writes to a fabric needs one that can be written to: see `changing`.
    let reads = COMMANDS.iter().filter(|command| command.danger != Danger::WritesFabric);
    let listed = |name: &str| LINES.iter().any(|(known, ..)| *known == name);
    let unlisted = reads
        .filter(|command| !others.contains(&command.name) && !plans(command.name) && !listed(command.name));
    let by_example = unlisted.map(|command| {
        let source: &[&str] = if command.needs == Requirement::Fabric { &["--source", "small"] } else { &[] };
        let words = [source, &example_words(command)].concat();
        let schema = command.schemas.first().map(|schema| schema.file_of(command.name).0);
        let schema = schema.unwrap_or_else(|| panic!("{} has no schema", command.name));
        (command.name, words, schema.trim_end_matches(".json").to_owned())
    });
    let rows = LINES.iter().map(|(name, line, schema)| (*name, line.to_vec(), (*schema).to_owned()));
    rows.chain(by_example).collect()
}

#[test]
fn json_is_what_its_schema_says_and_equal_between_runs() {
    let schemas = schemas();
    for (_, line, schema) in command_lines() {
        let args = [&line[..], &["--json"]].concat();
        let ended = fabdeck(&args);
        assert_eq!(ended.err, "", "{args:?}");
        assert_eq!(ended.out, fabdeck(&args).out, "{args:?}");
        let value: Value = serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        assert_eq!(value["schema"], format!("fabdeck.{schema}/1"));
        let schema: Value = serde_json::from_str(&schemas[&format!("{schema}.json")]).unwrap();
        assert_eq!(violations(&schema, &value), [""; 0], "{args:?}");
    }
}

/// Steps are told beside the report while they go.
#[test]
fn a_run_reports_as_its_schema_says() {
    let args = [
        "--source",
        "routed",
        "run",
        concat!(env!("FABDECK_ROOT"), "/tests/suite/commands/books/two-steps.toml"),
        "--no-times",
        "--json",
    ];
    let ended = fabdeck(&args);
    assert!(ended.err.contains("fabdeck: step 1 of 2, expect\n"), "{}", ended.err);
    assert_eq!(ended.out, fabdeck(&args).out);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let schema: Value = serde_json::from_str(&schemas()["run.json"]).unwrap();
    assert_eq!(violations(&schema, &value), [""; 0], "{}", ended.out);
    assert!(!ended.out.contains("\"began\"") && fabdeck(&args[..4]).out.contains("minhop moves"));
}

#[test]
fn text_has_colour_only_when_it_should() {
    let terminal = TerminalInfo { stdout: true, stderr: true, ..TerminalInfo::default() };
    let no_color = TerminalInfo { no_color: true, ..terminal.clone() };
    for (_, line, _) in command_lines() {
        for (args, terminal) in [
            (line.clone(), &TerminalInfo::default()),
            ([&line[..], &["--color", "never"]].concat(), &terminal),
            (line.clone(), &no_color),
        ] {
            let ended = fabdeck_with(&args, terminal);
            assert!(!ended.out.contains('\u{1b}') && !ended.err.contains('\u{1b}'), "{args:?}");
        }
    }
    let links = ["--source", "small", "show", "links"];
    assert!(fabdeck_with(&links, &terminal).out.starts_with("\u{1b}[1m"));
    let always = [&links[..], &["--color", "always"]].concat();
    assert!(fabdeck(&always).out.starts_with("\u{1b}[1m"));
}

#[test]
fn exit_codes() {
    let code = |args: &[&str]| fabdeck(args).exit;
    for wrong in [
        &["nonsense"][..],
        &["show"],
        &["show", "links", "--bogus"],
        &["trace", "a"],
        &["show", "links"],
        &["--source", "nothing", "show", "links"],
        &["--source", "small", "show", "links", "--filter", "x=1"],
        &["--source", "small", "show", "links", "--fields", "x"],
        &["--source", "small", "show", "links", "--sort", "x"],
        &["--source", "small", "show", "tables", "h1"],
        &["--source", "small", "show", "fabric", "--filter", "x"],
        &["--source", "small", "trace", "h1", "nobody"],
        &["--source", "bare", "trace", "h1", "h2"],
        &["generate", "nothing"],
        &["generate", "demo", "--format", "lfts"],
        &["generate", "demo", "--json", "-o", "-"],
        &["convert", "a", "-o", "b", "--to", "nothing"],
        &["completions", "cmd.exe"],
        &["check"],
        &["--source", "routed", "route", "--engine", "updn", "-o", "-", "--partitions", "partitions.conf"],
        &["--source", "small", "whatif", "--engine", ""],
        &["--source", "small", "whatif", "--engine", ","],
        &["--source", "small", "simulate"],
        &["simulate", "--serve", "socket"],
        &["show", "jobs"],
        &["convert", "a", "-o", "b", "--to", "psl"],
        &["convert", "sim:demo", "a", "-o", "b", "--to", "ibsim"],
        &["generate", "demo", "--source", "small"],
        &["--source", "small", "trace", "host:leaf0", "h1"],
        &["--source", "small", "show", "links", "--filter", "kind=foo"],
    ] {
        let ended = fabdeck(wrong);
        assert_eq!((ended.exit, ended.out.as_str()), (Exit::Usage, ""), "{wrong:?}");
        assert!(!ended.err.is_empty());
    }
    assert_eq!(code(&["--source", "damaged", "show", "links"]), Exit::BadInput);
    assert_eq!(code(&["--source", "far", "show", "links"]), Exit::Unreachable);
    assert_eq!(code(&["--source", "small", "trace", "h2", "h1"]), Exit::Findings);
    assert_eq!(code(&["--source", "bare", "trace", "h1", "h2", "--lid", "14", "--tables", "t"]), Exit::Done);
    assert_eq!(code(&["--help"]), Exit::Done);
    assert_eq!(code(&["--version"]), Exit::Done);
    assert_eq!(code(&["--source", "small", "show", "links"]), Exit::Done);
    assert_eq!(
        code(&["--source", "small", "show", "links", "--strict"]),
        Exit::Findings,
        "a node did not answer"
    );
    assert_eq!(code(&["--source", "empty", "show", "links", "--strict"]), Exit::Done);
    assert_eq!(code(&["generate", "demo", "-o", "/nonexistent/x"]), Exit::Failed);
}

#[test]
fn a_command_that_looks_needs_a_source() {
    let lines = command_lines();
    for command in
        COMMANDS.iter().filter(|command| command.needs == Requirement::Fabric && command.name != "show")
    {
        let Some((_, line, _)) = lines.iter().find(|(name, ..)| *name == command.name) else { continue };
        let ended = fabdeck(&line[2..]);
        assert_eq!(ended.exit, Exit::Usage, "{line:?}");
        assert!(ended.err.contains("--source") && ended.err.contains("sim:demo"), "{}", ended.err);
    }
}

#[test]
fn damaged_input_is_named_with_its_line() {
    let ended = fabdeck(&["--source", "damaged", "show", "links"]);
    assert_eq!(ended.err, "fabdeck: error: damaged:7: FD-2999: nonsense; mend it\n");
}

#[test]
fn a_config_may_name_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "source = \"small\"\n").unwrap();
    let config = file.to_str().unwrap();
    assert_eq!(fabdeck(&["--config", config, "show", "links"]).exit, Exit::Done);
    assert_eq!(fabdeck(&["--config", config, "--source", "far", "show", "links"]).exit, Exit::Unreachable);
    std::fs::write(&file, "source = small\n").unwrap();
    let ended = fabdeck(&["--config", config, "show", "links"]);
    assert_eq!(ended.exit, Exit::BadInput);
    assert!(ended.err.contains("config.toml:1:"), "{}", ended.err);
}

#[test]
fn names_come_from_the_node_name_map_first() {
    let ended =
        fabdeck(&["--source", "small", "--node-name-map", "m", "show", "switches", "--filter", "lid=3"]);
    assert!(ended.out.contains("rack 1, top"), "{}", ended.out);
}

#[test]
fn times_can_be_left_out() {
    let args = ["--source", "small", "show", "fabric", "--json"];
    assert!(fabdeck(&args).out.contains("\"time\""));
    assert!(!fabdeck(&[&args[..], &["--no-times"]].concat()).out.contains("\"time\""));
}

#[test]
fn what_is_empty_is_said_on_stderr() {
    for (args, says) in [
        (&["--source", "empty", "show", "links"][..], "fabdeck: the fabric has no cable\n"),
        (&["--source", "bare", "show", "tables"], "fabdeck: the source has no forwarding tables\n"),
        (
            &["--source", "sim:demo", "show", "links", "--filter", "zzz"],
            "no row matches the filter (12 rows without it)",
        ),
    ] {
        let ended = fabdeck(args);
        assert_eq!((ended.exit, ended.out.as_str()), (Exit::Done, ""));
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}

#[test]
fn many_notes_are_cut_short_unless_asked_for() {
    let mut observation = small();
    observation.notes = notes(14);
    let look = fabdeck::catalogue::snapshot::Snapshot::new("many", observation, &NameMap::default());
    let said = |verbose: bool| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        fabdeck::script::output::print_notes(&look.observation.notes, verbose, &mut out, &mut err);
        assert!(out.is_empty());
        String::from_utf8(err).unwrap()
    };
    assert_eq!(said(false).lines().count(), 11);
    assert!(said(false).ends_with("fabdeck: ... and 4 more notes; -v shows all\n"));
    assert_eq!(said(true).lines().count(), 14);
}

#[test]
fn a_fabric_goes_to_a_file_or_to_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.net");
    let path = file.to_str().unwrap();
    let ended = fabdeck(&["generate", "demo", "-o", path]);
    assert_eq!((ended.exit, ended.out.as_str()), (Exit::Done, ""));
    assert!(ended.err.contains("is written (ibsim): 5 switches, 5 hosts, 12 links"), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), fabdeck(&["generate", "demo", "-o", "-"]).out);
    let converted = fabdeck(&["convert", "-", "-o", "-", "--to", "ibsim"]);
    assert!(converted.out.starts_with("spine0\nspine1\n"), "{}", converted.out);
}

#[test]
fn pages_and_completions() {
    let man = fabdeck(&["man"]).out;
    assert!(man.contains(".TH") && man.contains("EXIT STATUS") && man.contains("rollback incomplete"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(fabdeck(&["completions", shell]).out.contains("node-name-map"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let ended = fabdeck(&["man", "--dir", folder.path().join("man/man1").to_str().unwrap()]);
    assert_eq!((ended.exit, ended.out.as_str()), (Exit::Done, ""));
    let page = std::fs::read_to_string(folder.path().join("man/man1/fabdeck-show-links.1")).unwrap();
    assert!(page.contains("fabdeck show links") && page.contains("The cables"), "{page}");
}

/// A stream whose reader went away.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    for (_, line, _) in LINES {
        for json in [&[][..], &["--json"]] {
            let args = [&["fabdeck"], *line, json].concat();
            let mut err = Vec::new();
            let args = args.iter().map(std::ffi::OsString::from);
            let exit = fabdeck::script::run::run(
                args,
                &super::test_system::TestSystem,
                &TerminalInfo::default(),
                &mut Closed,
                &mut err,
            );
            let said = String::from_utf8(err).unwrap();
            assert!(!said.contains("error"), "{line:?}: {said}");
            assert!(matches!(exit, CliResult::Exit(Exit::Done)), "{line:?}: {exit:?}");
        }
    }
}

#[test]
fn refusals_say_what_to_do() {
    let err = |args: &[&str]| fabdeck(args).err;
    assert!(err(&["nonsense"]).starts_with("fabdeck: error: unrecognized"));
    assert!(err(&["show", "check"]).contains("unrecognized"));
    let said = err(&["--source", "small", "trace", "host:leaf0", "h1"]);
    assert!(said.contains("'leaf0' is a switch; write switch:leaf0"), "{said}");
    let said = err(&["--source", "small", "show", "links", "--filter", "kind=foo"]);
    assert!(said.contains("it holds switch-switch, switch-host,"), "{said}");
    let said = err(&["--source", "small", "show", "links", "--filter", "a~^leaf"]);
    assert!(said.contains("~ means 'contains'"), "{said}");
    let twice = ["--source", "small", "show", "links", "--filter", "kind==Switch-Host"];
    assert_eq!(fabdeck(&twice).out.lines().count(), 7);
}

#[test]
fn a_file_is_not_converted_onto_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("site.net");
    std::fs::write(&file, "as it was").unwrap();
    let path = file.to_str().unwrap();
    let ended = fabdeck(&["convert", path, "-o", path, "--to", "ibsim"]);
    assert_eq!(ended.exit, Exit::Usage);
    assert!(ended.err.contains("FD-7502"), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "as it was");
    let ended = fabdeck(&["convert", "sim:demo", "-o", path, "--to", "ibsim", "--force"]);
    assert!(ended.err.contains("is written (ibsim) from 5 switches, 5 hosts, 12 links"), "{}", ended.err);
    assert_eq!(fabdeck(&["generate", "sim:demo"]).out, fabdeck(&["generate", "demo"]).out);
}
