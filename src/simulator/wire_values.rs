//! The simulated values of links, modules and sensors: a function of device, port and time.

use std::time::Duration;

use fabdeck_fabric::LinkSpeed;
use fabdeck_fabric::observe::{
    AlarmLimits, BitErrorCounts, BitErrorRate, CableKind, FecMode, FirmwareReading, LinkDownPage,
    ModuleReading, PhysicalLayerCounts, RetransmissionCounts, SystemReading, TemperatureReading,
};
use fabdeck_mad::PortInfoExtended;

use super::attribute_refusal::AttributeRefusal;
use super::device::{PortModel, SimulatedDevice};
use super::wire_profile::WireProfile;

/// How long a device has counted when the simulation begins.
const COUNTED_BEFORE: Duration = Duration::from_secs(3600);
/// The lane whose errors rise.
const WORN_LANE: usize = 2;

/// The number of a cabled port among the cabled ports of its device, from 0.
fn cabled_place(device: &SimulatedDevice, port: u8) -> Option<usize> {
    let cabled = device.ports.iter().enumerate().skip(1).filter(|(_, model)| model.peer.is_some());
    cabled.map(|(number, _)| number).position(|number| number == usize::from(port))
}

/// The FEC mode that links of a speed have.
pub(super) fn fec_mode(speed: LinkSpeed) -> FecMode {
    match speed {
        LinkSpeed::Sdr | LinkSpeed::Ddr | LinkSpeed::Qdr | LinkSpeed::Fdr10 | LinkSpeed::Fdr => FecMode::Off,
        LinkSpeed::Edr => FecMode::Rs,
        LinkSpeed::Hdr => FecMode::Rs544,
        LinkSpeed::Ndr | LinkSpeed::Xdr => FecMode::Rs544Plr,
    }
}

/// Error rates of a link that is well: before FEC and after.
fn usual_rates(speed: LinkSpeed) -> (f64, f64) {
    match speed {
        LinkSpeed::Ndr | LinkSpeed::Xdr => (1e-8, 0.0),
        LinkSpeed::Hdr => (1e-9, 0.0),
        _ => (1e-15, 0.0),
    }
}

/// Error rates of a worn lane, which grow by the minute.
fn worn_rates(speed: LinkSpeed, minutes: f64) -> (f64, f64) {
    let (raw, effective) = match speed {
        LinkSpeed::Ndr | LinkSpeed::Xdr => (1e-5, 1e-11),
        LinkSpeed::Hdr => (1e-5, 1e-13),
        _ => (1e-9, 1e-12),
    };
    (raw * (8.0 + minutes), effective * (2.0 + minutes))
}

/// The counts of bit errors of a port.
pub(super) fn bit_errors(device: &SimulatedDevice, port: u8, now: Duration) -> Option<BitErrorCounts> {
    let model = device.port(port)?;
    let time = COUNTED_BEFORE + now;
    let lanes = model.width.lanes();
    let lane_bits = time.as_secs_f64() * f64::from(model.speed.mbps()) * 1e6;
    let worn = device.wire == WireProfile::Optics && cabled_place(device, port) == Some(0);
    let (usual, _) = usual_rates(model.speed);
    let (raw, after) = worn_rates(model.speed, time.as_secs_f64() / 60.0);
    let lane_errors: Vec<u64> = (0..lanes as usize)
        .map(|lane| (lane_bits * if worn && lane == WORN_LANE { raw } else { usual }) as u64)
        .collect();
    let all: u64 = lane_errors.iter().sum();
    let bits = lane_bits as u64 * u64::from(lanes);
    let effective_errors = if worn { (bits as f64 * after) as u64 } else { 0 };
    let symbol_errors = effective_errors / 4;
    Some(BitErrorCounts {
        since_ms: time.as_millis() as u64,
        bits,
        symbol_errors,
        corrected_bits: all.saturating_sub(effective_errors),
        raw: BitErrorRate::of_counts(all, bits),
        effective: BitErrorRate::of_counts(effective_errors, bits),
        symbol: BitErrorRate::of_counts(symbol_errors, bits),
        lane_errors,
        effective_errors,
    })
}

