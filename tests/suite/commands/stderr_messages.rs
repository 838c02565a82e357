//! What is said on stderr: what was perhaps meant, why a command ends with 2, and in lines that a terminal can hold.

use std::ffi::OsString;

use unicode_width::UnicodeWidthStr;

use super::test_system::{CommandResult, fabdeck};
use fabdeck::catalogue::exit::Exit;
use fabdeck::script;
use fabdeck::script::terminal_info::TerminalInfo;
use fabdeck::system::local_access::LocalSystemAccess;

/// A command line over simulated fabrics.
pub fn simulated(args: &[&str], terminal: &TerminalInfo) -> CommandResult {
    let args = std::iter::once("fabdeck").chain(args.iter().copied()).map(OsString::from);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = script::run::run(args, &LocalSystemAccess::default(), terminal, &mut out, &mut err);
    let script::run::CliResult::Exit(exit) = ended else { panic!("a console") };
    let [out, err] = [out, err].map(|bytes| String::from_utf8(bytes).unwrap());
    CommandResult { exit, out, err }
}

#[test]
fn near_misses_name_what_was_perhaps_meant() {
    for (args, meant) in [
        (&["--source", "small", "whatif", "--engine", "minhopp"][..], "(did you mean minhop?)"),
        (&["--source", "routed", "route", "--engine", "dfssp", "-o", "-"], "(did you mean dfsssp or sssp?)"),
        (&["--source", "small", "check", "--assume", "updown"], "(did you mean updn?)"),
        (&["--source", "small", "show", "links", "--fields", "spead"], "(did you mean speed?)"),
        (&["--source", "small", "show", "links", "--filter", "widht=4x"], "(did you mean width?)"),
        (&["generate", "tours"], "(did you mean taurus or torus?)"),
    ] {
        let ended = simulated(args, &TerminalInfo::default());
        let here = if args.contains(&"generate") { ended } else { fabdeck(args) };
        assert_eq!(here.exit, Exit::Usage, "{args:?}: {}", here.err);
        assert!(here.err.contains(meant), "{args:?}: {}", here.err);
    }
    let far = fabdeck(&["--source", "small", "whatif", "--engine", "zzz"]).err;
    assert!(far.contains("'zzz'; the engines are minhop"), "{far}");
}

/// `fabdeck PATH` opens what is there; a word that is nothing is told as both.
#[test]
fn a_path_that_is_there_is_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("site.net");
    let file = file.to_str().unwrap();
    let generate = simulated(&["generate", "demo", "-o", file], &TerminalInfo::default());
    assert_eq!(generate.exit, Exit::Done, "{}", generate.err);
    let named = simulated(&["--source", file, "show", "fabric"], &TerminalInfo::default());
    let opened = simulated(&[file, "show", "fabric"], &TerminalInfo::default());
    assert_eq!((opened.exit, &opened.out), (Exit::Done, &named.out), "{}", opened.err);
    let after = simulated(&["--json", file, "show", "fabric"], &TerminalInfo::default());
    assert!(after.exit == Exit::Done && after.out.starts_with('{'), "{}", after.err);
    let missing = simulated(&["chekc"], &TerminalInfo::default());
    assert_eq!(missing.exit, Exit::Usage);
    assert!(
        missing.err.contains("'chekc' is neither a command nor an existing file or folder"),
        "{}",
        missing.err
    );
    // What a command lacks is looked for at that command.
    let lacking = simulated(&["--source", "sim:demo", "show", "overview"], &TerminalInfo::default());
    let hint = "'show' has no 'overview': 'fabdeck show --help' lists its arguments";
    assert!(lacking.exit == Exit::Usage && lacking.err.contains(hint), "{}", lacking.err);
    assert!(!lacking.err.contains("file or folder"), "{}", lacking.err);
    let twice = simulated(&["--source", "sim:demo", file, "show", "fabric"], &TerminalInfo::default());
    assert_eq!(twice.exit, Exit::Usage, "{}", twice.out);
}

#[test]
fn blanks_after_commas_are_taken_or_explained() {
    let quoted = fabdeck(&["--source", "small", "whatif", "--engine", "minhop, updn", "--no-times"]);
    let plain = fabdeck(&["--source", "small", "whatif", "--engine", "minhop,updn", "--no-times"]);
    assert_eq!((quoted.exit, quoted.out), (plain.exit, plain.out));
    for option in [&["whatif", "--engine"][..], &["show", "links", "--fields"]] {
        let ended = fabdeck(&[&["--source", "small"], option, &["a,", "b"]].concat());
        assert_eq!(ended.exit, Exit::Usage);
        assert!(ended.err.contains("tip: write a list without blanks after its commas"), "{}", ended.err);
    }
    let other = fabdeck(&["--source", "small", "whatif", "--engin", "minhop"]).err;
    assert!(!other.contains("its commas"), "{other}");
}

