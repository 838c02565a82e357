//! The papers' tables and figures, computed anew: for each row the value of the paper, the value here, and whether the
//! relation between them holds. Each paper has files of its own; `headline_table` lists all headlines.

mod dftree_headlines;
mod dftree_test_bed;
mod domke_jobs;
mod domke_nue;
mod domke_studies;
mod domke_topologies;
pub mod headline;
mod headline_run;
pub mod headline_table;
mod job_island;
mod migration_run;
mod mlid_headlines;
mod mlid_traffic;
mod opt_headlines;
pub mod reproduction_page;
pub mod reproduction_row;
pub mod reproduction_run;
mod routed_fabric;
mod sftree_headlines;
mod study_part;
mod switch_loop;
