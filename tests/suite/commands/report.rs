//! `report`: one page without scripts, with everything that is known and nothing that is not.

use super::binary::{fabdeck, home};

fn run(home: &tempfile::TempDir, args: &[&str]) -> (String, String) {
    let ended = fabdeck(home).args(args).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{args:?}: {ended:?}");
    (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap())
}

fn page(home: &tempfile::TempDir, source: &str, more: &[&str]) -> String {
    run(home, &[&["--source", source, "report", "-o", "-", "--no-times"][..], more].concat()).0
}

/// Fails if an element has no end, or ends within another one.
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("a tag has no end: {part}"));
        let name = tag.split(' ').next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "before {part}"),
            None if name.starts_with('!') || ["meta", "br"].contains(&name) => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
}

/// What a page may not have: scripts, and anything that a browser fetches.
const REFUSED: &[&str] = &[
    "<script",
    "javascript:",
    "http://",
    "https://",
    "src=",
    "href=",
    "@import",
    "<link",
    "<iframe",
    "onload=",
];

#[test]
fn a_report_is_one_page_without_scripts_that_names_what_health_finds() {
    let home = home();
    let page = page(&home, "sim:demo", &[]);
    assert_well_formed(&page);
    for refused in REFUSED {
        assert!(!page.contains(refused), "{refused}");
    }
    let json = fabdeck(&home).args(["--source", "sim:demo", "health", "--json"]).output().unwrap();
    let health: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let problems = health["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 3);
    for problem in problems {
        // The share of the time differs between readings.
        let id = problem["id"].as_str().unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        assert!(page.contains(problem["next"].as_str().unwrap()), "{problem}");
    }
    for wanted in ["1 critical problem, 2 warnings", "20 of 81 shown", "rack6-leaf", "▲ errors", "▲ 1x HDR"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert_eq!(page.matches("class=\"cable ").count(), 36, "each cable between switches is a line");
    assert_eq!(page.matches("class=\"host ").count(), 36);
}

/// A description of a node is what a device sends, and may be anything.
#[test]
fn hostile_names_stay_text() {
    const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>";
    let home = home();
    let topology = run(&home, &["convert", "sim:demo", "--to", "ibnetdiscover", "-o", "-"]).0;
    let hostile = topology.replace("rack1-leaf", EVIL).replace("node01", "\u{202e}&amp;node");
    std::fs::write(home.path().join("evil.topo"), hostile).unwrap();
    let page = page(&home, "evil.topo", &[]);
    assert_well_formed(&page);
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name is there, as text");
    assert!(page.contains("\\u{202e}&amp;amp;node") && !page.contains('\u{202e}'));
}

#[test]
fn what_a_source_does_not_have_is_not_known_and_never_zero() {
    let home = home();
    run(&home, &["convert", "sim:demo", "--to", "ibnetdiscover", "-o", "demo.topo"]);
    let page = page(&home, "demo.topo", &[]);
    for wanted in ["○ not known: ", "no figure of a cable is known", "the source has none (--assume ENGINE)"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    for zero in ["0 Gb/s", "0 /s", "0 % of time"] {
        assert!(!page.contains(&format!(">{zero}")), "{zero}");
    }
    assert_eq!(page.matches("class=\"host unknown\"").count(), 36);
}

#[test]
fn a_capture_shows_its_recording_up_to_a_moment() {
    let home = home();
    let capture = concat!(env!("FABDECK_ROOT"), "/captures/incast");
    let whole = page(&home, capture, &[]);
    for wanted in ["State at 2026-10-19 09:02:00", "over 2 min", "09:00:35", "hot-spot: node0", "09:01:00"] {
        assert!(whole.contains(wanted), "{wanted}");
    }
    let early = page(&home, capture, &["--at", "09:00:20"]);
    assert!(early.contains("State at 2026-10-19 09:00:20") && early.contains("No open problem"), "{early}");
    assert!(early.contains("--at 09:00:20 report") && !early.contains("09:00:35"));
}

#[test]
fn a_large_fabric_is_a_table_of_pairs() {
    let home = home();
    let page = page(&home, "sim:kary,k=8,n=3", &["--intervals", "1"]);
    assert_well_formed(&page);
    assert!(page.contains("rows send,") && page.contains("20 of 1,536 shown"));
    assert_eq!(page.matches("class=\"cell q0\"").count(), 64);
}

#[test]
fn a_report_never_replaces_a_file_and_is_the_same_again() {
    let home = home();
    let args = ["--source", "sim:demo", "report", "-o", "a.html", "--no-times"];
    run(&home, &args);
    let first = std::fs::read(home.path().join("a.html")).unwrap();
    let again = fabdeck(&home).args(args).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("FD-7922"), "{again:?}");
    run(&home, &[&args[..], &["--force"]].concat());
    assert!(std::fs::read(home.path().join("a.html")).unwrap() == first);
    let left = std::fs::read_dir(home.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("html"));
    assert_eq!(left.count(), 1, "no temporary file is left");
}

#[test]
fn on_a_phone_cables_are_blocks_and_the_map_says_that_it_moves() {
    let page = page(&home(), "sim:demo", &[]);
    for wanted in [
        "<table class=\"stack\">",
        "<td data-label=\"STATE\">",
        "data-label=\"ERRORS COUNTED\"",
        ".stack td[data-label]::before{content:attr(data-label)",
        "<p class=\"sideways\">The map is wider than this screen",
        "since their counters were cleared",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn raw_answers_are_of_live_fabrics_and_come_as_a_new_file() {
    let home = home();
    let source = "sim:kary,k=2,n=2,wire=all";
    let (text, _) = run(&home, &["--source", source, "report", "--hardware", "-o", "-"]);
    assert!(text.starts_with("# fabdeck report --hardware, format 1") && !text.contains(source), "{text}");
    assert!(text.contains("NodeInfo: answered"), "{text}");
    // The same source has the same text, in the usual file too.
    let json = run(&home, &["--source", source, "report", "--hardware", "--json"]).0;
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((answer["file"].as_str(), answer["kinds"].as_u64()), (Some("fabdeck-hardware.txt"), Some(2)));
    assert_eq!(std::fs::read_to_string(home.path().join("fabdeck-hardware.txt")).unwrap(), text);
    for (args, code) in [
        (&["--source", "capture.fdc", "report", "--hardware"][..], "FD-5069"),
        (&["--source", "capture.fdc", "--at", "10s", "report", "--hardware"], "FD-7343"),
    ] {
        let args = [args, &["-o", "other.txt"]].concat();
        let ended = fabdeck(&home).args(&args).output().unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(64) && error.contains(code), "{args:?}: {error}");
        assert!(error.contains("umad") && !home.path().join("other.txt").exists(), "{error}");
    }
}
