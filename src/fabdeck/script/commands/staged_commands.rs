//! The staged transition of a plan that is unsafe under traffic, as commands that can be pasted.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::route_args::{LanesByChoice, RoutePlanArgs};
use crate::script::args::GlobalArgs;
use crate::system::output_file;
use fabdeck_change::{StagedTransition, TransitionReport};

/// Placeholder for the id that `apply` prints.
const ID: &str = "ID";

/// Adds the commands of a plan's staged transition, if it has one.
pub fn add_commands(transition: &mut TransitionReport, globals: &GlobalArgs, args: &RoutePlanArgs) {
    if let Some(StagedTransition { through: Some(through), commands, .. }) = &mut transition.staged {
        *commands = command_lines(globals, args, through);
    }
}

fn command_lines(globals: &GlobalArgs, args: &RoutePlanArgs, through: &str) -> Vec<String> {
    let [first, second] = ["first", "second"].map(|which| staged_file(&args.output, which));
    let stage = |engine: &str, plan: &Path, asked: Vec<String>| {
        let route =
            [to_strings(&["route", "--engine", engine]), asked, vec!["-o".to_owned(), quote_path(plan)]];
        let write = globals.source.as_ref().is_some_and(|source| !source.starts_with("sim:"));
        let write = write.then(|| "--allow-write".to_owned());
        [
            command_line(globals, true, route.concat()),
            command_line(
                globals,
                true,
                write.into_iter().chain(["apply".to_owned(), quote_path(plan)]).collect(),
            ),
            command_line(globals, false, to_strings(&["confirm", ID])),
        ]
    };
    // The first step writes only tables, so it uses one lane.
    let before = stage(through, &first, [shared_flags(args), to_strings(&["--lanes", "1"])].concat());
    let after = stage(&args.engine, &second, [shared_flags(args), route_flags(args)].concat());
    before.into_iter().chain(after).collect()
}

/// A command with the global options that it needs. `reads` is whether it reads the fabric.
fn command_line(globals: &GlobalArgs, reads: bool, command: Vec<String>) -> String {
    let mut all = to_strings(&["fabdeck"]);
    let mut flag = |name: &str, value: Option<String>| {
        all.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    let file = |file: &Option<PathBuf>| file.as_deref().map(quote_path);
    flag("--source", globals.source.as_ref().filter(|_| reads).map(|source| quote_word(source)));
    flag("--config", file(&globals.config));
    flag("--state-dir", file(&globals.state_dir));
    if reads {
        flag("--mkey-file", file(&globals.mkey_file));
        flag("--timeout", globals.timeout.map(|time| format!("{}ms", time.as_millis())));
        flag("--retries", globals.retries.map(|retries| retries.to_string()));
        flag("--assume", globals.assume.as_ref().map(|engine| quote_word(engine)));
    }
    all.extend(command);
    all.join(" ")
}

/// Arguments that both engines get: marks, and options of the certificate.
fn shared_flags(args: &RoutePlanArgs) -> Vec<String> {
    let mut all: Vec<String> =
        args.fail.fail.iter().flat_map(|element| ["--fail".to_owned(), quote_word(element)]).collect();
    if let Some(count) = args.fail.fail_random {
        all.extend(to_strings(&["--fail-random", &count.to_string(), "--seed", &args.fail.seed.to_string()]));
    }
    if args.route.switches {
        all.extend(to_strings(&["--switches"]));
    }
    if let Some(choice) = args.route.lanes_in_force.and_then(|choice| choice.to_possible_value()) {
        all.extend(to_strings(&["--lanes-in-force", choice.get_name()]));
    }
    all
}

/// Arguments for the plan's own engine.
fn route_flags(args: &RoutePlanArgs) -> Vec<String> {
    let files = [
        ("--roots", &args.route.roots),
        ("--torus", &args.route.input.torus),
        ("--compute-nodes", &args.route.compute_nodes),
        ("--io-nodes", &args.route.io_nodes),
        ("--jobs", &args.route.jobs),
        ("--dimension-ports", &args.route.input.dimension_ports),
        ("--tables", &args.route.input.tables),
        ("--levels", &args.route.input.levels),
    ];
    let files =
        files.into_iter().filter_map(|(flag, file)| Some([flag.to_owned(), quote_path(file.as_deref()?)]));
    let lanes = args.route.lanes.map_or_else(Vec::new, |lanes| to_strings(&["--lanes", &lanes.to_string()]));
    let by = args.route.lanes_by;
    let by = match by == LanesByChoice::default() {
        true => None,
        false => by.to_possible_value().map(|by| to_strings(&["--lanes-by", by.get_name()])),
    };
    let switches = [
        ("--spread-lanes", args.route.input.spread_lanes),
        ("--plain-search", args.route.input.plain_search),
    ];
    let switches = switches.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned());
    lanes.into_iter().chain(files.flatten()).chain(by.into_iter().flatten()).chain(switches).collect()
}

