//! The pages of PDDR: the module at a port, what keeps its link down, and why it went down last.

use super::register_query::{MICROWATT, UNIT_BITS};
use super::sensor_registers::{RegisterContent, put_text};
use super::vendor_class::RegisterBytes;
use fabdeck_fabric::observe::{AlarmLimits, CableKind, LinkDownPage, ModuleReading, TroubleshootingPage};

/// Where a page begins, behind the input words.
const DATA_AT: usize = 8;
/// The number of lanes with monitors.
const LANES: usize = 8;
/// Where the received and sent powers and the laser currents of the lanes begin.
const RX_AT: usize = 0x50;
const TX_AT: usize = 0x60;
const BIAS_AT: usize = 0x70;
/// The state of a module with a fault.
const FAULT: u32 = 5;
/// The range of temperatures in 1/256 °C that a module can state: -60 to 120 °C.
const TEMPERATURES: std::ops::RangeInclusive<i16> = -15_360..=30_720;

impl RegisterContent for ModuleReading {
    /// Page 3.
    fn read(register: &RegisterBytes) -> Option<Self> {
        let word = |at: usize| register.u32_at(DATA_AT + at);
        let text = |at: usize, length: usize| register.text_at(DATA_AT + at, length);
        let kind = cable_kind(word(4) >> 28);
        let monitors = (word(0x9C) >> 8) & 0xFF != 0;
        let temperature = (word(0x4C) >> 16) as u16 as i16;
        let implausible = monitors && !TEMPERATURES.contains(&temperature);
        if implausible || register.0[DATA_AT..].iter().all(|byte| *byte == 0xFF) {
            return None;
        }
        let measured = |present: bool| present && monitors;
        let used = if monitors { used_lanes(register) } else { 0 };
        let lanes = |at: usize| lanes_at(register, at, used);
        // Powers in another unit would be taken for other values.
        let in_microwatts = register.u32_at(4) & UNIT_BITS == MICROWATT;
        let power = |at: usize| if in_microwatts { lanes(at) } else { Vec::new() };
        let power_limits = |at: usize| unsigned_limits(word(at)).filter(|_| in_microwatts);
        let factor = 1 << ((word(0x98) >> 10) & 3).min(2);
        Some(Self {
            kind,
            vendor: text(0x14, 16),
            part: text(0x24, 16),
            revision: text(0x34, 4),
            serial: text(0x3C, 16),
            length_dm: length_dm(word(4)),
            temperature: Some(temperature).filter(|_| measured(true)),
            voltage: Some(word(0x4C) as u16).filter(|voltage| measured(*voltage > 0)),
            rx_power: power(RX_AT),
            tx_power: power(TX_AT),
            bias: lanes(BIAS_AT).into_iter().map(|bias| u32::from(bias) * factor).collect(),
            temperature_limits: temperature_limits(word(0x80)),
            voltage_limits: unsigned_limits(word(0x84)),
            rx_limits: power_limits(0x88),
            tx_limits: power_limits(0x8C),
            wavelength_nm: Some(word(0x94) as u16).filter(|nm| *nm > 0),
            faulty: word(0x94) >> 29 == FAULT,
        })
    }

    fn fill(&self, register: &mut RegisterBytes) {
        let put = |register: &mut RegisterBytes, at: usize, word: u32| {
            register.put(DATA_AT + at, &word.to_be_bytes());
        };
        let kind = self.kind.map_or(0, |kind| cable_code(kind) << 28);
        put(register, 4, kind | (self.length_dm.unwrap_or(0) / 10).min(0xFF) << 16);
        for (at, length, text) in [
            (0x14, 16, &self.vendor),
            (0x24, 16, &self.part),
            (0x34, 4, &self.revision),
            (0x3C, 16, &self.serial),
        ] {
            put_text(register, DATA_AT + at, length, text.as_deref());
        }
        let temperature = u32::from(self.temperature.unwrap_or(0) as u16) << 16;
        put(register, 0x4C, temperature | u32::from(self.voltage.unwrap_or(0)));
        let bias: Vec<u16> = self.bias.iter().map(|bias| *bias as u16).collect();
        for (at, lanes) in [(RX_AT, &self.rx_power), (TX_AT, &self.tx_power), (BIAS_AT, &bias)] {
            for (lane, value) in lanes.iter().take(LANES).enumerate() {
                register.put(DATA_AT + at + 2 * lane, &value.to_be_bytes());
            }
        }
        let both = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
        let temperatures = self.temperature_limits.map_or(0, |of| both(of.high as u16, of.low as u16));
        put(register, 0x80, temperatures);
        for (at, of) in [(0x84, self.voltage_limits), (0x88, self.rx_limits), (0x8C, self.tx_limits)] {
            put(register, at, of.map_or(0, |of| both(of.high, of.low)));
        }
        const READY: u32 = 3;
        let state = if self.faulty { FAULT } else { READY };
        put(register, 0x94, state << 29 | u32::from(self.wavelength_nm.unwrap_or(0)));
        put(register, 0x9C, u32::from(self.temperature.is_some()) << 8);
    }
}

