//! Arguments for engines and plans: marks, lists, lanes.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::preview::engine_names::engine_list;
use crate::operations::preview::engine_request::{EngineOptions, MarkRequest};
use fabdeck_routing::LaneDependence;

/// Elements that are marked as failed.
#[derive(Debug, Clone, Default, Args)]
pub struct FailArgs {
    /// Mark this element as failed: switch:NAME, link:NAME[PORT], port:NAME[PORT], host:NAME; a name alone means the
    /// node, and NAME/PORT its cable
    #[arg(long, value_name = "ELEMENT", num_args = 1..)]
    pub fail: Vec<String>,
    /// Mark N links between switches as failed, chosen at random by --seed
    #[arg(long, value_name = "N")]
    pub fail_random: Option<usize>,
    /// Seed of the random choice
    #[arg(long, value_name = "S", default_value_t = 1, requires = "fail_random")]
    pub seed: u64,
}

/// What to do with hosts of a list that the fabric does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum MissingHosts {
    /// Refuse the list, and name these hosts
    #[default]
    Refuse,
    /// Leave them out, with a note that names them
    Skip,
}

/// What single engines read or are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct EngineInputArgs {
    /// File with the ports of switches in the order of dimensions, for `dor`: a GUID and its ports on each line, as
    /// OpenSM's dimn_ports_file
    #[arg(long, value_name = "FILE")]
    pub dimension_ports: Option<PathBuf>,
    /// File with forwarding tables for the engine `file` (opensm-lfts.dump, output of dump_lfts)
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// File with the service level of each path of --tables (psl): the number of its lane, for the engine `file`
    #[arg(long, value_name = "FILE", requires = "tables")]
    pub levels: Option<PathBuf>,
    /// Description of the torus or mesh for torus2qos, as OpenSM's torus-2QoS.conf; without it, coordinates come from the
    /// cabling
    #[arg(long, value_name = "FILE")]
    pub torus: Option<PathBuf>,
    /// Spread paths over lanes that are left empty, for `dfsssp`: fewer packets wait for each other
    #[arg(long)]
    pub spread_lanes: bool,
    /// Make the layers of `nue` by search alone, on trees too: for comparisons with the dissertation
    #[arg(long)]
    pub plain_search: bool,
}

/// Options of the engines.
#[derive(Debug, Clone, Default, Args)]
pub struct RouteArgs {
    /// Largest number of lanes that routes may use (default: 8, or fewer if ports have fewer; 4 if no adapter port
    /// reports its number)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=15))]
    pub lanes: Option<u8>,
    /// File with the GUIDs of the root switches, one on each line; an engine that does not use them says so
    #[arg(long, value_name = "FILE")]
    pub roots: Option<PathBuf>,
    /// File with the GUIDs of the compute nodes, one on each line; an engine that does not use them says so
    #[arg(long, value_name = "FILE")]
    pub compute_nodes: Option<PathBuf>,
    /// File with the GUIDs of the I/O nodes (such as storage), one on each line; an engine that does not use them says
    /// so
    #[arg(long, value_name = "FILE")]
    pub io_nodes: Option<PathBuf>,
    /// List of running jobs, for engines that balance jobs: a host and its job on each line, or the output of squeue
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// What to do about hosts of --jobs that the fabric does not have
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, requires = "jobs")]
    pub missing: MissingHosts,
    /// What the lane of a path may depend on, for engines that have a choice
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub lanes_by: LanesByChoice,
    #[command(flatten)]
    pub input: EngineInputArgs,
    /// Certify paths from and to switches too
    #[arg(long)]
    pub switches: bool,
    /// How the lanes of the paths in force are determined; they decide whether the change is safe under traffic. By
    /// default `route` asks the subnet manager as `check` does, and `whatif` does not ask
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
}

impl FailArgs {
    pub fn marks(&self) -> MarkRequest {
        MarkRequest { elements: self.fail.clone(), random: self.fail_random, seed: self.seed }
    }
}

impl EngineInputArgs {
    pub fn options(&self) -> EngineOptions {
        EngineOptions {
            dimension_ports: self.dimension_ports.clone(),
            tables: self.tables.clone(),
            levels: self.levels.clone(),
            torus: self.torus.clone(),
            spread_lanes: self.spread_lanes,
            plain_search: self.plain_search,
            ..EngineOptions::default()
        }
    }
}

impl RouteArgs {
    pub fn options(&self) -> EngineOptions {
        EngineOptions {
            lanes: self.lanes,
            roots: self.roots.clone(),
            compute_nodes: self.compute_nodes.clone(),
            io_nodes: self.io_nodes.clone(),
            jobs: self.jobs.clone(),
            skips_missing: self.missing == MissingHosts::Skip,
            lanes_by: self.lanes_by.into(),
            switches: self.switches,
            lanes_in_force: self.lanes_in_force,
            ..self.input.options()
        }
    }
}

#[derive(Debug, Args)]
pub struct RoutePlanArgs {
    #[arg(long, value_name = "E", help = format!("The engine that computes the routes: {}", engine_list()))]
    pub engine: String,
    #[command(flatten)]
    pub fail: FailArgs,
    #[command(flatten)]
    pub route: RouteArgs,
    /// Refused: a plan is judged over all pairs; `check` takes partitions
    #[arg(long, value_name = "FILE", hide = true)]
    pub partitions: Option<PathBuf>,
    /// Change the tables of base LIDs alone, in five phases: hosts leave these LIDs first, and return afterwards
    /// (docs/phases.md)
    #[arg(long, conflicts_with = "high_lids")]
    pub phases: bool,
    /// Change the tables of high LIDs alone, which hosts use while those of base LIDs change
    #[arg(long)]
    pub high_lids: bool,
    /// New file for the plan; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// What the lane of a path may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LanesByChoice {
    /// Its source and destination
    #[default]
    Pair,
    /// Its destination alone, as --via opensm needs it
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

impl ValueEnum for LaneChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::One, Self::Unknown, Self::Assumed, Self::Sampled, Self::Exact]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::One => ("one", "All packets use service level 0"),
            Self::Unknown => {
                ("unknown", "Several service levels may be in use, and those of single paths are unknown")
            }
            Self::Assumed => {
                ("assumed", "Service level 0, unless the source has others; no query to the subnet manager")
            }
            Self::Sampled => (
                "sampled",
                "From path records of two sources of each switch, or of all sources if these differ",
            ),
            Self::Exact => ("exact", "From path records of every pair"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}
