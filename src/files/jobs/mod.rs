//! The jobs of a batch system on a fabric: querying Slurm, the ports of the jobs' hosts, and the filter of figure 5.6
//! (dissertation 5.2.2.1), which tells when routes for the jobs would change.

mod host_index;
mod multi_switch;
mod poller;
mod slurm_process;
mod slurm_tool;
mod squeue_process;

pub use host_index::{HostIndex, JobPlacement};
pub use multi_switch::MultiSwitchJobs;
pub use poller::{JobPoller, PollOutcome};
pub use slurm_tool::{SlurmClock, SlurmNode, SlurmNodeUse, SlurmToolError, SlurmTools};
pub use squeue_process::{Squeue, SqueueError, SqueuePoll};