fn cable_kind(code: u32) -> Option<CableKind> {
    match code {
        1 => Some(CableKind::Active),
        2 => Some(CableKind::Optical),
        3 => Some(CableKind::Copper),
        4 => Some(CableKind::Unplugged),
        6 => Some(CableKind::CoPackaged),
        _ => None,
    }
}

fn cable_code(kind: CableKind) -> u32 {
    match kind {
        CableKind::Active => 1,
        CableKind::Optical => 2,
        CableKind::Copper => 3,
        CableKind::Unplugged => 4,
        CableKind::CoPackaged => 6,
    }
}

/// The length in tenths of a metre. Modules with CMIS state a number with a unit; older ones state metres.
fn length_dm(word: u32) -> Option<u32> {
    /// QSFP-DD, QSFP with CMIS, OSFP, and SFP-DD.
    const CMIS: [u32; 4] = [5, 6, 7, 8];
    let (identifier, length) = ((word >> 8) & 0xFF, (word >> 16) & 0xFF);
    let dm = match CMIS.contains(&identifier) {
        true => (length & 0x3F) * 10_u32.pow(length >> 6),
        false => length * 10,
    };
    Some(dm).filter(|dm| *dm > 0)
}

/// The number of lanes up to the last one with a power or a current. A lane that receives nothing still sends, so its
/// zero is a measurement.
fn used_lanes(register: &RegisterBytes) -> usize {
    let used = |lane: &usize| {
        [RX_AT, TX_AT, BIAS_AT].into_iter().any(|at| register.u16_at(DATA_AT + at + 2 * lane) > 0)
    };
    (0..LANES).rfind(used).map_or(0, |last| last + 1)
}

/// Values by lane; empty where no lane has one: the module does not measure that.
fn lanes_at(register: &RegisterBytes, at: usize, used: usize) -> Vec<u16> {
    let all: Vec<u16> = (0..used).map(|lane| register.u16_at(DATA_AT + at + 2 * lane)).collect();
    if all.iter().any(|value| *value > 0) { all } else { Vec::new() }
}

/// A pair of limits, high and low; `None` where the module has none.
fn limits(word: u32) -> Option<(u16, u16)> {
    (word != 0).then_some(((word >> 16) as u16, word as u16))
}

fn unsigned_limits(word: u32) -> Option<AlarmLimits<u16>> {
    limits(word).filter(|(high, low)| high > low).map(|(high, low)| AlarmLimits { high, low })
}

/// The limits of the temperature; `None` where they cannot be limits of a module.
fn temperature_limits(word: u32) -> Option<AlarmLimits<i16>> {
    let (high, low) = limits(word).map(|(high, low)| (high as i16, low as i16))?;
    let plausible = high > low && TEMPERATURES.contains(&high) && TEMPERATURES.contains(&low);
    plausible.then_some(AlarmLimits { high, low })
}

/// Page 1: what keeps a link down, by the device.
impl RegisterContent for TroubleshootingPage {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let opcode = register.u32_at(DATA_AT + 4) as u16;
        Some(Self { opcode, text: register.text_at(DATA_AT + 0xC, 200) })
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(DATA_AT + 6, &self.opcode.to_be_bytes());
        put_text(register, DATA_AT + 0xC, 200, self.text.as_deref());
    }
}

