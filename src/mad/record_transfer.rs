//! Tables of subnet administration that take more than one packet (RMPP, IBA 13.6): segments are put together as they
//! come, and each is acknowledged.

use std::collections::BTreeMap;

use super::administration::{RECORD_AT, SaHeader};
use super::header::{Class, MAD_SIZE, Mad, Method};

/// Bytes of records in a segment.
const SEGMENT_BYTES: usize = MAD_SIZE - RECORD_AT;
/// Bytes that lengths count in front of the records of each segment: the header of subnet administration without that of
/// RMPP.
const COUNTED_HEADER: usize = 20;
/// Most segments of a table: 1.6 MB, which is 29,000 members of multicast groups.
pub const MAX_SEGMENTS: u32 = 8_192;
/// Number of segments that may come before they are acknowledged. Later segments are kept as long as they are within it.
const WINDOW: u32 = 32;

/// Values of RMPP headers.
pub mod rmpp {
    pub const VERSION: u8 = 1;
    pub const DATA: u8 = 1;
    pub const ACKNOWLEDGEMENT: u8 = 2;
    pub const STOP: u8 = 3;
    pub const ABORT: u8 = 4;
    pub const ACTIVE: u8 = 1;
    pub const FIRST: u8 = 2;
    pub const LAST: u8 = 4;
    /// No response time is stated.
    pub const NO_TIME: u8 = 0x1F << 3;
}

/// Why a transfer ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TransferError {
    #[error("the sender ended the transfer (RMPP status {0})")]
    Ended(u8),
    #[error("a segment has a length that cannot be true")]
    Length,
    #[error("the transfer has more than {MAX_SEGMENTS} segments")]
    TooLong,
    #[error("the last segment comes before others")]
    Order,
    #[error("only a first packet arrives here")]
    FirstPacket,
    #[error("segments stopped coming")]
    Silence,
}

/// What a packet does to a transfer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransferStep {
    /// More segments follow after this acknowledgement.
    Acknowledge(Box<Mad>),
    /// All segments are there. The acknowledgement is `None` where the answer is a single packet without RMPP.
    Complete(Option<Box<Mad>>),
    Failed(TransferError),
    /// The packet is no segment.
    Ignored,
}

/// The segments of a transfer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordTransfer {
    /// The records of all segments without a gap.
    bytes: Vec<u8>,
    /// The number of these segments.
    received: u32,
    /// Segments behind a gap, with whether each is the last.
    early: BTreeMap<u32, (Vec<u8>, bool)>,
    /// Bytes from one record to the next.
    stride: usize,
}

impl RecordTransfer {
    /// Takes the next packet of the answer.
    pub fn take(&mut self, mad: &Mad) -> TransferStep {
        let header = *mad.administration_header();
        let records = &mad.0[RECORD_AT..];
        if header.rmpp_flags & rmpp::ACTIVE == 0 {
            self.put_first(&header, records);
            return TransferStep::Complete(None);
        }
        let segment = header.segment.get();
        match (header.rmpp_version, header.rmpp_type) {
            (rmpp::VERSION, rmpp::DATA) if segment > 0 => {}
            (rmpp::VERSION, rmpp::STOP | rmpp::ABORT) => {
                return TransferStep::Failed(TransferError::Ended(header.rmpp_status));
            }
            // ibsim delivers one packet of a transfer, without the fields that a kernel fills.
            (0, 0) if self.received == 0 => {
                self.put_first(&header, records);
                return TransferStep::Failed(TransferError::FirstPacket);
            }
            _ => return TransferStep::Ignored,
        }
        if segment > MAX_SEGMENTS {
            return TransferStep::Failed(TransferError::TooLong);
        }
        let last = header.rmpp_flags & rmpp::LAST != 0;
        let Some(count) = record_bytes(&header, last) else {
            return TransferStep::Failed(TransferError::Length);
        };
        if segment == 1 {
            self.stride = usize::from(header.attribute_offset.get()) * 8;
        }
        let is_new = segment > self.received && segment <= self.received + WINDOW;
        if is_new {
            self.early.entry(segment).or_insert_with(|| (records[..count].to_vec(), last));
        }
        match self.join_early() {
            Err(error) => TransferStep::Failed(error),
            Ok(true) => TransferStep::Complete(Some(Box::new(self.acknowledgement(mad)))),
            Ok(false) => TransferStep::Acknowledge(Box::new(self.acknowledgement(mad))),
        }
    }

    /// Moves segments without a gap to the records; whether the last one is among them.
    fn join_early(&mut self) -> Result<bool, TransferError> {
        while let Some((bytes, last)) = self.early.remove(&(self.received + 1)) {
            self.received += 1;
            self.bytes.extend(bytes);
            if last {
                return if self.early.is_empty() { Ok(true) } else { Err(TransferError::Order) };
            }
        }
        Ok(false)
    }

    fn put_first(&mut self, header: &SaHeader, records: &[u8]) {
        self.stride = usize::from(header.attribute_offset.get()) * 8;
        self.bytes = records.to_vec();
        self.received = 1;
    }

