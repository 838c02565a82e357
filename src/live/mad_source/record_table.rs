//! Reads a table of subnet administration. Tables of more than one packet come in segments, each of which is acknowledged.
//! Where only a first packet arrives, what it holds is returned as a part.

use std::time::Duration;

use super::reader::PortReader;
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{AddressedMad, MadAddress, PortEvent, SourceError};
use fabdeck_mad::{MAX_SEGMENTS, Mad, RecordTransfer, TransferError, TransferStep};

/// Most packets of a transfer, repeated ones included.
const MAX_PACKETS: u32 = 2 * MAX_SEGMENTS;
/// The status of an answer without records (IBA 15.2.5.2).
const NO_RECORDS: u16 = 0x0300;

/// The answer to a query for a table.
#[derive(Debug)]
pub enum TableReply {
    Whole(RecordTransfer),
    /// The records that arrived, and why the others did not.
    Part(RecordTransfer, TransferError),
    /// The manager refused, with this status.
    Refused(u16),
    Silence,
}

/// Sends a query for a table to the manager, and receives the answer.
pub fn read_table(
    reader: &mut PortReader<'_>,
    manager: Lid,
    mut mad: Mad,
) -> Result<TableReply, SourceError> {
    let (timeout, retries) = reader.patience();
    let address = MadAddress::for_class(manager, mad.class());
    for attempt in 0..=retries {
        reader.single_phase().repeated += u64::from(attempt > 0);
        mad.header_mut().transaction = u64::from(reader.next_transaction()).into();
        reader.send_single(&AddressedMad { mad: mad.clone(), address }, timeout)?;
        let transfer = TableTransfer { asked: &mad, address, timeout, retries };
        if let Some(reply) = transfer.receive(reader)? {
            return Ok(reply);
        }
    }
    reader.single_phase().unanswered += 1;
    Ok(TableReply::Silence)
}

/// A query that was sent.
struct TableTransfer<'m> {
    asked: &'m Mad,
    address: MadAddress,
    timeout: Duration,
    retries: u32,
}

impl TableTransfer<'_> {
    /// Receives until the answer is complete; `None` if none comes in time.
    fn receive(&self, reader: &mut PortReader<'_>) -> Result<Option<TableReply>, SourceError> {
        let mut transfer = RecordTransfer::default();
        let (mut last, mut waits, mut packets) = (None::<Mad>, 0, 0);
        let mut deadline = reader.now() + self.timeout;
        loop {
            let event = reader.receive_single(deadline)?;
            let mad = match event {
                Some(PortEvent::Mad(parcel)) if self.is_answer(&parcel.mad) => parcel.mad,
                Some(PortEvent::Unanswered(transaction))
                    if self.has_transaction(transaction.into()) && last.is_none() =>
                {
                    return Ok(None);
                }
                Some(_) => continue,
                None if !transfer.has_begun() => return Ok(None),
                // A segment or its acknowledgement was lost, or the sender is gone.
                None if waits >= self.retries => {
                    return Ok(Some(TableReply::Part(transfer, TransferError::Silence)));
                }
                None => {
                    waits += 1;
                    deadline = reader.now() + self.timeout;
                    if let Some(mad) = &last {
                        self.send_control(reader, transfer.acknowledgement(mad))?;
                    }
                    continue;
                }
            };
            packets += 1;
            reader.single_phase().answered += 1;
            if packets > MAX_PACKETS {
                return Ok(Some(TableReply::Part(transfer, TransferError::TooLong)));
            }
            match mad.header().status.get() {
                0 => {}
                NO_RECORDS => return Ok(Some(TableReply::Whole(RecordTransfer::default()))),
                status => {
                    reader.single_phase().refused += 1;
                    return Ok(Some(TableReply::Refused(status)));
                }
            }
            match transfer.take(&mad) {
                TransferStep::Acknowledge(control) => {
                    self.send_control(reader, *control)?;
                    (waits, deadline) = (0, reader.now() + self.timeout);
                    last = Some(mad);
                }
                TransferStep::Complete(control) => {
                    control.map_or(Ok(()), |control| self.send_control(reader, *control))?;
                    return Ok(Some(TableReply::Whole(transfer)));
                }
                TransferStep::Failed(error) => return Ok(Some(TableReply::Part(transfer, error))),
                TransferStep::Ignored => {}
            }
        }
    }

    /// An acknowledgement gets no answer.
    fn send_control(&self, reader: &mut PortReader<'_>, mad: Mad) -> Result<(), SourceError> {
        reader.send_single(&AddressedMad { mad, address: self.address }, Duration::ZERO)
    }

    fn has_transaction(&self, transaction: u64) -> bool {
        self.asked.header().transaction.get() & u64::from(u32::MAX) == transaction
    }

    fn is_answer(&self, mad: &Mad) -> bool {
        let transaction = mad.header().transaction.get() & u64::from(u32::MAX);
        mad.class() == self.asked.class()
            && mad.header().attribute == self.asked.header().attribute
            && self.has_transaction(transaction)
            && (mad.method().is_response() || mad.is_transfer_control())
    }
}
