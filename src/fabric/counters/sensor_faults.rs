//! What is wrong with the sensors, fans and power supplies of a device, with the limit and its source.

use super::wire_thresholds::WireThresholds;
use crate::observe::{AlarmLimits, DeviceAnswer, DeviceSensors, TemperatureReading, digits_in_groups};

/// The kind of a fault of a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SensorFaultKind {
    /// A sensor is above its limit.
    HotSensor,
    /// A fan stands still, is beyond its limits, or the device reports it.
    Fan,
    /// A power supply is absent, or the device reports it.
    PowerSupply,
}

/// A fault of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SensorFault {
    /// What has the fault.
    pub kind: SensorFaultKind,
    /// The sensor, its value, its limit and where the limit comes from.
    pub text: String,
    /// Whether the device states the fault or the limit; a fan that stands still without limits may be meant to.
    pub is_stated: bool,
}

/// The faults of a device by kind; of sensors that are too hot the one that is the most above its limit comes first.
pub fn find_sensor_faults(said: &DeviceSensors, thresholds: &WireThresholds) -> Vec<SensorFault> {
    let of = |kind| move |text: String| SensorFault { kind, text, is_stated: true };
    let mut all: Vec<SensorFault> =
        hot_sensors(said, thresholds).into_iter().map(of(SensorFaultKind::HotSensor)).collect();
    all.extend(fan_faults(said));
    all.extend(power_faults(said).into_iter().map(of(SensorFaultKind::PowerSupply)));
    all
}

/// How far a reading is above its limit in 1/8 °C, with the words for the limit; `None` if it is within it.
fn excess(reading: TemperatureReading, thresholds: &WireThresholds) -> Option<(f64, String)> {
    let now = reading.celsius();
    let (limit, words) = match (reading.limit_celsius(), thresholds.sensor_bad_c) {
        (Some(own), _) => (own, format!("its own limit is {own:.1} °C")),
        (None, Some(limit)) => (limit, format!("limit {limit} °C: configuration")),
        (None, None) => return None,
    };
    (now > limit).then_some((now - limit, words))
}

fn hot_sensors(said: &DeviceSensors, thresholds: &WireThresholds) -> Vec<String> {
    let named = said.board.iter().map(|(number, sensor)| {
        let name = sensor.name.clone().unwrap_or_else(|| format!("sensor {number}"));
        (name, sensor.reading)
    });
    let chip = said.temperature.known().map(|reading| ("chip".to_owned(), *reading));
    // Files state the chip twice: once alone, and once among the sensors of the board.
    let chip = chip.filter(|(_, chip)| !said.board.values().any(|sensor| sensor.reading == *chip));
    let hot = chip.into_iter().chain(named).filter_map(|(name, reading)| {
        let (above, limit) = excess(reading, thresholds)?;
        Some((above, format!("{name} at {:.1} °C ({limit})", reading.celsius())))
    });
    let mut hot: Vec<(f64, String)> = hot.collect();
    hot.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    hot.into_iter().map(|(_, text)| text).collect()
}

/// What is wrong with the fans: those that stand still, speeds beyond their limits, and what the device itself reports.
fn fan_faults(said: &DeviceSensors) -> Vec<SensorFault> {
    let of = |is_stated, text| SensorFault { kind: SensorFaultKind::Fan, text, is_stated };
    let fault = |(number, speed): (&u8, &DeviceAnswer<u16>)| {
        let speed = *speed.known()?;
        match said.fan_limits.get(number) {
            Some(limits) if is_beyond(speed, *limits) => {
                let now = rpm(speed);
                Some(of(true, format!("fan {number} at {now} rpm ({})", limit_words(*limits))))
            }
            None if speed == 0 => Some(of(false, format!("fan {number} stands still (0 rpm)"))),
            _ => None,
        }
    };
    let reported = said.fan_faults.iter().map(|words| of(true, format!("the device reports {words}")));
    said.fans.iter().filter_map(fault).chain(reported).collect()
}

/// Number of fans that stand still, or whose speed is beyond their limits.
pub fn count_failed_fans(said: &DeviceSensors) -> usize {
    let failed =
        |(number, speed): &(&u8, &DeviceAnswer<u16>)| match (speed.known(), said.fan_limits.get(number)) {
            (Some(speed), Some(limits)) => is_beyond(*speed, *limits),
            (Some(speed), None) => *speed == 0,
            (None, _) => false,
        };
    said.fans.iter().filter(failed).count()
}