    /// The acknowledgement of all segments without a gap, by the header of one of them.
    pub fn acknowledgement(&self, of: &Mad) -> Mad {
        let asked = of.header();
        let mut mad = Mad::new(
            Class::SUBNET_ADMINISTRATION,
            Method::GET_TABLE,
            asked.attribute.get(),
            asked.modifier.get(),
        );
        mad.header_mut().transaction = asked.transaction;
        let header = mad.administration_header_mut();
        (header.rmpp_version, header.rmpp_type) = (rmpp::VERSION, rmpp::ACKNOWLEDGEMENT);
        header.rmpp_flags = rmpp::ACTIVE | rmpp::NO_TIME;
        header.segment = self.received.into();
        // The highest segment that may be sent without a further acknowledgement.
        header.payload_length = (self.received + WINDOW).into();
        mad
    }

    /// Whether a packet of the transfer was taken.
    pub fn has_begun(&self) -> bool {
        self.received > 0 || !self.early.is_empty()
    }

    /// The records of this size; `None` where they lie closer to each other than their size.
    pub fn records<T: zerocopy::FromBytes + Copy>(&self) -> Option<Vec<T>> {
        let size = size_of::<T>();
        if self.stride == 0 {
            // The agent has no record to place.
            return Some(Vec::new());
        }
        if self.stride < size {
            return None;
        }
        let all = self.bytes.chunks(self.stride);
        Some(all.filter_map(|bytes| T::read_from_prefix(bytes).ok()).map(|(record, _)| record).collect())
    }
}

/// The bytes of records in a segment. Only the last segment states them; the length in the first one is that of the whole
/// transfer, or 0.
fn record_bytes(header: &SaHeader, last: bool) -> Option<usize> {
    if !last {
        return Some(SEGMENT_BYTES);
    }
    let length = header.payload_length.get() as usize;
    let count = length.checked_sub(COUNTED_HEADER)?;
    (count <= SEGMENT_BYTES).then_some(count)
}

impl Mad {
    /// Whether it acknowledges or ends a transfer. Such a packet gets no answer of its own.
    pub fn is_transfer_control(&self) -> bool {
        let header = self.administration_header();
        self.class() == Class::SUBNET_ADMINISTRATION
            && header.rmpp_version == rmpp::VERSION
            && header.rmpp_flags & rmpp::ACTIVE != 0
            && matches!(header.rmpp_type, rmpp::ACKNOWLEDGEMENT | rmpp::STOP | rmpp::ABORT)
    }
}

