//! Splits received bytes into frames: one read brings many, and a partial frame waits for its rest.

use std::io::{self, Read};

use super::wire::{Frame, WireError, decode};

const BUFFER_BYTES: usize = 64 * 1024;

pub struct FrameBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl FrameBuffer {
    pub fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES], start: 0, end: 0 }
    }

    /// The next complete frame.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, WireError> {
        let held = self.buffer.get(self.start..self.end).unwrap_or_default();
        let Some((frame, length)) = decode(held)? else { return Ok(None) };
        self.start += length;
        Ok(Some(frame))
    }

    /// Reads once. 0 bytes mean the end of the stream: no frame is as long as the buffer, so there is always room when
    /// no complete frame is left.
    pub fn fill(&mut self, stream: &mut impl Read) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = stream.read(room)?;
        self.end += read;
        Ok(read)
    }

    /// Whether a partial frame is left.
    pub fn has_partial_frame(&self) -> bool {
        self.start < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::encode;
    use super::*;
    use fabdeck_mad::Mad;
    use fabdeck_mad::access::{AddressedMad, MadAddress};

    /// Returns at most this many bytes a read.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn frames_come_out_whole_however_the_bytes_come_in() {
        let mut bytes = Vec::new();
        for lid in 0..1000 {
            let address = MadAddress { lid, queue_pair: 1, service_level: 0 };
            encode::datagram(&AddressedMad { mad: Mad::default(), address }, &mut bytes);
        }
        bytes.extend([4, 0]);
        for step in [1, 7, 267, 268, 269, 4096, usize::MAX] {
            let (mut inbox, mut drip) = (FrameBuffer::new(), Drip(&bytes, step));
            let mut seen = Vec::new();
            while inbox.fill(&mut drip).unwrap() > 0 {
                while let Some(frame) = inbox.next_frame().unwrap() {
                    let Frame::Datagram(datagram) = frame else { panic!("{frame:?}") };
                    seen.push(datagram.to_addressed_mad().address.lid);
                }
            }
            assert!(seen.into_iter().eq(0..1000), "{step}");
            assert!(inbox.has_partial_frame());
        }
    }
}
