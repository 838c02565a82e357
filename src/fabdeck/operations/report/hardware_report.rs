//! The raw answers of a live fabric, one of each kind of device, without keys and identities.

use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use fabdeck_live::HardwareReading;

/// The answers as a text, and the numbers of questions by outcome.
pub struct HardwareReport {
    pub look: Snapshot,
    pub text: String,
    pub kinds: usize,
    pub answered: usize,
    pub refused: usize,
    pub silent: usize,
}

/// Reads the named source, which is a live one, and writes down its answers.
pub fn make_hardware_report(operation: &mut Operation<'_>) -> Result<HardwareReport, Failure> {
    let given = operation.env.given;
    if given.reach.at.is_some() || given.assume.is_some() {
        return Err(Failure::usage(
            "FD-7343: --hardware reads raw answers of devices, which captures and assumed tables do not have; leave out \
             --at and --assume, and give a live source: --source umad, or sim:NAME",
        ));
    }
    let source = operation.env.named_source()?.to_owned();
    operation.listen_to_stop();
    let (env, outside) = (operation.env, operation.env.outside);
    let reading = outside.read_hardware(&source, &env.given.reach, &mut operation.begin_reading())?;
    let HardwareReading { observation, answers } = reading;
    operation.reporter.report_warnings(&observation.notes);
    // The name of an adapter, a socket or a host does not belong in the text.
    let port = if source.starts_with("sim:") { "simulator" } else { "adapter" };
    let [answered, refused, silent] = answers.count_outcomes();
    Ok(HardwareReport {
        text: answers.to_text(port),
        kinds: answers.models().len(),
        answered,
        refused,
        silent,
        look: env.snapshot_of(&source, observation)?,
    })
}