#[test]
fn what_ends_with_2_names_the_engine_and_what_was_found() {
    let args = ["--source", "sim:torus,dims=5", "whatif", "--engine", "minhop,updn", "--no-times"];
    let ended = simulated(&args, &TerminalInfo::default());
    assert_eq!(ended.exit, Exit::Findings);
    assert!(
        ended
            .err
            .contains("fabdeck: minhop: there is a credit loop: packets can wait for each other forever\n"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("updn: packets"), "{}", ended.err);
    let clean = ["--source", "sim:torus,dims=5", "whatif", "--engine", "updn", "--no-times"];
    let ended = simulated(&clean, &TerminalInfo::default());
    assert_eq!((ended.exit, ended.err.as_str()), (Exit::Done, ""));
    let args = ["--source", "sim:torus,dims=5", "route", "--engine", "sssp", "-o", "-"];
    let ended = simulated(&args, &TerminalInfo::default());
    assert_eq!(ended.exit, Exit::Findings);
    assert!(ended.err.contains("sssp: there is a credit loop: packets can wait"), "{}", ended.err);
}

/// All links between the switches of a ring gone, and one host on each of them.
#[test]
fn a_fabric_in_which_nothing_is_reached_is_not_well() {
    let random = ["whatif", "--fail-random", "99", "--engine", "minhop,updn", "--no-times"];
    let source = ["--source", "sim:torus,dims=5,terminals=1"];
    let ended = simulated(&[&source[..], &random].concat(), &TerminalInfo::default());
    assert_eq!(ended.exit, Exit::Findings, "{}", ended.out);
    let row = ended.out.lines().find(|line| line.starts_with("minhop")).unwrap();
    assert_eq!(row.split_whitespace().nth(1), Some("all"), "{}", ended.out);
    assert!(ended.err.contains("minhop: not one of 20 pairs has a path"), "{}", ended.err);
    // Where a pair is left, what is cut off is no fault of routes.
    let source = ["--source", "sim:torus,dims=5,terminals=2"];
    let ended = simulated(&[&source[..], &random].concat(), &TerminalInfo::default());
    assert_eq!(ended.exit, Exit::Done, "{}", ended.out);
    assert_eq!(ended.err, "fabdeck: 5 random links are marked of 99 requested: there are no more\n");
}

#[test]
fn elements_go_by_their_name_alone_and_by_what_they_resemble() {
    let marked = |element: &str| {
        let ended = fabdeck(&["--source", "crowded", "whatif", "--engine", "updn", "--fail", element]);
        let line = ended.out.lines().find_map(|line| line.strip_prefix("failed    ")).map(str::to_owned);
        (line.unwrap_or_default(), ended.err)
    };
    for (typed, meant) in [
        ("leaf0", "switch:leaf0"),
        ("switch:leaf0", "switch:leaf0"),
        ("leaf0/4", "link:leaf0[4]"),
        ("port:leaf0/4", "port:leaf0[4]"),
    ] {
        assert_eq!(marked(typed).0, meant, "{typed}");
    }
    let (_, wrong) = marked("leaf-0");
    assert!(wrong.contains("FD-1102: no node is called 'leaf-0'; similar: leaf0"), "{wrong}");
    let (_, wrong) = marked("cable:leaf0");
    assert!(wrong.contains("FD-1101") && wrong.contains("or a name alone"), "{wrong}");
}

/// What was not read is neither lost nor found.
#[test]
fn pairs_over_tables_that_were_not_read_are_not_known() {
    let ended = fabdeck(&["--source", "deaf", "check", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    // Three hosts behind the leaf, of nine: to themselves, to the others and from them.
    let among = 3 * 2 + 2 * 3 * 6;
    assert_eq!((&told["unread_pairs"], &told["unreachable"]), (&among.into(), &0.into()), "{told}");
    assert_eq!((&told["lost"], &told["lost_lids"]), (&serde_json::json!([]), &0.into()));
    assert_eq!(told["partial"], true);
    assert_eq!(ended.exit, Exit::Done, "{}", ended.err);
    assert_eq!(fabdeck(&["--source", "deaf", "check", "--strict"]).exit, Exit::Findings);
    let text = fabdeck(&["--source", "deaf", "check"]).out;
    assert!(text.contains("unreachable   none known"), "{text}");
    assert!(text.contains(&format!("the tables of 1 switch; {among} pairs lead there")), "{text}");
    // Of a source that is whole the same table leads nowhere.
    let whole = simulated(&["--source", "sim:kary,k=3,n=2", "check"], &TerminalInfo::default()).out;
    assert!(whole.contains("unreachable   none\n"), "{whole}");
}

/// Whatever ends with 2 says why among what it prints.
#[test]
fn findings_stand_in_the_answer() {
    let ended = simulated(&["--source", "sim:torus,dims=5,hosts=1", "check"], &TerminalInfo::default());
    assert_eq!(ended.exit, Exit::Findings, "{}", ended.err);
    assert!(ended.out.contains("finding       there is no pair of hosts to certify"), "{}", ended.out);
    let told = fabdeck(&["--source", "ring", "check", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert!(told["findings"].as_array().is_some_and(|all| !all.is_empty()), "{told}");
}

/// Nine adapters of one name: each is told by where it hangs.
#[test]
fn equal_names_are_distinguished_where_paths_are_shown() {
    let out = simulated(&["--source", "sim:demo", "check", "--switches"], &TerminalInfo::default()).out;
    let witnesses: Vec<&str> = out.lines().filter(|line| line.contains("Aggregation Node")).collect();
    assert!(!witnesses.is_empty(), "{out}");
    assert!(witnesses.iter().all(|line| line.contains("Aggregation Node[1] at ")), "{witnesses:?}");
    assert!(out.contains("rack1-leaf[") && !out.contains("rack1-leaf 0x"), "{out}");
}

#[test]
fn prose_is_wrapped_on_a_terminal_and_nowhere_else() {
    let args = ["--source", "sim:torus,dims=5", "whatif", "--engine", "minhop", "--fail-random", "3", "-v"];
    let args = [&args[..], &["--no-times"]].concat();
    let piped = simulated(&args, &TerminalInfo::default());
    assert!(piped.out.lines().chain(piped.err.lines()).any(|line| line.width() > 60), "{}", piped.out);
    for (columns, room) in [(Some(60), 60), (None, 80)] {
        let terminal =
            TerminalInfo { stdout: true, stderr: true, no_color: true, columns, ..TerminalInfo::default() };
        let ended = simulated(&args, &terminal);
        let head = ended.out.lines().take_while(|line| !line.is_empty());
        for line in head.chain(ended.err.lines()) {
            assert!(line.width() <= room, "{columns:?}: {line}");
        }
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (wrapped, whole) = (ended.out.split("\n\n").next(), piped.out.split("\n\n").next());
        assert_eq!(wrapped.map(words), whole.map(words));
    }
}

#[test]
fn engines_tell_nothing_of_their_progress_but_to_a_terminal() {
    let base = ["--source", "sim:torus,dims=4x4", "whatif", "--engine", "updn", "--no-times"];
    let watched = TerminalInfo { stderr: true, ..TerminalInfo::default() };
    let said = |more: &[&str], terminal: &TerminalInfo| simulated(&[&base[..], more].concat(), terminal).out;
    assert_eq!(said(&[], &watched), said(&[], &TerminalInfo::default()));
    for (more, terminal) in [(&[][..], &TerminalInfo::default()), (&["--json"], &watched)] {
        assert_eq!(simulated(&[&base[..], more].concat(), terminal).err, "");
    }
}

#[test]
fn millions_of_lanes_are_read_only_on_request() {
    let tree = fabdeck(&["--source", "crowded", "check"]);
    assert_eq!(tree.exit, Exit::Done);
    assert!(tree.out.contains("free: no cycle of dependencies, whatever lanes are used"), "{}", tree.out);
    assert!(tree.err.contains("reading the lane tables takes 5,000,000 requests"), "{}", tree.err);
    let plan = tempfile::tempdir().unwrap();
    let plan = plan.path().join("a.plan").display().to_string();
    let route = ["route", "--engine", "updn", "--force", "-o", &plan];
    for (source, price) in
        [("crowded ring", "takes 5,000,000 requests"), ("talkative ring", "take 7,000,000 queries")]
    {
        for command in [&["check"][..], &route] {
            let said = fabdeck(&[&["--source", source], command].concat()).err;
            assert!(said.contains(price) && !said.contains("all lanes were read"), "{command:?}: {said}");
        }
    }
    // Who asks for lanes gets them.
    let asked = fabdeck(&["--source", "crowded", "check", "--lanes", "sampled"]).err;
    assert!(asked.contains("all lanes were read") && !asked.contains("5,000,000"), "{asked}");
    // `unknown` reads nothing.
    let unknown = [&["--source", "crowded"], &route[..], &["--lanes-in-force", "unknown"]].concat();
    assert!(!fabdeck(&unknown).err.contains("lanes"));
}

#[test]
fn no_engine_with_routes_is_a_finding() {
    let none = fabdeck(&["--source", "ring", "whatif", "--engine", "ftree"]);
    assert_eq!(none.exit, Exit::Findings);
    assert!(none.err.contains("no engine found routes"), "{}", none.err);
    let some = fabdeck(&["--source", "ring", "whatif", "--engine", "ftree,updn"]);
    assert_eq!(some.exit, Exit::Done);
}
