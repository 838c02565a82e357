//! Arguments for engines and plans: marks, lists, lanes.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use fabdeck_routing::LaneDependence;

/// Elements that are marked as failed.
#[derive(Debug, Clone, Default, Args)]
pub struct FailArgs {
    /// Mark this as failed: switch:NAME, link:NAME[PORT], port:NAME[PORT], host:NAME; a name alone means the node, and
    /// NAME/PORT the cable there
    #[arg(long, value_name = "ELEMENT", num_args = 1..)]
    pub fail: Vec<String>,
    /// Mark so many links between switches as failed, drawn by --seed
    #[arg(long, value_name = "N")]
    pub fail_random: Option<usize>,
    /// Of what is drawn
    #[arg(long, value_name = "S", default_value_t = 1, requires = "fail_random")]
    pub seed: u64,
}

/// What to do with hosts of a list that the fabric does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum MissingHosts {
    /// The list is refused, and all of them are named
    #[default]
    Refuse,
    /// They are left out, and a note names them
    Skip,
}

/// Options of the engines.
#[derive(Debug, Clone, Default, Args)]
pub struct RouteArgs {
    /// The most lanes that routes may use; left out, 8, or fewer where ports have fewer, and 4 where no adapter port says
    /// how many it has
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=15))]
    pub lanes: Option<u8>,
    /// GUIDs of the switches to take as roots
    #[arg(long, value_name = "FILE")]
    pub roots: Option<PathBuf>,
    /// GUIDs of the nodes that compute
    #[arg(long, value_name = "FILE")]
    pub compute_nodes: Option<PathBuf>,
    /// GUIDs of the nodes that serve the others
    #[arg(long, value_name = "FILE")]
    pub io_nodes: Option<PathBuf>,
    /// The jobs that run, for engines that balance for them: a host and its job on each line, or what squeue prints
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// What to do about hosts of --jobs that the fabric does not have
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, requires = "jobs")]
    pub missing: MissingHosts,
    /// What the lane of a path may depend on, of engines that have a choice
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub lanes_by: LanesByChoice,
    /// Certify paths from and to switches too
    #[arg(long)]
    pub switches: bool,
    /// What is known of the lanes of the paths in force, which decide whether the change is safe while traffic flows;
    /// left out, `route` asks as `check` does, and `whatif` nobody
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
}

#[derive(Debug, Args)]
pub struct WhatifArgs {
    #[command(flatten)]
    pub fail: FailArgs,
    /// How many random links to hold the loss against; usually as many as the marks take down
    #[arg(long, value_name = "N")]
    pub expect: Option<usize>,
    /// Only these engines, with commas between; all when it is left out
    #[arg(long, value_name = "E,...", value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Refused: what is counted here are the paths of all pairs; `check` takes partitions
    #[arg(long, value_name = "FILE", hide = true)]
    pub partitions: Option<PathBuf>,
    #[command(flatten)]
    pub route: RouteArgs,
}

#[derive(Debug, Args)]
pub struct RoutePlanArgs {
    /// The engine that routes
    #[arg(long, value_name = "E")]
    pub engine: String,
    #[command(flatten)]
    pub fail: FailArgs,
    #[command(flatten)]
    pub route: RouteArgs,
    /// Refused: a plan is judged over all pairs; `check` takes partitions
    #[arg(long, value_name = "FILE", hide = true)]
    pub partitions: Option<PathBuf>,
    /// Change base LIDs alone, in five phases: hosts leave them before their tables change, and come back (docs/phases.md)
    #[arg(long, conflicts_with = "high_lids")]
    pub phases: bool,
    /// Change high LIDs alone: where hosts go meanwhile
    #[arg(long)]
    pub high_lids: bool,
    /// Where to write the plan, a name that is free; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Subcommand)]
pub enum PlanAction {
    Show {
        /// A plan that `route` wrote
        plan: PathBuf,
    },
    Check {
        /// A plan that `route` wrote
        plan: PathBuf,
        /// Judge paths from and to switches too, even if the plan was made without them
        #[arg(long)]
        switches: bool,
    },
    Diff {
        /// A plan that `route` wrote
        plan: PathBuf,
    },
}

/// What is known of the lanes of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LaneChoice {
    /// All packets go on service level 0
    One,
    /// Several service levels may be in use, and which path is on which is not known
    Unknown,
    /// Service level 0, where nothing at hand says otherwise; the subnet manager is not asked
    Assumed,
    /// As path records of two sources of each switch say, of all where they differ
    Sampled,
    /// As path records of every pair say
    Exact,
}

/// What the lane of a path may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LanesByChoice {
    /// Where it begins and ends
    #[default]
    Pair,
    /// Where it ends: what OpenSM can give adapters
    Destination,
}

impl From<LanesByChoice> for LaneDependence {
    fn from(choice: LanesByChoice) -> Self {
        match choice {
            LanesByChoice::Pair => Self::Pair,
            LanesByChoice::Destination => Self::Destination,
        }
    }
}
