//! The styles of plots: colours of the light and the dark theme, light on paper.

/// The number of colours of series.
pub const SERIES_COLOURS: usize = 8;

/// The style sheet: of a picture of its own, and of the page that has all.
pub const PLOT_STYLE: &str = r#"
:root{--plot-paper:#ffffff;--plot-text:#24292f;--plot-dim:#57606a;--plot-rule:#b6bec7;--plot-lines:#dde2e7;--plot-0:#0550ae;
--plot-1:#b95c00;--plot-2:#116329;--plot-3:#a8186d;--plot-4:#6f42c1;--plot-5:#0a6c94;--plot-6:#7a5300;--plot-7:#b31d28}
@media screen and (prefers-color-scheme:dark){:root{--plot-paper:#0d1117;--plot-text:#c9d1d9;--plot-dim:#8b949e;
--plot-rule:#36404b;--plot-lines:#242c35;--plot-0:#6cb6ff;--plot-1:#ff9f45;--plot-2:#57c785;--plot-3:#ff71b5;--plot-4:#c297ff;
--plot-5:#3fb8e0;--plot-6:#f2cc60;--plot-7:#ff6b6b}}
.figure{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
.figure text{fill:var(--plot-text);stroke:none}
.figure .title{font-size:16px;font-weight:600}.figure .soft{fill:var(--plot-dim)}
.figure .end{text-anchor:end}.figure .mid{text-anchor:middle}
.figure .paper{fill:var(--plot-paper)}.figure .lines{stroke:var(--plot-lines)}.figure .rule{stroke:var(--plot-rule)}
.figure .trend{fill:none;stroke:currentColor;stroke-width:1.6}
.figure .range{stroke:currentColor;stroke-width:1.2}
.figure .solid{fill:currentColor;stroke:currentColor}
.figure .outline{fill:var(--plot-paper);stroke:currentColor;stroke-width:1.4}
.figure .column{fill:currentColor;fill-opacity:.3;stroke:currentColor}
.figure .ring{fill:none;stroke:var(--plot-text);stroke-width:1.4}
.figure .s0{color:var(--plot-0)}.figure .s1{color:var(--plot-1)}.figure .s2{color:var(--plot-2)}.figure .s3{color:var(--plot-3)}
.figure .s4{color:var(--plot-4)}.figure .s5{color:var(--plot-5)}.figure .s6{color:var(--plot-6)}.figure .s7{color:var(--plot-7)}
"#;

/// What the page has besides the styles of a report: wide figures are scrolled on a phone, and fit on paper.
pub const PAGE_STYLE: &str = r#"
.drawing{margin-top:1rem;break-inside:avoid}
.drawing svg{display:block;width:100%;min-width:46rem;height:auto}
pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--grid);border-radius:.3rem;
padding:.6rem .8rem;margin:.5rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--accent);margin-top:.75rem}
@media print{.drawing svg{min-width:0}}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::report::page_style::STYLE;

    /// Figures stand in a page whose own classes would reshape them.
    #[test]
    fn no_class_of_a_figure_is_one_of_the_page() {
        let classes =
            PLOT_STYLE.split(".figure .").skip(1).filter_map(|rest| rest.split(['{', ',', '.', ' ']).next());
        let classes: Vec<&str> = classes.collect();
        assert!(classes.contains(&"column"), "{classes:?}");
        for class in classes {
            assert!(!STYLE.contains(&format!("\n.{class}{{")), "{class}");
        }
    }

    #[test]
    fn all_colours_are_those_of_the_themes() {
        let theme = |name: &str| {
            let path = format!("{}/themes/{name}.toml", env!("FABDECK_ROOT"));
            std::fs::read_to_string(path).unwrap()
        };
        let (light, rest) = PLOT_STYLE.split_once("@media").unwrap();
        let (dark, _) = rest.split_once("}}").unwrap();
        for (part, name) in [(light, "light"), (dark, "dark")] {
            let theme = theme(name);
            let colours: Vec<&str> = part.match_indices('#').map(|(at, _)| &part[at..at + 7]).collect();
            assert_eq!(colours.len(), SERIES_COLOURS + 5);
            assert!(colours.iter().all(|colour| theme.contains(colour)), "{name}: {colours:?}");
        }
    }
}