/// Page 6: the last time that a link went down.
impl RegisterContent for LinkDownPage {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let first = register.u32_at(DATA_AT) as u8;
        let read = Self {
            blame: first & 0xF,
            intended: first >> 4,
            local_reason: register.u32_at(DATA_AT + 4) as u8,
            remote_reason: register.u32_at(DATA_AT + 8) as u8,
        };
        (read.blame <= 2 && read.intended <= 2).then_some(read)
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(DATA_AT + 3, &[self.intended << 4 | self.blame & 0xF]);
        register.put(DATA_AT + 7, &[self.local_reason]);
        register.put(DATA_AT + 11, &[self.remote_reason]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn optic() -> ModuleReading {
        ModuleReading {
            kind: Some(CableKind::Optical),
            vendor: Some("MAKER".to_owned()),
            part: Some("MMA4Z00-NS".to_owned()),
            revision: Some("A1".to_owned()),
            serial: Some("MT2240FT00042".to_owned()),
            length_dm: Some(50),
            temperature: Some(0x3480),
            voltage: Some(0x80E8),
            rx_power: vec![900, 880, 910, 905],
            tx_power: vec![1100, 1090, 1105, 1098],
            bias: vec![3500, 3510, 3490, 3505],
            temperature_limits: Some(AlarmLimits { high: 75 * 256, low: -5 * 256 }),
            voltage_limits: Some(AlarmLimits { high: 35_000, low: 31_000 }),
            rx_limits: Some(AlarmLimits { high: 3500, low: 200 }),
            tx_limits: Some(AlarmLimits { high: 4000, low: 300 }),
            wavelength_nm: Some(850),
            faulty: false,
        }
    }

    /// An empty page with powers in uW.
    fn page() -> RegisterBytes {
        let mut register = RegisterBytes::default();
        register.put(4, &(MICROWATT | 3).to_be_bytes());
        register
    }

    #[test]
    fn a_dark_lane_is_a_measurement() {
        let mut register = page();
        ModuleReading { rx_power: vec![900, 880, 910, 0], ..optic() }.fill(&mut register);
        assert_eq!(ModuleReading::read(&register).unwrap().rx_power, [900, 880, 910, 0]);
        let mut register = page();
        ModuleReading { rx_power: vec![], ..optic() }.fill(&mut register);
        let read = ModuleReading::read(&register).unwrap();
        assert_eq!((read.rx_power.len(), read.tx_power.len()), (0, 4), "received powers are not measured");
    }

    #[test]
    fn powers_in_another_unit_are_not_known() {
        let mut register = page();
        optic().fill(&mut register);
        register.put(4, &[0, 0, 0, 3]);
        let read = ModuleReading::read(&register).unwrap();
        assert_eq!((read.rx_power.len(), read.tx_power.len(), read.bias.len()), (0, 0, 4));
        assert_eq!((read.rx_limits, read.tx_limits), (None, None));
    }

    #[test]
    fn temperature_limits_that_cannot_be_true_are_none() {
        for (high, low, some) in [
            (75 * 256, -5 * 256, true),
            (-5 * 256, 75 * 256, false),
            (0, 0, false),
            (256, 256, false),
            (i16::MAX, 0, false),
            (75 * 256, i16::MIN, false),
        ] {
            let mut register = page();
            let limits = Some(AlarmLimits { high, low });
            ModuleReading { temperature_limits: limits, ..optic() }.fill(&mut register);
            let read = ModuleReading::read(&register).unwrap();
            assert_eq!(read.temperature_limits, limits.filter(|_| some), "{high} {low}");
        }
    }

    #[test]
    fn a_module_reads_as_it_is_written() {
        let mut register = page();
        optic().fill(&mut register);
        // 52.5 °C and 3.3 V.
        assert_eq!(register.0[DATA_AT + 0x4C..DATA_AT + 0x50], [0x34, 0x80, 0x80, 0xE8]);
        let read = ModuleReading::read(&register).unwrap();
        assert_eq!((read.celsius(), read.volts()), (Some(52.5), Some(3.3)));
        assert_eq!(read, optic());
        assert!(register.0[8 + 0xD0..].iter().all(|byte| *byte == 0), "a page has 0xd0 bytes: one block");
    }

    #[test]
    fn what_a_module_does_not_measure_is_missing() {
        let copper = ModuleReading {
            kind: Some(CableKind::Copper),
            serial: Some("X1".to_owned()),
            ..ModuleReading::default()
        };
        let mut register = RegisterBytes::default();
        copper.fill(&mut register);
        let read = ModuleReading::read(&register).unwrap();
        assert_eq!((read.temperature, read.voltage, read.rx_power.len()), (None, None, 0));
        assert_eq!(read, copper);
        assert_eq!(ModuleReading::read(&RegisterBytes([0xFF; 220])), None);
        optic().fill(&mut register);
        register.put(DATA_AT + 0x4C, &[0x7F, 0xFF]);
        assert_eq!(ModuleReading::read(&register), None, "no module has 128 °C");
    }

    #[test]
    fn lengths_have_the_unit_of_their_form() {
        for (identifier, length, dm) in
            [(1, 5, Some(50)), (8, 0b0000_0101, Some(5)), (8, 0b0100_0011, Some(30))]
                .into_iter()
                .chain([(7, 0b1000_0011, Some(300)), (1, 0, None)])
        {
            assert_eq!(length_dm(identifier << 8 | length << 16), dm, "{identifier} {length:#b}");
        }
    }

    #[test]
    fn the_other_pages_read_as_they_are_written() {
        let page = TroubleshootingPage { opcode: 14, text: Some("No issue was observed".to_owned()) };
        let mut register = RegisterBytes::default();
        page.fill(&mut register);
        assert_eq!((register.u32_at(DATA_AT + 4), TroubleshootingPage::read(&register)), (14, Some(page)));
        let down = LinkDownPage { blame: 2, intended: 2, local_reason: 2, remote_reason: 25 };
        let mut register = RegisterBytes::default();
        down.fill(&mut register);
        assert_eq!((register.0[DATA_AT + 3], LinkDownPage::read(&register)), (0x22, Some(down)));
    }
}
