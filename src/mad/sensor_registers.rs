//! Registers of a whole device: MTMP (temperature), MFCR and MFSM (fans), MGIR (firmware), MSGI (system).

use super::vendor_class::RegisterBytes;
use fabdeck_fabric::observe::{BoardSensor, FirmwareReading, SystemReading, TemperatureReading};

/// What a register holds, read and filled. Input fields are not part of it.
pub trait RegisterContent: Sized {
    /// The content; `None` where it cannot be true.
    fn read(register: &RegisterBytes) -> Option<Self>;

    fn fill(&self, register: &mut RegisterBytes);
}

/// The range of temperatures in 1/8 °C that a sensor can state: -60 to 200 °C.
const TEMPERATURES: std::ops::RangeInclusive<i16> = -480..=1600;

impl RegisterContent for TemperatureReading {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let of = |at: usize| register.u32_at(at) as u16 as i16;
        let (now, highest, limit) = (of(4), of(8), of(0xC));
        let known = TEMPERATURES.contains(&now);
        known.then_some(Self { now, highest: Some(highest), limit: Some(limit).filter(|limit| *limit > 0) })
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(6, &self.now.to_be_bytes());
        register.put(0xA, &self.highest.unwrap_or(0).to_be_bytes());
        register.put(0xE, &self.limit.unwrap_or(0).to_be_bytes());
    }
}

/// A sensor with its name: eight letters at 0x18.
impl RegisterContent for BoardSensor {
    fn read(register: &RegisterBytes) -> Option<Self> {
        Some(Self { name: register.text_at(0x18, 8), reading: TemperatureReading::read(register)? })
    }

    fn fill(&self, register: &mut RegisterBytes) {
        self.reading.fill(register);
        put_text(register, 0x18, 8, self.name.as_deref());
    }
}

/// The fans that are there, one bit each (MFCR).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FanList(pub u16);

impl RegisterContent for FanList {
    fn read(register: &RegisterBytes) -> Option<Self> {
        Some(Self((register.u32_at(4) >> 16) as u16 & 0x3FF))
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(4, &(u32::from(self.0 & 0x3FF) << 16).to_be_bytes());
    }
}

/// The speed of a fan in revolutions a minute (MFSM).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FanSpeed(pub u16);

impl RegisterContent for FanSpeed {
    fn read(register: &RegisterBytes) -> Option<Self> {
        Some(Self(register.u32_at(4) as u16))
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(6, &self.0.to_be_bytes());
    }
}

/// The number of temperature sensors (MTCAP).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SensorCount(pub u8);

impl RegisterContent for SensorCount {
    fn read(register: &RegisterBytes) -> Option<Self> {
        Some(Self(register.u32_at(0) as u8 & 0x7F))
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(3, &[self.0 & 0x7F]);
    }
}

impl RegisterContent for FirmwareReading {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let [major, minor, sub] = [0x44, 0x48, 0x4C].map(|at| register.u32_at(at));
        // A version has three small numbers, and no device has firmware 0.
        let plausible = major > 0 && major < 1 << 16 && minor < 1 << 16 && sub < 1 << 16;
        plausible.then(|| Self {
            version: format!("{major}.{minor}.{sub:04}"),
            psid: register.text_at(0x30, 16),
            uptime_s: register.u32_at(0x1C),
        })
    }

    fn fill(&self, register: &mut RegisterBytes) {
        for (at, number) in [0x44, 0x48, 0x4C].into_iter().zip(self.version.split('.')) {
            register.put(at, &number.parse::<u32>().unwrap_or(0).to_be_bytes());
        }
        put_text(register, 0x30, 16, self.psid.as_deref());
        register.put(0x1C, &self.uptime_s.to_be_bytes());
    }
}

impl RegisterContent for SystemReading {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let read = Self {
            serial: register.text_at(0, 24),
            part: register.text_at(0x20, 20),
            product: register.text_at(0x40, 64),
        };
        (read != Self::default()).then_some(read)
    }

    fn fill(&self, register: &mut RegisterBytes) {
        put_text(register, 0, 24, self.serial.as_deref());
        put_text(register, 0x20, 20, self.part.as_deref());
        put_text(register, 0x40, 64, self.product.as_deref());
    }
}

/// Writes as much of a text as fits.
pub(super) fn put_text(register: &mut RegisterBytes, at: usize, length: usize, text: Option<&str>) {
    let bytes = text.unwrap_or_default().as_bytes();
    register.put(at, &bytes[..bytes.len().min(length)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_read_as_they_are_written() {
        let mut register = RegisterBytes::default();
        // 45.5 °C, at most 60 °C, limit 105 °C.
        register.put(4, &[0, 0, 0x01, 0x6C, 0, 0, 0x01, 0xE0, 0, 0, 0x03, 0x48]);
        let reading = TemperatureReading::read(&register).unwrap();
        assert_eq!(
            (reading.celsius(), reading.highest, reading.limit_celsius()),
            (45.5, Some(480), Some(105.0))
        );
        let mut filled = RegisterBytes::default();
        reading.fill(&mut filled);
        assert_eq!(filled, register);
        for nonsense in [0x7FFF_u16, 0x8000, 0x0641] {
            register.put(6, &nonsense.to_be_bytes());
            assert_eq!(TemperatureReading::read(&register), None, "{nonsense:#x}");
        }
        let sensor = BoardSensor { name: Some("ambient".to_owned()), reading };
        sensor.fill(&mut filled);
        assert_eq!((&filled.0[0x18..0x20], BoardSensor::read(&filled)), (&b"ambient\0"[..], Some(sensor)));
        let mut count = RegisterBytes::default();
        SensorCount(3).fill(&mut count);
        assert_eq!((count.u32_at(0), SensorCount::read(&count)), (3, Some(SensorCount(3))));
        let mut fans = RegisterBytes::default();
        FanList(0b11).fill(&mut fans);
        assert_eq!((fans.0[4..8].to_vec(), FanList::read(&fans)), (vec![0, 3, 0, 0], Some(FanList(3))));
        let mut fan = RegisterBytes::default();
        FanSpeed(6400).fill(&mut fan);
        assert_eq!((fan.u32_at(4), FanSpeed::read(&fan)), (6400, Some(FanSpeed(6400))));
    }

    #[test]
    fn firmware_and_system_read_back_and_zeros_are_no_answer() {
        let firmware = FirmwareReading {
            version: "31.2012.4036".to_owned(),
            psid: Some("MT_0000000000".to_owned()),
            uptime_s: 86_400,
        };
        let system = SystemReading {
            serial: Some("MT2230X00001".to_owned()),
            part: Some("MQM9700-NS2F".to_owned()),
            product: Some("Jaguar Unmng IB 400".to_owned()),
        };
        let (mut one, mut other) = (RegisterBytes::default(), RegisterBytes::default());
        assert_eq!((FirmwareReading::read(&one), SystemReading::read(&other)), (None, None));
        firmware.fill(&mut one);
        system.fill(&mut other);
        assert_eq!((one.u32_at(0x44), one.u32_at(0x48), one.u32_at(0x1C)), (31, 2012, 86_400));
        assert_eq!(
            (FirmwareReading::read(&one), SystemReading::read(&other)),
            (Some(firmware), Some(system))
        );
    }
}
