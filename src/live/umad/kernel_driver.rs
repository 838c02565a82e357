//! Adapters without libibumad: the kernel's description below `/sys`, and the devices of ib_umad. It reads the same
//! files as the library and takes the same of them, so both know the same adapters.

use std::ffi::CString;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::driver::{UmadAgent, UmadDevice, UmadDriver};
use super::kernel_device::{KernelFile, RegisterRequest, read_text};
use super::packet::{Endpoint, RawPacket, ReceivedPacket, UmadAdapterFacts, UmadPortFacts, wait_ms};
use fabdeck_mad::MAD_SIZE;

const ADAPTERS: &str = "/sys/class/infiniband";
const DEVICES: &str = "/sys/class/infiniband_mad";
const DEVICE_FILES: &str = "/dev/infiniband";
/// The version of the interface to the kernel that has the current header only if it is asked for.
const ABI_WITH_CHOICE: u64 = 5;
/// The nodes of InfiniBand: adapters, switches, routers. Others (iWARP) have no subnet.
const NODE_TYPES: std::ops::RangeInclusive<u64> = 1..=3;

/// Reads adapters by the kernel's files.
#[derive(Debug)]
pub struct KernelDriver;

impl UmadDriver for KernelDriver {
    fn adapter_names(&self) -> Vec<String> {
        let mut names = entries(ADAPTERS);
        names.retain(|name| {
            read_number(&format!("{ADAPTERS}/{name}/node_type"))
                .is_some_and(|kind| NODE_TYPES.contains(&kind))
        });
        names
    }

    fn adapter(&self, name: &str) -> Option<UmadAdapterFacts> {
        if name.contains('/') {
            return None;
        }
        let folder = format!("{ADAPTERS}/{name}");
        read_number(&format!("{folder}/node_type"))?;
        let node_guid = read_guid(&format!("{folder}/node_guid"))?;
        let ports = format!("{folder}/ports");
        let mut numbers =
            entries(&ports).iter().map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()?;
        numbers.sort_unstable();
        let ports = numbers.into_iter().map(|number| port_facts(&format!("{ports}/{number}"), number));
        Some(UmadAdapterFacts { node_guid, ports: ports.collect::<Option<_>>()? })
    }

    fn device_path(&self, adapter: &str, port: u8) -> Option<String> {
        let is_of_port = |device: &String| {
            let value = |file: &str| read_text(&format!("{DEVICES}/{device}/{file}")).ok();
            device.starts_with("umad")
                && value("ibdev").is_some_and(|name| name.trim() == adapter)
                && value("port").is_some_and(|number| parse_number(&number) == Some(port.into()))
        };
        let device = entries(DEVICES).into_iter().find(is_of_port)?;
        Some(format!("{DEVICE_FILES}/{device}"))
    }

    fn open(self: Box<Self>, adapter: &str, port: u8) -> io::Result<Box<dyn UmadDevice>> {
        let path = self.device_path(adapter, port).ok_or(io::ErrorKind::NotFound)?;
        let file = KernelFile::open(&CString::new(path)?)?;
        let newer = read_number(&format!("{DEVICES}/abi_version")).is_some_and(|abi| abi > ABI_WITH_CHOICE);
        let has_current_envelope = newer || file.enable_pkey().is_ok();
        Ok(Box::new(KernelDevice { file, has_current_envelope, packet: RawPacket::empty() }))
    }
}