/// The segments of a table, as an agent sends them.
pub fn record_segments(answer: &Mad, records: &[u8], stride: usize) -> Vec<Mad> {
    let count = records.chunks(SEGMENT_BYTES).len().max(1);
    let whole = records.len() + count * COUNTED_HEADER;
    (0..count)
        .map(|at| {
            let part = records.chunks(SEGMENT_BYTES).nth(at).unwrap_or_default();
            let mut mad = answer.clone();
            mad.0[RECORD_AT..].fill(0);
            mad.0[RECORD_AT..RECORD_AT + part.len()].copy_from_slice(part);
            let (first, last) = (at == 0, at + 1 == count);
            let header = mad.administration_header_mut();
            (header.rmpp_version, header.rmpp_type, header.rmpp_status) = (rmpp::VERSION, rmpp::DATA, 0);
            header.rmpp_flags = rmpp::ACTIVE
                | if first { rmpp::FIRST } else { 0 }
                | if last { rmpp::LAST } else { 0 }
                | rmpp::NO_TIME;
            header.segment = (at as u32 + 1).into();
            let length = if last {
                part.len() + COUNTED_HEADER
            } else if first {
                whole
            } else {
                0
            };
            header.payload_length = (length as u32).into();
            header.attribute_offset = ((stride / 8) as u16).into();
            mad
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute;

    fn segments(records: usize, stride: usize) -> (Vec<u8>, Vec<Mad>) {
        let bytes: Vec<u8> = (0..records * stride).map(|at| (at * 7 % 251) as u8).collect();
        let mut answer = Mad::administration(Method::GET_TABLE_RESPONSE, attribute::MC_MEMBER_RECORD, 0);
        answer.header_mut().transaction = 9.into();
        let segments = record_segments(&answer, &bytes, stride);
        (bytes, segments)
    }

    /// The fields of an acknowledgement: its method, its type, the acknowledged segment and the end of the window.
    fn fields(mad: &Mad) -> (Method, u8, u32, u32) {
        let header = mad.administration_header();
        (mad.method(), header.rmpp_type, header.segment.get(), header.payload_length.get())
    }

    #[test]
    fn headers_lie_where_the_specification_puts_them() {
        let (_, all) = segments(5, 56);
        assert_eq!(all.len(), 2, "280 bytes of records, 200 in a packet");
        assert_eq!(
            all[0].0[24..36],
            [1, 1, 0xFB, 0, 0, 0, 0, 1, 0, 0, 1, 0x40],
            "first, 280 + 2 * 20 bytes in all"
        );
        assert_eq!(all[1].0[24..36], [1, 1, 0xFD, 0, 0, 0, 0, 2, 0, 0, 0, 100], "last, 80 + 20 bytes in it");
        assert_eq!(all[0].0[44..46], [0, 7]);
        let mut transfer = RecordTransfer::default();
        let TransferStep::Acknowledge(control) = transfer.take(&all[0]) else { panic!("more follows") };
        assert_eq!(control.0[24..36], [1, 2, 0xF9, 0, 0, 0, 0, 1, 0, 0, 0, 33]);
        assert_eq!((control.0[3], control.header().transaction.get()), (0x12, 9));
        assert!(control.is_transfer_control() && !all[0].is_transfer_control());
    }

    #[test]
    fn tables_of_any_size_come_whole_in_any_order_and_with_repetitions() {
        for records in [1, 3, 4, 100, 500] {
            let (bytes, all) = segments(records, 56);
            for swapped in [false, true] {
                let mut order: Vec<usize> = (0..all.len()).collect();
                if swapped {
                    order.chunks_mut(2).for_each(<[usize]>::reverse);
                }
                let mut transfer = RecordTransfer::default();
                for (turn, at) in order.iter().enumerate() {
                    let step = transfer.take(&all[*at]);
                    if turn + 1 == all.len() {
                        let TransferStep::Complete(Some(control)) = step else {
                            panic!("{records}: {step:?}")
                        };
                        assert_eq!(fields(&control).2, all.len() as u32);
                        break;
                    }
                    assert!(matches!(step, TransferStep::Acknowledge(_)), "{records} {turn}: {step:?}");
                    // The sender did not receive the acknowledgement.
                    assert!(matches!(transfer.take(&all[*at]), TransferStep::Acknowledge(_)));
                }
                assert_eq!(transfer.records::<[u8; 56]>().unwrap().concat(), bytes, "{records} {swapped}");
            }
        }
    }

    #[test]
    fn nonsense_ends_a_transfer_and_never_grows_it() {
        let (_, all) = segments(10, 56);
        let spoiled = |at: usize, change: &dyn Fn(&mut SaHeader)| {
            let mut mad = all[at].clone();
            change(mad.administration_header_mut());
            mad
        };
        let last = all.len() - 1;
        let after = |mads: &[Mad]| {
            let mut transfer = RecordTransfer::default();
            mads.iter().map(|mad| transfer.take(mad)).last().unwrap()
        };
        let ends = |mad: Mad| after(&[all[0].clone(), all[1].clone(), mad]);
        for length in [0, 19, 221, u32::MAX] {
            let mad = spoiled(last, &|header| header.payload_length = length.into());
            assert_eq!(ends(mad), TransferStep::Failed(TransferError::Length), "{length}");
        }
        let aborted = spoiled(last, &|header| (header.rmpp_type, header.rmpp_status) = (rmpp::ABORT, 118));
        assert_eq!(ends(aborted), TransferStep::Failed(TransferError::Ended(118)));
        let far = spoiled(1, &|header| header.segment = (MAX_SEGMENTS + 1).into());
        assert_eq!(ends(far), TransferStep::Failed(TransferError::TooLong));
        // Outside of the window nothing is kept, and the acknowledgement names what is there.
        let ahead = spoiled(1, &|header| header.segment = 500.into());
        let TransferStep::Acknowledge(control) = ends(ahead) else { panic!("more follows") };
        assert_eq!(fields(&control), (Method::GET_TABLE, rmpp::ACKNOWLEDGEMENT, 2, 2 + WINDOW));
        let early_last = spoiled(1, &|header| {
            (header.rmpp_flags, header.payload_length) = (rmpp::ACTIVE | rmpp::LAST, 100.into())
        });
        let third = all[2].clone();
        assert_eq!(after(&[third, early_last, all[0].clone()]), TransferStep::Failed(TransferError::Order));
        let unknown = spoiled(1, &|header| header.rmpp_type = 9);
        assert_eq!(ends(unknown), TransferStep::Ignored);
        for stride in [8_u16, 48] {
            let mut transfer = RecordTransfer::default();
            transfer.take(&spoiled(0, &|header| header.attribute_offset = (stride / 8).into()));
            assert_eq!(transfer.records::<[u8; 56]>(), None, "{stride}");
        }
    }

    /// As ibsim delivers a table of OpenSM: one packet with the flag of a transfer, and nothing else of it.
    #[test]
    fn a_packet_without_a_number_is_the_first_of_more() {
        let (bytes, all) = segments(10, 56);
        let mut mad = all[0].clone();
        let header = mad.administration_header_mut();
        (header.rmpp_version, header.rmpp_type, header.rmpp_flags) = (0, 0, rmpp::ACTIVE);
        (header.segment, header.payload_length) = (0.into(), 0.into());
        let mut transfer = RecordTransfer::default();
        assert_eq!(transfer.take(&mad), TransferStep::Failed(TransferError::FirstPacket));
        assert_eq!(transfer.records::<[u8; 56]>().unwrap().concat(), bytes[..168]);
        // Without the flag the packet is the whole table.
        mad.administration_header_mut().rmpp_flags = 0;
        assert_eq!(RecordTransfer::default().take(&mad), TransferStep::Complete(None));
    }
}
