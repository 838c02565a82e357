//! Plots of a study: figures made of the rows of its table, drawn as SVG pictures and as one page that needs nothing else.
//! A terminal draws the same figures.

pub mod figure;
mod figure_curves;
mod figure_groups;
mod figure_rows;
pub mod plot_files;
mod plot_marks;
mod plot_page;
pub mod plot_scale;
mod plot_style;
mod plot_svg;
pub mod study_figures;