/// The names in a folder, in alphabetical order.
fn entries(folder: &str) -> Vec<String> {
    let found = std::fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
    let mut names: Vec<String> = found.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The number at the beginning of a text: decimal, or hexadecimal after `0x`.
fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let end = digits.find(|digit: char| !digit.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(digits.get(..end)?, radix).ok()
}

fn read_number(path: &str) -> Option<u64> {
    parse_number(&read_text(path).ok()?)
}

/// A GUID of four groups of four digits.
fn parse_guid(text: &str) -> Option<u64> {
    let groups: Vec<&str> = text.trim().split(':').collect();
    let is_group = |group: &&str| group.len() == 4;
    (groups.len() == 4 && groups.iter().all(is_group))
        .then(|| u64::from_str_radix(&groups.concat(), 16).ok())?
}

fn read_guid(path: &str) -> Option<u64> {
    parse_guid(&read_text(path).ok()?)
}

/// The port's GUID: the lower half of its first GID.
fn read_port_guid(path: &str) -> Option<u64> {
    let gid = read_text(path).ok()?;
    let at = gid.match_indices(':').nth(3)?.0;
    parse_guid(gid.get(at + 1..)?)
}

/// A port of which any of these files is missing makes its whole adapter unreadable, as with libibumad.
fn port_facts(folder: &str, number: u32) -> Option<UmadPortFacts> {
    let value =
        |file: &str| read_number(&format!("{folder}/{file}")).and_then(|value| u32::try_from(value).ok());
    // A kernel that does not report the link layer has InfiniBand alone.
    let link_layer = read_text(&format!("{folder}/link_layer"));
    Some(UmadPortFacts {
        number,
        guid: read_port_guid(&format!("{folder}/gids/0"))?,
        lid: value("lid")?,
        manager_lid: value("sm_lid")?,
        state: value("state")?,
        physical_state: value("phys_state")?,
        rate_gbps: value("rate")?,
        capabilities: value("cap_mask")?,
        link_layer: link_layer.map_or_else(|_| "IB".to_owned(), |text| text.trim().to_owned()),
    })
}

/// The open device of a port.
#[derive(Debug)]
struct KernelDevice {
    file: KernelFile,
    has_current_envelope: bool,
    packet: Box<RawPacket>,
}

impl std::fmt::Debug for RawPacket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawPacket").finish_non_exhaustive()
    }
}

impl UmadDevice for KernelDevice {
    fn has_current_envelope(&self) -> bool {
        self.has_current_envelope
    }

    fn register(&mut self, class: u8, version: u8, method: Option<u8>) -> io::Result<UmadAgent> {
        let id = self.file.register(RegisterRequest::new(class, version, method))?;
        i32::try_from(id).map(UmadAgent).map_err(io::Error::other)
    }

    fn unregister(&mut self, agent: UmadAgent) {
        // A refusal changes nothing: the device is about to be closed.
        let _ = self.file.unregister(agent.0.cast_unsigned());
    }

    fn send(
        &mut self,
        agent: UmadAgent,
        to: Endpoint,
        mad: &[u8; MAD_SIZE],
        timeout_ms: i32,
    ) -> io::Result<()> {
        self.packet.fill(to, mad);
        self.packet.envelope.agent_id = agent.0.cast_unsigned();
        self.packet.envelope.timeout_ms = timeout_ms.cast_unsigned();
        self.file.write(&self.packet, MAD_SIZE)
    }

    fn receive(&mut self, wait: Duration) -> io::Result<Option<ReceivedPacket<'_>>> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        let wait_ms = wait_ms(wait);
        if wait_ms > 0 {
            // A wait may fail for reasons of its own (a signal, a simulator's false alarm), so the read decides.
            self.file.wait(wait_ms);
        }
        match self.file.read(&mut self.packet) {
            Ok(length) => Ok(Some(self.packet.received(length))),
            Err(error) if matches!(error.kind(), Interrupted | TimedOut | WouldBlock) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_at_the_first_other_character() {
        let known = [
            ("4: ACTIVE", 4),
            ("0x2651e848\n", 0x2651_e848),
            ("100 Gb/sec (4X EDR)", 100),
            ("2.5 Gb/sec", 2),
        ];
        for (text, number) in known {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        assert_eq!((parse_number(""), parse_number("ACTIVE"), parse_number("0x")), (None, None, None));
    }

    #[test]
    fn guids_have_four_groups_of_four_digits() {
        assert_eq!(parse_guid("0002:c903:0000:0010\n"), Some(0x0002_c903_0000_0010));
        for text in ["", "0002:c903:0000", "0002:c903:0000:001", "0002:c903:0000:00x0", "2:c903:0000:00010"] {
            assert_eq!(parse_guid(text), None, "{text}");
        }
    }
}
