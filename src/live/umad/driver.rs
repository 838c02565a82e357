//! The two ways to the adapters of this machine: libibumad, and the kernel's files without a library.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

use super::kernel_driver::KernelDriver;
use super::library::UmadLibrary;
use super::packet::{Endpoint, ReceivedPacket, UmadAdapterFacts};
use super::refusal;
use fabdeck_mad::MAD_SIZE;
use fabdeck_mad::access::SourceError;

/// Which library reads adapters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MadLibrary {
    /// libibumad if the machine has it, and the kernel's files otherwise. A static program loads no libraries, so it
    /// uses the kernel's files.
    #[default]
    Auto,
    /// libibumad alone.
    Libibumad,
    /// The kernel's files alone.
    None,
}

impl MadLibrary {
    /// The words for the configuration.
    pub const WORDS: [(&str, Self); 3] =
        [("auto", Self::Auto), ("libibumad", Self::Libibumad), ("none", Self::None)];

    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, library)| *library)
    }

    pub(super) fn load(self) -> Result<Box<dyn UmadDriver>, SourceError> {
        let loaded = match self {
            Self::None => return Ok(Box::new(KernelDriver)),
            Self::Auto | Self::Libibumad => UmadLibrary::load(),
        };
        match loaded {
            Ok(library) => Ok(Box::new(library)),
            Err(_) if self == Self::Auto => Ok(Box::new(KernelDriver)),
            Err(reason) => Err(refusal::no_library(&reason)),
        }
    }
}

/// Lists adapters, and opens the devices of their ports.
pub trait UmadDriver {
    /// The names of the adapters, in alphabetical order.
    fn adapter_names(&self) -> Vec<String>;

    /// The description of an adapter. `None`: there is no such adapter, or the kernel's description is incomplete.
    fn adapter(&self, name: &str) -> Option<UmadAdapterFacts>;

    /// The device file of a port. `None` if there is no file, as without the kernel module ib_umad.
    fn device_path(&self, adapter: &str, port: u8) -> Option<String>;

    /// Opens the device of a port. The error is the system's.
    fn open(self: Box<Self>, adapter: &str, port: u8) -> io::Result<Box<dyn UmadDevice>>;
}

/// A class that is registered with a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UmadAgent(pub(super) i32);

/// An open device of a port. It closes when it is dropped.
pub trait UmadDevice: Debug + Send {
    /// Whether the header before a MAD has the expected size: kernels before 2.6.24 have a shorter one.
    fn has_current_envelope(&self) -> bool;

    /// Registers a class. Without a method only answers to own requests arrive; with one, the requests of that method
    /// from others as well.
    fn register(&mut self, class: u8, version: u8, method: Option<u8>) -> io::Result<UmadAgent>;

    fn unregister(&mut self, agent: UmadAgent);

    /// Sends a MAD. With a timeout of 0 the kernel waits for no answer: the MAD is an answer itself, or has none.
    fn send(
        &mut self,
        agent: UmadAgent,
        to: Endpoint,
        mad: &[u8; MAD_SIZE],
        timeout_ms: i32,
    ) -> io::Result<()>;

    /// The next packet; `None` if none arrives in this time. With zero time, only a packet that is there already.
    fn receive(&mut self, wait: Duration) -> io::Result<Option<ReceivedPacket<'_>>>;
}