/// FEC blocks of 5,440 bits, of which those with an error after FEC are uncorrectable.
pub(super) fn layer_counts(counts: &BitErrorCounts) -> PhysicalLayerCounts {
    PhysicalLayerCounts {
        uncorrectable_blocks: counts.effective_errors,
        good_blocks: counts.bits / 5440,
        link_downs: 0,
        recoveries: u32::from(counts.effective_errors > 0),
    }
}

/// Codes that were sent again: each after a block that FEC could not correct.
pub(super) fn retransmission(counts: &BitErrorCounts) -> RetransmissionCounts {
    RetransmissionCounts {
        received_codes: counts.bits / 5440,
        retry_codes: counts.effective_errors,
        losses: counts.symbol_errors,
    }
}

/// Why the link went down last: a worn one because of its bit errors.
pub(super) fn link_down(device: &SimulatedDevice, port: u8) -> LinkDownPage {
    match device.wire == WireProfile::Optics && cabled_place(device, port) == Some(0) {
        true => LinkDownPage { blame: 1, intended: 2, local_reason: 2, remote_reason: 0 },
        false => LinkDownPage::default(),
    }
}

/// The module at a port.
pub(super) fn module(device: &SimulatedDevice, port: u8) -> Option<ModuleReading> {
    let model: &PortModel = device.port(port)?;
    let lanes = model.width.lanes().min(8) as u16;
    let hot = device.wire == WireProfile::Optics && cabled_place(device, port) == Some(1);
    let celsius = if hot { 78 } else { 44 + i16::from(port % 8) };
    let mut module = ModuleReading { kind: Some(CableKind::Unplugged), ..ModuleReading::default() };
    if model.peer.is_none() {
        return Some(module);
    }
    module = ModuleReading {
        kind: Some(CableKind::Optical),
        vendor: Some("SIMULATED".to_owned()),
        part: Some(format!("SIM-{}", model.speed.word())),
        revision: Some("A1".to_owned()),
        serial: Some(format!("SIM{:07X}{port:03}", device.guid.0 & 0x0FFF_FFFF)),
        length_dm: Some(300),
        temperature: Some(celsius * 256),
        voltage: Some(33_000),
        rx_power: (0..lanes).map(|lane| 900 + 10 * lane).collect(),
        tx_power: (0..lanes).map(|lane| 1100 + 5 * lane).collect(),
        bias: (0..u32::from(lanes)).map(|lane| 3500 + lane).collect(),
        temperature_limits: Some(AlarmLimits { high: 75 * 256, low: -5 * 256 }),
        voltage_limits: Some(AlarmLimits { high: 35_000, low: 31_000 }),
        rx_limits: Some(AlarmLimits { high: 3500, low: 200 }),
        tx_limits: Some(AlarmLimits { high: 4000, low: 300 }),
        wavelength_nm: Some(850),
        faulty: false,
    };
    Some(module)
}

pub(super) fn temperature(device: &SimulatedDevice) -> TemperatureReading {
    let spread = (device.guid.0 % 5) as i16 * 4;
    let now = if device.wire == WireProfile::Hot { 864 } else { 364 } + spread;
    TemperatureReading { now, highest: Some(now.max(480)), limit: Some(840) }
}

pub(super) fn firmware(device: &SimulatedDevice, now: Duration) -> FirmwareReading {
    let version = if device.is_switch() { "31.2012.4036" } else { "28.39.2048" };
    FirmwareReading {
        version: version.to_owned(),
        psid: Some("SIM_0000000001".to_owned()),
        uptime_s: 864_000 + now.as_secs() as u32,
    }
}

pub(super) fn system(device: &SimulatedDevice) -> SystemReading {
    SystemReading {
        serial: Some(format!("SIM{:09X}", device.guid.0 & 0xF_FFFF_FFFF)),
        part: Some("SIM-SWITCH".to_owned()),
        product: Some("Simulated switch".to_owned()),
    }
}

/// PortInfoExtended of a port.
pub(super) fn port_info_extended(
    device: &SimulatedDevice,
    ingress: u8,
    modifier: u32,
) -> Result<PortInfoExtended, AttributeRefusal> {
    let asked = (modifier & 0xFF) as u8;
    let number = if asked == 0 { device.managed_port(ingress) } else { asked };
    let model = device.port(number).ok_or(AttributeRefusal::InvalidField)?;
    let mut info = PortInfoExtended::new(fec_mode(model.speed));
    if device.wire == WireProfile::Nonsense {
        info.fec_active = 99.into();
    }
    Ok(info)
}
