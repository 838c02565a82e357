//! The page of a study in headless Chromium, at the width of a phone and of a desk. Set `FABDECK_LONG=1` to run it; the pictures
//! stay in the target folder.

use std::fs;
use std::path::PathBuf;

use super::hand_made::make_study;
use super::study_runs::StudyHome;
use crate::commands::report_pages::photograph;

#[test]
fn plots_fit_a_phone_and_a_desk() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let home = StudyHome::new();
    make_study(&home);
    home.run(&["study", "plot", "results", "-o", "plots"]);
    let page = fs::read_to_string(home.path("plots/index.html")).unwrap();
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("study");
    for (name, settings) in [("plots", &[][..]), ("plots-dark", &["--blink-settings=preferredColorScheme=0"])]
    {
        photograph((home.0.path(), &pictures), (name, &page), settings);
    }
}
