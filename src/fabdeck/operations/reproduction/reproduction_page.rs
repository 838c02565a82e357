//! A reproduction as a Markdown page.

use std::fmt::Write;

use super::headline::Headline;
use super::reproduction_row::ReproductionRow;
use super::reproduction_run::{ReproductionOptions, count_rows};

/// The page of `docs/reproduction.md`, and of `reproduce -o`.
pub fn write_page(
    headlines: &[&'static Headline],
    rows: &[ReproductionRow],
    options: ReproductionOptions,
) -> String {
    let mut page = String::new();
    let counts = count_rows(rows);
    let flags = match (options.quick, options.times) {
        (true, true) => " --quick",
        (true, false) => " --quick --no-times",
        (false, true) => "",
        (false, false) => " --no-times",
    };
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "# Reproduction\n\nSee how the papers' tables and figures come out here. This page is the output of `fabdeck \
         reproduce{flags} -o DIR`;\nrun it again, whole or for one headline (`fabdeck reproduce opt-II`). \
         [papers.md](papers.md) has the papers and their errors.\n\n\
         | headlines | with a value of ours | rows | hold | differ | printed | cannot be compared | must hold and do not |\n\
         |---|---|---|---|---|---|---|---|\n| {} | {} | {} | {} | {} | {} | {} | {} |\n",
        counts.headlines,
        counts.with_our_value,
        counts.row_count,
        counts.holds,
        counts.differs,
        counts.printed,
        counts.cannot_be_compared,
        counts.findings
    );
    for headline in headlines {
        let own = rows.iter().filter(|row| row.id == headline.id);
        let _ = write!(
            page,
            "\n## {}\n\n{}: {}. Here: {}.\n\n| row | paper | ours | relation | verdict |\n|---|---|---|---|---|\n",
            headline.id, headline.place, headline.shows, headline.inputs
        );
        for row in own {
            let _ = writeln!(page, "{}", row_line(row));
        }
    }
    page
}

fn row_line(row: &ReproductionRow) -> String {
    let value = |value: &Option<String>| value.as_deref().unwrap_or("-").replace('|', "/");
    let mut verdict = row.verdict.to_owned();
    if let Some(why) = &row.why {
        let _ = write!(verdict, ": {}", why.replace('|', "/"));
    }
    let mut label = row.label.replace('|', "/");
    if let Some(sample) = &row.sample {
        let _ = write!(label, " ({sample})");
    }
    let relation = match (row.relation.as_str(), row.must) {
        ("", _) => "-".to_owned(),
        (relation, true) => format!("{relation}, must"),
        (relation, false) => relation.to_owned(),
    };
    format!("| {label} | {} | {} | {relation} | {verdict} |", value(&row.paper), value(&row.ours))
}
