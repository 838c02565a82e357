//! Live fabrics, and everything else that `--source` can name: adapters, the simulator and its socket, files and
//! folders of known formats. `agent` is the host side of dFtree.

pub mod agent;

mod assemble;
mod carried;
mod disk;
mod file_set;
mod generated;
mod level_files;
mod mad_source;
mod open;
mod parts;
mod simulated;
pub mod socket;
mod story;
mod umad;
mod unknown_format;
mod writable;

pub use disk::{FilesSource, read_as, read_content};
pub use generated::{FAILED_BEFORE, generated};
pub use mad_source::{
    Done, Keys, LiveActuator, LiveSource, LiveSurveyor, Policy, SetError, Setter, Target, look,
};
pub use open::{LiveOptions, is_live, open, open_at, open_port};
pub use simulated::{OwnSimulators, SIMULATOR_KEYS, SimulatorKey, simulator_of, socket as socket_of};
pub use umad::{Adapter, AdapterPort, LinkLayer, adapters, open as open_adapter};
pub use writable::{Right, Unwritable, open_actuator};
