//! Plots of a study: pictures, the page, and what a terminal shows.

use std::fs;

use serde_json::Value;

use super::hand_made::make_study;
use super::study_runs::StudyHome;

/// A picture without its style sheet, which is the same in all.
fn without_style(picture: &str) -> String {
    let (before, rest) = picture.split_once("<style>").unwrap();
    format!("{before}<style>...{}", &rest[rest.find("</style>").unwrap()..])
}

#[test]
fn each_kind_of_figure_is_a_picture_of_its_own() {
    let home = StudyHome::new();
    make_study(&home);
    let answer: Value =
        serde_json::from_str(&home.text(&["study", "plot", "results", "-o", "plots", "--json"])).unwrap();
    let schemas = fabdeck::script::schemas::schemas();
    let schema: Value = serde_json::from_str(&schemas["study-plot.json"]).unwrap();
    assert_eq!(crate::commands::json::violations(&schema, &answer), [""; 0]);
    let lines = answer["figures"].as_array().unwrap().iter().map(|figure| {
        let text = |key: &str| figure[key].as_str().unwrap().to_owned();
        format!("{}  {}", text("file"), text("title"))
    });
    insta::assert_snapshot!("plot_files", lines.collect::<Vec<_>>().join("\n"));
    for file in answer["figures"].as_array().unwrap() {
        let file = file["file"].as_str().unwrap();
        let picture = fs::read_to_string(home.path("plots").join(file)).unwrap();
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{file}");
        assert!(picture.contains("xmlns=\"http://www.w3.org/2000/svg\""), "{file}");
        let kind = file.trim_end_matches(".svg").split('-').nth(1).unwrap();
        let is_shown = ["fits", "whiskers", "latency"].contains(&kind) && file.contains("torus");
        if is_shown || file == "02-bars.svg" {
            let name = format!("plot_{}", file.trim_end_matches(".svg").replace('-', "_"));
            insta::assert_snapshot!(name, without_style(&picture));
        }
    }
}

#[test]
fn the_page_needs_nothing_else_and_names_what_has_no_value() {
    let home = StudyHome::new();
    make_study(&home);
    home.run(&["study", "plot", "results", "-o", "plots"]);
    let page = fs::read_to_string(home.path("plots/index.html")).unwrap();
    for outside in ["http:", "https:", "<script", "src=", "href", "url(", "@import", "<link", "<img"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for found in [
        "values &lt;by hand&gt;",
        "default-src &#39;none&#39;",
        "prefers-color-scheme:dark",
        "@media print",
        "dor: 3 refused, 2 deadlock",
        "updn: 3 incomplete",
        "i incomplete, r refused",
        "1 to 3",
        "1.1.1 (generator, engines, simulator)",
        "fabdeck study run study.toml -o results\nfabdeck study plot results -o plots",
        "kind = &quot;permutation&quot;\ntime = &quot;10us&quot;",
    ] {
        assert!(page.contains(found), "{found}");
    }
    // An earlier page stays unless it is to be overwritten; then the bytes are the same.
    let again = home.command(&["study", "plot", "results", "-o", "plots"]).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stderr));
    home.run(&["study", "plot", "results", "-o", "plots", "--force"]);
    assert_eq!(fs::read_to_string(home.path("plots/index.html")).unwrap(), page);
    let filtered = ["study", "plot", "results", "-o", "few", "--filter", "engine=nue"];
    home.run(&filtered);
    let few = fs::read_to_string(home.path("few/index.html")).unwrap();
    assert!(!few.contains("dfsssp:") && few.contains("--filter &#39;engine=nue&#39;"), "{few}");
    for (args, code, found) in [
        (&["study", "plot", "results", "-o", "x", "--filter", "engine=lash"][..], 7, "FD-9450"),
        (&["study", "plot", "results", "--terminal", "--json"], 64, "FD-9451"),
        (&["study", "plot", "results"], 64, "--output"),
    ] {
        let output = home.command(args).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(message.contains(found), "{args:?}: {message}");
    }
}

#[test]
fn a_terminal_shows_the_same_figures_in_its_width() {
    let home = StudyHome::new();
    make_study(&home);
    let shown = |locale: &str| {
        let mut command =
            home.command(&["study", "plot", "results", "--terminal", "--filter", "topology~torus"]);
        let output = command.env("LC_ALL", locale).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (utf8, ascii) = (shown("C.UTF-8"), shown("C"));
    assert!(utf8.lines().chain(ascii.lines()).all(|line| line.chars().count() <= 80));
    assert!(ascii.is_ascii(), "{ascii}");
    insta::assert_snapshot!("terminal_plot", utf8);
    insta::assert_snapshot!("terminal_plot_ascii", ascii);
}
