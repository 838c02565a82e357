//! Reads a live fabric for its raw answers: topology, what switches say of adaptive routing, and of one device of each
//! kind its tables and the health of its links. The questions and their order are those of the usual readings.

use super::answer_recorder::{AnswerRecorder, RecordedAnswers};
use super::hardware_answers::HardwareAnswers;
use crate::live_options::{LiveOptions, live_source};
use crate::open::open_port;
use fabdeck_fabric::observe::Observation;
use fabdeck_mad::access::{ReadObserver, ReadOptions, ReadPort, Source, SourceError};

/// A reading, and the raw answers that it rests on.
#[derive(Debug)]
pub struct HardwareReading {
    pub observation: Observation,
    pub answers: HardwareAnswers,
}

/// Reads the source that a text names. A file or a capture has no raw answers.
pub fn read_hardware(
    text: &str,
    options: &LiveOptions,
    watch: &mut dyn ReadObserver,
) -> Result<HardwareReading, SourceError> {
    let port = open_port(text, options)?.ok_or_else(|| SourceError::Name {
        code: "FD-5069",
        what: format!("{text} is not a live fabric, so it has no raw answers of devices"),
        hint: "give umad on a machine with an adapter, or sim:NAME to see what is written".into(),
    })?;
    read_hardware_through(port, text, options, watch)
}

/// Reads the fabric that a port leads to.
pub fn read_hardware_through(
    port: ReadPort,
    text: &str,
    options: &LiveOptions,
    watch: &mut dyn ReadObserver,
) -> Result<HardwareReading, SourceError> {
    let answers = RecordedAnswers::default();
    // The outer port refuses what is no Get.
    let port = ReadPort::new(AnswerRecorder::new(port, answers.clone()));
    let mut source = live_source(text, port, options);
    let wanted = ReadOptions { adaptive: true, ..ReadOptions::default() };
    let mut observation = source.observe(wanted, watch)?;
    source.read_device_samples(&mut observation, watch)?;
    Ok(HardwareReading { observation, answers: answers.finish() })
}
