//! fabdeck beside the real tools: ibsim plays the fabrics, ibnetdiscover and OpenSM run over it, ibdmchk judges. A
//! missing tool fails the test and names its Debian package.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, reason = "a test says what it ran")]

mod adapters;
mod agents;
mod certificates;
mod changes;
mod discovery;
mod engines;
mod exported_plans;
mod groups;
mod ibsim;
mod jobs;
mod killed_processes;
mod kit;
mod lane_lifecycle;
mod log_daemons;
mod lossy_fabric;
mod manager_restarts;
mod multiple_lids;
mod net_files;
mod opensm_driver;
mod opensm_process;
mod opensm_routes;
mod path_record_lanes;
mod phased_updates;
mod planned_cabling;
mod prometheus;
mod random_kills;
mod replays;
mod runbooks;
mod slurm_trees;
mod study_arrays;
mod sweeps;
mod systemd_units;
mod throughput;
mod tool_output;
mod traces;
mod trap_reports;
mod umad_folders;
