//! The jobs of a batch system on a fabric: querying Slurm, the ports of the jobs' hosts, and the filter of figure 5.6
//! (dissertation 5.2.2.1), which tells when routes for the jobs would change.

mod hosts;
mod multi_switch;
mod poller;
mod squeue;

pub use hosts::{Hosts, Placed};
pub use multi_switch::MultiSwitch;
pub use poller::{Poller, Turn};
pub use squeue::{Poll, Squeue, Trouble};
