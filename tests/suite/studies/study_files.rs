//! Study files that are refused, with line and key, before anything runs.

use std::fs;

use super::study_runs::StudyHome;

const GOOD: &str = "name = \"x\"\n[[topology]]\nname = \"kary,k=2,n=2\"\n[engines]\nuse = [\"updn\"]\n[[measure]]\nkind = \"routes\"\n";

#[test]
fn a_mistake_is_named_with_line_and_key_and_nothing_runs() {
    let home = StudyHome::new();
    for (from, to, line, found) in [
        ("name = \"x\"", "name = ", 1, "FD-9400"),
        ("name = \"x\"", "title = \"x\"", 1, "FD-9401: 'title' is no key of the study"),
        ("name = \"x\"", "title = \"x\"", 1, "FD-9403: the study has no 'name'"),
        ("use =", "using =", 5, "FD-9401: 'using' is no key of [engines]"),
        ("[\"updn\"]", "[\"updown\"]", 5, "FD-9408: there is no engine 'updown'"),
        ("kary,k=2,n=2", "karry,k=2", 3, "FD-3001"),
        ("\"routes\"", "\"rootes\"", 7, "FD-9409: 'rootes' is no kind of measure"),
        ("\"routes\"", "\"routes\"\nmessage = 2", 8, "FD-9401: 'message' is no key of [[measure]] 1"),
        ("\"routes\"", "\"uniform\"\nload = 2", 8, "FD-9404: 'load' of [[measure]] 1: '2' is not possible"),
        ("\"routes\"", "\"exchange\"\nmessage = [1]", 8, "FD-9402: 'message'"),
        ("[engines]", "[faults]\nlinks = \"101%\"\n[engines]", 5, "FD-9404: 'links' of [faults]"),
        ("[engines]", "[faults]\nlinks = 1\nratio = 2\n[engines]", 4, "FD-9407"),
        (
            "[engines]",
            "[faults]\nlink = 1\n[engines]",
            5,
            "FD-9401: 'link' is no key of [faults] (did you mean links or links_a_year?)",
        ),
        (
            "[engines]",
            "[faults]\nlinks = 1\nyears = 2\n[engines]",
            5,
            "FD-9401: 'links' of [faults] does not go with",
        ),
        ("use =", "lane = [2]\nuse =", 5, "FD-9401: 'lane' is no key of [engines] (did you mean lanes?)"),
        (
            "[[m",
            "[engines.updn]\nlane = 2\n[[m",
            7,
            "'lane' is no key of [engines.updn] (did you mean lanes?)",
        ),
        (
            "[[m",
            "[engines.updn]\nplain_search = true\n[[m",
            6,
            "FD-9417: 'plain_search' is of no use to the engine updn",
        ),
        (
            "[[m",
            "[engines.updn]\nspread_lanes = 1\n[[m",
            7,
            "FD-9402: 'spread_lanes' of [engines.updn] has to be true or false",
        ),
        (
            "\"routes\"",
            "\"exchange\"\nshift = 1",
            8,
            "'shift' is no key of [[measure]] 1 (did you mean shifts?)",
        ),
        ("[engines]", "[settings]\nflight = \"43\"\n[engines]", 5, "FD-9404: 'flight' of [settings]"),
        ("name = \"kary,k=2,n=2\"", "file = \"a\"\nsource = \"b\"", 2, "FD-9406"),
        ("[[measure]]\nkind = \"routes\"\n", "", 1, "FD-9405: the study has no [[measure]]"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        fs::write(home.path("bad.toml"), text).unwrap();
        let output = home.command(&["study", "run", "bad.toml", "-o", "bad"]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(7), "{to}: {message}");
        let expected = format!("bad.toml:{line}: ");
        let is_named = message.lines().any(|text| text.contains(&expected) && text.contains(found));
        assert!(is_named, "{to}: no '{expected}...{found}' in {message}");
        assert!(!home.path("bad").exists(), "{to}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_named_each_on_a_line() {
    let home = StudyHome::new();
    fs::write(home.path("bad.toml"), GOOD.replace("updn", "updown").replace("routes", "rootes")).unwrap();
    let output = home.command(&["study", "run", "bad.toml", "-o", "bad"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let errors: Vec<&str> =
        message.lines().filter(|line| line.starts_with("fabdeck: error: bad.toml:")).collect();
    // That the study has no measure besides would mislead.
    assert_eq!(errors.len(), 2, "{message}");
}

/// What a study names and what is not there is refused with its line and key, and leaves no folder that would refuse the
/// file once it is mended.
#[test]
fn a_fabric_that_is_not_there_leaves_no_folder() {
    let home = StudyHome::new();
    let study = |entry: &str| GOOD.replace("name = \"kary,k=2,n=2\"", entry);
    let own = ["study", "run", "own.toml", "-o", "own"];
    for (entry, code, wanted) in [
        ("file = \"gone.net\"", 7, "own.toml:3: 'file' of [[topology]]: FD-5003"),
        ("source = \"--source\"", 64, "own.toml:3: 'source' of [[topology]]: FD-9413"),
    ] {
        fs::write(home.path("own.toml"), study(entry)).unwrap();
        let output = home.command(&own).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(wanted), "{message}");
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(!home.path("own").exists(), "{wanted}");
    }
    let mended = study("source = \"--source\"").replace("routes", "exchange");
    fs::write(home.path("own.toml"), mended).unwrap();
    home.run(&["--source", "sim:kary,k=2,n=2", "study", "run", "own.toml", "-o", "own"]);
    // The page says how to make it again from what the folder has.
    home.run(&["study", "plot", "own", "-o", "plots"]);
    let page = fs::read_to_string(home.path("plots/index.html")).unwrap();
    assert!(page.contains("fabdeck --source topology-0.net study run study.toml"), "{page}");
    let costs = home.text(&["-v", "study", "status", "own"]);
    assert!(
        costs.lines().any(|line| line.starts_with("costs") && line.contains("updn, exchange: ")),
        "{costs}"
    );
    assert!(!home.text(&["--no-times", "study", "status", "own"]).contains("costs"));
}

/// Tables of a dump as the engine `file`, and nue by search alone: cells of their own names.
#[test]
fn engines_take_files_and_options_of_a_study() {
    let home = StudyHome::new();
    home.run(&["generate", "kary,k=2,n=3", "-o", "fabric.net"]);
    home.run(&["--source", "fabric.net", "route", "--engine", "updn", "-o", "updn.plan"]);
    home.run(&["convert", "fabric.net", "updn.plan", "--to", "lfts", "-o", "tables.lfts"]);
    let study = "name = \"own\"\n[[topology]]\nfile = \"fabric.net\"\n[engines]\nuse = [\"file\", \"updn\", \"nue\"]\nlanes = 2\n\
                 [engines.file]\ntables = \"tables.lfts\"\n[[measure]]\nkind = \"routes\"\n";
    fs::write(home.path("own.toml"), study).unwrap();
    home.run(&["study", "run", "own.toml", "-o", "own"]);
    let rows = |folder: &str| -> Vec<serde_json::Value> {
        let table = home.text(&["study", "table", folder, "--json"]);
        serde_json::from_str::<serde_json::Value>(&table).unwrap()["rows"].as_array().unwrap().clone()
    };
    let plain = rows("own");
    assert_eq!(plain.len(), 3);
    assert_eq!(plain[0]["status"], "done", "{}", plain[0]);
    for figure in ["efi_min", "efi_max", "efi_mean", "hops_max"] {
        assert_eq!(plain[0][figure], plain[1][figure], "{figure} of the tables and of their engine");
    }
    fs::write(home.path("tables.lfts"), "").unwrap();
    fs::write(
        home.path("own.toml"),
        study.replace("[[measure]]", "[engines.nue]\nplain_search = true\n[[measure]]"),
    )
    .unwrap();
    // The folder has the tables; only the cell of nue is another one.
    let again = home.text(&["study", "run", "own.toml", "-o", "own", "--update"]);
    assert!(again.contains("2 had a result before"), "{again}");
    let searched = rows("own");
    assert_ne!(searched[2]["cell"], plain[2]["cell"]);
    assert_ne!(
        searched[2]["efi_max"], plain[2]["efi_max"],
        "on a tree nue has routes of Up*/Down* without the option"
    );
}

#[test]
fn a_folder_of_another_study_is_refused_and_can_be_updated() {
    let home = StudyHome::new();
    fs::write(home.path("a.toml"), GOOD).unwrap();
    fs::write(home.path("b.toml"), GOOD.replace("[\"updn\"]", "[\"updn\", \"nue\"]")).unwrap();
    home.run(&["study", "run", "a.toml", "-o", "out"]);
    let refused = home.command(&["study", "run", "b.toml", "-o", "out"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(4));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("FD-9421"));
    let updated = home.text(&["study", "run", "b.toml", "-o", "out", "--update"]);
    assert!(updated.contains("1 had a result before"), "{updated}");
    for (args, code) in [
        (&["study", "run", "nothing-here"][..], 64),
        (&["study", "run", "nothing-here", "-o", "x"], 7),
        (&["study", "run", "-o", "x"], 64),
        (&["study", "run", "next-failures", "-o", "x"], 64),
        (&["study", "status", "x/y"], 7),
        (&["study", "table", "out", "-o", "table.txt"], 64),
    ] {
        let output = home.command(args).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(message.contains("FD-94"), "{message}");
    }
}

#[test]
fn a_cell_that_cannot_be_is_a_row_with_its_reason() {
    let home = StudyHome::new();
    let study = "name = \"x\"\n[[topology]]\nname = \"torus,dims=5\"\n[faults]\nlinks = [0, 40]\n[engines]\nuse = [\"ftree\", \"minhop\", \"dfsssp\"]\n\
                 lanes = [1]\n[[measure]]\nkind = \"exchange\"\nmessage = 50\n";
    fs::write(home.path("x.toml"), study).unwrap();
    home.run(&["study", "run", "x.toml", "-o", "out"]);
    let rows = home.text(&["study", "table", "out", "--fields", "link_faults,engine,status,why"]);
    insta::assert_snapshot!("reasons", rows);
    let filtered = home.text(&["study", "table", "out", "--filter", "status=deadlock", "--json"]);
    let filtered: serde_json::Value = serde_json::from_str(&filtered).unwrap();
    assert_eq!((filtered["rows"].as_array().unwrap().len(), filtered["missing"].as_u64()), (1, Some(0)));
}
