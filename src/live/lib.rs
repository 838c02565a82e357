//! Live fabrics, and everything else that `--source` can name: adapters, the simulator and its socket, files and
//! folders of known formats. `agent` is the host side of dFtree.

pub mod agent;

mod assembly;
mod fabric_parts;
mod file_set;
mod files_source;
mod generated_fabric;
mod hardware;
mod level_files;
mod live_options;
mod mad_source;
mod open;
mod paired_port;
mod simulated_planes;
mod simulated_source;
mod simulated_traffic;
mod simulator_options;
pub mod socket;
mod story_events;
mod umad;
mod unknown_format;
mod write_access;

pub use files_source::{FilesSource, read_as, read_content};
pub use generated_fabric::generate_snapshot;
pub use hardware::{
    HardwareAnswer, HardwareAnswers, HardwareModel, HardwareOutcome, HardwareReading, read_hardware,
    read_hardware_through,
};
pub use live_options::{LiveOptions, SimulatorPool};
pub use mad_source::{
    ExchangePolicy, Keys, KindRefusal, LiveActuator, LiveSource, LiveSurveyor, PlaneSource, PlaneSources,
    RefusalStore, SetAnswer, SetError, SetTarget, Setter, read_snapshot,
};
pub use open::{is_live, open, open_at, open_port};
pub use paired_port::PairedPort;
pub use simulated_source::create_simulator;
pub use simulator_options::{SIMULATOR_KEYS, SimulatorKey, parse_socket as socket_of};
pub use umad::{
    Adapter, AdapterPort, LinkLayer, MadLibrary, adapters, describe_classes, open_umad_port as open_adapter,
};
pub use write_access::{WriteAccessError, WriteRight, open_actuator};
