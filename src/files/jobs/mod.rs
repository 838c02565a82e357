//! The jobs of a batch system on a fabric: asking Slurm which run where, the ports of their hosts, and the filter of
//! figure 5.6 (dissertation 5.2.2.1), which tells when routes for them would be others.

mod hosts;
mod multi_switch;
mod poller;
mod squeue;

pub use hosts::{Hosts, Placed};
pub use multi_switch::MultiSwitch;
pub use poller::{Poller, Turn};
pub use squeue::{Poll, Squeue, Trouble};
