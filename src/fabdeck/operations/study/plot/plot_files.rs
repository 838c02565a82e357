//! The files of the plots of a study: a picture for each figure, and a page with all of them.

use super::figure::StudyFigure;
use super::plot_page::write_page;
use super::plot_svg::svg_file;
use super::study_figures::study_figures;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::study::built_in_studies::BUILT_IN_STUDIES;
use crate::operations::study::study_file::{Study, TopologyEntry};
use crate::operations::study::study_row::StudyRow;

/// The name of the page.
pub const PLOT_PAGE: &str = "index.html";

/// The figures of a study with what its page has besides.
#[derive(Debug)]
pub struct StudyPlots<'r> {
    pub study: &'r Study,
    /// The text of the study.
    pub text: &'r str,
    pub rows: &'r [StudyRow],
    /// The number of all cells.
    pub cells: u64,
    pub figures: Vec<StudyFigure>,
    /// The commands that make the page again.
    pub commands: String,
}

/// A file of plots.
#[derive(Debug)]
pub struct PlotFile {
    pub name: String,
    pub title: String,
    pub content: String,
}

impl<'r> StudyPlots<'r> {
    /// The figures of rows. Refuses rows of which there is nothing to draw.
    pub fn new(
        (study, text): (&'r Study, &'r str),
        rows: &'r [StudyRow],
        cells: u64,
        filters: &[String],
    ) -> Result<Self, Failure> {
        let figures = study_figures(&study.name, rows);
        if figures.is_empty() {
            let what = format!(
                "FD-9450: none of {} rows has a value to draw; `study table` shows what came of the cells, and `study run` \
                 continues",
                rows.len()
            );
            return Err(Failure::new(Exit::BadInput, what));
        }
        let commands = commands(study, text, filters);
        Ok(Self { study, text, rows, cells, figures, commands })
    }

    /// The pictures, and the page at the end.
    pub fn files(&self) -> Vec<PlotFile> {
        let picture = |(at, figure): (usize, &StudyFigure)| PlotFile {
            name: format!("{:02}-{}.svg", at + 1, file_words(figure)),
            title: figure.title.clone(),
            content: svg_file(figure),
        };
        let mut files: Vec<PlotFile> = self.figures.iter().enumerate().map(picture).collect();
        files.push(PlotFile {
            name: PLOT_PAGE.to_owned(),
            title: self.study.name.clone(),
            content: write_page(self),
        });
        files
    }
}

/// The commands that run the study and draw it, with folders named as in the documentation. A fabric of the user's own is in
/// the folder of the results.
fn commands(study: &Study, text: &str, filters: &[String]) -> String {
    let name = &study.name;
    let is_built_in = BUILT_IN_STUDIES.iter().any(|study| study.name == name && study.text == text);
    let file = if is_built_in { name } else { "study.toml" };
    let own = study.topologies.iter().position(|entry| matches!(entry, TopologyEntry::Source { .. }));
    let source = own.map_or_else(String::new, |at| format!("--source topology-{at}.net "));
    let filters: String = filters.iter().map(|filter| format!(" --filter '{filter}'")).collect();
    format!("fabdeck {source}study run {file} -o results\nfabdeck study plot results -o plots{filters}")
}

/// The kind of a figure and the topology, in letters that every file system takes.
fn file_words(figure: &StudyFigure) -> String {
    let about = figure.subtitle.split_once(':').map_or("", |(topology, _)| topology);
    let mut words = format!("{} {about}", figure.kind);
    words.truncate(words.char_indices().nth(60).map_or(words.len(), |(at, _)| at));
    let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' };
    let words: String = words.chars().map(plain).collect();
    words.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