fn is_beyond(speed: u16, limits: AlarmLimits<u16>) -> bool {
    speed < limits.low || limits.high > 0 && speed > limits.high
}

fn limit_words(limits: AlarmLimits<u16>) -> String {
    match limits.high {
        0 => format!("its own limit is {} rpm", rpm(limits.low)),
        high => format!("its own limits are {} to {} rpm", rpm(limits.low), rpm(high)),
    }
}

fn rpm(speed: u16) -> String {
    digits_in_groups(speed)
}

/// What is wrong with each power supply: `power supply 1: DC power ERROR, as the device reports`.
fn power_faults(said: &DeviceSensors) -> Vec<String> {
    let supplies = said.power_supplies.known().into_iter().flatten();
    let fault = |(number, supply): (&u8, &crate::observe::PowerSupplyReading)| match supply.present {
        Some(false) => Some(format!("power supply {number} is absent, as the device reports")),
        _ if supply.faults.is_empty() => None,
        _ => Some(format!("power supply {number}: {}, as the device reports", supply.faults.join(", "))),
    };
    supplies.filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{BoardSensor, PowerSupplyReading};

    fn texts(said: &DeviceSensors, thresholds: &WireThresholds) -> Vec<String> {
        find_sensor_faults(said, thresholds).into_iter().map(|fault| fault.text).collect()
    }

    fn reading(celsius: i16, limit: Option<i16>) -> TemperatureReading {
        TemperatureReading { now: celsius * 8, highest: None, limit: limit.map(|limit| limit * 8) }
    }

    #[test]
    fn a_fault_names_the_sensor_its_value_and_the_source_of_its_limit() {
        let usual = WireThresholds::default();
        let mut said =
            DeviceSensors { temperature: DeviceAnswer::Known(reading(107, Some(105))), ..Default::default() };
        let ambient = BoardSensor { name: Some("Ambient".to_owned()), reading: reading(80, Some(70)) };
        said.board = [(1, ambient), (2, BoardSensor { name: None, reading: reading(40, None) })].into();
        said.fans = [(0, 6000), (1, 0), (2, 4000)].map(|(fan, rpm)| (fan, DeviceAnswer::Known(rpm))).into();
        said.fan_limits = [(2, AlarmLimits { low: 4500, high: 26_000 })].into();
        let supplies = [
            (0, PowerSupplyReading { present: Some(false), ..Default::default() }),
            (1, PowerSupplyReading { faults: vec!["DC power ERROR".to_owned()], ..Default::default() }),
            (2, PowerSupplyReading { present: Some(true), ..Default::default() }),
        ];
        said.power_supplies = DeviceAnswer::Known(supplies.into());
        // Without limits, that a fan stands still is concluded.
        for fault in find_sensor_faults(&said, &usual) {
            assert_eq!(fault.is_stated, !fault.text.contains("stands still"), "{}", fault.text);
        }
        assert_eq!(
            texts(&said, &usual),
            [
                "Ambient at 80.0 °C (its own limit is 70.0 °C)",
                "chip at 107.0 °C (its own limit is 105.0 °C)",
                "fan 1 stands still (0 rpm)",
                "fan 2 at 4,000 rpm (its own limits are 4,500 to 26,000 rpm)",
                "power supply 0 is absent, as the device reports",
                "power supply 1: DC power ERROR, as the device reports",
            ]
        );
        assert_eq!(count_failed_fans(&said), 2);
    }

    #[test]
    fn without_a_limit_of_the_device_only_a_configured_one_judges() {
        let usual = WireThresholds::default();
        let said =
            DeviceSensors { temperature: DeviceAnswer::Known(reading(101, None)), ..Default::default() };
        assert!(texts(&said, &usual).is_empty());
        let own = WireThresholds { sensor_bad_c: Some(100.0), ..usual };
        assert_eq!(texts(&said, &own), ["chip at 101.0 °C (limit 100 °C: configuration)"]);
        let at = DeviceSensors { temperature: DeviceAnswer::Known(reading(100, None)), ..Default::default() };
        assert!(texts(&at, &own).is_empty(), "at its limit a sensor is not above it");
    }

    #[test]
    fn a_fan_that_was_not_read_has_no_fault() {
        let fans = [(0, DeviceAnswer::NotAsked), (1, DeviceAnswer::Silent)].into();
        let said = DeviceSensors { fans, ..Default::default() };
        assert!(texts(&said, &WireThresholds::default()).is_empty());
    }
}
