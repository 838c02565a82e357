//! Studies: the same table in the end, however the cells ran; files, fits and forms of the table.

mod chosen_cells;
mod hand_made;
mod interrupted_runs;
mod own_fabric;
mod paper_signs;
mod plot_pages;
mod plots;
mod study_files;
pub mod study_runs;
mod table_forms;
