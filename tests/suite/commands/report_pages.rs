//! Reports in headless Chromium, at the width of a phone and of a desk. The pictures stay in the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::binary::{fabdeck, home};

/// Name, source, and what differs from the setting of a reader with a light screen.
const REPORTS: &[(&str, &str, &[&str])] = &[
    ("demo", "sim:demo", &[]),
    ("demo-dark", "sim:demo", &["--blink-settings=preferredColorScheme=0"]),
    ("incast", concat!(env!("FABDECK_ROOT"), "/captures/incast"), &[]),
    ("large", "sim:kary,k=8,n=3", &[]),
];
const WIDTHS: [u32; 2] = [390, 1400];

fn chromium(folder: &Path, more: &[&str]) -> String {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display())).args(more);
    let ended = command.output().unwrap_or_else(|error| panic!("chromium (Debian: chromium): {error}"));
    assert!(ended.status.success(), "{ended:?}");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// A page with a report in a frame of this size. A window of Chromium is at least 500 wide, a frame may be as a phone. The
/// script is in this page, for the report has none.
fn framed(report: &str, (width, height): (u32, u32)) -> String {
    let source = report.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><meta charset=utf-8><body style=margin:0>\
         <iframe id=f style=\"border:0;display:block;width:{width}px;height:{height}px\" srcdoc=\"{source}\"></iframe>\
         <script>f.onload = () => {{\
           const page = f.contentDocument.documentElement;\
           document.body.dataset.found = [page.scrollWidth, page.clientWidth, page.scrollHeight].join(' ');\
         }}</script>"
    )
}

/// Width of the content, width of the frame, and height of the content.
fn measured(dom: &str) -> [u32; 3] {
    let (_, rest) = dom.split_once("data-found=\"").unwrap_or_else(|| panic!("nothing was measured: {dom}"));
    let numbers: Vec<u32> =
        rest.split('"').next().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Measures a page at both widths, where none is scrolled sideways, and stores a picture of each.
pub fn photograph((folder, pictures): (&Path, &Path), (name, page): (&str, &str), settings: &[&str]) {
    std::fs::create_dir_all(pictures).unwrap();
    std::fs::write(pictures.join(format!("{name}.html")), page).unwrap();
    for width in WIDTHS {
        let file = folder.join("framed.html");
        let address = format!("file://{}", file.display());
        std::fs::write(&file, framed(page, (width, 800))).unwrap();
        let dom = chromium(folder, &["--dump-dom", "--virtual-time-budget=5000", &address]);
        let [content, frame, height] = measured(&dom);
        assert_eq!((content, frame), (width, width), "{name} is scrolled sideways at {width}");
        std::fs::write(&file, framed(page, (width, height))).unwrap();
        let picture = pictures.join(format!("{name}-{width}.png"));
        let (size, to) = (
            format!("--window-size={},{height}", width.max(500)),
            format!("--screenshot={}", picture.display()),
        );
        chromium(folder, &[settings, &[size.as_str(), &to, &address][..]].concat());
        assert!(std::fs::metadata(&picture).is_ok_and(|picture| picture.len() > 20_000), "{name} {width}");
    }
}

/// Runs with `tests/run --long report`, which installs Chromium.
#[test]
fn reports_fit_a_phone_and_a_desk() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report");
    let home = home();
    for (name, source, settings) in REPORTS {
        let ended = fabdeck(&home).args(["--source", source, "report", "-o", "-"]).output().unwrap();
        let report = String::from_utf8(ended.stdout).unwrap();
        assert!(report.ends_with("</html>\n"), "{name}");
        photograph((home.path(), &pictures), (name, &report), settings);
    }
}
