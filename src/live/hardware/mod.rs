//! The first answer of each kind of device to each attribute, for reports about adapters and switches that fabdeck was
//! never tried on. `attribute_list` says which bytes may be published.

mod answer_recorder;
mod attribute_list;
mod hardware_answers;
mod hardware_text;
mod read_hardware;

pub use hardware_answers::{HardwareAnswer, HardwareAnswers, HardwareModel, HardwareOutcome};
pub use read_hardware::{HardwareReading, read_hardware, read_hardware_through};
