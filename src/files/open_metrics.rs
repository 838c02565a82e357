//! OpenMetrics 1.0 from the text format of Prometheus. Counters have their name without `_total` in their descriptions,
//! and `NAME_info` is of a type of its own.

/// The same metrics as OpenMetrics. `text` is what this program writes: each family once, its description first.
pub fn open_metrics(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut help: Option<(&str, &str)> = None;
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            // The name in the description depends on the type, which is on the next line.
            help = described.split_once(' ');
        } else if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (name, kind) = typed.split_once(' ').unwrap_or((typed, "unknown"));
            let (family, kind) = family_of(name, kind);
            out.push_str(&format!("# TYPE {family} {kind}\n"));
            if let Some((_, words)) = help.take() {
                out.push_str(&format!("# HELP {family} {}\n", words.replace('"', "\\\"")));
            }
        } else if !line.is_empty() {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.push_str("# EOF\n");
    out
}

/// The family and the type of a metric.
fn family_of<'n>(name: &'n str, kind: &'n str) -> (&'n str, &'n str) {
    match (kind, name.strip_suffix("_total"), name.strip_suffix("_info")) {
        ("counter", Some(family), _) => (family, kind),
        ("gauge", _, Some(family)) => (family, "info"),
        _ => (name, kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_the_names_of_the_format() {
        let text = "# HELP a_total what \"a\" counts\n# TYPE a_total counter\na_total{x=\"1\"} 2\n\
                    # HELP b_info what b is\n# TYPE b_info gauge\nb_info{v=\"1\"} 1\n\
                    # HELP c how warm\n# TYPE c gauge\nc NaN\n";
        assert_eq!(
            open_metrics(text),
            "# TYPE a counter\n# HELP a what \\\"a\\\" counts\na_total{x=\"1\"} 2\n\
             # TYPE b info\n# HELP b what b is\nb_info{v=\"1\"} 1\n\
             # TYPE c gauge\n# HELP c how warm\nc NaN\n# EOF\n"
        );
    }
}
