//! The words for elements that a plan takes as failed.

/// The names of failed elements with their verb: `spine-2 fails`, `spine-1 and 3 more fail`.
pub(super) fn failure_words(failed: &[String]) -> String {
    const NAMED: usize = 2;
    let name = |element: &String| {
        element.split_once(':').map_or_else(|| element.clone(), |(_, name)| name.to_owned())
    };
    let names: Vec<String> = failed.iter().take(NAMED).map(name).collect();
    let names = match failed.len() {
        0..=NAMED => names.join(" and "),
        more => format!("{} and {} more", names[0], more - 1),
    };
    format!("{names} {}", if failed.len() == 1 { "fails" } else { "fail" })
}