/// Name of a plan for a stage: `nue-first.plan` beside `nue.plan`.
fn staged_file(plan: &Path, which: &str) -> PathBuf {
    let plan = if output_file::is_stdout(plan) { Path::new("staged.plan") } else { plan };
    let stem = plan.file_stem().unwrap_or_default().to_string_lossy();
    let end = plan.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    plan.with_file_name(format!("{stem}-{which}{end}"))
}

fn to_strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

fn quote_path(path: &Path) -> String {
    quote_word(&path.to_string_lossy())
}

/// Quotes a word for a shell.
fn quote_word(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./:,=@%+".contains(sign);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        globals: GlobalArgs,
        #[command(subcommand)]
        command: RouteCommand,
    }

    #[derive(clap::Subcommand)]
    enum RouteCommand {
        Route(RoutePlanArgs),
    }

    #[test]
    fn the_commands_repeat_the_given_flags_only() {
        let staged = |words: &[&str]| {
            let line = Line::try_parse_from([&["fabdeck"], words].concat()).unwrap();
            let RouteCommand::Route(args) = &line.command;
            let staged = StagedTransition { through: Some("updn".into()), ..StagedTransition::default() };
            let mut report = TransitionReport { staged: Some(staged), ..TransitionReport::default() };
            add_commands(&mut report, &line.globals, args);
            report.staged.unwrap().commands
        };
        let plain = staged(&["--source", "sim:./lab.sock", "route", "--engine", "nue", "-o", "a/nue.plan"]);
        assert_eq!(
            plain,
            [
                "fabdeck --source sim:./lab.sock route --engine updn --lanes 1 -o a/nue-first.plan",
                "fabdeck --source sim:./lab.sock apply a/nue-first.plan",
                "fabdeck confirm ID",
                "fabdeck --source sim:./lab.sock route --engine nue -o a/nue-second.plan",
                "fabdeck --source sim:./lab.sock apply a/nue-second.plan",
                "fabdeck confirm ID",
            ]
        );
        let all = staged(&[
            "--source",
            "umad",
            "--state-dir",
            "my state",
            "--config",
            "c.toml",
            "route",
            "--engine",
            "nue",
            "--fail",
            "link:it's[3]",
            "--switches",
            "--lanes-in-force",
            "one",
            "--lanes",
            "2",
            "--roots",
            "r.txt",
            "--jobs",
            "j.txt",
            "--lanes-by",
            "destination",
            "-o",
            "-",
        ]);
        let options = "--config c.toml --state-dir 'my state'";
        assert_eq!(
            all[3],
            format!(
                r"fabdeck --source umad {options} route --engine nue --fail 'link:it'\''s[3]' --switches --lanes-in-force one --lanes 2 --roots r.txt --jobs j.txt --lanes-by destination -o staged-second.plan"
            )
        );
        assert!(
            !all[0].contains("roots") && all[0].contains("--switches --lanes-in-force one"),
            "{}",
            all[0]
        );
        assert_eq!(all[1], format!("fabdeck --source umad {options} --allow-write apply staged-first.plan"));
        assert_eq!(all[2], format!("fabdeck {options} confirm ID"));
    }
}
